"""Judges of the claims in claims.toml. Each claim has parts; each part holds or fails and reports its measurement."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Evidence, Headline, Part, Tolerance, number
from netlull.stats import mean_interval

from . import printed, series

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netlull.papers import Recorded
    from netlull.stats import Interval

VERSIONS = tuple(printed.TABLE_IV)
"""The values of the axis `version`."""
LINUX = ("BIC", "CUBIC")
AIMD = ("Tahoe", "Reno", "NewReno")
LOSS_BASED = (*AIMD, *LINUX)
STATES = (50, 70, 90)
PHASE_S = 30.0
"""The time for which the links sleep, in seconds."""
EARLY_S, LATE_S = (5.0, 30.0), (32.0, 60.0)
"""Intervals before and after the switch-off, in seconds, without slow start and the transition."""
RECORDED_SEEDS = (1, 2, 3)
"""The seeds of the recorded runs of Fig. 2."""


def asleep(version: str, threshold: float) -> Cell:
    """The point of a TCP version at a threshold of ESTOP."""
    return Cell.of("asleep", version=version, threshold=threshold)


def awake(version: str) -> Cell:
    """The point of a TCP version without ESTOP."""
    return Cell.of("awake", version=version)


def before(evidence: Evidence, version: str) -> Interval:
    """Throughput before the switch-off, in Mb/s; until then the runs of all thresholds are identical."""
    return evidence.grid.interval(asleep(version, STATES[0]), "before_bps", printed.WIRE_MBPS)


def after(evidence: Evidence, version: str, threshold: float) -> Interval:
    """Throughput after the switch-off, in Mb/s."""
    return evidence.grid.interval(asleep(version, threshold), "after_bps", printed.WIRE_MBPS)


def throughput(evidence: Evidence, version: str, state: str | int) -> Interval:
    """A cell of Table IV, in Mb/s."""
    return before(evidence, version) if isinstance(state, str) else after(evidence, version, state)


def losses(evidence: Evidence, cell: Cell) -> list[float]:
    """The loss of throughput of each seed."""
    grid = evidence.grid
    start, end = grid.samples(cell, "before_bps"), grid.samples(cell, "after_bps")
    return [1 - end[seed] / start[seed] for seed in start]


def loss(evidence: Evidence, version: str, threshold: float, scale: float = 1.0) -> Interval:
    """The loss of throughput, 1 - after / before, as a mean over seeds."""
    return mean_interval([value * scale for value in losses(evidence, asleep(version, threshold))])


def links_asleep(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges N1: the links that sleep (Table V)."""
    parts = []
    for threshold, paper in printed.TABLE_V.items():
        found = printed.off(evidence, threshold)
        parts.append(Part(f"at{threshold}", found == paper, f"{threshold} %: {', '.join(found)}."))
    return parts


