"""Beyond the paper: AWM and the G-Router instead of practRA, at the points and seeds of Figs. 2, 4 and 6."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import Curve, Panel, Trace, draw_traces, figure, legend_above, panel_grid, styled
from netlull.plot.series import Floats, column

from . import series

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netlull.papers import Recorded
    from netlull.stats import Interval

SECTION = "figures"
RTT = (1.0, 10.0, 50.0, 100.0)
MRCI = (10.0, 50.0, 100.0, 500.0, 1000.0)
BUFFER_PACKETS = 32
TARGET_PACKETS = 16.0
"""The queue's target T, in packets of 1500 B."""
MOST_PACKETS = 150.0
"""The largest window that figures show, in packets of 1500 B."""


@dataclass(frozen=True)
class Case:
    """A scenario of the paper, with its experiments and figures."""

    name: str
    title: str
    rates: str
    over_time: int

    def tcponly(self, rtt: float) -> Cell:
        """The point without power control."""
        return Cell.of(f"{self.name}-tcponly", rtt=rtt)

    def practra(self, rtt: float, mrci: float) -> Cell:
        """The point with practRA."""
        return Cell.of(self.name, rtt=rtt, mrci=mrci)

    def steered(self, rtt: float, scheme: str) -> Cell:
        """The point with a gateway; `scheme` is its value on the axis `scheme`."""
        return Cell.of(f"gateway-{self.name}", rtt=rtt, scheme=scheme)

    def measured(self, evidence: Evidence) -> bool:
        """True if the gateways of this scenario ran."""
        return bool(evidence.grid.cells(f"gateway-{self.name}"))


CASES = (
    Case("single", "single TCP source", "Fig. 2", 3),
    Case("background", "background traffic, bON = 100 ms", "Fig. 4", 5),
    Case("both", "bottleneck, BN = 50 ms, and background traffic", "Fig. 6", 7),
)


@dataclass(frozen=True)
class Scheme:
    """A mechanism at N1 with its line and points; a gateway's label is its value on the axis `scheme`."""

    label: str
    colour: int
    dashed: bool = False
    gateway: bool = False
    mrci: float | None = None

    def cell(self, case: Case, rtt: float) -> Cell:
        """The point of the scheme in a scenario."""
        if self.gateway:
            return case.steered(rtt, self.label)
        return case.tcponly(rtt) if self.mrci is None else case.practra(rtt, self.mrci)


TCPONLY = Scheme("TCPonly", 6, dashed=True)
PRACTRA = (Scheme("practRA, mRCI 10 ms", 1, mrci=10), Scheme("practRA, mRCI 1000 ms", 1, dashed=True, mrci=1000))
GATEWAYS = (
    Scheme("AWM alone", 4, gateway=True),
    Scheme("G-Router", 0, gateway=True),
    Scheme("G-Router, once per RTT", 2, gateway=True),
    Scheme("G-Router, steps and pauses", 3, gateway=True),
    Scheme("G-Router as printed", 5, gateway=True),
)
ALL = (TCPONLY, *PRACTRA, *GATEWAYS)

