"""The builder's fields are the schema's fields, and the ready scenarios follow the schema."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import netlull
import pytest
import tomllib
from conftest import ROOT
from netlull import ready

SCHEMA = netlull.schema()

ELEMENTS = {
    netlull.Link: "LinkDocument",
    netlull.Practra: "PractraDocument",
    netlull.RateSteps: "RateSteps",
    netlull.UniformRedraw: "UniformRedrawDocument",
    netlull.Bernoulli: "BernoulliDocument",
    netlull.Tcp: "TcpFlowDocument",
    netlull.Cbr: "CbrDocument",
    netlull.Poisson: "CbrDocument",
    netlull.Bursts: "BurstsDocument",
    netlull.TcpOptions: "TcpDocument",
    netlull.Power: "PowerDocument",
    netlull.Probe: "ProbeDocument",
}


def _properties(definition: dict[str, Any]) -> set[str]:
    """The fields of a table; a tagged union's variants refer to the table without its tag."""
    return set(definition["properties"]) - {"kind"}


@pytest.mark.parametrize(("element", "name"), ELEMENTS.items(), ids=lambda value: getattr(value, "__name__", value))
def test_an_element_has_the_fields_of_the_schema(element: type, name: str) -> None:
    definition = SCHEMA["$defs"][name]
    fields = {field.name.rstrip("_"): field for field in dataclasses.fields(element)}
    assert set(fields) == _properties(definition)
    needed = {key for key, field in fields.items() if field.default is dataclasses.MISSING}
    assert needed == set(definition.get("required", [])) - {"kind"}


@pytest.mark.parametrize("element", [element for element in ELEMENTS if hasattr(element, "kind")])
def test_an_elements_kind_is_in_the_schema(element: Any) -> None:
    assert json.dumps(element.kind) in json.dumps(SCHEMA)


def test_the_committed_schema_is_what_the_command_prints(printed: Callable[..., str]) -> None:
    committed = (ROOT / "scenarios" / "scenario.schema.json").read_text(encoding="utf-8")
    assert printed("schema") == committed, "run: netlull schema > scenarios/scenario.schema.json"


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda path: path.stem)
def test_a_ready_scenario_follows_the_schema_and_is_shipped(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("#:schema ./scenario.schema.json\n")
    jsonschema.validate(tomllib.loads(text), SCHEMA)
    scenario = netlull.Scenario.from_file(path)
    assert scenario.name == path.stem
    assert scenario.to_dict()["description"]
    packaged = Path(ready.__file__).parent / "scenarios" / path.name
    assert packaged.read_text(encoding="utf-8") == text, "link it: python/netlull/scenarios/NAME.toml"


def test_the_schema_refuses_what_the_core_refuses() -> None:
    document = {"duration": "1 s", "nodes": ["a", "b"], "link": [{"from": "a", "to": "b", "rate": "10 MB/s"}]}
    with pytest.raises(jsonschema.ValidationError, match="10 MB/s"):
        jsonschema.validate(document, SCHEMA)
    with pytest.raises(netlull.ScenarioError, match="10 MB/s"):
        netlull.Scenario.from_dict(document)
