"""Quantities in the unit of an axis."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlull.quantities import in_unit


@pytest.mark.parametrize(
    ("text", "unit", "number"),
    [
        ("10 ms", "ms", 10.0),
        ("10ms", "s", 0.01),
        ("0.1 s", "ms", 100.0),  # exact: no 100.00000000000001
        ("5e-3 s", "ms", 5.0),
        ("2 min", "s", 120.0),
        ("10 Mb/s", "kb/s", 10_000.0),
        ("2.5 Gbit/s", "Mb/s", 2500.0),
        ("64 KiB", "B", 65_536.0),
        ("0.5 BDP", "BDP", 0.5),
        ("BDP", "BDP", 1.0),
        ("1 packet", "packets", 1.0),
        ("1_000 B", "kB", 1.0),
        ("1319 mW", "W", 1.319),
        ("20 uW", "mW", 0.02),
    ],
)
def test_quantities_are_converted(text: str, unit: str, number: float) -> None:
    assert in_unit(text, unit) == number


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("10 ms", "Mb/s"),
        ("fast", "ms"),
        ("", "ms"),
        ("ms", "ms"),
        ("10", "ms"),
        ("1e999 Gb/s", "b/s"),
        ("1e99999999 s", "s"),
        ("9" * 5000 + " s", "s"),
        ("9" * 500 + " " * 100_000 + "x y", "s"),
    ],
)
def test_what_is_no_quantity_of_the_unit_is_refused(text: str, unit: str) -> None:
    assert in_unit(text, unit) is None


@given(st.integers(0, 10**9))
def test_nanoseconds_come_back(nanos: int) -> None:
    assert in_unit(f"{nanos} ns", "ns") == nanos
    assert in_unit(f"{nanos} ns", "s") == nanos / 10**9