_PAIRED = "Means over seeds; bands are 95 % intervals (Student's t), of reductions paired by seed."


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields a figure for each simulated scenario.

    If all three ran, figures over mRCI, over time, and of a rate that settles too low follow.
    """
    ran = [case for case in CASES if case.measured(evidence)]
    for case in ran:
        caption = (
            f"{case.rates} again, over RTT. (a) Mean service rate of N1. (b) Reduction of TCP's throughput against "
            f"TCPonly. (c) Rate changes in 300 s; none is not drawn. (d) TCP's packets lost. {_PAIRED}"
        )
        title = f"The G-Router and practRA: {case.title}"
        yield Drawn(case.name, title, caption, over_rtt(evidence, case), SECTION)
    if len(ran) < len(CASES):
        return
    caption = (
        "RTT 100 ms. Above: mean service rate of N1; below: reduction of TCP's throughput against TCPonly. A gateway "
        f"has no mRCI: its lines are level. {_PAIRED}"
    )
    yield Drawn("mrci", "Comparison with practRA over mRCI, RTT 100 ms", caption, over_mrci(evidence), SECTION)
    caption = (
        "As Figs. 3, 5 and 7, with the G-Router, one computation per packet: service rate of N1, and arrival rate "
        "at N1 with the G-Router and in TCPonly, bins of 0.2 s. The first 50 s of one run of 300 s."
    )
    yield Drawn("time", "The G-Router: rates over time", caption, over_time(evidence), SECTION)
    caption = (
        "Bursts; bins of 50 ms. Left: RTT 10 ms, one computation per packet. A burst drives the rate to C_max, "
        "where it cannot rise further, and AWM takes the burst's share from TCP. When the burst ends, the queue "
        "falls below T. The rate falls with it, by 8 |dq| / RTT · |q - T| / T for every packet, before TCP's "
        "larger windows arrive an RTT later. Then AWM holds the queue at T, where |q - T| / T is almost zero: the "
        "rate stays the same. Right: RTT 100 ms, one computation per RTT. A burst overflows the buffer. TCP halves "
        "its window, the queue stays empty, the rate falls to TCP's, and the next burst finds a slower link. swnd "
        "(not drawn above 150 packets) has no hold on a sender whose own window is smaller."
    )
    yield Drawn("why", "Why the rate settles too low and does not recover", caption, settling(evidence), SECTION)


def over_rtt(evidence: Evidence, case: Case) -> Figure:
    """Draws panels (a) to (d) of Figs. 2, 4 and 6 over RTT, with a line for each scheme."""
    grid = evidence.grid
    curves: list[list[Curve]] = [[], [], [], []]
    for scheme in ALL:
        cells = [scheme.cell(case, rtt) for rtt in RTT]
        plain = [case.tcponly(rtt) for rtt in RTT]
        values = [
            [grid.interval(cell, "mean_rate_bps", 1e-6) for cell in cells],
            [grid.reduction(cell, base, "goodput_bps", 100) for cell, base in zip(cells, plain, strict=True)],
            [grid.interval(cell, "rate_changes") for cell in cells],
            [grid.interval(cell, "loss", 100) for cell in cells],
        ]
        for panel, y in zip(curves, values, strict=True):
            panel.append(Curve(scheme.label, RTT, y, scheme.colour, scheme.dashed))
    curves[2] = [drawn for drawn in map(_above_nothing, curves[2]) if drawn.x]
    label = "RTT (ms)"
    return panel_grid(
        [
            Panel("(a) Mean service rate", label, "Mean service rate (Mb/s)", curves[0], y_from=0, y_to=10.3),
            Panel("(b) Throughput reduction", label, "Throughput reduction (%)", curves[1]),
            Panel("(c) Rate changes", label, "Rate changes in 300 s", curves[2], log_y=True),
            Panel("(d) Packet loss", label, "Lost TCP packets (%)", curves[3], y_from=0),
        ]
    )


def _above_nothing(curve: Curve) -> Curve:
    """The curve without its zeros, for a logarithmic axis."""
    kept = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if y.mean > 0]
    return replace(curve, x=[x for x, _ in kept], y=[y for _, y in kept])


def over_mrci(evidence: Evidence) -> Figure:
    """Draws practRA over mRCI at RTT 100 ms and the gateways' level lines, with a column for each scenario."""
    rows: list[list[Panel]] = [[], []]
    for letter, case in zip("abc", CASES, strict=True):
        for panels, what, y_label in zip(
            rows, (_rate, _reduction), ("Mean service rate (Mb/s)", "Throughput reduction (%)"), strict=True
        ):
            curves = [Curve("practRA", MRCI, [what(evidence, case, case.practra(100, mrci)) for mrci in MRCI], 1)]
            for scheme in (TCPONLY, *GATEWAYS):
                level = [what(evidence, case, scheme.cell(case, 100))] * len(MRCI)
                curves.append(Curve(scheme.label, MRCI, level, scheme.colour, scheme.dashed, marked=False))
            title = f"({letter}) {case.name.capitalize()}"
            panels.append(Panel(title, "mRCI (ms)", y_label, curves, y_from=0 if what is _rate else None))
    return panel_grid([*rows[0], *rows[1]], columns=3)


def _rate(evidence: Evidence, case: Case, cell: Cell) -> Interval:
    del case
    return evidence.grid.interval(cell, "mean_rate_bps", 1e-6)


def _reduction(evidence: Evidence, case: Case, cell: Cell) -> Interval:
    return evidence.grid.reduction(cell, case.tcponly(100), "goodput_bps", 100)


def _recorded(case: Case, rtt: int) -> str:
    return f"gateway{case.over_time}-rtt{rtt}"


