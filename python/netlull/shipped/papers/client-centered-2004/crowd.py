"""Figs. 8 and 9 and claim C9: 100 downloads, some of them energy-saving, share a bottleneck."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Part, Tabled, Tolerance, number
from netlull.plot import Curve, Panel, panel_grid
from netlull.stats import mean_interval

from .studies import BANDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.figure import Figure

    from netlull.papers import Recorded
    from netlull.stats import Interval

    Measured = Callable[[Cell, Cell, int], Interval]
    """A function of a point, its counterpart without energy-saving flows, and the number of energy-saving flows."""

FLOWS, GROUPS = 100, 20
BUFFERS = (0.5, 1.0, 2.0)
"""The buffers in bandwidth-delay products."""
SAVERS = (0, 10, 25, 50, 75, 90, 100)
CASES = {
    "without UDP": ("crowd", {"udp": "without UDP"}),
    "transient UDP": ("crowd", {"udp": "transient UDP"}),
    "no shaper gives up": ("stubborn", {}),
}
"""The experiment of each case, and its values on the remaining axes."""
COLOURS = {0.5: 0, 1.0: 1, 2.0: 2}
ENERGY_SAVING = "Energy-saving flows of 100"
MEASURED_S = 15.0


def cell(case: str, savers: int, buffer: float) -> Cell:
    """The point of the sweep with these values."""
    experiment, rest = CASES[case]
    return Cell.of(experiment, savers=savers, buffer=buffer, **rest)


def other(savers: int, reading: str, gives_up: str) -> Cell:
    """The point of the sweep under another reading."""
    return Cell.of("others", few=savers, reading=reading, gives_up=gives_up)


def summed(evidence: Evidence, where: Cell, metric: str, groups: range) -> dict[int, float]:
    """The sum of a metric over groups of clients, by seed."""
    columns = [evidence.grid.samples(where, f"{metric}_{group + 1:02}") for group in groups]
    return {seed: sum(column[seed] for column in columns) for seed in columns[0]} if columns else {}


def saving(savers: int) -> range:
    """The groups of energy-saving clients."""
    return range(savers * GROUPS // FLOWS)


def standard(savers: int) -> range:
    """The groups of standard clients."""
    return range(savers * GROUPS // FLOWS, GROUPS)


def gain(evidence: Evidence, where: Cell, none: Cell, groups: range) -> Interval:
    """The goodput of these groups divided by their goodput without energy-saving flows, by seed.

    Round trips differ, so a group is faster or slower than the mean in both cases.
    """
    ours, theirs = (summed(evidence, at, "goodput", groups) for at in (where, none))
    return mean_interval([ours[seed] / theirs[seed] for seed in ours if theirs.get(seed)])


def as_printed(evidence: Evidence, where: Cell, none: Cell, groups: range) -> Interval:
    """The paper's ratio: mean goodput of these groups' flows over that of all 100 flows without energy saving."""
    ours, theirs = summed(evidence, where, "goodput", groups), summed(evidence, none, "goodput", range(GROUPS))
    share = len(groups) / GROUPS
    return mean_interval([ours[seed] / theirs[seed] / share for seed in ours if theirs.get(seed)])


def losses(evidence: Evidence, where: Cell, none: Cell) -> Interval:
    """The packets lost at the bottleneck divided by those without energy-saving flows."""
    return evidence.grid.ratio(where, none, "lost")


def crowd_claim(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C9 with the paper's shaper: energy-saving flows harm no other flow.

    A part holds if it meets the rule of claims.toml and the intervals agree.
    """
    parts = []
    dry = [(buffer, savers) for buffer in _buffers(evidence) for savers in _savers(evidence) if savers]
    lost = {at: losses(evidence, cell("without UDP", at[1], at[0]), cell("without UDP", 0, at[0])) for at in dry}
    slack = tolerance["slack"]
    for buffer in _buffers(evidence):
        values = [lost[buffer, savers] for savers in _savers(evidence) if savers]
        holds = max(value.mean for value in values) <= 1 + slack and not any(value.low > 1 for value in values)
        parts.append(Part(f"losses-{buffer:g}", holds, f"Losses at {buffer:g} BDP {_arrows(values)}."))
    fewer = sum(value.high < 1 for value in lost.values())
    parts.append(
        Part(
            "fewer",
            fewer > tolerance["most"] * len(lost),
            f"Fewer, their intervals below 1, in {fewer} of {len(lost)} cells.",
        )
    )
    names = {"without UDP": "gain", "transient UDP": "udp"}
    for case, name in ((case, names[case]) for case in _cases(evidence) if case in names):
        for buffer in _buffers(evidence):
            values = gains(evidence, case, buffer)
            holds = values[-1].low > 1 and min(value.mean for value in values) >= 1 - slack
            said = f"Standard flows, {case}, {buffer:g} BDP: {_arrows(values)}."
            parts.append(Part(f"{name}-{buffer:g}", holds, said))
    return parts


