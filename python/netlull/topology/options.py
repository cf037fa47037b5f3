"""`ReadOptions`: choices for reading a topology's file."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

from netlull.errors import InputError
from netlull.quantities import in_unit

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CHOICES", "FORMATS", "ReadOptions"]

FORMATS = ("sndlib-native", "sndlib-xml", "graphml", "toml")
CHOICES: dict[str, tuple[Any, ...]] = {
    "format": (None, *FORMATS),
    "parallel": ("refuse", "merge", "reverse"),
    "pieces": ("all", "largest"),
    "external": ("drop", "keep"),
    "modules": ("missing", "always", "never"),
}
"""The values of the options that are a choice. The schema of `[topology]` has the same."""


@dataclass(frozen=True)
class ReadOptions:
    """Choices for reading a file whose format leaves them open."""

    format: str | None = None
    """The format, of `FORMATS`; None: determined by the content."""
    parallel: str = "refuse"
    """Several links between two nodes: "refuse", "merge" into one with the sum of their capacities, or "reverse": links
    in opposite directions are one cable, where only some links of the file have a reverse."""
    pieces: str = "all"
    """A network in several pieces: "all" of it, or the "largest"."""
    external: str = "drop"
    """Nodes of other networks in GraphML (`Internal` 0): "drop" or "keep"."""
    modules: str = "missing"
    """SNDlib's module capacities: used if none is installed ("missing"), "always" or "never"."""
    unit: str = "Mb/s"
    """The unit of SNDlib's capacities and demands if the file has no `unit`."""

    def __post_init__(self) -> None:
        """Refuses an unknown choice."""
        for option, choices in CHOICES.items():
            value = getattr(self, option)
            if value not in choices:
                listed = ", ".join(str(choice) for choice in choices if choice is not None)
                raise InputError(f"{option}: {value!r} is unknown; expected one of {listed}")
        if in_unit(f"1 {self.unit}", "b/s") is None:
            raise InputError(f"unit: {self.unit!r} is not a unit of rates; expected b/s, kb/s, Mb/s or Gb/s")

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Self:
        """Options by name.

        Raises:
            InputError: an option or a choice is unknown; the message names it.
        """
        known = [field.name for field in fields(cls)]
        for name in values:
            if name not in known:
                raise InputError(f"{name}: is not an option of reading a topology; expected one of {', '.join(known)}")
        for name, value in values.items():
            if not isinstance(value, str | None):
                raise InputError(f"{name}: {value!r} is not text; expected text")
        given: dict[str, Any] = dict(values)
        return cls(**given)
