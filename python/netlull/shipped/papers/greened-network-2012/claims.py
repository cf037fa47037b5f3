"""Judges of the claims in claims.toml. Each claim has parts; a part holds, fails or is undecided."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Evidence, Headline, Part, Tolerance, decided, every, number
from netlull.stats import mean_interval

from . import directions, network, pairs, printed, series, windows
from .measures import (
    AIMD,
    COLUMNS,
    EARLY_S,
    LATE_S,
    LATER_S,
    LINUX,
    LOSS_BASED,
    PHASE_S,
    STATES,
    VERSIONS,
    asleep,
    column_name,
    dropped,
    lead,
    less,
    loss,
    loss_over,
    losses,
    mean,
    percent,
    throughput,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


# ---- Section II ------------------------------------------------------------------------------------------------------


def worst_case(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N10: the pair of nodes is a worst case."""
    parts = []
    for threshold in (state for state in (90, 70, 50) if state in evidence.grid.values("pairs", "sleep")):
        found = pairs.changes(evidence, threshold, "CUBIC 2.6.22")
        worse = sum(value < found[pairs.PAPERS] for value in found.values())
        text = f"{threshold} %: {worse} of {len(found)} pairs lose more."
        parts.append(Part(f"at{threshold}", worse <= tolerance["share"] * len(found), text))
    return parts


