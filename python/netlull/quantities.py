"""Quantities as numbers in a chosen unit: `"10 ms"` in `"ms"` is 10.0; and rates and times as text."""

from __future__ import annotations

import re
from fractions import Fraction

__all__ = ["in_unit", "is_unit", "metric_unit", "metric_words", "rate_text", "time_text"]

_SCALES: tuple[dict[str, Fraction], ...] = (
    {
        "ns": Fraction(1, 10**9),
        "us": Fraction(1, 10**6),
        "µs": Fraction(1, 10**6),
        "ms": Fraction(1, 1000),
        "s": Fraction(1),
        "min": Fraction(60),
        "h": Fraction(3600),
    },
    {
        f"{prefix}{bit}/s": Fraction(scale)
        for prefix, scale in (("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9))
        for bit in ("b", "bit")
    },
    {
        "B": Fraction(1),
        "kB": Fraction(10**3),
        "MB": Fraction(10**6),
        "GB": Fraction(10**9),
        "KiB": Fraction(2**10),
        "MiB": Fraction(2**20),
        "GiB": Fraction(2**30),
    },
    {"uW": Fraction(1, 10**6), "mW": Fraction(1, 1000), "W": Fraction(1), "kW": Fraction(1000)},
    {
        f"{prefix}J": Fraction(scale)
        for prefix, scale in (
            ("p", Fraction(1, 10**12)),
            ("n", Fraction(1, 10**9)),
            ("u", Fraction(1, 10**6)),
            ("m", Fraction(1, 1000)),
            ("", 1),
            ("k", 1000),
        )
    },
    {"packets": Fraction(1), "packet": Fraction(1)},
    {"BDP": Fraction(1)},
)
_NUMBER_AND_UNIT = re.compile(r"([+-]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9]{1,3})?)?\s*(\S*)")
_LONGEST = 1000
"""The longest quantity, in characters. Python refuses numbers of thousands of digits."""

_PREFIXES = ((10**9, "G"), (10**6, "M"), (1000, "k"), (1, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))
_METRICS = {"_bps": "b/s", "_bytes": "B", "_packets": "packets", "_s": "s", "_j": "J", "_w": "W"}
"""Units of metrics by the ends of their names in summaries."""


def metric_unit(name: str, path: str, largest: float) -> tuple[str, float]:
    """The unit of a metric by the end of its path or name, and the divisor of its values; `("", 1)` without a unit.

    The unit's prefix leaves at least 1 before it for a value of size `largest`. Seconds have none above 1.
    """
    places = (path.rstrip(")"), name)
    unit = next((unit for place in places for end, unit in _METRICS.items() if place.endswith(end)), "")
    if unit in {"", "packets"}:
        return unit, 1.0
    fitting = [(factor, prefix) for factor, prefix in _PREFIXES if unit != "s" or factor <= 1]
    factor, prefix = next((each for each in fitting if largest >= each[0]), (1, ""))
    return f"{prefix}{unit}", float(factor)


def metric_words(name: str) -> str:
    """The name of a metric for people, without the unit at its end."""
    return next((name.removesuffix(end) for end in _METRICS if name.endswith(end)), name).replace("_", " ")


def is_unit(unit: str) -> bool:
    """True for a unit of scenarios, such as "ms"."""
    return any(unit in scales for scales in _SCALES)


def in_unit(text: str, unit: str) -> float | None:
    """The number of a quantity in another unit of its kind; None for anything else.

    A unit that scenarios do not have (such as "%") converts only to itself. `"BDP"` alone is 1 BDP.
    """
    text = text.strip()
    found = _NUMBER_AND_UNIT.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None or not any(found.groups()):
        return None
    number, own = found.groups()
    if number is None and own != "BDP":
        return None
    value = Fraction((number or "1").replace("_", ""))
    fitting = next((scales for scales in _SCALES if own in scales and unit in scales), None)
    if own != unit and fitting is None:
        return None
    try:
        return float(value if fitting is None else value * fitting[own] / fitting[unit])
    except OverflowError:  # larger than any float
        return None


def rate_text(bits_per_second: float) -> str:
    """A rate with the largest unit that keeps it above 1, to whole b/s: "9.92 Gb/s"."""
    whole = round(bits_per_second)
    unit, digits = next(
        ((unit, digits) for unit, digits in (("G", 9), ("M", 6), ("k", 3)) if whole >= 10**digits), ("", 0)
    )
    return f"{_decimal(whole, digits)} {unit}b/s"


def time_text(nanoseconds: int) -> str:
    """A time in ms, exact to the nanosecond: "0.661932 ms"."""
    return f"{_decimal(nanoseconds, 6)} ms"


def _decimal(whole: int, digits: int) -> str:
    """`whole` / 10^digits, exactly, without trailing zeros."""
    before, after = divmod(whole, 10**digits)
    fraction = f"{after:0{digits}d}".rstrip("0") if digits else ""
    return f"{before}.{fraction}" if fraction else str(before)
