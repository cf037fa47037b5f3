"""CONTRIBUTING.md's recipe for a link controller, followed in a copy of the tree: the controller runs in a scenario."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RECIPE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Recipe: add a link controller")[1]
CRATES = ("units", "describe", "power", "mechanism", "tcp", "network", "sim")
# A datagram of 1000 B every 8 ms never waits, so the link stays at 1 of its 10 Mb/s.
SCENARIO = {
    "name": "toy",
    "duration": "2 s",
    "verify": "replay",
    "nodes": ["a", "b"],
    "link": [
        {
            "from": "a",
            "to": "b",
            "rate": "10 Mb/s",
            "controller": {"kind": "toy", "rates": ["1 Mb/s", "10 Mb/s"]},
        }
    ],
    "flow": [{"kind": "cbr", "name": "f", "from": "a", "to": "b", "rate": "1 Mb/s", "packet": "1000 B"}],
}


def _code(recipe: str) -> list[str]:
    """The blocks of Rust of a recipe."""
    blocks = re.findall(r"^   ```rust\n(.*?)^   ```", recipe, flags=re.DOTALL | re.MULTILINE)
    return [re.sub(r"^   ", "", block, flags=re.MULTILINE) for block in blocks]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The crates that the simulator needs, and the workspace's settings."""
    for crate in CRATES:
        shutil.copytree(ROOT / "crates" / crate, tmp_path / "crates" / crate)
    for name in ("Cargo.toml", "Cargo.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace(', "examples/*"', ""), encoding="utf-8")
    return tmp_path


def test_a_link_controller_is_one_file_and_one_line(copy: Path) -> None:
    module, line = _code(RECIPE.split("\n## ")[0])
    source = copy / "crates" / "mechanism" / "src"
    (source / "rate" / "toy.rs").write_text(module, encoding="utf-8")
    rates = source / "rate" / "mod.rs"
    rates.write_text(rates.read_text(encoding="utf-8").replace("mod rate_set;", "mod rate_set;\npub mod toy;"))
    machines = source / "machines.rs"
    head, brace, _ = machines.read_text(encoding="utf-8").rpartition("}")
    machines.write_text(head + "    " + line + brace + "\n", encoding="utf-8")

    command = ["cargo", "run", "--quiet", "--package", "netlull-sim", "--example", "dumbbell"]
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    settings = {"CARGO_TARGET_DIR": f"{target}/recipe", "CARGO_PROFILE_DEV_DEBUG": "none", "CARGO_INCREMENTAL": "0"}
    ran = subprocess.run(
        command,
        cwd=copy,
        env=os.environ | settings,
        input=json.dumps(SCENARIO),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    summary, _ = json.JSONDecoder().raw_decode(ran.stdout)
    link = summary["links"][0]
    assert 1.0e6 <= link["mean_rate_bps"] < 1.1e6
    assert link["rate_changes"] == 1
