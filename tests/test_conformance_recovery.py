"""Conformance of loss recovery: each case of RFC 6675 and RFC 8985 passes, and fails with one rule broken."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import netlull
from netlull import ScenarioError, conformance
from netlull.cli import main
from netlull.conformance import Bench, Case, Subject, Trace
from netlull.conformance.trace import Steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from netlull.conformance import Judgement

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "conformance.md").read_text(encoding="utf-8")
CASES = [*conformance.cases("sack"), *conformance.cases("rack")]

COUNTED = {"tcp.loss_recovery": "sack"}
"""Losses are counted, and there are no probes."""
TIMED = {"tcp.loss_recovery": "rack"}
LINUX = {"tcp.preset": "linux-6", "tcp.window_reduction": "linux_6"}
WITHOUT_SACK = {"tcp.loss_recovery": "new_reno"}
# The preset's other values leave the cases alone: all but these two pass with it.
WITHOUT_D_SACK = {"tcp.preset": "ns2", "tcp.initial_window": 10}
"""The receiver of the preset reports no duplicate data."""

BROKEN = [
    # Two SACKed segments and a quarter of a round trip are a loss.
    ("S.1", TIMED, "fast retransmissions with two SACKs"),
    # Acknowledgements are counted, not the segments that they report.
    ("S.2", {"tcp.sack_detection": "counting"}, "segment 1 is sent again after"),
    ("S.3", {"tcp.limited_transmit": False}, "segment 11 is sent after"),
    # The window comes down with the acknowledgements (RFC 6937).
    ("S.4", {"tcp.window_reduction": "proportional"}, "silence after it"),
    # A partial acknowledgement shows the second loss, a round trip later.
    ("S.5", WITHOUT_SACK, "order after segment 1"),
    # Without rule 3 and rule 4 of NextSeg.
    ("S.6", {"tcp.sack_detection": "forward"}, "segment 7 is sent again after"),
    ("S.7", {"tcp.sack_detection": "forward"}, "segments sent again"),
    # The first acknowledgement of new data ends the recovery, as in RFC 2581.
    ("S.8", {"tcp.loss_recovery": "reno"}, "timeouts"),
    # A retransmission can be lost again without a timeout. Without SACK, data is sent again that has arrived.
    ("S.9", {"tcp.sack_detection": "forward"}, "timeouts"),
    ("S.9", WITHOUT_SACK, "segments sent again"),
    ("R.1", COUNTED, "segment 1 is sent again after"),
    ("R.2", WITHOUT_SACK, "segment 1 is sent again after"),
    ("R.3", COUNTED, "segments sent again"),
    ("R.4", COUNTED, "segment 4 is sent again after"),
    ("R.5", WITHOUT_D_SACK, "group 2: sent again after"),
    ("R.6", COUNTED, "timeouts"),
    ("R.7", COUNTED, "segments sent again"),
    ("R.8", COUNTED, "timeouts"),
    ("R.9", WITHOUT_D_SACK, "window after segment 3, of the one before"),
    ("R.10", COUNTED, "timeouts"),
    # No new data fits, so that the probe is the last segment.
    ("R.10", {"tcp.send_buffer": "14480 B"}, "order after the first window"),
    ("R.11", COUNTED, "probe after"),
    ("R.12", COUNTED, "timeouts"),
    # The timeout marks all segments.
    ("R.13", COUNTED, "segments sent again"),
    ("R.14", COUNTED, "segment 1 is sent again after"),
    ("R.15", LINUX, "segment 3 is sent again after"),
]

Segments = list[tuple[float, int]]


def moved(number: int, nth: int, by_s: float) -> Callable[[Segments], Segments]:
    """The n-th transmission of a segment at another time, in the runs that have it."""

    def mutate(segments: Segments) -> Segments:
        places = [place for place, (_, sent) in enumerate(segments) if sent == number]
        if len(places) > nth:
            segments[places[nth]] = (segments[places[nth]][0] + by_s, number)
        return sorted(segments)

    return mutate


def copied(number: int) -> Callable[[Segments], Segments]:
    """One more transmission of a segment after all."""
    return lambda segments: [*segments, (segments[-1][0] + 0.001, number)]


MUTANTS = [
    # The timer of RFC 6298 expires before the least RTO; a fast retransmission needs the third SACK.
    ("S.1", moved(1, 1, -0.82), "segment 1 is sent again by the timer after"),
    ("S.2", moved(1, 1, 0.0006), "segment 1 is sent again after"),
    ("S.3", moved(12, 0, 0.0006), "segment 12 is sent after"),
    ("S.4", moved(13, 0, -0.0006), "silence after it"),
    ("S.5", moved(13, 0, -0.0012), "order after segment 1"),
    ("S.6", moved(7, 1, 0.0012), "segment 7 is sent again after"),
    ("S.7", moved(10, 1, -0.0012), "segment 10 is sent again after"),
    # A reordering window of 0.4 min_RTT, and none.
    ("R.1", moved(1, 1, 0.015), "segment 1 is sent again after"),
    ("R.1", moved(1, 1, -0.025), "segment 1 is sent again after"),
    ("R.2", moved(1, 1, 0.0006), "segment 1 is sent again after"),
    ("R.4", moved(4, 1, 0.015), "segment 4 is sent again after"),
    ("R.4", moved(4, 1, -0.02), "segment 4 is sent again after"),
    # The window of group 1, and one above SRTT.
    ("R.5", moved(3, 1, -0.025), "group 2: sent again after"),
    ("R.5", moved(9, 1, 0.025), "group 5: sent again after"),
    ("R.6", moved(1, 2, 0.01), "sent again after"),
    # A PTO of 3 SRTT, and of 1.
    ("R.7", moved(10, 1, 0.1), "probe after the last acknowledgement"),
    ("R.7", moved(8, 1, 0.025), "then segment 8 after"),
    ("R.7", moved(9, 1, -0.2), "segments sent again"),
    ("R.8", moved(2, 1, -0.25), "probe after the segment"),
    ("R.8", moved(2, 1, 0.1), "probe after the segment"),
    ("R.10", moved(11, 0, 0.1), "new segment 11 after the first window"),
    ("R.10", moved(11, 0, 0.102), "order after the first window"),
    ("R.11", moved(1, 1, -0.25), "probe after"),
    # The timer was armed with the segment.
    ("R.11", moved(1, 2, -0.4), "sent a third time after the probe"),
    ("R.12", moved(1, 1, -0.15), "sent again after"),
    ("R.12", moved(1, 1, 0.1), "sent again after"),
    ("R.14", moved(1, 1, 0.015), "segment 1 is sent again after"),
    ("R.14", moved(1, 1, -0.006), "segment 1 is sent again after"),
    ("R.15", moved(3, 1, -0.6), "segment 3 is sent again after"),
]
"""A changed transmission, and the check that fails."""


class Deaf(netlull.CongestionControl):
    """A window of ten segments that no loss reduces."""

    def on_ack(self, ack: object) -> None:
        pass


def judged(number: str, subject: Subject) -> Judgement:
    return conformance.judge(conformance.chosen([number])[0], subject)


def failed(judgement: Judgement) -> set[str]:
    return {one.what for one in judgement.checks if one.holds is False}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.number)
def test_a_case_passes_without_any_state(case: Case) -> None:
    judgement = conformance.judge(case, Subject())
    assert not failed(judgement)
    assert {one.kind for one in judgement.checks} == {"black box"}
    assert judgement.verdict == "passes"


@pytest.mark.parametrize(("number", "settings", "check"), BROKEN)
def test_a_case_fails_with_one_rule_broken(number: str, settings: dict[str, object], check: str) -> None:
    judgement = judged(number, Subject(settings=settings))
    assert check in failed(judgement)


def mutated(monkeypatch: pytest.MonkeyPatch, mutate: Callable[[Segments], Segments]) -> None:
    """Changes the transmissions of every run."""
    unchanged = Trace.__dict__["segments"].func
    monkeypatch.setattr(Trace, "segments", property(lambda trace: mutate(list(unchanged(trace)))))


@pytest.mark.parametrize(("number", "mutate", "check"), MUTANTS)
def test_a_case_fails_with_one_transmission_moved(
    number: str, mutate: Callable[[Segments], Segments], check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutated(monkeypatch, mutate)
    assert check in failed(judged(number, Subject()))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.number)
def test_a_case_fails_with_a_needless_copy(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    mutated(monkeypatch, copied(1 if case.number in {"R.11", "R.12"} else 2))
    # RFC 6675's rule 4 allows one copy in S.6, of another segment.
    expected = "others sent again" if case.number == "S.6" else "segments sent again"
    assert expected in failed(conformance.judge(case, Subject()))


@pytest.mark.parametrize("number", ["R.4", "R.6", "R.7", "R.10"])
def test_a_window_that_no_loss_reduces_fails(number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trace, "cwnd", lambda _: Steps(np.array([0.0]), np.array([1e6])))
    assert "window after the recovery, of the one before" in failed(judged(number, Subject()))


def test_every_case_is_broken_once() -> None:
    assert {number for number, *_ in BROKEN} == {case.number for case in CASES}
    for suite, letter, count in (("sack", "S", 9), ("rack", "R", 15)):
        assert [case.number for case in conformance.cases(suite)] == [f"{letter}.{n}" for n in range(1, count + 1)]


def test_a_window_that_no_repaired_loss_reduces_fails() -> None:
    assert failed(judged("R.8", Subject(Deaf()))) == {"window after segment 3, of the one before"}


@pytest.mark.parametrize("case", conformance.cases("rack"), ids=lambda case: case.number)
def test_only_the_missing_d_sack_breaks_cases_with_the_preset(case: Case) -> None:
    verdict = conformance.judge(case, Subject(settings=WITHOUT_D_SACK)).verdict
    assert verdict == ("fails" if case.number in {"R.5", "R.9"} else "passes")


@pytest.mark.parametrize("case", conformance.cases("rack"), ids=lambda case: case.number)
def test_linux_differs_in_three_rules(case: Case) -> None:
    # `tcp_dsack_seen`: a D-SACK widens the window only after reordering. A lost retransmission does not reduce the
    # window again. A probe needs no round trip since the last one.
    verdict = conformance.judge(case, Subject(settings=LINUX)).verdict
    assert verdict == ("fails" if case.number in {"R.5", "R.6", "R.15"} else "passes")


def test_limited_transmit_is_judged_by_one_case() -> None:
    subject = Subject(settings={"tcp.limited_transmit": False})
    assert [case.number for case in conformance.cases("sack") if failed(conformance.judge(case, subject))] == ["S.3"]


def test_the_table_of_the_page_names_every_case() -> None:
    assert re.findall(r"^\| ([SR]\.\d+) \|", PAGE, re.MULTILINE) == [case.number for case in CASES]
    for suite in conformance.SUITES:
        numbers = [case.number for case in conformance.cases(suite)]
        assert f"| `{suite}` | {numbers[0]} to {numbers[-1]} |" in PAGE


def test_the_commands_of_the_page_find_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    _, own, settings = re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)
    runs = [main(shlex.split(line)[2:]) for line in (own + settings).splitlines()]
    assert runs == [0, 1, 1]


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("tcp.congestion_control", "--congestion-control"),
        ("flow.flow.tcp.congestion_control", "--congestion-control"),
        ("seed", "--seed"),
        ("probe.segments", "records"),
        ("flow.flow.name", "name"),
    ],
)
def test_a_setting_of_the_cases_is_refused(path: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "--case", "R.1", "--set", f"{path}=1"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert f"--set: is {path}; expected a field that the cases leave open" in told
    assert hint in told


def test_a_result_has_the_seed(tmp_path: Path) -> None:
    assert main(["conformance", "--case", "R.1", "--seed", "5", "--out", str(tmp_path / "out")]) == 0
    document = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert document["cases"][0]["seed"] == 5


@pytest.mark.parametrize(
    ("number", "settings"),
    [
        ("S.9", {"tcp.initial_window": 2}),
        ("R.6", {"tcp.initial_window": 2}),
    ],
)
def test_a_missing_retransmission_fails_the_case(number: str, settings: dict[str, object]) -> None:
    assert judged(number, Subject(settings=settings)).verdict == "fails"


def test_a_failed_value_differs_from_its_bounds() -> None:
    bench = Bench(Subject())
    bench.black_box("a time", 0.142841, 0.1262, 0.142834, "s", "")
    assert (bench.checks[0].seen, bench.checks[0].expected) == ("142.84 ms", "126.2 ms to 142.83 ms")


def qlog_of(number: str, folder: Path) -> list[dict[str, Any]]:
    assert main(["conformance", "--case", number, "--out", str(folder / number)]) == 0
    texts = (folder / number / f"{number}.sqlog").read_text(encoding="utf-8").split("\x1e")
    return [json.loads(text) for text in texts[2:]]


def test_only_packets_that_the_path_drops_are_lost(tmp_path: Path) -> None:
    lost = [event["data"] for event in qlog_of("R.7", tmp_path) if event["name"] == "quic:packet_lost"]
    # Packets 7 to 9 are segments 8 to 10; the probe repeats the last.
    assert [data["header"]["packet_number"] for data in lost] == [9, 7, 8]
    names = [event["name"] for event in qlog_of("R.9", tmp_path)]
    assert "quic:packet_lost" not in names
    assert names.count("quic:marked_for_retransmit") == 1


def test_suites_without_state_have_no_such_column() -> None:
    for number, kinds in (("R.1", ["black box"]), ("A.3", ["black box", "state"])):
        header, rows = conformance.overview([judged(number, Subject())])
        assert header == ["case", "title", *kinds, "verdict", "seen"]
        assert rows[0][2:-1] == ["passes"] * len([*kinds, "verdict"])


def test_settings_change_every_network(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["conformance", "--suite", "sack", "--set", "tcp.limited_transmit=false", "--json"]
    assert main([*command, "--case", "s.3"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["congestion_control"] == (
        "sack, tcp.loss_recovery=sack, tcp.window_reduction=immediate, tcp.limited_transmit=False"
    )
    assert document["cases"][0]["verdict"] == "fails"


def test_a_case_is_judged_with_the_tcp_of_its_suite(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "--case", "S.1", "--case", "R.1"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "tcp.window_reduction=immediate; new_reno, tcp.loss_recovery=rack: 2 of 2 cases pass" in told


def test_a_setting_that_no_network_has_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ScenarioError, match=r"tcp\.loss_recovery: .*rak"):
        judged("R.1", Subject(settings={"tcp.loss_recovery": "rak"}))
    assert main(["conformance", "--case", "R.1", "--set", "tcp.dup_threshold=2"]) == 2
    assert "dup_threshold" in capsys.readouterr().err
