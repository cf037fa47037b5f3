"""Beyond the paper: AWM and the G-Router instead of practRA over the load, with the same seeds and two buffers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import Curve, Panel, Trace, draw_traces, figure, legend_above, panel_grid, styled
from netlull.plot.series import column, rows_of

from .measures import TCP_PC, TCPONLY, BySeed, over_seeds, together

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.figure import Figure

    from netlull.stats import Interval

SECTION = "figures"
LINK = "N1-N2"
BUFFER_PACKETS = 42
LOWEST_DRAWN = -500.0
"""The lowest ES - QoSD that figures show, in percentage points."""


@dataclass(frozen=True)
class Room:
    """A kind of buffer, and the experiments with it."""

    experiment: str
    title: str
    tcponly: str
    practra: str

    def loads(self, evidence: Evidence) -> list[float]:
        """The loads of the simulated gateways."""
        return evidence.grid.values(self.experiment, "load")

    def reference(self, load: float) -> Cell:
        """The point without power control."""
        return Cell.of(self.tcponly, load=load)


PACKETS = Room("gateway", "the paper's buffer of 42 packets", TCPONLY, TCP_PC)
BYTES = Room("bytes-gateway", "a buffer of 63 kB", "bytes-tcponly", "bytes-tcp-pc")
ROOMS = (PACKETS, BYTES)


@dataclass(frozen=True)
class Scheme:
    """A mechanism at N1 and its line; a gateway's label is its value on the axis `scheme`."""

    label: str
    colour: int
    dashed: bool = False
    gateway: bool = False
    controlled: bool = True

    def cell(self, room: Room, load: float) -> Cell:
        """The point of the scheme at a load."""
        if self.gateway:
            return Cell.of(room.experiment, scheme=self.label, load=load)
        return Cell.of(room.practra, load=load) if self.controlled else room.reference(load)


PLAIN = Scheme("TCPonly", 6, dashed=True, controlled=False)
CONTROLLED = (
    Scheme("practRA", 1),
    Scheme("AWM alone", 4, gateway=True),
    Scheme("G-Router", 0, gateway=True),
    Scheme("G-Router, once per RTT", 2, gateway=True),
    Scheme("G-Router, steps and pauses", 3, gateway=True),
    Scheme("G-Router as printed", 5, gateway=True),
)
ALL = (PLAIN, *CONTROLLED)


def inflation(evidence: Evidence, room: Room, scheme: Scheme, load: float, metric: str = "completion_s") -> BySeed:
    """The completion time divided by that of TCPonly with the same buffer, by seed."""
    ours = evidence.grid.samples(scheme.cell(room, load), metric)
    return together(ours, evidence.grid.samples(room.reference(load), metric), lambda a, b: a / b)


def es_qosd_time(evidence: Evidence, room: Room, scheme: Scheme, load: float) -> BySeed:
    """The saving (FS, P_s = 0) minus the growth of the completion time, in percentage points, by seed."""
    saved = evidence.grid.samples(scheme.cell(room, load), "saving_fs")
    return together(saved, inflation(evidence, room, scheme, load), lambda a, b: 100 * (a - (b - 1)))


