"""The builders' classes have the names that users know, and the shipped scenarios follow the schema."""

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
from conftest import SHIPPED
from netlull import builders, library

SCHEMA = netlull.schema()

POSITIONAL = {
    "AccessPoint": "",
    "Air": "name",
    "Awm": "target",
    "AwmEarth": "target rates threshold",
    "Bernoulli": "probability",
    "Bsd": "",
    "Bursts": "name from_ to rate",
    "CEarth": "target min_rate round_trip",
    "CampusSize": "mean",
    "Cbr": "name from_ to rate",
    "ClientShaper": "",
    "Codel": "target interval",
    "DropTail": "",
    "Eager": "",
    "Earth": "rates threshold",
    "EmpiricalSize": "cdf file",
    "Esacon": "threshold",
    "Estop": "threshold",
    "ExponentialSize": "mean",
    "FixedSize": "size",
    "Flooding": "",
    "GRouter": "target min_rate round_trip",
    "GilbertElliott": "to_bad to_good loss_bad loss_good",
    "Link": "from_ to rate delay buffer",
    "LoadAware": "bound",
    "LognormalComponent": "weight median sigma",
    "LognormalSize": "components min max",
    "Noise": "mean shape",
    "ParetoSize": "mean shape max",
    "Phase": "name",
    "Poisson": "name from_ to rate",
    "Power": "model",
    "Practra": "rates transition min_interval delay_bound",
    "Probe": "interval",
    "Psm": "",
    "Radio": "name asleep idle receive transmit wake_time",
    "RateSteps": "from_ to step",
    "Recording": "link flows",
    "Red": "min_threshold max_threshold",
    "Replay": "name from_ to",
    "Requests": "name from_ to offered size",
    "Routing": "",
    "Scripted": "drops",
    "ScriptedDrops": "flow packets",
    "Simultaneous": "after",
    "Sleep": "at",
    "Station": "nodes",
    "Steps": "steps",
    "Tcp": "name from_ to size",
    "TcpOptions": "",
    "UniformRedraw": "min max mean_interval",
    "VegasBounds": "alpha beta gamma",
    "WebSearchSize": "mean",
}
"""The positional fields of every class: users' code relies on them."""


def _positional(element: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(element) if not field.kw_only]


def test_every_class_takes_its_positional_fields_in_their_order() -> None:
    assert {name: " ".join(_positional(getattr(netlull, name))) for name in POSITIONAL} == POSITIONAL
    assert set(POSITIONAL) <= set(builders.__all__)


def test_a_scenario_takes_the_fields_of_the_schema() -> None:
    plural = {"link": "links", "flow": "flows", "phase": "phases", "station": "stations", "air": "airs"}
    fields = {plural.get(field, field) for field in SCHEMA["properties"]}
    assert set(inspect.signature(netlull.Scenario).parameters) == fields


def test_the_committed_schema_is_what_the_command_prints(printed: Callable[..., str]) -> None:
    committed = (SHIPPED / "scenarios" / "scenario.schema.json").read_text(encoding="utf-8")
    assert printed("schema") == committed, "run: make generate"


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", sorted((SHIPPED / "scenarios").glob("*.toml")), ids=lambda path: path.stem)
def test_a_ready_scenario_follows_the_schema_and_is_shipped(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("#:schema ./scenario.schema.json\n")
    jsonschema.validate(tomllib.loads(text), SCHEMA)
    scenario = netlull.Scenario.from_file(path)
    assert scenario.name == path.stem
    assert scenario.to_dict()["description"]
    assert library.shipped()[path.stem].samefile(path)


def test_the_schema_refuses_what_the_core_refuses() -> None:
    document = {"duration": "1 s", "nodes": ["a", "b"], "link": [{"from": "a", "to": "b", "rate": "10 MB/s"}]}
    with pytest.raises(jsonschema.ValidationError, match="10 MB/s"):
        jsonschema.validate(document, SCHEMA)
    with pytest.raises(netlull.ScenarioError, match="10 MB/s"):
        netlull.Scenario.from_dict(document)
