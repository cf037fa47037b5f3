"""Figs. 8 and 9 and claims C9, C26 and C27: 100 downloads, some of them energy-saving, share a bottleneck."""

from __future__ import annotations

from collections import Counter
from statistics import fmean, median
from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Part, Tabled, Tolerance, decided, every, number
from netlull.plot import Curve, Panel, panel_grid
from netlull.stats import mean_interval

from .measures import below
from .studies import BANDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from matplotlib.figure import Figure

    from netlull.papers import Recorded
    from netlull.stats import Interval

    Measured = Callable[[Cell, Cell, int], Interval]
    """A function of a point, its counterpart without energy-saving flows, and the number of energy-saving flows."""

FLOWS, GROUPS = 100, 20
BUFFERS = (0.5, 1.0, 2.0)
"""The buffers in bandwidth-delay products."""
SAVERS = (0, 10, 25, 50, 75, 90, 100)
DRY, WET = "without UDP", "transient UDP"
"""The values of the axis `udp`."""
CASES = {
    DRY: ("crowd", DRY),
    WET: ("crowd", WET),
    "none gives up": ("stubborn", DRY),
    "none gives up, UDP": ("stubborn", WET),
    "none gives up, limited": ("limited", DRY),
    "none gives up, limited, UDP": ("limited", WET),
}
"""The experiment of each case, and its value on the axis `udp`."""
READINGS = {"as printed": (DRY, WET)} | {
    name: (name, f"{name}, UDP") for name in ("none gives up", "none gives up, limited")
}
"""The cases of each reading, without and with UDP.

As printed, a shaper gives up after three bad bursts. Limited: cwnd grows only when it limits the sender.
"""
SHOWN = (DRY, WET, "none gives up", "none gives up, limited")
"""The cases in figures; tables have all cases."""
WINDOW_PACKETS = 45
COLOURS = {0.5: 0, 1.0: 1, 2.0: 2}
ENERGY_SAVING = "Energy-saving flows of 100"
MEASURED_S = 15.0


def cell(case: str, savers: int, buffer: float) -> Cell:
    """The point of the sweep with these values."""
    experiment, udp = CASES[case]
    return Cell.of(experiment, savers=savers, buffer=buffer, udp=udp)


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
    """Judges C9 with the paper's shaper: energy-saving flows harm no other flow. Other readings do not count."""
    return [
        *crowd_parts(evidence, tolerance, "as printed"),
        *(_summed_up(evidence, tolerance, reading) for reading in list(READINGS)[1:] if _has(evidence, reading)),
    ]


def _summed_up(evidence: Evidence, tolerance: Tolerance, reading: str) -> Part:
    """All parts of C9 under another reading, as one part that does not count."""
    parts = crowd_parts(evidence, tolerance, reading)
    held = sum(part.holds is True for part in parts)
    open_ones = sum(part.holds is None for part in parts)
    undecided = f", {open_ones} undecided" if open_ones else ""
    said = f"{reading[0].upper()}{reading[1:]}: {held} of {len(parts)} parts hold{undecided}."
    return Part(part_id(reading), every([part.holds for part in parts]), said, counted=False)


def part_id(reading: str) -> str:
    """The name of a reading in the ids of parts: `stubborn` or `limited`."""
    return CASES[READINGS[reading][0]][0]


def crowd_parts(evidence: Evidence, tolerance: Mapping[str, float], reading: str) -> list[Part]:
    """The parts of C9 under a reading.

    Losses rise if an interval lies above 1. They do not if none does and no mean exceeds the slack. Throughput
    increases if the interval with most energy-saving flows lies above 1 and no mean is below the slack.
    """
    parts: list[Part] = []
    dry, wet = READINGS[reading]
    some = [savers for savers in _savers(evidence) if savers]
    lost = {
        (buffer, savers): losses(evidence, cell(dry, savers, buffer), cell(dry, 0, buffer))
        for buffer in _buffers(evidence)
        for savers in some
    }
    slack = tolerance["slack"]
    for buffer in _buffers(evidence):
        values = [lost[buffer, savers] for savers in some]
        risen = any(value.low > 1 for value in values)
        kept = max(value.mean for value in values) <= 1 + slack
        holds = False if risen else True if kept else None
        parts.append(Part(f"losses-{buffer:g}", holds, f"Losses at {buffer:g} BDP {_arrows(values)}."))
    fewer = sum(value.high < 1 for value in lost.values())
    more = sum(value.low > 1 for value in lost.values())
    enough = tolerance["most"] * len(lost)
    most = True if fewer > enough else None if len(lost) - more > enough else False
    parts.append(Part("fewer", most, f"Fewer in {fewer} of {len(lost)} cells, more in {more}, by intervals."))
    for case, name in ((dry, "gain"), (wet, "udp")):
        if not _ran(evidence, case):
            continue
        for buffer in _buffers(evidence):
            values = gains(evidence, case, buffer)
            kept = min(value.mean for value in values) >= 1 - slack
            holds = every([decided(values[-1], at_least=1), kept or None])
            parts.append(
                Part(f"{name}-{buffer:g}", holds, f"Standard flows, {case}, {buffer:g} BDP: {_arrows(values)}.")
            )
    return parts


