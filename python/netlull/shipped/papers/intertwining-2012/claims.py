"""Judges of the claims in claims.toml. Each claim has parts; each part holds or fails and reports its measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Evidence, Headline, Part, Tolerance, decided, number
from netlull.stats import Interval, goodman_kruskal, mean_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TCPONLY, TCP_PC, UDP_PC = "tcponly", "tcp-pc", "udp-pc"
TCP_LOSSLESS, UDP_LOSSLESS = "tcp-pc-lossless", "udp-pc-lossless"
PER_DOWNLOAD = "completed_bytes"
"""The metric that stands for the goodput under the reading “per download”."""

STATIC = {"0": "", "0.25": "_25", "0.5": "_50", "0.75": "_75"}
"""Static shares of the power, and the suffixes of the savings metrics under them."""

OUTER_DELAY_S = 0.002
"""The delay of the links of servers and clients, one way."""

PACKET_BITS, SEGMENT_BYTES = 12_000, 1_460
"""A full packet of 1500 B, and its data."""

BySeed = dict[int, float]


def loads(evidence: Evidence, low: float = 0.0, high: float = 1.0) -> list[float]:
    """The offered loads from `low` to `high`, including both."""
    return [load for load in evidence.grid.values(TCP_PC, "load") if low - 1e-9 <= load <= high + 1e-9]


def samples(evidence: Evidence, experiment: str, load: float, metric: str) -> BySeed:
    """The samples of a metric by seed."""
    return evidence.grid.samples(Cell.of(experiment, load=load), metric)


def mean(evidence: Evidence, experiment: str, load: float, metric: str, scale: float = 1.0) -> Interval:
    """The mean of a metric over seeds with its 95 % interval."""
    return evidence.grid.interval(Cell.of(experiment, load=load), metric, scale)


def together(a: BySeed, b: BySeed, combine: Callable[[float, float], float]) -> BySeed:
    """Two samples combined seed by seed."""
    return {seed: combine(a[seed], b[seed]) for seed in a if seed in b}


def over_seeds(sample: BySeed) -> Interval:
    """The mean and 95 % interval of a sample."""
    return mean_interval(list(sample.values()))


def over_loads(parts: Sequence[BySeed]) -> Interval:
    """The interval over seeds of the mean over loads: seeds are independent, but loads of the same seed are not."""
    seeds = [seed for seed in parts[0] if all(seed in part for part in parts)]
    return mean_interval([float(np.mean([part[seed] for part in parts])) for seed in seeds])


def difference(evidence: Evidence, load: float, first: str, second: str, metric: str) -> BySeed:
    """The difference of a metric between two scenarios, by seed."""
    return together(samples(evidence, first, load, metric), samples(evidence, second, load, metric), lambda a, b: a - b)


def inflation(evidence: Evidence, load: float, metric: str = "completion_s") -> BySeed:
    """The completion time of TCP+PC divided by that of TCPonly, by seed."""
    return together(
        samples(evidence, TCP_PC, load, metric), samples(evidence, TCPONLY, load, metric), lambda a, b: a / b
    )


def round_trip_at(evidence: Evidence, cell: Cell) -> BySeed:
    """The mean round trip of a full packet in s, by seed: propagation, mean waits, transmission at N1's mean rate."""
    one_way = evidence.grid.samples(cell, "one_way_s")
    ahead, back = evidence.grid.samples(cell, "wait_s"), evidence.grid.samples(cell, "back_wait_s")
    rate = evidence.grid.samples(cell, "mean_rate_bps")
    return {
        seed: 2 * (one_way[seed] + OUTER_DELAY_S) + ahead[seed] + back[seed] + PACKET_BITS / rate[seed] for seed in rate
    }


def goodput(evidence: Evidence, experiment: str, load: float) -> BySeed:
    """The goodput of all downloads, by seed; under the reading “per download” the data of a download's second.

    That is the completed data over the sum of the completion times.
    """
    found = samples(evidence, experiment, load, "goodput_bps")
    if evidence.grid.column("goodput_bps") != PER_DOWNLOAD:
        return found
    times = together(
        samples(evidence, experiment, load, "completed"),
        samples(evidence, experiment, load, "completion_s"),
        lambda number, mean_s: number * mean_s,
    )
    return together(found, times, lambda data, time: 8 * data / time)


