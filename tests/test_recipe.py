"""CONTRIBUTING.md's recipes for mechanisms and TCPs, followed in one copy of the tree: each toy runs in a scenario."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CRATES = ("units", "describe", "power", "mechanism", "tcp", "network", "sim")
Run = Callable[[dict[str, Any]], dict[str, Any]]
"""The summary of a scenario's run."""


@dataclass(frozen=True)
class Recipe:
    """A recipe that adds a file to a folder of a crate, and a line to a list."""

    heading: str
    crate: str
    folder: str
    """The file's folder, in the crate's `src`."""
    list: str
    """The file with the list, in the crate's `src`."""
    place: str
    """The text before the new line, as a regular expression."""


def _end_of(macro: str) -> str:
    """All lines of a list, without those of other crates."""
    return rf"\n{macro}! {{\n(?:    \".*\n)+"


RECIPES = (
    Recipe("add a link controller", "mechanism", "rate", "machines.rs", _end_of("link_mechanisms")),
    Recipe("add a station's machine", "mechanism", "radio", "machines.rs", _end_of("station_mechanisms")),
    Recipe("add a sleep plan", "mechanism", "topology", "topology/algorithms.rs", _end_of("sleep_plans")),
    Recipe("add a TCP", "tcp", "cc", "cc/mod.rs", r"\n +Dctcp\(.*\n"),
)


def _code(text: str) -> list[str]:
    """The blocks of Rust of a recipe."""
    blocks = re.findall(r"^   ```rust\n(.*?)^   ```", text, flags=re.DOTALL | re.MULTILINE)
    return [re.sub(r"^   ", "", block, flags=re.MULTILINE) for block in blocks]


def _edit(path: Path, pattern: str, replacement: str) -> None:
    """Replaces the only match of a pattern in a file."""
    text, count = re.subn(pattern, lambda match: match.expand(replacement), path.read_text(encoding="utf-8"))
    assert count == 1, f"{path}: {count} matches of {pattern}"
    path.write_text(text, encoding="utf-8")


