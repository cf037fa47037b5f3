"""Figures: panels with units and lines, the same bytes for the same input, and no cut labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from netlull.plot import (
    Curve,
    Panel,
    Trace,
    bin_rate,
    draw_traces,
    figure,
    panel_grid,
    run_figures,
    save,
    styled,
    svg_text,
)
from netlull.plot.style import compact
from netlull.stats import Interval

if TYPE_CHECKING:
    from pathlib import Path


def curve(label: str = "RTT 1 ms", *, low: float = 0.9, high: float = 1.1, n: int = 4, dashed: bool = False) -> Curve:
    return Curve(label, [10, 100, 1000], [Interval(1.0, low, high, n)] * 3, dashed=dashed)


def panel(**fields: Any) -> Panel:
    return Panel(
        **{"title": "(a) Rate", "x_label": "mRCI (ms)", "y_label": "Rate (Mb/s)", "curves": [curve()], **fields}
    )


def test_a_panel_has_its_labels_lines_and_band() -> None:
    drawn = panel_grid([panel(), panel(title="(b) Loss", y_label="Loss (%)", curves=[curve(dashed=True)])])
    for axes, label in zip(drawn.axes, ("Rate (Mb/s)", "Loss (%)"), strict=True):
        assert axes.get_xlabel() == "mRCI (ms)"
        assert axes.get_ylabel() == label
        assert len(axes.lines) == 1
        assert len(axes.collections) == 1
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["RTT 1 ms"]


def test_one_sample_has_no_band() -> None:
    drawn = panel_grid([panel(curves=[curve(low=np.nan, high=np.nan, n=1)])])
    assert not drawn.axes[0].collections


def test_an_axis_never_cuts_a_curve_off() -> None:
    negative = Curve("x", [1, 2], [Interval(-3, -4, -2, 3), Interval(12, 11, 13, 3)])
    low, high = panel_grid([panel(curves=[negative], y_from=0, y_to=10)]).axes[0].get_ylim()
    assert low <= -4
    assert high >= 13
    inside = Curve("x", [1, 2], [Interval(3, 2, 4, 3), Interval(4, 3, 5, 3)])
    assert panel_grid([panel(curves=[inside], y_from=0, y_to=10)]).axes[0].get_ylim() == (0, 10)


def test_the_legend_is_outside_the_panels() -> None:
    drawn = panel_grid([panel(), panel()])
    drawn.draw_without_rendering()
    legend = drawn.legends[0].get_window_extent()
    assert all(not legend.overlaps(axes.get_window_extent()) for axes in drawn.axes)


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (save(panel_grid([panel()]), tmp_path / name, "figure") for name in ("a", "b"))
    assert [path.suffix for path in first] == [".svg", ".pdf"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert "<metadata>" not in first[0].read_text(encoding="utf-8")
    assert svg_text(panel_grid([panel()])) == first[0].read_text(encoding="utf-8")


def test_pictures_are_made_small_without_touching_their_scales() -> None:
    svg = (
        '<svg height="2.000001pt">\n  <g id="text_1">\n   <!-- 50 -->\n'
        '   <g transform="translate(1.2345 6) scale(0.07512 1)">\n    <path d="M 1.23456 -7.5 \nL 10.98765 3\n"/>\n'
        "   </g>\n  </g>\n</svg>\n"
    )
    small = (
        '<svg height="2pt">\n<g id="text_1"> <!-- 50 --> '
        '<g transform="translate(1.23 6) scale(0.07512 1)"> <path d="M 1.23 -7.5 L 10.99 3 "/> </g> </g> </svg>\n'
    )
    assert compact(svg) == small
    assert compact(small) == small


def test_bins_hold_the_mean_rate_of_what_falls_into_them() -> None:
    # Four bins of 0.5 s with 1000 B each into bins of 1 s: 2000 B = 16 kbit in a second.
    time, rate = bin_rate(np.array([0.5, 1.0, 1.5, 2.0]), np.full(4, 1000.0), 1.0)
    assert time.tolist() == [0.5, 1.5]
    assert rate.tolist() == [16000, 16000]


def test_a_last_bin_that_is_not_full_is_left_out() -> None:
    time, _ = bin_rate(np.array([0.5, 1.0, 1.5]), np.ones(3), 1.0)
    assert time.tolist() == [0.5]
    assert bin_rate(np.empty(0), np.empty(0), 1.0)[0].size == 0


def test_traces_hold_steps_and_stay_in_their_window() -> None:
    with styled():
        axes = figure().add_subplot()
        trace = Trace("rate", np.array([0.0, 5.0, 20.0]), np.array([1.0, 2.0, 2.0]), steps=True)
        draw_traces(axes, [trace], "(a)", "Rate (Mb/s)", (0, 10))
    assert axes.lines[0].get_drawstyle() == "steps-post"
    assert axes.get_xlim() == (0, 10)
    assert axes.get_xlabel() == "Time (s)"


class Recorded:
    """A result with the series of one link and one flow."""

    def __init__(self, **series: pa.Table) -> None:
        self._series = series
        self.series_names = tuple(series)

    def series(self, name: str) -> pa.Table:
        return self._series[name]

    def flow(self, _name: str) -> dict[str, int]:
        return {"segment_bytes": 1000}


def recorded() -> Recorded:
    time = np.arange(1, 11) * 0.1
    names = pa.array(["N1-N2"] * 10).dictionary_encode()
    flows = pa.array(["tcp"] * 10).dictionary_encode()
    link = pa.table(
        {
            "time_s": time,
            "link": names,
            "arrived_bytes": np.full(10, 1e5),
            "queue_packets": np.arange(10),
            "rate_bps": np.full(10, 1e7),
        }
    )
    flow = pa.table(
        {"time_s": time, "flow": flows, "delivered_bytes": np.full(10, 1e5), "cwnd_bytes": np.full(10, 1e4)}
    )
    rate = pa.table({"time_s": [0.0, 0.5], "link": pa.array(["N1-N2"] * 2).dictionary_encode(), "rate_bps": [1e7, 9e6]})
    return Recorded(link=link, flow=flow, rate=rate)


def test_a_run_draws_rates_queues_goodput_and_windows(tmp_path: Path) -> None:
    written = run_figures(recorded(), tmp_path)  # type: ignore[arg-type]
    names = {path.name for path in written}
    assert names == {f"{name}.{kind}" for name in ("links", "queues", "goodput", "cwnd") for kind in ("svg", "pdf")}
    assert all(path.stat().st_size > 1000 for path in written)


def test_windows_are_drawn_in_segments(tmp_path: Path) -> None:
    run_figures(recorded(), tmp_path)  # type: ignore[arg-type]
    assert "cwnd (segments of 1000 B)" in (tmp_path / "cwnd.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("series", [{}, {"rate": recorded().series("rate")}])
def test_a_run_without_bins_draws_nothing(tmp_path: Path, series: dict[str, pa.Table]) -> None:
    assert run_figures(Recorded(**series), tmp_path) == []  # type: ignore[arg-type]
