"""Common parts of SNDlib's two formats: capacities, units, positions and names."""

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
"""STM-1 of the synchronous digital hierarchy (ITU-T G.707), in b/s."""
_UNIT = re.compile(r"(\d{0,6})\s*(K|M|G|T)?BITPERSEC")
_STM = re.compile(r"STM-?(\d{1,5})")
_PREFIXES = {None: 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_FORBIDDEN = re.compile(r"[.=\"\s]+")


def clean_name(name: str) -> str:
    """A node's name in a form valid in scenarios: dots, equals signs, quotes and line ends become one space."""
    return _FORBIDDEN.sub(" ", name).strip()


def unit_bps(meta: str | None, options: ReadOptions) -> float:
    """The value of a capacity of 1, in b/s: by the file's `unit` (MBITPERSEC, STM1) if known, else by the options."""
    text = (meta or "").upper()
    found = _UNIT.fullmatch(text)
    if found is not None:
        return float(int(found[1] or 1) * _PREFIXES[found[2]])
    module = _STM.fullmatch(text)
    if module is not None:
        return float(int(module[1]) * _STM_BPS)
    return in_unit(f"1 {options.unit}", "b/s") or 1e6


def number(draft: Draft, where: str, what: str, text: str) -> float:
    """A number of the file, 0 or more. UNLIMITED is infinity.

    Raises:
        InputError: the text is not such a number.
    """
    if text.upper() == "UNLIMITED":
        return float("inf")
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value < float("inf"):
        raise draft.wrong(where, f'{what} "{text}" is not a number of 0 or more; expected one such as 9920.0')
    return value


def capacity(installed: float | None, modules: Sequence[float], unit: float, choice: str) -> float | None:
    """A link's capacity in b/s: the installed one, or the smallest available module (`choice` of `ReadOptions`)."""
    there = [size for size in modules if 0 < size < float("inf")]
    module = min(there) if there and choice != "never" else None
    has_installed = installed is not None and 0 < installed < float("inf")
    chosen = module if module is not None and (choice == "always" or not has_installed) else installed
    if chosen is None or not 0 < chosen < float("inf"):
        return None
    return chosen * unit


def cost(value: float | None) -> int:
    """A routing cost for the scenario: 1 if the file has none, else whole and at least 1."""
    return 1 if value is None or not 0 < value < 2**32 else max(1, round(value))


def places(found: dict[str, tuple[float, float]], geographical: bool | None) -> dict[str, tuple[float, float]]:
    """The nodes' positions on Earth; none if the file has pixels, or a number out of range."""
    if geographical is None:
        geographical = all(abs(x) <= 180 and abs(y) <= 90 for x, y in found.values())
    return found if geographical else {}
