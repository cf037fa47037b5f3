"""Judges of the claims in claims.toml. Each claim has parts; each part holds or fails and reports its measurement."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from netlull.papers import Evidence, Headline, Part, Tolerance, number
from netlull.stats import mean_interval

from . import crowd, measures, medians
from .measures import FAST_AIR, IDEAL_PSM, LOSSES, ROUND_TRIPS, SHAPER, SITES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from netlull.papers import Recorded
    from netlull.stats import Interval

    from .measures import Case

    Number = Callable[[Evidence, Case], float]
    """A function that reduces the runs of a case to a single number."""

BAD_SITES = {"stanford", "uiuc"}
"""The sites with a product above 1 in the paper."""
MOST_LOSS = max(LOSSES)


def sites(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C1: energy x delay is 19 % lower over seven sites."""
    found = {name: measures.product(evidence, measures.site(name)).mean for name in SITES}
    average = measures.over(evidence, [measures.site(name) for name in SITES])
    best = min(found, key=lambda name: found[name])
    points = tolerance["points"]
    parts = [
        Part("mean", abs(average.mean - tolerance["mean"]) <= points, f"Mean {number(average, digits=2)}."),
        Part("best", abs(found[best] - tolerance["best"]) <= points, f"Best {found[best]:.2f}."),
        Part("jriver", best == "jriver", f"At {best}."),
    ]
    for name, value in found.items():
        parts.append(Part(name, (value < 1) is (name not in BAD_SITES), f"{name} {value:.2f}."))
    return parts


