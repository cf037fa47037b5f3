"""`netlull compare`: two sweeps, scenarios, runs or points of a sweep, or one scenario simulated and emulated."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import netlull
from netlull.cli.emulate import Emulating, late_option
from netlull.cli.inputs import choices, code_option, json_option, load_scenario, set_option_of_emulation
from netlull.cli.progress import bar, warn, warnings_told
from netlull.cli.run import simulate
from netlull.cli.tables import Table, new_console, say, show
from netlull.cli.text import echo
from netlull.errors import InputError
from netlull.numbers import scaled
from netlull.report.compared import comparison_lines, comparison_table
from netlull.results.output import MANIFEST, read_description
from netlull.results.result import KIND, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netlull.compare import Compared, Comparison, Options
    from netlull.scenario import Scenario
    from netlull.stats import Interval
    from netlull.sweep import Progress, SweepResult

__all__ = ["compare_command", "compared_by", "print_comparison"]

_SEEDS = 10


@click.command("compare")
@click.argument("first", metavar="A")
@click.argument("second", metavar="[B]", required=False)
@click.option(
    "--by",
    metavar="AXIS=X[,Y]",
    help="Compare points X and Y of an axis of sweep A, or all others with X. An axis may be experiment.",
)
@click.option("--where", multiple=True, metavar="AXIS=POINT", help="Only this point of an axis. Repeatable.")
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME", help="A column of sweeps, or a path of scenarios. Repeatable."
)
@click.option("--correct", metavar="holm", help="Correct the verdicts for the number of comparisons.")
@click.option("--bootstrap", is_flag=True, help="Use bootstrap intervals, for skewed metrics.")
@click.option("--level", type=float, default=0.95, metavar="P", help="Confidence level; default 0.95.")
@click.option("--seeds", type=click.IntRange(min=1), metavar="N", help=f"Of scenarios: seeds 1 to N; default {_SEEDS}.")
@click.option(
    "--emulate", is_flag=True, help="Simulate scenario A, emulate it in real time and compare; default 1 seed."
)
@late_option
@set_option_of_emulation
@code_option
@json_option
def compare_command(  # noqa: PLR0913, PLR0917  # one per option
    first: str,
    second: str | None,
    by: str | None,
    where: tuple[str, ...],
    metrics: tuple[str, ...],
    correct: str | None,
    bootstrap: bool,
    level: float,
    seeds: int | None,
    emulate: bool,
    max_lateness: str | None,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compare A and B, paired by point and seed.

    A and B are folders that `netlull sweep`, `netlull run` or `netlull emulate` wrote, or scenarios, which are run
    first. With --by, A alone is a sweep. With --emulate, A alone is a scenario. It is simulated and emulated with the
    same seeds.
    """
    options = netlull.compare.Options(level, correct, bootstrap)
    if emulate:
        _refuse_beside_emulate(second, by, where)
        scenario = load_scenario(first, settings, None, classes=False)
        found = _both_worlds(scenario, seeds, metrics, options, max_lateness)
    elif settings or max_lateness is not None:
        raise InputError(
            f"{'--set' if settings else '--max-lateness'}: is an option of --emulate only; expected it with --emulate"
        )
    elif by is not None:
        if second is not None:
            raise InputError(f'--by {by}: compares points of one sweep; expected no second sweep ("{second}")')
        found = _points(Path(first), by, where, metrics, options)
    elif second is None:
        raise InputError("B: is missing; expected a second sweep or scenario, or --by AXIS=X,Y")
    else:
        found = _two(first, second, where, metrics, options, seeds)
    if as_json:
        echo(json.dumps(_document(found), indent=2, ensure_ascii=False, allow_nan=False))
        return
    print_comparison(found)


def _refuse_beside_emulate(second: str | None, by: str | None, where: Sequence[str]) -> None:
    if second is not None:
        raise InputError(f'--emulate: compares one scenario with itself; expected no second scenario ("{second}")')
    if by is not None or where:
        raise InputError(
            f"{'--by' if by else '--where'}: is an option for sweeps; expected only a scenario with --emulate"
        )


