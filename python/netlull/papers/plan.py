"""The plan of a reproduction: a paper's scenario and sweep, cut to a scope and changed by other readings."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from msgspec import structs

from netlull._engine import ScenarioError
from netlull.documents.tomltext import toml_document
from netlull.errors import InputError, near
from netlull.papers.toml import PaperError, read_data
from netlull.results.output import staged_file
from netlull.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from netlull.papers.documents import Alternative, Paper, Scope, Study

LEAST_SEEDS = 2
"""The fewest seeds for a 95 % interval over seeds."""


@dataclass(frozen=True)
class Plan:
    """A scenario and a sweep as text, to be written to the same folder."""

    scenario: str
    sweep: Mapping[str, Any]
    study: Study | None = None
    """The study of the plan; None for the paper's own sweep."""
    scripts: tuple[Plan, ...] = ()
    """The plans of scripts without random numbers, which replace this plan."""
    seed: int | None = None
    """The seed that a script replaces; None for any other plan."""

    @property
    def axes(self) -> list[str]:
        """The names of the sweep's axes."""
        return [str(axis["name"]) for axis in self.sweep.get("axis", [])]

    @property
    def experiments(self) -> list[str]:
        """The names of the sweep's experiments."""
        return [str(experiment["name"]) for experiment in self.sweep.get("experiment", [])]

    def write(self, folder: Path) -> Path:
        """Writes `scenario.toml` and `sweep.toml`; returns the sweep's path."""
        path = folder / "sweep.toml"
        for file, text in ((folder / "scenario.toml", self.scenario), (path, toml_document(self.sweep))):
            with staged_file(file) as stage:
                stage.write_text(text, encoding="utf-8", newline="\n")
        return path


@dataclass(frozen=True)
class _Source:
    """The files of a plan, and the place of its scope."""

    folder: Path
    scenario: Path
    sweep: Path
    scope: str = ""

    def wrong_scope(self, field: str, message: str) -> PaperError:
        file = "paper.toml" if self.sweep.parent == self.folder else "studies.toml"
        return PaperError(f"{self.folder.name}/{file}: {self.scope}quick.{field}: {message}")


def plan_study(paper: Paper, study: Study, scope: Scope | None, seeds: int | None = None) -> Plan:
    """The plan of one of the paper's studies.

    Raises:
        PaperError: as for `plan`.
    """
    files = _Source(paper.info.folder, paper.file(study.scenario), paper.file(study.sweep), f"study.{study.name}.")
    return replace(_plan(files, scope, seeds), study=study)


def plan(paper: Paper, scope: Scope | None, seeds: int | None = None, changes: Sequence[Alternative] = ()) -> Plan:
    """The whole sweep, or the part in `scope`. `seeds` replaces the number of seeds wherever there are several.

    Raises:
        PaperError: `seeds` is too small for intervals in a paper with randomness, or the scope or a change does not fit
            the sweep.
    """
    folder = paper.info.folder
    source = _Source(folder, paper.file(paper.scenario), folder / "sweep.toml")
    whole = _plan(source, scope, seeds, changes)
    scripted = [change for change in changes if change.scripts]
    if not scripted:
        return whole
    if len(scripted) > 1:
        names = " and ".join(change.name for change in scripted)
        raise PaperError(f"{folder.name}/readings.toml: scripts: {names} both have some; expected one of them")
    (change,) = scripted
    each = [structs.replace(change, set={**change.set, **script}, scripts=()) for script in change.scripts]
    plans = [
        _script(_plan(source, scope, seeds, [one if other is change else other for other in changes]), place)
        for place, one in zip(range(len(_seeds(whole.sweep.get("seeds", 1)))), each, strict=False)
    ]
    return replace(whole, scripts=tuple(plans))


def _seeds(own: int | Sequence[int]) -> Sequence[int]:
    return range(1, own + 1) if isinstance(own, int) else own


def _script(planned: Plan, place: int) -> Plan:
    """The plan with the runs of one seed. Experiments with fewer seeds are left out."""
    seed = _seeds(planned.sweep.get("seeds", 1))[place]
    experiments = []
    for item in planned.sweep.get("experiment", []):
        own = _seeds(item.get("seeds", planned.sweep.get("seeds", 1)))
        if place < len(own):
            experiments.append({**item, "seeds": [own[place]]})
    used = {axis for item in experiments for axis in item["axes"]}
    axes = [axis for axis in planned.sweep.get("axis", []) if axis["name"] in used]
    return replace(planned, sweep={**planned.sweep, "axis": axes, "experiment": experiments}, seed=seed)


