"""Many flows with different RTTs over practRA: does the trouble of one flow survive in numbers?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import Curve, Panel, panel_grid
from netlull.stats import Interval, mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

SECTION = "figures"
MIXED = "20 to 160 ms"
TRAFFIC = {"alone": "without bursts", "bursts": "with bursts, bON = 100 ms"}
"""The experiments, and their traffic in words."""


@dataclass(frozen=True)
class Crowd:
    """A number of flows of one TCP and RTT, in an experiment."""

    traffic: str
    rtt: str
    tcp: str
    flows: float

    def control(self, mrci: float) -> Cell:
        """The point with practRA."""
        return Cell.of(self.traffic, rtt=self.rtt, tcp=self.tcp, flows=self.flows, mrci=mrci)

    def tcponly(self) -> Cell:
        """The point without power control."""
        return Cell.of(f"{self.traffic}-tcponly", rtt=self.rtt, tcp=self.tcp, flows=self.flows)


def reductions(evidence: Evidence, crowd: Crowd, mrci: float) -> dict[int, float]:
    """The reduction of all flows' goodput against TCPonly as a fraction, by seed."""
    return evidence.grid.reductions(crowd.control(mrci), crowd.tcponly(), "goodput_bps")


def rise(evidence: Evidence, crowd: Crowd) -> Interval:
    """The reduction at mRCI 1000 ms minus that at 10 ms, in percentage points, paired by seed."""
    slow, fast = (reductions(evidence, crowd, mrci) for mrci in (1000, 10))
    return mean_interval([(slow[seed] - fast[seed]) * 100 for seed in slow if seed in fast])


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the mixed RTTs by TCP."""
    bands = "Means over seeds; bands are 95 % intervals (Student's t), of reductions paired by seed."
    tcps = evidence.grid.labels("alone", "tcp")
    caption = (
        "RTTs of 20 to 160 ms (one flow: 100 ms). Solid: mRCI 10 ms; dashed: 1000 ms. Above: reduction of all flows' "
        f"goodput against TCPonly. Below: mean service rate. {bands}"
    )
    mixed = [(tcp, MIXED, tcp) for tcp in tcps]
    yield Drawn("mixed", "Many flows with mixed RTTs", caption, _panels(evidence, mixed), SECTION)


def _panels(evidence: Evidence, lines: list[tuple[str, str, str]]) -> Figure:
    """Draws reduction and mean rate against the number of flows; a line has a label, an RTT and a TCP."""
    grid, label = evidence.grid, "Flows"
    above, below = [], []
    for letter, (traffic, words) in zip("ab", TRAFFIC.items(), strict=True):
        counts = grid.values(traffic, "flows")
        cuts, rates = [], []
        for colour, (name, rtt, tcp) in enumerate(lines):
            crowds = [Crowd(traffic, rtt, tcp, count) for count in counts]
            for mrci in (10.0, 1000.0):
                title, dashed = f"{name}, mRCI {mrci:g} ms", mrci > 10
                cut = [grid.reduction(crowd.control(mrci), crowd.tcponly(), "goodput_bps", 100) for crowd in crowds]
                rate = [grid.interval(crowd.control(mrci), "mean_rate_bps", 1e-6) for crowd in crowds]
                cuts.append(Curve(title, counts, cut, colour, dashed))
                rates.append(Curve(title, counts, rate, colour, dashed))
        above.append(Panel(f"({letter}) {words.split(',')[0].capitalize()}", label, "Goodput reduction (%)", cuts))
        below.append(
            Panel(f"({chr(ord(letter) + 2)}) The same", label, "Mean service rate (Mb/s)", rates, y_from=0, y_to=10.3)
        )
    return panel_grid([*above, *below])


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers of every crowd of mixed RTTs."""
    grid = evidence.grid
    header = [
        "TCP, flows",
        "goodput, TCPonly (Mb/s)",
        "reduction, mRCI 10 ms (%)",
        "100 ms (%)",
        "1000 ms (%)",
        "1000 less 10 ms (points)",
        "FS saved, 10 ms (%)",
        "FS saved, 1000 ms (%)",
        "Jain's index, TCPonly",
        "Jain's index, 10 ms",
    ]
    for traffic, words in TRAFFIC.items():
        rows = []
        for tcp in grid.labels(traffic, "tcp"):
            for count in grid.values(traffic, "flows"):
                crowd = Crowd(traffic, MIXED, tcp, count)
                plain = crowd.tcponly()
                rows.append(
                    [
                        f"{tcp}, {count:g}",
                        number(grid.interval(plain, "goodput_bps", 1e-6), digits=2),
                        *(
                            number(grid.reduction(crowd.control(mrci), plain, "goodput_bps", 100))
                            for mrci in (10, 100, 1000)
                        ),
                        number(rise(evidence, crowd)),
                        *(number(grid.interval(crowd.control(mrci), "saving_fs", 100)) for mrci in (10, 1000)),
                        number(grid.interval(plain, "jain"), digits=2),
                        number(grid.interval(crowd.control(10), "jain"), digits=2),
                    ]
                )
        yield Tabled(SECTION, f"Flows of RTT {MIXED}, {words}", header, rows)
