"""Two sweeps, scenarios, points or single runs compared, paired by point and seed: differences, intervals, verdicts."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from netlull.errors import FieldPathError, InputError, NetlullWarning, near
from netlull.quantities import metric_unit
from netlull.results.awake import has_slept
from netlull.results.energy import has_varied, total_for_saving
from netlull.stats import (
    Interval,
    bootstrap_difference,
    bootstrap_ratio,
    doubt,
    holm,
    paired_test,
    ratio_of_means,
    welch_test,
)
from netlull.sweep import Axis, AxisPoint, SweepResult, Window, measured_seconds

if TYPE_CHECKING:
    import pyarrow as pa

    from netlull.results.result import Result

__all__ = [
    "CORRECTIONS",
    "Compared",
    "Comparison",
    "Options",
    "Verdict",
    "compare",
    "compare_points",
    "compare_runs",
    "compare_with",
    "only",
    "usual_metrics",
    "world_names",
]

CORRECTIONS = ("holm",)
_MOST_SEEDS_NAMED = 8
_ENERGY_OF_RUN = re.compile(r"(?:(?:max|mean|min|sum)\()?(?:awake\.energy|link|network|station)\..*_j\)?")
"""The paths of energies over the whole measured time. Those of phases, also behind a `*`, are over a part of it."""
_BOOTSTRAP_LEAST = 20
"""With fewer values, a bootstrap interval misses more often than Student's (docs/statistics.md)."""

Place = tuple[tuple[str, str], ...]
"""The position of a point: axes and labels."""
Runs = dict[int, dict[str, float]]
"""The metrics of a point's runs, by seed."""


class Verdict(Enum):
    """The verdict of an interval on the second, compared with the first."""

    HIGHER = "higher"
    LOWER = "lower"
    NONE = "no difference shown"
    UNKNOWN = "no interval"


@dataclass(frozen=True)
class Options:
    """The options of a comparison.

    Raises:
        InputError: the message names the option, its value and the expected values.
    """

    level: float = 0.95
    correct: str | None = None
    """"holm": verdicts by p-values corrected for the number of comparisons."""
    bootstrap: bool = False
    """Bootstrap intervals instead of Student's and Fieller's."""

    def __post_init__(self) -> None:
        """Refuses invalid and incompatible options."""
        if not 0 < self.level < 1:
            raise InputError(
                f"level: {self.level} is not a confidence level; expected one between 0 and 1, such as 0.95"
            )
        if self.correct is not None and self.correct not in CORRECTIONS:
            raise InputError(f'correct: "{self.correct}" is unknown; expected one of {", ".join(CORRECTIONS)}')
        if self.correct and self.bootstrap:
            raise InputError("correct: a bootstrap gives no p-values to correct; expected one of the two")


@dataclass(frozen=True)
class Compared:
    """A metric at one position: the second, `b`, minus the first, `a`, in the metric's unit."""

    metric: str
    at: Mapping[str, str]
    """The labels on the axes that both have."""
    a_mean: float
    b_mean: float
    difference: Interval
    relative: Interval
    """mean(b) / mean(a) - 1; without bounds where the mean of `a` may be zero."""
    p_value: float
    """Two-sided p-value of no difference; corrected on request; NaN for a bootstrap."""
    paired: bool
    doubt: str | None
    """The reason why the interval may mislead here, or None."""
    verdict: Verdict

    @property
    def hidden(self) -> float:
        """The largest absolute difference that the interval does not exclude."""
        return max(abs(self.difference.low), abs(self.difference.high))


@dataclass(frozen=True)
class Comparison:
    """All rows of a comparison, with notes on their interpretation."""

    names: tuple[str, str]
    rows: tuple[Compared, ...]
    notes: tuple[str, ...]
    options: Options
    windows: tuple[Window, ...]
    paths: Mapping[str, str]
    """The path of each metric in a summary."""

    def unit_of(self, metric: str) -> tuple[str, float]:
        """The unit in which people read a metric, such as "Mb/s", and the divisor of its values."""
        sizes = [abs(mean) for row in self.rows if row.metric == metric for mean in (row.a_mean, row.b_mean)]
        return metric_unit(metric, self.paths[metric], max(filter(math.isfinite, sizes), default=0.0))

    def seconds_of(self, metric: str) -> float | None:
        """The time that turns a metric's joules into a mean power; None for other metrics, or if the times differ."""
        return measured_seconds(self.windows) if _ENERGY_OF_RUN.fullmatch(self.paths[metric]) else None

    @property
    def expected_misses(self) -> float:
        """The expected number of intervals that miss the true value by chance, at this level."""
        return self.intervals * (1 - self.options.level)

    @property
    def intervals(self) -> int:
        """The number of rows with an interval."""
        return sum(row.verdict is not Verdict.UNKNOWN for row in self.rows)


