"""Comparison of single runs, such as a simulated and an emulated run of the same scenario and seed."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

from netlull.compare import Comparison, Options, compare
from netlull.errors import FieldPathError, InputError, NetlullWarning
from netlull.results.energy import has_varied
from netlull.sweep import SweepResult, Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netlull.results.result import Result

__all__ = ["compare_runs", "usual_metrics", "world_names"]

_OF_TCP = ("completion_time_s", "goodput_bps", "retransmissions", "timeouts", "mean_cwnd_bytes")
_OF_REQUESTS = ("requests_completed", "mean_completion_s", "p95_completion_s", "retransmissions")
_OF_DATAGRAMS = ("goodput_bps", "loss_fraction")
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
    return compare(_sweep(a, chosen, names[0]), _sweep(b, chosen, names[1]), (), options, names)


_BESIDE_THE_POINT = {"seed", "description", "probe", "verify"}
"""Fields of a scenario that change no result, or by which runs are paired."""


def _warn_of_other_scenarios(a: Result, b: Result, names: tuple[str, str]) -> None:
    fields = sorted((a.scenario.keys() | b.scenario.keys()) - _BESIDE_THE_POINT)
    others = [field for field in fields if a.scenario.get(field) != b.scenario.get(field)]
    if others:
        what = f"{names[0]} and {names[1]} are runs of different scenarios: they differ in {', '.join(others)}"
        warnings.warn(what, NetlullWarning, stacklevel=3)


def usual_metrics(result: Result) -> list[str]:
    """The usual metrics: first flows, links with the longest queues, routers, energy, first stations.

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
    if any(map(has_varied, result.summary["links"])):
        paths += [f"network.energy.{model}.total_j" for model in list(result.summary["network"]["energy"])[:_MOST]]
    for station in result.summary.get("stations", [])[:_MOST]:
        paths += [f"station.{station['name']}.{field}" for field in _OF_STATIONS]
        if station["download"] is not None:
            paths.append(f"station.{station['name']}.download.seconds")
        paths += [f"station.{station['name']}.energy.{radio}.total_j" for radio in list(station["energy"])[:1]]
    return paths


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