def energy(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N2: the energy that the line cards save."""
    parts = []
    for threshold, paper in printed.ENERGY_PERCENT.items():
        saved = evidence.grid.interval(Cell.of("plan", asked=threshold), "cards_saving", 100).mean
        holds = abs(saved - paper) <= tolerance["points"]
        parts.append(Part(f"at{threshold}", holds, f"{threshold} %: {saved:.1f} %."))
    for threshold, paper in printed.WATTS.items():
        saved = watts(evidence, threshold)
        holds = abs(saved - paper) <= tolerance["watt_share"] * paper
        parts.append(Part(f"watts{threshold}", holds, f"{threshold} %: {saved:,.0f} W."))
    return parts


def watts(evidence: Evidence, threshold: float) -> float:
    """The power in W that the line cards at one end of each link save, at the full size of the network."""
    cell = Cell.of("plan", asked=threshold)
    saving = evidence.grid.interval(cell, "cards_saving").mean
    used_w = evidence.grid.interval(cell, "cards_j").mean / PHASE_S
    return used_w / (1 - saving) * saving / 2


def table_iv(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N3: the cells of Table IV."""
    parts = []
    for version, row in printed.TABLE_IV.items():
        for state, paper in row.items():
            found = throughput(evidence, version, state).mean
            holds = abs(found - paper) <= max(tolerance["share"] * paper, tolerance["floor_mbps"])
            text = f"{version} {_state(state)} {found:.2f} ({found / paper - 1:+.0%})."
            parts.append(Part(f"{version}-{state}".lower(), holds, text))
    return [*parts, *(_ranking(evidence, state) for state in ("before", *STATES))]


def _state(state: str | int) -> str:
    return state if isinstance(state, str) else f"{state} %"


def _ranking(evidence: Evidence, state: str | int) -> Part:
    paper = sorted(printed.TABLE_IV, key=lambda version: -printed.TABLE_IV[version][state])
    found = sorted(VERSIONS, key=lambda version: -throughput(evidence, version, state).mean)
    return Part(f"order-{state}", found == paper, f"Order {_state(state)}: {', '.join(found)}.")


def best(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges N4: BIC and CUBIC are best."""
    parts = []
    for state in ("before", *STATES):
        least = min(throughput(evidence, version, state).mean for version in LINUX)
        other = max(throughput(evidence, version, state).mean for version in AIMD)
        text = f"{_state(state)}: {least:.2f} against {other:.2f} Mb/s."
        parts.append(Part(f"best-{state}", least > other, text))
    for threshold in STATES:
        ahead = evidence.grid.difference(
            asleep("CUBIC", threshold), asleep("BIC", threshold), "after_bps", printed.WIRE_MBPS
        )
        text = f"CUBIC minus BIC at {threshold} %: {number(ahead, 'Mb/s', 2)}."
        parts.append(Part(f"cubic-{threshold}", ahead.mean > 0, text))
    return parts


def vegas(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N5: Vegas loses most below a threshold of 90 %."""
    parts = []
    for threshold in (50, 70):
        mine = loss(evidence, "Vegas", threshold, 100)
        most = max(loss(evidence, version, threshold, 100).mean for version in LOSS_BASED)
        text = f"{threshold} %: Vegas {number(mine)}, others at most {most:.1f} %."
        parts.append(Part(f"most{threshold}", mine.mean > most, text))
        collapse = 100 * tolerance["collapse"]
        parts.append(Part(f"collapse{threshold}", mine.mean >= collapse, f"{threshold} %: {collapse:.0f} % or more."))
    at90 = loss(evidence, "Vegas", 90, 100)
    cell = asleep("Vegas", 90)
    halved = sum(value > tolerance["half"] for value in losses(evidence, cell))
    text = f"90 %: Vegas {number(at90)}, more than half in {halved} of {at90.n} seeds."
    return [*parts, Part("spared90", at90.mean <= 100 * tolerance["spared"], text)]


def cubic_at_70(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N6: CUBIC loses 23.1 % at 70 %."""
    found = loss(evidence, "CUBIC", 70)
    holds = abs(found.mean - tolerance["loss"]) <= tolerance["points"]
    shown = loss(evidence, "CUBIC", 70, 100)
    return [Part("loss", holds, f"{number(shown, '%')}.")]


def falls_with_threshold(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N7: the loss falls as the threshold rises."""
    parts = []
    for version in VERSIONS:
        found = [loss(evidence, version, threshold).mean for threshold in STATES]
        holds = all(later <= earlier + tolerance["slack"] for earlier, later in itertools.pairwise(found))
        text = f"{version} {', '.join(f'{value * 100:.1f}' for value in found)} %."
        parts.append(Part(version.lower(), holds, text))
    return parts


def one_segment(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges N8: the windows of BIC and CUBIC never fall to one segment."""
    parts = []
    for version in LOSS_BASED:
        lowest = [
            series.lowest_window(run, series.SWITCH_S, series.SWITCH_S + 2) for run in windows_of(evidence, version)
        ]
        one = [value <= 1 for value in lowest]
        holds = all(one) if version in AIMD else not any(one)
        parts.append(Part(version.lower(), holds, f"{version} {', '.join(f'{value:.0f}' for value in lowest)}."))
    return parts


def windows_of(evidence: Evidence, version: str) -> list[Recorded]:
    """The recorded runs of a version in Fig. 2."""
    name = {"NewReno": "new-reno"}.get(version, version.lower())
    return [evidence.series[f"{name}-{seed}"] for seed in RECORDED_SEEDS]


def peaks(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N9: after the switch-off, window peaks are lower and take longer to reach."""
    parts = []
    for version in (*LOSS_BASED, "Vegas"):
        runs = windows_of(evidence, version)
        early, late = (float(np.mean([series.mean_window(run, *span) for run in runs])) for span in (EARLY_S, LATE_S))
        parts.append(
            Part(f"mean-{version.lower()}", late < early, f"{version}: mean {early:.0f} → {late:.0f} segments,")
        )
        if version not in LOSS_BASED:
            continue
        was, now = (series.teeth(runs, *span, tolerance["fall"]) for span in (EARLY_S, LATE_S))
        parts.append(Part(f"peak-{version.lower()}", now.peak < was.peak, f"peak {was.peak:.0f} → {now.peak:.0f},"))
        text = f"time between peaks {was.period_s:.1f} → {now.period_s:.1f} s."
        parts.append(Part(f"time-{version.lower()}", now.period_s > was.period_s, text))
    return parts


JUDGES = {
    "N1": links_asleep,
    "N2": energy,
    "N3": table_iv,
    "N4": best,
    "N5": vegas,
    "N6": cubic_at_70,
    "N7": falls_with_threshold,
    "N8": one_segment,
    "N9": peaks,
}
"""The judge of each claim."""


def _gap(columns: Sequence[str | int], versions: Sequence[str]) -> Callable[[Evidence], float]:
    """Returns a function that measures the mean distance from the paper's cells, in percent."""

    def measure(evidence: Evidence) -> float:
        gaps = [
            abs(throughput(evidence, version, state).mean / printed.TABLE_IV[version][state] - 1)
            for version in versions
            for state in columns
        ]
        return 100 * float(np.mean(gaps))

    return measure


HEADLINES = (
    Headline("distance from Table IV before", "%", _gap(("before",), tuple(VERSIONS))),
    Headline("distance from Table IV after, without Vegas", "%", _gap(STATES, LOSS_BASED)),
    Headline("Tahoe before", "Mb/s", lambda evidence: before(evidence, "Tahoe").mean),
    Headline("CUBIC before", "Mb/s", lambda evidence: before(evidence, "CUBIC").mean),
    Headline("CUBIC at 70 %", "Mb/s", lambda evidence: after(evidence, "CUBIC", 70).mean),
    Headline("CUBIC's loss at 70 %", "%", lambda evidence: loss(evidence, "CUBIC", 70, 100).mean),
    Headline("CUBIC's loss at 90 %", "%", lambda evidence: loss(evidence, "CUBIC", 90, 100).mean),
    Headline("Reno's loss at 70 %", "%", lambda evidence: loss(evidence, "Reno", 70, 100).mean),
    Headline("Vegas at 70 %", "Mb/s", lambda evidence: after(evidence, "Vegas", 70).mean),
    Headline("Vegas at 90 %", "Mb/s", lambda evidence: after(evidence, "Vegas", 90).mean),
)
"""The numbers that show the effect of a reading."""
