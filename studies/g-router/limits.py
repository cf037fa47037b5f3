"""The limits of the G-Router's control: an experiment, a figure and an equation for each failure mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import Curve, Panel, Trace, draw_traces, figure, legend_above, panel_grid, styled
from netlull.stats import Interval, mean_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.figure import Figure

RATE = 10e6
"""C_max in bit/s."""
ROUND_TRIP = 0.1
"""Round-trip time without queueing, in seconds."""
MTU = 1000
TARGET, BUFFER = 50, 100
"""The queue's target T and the buffer, in packets of one MTU."""
LINK = "router-internet"

CONTROLS = ("no control", "AWM", "G-Router, per event", "G-Router, per RTT")
"""The values of the axis `control`."""
STEERED = CONTROLS[1:]
BANDS = "Means over seeds; bands are 95 % intervals (Student's t)."

SECTIONS = {
    "floor": "Many flows: the floor of one MTU",
    "settled": "A rate that settles anywhere",
    "unused": "Windows that nobody uses",
    "web": "Short flows",
    "deaf": "Flows that do not listen",
    "rtts": "Several round-trip times",
    "rounding": "Window scaling and rounding",
    "recovery": "Duplicates that are none",
}
"""The report's sections, in order."""


# ---- Closed forms ----------------------------------------------------------------------------------------------------


def flows_at_floor(queue: float, rate: float = RATE, round_trip: float = ROUND_TRIP) -> float:
    """The number of flows that fill the pipe and a queue of `queue` packets with one MTU each: N MTU = C RTT + q."""
    return rate * round_trip / 8 / MTU + queue


def queue_of(flows: float) -> float:
    """The queue in packets with this many greedy flows: N - C RTT / MTU, at least T and at most the buffer."""
    return min(max(TARGET, flows - RATE * ROUND_TRIP / 8 / MTU), BUFFER)


def queue_beside(datagrams: float, flows: int = 20) -> float:
    """The queue in packets next to datagrams at U bit/s: N MTU = (C - U) (RTT + q / C) at the floor of one MTU."""
    left = RATE - datagrams
    if left <= 0:
        return BUFFER
    queue = RATE / 8 / MTU * (flows * MTU * 8 / left - ROUND_TRIP)
    return min(max(TARGET, queue), BUFFER)


def ratio_of(far: float, near: float = 0.02) -> float:
    """The rate of flows with an RTT of `near` seconds over that with `far`: equal windows, the same queue."""
    waiting = TARGET * MTU * 8 / RATE
    return (far + waiting) / (near + waiting)


def least_windows(shift: int, flows: int = 20) -> float:
    """The packets in flight if every window is one unit of 2^shift bytes, and at least one segment."""
    return flows * max(1 << shift, MTU) / MTU


# ---- Drawing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lines:
    """Curves over axis `x` of an experiment, with one curve for each value of axis `by`."""

    evidence: Evidence
    experiment: str
    x: str
    by: str
    names: Sequence[str]

    def xs(self) -> list[float]:
        """The values of the x axis."""
        return self.evidence.grid.values(self.experiment, self.x)

    def cell(self, name: str, x: float) -> Cell:
        """The point of a curve at `x`."""
        point: dict[str, float | str] = {self.by: name, self.x: x}
        return Cell.of(self.experiment, **point)

    def of(self, metric: str, scale: float = 1.0) -> list[Curve]:
        """The curves of a metric."""
        return self.made(lambda cell: self.evidence.grid.interval(cell, metric, scale))

    def made(self, value: Callable[[Cell], Interval]) -> list[Curve]:
        """The curves of a value computed from each point."""
        return [
            Curve(name, self.xs(), [value(self.cell(name, x)) for x in self.xs()], CONTROLS.index(name))
            for name in self.names
        ]

    def rows(self, *columns: tuple[str, float, int]) -> list[list[str]]:
        """A table row for each point; a column is a metric, its scale and its digits."""
        grid = self.evidence.grid
        return [
            [
                name,
                f"{x:g}",
                *(number(grid.interval(self.cell(name, x), m, scale), digits=d) for m, scale, d in columns),
            ]
            for name in self.names
            for x in self.xs()
        ]


