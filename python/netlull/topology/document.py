"""netlull's own format of topologies, in TOML: `[nodes]` with their positions, `[[link]]`, `[[demand]]`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, field

from netlull.documents.decode import Document, FieldError, Text, decode
from netlull.documents.tomltext import read_toml, toml_key, toml_value
from netlull.errors import InputError
from netlull.quantities import in_unit
from netlull.topology.draft import Draft

if TYPE_CHECKING:
    from netlull.topology.model import Line
    from netlull.topology.model import Network as Topology
    from netlull.topology.options import ReadOptions

__all__ = ["from_table", "read", "table", "written"]

_TABLE = re.compile(r"^\s*\[(nodes|\[link\])\]", re.MULTILINE)
"""The sign of netlull's own format in a text that is not TOML."""
_LONGEST_KM = 1e9
"""The longest distance, in km: more than from the sun to Jupiter."""


class _Link(Document, frozen=True):
    """An entry of `[[link]]`."""

    a: Text = field(name="from")
    b: Text = field(name="to")
    name: Text | None = None
    capacity: Text | None = None
    distance: Text | None = None
    delay: Text | None = None
    cost: Annotated[int, Meta(ge=1)] = 1

    @property
    def kilometres(self) -> float | None:
        """The distance in km; None without a valid one."""
        amount, _, unit = (self.distance or "").strip().partition(" ")
        found = in_unit(amount, "") if unit.strip() == "km" else None
        return found if found is not None and 0 <= found <= _LONGEST_KM else None

    def __post_init__(self) -> None:
        """Refuses an invalid distance."""
        if self.distance is not None and self.kilometres is None:
            raise FieldError(
                "distance", f'"{self.distance}" is not a distance; expected one such as "132.4 km", at most 1e9 km'
            )


class _Demand(Document, frozen=True):
    """An entry of `[[demand]]`."""

    source: Text = field(name="from")
    target: Text = field(name="to")
    rate: Text


class _File(Document, frozen=True, kw_only=True):
    """A topology."""

    name: str | None = None
    description: str | None = None
    nodes: Annotated[
        Mapping[str, Any], Meta(min_length=1, extra={"expected": "a table such as Vienna = [16.37, 48.21]"})
    ]
    link: tuple[_Link, ...] = ()
    demand: tuple[_Demand, ...] = ()


def read(text: str, name: str, origin: str, options: ReadOptions) -> Topology:
    """The topology in the text of a file.

    Raises:
        InputError: names `origin`, the field, its value and the expected values.
    """
    try:
        data = read_toml(text, origin)
    except InputError as error:
        is_other = "is not TOML" in str(error) and not (origin.endswith(".toml") or _TABLE.search(text))
        if is_other and options.format is None:
            expected = "expected SNDlib's native format or XML, GraphML, or netlull's TOML (others can be converted)"
            raise InputError(f"{origin}: is in no format of networks that netlull reads; {expected}") from None
        raise
    except ValueError as error:  # a number of more than 4,300 digits
        raise InputError(f"{origin}: is not TOML: {error}") from None
    if "duration" in data:
        raise InputError(f"{origin}: is a scenario; expected a topology, with a table [nodes]")
    return from_table(data, name, origin, options.parallel)


def from_table(data: Mapping[str, Any], name: str, origin: str, parallel: str = "refuse") -> Topology:
    """The topology in a table. `name` is the default name.

    Raises:
        InputError: names `origin`, the field, its value and the expected values.
    """
    draft = Draft(origin, parallel)
    try:
        document = decode(data, _File)
    except FieldError as error:
        raise draft.wrong(error.path, error.message) from None
    for node, place in document.nodes.items():
        draft.node(f"nodes.{node}", node, _place(node, place, draft))
    for index, link in enumerate(document.link):
        if link.a == link.b:
            told = f'link {link.a}-{link.b}: leads from "{link.a}" back to itself; expected two different nodes'
            raise draft.wrong(f"link.{index}", told)
        fields: dict[str, Any] = {"name": link.name, "capacity": link.capacity, "delay": link.delay, "cost": link.cost}
        draft.link(f"link.{index}", link.a, link.b, distance_km=link.kilometres, **fields)
    for index, demand in enumerate(document.demand):
        draft.demand(f"demand.{index}", demand.source, demand.target, demand.rate)
    return draft.topology(document.name or name, document.description)


def _place(name: str, place: object, draft: Draft) -> tuple[float, float] | None:
    if place == []:
        return None
    numbers = place if isinstance(place, list) else []
    if len(numbers) != 2 or any(isinstance(one, bool) or not isinstance(one, int | float) for one in numbers):
        expected = "expected [longitude, latitude] in degrees, or [] if unknown"
        raise draft.wrong(f"nodes.{name}", f"{place!r} is not a place; {expected}")
    if any(abs(one) > 360 for one in numbers):
        raise draft.wrong(f"nodes.{name}", f"{place!r:.40} is out of range; expected [longitude, latitude] in degrees")
    return float(numbers[0]), float(numbers[1])


def table(topology: Topology) -> dict[str, Any]:
    """The topology as plain values, the input of `from_table`."""
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
    lines = [f"{field} = {toml_value(data[field])}" for field in ("name", "description") if field in data]
    lines += ["", "[nodes] # longitude and latitude, in degrees"]
    lines += [f"{toml_key(name)} = {toml_value(place)}" for name, place in data["nodes"].items()]
    for kind in ("link", "demand"):
        for entry in data.get(kind, ()):
            lines += ["", f"[[{kind}]]", *(f"{field} = {toml_value(value)}" for field, value in entry.items())]
    return "\n".join(lines) + "\n"
