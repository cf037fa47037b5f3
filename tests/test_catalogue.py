"""The catalogue (`netlull list`) and the JSON Schema describe the same mechanisms, options, models and radios."""

from __future__ import annotations

import re
from typing import Any

import pytest

from conftest import doze
from netlull import Power, Scenario, Station, catalogue, schema
from netlull.quantities import in_unit

CATALOGUE = catalogue()
SCHEMA: dict[str, Any] = schema()
DEFINITIONS: dict[str, Any] = SCHEMA["$defs"]
MECHANISMS = {entry["name"]: entry for entry in CATALOGUE["mechanisms"]}
UNITS = ("s", "b/s", "B")


def _definition(field: dict[str, Any]) -> dict[str, Any]:
    """The definition to which a field refers, even if the field is optional or a list."""
    references = [each["$ref"] for each in (field, *field.get("anyOf", [])) if "$ref" in each]
    if "items" in field and not references:
        return _definition(field["items"])
    return DEFINITIONS[references[0].rpartition("/")[2]] if references else {}


def _merged(table: dict[str, Any]) -> dict[str, Any]:
    """A table with the fields of the definition to which it refers."""
    base = _definition(table)
    properties = table.get("properties", {}) | base.get("properties", {})
    return {"properties": properties, "required": [*table.get("required", []), *base.get("required", [])]}


def _kinds(*path: str) -> dict[str, dict[str, Any]]:
    """The kinds of a field, such as those of `link.controller`."""
    definition = SCHEMA
    for key in path:
        definition = _definition(definition["properties"][key])
    tables = [_merged(each) for each in definition["oneOf"]]
    return {each["properties"]["kind"]["const"]: each for each in tables}


# A kind of plug-ins is in several definitions; the catalogue has its fields in the first.
KINDS = _kinds("station", "mechanism") | _kinds("sleep", "plan") | _kinds("link", "controller")


def _fields(table: dict[str, Any], prefix: str = "") -> dict[str, dict[str, Any]]:
    """The fields of a schema's table and of its inner tables, such as `access_point.poll`, and the required ones."""
    fields: dict[str, dict[str, Any]] = {}
    for name, field in table["properties"].items():
        inner = _definition(field)
        if "properties" in inner and "required" not in inner:
            fields |= _fields(inner, f"{name}.")
        elif name != "kind":
            fields[prefix + name] = field | {"required": name in table.get("required", [])}
    return fields


def _choices(field: dict[str, Any]) -> set[str]:
    """The possible words of a field, or the kinds of its table, without those that its description excludes."""
    if field.get("type") == "boolean":
        return {"true", "false"}
    words = [each.get("const") or each["properties"]["kind"]["const"] for each in _definition(field).get("oneOf", [])]
    return set(words) - set(re.findall(r"not `(\w+)`", field.get("description", "")))


def _same(listed: str, default: object) -> bool:
    """The default in the listing and in the schema."""
    if isinstance(default, dict):
        return listed == default["kind"]
    if isinstance(default, bool):
        return listed == str(default).lower()
    if isinstance(default, str):
        return listed == default or any(in_unit(listed, unit) == in_unit(default, unit) is not None for unit in UNITS)
    return float(listed) == default


def test_every_mechanism_is_listed() -> None:
    assert set(MECHANISMS) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_of_a_mechanism_is_listed(kind: str) -> None:
    assert {parameter["name"] for parameter in MECHANISMS[kind]["parameters"]} == set(_fields(KINDS[kind]))


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_are_listed_with_their_defaults_and_choices(kind: str) -> None:
    fields = _fields(KINDS[kind])
    for parameter in MECHANISMS[kind]["parameters"]:
        field = fields[parameter["name"]]
        assert (parameter["default"] == "must be given") == field["required"], parameter
        if "default" in field:
            assert _same(parameter["default"], field["default"]), (parameter, field["default"])
        if _choices(field):
            assert set(parameter["unit"].split(" | ")) == _choices(field), parameter


@pytest.mark.parametrize("kind", ["queues", "losses"])
def test_every_kind_of_queue_and_loss_is_listed(kind: str) -> None:
    field = {"queues": "queue", "losses": "loss"}[kind]
    assert {entry["name"] for entry in CATALOGUE[kind]} == set(_kinds("link", field))


@pytest.mark.parametrize("entry", CATALOGUE["power"], ids=lambda entry: str(entry["name"]))
def test_a_power_model_that_is_listed_is_one_that_scenarios_take(small: Scenario, entry: dict[str, Any]) -> None:
    assert small.with_values({"power": [Power(entry["name"])]})


@pytest.mark.parametrize("entry", CATALOGUE["radios"], ids=lambda entry: str(entry["name"]))
def test_a_radio_that_is_listed_is_one_that_scenarios_take(entry: dict[str, Any]) -> None:
    assert doze(stations=[Station(["client"], radio=[entry["name"]])])
