"""The files derived from the core equal the output of `make generate`."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from typing import Literal, get_type_hints

import pytest

from conftest import ROOT
from netlull import AccessPoint, Practra, Psm, Tcp, catalogue

GENERATE = ROOT / "tools" / "generate.py"


TABLES = [
    "LineCardDocument",
    "PortDocument",
    "PowerDocument",
    "RadioPowersDocument",
    "SupplyDocument",
    "TcpDocument",
]
"""The tables with parameters that are no kinds."""


def test_no_derived_file_is_stale() -> None:
    check = subprocess.run([sys.executable, GENERATE, "--check"], capture_output=True, text=True, check=False)
    assert (check.returncode, check.stdout, check.stderr) == (0, "", "")


def test_every_kind_with_parameters_has_its_table() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "models").rglob("*.md"))
    tables = re.findall(r"<!-- parameters: (\w+) -->", pages)
    listed = catalogue()
    entries = [entry for kind in ("mechanisms", "queues", "losses") for entry in listed[kind]]
    names = [entry["name"] for entry in entries if entry["parameters"]]
    assert sorted(tables) == sorted([*TABLES, *names])
    assert sorted(re.findall(r"<!-- catalogue: (\w+) -->", pages)) == ["power", "radios", "transceivers"]


def test_a_class_belongs_to_one_table() -> None:
    # A kind "probe" would get the class of the field "probe".
    def table(field: str, **more: object) -> dict[str, object]:
        properties = {field: {"type": "string", "description": "Text."}, **more}
        return {"type": "object", "description": "A table.", "properties": properties}

    definitions = {
        "Probe": table("interval"),
        "Queue": {"description": "A queue.", "oneOf": [table("length", kind={"const": "probe"})]},
    }
    properties = {"probe": {"$ref": "#/$defs/Probe"}, "queue": {"$ref": "#/$defs/Queue"}}
    builders = runpy.run_path(str(GENERATE))["Builders"]
    with pytest.raises(ValueError, match="class Probe: belongs to two tables"):
        builders({"$defs": definitions, "properties": properties})


def test_choices_are_literals() -> None:
    assert get_type_hints(Practra)["steps"] == Literal["adjacent", "any"] | None


def test_names_that_python_keeps_end_in_an_underscore() -> None:
    assert Tcp("flow", from_="a", to="b").from_ == "a"


def test_a_field_of_the_access_point_is_told_where_it_belongs() -> None:
    assert Psm(access_point=AccessPoint(poll="one")).access_point == AccessPoint(poll="one")
    expected = r"Psm: poll is a field of its access point; expected Psm\(access_point=AccessPoint\(poll='one'\)\)"
    with pytest.raises(TypeError, match=expected):
        Psm(poll="one")  # type: ignore[call-arg]  # on purpose