def expected(label: str, xs: Sequence[float], value: Callable[[float], float]) -> Curve:
    """The dashed curve of a closed form."""
    return Curve(label, xs, [mean_interval([value(x)]) for x in xs], 6, dashed=True, marked=False)


def ratio(evidence: Evidence, cell: Cell, above: str, below: str, scale: float = 1.0) -> Interval:
    """The ratio of two metrics, seed by seed."""
    over, under = evidence.grid.samples(cell, above), evidence.grid.samples(cell, below)
    return mean_interval([over[seed] / under[seed] * scale for seed in over])


def panel(title: str, x: str, y: str, curves: list[Curve], y_to: float | None = None, *, log_y: bool = False) -> Panel:
    """A panel whose y axis starts at zero unless it is logarithmic."""
    return Panel(title, x, y, curves, log_x=False, log_y=log_y, y_from=None if log_y else 0, y_to=y_to)


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields all figures, section by section."""
    yield floor(evidence)
    yield settled(evidence)
    yield from over_time(evidence)
    yield demand(evidence)
    yield web(evidence)
    yield noise(evidence)
    yield unsteered(evidence)
    yield rtts(evidence)
    yield rounding(evidence)
    yield recovery(evidence)


def floor(evidence: Evidence) -> Drawn:
    """Draws the queue and the losses over the number of flows."""
    lines = Lines(evidence, "many", "flows", "control", CONTROLS)
    xs = lines.xs()
    late = [evidence.grid.interval(Cell.of("delayed", flows=x), "queue_packets") for x in xs]
    lost = [evidence.grid.interval(Cell.of("delayed", flows=x), "loss", 100) for x in xs]
    model = expected("N MTU - C RTT, from T to the buffer", xs, queue_of)
    panels = [
        panel(
            "(a) Queue",
            "Flows",
            "Queue (packets)",
            [*lines.of("queue_packets"), Curve("AWM, delayed ACKs", xs, late, 4), model],
        ),
        panel(
            "(b) Lost", "Flows", "Packets lost (%)", [*lines.of("loss", 100), Curve("AWM, delayed ACKs", xs, lost, 4)]
        ),
    ]
    caption = (
        f"Greedy NewReno flows, 60 to 100 s. C RTT is 125 packets, T {TARGET}, the buffer {BUFFER}: the target cannot "
        f"be held beyond {flows_at_floor(TARGET):g} flows, and the buffer overflows beyond "
        f"{flows_at_floor(BUFFER):g}. {BANDS}"
    )
    return Drawn("floor", "The floor of one MTU", caption, panel_grid(panels), "floor")


STARTS = {
    ("per event", 10.0): "per event, from C_max",
    ("per event", 0.5): "per event, from C_min",
    ("per RTT", 10.0): "per RTT, from C_max",
    ("per RTT", 0.5): "per RTT, from C_min",
}


def settled_rate(evidence: Evidence, pace: str, first: float, beta: float, few: float) -> Interval:
    """The mean of C in Mb/s, from 60 s on."""
    cell = Cell.of("settled", pace=pace, first=first, beta=beta, few=few)
    return evidence.grid.interval(cell, "mean_rate_bps", 1e-6)


def settled(evidence: Evidence) -> Drawn:
    """Draws the settled rate of greedy flows over their number, for each beta."""
    panels = []
    xs = evidence.grid.values("settled", "few")
    for letter, beta in zip("abc", evidence.grid.values("settled", "beta"), strict=False):
        curves = [
            Curve(name, xs, [settled_rate(evidence, pace, first, beta, x) for x in xs], colour, dashed=first < 1)
            for colour, ((pace, first), name) in enumerate(STARTS.items())
        ]
        panels.append(Panel(f"({letter}) β = {beta:g} kb/s", "Flows", "C, mean (Mb/s)", curves, y_from=0, y_to=10.5))
    caption = (
        "Greedy flows, limited by nothing else: C should be C_max = 10 Mb/s. Mean from 60 to 120 s. β = 10 kb/s is "
        f"the paper's. {BANDS}"
    )
    return Drawn("settled", "Where the rate settles", caption, panel_grid(panels, columns=3), "settled")


def over_time(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the recorded runs over time: a flow whose rate settles too low, and a window that winds up."""
    if {"settled", "settled-fast"} <= set(evidence.series):
        runs = {"settled": "β = 10 kb/s (as printed)", "settled-fast": "β = 1 Mb/s"}
        caption = (
            "One greedy flow, a rate computed at every event, from C_max = 10 Mb/s and a window of 10 kB. C RTT + "
            "T at C_max is 175 kB."
        )
        yield Drawn("settled-time", "One flow, two corrections", caption, _traces(evidence, runs, 120.0), "settled")
    if "wound-up" in evidence.series:
        runs = {"wound-up": "AWM, twenty greedy flows from 30 s on, silence before"}
        caption = (
            "The suggested window grows by β / 8N a second while the link is not full, and falls only at the same pace."
        )
        yield Drawn("wound-up", "Windows that wind up", caption, _traces(evidence, runs, 60.0), "unused")