def goodput_lost(evidence: Evidence, load: float) -> BySeed:
    """The reduction of goodput against TCPonly as a share, by seed."""
    return together(goodput(evidence, TCP_PC, load), goodput(evidence, TCPONLY, load), lambda a, b: 1 - a / b)


def es_qosd_goodput(evidence: Evidence, load: float, saving: str) -> BySeed:
    """The saving minus the reduction of goodput against TCPonly, in percentage points, by seed (section 3.3)."""
    saved = samples(evidence, TCP_PC, load, saving)
    return together(saved, goodput_lost(evidence, load), lambda a, b: 100 * (a - b))


def es_qosd_time(evidence: Evidence, load: float, saving: str, metric: str = "completion_s") -> BySeed:
    """The saving minus the growth of completion time against TCPonly, in percentage points, by seed (section 3.3)."""
    return together(
        samples(evidence, TCP_PC, load, saving),
        inflation(evidence, load, metric),
        lambda saved, ratio: 100 * (saved - (ratio - 1)),
    )


def window(evidence: Evidence, experiment: str, load: float) -> BySeed:
    """The mean data in flight of an open download in segments, by seed: its mean rate times the mean round trip."""
    cell = Cell.of(experiment, load=load)
    data = evidence.grid.samples(cell, "completed_bytes")
    times = together(
        evidence.grid.samples(cell, "completed"),
        evidence.grid.samples(cell, "completion_s"),
        lambda number, mean_s: number * mean_s,
    )
    rate = together(data, times, lambda byte, time: byte / time)
    return together(rate, round_trip_at(evidence, cell), lambda a, b: a * b / SEGMENT_BYTES)


def _apart(value: Interval) -> bool:
    return value.low > 0 or value.high < 0


def _above(value: Interval) -> bool | None:
    """Is it above zero? None if the interval includes zero and more."""
    if value.low > 0:
        return True
    return False if value.high <= 0 else None


def _all(found: Sequence[bool | None]) -> bool | None:
    """True if all are, False if one is not, else None."""
    if False in found:
        return False
    return None if None in found else True


def _share(found: Sequence[bool | None], least: float) -> bool | None:
    """Does the share `least` hold? None if the undecided ones could tip it."""
    sure, possible = found.count(True), len(found) - found.count(False)
    if sure >= least * len(found):
        return True
    return False if possible < least * len(found) else None


