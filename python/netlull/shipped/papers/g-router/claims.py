"""Judges of the claims in claims.toml. Each claim has parts; each part holds or fails and reports its measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Evidence, Headline, Part, Tolerance, decided, every, number
from netlull.stats import mean_interval

from . import series

if TYPE_CHECKING:
    from collections.abc import Callable

    from netlull.stats import Interval

OVER = Cell.of("case1-over")
NONE = Cell.of("case2-none")
WAYS = {"printed": "as printed", "working": "working"}
"""The estimators; a claim has a part for each."""

SETTLED = {
    "low": "10 Mb/s",
    "middle": "15 Mb/s",
    "high": "25 Mb/s",
    "fall": "falling",
    "late": "at the end",
}
"""Phases with a settled or slowly falling demand, and the demand there; case study 1 has no bottleneck."""
MOVING = {"rise": "to 15 Mb/s", "jump": "to 25 Mb/s"}


END_S = 750.0
STEP_S, BACK_S = 300.0, 600.0
"""The end of a run; the Internet node's step down and up, in seconds."""


def case(study: int, way: str) -> Cell:
    """The point of a case study under the G-Router with these estimators."""
    return Cell.of(f"case{study}-{way}")


def followed(evidence: Evidence, cell: Cell, phase: str) -> Interval:
    """Mean service rate in a phase, divided by the over-provisioned throughput in the same phase."""
    return evidence.grid.ratio(cell, OVER, f"{phase}_rate_bps", to=f"{phase}_throughput_bps")


def _percent(interval: Interval, digits: int = 2) -> str:
    return number(interval.scaled(100), "%", digits)


