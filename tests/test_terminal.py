"""The text on a terminal: no control character of a name, a key, a value or a file name, and no mark of direction."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import SMALL
from netlull import Scenario, ScenarioError, Sweep, SweepError
from netlull.cli import main
from netlull.cli.text import printable

TITLE = "\x1b]0;owned\x07"
"""Sets the title of a terminal's window (xterm)."""
TURNED = "\u202eabc\u202c"
"""Shown from right to left."""
HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("harm", [TITLE, TURNED, "\x9b31m", "\r", "\x7f"])
def test_names_have_no_control_characters(harm: str) -> None:
    base = Scenario.from_toml(SMALL).to_dict()
    for path in ("name", "nodes", "link.0.name", "flow.0.name"):
        changed = json.loads(json.dumps(base))
        if path == "nodes":
            changed["nodes"].append(f"n{harm}")
        elif path == "name":
            changed["name"] = f"n{harm}"
        else:
            changed[path.split(".")[0]][0]["name"] = f"n{harm}"
        with pytest.raises(ScenarioError, match="is not a valid name") as caught:
            Scenario.from_dict(changed)
        assert not HARMFUL.search(str(caught.value))
    with pytest.raises(SweepError, match="is not a valid name") as refused:
        Sweep(Scenario.from_toml(SMALL), [], 1, {f"m{harm}": "link.a-b.mean_rate_bps"})
    assert not HARMFUL.search(str(refused.value))


@pytest.mark.parametrize("harm", [TITLE, TURNED])
def test_errors_print_no_control_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    monkeypatch.chdir(tmp_path)
    text = json.dumps(harm)  # a basic string of TOML as well
    files = {
        "name.toml": SMALL.replace('"small"', text),
        "key.toml": f"{text} = 1\n{SMALL}",
        "value.toml": SMALL.replace('"10 Mb/s"', text, 1),
        "node.toml": SMALL.replace('"c"]', f'"c", {text}]'),
        f"file{harm}.toml": "duration = 3",
        "network.toml": f"[nodes]\n{text} = []\n",
        "sweep.toml": f'scenario = "small.toml"\n[metrics]\n{text} = "link.a-b.mean_rate_bps"\n[[axis]]\nname = "x"\n'
        'path = "seed"\nvalues = [1]\n',
        "small.toml": SMALL,
    }
    for name, content in files.items():
        Path(name).write_text(content, encoding="utf-8")
    commands = [["run", name] for name in files if name not in {"small.toml", "sweep.toml", "network.toml"}]
    commands += [
        ["topology", "network.toml"],
        ["sweep", "sweep.toml"],
        ["run", "small.toml", "--set", f"{harm}=1"],
        ["run", "small.toml", "--set", f"link.a-b.rate={harm}"],
        ["run", harm],
        [harm],
        ["report", harm],
        ["benchmark", "run", "--controller", harm],
    ]
    for command in commands:
        assert main(command) == 2, command
        captured = capsys.readouterr()
        assert captured.err.startswith("netlull: ")
        assert not HARMFUL.search(captured.out + captured.err), command


def test_results_print_no_control_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A description may have any text, and folders any names."""
    described = SMALL.replace('name = "small"', f'name = "small"\ndescription = {json.dumps(TITLE + TURNED)}')
    (tmp_path / "small.toml").write_text(described, encoding="utf-8")
    out = tmp_path / f"out{TURNED}"
    assert main(["run", str(tmp_path / "small.toml"), "--out", str(out)]) == 0
    captured = capsys.readouterr()
    assert "written to" in captured.out
    assert not HARMFUL.search(captured.out + captured.err)


def test_escapes_are_those_of_json() -> None:
    text = f"a\tb\n{TITLE}{TURNED}\x9b"
    assert json.loads(f'"{printable(text[4:])}"') == text[4:]
    assert printable("a\tb\nÄ → 漢") == "a\tb\nÄ → 漢"