def _traces(evidence: Evidence, runs: dict[str, str], until: float) -> Figure:
    rows = 3 if len(runs) > 1 else 2
    with styled():
        drawn = figure(height=1.5 * rows + 0.5)
        panels = drawn.subplots(rows, len(runs), sharex=True, squeeze=False)
        for column, (name, title) in enumerate(runs.items()):
            run = evidence.series[name]
            gateway, link = run.series("gateway").to_pandas(), run.series("link").to_pandas()
            link = link[link["link"].astype(str) == LINK]
            time = link["time_s"].to_numpy()
            quantities = [
                (
                    "suggested window",
                    gateway["time_s"].to_numpy(),
                    gateway["window_bytes"].to_numpy() / 1e3,
                    "Window (kB)",
                    0,
                ),
                ("queue", time, link["queue_packets"].to_numpy(), "Queue (packets)", 1),
                ("service rate", time, link["rate_bps"].to_numpy() / 1e6, "Rate (Mb/s)", 2),
            ]
            for row, (label, at, value, unit, colour) in enumerate(quantities[:rows]):
                traces = [Trace(label, at, value, colour, width=0.9)]
                if label == "queue":
                    traces.append(Trace("T", np.array([0.0, until]), np.array([float(TARGET)] * 2), 6, width=0.8))
                draw_traces(panels[row][column], traces, title if row == 0 else "", unit, (0.0, until))
                panels[row][column].label_outer()
                panels[row][column].set_ylabel(unit)
        legend_above(drawn, [axes for row in panels for axes in row], columns=4)
    return drawn


def demand(evidence: Evidence) -> Drawn:
    """Draws the service rate and the mean wait with slow applications."""
    lines = Lines(evidence, "demand", "demand", "steered", STEERED)
    identity = expected("demand with headers", lines.xs(), lambda x: min(x * MTU / 948, 10.0))
    wait = expected("T / C", lines.xs(), lambda x: TARGET * MTU * 8 / min(x * 1e6 * MTU / 948, RATE) * 1e3)
    panels = [
        panel(
            "(a) Service rate", "Demand (Mb/s)", "C, mean (Mb/s)", [*lines.of("mean_rate_bps", 1e-6), identity], 10.5
        ),
        panel("(b) Wait", "Demand (Mb/s)", "Mean wait (ms)", [*lines.of("wait_s", 1e3), wait]),
    ]
    caption = f"Twenty applications that write at a constant rate, in full segments. {BANDS}"
    return Drawn("demand", "Application-limited flows", caption, panel_grid(panels), "unused")


