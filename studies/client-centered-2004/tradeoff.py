"""Alternatives to energy x delay: saving and slowdown of each technique, and the least energy within a slowdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import COLOURS, figure, legend_above, log_x, log_y, styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netlull.stats import Interval

BASELINE, IDEAL = "baseline TCP", "PSM, ideal"
LOOKS = {
    "shaper": (1, "s"),
    IDEAL: (0, "o"),
    "PSM, 802.11": (4, "v"),
    "BSD 10 %": (2, "1"),
    "BSD 25 %": (2, "2"),
    "BSD 50 %": (2, "3"),
    "BSD 100 %": (2, "4"),
    "BSD 10 %, data only": (3, "1"),
    "BSD 25 %, data only": (3, "2"),
    "BSD 50 %, data only": (3, "3"),
    "BSD 100 %, data only": (3, "4"),
}
"""Colour and marker of each value of the axis `way`, without baseline TCP."""
REAL = tuple(way for way in LOOKS if way != IDEAL)
"""Comparable techniques: all of them pay for wake-ups, and PSM and BSD also pay for beacons and polls."""
BOUNDS = (10, 25, 50)
"""The bounds of the slowdown in percent."""
AIRS = (20, 108)
"""The rates of the air in Mb/s."""


def cells(radio: str, air: float, rtt: float, way: str) -> tuple[Cell, Cell]:
    """A point and its baseline."""
    at: dict[str, float | str] = {"radio": radio, "air": air, "rtt": rtt}
    return Cell.of("tradeoff", way=way, **at), Cell.of("tradeoff", way=BASELINE, **at)


def slowdown(evidence: Evidence, radio: str, air: float, rtt: float, way: str) -> Interval:
    """The increase of the transfer time over baseline TCP in percent, paired by seed."""
    return evidence.grid.ratio(*cells(radio, air, rtt, way), "seconds", 100) - 100


def saving(evidence: Evidence, radio: str, air: float, rtt: float, way: str) -> Interval:
    """The reduction of the energy against baseline TCP in percent, paired by seed."""
    return evidence.grid.reduction(*cells(radio, air, rtt, way), "energy_j", 100)


def product(evidence: Evidence, radio: str, air: float, rtt: float, way: str) -> Interval:
    """Energy x delay divided by that of baseline TCP, paired by seed."""
    return evidence.grid.ratio(*cells(radio, air, rtt, way), "product_js")


def within(evidence: Evidence, radio: str, air: float, rtt: float, bound: float) -> str | None:
    """The technique with the highest mean saving within a mean slowdown of `bound` percent.

    The result is None if the saving is not significantly above zero. The ideal PSM is excluded: it pays nothing for
    wake-ups and beacons, and no radio can do this.
    """
    allowed = [way for way in REAL if slowdown(evidence, radio, air, rtt, way).mean <= bound]
    best = max(allowed, key=lambda way: saving(evidence, radio, air, rtt, way).mean, default=None)
    return best if best is not None and saving(evidence, radio, air, rtt, best).low > 0 else None


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields energy over transfer time under each radio."""
    for air in (air for air in AIRS if air in evidence.grid.values("tradeoff", "air")):
        yield Drawn(
            f"tradeoff-{air}",
            f"Saving and cost with {air} Mb/s of air",
            "Energy against transfer time, both over baseline TCP's with the same seed; FreeBSD 4.5's sender, noise "
            "of 2 %, no loss. A panel for each radio, a line for each way through the round trips of 30, 60, 90 and "
            "120 ms; dots grow with them. Means over seeds; bars are 95 % intervals. Dotted: energy x delay as "
            "baseline TCP's; below the line it is better. BSD's four bounds coincide where it never sleeps.",
            scattered(evidence, air),
        )


SHORT = {
    "shaper": "shaper",
    "PSM, ideal": "PSM, ideal",
    "PSM, 802.11": "PSM, 802.11",
    "BSD 10 %": "BSD, 10 to 100 %",
    "BSD 10 %, data only": "BSD, data only, 10 to 100 %",
}
"""Short names in the legend."""


