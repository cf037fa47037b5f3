"""Reading sweep.toml; unknown fields are refused, errors name the field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netlull import _engine
from netlull.bundled import ready
from netlull.errors import SweepError
from netlull.fieldpath import read_toml
from netlull.scenario import Scenario
from netlull.sweep.axes import Axis, AxisPoint, Experiment
from netlull.sweep.design import Column, Design, Range
from netlull.textfiles import read_text

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_sweep"]

_SAMPLE_FIELDS = {"kind": '"latin_hypercube" or "random"', "points": "a number of points"}
_WORDS: dict[type, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


def read_sweep(path: Path) -> dict[str, Any]:
    """What `Sweep` takes, from a file.

    Raises:
        InputError: the file, or the scenario it names, cannot be read or used.
        ScenarioError: the scenario it names is wrong; the message starts with its file.
    """
    document = read_toml(read_text(path), str(path))
    try:
        return _sweep(document, path)
    except SweepError as error:
        raise SweepError(f"{path}: {error}") from None


def _sweep(document: dict[str, Any], path: Path) -> dict[str, Any]:
    _only(
        document,
        "",
        {
            "scenario": (str,),
            "seeds": (int, list),
            "metrics": (dict,),
            "axis": (list,),
            "experiment": (list,),
            "list": (dict,),
            "sample": (dict,),
        },
    )
    if "scenario" not in document:
        raise SweepError("scenario: is missing; expected a scenario file, relative to this one")
    scenario_path = _scenario_path(path.parent, document["scenario"])
    try:
        scenario = Scenario.from_file(scenario_path)
    except _engine.ScenarioError as error:
        raise _engine.ScenarioError(f"{scenario_path}: {error}") from None
    metrics = document.get("metrics", {})
    _only(metrics, "metrics", dict.fromkeys(metrics, (str,)))
    axes = [_axis(table, f"axis.{index}") for index, table in enumerate(document.get("axis", []))]
    design = _design(document)
    if not axes and design is None and not document.get("experiment"):
        raise SweepError("axis: is missing: the sweep has no points; expected [[axis]] entries, [list] or [sample]")
    experiments = [
        _experiment(table, f"experiment.{index}") for index, table in enumerate(document.get("experiment", []))
    ]
    return {
        "scenario": scenario,
        "axes": axes,
        "seeds": document.get("seeds", 1),
        "metrics": metrics,
        "experiments": experiments,
        "design": design,
    }


def _scenario_path(folder: Path, name: str) -> Path:
    """The file beside the sweep; if there is none, the ready scenario of that name."""
    path = folder / name
    return path if path.exists() else ready().get(name, path)


def _design(document: dict[str, Any]) -> Design | None:
    if "list" in document and "sample" in document:
        raise SweepError("list: is there and so is sample; expected one of the two")
    if "list" in document:
        table = document["list"]
        _only(table, "list", {"axis": (list,), "rows": (list,)})
        columns = [_column(entry, f"list.axis.{index}") for index, entry in enumerate(table.get("axis", []))]
        return Design.listed(columns, table.get("rows", []))
    if "sample" in document:
        table = document["sample"]
        _only(table, "sample", {"kind": (str,), "points": (int,), "seed": (int,), "axis": (list,)})
        for field in ("kind", "points"):
            if field not in table:
                raise SweepError(f"sample.{field}: is missing; expected {_SAMPLE_FIELDS[field]}")
        ranges = [_range(entry, f"sample.axis.{index}") for index, entry in enumerate(table.get("axis", []))]
        return Design.sampled(table["kind"], table["points"], ranges, table.get("seed", 1))
    return None


def _column(table: Any, where: str) -> Column:
    where = _named(table, where)
    _only(table, where, {"name": (str,), "unit": (str,), "path": (str, list)})
    return Column(table["name"], _path(table, where), table.get("unit"))


def _range(table: Any, where: str) -> Range:
    where = _named(table, where)
    number = (str, int, float)
    fields = {"name": (str,), "unit": (str,), "path": (str, list), "from": number, "to": number}
    _only(table, where, {**fields, "scale": (str,), "whole": (bool,)})
    for field in ("from", "to"):
        if field not in table:
            raise SweepError(f"{where}.{field}: is missing; expected the end of the range")
    return Range(
        table["name"],
        _path(table, where),
        table["from"],
        table["to"],
        table.get("unit"),
        table.get("scale", "linear"),
        table.get("whole", False),
    )


def _path(table: dict[str, Any], where: str) -> str | tuple[str, ...]:
    if "path" not in table:
        raise SweepError(f"{where}.path: is missing; expected a path such as link.N1-N2.rate, or a list of paths")
    path = table["path"]
    return path if isinstance(path, str) else _texts(table, where, "path")


def _axis(table: Any, where: str) -> Axis:
    where = _named(table, where)
    _only(table, where, {"name": (str,), "unit": (str,), "path": (str,), "values": (list,), "point": (list,)})
    points = [_point(entry, f"{where}.point.{index}") for index, entry in enumerate(table.get("point", []))]
    return Axis(table["name"], table.get("path"), tuple(table.get("values", [])), tuple(points), table.get("unit"))


def _point(table: Any, where: str) -> AxisPoint:
    _table(table, where)
    _only(table, where, {"value": (str, int, float), "label": (str,), "set": (dict,), "unset": (list,)})
    if "value" not in table:
        raise SweepError(f"{where}.value: is missing; expected the point's place on the axis")
    return AxisPoint(table["value"], table.get("label"), table.get("set", {}), _texts(table, where, "unset"))


def _experiment(table: Any, where: str) -> Experiment:
    where = _named(table, where)
    _only(table, where, {"name": (str,), "axes": (list,), "seeds": (int, list), "set": (dict,), "unset": (list,)})
    axes = _texts(table, where, "axes") if "axes" in table else None
    return Experiment(table["name"], axes, table.get("seeds"), table.get("set", {}), _texts(table, where, "unset"))


def _table(table: Any, where: str) -> None:
    if not isinstance(table, dict):
        raise SweepError(f"{where}: is {table!r}; expected a table")


def _named(table: Any, where: str) -> str:
    """The table's place by its name, which it must have."""
    _table(table, where)
    if not isinstance(table.get("name"), str) or not table["name"]:
        raise SweepError(f"{where}.name: is missing; expected a name")
    return f"{where.rpartition('.')[0]}.{table['name']}"


def _texts(table: dict[str, Any], where: str, field: str) -> tuple[str, ...]:
    entries = table.get(field, [])
    if not all(isinstance(entry, str) for entry in entries):
        raise SweepError(f"{where}.{field}: is {entries!r}; expected a list of texts")
    return tuple(entries)


def _only(table: dict[str, Any], where: str, fields: dict[str, tuple[type, ...]]) -> None:
    """Refuses unknown fields and values of another type."""
    for name, value in table.items():
        place = f"{where}.{name}" if where else name
        if name not in fields:
            raise SweepError(f"{place}: is unknown; expected one of {', '.join(fields)}")
        kinds = fields[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            expected = " or ".join(_WORDS[kind] for kind in kinds)
            raise SweepError(f"{place}: is {value!r}; expected {expected}")
