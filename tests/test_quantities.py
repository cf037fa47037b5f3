"""Quantities in the unit of an axis."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlull.quantities import in_unit, metric_unit


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


@pytest.mark.parametrize(
    ("name", "path", "largest", "unit"),
    [
        ("goodput", "flow.tcp.goodput_bps", 48_111_090.0, ("Mb/s", 1e6)),
        ("goodput", "flow.tcp.goodput_bps", 999.0, ("b/s", 1.0)),
        ("worst", "max(flow.*.completion_time_s)", 0.2, ("ms", 1e-3)),
        ("worst", "max(flow.*.completion_time_s)", 90_000.0, ("s", 1.0)),
        ("total_j", "a sum", 9566.0, ("kJ", 1e3)),
        ("queue", "link.a-b.mean_queue_packets", 0.01, ("packets", 1.0)),
        ("saving", "link.a-b.energy.fs.saving", 0.4, ("", 1.0)),
        ("goodput", "flow.tcp.goodput_bps", 0.0, ("b/s", 1.0)),
    ],
)
def test_metrics_have_the_unit_and_prefix_that_people_read(
    name: str, path: str, largest: float, unit: tuple[str, float]
) -> None:
    assert metric_unit(name, path, largest) == unit
