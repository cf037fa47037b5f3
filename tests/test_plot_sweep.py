"""`netlull plot sweep`: axes of names and of numbers, curves, choices, refusals; sweeps over algorithms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from netlull import Axis, InputError, SweepResult
from netlull.plot import sweep_figure

if TYPE_CHECKING:
    from collections.abc import Callable

    Printed = Callable[..., str]

NAMES = Axis("tcp", "tcp.congestion_control", ["new_reno", "cubic"])
BUFFERS = Axis("buffer", "link.N1-N2.buffer", ["1 BDP", "2 BDP"], unit="BDP")


def result(seeds: int = 2) -> SweepResult:
    """Goodput 1, 2, 3, 4 Mb/s at the four points, and 0.1 Mb/s more with each seed."""
    points = [(name, buffer) for name in ("new_reno", "cubic") for buffer in (1.0, 2.0)]
    rows = [(place, seed) for place in range(4) for seed in range(1, seeds + 1)]
    table = pa.table(
        {
            "experiment": ["sweep"] * len(rows),
            "tcp": [points[place][0] for place, _ in rows],
            "tcp_label": [points[place][0] for place, _ in rows],
            "buffer": [points[place][1] for place, _ in rows],
            "buffer_label": [f"{points[place][1]:g} BDP" for place, _ in rows],
            "seed": [seed for _, seed in rows],
            "goodput_bps": [1e6 * (place + 1) + 1e5 * seed for place, seed in rows],
            "losses": [float(place) for place, _ in rows],
        }
    )
    return SweepResult(table, [NAMES, BUFFERS], {"goodput_bps": "x", "losses": "y"})


def test_names_have_a_place_each_and_units_come_from_metrics() -> None:
    drawn = sweep_figure(result(), "tcp", "buffer")
    goodput, losses = drawn.axes
    assert [text.get_text() for text in goodput.get_xticklabels()] == ["new_reno", "cubic"]
    assert (goodput.get_xlabel(), goodput.get_ylabel()) == ("tcp", "goodput (Mb/s)")
    assert losses.get_ylabel() == "losses"
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["1 BDP", "2 BDP"]
    # Two seeds, 0.1 Mb/s apart: means of 1.15 and 3.15 Mb/s with a buffer of 1 BDP, left of the names' middle.
    first = goodput.containers[0].lines[0]  # type: ignore[attr-defined]
    assert list(first.get_ydata()) == pytest.approx([1.15, 3.15])
    assert list(first.get_xdata()) == pytest.approx([-0.125, 0.875])
    # t = 12.706 for one degree of freedom, s / sqrt(2) = 0.05: bars of 0.635 Mb/s to both sides.
    (bars,) = goodput.containers[0].lines[2]  # type: ignore[attr-defined]
    assert bars.get_segments()[0][:, 1] == pytest.approx([1.15 - 0.6353, 1.15 + 0.6353], abs=1e-4)


def test_one_seed_has_no_bars() -> None:
    axes = sweep_figure(result(seeds=1), "tcp", "buffer", ["goodput_bps"]).axes[0]
    assert not axes.containers[0].lines[2]  # type: ignore[attr-defined]


def test_a_title_counts_points_without_a_value() -> None:
    made = result()
    without = made.table["losses"].to_pylist()
    without[0] = None
    made.table = made.table.set_column(made.table.column_names.index("losses"), "losses", pa.array(without))
    goodput, losses = sweep_figure(made, "tcp", "buffer").axes
    assert (goodput.get_title(loc="left"), losses.get_title(loc="left")) == ("", "no value at 1 of 4 points")


def test_numbers_have_lines_over_an_axis_with_its_unit() -> None:
    (axes,) = sweep_figure(result(), "buffer", "tcp", ["goodput_bps"]).axes
    assert axes.get_xlabel() == "buffer (BDP)"
    assert [list(line.get_xdata()) for line in axes.lines] == [[1.0, 2.0], [1.0, 2.0]]  # type: ignore[arg-type]
    assert axes.get_ylim()[0] == 0


def test_another_axis_is_chosen_from() -> None:
    (axes,) = sweep_figure(result(seeds=1), "tcp", metrics=["losses"], where={"buffer": "2 BDP"}).axes
    assert list(axes.containers[0].lines[0].get_ydata()) == [1.0, 3.0]  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="several points of the axis buffer have the same position"):
        sweep_figure(result(), "tcp")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"x": "rtt"}, 'there is no axis "rtt" in the sweep; expected one of tcp, buffer'),
        ({"x": "tcp", "by": "rtt"}, 'no axis "rtt"'),
        ({"x": "tcp", "by": "buffer", "metrics": ["joy"]}, 'no metric "joy" in the sweep; expected one of goodput_bps'),
        ({"x": "tcp", "where": {"buffer": "9 BDP"}}, 'no point of the axis buffer "9 BDP"'),
    ],
)
def test_what_is_not_in_the_sweep_is_refused(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        sweep_figure(result(), **arguments)  # type: ignore[arg-type]


def test_a_sweep_over_algorithms_of_a_ready_scenario(printed: Printed, tmp_path: Path) -> None:
    file = tmp_path / "tcps.toml"
    file.write_text(
        """
scenario = "dumbbell"
[metrics]
goodput_bps = "flow.tcp.goodput_bps"
[[axis]]
name = "tcp"
path = "tcp.congestion_control"
values = ["new_reno", "cubic", "vegas"]
[[experiment]]
name = "short"
set = { duration = "5 s" }
"""
    )
    printed("sweep", file, "--out", tmp_path / "store")
    table = SweepResult.load(tmp_path / "store").table
    assert table["tcp"].to_pylist() == ["new_reno", "cubic", "vegas"]
    assert len(set(table["goodput_bps"].to_pylist())) == 3
    for name in ("x.svg", "x.png"):
        assert "written to" in printed("plot", "sweep", tmp_path / "store", "--x", "tcp", "--out", tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000


def test_an_unknown_algorithm_in_a_sweep_is_refused_before_anything_runs(
    refused: Callable[..., str], tmp_path: Path
) -> None:
    file = tmp_path / "tcps.toml"
    file.write_text(
        'scenario = "dumbbell"\n[metrics]\nevents = "events"\n'
        '[[axis]]\nname = "tcp"\npath = "tcp.congestion_control"\nvalues = ["new_reno", "x"]\n'
    )
    assert '"x" is unknown' in refused("sweep", file, "--out", tmp_path / "store")
    assert not (tmp_path / "store" / "results.parquet").exists()


def test_where_needs_a_point(refused: Callable[..., str], tmp_path: Path) -> None:
    assert "expected axis=point" in refused("plot", "sweep", tmp_path, "--x", "a", "--where", "b", "--out", "x.svg")
    said = refused("plot", "sweep", tmp_path, "--x", "tcp", "--out", str(tmp_path / "x.svg"))
    assert "sweep.json: is missing" in said
