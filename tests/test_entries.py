"""Long lists of a summary: they equal the plain lists, in any order of reading."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest

import netlull
from netlull import Link, Result, Scenario, Tcp
from netlull.results.entries import LONG, Entries
from netlull.results.output import json_text

if TYPE_CHECKING:
    from pathlib import Path

HOSTS = LONG // 2 + 30


@pytest.fixture(scope="module")
def large() -> Scenario:
    """A star of more hosts than a plain list has links. Three of them send."""
    names = [f"h{host}" for host in range(HOSTS)]
    return Scenario(
        duration="1 s",
        nodes=["hub", *names],
        links=[Link(name, "hub", "10 Mb/s", "1 ms", buffer="10 packets", duplex=True) for name in names],
        flows=[Tcp(f"to-{end}", "h0", f"h{end}") for end in (1, HOSTS // 2, HOSTS - 1)],
    )


@pytest.fixture(scope="module")
def result(large: Scenario) -> Result:
    """A run of it."""
    return large.run(seed=1)


@pytest.fixture(scope="module")
def whole(large: Scenario) -> dict[str, Any]:
    """The same summary as plain objects."""
    read: dict[str, Any] = json.loads(large.checked.run(seed=1).summary())
    return read


def test_entries_are_those_of_the_whole_summary(result: Result, whole: dict[str, Any]) -> None:
    links = result.summary["links"]
    assert isinstance(links, Entries)
    assert isinstance(result.summary["flows"], list)
    assert (len(links), links == whole["links"], result.summary == whole) == (2 * HOSTS, True, True)
    for index in (0, 255, 256, 2 * HOSTS - 1, -1, -2 * HOSTS, 3):
        assert links[index] == whole["links"][index]
    assert links[250:270:3] == whole["links"][250:270:3]
    assert links[::-1] == whole["links"][::-1]
    for index in (2 * HOSTS, -2 * HOSTS - 1):
        with pytest.raises(IndexError):
            links[index]


def test_unequal_entries_differ(result: Result, whole: dict[str, Any]) -> None:
    links = result.summary["links"]
    changed = [*whole["links"]]
    changed[300] = {**changed[300], "offered_packets": -1}
    assert links != changed
    assert links != changed[:-1]
    assert links != "links"


def test_metrics_and_parts_are_found_in_long_lists(result: Result, whole: dict[str, Any]) -> None:
    busy = max(whole["links"], key=lambda link: int(link["offered_packets"]))
    assert result.metric(f"link.{busy['name']}.offered_packets") == busy["offered_packets"]
    assert result.metric("max(link.*.offered_packets)") == busy["offered_packets"]
    assert result.link(f"hub-h{HOSTS - 1}") == whole["links"][-1]
    assert result.links.num_rows == 2 * HOSTS
    with pytest.raises(netlull.FieldPathError, match=f'"h0-h{HOSTS}" is not an entry of link'):
        result.metric(f"link.h0-h{HOSTS}.offered_packets")


def test_a_saved_result_has_every_entry(result: Result, whole: dict[str, Any], tmp_path: Path) -> None:
    result.save(tmp_path / "run")
    loaded = Result.load(tmp_path / "run")
    assert loaded.summary == whole
    assert (tmp_path / "run" / "summary.json").read_text(encoding="utf-8") == json_text(whole)
    assert loaded.scenario == result.scenario


def test_a_copy_has_every_entry(result: Result, whole: dict[str, Any]) -> None:
    copy = pickle.loads(pickle.dumps(result))  # noqa: S301  # its own
    assert copy.summary == whole
    assert copy.scenario == result.scenario