def _both_worlds(
    scenario: Scenario, seeds: int | None, metrics: Sequence[str], options: Options, max_lateness: str | None
) -> Comparison:
    """The scenario simulated and emulated, with its own seed or with seeds 1 to N."""
    emulating = Emulating(max_lateness)
    chosen = [scenario.seed] if seeds is None else list(range(1, seeds + 1))
    pairs: list[tuple[Result, Result]] = []
    for number, seed in enumerate(chosen, start=1):
        seeded = scenario.with_values({"seed": seed})
        # An unknown metric is reported before the first emulation.
        simulated = simulate(seeded)
        for path in metrics:
            simulated.metric(path)
        emulated = emulating.run(seeded, f"{scenario.name} {number}/{len(chosen)}")
        pairs.append((simulated, emulated))
    found = netlull.compare.compare_runs(
        [pair[0] for pair in pairs], [pair[1] for pair in pairs], metrics, options, ("simulated", "emulated")
    )
    return replace(found, notes=(*found.notes, *_notes([pair[1] for pair in pairs])))


def _notes(results: Sequence[Result]) -> list[str]:
    """The lateness of emulated runs, and their differences from the scenario."""
    accounts = [result.emulation for result in results if result.emulation is not None]
    if not accounts:
        return []
    latest = max(account["lateness"]["p99_s"] for account in accounts)
    told = dict.fromkeys(text.rstrip(".") for account in accounts for text in account["differences"])
    return [f"99 % of the emulated packets were at most {scaled(latest, 's', 2)} late", *told]


def _points(store: Path, by: str, where: Sequence[str], metrics: Sequence[str], options: Options) -> Comparison:
    return compared_by(netlull.compare.only(_loaded(store), choices(where)), by, metrics, options)


def compared_by(result: SweepResult, by: str, metrics: Sequence[str], options: Options) -> Comparison:
    """Compares two points of an axis (`AXIS=X,Y`), or all others with one (`AXIS=X`)."""
    axis, equals, labels = by.partition("=")
    axis, labels = axis.strip(), labels.strip()
    pair = _pair(result, axis, labels) if equals and labels not in _labels(result, axis) else None
    if pair is not None:
        return netlull.compare.compare_points(result, axis, *pair, metrics, options)
    if not labels:
        raise InputError(
            f'--by "{by}": expected axis=X,Y, two points of an axis, or axis=X, the reference of the others'
        )
    return netlull.compare.compare_with(result, axis, labels, metrics, options)


def _loaded(store: Path, name: str = "") -> SweepResult:
    """A finished sweep. Repeats the warnings about its scenarios, each after `name` if given."""
    result = netlull.SweepResult.load(store)
    for text in result.warnings:
        warn(f"{name}: {text}" if name else text)
    return result


def _labels(result: SweepResult, axis: str) -> set[str]:
    """The points of an axis; none if there is no such axis."""
    column = axis if axis == "experiment" else f"{axis}_label"
    return set(result.table[column].to_pylist()) if column in result.table.column_names else set()


def _pair(result: SweepResult, axis: str, labels: str) -> tuple[str, str] | None:
    """The two labels. A label may contain commas."""
    parts, known = labels.split(","), _labels(result, axis)
    cuts = [(",".join(parts[:cut]).strip(), ",".join(parts[cut:]).strip()) for cut in range(1, len(parts))]
    fitting = [cut for cut in cuts if set(cut) <= known]
    if fitting:
        return fitting[0]
    return cuts[0] if len(cuts) == 1 else None


def _two(
    first: str, second: str, where: Sequence[str], metrics: Sequence[str], options: Options, seeds: int | None
) -> Comparison:
    folders = [Path(given).is_dir() for given in (first, second)]
    if folders[0] != folders[1]:
        folder, file = (first, second) if folders[0] else (second, first)
        raise InputError(f"{folder} is a folder, {file} is not; expected two folders or two scenarios")
    names = _names(first, second)
    runs = [_is_run(Path(given)) for given in (first, second)]
    if runs[0] != runs[1]:
        run, sweep = (first, second) if runs[0] else (second, first)
        raise InputError(f"{run} is a run, {sweep} is not; expected two runs, two sweeps or two scenarios")
    if all(folders):
        if seeds is not None:
            raise InputError("--seeds: sweeps have their seeds already; expected two scenarios")
        if all(runs):
            return _two_runs(first, second, where, metrics, options, names)
        a, b = (
            netlull.compare.only(_loaded(Path(given), name), choices(where))
            for given, name in zip((first, second), names, strict=True)
        )
        return netlull.compare.compare(a, b, metrics, options, names)
    if where:
        raise InputError(f'--where "{where[0]}": scenarios have no axes; expected two sweeps')
    a, b = _run((first, second), names, metrics, seeds or _SEEDS)
    return netlull.compare.compare(a, b, (), options, names)