def longer_path(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N11: the path has one hop more."""
    before = network.hops(evidence, ())
    parts = []
    for threshold, off in printed.TABLE_V.items():
        more = network.hops(evidence, off) - before
        parts.append(Part(f"at{threshold}", more == tolerance["hops"], f"{threshold} %: {before + more} hops."))
    return parts


def rerouted(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N12: rerouted background is the cause."""
    before = capacity(evidence, "before")
    parts = []
    for threshold in STATES:
        after = capacity(evidence, threshold)
        text = f"Capacity {before:.0f} → {after:.0f} Mb/s at {threshold} %."
        parts.append(Part(f"capacity-{threshold}", after < before - 1, text))
    for version in VERSIONS:
        without, real = Cell.of("not-rerouted", version=version), asleep(version, 70)
        over = loss_over(evidence, without, real, tolerance["half"])
        lost = percent(mean(losses(evidence, without)))
        text = f"{version} loses {lost} instead of {percent(loss(evidence, version, 70))}."
        parts.append(Part(f"cause-{version.lower()}", decided(over, at_most=0), text))
    for version in LOSS_BASED:
        early, late = dropped(evidence, version, "before"), dropped(evidence, version, 70)
        text = f"{version} drops {percent(mean(early), 2)} → {percent(mean(late), 2)}."
        parts.append(Part(f"congestion-{version.lower()}", decided(less(late, early), at_least=0), text))
    return parts


def capacity(evidence: Evidence, state: printed.State) -> float:
    """The capacity in Mb/s that the background leaves on the fullest link of TCP's path."""
    summary = evidence.series[f"background-{STATES[0] if isinstance(state, str) else state}"].summary
    tcp = next(flow for flow in summary["flows"] if flow["name"] == series.FLOW)
    path = directions.route(str(state), int(tcp["from"]), int(tcp["to"]))
    links = summary["phase"]["settled" if state == "before" else "later"]["link"]
    return directions.RATE - max(float(links[f"{a}-{b}"]["throughput_bps"]) for a, b in path) / 1e6


# ---- Throughput (Table IV, Figs. 3 and 4) ----------------------------------------------------------------------------


def table_iv(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N3: the cells of Table IV. The column before does not count: packets and buffers were fitted to it."""
    parts = []
    for version, row in printed.TABLE_IV.items():
        for state, paper in row.items():
            found = throughput(evidence, version, state)
            share = tolerance["share"]
            holds = decided(found, at_least=(1 - share) * paper, at_most=(1 + share) * paper)
            text = f"{version} {column_name(state)} {number(found, digits=2)} ({found.mean / paper - 1:+.0%})."
            parts.append(Part(f"{version}-{state}".lower(), holds, text, counted=state != "before"))
    return [*parts, *(_ranking(evidence, state) for state in COLUMNS)]


def _ranking(evidence: Evidence, state: printed.State) -> Part:
    paper = sorted(printed.TABLE_IV, key=lambda version: -printed.TABLE_IV[version][state])
    found = sorted(VERSIONS, key=lambda version: -throughput(evidence, version, state).mean)
    holds = every(decided(lead(evidence, *pair, state), at_least=0) for pair in itertools.pairwise(paper))
    return Part(f"order-{state}", holds, f"Order {column_name(state)}: {', '.join(found)}.", counted=state != "before")


def best(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges N4: BIC and CUBIC are best."""
    parts = []
    for state in COLUMNS:
        leads = [lead(evidence, version, other, state) for version in LINUX for other in AIMD]
        least = min(throughput(evidence, version, state).mean for version in LINUX)
        other = max(throughput(evidence, version, state).mean for version in AIMD)
        text = f"{column_name(state)}: {least:.2f} against {other:.2f} Mb/s."
        parts.append(Part(f"best-{state}", every(decided(lead, at_least=0) for lead in leads), text))
    for threshold in STATES:
        ahead = lead(evidence, "CUBIC", "BIC", threshold)
        text = f"CUBIC minus BIC at {threshold} %: {number(ahead, 'Mb/s', 2)}."
        parts.append(Part(f"cubic-{threshold}", decided(ahead, at_least=0), text))
    return parts


def reason_of_the_best(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N18: BIC and CUBIC are best because of the transition and of higher peaks."""
    grid = evidence.grid
    rival = asleep("NewReno", 70)
    parts = []
    for version in LINUX:
        cell = asleep(version, 70)
        whole, later = (
            {seed: value - grid.samples(rival, metric)[seed] for seed, value in grid.samples(cell, metric).items()}
            for metric in ("after_bps", "later_bps")
        )
        share = mean_interval([1 - LATER_S * later[seed] / (PHASE_S * whole[seed]) for seed in whole])
        text = f"{version}: {percent(share)} of the lead in the transition."
        parts.append(Part(f"transition-{version.lower()}", decided(share, at_least=tolerance["half"]), text))
    for when, span in (("before", EARLY_S), ("after", LATE_S)):
        peak = {
            version: {
                seed: found.peak for seed, found in windows.teeth_of(evidence, version, span, tolerance["fall"]).items()
            }
            for version in LOSS_BASED
        }
        for version in LINUX:
            holds = every(decided(less(peak[version], peak[other]), at_least=0) for other in AIMD)
            others = ", ".join(f"{other} {mean(peak[other]).mean:.0f}" for other in AIMD)
            text = f"Peaks {when}: {version} {mean(peak[version]).mean:.0f}, {others}."
            parts.append(Part(f"peak-{when}-{version.lower()}", holds, text))
    return parts


def less_aggressive(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges N19: CUBIC is less aggressive than BIC."""
    parts = []
    for state in COLUMNS:
        cubic, bic = (dropped(evidence, version, state) for version in ("CUBIC", "BIC"))
        text = f"{column_name(state)}: CUBIC drops {percent(mean(cubic), 2)}, BIC {percent(mean(bic), 2)}."
        parts.append(Part(str(state), decided(less(cubic, bic), at_most=0), text))
    return parts


def better_than_tahoe(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges N20: Reno and NewReno are better than Tahoe."""
    parts = []
    for version in ("Reno", "NewReno"):
        for state in COLUMNS:
            ahead = lead(evidence, version, "Tahoe", state)
            text = f"{version} minus Tahoe {column_name(state)}: {number(ahead, 'Mb/s')}."
            parts.append(Part(f"rate-{version}-{state}".lower(), decided(ahead, at_least=0), text))
        for state in STATES:
            over = loss_over(evidence, asleep(version, state), asleep("Tahoe", state))
            text = f"Loss at {state} %: {version} minus Tahoe {percent(over, unit='points')}."
            parts.append(Part(f"loss-{version}-{state}".lower(), decided(over, at_most=0), text))
    return parts


def capacity_at_90(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N21: a threshold of 90 % leaves more capacity and less congestion."""
    at90 = capacity(evidence, 90)
    parts = []
    for threshold in (70, 50):
        other = capacity(evidence, threshold)
        text = f"{at90:.0f} Mb/s at 90 %, {other:.0f} at {threshold} %."
        parts.append(Part(f"capacity-{threshold}", at90 >= other + tolerance["mbps"], text))
    for version in LOSS_BASED:
        shares = {state: dropped(evidence, version, state) for state in STATES}
        holds = every(decided(less(shares[90], shares[state]), at_most=0) for state in (70, 50))
        shown = ", ".join(percent(mean(shares[state]), 2) for state in STATES)
        parts.append(Part(f"drops-{version.lower()}", holds, f"{version} drops {shown} at 50, 70, 90 %."))
    return parts


def falls_with_threshold(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N7: the loss falls as the threshold rises, for all versions."""
    parts, falls = [], []
    for version in VERSIONS:
        steps = [
            loss_over(evidence, asleep(version, higher), asleep(version, lower))
            for lower, higher in itertools.pairwise(STATES)
        ]
        found = [loss(evidence, version, threshold, 100).mean for threshold in STATES]
        shown = ", ".join(percent(step, unit="") for step in steps)
        text = f"{version} {', '.join(f'{value:.1f}' for value in found)} % (steps {shown})."
        falls.append(every(decided(step, at_most=tolerance["slack"]) for step in steps))
        parts.append(Part(version.lower(), falls[-1], text, counted=False))
    return [*parts, Part("all", every(falls), f"{falls.count(True)} of {len(falls)} versions.")]


def least_loss(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges N22: Reno and CUBIC lose least."""
    parts = []
    others = [version for version in VERSIONS if version not in {"Reno", "CUBIC"}]
    for version, state in itertools.product(("Reno", "CUBIC"), STATES):
        over = [loss_over(evidence, asleep(version, state), asleep(other, state)) for other in others]
        found = {other: loss(evidence, other, state, 100).mean for other in (version, *others)}
        least = min(others, key=found.__getitem__)
        text = f"{version} at {state} % {found[version]:.1f} %, {least} {found[least]:.1f} %."
        parts.append(Part(f"{version}-{state}".lower(), every(decided(one, at_most=0) for one in over), text))
    return parts


def vegas(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N5: Vegas loses most below a threshold of 90 %."""
    parts = []
    for threshold in (50, 70):
        mine = loss(evidence, "Vegas", threshold, 100)
        cell = asleep("Vegas", threshold)
        over = [loss_over(evidence, cell, asleep(version, threshold)) for version in LOSS_BASED]
        most = max(loss(evidence, version, threshold, 100).mean for version in LOSS_BASED)
        text = f"{threshold} %: Vegas {number(mine)}, others at most {most:.1f} %."
        parts.append(Part(f"most{threshold}", every(decided(one, at_least=0) for one in over), text))
        collapse = 100 * tolerance["collapse"]
        text = f"{threshold} %: {collapse:.0f} % or more."
        parts.append(Part(f"collapse{threshold}", decided(mine, at_least=collapse), text))
    at90 = loss(evidence, "Vegas", 90, 100)
    text = f"90 %: Vegas {number(at90)}, more than half in {_halved(evidence, asleep('Vegas', 90), tolerance)}."
    return [*parts, Part("spared90", decided(at90, at_most=100 * tolerance["spared"]), text)]


def _halved(evidence: Evidence, cell: Cell, tolerance: Tolerance) -> str:
    found = losses(evidence, cell).values()
    return f"{sum(value > tolerance['half'] for value in found)} of {len(found)} seeds"


def longer_delay(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N23: the longer delay is the cause of Vegas's collapse."""
    real = asleep("Vegas", 70)
    at70 = losses(evidence, real)
    parts = []
    for name, label, cell in (
        ("equal", "paths of equal delay", Cell.of("equal-paths")),
        ("same-path", "the old path (90 %)", asleep("Vegas", 90)),
    ):
        over = loss_over(evidence, cell, real, tolerance["half"])
        lost, count = percent(mean(losses(evidence, cell))), _halved(evidence, cell, tolerance)
        text = f"With {label} Vegas loses {lost}, more than half in {count}; at 70 % {percent(mean(at70))}."
        parts.append(Part(name, decided(over, at_most=0), text))
    return parts


def deterioration(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges N24: every version loses throughput."""
    parts = []
    for version in VERSIONS:
        found = [loss(evidence, version, threshold, 100) for threshold in STATES]
        text = f"{version} {', '.join(number(one) for one in found)} %."
        parts.append(Part(version.lower(), every(decided(one, at_least=0) for one in found), text))
    return parts


def cubic_at_70(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N6: CUBIC loses 23.1 % at 70 %."""
    low, high = (tolerance["loss"] + sign * tolerance["points"] for sign in (-1, 1))
    holds = decided(loss(evidence, "CUBIC", 70), at_least=low, at_most=high)
    return [Part("loss", holds, f"{number(loss(evidence, 'CUBIC', 70, 100), '%')}.")]


# ---- Energy (Table V) ------------------------------------------------------------------------------------------------


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
        saved = 100 * cards_saved(evidence, threshold)
        holds = abs(saved - paper) <= tolerance["points"]
        parts.append(Part(f"at{threshold}", holds, f"{threshold} %: {saved:.1f} %."))
    for threshold, paper in printed.WATTS.items():
        saved = watts(evidence, threshold)
        holds = abs(saved - paper) <= tolerance["watt_share"] * paper
        parts.append(Part(f"watts{threshold}", holds, f"{threshold} %: {saved:,.0f} W."))
    return parts


AWAKE_PLAN = Cell.of("plan-awake")


def cards_saved(evidence: Evidence, threshold: float) -> float:
    """The share of the line cards' energy that a plan saves, against the same run with all links awake."""
    return evidence.grid.reduction(Cell.of("plan", asked=threshold), AWAKE_PLAN, "cards_j").mean


def watts(evidence: Evidence, threshold: float) -> float:
    """The power in W that the line cards at one end of each link save, at the full size of the network."""
    awake_w = evidence.grid.interval(AWAKE_PLAN, "cards_j").mean / PHASE_S
    return awake_w * cards_saved(evidence, threshold) / 2


JUDGES = {
    "N1": links_asleep,
    "N2": energy,
    "N3": table_iv,
    "N4": best,
    "N5": vegas,
    "N6": cubic_at_70,
    "N7": falls_with_threshold,
    "N8": windows.one_segment,
    "N9": windows.peaks,
    "N10": worst_case,
    "N11": longer_path,
    "N12": rerouted,
    "N13": windows.short_fall,
    "N14": windows.variations,
    "N15": windows.quicker,
    "N16": windows.constant,
    "N17": windows.largest_drop,
    "N18": reason_of_the_best,
    "N19": less_aggressive,
    "N20": better_than_tahoe,
    "N21": capacity_at_90,
    "N22": least_loss,
    "N23": longer_delay,
    "N24": deterioration,
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
    Headline("Tahoe before", "Mb/s", lambda evidence: throughput(evidence, "Tahoe", "before").mean),
    Headline("CUBIC before", "Mb/s", lambda evidence: throughput(evidence, "CUBIC", "before").mean),
    Headline("CUBIC at 70 %", "Mb/s", lambda evidence: throughput(evidence, "CUBIC", 70).mean),
    Headline("CUBIC's loss at 70 %", "%", lambda evidence: loss(evidence, "CUBIC", 70, 100).mean),
    Headline("CUBIC's loss at 90 %", "%", lambda evidence: loss(evidence, "CUBIC", 90, 100).mean),
    Headline("Reno's loss at 70 %", "%", lambda evidence: loss(evidence, "Reno", 70, 100).mean),
    Headline("Vegas at 70 %", "Mb/s", lambda evidence: throughput(evidence, "Vegas", 70).mean),
    Headline("Vegas at 90 %", "Mb/s", lambda evidence: throughput(evidence, "Vegas", 90).mean),
)
"""The numbers that show the effect of a reading."""