def web(evidence: Evidence) -> Drawn:
    """Draws completion times, losses and energy saved with web requests alone."""
    lines = Lines(evidence, "web", "load", "control", CONTROLS)
    panels = [
        panel("(a) Mean completion time", "Offered load", "Time (s)", lines.of("web_mean_s")),
        panel("(b) 95th percentile", "Offered load", "Time (s)", lines.of("web_p95_s")),
        panel("(c) Lost", "Offered load", "Packets lost (%)", lines.of("loss", 100)),
        panel("(d) Energy saved (FS)", "Offered load", "Saved (%)", lines.of("saving_fs", 100), 100),
    ]
    caption = f"Requests alone, Pareto sizes (mean 30 kB, shape 1.35, at most 3 MB), 20 to 120 s. {BANDS}"
    return Drawn("web", "Short flows only", caption, panel_grid(panels), "web")


def noise(evidence: Evidence) -> Drawn:
    """Draws twenty TCP flows next to datagrams."""
    lines = Lines(evidence, "noise", "noise", "control", CONTROLS)
    model = expected("closed form", lines.xs(), lambda x: queue_beside(x * 1e6))
    left = expected("left by datagrams", lines.xs(), lambda x: max(10 - x, 0.0))
    panels = [
        panel("(a) Queue", "Datagrams (Mb/s)", "Queue (packets)", [*lines.of("queue_packets"), model]),
        panel("(b) TCP's part", "Datagrams (Mb/s)", "Offered by TCP (Mb/s)", [*lines.of("homes_bps", 1e-6), left]),
    ]
    caption = (
        "Twenty TCP flows next to datagrams at a constant rate U. Control ends where one MTU for each flow exceeds "
        f"(C - U) (RTT + T / C): at 8.86 Mb/s. The buffer overflows from 9.11 Mb/s on. {BANDS}"
    )
    return Drawn("noise", "Datagrams", caption, panel_grid(panels), "deaf")


def share(evidence: Evidence, cell: Cell) -> Interval:
    """The unsteered flows' share of the load offered to the link, in percent."""
    own, rest = (evidence.grid.samples(cell, metric) for metric in ("others_bps", "homes_bps"))
    return mean_interval([100 * own[seed] / (own[seed] + rest[seed]) for seed in own])


def unsteered(evidence: Evidence) -> Drawn:
    """Draws flows whose acknowledgements bypass the gateway, and receivers that advertise small windows."""
    lines = Lines(evidence, "unsteered", "unsteered", "control", CONTROLS)
    fair = expected("equal parts", lines.xs(), lambda x: 100 * x / 20)
    own = Lines(evidence, "own", "own", "steered", ("AWM",))
    near = own.of("near_bps", 1e-6)[0]
    far = own.of("far_bps", 1e-6)[0]
    panels = [
        panel(
            "(a) Asymmetric routes",
            "Unsteered flows of 20",
            "Their part (%)",
            [*lines.made(lambda cell: share(evidence, cell)), fair],
            100,
        ),
        panel("(b) Queue", "Unsteered flows of 20", "Queue (packets)", lines.of("queue_packets")),
        panel(
            "(c) Small windows (AWM)",
            "Window of ten receivers (kB)",
            "Throughput (Mb/s)",
            [
                Curve("the ten", far.x, far.y, 4),
                Curve("the other ten", near.x, near.y, 5),
            ],
        ),
    ]
    caption = (
        "(a), (b) The acknowledgements of some of twenty TCP flows bypass the gateway. (c) Ten of twenty "
        f"receivers advertise windows of their own. {BANDS}"
    )
    return Drawn("unsteered", "TCP outside AWM's control", caption, panel_grid(panels, columns=3), "deaf")


