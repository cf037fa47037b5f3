"""The judges of the claims in claims.toml, and the numbers that show the effect of a reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Evidence, Headline, Part, Tolerance, cells_within, percent, times

from .measures import (
    BBR,
    CODEL,
    CUBIC,
    DROP_TAIL,
    RENO,
    BySeed,
    Place,
    goodputs,
    growth,
    like,
    mean,
    minus,
    over,
    places,
    savings,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netlull.stats import Interval

WEB = ("web-0.2", "web-0.5")
PRACTRA = ("practRA, d 40 ms", "practRA, d 5 ms")
QUEUED = ("EARTH", "C-EARTH", "G-Router")
"""The mechanisms that steer by the length of a queue."""


def _against(
    evidence: Evidence, place: Place, way: str, quantity: Callable[[Evidence, Place, str], BySeed]
) -> Interval:
    """A quantity minus that under NewReno with the same queue."""
    return minus(quantity(evidence, place, way), quantity(evidence, like(evidence, place), way))


def _left(evidence: Evidence, place: Place, way: str) -> Interval:
    """The saving over that under NewReno with the same queue."""
    return over(savings(evidence, place, way), savings(evidence, like(evidence, place), way))


def practra_saving(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V1."""
    found = places(evidence, *WEB, sender=BBR, queue=None)
    bound = tolerance["within"]
    return [
        cells_within(
            way, [(place, _against(evidence, place, way, savings)) for place in found], least=-bound, most=bound
        )
        for way in PRACTRA
    ]