def compare(
    a: SweepResult,
    b: SweepResult,
    metrics: Sequence[str] = (),
    options: Options | None = None,
    names: tuple[str, str] = ("A", "B"),
) -> Comparison:
    """Compares two results: `b` minus `a`, point by point and paired by seed; unpaired only where no seed is in both.

    Points match by their labels on the axes that both have.

    Args:
        a: the first result, the reference.
        b: the second result.
        metrics: columns that both have; default all.
        options: level, correction and bootstrap; default 95 % without either.
        names: the names of the two in notes and errors.

    Raises:
        InputError: a metric is unknown, no metric has values in both, no point is in both, or several points have the
            same labels.
    """
    options = options or Options()
    notes: list[str] = []
    chosen = _metrics(a, b, metrics, names, notes)
    axes = [axis for axis in a.axes if axis in b.axes]
    tables = [_by_place(result, axes, chosen, name) for result, name in zip((a, b), names, strict=True)]
    pairs = _matched(*tables)
    _name_lonely(tables, pairs, names, notes)
    rows: list[Compared] = []
    for first, second in pairs:
        place = max(first, second, key=len)
        rows += _at(place, tables[0][first], tables[1][second], chosen, options, names, notes)
    if not pairs:
        raise InputError(f"{names[0]} and {names[1]} have no point in common; expected the same axes and labels")
    if not rows:
        raise InputError(_without_values(chosen, a, names))
    if options.correct == "holm":
        rows = _corrected(rows, options)
    windows = tuple(dict.fromkeys((*a.windows, *b.windows)))
    paths = {metric: a.metrics[metric] for metric in chosen}
    return Comparison(names, tuple(rows), tuple(notes), options, windows, paths)


def compare_points(
    result: SweepResult,
    axis: str,
    first: str,
    second: str,
    metrics: Sequence[str] = (),
    options: Options | None = None,
) -> Comparison:
    """Compares two points of an axis of one sweep, at every position on the other axes.

    The axis "experiment" compares two experiments. A reference without one of the axes is compared with each point.

    Raises:
        InputError: the axis or a label is unknown, or as for `compare`.
    """
    if first == second:
        raise InputError(f'the points of {axis} are both "{first}"; expected two different ones')
    used = _with_axis(result, axis)
    a, b = (only(used, {axis: label}) for label in (first, second))
    return compare(a, b, metrics, options, (first, second))


def compare_with(
    result: SweepResult, axis: str, reference: str, metrics: Sequence[str] = (), options: Options | None = None
) -> Comparison:
    """Compares every other point of an axis with one, the reference, as `compare_points`.

    Verdicts are corrected for the number of comparisons (Holm), except those of a bootstrap, which has no p-values.

    Raises:
        InputError: the axis or the label is unknown, there is no other point, or as for `compare`.
    """
    options = options or Options()
    # Names an unknown axis or label.
    only(result, {axis: reference})
    column = axis if axis == "experiment" else f"{axis}_label"
    labels = dict.fromkeys(_with_axis(result, axis).table[column].to_pylist())
    others = [label for label in labels if label != reference]
    if not others:
        raise InputError(f'the axis {axis} has no other point than "{reference}"; expected two or more')
    each = [compare_points(result, axis, reference, label, metrics, replace(options, correct=None)) for label in others]
    rows = [
        replace(row, at={axis: label, **row.at})
        for label, found in zip(others, each, strict=True)
        for row in found.rows
    ]
    if not options.bootstrap:
        options = replace(options, correct="holm")
        rows = _corrected(rows, options)
    notes = tuple(dict.fromkeys(note for found in each for note in found.notes))
    windows = tuple(dict.fromkeys(window for found in each for window in found.windows))
    return Comparison((reference, "the other"), tuple(rows), notes, options, windows, each[0].paths)


