"""A small standing attack on the readers and the simulator, and all input that once failed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

ATTACK = ROOT / "tools" / "attack.py"
CORPUS = sorted((ROOT / "tests" / "corpus").glob("*.json"))
CASES = 1500


def attack(*arguments: str | Path) -> tuple[int, str]:
    """The exit code and the output of an attack."""
    command = [sys.executable, str(ATTACK), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # our own tool
    return done.returncode, done.stdout + done.stderr


def test_damaged_input_is_refused_or_runs(tmp_path: Path) -> None:
    code, said = attack("--cases", str(CASES), "--seed", "22", "--workers", "1", "--out", tmp_path)
    assert code == 0, said
    assert ": 0 findings" in said


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.stem)
def test_what_once_failed_no_longer_does(file: Path) -> None:
    assert attack("--replay", file) == (0, "no finding\n")


@pytest.mark.parametrize(
    ("harm", "finding"),
    [
        ("raise KeyError('harm')", "KeyError: 'harm'"),
        ("import os; os.abort()", "the process ended with -6"),
        ("\n    while True: pass", "more than 5 s of CPU time"),
    ],
)
def test_an_attack_notices_harm(tmp_path: Path, harm: str, finding: str) -> None:
    # A reader that does harm to every network.
    (tmp_path / "sitecustomize.py").write_text(
        f"from netlull.topology.files import Topology\ndef harm(*_, **__): {harm}\nTopology.from_file = harm\n"
    )
    command = [
        sys.executable,
        str(ATTACK),
        "--cases",
        "1",
        "--target",
        "network",
        "--workers",
        "1",
        "--out",
        str(tmp_path),
    ]
    done = subprocess.run(  # our own tool
        command, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(tmp_path)}, timeout=300
    )
    assert done.returncode == 1, done.stderr
    assert finding in done.stdout
    assert list(tmp_path.glob("network-*.json"))


def printed_by(code: str) -> str:
    """The output of Python code that may import the tools."""
    code = f"import sys; sys.path.insert(0, {str(ATTACK.parent)!r})\n{code}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_a_deep_document_is_changed_without_deep_recursion() -> None:
    code = (
        "from attack import places\n"
        "deep = 0\n"
        "for _ in range(5000): deep = [deep]\n"
        "print(len(list(places({'a': deep}))))\n"
    )
    assert printed_by(code) == "301\n"


def test_a_case_does_not_depend_on_the_cases_before() -> None:
    code = (
        "import random\n"
        "import netlull\n"
        "from mutations import Schema, mutated\n"
        "schema = Schema(netlull.schema())\n"
        "document = {'nodes': ['a', 'b'], 'link': [{'from': 'a', 'to': 'b', 'rate': '1 Mb/s', 'delay': '1 ms'}]}\n"
        "cases = lambda: [mutated(document, random.Random(n), schema, [document]) for n in range(3000)]\n"
        "print(cases() == cases())\n"
    )
    assert printed_by(code) == "True\n"
