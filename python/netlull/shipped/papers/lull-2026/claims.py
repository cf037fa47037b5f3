"""The judges of the claims in claims.toml, and the numbers that show the effect of a reading."""

from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from netlull.papers import Cell, Evidence, Headline, Part, Tolerance, decided, every, number, percent
from netlull.stats import bootstrap_ratio, mean_interval

from .measures import (
    ALWAYS,
    AXES,
    LULL,
    SHOWN_RTT,
    WEB,
    Place,
    counted,
    growth,
    lost,
    percentile,
    places,
    saving,
    settings,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netlull.stats import Interval

ORDINALS = ("first", "second", "third", "fourth", "fifth")
"""The names of the links in series."""
CLAIRVOYANT = Path(__file__).parent / "clairvoyant.toml"
"""The bounds of `netlull bound`, by load and seed."""


def _id(name: str) -> str:
    """The id of a part: a name without blanks and commas."""
    return name.replace(",", "").replace(" ", "-").lower()


def _within(name: str, found: Sequence[tuple[object, Interval]], most: float, show: Callable[[Interval], str]) -> Part:
    """A part that holds if every cell is at most at its bound."""
    answers = [decided(value, at_most=most) for _, value in found]
    worst, value = max(found, key=lambda item: item[1].mean)
    text = f"{name}: {counted(answers)}; largest {show(value)} at {worst}."
    return Part(_id(name), every(answers), text)


def _least(name: str, found: Sequence[tuple[object, Interval]], least: float) -> Part:
    """A part that holds if every cell saves enough."""
    answers = [decided(value, at_least=least) for _, value in found]
    worst, value = min(found, key=lambda item: item[1].mean)
    at = f" at {worst}" if len(found) > 1 else ""
    return Part(_id(name), every(answers), f"{name}: {percent(value)}{at}.")


def _lost(evidence: Evidence, experiment: str, **fixed: float | str) -> list[tuple[object, Interval]]:
    return [(place, lost(evidence, place)) for place in places(evidence, experiment, **fixed)]


def bulk(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges L1."""
    senders = evidence.grid.labels("bulk", "sender")
    most = tolerance["most_lost"]
    return [_within(name, _lost(evidence, "bulk", sender=name), most, percent) for name in senders]


def bursts(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges L2."""
    grid, most = evidence.grid, tolerance["most_lost"]
    return [
        _within(f"{name}, {few:g}", _lost(evidence, "bursts", rival=name, few=few), most, percent)
        for name in grid.labels("bursts", "rival")
        for few in grid.values("bursts", "few")
    ]


def bottleneck(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges L3."""
    kinds = evidence.grid.labels("bottleneck", "kind")
    most = tolerance["most_lost"]
    return [_within(name, _lost(evidence, "bottleneck", kind=name), most, percent) for name in kinds]


def _times(value: Interval) -> str:
    return number(value, digits=3)


def web(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges L4. Buffers below 0.5 BDP do not count."""
    most = tolerance["most"]

    def part(name: str, found: Sequence[Place]) -> Part:
        return _within(name, [(place, growth(evidence, place)) for place in found], most, _times)

    laws = evidence.grid.labels("web", "law")
    parts = [part(law, places(evidence, "web", law=law)) for law in laws]
    if "buffers" in evidence.grid.experiments:
        large = [place for place in places(evidence, "buffers") if place.point["buffer"] != "5 packets"]
        parts.append(part("buffers", large))
    if "senders" in evidence.grid.experiments:
        parts.append(part("senders", places(evidence, "senders")))
    return parts


def three_links(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges L5."""
    grid, parts = evidence.grid, []
    for law in grid.labels("three", "law"):
        found: list[tuple[object, Interval]] = []
        for load in grid.values("three", "some_load"):
            lull, plain = (Cell.of("three", law=law, some_load=load, pair=control) for control in (LULL, ALWAYS))
            found.append((f"load {load:g}", percentile(evidence, lull, plain)))
        parts.append(_within(law, found, tolerance["most"], _times))
    return parts


def _path(links: float, buffer: str, control: str) -> Cell:
    return Cell.of("cubic", links_30=links, buffer=buffer, pair=control)


def path_saving(evidence: Evidence, links: float, buffer: str) -> dict[int, float]:
    """The mean saving over the links of a path with Lull, by seed."""
    cell = _path(links, buffer, LULL)
    each = [evidence.grid.samples(cell, f"saving_{name}") for name in ORDINALS[: int(links)]]
    return {seed: sum(found[seed] for found in each) / len(each) for seed in each[0]}


def share_of_one(evidence: Evidence, links: float, buffer: str) -> Interval:
    """The saving of each link over that of a single link, paired by seed."""
    ours, single = (path_saving(evidence, count, buffer) for count in (links, 1.0))
    return bootstrap_ratio([ours[seed] for seed in ours], [single[seed] for seed in ours])


def path_growth(evidence: Evidence, links: float, buffer: str, metric: str = "p95_s") -> Interval:
    """A completion time with Lull on each link over always on's."""
    return percentile(evidence, _path(links, buffer, LULL), _path(links, buffer, ALWAYS), metric)


def series_budget(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges L19."""
    parts = []
    for buffer in evidence.grid.labels("cubic", "buffer"):
        for links in evidence.grid.values("cubic", "links_30"):
            if links == 1:
                continue
            name, place = f"{links:g} links, {buffer}", (evidence, links, buffer)
            grown, share = path_growth(*place), share_of_one(*place)
            holds = decided(grown, at_most=tolerance["most"])
            parts.append(Part(_id(f"{name}, p95"), holds, f"{name}: p95 {_times(grown)}"))
            holds = decided(share, at_least=tolerance["least"])
            parts.append(Part(_id(f"{name}, saving"), holds, f"saving {percent(share)} of one link's."))
    return parts


def web_saving(evidence: Evidence, tolerance: Tolerance, model: str) -> list[Part]:
    """Judges L6 to L11."""
    parts = []
    for law in evidence.grid.labels("web", "law"):
        place = Place("web", law=law, load=tolerance["load"], web_rtt=SHOWN_RTT)
        parts.append(_least(law, [(place, saving(evidence, place.cell(LULL), model))], tolerance["least"]))
    return parts


def _steady(evidence: Evidence, tolerance: Tolerance, experiment: str, **fixed: str) -> list[Part]:
    parts = []
    for name in evidence.grid.labels(experiment, "rival"):
        found = [
            (place, saving(evidence, place.cell(LULL))) for place in places(evidence, experiment, rival=name, **fixed)
        ]
        parts.append(_least(name, found, tolerance["least"]))
    return parts


def writer(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges L12."""
    return _steady(evidence, tolerance, "writer")


def behind_bottleneck(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges L13."""
    return _steady(evidence, tolerance, "bottleneck", kind="4 Mb/s")


def bounds() -> dict[tuple[float, int], dict[str, float]]:
    """The clairvoyant savings by load and seed: the shares that no schedule exceeds."""
    rows = tomllib.loads(CLAIRVOYANT.read_text(encoding="utf-8"))["bound"]
    return {(row["load"], row["seed"]): row for row in rows}


def possible(evidence: Evidence, load: float, model: str) -> Interval:
    """Lull's saving over the clairvoyant one, paired by seed."""
    known = bounds()
    ours = evidence.grid.samples(Cell.of("possible", some_load=load, control=LULL), f"saving_{model}")
    return mean_interval([value / known[load, seed][model] for seed, value in ours.items() if (load, seed) in known])


def of_the_possible(evidence: Evidence, tolerance: Tolerance, model: str) -> list[Part]:
    """Judges L14 and L15."""
    parts = []
    for load in evidence.grid.values("possible", "some_load"):
        value = possible(evidence, load, model)
        holds = decided(value, at_least=tolerance["least"])
        parts.append(Part(f"load-{load:g}", holds, f"Load {load:g}: {percent(value)} of the possible."))
    return parts


def beaten(evidence: Evidence, place: Place, setting: str) -> bool | None:
    """Does practRA save more energy and delay less? None if only the means say so."""
    grid, ours, theirs = evidence.grid, place.cell(LULL), place.cell(setting)
    energy = grid.difference(theirs, ours, "saving_fs")
    metric, sign = ("p95_s", -1.0) if place.experiment in WEB else ("tcp_bps", 1.0)
    better = grid.difference(theirs, ours, metric, sign)
    if energy.mean <= 0 or better.mean <= 0:
        return False
    sure = [decided(gap, at_least=0) for gap in (energy, better)]
    return True if all(sure) else None


def never_beaten(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges L16."""
    sure: list[str] = []
    maybe: list[str] = []
    found = [place for name in AXES if name in evidence.grid.experiments for place in places(evidence, name)]
    for place in found:
        answers = {setting: beaten(evidence, place, setting) for setting in settings(evidence)}
        named = [setting.removeprefix("practRA").strip(", ") for setting, answer in answers.items() if answer]
        if named:
            sure.append(f"{place}: {', '.join(named)}")
        elif None in answers.values():
            maybe.append(str(place))
    most = tolerance["most_share"] * len(found)
    holds = False if len(sure) > most else True if len(sure) + len(maybe) <= most else None
    text = f"practRA is better in both in {len(sure)} of {len(found)} cells, by its means alone in {len(maybe)} more."
    text += f" Sure: {'; '.join(sure)}." if sure else ""
    text += f" By means: {'; '.join(maybe)}." if maybe else ""
    return [Part("cells", holds, text)]


def _fast(name: str, control: str) -> Cell:
    return Cell.of("fast", fast=name, fast_control=control)


def fast_saving(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges L17."""
    return [_least(name, [(name, saving(evidence, _fast(name, LULL)))], least) for name, least in tolerance.items()]


def fast_times(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges L18."""
    (targets,) = (claim.tolerance for claim in evidence.paper.claims if claim.id == "L17")
    found: dict[str, list[tuple[object, Interval]]] = {"of L17": [], "others": []}
    for name in evidence.grid.labels("fast", "fast"):
        value = percentile(evidence, _fast(name, LULL), _fast(name, ALWAYS))
        found["of L17" if name in targets else "others"].append((name, value))
    return [_within(name, cells, tolerance["most"], _times) for name, cells in found.items()]


JUDGES = {
    "L1": bulk,
    "L2": bursts,
    "L3": bottleneck,
    "L4": web,
    "L5": three_links,
    "L6": partial(web_saving, model="fs"),
    "L7": partial(web_saving, model="fs"),
    "L8": partial(web_saving, model="fs"),
    "L9": partial(web_saving, model="dvs"),
    "L10": partial(web_saving, model="dvs"),
    "L11": partial(web_saving, model="dvs"),
    "L12": writer,
    "L13": behind_bottleneck,
    "L14": partial(of_the_possible, model="fs"),
    "L15": partial(of_the_possible, model="dvs"),
    "L16": never_beaten,
    "L17": fast_saving,
    "L18": fast_times,
    "L19": series_budget,
}
"""The judge of each claim."""


def _saving_headline(load: float) -> Headline:
    place = Place("web", law="pareto", load=load, web_rtt=SHOWN_RTT)
    return Headline(
        f"FS saving, Pareto, load {load:g}", "%", lambda evidence: saving(evidence, place.cell(LULL)).mean * 100
    )


def _growth_headline(load: float) -> Headline:
    place = Place("web", law="pareto", load=load, web_rtt=SHOWN_RTT)
    return Headline(f"p95 growth, Pareto, load {load:g}", "times", lambda evidence: growth(evidence, place).mean)


HEADLINES = (_saving_headline(0.3), _saving_headline(0.5), _growth_headline(0.3), _growth_headline(0.5))
"""The numbers that show the effect of a reading."""
