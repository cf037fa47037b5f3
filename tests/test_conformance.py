"""Conformance of congestion controls: every case passes, and fails with one rule broken; the files of a judgement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import bbr_in_python
import cubic_in_python
from netlull import InputError, conformance
from netlull.cli import main
from netlull.conformance import Case, Subject

if TYPE_CHECKING:
    from netlull.conformance import Judgement

HERE = Path(__file__).parent
FILES = {"bbr": "bbr_in_python.py", "cubic": "cubic_in_python.py"}
UNBROKEN = {"bbr": "Bbr", "cubic": "Cubic"}
BROKEN = {**bbr_in_python.BROKEN, **cubic_in_python.BROKEN}
each_case = pytest.mark.parametrize("case", conformance.cases(), ids=lambda case: case.number)


def told(judgement: Judgement) -> list[str]:
    """The checks that do not hold."""
    return [f"{one.what}: {one.seen}; expected {one.expected}" for one in judgement.checks if one.holds is not True]


def in_python(case: Case, name: str) -> Judgement:
    return conformance.judge(case, Subject.read(f"{HERE / FILES[case.family]}:{name}"))


@each_case
def test_a_case_passes_with_black_box_and_state(case: Case) -> None:
    judgement = conformance.judge(case, Subject(case.family))
    assert not told(judgement)
    assert {one.kind for one in judgement.checks} == {"black box", "state"}


@each_case
def test_a_case_passes_in_python_and_fails_with_one_rule_broken(case: Case) -> None:
    assert not told(in_python(case, UNBROKEN[case.family]))
    broken = in_python(case, BROKEN[case.number].__name__)
    assert broken.verdict == "fails", BROKEN[case.number].__doc__


def test_the_numbers_are_those_of_the_draft() -> None:
    assert [case.number for case in conformance.cases("bbr")] == [f"A.{number}" for number in range(1, 23)]
    assert BROKEN.keys() == {case.number for case in conformance.cases()}


def test_an_algorithm_without_variables_is_judged_by_the_black_box() -> None:
    # NewReno fills the link, and no state is known.
    judgement = conformance.judge(conformance.chosen(["A.1"])[0], Subject("new_reno"))
    assert judgement.verdict_of("state") == "not judged"
    assert judgement.verdict_of("black box") == judgement.verdict
    assert "BBR.state" in [one.what for one in judgement.checks if one.holds is None]


def test_a_folder_has_a_page_pictures_and_traces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["conformance", "--case", "a.3", "--out", str(out)]) == 0
    assert "1 of 1 cases pass" in capsys.readouterr().out
    assert {path.name for path in out.iterdir()} == {
        "A.3.pcapng", "A.3.sqlog", "A.3.svg", "index.html", "manifest.json", "result.json",
    }  # fmt: skip
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "Exiting DRAIN based on inflight" in page
    # RFC 7464: each text is between a record separator and a line feed.
    texts = (out / "A.3.sqlog").read_text(encoding="utf-8").split("\x1e")
    assert texts[0] == ""
    assert all(text.endswith("\n") for text in texts[1:])
    head, *events = map(json.loads, texts[1:])
    assert head["file_schema"] == "urn:ietf:params:qlog:file:sequential"
    assert head["serialization_format"] == "application/qlog+json-seq"
    times = [event["time"] for event in events]
    assert times == sorted(times)
    states = [event["data"]["new"] for event in events if event["name"] == "quic:congestion_state_updated"]
    assert states[:2] == ["STARTUP", "DRAIN"]
    sent = [event["data"]["header"]["packet_number"] for event in events if event["name"] == "quic:packet_sent"]
    assert sent == list(range(len(sent)))
    assert {event["name"].partition(":")[0] for event in events} == {"quic", "simulation"}


def test_a_failed_case_exits_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    subject = f"{HERE / 'bbr_in_python.py'}:OneRound"
    assert main(["conformance", "--congestion-control", subject, "--case", "A.1", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["cases"][0]["verdict"] == "fails"
    assert [one["what"] for one in document["cases"][0]["checks"] if one["holds"] is False] == [
        "full_bw_count at that time"
    ]


def test_the_list_names_every_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "--list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["case"] for row in rows] == [case.number for case in conformance.cases("bbr")]
    assert all(row["title"] and row["network"] and row["do"] for row in rows)


@pytest.mark.parametrize(
    ("text", "name", "control"),
    [
        ("bbr", "bbr", "bbr"),
        ('{ kind = "python", class = "mine:One" }', "mine:One", {"kind": "python", "class": "mine:One"}),
    ],
)
def test_a_text_names_a_congestion_control(text: str, name: str, control: object) -> None:
    subject = Subject.read(text)
    assert (subject.name, subject.control) == (name, control)


def test_bad_input_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="expected a name of `netlull list tcp`, or an existing file"):
        Subject.read("nowhere.py:One")
    assert main(["conformance", "--case", "A.23"]) == 2
    assert 'there is no case "A.23"' in capsys.readouterr().err
    assert main(["conformance", "--congestion-control", "cubik", "--case", "A.1"]) == 2
    assert "cubik" in capsys.readouterr().err
