"""The figures of the fluid model: the stable region of AWM, and packets on both sides of the bound."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from packets import MTU_BYTES, Case, queue_of

from netlull.fluid import stability_map
from netlull.plot import save_as
from netlull.plot.fluid import QueuePanel, Swing, both_sides_figure, stability_figure, swing_figure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure
    from run import Row

SIDES = (0.5, 0.8, 1.25, 2.0)
SHOWN_S = 2.0
TITLES = {"ack_clock": "bound of ACK-clocked senders", "rate": "1.707 T / R₀"}


def draw(rows: Sequence[Row], folder: Path) -> None:
    """Writes `stability`, `both-sides` and `swing` into a folder as SVG and PNG."""
    for name, drawn in (("stability", stability()), ("both-sides", both_sides()), ("swing", swing(rows))):
        for suffix in (".svg", ".png"):
            save_as(drawn, folder / f"{name}{suffix}")


def stability(points: int = 60) -> Figure:
    """Growth over beta and each of T, R, N and d, about C = 10 Mb/s, N = 30, R = 100 ms, T = 50 kB, d = 20 ms."""
    model = replace(Case("ns2", 30, 0.1, 50, 0.02).fluid)
    beta = np.geomspace(0.2e6, 100e6, points)
    axes = {
        "target_bytes": np.geomspace(5e3, 200e3, points),
        "round_trip_s": np.geomspace(0.02, 0.4, points),
        "flows": np.geomspace(2, 100, points),
        "sender_delay_s": np.linspace(0.0, 0.1, points),
    }
    return stability_figure([stability_map(model, axis, list(x), list(beta)) for axis, x in axes.items()])


def both_sides() -> Figure:
    """Packets and fluid at multiples of the bound, with the gateway close to the senders and far from them."""
    return both_sides_figure(
        [panel(Case("ns2", 30, 0.1, 50, delay), multiple) for delay in (0.002, 0.08) for multiple in SIDES],
        columns=len(SIDES),
    )


def panel(case: Case, multiple: float) -> QueuePanel:
    """The last seconds of both at one multiple of the bound. Their phases need not agree."""
    beta = multiple * case.fluid.critical_beta_bps()
    time, queue = queue_of(case.scenario(beta).run(1))
    fluid = case.fluid.with_beta(beta).solve(8.0)
    late = time >= time[-1] - SHOWN_S
    last = fluid.time_s >= fluid.time_s[-1] - SHOWN_S
    return QueuePanel(
        f"{multiple:g} bound, d = {case.sender_delay_s * 1e3:.0f} ms",
        (time[late] - time[late][0], queue[late]),
        (fluid.time_s[last] - fluid.time_s[last][0], fluid.queue_bytes[last] / MTU_BYTES),
        case.target_packets,
        2 * case.target_packets,
    )


def swing(rows: Sequence[Row]) -> Figure:
    """The variation of the queue in every case, over multiples of either bound."""
    groups = []
    for bound, title in TITLES.items():
        curves = []
        for case in dict.fromkeys(row.case for row in rows):
            own = [row for row in rows if row.case == case and row.bound == bound and row.multiple >= 0.1]
            near = case.sender_delay_s < 0.01
            label = f"{case.preset}, d = {'2 ms' if near else '0.8 R'}"
            colour = 2 * (case.preset != "ns2") + (not near)
            values = [row.values.late_packets / case.target_packets for row in own]
            curves.append(Swing(label, [row.multiple for row in own], values, colour))
        groups.append((title, curves))
    return swing_figure(groups)