def only(result: SweepResult, where: Mapping[str, str]) -> SweepResult:
    """The part of a result at these labels, without their axes. `experiment` chooses an experiment.

    Experiments that do not use an axis stay whole.

    Raises:
        InputError: an axis or a label is unknown.
    """
    import pyarrow.compute as pc

    table = result.table
    if "experiment" in where and "experiment" not in result.axes:
        table = _of_experiment(table, where["experiment"])
        where = {axis: label for axis, label in where.items() if axis != "experiment"}
    for axis, label in where.items():
        if axis not in result.axes:
            raise InputError(f'there is no axis "{axis}" in the sweep; {near(axis, result.axes)}')
        labels = list(dict.fromkeys(text for text in table[f"{axis}_label"].to_pylist() if text is not None))
        if label not in labels:
            raise InputError(f'the axis {axis} has no point "{label}"; {near(label, labels)}')
        there = table[f"{axis}_label"]
        table = table.filter(pc.or_kleene(pc.equal(there, label), pc.is_null(there)))
    table = table.drop_columns([column for axis in where for column in (axis, f"{axis}_label")])
    return _part(result, table, [axis for axis in result.axes if axis not in where])


def _part(result: SweepResult, table: pa.Table, axes: Sequence[str]) -> SweepResult:
    """A result with these rows and axes."""
    part = SweepResult(
        table, [Axis(axis, points=[AxisPoint("")]) for axis in axes], result.metrics, windows=result.windows
    )
    part.units = {axis: result.units[axis] for axis in axes}
    return part


def _with_axis(result: SweepResult, axis: str) -> SweepResult:
    """The part of a result whose experiments use an axis."""
    if axis not in result.axes:
        return result
    return _part(result, result.table.filter(result.table[f"{axis}_label"].is_valid()), result.axes)


def _of_experiment(table: pa.Table, name: str) -> pa.Table:
    import pyarrow.compute as pc

    known = list(dict.fromkeys(table["experiment"].to_pylist()))
    if name not in known:
        raise InputError(f'the sweep has no experiment "{name}"; {near(name, known)}')
    return table.filter(pc.equal(table["experiment"], name))


def _metrics(
    a: SweepResult, b: SweepResult, wanted: Sequence[str], names: tuple[str, str], notes: list[str]
) -> list[str]:
    both = [metric for metric in a.metrics if metric in b.metrics]
    for metric in wanted:
        if metric not in both:
            raise InputError(f'there is no metric "{metric}" in both; {near(metric, both)}')
    for own, other, name in ((a, b, names[0]), (b, a, names[1])):
        lonely = [metric for metric in own.metrics if metric not in other.metrics]
        if lonely and not wanted:
            notes.append(f"only in {name}: the metrics {', '.join(lonely)}")
    chosen = list(wanted) or both
    if not chosen:
        raise InputError(f"{names[0]} and {names[1]} have no metric in common; expected the same columns")
    for metric in chosen:
        if ".energy." in a.metrics[metric]:
            notes += _about_energy(metric, a.metrics[metric], names)
        if a.metrics[metric] != b.metrics[metric]:
            paths = f"{a.metrics[metric]} in {names[0]}, {b.metrics[metric]} in {names[1]}"
            notes.append(f"{metric} is not the same metric in both: {paths}")
    return chosen


def _about_energy(metric: str, path: str, names: tuple[str, str]) -> list[str]:
    """The meaning of a difference in energy, or in savings."""
    a, b = names
    if path.endswith(".total_j"):
        return [f"{metric} is energy: a relative difference of -5 % is a saving of 5 % compared with {a}"]
    total = total_for_saving(path)
    if total is not None:
        own = f"{metric} compares each run with links at full rate that carry its own traffic"
        return [f"{own}; compare {total} for the saving of {b} compared with {a}"]
    return []


def _without_values(chosen: Sequence[str], a: SweepResult, names: tuple[str, str]) -> str:
    """The error about metrics that no pair has."""
    what = f"metric {', '.join(chosen)}: {names[0]} and {names[1]} have no values to compare"
    hints = [note for metric in chosen for note in _about_energy(metric, a.metrics[metric], names)]
    return f"{what}; expected a metric with values in both" + (f" ({'; '.join(hints)})" if hints else "")