def practra_price(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V2."""
    found = places(evidence, *WEB, sender=BBR)
    return [
        cells_within(way, [(place, _against(evidence, place, way, growth)) for place in found], most=tolerance["most"])
        for way in PRACTRA
    ]


def lull_saving(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V3."""
    files, web = (
        [(place, _left(evidence, place, "Lull")) for place in places(evidence, *names, sender=BBR)]
        for names in (("files",), WEB)
    )
    return [
        cells_within("files", files, times, most=tolerance["most"]),
        cells_within("web", web, times, least=tolerance["least"]),
    ]


def _starved(evidence: Evidence, tolerance: Tolerance, ways: Sequence[str], name: str = "endless") -> list[Part]:
    parts = []
    for way in ways:
        for sender in (BBR, RENO):
            found = [(place, mean(goodputs(evidence, place, way))) for place in places(evidence, name, sender=sender)]
            bounds = {"most": tolerance["most"]} if sender == BBR else {"least": tolerance["least"]}
            parts.append(cells_within(f"{way}, {sender}", found, times, **bounds))
    return parts


def earth_starves(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V4."""
    return _starved(evidence, tolerance, ["EARTH"])


def gateways_starve(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V5."""
    return _starved(evidence, tolerance, ["C-EARTH", "G-Router"])


def one_starves(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V21."""
    return _starved(evidence, tolerance, QUEUED, "one")


def codel_blinds(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V6."""
    found = places(evidence, "endless", sender=RENO, queue=CODEL)
    return [
        cells_within(
            way, [(place, mean(goodputs(evidence, place, way))) for place in found], times, most=tolerance["most"]
        )
        for way in QUEUED
    ]


def codel_practra(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V7."""
    name = "web-0.5" if "web-0.5" in evidence.grid.experiments else "web-0.2"
    parts = []
    for way, bounds in zip(PRACTRA, ({"least": tolerance["least"]}, {"most": tolerance["most"]}), strict=True):
        found = [
            (
                place,
                minus(
                    growth(evidence, place, way), growth(evidence, like(evidence, place, place.sender, DROP_TAIL), way)
                ),
            )
            for place in places(evidence, name, queue=CODEL)
        ]
        parts.append(cells_within(way, found, percent, **bounds))
    return parts


def behind_same(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V8."""
    found = places(evidence, "behind", sender=BBR)
    bound = tolerance["within"]
    parts = []
    for way in (*PRACTRA, "Lull"):
        saved = [(place, _against(evidence, place, way, savings)) for place in found]
        kept = [(place, mean(goodputs(evidence, place, way))) for place in found]
        parts += [
            cells_within(f"{way}, saving", saved, least=-bound, most=bound),
            cells_within(f"{way}, goodput", kept, times, least=tolerance["least"]),
        ]
    return parts


def behind_starved(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V9."""
    found = places(evidence, "behind", sender=BBR)
    return [
        cells_within(
            way, [(place, mean(goodputs(evidence, place, way))) for place in found], times, most=1 - tolerance["least"]
        )
        for way in QUEUED
    ]


def _same(evidence: Evidence, found: Sequence[Place], ways: Sequence[str], bound: float) -> list[Part]:
    return [
        cells_within(
            way, [(place, _against(evidence, place, way, savings)) for place in found], least=-bound, most=bound
        )
        for way in ways
    ]


def cubic_saves(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V10."""
    found = places(evidence, *WEB, sender=CUBIC)
    return _same(evidence, found, found[0].ways, tolerance["within"])


def web_saves(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V11."""
    return _same(evidence, places(evidence, "web-0.2", sender=BBR), ("Lull", *QUEUED), tolerance["within"])


def idle_saving(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V12."""

    def left(*names: str) -> list[tuple[Place, Interval]]:
        return [(place, _left(evidence, place, "LPI")) for place in places(evidence, *names, sender=BBR)]

    return [
        cells_within("1 Gb/s, 10 ms", left("1g-10ms"), times, most=tolerance["far"]),
        cells_within("1 Gb/s, 1 ms", left("1g-1ms"), times, least=tolerance["near"]),
        cells_within("10 Gb/s", left("10g-1ms", "10g-10ms"), times, least=tolerance["fast"]),
    ]


def idle_coalescing(evidence: Evidence, _: Tolerance) -> list[Part]:
    """Judges V13."""
    found = [
        (
            place,
            minus(savings(evidence, place, "LPI, coalescing"), savings(evidence, like(evidence, place), "LPI")),
        )
        for place in places(evidence, "1g-10ms", sender=BBR)
    ]
    return [cells_within("1 Gb/s, 10 ms", found, most=0.0)]


def _each(found: Sequence[Place], measure: Callable[[Place], Interval], **bounds: float) -> list[Part]:
    """A part for each experiment."""
    names = dict.fromkeys(place.experiment for place in found)
    return [
        cells_within(name, [(place, measure(place)) for place in found if place.experiment == name], percent, **bounds)
        for name in names
    ]


def idle_price(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V14."""
    found = places(evidence, sender=BBR)
    return _each(found, lambda place: _against(evidence, place, "LPI", growth), most=tolerance["most"])


def idle_codel(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V15."""

    def measure(place: Place) -> Interval:
        plain = like(evidence, place, place.sender, DROP_TAIL)
        return minus(savings(evidence, place, "LPI"), savings(evidence, plain, "LPI"))

    bound = tolerance["within"]
    return _each(places(evidence, queue=CODEL), measure, least=-bound, most=bound)


def sleep_saving(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V16."""
    found = places(evidence, sender=BBR, queue=None)
    bound = tolerance["within"]
    return _each(found, lambda place: _against(evidence, place, "ESTOP", savings), least=-bound, most=bound)


def sleep_price(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V17."""
    found = places(evidence, sender=BBR)
    return _each(found, lambda place: _against(evidence, place, "ESTOP", growth), most=tolerance["most"])


def shaper_saving(evidence: Evidence, _: Tolerance) -> list[Part]:
    """Judges V18."""
    found = places(evidence, "download-60", "download-120")
    return [
        cells_within(
            f"{place.sender}, {place.experiment[9:]} ms",
            [(place, mean(savings(evidence, place, "client's shaper")))],
            most=0.0,
        )
        for place in found
    ]


def psm_saving(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V19."""
    bound = tolerance["within"]
    found = places(evidence, sender=BBR)
    return _each(found, lambda place: _against(evidence, place, "PSM", savings), least=-bound, most=bound)


def bsd_saving(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges V20."""
    found = places(evidence, "download-60", "download-120")
    web = places(evidence, "client-web", sender=BBR)
    bound = tolerance["within"]
    return [
        cells_within(
            "downloads", [(place, mean(savings(evidence, place, "BSD"))) for place in found], most=tolerance["most"]
        ),
        cells_within(
            "web", [(place, _against(evidence, place, "BSD", savings)) for place in web], least=-bound, most=bound
        ),
    ]


JUDGES = {
    "V1": practra_saving,
    "V2": practra_price,
    "V3": lull_saving,
    "V4": earth_starves,
    "V5": gateways_starve,
    "V6": codel_blinds,
    "V7": codel_practra,
    "V8": behind_same,
    "V9": behind_starved,
    "V10": cubic_saves,
    "V11": web_saves,
    "V21": one_starves,
    "V12": idle_saving,
    "V13": idle_coalescing,
    "V14": idle_price,
    "V15": idle_codel,
    "V16": sleep_saving,
    "V17": sleep_price,
    "V18": shaper_saving,
    "V19": psm_saving,
    "V20": bsd_saving,
}
"""The judge of each claim."""


def _saved(way: str) -> Callable[[Evidence], float]:
    def measure(evidence: Evidence) -> float:
        (place,) = places(evidence, "web-0.2", sender=BBR)
        return 100 * mean(savings(evidence, place, way)).mean

    return measure


def _goodput(way: str) -> Callable[[Evidence], float]:
    def measure(evidence: Evidence) -> float:
        (place,) = places(evidence, "endless", sender=BBR)
        return 100 * mean(goodputs(evidence, place, way)).mean

    return measure


HEADLINES = (
    Headline("practRA (d 5 ms) saves under BBRv3, web load 0.2", "%", _saved("practRA, d 5 ms")),
    Headline("Lull saves under BBRv3, web load 0.2", "%", _saved("Lull")),
    Headline("C-EARTH leaves BBRv3 of its goodput, four endless transfers", "%", _goodput("C-EARTH")),
)
"""The numbers that show the effect of a reading."""
