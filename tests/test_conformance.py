"""Conformance of congestion controls: every case passes, and fails with one rule broken; the files of a judgement."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import bbr_in_python
import cubic_in_python
from netlull import InputError, ScenarioError, conformance
from netlull.cli import main
from netlull.conformance import Case, Subject

if TYPE_CHECKING:
    from netlull.conformance import Judgement

HERE = Path(__file__).parent
FILES = {"bbr": "bbr_in_python.py", "cubic": "cubic_in_python.py"}
UNBROKEN = {"bbr": "Bbr", "cubic": "Cubic"}
BROKEN = {**bbr_in_python.BROKEN, **cubic_in_python.BROKEN}
CASES = [case for family in FILES for case in conformance.cases(family)]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.number)


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


@pytest.mark.parametrize(("number", "broken"), bbr_in_python.ALSO_BROKEN)
def test_a_case_fails_with_another_rule_broken(number: str, broken: type) -> None:
    judgement = in_python(conformance.chosen([number])[0], broken.__name__)
    assert judgement.verdict == "fails", broken.__doc__


def test_the_numbers_are_those_of_the_draft() -> None:
    assert [case.number for case in conformance.cases("bbr")] == [f"A.{number}" for number in range(1, 23)]
    assert BROKEN.keys() == {case.number for case in CASES}


def test_an_algorithm_without_variables_is_judged_by_the_black_box() -> None:
    # NewReno fills the link, and no state is known.
    judgement = conformance.judge(conformance.chosen(["A.1"])[0], Subject("new_reno"))
    assert judgement.verdict_of("state") == "not judged"
    assert judgement.verdict_of("black box") == judgement.verdict
    assert "BBR.state" in [one.what for one in judgement.checks if one.holds is None]


SUBJECTS = """
import netlull
from bbr_in_python import Bbr


class Silent(Bbr):
    def variables(self):
        return {}


class Sparse(Bbr):
    def variables(self):
        return {"BBR.state": self.state, "BBR.max_bw": self.max_bw}


class LowerCase(Bbr):
    def variables(self):
        return {**super().variables(), "BBR.state": self.state.lower()}


class Constant(netlull.CongestionControl):
    def on_ack(self, ack):
        pass


class StaysInStartup(Bbr):
    def check_full_bw_reached(self, rs, limited):
        pass

    def check_startup_high_loss(self, rs):
        pass
"""


@pytest.fixture
def subjects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(HERE)
    path = tmp_path / "subjects.py"
    path.write_text(SUBJECTS, encoding="utf-8")
    return path


def judged(number: str, subject: str, seed: int = 1) -> Judgement:
    return conformance.judge(conformance.chosen([number])[0], Subject.read(subject), seed=seed)


@pytest.mark.parametrize("number", ["A.2", "A.4", "A.12", "A.13", "A.22"])
def test_an_algorithm_that_never_enters_a_state_fails(number: str, subjects: Path) -> None:
    judgement = judged(number, f"{subjects}:StaysInStartup")
    assert judgement.verdict == "fails"
    assert any(one.seen in {"never", "none"} for one in judgement.checks if one.holds is False)


def test_an_algorithm_that_sends_too_little_fails(subjects: Path) -> None:
    assert judged("A.2", f"{subjects}:Constant").verdict == "fails"


@pytest.mark.parametrize("number", ["A.3", "A.13"])
def test_without_exported_states_the_times_are_those_of_bbr(number: str, subjects: Path) -> None:
    judgement = judged(number, f"{subjects}:Silent")
    assert judgement.verdict_of("black box") == "passes", told(judgement)


def test_without_exported_states_no_case_needs_the_time_of_a_random_probe(subjects: Path) -> None:
    judgement = judged("A.5", f"{subjects}:Silent")
    assert [one.what for one in judgement.checks if one.holds is None] == ["BBR.state"]
    assert judgement.verdict == "not judged"


def test_a_missing_variable_leaves_the_state_unjudged(subjects: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judgement = judged("A.1", f"{subjects}:Sparse")
    assert [one.holds for one in judgement.checks] == [True, True, True, None]
    assert (judgement.verdict_of("state"), judgement.verdict) == ("not judged", "passes")
    assert main(["conformance", "--congestion-control", f"{subjects}:Sparse", "--case", "A.1"]) == 0
    assert "does not export BBR.full_bw_count" in " ".join(capsys.readouterr().out.split())


def test_a_state_has_the_name_of_the_draft(subjects: Path) -> None:
    with pytest.raises(InputError, match=r'BBR\.state is "startup"; expected one of STARTUP, DRAIN'):
        judged("A.1", f"{subjects}:LowerCase")


@pytest.mark.parametrize(("number", "seed"), [("A.7", 4), ("A.8", 2), ("A.16", 2), ("A.22", 4)])
def test_the_random_wait_does_not_change_the_verdict(number: str, seed: int) -> None:
    assert not told(judged(number, "bbr", seed))


@pytest.mark.parametrize(
    ("exported", "error"),
    [('{"BBR.state": self.nothing}', "variables"), ('{"C.cwnd": 1.0}', '"C.cwnd" is a variable of the stack')],
)
def test_an_export_that_fails_ends_the_run(tmp_path: Path, exported: str, error: str) -> None:
    source = f"""
import netlull


class Bad(netlull.CongestionControl):
    def on_ack(self, ack):
        self.cwnd += 1

    def variables(self):
        return {exported}
"""
    (tmp_path / "bad.py").write_text(source, encoding="utf-8")
    with pytest.raises(ScenarioError, match=error):
        conformance.judge(conformance.chosen(["A.1"])[0], Subject.read(f"{tmp_path / 'bad.py'}:Bad"))


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
    assert [row["case"] for row in rows] == [case.number for case in conformance.cases()]
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
    assert main(["conformance", "--suite", "cubic", "--case", "A.1"]) == 2
    assert 'there is no case "A.1" in the suite cubic' in capsys.readouterr().err


def test_a_case_named_twice_is_one_case() -> None:
    assert [one.number for one in conformance.chosen(["A.2", "a.2", "A.1"])] == ["A.2", "A.1"]


def test_a_folder_that_cannot_be_replaced_is_refused_before_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    monkeypatch.setattr(conformance, "judge", lambda *_, **__: pytest.fail("a run"))
    assert main(["conformance", "--case", "A.1", "--out", str(tmp_path)]) == 2
    assert "holds other files" in capsys.readouterr().err


def test_the_page_of_questions_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (HERE.parent / "docs" / "how-to" / "bbr-and-cubic.md").read_text(encoding="utf-8")
    commands = [line.removeprefix("$ netlull ") for line in page.splitlines() if line.startswith("$ netlull ")]
    monkeypatch.chdir(tmp_path)
    for command in commands:
        assert main(shlex.split(command)) == 0, command
    assert len(list(tmp_path.glob("*.svg"))) == len(commands) == 5
