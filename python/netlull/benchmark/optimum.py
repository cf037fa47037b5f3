"""The offline optimum of a cell, from the arrivals at a link that is always on (docs/how-to/bound.md).

In a league with limit q no packet is late by more than q times the cell's round trip: a connection that loses this in
every round trip takes 1 + q times as long. The optimum is the energy that no such schedule undercuts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from netlull.benchmark.definition import Optimum, optimum_seeds
from netlull.bounds import bound
from netlull.quantities import in_unit
from netlull.results.output import staged_file
from netlull.runs.team import default_workers

if TYPE_CHECKING:
    from netlull.benchmark.definition import Cell, Definition
    from netlull.benchmark.runs import Watcher

__all__ = ["optima", "write_optima"]

_STEPS = 50
"""The least number of steps of the lateness in the computation."""
_STEPS_OF_TRANSITION = 10
_DIGITS = 9
"""Significant digits of an energy in the file."""


def optima(
    definition: Definition,
    cells: Sequence[Cell],
    *,
    workers: int | None = None,
    watch: Watcher = lambda _share, _text: None,
) -> dict[str, tuple[Optimum, ...]]:
    """The optima of cells by name, one for each of the first development seeds.

    Args:
        definition: the benchmark.
        cells: the cells.
        workers: the number of simultaneous computations; default one per core.
        watch: called with the finished share of the work.
    """
    seeds = optimum_seeds(definition)
    with ThreadPoolExecutor(workers or default_workers()) as pool:
        started = [(cell.name, pool.submit(_optimum, definition, cell, seed)) for cell in cells for seed in seeds]
        found: dict[str, tuple[Optimum, ...]] = {}
        try:
            for number, (name, future) in enumerate(started):
                watch(number / len(started), f"{number}/{len(started)} optima")
                found[name] = (*found.get(name, ()), future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


def write_optima(path: Path, definition: Definition, found: Mapping[str, Sequence[Optimum]]) -> None:
    """Writes the optima of a definition, with a line for each cell.

    Raises:
        OutputError: the file cannot be written.
    """
    lines = []
    for name, each in found.items():
        values = [{"always_on_j": optimum.always_on_j, "shares": list(optimum.shares)} for optimum in each]
        lines.append(f"    {json.dumps(name)}: {json.dumps(values)}")
    with staged_file(path) as stage:
        text = ",\n".join(lines)
        stage.write_text(f'{{\n  "digest": "{definition.digest}",\n  "cells": {{\n{text}\n  }}\n}}\n', encoding="utf-8")


def _optimum(definition: Definition, cell: Cell, seed: int) -> Optimum:
    changes = definition.shortened(definition.changes(cell))
    scenario = definition.scenario.with_values({**changes, "power": [{"model": cell.power}]})
    round_trip_ns = in_unit(cell.round_trip, "ns") or 0.0
    transition_ns = in_unit(cell.transition, "ns") or 0.0
    always_on_j, shares = 0.0, []
    for limit in definition.leagues:
        late_ns = round(limit * round_trip_ns)
        model = bound(
            scenario,
            link=definition.link,
            late=[f"{late_ns} ns"],
            rates=[f"{rate} b/s" for rate in cell.rates.listed()],
            transition=cell.transition,
            in_service="finish_then_pause",
            transition_power="higher",
            step=f"{round(max(transition_ns / _STEPS_OF_TRANSITION, late_ns / _STEPS))} ns",
            causal=False,
            seed=seed,
        ).models[cell.power]
        always_on_j = model.always_on_j
        shares.append(float(f"{model.clairvoyant[0].least_j / always_on_j:.{_DIGITS}g}"))
    return Optimum(float(f"{always_on_j:.{_DIGITS}g}"), tuple(shares))
