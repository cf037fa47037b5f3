"""Paths into documents (`--set`, `with_values`, metrics), and values that JSON can hold."""

from __future__ import annotations

import datetime
import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from netlull import Link, Practra, RateSteps
from netlull.documents.plain import plain
from netlull.documents.tomltext import parse_setting, read_toml
from netlull.errors import FieldPathError, InputError
from netlull.results.entries import get

TABLE: dict[str, Any] = json.loads((ROOT / "crates/text/tests/paths.json").read_text(encoding="utf-8"))
"""The table of the tests of changes (`crates/text/tests/text.rs`): values are read along the same paths."""

DOCUMENT: dict[str, Any] = TABLE["document"]


def at(document: Any, pointer: str) -> Any:
    """The value at a JSON pointer."""
    for key in pointer.split("/")[1:]:
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


@pytest.mark.parametrize("row", TABLE["set"], ids=lambda row: row["path"])
def test_a_path_leads_to_a_value(row: dict[str, str]) -> None:
    try:
        value = at(DOCUMENT, row["changes"])
    except KeyError:
        # A change makes it.
        with pytest.raises(FieldPathError):
            get(DOCUMENT, row["path"])
    else:
        assert get(DOCUMENT, row["path"]) == value


def test_reading_a_field_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(FieldPathError, match="it has from, to, rate"):
        get(DOCUMENT, "link.a-b.speed")


@pytest.mark.parametrize("row", TABLE["settings"], ids=lambda row: row["setting"])
def test_a_setting_is_toml_or_text(row: dict[str, Any]) -> None:
    assert parse_setting(row["setting"]) == (row["path"], row["value"])


@pytest.mark.parametrize("row", TABLE["wrong_settings"], ids=lambda row: row["setting"])
def test_a_setting_needs_a_path_and_a_value(row: dict[str, str]) -> None:
    with pytest.raises(InputError, match=re.escape(row["says"])):
        parse_setting(row["setting"])


def test_builder_elements_become_tables() -> None:
    rates = RateSteps("1 Mb/s", "10 Mb/s", "1 Mb/s")
    link = Link("a", "b", "10 Mb/s", controller=Practra(rates, "2 ms", "16 ms", "40 ms"))
    assert plain(link) == {
        "from": "a",
        "to": "b",
        "rate": "10 Mb/s",
        "controller": {
            "kind": "practra",
            "rates": {"from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s"},
            "transition": "2 ms",
            "min_interval": "16 ms",
            "delay_bound": "40 ms",
        },
    }


def test_numpy_numbers_are_numbers() -> None:
    values = plain({"seed": np.int64(3), "weights": (np.float64(0.5), np.float32(0.25))})
    assert values == {"seed": 3, "weights": [0.5, 0.25]}
    assert type(values["seed"]) is int


@pytest.mark.parametrize("value", [float("nan"), float("inf"), datetime.date(2020, 1, 1), b"bytes", object()])
def test_what_json_cannot_hold_is_named(value: object) -> None:
    with pytest.raises(InputError, match=r"^link\.0\.rate: "):
        plain({"link": [{"rate": value}]})


_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
_values = st.recursive(_scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10)


@given(_values)
def test_plain_values_stay_as_they_are(value: object) -> None:
    assert plain(value) == value


@pytest.mark.parametrize(
    "links",
    [
        [{"from": "a", "to": "b", "controller": {"forecast_weight": float("nan")}}],
        [Link("a", "b", "1 Mb/s", controller={"forecast_weight": float("nan")})],
    ],
    ids=["tables", "elements"],
)
def test_a_number_that_is_not_finite_is_named_by_its_entry(links: list[Any]) -> None:
    with pytest.raises(InputError) as raised:
        plain({"link": links})
    assert str(raised.value) == "link.a-b.controller.forecast_weight: nan; expected a finite number"


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "+nan"])
def test_a_setting_that_is_not_finite_is_named(number: str) -> None:
    with pytest.raises(InputError, match=rf"^beta: {number.strip('+')}; expected a finite number$"):
        parse_setting(f"beta={number}")
    # Text with the same letters.
    assert parse_setting(f"name='{number}'") == ("name", number)


def test_a_number_that_is_not_finite_is_named_with_its_file() -> None:
    with pytest.raises(InputError) as raised:
        read_toml("[[link]]\nfrom = 'a'\nto = 'b'\ncost = inf\n", "scenario.toml")
    assert str(raised.value) == "scenario.toml, line 4, column 8: link.a-b.cost: inf; expected a finite number"


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, "\ud800"])
def test_values_that_the_core_cannot_hold_are_refused(value: object) -> None:
    with pytest.raises(InputError, match=r"^seed.*expected"):
        plain({"seed": value})
