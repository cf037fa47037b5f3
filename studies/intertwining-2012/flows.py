"""Beyond the paper: web load next to long transfers, with equal and mixed round trips and other TCPs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import Curve, Panel, panel_grid

from .measures import TCP_PC, TCPONLY, BySeed, over_seeds, together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netlull.stats import Interval

SECTIONS = {"flows": "Beyond the paper: long transfers, mixed round trips, other TCPs"}
"""The report's sections, in order."""


def cell(scenario: str, path: str, tcp: str, flows: float) -> Cell:
    """The point with web load 0.3 and this number of long transfers."""
    return Cell.of(f"bulk-{scenario}", path=path, tcp=tcp, flows=flows)


def web(scenario: str, path: str, tcp: str) -> Cell:
    """The point with web load 0.8 and no long transfers."""
    return Cell.of(f"web-{scenario}", path=path, tcp=tcp)


def bulk(evidence: Evidence, at: Cell) -> BySeed:
    """The goodput of the long transfers in bit/s, by seed."""
    everything, downloads = (evidence.grid.samples(at, name) for name in ("goodput_bps", "web_goodput_bps"))
    return together(everything, downloads, lambda a, b: a - b)


def bulk_lost(evidence: Evidence, path: str, tcp: str, flows: float) -> Interval:
    """The reduction of the long transfers' goodput by practRA in percent; none without transfers."""
    controlled, plain = (bulk(evidence, cell(scenario, path, tcp, flows)) for scenario in (TCP_PC, TCPONLY))
    return over_seeds(together(controlled, plain, lambda a, b: 100 * (1 - a / b) if flows else float("nan")))


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields completion times, goodput, savings and losses over the number of long transfers, a row for each TCP."""
    grid = evidence.grid
    paths, counts = grid.labels(f"bulk-{TCP_PC}", "path"), grid.values(f"bulk-{TCP_PC}", "flows")

    def curves(tcp: str, value: Callable[[Cell, Cell], Interval]) -> list[Curve]:
        return [
            Curve(
                path,
                counts,
                [value(cell(TCP_PC, path, tcp, flows), cell(TCPONLY, path, tcp, flows)) for flows in counts],
                colour,
            )
            for colour, path in enumerate(paths)
        ]

    panels = []
    for tcp in grid.labels(f"bulk-{TCP_PC}", "tcp"):
        ratios = curves(tcp, lambda a, b: grid.ratio(a, b, "completion_s"))
        saved = curves(tcp, lambda a, _: grid.interval(a, "saving_fs", 100))
        lost = curves(tcp, lambda a, b: grid.difference(a, b, "loss", 100))
        label = "Long transfers"
        panels += [
            Panel(f"{tcp}: downloads", label, "Completion time over TCPonly", ratios, log_x=False, log_y=True),
            Panel(f"{tcp}: energy", label, "Energy saved (%)", saved, log_x=False),
            Panel(f"{tcp}: loss", label, "Loss less TCPonly's (points)", lost, log_x=False),
        ]
    caption = (
        "Web load of 0.3 next to 0 to 50 long transfers; lines are round trips and N1's buffer. Left: mean completion "
        "time of the downloads over TCPonly's. Middle: energy saved (FS, static power 0). Right: packets dropped at N1 "
        "less TCPonly's. Means over seeds, paired by seed; bands are 95 % intervals."
    )
    yield Drawn("flows", "Downloads next to long transfers", caption, panel_grid(panels, columns=3), "flows")


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers of every point, and those of web load 0.8 alone."""
    grid = evidence.grid
    header = [
        "path",
        "TCP",
        "transfers",
        "mean rate (Mb/s)",
        "FS saved (%)",
        "completion (times)",
        "p99 (times)",
        "transfers' goodput lost (%)",
        "loss less TCPonly's (points)",
    ]
    rows = []
    for path in grid.labels(f"bulk-{TCP_PC}", "path"):
        for tcp in grid.labels(f"bulk-{TCP_PC}", "tcp"):
            for flows in grid.values(f"bulk-{TCP_PC}", "flows"):
                pair = cell(TCP_PC, path, tcp, flows), cell(TCPONLY, path, tcp, flows)
                lost = bulk_lost(evidence, path, tcp, flows)
                rows.append(_row(evidence, pair, [path, tcp, f"{flows:g}"], number(lost) if flows else ""))
    yield Tabled("flows", "Web load 0.3 next to long transfers. Times are TCPonly's, by seed.", header, rows)
    alone = []
    for path in grid.labels(f"web-{TCP_PC}", "path"):
        for tcp in grid.labels(f"web-{TCP_PC}", "tcp"):
            pair = web(TCP_PC, path, tcp), web(TCPONLY, path, tcp)
            lost = grid.reduction(*pair, "web_goodput_bps", 100)
            alone.append(_row(evidence, pair, [path, tcp, "none"], number(lost)))
    changed = [*header[:7], "downloads' goodput lost (%)", header[8]]
    yield Tabled("flows", "Web load 0.8 alone: the headline with other round trips and TCPs.", changed, alone)


def _row(evidence: Evidence, pair: tuple[Cell, Cell], names: list[str], lost: str) -> list[str]:
    grid, (controlled, plain) = evidence.grid, pair
    return [
        *names,
        number(grid.interval(controlled, "mean_rate_bps", 1e-6), digits=2),
        number(grid.interval(controlled, "saving_fs", 100)),
        *(number(grid.ratio(controlled, plain, metric), digits=2) for metric in ("completion_s", "p99_s")),
        lost,
        number(grid.difference(controlled, plain, "loss", 100), digits=2),
    ]
