"""Judges of the claims in claims.toml. The number of a case is the paper's: the median of three runs, over repetitions.

Each claim has parts. A part holds, fails or is undecided, and reports its measurement with the mean over seeds.
"""

from __future__ import annotations

import itertools
import math
from operator import sub
from typing import TYPE_CHECKING

from netlull.papers import Evidence, Headline, Part, Tolerance, decided, every, number
from netlull.stats import mean_interval

from . import crowd, measures
from .measures import BSD, FAST_AIR, IDEAL_PSM, LOSSES, REAL_PSM, REGULAR, ROUND_TRIPS, SHAPER, SITES, above, below
from .medians import averaged, repeated, reported, told, typical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netlull.papers import Cell, Recorded
    from netlull.stats import Interval

    from .measures import Case

BAD_SITES = {"stanford", "uiuc"}
"""The sites with a product above 1 in the paper."""
MOST_LOSS = max(LOSSES)
BEACON_MS = 100


def _near(value: Interval, printed: float, share: float) -> bool | None:
    return decided(value, at_least=printed * (1 - share), at_most=printed * (1 + share))


def _within(value: Interval, printed: float, points: float) -> bool | None:
    return decided(value, at_least=printed - points, at_most=printed + points)


def _mean(value: Interval) -> str:
    return f"mean {number(value, digits=2)}"


def _less(one: Sequence[float], other: Sequence[float]) -> Interval:
    """The typical difference of two cases within a repetition."""
    return typical(list(map(sub, one, other)))


# ---- Figs. 5 and 6 ---------------------------------------------------------------------------------------------------


