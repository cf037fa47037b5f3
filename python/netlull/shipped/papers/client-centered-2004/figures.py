"""The paper's Figs. 1 and 5 to 7, the use of time and energy, and the decisive factors: window and rate of the air."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netlull.papers import Drawn, Evidence, Tabled, number
from netlull.plot import COLOURS, Curve, Panel, figure, legend_above, panel_grid, styled

from . import bursts, measures, medians
from .measures import AIR, FAST_AIR, LOSSES, NOISES, ROUND_TRIPS, SHAPES, SITES, WAYS, WINDOWS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netlull.papers import Cell
    from netlull.stats import Interval

    from .measures import Case

PRINTED_SITES = {"stanford": 1.2, "jriver": 0.36}
PRINTED_MEAN_SITES, PRINTED_MEAN_EMULATED, PRINTED_BEST_EMULATED = 0.81, 0.46, 0.27
PRINTED_STANFORD = {AIR: 1.2, FAST_AIR: 0.89}
ONE = "baseline TCP = 1"
PRODUCT = f"Energy x delay, {ONE}"
ROUND_TRIP = "Base round trip (ms)"
CLOCKS = {"psm": "(a) Clock of 10 ms", "psm-ms": "(b) Clock of 1 ms, margin of 3 ms"}
"""The experiments of Fig. 7, and their titles."""
PAPERS_OWN = (measures.BASELINE, measures.SHAPER, measures.IDEAL_PSM)
"""The ways in the paper's Fig. 7."""
NAMES = {way: "the technique" if way == measures.SHAPER else way for way in WAYS}
PRODUCT_TO = 4.0
"""The upper end of the axes of products."""
PART_COLOURS = ("#56B4E9", "#009E73", "#E69F00", "#CC3311", "#F0E442", "#bbbbbb", "#0072B2", "#AA4499")
"""The colours of `measures.PARTS`."""


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields all figures; the paper's figures come first, in order."""
    yield Drawn(
        "fig5",
        "Fig. 5. Seven Internet sites",
        "Energy x delay over that of baseline TCP at each site, in the order of round trips. A bar is the paper's own "
        "number, the run with the median transfer time of three: its median over repetitions with other seeds, and "
        "the 95 % interval. Diamonds are means over seeds. A grey line shows the range of nine in ten triples of "
        "seeds. The paper's text prints some values; its other bars have no numbers.",
        at_sites(evidence),
    )
    yield Drawn(
        "fig6",
        "Fig. 6. Emulated paths",
        "The same for emulated paths, by round trip and loss. The paper's text has the mean and the lowest of its "
        "bars.",
        emulated(evidence),
    )
    yield Drawn(
        "fig7",
        "Fig. 7. Against power-saving mode",
        "No loss, four round trips. (a) Timestamps of 10 ms. (b) Timestamps of 1 ms and a margin of 3 ms, the equally "
        "supported reading. The paper's PSM is ideal: one poll for each burst, no time and no energy for waking. "
        "Beyond the paper (hatched) are 802.11's PSM, with a poll for each packet, and bounded slowdown (BSD, 50 %), "
        "which never sleeps here. Baseline TCP acknowledges eagerly; PSM, BSD and regular TCP do not. This alone puts "
        "BSD above 1: regular TCP takes as long (C13). The caption of the paper's figure names 60 ms.",
        against_psm(evidence),
    )
    yield Drawn(
        "bursts",
        "Fig. 1 measured: standard TCP and bursts",
        bursts.CAPTION,
        bursts.drawn(evidence.series),
    )
    yield Drawn(
        "polls",
        "PSM at 90 ms, packet by packet",
        bursts.POLLS_CAPTION,
        bursts.polled(evidence.series),
        "why",
    )
    yield Drawn(
        "breakdown",
        "The energy of a download by activity",
        "Means over seeds. (a) At each site, baseline TCP on the left and the technique on the right. (b) Emulated "
        "paths with the technique, at losses of 0, 0.1, 0.25, 0.5 and 1 % from left to right; dashes show baseline "
        "TCP's energy. Idle early: awake before the first packet of a burst. Idle in recovery: the same wait after a "
        "burst with a missing packet, when the radio does not sleep. Idle at the end of a burst: waiting for a "
        "possible further packet. Idle else: between packets of bursts, at the start, and after giving up.",
        breakdown(evidence),
        "energy",
    )
    yield Drawn(
        "times",
        "Time and energy apart",
        "(a) Transfer time and (b) energy, both over baseline TCP's, against loss; bands are 95 % intervals. Below 1 "
        "in (a) the technique is faster than TCP (C11).",
        times(evidence),
        "energy",
    )
    yield Drawn(
        "air",
        "Faster air",
        "Energy x delay at each site with air of 20 and 108 Mb/s, and the paper's prediction for stanford. Faster "
        "air makes uiuc and intel worse. uiuc's 64 KiB are less than 90 % of 108 Mb/s x 21 ms, so its connection "
        "is no longer saturated and the technique goes on. intel, with 91 ms, is the noisiest site. No queue "
        "before the air hides the gaps of more than 3 ms that noise opens, and a download misses 120 packets.",
        faster_air(evidence),
        "why",
    )
    if "noise" in evidence.grid.experiments:
        yield Drawn(
            "noise",
            "The noise decides",
            "(a) Energy x delay and (b) packets missed, against the mean of the noise, at 60 ms without loss, for "
            "gamma distributions from long-tailed (shape 0.5) to narrow (8). A burst is judged complete after 3 ms "
            "of silence at least. Noise of that size, drawn for each packet, tears bursts apart.",
            noise(evidence),
            "why",
        )
    if "windows" in evidence.grid.experiments:
        yield Drawn(
            "windows",
            "The window decides",
            "Energy x delay against the round trip for four windows, without loss. Closed acknowledgements add the "
            "time of a window on the air, 0.6 ms for each packet, to each round trip.",
            windows(evidence),
            "why",
        )


