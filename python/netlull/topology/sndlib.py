"""What SNDlib's two formats share: how capacities, units, places and names are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from netlull.quantities import in_unit

if TYPE_CHECKING:
    from netlull.topology.draft import Draft
    from netlull.topology.options import ReadOptions

__all__ = ["capacity", "clean_name", "cost", "number", "places", "unit_bps"]

_STM_BPS = 155_520_000
"""STM-1 of the synchronous digital hierarchy (ITU-T G.707)."""
_UNIT = re.compile(r"(\d{0,6})\s*(K|M|G|T)?BITPERSEC")
_STM = re.compile(r"STM-?(\d{1,5})")
_PREFIXES = {None: 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_FORBIDDEN = re.compile(r"[.=\"\s]+")


def clean_name(name: str) -> str:
    """A node's name as scenarios can hold it: dots, equals signs, quotes and line ends become one space."""
    return _FORBIDDEN.sub(" ", name).strip()


def unit_bps(meta: str | None, options: ReadOptions) -> float:
    """What a capacity of 1 is, in b/s: by the file's `unit` (MBITPERSEC, STM1) if it has a known one, else as asked."""
    text = (meta or "").upper()
    found = _UNIT.fullmatch(text)
    if found is not None:
        return float(int(found[1] or 1) * _PREFIXES[found[2]])
    module = _STM.fullmatch(text)
    if module is not None:
        return float(int(module[1]) * _STM_BPS)
    return in_unit(f"1 {options.unit}", "b/s") or 1e6


def number(draft: Draft, where: str, what: str, text: str) -> float:
    """A number of 0 or more that the file gives; UNLIMITED is infinity.

    Raises:
        InputError: it is none.
    """
    if text.upper() == "UNLIMITED":
        return float("inf")
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value < float("inf"):
        raise draft.wrong(where, f'{what} "{text}" is no number of 0 or more; expected one such as 9920.0')
    return value


def capacity(installed: float | None, modules: Sequence[float], unit: float, choice: str) -> float | None:
    """A link's capacity in b/s: what is installed, or the smallest module that can be (`choice` of `ReadOptions`)."""
    there = [size for size in modules if 0 < size < float("inf")]
    module = min(there) if there and choice != "never" else None
    has_installed = installed is not None and 0 < installed < float("inf")
    chosen = module if module is not None and (choice == "always" or not has_installed) else installed
    if chosen is None or not 0 < chosen < float("inf"):
        return None
    return chosen * unit


def cost(value: float | None) -> int:
    """A routing cost for the scenario: 1 where the file has none, whole and at least 1 where it has one."""
    return 1 if value is None or not 0 < value < 2**32 else max(1, round(value))


def places(found: dict[str, tuple[float, float]], geographical: bool | None) -> dict[str, tuple[float, float]]:
    """The nodes' places on Earth; none if the file says that it has pixels, or a number that is out of range tells."""
    if geographical is None:
        geographical = all(abs(x) <= 180 and abs(y) <= 90 for x, y in found.values())
    return found if geographical else {}