def es_qosd_goodput(evidence: Evidence, room: Room, scheme: Scheme, load: float) -> BySeed:
    """The saving (FS, P_s = 0) minus the reduction of goodput, in percentage points, by seed."""
    cell = scheme.cell(room, load)
    lost = evidence.grid.reductions(cell, room.reference(load), "goodput_bps")
    return together(evidence.grid.samples(cell, "saving_fs"), lost, lambda a, b: 100 * (a - b))


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields a figure for each simulated kind of buffer, and a figure that explains their difference."""
    for room in ROOMS:
        if room.loads(evidence):
            caption = (
                f"Figs. 3 to 7 again with {room.title}. (a) Energy saved, FS with static power 0. (b) Packets dropped "
                "at N1. (c) Mean completion time of the downloads that are complete at the end of the run. (d) The "
                "same over TCPonly's. (e, f) Energy saved less goodput lost, and less growth of the completion time; "
                f"points below {LOWEST_DRAWN:g} are left out. Means over seeds; bands are 95 % intervals; (d) to (f) "
                "are paired by seed."
            )
            title = f"Gateways and practRA, {room.title}"
            yield Drawn(room.experiment, title, caption, panels(evidence, room), SECTION)
    if all(room.loads(evidence) for room in ROOMS):
        caption = (
            "Load 0.8, the G-Router with one computation per packet, one run of each, the first 100 s. (a) The "
            "rate. (b) The queue at N1. (c) Connections counted in a second. C-EARTH aims at 0.95 T = 29.9 kB in "
            "the queue. The paper's buffer has slots for 42 packets. If they have less than 713 B on average, a "
            "full buffer is below the target, and the rate falls. Connections without success repeat their SYNs of "
            "40 B: over the 600 s departures have 673 B on average, 975 B without control."
        )
        title = "Why the rate does not recover: bytes and packets"
        yield Drawn("why", title, caption, settling(evidence), SECTION)


def panels(evidence: Evidence, room: Room) -> Figure:
    """Draws savings, losses, completion times and ES - QoSD over the load."""
    grid, loads = evidence.grid, room.loads(evidence)

    def panel(
        title: str, y_label: str, curves: list[Curve], *, log_y: bool = False, y_from: float | None = None
    ) -> Panel:
        return Panel(title, "Offered load", y_label, curves, log_x=False, log_y=log_y, y_from=y_from)

    def metric(schemes: Sequence[Scheme], name: str, scale: float) -> list[Curve]:
        return [
            _curve(scheme, loads, [grid.interval(scheme.cell(room, load), name, scale) for load in loads])
            for scheme in schemes
        ]

    ratios, goods, times = [], [], []
    for scheme in CONTROLLED:
        at = [(evidence, room, scheme, load) for load in loads]
        ratios.append(_curve(scheme, loads, [over_seeds(inflation(*place)) for place in at]))
        goods.append(_curve(scheme, loads, [over_seeds(es_qosd_goodput(*place)) for place in at]))
        times.extend(_drawn(_curve(scheme, loads, [over_seeds(es_qosd_time(*place)) for place in at])))
    return panel_grid(
        [
            panel("(a) Energy saved", "Energy saved (%)", metric(CONTROLLED, "saving_fs", 100)),
            panel("(b) Loss", "Packets dropped (%)", metric(ALL, "loss", 100)),
            panel("(c) Completion", "Mean completion time (s)", metric(ALL, "completion_s", 1), log_y=True),
            panel("(d) Inflation", "Completion time over TCPonly", ratios, log_y=True),
            panel("(e) Goodput", "ES - QoSD (points)", goods),
            panel("(f) Completion time", "ES - QoSD (points)", times),
        ],
        columns=3,
    )


def _curve(scheme: Scheme, loads: Sequence[float], values: Sequence[Interval]) -> Curve:
    return Curve(scheme.label, loads, values, scheme.colour, scheme.dashed)


def _drawn(curve: Curve) -> list[Curve]:
    """The pieces of a curve at or above `LOWEST_DRAWN`."""
    pieces: list[list[int]] = [[]]
    for at, value in enumerate(curve.y):
        if value.mean >= LOWEST_DRAWN:
            pieces[-1].append(at)
        elif pieces[-1]:
            pieces.append([])
    return [
        replace(curve, x=[curve.x[at] for at in piece], y=[curve.y[at] for at in piece]) for piece in pieces if piece
    ]


def settling(evidence: Evidence) -> Figure:
    """Draws rate, queue and connections over time, with both kinds of buffer."""
    window = (0.0, 100.0)
    runs = {"42 packets": (evidence.series["packets"], 1), "63 kB": (evidence.series["bytes"], 0)}
    with styled():
        drawn = figure(height=5.2)
        rate, queue, flows = drawn.subplots(3, 1, sharex=True)
        rates, queues, counts = [], [], []
        for label, (recorded, colour) in runs.items():
            link, gateway = (
                rows_of(recorded.series("link"), "link", LINK),
                rows_of(recorded.series("gateway"), "link", LINK),
            )
            rates.append(Trace(label, column(link, "time_s"), column(link, "rate_bps") / 1e6, colour, width=0.9))
            queues.append(Trace(label, column(link, "time_s"), column(link, "queue_packets"), colour, width=0.7))
            counts.append(Trace(label, column(gateway, "time_s"), column(gateway, "flows"), colour, width=0.9))
        full = Trace("42 packets are all", np.array(window), np.array([float(BUFFER_PACKETS)] * 2), 6, width=0.7)
        draw_traces(rate, rates, "(a) Service rate", "Rate (Mb/s)", window)
        draw_traces(queue, [full, *queues], "(b) Queue at N1", "Queue (packets)", window)
        draw_traces(flows, counts, "(c) Connections counted", "N", window)
        for axes in (rate, queue, flows):
            axes.label_outer()
        legend_above(drawn, [rate, queue, flows])
    return drawn


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers of every scheme at every load, compared with TCPonly by seed."""
    header = [
        "load, at N1",
        "mean rate (Mb/s)",
        "FS saved (%)",
        "completion (times)",
        "p99 (times)",
        "goodput lost (%)",
        "loss less TCPonly's (points)",
        "rate changes",
    ]
    for room in ROOMS:
        rows = [_row(evidence, room, scheme, load) for load in room.loads(evidence) for scheme in CONTROLLED]
        if rows:
            caption = f"Gateways and practRA, {room.title}. Times are TCPonly's; differences are by seed."
            yield Tabled(SECTION, caption, header, rows)


def _row(evidence: Evidence, room: Room, scheme: Scheme, load: float) -> list[str]:
    grid, cell, plain = evidence.grid, scheme.cell(room, load), room.reference(load)
    ratios = (over_seeds(inflation(evidence, room, scheme, load, metric)) for metric in ("completion_s", "p99_s"))
    return [
        f"{load:g}, {scheme.label}",
        number(grid.interval(cell, "mean_rate_bps", 1e-6), digits=2),
        number(grid.interval(cell, "saving_fs", 100)),
        *(number(ratio, digits=2) for ratio in ratios),
        number(grid.reduction(cell, plain, "goodput_bps", 100)),
        number(grid.difference(cell, plain, "loss", 100), digits=2),
        number(grid.interval(cell, "rate_changes"), digits=0),
    ]