def over_time(evidence: Evidence) -> Figure:
    """Draws service and arrival rates, with a row for each scenario and a column for each RTT (10 and 100 ms)."""
    with styled():
        drawn = figure(height=7.4)
        panels = drawn.subplots(len(CASES), 2, sharex=True, sharey=True)
        for row, case in zip(panels, CASES, strict=True):
            for axes, rtt in zip(row, (10, 100), strict=True):
                control = evidence.series[_recorded(case, rtt)]
                plain = evidence.series[f"fig{case.over_time}-rtt{rtt}-tcponly"]
                traces = [
                    _service(control),
                    Trace("arrivals, TCPonly", *_megabits(series.arrivals(plain, 0.2)), colour=6, width=0.6),
                    Trace("arrivals, G-Router", *_megabits(series.arrivals(control, 0.2)), colour=0, width=0.7),
                ]
                draw_traces(axes, traces, f"{case.name.capitalize()}, RTT {rtt} ms", "Rate (Mb/s)", (0.0, 50.0))
                axes.label_outer()
        legend_above(drawn, [axes for row in panels for axes in row])
    return drawn


STORIES = (("gateway5-rtt10", "RTT 10 ms", 12.0), ("gateway5-rtt100-per-rtt", "RTT 100 ms", 30.0))
"""Recorded runs with bursts: name, title and end of the time axis in seconds."""


def settling(evidence: Evidence) -> Figure:
    """Draws rate, queue and windows with bursts, with a column for each entry of `STORIES`."""
    with styled():
        drawn = figure(height=5.6)
        grid = drawn.subplots(3, 2, sharex="col", sharey="row")
        for column, (name, title, until) in enumerate(STORIES):
            _story(grid[:, column], evidence.series[name], title, until)
        panels = [axes for row in grid for axes in row]
        for axes in panels:
            axes.label_outer()
        legend_above(drawn, panels)
    return drawn


def _story(panels: Sequence[Axes], recorded: Recorded, title: str, until: float) -> None:
    window = (0.0, until)
    rate, queue, windows = panels
    arriving = Trace("arrivals", *_megabits(series.arrivals(recorded, 0.05)), colour=6, width=0.6)
    draw_traces(rate, [arriving, _service(recorded)], f"{title}: rates", "Rate (Mb/s)", window)
    link, gateway = series.of_link(recorded, "link"), series.of_link(recorded, "gateway")
    level = Trace("T", np.array(window), np.array([TARGET_PACKETS] * 2), colour=1, width=1.2)
    waiting = Trace("queue", column(link, "time_s"), column(link, "queue_packets"), colour=5, width=0.8)
    draw_traces(queue, [level, waiting], "Queue at N1", "Queue (packets)", window)
    queue.set_ylim(0, BUFFER_PACKETS + 2)
    flow = series.of_flow(recorded, "flow")
    suggested = _packets("swnd", gateway, "window_bytes", 3)
    own = _packets("TCP's cwnd", flow, "cwnd_bytes", 0)
    draw_traces(windows, [suggested, own], "Windows", "Window (packets)", window)


def _packets(label: str, rows: pa.Table, name: str, colour: int) -> Trace:
    """A window in packets of 1500 B, at most `MOST_PACKETS`."""
    packets = np.minimum(column(rows, name) / 1500, MOST_PACKETS)
    return Trace(label, column(rows, "time_s"), packets, colour, width=0.8)


def _service(recorded: Recorded) -> Trace:
    time, rate = series.service(recorded)
    end = float(recorded.summary["duration_s"])
    steps = np.append(time, end), np.append(rate, rate[-1]) / 1e6
    return Trace("service rate", *steps, colour=2, steps=True, width=1.3)


def _megabits(trace: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    return trace[0], trace[1] / 1e6


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers of every scheme at every RTT, compared with TCPonly and practRA by seed."""
    header = [
        "RTT, at N1",
        "mean rate (Mb/s)",
        "FS saved (%)",
        "TCP throughput lost (%)",
        "against practRA, 10 ms (Mb/s)",
        "loss less TCPonly's (points)",
        "rate changes",
    ]
    for case in CASES:
        if case.measured(evidence):
            rows = [_row(evidence, case, rtt, scheme) for rtt in RTT for scheme in ALL]
            caption = f"Gateways and practRA: {case.title}. Differences are by seed; of goodput against mRCI 10 ms."
            yield Tabled(SECTION, caption, header, rows)


def _row(evidence: Evidence, case: Case, rtt: float, scheme: Scheme) -> Sequence[str]:
    grid, cell, plain = evidence.grid, scheme.cell(case, rtt), case.tcponly(rtt)
    beside = case.practra(rtt, 10)
    return [
        f"{rtt:g} ms, {scheme.label}",
        number(grid.interval(cell, "mean_rate_bps", 1e-6), digits=2),
        number(grid.interval(cell, "saving_fs", 100)),
        number(grid.reduction(cell, plain, "goodput_bps", 100)),
        number(grid.difference(cell, beside, "goodput_bps", 1e-6), digits=2),
        number(grid.difference(cell, plain, "loss", 100), digits=2),
        number(grid.interval(cell, "rate_changes"), digits=0),
    ]
