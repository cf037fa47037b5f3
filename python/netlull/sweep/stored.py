"""The points of a sweep, built again from the description in its store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netlull import _engine
from netlull.errors import FieldPathError, InputError
from netlull.scenario import Scenario
from netlull.sweep.axes import AxisPoint
from netlull.sweep.description import DESCRIPTION
from netlull.sweep.points import Point

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["stored_points"]

_INVALID = (_engine.ScenarioError, FieldPathError, InputError)


def stored_points(
    document: Mapping[str, Any], table: Mapping[str, Sequence[Any]], rows: Sequence[int]
) -> tuple[list[Point], list[str]]:
    """The points in these rows of a store's table, by its sweep.json, and the reason for each row without its point.

    A point has the seed of its row, and no plug-ins: a description runs no code. A row has no point if its scenario
    needs a file that is missing now, or if an earlier version of netlull wrote the description.
    """
    try:
        base = Scenario.from_dict(document.get("scenario", {}), plug_ins=False)
    except _INVALID as error:
        return [], [" ".join(str(error).split())] * len(rows)
    axes = {axis["name"]: dict(zip(axis["points"], axis.get("changes", ()), strict=False)) for axis in document["axes"]}
    reasons = []
    first = (document.get("design") or {}).get("axes", ())
    experiments = {experiment["name"]: experiment for experiment in document["experiments"]}
    points = []
    for row in rows:
        try:
            experiment = experiments[table["experiment"][row]]
            # As in a sweep: the design's axes change the scenario before those of the grid.
            names = sorted(experiment["axes"], key=lambda name: name not in first)
            labels = {name: table[f"{name}_label"][row] for name in names}
            at = {name: _axis_point(label, axes[name][label]) for name, label in labels.items() if label is not None}
            changes = {**dict.fromkeys(experiment["unset"]), **experiment["set"]}
            scenario = base.with_changes(changes, *(point.changes() for point in at.values()), {"probe": None})
        except KeyError as error:
            reasons.append(f'an earlier version wrote {DESCRIPTION}, which lacks "{error.args[0]}"')
            continue
        except _INVALID as error:
            reasons.append(" ".join(str(error).split()))
            continue
        points.append(Point(experiment["name"], at, scenario, (table["seed"][row],)))
    return points, reasons


def _axis_point(label: str, changes: Mapping[str, Any]) -> AxisPoint:
    removed = [path for path, value in changes.items() if value is None]
    return AxisPoint(label, None, {path: value for path, value in changes.items() if value is not None}, removed)
