"""The guard of instruction counts: `benches/counts.py` fails on a growth of more than 3 % that is not stored."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "benches"))
import counts

VERSION = "rustc 1.0"


def _row(name: str, instructions: float, version: str = VERSION) -> counts.Row:
    return counts.Row("2026-11-27", "0123abcd", version, name, instructions, "first")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store in a temporary folder, for the compiler `VERSION`."""
    path = tmp_path / "counts.csv"
    monkeypatch.setattr(counts, "STORE", path)
    monkeypatch.setattr(counts, "REPOSITORY", tmp_path)
    monkeypatch.setattr(counts, "compiler", lambda: VERSION)
    monkeypatch.setattr(counts, "head", lambda: "0123abcd")
    return path


@pytest.mark.parametrize(("now", "code"), [(103.0, 0), (103.1, 1), (90.0, 0)])
def test_only_a_growth_above_three_percent_fails(store: Path, now: float, code: int) -> None:
    counts.judge({"single": 100.0}, "first")
    assert counts.judge({"single": now}, None) == code
    assert len(counts.stored()) == 1, f"{store} is only renewed for a reason"


def test_a_growth_passes_when_its_count_is_renewed(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts.judge({"single": 100.0, "web": 50.0}, "first")
    assert counts.judge({"single": 120.0, "web": 50.1}, "timers are exact") == 0
    assert counts.judge({"single": 120.0, "web": 50.0}, None) == 0
    assert counts.judge({"single": 124.0, "web": 50.0}, None) == 1
    assert "1 grew by more than 3 %: single" in capsys.readouterr().out
    last = counts.stored()[-1]
    assert (last.name, last.instructions, last.reason) == ("single", 120.0, "timers are exact")
    assert len(store.read_text(encoding="utf-8").splitlines()) == 4, "0.2 % are not worth a row"


def test_counts_of_another_compiler_are_not_judged() -> None:
    changes = counts.compared({"single": 200.0}, [_row("single", 100.0)], "rustc 2.0")
    assert [(change.stored, change.grown) for change in changes] == [(None, False)]
    assert "1 not stored for this compiler: single" in list(counts.report(changes))


def test_the_last_row_of_a_name_counts() -> None:
    rows = [_row("single", 100.0), _row("single", 300.0, "rustc 2.0"), _row("single", 110.0)]
    assert counts.compared({"single": 112.0}, rows, VERSION)[0].stored == 110.0


def test_every_run_is_stored_and_no_other() -> None:
    names = {row.name for row in counts.stored()}
    runs = set(counts.runs())
    assert runs <= names
    assert all(": " in name for name in names - runs), "the others are components"


def test_a_history_is_relative_to_its_first_count() -> None:
    stops = [("2026-11-27", "0123abcd"), ("2026-11-28", "4567abcd")]
    rows = [
        _row("web", 50.0),
        _row("tcp: data", 200.0),
        _row("web", 60.0)._replace(date=stops[1][0], commit=stops[1][1]),
    ]
    assert counts.histories(rows, stops) == {"run": {"web": [1.0, 1.2]}, "tcp": {"data": [1.0, 1.0]}}


def test_the_history_is_drawn(store: Path, tmp_path: Path) -> None:
    counts.judge(dict.fromkeys(counts.runs(), 100.0), "first")
    target = tmp_path / "counts.svg"
    counts.draw(target)
    assert store.exists()
    assert target.read_text(encoding="utf-8").count("<svg") == 1


def test_htsim_is_named_if_its_checkout_is_none() -> None:
    command = [sys.executable, "benches/run.py", "--htsim", "tests", "--only", "web", "--peers", "none", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--htsim: tests/sim/Makefile is missing; expected a checkout of csg-htsim" in done.stderr