def _by_place(result: SweepResult, axes: Sequence[str], metrics: Sequence[str], name: str) -> dict[Place, Runs]:
    found: dict[Place, Runs] = {}
    experiments = set(result.table["experiment"].to_pylist())
    for row in result.table.to_pylist():
        place: Place = tuple((axis, row[f"{axis}_label"]) for axis in axes if row[f"{axis}_label"] is not None)
        if len(experiments) > 1:
            place = (("experiment", row["experiment"]), *place)
        runs = found.setdefault(place, {})
        if row["seed"] in runs:
            apart = [axis for axis in result.axes if axis not in axes]
            what = f"axis {apart[0]}" if apart else "sweep"
            raise InputError(
                f"{name}: several points of the {what} have the same labels; choose one with --where AXIS=POINT"
            )
        runs[row["seed"]] = {metric: _number(row[metric]) for metric in metrics}
    return found


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _matched(a: Mapping[Place, Runs], b: Mapping[Place, Runs]) -> list[tuple[Place, Place]]:
    """The pairs of equal places. A place without an equal one matches those that have its labels and more."""
    pairs = [(place, place) for place in a if place in b]
    for place in a:
        if place not in b:
            pairs += [(place, other) for other in b if other not in a and _one_holds_the_other(place, other)]
    return pairs


def _one_holds_the_other(first: Place, second: Place) -> bool:
    return set(first) <= set(second) or set(second) <= set(first)


def _name_lonely(
    tables: Sequence[Mapping[Place, Runs]],
    pairs: Sequence[tuple[Place, Place]],
    names: tuple[str, str],
    notes: list[str],
) -> None:
    for which, name in enumerate(names):
        matched = {pair[which] for pair in pairs}
        lonely = [_words(place) for place in tables[which] if place not in matched]
        if lonely:
            more = f" and {len(lonely) - 3} more" if len(lonely) > 3 else ""
            notes.append(f"only in {name}: {'; '.join(lonely[:3])}{more}")


def _words(place: Place) -> str:
    return ", ".join(f"{axis}={label}" for axis, label in place) or "the only point"


def _at(
    place: Place,
    a: Runs,
    b: Runs,
    metrics: Sequence[str],
    options: Options,
    names: tuple[str, str],
    notes: list[str],
) -> list[Compared]:
    shared = [seed for seed in sorted(a) if seed in b]
    where = f" at {_words(place)}" if place else ""
    if shared:
        for own, other, name in ((a, b, names[0]), (b, a, names[1])):
            lonely = sorted(set(own) - set(other))
            if lonely:
                notes.append(f"not paired{where}: {_seeds(lonely)} only in {name}")
    else:
        notes.append(f"no seed is in both{where}: compared as independent samples (Welch)")
    rows = []
    for metric in metrics:
        seeds = [seed for seed in shared if not math.isnan(a[seed][metric]) and not math.isnan(b[seed][metric])]
        if len(seeds) < len(shared):
            notes.append(f"{metric} has no value in {len(shared) - len(seeds)} of {len(shared)} pairs{where}")
        if shared:
            first, second = [a[seed][metric] for seed in seeds], [b[seed][metric] for seed in seeds]
        else:
            first, second = (
                [value for value in (run[metric] for run in runs.values()) if not math.isnan(value)] for runs in (a, b)
            )
        if first and second:
            rows.append(_compared(metric, dict(place), first, second, options, paired=bool(shared)))
    return rows


def _seeds(seeds: Sequence[int]) -> str:
    listed = ", ".join(map(str, seeds[:_MOST_SEEDS_NAMED]))
    more = f" and {len(seeds) - _MOST_SEEDS_NAMED} more" if len(seeds) > _MOST_SEEDS_NAMED else ""
    return f"{'seed' if len(seeds) == 1 else 'seeds'} {listed}{more}"