def _is_run(folder: Path) -> bool:
    try:
        manifest = read_description(folder / MANIFEST)
    except OSError:
        return False
    return manifest is not None and manifest.get("kind") == KIND


def _two_runs(
    first: str, second: str, where: Sequence[str], metrics: Sequence[str], options: Options, names: tuple[str, str]
) -> Comparison:
    if where:
        raise InputError(f'--where "{where[0]}": runs have no axes; expected two sweeps')
    a, b = (Result.load(given) for given in (first, second))
    found = netlull.compare.compare_runs([a], [b], metrics, options, netlull.compare.world_names(a, b) or names)
    return replace(found, notes=(*found.notes, *_notes([a, b])))


def _names(first: str, second: str) -> tuple[str, str]:
    """The last parts of the paths if they differ, else the full paths."""
    short = [Path(given).resolve().name for given in (first, second)]
    return (short[0], short[1]) if short[0] != short[1] else (first, second)


def _run(files: Sequence[str], names: Sequence[str], metrics: Sequence[str], seeds: int) -> list[SweepResult]:
    """Runs both scenarios with the same seeds."""
    scenarios = [load_scenario(file, (), None) for file in files]
    if not metrics:
        listed = "netlull run FILE --json lists all"
        raise InputError(f"--metric: is missing; expected a path such as flow.web.mean_completion_s ({listed})")
    sweeps = [netlull.Sweep(scenario, seeds=seeds, metrics={path: path for path in metrics}) for scenario in scenarios]
    results = []
    for place, sweep in enumerate(sweeps):
        with bar("compare") as show, warnings_told(names[place]):

            def shown(progress: Progress, place: int = place) -> None:
                runs = f"{place * seeds + progress.done}/{2 * seeds} runs"
                show((place + progress.fraction) / 2, runs)

            results.append(sweep.run(progress=shown))
    return results


def _document(found: Comparison) -> dict[str, Any]:
    return {
        "a": found.names[0],
        "b": found.names[1],
        "level": found.options.level,
        "correct": found.options.correct,
        "bootstrap": found.options.bootstrap,
        "measured": [{"from": window.warm_up, "to": window.duration} for window in found.windows],
        "notes": list(found.notes),
        "expected_misses": found.expected_misses,
        "rows": [_row(row, found.seconds_of(row.metric)) for row in found.rows],
    }


def _row(row: Compared, seconds: float | None) -> dict[str, Any]:
    means = {"a": row.a_mean, "b": row.b_mean, "difference": row.difference.mean}
    return {
        "at": dict(row.at),
        "metric": row.metric,
        "pairs" if row.paired else "runs_at_least": row.difference.n,
        "a_mean": _finite(row.a_mean),
        "b_mean": _finite(row.b_mean),
        "difference": _interval(row.difference),
        "relative": _interval(row.relative),
        **({"watts": {side: _finite(mean / seconds) for side, mean in means.items()}} if seconds else {}),
        "p_value": _finite(row.p_value),
        "verdict": row.verdict.value,
        "hidden": _finite(row.hidden),
        "doubt": row.doubt,
    }


def _interval(interval: Interval) -> dict[str, float | None]:
    return {"mean": _finite(interval.mean), "low": _finite(interval.low), "high": _finite(interval.high)}


def _finite(value: float) -> float | None:
    """The number, or None for NaN and infinity, which JSON lacks."""
    return value if math.isfinite(value) else None


def print_comparison(found: Comparison) -> None:
    """Prints a table of comparisons and the sentences needed to interpret it."""
    out = new_console()
    block = comparison_table(found)
    table = Table(block.header, words=block.header.index("n"))
    for cells in block.rows:
        table.add(cells)
    show(out, block.caption, table)
    for line in comparison_lines(found):
        say(out, line)