def bars(
    axes: Axes,
    places: Sequence[float],
    found: Sequence[Interval],
    label: str,
    colour: int,
    width: float,
    hatch: str | None = None,
) -> None:
    """Draws means with their intervals; a bar beyond the end of the axis shows its value as text."""
    heights = [value.mean for value in found]
    spread = [[value.mean - value.low for value in found], [value.high - value.mean for value in found]]
    fill = {"color": COLOURS[colour % len(COLOURS)]} if hatch is None else _hatched(colour, hatch)
    axes.bar(places, heights, width, label=label, **fill)
    high_low = np.nan_to_num(spread)
    axes.errorbar(places, heights, yerr=high_low, fmt="none", ecolor="#222222", elinewidth=0.8, capsize=1.5)
    for place, height in zip(places, heights, strict=True):
        if height > PRODUCT_TO:
            number_in = axes.text(place, PRODUCT_TO * 0.97, f"{height:.1f}", ha="center", va="top", fontsize=6)
            number_in.set(rotation=90, color="white")


def _hatched(colour: int, hatch: str) -> dict[str, Any]:
    shade = COLOURS[colour % len(COLOURS)]
    return {"facecolor": "white", "edgecolor": shade, "hatch": hatch, "linewidth": 0.8}


def crosses(axes: Axes, places: Sequence[float], values: Sequence[float], label: str = "paper") -> None:
    """Draws the paper's values as crosses."""
    axes.plot(places, values, "x", markersize=6, markeredgewidth=1.5, color="#000000", zorder=5, label=label)


def draw_means(axes: Axes, places: Sequence[float], values: Sequence[float], others: Sequence[Interval]) -> None:
    """Draws means over seeds, and the range of nine in ten triples of seeds."""
    beside = [place + 0.03 for place in places]
    low, high = ([getattr(value, end) for value in others] for end in ("low", "high"))
    axes.vlines(beside, low, high, color="#777777", linewidth=1.6, zorder=3, label="any three")
    axes.plot(
        places, values, "D", markersize=3, color="white", markeredgecolor="#222222", zorder=4, label="mean over seeds"
    )


def _products(axes: Axes, highest: float) -> None:
    axes.axhline(1, color="#222222", linewidth=0.8)
    axes.set_ylabel(PRODUCT)
    axes.set_ylim(0, min(PRODUCT_TO, 1.12 * max(highest, 1.2)))