def emulated(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C2: energy x delay is 54 % lower in emulation."""
    grid = {(rtt, loss): measures.emulated(rtt, loss) for rtt in ROUND_TRIPS for loss in LOSSES}
    found = {at: measures.product(evidence, case) for at, case in grid.items()}
    average = measures.over(evidence, list(grid.values()))
    rtt, loss = best = min(found, key=lambda at: found[at].mean)
    points = tolerance["points"]
    near = abs(average.mean - tolerance["mean"]) <= points, abs(found[best].mean - tolerance["best"]) <= points
    shown = f"Best {number(found[best], digits=2)}, at {rtt} ms and {loss:g} %{_open(found[best], points)}."
    return [
        Part("mean", near[0], f"Mean {number(average, digits=2)}{_open(average, points)}."),
        Part("best", near[1], shown),
        *(_by_median(evidence, tolerance, name, way) for name, way in MEDIANS.items()),
    ]


def _open(found: Interval, points: float) -> str:
    """The remark for an interval wider than the tolerance; empty otherwise."""
    return ", open with so few seeds: the interval is wider than the tolerance" if found.half_width > points else ""


def _over_seeds(evidence: Evidence, case: Case) -> float:
    return medians.over_seeds(evidence, case).mean


MEDIANS: dict[str, Number] = {"median over seeds": _over_seeds, "the paper's median of three": measures.median_of_three}
"""Medians that reports show next to the registered mean; the verdict ignores them."""


def _part_id(name: str) -> str:
    return "median" if name.endswith("seeds") else "three"


def _by_median(evidence: Evidence, tolerance: Tolerance, name: str, way: Number) -> Part:
    found = [way(evidence, measures.emulated(rtt, loss)) for rtt in ROUND_TRIPS for loss in LOSSES]
    average, best, points = measures.mean(found), min(found), tolerance["points"]
    holds = abs(average - tolerance["mean"]) <= points and abs(best - tolerance["best"]) <= points
    said = f"By {name}: mean {average:.2f}, best {best:.2f}."
    return Part(_part_id(name), holds, said, counted=False)


def _falls(values: Sequence[float], slack: float) -> bool:
    return values[-1] < values[0] and all(later <= earlier + slack for earlier, later in itertools.pairwise(values))


def _fall(name: str, label: str, values: Sequence[float], slack: float) -> Part:
    return Part(name, _falls(values, slack), f"{label}: {' → '.join(f'{value:.2f}' for value in values)}.")


def _rows_by_median(evidence: Evidence, rows: Sequence[Sequence[Case]], slack: float) -> list[Part]:
    """A part for each kind of median: it holds if all rows and their mean fall. The verdict ignores these parts."""
    parts = []
    for name, way in MEDIANS.items():
        numbers = [[way(evidence, case) for case in row] for row in rows]
        numbers.append([measures.mean(column) for column in zip(*numbers, strict=True)])
        held = sum(_falls(row, slack) for row in numbers)
        means = " → ".join(f"{value:.2f}" for value in numbers[-1])
        said = f"By {name}: {held} of {len(numbers)} fall; mean {means}."
        parts.append(Part(_part_id(name), held == len(numbers), said, counted=False))
    return parts


def longer_round_trips(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C3: the technique improves with longer round trips."""
    rows = {(f"loss-{loss:g}", f"{loss:g} %"): [measures.emulated(rtt, loss) for rtt in ROUND_TRIPS] for loss in LOSSES}
    return _rows_fall(evidence, rows, tolerance["slack"])


def more_loss(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C4: the technique improves with more loss."""
    rows = {(f"rtt-{rtt}", f"{rtt} ms"): [measures.emulated(rtt, loss) for loss in LOSSES] for rtt in ROUND_TRIPS}
    return _rows_fall(evidence, rows, tolerance["slack"])


def _rows_fall(evidence: Evidence, rows: Mapping[tuple[str, str], Sequence[Case]], slack: float) -> list[Part]:
    """The parts for each row of Fig. 6 (by id and label), for the mean of the rows, and for the rows by medians."""
    parts = [
        _fall(part, label, [measures.product(evidence, case).mean for case in row], slack)
        for (part, label), row in rows.items()
    ]
    means = [measures.over(evidence, column).mean for column in zip(*rows.values(), strict=True)]
    return [*parts, _fall("mean", "Mean", means, slack), *_rows_by_median(evidence, list(rows.values()), slack)]


def recorded(evidence: Evidence, name: str) -> list[Recorded]:
    """The recorded runs of a site, which are named `NAME-SEED`."""
    return [run for key, run in evidence.series.items() if key.rpartition("-")[0] == name]


def stanford(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C5: the download from Stanford is 45 % slower, and improves on faster air."""
    case, fast = measures.site("stanford"), measures.site("stanford", FAST_AIR)
    grid, share = evidence.grid, tolerance["share"]
    base = grid.interval(case.baseline, "seconds")
    more = measures.slowdown(evidence, case).mean - 1
    closed, fast_closed = (
        mean_interval([measures.in_bursts(run) for run in recorded(evidence, name)])
        for name in ("stanford", "stanford-fast")
    )
    detection = grid.interval(case.cell, "detection_s")
    product, fast_product = (measures.product(evidence, which) for which in (case, fast))
    return [
        Part("base", _near(base.mean, tolerance["base_s"], share), f"Baseline {number(base, 's', 2)}."),
        Part("slower", abs(more - tolerance["slower"]) <= tolerance["points"], f"{more:.0%} slower."),
        Part(
            "closed",
            _near(closed.mean, tolerance["closed_s"], share),
            f"Fitted: in bursts {number(closed, 's', 2)}.",
            counted=False,
        ),
        Part(
            "detection",
            _near(detection.mean, tolerance["detection_s"], tolerance["detection_share"]),
            f"Ends of bursts {number(detection, 's', 2)}.",
        ),
        Part("product", _near(product.mean, tolerance["product"], share), f"Product {number(product, digits=2)}."),
        Part(
            "fast-closed",
            fast_closed.mean < tolerance["fast_closed_s"],
            f"At 108 Mb/s: in bursts {number(fast_closed, 's', 2)},",
        ),
        Part(
            "fast-product",
            _near(fast_product.mean, tolerance["fast_product"], share),
            f"product {number(fast_product, digits=2)}.",
        ),
    ]


def _near(found: float, printed: float, share: float) -> bool:
    return abs(found - printed) <= share * printed


def missed(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C6: the client misses hardly any packets."""
    grid = evidence.grid
    packets = measures.mean([grid.interval(measures.site(name).cell, "missed").mean for name in SITES])
    cells = [measures.emulated(rtt, loss).cell for rtt in ROUND_TRIPS for loss in LOSSES]
    share = measures.mean([grid.ratio(cell, cell, "missed", to="received").mean for cell in cells])
    return [
        Part("sites", packets < tolerance["packets"], f"Fitted: sites {packets:.1f} packets.", counted=False),
        Part("emulated", share <= tolerance["share"], f"Emulated {share:.2%}."),
    ]


def against_psm(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges C7, the comparison with PSM, as registered: 60 ms counts as low, although the paper does not name it."""
    parts = []
    psm = {rtt: measures.product(evidence, measures.way(rtt, IDEAL_PSM)).mean for rtt in ROUND_TRIPS}
    for rtt, value in psm.items():
        shaped = measures.product(evidence, measures.way(rtt, SHAPER)).mean
        less = measures.difference(evidence, measures.way(rtt, IDEAL_PSM), measures.way(rtt, SHAPER))
        said = f"{rtt} ms: PSM {value:.2f}, shaper {shaped:.2f}, difference {number(less, digits=2)}."
        parts.append(Part(f"rtt-{rtt}", (less.mean < 0) is (rtt == 90), said))
    order = psm[30] > psm[60] > psm[90] < psm[120]
    shown = " → ".join(f"{value:.2f}" for value in psm.values())
    return [*parts, Part("order", order, f"PSM {shown}.")]


def psm_time(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C8: PSM takes three times as long at low round trips."""
    found = measures.slowdown(evidence, measures.way(30, IDEAL_PSM))
    return [Part("factor", found.mean > tolerance["factor"], f"{number(found, digits=2)} times at 30 ms.")]


def uiuc(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges C10: the download from uiuc.edu reverts to standard TCP."""
    case, runs = measures.site("uiuc"), recorded(evidence, "uiuc")
    found = [measures.saturated(run) for run in runs]
    base = evidence.grid.interval(case.baseline, "seconds")
    product = measures.product(evidence, case)
    enough = sum(found) >= tolerance["reverts"] * len(found)
    return [
        Part("reverts", enough, f"Fitted: saturated in {sum(found)} of {len(found)} downloads.", counted=False),
        Part(
            "base",
            _near(base.mean, tolerance["base_s"], tolerance["share"]),
            f"Fitted: baseline {number(base, 's', 2)}.",
            counted=False,
        ),
        Part("product", product.mean > 1, f"Product {number(product, digits=2)}."),
    ]


def faster(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges C11: the technique is faster than baseline TCP at high loss."""
    parts = []
    for rtt in ROUND_TRIPS:
        found = measures.slowdown(evidence, measures.emulated(rtt, MOST_LOSS))
        left_open = ", open with so few seeds: the interval reaches 1" if found.low <= 1 <= found.high else ""
        said = f"{rtt} ms: {number(found, digits=2)} times the time{left_open}."
        parts.append(Part(f"rtt-{rtt}", found.mean < 1, said))
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
}
"""The judge of each claim."""


def _at_sites(evidence: Evidence) -> float:
    return measures.over(evidence, [measures.site(name) for name in SITES]).mean


def _emulated(evidence: Evidence) -> float:
    cases = [measures.emulated(rtt, loss) for rtt in ROUND_TRIPS for loss in LOSSES]
    return measures.over(evidence, cases).mean


def _percent(evidence: Evidence, case: Case) -> float:
    return 100 * measures.product(evidence, case).mean


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
    Headline(
        "time at 60 ms and 1 %",
        "%",
        lambda evidence: 100 * measures.slowdown(evidence, measures.emulated(60, 1)).mean,
    ),
    Headline("packets missed at sites", "", _missed),
)
"""The numbers that show the effect of a reading; products and times are in percent of baseline TCP."""