def rtts(evidence: Evidence) -> Drawn:
    """Draws ten flows with an RTT of 20 ms next to ten with a longer RTT."""
    lines = Lines(evidence, "rtts", "rtt", "control", CONTROLS)
    model = expected("(RTT + T / C) over (20 ms + T / C)", lines.xs(), lambda x: ratio_of(x / 1e3))
    panels = [
        panel(
            "(a) Near flows' rate over far flows'",
            "RTT of the far flows (ms)",
            "Ratio",
            [*lines.made(lambda cell: ratio(evidence, cell, "near_bps", "far_bps")), model],
            log_y=True,
        ),
        panel("(b) Service rate", "RTT of the far flows (ms)", "C, mean (Mb/s)", lines.of("mean_rate_bps", 1e-6), 10.5),
    ]
    caption = f"Ten greedy flows over 20 ms and ten over 20 to 400 ms, without queueing; 20 to 120 s. {BANDS}"
    return Drawn("rtts", "Several round-trip times", caption, panel_grid(panels), "rtts")


def rounding(evidence: Evidence) -> Drawn:
    """Draws the effect of the unit of the window field."""
    lines = Lines(evidence, "rounding", "shift", "steered", STEERED)
    panels = [
        panel("(a) Queue", "Window scale (bits)", "Packets", lines.of("queue_packets")),
        panel("(b) Lost", "Window scale (bits)", "Packets lost (%)", lines.of("loss", 100)),
    ]
    caption = (
        "Twenty flows whose receivers have buffers of 64 kB (no scaling) to 1 GB (2^14 B). C RTT and the buffer are "
        f"225 kB, 20 units of 2^13 B 164 kB, of 2^14 B 328 kB. {BANDS}"
    )
    return Drawn("rounding", "Units of the window", caption, panel_grid(panels), "rounding")


SENDERS = ("NewReno", "SACK", "RACK-TLP")
COMPANY = {"long flows": "beside long flows", "and short ones": "beside long and short ones"}
WINDOWS = {"none; receivers' windows of 8 kB": "receivers' windows", "AWM": "AWM"}


def delay_of_losses(evidence: Evidence, cell: Cell) -> Interval:
    """The extra transfer time per loss, in seconds, paired by seed; a transfer has five losses."""
    point = dict(cell.point)
    without = evidence.grid.samples(Cell.of("recovery", **{**point, "lost": 0.0}), "probe_s")
    found = evidence.grid.samples(cell, "probe_s")
    return mean_interval([(found[seed] - without[seed]) / 5 for seed in found])


def _recovery_cell(rewriting: str, company: str, sender: str, lost: float) -> Cell:
    return Cell.of("recovery", rewriting=rewriting, company=company, sender=sender, lost=lost)


def recovery(evidence: Evidence) -> Drawn:
    """Draws timeouts and time per loss, with and without window rewriting."""
    panels = []
    lost = [x for x in evidence.grid.values("recovery", "lost") if x]
    letters = iter("abcd")
    for company, where in COMPANY.items():
        timeouts, times = [], []
        for colour, sender in enumerate(SENDERS):
            for rewriting, windows in WINDOWS.items():
                cells = [_recovery_cell(rewriting, company, sender, x) for x in lost]
                label = f"{sender}, {windows}"
                dashed = rewriting != "AWM"
                found = [evidence.grid.interval(cell, "probe_timeouts", 0.2) for cell in cells]
                timeouts.append(Curve(label, lost, found, colour, dashed))
                times.append(Curve(label, lost, [delay_of_losses(evidence, cell) for cell in cells], colour, dashed))
        x = "Packets lost at each of five places"
        panels.append(panel(f"({next(letters)}) Timeouts, {where}", x, "Timeouts per place", timeouts, 1.1))
        panels.append(panel(f"({next(letters)}) Time lost, {where}", x, "Seconds per place", times))
    caption = (
        "A transfer of 1 MB that loses packets before the gateway at five places, next to nineteen greedy flows. (c) "
        "and (d) also have requests of 2 Mb/s. Windows in units of one byte. Dashed: no rewriting, receivers with "
        f"windows of 8 kB. {BANDS}"
    )
    return Drawn("recovery", "Loss recovery", caption, panel_grid(panels), "recovery")


