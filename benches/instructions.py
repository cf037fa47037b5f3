"""Builds the program that runs one scenario, and counts the instructions of a run under callgrind."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent


class Run(NamedTuple):
    """The instructions of a run, with reading and checking its scenario, and its summary."""

    instructions: int
    summary: dict[str, Any]

    @property
    def per_hop(self) -> float:
        """Returns the instructions per packet-hop."""
        return self.instructions / float(self.summary["packet_hops"])


def built(profile: str = "release") -> Path:
    """Builds the program in a profile of cargo, and returns its path."""
    # With the features that its libraries have in the whole workspace: those of the tests are not compiled again.
    packages = ["--workspace", "--exclude", "netlull-components"]
    command = ["cargo", "build", "--quiet", "--locked", "--profile", profile, *packages, "--example", "dumbbell"]
    subprocess.run(command, cwd=REPOSITORY, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    return target / profile / "examples" / "dumbbell"


def counted(program: Path, scenario: Mapping[str, Any]) -> Run:
    """Runs a scenario under callgrind."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as text:
        json.dump(scenario, text)
        text.seek(0)
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program)]
        done = subprocess.run(command, stdin=text, capture_output=True, text=True, check=False)
    instructions = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or instructions is None:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return Run(int(instructions[1]), json.loads(done.stdout[: done.stdout.rindex("}") + 1]))