def sites(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C1: energy x delay is 19 % lower over seven sites."""
    found = {name: repeated(evidence, measures.site(name)) for name in SITES}
    average, lowest = (
        typical(averaged(list(found.values()))),
        typical([min(row) for row in zip(*found.values(), strict=True)]),
    )
    others = [min(row) for row in zip(*(found[name] for name in SITES if name != "jriver"), strict=True)]
    over_seeds = measures.over(evidence, [measures.site(name) for name in SITES])
    points = tolerance["points"]
    best = min(found, key=lambda name: typical(found[name]).mean)
    parts = [
        Part("mean", _within(average, tolerance["mean"], points), f"Mean {told(average)}; {_mean(over_seeds)}."),
        Part("best", _within(lowest, tolerance["best"], points), f"Best {told(lowest)}."),
        Part("jriver", below(_less(found["jriver"], others), 0), f"At {best}."),
    ]
    for name, values in found.items():
        value = typical(values)
        holds = above(value, 1) if name in BAD_SITES else below(value, 1)
        parts.append(
            Part(name, holds, f"{name} {told(value)}; {_mean(measures.product(evidence, measures.site(name)))}.")
        )
    return parts


def emulated(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C2: energy x delay is 54 % lower in emulation."""
    cases = [measures.emulated(rtt, loss) for rtt in ROUND_TRIPS for loss in LOSSES]
    bars = [repeated(evidence, case) for case in cases]
    average, lowest = typical(averaged(bars)), typical([min(row) for row in zip(*bars, strict=True)])
    points = tolerance["points"]
    over_seeds = measures.over(evidence, cases)
    least = min((measures.product(evidence, case) for case in cases), key=lambda value: value.mean)
    by_means = (
        _within(over_seeds, tolerance["mean"], points),
        _within(least, tolerance["best"], points),
    )
    return [
        Part("mean", _within(average, tolerance["mean"], points), f"Mean {told(average)}."),
        Part("best", _within(lowest, tolerance["best"], points), f"Best {told(lowest)}."),
        Part(
            "means",
            every(by_means),
            f"By means: {number(over_seeds, digits=2)}, {number(least, digits=2)}.",
            counted=False,
        ),
    ]


def _falls(rows: Sequence[Sequence[float]], slack: float) -> bool | None:
    """True if the last case is below the first and no case is above the one before by more than `slack`."""
    steps = [decided(_less(later, earlier), at_most=slack) for earlier, later in itertools.pairwise(rows)]
    return every([*steps, below(_less(rows[-1], rows[0]), 0)])


def _fall(name: str, label: str, rows: Sequence[Sequence[float]], slack: float) -> Part:
    shown = " → ".join(f"{typical(values).mean:.2f}" for values in rows)
    return Part(name, _falls(rows, slack), f"{label}: {shown}.")


def _by_means(evidence: Evidence, rows: Sequence[Sequence[Case]], slack: float) -> Part:
    """The same by means over seeds; the verdict ignores it."""
    numbers = [[measures.product(evidence, case).mean for case in row] for row in rows]
    numbers.append([measures.mean(column) for column in zip(*numbers, strict=True)])
    held = sum(
        row[-1] < row[0] and all(later <= earlier + slack for earlier, later in itertools.pairwise(row))
        for row in numbers
    )
    means = " → ".join(f"{value:.2f}" for value in numbers[-1])
    return Part("means", held == len(numbers), f"By means: {held} of {len(numbers)} fall; mean {means}.", counted=False)


def _rows_fall(evidence: Evidence, rows: Sequence[tuple[str, str, Sequence[Case]]], slack: float) -> list[Part]:
    """The parts for each row of Fig. 6 (id, label and cases), for their mean, and by means over seeds."""
    values = [[repeated(evidence, case) for case in cases] for _, _, cases in rows]
    parts = [_fall(part, label, row, slack) for (part, label, _), row in zip(rows, values, strict=True)]
    mean = [averaged(column) for column in zip(*values, strict=True)]
    return [*parts, _fall("mean", "Mean", mean, slack), _by_means(evidence, [cases for _, _, cases in rows], slack)]


def longer_round_trips(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C3: the technique improves with longer round trips."""
    rows = [(f"loss-{loss:g}", f"{loss:g} %", [measures.emulated(rtt, loss) for rtt in ROUND_TRIPS]) for loss in LOSSES]
    return _rows_fall(evidence, rows, tolerance["slack"])


def more_loss(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C4: the technique improves with more loss."""
    rows = [(f"rtt-{rtt}", f"{rtt} ms", [measures.emulated(rtt, loss) for loss in LOSSES]) for rtt in ROUND_TRIPS]
    return _rows_fall(evidence, rows, tolerance["slack"])


def overheads(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C19: energy and time improve with the round trip, because two shares of time shrink."""
    slack = tolerance["slack"]
    parts = []
    for part, metric in (("energy", "energy_j"), ("time", "seconds")):
        rows = [
            averaged([repeated(evidence, measures.emulated(rtt, loss), metric) for loss in LOSSES])
            for rtt in ROUND_TRIPS
        ]
        parts.append(_fall(part, part.capitalize(), rows, slack))
    closed, detection = [], []
    for case in (measures.emulated(rtt, 0) for rtt in ROUND_TRIPS):
        base = reported(evidence, case.baseline, "seconds")
        air, packets, count = (reported(evidence, case.cell, name) for name in ("receiving_s", "received", "bursts"))
        closed.append([a * (1 - n / p) / b for a, n, p, b in zip(air, count, packets, base, strict=True)])
        waits = reported(evidence, case.cell, "detection_s")
        detection.append([wait / seconds for wait, seconds in zip(waits, base, strict=True)])
    return [
        *parts,
        _fall("closed", "Share of closed acknowledgements", closed, 0),
        _fall("detection", "share of ends of bursts", detection, 0),
    ]


def smaller_windows(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C20: with more loss bursts are smaller."""
    parts = []
    for rtt in ROUND_TRIPS:
        sizes = [
            [
                size
                for run in recorded(evidence, f"emulated-{rtt}-{loss:g}")
                if not math.isnan(size := measures.packets_of_a_burst(run))
            ]
            for loss in (0, MOST_LOSS)
        ]
        if not all(sizes):
            parts.append(Part(f"rtt-{rtt}", None, f"{rtt} ms: every recorded download gave up."))
            continue
        none, most = map(mean_interval, sizes)
        holds = decided(most, at_most=tolerance["ratio"] * none.mean)
        parts.append(Part(f"rtt-{rtt}", holds, f"{rtt} ms: {none.mean:.1f} → {number(most)} packets."))
    return parts


def recorded(evidence: Evidence, name: str) -> list[Recorded]:
    """The recorded runs of a case, which are named `NAME-SEED`."""
    return [run for key, run in evidence.series.items() if key.rpartition("-")[0] == name]


def missed(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C6: the client misses hardly any packets."""
    at_sites = typical(averaged([reported(evidence, measures.site(name).cell, "missed") for name in SITES]))
    over_seeds = measures.mean([evidence.grid.interval(measures.site(name).cell, "missed").mean for name in SITES])
    cells = [measures.emulated(rtt, loss).cell for rtt in ROUND_TRIPS for loss in LOSSES]
    share = typical(
        averaged(
            [
                [
                    lost / got
                    for lost, got in zip(
                        reported(evidence, cell, "missed"), reported(evidence, cell, "received"), strict=True
                    )
                ]
                for cell in cells
            ]
        )
    )
    means = measures.mean([evidence.grid.ratio(cell, cell, "missed", to="received").mean for cell in cells])
    few = below(at_sites, tolerance["packets"])
    return [
        Part("sites", few, f"Fitted: sites {told(at_sites, 1)} packets; mean {over_seeds:.1f}.", counted=False),
        Part("emulated", decided(share, at_most=tolerance["share"]), f"Emulated {share.mean:.2%}; mean {means:.2%}."),
    ]


def saves_at_speed(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C18: energy falls, at reasonable speeds."""
    groups = {
        "sites": [measures.site(name) for name in SITES],
        "emulated": [measures.emulated(rtt, loss) for rtt in ROUND_TRIPS for loss in LOSSES],
    }
    parts = []
    for name, cases in groups.items():
        energy = typical(averaged([repeated(evidence, case, "energy_j") for case in cases]))
        parts.append(Part(f"energy-{name}", below(energy, 1), f"Energy, {name}: {told(energy)}."))
    for name, cases in groups.items():
        times = [repeated(evidence, case, "seconds") for case in cases]
        slowest = typical([max(row) for row in zip(*times, strict=True)])
        holds = decided(slowest, at_most=1 + tolerance["slower"])
        parts.append(Part(f"time-{name}", holds, f"Slowest, {name}: {told(slowest)} times the time."))
    return parts


# ---- Single sites ----------------------------------------------------------------------------------------------------


def stanford(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C5: the download from Stanford is 45 % slower, and improves on faster air."""
    case, fast = measures.site("stanford"), measures.site("stanford", FAST_AIR)
    share = tolerance["share"]
    base = typical(reported(evidence, case.baseline, "seconds"))
    took = typical(reported(evidence, case.cell, "seconds"))
    more = typical([ratio - 1 for ratio in repeated(evidence, case, "seconds")])
    closed, fast_closed = (
        mean_interval([measures.in_bursts(run) for run in recorded(evidence, name)])
        for name in ("stanford", "stanford-fast")
    )
    detection = typical(reported(evidence, case.cell, "detection_s"))
    product, fast_product = (typical(repeated(evidence, which)) for which in (case, fast))
    means, fast_means = (_mean(measures.product(evidence, which)) for which in (case, fast))
    return [
        Part("base", _near(base, tolerance["base_s"], share), f"{told(base)} s, then {told(took)} s,"),
        Part("slower", _within(more, tolerance["slower"], tolerance["points"]), f"{more.mean:.0%} slower."),
        Part(
            "closed",
            _near(closed, tolerance["closed_s"], share),
            f"Fitted: in bursts {number(closed, 's', 2)}.",
            counted=False,
        ),
        Part(
            "detection",
            _near(detection, tolerance["detection_s"], tolerance["detection_share"]),
            f"Ends of bursts {told(detection)} s.",
        ),
        Part("product", _near(product, tolerance["product"], share), f"Product {told(product)}; {means}."),
        Part(
            "fast-closed",
            below(fast_closed, tolerance["fast_closed_s"]),
            f"At 108 Mb/s: in bursts {number(fast_closed, 's', 2)},",
        ),
        Part(
            "fast-product",
            _near(fast_product, tolerance["fast_product"], share),
            f"product {told(fast_product)}; {fast_means}.",
        ),
    ]


def predicted_slowdown(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C23: time within bursts and waits for their ends predict stanford's slowdown."""
    case = measures.site("stanford")
    base = evidence.grid.samples(case.baseline, "seconds")
    predicted, gaps = [], []
    for key, run in evidence.series.items():
        name, _, seed = key.rpartition("-")
        if name != "stanford" or int(seed) not in base:
            continue
        station, ran = run.summary["stations"][0], base[int(seed)]
        lost = (measures.in_bursts(run) + station["detection_s"]) / ran
        predicted.append(lost)
        gaps.append(station["download"]["seconds"] / ran - 1 - lost)
    share, gap = mean_interval(predicted), mean_interval(gaps)
    return [
        Part(
            "predicted",
            _within(share, tolerance["predicted"], tolerance["points"]),
            f"Fitted: predicted {share.mean:.0%},",
            counted=False,
        ),
        Part("gap", _within(gap, 0, tolerance["gap"]), f"measured {100 * gap.mean:+.1f} points."),
    ]


def uiuc(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C10: the download from uiuc.edu reverts to standard TCP."""
    case, runs = measures.site("uiuc"), recorded(evidence, "uiuc")
    found = [measures.saturated(run) for run in runs]
    base, product = typical(reported(evidence, case.baseline, "seconds")), typical(repeated(evidence, case))
    enough = sum(found) >= tolerance["reverts"] * len(found)
    means = _mean(measures.product(evidence, case))
    return [
        Part("reverts", enough, f"Fitted: saturated in {sum(found)} of {len(found)} downloads.", counted=False),
        Part(
            "base",
            _near(base, tolerance["base_s"], tolerance["share"]),
            f"Fitted: baseline {told(base)} s.",
            counted=False,
        ),
        Part("product", above(product, 1), f"Product {told(product)}; {means}."),
    ]


def going_on(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges C15: a technique that goes on while the air is saturated costs time and energy."""
    parts = []
    for part, metric in (("time", "seconds"), ("energy", "energy_j")):
        value = typical(repeated(evidence, measures.going_on(), metric))
        parts.append(Part(part, above(value, 1), f"{part.capitalize()} {told(value)} times baseline's."))
    return parts


def lost_opens(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C16: at most one open acknowledgement is sent again at each site."""
    parts = []
    for name in SITES:
        value = typical(reported(evidence, measures.site(name).cell, "resent_opens"))
        parts.append(Part(name, decided(value, at_most=tolerance["resent"]), f"{name} {told(value, 1)}."))
    return parts


def small_windows(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges C22: energy x delay rises with the window."""
    found = {kib: repeated(evidence, measures.window(60, kib)) for kib in (16, 32, 64)}
    return [
        Part(
            f"{small}-{large}",
            above(_less(found[large], found[small]), 0),
            f"{small} KiB {told(typical(found[small]))}, {large} KiB {told(typical(found[large]))}.",
        )
        for small, large in itertools.pairwise(found)
    ]


# ---- High loss -------------------------------------------------------------------------------------------------------


def faster(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges C11: the technique is faster than baseline TCP at high loss."""
    parts = []
    for rtt in ROUND_TRIPS:
        case = measures.emulated(rtt, MOST_LOSS)
        found = typical(repeated(evidence, case, "seconds"))
        said = f"{rtt} ms: {told(found)} times the time; {_mean(measures.slowdown(evidence, case))}."
        parts.append(Part(f"rtt-{rtt}", below(found, 1), said))
    return parts


def fewer_cuts(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges C24: baseline TCP has more fast retransmissions and timeouts at high loss."""
    parts = []
    for rtt in ROUND_TRIPS:
        case = measures.emulated(rtt, MOST_LOSS)
        ours, theirs = (_cuts(evidence, cell) for cell in (case.cell, case.baseline))
        shown = f"{rtt} ms: {typical(theirs).mean:.0f} with baseline TCP, {typical(ours).mean:.0f} with the technique."
        parts.append(Part(f"rtt-{rtt}", below(_less(ours, theirs), 0), shown))
    return parts


def _cuts(evidence: Evidence, cell: Cell) -> list[float]:
    columns = (reported(evidence, cell, metric) for metric in ("fast_retransmits", "timeouts"))
    return [sum(values) for values in zip(*columns, strict=True)]


def more_amenable(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges C21: the technique gains more with FreeBSD's sender at high loss."""
    parts = []
    for rtt in ROUND_TRIPS:
        ours, theirs = (
            repeated(evidence, case) for case in (measures.emulated(rtt, MOST_LOSS), measures.other_sender(rtt))
        )
        shown = f"{rtt} ms: FreeBSD 4.5 {typical(ours).mean:.2f}, NewReno {typical(theirs).mean:.2f}."
        parts.append(Part(f"rtt-{rtt}", below(_less(ours, theirs), 0), shown))
    return parts


def rare_recovery(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C14: the radio hardly ever stays awake after a burst."""
    parts = []
    for loss in LOSSES:
        share = typical(averaged([_awake(evidence, measures.emulated(rtt, loss).cell) for rtt in ROUND_TRIPS]))
        parts.append(
            Part(f"loss-{loss:g}", decided(share, at_most=tolerance["share"]), f"{loss:g} %: {share.mean:.0%}.")
        )
    share = typical(averaged([_awake(evidence, measures.site(name).cell) for name in SITES]))
    return [
        *parts,
        Part("sites", decided(share, at_most=tolerance["share"]), f"Fitted: sites {share.mean:.0%}.", counted=False),
    ]


def _awake(evidence: Evidence, cell: Cell) -> list[float]:
    """The share of bursts after which the radio stayed awake, in each repetition."""
    wakes, bursts = (reported(evidence, cell, metric) for metric in ("wakes", "bursts"))
    return [1 - slept / count if count else 0.0 for slept, count in zip(wakes, bursts, strict=True)]


# ---- Power saving ----------------------------------------------------------------------------------------------------


def against_psm(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges C7, the comparison with PSM: 60 ms counts as low."""
    parts = []
    psm = {rtt: repeated(evidence, measures.way(rtt, IDEAL_PSM)) for rtt in ROUND_TRIPS}
    for rtt, values in psm.items():
        shaped = repeated(evidence, measures.way(rtt, SHAPER))
        less = _less(values, shaped)
        mean = _mean(measures.difference(evidence, measures.way(rtt, IDEAL_PSM), measures.way(rtt, SHAPER)))
        both = f"PSM {typical(values).mean:.2f}, shaper {typical(shaped).mean:.2f}"
        said = f"{rtt} ms: {both}, difference {told(less)}; {mean}."
        parts.append(Part(f"rtt-{rtt}", below(less, 0) if rtt == 90 else above(less, 0), said))
    order = [below(_less(psm[later], psm[earlier]), 0) for earlier, later in ((30, 60), (60, 90), (120, 90))]
    shown = " → ".join(f"{typical(values).mean:.2f}" for values in psm.values())
    return [*parts, Part("order", every(order), f"PSM {shown}.")]


def psm_time(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C8: PSM takes three times as long at low round trips."""
    case = measures.way(30, IDEAL_PSM)
    found = typical(repeated(evidence, case, "seconds"))
    said = f"{told(found)} times at 30 ms; {_mean(measures.slowdown(evidence, case))}."
    return [Part("factor", above(found, tolerance["factor"]), said)]


def beacon_round_trips(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C12: PSM makes a round trip at least the next multiple of the beacon period."""
    parts = []
    for rtt in ROUND_TRIPS:
        multiple, share = BEACON_MS * -(-rtt // BEACON_MS), tolerance["share"]
        found = typical([rtt * ratio for ratio in repeated(evidence, measures.way(rtt, IDEAL_PSM), "seconds")])
        highest = multiple * (1 + share) if rtt > BEACON_MS else float("inf")
        holds = decided(found, at_least=multiple * (1 - share), at_most=highest)
        parts.append(Part(f"rtt-{rtt}", holds, f"{rtt} ms: {told(found, 0)} ms."))
    return parts


def never_sleeps(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C13: bounded slowdown is regular TCP during a download."""
    share = tolerance["share"]
    parts = []
    for rtt in ROUND_TRIPS:
        case, regular = measures.way(rtt, BSD), measures.way(rtt, REGULAR)
        slept, took = (reported(evidence, case.cell, metric) for metric in ("asleep_s", "seconds"))
        asleep = typical([part / whole for part, whole in zip(slept, took, strict=True)])
        ours, theirs = (reported(evidence, cell, "product_js") for cell in (case.cell, regular.cell))
        product = typical([value / other for value, other in zip(ours, theirs, strict=True)])
        eager = typical(repeated(evidence, case))
        same = _within(product, 1, share)
        near = _within(eager, 1, share)
        parts += [
            Part(f"asleep-{rtt}", decided(asleep, at_most=share), f"{rtt} ms: asleep {asleep.mean:.1%},"),
            Part(f"rtt-{rtt}", same, f"{told(product, 3)} of regular TCP,"),
            Part(f"eager-{rtt}", near, f"{told(eager, 3)} of the eager baseline.", counted=False),
        ]
    return parts


def eager_is_faster(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges C17: eager acknowledgements make TCP faster."""
    parts = []
    for rtt in ROUND_TRIPS:
        found = typical(repeated(evidence, measures.way(rtt, REGULAR), "seconds"))
        parts.append(Part(f"rtt-{rtt}", above(found, 1), f"{rtt} ms: {told(found, 3)} times the time without."))
    return parts


def real_psm(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges C25: 802.11's PSM is worse than the ideal one."""
    parts = []
    for rtt in ROUND_TRIPS:
        ours, ideal = (repeated(evidence, measures.way(rtt, way)) for way in (REAL_PSM, IDEAL_PSM))
        shown = f"{rtt} ms: 802.11 {typical(ours).mean:.2f}, ideal {typical(ideal).mean:.2f}."
        parts.append(Part(f"rtt-{rtt}", above(_less(ours, ideal), 0), shown))
    return parts


JUDGES = {
    "C1": sites,
    "C2": emulated,
    "C3": longer_round_trips,
    "C4": more_loss,
    "C5": stanford,
    "C6": missed,
    "C7": against_psm,
    "C8": psm_time,
    "C9": crowd.crowd_claim,
    "C10": uiuc,
    "C11": faster,
    "C12": beacon_round_trips,
    "C13": never_sleeps,
    "C14": rare_recovery,
    "C15": going_on,
    "C16": lost_opens,
    "C17": eager_is_faster,
    "C18": saves_at_speed,
    "C19": overheads,
    "C20": smaller_windows,
    "C21": more_amenable,
    "C22": small_windows,
    "C23": predicted_slowdown,
    "C24": fewer_cuts,
    "C25": real_psm,
    "C26": crowd.queue_claim,
    "C27": crowd.aggression_claim,
}
"""The judge of each claim."""


def _at_sites(evidence: Evidence) -> float:
    return typical(averaged([repeated(evidence, measures.site(name)) for name in SITES])).mean


def _emulated(evidence: Evidence) -> float:
    cases = [measures.emulated(rtt, loss) for rtt in ROUND_TRIPS for loss in LOSSES]
    return typical(averaged([repeated(evidence, case) for case in cases])).mean


def _percent(evidence: Evidence, case: Case, metric: str = "product_js") -> float:
    return 100 * typical(repeated(evidence, case, metric)).mean


def _missed(evidence: Evidence) -> float:
    return measures.mean([evidence.grid.interval(measures.site(name).cell, "missed").mean for name in SITES])


HEADLINES = (
    Headline("product at sites", "%", lambda evidence: 100 * _at_sites(evidence)),
    Headline("product, emulated", "%", lambda evidence: 100 * _emulated(evidence)),
    Headline("product at stanford", "%", lambda evidence: _percent(evidence, measures.site("stanford"))),
    Headline("product at jriver", "%", lambda evidence: _percent(evidence, measures.site("jriver"))),
    Headline("product at 60 ms without loss", "%", lambda evidence: _percent(evidence, measures.emulated(60, 0))),
    Headline("product at 60 ms and 1 %", "%", lambda evidence: _percent(evidence, measures.emulated(60, 1))),
    Headline("ideal PSM at 60 ms", "%", lambda evidence: _percent(evidence, measures.way(60, IDEAL_PSM))),
    Headline("time at 60 ms and 1 %", "%", lambda evidence: _percent(evidence, measures.emulated(60, 1), "seconds")),
    Headline("packets missed at sites, mean", "", _missed),
)
"""The numbers that show the effect of a reading; products and times are in percent of baseline TCP."""
