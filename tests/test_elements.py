"""The builder's fields are the schema's fields, and the ready scenarios follow the schema."""

from __future__ import annotations

import dataclasses
import inspect
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import netlull
from conftest import ROOT
from netlull import bundled

SCHEMA = netlull.schema()

ELEMENTS: dict[Any, str] = {
    netlull.Link: "LinkDocument",
    netlull.Practra: "ControllerDocument",
    netlull.Earth: "ControllerDocument",
    netlull.Awm: "ControllerDocument",
    netlull.CEarth: "ControllerDocument",
    netlull.GRouter: "ControllerDocument",
    netlull.RateSteps: "RateSteps",
    netlull.Steps: "CapacityDocument",
    netlull.UniformRedraw: "CapacityDocument",
    netlull.Bernoulli: "LossDocument",
    netlull.GilbertElliott: "LossDocument",
    netlull.Scripted: "LossDocument",
    netlull.ScriptedDrops: "ScriptedDropsDocument",
    netlull.Noise: "NoiseDocument",
    netlull.DropTail: "QueueDocument",
    netlull.Red: "QueueDocument",
    netlull.Codel: "QueueDocument",
    netlull.Tcp: "FlowDocument",
    netlull.Cbr: "FlowDocument",
    netlull.Poisson: "FlowDocument",
    netlull.Bursts: "FlowDocument",
    netlull.Requests: "FlowDocument",
    netlull.FixedSize: "SizeDocument",
    netlull.ExponentialSize: "SizeDocument",
    netlull.ParetoSize: "SizeDocument",
    netlull.LognormalSize: "SizeDocument",
    netlull.LognormalComponent: "LognormalComponentDocument",
    netlull.CampusSize: "SizeDocument",
    netlull.EmpiricalSize: "SizeDocument",
    netlull.WebSearchSize: "SizeDocument",
    netlull.Replay: "FlowDocument",
    netlull.Recording: "RecordingDocument",
    netlull.TcpOptions: "TcpDocument",
    netlull.VegasBounds: "VegasDocument",
    netlull.Power: "PowerDocument",
    netlull.Probe: "ProbeDocument",
    netlull.Phase: "PhaseDocument",
    netlull.Routing: "RoutingDocument",
    netlull.Flooding: "UpdateDocument",
    netlull.Simultaneous: "UpdateDocument",
    netlull.Sleep: "SleepDocument",
    netlull.Estop: "PlanDocument",
    netlull.Esacon: "PlanDocument",
    netlull.LoadAware: "PlanDocument",
    netlull.Station: "StationDocument",
    netlull.Radio: "RadioPowersDocument",
    netlull.ClientShaper: "StationMechanismDocument",
    netlull.Eager: "StationMechanismDocument",
    netlull.Psm: "StationMechanismDocument",
    netlull.Bsd: "StationMechanismDocument",
    netlull.AccessPoint: "AccessPointDocument",
}


def _definition(element: Any) -> dict[str, Any]:
    """The schema's table for an element; where several kinds are possible, the one of its kind."""
    definition: dict[str, Any] = SCHEMA["$defs"][ELEMENTS[element]]
    if "oneOf" not in definition:
        return definition
    (variant,) = [one for one in definition["oneOf"] if one["properties"]["kind"]["const"] == element.kind]
    return dict(variant)


@pytest.mark.parametrize("element", ELEMENTS)
def test_an_element_has_the_fields_of_the_schema(element: Any) -> None:
    definition = _definition(element)
    fields = {field.name.rstrip("_"): field for field in dataclasses.fields(element)}
    assert set(fields) == set(definition["properties"]) - {"kind"}
    needed = {key for key, field in fields.items() if field.default is dataclasses.MISSING}
    assert needed == set(definition.get("required", [])) - {"kind"}


def test_every_kind_of_the_schema_has_an_element() -> None:
    for name in (
        "ControllerDocument",
        "CapacityDocument",
        "LossDocument",
        "QueueDocument",
        "FlowDocument",
        "SizeDocument",
        "UpdateDocument",
        "PlanDocument",
        "StationMechanismDocument",
    ):
        kinds = {variant["properties"]["kind"]["const"] for variant in SCHEMA["$defs"][name]["oneOf"]}
        assert kinds == {element.kind for element, place in ELEMENTS.items() if place == name}


def test_a_scenario_takes_the_fields_of_the_schema() -> None:
    plural = {"link": "links", "flow": "flows", "phase": "phases", "station": "stations"}
    fields = {plural.get(field, field) for field in SCHEMA["properties"]}
    assert set(inspect.signature(netlull.Scenario).parameters) == fields


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
    assert bundled.ready()[path.stem].samefile(path)


def test_the_schema_refuses_what_the_core_refuses() -> None:
    document = {"duration": "1 s", "nodes": ["a", "b"], "link": [{"from": "a", "to": "b", "rate": "10 MB/s"}]}
    with pytest.raises(jsonschema.ValidationError, match="10 MB/s"):
        jsonschema.validate(document, SCHEMA)
    with pytest.raises(netlull.ScenarioError, match="10 MB/s"):
        netlull.Scenario.from_dict(document)
