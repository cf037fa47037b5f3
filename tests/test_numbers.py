"""Numbers in readable form."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

from netlull.cli.tables import Table, draw
from netlull.numbers import count, digits, percent, plus_minus, scaled


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (9_433_217.0, "9.433 Mb/s"),
        (999_960.0, "1 Mb/s"),
        (999.4, "999.4 b/s"),
        (0.0, "0 b/s"),
        (1e9, "1 Gb/s"),
        (None, "-"),
        (math.nan, "-"),
    ],
)
def test_rates(value: float | None, text: str) -> None:
    assert scaled(value, "b/s") == text


@pytest.mark.parametrize(
    ("mean", "half", "size", "text"),
    [
        (5.2, 0.131, None, "5.2 ± 0.13"),
        (5.2, math.nan, None, "5.2"),
        (5.2, 1.3e-15, None, "5.2 ± 0"),
        # Small, but not compared with the mean.
        (5.2e-9, 1.3e-15, None, "5.200e-09 ± 1.3e-15"),
        (0.0, 0.0, None, "0 ± 0"),
        # A difference of two means of 7.3 s that are equal except for rounding, and one of a nanosecond.
        (8.9e-16, 1.1e-15, 7.3, "0 ± 0"),
        (1e-9, 1.1e-15, 7.3, "1.000e-09 ± 0"),
    ],
)
def test_what_is_only_rounding_is_nothing(mean: float, half: float, size: float | None, text: str) -> None:
    assert plus_minus(mean, half, size) == text


def test_small_times() -> None:
    assert scaled(0.0125, "s") == "12.5 ms"
    assert scaled(3.2e-6, "s") == "3.2 µs"


def test_long_times_stay_in_seconds() -> None:
    assert scaled(3600.0, "s") == "3600 s"
    assert scaled(2.5e6, "s") == "2500000 s"
    assert scaled(-1200.0, "s") == "-1200 s"


def test_digits() -> None:
    assert digits(123.456) == "123.5"
    assert digits(0.001234567) == "0.001235"
    assert digits(12) == "12"
    assert digits(1e-7) == "1.000e-07"
    assert digits(-2.5) == "-2.5"


def test_counts_and_shares() -> None:
    assert count(1_234_567) == "1 234 567"
    assert count(None) == "-"
    assert percent(0.1234) == "12.3 %"
    assert percent(0.000123) == "0.012 %"
    assert percent(0) == "0.0 %"


def test_a_rounding_error_is_no_share() -> None:
    assert percent(-2.2e-16) == "0.0 %"
    assert percent(-2.2e-10) == "-2.2e-08 %"


def test_numbers_stay_whole_on_a_narrow_terminal_where_rows_become_columns() -> None:
    table = Table(["axis", "first metric", "second metric"])
    for index in range(6):
        table.add([f"point {index}", f"3.608e-0{index} ± 6e-07", "120 ± 2"])

    def shown(width: int, *, terminal: bool) -> str:
        console = Console(width=width, file=io.StringIO(), force_terminal=terminal, color_system=None)
        draw(console, table)
        assert isinstance(console.file, io.StringIO)
        return console.file.getvalue()

    for text in (shown(200, terminal=True), shown(34, terminal=True), shown(20, terminal=False)):
        assert text.count("± 6e-07") == text.count(" ± 2\n") + text.count(" ± 2 ") == 6
    assert max(map(len, shown(34, terminal=True).splitlines())) <= 34
    # A narrow terminal repeats the names of the metrics for each group of points.
    assert shown(34, terminal=True).count("second") == 6
    assert shown(20, terminal=False).count("first metric") == 1
