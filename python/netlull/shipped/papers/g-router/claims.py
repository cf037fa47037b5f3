"""Judges of the claims in claims.toml. Each claim has parts; each part holds or fails and reports its measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Evidence, Headline, Part, Tolerance, number

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
    "squeezed": "falling to 22 Mb/s",
    "after": "to 20 Mb/s",
}
"""Phases with a settled or slowly falling demand, and the demand there; case study 1 has no bottleneck."""
MOVING = {"rise": "to 15 Mb/s", "jump": "to 25 Mb/s"}


def case(study: int, way: str) -> Cell:
    """The point of a case study under the G-Router with these estimators."""
    return Cell.of(f"case{study}-{way}")


def followed(evidence: Evidence, cell: Cell, phase: str) -> Interval:
    """Mean service rate in a phase, divided by the over-provisioned throughput in the same phase."""
    return evidence.grid.ratio(cell, OVER, f"{phase}_rate_bps", to=f"{phase}_throughput_bps")


def _percent(interval: Interval, digits: int = 2) -> str:
    return number(interval.scaled(100), "%", digits)


def _each(part: Callable[[str], Part]) -> list[Part]:
    return [part(way) for way in WAYS]


def full_use(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G1: the link is fully used."""
    least = tolerance["utilisation"] - tolerance["slack"]

    def part(way: str) -> Part:
        found = evidence.grid.interval(case(1, way), "utilisation")
        return Part(way, found.low >= least, f"{WAYS[way].capitalize()}: {_percent(found)}.")

    return _each(part)


def nothing_lost(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G2: users lose no throughput."""
    least = tolerance["ratio"] - tolerance["slack"]

    def part(way: str) -> Part:
        found = evidence.grid.ratio(case(1, way), OVER, "goodput_bps")
        link = evidence.grid.ratio(case(1, way), OVER, "throughput_bps")
        text = f"{WAYS[way].capitalize()}: {_percent(found)} of the goodput, {_percent(link)} of the link's throughput."
        return Part(way, found.low >= least, text)

    return _each(part)


def _near(evidence: Evidence, cell: Cell, phases: dict[str, str], most: float) -> tuple[bool, str]:
    """True if the rate matches the demand in every phase, within `most`; with a text that gives the ratios."""
    found = {phase: followed(evidence, cell, phase) for phase in phases}
    said = ", ".join(f"{phases[phase]} {_percent(found[phase], 1)}" for phase in phases)
    return all(abs(each.mean - 1) <= most for each in found.values()), said


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
    target, parts = tolerance["target"], []
    for way, name in WAYS.items():
        found = [evidence.grid.interval(case(1, way), f"{phase}_queue_packets").mean for phase in SETTLED]
        near = all(abs(queue / target - 1) <= tolerance["near"] for queue in found)
        said = f"{name.capitalize()}: {min(found):.1f} to {max(found):.1f} packets on average in the settled parts."
        parts.append(Part(f"{way}-near", near, said))
        deviation = series.queue_deviation(evidence.series[f"case1-{way}"], 25.0)
        said = f"{name.capitalize()}: standard deviation {deviation:.1f} packets."
        parts.append(Part(f"{way}-small", deviation <= tolerance["deviation"], said))
        lost = evidence.grid.interval(case(1, way), "drop_fraction", 1e6)
        said = f"{name.capitalize()}: {number(lost, digits=0)} packets in a million dropped."
        parts.append(Part(f"{way}-lossless", lost.mean <= tolerance["drop_fraction"] * 1e6, said))
    return parts


def follows_least(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G5: the service rate follows the smaller of demand and bottleneck capacity."""
    parts = []
    for way, name in WAYS.items():
        cell = case(2, way)
        squeezed = evidence.grid.interval(cell, "squeezed_rate_bps", 1 / tolerance["capacity"])
        for when, where, share, of in (
            ("before", "before", followed(evidence, cell, "high"), "the demand"),
            ("squeezed", "at the bottleneck", squeezed, "its capacity"),
            ("after", "after", followed(evidence, cell, "after"), "the demand"),
        ):
            near = abs(share.mean - 1) <= tolerance["squeezed" if when == "squeezed" else "settled"]
            said = f"{name.capitalize()}, {where}: {_percent(share, 1)} of {of}."
            parts.append(Part(f"{way}-{when}", near, said))
    return parts


def fewer_losses(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G6: the Internet node loses about 97 % fewer packets."""
    parts = []
    for way, name in WAYS.items():
        fewer = evidence.grid.reduction(case(2, way), NONE, "node_drops")
        said = f"{name.capitalize()}: {_percent(fewer, 1)} fewer packets lost at the Internet node."
        parts.append(Part(f"{way}-fewer", fewer.low >= tolerance["reduction"], said))
        queue = evidence.grid.interval(case(2, way), "node_queue_packets")
        said = f"{name.capitalize()}: its queue is {number(queue, digits=1)} packets on average."
        parts.append(Part(f"{way}-short", queue.mean < tolerance["queue"], said))
    return parts


def stays_full(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges G7: without control, the Internet node's buffer stays full."""
    full = evidence.grid.interval(NONE, "node_queue_packets")
    after = evidence.grid.interval(NONE, "node_after_queue_packets")
    drops = evidence.grid.interval(NONE, "node_drops")
    return [
        Part(
            "full",
            full.mean >= tolerance["full"],
            f"At the bottleneck {number(full, digits=1)} of 100 packets on average, {number(drops, digits=0)} dropped.",
        ),
        Part("empty", after.mean < tolerance["empty"], f"Afterwards: {number(after, digits=1)} packets."),
    ]


JUDGES: dict[str, Callable[[Evidence, Tolerance], list[Part]]] = {
    "G1": full_use,
    "G2": nothing_lost,
    "G3": follows_demand,
    "G4": near_target,
    "G5": follows_least,
    "G6": fewer_losses,
    "G7": stays_full,
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