def most_cases(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I10: in most cases energy is saved, and downloads take longer."""
    cases: list[bool | None] = []
    for load in loads(evidence):
        slower = _above(over_seeds(less_one(inflation(evidence, load))))
        for model in ("fs", "dvs"):
            for ending in STATIC.values():
                saved = mean(evidence, TCP_PC, load, f"saving_{model}{ending}")
                cases.append(_all([slower, decided(saved, at_least=tolerance["negligible"])]))
    least = tolerance["cases_share"]
    count = f"{cases.count(True)} of {len(cases)} cases save energy and take longer; {cases.count(None)} undecided."
    return [Part("most", _share(cases, least), count)]


def less_one(ratios: BySeed) -> BySeed:
    """Ratios less one, by seed."""
    return {seed: ratio - 1 for seed, ratio in ratios.items()}


def transitions_differ(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I1: rate changes differ between TCP and UDP."""
    found = loads(evidence)
    apart: list[bool | None] = []
    shown = []
    for load in found:
        usual = mean(evidence, UDP_PC, load, "rate_changes").mean
        gap = difference(evidence, load, TCP_PC, UDP_PC, "rate_changes")
        # Where the replay never changes the rate, any difference is more than a share of nothing.
        share = over_seeds({seed: changes / (usual or 1.0) for seed, changes in gap.items()})
        least = tolerance["apart_share"]
        alike = decided(share, at_least=-least, at_most=least)
        apart.append(None if alike is None and _apart(share) else not alike if _apart(share) else False)
        if round(load, 3) in (0.2, 0.5, 0.8, 0.9):
            shown.append(f"{share.mean:+.0%} at load {load:g}")
    told = f"curves apart at {apart.count(True)} of {len(found)} loads; TCP+PC against UDP+PC: {', '.join(shown)}."
    return [Part("apart", _share(apart, tolerance["loads_share"]), told)]


def saving_gaps(evidence: Evidence, found: Sequence[float], saving: str = "saving_fs") -> list[BySeed]:
    """The saving of TCP+PC less that of UDP+PC at these loads, by seed."""
    return [difference(evidence, load, TCP_PC, UDP_PC, saving) for load in found]


def tcp_saves_more(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I2: at low load, TCP saves more energy than its replay."""
    gaps = saving_gaps(evidence, loads(evidence, 0.0, tolerance["low_to"]))
    whole, single = over_loads(gaps), [over_seeds(gap) for gap in gaps]
    against = sum(gap.high < 0 for gap in single)
    told = f"TCP+PC saves {_points(whole)} points more than UDP+PC, mean over low loads."
    return [
        Part("mean", _above(whole), told),
        Part("each", against == 0, f"significantly less at {against} of {len(single)} of them."),
    ]


def tcp_saves_less(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I3: at high load, TCP saves less energy than its replay."""
    gaps = saving_gaps(evidence, loads(evidence, tolerance["high_from"]))
    whole, single = over_loads(gaps), [over_seeds(gap) for gap in gaps]
    against = sum(gap.low > 0 for gap in single)
    return [
        Part(
            "mean", _above(_negative(whole)), f"TCP+PC against UDP+PC: {_points(whole)} points, mean over high loads."
        ),
        Part("each", against == 0, f"significantly more at {against} of {len(single)} of them."),
    ]


def _negative(value: Interval) -> Interval:
    return Interval(-value.mean, -value.high, -value.low, value.n)


def _points(value: Interval) -> str:
    return number(Interval(value.mean * 100, value.low * 100, value.high * 100, value.n), digits=2)


def _lossless_gaps(evidence: Evidence, low: float, high: float) -> tuple[Interval, Interval, BySeed, BySeed]:
    """Mean gap in saving over the loads of the runs without losses: with the paper's buffer, and without losses."""
    at = [load for load in evidence.grid.values(TCP_LOSSLESS, "lossless_load") if low - 1e-9 <= load <= high + 1e-9]
    with_losses = saving_gaps(evidence, at)
    without = [
        together(
            evidence.grid.samples(Cell.of(TCP_LOSSLESS, lossless_load=load), "saving_fs"),
            evidence.grid.samples(Cell.of(UDP_LOSSLESS, lossless_load=load), "saving_fs"),
            lambda a, b: a - b,
        )
        for load in at
    ]
    means = [_mean_over(with_losses), _mean_over(without)]
    return over_seeds(means[0]), over_seeds(means[1]), means[0], means[1]


def _mean_over(parts: Sequence[BySeed]) -> BySeed:
    """The mean over loads, by seed."""
    seeds = [seed for seed in parts[0] if all(seed in part for part in parts)]
    return {seed: float(np.mean([part[seed] for part in parts])) for seed in seeds}


def burstiness(evidence: Evidence, kind: str, bin_s: float) -> BySeed:
    """The coefficient of variation of the bytes that arrive at N1 in a bin, by seed, of the recorded runs."""
    found = {}
    for run in evidence.paper.series:
        if run.name.startswith(f"arrivals-{kind}-"):
            recorded = evidence.series[run.name]
            table = recorded.series("arrivals")
            time = np.asarray(table["time_ns"], dtype=np.int64) * 1e-9
            begin, end = (float(recorded.summary[key]) for key in ("warm_up_s", "duration_s"))
            bins = int((end - begin) / bin_s)
            size = np.asarray(table["bytes"], dtype=np.float64)
            arrived, _ = np.histogram(time, bins, (begin, begin + bins * bin_s), weights=size)
            found[run.seed] = float(np.std(arrived) / np.mean(arrived))
    return found


def reacts_to_losses(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I11: at low load TCP saves more because its arrivals are smoother and it reacts to losses."""
    tcp, udp = (burstiness(evidence, kind, tolerance["bin_s"]) for kind in ("tcp", "udp"))
    smoother = over_seeds(together(tcp, udp, lambda a, b: a - b))
    low = loads(evidence, 0.0, tolerance["low_to"])
    lost = over_loads([difference(evidence, load, TCP_PC, UDP_PC, "loss") for load in low])
    gap, without, by_seed, left = _lossless_gaps(evidence, 0.0, tolerance["low_to"])
    kept = over_seeds(together(left, by_seed, lambda a, b: a - tolerance["left_share"] * b))
    return [
        Part(
            "smoother",
            _above(_negative(smoother)),
            f"arrivals vary by {over_seeds(tcp).mean:.3f} with TCP and {over_seeds(udp).mean:.3f} with its replay.",
        ),
        Part("losses", _above(_negative(lost)), f"loss of TCP+PC less UDP+PC: {_points(lost)} points at low load."),
        Part(
            "cause",
            _all([_above(gap), _above(_negative(kept))]),
            f"{_points(gap)} points more saved with losses and {_points(without)} without any.",
        ),
    ]


def window_falls(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I12: the mean window falls with load."""
    found = loads(evidence)
    parts = []
    for experiment, name in ((TCPONLY, "TCPonly"), (TCP_PC, "TCP+PC")):
        windows = [over_seeds(window(evidence, experiment, load)).mean for load in found]
        trend = goodman_kruskal(found, windows)
        told = f"{name}: {windows[0]:.2f} to {windows[-1]:.2f} segments, order along load {trend:+.2f}."
        parts.append(Part(experiment, trend <= tolerance["rank_max"], told))
    return parts


def retransmits_more(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I13: at high load TCP saves less because of losses and retransmissions."""
    found, parts = loads(evidence), []
    for metric in ("loss", "retransmissions"):
        trend = goodman_kruskal(found, [mean(evidence, TCP_PC, load, metric).mean for load in found])
        parts.append(Part(metric, trend >= tolerance["rank_min"], f"{metric}: order along load {trend:+.2f}."))
    high = loads(evidence, tolerance["high_from"])
    more = over_loads(
        [
            together(
                samples(evidence, TCP_PC, load, "arrived_bytes"),
                samples(evidence, UDP_PC, load, "arrived_bytes"),
                lambda a, b: a / b - 1,
            )
            for load in high
        ]
    )
    gap, without, by_seed, left = _lossless_gaps(evidence, tolerance["high_from"], 1.0)
    kept = over_seeds(together(by_seed, left, lambda a, b: tolerance["left_share"] * a - b))
    return [
        *parts,
        Part("arrivals", _above(more), f"{_points(more)} % more arrivals at N1 than with UDP+PC at high load."),
        Part(
            "cause",
            _all([_above(_negative(gap)), _above(_negative(kept))]),
            f"saving against UDP+PC {_points(gap)} points with losses and {_points(without)} without any.",
        ),
    ]


def more_loss(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I4: losses are higher with power control, increasingly with load."""
    found = loads(evidence)
    by_seed = [difference(evidence, load, TCP_PC, TCPONLY, "loss") for load in found]
    gaps = [over_seeds(gap) for gap in by_seed]
    higher = [_above(gap) for gap in gaps]
    trend = goodman_kruskal(found, [gap.mean for gap in gaps])
    low = _mean_over([gap for gap, load in zip(by_seed, found, strict=True) if load <= tolerance["low_to"] + 1e-9])
    high = _mean_over([gap for gap, load in zip(by_seed, found, strict=True) if load >= tolerance["high_from"] - 1e-9])
    grown = over_seeds(together(high, low, lambda a, b: a - tolerance["growth_min"] * b))
    return [
        Part(
            "higher",
            _share(higher, tolerance["loads_share"]),
            f"loss significantly above TCPonly at {higher.count(True)} of {len(found)} loads, undecided at "
            f"{higher.count(None)}.",
        ),
        Part("trend", trend >= tolerance["rank_min"], f"order of the gap along load {trend:+.2f} (1: always growing)."),
        Part(
            "growth",
            _all([_above(over_seeds(high)), _above(grown)]),
            f"gap {_points(over_seeds(low))} points at low and {_points(over_seeds(high))} at high load.",
        ),
    ]


def at_least_doubles(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I5: the completion time at least doubles at every load."""
    low_to, high_from = tolerance["low_to"], tolerance["high_from"]
    ranges = {
        "low": loads(evidence, 0.0, low_to),
        "middle": [load for load in loads(evidence) if low_to < load < high_from],
        "high": loads(evidence, high_from),
    }
    parts = []
    for name, within in ranges.items():
        ratios = [over_seeds(inflation(evidence, load)) for load in within]
        least, most = min(ratios, key=lambda ratio: ratio.mean), max(ratios, key=lambda ratio: ratio.mean)
        doubled = [decided(ratio, at_least=tolerance["ratio_min"]) for ratio in ratios]
        told = f"{name} load: {least.mean:.2f} to {most.mean:.2f} times TCPonly."
        parts.append(Part(name, _all(doubled), told))
    trends = [
        goodman_kruskal(
            loads(evidence), [mean(evidence, experiment, load, "completion_s").mean for load in loads(evidence)]
        )
        for experiment in (TCPONLY, TCP_PC)
    ]
    shown = f"order along load {trends[0]:+.2f} without and {trends[1]:+.2f} with power control."
    return [*parts, Part("grows", min(trends) >= tolerance["rank_min"], shown)]


def headline_time(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I6: at load 0.8, the completion time grows from 0.2 s to more than 7 s."""
    plain = mean(evidence, TCPONLY, 0.8, "completion_s")
    control = mean(evidence, TCP_PC, 0.8, "completion_s")
    ratio = over_seeds(inflation(evidence, 0.8))
    near = decided(plain, at_least=tolerance["tcponly_low_s"], at_most=tolerance["tcponly_high_s"])
    return [
        Part("tcponly", near, f"TCPonly {number(plain, 's', 3)} (sizes fitted to it).", counted=False),
        Part("control", decided(control, at_least=tolerance["control_min_s"]), f"TCP+PC {number(control, 's', 2)}."),
        Part("tenfold", decided(ratio, at_least=tolerance["ratio_min"]), f"{number(ratio, 'times', 2)}."),
    ]


def low_load_pays(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I14: at low load much energy is saved for a tolerable price."""
    low = loads(evidence, 0.0, tolerance["low_to"])
    saved = [mean(evidence, TCP_PC, load, "saving_fs") for load in low]
    ratios = [over_seeds(inflation(evidence, load)) for load in low]
    least, most = min(value.mean for value in saved), max(ratio.mean for ratio in ratios)
    return [
        Part(
            "large",
            _all([decided(value, at_least=tolerance["large"]) for value in saved]),
            f"at least {least:.0%} saved at low load,",
        ),
        Part(
            "tolerable",
            _all([decided(ratio, at_most=tolerance["tolerable"]) for ratio in ratios]),
            f"for at most {most:.2f} times the completion time.",
        ),
    ]


def high_load_does_not(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I15: at high load the savings are negligible and the price is unacceptable."""
    saved = over_loads(
        [samples(evidence, TCP_PC, load, "saving_fs") for load in loads(evidence, tolerance["high_from"])]
    )
    ratio = over_loads([inflation(evidence, load) for load in loads(evidence, tolerance["unacceptable_from"])])
    return [
        Part(
            "negligible",
            decided(saved, at_most=tolerance["negligible"]),
            f"{_points(saved)} % saved, mean over high loads,",
        ),
        Part(
            "unacceptable",
            decided(ratio, at_least=tolerance["unacceptable"]),
            f"for {number(ratio, 'times', 2)} the completion time.",
        ),
    ]


def goodput_hardly_falls(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I16: with goodput as the metric, the impact is small."""
    lost = {load: over_seeds(goodput_lost(evidence, load)) for load in loads(evidence)}
    worst = max(lost, key=lambda load: lost[load].mean)
    small = _all([decided(value, at_most=tolerance["small"]) for value in lost.values()])
    return [Part("small", small, f"at most {_points(lost[worst])} % lost, at load {worst:g}.")]


def goodput_difference(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I7: ES - QoSD with goodput is positive at low load and negative at high load."""
    low, high = loads(evidence, 0.0, tolerance["low_to"]), loads(evidence, tolerance["high_from"])
    parts = []
    for static in ("0", "0.75"):
        saving = "saving_fs" + STATIC[static]
        calm = over_loads([es_qosd_goodput(evidence, load, saving) for load in low])
        worst = min((over_seeds(es_qosd_goodput(evidence, load, saving)) for load in high), key=lambda gap: gap.mean)
        name = f"static{static}".replace(".", "")
        parts.append(Part(f"low-{name}", _above(calm), f"P_s {static}: {number(calm, 'points')} at low load,"))
        parts.append(
            Part(f"high-{name}", _above(_negative(worst)), f"at worst {number(worst, 'points')} at high load.")
        )
    return parts


def time_difference(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I8: ES - QoSD with completion time is near zero at low load and far below zero at high load."""
    low, high = loads(evidence, 0.0, tolerance["low_to"]), loads(evidence, tolerance["high_from"])
    parts = []
    for static in ("0", "0.75"):
        saving, counted = "saving_fs" + STATIC[static], static == "0"
        calm = [over_seeds(es_qosd_time(evidence, load, saving)) for load in low]
        busy = [over_seeds(es_qosd_time(evidence, load, saving)) for load in high]
        near = tolerance["near_points"]
        name = "" if counted else "-static075"
        shown = [_range(calm), _range(busy)]
        parts.append(
            Part(
                f"near{name}",
                _all([decided(value, at_least=-near, at_most=near) for value in calm]),
                f"P_s {static}: {shown[0]} points at low load,",
                counted,
            )
        )
        parts.append(
            Part(
                f"far{name}",
                _all([decided(value, at_most=tolerance["far_points"]) for value in busy]),
                f"{shown[1]} points at high load.",
                counted,
            )
        )
    return parts


def _range(values: Sequence[Interval]) -> str:
    means = [value.mean for value in values]
    return f"{min(means):+.0f} to {max(means):+.0f}"


def dvs_alike(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I9: DVS gives similar results."""

    def gap(load: float, saving: str) -> BySeed:
        return difference(evidence, load, TCP_PC, UDP_PC, saving)

    pictures: tuple[tuple[str, str, Callable[[float, str], BySeed]], ...] = (
        ("saving", "Fig. 3", gap),
        ("goodput", "Fig. 6", lambda load, saving: es_qosd_goodput(evidence, load, saving)),
        ("time", "Fig. 7", lambda load, saving: es_qosd_time(evidence, load, saving)),
    )
    parts = []
    for name, figure, quantity in pictures:
        pairs = [
            [over_seeds(quantity(load, saving)) for saving in ("saving_fs", "saving_dvs")] for load in loads(evidence)
        ]
        agree = [_same_sign(fs, dvs) for fs, dvs in pairs if _apart(fs)]
        holds = _share(agree, tolerance["agree_share"]) if agree else False
        told = (
            f"{figure}: the same sign at {agree.count(True)} of {len(agree)} loads, undecided at {agree.count(None)}."
        )
        parts.append(Part(name, holds, told, counted=name != "saving"))
    return parts


def _same_sign(clear: Interval, other: Interval) -> bool | None:
    return clear.mean * other.mean > 0 if _apart(other) else None


# ---- The conclusions' expectations, judged by the study of the parameters.


def _along(evidence: Evidence, experiment: str, axis: str, at: float, metric: str) -> float:
    """The order of a metric along an axis of the study, with a buffer of one BDP."""
    values = evidence.grid.values(experiment, axis)
    cells = [Cell.of(experiment, at=at, room=1, **{axis: value}) for value in values]
    return goodman_kruskal(values, [evidence.grid.interval(cell, metric).mean for cell in cells])


def _orders(evidence: Evidence, experiment: str, axis: str, metric: str) -> list[float]:
    return [_along(evidence, experiment, axis, at, metric) for at in evidence.grid.values(experiment, "at")]


def _shown_orders(orders: Sequence[float]) -> str:
    return ", ".join(f"{order:+.2f}" for order in orders)


def delay_bound_effects(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I17: queue and loss rise with d, and rate changes fall."""
    rank, parts = tolerance["rank"], []
    for name, metric in (("queue", "mean_queue_packets"), ("loss", "loss")):
        orders = _orders(evidence, "study-d", "d", metric)
        told = f"{name}: order along d {_shown_orders(orders)} at the study's loads."
        parts.append(Part(name, min(orders) >= rank, told))
    orders = _orders(evidence, "study-d", "d", "rate_changes")
    return [*parts, Part("changes", max(orders) <= -rank, f"rate changes: {_shown_orders(orders)}.")]


def interval_effects(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I18: rate changes fall with the least time between them."""
    orders = _orders(evidence, "study-mrci", "mrci", "rate_changes")
    told = f"rate changes: order along Δ {_shown_orders(orders)} at the study's loads."
    return [Part("changes", max(orders) <= -tolerance["rank"], told)]


def jumps_react(evidence: Evidence, _: Tolerance) -> list[Part]:
    """Judges I19: jumps react more quickly, without more rate changes."""
    grid = evidence.grid

    def gaps(metric: str, scale: float) -> list[Interval]:
        points = [{"at": at, "room": 1.0, "mrci": 16.0} for at in grid.values("study-jumps", "at")]
        pairs = [(Cell.of("study-jumps", **point), Cell.of("study-mrci", **point)) for point in points]
        return [grid.difference(jumps, steps, metric, scale) for jumps, steps in pairs]

    waits, changes = gaps("wait_s", 1e3), gaps("rate_changes", 1)
    return [
        Part(
            "quicker",
            _all([_above(_negative(gap)) for gap in waits]),
            f"mean wait, jumps less neighbours: {', '.join(number(gap, digits=2) for gap in waits)} ms,",
        ),
        Part(
            "changes",
            _all([decided(gap, at_most=0) for gap in changes]),
            f"rate changes: {', '.join(number(gap, digits=0) for gap in changes)}.",
        ),
    ]


JUDGES = {
    "I1": transitions_differ,
    "I2": tcp_saves_more,
    "I3": tcp_saves_less,
    "I4": more_loss,
    "I5": at_least_doubles,
    "I6": headline_time,
    "I7": goodput_difference,
    "I8": time_difference,
    "I9": dvs_alike,
    "I10": most_cases,
    "I11": reacts_to_losses,
    "I12": window_falls,
    "I13": retransmits_more,
    "I14": low_load_pays,
    "I15": high_load_does_not,
    "I16": goodput_hardly_falls,
    "I17": delay_bound_effects,
    "I18": interval_effects,
    "I19": jumps_react,
}
"""The judge of each claim."""


def _time_headline(label: str, experiment: str, load: float) -> Headline:
    return Headline(label, "s", lambda evidence: mean(evidence, experiment, load, "completion_s").mean)


def _ratio_headline(load: float) -> Headline:
    label = f"Fig. 5 inflation, load {load:g}"
    return Headline(label, "times", lambda evidence: over_seeds(inflation(evidence, load)).mean)


def _saving_headline(load: float) -> Headline:
    label = f"Fig. 3 saving of TCP+PC, load {load:g}"
    return Headline(label, "%", lambda evidence: mean(evidence, TCP_PC, load, "saving_fs").mean * 100)


def _gap_headline(load: float) -> Headline:
    label = f"Fig. 3 TCP+PC less UDP+PC, load {load:g}"
    return Headline(
        label,
        "points",
        lambda evidence: over_seeds(difference(evidence, load, TCP_PC, UDP_PC, "saving_fs")).mean * 100,
    )


HEADLINES = (
    _time_headline("Fig. 5 TCPonly, load 0.8", TCPONLY, 0.8),
    _time_headline("Fig. 5 TCP+PC, load 0.8", TCP_PC, 0.8),
    _ratio_headline(0.3),
    _ratio_headline(0.8),
    _saving_headline(0.3),
    _saving_headline(0.8),
    _gap_headline(0.3),
    _gap_headline(0.9),
    Headline("Fig. 4 loss of TCP+PC, load 0.8", "%", lambda evidence: mean(evidence, TCP_PC, 0.8, "loss").mean * 100),
)
"""The numbers that show the effect of a reading."""
