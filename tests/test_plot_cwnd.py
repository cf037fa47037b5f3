"""`netlull plot cwnd`: panels, windows in segments, marks of losses, comparisons, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from netlull import InputError, Probe, Result, Scenario
from netlull.plot import Windows, cwnd_figure, windows_of

if TYPE_CHECKING:
    from collections.abc import Callable

    Printed = Callable[..., str]

PROBE = Probe(window=True, events=True)


def window(flow: str = "tcp", run: str = "a", *, unit: str = "segments", cwnd: float = 10.0) -> Windows:
    """A window of `cwnd`, halved by a fast retransmit at 2 s, and known until 4 s."""
    return Windows(
        run,
        flow,
        "new_reno",
        unit,
        np.array([0.0, 2.0, 4.0]),
        np.array([cwnd, cwnd / 2, cwnd / 2]),
        np.array([np.nan, cwnd / 2, cwnd / 2]),
        {"timeout": np.empty(0), "fast_retransmit": np.array([2.0]), "congestion_echo": np.empty(0)},
    )


def test_windows_are_in_segments_and_last_to_the_end(small: Scenario) -> None:
    result = small.run(probe=PROBE)
    (only,) = windows_of(result, "x")
    series = result.series("window")
    # 1500 B of MTU less 40 of headers and 12 of timestamps: 1448 B of data.
    assert only.unit == "segments"
    assert only.cwnd[:-1] == pytest.approx(np.array(series["cwnd_bytes"]) / 1448)
    assert (only.time_s[-1], only.cwnd[-1]) == (2.0, only.cwnd[-2])
    assert len(only.events["fast_retransmit"]) == result.flow("tcp")["fast_retransmits"]


def test_a_complete_transfer_ends_its_window(small: Scenario) -> None:
    result = small.with_values({"flow.tcp.size": "20 kB"}).run(probe=PROBE)
    (only,) = windows_of(result, "x")
    flow = result.flow("tcp")
    assert only.time_s[-1] == pytest.approx(flow["start_s"] + flow["completion_time_s"])


def test_what_has_no_window_is_refused(small: Scenario) -> None:
    with pytest.raises(InputError, match='flow "noise" is bursts and has no window'):
        windows_of(small.run(probe=PROBE), "x", ["noise"])
    with pytest.raises(InputError, match="recorded no congestion windows"):
        windows_of(small.run(), "x")
    with pytest.raises(InputError, match="has no TCP flow"):
        windows_of(small.with_values({"flow.tcp": None}).run(probe=PROBE), "x")


def test_bins_will_do_where_windows_were_not_recorded(small: Scenario) -> None:
    (only,) = windows_of(small.run(probe=Probe("100 ms")), "x")
    assert len(only.time_s) == 20


def test_a_flow_has_a_panel_with_axes_that_tell_their_units() -> None:
    drawn = cwnd_figure([window("one"), window("two", cwnd=20)])
    assert [axes.get_title(loc="left") for axes in drawn.axes] == ["one: new_reno", "two: new_reno"]
    assert all(axes.get_ylabel() == "Window (segments)" for axes in drawn.axes)
    assert drawn.axes[-1].get_xlabel() == "Time (s)"
    # One scale for both, above the larger window.
    assert drawn.axes[0].get_ylim() == drawn.axes[1].get_ylim() == (0, pytest.approx(21.6))
    names = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert names == ["cwnd", "ssthresh", "fast retransmit"]


def test_a_mark_is_at_the_window_that_the_loss_met() -> None:
    (axes,) = cwnd_figure([window()]).axes
    (mark,) = [line for line in axes.lines if line.get_marker() == "v"]
    assert (list(mark.get_xdata()), list(mark.get_ydata())) == ([2.0], [10.0])  # type: ignore[arg-type]


def test_runs_share_the_panel_of_a_flow_and_differ_in_colour() -> None:
    drawn = cwnd_figure([window(run="new_reno"), window(run="cubic")])
    (axes,) = drawn.axes
    windows = [line for line in axes.lines if line.get_linestyle() == "-"]
    assert len({line.get_color() for line in windows}) == 2
    names = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert names[:2] == ["new_reno", "cubic"]


def test_many_runs_have_panels_of_their_own() -> None:
    names = ["bbr", "bic", "cubic", "reno", "sack", "vegas"]
    drawn = cwnd_figure([window(run=name) for name in names])
    assert [axes.get_title(loc="left") for axes in drawn.axes if axes.axison] == names
    assert "bbr" not in [text.get_text() for text in drawn.legends[0].get_texts()]
    two = cwnd_figure([window(flow, run=name) for name in names for flow in ("one", "two")])
    assert two.axes[1].get_title(loc="left") == "bbr: two"


@pytest.mark.parametrize("flows", [5, 6, 20])
def test_many_flows_are_side_by_side_and_none_is_empty(flows: int) -> None:
    drawn = cwnd_figure([window(f"tcp-{number}") for number in range(flows)])
    shown = [axes for axes in drawn.axes if axes.axison]
    assert len(shown) == flows
    assert all(axes.lines for axes in shown)
    drawn.draw_without_rendering()
    # The last panel of each column has numbers below it.
    lowest = [axes for axes in shown if axes.xaxis.get_tick_params()["labelbottom"]]
    assert len(lowest) == 4
    legend = drawn.legends[0].get_window_extent()
    assert all(not legend.overlaps(axes.get_window_extent()) for axes in shown)


def test_a_span_shows_its_own_windows_only() -> None:
    (axes,) = cwnd_figure([window()], (2.5, 3.5)).axes
    assert axes.get_xlim() == (2.5, 3.5)
    # Only the window of five is in it, which began before it, and no loss.
    assert axes.get_ylim()[1] == pytest.approx(1.08 * 5)
    assert all(len(line.get_xdata()) == 0 for line in axes.lines if line.get_marker() == "v")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("span", "says"), [((3.0, 2.0), "is not a span of time"), ((9.0, 10.0), "nothing was recorded")]
)
def test_an_empty_span_is_refused(span: tuple[float, float], says: str) -> None:
    with pytest.raises(InputError, match=says):
        cwnd_figure([window()], span)


def test_too_many_marks_are_left_out_and_the_legend_says_so() -> None:
    many = window()
    many.events["timeout"] = np.linspace(0, 4, 61)
    drawn = cwnd_figure([many])
    assert not [line for line in drawn.axes[0].lines if line.get_marker() == "X"]
    names = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert "timeout (where 60 at most)" in names


@pytest.mark.parametrize(("suffix", "magic"), [(".svg", b"<?xml"), (".pdf", b"%PDF"), (".png", b"\x89PNG")])
def test_the_command_draws_scenarios_and_results(
    printed: Printed, small_file: Path, tmp_path: Path, suffix: str, magic: bytes
) -> None:
    run, first, second = tmp_path / "run", tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
    printed("run", small_file, "--out", run)
    assert f"written to {first}" in printed("plot", "cwnd", run, "--out", first)
    printed("plot", "cwnd", run, "--out", second)
    assert first.read_bytes()[:5].startswith(magic)
    assert first.read_bytes() == second.read_bytes()


def test_each_value_is_a_run_of_its_own(printed: Printed, small_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.svg"
    printed("plot", "cwnd", small_file, "--each", "tcp.congestion_control=new_reno,cubic", "--out", out)
    alone = tmp_path / "alone.svg"
    printed("plot", "cwnd", small_file, "--set", "tcp.congestion_control=cubic", "--out", alone)
    assert out.stat().st_size > alone.stat().st_size


def test_a_scenarios_own_probe_is_kept(printed: Printed, small_file: Path, tmp_path: Path) -> None:
    text = small_file.read_text() + '\n[probe]\ninterval = "1 s"\n'
    small_file.write_text(text)
    printed("plot", "cwnd", small_file, "--from", "500 ms", "--to", "1.5", "--out", tmp_path / "x.svg")
    assert (tmp_path / "x.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--out", "x.jpg"], "expected a name that ends in .svg, .pdf, .png"),
        (["--out", "x.svg", "--from", "yesterday"], '--from "yesterday": expected seconds'),
        (["--out", "x.svg", "--each", "tcp.hystart"], "expected path=value,value"),
        (["--out", "x.svg", "--label", "a", "--label", "b"], "--label was given 2 times; expected one for each of 1"),
        (["--out", "x.svg", "--flow", "nobody"], 'there is no flow "nobody"'),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    refused: Callable[..., str], small_file: Path, arguments: list[str], says: str
) -> None:
    assert says in refused("plot", "cwnd", str(small_file), *arguments)


def test_a_result_takes_no_settings(refused: Callable[..., str], small: Scenario, tmp_path: Path) -> None:
    result: Result = small.run(probe=PROBE)
    result.save(tmp_path / "run")
    said = refused("plot", "cwnd", str(tmp_path / "run"), "--set", "seed=2", "--out", str(tmp_path / "x.svg"))
    assert "is a finished run; expected a scenario for --set and --each" in said
