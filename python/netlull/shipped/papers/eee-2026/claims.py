"""The judges of the claims in claims.toml, and the numbers that show the effect of a reading."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from netlull.papers import Evidence, Headline, Part, Tolerance, cells_within, decided, part_id, percent, times
from netlull.stats import mean_interval

from .measures import (
    COALESCING,
    DEVICES,
    FIRST,
    LPI,
    OFF,
    RATES,
    SLEEP_S,
    WAKE_S,
    Place,
    above_closed_form,
    added,
    asleep,
    exchange,
    lost,
    mean,
    mean_ratio,
    micro,
    over,
    places,
    ratio,
    saving,
    together,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netlull.stats import Interval


def _rates(found: Sequence[Place]) -> list[str]:
    return list(dict.fromkeys(place.rate for place in found))


def _at_load(load: float) -> Callable[[Place], bool]:
    return lambda place: place["load"] == load


def _up_to(load: float) -> Callable[[Place], bool]:
    return lambda place: place.value("load") <= load


def _each(
    found: Sequence[Place], key: Callable[[Place], str], measure: Callable[[Place], Interval]
) -> list[tuple[str, list[tuple[object, Interval]]]]:
    """The measured cells by the name of their part."""
    names = dict.fromkeys(key(place) for place in found)
    return [(name, [(place, measure(place)) for place in found if key(place) == name]) for name in names]


def _rate(place: Place) -> str:
    return RATES[place.rate]


def _sender(place: Place) -> str:
    return str(place["sender"])


def low_load(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E1."""
    found = places(evidence, "web", _at_load(tolerance["load"]))
    groups = _each(found, _rate, lambda place: saving(evidence, place, LPI))
    return [cells_within(name, group, percent, least=tolerance["least"]) for name, group in groups]