BEFORE = {"-1": "nothing: they start at 0 s", "0": "30 s of silence"}
"""The names of the values of the axis `before` that are no demand."""


# ---- Tables ----------------------------------------------------------------------------------------------------------


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers of the figures."""
    caption = (
        "Many flows: the queue in packets (closed form; AWM; G-Router per event; AWM, delayed ACKs) and the losses"
    )
    yield Tabled("floor", caption, *_floor_table(evidence))
    wake = Lines(evidence, "wake", "before", "steered", STEERED)
    header = ["control", "before them", "drops in 30 s", "queue (packets)", "carried (Mb/s)"]
    rows = wake.rows(("drops", 1, 0), ("queue_packets", 1, 1), ("carried_bps", 1e-6, 2))
    yield Tabled(
        "unused",
        "Twenty greedy flows start",
        header,
        [[control, BEFORE.get(before, f"applications of {before} Mb/s"), *rest] for control, before, *rest in rows],
    )
    short = Lines(evidence, "web", "load", "control", CONTROLS)
    header = ["control", "load", "mean (s)", "95 % (s)", "lost (%)", "wait (ms)", "FS saved (%)"]
    columns = (("web_mean_s", 1, 2), ("web_p95_s", 1, 2), ("loss", 100, 2), ("wait_s", 1e3, 0), ("saving_fs", 100, 1))
    yield Tabled("web", "Short flows", header, short.rows(*columns))
    yield Tabled("settled", "The rate that greedy flows find (Mb/s)", *_settled_table(evidence))
    yield Tabled("recovery", "Loss recovery", *_recovery_table(evidence))


def _floor_table(evidence: Evidence) -> tuple[list[str], list[list[str]]]:
    def row(flows: float) -> list[str]:
        none, awm, router = (Cell.of("many", control=control, flows=flows) for control in CONTROLS[:3])
        late = Cell.of("delayed", flows=flows)
        queues = [number(evidence.grid.interval(cell, "queue_packets")) for cell in (awm, router, late)]
        lost = [number(evidence.grid.interval(cell, "loss", 100), digits=2) for cell in (none, awm, router, late)]
        return [f"{flows:g}", f"{queue_of(flows):g}", *queues, *lost]

    who = ["AWM", "G-R.", "late ACKs"]
    header = ["flows", "queue", *who, "lost (%): none", *who]
    return header, [row(x) for x in evidence.grid.values("many", "flows")]


def _settled_table(evidence: Evidence) -> tuple[list[str], list[list[str]]]:
    few = evidence.grid.values("settled", "few")
    rows = [
        [f"{beta:g}", name, *(number(settled_rate(evidence, pace, first, beta, x), digits=2) for x in few)]
        for beta in evidence.grid.values("settled", "beta")
        for (pace, first), name in STARTS.items()
    ]
    return ["β (kb/s)", "rate", *(f"{x:g} flows" for x in few)], rows


def _recovery_table(evidence: Evidence) -> tuple[list[str], list[list[str]]]:
    rows = []
    for company, where in COMPANY.items():
        for sender in SENDERS:
            for lost in (x for x in evidence.grid.values("recovery", "lost") if x):
                cells = [_recovery_cell(rewriting, company, sender, lost) for rewriting in WINDOWS]
                timeouts = [number(evidence.grid.interval(cell, "probe_timeouts", 0.2), digits=2) for cell in cells]
                times = [number(delay_of_losses(evidence, cell), digits=2) for cell in cells]
                rows.append([where, sender, f"{lost:g}", *timeouts, *times])
    header = ["company", "sender", "lost together", "timeouts per place", "with AWM", "seconds per place", "with AWM"]
    return header, rows
