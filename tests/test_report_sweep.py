"""The report of a sweep, the ledger of its energy, and the charts of figures."""

from __future__ import annotations

import base64
import gzip
import json
import re
import tomllib
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from netlull import Axis, AxisPoint, Result, Scenario, Sweep, SweepResult
from netlull.errors import ResultError
from netlull.plot import Curve, Panel, Trace, charts_of, draw_traces, figure, panel_grid, styled
from netlull.plot.charts import Series, record
from netlull.plot.panels import metric_figure
from netlull.report import chart_library, render
from netlull.report.ledger import averaged_over, ledger, ledger_figure, ledger_section
from netlull.report.sweeps import sweep_page, sweep_report
from netlull.results.energy import PART_WORDS
from netlull.stats import Interval
from netlull.sweep import Design, Experiment, Range, Window
from test_plot_sweep import result
from test_report import checked

if TYPE_CHECKING:
    from collections.abc import Callable

    Printed = Callable[..., str]

SWEEP = """
scenario = "small.toml"
seeds = 3
[metrics]
goodput_bps = "flow.tcp.goodput_bps"
saving = "link.a-b.energy.dvs.saving"
[[axis]]
name = "buffer"
unit = "packets"
path = "link.a-b.buffer"
values = ["10 packets", "20 packets"]
[[axis]]
name = "control"
[[axis.point]]
value = "TCP+PC"
[[axis.point]]
value = "TCPonly"
unset = ["link.a-b.controller"]
"""


@pytest.fixture
def store(small_file: Path, printed: Printed, tmp_path: Path) -> Path:
    file = small_file.parent / "sweep.toml"
    file.write_text(SWEEP)
    printed("sweep", file, "--out", tmp_path / "store")
    return tmp_path / "store"


def test_a_sweep_ends_with_a_report_which_the_command_writes_again_to_the_byte(
    store: Path, printed: Printed, tmp_path: Path
) -> None:
    first = (store / "report.html").read_bytes()
    assert "written to" in printed("report", store)
    assert (store / "report.html").read_bytes() == first
    printed("report", store, "--out", tmp_path / "other.html")
    assert (tmp_path / "other.html").read_bytes() == first