def improves(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G8: behind a bottleneck users get more than without control, and fewer packets are lost."""
    parts = []
    for way, name in WAYS.items():
        found = evidence.grid.ratio(case(2, way), NONE, "whole_goodput_bps")
        said = f"{name.capitalize()}: {_percent(found, 1)} of the goodput without control."
        parts.append(Part(f"{way}-goodput", decided(found, at_least=tolerance["ratio"]), said))
        fewer = fewer_in_total(evidence, way)
        said = f"{name.capitalize()}: {_percent(fewer, 1)} fewer packets lost at both nodes."
        parts.append(Part(f"{way}-losses", decided(fewer, at_least=tolerance["fewer"]), said))
    return parts


EARTHS = {"awm-earth-printed": "printed", "awm-earth-working": "working"}
"""The experiments with AWM and EARTH, and the estimators of AWM's N."""


def error_of(evidence: Evidence, cell: Cell) -> dict[int, float]:
    """The mean of |C / demand - 1| over the settled phases and the falling demand, by seed."""
    grid = evidence.grid
    rates = {phase: grid.samples(cell, f"{phase}_rate_bps") for phase in SETTLED}
    demands = {phase: grid.samples(OVER, f"{phase}_throughput_bps") for phase in SETTLED}
    seeds = rates["low"].keys() & demands["low"].keys()
    return {
        seed: float(np.mean([abs(rates[phase][seed] / demands[phase][seed] - 1) for phase in SETTLED]))
        for seed in sorted(seeds)
    }


def improves_on_earth(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G9: C-EARTH is more precise than EARTH and keeps as much goodput."""
    parts = []
    for experiment, way in EARTHS.items():
        parts += _against_earth(evidence, tolerance, way, Cell.of(f"case1-{experiment}"), "AWM and EARTH")
    for part in _against_earth(evidence, tolerance, "printed", Cell.of("case1-earth"), "EARTH alone"):
        parts.append(Part(part.id.replace("printed", "alone"), part.holds, part.ours, counted=False))
    return parts


def _against_earth(evidence: Evidence, tolerance: Tolerance, way: str, earth: Cell, name: str) -> list[Part]:
    ours, theirs = error_of(evidence, case(1, way)), error_of(evidence, earth)
    closer = mean_interval([theirs[seed] - ours[seed] for seed in ours if seed in theirs])
    kept = [evidence.grid.ratio(cell, OVER, "goodput_bps") for cell in (case(1, way), earth)]
    share = {cell: evidence.grid.samples(cell, "goodput_bps") for cell in (case(1, way), earth, OVER)}
    more = mean_interval(
        [(share[case(1, way)][seed] - share[earth][seed]) / share[OVER][seed] for seed in share[earth]]
    )
    errors = [mean_interval(list(found.values())) for found in (ours, theirs)]
    label = WAYS[way].capitalize()
    return [
        Part(
            f"{way}-precise",
            decided(closer, at_least=tolerance["error"]),
            f"{label}: the rate is {_percent(errors[0])} off the demand, {name} {_percent(errors[1])}.",
        ),
        Part(
            f"{way}-kept",
            decided(more, at_least=-tolerance["slack"]),
            f"{label}: {_percent(kept[0])} of the goodput, {name} {_percent(kept[1])}.",
        ),
    ]


def estimates(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G10: the printed equations estimate N and RTT."""
    run = evidence.series["case1-printed"]
    parts = []
    for part, column, true, name, scale, unit in (
        ("flows", "flows", "active_flows", "N", 1.0, "flows"),
        ("round-trip", "round_trip_s", "true_round_trip_s", "RTT", 1e3, "ms"),
    ):
        found, expected = (series.mean_suggested(run, each, 175.0, 300.0) for each in (column, true))
        near = abs(found / expected - 1) <= tolerance["near"]
        parts.append(Part(part, near, f"{name}: {found * scale:.0f} {unit}, {expected * scale:.0f} true."))
    return parts


SENDERS = {
    "newreno": "NewReno (RFC 6582)",
    "sack": "SACK",
    "cubic": "CUBIC",
    "vegas": "Vegas",
    "bbr": "BBR",
}
"""The senders that G11 compares with ns-2's NewReno, by the names of their recorded runs."""
ISOLATED = ("sack", "cubic", "bbr")
"""The senders that fall behind as printed alone. The experiment `case1-counted` isolates the cause."""


def any_sender(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G11: goodput is the same with each sender, because the window limits."""
    parts, points = [], tolerance["points"]
    for way, name in WAYS.items():
        plain = kept_by(evidence, way, "NewReno (ns-2)")
        for slug, sender in SENDERS.items():
            more = _more(kept_by(evidence, way, sender), plain)
            said = f"{name.capitalize()}, {sender}: {number(more.scaled(100), 'points', 2)}."
            parts.append(Part(f"{way}-{slug}", decided(more, at_least=-points, at_most=points), said))
        shares = {
            slug: series.window_limited(evidence.series[f"{way}-{slug}"], 175.0, 300.0) for slug in ("ns2", *SENDERS)
        }
        least = min(shares, key=lambda slug: shares[slug])
        said = f"{name.capitalize()}: the window limits in {100 * shares[least]:.0f} % of the samples ({least})."
        parts.append(Part(f"{way}-cause", shares[least] >= tolerance["bypassed"], said))
    plain = kept_by(evidence, "counted", "NewReno (ns-2)")
    for slug in ISOLATED:
        more = _more(kept_by(evidence, "counted", SENDERS[slug]), plain)
        said = f"As printed with N counted, {SENDERS[slug]}: {number(more.scaled(100), 'points', 2)}."
        parts.append(Part(f"counted-{slug}", decided(more, at_least=-points, at_most=points), said, counted=False))
    return parts


def _more(found: dict[int, float], plain: dict[int, float]) -> Interval:
    """The mean difference over common seeds."""
    return mean_interval([found[seed] - plain[seed] for seed in found if seed in plain])


def kept_by(evidence: Evidence, way: str, sender: str) -> dict[int, float]:
    """Goodput over over-provisioned with the same sender, by seed."""
    found = evidence.grid.samples(Cell.of(f"case1-{way}", sender=sender), "goodput_bps")
    over = evidence.grid.samples(Cell.of("case1-over", sender=sender), "goodput_bps")
    return {seed: found[seed] / over[seed] for seed in found if seed in over}


def _near(evidence: Evidence, cell: Cell, phases: dict[str, str], most: float) -> tuple[bool | None, str]:
    """True if the rate matches the demand in every phase, within `most`; with a text that gives the ratios."""
    found = {phase: followed(evidence, cell, phase) for phase in phases}
    said = ", ".join(f"{phases[phase]} {_percent(found[phase], 1)}" for phase in phases)
    return every(decided(each, at_least=1 - most, at_most=1 + most) for each in found.values()), said


def follows_demand(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G3: the service rate follows the demand."""
    parts = []
    for way, name in WAYS.items():
        settled, said = _near(evidence, case(1, way), SETTLED, tolerance["settled"])
        parts.append(Part(f"{way}-settled", settled, f"{name.capitalize()}, settled: {said} of the demand."))
        moving, said = _near(evidence, case(1, way), MOVING, tolerance["moving"])
        parts.append(Part(f"{way}-moving", moving, f"{name.capitalize()}, 10 s after the step {said}."))
    return parts


def near_target(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G4: the queue stays near its target and does not overflow."""
    parts = []
    for way in WAYS:
        recorded = series.queue_deviation(evidence.series[f"case1-{way}"], 25.0, END_S)
        parts += _steady(evidence, tolerance, case(1, way), list(SETTLED), recorded, "drop_fraction")
    return parts


def near_target_again(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G12: the queue stays near its target behind a bottleneck."""
    parts = []
    for way in WAYS:
        recorded = series.queue_deviation(evidence.series[f"case2-{way}"], STEP_S, BACK_S)
        parts += _steady(evidence, tolerance, case(2, way), ["squeezed"], recorded, "bottleneck_drop_fraction")
    return parts


def _steady(
    evidence: Evidence, tolerance: Tolerance, cell: Cell, phases: list[str], deviation: float, dropped: str
) -> list[Part]:
    """Parts on a queue: its means, its deviation and its losses."""
    target, way = tolerance["target"], cell.experiment.split("-")[1]
    name = WAYS[way].capitalize()
    queues = [evidence.grid.interval(cell, f"{phase}_queue_packets") for phase in phases]
    bounds = {"at_least": target * (1 - tolerance["near"]), "at_most": target * (1 + tolerance["near"])}
    near = every(decided(queue, **bounds) for queue in queues)
    means = [f"{queue.mean:.1f}" for queue in queues]
    said = f"{min(means, key=float)} to {max(means, key=float)}" if len(means) > 1 else number(queues[0])
    lost = evidence.grid.interval(cell, dropped, 1e6)
    return [
        Part(f"{way}-near", near, f"{name}: {said} packets on average."),
        Part(
            f"{way}-small", deviation <= tolerance["deviation"], f"{name}: standard deviation {deviation:.1f} packets."
        ),
        Part(
            f"{way}-lossless",
            decided(lost, at_most=tolerance["drop_fraction"] * 1e6),
            f"{name}: {number(lost, digits=0)} packets in a million dropped.",
        ),
    ]


def full_use(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G1: the link is fully used."""
    return _printed(
        {way: evidence.grid.interval(case(1, way), "utilisation") for way in WAYS},
        tolerance["utilisation"],
        tolerance["slack"],
        "full",
        dict.fromkeys(WAYS, ""),
    )


def nothing_lost(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G2: users lose no throughput."""
    link = {way: evidence.grid.ratio(case(1, way), OVER, "throughput_bps") for way in WAYS}
    return _printed(
        {way: evidence.grid.ratio(case(1, way), OVER, "goodput_bps") for way in WAYS},
        tolerance["ratio"],
        tolerance["slack"],
        "kept",
        {way: f" of the goodput, {_percent(link[way])} of the link's throughput" for way in WAYS},
    )


def _printed(found: dict[str, Interval], value: float, slack: float, name: str, more: dict[str, str]) -> list[Part]:
    """Parts on a printed percentage: at most the slack below it, and within the slack on both sides."""
    parts = []
    for way, label in WAYS.items():
        off = found[way].mean - value
        said = f"{label.capitalize()}: {_percent(found[way])}{more[way]}."
        parts.append(Part(f"{way}-{name}", decided(found[way], at_least=value - slack), said))
        both = decided(found[way], at_least=value - slack, at_most=value + slack)
        parts.append(Part(f"{way}-value", both, f"{100 * off:+.2f} points."))
    return parts


def follows_least(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G5: the service rate follows the smaller of demand and bottleneck capacity."""
    parts = []
    for way, name in WAYS.items():
        squeezed = evidence.grid.interval(case(2, way), "squeezed_rate_bps", 1 / tolerance["capacity"])
        for when, where, share, of in (
            ("before", "before", followed(evidence, case(2, way), "high"), "the demand"),
            ("squeezed", "at the bottleneck", squeezed, "its capacity"),
        ):
            most = tolerance["squeezed" if when == "squeezed" else "settled"]
            said = f"{name.capitalize()}, {where}: {_percent(share, 1)} of {of}."
            parts.append(Part(f"{way}-{when}", decided(share, at_least=1 - most, at_most=1 + most), said))
    return parts


def recovers(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G14: the service rate follows the demand after the bottleneck."""
    parts, most = [], tolerance["settled"]
    for way, name in WAYS.items():
        share = followed(evidence, case(2, way), "after")
        said = f"{name.capitalize()}: {_percent(share, 1)} of the demand."
        parts.append(Part(way, decided(share, at_least=1 - most, at_most=1 + most), said))
    return parts


def fewer_losses(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G6: about 97 % fewer packets are lost, and losses end soon."""
    parts = []
    for way, name in WAYS.items():
        label = name.capitalize()
        fewer = evidence.grid.reduction(case(2, way), NONE, "node_drops")
        said = f"{label}: {_percent(fewer, 1)} fewer packets lost at the Internet node."
        parts.append(Part(f"{way}-fewer", decided(fewer, at_least=tolerance["reduction"]), said))
        total = fewer_in_total(evidence, way)
        said = f"{label}: {_percent(total, 1)} fewer at the Internet node and the G-Router together."
        parts.append(Part(f"{way}-total", decided(total, at_least=tolerance["reduction"]), said))
        late = mean_interval(list(late_share(evidence, case(2, way)).values()))
        said = f"{label}: {_percent(late, 0)} of the losses later than 10 s after the step."
        parts.append(Part(f"{way}-short", decided(late, at_most=tolerance["late"]), said))
        full = series.full_share(evidence.series[f"case2-{way}"], STEP_S + 10, BACK_S, tolerance["full"])
        said = f"{label}: the buffer is nine tenths full in {100 * full:.0f} % of the seconds then."
        parts.append(Part(f"{way}-full", full <= tolerance["late"], said))
    return parts


def fewer_in_total(evidence: Evidence, way: str) -> Interval:
    """1 minus the ratio of drops at both nodes to those without control."""
    lost = [
        (evidence.grid.samples(cell, "drops"), evidence.grid.samples(cell, "node_drops"))
        for cell in (case(2, way), NONE)
    ]
    (ours, behind), (plain, plain_behind) = lost
    return mean_interval(
        [1 - (ours[seed] + behind[seed]) / (plain[seed] + plain_behind[seed]) for seed in ours if seed in plain]
    )


def late_share(evidence: Evidence, cell: Cell) -> dict[int, float]:
    """The share of the Internet node's drops of 300 to 600 s that is later than 310 s, by seed."""
    early, late = (evidence.grid.samples(cell, f"node_{when}_drops") for when in ("adapting", "adapted"))
    return {seed: late[seed] / (early[seed] + late[seed]) if early[seed] + late[seed] else 0.0 for seed in early}


def stays_full(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G7: without control, the Internet node's buffer stays full."""
    full = evidence.grid.interval(NONE, "node_queue_packets")
    after = evidence.grid.interval(NONE, "node_after_queue_packets")
    drops = evidence.grid.interval(NONE, "node_drops")
    return [
        Part(
            "full",
            decided(full, at_least=tolerance["full"]),
            f"At the bottleneck {number(full, digits=1)} of 100 packets on average, {number(drops, digits=0)} dropped.",
        ),
        Part("empty", decided(after, at_most=tolerance["empty"]), f"Afterwards: {number(after, digits=1)} packets."),
    ]


def lost_throughout(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G13: without control, losses begin at once and last until 600 s."""
    times = series.drop_times(evidence.series["case2-none"], series.NODE, STEP_S, BACK_S)
    first = float(times[0]) - STEP_S if len(times) else float("inf")
    width = 10.0
    hit = len(np.unique((times - STEP_S) // width)) / ((BACK_S - STEP_S) / width)
    return [
        Part("at-once", first <= tolerance["first_s"], f"The first loss is {first:.2f} s after the step."),
        Part("throughout", hit >= tolerance["share"], f"{100 * hit:.0f} % of the intervals of 10 s have losses."),
    ]


JUDGES: dict[str, Callable[[Evidence, Tolerance], list[Part]]] = {
    "G1": full_use,
    "G2": nothing_lost,
    "G3": follows_demand,
    "G4": near_target,
    "G5": follows_least,
    "G6": fewer_losses,
    "G7": stays_full,
    "G8": improves,
    "G9": improves_on_earth,
    "G10": estimates,
    "G11": any_sender,
    "G12": near_target_again,
    "G13": lost_throughout,
    "G14": recovers,
}
"""The judge of each claim."""


def _both(label: str, unit: str, measure: Callable[[Evidence, str], float]) -> list[Headline]:
    def of(way: str) -> Callable[[Evidence], float]:
        return lambda evidence: measure(evidence, way)

    return [Headline(f"{label}, {name}", unit, of(way)) for way, name in WAYS.items()]


def _goodput(evidence: Evidence, way: str) -> float:
    return 100 * evidence.grid.ratio(case(1, way), OVER, "goodput_bps").mean


def _use(evidence: Evidence, way: str) -> float:
    return evidence.grid.interval(case(1, way), "utilisation", 100).mean


def _fewer(evidence: Evidence, way: str) -> float:
    return 100 * evidence.grid.reduction(case(2, way), NONE, "node_drops").mean


HEADLINES = (
    *_both("utilisation", "%", _use),
    *_both("goodput over over-provisioned", "%", _goodput),
    *_both("fewer losses at the Internet node", "%", _fewer),
)
"""The numbers that show the effect of a reading."""
