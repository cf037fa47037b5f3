"""netlull's own format of topologies, in TOML: `[nodes]` with their places, `[[link]]`, `[[demand]]`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from netlull.errors import InputError
from netlull.fieldpath import read_toml
from netlull.quantities import in_unit
from netlull.topology.draft import Draft
from netlull.topology.model import Line
from netlull.topology.model import Network as Topology

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from netlull.topology.options import ReadOptions

__all__ = ["from_table", "read", "table", "written"]

_TOP = ("name", "description", "nodes", "link", "demand")
_LINK = ("from", "to", "name", "capacity", "distance", "delay", "cost")
_DEMAND = ("from", "to", "rate")


def read(text: str, name: str, origin: str, options: ReadOptions) -> Topology:
    """The topology in the text of a file."""
    try:
        data = read_toml(text, origin)
    except InputError:
        raise
    except ValueError as error:  # a number of more than 4,300 digits
        raise InputError(f"{origin}: is no TOML: {error}") from None
    if "duration" in data:
        raise InputError(f"{origin}: is a scenario; expected a topology, with a table [nodes]")
    return from_table(data, name, origin, merge=options.parallel == "merge")


def from_table(data: Mapping[str, Any], name: str, origin: str, *, merge: bool = False) -> Topology:
    """The topology in a table; `name` is used if it has none.

    Raises:
        InputError: names `origin`, the field, its value and what was expected.
    """
    draft = Draft(origin, merge=merge)
    _known(data, _TOP, "", draft)
    for field in ("name", "description"):
        if not isinstance(data.get(field, ""), str):
            raise draft.wrong(field, f"{data[field]!r} is no text; expected text")
    nodes = data.get("nodes")
    if not isinstance(nodes, dict) or not nodes:
        raise draft.wrong("nodes", "are missing; expected a table such as Vienna = [16.37, 48.21]")
    for node, place in nodes.items():
        draft.node(f"nodes.{node}", node, _place(node, place, draft))
    for index, entry in enumerate(_tables(data, "link", draft)):
        where = f"link.{index}"
        _known(entry, _LINK, where, draft)
        a, b = (_text(entry, end, where, draft, needed=True) or "" for end in ("from", "to"))
        name_, capacity, delay = (_text(entry, field, where, draft) for field in ("name", "capacity", "delay"))
        length, cost = _distance(entry, where, draft), entry.get("cost", 1)
        if isinstance(cost, bool) or not isinstance(cost, int):
            raise draft.wrong(f"{where}.cost", f"{cost!r} is no cost; expected a whole number of at least 1")
        draft.line(where, lambda: Line(a, b, name_, capacity, length, delay, cost))  # noqa: B023  # made at once
    for index, entry in enumerate(_tables(data, "demand", draft)):
        where = f"demand.{index}"
        _known(entry, _DEMAND, where, draft)
        draft.demand(where, *(_text(entry, field, where, draft, needed=True) or "" for field in _DEMAND))
    return draft.topology(str(data.get("name", name)), data.get("description"))


def _known(data: Mapping[str, Any], fields: Iterable[str], where: str, draft: Draft) -> None:
    for field in data:
        if field not in fields:
            path = f"{where}.{field}" if where else field
            raise draft.wrong(path, f"is no field of a topology; expected one of {', '.join(fields)}")


def _tables(data: Mapping[str, Any], field: str, draft: Draft) -> list[dict[str, Any]]:
    entries = data.get(field, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise draft.wrong(field, f"is no list of tables; expected [[{field}]]")
    return entries


def _text(entry: Mapping[str, Any], field: str, where: str, draft: Draft, *, needed: bool = False) -> str | None:
    value = entry.get(field)
    if value is None and not needed:
        return None
    if not isinstance(value, str) or not value:
        what = "is missing" if value is None else f"{value!r} is no text"
        raise draft.wrong(f"{where}.{field}", f"{what}; expected text")
    return value


def _place(name: str, place: object, draft: Draft) -> tuple[float, float] | None:
    if place == []:
        return None
    numbers = place if isinstance(place, list) else []
    if len(numbers) != 2 or any(isinstance(one, bool) or not isinstance(one, int | float) for one in numbers):
        expected = "expected [longitude, latitude] in degrees, or [] where it is not known"
        raise draft.wrong(f"nodes.{name}", f"{place!r} is no place; {expected}")
    if any(abs(one) > 360 for one in numbers):
        raise draft.wrong(f"nodes.{name}", f"{place!r:.40} is out of range; expected [longitude, latitude] in degrees")
    return float(numbers[0]), float(numbers[1])


def _distance(entry: Mapping[str, Any], where: str, draft: Draft) -> float | None:
    text = _text(entry, "distance", where, draft)
    if text is None:
        return None
    amount, _, unit = text.strip().partition(" ")
    kilometres = in_unit(amount, "") if unit.strip() == "km" else None
    if kilometres is None:
        raise draft.wrong(f"{where}.distance", f'"{text}" is no distance; expected one such as "132.4 km"')
    return kilometres


def table(topology: Topology) -> dict[str, Any]:
    """The topology as plain values: what `from_table` reads."""
    nodes = {node.name: list(node.position or ()) for node in topology.nodes}
    data: dict[str, Any] = {"name": topology.name}
    if topology.description is not None:
        data["description"] = topology.description
    data["nodes"] = nodes
    data["link"] = [_line_table(line) for line in topology.lines]
    if topology.demands:
        data["demand"] = [{"from": one.source, "to": one.target, "rate": one.rate} for one in topology.demands]
    return data


def _line_table(line: Line) -> dict[str, Any]:
    fields = {
        "from": line.a,
        "to": line.b,
        "name": line.name,
        "capacity": line.capacity,
        "distance": None if line.distance_km is None else f"{line.distance_km!r} km",
        "delay": line.delay,
        "cost": None if line.cost == 1 else line.cost,
    }
    return {field: value for field, value in fields.items() if value is not None}


def written(topology: Topology) -> str:
    """The topology as TOML text."""
    data = table(topology)
    lines = [f"{field} = {_value(data[field])}" for field in ("name", "description") if field in data]
    lines += ["", "[nodes] # longitude and latitude, in degrees"]
    lines += [f"{_key(name)} = {_value(place)}" for name, place in data["nodes"].items()]
    for kind in ("link", "demand"):
        for entry in data.get(kind, ()):
            lines += ["", f"[[{kind}]]", *(f"{field} = {_value(value)}" for field, value in entry.items())]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("-", "").replace("_", "").isalnum() else _value(name)


def _value(value: object) -> str:
    """A value as TOML writes it: JSON's texts are TOML's but for DEL, which has to be escaped."""
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
