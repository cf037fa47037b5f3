"""Conformance of loss recovery: each case of RFC 6675 and RFC 8985 passes, and fails with one rule broken."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import netlull
from netlull import ScenarioError, conformance
from netlull.cli import main
from netlull.conformance import Case, Subject

if TYPE_CHECKING:
    from netlull.conformance import Judgement

CASES = [*conformance.cases("sack"), *conformance.cases("rack")]

COUNTED = {"tcp.loss_recovery": "sack"}
"""Losses are counted, and there are no probes."""
TIMED = {"tcp.loss_recovery": "rack"}
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
    ("R.13", COUNTED, "times that the five segments are sent"),
    ("R.14", COUNTED, "segment 1 is sent again after"),
]


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


def test_every_case_is_broken_once() -> None:
    assert {number for number, *_ in BROKEN} == {case.number for case in CASES}
    for suite, letter, count in (("sack", "S", 9), ("rack", "R", 14)):
        assert [case.number for case in conformance.cases(suite)] == [f"{letter}.{n}" for n in range(1, count + 1)]


def test_a_window_that_hears_of_no_repaired_loss_fails() -> None:
    assert failed(judged("R.8", Subject(Deaf()))) == {"window after segment 3, of the one before"}


@pytest.mark.parametrize("case", conformance.cases("rack"), ids=lambda case: case.number)
def test_only_the_missing_d_sack_breaks_cases_with_the_preset(case: Case) -> None:
    verdict = conformance.judge(case, Subject(settings=WITHOUT_D_SACK)).verdict
    assert verdict == ("fails" if case.number in {"R.5", "R.9"} else "passes")


@pytest.mark.parametrize("case", conformance.cases("rack"), ids=lambda case: case.number)
def test_linux_differs_in_one_rule(case: Case) -> None:
    # `tcp_dsack_seen`: a D-SACK widens the window only after reordering.
    subject = Subject(settings={"tcp.preset": "linux-6", "tcp.window_reduction": "linux_6"})
    assert conformance.judge(case, subject).verdict == ("fails" if case.number == "R.5" else "passes")


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