def _all(evidence: Evidence, cases: Sequence[Case]) -> tuple[list[Interval], list[float], list[Interval]]:
    return (
        [_number(evidence, case) for case in cases],
        [measures.product(evidence, case).mean for case in cases],
        [medians.of_any_three(evidence, case) for case in cases],
    )


def _number(evidence: Evidence, case: Case) -> Interval:
    """The paper's number: the median over repetitions."""
    return medians.typical(medians.repeated(evidence, case))


def _highest(*found: Sequence[Interval]) -> float:
    return max(value.high if np.isfinite(value.high) else value.mean for values in found for value in values)


def at_sites(evidence: Evidence) -> Figure:
    """Draws Fig. 5."""
    found, means, others = _all(evidence, [measures.site(name) for name in SITES])
    with styled():
        drawn = figure(height=3.2)
        axes = drawn.subplots()
        places = list(range(len(SITES)))
        bars(axes, places, found, "netlull", 0, 0.6)
        draw_means(axes, places, means, others)
        crosses(axes, [places[list(SITES).index(name)] for name in PRINTED_SITES], list(PRINTED_SITES.values()))
        mean = float(np.mean([value.mean for value in found]))
        axes.axhline(mean, color=COLOURS[0], linestyle=":", linewidth=1, label=f"netlull, mean {mean:.2f}")
        axes.axhline(PRINTED_MEAN_SITES, color="#000000", linestyle="--", linewidth=0.9, label="paper, mean 0.81")
        axes.set_xticks(places, list(SITES))
        _products(axes, _highest(found))
        legend_above(drawn, [axes])
    return drawn


def emulated(evidence: Evidence) -> Figure:
    """Draws Fig. 6."""
    with styled():
        drawn = figure(height=3.4)
        axes = drawn.subplots()
        width, highest = 0.16, 0.0
        for place, loss in enumerate(LOSSES):
            found, means, others = _all(evidence, [measures.emulated(rtt, loss) for rtt in ROUND_TRIPS])
            at = [group + (place - 2) * width for group in range(len(ROUND_TRIPS))]
            bars(axes, at, found, f"{loss:g} %", place, width * 0.92)
            draw_means(axes, at, means, others)
            highest = max(highest, _highest(found))
        for value, what in ((PRINTED_MEAN_EMULATED, "mean"), (PRINTED_BEST_EMULATED, "lowest")):
            style = "--" if what == "mean" else ":"
            axes.axhline(value, color="#000000", linestyle=style, linewidth=0.9, label=f"paper, {what} {value:g}")
        _over_round_trips(axes, highest)
        losses = {f"{loss:g} %" for loss in LOSSES}
        _two_legends(drawn, axes, losses, "Loss", "Statistics and printed values", columns=(3, 2))
    return drawn


def _over_round_trips(axes: Axes, highest: float) -> None:
    axes.set_xticks(range(len(ROUND_TRIPS)), [str(rtt) for rtt in ROUND_TRIPS])
    axes.set_xlabel(ROUND_TRIP)
    _products(axes, highest)


