"""The study that section 4 asks for: benefit and cost of each parameter, and the buffer's limit on practRA's rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import (
    COLOURS,
    DOUBLE_COLUMN,
    Curve,
    Panel,
    Trace,
    draw_traces,
    figure,
    legend_above,
    log_y,
    panel_grid,
    styled,
)
from netlull.stats import Interval, mean_interval

from . import climb

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SECTIONS = {
    "headline": "The headline: the cause of the 7 seconds",
    "study": "The study that the paper asks for",
}
"""The report's sections, in order."""

LINK = "N1-N2"
MEASURED_S = 190.0
"""The measured part of a run of the study, in seconds."""

MODELS = {"saving_fs": "ideal FS, $P_s$ 0", "saving_ncs_55a1_24h": "measured: NCS-55A1-24H"}
"""The power models of the savings in the fronts."""


@dataclass(frozen=True)
class Line:
    """A line through the values of a parameter: experiment, varied axis, fixed point, and the TCPonly experiment."""

    label: str
    experiment: str
    axis: str
    reference: str
    fixed: tuple[tuple[str, float], ...] = ()
    names: Mapping[float, str] | None = None
    unit: str = ""

    def cells(self, evidence: Evidence, at: float) -> list[tuple[str, Cell, Cell]]:
        """The name, point and TCPonly point of each value."""
        found = []
        for value in evidence.grid.values(self.experiment, self.axis):
            point = {**dict(self.fixed), "at": at}
            cell = Cell.of(self.experiment, **point, **{self.axis: value})
            shared = point | ({self.axis: value} if self.axis == "buffer" else {})
            name = self.names.get(value, f"{value:g}") if self.names else f"{value:g}"
            found.append((name + self.unit, cell, Cell.of(self.reference, **shared)))
        return found


@dataclass(frozen=True)
class Study:
    """A question of section 4, and the lines that answer it."""

    id: str
    title: str
    caption: str
    lines: tuple[Line, ...]


ROOMS = {1.0: "buffer 1 BDP", 0.5: "buffer 0.5 BDP"}
RATES = {2.0: "{1, 10}", 4.0: "step 3", 5.0: "{1, 2, 4, 8, 10}", 10.0: "step 1", 19.0: "step 0.5", 46.0: "step 0.2"}


def _by_room(experiment: str, axis: str, names: Mapping[float, str] | None = None, unit: str = "") -> tuple[Line, ...]:
    return tuple(
        Line(label, experiment, axis, "study-tcponly", (("room", room),), names, unit) for room, label in ROOMS.items()
    )


def _jumps() -> tuple[Line, ...]:
    return tuple(
        Line(f"{how}, {line.label}", experiment, "mrci", line.reference, line.fixed, None, " ms")
        for experiment, how in (("study-mrci", "neighbours"), ("study-jumps", "jumps"))
        for line in _by_room(experiment, "mrci")
    )


STUDIES = (
    Study("d", "The delay bound d", "The delay bound d; the paper: 40 ms.", _by_room("study-d", "d", unit=" ms")),
    Study(
        "mrci",
        "The least time between changes",
        "mRCI (the paper's Δ); the paper: 16 ms.",
        _by_room("study-mrci", "mrci", unit=" ms"),
    ),
    Study(
        "rates",
        "The granularity of the rates",
        "Sets of rates from 1 to 10 Mb/s; the paper: step 1.",
        _by_room("study-rates", "rates", RATES),
    ),
    Study(
        "buffer",
        "The buffer",
        "N1's buffer in bandwidth-delay products; the paper: 1. TCPonly has the same buffer.",
        (Line("d 40 ms", "study-buffer", "buffer", "study-buffer-tcponly", unit=" BDP"),),
    ),
    Study(
        "jumps",
        "Changes between rates that are not neighbours",
        "A change jumps to the rate that the rules require, for one pause δ and one mRCI; labels are mRCI.",
        _jumps(),
    ),
)


@dataclass(frozen=True)
class Priced:
    """The energy saved at a point in percent, and its completion time divided by that of TCPonly."""

    name: str
    saving: Interval
    inflation: Interval