def _compared(
    metric: str, at: Mapping[str, str], a: Sequence[float], b: Sequence[float], options: Options, *, paired: bool
) -> Compared:
    level = options.level
    tested = paired_test(b, a, level) if paired else welch_test(b, a, level)
    difference, p_value = tested.interval, tested.p_value
    if options.bootstrap:
        difference, p_value = bootstrap_difference(b, a, level, paired=paired), math.nan
        ratio = bootstrap_ratio(b, a, level, paired=paired)
    else:
        ratio = ratio_of_means(b, a, level, paired=paired)
    samples = [[y - x for x, y in zip(a, b, strict=True)]] if paired else [a, b]
    return Compared(
        metric,
        at,
        sum(a) / len(a),
        sum(b) / len(b),
        difference,
        ratio - 1,
        p_value,
        paired,
        _doubt(samples, bootstrap=options.bootstrap),
        _verdict(difference),
    )


def _doubt(samples: Sequence[Sequence[float]], *, bootstrap: bool) -> str | None:
    """The reason why the interval may mislead: skewness for Student's t, few values for a bootstrap."""
    fewest = min(map(len, samples))
    if bootstrap and fewest < _BOOTSTRAP_LEAST:
        return f"a bootstrap of {fewest} is too narrow, see docs/statistics.md"
    return None if bootstrap else next(filter(None, map(doubt, samples)), None)


def _verdict(difference: Interval) -> Verdict:
    if math.isnan(difference.low):
        return Verdict.UNKNOWN
    if not difference.excludes(0):
        return Verdict.NONE
    return Verdict.HIGHER if difference.mean > 0 else Verdict.LOWER


def _corrected(rows: Sequence[Compared], options: Options) -> list[Compared]:
    """Rows with verdicts by Holm's p-values. Intervals do not change."""
    found = []
    for row, p_value in zip(rows, holm(row.p_value for row in rows), strict=True):
        shown = row.verdict if p_value < 1 - options.level or row.verdict is Verdict.UNKNOWN else Verdict.NONE
        found.append(replace(row, p_value=p_value, verdict=shown))
    return found


_OF_TCP = ("completion_time_s", "goodput_bps", "retransmissions", "timeouts", "mean_cwnd_bytes")
_OF_REQUESTS = ("requests_completed", "mean_completion_s", "p95_completion_s", "retransmissions")
_OF_DATAGRAMS = ("goodput_bps", "loss_fraction")
_OF_TRANSFERS = ("completed", "p50_completion_s", "p95_completion_s", "p99_completion_s")
_OF_LINKS = ("utilisation", "dropped_packets", "mean_queue_packets", "mean_rate_bps")
_OF_STATIONS = ("asleep_s", "missed_packets", "bursts")
_OF_ROUTING = ("asleep_packets", "unroutable_packets", "expired_packets")
_MOST = 4
"""The most flows, links and stations considered, each."""


def compare_runs(
    a: Sequence[Result],
    b: Sequence[Result],
    metrics: Sequence[str] = (),
    options: Options | None = None,
    names: tuple[str, str] = ("A", "B"),
) -> Comparison:
    """Compares runs, `b` minus `a`, paired by seed. Intervals need at least two seeds.

    Args:
        a: the first runs, the reference.
        b: the second runs.
        metrics: paths (`Result.metric`); default `usual_metrics` of both.
        options: level, correction and bootstrap.
        names: the names of the two in notes and errors.

    Raises:
        InputError: a side has no run, or two runs with the same seed.
        FieldPathError: a path leads nowhere, or to something that is not a number.
    """
    if not a or not b:
        raise InputError(f"{names[0] if not a else names[1]}: has no run; expected at least one")
    _warn_of_other_scenarios(a[0], b[0], names)
    usual = dict.fromkeys([*usual_metrics(a[0]), *usual_metrics(b[0])])
    chosen = list(metrics) or [path for path in usual if _has(a[0], path) and _has(b[0], path)]
    try:
        found = compare(_sweep(a, chosen, names[0]), _sweep(b, chosen, names[1]), (), options, names)
    except FieldPathError as error:
        raise FieldPathError("; ".join([str(error), *_without_awake(a[0], b[0], names)])) from None
    return replace(found, notes=(*found.notes, *_without_awake(a[0], b[0], names)))


def _without_awake(a: Result, b: Result, names: tuple[str, str]) -> list[str]:
    """A note if only one of the two runs has the part `awake`."""
    if ("awake" in a.summary) == ("awake" in b.summary):
        return []
    run, name, other = (b, names[1], names[0]) if "awake" in a.summary else (a, names[0], names[1])
    why = "it ran with --no-awake or outside of netlull run" if has_slept(run) else "no link slept in it"
    return [f"only {other} has a run without sleep next to it (metrics awake.*): {name} has none, as {why}"]