def _arrows(values: Sequence[Interval]) -> str:
    return " → ".join(number(value, digits=2) for value in values)


def gains(evidence: Evidence, case: str, buffer: float) -> list[Interval]:
    """The gain of the standard flows, from the fewest energy-saving flows to 90."""
    none = cell(case, 0, buffer)
    some = [savers for savers in _savers(evidence) if 0 < savers < FLOWS]
    return [gain(evidence, cell(case, savers, buffer), none, standard(savers)) for savers in some]


def _buffers(evidence: Evidence) -> list[float]:
    return [buffer for buffer in BUFFERS if buffer in evidence.grid.values("crowd", "buffer")]


def _savers(evidence: Evidence) -> list[int]:
    return [savers for savers in SAVERS if savers in evidence.grid.values("crowd", "savers")]


def _cases(evidence: Evidence) -> list[str]:
    return [case for case, (experiment, rest) in CASES.items() if _ran(evidence, experiment, rest.get("udp"))]


def _ran(evidence: Evidence, experiment: str, udp: str | None) -> bool:
    grid = evidence.grid
    return experiment in grid.experiments and (udp is None or udp in grid.labels(experiment, "udp"))


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields Figs. 8 and 9, and the benefit for the energy-saving flows."""
    yield Drawn(
        "fig8",
        "Fig. 8. Packets lost at the bottleneck",
        "Over those when all 100 flows are standard TCP, with buffers of 0.5, 1 and 2 bandwidth-delay products. (a) "
        "and (b) the paper's shaper; most give up within seconds. (c) Shapers that never give up. "
        f"{BANDS}",
        panel_grid(
            [
                _panel(
                    evidence,
                    f"({letter}) {case}",
                    case,
                    "Packets lost, none = 1",
                    lambda where, none, _: losses(evidence, where, none),
                )
                for letter, case in zip("abc", _cases(evidence), strict=False)
            ],
            columns=3,
        ),
    )
    yield Drawn(
        "fig9",
        "Fig. 9. Goodput of the standard flows",
        "Their mean goodput over that of the same flows when none of the 100 saves energy. As in Fig. 8.",
        panel_grid(
            [
                _panel(
                    evidence,
                    f"({letter}) {case}",
                    case,
                    "Goodput, standard, none = 1",
                    lambda where, none, savers: gain(evidence, where, none, standard(savers)),
                    most=90,
                )
                for letter, case in zip("abc", _cases(evidence), strict=False)
            ],
            columns=3,
        ),
    )
    yield Drawn(
        "savers",
        "Effect on the energy-saving flows",
        "Goodput of the energy-saving flows over that of the same flows when none saves energy (above), and the "
        f"part of the measured 15 s in which their radios sleep (below). {BANDS}",
        _of_savers(evidence),
    )


def _panel(evidence: Evidence, title: str, case: str, y_label: str, value: Measured, most: int = FLOWS) -> Panel:
    curves = []
    for buffer in _buffers(evidence):
        some = [savers for savers in _savers(evidence) if savers <= most]
        none = cell(case, 0, buffer)
        found = [value(cell(case, savers, buffer), none, savers) for savers in some]
        curves.append(Curve(f"{buffer:g} BDP", some, found, COLOURS[buffer]))
    return Panel(title, ENERGY_SAVING, y_label, curves, log_x=False)


def _of_savers(evidence: Evidence) -> Figure:
    panels = []
    letters = iter("abcdef")
    for case in _cases(evidence):
        curves = []
        for buffer in _buffers(evidence):
            some = [savers for savers in _savers(evidence) if savers]
            none = cell(case, 0, buffer)
            found = [gain(evidence, cell(case, savers, buffer), none, saving(savers)) for savers in some]
            curves.append(Curve(f"{buffer:g} BDP", some, found, COLOURS[buffer]))
        panels.append(Panel(f"({next(letters)}) {case}", ENERGY_SAVING, "Goodput, none = 1", curves, log_x=False))
    for case in _cases(evidence):
        curves = []
        for buffer in _buffers(evidence):
            some = [savers for savers in _savers(evidence) if savers]
            found = [asleep(evidence, cell(case, savers, buffer), savers) for savers in some]
            curves.append(Curve(f"{buffer:g} BDP", some, found, COLOURS[buffer]))
        panels.append(Panel(f"({next(letters)}) {case}", ENERGY_SAVING, "Asleep (%)", curves, log_x=False, y_from=0))
    return panel_grid(panels, columns=3)


def asleep(evidence: Evidence, where: Cell, savers: int) -> Interval:
    """The share of the measured time in which energy-saving radios sleep, in percent."""
    found = summed(evidence, where, "asleep", saving(savers))
    return mean_interval([100 * value / savers / MEASURED_S for value in found.values()])


def energy(evidence: Evidence, where: Cell, none: Cell, savers: int) -> Interval:
    """The energy per byte of the energy-saving clients divided by that of the same clients without energy saving."""
    groups = saving(savers)
    ours, theirs = (
        {
            seed: joules / goodput[seed]
            for seed, joules in summed(evidence, at, "energy", groups).items()
            for goodput in [summed(evidence, at, "goodput", groups)]
        }
        for at in (where, none)
    )
    return mean_interval([ours[seed] / theirs[seed] for seed in ours if seed in theirs])


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers of Figs. 8 and 9, of other readings, and of the shapers' ends."""
    header = [
        "case",
        "energy-saving",
        "lost, none = 1",
        "lost (%)",
        "standard",
        "standard, as printed",
        "energy-saving",
        "its energy per byte",
        "asleep (%)",
        "Jain, all",
        "queue (packets)",
    ]
    rows = [
        _row(evidence, f"{case}, {buffer:g} BDP", cell(case, savers, buffer), cell(case, 0, buffer), savers)
        for case in _cases(evidence)
        for buffer in _buffers(evidence)
        for savers in _savers(evidence)
    ]
    yield Tabled(
        "figures",
        "Figs. 8 and 9 in numbers. Goodputs: same flows, none energy-saving = 1; as printed: the mean of all 100 = 1",
        header,
        rows,
    )
    if "others" in evidence.grid.experiments:
        rows = [
            _row(
                evidence,
                f"{reading}, {gives_up}",
                other(savers, reading, gives_up),
                other(0, reading, gives_up),
                savers,
            )
            for gives_up in ("gives up", "never")
            for reading in evidence.grid.labels("others", "reading")
            for savers in (50, 90)
        ]
        yield Tabled("figures", "Under other readings, 1 BDP, without UDP", header, rows)
    if evidence.series:
        yield Tabled(
            "figures",
            "The end of shaping (seed 1): states after 20 s, and the time of giving up",
            ["run", "states", "gave up after (s), median"],
            [_ends(name, run) for name, run in evidence.series.items()],
        )