def priced(evidence: Evidence, line: Line, at: float, saving: str) -> list[Priced]:
    """The points of a line with their savings and costs, paired with TCPonly by seed."""
    return [
        Priced(name, evidence.grid.interval(cell, saving, 100), inflation(evidence, cell, reference))
        for name, cell, reference in line.cells(evidence, at)
    ]


def inflation(evidence: Evidence, cell: Cell, reference: Cell, metric: str = "completion_s") -> Interval:
    """The completion time divided by that of TCPonly, paired by seed."""
    return evidence.grid.ratio(cell, reference, metric)


def front(points: Sequence[Priced]) -> list[Priced]:
    """The Pareto front: no other point has both a higher saving and a shorter completion time."""
    best: list[Priced] = []
    for point in sorted(points, key=lambda point: (-point.saving.mean, point.inflation.mean)):
        if not best or point.inflation.mean < best[-1].inflation.mean:
            best.append(point)
    return best


def headline_bps(evidence: Evidence) -> float:
    """The arrival rate at N1 at load 0.8, in bit/s: data, headers, connection set-up and close, retransmissions."""
    return evidence.grid.interval(Cell.of("climb-tcponly", buffer=1), "arrived_bytes").mean * 8 / MEASURED_S


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the figures of the headline, then the fronts of each question."""
    yield _sizes(evidence)
    yield _climb(evidence)
    yield _stuck(evidence)
    for study in STUDIES:
        caption = (
            f"{study.caption} Drawn: {drawn_values(evidence, study)}. Each point: energy saved and growth of the mean "
            "completion time against TCPonly, with 95 % intervals (paired by seed). Joined: the Pareto front, the "
            "points that no other of the line beats in both. Right and down is better."
        )
        yield Drawn(f"study-{study.id}", study.title, caption, fronts(evidence, study), "study")


def drawn_values(evidence: Evidence, study: Study) -> str:
    """The names of the simulated values of the parameter."""
    line = study.lines[0]
    return ", ".join(name for name, _, _ in line.cells(evidence, evidence.grid.values(line.experiment, "at")[0]))


def fronts(evidence: Evidence, study: Study) -> Figure:
    """Draws the fronts, with a row of panels for each power model and a column for each load."""
    at = evidence.grid.values(study.lines[0].experiment, "at")
    with styled():
        drawn = figure(DOUBLE_COLUMN, 2.5 * len(MODELS) + 0.4)
        panels = drawn.subplots(len(MODELS), len(at), squeeze=False)
        for row, (metric, model) in zip(panels, MODELS.items(), strict=True):
            for axes, load in zip(row, at, strict=True):
                points = [priced(evidence, line, load, metric) for line in study.lines]
                for colour, (line, found) in enumerate(zip(study.lines, points, strict=True)):
                    _draw_line(axes, line.label, found, COLOURS[colour])
                axes.set_title(f"load {load:g}, {model}", loc="left", fontsize=7.5)
                log_y(axes)
                axes.margins(0.14)
                _name(axes, points)
        for axes in panels[-1]:
            axes.set_xlabel("Energy saved (%)")
        for row in panels:
            row[0].set_ylabel("Completion time\nover TCPonly")
        legend_above(drawn, [axes for row in panels for axes in row], columns=4)
    return drawn


def _draw_line(axes: Axes, label: str, points: Sequence[Priced], colour: str) -> None:
    x, y = [point.saving.mean for point in points], [point.inflation.mean for point in points]
    wide = [[_half(point.saving) for point in points], [_half(point.inflation) for point in points]]
    # An error bar must not reach zero on a logarithmic axis.
    down = [min(half, 0.9 * mean) for half, mean in zip(wide[1], y, strict=True)]
    style = {"fmt": "o", "color": colour, "elinewidth": 0.7, "markersize": 3.2}
    axes.errorbar(x, y, xerr=wide[0], yerr=[down, wide[1]], label=label, **style)  # type: ignore[arg-type]
    best = front(points)
    axes.plot(
        [point.saving.mean for point in best], [point.inflation.mean for point in best], color=colour, linewidth=0.9
    )


NAME_PT = 5.5
OFFSETS_PT = ((2.5, 2.5), (2.5, -6.5), (-2.5, 2.5), (-2.5, -6.5), (2.5, 9.0), (2.5, -13.0), (-2.5, 9.0), (-2.5, -13.0))
"""Offsets in points from a data point to the start of its name, or to the end of a name on the left."""


def _name(axes: Axes, lines: Sequence[Sequence[Priced]]) -> None:
    """Writes the names of points, first on fronts; a name that would cover another name or a point is omitted."""
    axes.autoscale_view()
    to_points = 72 / axes.figure.dpi
    places = {
        (line, point.name): axes.transData.transform((point.saving.mean, point.inflation.mean)) * to_points
        for line, points in enumerate(lines)
        for point in points
    }
    taken = [(x - 1.5, y - 1.5, x + 1.5, y + 1.5) for x, y in places.values()]
    firsts = [(line, point) for line, points in enumerate(lines) for point in front(points)]
    rest = [(line, point) for line, points in enumerate(lines) for point in points if (line, point) not in firsts]
    for line, point in [*firsts, *rest]:
        x, y = places[line, point.name]
        wide = 0.56 * NAME_PT * len(point.name)
        for right, up in OFFSETS_PT:
            left = x + right - (wide if right < 0 else 0)
            box = (left, y + up, left + wide, y + up + NAME_PT)
            if not any(_overlap(box, other) for other in taken):
                taken.append(box)
                axes.annotate(
                    point.name,
                    (point.saving.mean, point.inflation.mean),
                    (right, up),
                    textcoords="offset points",
                    fontsize=NAME_PT,
                    color=COLOURS[line],
                    ha="right" if right < 0 else "left",
                )
                break


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _half(value: Interval) -> float:
    return value.half_width if value.n > 1 else 0.0


def _sizes(evidence: Evidence) -> Drawn:
    """Draws the headline for every law of flow sizes, with the whole and half of the buffer."""
    panels = []
    for letter, law in zip("abc", evidence.grid.labels("sizes", "law"), strict=False):
        curves = []
        for colour, (room, label) in enumerate(ROOMS.items()):
            at = evidence.grid.values("sizes", "size_load")
            places: list[dict[str, float | str]] = [{"law": law, "room": room, "size_load": load} for load in at]
            longer = [inflation(evidence, Cell.of("sizes", **p), Cell.of("sizes-tcponly", **p)) for p in places]
            curves.append(Curve(label, at, longer, colour))
        panels.append(
            Panel(f"({letter}) {law}", "Offered load", "Completion time over TCPonly", curves, log_x=False, log_y=True)
        )
    caption = (
        "Growth of the mean completion time in TCP+PC, for three laws of flow sizes and two readings of the "
        "buffer. Means over seeds, paired with TCPonly; bands are 95 % intervals. If a link is overloaded for "
        "good, its completion times grow with the length of the run."
    )
    return Drawn("sizes", "Flow sizes and buffer", caption, panel_grid(panels, columns=3), "headline")


def _climb(evidence: Evidence) -> Drawn:
    """Draws the effect of the buffer, in units of d times the maximum rate, on the headline."""
    buffers = evidence.grid.values("climb", "buffer")
    forecast = headline_bps(evidence)
    inflations, rates, ceilings = [], [], []
    for colour, d in enumerate(evidence.grid.values("climb", "d")):
        cells = [Cell.of("climb", buffer=buffer, d=d) for buffer in buffers]
        references = [Cell.of("climb-tcponly", buffer=buffer) for buffer in buffers]
        label = f"d {d:g} ms"
        share = [climb.buffer_bits(buffer) / (d / 1e3 * 10e6) for buffer in buffers]
        longer = [inflation(evidence, a, b) for a, b in zip(cells, references, strict=True)]
        inflations.append(Curve(label, share, longer, colour))
        rates.append(
            Curve(label, buffers, [evidence.grid.interval(cell, "mean_rate_bps", 1e-6) for cell in cells], colour)
        )
        highest = [climb.highest_rate(climb.buffer_bits(buffer), d / 1e3, forecast) / 1e6 for buffer in buffers]
        ceilings.append(
            Curve(f"{label}, upper bound", buffers, [mean_interval([rate]) for rate in highest], colour, dashed=True)
        )
    panels = [
        Panel("(a) Inflation", "Buffer / (d · 10 Mb/s)", "Completion time over TCPonly", inflations, log_y=True),
        Panel("(b) Mean service rate", "Buffer (BDP)", "Rate (Mb/s)", [*rates, *ceilings], y_from=0, y_to=10.5),
    ]
    caption = (
        "Load 0.8. (a) At any d and buffer, downloads take long where the buffer holds less than d · 10 Mb/s. (b) "
        "The mean service rate, and (dashed) an upper bound of the rate to which the buffer lets practRA climb. "
        "The bound is the greatest r' with B / r > d or (δ rf + B) / r' > d - δ for every step r → r' below it, if "
        "all of B is packets of 1500 B. Many packets are shorter (the mean offered to N1 is 765 to 985 B), so a "
        "full buffer holds less, and the simulator may stay below. With d = 80 ms and one BDP the step from 6 to 7 "
        "Mb/s needs 480 kb, 40 of 42 slots with full packets, and the link stays at 6. Where the bound is below "
        "the arrivals (8.5 Mb/s with all headers), the link is overloaded for good. It starts at 10 Mb/s and is "
        "never idle again once it is overloaded. It may therefore also stop on its way down, above the reachable "
        "rate."
    )
    return Drawn("climb", "The buffer against d · r", caption, panel_grid(panels), "headline")


def _stuck(evidence: Evidence) -> Drawn:
    """Draws the service rate over time, with the whole and half of the buffer."""
    forecast = headline_bps(evidence)
    with styled():
        drawn = figure(height=3.6)
        panels = list(drawn.subplots(2, 1, sharex=True))
        for axes, (name, buffer) in zip(panels, (("climb-one", 1.0), ("climb-half", 0.5)), strict=True):
            table = evidence.series[name].series("rate").to_pandas()
            changes = table[table["link"].astype(str) == LINK]
            end = float(evidence.series[name].summary["duration_s"])
            time = np.append(changes["time_s"].to_numpy(), end)
            rate = np.append(changes["rate_bps"].to_numpy(), changes["rate_bps"].to_numpy()[-1]) / 1e6
            highest = climb.highest_rate(climb.buffer_bits(buffer), 0.040, forecast) / 1e6
            traces = [
                Trace(
                    "not above this (upper bound)", np.array([0.0, end]), np.array([highest] * 2), colour=5, width=3.0
                ),
                Trace("service rate", time, rate, colour=2, steps=True, width=0.9),
                Trace(
                    "arrivals at load 0.8",
                    np.array([0.0, end]),
                    np.array([forecast / 1e6] * 2),
                    colour=6,
                    width=0.8,
                ),
            ]
            draw_traces(axes, traces, f"Buffer {buffer:g} BDP, d 40 ms", "Rate (Mb/s)", (0.0, 120.0))
            axes.label_outer()
        legend_above(drawn, panels)
    caption = (
        "Load 0.8, one run, the first 120 s. With half a BDP the link steps down once when it idles. The buffer "
        "cannot hold a queue that triggers a higher rate again."
    )
    return Drawn("stuck", "The rate that does not recover", caption, drawn, "headline")


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields every point of the study."""
    header = [
        "line",
        "value",
        "load",
        "FS saved (%)",
        "NCS-55A1 saved (%)",
        "completion (times)",
        "p99 (times)",
        "changes",
    ]
    for study in STUDIES:
        rows = []
        for line in study.lines:
            for at in evidence.grid.values(line.experiment, "at"):
                rows += [_row(evidence, line, at, *point) for point in line.cells(evidence, at)]
        yield Tabled("study", study.title, header, rows)


def _row(evidence: Evidence, line: Line, at: float, name: str, cell: Cell, reference: Cell) -> list[str]:
    saved = [number(evidence.grid.interval(cell, metric, 100)) for metric in MODELS]
    longer = [number(inflation(evidence, cell, reference, metric), digits=2) for metric in ("completion_s", "p99_s")]
    changes = number(evidence.grid.interval(cell, "rate_changes"), digits=0)
    return [line.label, name, f"{at:g}", *saved, *longer, changes]