def _plan(source: _Source, scope: Scope | None, seeds: int | None, changes: Sequence[Alternative] = ()) -> Plan:
    folder = source.folder
    sweep = read_data(source.sweep)
    sweep["scenario"] = "scenario.toml"
    for change in changes:
        _check_use(folder, sweep, change)
        sweep = _with_axes(folder, sweep, change)
    if seeds is not None:
        sweep = _with_seeds(folder, sweep, seeds)
    if scope is not None:
        sweep = _within(source, sweep, scope if seeds is None else structs.replace(scope, seeds=seeds))
    return Plan(_scenario(source.scenario, changes), sweep)


def _scenario(path: Path, changes: Sequence[Alternative]) -> str:
    values: dict[str, Any] = {}
    for change in changes:
        values |= dict(change.set) | dict.fromkeys(change.unset)
    if not values:
        return path.read_text(encoding="utf-8")
    scenario = Scenario.from_file(path, allow_code=True)
    try:
        return toml_document(scenario.with_values(values).to_dict())
    except (InputError, ScenarioError) as error:
        names = ", ".join(change.name for change in changes)
        raise PaperError(f"{path.parent.name}/readings.toml: alternative {names}: {error}") from None


def _check_use(folder: Path, sweep: Mapping[str, Any], change: Alternative) -> None:
    """Refuses a metric that the sweep does not have."""
    known = sweep.get("metrics", {})
    for name in (*change.use, *change.use.values()):
        if name not in known:
            where = f"{folder.name}/readings.toml: alternative {change.name}: use"
            raise PaperError(f"{where}: {name!r} is not a metric of sweep.toml; {near(name, known)}")


def _with_axes(folder: Path, sweep: Mapping[str, Any], change: Alternative) -> dict[str, Any]:
    axes = list(sweep.get("axis", []))
    for axis in change.axes:
        names = [known["name"] for known in axes]
        if axis.get("name") not in names:
            where = f"{folder.name}/readings.toml: alternative {change.name}"
            listed = ", ".join(names)
            raise PaperError(f"{where}: axis {axis.get('name')!r} is not in sweep.toml; expected one of {listed}")
        axes[names.index(axis["name"])] = dict(axis)
    return {**sweep, "axis": axes}


def _with_seeds(folder: Path, sweep: Mapping[str, Any], seeds: int) -> dict[str, Any]:
    """Sets the number of seeds of each experiment that has several. An experiment with one seed has no randomness."""
    experiments = [dict(item) for item in sweep.get("experiment", [])]
    for item in experiments:
        own = item.get("seeds")
        random = own is None or (len(own) if isinstance(own, list) else own) > 1
        if random and seeds < LEAST_SEEDS:
            where = f"{folder.name}: seeds: {seeds} is too few"
            raise PaperError(
                f"{where}: claims are judged by 95 % intervals over seeds; expected at least {LEAST_SEEDS}"
            )
        if random and own is not None:
            item["seeds"] = _first(own, seeds)
    return {**sweep, "seeds": _first(sweep.get("seeds"), seeds), "experiment": experiments}


def _first(own: object, count: int) -> int | list[int]:
    """`count` seeds: from 1 on, or from the first one of the sweep's own list."""
    return list(range(own[0], own[0] + count)) if isinstance(own, list) else count


def _within(source: _Source, sweep: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    experiments = [copy.deepcopy(item) for item in sweep.get("experiment", []) if item["name"] in scope.experiments]
    missing = set(scope.experiments) - {item["name"] for item in experiments}
    if missing:
        raise source.wrong_scope("experiments", f"{min(missing)!r} is not in {source.sweep.name}")
    for item in experiments:
        own = item.get("seeds")
        if own is not None:
            item["seeds"] = own[: scope.seeds] if isinstance(own, list) else min(own, scope.seeds)
    used = {axis for item in experiments for axis in item["axes"]}
    axes = [_kept(source, axis, scope.keep) for axis in sweep.get("axis", []) if axis["name"] in used]
    return {**sweep, "seeds": _first(sweep.get("seeds"), scope.seeds), "axis": axes, "experiment": experiments}


def _kept(source: _Source, axis: Mapping[str, Any], keep: Mapping[str, tuple[float | str, ...]]) -> dict[str, Any]:
    name = axis["name"]
    if name not in keep:
        return dict(axis)
    field = "point" if "point" in axis else "values"
    entries = [entry for entry in axis[field] if _place(entry, str(axis.get("unit", ""))) in keep[name]]
    if len(entries) != len(keep[name]):
        raise source.wrong_scope(f"keep.{name}", f"{list(keep[name])} are not all values of that axis")
    return {**axis, field: entries}


def _place(entry: Any, unit: str) -> float | str:
    """The value of an axis entry: its number in the axis's unit, or its text."""
    value = entry.get("value") if isinstance(entry, dict) else entry
    if isinstance(value, int | float):
        return float(value)
    found = re.fullmatch(rf"\s*([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)\s*{re.escape(unit)}\s*", str(value))
    return float(found.group(1)) if found else str(value)