def _two_legends(
    drawn: Figure, axes: Axes, first: Collection[str], title: str, other_title: str, columns: tuple[int, int]
) -> None:
    """Draws the labels in `first` as the left legend and all others as the right one."""
    entries = {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    left = {label: handle for label, handle in entries.items() if label in first}
    right = {label: handle for label, handle in entries.items() if label not in first}
    drawn.legend(list(left.values()), list(left), loc="outside upper left", title=title, ncols=columns[0])
    drawn.legend(list(right.values()), list(right), loc="outside upper right", title=other_title, ncols=columns[1])


def against_psm(evidence: Evidence) -> Figure:
    """Draws Fig. 7."""
    with styled():
        clocks = [name for name in CLOCKS if name in evidence.grid.experiments]
        drawn = figure(height=3.6)
        panels = drawn.subplots(1, len(clocks), sharey=True, squeeze=False)[0]
        width, highest = 0.14, 0.0
        for axes, clock in zip(panels, clocks, strict=True):
            for place, way in enumerate(WAYS):
                found = [_number(evidence, measures.way(rtt, way, clock)) for rtt in ROUND_TRIPS]
                at = [group + (place - 2.5) * width for group in range(len(ROUND_TRIPS))]
                bars(axes, at, found, NAMES[way], place, width * 0.92, None if way in PAPERS_OWN else "////")
                highest = max(highest, _highest(found))
            axes.set_title(CLOCKS[clock], loc="left")
        for axes in panels:
            _over_round_trips(axes, highest)
            axes.label_outer()
        own = {NAMES[way] for way in PAPERS_OWN}
        _two_legends(drawn, panels[0], own, "In the paper", "Beyond the paper", columns=(3, 3))
    return drawn


def breakdown(evidence: Evidence) -> Figure:
    """Draws the parts of a download's energy as stacked bars: sites above, emulated paths below."""
    with styled():
        drawn = figure(height=5.2)
        above, below = drawn.subplots(2, 1)
        for place, name in enumerate(SITES):
            case = measures.site(name)
            _stack(evidence, above, place - 0.19, case.baseline, 0.34)
            _stack(evidence, above, place + 0.19, case.cell, 0.34)
        above.set_xticks(range(len(SITES)), list(SITES))
        above.set_title("(a) Sites: baseline TCP and the technique", loc="left")
        for group, rtt in enumerate(ROUND_TRIPS):
            for place, loss in enumerate(LOSSES):
                at, case = group + (place - 2) * 0.17, measures.emulated(rtt, loss)
                _stack(evidence, below, at, case.cell, 0.15)
                level = evidence.grid.interval(case.baseline, "energy_j").mean
                below.hlines(level, at - 0.085, at + 0.085, color="#000000", linewidth=1.2, label="baseline TCP")
        below.set_xticks(range(len(ROUND_TRIPS)), [str(rtt) for rtt in ROUND_TRIPS])
        below.set_xlabel(ROUND_TRIP)
        below.set_title("(b) Emulated paths: the technique", loc="left")
        for axes in (above, below):
            axes.set_ylabel("Energy (J)")
        legend_above(drawn, [above, below], columns=5)
    return drawn


def _stack(evidence: Evidence, axes: Axes, place: float, cell: Cell, width: float) -> None:
    """Draws the parts of a download's energy as one bar."""
    foot = 0.0
    for colour, (part, joules) in zip(PART_COLOURS, measures.breakdown(evidence, cell).items(), strict=True):
        axes.bar(place, joules, width, bottom=foot, color=colour, label=part)
        foot += joules


def times(evidence: Evidence) -> Figure:
    """Draws slowdown and energy over loss."""
    panels = []
    for letter, name, ratio in (("a", "Transfer time", measures.slowdown), ("b", "Energy", measures.energy)):
        curves = [
            Curve(
                f"{rtt} ms",
                LOSSES,
                [_positive(ratio(evidence, measures.emulated(rtt, loss))) for loss in LOSSES],
                colour,
            )
            for colour, rtt in enumerate(ROUND_TRIPS)
        ]
        panels.append(Panel(f"({letter})", "Loss (%)", f"{name}, {ONE}", curves, log_x=False, y_from=0))
    return panel_grid(panels)


def _positive(value: Interval) -> Interval:
    """An interval of a ratio with its lower bound at zero or above: Student's t with few seeds can go below zero."""
    return type(value)(value.mean, max(value.low, 0.0), value.high, value.n)


def faster_air(evidence: Evidence) -> Figure:
    """Draws the products of sites at two rates of the air."""
    with styled():
        drawn = figure(height=3.2)
        axes = drawn.subplots()
        highest = 0.0
        for place, air in enumerate((AIR, FAST_AIR)):
            found = [_number(evidence, measures.site(name, air)) for name in SITES]
            at = [group + (place - 0.5) * 0.36 for group in range(len(SITES))]
            bars(axes, at, found, f"netlull, {air} Mb/s", place, 0.33)
            highest = max(highest, _highest(found))
            crosses(axes, [at[list(SITES).index("stanford")]], [PRINTED_STANFORD[air]])
        axes.set_xticks(range(len(SITES)), list(SITES))
        _products(axes, highest)
        legend_above(drawn, [axes])
    return drawn


def windows(evidence: Evidence) -> Figure:
    """Draws products and times for several windows."""
    panels = []
    for letter, name, ratio in (("a", PRODUCT, measures.product), ("b", f"Transfer time, {ONE}", measures.slowdown)):
        curves = [
            Curve(
                f"{kib} KiB", ROUND_TRIPS, [ratio(evidence, measures.window(rtt, kib)) for rtt in ROUND_TRIPS], colour
            )
            for colour, kib in enumerate(WINDOWS)
        ]
        panels.append(Panel(f"({letter})", ROUND_TRIP, name, curves, log_x=False, y_from=0))
    return panel_grid(panels)


def noise(evidence: Evidence) -> Figure:
    """Draws products and missed packets for several means and shapes of the noise."""
    products, missed = [], []
    for colour, shape in enumerate(SHAPES):
        cases = [measures.noisy(mean, shape) for mean in NOISES]
        name = f"shape {shape:g}"
        products.append(Curve(name, NOISES, [measures.product(evidence, case) for case in cases], colour))
        counts = [evidence.grid.interval(case.cell, "missed") for case in cases]
        missed.append(Curve(name, NOISES, counts, colour))
    return panel_grid(
        [
            Panel("(a)", "Mean of the noise (ms)", PRODUCT, products, log_x=False, y_from=0),
            Panel("(b)", "Mean of the noise (ms)", "Packets missed in a download", missed, log_x=False, y_from=0),
        ]
    )


SECTIONS = {"figures": "Figures and tables", "energy": "Use of time and energy", "why": "What decides"}
"""The report's sections, in order."""


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers of every bar."""
    ratios = [
        "energy x delay (95 %)",
        "any three (5th to 95th percentile)",
        "mean over seeds",
        "energy",
        "missed packets",
        "bursts",
    ]
    header = ["case", "baseline (s)", "shaper (s)", *ratios]
    sites = [_row(evidence, name, measures.site(name)) for name in SITES]
    yield Tabled("figures", "Fig. 5 in numbers", header, sites)
    paths = [
        _row(evidence, f"{rtt} ms, {loss:g} %", measures.emulated(rtt, loss)) for rtt in ROUND_TRIPS for loss in LOSSES
    ]
    yield Tabled("figures", "Fig. 6 in numbers", header, paths)
    ways = [
        _row(evidence, f"{rtt} ms, {way}", measures.way(rtt, way))
        for rtt in ROUND_TRIPS
        for way in WAYS
        if way != measures.BASELINE
    ]
    named = ["case", "baseline (s)", "this (s)", *ratios]
    yield Tabled("figures", "Fig. 7 in numbers", named, ways)
    cases = [(name, measures.site(name)) for name in SITES]
    cases += [(f"{rtt} ms, {loss:g} %", measures.emulated(rtt, loss)) for rtt in ROUND_TRIPS for loss in LOSSES]
    yield Tabled(
        "energy",
        "Energy of a download in J: baseline TCP, the technique, and the parts of the technique's energy",
        ["case", "baseline", "technique", *measures.PARTS],
        [_energy_row(evidence, name, case) for name, case in cases],
    )


def _energy_row(evidence: Evidence, name: str, case: Case) -> list[str]:
    totals = [evidence.grid.interval(cell, "energy_j").mean for cell in (case.baseline, case.cell)]
    return [name, *(f"{joules:.2f}" for joules in [*totals, *measures.breakdown(evidence, case.cell).values()])]


def _row(evidence: Evidence, name: str, case: Case) -> list[str]:
    grid = evidence.grid
    return [
        name,
        medians.told(medians.typical(medians.reported(evidence, case.baseline, "seconds"))),
        medians.told(medians.typical(medians.reported(evidence, case.cell, "seconds"))),
        medians.told(_number(evidence, case)),
        medians.told(medians.of_any_three(evidence, case)),
        number(measures.product(evidence, case), digits=2),
        medians.told(medians.typical(medians.repeated(evidence, case, "energy_j"))),
        number(grid.interval(case.cell, "missed")),
        number(grid.interval(case.cell, "bursts")),
    ]
