"""Checks of the arguments of fluid models."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from netlull.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["is_number", "numbers"]


def is_number(value: object) -> bool:
    """True for a number, infinity included, but not NaN."""
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)


def numbers(name: str, values: Sequence[float]) -> list[float]:
    """The values as floats.

    Raises:
        InputError: there is no value, or a value is not a number.
    """
    try:
        found: list[float] = np.asarray(values, dtype=np.float64).reshape(-1).tolist()
    except (TypeError, ValueError):
        raise InputError(f"{name}: is {values!r}; expected numbers") from None
    if not found:
        raise InputError(f"{name}: is empty; expected at least one number")
    return found