def test_a_report_compares_the_points_of_an_axis_as_the_command_does(
    store: Path, printed: Printed, refused: Printed, tmp_path: Path
) -> None:
    printed("report", store, "--by", "control=TCPonly", "--out", tmp_path / "by.html")
    html = (tmp_path / "by.html").read_text(encoding="utf-8")
    section = html[html.index('id="compared"') :]
    section = section[: section.index("</section>")]
    shown = [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", section, flags=re.DOTALL)]
    compared = printed("compare", store, "--by", "control=TCPonly").split()
    # Two metrics at two buffers, each with a difference from the reference.
    assert shown.count("TCP+PC") == 4
    assert {word for cell in shown for word in unescape(cell).split()} <= set(compared)
    assert "Verdicts by Holm" in unescape(section)
    assert 'no point "TCPonyl"' in refused("report", store, "--by", "control=TCPonyl")


@pytest.mark.skipif(chart_library() is None, reason="no chart library here: make setup fetches it with npm")
def test_the_report_says_what_ran_and_shows_every_metric_and_number(store: Path) -> None:
    html = (store / "report.html").read_text(encoding="utf-8")
    assert checked(html).open == []
    for text in ("4 points, 12 runs", "10 packets, 20 packets", "4 of 4 points have fewer than 5 seeds", "12</dd>"):
        assert text in html
    assert len(re.findall(r'<figure id="metric-\d"', html)) == 2
    assert html.count('<table class="numbers sortable">') == 2
    rows = SweepResult.load(store).summarise().to_pylist()
    assert f"{rows[0]['goodput_bps'] / 1e6:.2f}"[:3] in html


def offered(html: str) -> list[list[tuple[str, dict[str, Any]]]]:
    """The points of each form of a page: label and scenario."""
    packed = re.search(r'<script type="application/octet-stream" id="tries" data-lab="lab.html">([^<]*)', html)
    texts = json.loads(gzip.decompress(base64.b64decode(packed[1]))) if packed else []
    return [
        [
            (unescape(label), tomllib.loads(texts[int(number)]))
            for number, label in re.findall(r'<option value="(\d+)">([^<]*)</option>', form)
        ]
        for form in re.findall(r'<form class="try".*?</form>', html, re.DOTALL)
    ]


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> None:
    """A laboratory that was built."""
    for module in ("library", "report.page"):
        monkeypatch.setattr(f"netlull.{module}.lab_page", lambda: b"<!doctype html>")


@pytest.mark.usefixtures("lab")
def test_every_figure_offers_every_point_with_its_scenario(store: Path, small_file: Path) -> None:
    html = sweep_report(store, store.parent / "tried.html").read_text(encoding="utf-8")
    assert (store.parent / "lab.html").read_bytes() == b"<!doctype html>"
    forms = offered(html)
    assert len(forms) == len(re.findall("<figure", html)) > 2
    points = Sweep.from_file(small_file.parent / "sweep.toml").points()
    expected = [(point.label.removeprefix("sweep at "), {**point.scenario.to_dict(), "seed": 1}) for point in points]
    assert expected[0][0] == "buffer=10 packets, control=TCP+PC"
    assert all(form == expected for form in forms)
    # The list is there once, whatever the number of figures.
    assert html.count("application/octet-stream") == 1
    assert sweep_report(store, store.parent / "again.html").read_text(encoding="utf-8") == html


@pytest.mark.usefixtures("lab")
def test_points_of_experiments_and_samples_are_those_of_the_sweep(small_file: Path, tmp_path: Path) -> None:
    axes = [
        Axis("where", points=[AxisPoint("slow", set={"link.a-b.rate": "5 Mb/s"}, unset=["link.a-b.controller"])]),
        Axis("delay", "link.b-c.delay", ["1 ms", "9 ms"]),
    ]
    sweep = Sweep(
        Scenario.from_file(small_file),
        axes,
        [4, 3],
        {"goodput_bps": "flow.tcp.goodput_bps"},
        [
            Experiment("both", ["delay", "buffer", "where"]),
            Experiment("one", ["delay"], 1, {"link.b-c.rate": "3 Mb/s"}),
        ],
        Design.sampled("random", 2, [Range("buffer", "link.a-b.buffer", 5, 50, unit="packets", whole=True)]),
    )
    sweep.run(tmp_path / "store")
    forms = offered(sweep_report(tmp_path / "store").read_text(encoding="utf-8"))
    expected = [(point.label, {**point.scenario.to_dict(), "seed": min(point.seeds)}) for point in sweep.points()]
    assert len(expected) == 6
    assert forms
    assert all(form == expected for form in forms)


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize("lost", ["changes", "scenario"])
def test_points_that_cannot_be_built_again_are_left_out(store: Path, lost: str) -> None:
    document = json.loads((store / "sweep.json").read_text())
    if lost == "changes":
        for axis in document["axes"]:
            del axis["changes"]  # as in a store of an earlier version
    else:
        gone = {"kind": "python", "class": "nowhere:Gone"}
        document["scenario"]["flow"][0]["tcp"] = {"congestion_control": gone}
    html = render(sweep_page(SweepResult.load(store), document, (0, 0)))
    assert offered(html) == []
    assert 'class="try"' not in html


@pytest.mark.usefixtures("lab")
def test_a_figure_of_very_many_points_offers_some_and_says_so(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netlull.report.sweeps.MOST_TRIES", 3)
    html = sweep_report(store).read_text(encoding="utf-8")
    assert [len(form) for form in offered(html)] == [3] * len(re.findall("<figure", html))
    assert "Point (3 of 4, evenly spread)" in html


def test_the_parts_of_the_ledger_add_up_to_the_total(store: Path) -> None:
    energy = SweepResult.load(store).energy
    assert energy is not None
    # Only a-b has a controller; b-a and b-c never change their rates.
    assert set(energy["link"].to_pylist()) == {"a-b"}
    entries = ledger(energy)
    assert {entry.scenario for entry in entries} == {"TCP+PC", "TCPonly"}
    for entry in entries:
        assert entry.runs == 6
        assert sum(entry.parts.values()) == pytest.approx(entry.total_j, rel=1e-12)
    for entry in (entry for entry in entries if entry.scenario == "TCPonly"):
        assert entry.total_j == pytest.approx(entry.reference_j)
        assert entry.parts["transitions"] == 0
    assert all(entry.parts["transitions"] > 0 for entry in entries if entry.scenario == "TCP+PC")


def test_the_energy_of_a_point_is_the_mean_over_its_seeds(store: Path) -> None:
    energy = SweepResult.load(store).energy
    assert energy is not None
    lines = (store / "journal.jsonl").read_text().splitlines()
    totals = []
    for line in lines:
        summary = json.loads(line)["record"]["summary"]
        link = next(link for link in summary["links"] if link["name"] == "a-b")
        totals.append(link["energy"]["fs"]["total_j"])
    # Every point has three of the twelve runs: the mean of the points' means is that of all runs.
    means = [row["total_j"] for row in energy.to_pylist() if row["model"] == "fs"]
    assert len(means) == 4
    assert sum(means) / 4 == pytest.approx(sum(totals) / 12)


def test_bars_of_the_ledger_stand_on_each_other() -> None:
    row = {"experiment": "e", "x_label": "1 s", "link": "a", "model": "fs", "runs": 2, "reference_j": 20.0}
    parts = dict(zip(PART_WORDS, (1.0, 2.0, 0.0, 4.0, 0.0), strict=True))
    drawn = ledger_figure(ledger(pa.Table.from_pylist([{**row, **parts, "total_j": 7.0}])))
    assert drawn is not None
    (chart,) = charts_of(drawn)
    assert [(part.label, list(part.low), list(part.y)) for part in chart.series] == [
        ("static", [0], [1]),
        ("rate-dependent", [1], [2]),
        ("transitions", [3], [4]),
    ]
    assert chart.names == ["all points"]


SLEEPING = """
name = "sleeping"
duration = "4 s"
nodes = ["a", "b", "c"]
[[link]]
duplex = true
rate = "10 Mb/s"
delay = "1 ms"
buffer = "50 packets"
entries = [{ from = "a", to = "b" }, { from = "b", to = "c" }, { from = "a", to = "c" }]
[[flow]]
kind = "cbr"
name = "data"
from = "a"
to = "c"
rate = "1 Mb/s"
[[sleep]]
at = "1 s"
links = ["a-b"]
[[power]]
model = "nexus-9336-fx2"
"""


def test_the_parts_of_a_link_that_slept_add_up_to_its_total() -> None:
    found = Sweep(Scenario.from_toml(SLEEPING), seeds=1, metrics={"hops": "packet_hops"}).run()
    assert found.energy is not None
    entries = ledger(found.energy)
    assert {entry.link for entry in entries} == {"a-b", "b-a"}
    for entry in entries:
        assert entry.parts["asleep"] > 0
        assert sum(entry.parts.values()) == pytest.approx(entry.total_j, rel=1e-12)


def test_the_ledger_says_what_it_averages_over() -> None:
    row = {"experiment": "e", "link": "a", "model": "fs", "runs": 2, "reference_j": 20.0, "total_j": 7.0}
    row |= dict(zip(PART_WORDS, (1.0, 2.0, 0.0, 4.0, 0.0), strict=True))
    loads = ("0.9", "0.1", "0.5", "0.3", "0.7")
    rows = [
        {**row, "control_label": control, "load_label": load, "length_label": length}
        for control in ("TCP+PC", "TCPonly")
        for load in loads
        for length in ("1 s", "2 s")
    ]
    energy = pa.Table.from_pylist(rows)
    assert averaged_over(energy) == ["load 0.1 to 0.9 (5 points)", "length 1 s, 2 s"]
    section = ledger_section(energy, [Window("0 s", "1 s"), Window("0 s", "2 s")])
    assert section is not None
    said = (
        " Each value is a mean over load 0.1 to 0.9 (5 points), over length 1 s, 2 s. "
        "The runs differ in their measured part: 0 s to 1 s, 0 s to 2 s."
    )
    assert [block.caption.endswith(said) for block in (*section.tables, *section.figures)] == [True, True]
    # Only seeds are averaged, if every axis distinguishes scenarios or an experiment has one point of it.
    assert averaged_over(energy.slice(0, 1)) == []
    assert averaged_over(energy.drop_columns(["load_label", "length_label"])) == []


def test_a_store_without_its_table_or_with_a_damaged_one_is_refused(store: Path, refused: Callable[..., str]) -> None:
    (store / "energy.parquet").write_bytes(b"x")
    assert "energy.parquet: is truncated or damaged: it has 1 bytes, sweep.json says" in refused("report", store)
    (store / "results.parquet").unlink()
    assert "results.parquet: is missing" in refused("report", store)
    assert "expected a name that ends in .html" in refused("report", store, "--out", "x.pdf")
    (store / "sweep.json").unlink()
    assert "sweep.json: is missing; expected the folder of a sweep" in refused("report", store)


@pytest.mark.parametrize("command", [("report",), ("report", "--by", "load=1"), ("compare", "--by", "load=1")])
def test_a_file_and_a_missing_folder_are_no_store(
    refused: Callable[..., str], tmp_path: Path, command: tuple[str, ...]
) -> None:
    file, nowhere = tmp_path / "study.toml", tmp_path / "nowhere"
    file.touch()
    assert f"{file}: is a file; expected the folder of a sweep\n" in refused(*command, file)
    assert f"{nowhere}: there is no such folder; expected the folder of a sweep\n" in refused(*command, nowhere)
    for path, what in ((file, "is a file"), (nowhere, "there is no such folder")):
        with pytest.raises(ResultError, match=f"{path}: {what}; expected the folder of a run saved with netlull"):
            Result.load(path)


SAMPLE = """
scenario = "small.toml"
seeds = 3
[metrics]
goodput_bps = "flow.tcp.goodput_bps"
[sample]
kind = "latin_hypercube"
points = 4
[[sample.axis]]
name = "delay"
unit = "ms"
path = "link.a-b.delay"
from = "1 ms"
to = "50 ms"
scale = "log"
[[sample.axis]]
name = "noise"
unit = "Mb/s"
path = "flow.noise.rate"
from = "1 Mb/s"
to = "8 Mb/s"
[[axis]]
name = "control"
[[axis.point]]
value = "TCP+PC"
[[axis.point]]
value = "TCPonly"
unset = ["link.a-b.controller"]
"""


def test_a_sample_has_points_over_each_axis_and_a_colour_for_what_crosses_it(
    small_file: Path, printed: Printed, tmp_path: Path
) -> None:
    file = small_file.parent / "sweep.toml"
    file.write_text(SAMPLE)
    printed("sweep", file, "--out", tmp_path / "store")
    result = SweepResult.load(tmp_path / "store")
    assert result.sampled == ("delay", "noise")
    found = metric_figure(result, "goodput_bps")
    assert found is not None
    assert (found.x, found.by, found.left_out) == (("delay", "noise"), "control", 0)
    charts = charts_of(found.figure)
    # 1 to 50 ms are 1.7 decades, 1 to 8 Mb/s are 0.9.
    assert [(chart.x_label, chart.log_x) for chart in charts] == [("delay (ms)", True), ("noise (Mb/s)", False)]
    rows = result.summarise().to_pylist()
    for chart, axis in zip(charts, found.x, strict=True):
        assert [(series.label, series.kind) for series in chart.series] == [("TCP+PC", "points"), ("TCPonly", "points")]
        for series in chart.series:
            mine = [row for row in rows if row["control"] == series.label]
            assert (len(mine), list(series.n)) == (4, [3] * 4)
            assert list(series.x) == [row[axis] for row in mine]
            for values, name in ((series.y, ""), (series.low, "_low"), (series.high, "_high")):
                assert list(values) == pytest.approx([row[f"goodput_bps{name}"] / 1e6 for row in mine])
    for axes in found.figure.axes:
        assert {line.get_linestyle() for line in axes.lines} == {"None"}
    html = (tmp_path / "store" / "report.html").read_text(encoding="utf-8")
    assert "Over delay and noise, a panel each, a colour for each control." in html


def test_no_report_is_written_where_none_is_wanted(small_file: Path, printed: Printed, tmp_path: Path) -> None:
    file = small_file.parent / "sweep.toml"
    file.write_text(SWEEP)
    printed("sweep", file, "--out", tmp_path / "store", "--no-report")
    assert not (tmp_path / "store" / "report.html").exists()
    assert len(sweep_report(tmp_path / "store").read_bytes()) > 10_000


def test_curves_become_series_with_their_intervals() -> None:
    values = [Interval(1.0, 0.9, 1.1, 3), Interval(2.0, 1.5, 2.5, 3)]
    panels = [Panel("(a) $P_s$", "mRCI (ms)", "s", [Curve("RTT", [10, 1000], values, 2, dashed=True)], y_from=0)]
    (chart,) = charts_of(panel_grid(panels))
    assert (chart.title, chart.x_label, chart.log_x, chart.y_range[0]) == ("(a) P_s", "mRCI (ms)", True, 0)
    (series,) = chart.series
    assert (series.label, series.colour, series.dashed, list(series.n)) == ("RTT", 2, True, [3, 3])
    assert (list(series.y), list(series.low), list(series.high)) == ([1.0, 2.0], [0.9, 1.5], [1.1, 2.5])


def test_a_long_trace_keeps_its_extremes_inside_the_window() -> None:
    time = np.arange(100_000) / 1000
    value = np.ones_like(time)
    value[12_345], value[60_000] = 9.0, -5.0
    with styled():
        drawn = figure()
        draw_traces(drawn.add_subplot(), [Trace("x", time, value)], "", "y", (0.0, 50.0))
    (series,) = charts_of(drawn)[0].series
    assert series.thinned
    assert len(series.x) <= 4000
    # The dip is at 60 s, outside; the peak at 12.345 s is kept.
    assert max(series.y) == 9.0
    assert min(series.y) == 1.0
    assert series.x[list(series.y).index(9.0)] == 12.345


def test_plain_lines_are_told_from_the_axes_and_anything_else_keeps_the_figure_a_picture() -> None:
    with styled():
        drawn = figure()
        axes = drawn.add_subplot()
        axes.plot([1, 2], [3, 4], label="fit", linestyle="--", color="#D55E00")
    (series,) = charts_of(drawn)[0].series
    assert (series.label, series.colour, series.dashed, list(series.y)) == ("fit", 1, True, [3.0, 4.0])
    patch = axes.axvspan(1, 2)
    assert charts_of(drawn) == []
    record(axes, Series("span", [1], [2]), [patch])
    assert len(charts_of(drawn)[0].series) == 2


def test_a_metric_has_a_curve_per_name_over_the_axis_of_numbers() -> None:
    found = metric_figure(result(), "goodput_bps")
    assert found is not None
    assert (found.x, found.by, found.left_out) == (("buffer",), "tcp", 0)
    (chart,) = charts_of(found.figure)
    assert [series.label for series in chart.series] == ["new_reno", "cubic"]
    # Seeds 1 and 2 at (new_reno, 1 BDP): 1.1 and 1.2 Mb/s.
    assert chart.series[0].y[0] == pytest.approx(1.15)