_BESIDE_THE_POINT = {"seed", "description", "probe", "verify"}
"""Fields of a scenario that change no result, or by which runs are paired."""


def _warn_of_other_scenarios(a: Result, b: Result, names: tuple[str, str]) -> None:
    fields = sorted((a.scenario.keys() | b.scenario.keys()) - _BESIDE_THE_POINT)
    others = [field for field in fields if a.scenario.get(field) != b.scenario.get(field)]
    if others:
        what = f"{names[0]} and {names[1]} are runs of different scenarios: they differ in {', '.join(others)}"
        warnings.warn(what, NetlullWarning, stacklevel=3)


def usual_metrics(result: Result) -> list[str]:
    """The usual metrics: first flows, links with the longest queues, routers, first phases, energy, first stations.

    The network's energy is among them if a link slept or was below its full rate.
    """
    paths: list[str] = []
    for flow in result.summary["flows"][:_MOST]:
        fields = {"tcp": _OF_TCP, "requests": _OF_REQUESTS}.get(flow["kind"], _OF_DATAGRAMS)
        paths += [f"flow.{flow['name']}.{field}" for field in fields if flow[field] is not None]
    busy = [link for link in result.summary["links"] if link["mean_queue_packets"] or link["rate_changes"]]
    for link in sorted(busy, key=lambda link: -(link["mean_queue_packets"] or 0.0))[:_MOST]:
        fields = _OF_LINKS if link["rate_changes"] else _OF_LINKS[:-1]
        paths += [f"link.{link['name']}.{field}" for field in fields]
    if result.summary.get("routing"):
        paths += [f"routing.{field}" for field in _OF_ROUTING]
    for name, phase in list(result.summary.get("phase", {}).items())[:_MOST]:
        if phase.get("transfers", {}).get("started"):
            paths += [f"phase.{name}.transfers.{field}" for field in _OF_TRANSFERS]
    if any(map(has_varied, result.summary["links"])):
        paths += [f"network.energy.{model}.total_j" for model in list(result.summary["network"]["energy"])[:_MOST]]
    if "awake" in result.summary:
        paths += ["awake.more_loss_fraction", *_of_awake(result.summary["awake"])]
    for station in result.summary.get("stations", [])[:_MOST]:
        paths += [f"station.{station['name']}.{field}" for field in _OF_STATIONS]
        if station["download"] is not None:
            paths.append(f"station.{station['name']}.download.seconds")
        paths += [f"station.{station['name']}.energy.{radio}.total_j" for radio in list(station["energy"])[:1]]
    return paths


def _of_awake(awake: Mapping[str, Any]) -> list[str]:
    return [f"awake.energy.{model}.saved_w" for model in list(awake["energy"])[:_MOST]]


def world_names(a: Result, b: Result) -> tuple[str, str] | None:
    """The names `simulated` and `emulated` if they distinguish the two; else None."""
    return None if a.world == b.world else (a.world, b.world)


def _has(result: Result, path: str) -> bool:
    try:
        return not math.isnan(result.metric(path))
    except FieldPathError:
        return False


def _sweep(results: Sequence[Result], metrics: Sequence[str], name: str) -> SweepResult:
    """The runs as a sweep of one point."""
    import pyarrow as pa

    seeds = [int(result.summary["seed"]) for result in results]
    twice = next((seed for seed in seeds if seeds.count(seed) > 1), None)
    if twice is not None:
        raise InputError(f"{name}: two runs have the seed {twice}; expected one run for each seed")
    columns = {
        "experiment": pa.array([""] * len(results), pa.string()),
        "seed": pa.array(seeds, pa.int64()),
        **{path: pa.array([result.metric(path) for result in results], pa.float64()) for path in metrics},
    }
    windows = tuple(
        dict.fromkeys(Window(result.scenario["warm_up"], result.scenario["duration"]) for result in results)
    )
    warnings = tuple(dict.fromkeys(text for result in results for text in result.warnings))
    return SweepResult(pa.table(columns), [], {path: path for path in metrics}, windows=windows, warnings=warnings)
