"""Energy saved against its price by sender, rates over time, and the table of what survives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from netlull.papers import Drawn, Evidence, Tabled
from netlull.plot import COLOURS, DOUBLE_COLUMN, Trace, draw_traces, figure, legend_above, log_y, styled

from .measures import (
    BBR,
    CAPTION,
    DROP_TAIL,
    HEADER,
    SENDERS,
    TRAFFIC,
    Place,
    growth,
    mean,
    places,
    records,
    rows,
    savings,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netlull.papers import Recorded

SECTIONS = {"figures": "Energy and its price", "table": "What survives"}
"""The report's sections, in order."""
MARKS = dict(zip(SENDERS, "o^s", strict=True))
"""The mark of each sender."""
LINK = "N1-N2"


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields savings and prices for each queue, and the recorded runs."""
    for queue in dict.fromkeys(place.queue for place in places(evidence, queue=None)):
        name = "prices" if queue == DROP_TAIL else f"prices-{queue.lower()}"
        caption = (
            "Energy saved, and 95th percentile of completion (endless transfers: time per byte) over always on's. "
            "A line joins the senders of a mechanism; bars are 95 % intervals over the seeds. Right and down is better."
        )
        yield Drawn(name, f"Energy saved and its price, {queue}", caption, prices(evidence, queue))
    if evidence.series:
        caption = (
            "One endless transfer over a link of 10 Mb/s, drop-tail, 42 packets of buffer, seed 101: the rate that "
            "the controller gives, and the packets that wait. Above: a bottleneck of 4 Mb/s is behind the link."
        )
        yield Drawn("rates", "Rate and queue over time", caption, rates(evidence))


def prices(evidence: Evidence, queue: str) -> Figure:
    """Draws a panel for each kind of traffic: a line through the senders for each mechanism."""
    found = places(evidence, queue=queue)
    names = list(dict.fromkeys(place.experiment for place in found))
    ways = list(dict.fromkeys(way for place in found for way in place.ways))
    columns = min(len(names), 3)
    lines = math.ceil(len(names) / columns)
    with styled():
        drawn = figure(DOUBLE_COLUMN, 2.5 * lines + 0.4)
        grid = [axes for row in drawn.subplots(lines, columns, squeeze=False) for axes in row]
        for axes, name in zip(grid, names, strict=False):
            _panel(axes, evidence, [place for place in found if place.experiment == name], ways)
            axes.set_title(TRAFFIC[name], loc="left")
        for axes in grid[len(names) :]:
            axes.set_axis_off()
        grid[0].set_ylabel("Completion time, times always on's")
        legend_above(drawn, grid[:1], columns=4)
    return drawn


def _panel(axes: Axes, evidence: Evidence, here: Sequence[Place], ways: Sequence[str]) -> None:
    for colour, way in enumerate(ways):
        chosen = [place for place in here if way in place.ways]
        saved = [mean(savings(evidence, place, way)).scaled(100) for place in chosen]
        price = [mean({seed: 1 + more for seed, more in growth(evidence, place, way).items()}) for place in chosen]
        shade = COLOURS[colour % len(COLOURS)]
        axes.plot([each.mean for each in saved], [each.mean for each in price], color=shade, linewidth=0.8, label=way)
        for place, x, y in zip(chosen, saved, price, strict=True):
            wide = [float(np.nan_to_num((each.high - each.low) / 2)) for each in (x, y)]
            axes.errorbar(
                x.mean,
                y.mean,
                xerr=wide[0],
                yerr=[[min(wide[1], 0.9 * y.mean)], [wide[1]]],
                color=shade,
                marker=MARKS[place.sender],
                markersize=3.6,
                markerfacecolor=shade if place.sender == BBR else "white",
                elinewidth=0.6,
            )
    if not axes.get_legend_handles_labels()[1][len(ways) :]:
        for sender, mark in MARKS.items():
            face = "#222222" if sender == BBR else "white"
            axes.plot(
                [], [], color="#222222", linestyle="", label=sender, marker=mark, markersize=3.6, markerfacecolor=face
            )
    axes.axhline(1.0, color="#222222", linewidth=0.6, linestyle=":")
    axes.set_xlabel("Energy saved (%)")
    log_y(axes)


def rates(evidence: Evidence) -> Figure:
    """Draws rate and queue of the recorded runs, a row for each mechanism with a traffic."""
    cases: dict[tuple[str, str], dict[str, Recorded]] = {}
    for name, run in evidence.series.items():
        cell, _ = evidence.recorded[name]
        point = {axis: str(value) for axis, value in cell.point}
        cases.setdefault((point["way"], cell.experiment), {})[point["sender"]] = run
    with styled():
        drawn = figure(DOUBLE_COLUMN, 2.1 * len(cases) + 0.3)
        grid = drawn.subplots(len(cases), 2, squeeze=False, sharex=True, sharey="col")
        for row, ((way, experiment), runs) in zip(grid, cases.items(), strict=True):
            rate, queue = (
                [_trace(run, *what, sender, colour) for colour, (sender, run) in enumerate(runs.items())]
                for what in (("rate", "rate_bps", 1e-6), ("link", "queue_packets", 1.0))
            )
            draw_traces(row[0], rate, f"{way}, {TRAFFIC[experiment]}", "Rate (Mb/s)")
            draw_traces(row[1], queue, "", "Queue (packets)")
        legend_above(drawn, [grid[0][0]], columns=4)
    return drawn


def _trace(run: Recorded, kind: str, column: str, scale: float, label: str, colour: int) -> Trace:
    table = run.series(kind)
    table = table.filter(pc.equal(pc.cast(table["link"], pa.string()), LINK))
    time, values = (np.asarray(table[name].to_numpy(), dtype=np.float64) for name in ("time_s", column))
    end = float(run.summary["duration_s"])
    time, values = np.append(time, end), np.append(values, values[-1])
    return Trace(label, time, values * scale, colour=colour, steps=kind == "rate")


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields a table of what survives for each queue."""
    found = records(evidence)
    for queue in dict.fromkeys(record["queue"] for record in found):
        yield Tabled("table", f"{queue}: {CAPTION}", HEADER, rows(found, queue))