def _row(evidence: Evidence, name: str, where: Cell, none: Cell, savers: int) -> list[str]:
    grid = evidence.grid
    lost = grid.ratio(where, where, "lost", 100, to="offered")
    some = savers > 0
    return [
        name,
        str(savers),
        number(losses(evidence, where, none), digits=2),
        number(lost, digits=2),
        number(gain(evidence, where, none, standard(savers)), digits=2) if savers < FLOWS else "",
        number(as_printed(evidence, where, none, standard(savers)), digits=2) if savers < FLOWS else "",
        number(gain(evidence, where, none, saving(savers)), digits=2) if some else "",
        number(energy(evidence, where, none, savers), digits=2) if some else "",
        number(asleep(evidence, where, savers)) if some else "",
        number(grid.interval(where, "jain"), digits=3),
        number(grid.interval(where, "queue_packets"), digits=0),
    ]


def _ends(name: str, run: Recorded) -> list[str]:
    shapers = [station for station in run.summary["stations"] if station["state"]]
    states = Counter(" ".join(filter(None, (station["state"], station["fallback"]))) for station in shapers)
    gone = {station["name"] for station in shapers if station["state"] == "standard"}
    table = run.series("burst")
    ends = zip(table["station"].to_pylist(), table["ended_s"].to_pylist(), strict=True)
    last = {station: ended for station, ended in ends if station in gone}
    starts = {flow["to"]: flow["start_s"] for flow in run.summary["flows"] if "start_s" in flow}
    after = [ended - starts.get(station, 0.0) for station, ended in last.items()]
    shown = ", ".join(f"{count} {state}" for state, count in states.most_common())
    return [name, shown, f"{median(after):.1f}" if after else "none"]
