"""The readings that decide: RTT in C-EARTH's gain, the first window, beta, the Internet node's capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence
from netlull.plot import Curve, Panel, panel_grid

from . import claims

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

SERVICE, CAPACITY, GREY = 1, 2, 6
"""Indices into the palette."""


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields goodput, losses and utilisation over each reading."""
    yield Drawn(
        "gain",
        "C-EARTH's gain: RTT a constant, flows counted",
        "Case study 1 over the constant that stands for RTT in C-EARTH (equation 4). (a) Goodput against "
        "over-provisioned. (b) Dropped at the G-Router. (c) Utilisation. Printed estimators freeze it at 1049 ms. "
        f"{_BANDS}",
        _against(evidence, [("gain", "rtt", "RTT a constant", 0)], "RTT in C-EARTH (ms)", log_x=True),
    )
    yield Drawn(
        "windows",
        "The first suggested window, estimators as printed",
        "Case study 1 over swnd at the start, with N at the start such that RTT stays at 1.05 s. AWM raises a sum of "
        "windows that is too small by at most beta = 10 kb/s: the rate follows the windows instead of the demand. "
        f"{_BANDS}",
        _against(evidence, [("windows", "window", "as printed", SERVICE)], "swnd at the start (kB)"),
    )
    yield Drawn(
        "beta",
        "AWM's beta",
        f"Case study 1 over beta. {_BANDS}",
        _against(
            evidence,
            [("beta-printed", "beta", "as printed", SERVICE), ("beta-working", "beta", "working", CAPACITY)],
            "beta (Mb/s)",
            log_x=True,
            x_scale=1e-3,
        ),
    )
    yield Drawn(
        "capacity",
        "The Internet node's capacity in case study 2",
        "(a) Packets lost there, against not controlled. (b) Mean service rate from 330 to 600 s. (c) Goodput then. "
        f"{_BANDS}",
        _capacities(evidence),
    )


_BANDS = "Means over seeds; bands are 95 % intervals (Student's t)."


def _against(
    evidence: Evidence,
    lines: list[tuple[str, str, str, int]],
    x_label: str,
    *,
    log_x: bool = False,
    x_scale: float = 1.0,
) -> Figure:
    """Draws goodput, losses and utilisation over an axis, whose values are multiplied by `x_scale`."""
    goodput, drops, use = [], [], []
    for experiment, axis, label, colour in lines:
        places = evidence.grid.values(experiment, axis)
        cells = [Cell.of(experiment, **{axis: place}) for place in places]
        values = [x_scale * place for place in places]
        kept = [evidence.grid.ratio(cell, claims.OVER, "goodput_bps", 100) for cell in cells]
        goodput.append(Curve(label, values, kept, colour))
        drops.append(
            Curve(label, values, [evidence.grid.interval(cell, "drop_fraction", 100) for cell in cells], colour)
        )
        use.append(Curve(label, values, [evidence.grid.interval(cell, "utilisation", 100) for cell in cells], colour))
    return panel_grid(
        [
            Panel("(a) Goodput", x_label, "Of over-provisioned (%)", goodput, log_x=log_x, y_to=102),
            Panel("(b) Losses at the G-Router", x_label, "Dropped packets (%)", drops, log_x=log_x, y_from=0),
            Panel("(c) Utilisation", x_label, "Utilisation (%)", use, log_x=log_x, y_from=80, y_to=101),
        ],
        columns=3,
        row_height=2.6,
    )


def _capacities(evidence: Evidence) -> Figure:
    grid = evidence.grid
    values = grid.values("capacity-none", "capacity")
    none = [Cell.of("capacity-none", capacity=value) for value in values]
    fewer, rates, goodput = [], [], [_curve(evidence, "not controlled", none, values, "squeezed_goodput_bps", GREY)]
    for way, colour in (("printed", SERVICE), ("working", CAPACITY)):
        cells = [Cell.of(f"capacity-{way}", capacity=value) for value in values]
        reduced = [grid.reduction(cell, plain, "node_drops", 100) for cell, plain in zip(cells, none, strict=True)]
        fewer.append(Curve(claims.WAYS[way], values, reduced, colour))
        rates.append(_curve(evidence, claims.WAYS[way], cells, values, "squeezed_rate_bps", colour))
        goodput.append(_curve(evidence, claims.WAYS[way], cells, values, "squeezed_goodput_bps", colour))
    label = "Capacity (Mb/s)"
    return panel_grid(
        [
            Panel("(a) Fewer losses", label, "Fewer packets lost (%)", fewer, log_x=False, y_to=100),
            Panel("(b) Service rate", label, "Rate (Mb/s)", rates, log_x=False, y_from=0),
            Panel("(c) Goodput", label, "Goodput (Mb/s)", goodput, log_x=False, y_from=0),
        ],
        columns=3,
        row_height=2.6,
    )


def _curve(evidence: Evidence, label: str, cells: list[Cell], x: list[float], metric: str, colour: int) -> Curve:
    return Curve(label, x, [evidence.grid.interval(cell, metric, 1e-6) for cell in cells], colour)