def less_than_one(value: Interval, tolerance: Tolerance) -> tuple[bool | None, str]:
    """True if a ratio is below 1, False if it is above or so near that there is no effect; with the ratio in words."""
    holds, around = below(value, 1), tolerance["no_effect"]
    none = holds is None and decided(value, at_least=1 - around, at_most=1 + around)
    return (False if none else holds), number(value, digits=2) + (", no effect" if none else "")


def queue_claim(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C26: the bottleneck's queue is shorter with energy-saving flows."""
    parts = []
    for reading in _readings(evidence):
        counted = reading == "as printed"
        for buffer in _buffers(evidence):
            where, none = (_point(reading, savers, buffer) for savers in (90, 0))
            value = evidence.grid.ratio(where, none, "queue_packets")
            name = f"queue-{buffer:g}" if counted else f"{part_id(reading)}-{buffer:g}"
            holds, told = less_than_one(value, tolerance)
            said = f"{reading.capitalize()}, {buffer:g} BDP: {told}."
            parts.append(Part(name, holds, said, counted=counted))
    return parts


def aggression_claim(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C27: bursts are limited, and energy-saving flows get less than standard flows."""
    parts = []
    for reading in _readings(evidence):
        counted = reading == "as printed"
        for buffer in _buffers(evidence):
            where, none = (_point(reading, savers, buffer) for savers in (FLOWS // 2, 0))
            value = gain(evidence, where, none, saving(FLOWS // 2))
            name = f"share-{buffer:g}" if counted else f"{part_id(reading)}-{buffer:g}"
            holds, told = less_than_one(value, tolerance)
            said = f"{reading.capitalize()}, {buffer:g} BDP: goodput {told}."
            parts.append(Part(name, holds, said, counted=counted))
    for buffer in _buffers(evidence):
        run = evidence.series.get(f"100 of 100, {buffer:g} BDP")
        if run is not None:
            packets = fmean(run.series("burst")["packets"].to_pylist())
            holds = packets <= tolerance["packets"]
            said = f"A burst at {buffer:g} BDP: {packets:.1f} of {WINDOW_PACKETS} packets."
            parts.append(Part(f"burst-{buffer:g}", holds, said))
    return parts


def _point(reading: str, savers: int, buffer: float) -> Cell:
    """The point of C26 and C27 without UDP. As printed it has seeds of its own."""
    if reading == "as printed":
        return Cell.of("effect", few=savers, buffer=buffer)
    return cell(READINGS[reading][0], savers, buffer)


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


def _cases(evidence: Evidence, among: Iterable[str] = CASES) -> list[str]:
    return [case for case in among if _ran(evidence, case)]


def _ran(evidence: Evidence, case: str) -> bool:
    experiment, udp = CASES[case]
    return experiment in evidence.grid.experiments and udp in evidence.grid.labels(experiment, "udp")


def _has(evidence: Evidence, reading: str) -> bool:
    return _ran(evidence, READINGS[reading][0])


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
                for letter, case in zip("abcd", _cases(evidence, SHOWN), strict=False)
            ],
            columns=2,
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
                for letter, case in zip("abcd", _cases(evidence, SHOWN), strict=False)
            ],
            columns=2,
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
    letters = iter("abcdefgh")
    for case in _cases(evidence, SHOWN):
        curves = []
        for buffer in _buffers(evidence):
            some = [savers for savers in _savers(evidence) if savers]
            none = cell(case, 0, buffer)
            found = [gain(evidence, cell(case, savers, buffer), none, saving(savers)) for savers in some]
            curves.append(Curve(f"{buffer:g} BDP", some, found, COLOURS[buffer]))
        panels.append(Panel(f"({next(letters)}) {case}", ENERGY_SAVING, "Goodput, none = 1", curves, log_x=False))
    for case in _cases(evidence, SHOWN):
        curves = []
        for buffer in _buffers(evidence):
            some = [savers for savers in _savers(evidence) if savers]
            found = [asleep(evidence, cell(case, savers, buffer), savers) for savers in some]
            curves.append(Curve(f"{buffer:g} BDP", some, found, COLOURS[buffer]))
        panels.append(Panel(f"({next(letters)}) {case}", ENERGY_SAVING, "Asleep (%)", curves, log_x=False, y_from=0))
    return panel_grid(panels, columns=4)


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
    yield Tabled(
        "figures",
        "C9 by reading: the marks of its parts. As printed: shapers give up after three bad bursts. Limited: cwnd "
        "grows only when it limits the sender, once for each burst",
        ["part", *_readings(evidence)],
        _marks(evidence),
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
            "The end of shaping (seed 101): states after 20 s, and the time of giving up",
            ["run", "states", "gave up after (s), median"],
            [_ends(name, run) for name, run in evidence.series.items()],
        )


def _readings(evidence: Evidence) -> list[str]:
    return [reading for reading in READINGS if _has(evidence, reading)]


def _marks(evidence: Evidence) -> list[list[str]]:
    """The marks of C9's parts, a row for each part and a column for each reading."""
    tolerance = next(claim for claim in evidence.paper.claims if claim.id == "C9").tolerance
    columns = [crowd_parts(evidence, tolerance, reading) for reading in _readings(evidence)]
    return [[parts[0].id, *(part.mark for part in parts)] for parts in zip(*columns, strict=True)]


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