def _follow(recipe: Recipe, crates: Path) -> None:
    """Writes the file of a recipe, names it in its folder, and registers it."""
    source = crates / recipe.crate / "src"
    text = CONTRIBUTING.split(f"## Recipe: {recipe.heading}\n")[1].split("\n## ")[0]
    module, line = _code(text)
    ((declaration, name),) = re.findall(r"`((?:pub )?mod (\w+);)`", text)
    (source / recipe.folder / f"{name}.rs").write_text(module, encoding="utf-8")
    # After the comment at the head of the file.
    _edit(source / recipe.folder / "mod.rs", r"\A((?://!.*\n)+)", rf"\1\n{declaration}\n")
    _edit(source / recipe.list, f"({recipe.place})", rf"\1    {line}")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The simulator, built once with the additions of every recipe."""
    copy = tmp_path_factory.mktemp("copy")
    for crate in CRATES:
        shutil.copytree(ROOT / "crates" / crate, copy / "crates" / crate)
    for name in ("Cargo.toml", "Cargo.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        (copy / name).write_text(text.replace(', "examples/*"', ""), encoding="utf-8")
    for recipe in RECIPES:
        _follow(recipe, copy / "crates")

    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute() / "recipe"
    settings = {"CARGO_TARGET_DIR": str(target), "CARGO_PROFILE_DEV_DEBUG": "none", "CARGO_INCREMENTAL": "0"}
    command = ["cargo", "build", "--quiet", "--package", "netlull-sim", "--example", "dumbbell"]
    built = subprocess.run(command, cwd=copy, env=os.environ | settings, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr

    def summary(scenario: dict[str, Any]) -> dict[str, Any]:
        ran = subprocess.run(
            [target / "debug" / "examples" / "dumbbell"],
            input=json.dumps({"verify": "replay", **scenario}),
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        told: dict[str, Any]
        told, _ = json.JSONDecoder().raw_decode(ran.stdout)
        return told

    return summary


def test_a_link_controller_is_one_file_and_one_line(run: Run) -> None:
    # A datagram of 1000 B every 8 ms never waits, so the link stays at 1 of its 10 Mb/s.
    controller = {"kind": "toy", "rates": ["1 Mb/s", "10 Mb/s"]}
    told = run(
        {
            "duration": "2 s",
            "nodes": ["a", "b"],
            "link": [{"from": "a", "to": "b", "rate": "10 Mb/s", "controller": controller}],
            "flow": [{"kind": "cbr", "name": "f", "from": "a", "to": "b", "rate": "1 Mb/s", "packet": "1000 B"}],
        }
    )
    link = told["links"][0]
    assert 1.0e6 <= link["mean_rate_bps"] < 1.1e6
    assert link["rate_changes"] == 1


def test_a_stations_machine_is_one_file_and_one_line(run: Run) -> None:
    # The radio alternates between 10 ms awake and 90 ms asleep: 100 naps in 10 s. Packets arrive every 100 ms from
    # 50 ms on, and it receives none of them. Its wake time of 2 ms belongs to the 10 ms.
    told = run(
        {
            "duration": "10 s",
            "nodes": ["server", "ap", "client"],
            "link": [
                {"from": "server", "to": "ap", "duplex": True, "rate": "100 Mb/s"},
                {"from": "ap", "to": "client", "duplex": True, "rate": "10 Mb/s"},
            ],
            "flow": [
                {
                    "kind": "cbr",
                    "name": "f",
                    "from": "server",
                    "to": "client",
                    "rate": "80 kb/s",
                    "packet": "1000 B",
                    "start": "50 ms",
                }
            ],
            "station": [
                {
                    "nodes": ["client"],
                    "wake_time": "2 ms",
                    "mechanism": {"kind": "nap", "silence": "10 ms", "nap": "90 ms"},
                }
            ],
        }
    )
    station = told["stations"][0]
    assert (station["mechanism"], station["missed_packets"], station["received_packets"]) == ("nap", 100, 0)
    assert station["asleep_s"] == pytest.approx(9.0)


@pytest.mark.parametrize(("threshold", "asleep"), [(0.3, ["c-a"]), (0.4, [])])
def test_a_sleep_plan_is_one_file_and_one_line(run: Run, threshold: float, asleep: list[str]) -> None:
    # The algebraic connectivity of a triangle is 3, of a path of three nodes 1.
    links = [{"from": one, "to": other, "duplex": True, "rate": "10 Mb/s"} for one, other in ("ab", "bc", "ca")]
    told = run(
        {
            "duration": "2 s",
            "nodes": ["a", "b", "c"],
            "link": links,
            "flow": [{"kind": "cbr", "name": "f", "from": "a", "to": "b", "rate": "1 Mb/s", "packet": "1000 B"}],
            "sleep": [{"at": "1 s", "plan": {"kind": "last_first", "threshold": threshold}}],
        }
    )
    assert [nap["link"] for nap in told["routing"]["sleep"]] == asleep


def test_a_tcp_is_one_file_and_one_line(run: Run) -> None:
    # At 10 Mb/s, a segment of 1460 B takes 1.2 ms with its headers (1500 B), and its acknowledgement of 40 B 0.032 ms.
    # With 25 ms each way, a window of 10 segments takes 51.232 ms: 10 x 1460 x 8 bits / 51.232 ms = 2.280 Mb/s,
    # give or take one of the 195 windows of the 10 s.
    told = run(
        {
            "duration": "11 s",
            "warm_up": "1 s",
            "nodes": ["a", "b"],
            "link": [{"from": "a", "to": "b", "duplex": True, "rate": "10 Mb/s", "delay": "25 ms"}],
            "tcp": {"congestion_control": "fixed", "timestamps": False, "delayed_ack": False},
            "flow": [{"kind": "tcp", "name": "f", "from": "a", "to": "b"}],
        }
    )
    flow = told["flows"][0]
    assert flow["congestion_control"] == "fixed"
    assert flow["goodput_bps"] == pytest.approx(2.280e6, rel=1 / 195)
    assert flow["retransmissions"] == 0