def scattered(evidence: Evidence, air: float) -> Figure:
    """Draws energy over transfer time, with a panel for each radio."""
    radios = evidence.grid.labels("tradeoff", "radio")
    rtts = evidence.grid.values("tradeoff", "rtt")
    with styled():
        made = figure(height=5.4)
        places = made.subplots(2, 2, sharex=True, sharey=True).ravel()
        for axes, radio in zip(places, radios, strict=False):
            axes.plot([1, 100], [1, 0.01], color="#222222", linewidth=0.8, linestyle=":")
            for way in LOOKS:
                points = [cells(radio, air, rtt, way) for rtt in rtts]
                x, y = ([evidence.grid.ratio(*pair, metric) for pair in points] for metric in ("seconds", "energy_j"))
                _way(axes, way, SHORT.get(way, ""), x, y)
            axes.set_title(radio, loc="left")
            axes.axhline(1, color="#222222", linewidth=0.6)
            log_x(axes)
            log_y(axes)
            axes.set_xlim(*_room(evidence, air, "seconds"))
            axes.set_ylim(*_room(evidence, air, "energy_j"))
        for axes in places[2:]:
            axes.set_xlabel("Transfer time, baseline TCP = 1")
        for axes in places[::2]:
            axes.set_ylabel("Energy, baseline TCP = 1")
        legend_above(made, [places[0]], columns=5)
    return made


def _room(evidence: Evidence, air: float, metric: str) -> tuple[float, float]:
    """The limits of an axis: slightly below the lowest mean and slightly above the highest; both include 1."""
    grid = evidence.grid
    points = [
        cells(radio, air, rtt, way)
        for radio in grid.labels("tradeoff", "radio")
        for rtt in grid.values("tradeoff", "rtt")
        for way in LOOKS
    ]
    means = [1.0, *(grid.ratio(*pair, metric).mean for pair in points)]
    return 0.85 * min(means), 1.2 * max(means)


def _way(axes: Axes, way: str, label: str, x: list[Interval], y: list[Interval]) -> None:
    colour, mark = COLOURS[LOOKS[way][0]], LOOKS[way][1]
    across, up = ([value.mean for value in values] for values in (x, y))
    axes.plot(across, up, color=colour, linewidth=0.6, alpha=0.7)
    spread = [[_half(value) for value in values] for values in (x, y)]
    axes.errorbar(across, up, xerr=spread[0], yerr=spread[1], fmt="none", ecolor=colour, elinewidth=0.6, alpha=0.6)
    sizes = [6 + 8 * place for place in range(len(x))]
    axes.scatter(across, up, s=sizes, color=colour, marker=mark, label=label or None, zorder=3, linewidth=0.9)


def _half(value: Interval) -> float:
    return float(np.nan_to_num((value.high - value.low) / 2))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the technique with the least energy within each bound, and the numbers of all techniques."""
    grid = evidence.grid
    radios = grid.labels("tradeoff", "radio")
    airs, rtts = ([int(value) for value in grid.values("tradeoff", axis)] for axis in ("air", "rtt"))
    rows = [
        [
            radio,
            f"{air}",
            f"{rtt}",
            *(_best(evidence, radio, air, rtt, bound) for bound in BOUNDS),
            _by_product(evidence, radio, air, rtt),
        ]
        for radio in radios
        for air in airs
        for rtt in rtts
    ]
    header = [
        "radio",
        "air (Mb/s)",
        "round trip (ms)",
        *(f"at most {bound} % slower" for bound in BOUNDS),
        "least energy x delay",
    ]
    yield Tabled(
        "figures",
        "The way that saves most within a bound of slowdown: its saving (and slowdown), next to the way that "
        "energy x delay would choose. Without the ideal PSM, which pays nothing for waking and beacons",
        header,
        rows,
    )
    numbers = [
        [radio, f"{air}", f"{rtt}", way]
        + [
            number(value(evidence, radio, air, rtt, way), digits=digits)
            for value, digits in ((slowdown, 0), (saving, 0), (product, 2))
        ]
        for radio in radios
        for air in airs
        for rtt in rtts
        for way in LOOKS
    ]
    yield Tabled(
        "figures",
        "All ways in numbers",
        ["radio", "air (Mb/s)", "round trip (ms)", "way", "slower (%)", "energy saved (%)", "energy x delay"],
        numbers,
    )


def _best(evidence: Evidence, radio: str, air: int, rtt: int, bound: float) -> str:
    return _told(evidence, radio, air, rtt, within(evidence, radio, air, rtt, bound))


def _by_product(evidence: Evidence, radio: str, air: int, rtt: int) -> str:
    best = min(REAL, key=lambda way: product(evidence, radio, air, rtt, way).mean)
    return _told(evidence, radio, air, rtt, best if product(evidence, radio, air, rtt, best).mean < 1 else None)


def _told(evidence: Evidence, radio: str, air: int, rtt: int, way: str | None) -> str:
    if way is None:
        return BASELINE
    saved, slower = (of(evidence, radio, air, rtt, way).mean for of in (saving, slowdown))
    return f"{way}: {saved:.0f} % (+{slower:.1f} %)"