def high_load(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E2."""
    found = places(evidence, "web", _at_load(tolerance["load"]))
    groups = _each(found, _rate, lambda place: saving(evidence, place, LPI))
    return [cells_within(name, group, percent, most=tolerance["most"]) for name, group in groups]


def poisson(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E3."""
    found = places(evidence, "web", lambda place: place.rate == "10g")
    groups = _each(found, lambda place: f"load {place['load']:g}", lambda place: above_closed_form(evidence, place))
    return [cells_within(name, group, percent, least=tolerance["least"]) for name, group in groups]


def small_exchange(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E4."""
    found = places(evidence, "web", _at_load(tolerance["load"]))

    def measure(place: Place) -> Interval:
        return exchange(evidence, place, LPI).scaled(1 / (2 * WAKE_S[place.rate]))

    groups = _each(found, lambda place: f"{_rate(place)}, {_reach(place)}", measure)
    return [cells_within(name, group, times, least=tolerance["low"], most=tolerance["high"]) for name, group in groups]


def _reach(place: Place) -> str:
    return "0.1 ms" if place["rtt"] == 0.1 else "1 ms and more"


def median(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E5."""
    found = places(evidence, "web", _up_to(tolerance["load"]))
    groups = _each(found, _rate, lambda place: added(evidence, place, LPI, "p50_s"))
    holds = {RATES[rate]: SLEEP_S[rate] + WAKE_S[rate] for rate in _rates(found)}
    return [cells_within(name, group, micro, most=tolerance["holds"] * holds[name]) for name, group in groups]


def slowest(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E6."""
    found = places(evidence, "web", _up_to(tolerance["load"]))
    parts = []
    for name in dict.fromkeys(f"{_rate(place)}, {place['rtt']:g} ms" for place in found):
        group = [place for place in found if name == f"{_rate(place)}, {place['rtt']:g} ms"]
        value = mean_ratio(evidence, group, LPI, "p99_s")
        parts.append(Part(part_id(name), decided(value, at_most=tolerance["most"]), f"{name}: {times(value)}."))
    return parts


def coalesced(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E7."""
    found = places(evidence, "web", _up_to(tolerance["load"]))
    parts = []
    for rate in _rates(found):
        here = [place for place in found if place.rate == rate]
        far = [(place, ratio(evidence, place, COALESCING, "p50_s")) for place in here if place.value("rtt") >= 10]
        near = [(place, ratio(evidence, place, COALESCING, "p50_s")) for place in here if place["rtt"] == 0.1]
        parts += [cells_within(f"{RATES[rate]}, 10 ms and more", far, times, most=tolerance["most"])]
        parts += [cells_within(f"{RATES[rate]}, 0.1 ms", near, times, least=tolerance["least"])]
    return parts


def coalescing_saves(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E8."""
    found = places(evidence, "web", _at_load(tolerance["load"]))
    groups = _each(
        found, _rate, lambda place: evidence.grid.difference(place.cell(COALESCING), place.cell(LPI), "saving_fs")
    )
    return [cells_within(name, group, percent, least=tolerance["least"]) for name, group in groups]


def compressed(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E9."""
    found = places(evidence, "web", lambda place: place.rate == "10g" and place.value("load") <= tolerance["load"])

    def measure(place: Place) -> Interval:
        return over(together(evidence, place.cell(COALESCING)), together(evidence, place.cell(LPI)))

    return [
        cells_within(name, group, times, least=tolerance["least"]) for name, group in _each(found, _sender, measure)
    ]


def downloads(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E10."""
    return _by_setting(places(evidence, "bulk"), partial(ratio, evidence, metric="p50_s"), most=tolerance["most"])


def _by_setting(
    found: Sequence[Place], measure: Callable[[Place, str], Interval], *, least: float = -math.inf, most: float
) -> list[Part]:
    """A part for each rate and setting, in ratios."""
    return [
        cells_within(f"{RATES[rate]}, {setting}", group, times, least=least, most=most)
        for rate in _rates(found)
        for setting in (LPI, COALESCING)
        if (
            group := [
                (place, measure(place, setting)) for place in found if place.rate == rate and setting in place.settings
            ]
        )
    ]


def endless(evidence: Evidence, tolerance: Tolerance, setting: str) -> list[Part]:
    """Judges E11 and E12."""
    found = places(evidence, "long", lambda place: place.value("rtt") >= tolerance["rtt"] and setting in place.settings)
    groups = _each(found, _sender, lambda place: lost(evidence, place, setting))
    return [cells_within(name, group, percent, most=tolerance["most"]) for name, group in groups]


def window(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E13."""
    found = places(evidence, "long", lambda place: place["sender"] == "BBR")
    bounds = {"least": tolerance["low"], "most": tolerance["high"]}
    return _by_setting(found, partial(ratio, evidence, metric="cwnd_bytes"), **bounds)


def marks(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E14."""
    found = places(evidence, "marks")
    large = [(place, lost(evidence, place, LPI)) for place in found if place.value("k") >= tolerance["large"]]
    far = max(place.value("rtt") for place in found)
    small = [place for place in found if place["k"] == tolerance["small"] and place["rtt"] == far]
    return [
        cells_within(f"from {tolerance['large']:g} on", large, percent, most=tolerance["most"]),
        cells_within(
            f"at {tolerance['small']:g}, {far:g} ms",
            [(place, lost(evidence, place, LPI)) for place in small],
            percent,
            least=tolerance["least"],
        ),
    ]


def next_drops(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E15."""
    found = places(evidence, "next", lambda place: place["buffer"] == tolerance["buffer"])
    groups = _each(found, _sender, lambda place: ratio(evidence, place, COALESCING, "next_drops"))
    return [cells_within(name, group, times, least=tolerance["least"]) for name, group in groups]


def next_goodput(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E16."""
    found = places(evidence, "next", lambda place: place.value("buffer") >= tolerance["buffer"])
    return [
        cells_within(
            sender,
            [
                (f"{place}, {setting}", lost(evidence, place, setting))
                for place in found
                if place["sender"] == sender
                for setting in place.settings
            ],
            percent,
            most=tolerance["most"],
        )
        for sender in dict.fromkeys(_sender(place) for place in found)
    ]


def incast(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E17."""
    found = places(evidence, "incast")
    groups = _each(
        found, lambda place: f"{_rate(place)}, {place['size']:g} kB", lambda place: ratio(evidence, place, LPI, "p99_s")
    )
    return [cells_within(name, group, times, most=tolerance["most"]) for name, group in groups]


def timers(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E18."""
    found = places(evidence, "timers", _at_load(tolerance["load"]))
    parts = []
    for timer in found[0].settings:
        group = [(place, saving(evidence, place, timer)) for place in found]
        if timer.startswith(("5 us", "30 us")):
            parts.append(cells_within(timer, group, percent, least=tolerance["least"]))
        elif timer.startswith("250 ms"):
            parts.append(cells_within(timer, group, percent, most=tolerance["most"]))
    return parts


def spurious(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E19."""
    found = places(evidence, "rto")

    def group(rto: float, *settings: str) -> list[tuple[object, Interval]]:
        return [
            (f"{place}, {setting}", _more_timeouts(evidence, place, setting))
            for place in found
            if place["rto"] == rto
            for setting in settings
        ]

    short, middle, long = "up to 0.1 ms", "up to 1 ms", "up to 10 ms"
    most, least = tolerance["most"], tolerance["least"]
    return [
        cells_within("RTO 200 ms", group(200, LPI, short, middle, long), _rare, most=most),
        cells_within("RTO 10 ms, up to 1 ms", group(10, LPI, short, middle), _rare, most=most),
        cells_within("RTO 1 ms, up to 0.1 ms", group(1, LPI, short), _rare, most=most),
        cells_within("RTO 1 ms, up to 10 ms", group(1, long), _rare, least=least),
    ]


def _more_timeouts(evidence: Evidence, place: Place, setting: str) -> Interval:
    """Timeouts with sleep minus those without, for each transfer."""
    transfers = mean(evidence, place, OFF, "transfers").mean
    return added(evidence, place, setting, "timeouts").scaled(1 / transfers)


def _rare(value: Interval) -> str:
    return f"{value.mean:.4f} a transfer"


MIDDLE, LONG_HOLD = "10 frames or 100 us", "50 frames or 1 ms"
"""Two thresholds of coalescing."""


def most_of_the_gain(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E20."""
    found = places(evidence, "coalescing", _up_to(tolerance["load"]))
    groups = _each(
        found, _rate, lambda place: evidence.grid.ratio(place.cell(MIDDLE), place.cell(LONG_HOLD), "saving_fs")
    )
    return [cells_within(name, group, times, least=tolerance["least"]) for name, group in groups]


def _growth(evidence: Evidence, place: Place, setting: str) -> dict[int, float]:
    """The growth of the median of a small exchange, by seed."""
    grid = evidence.grid
    ours, theirs = (grid.samples(place.cell(name), "ping_p50_s") for name in (setting, OFF))
    return {seed: ours[seed] - theirs[seed] for seed in ours}


def add_up(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E21."""
    found = places(evidence, "path", _at_load(tolerance["load"]))
    ones = {place.rate: place for place in found if place["hops"] == 1}

    def measure(place: Place, setting: str) -> Interval:
        one = _growth(evidence, ones[place.rate], setting)
        return over(_growth(evidence, place, setting), {seed: place.value("hops") * each for seed, each in one.items()})

    longer = [place for place in found if place.value("hops") > 1]
    return _by_setting(longer, measure, least=tolerance["low"], most=tolerance["high"])


def first_alone(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E22."""
    found = places(evidence, "path", lambda place: place["hops"] == tolerance["hops"])

    def measure(place: Place) -> Interval:
        return over(_growth(evidence, place, FIRST), _growth(evidence, place, COALESCING))

    return [cells_within(name, group, times, most=tolerance["most"]) for name, group in _each(found, _rate, measure)]


def later_links(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E23."""
    found = places(evidence, "path", lambda place: place["hops"] == tolerance["hops"])
    last = f"asleep_{tolerance['hops']:g}_s"

    def less(ours: dict[int, float], theirs: dict[int, float]) -> Interval:
        return mean_interval([ours[seed] - theirs[seed] for seed in ours])

    def as_first(place: Place) -> Interval:
        return less(asleep(evidence, place.cell(LPI), last), asleep(evidence, place.cell(LPI), "asleep_1_s"))

    def gain(place: Place) -> Interval:
        return less(asleep(evidence, place.cell(FIRST), last), asleep(evidence, place.cell(LPI), last))

    within = tolerance["within"]
    same = [
        cells_within(f"{name}, as the first", group, percent, least=-within, most=within)
        for name, group in _each(found, _rate, as_first)
    ]
    more = [
        cells_within(f"{name}, first coalesces", group, percent, least=tolerance["least"])
        for name, group in _each(found, _rate, gain)
    ]
    return same + more


LULL, PRACTRA = "Lull", ("practRA, best setting", "practRA, times / 20")
"""Settings that lower the rate."""


def lower_rates(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E24."""
    grid, found = evidence.grid, places(evidence, "control")
    low = [place for place in found if place.rate == "10g" and place.value("load") <= tolerance["low_load"]]
    high = [place for place in found if place.rate == "1g" and place.value("load") >= tolerance["high_load"]]
    sleeps = [(place, grid.difference(place.cell(LPI), place.cell(LULL), "saving_fs")) for place in low]
    slows = [(place, grid.difference(place.cell(LULL), place.cell(LPI), "saving_fs")) for place in high]
    parts = [
        cells_within("LPI saves more at 10 Gb/s", sleeps, percent, least=0),
        cells_within("Lull saves more at 1 Gb/s", slows, percent, least=0),
    ]
    for setting in PRACTRA:
        delays = [(place, grid.ratio(place.cell(setting), place.cell(LPI), "p95_s")) for place in found]
        parts.append(cells_within(f"{setting} is slower", delays, times, least=1))
    return parts


def watts(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges E25."""
    found = places(evidence, "web", _at_load(tolerance["load"]))
    parts = []
    for rate in _rates(found):
        here = [place for place in found if place.rate == rate]
        for device, name in DEVICES[rate].items():
            group = [(place, -added(evidence, place, LPI, f"watts_{device}")) for place in here]
            parts.append(cells_within(f"{name}, {RATES[rate]}", group, _watt, most=tolerance["most"]))
    return parts


def _watt(value: Interval) -> str:
    return f"{value.mean:.3f} W"


JUDGES = {
    "E1": low_load,
    "E2": high_load,
    "E3": poisson,
    "E4": small_exchange,
    "E5": median,
    "E6": slowest,
    "E7": coalesced,
    "E8": coalescing_saves,
    "E9": compressed,
    "E10": downloads,
    "E11": partial(endless, setting=LPI),
    "E12": partial(endless, setting=COALESCING),
    "E13": window,
    "E14": marks,
    "E15": next_drops,
    "E16": next_goodput,
    "E17": incast,
    "E18": timers,
    "E19": spurious,
    "E20": most_of_the_gain,
    "E21": add_up,
    "E22": first_alone,
    "E23": later_links,
    "E24": lower_rates,
    "E25": watts,
}
"""The judge of each claim."""


def _headline(rate: str, load: float, metric: str, label: str) -> Headline:
    def measure(evidence: Evidence) -> float:
        found = places(evidence, "web", lambda place: place.rate == rate and place["load"] == load)
        values = [mean(evidence, place, LPI, metric).mean for place in found]
        return 100 * sum(values) / len(values)

    return Headline(f"{label}, {RATES[rate]}, load {load:g}", "%", measure)


HEADLINES = (
    _headline("1g", 0.05, "saving_fs", "saving"),
    _headline("10g", 0.05, "saving_fs", "saving"),
    _headline("10g", 0.3, "saving_fs", "saving"),
)
"""The numbers that show the effect of a reading."""
