"""Readable numbers: a sensible number of digits and a unit prefix that keeps them short."""

from __future__ import annotations

import math

__all__ = ["count", "counted", "digits", "percent", "plus_minus", "scaled"]

_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))
_NONE = "-"
_ROUNDING = 1e-12
"""Relative size below which a value is only the rounding error of a sum."""


def digits(value: float | None, significant: int = 4) -> str:
    """The number with `significant` digits, without an exponent for everyday sizes; "-" for None and NaN."""
    if value is None or math.isnan(value):
        return _NONE
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{significant - 1}e}"
    decimals = max(0, significant - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def scaled(value: float | None, unit: str, significant: int = 4) -> str:
    """The number with the prefix that leaves 1 to 999 before the unit: `9.433 Mb/s`, `12.5 ms`, `0 s`.

    Seconds have no prefix above 1: `3600 s`.
    """
    if value is None or math.isnan(value):
        return _NONE
    size = abs(value)
    # 999.96 rounds to 1000: the prefix must fit the rounded number.
    prefixes = [(f, p) for f, p in _PREFIXES if unit != "s" or f <= 1]
    factor, prefix = next(((f, p) for f, p in prefixes if size * (1 + 0.5 * 10**-significant) >= f), prefixes[-1])
    if size == 0:
        factor, prefix = 1.0, ""
    return f"{digits(value / factor, significant)} {prefix}{unit}"


def plus_minus(mean: float, half: float, size: float | None = None) -> str:
    """A mean and the half-width of its interval: `5.2 ± 0.13`; the mean alone without an interval (NaN).

    Both become 0 where they are rounding errors compared with `size` (default: the mean). Equal values have no spread.
    """
    rounding = _ROUNDING * abs(mean if size is None else size)
    mean, half = (0.0 if abs(value) < rounding else value for value in (mean, half))
    return digits(mean) if math.isnan(half) else f"{digits(mean)} ± {digits(half, 2)}"


def count(value: int | None) -> str:
    """A whole number in groups of three digits."""
    return _NONE if value is None else f"{value:,}".replace(",", " ")


def counted(value: int, noun: str) -> str:
    """A number of things: "1 link", "2 links"."""
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def percent(share: float | None) -> str:
    """A share as a percentage. Small shares keep two significant digits; rounding errors are 0."""
    if share is None or math.isnan(share):
        return _NONE
    value = 0.0 if abs(share) < _ROUNDING else 100 * share
    return f"{value:.1f} %" if abs(value) >= 1 or value == 0 else f"{digits(value, 2)} %"
