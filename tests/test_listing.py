"""`netlull list tcp`: described once in the core, and equal to the schema's values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from netlull import ScenarioError, TcpOptions, catalogue, schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from netlull import Scenario

    Printed = Callable[..., str]

OPTIONS: dict[str, list[str]] = {
    option["name"]: [value["name"] for value in option["values"]]
    for option in catalogue()["tcp-options"]
    if option["values"]
}
"""Options with named values."""


def _schemas_values(option: str) -> list[str]:
    """The names that the schema allows for an option of `tcp`."""
    definitions = schema()["$defs"]
    (reference,) = (one["$ref"] for one in definitions["TcpDocument"]["properties"][option]["anyOf"] if "$ref" in one)
    definition: dict[str, Any] = definitions[reference.rpartition("/")[2]]
    return [str(value["const"]) for value in definition["oneOf"]]


@pytest.mark.parametrize("option", OPTIONS)
def test_the_values_listed_are_those_that_scenarios_take(option: str) -> None:
    assert OPTIONS[option] == _schemas_values(option)


def test_every_option_with_names_is_listed() -> None:
    definitions = schema()["$defs"]
    properties = definitions["TcpDocument"]["properties"]
    referred = {
        name: definitions[one["$ref"].rpartition("/")[2]]
        for name, field in properties.items()
        for one in field.get("anyOf", [])
        if "$ref" in one
    }
    named = {name for name, definition in referred.items() if "oneOf" in definition}
    assert named == set(OPTIONS)
    assert list(properties) == [option["name"] for option in catalogue()["tcp-options"]]


def test_every_option_is_listed_with_its_default() -> None:
    options = {option["name"]: option for option in catalogue()["tcp-options"]}
    assert all(option["default"] for option in options.values())
    assert options["min_rto"]["default"] == "1 s; ns2: 200 ms; linux-6: 200 ms"
    assert options["cwnd_unit"]["defaults"] == {
        "rfc": "bytes",
        "ns2": "bytes",
        "freebsd-4.5": "bytes",
        "linux-6": "segments",
    }
    fields = schema()["$defs"]["TcpDocument"]["properties"]
    assert {name: field["x-default"] for name, field in fields.items()} == {
        name: option["default"] for name, option in options.items()
    }


@pytest.mark.parametrize("entry", catalogue()["tcp"], ids=lambda entry: str(entry["name"]))
def test_naming_an_algorithm_brings_the_defaults_that_are_listed(small: Scenario, entry: dict[str, Any]) -> None:
    said = TcpOptions(congestion_control=entry["name"], **entry["defaults"])
    named, spelt_out = (
        small.with_values({"tcp": tcp, "duration": "1 s"}).run(probe={"window": True})
        for tcp in ({"congestion_control": entry["name"]}, said)
    )
    assert named.summary == spelt_out.summary
    assert named.series("window").equals(spelt_out.series("window"))
    assert named.flow("tcp")["congestion_control"] == entry["name"]


def test_parameters_that_are_options_are_options_of_scenarios() -> None:
    properties = schema()["$defs"]["TcpDocument"]["properties"]
    options = {
        parameter["name"] for entry in catalogue()["tcp"] for parameter in entry["parameters"] if parameter["is_option"]
    }
    assert {"hystart", "vegas", "initial_window"} <= options <= set(properties)


def test_an_unknown_algorithm_is_answered_with_those_that_there_are(small: Scenario) -> None:
    names = ", ".join(entry["name"] for entry in catalogue()["tcp"])
    with pytest.raises(ScenarioError, match=f'"westwood" is unknown; expected one of {names}'):
        small.with_values({"tcp.congestion_control": "westwood"})


def test_list_tcp_shows_parameters_defaults_pages_and_options(printed: Printed) -> None:
    text = printed("list", "tcp")
    for words in (
        "beta_cubic",
        "loss_recovery = rack",
        "docs/models/tcp/cubic-2-6-22.md",
        "rate_halving",
        "TCP options",
    ):
        assert words in text, words
    assert all(len(line) <= 150 for line in text.splitlines())
    assert json.loads(printed("list", "tcp", "--json")) == catalogue()["tcp"]
    assert json.loads(printed("list", "tcp-options", "--json")) == catalogue()["tcp-options"]


def test_a_name_selects_one_entry(printed: Printed) -> None:
    (practra,) = json.loads(printed("list", "mechanisms", "practra", "--json"))
    assert practra["name"] == "practra"
    text = printed("list", "mechanisms", "practra")
    assert "delay_bound" in text
    assert "awm" not in text
    assert "| ]" not in text, "an optional parameter has no empty choice"


def test_an_unknown_name_is_refused_with_a_near_one(refused: Callable[..., str]) -> None:
    message = refused("list", "mechanisms", "practa")
    assert message.strip() == 'netlull: NAME: "practa": no entry of mechanisms; did you mean practra?'


def test_mechanisms_are_short_together_and_one_has_its_parameters(printed: Callable[..., str]) -> None:
    assert "min_interval" not in printed("list", "mechanisms")
    assert "min_interval" in printed("list", "mechanisms", "practra")
