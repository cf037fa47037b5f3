"""netlull's BBR next to noq's, and next to noq's with its deviations from the draft mended.

A difference is explained when it disappears with the mend of its cause. The source of noq comes from Cargo's registry;
this file has only the new lines.

    python validation/bbr/run.py            # the tables of README.md from stored/
    python validation/bbr/run.py --rerun    # builds and runs both first, and rewrites stored/
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).parent
STORED = HERE / "stored"
TARGET = HERE / "target"
Edits = list[tuple[int, int, str]]

# Each: a name, the draft's section, and the edits of `src/congestion/bbr3/mod.rs` of noq-proto 1.4.0: the first and the
# last line that go, and the text in their place. With the last before the first, the text goes before the first.
MENDS: list[tuple[str, str, Edits]] = [
    (
        "sample first",
        "5.2.3",
        [
            (1692, 1699, ""),
            (1719, 1725, ""),
            (1733, 1733, "        now: Instant,"),
            (1762, 1762, "rate_sample.delivery_rate = 0.0;"),
            (1763, 1764, "} else if rate_sample.interval != Duration::ZERO {"),
            (
                1769,
                1768,
                "self.update_model_and_state(rate_sample.last_packet, now);\nself.update_control_parameters();",
            ),
        ],
    ),
    (
        "ACKS_INIT",
        "5.3.3.9",
        [
            (
                1002,
                1001,
                """        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.bw_probe_samples = false;
            self.ack_phase = AckPhase::Refilling; // any phase without an effect
        }""",
            )
        ],
    ),
    (
        "two cycles, ten rounds",
        "5.5.3, 5.5.9",
        [
            (16, 16, "const MAX_BW_FILTER_LEN: usize = 1;"),
            (19, 19, "const EXTRA_ACKED_FILTER_LEN: usize = 9;"),
            (
                843,
                843,
                "self.extra_acked = if self.round_start { extra } else { Ord::max(self.extra_acked, extra) };",
            ),
        ],
    ),
    (
        "BBR.bw bounds the volume",
        "5.6.4.2, 5.3.2",
        [
            (1350, 1350, "let mut inflight_cap = self.bdp_multiple(self.bw, self.cwnd_gain);"),
            (
                947,
                947,
                "&& ({ let cap = self.bdp_multiple(self.bw, 1.0); self.inflight <= self.quantization_budget(cap) }",
            ),
        ],
    ),
    (
        "ProbeRTT",
        "5.3.4.3",
        [
            (1182, 1181, "self.app_limited = Ord::max(self.delivered + self.inflight, 1);"),
            (1170, 1169, "self.handle_probe_rtt(now);"),
        ],
    ),
    (
        "first rate, gain 2.77",
        "5.6.2, 2.5",
        [
            (41, 41, "const STARTUP_PACING_GAIN: f64 = 2.77;"),
            (
                1702,
                1701,
                "self.pacing_rate = self.startup_pacing_gain * self.initial_cwnd as f64 / rtt.get().as_secs_f64();",
            ),
        ],
    ),
    (
        "precautionary probing",
        "5.3.3.6, 5.3.3.9",
        [
            (569, 568, "too_high: bool,\nprecautionary: bool,"),
            (699, 698, "too_high: false,\nprecautionary: false,"),
            (1558, 1557, "self.too_high = true;"),
            (1063, 1062, "self.precautionary = false;"),
            (
                1089,
                1088,
                """        if self.too_high && self.inflight >= self.inflight_longterm {
            self.precautionary = true;
            return true;
        }""",
            ),
            (983, 982, "self.too_high = false;"),
            (965, 964, "let stopped = self.ack_phase == AckPhase::ProbeStopping && self.round_start;"),
            (
                966,
                965,
                """        let probes = matches!(self.state, BbrState::ProbeBw(_));
        if stopped && probes && self.precautionary && !self.too_high {
            self.start_probe_bw_refill();
            return;
        }""",
            ),
        ],
    ),
    (
        "growth by segments",
        "5.3.3.9",
        [
            (1255, 1258, "let growth_this_round = 1_u64 << self.bw_probe_up_rounds;"),
            (1261, 1261, "self.probe_up_cnt = Ord::max(self.cwnd / growth_this_round, self.smss);"),
            (1111, 1111, "self.inflight_longterm += delta * self.smss;"),
        ],
    ),
    ("losses leave the flight", "2.2", [(1809, 1808, "self.inflight = self.inflight.saturating_sub(lost_bytes_64);")]),
    (
        "a round a segment, 63 at most",
        "5.3.3.8.3",
        [
            (1050, 1050, "let reno_rounds = self.target_inflight().div_ceil(self.smss);"),
            (1054, 1054, "let rounds = Ord::min(reno_rounds, 63);"),
        ],
    ),
    (
        "undo",
        "5.5.11",
        [
            (1516, 1516, ""),
            (926, 925, "self.save_cwnd();\nself.save_state_upon_loss();"),
            (1818, 1817, "self.restore_cwnd();"),
            (1830, 1830, "self.start_probe_bw_refill();"),
        ],
    ),
]


def source() -> Path:
    """The folder of noq's source in Cargo's registry."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    done = subprocess.run(command, cwd=HERE, check=True, capture_output=True, text=True)
    packages = json.loads(done.stdout)["packages"]
    return next(Path(package["manifest_path"]).parent for package in packages if package["name"] == "noq-proto")


def rows(binary: Path, mended: bool) -> str:
    """The output of a build, without the rows of the runs that noq decides."""
    environment = os.environ | ({"NOQ_LOSSES_FIRST": "1"} if mended else {})
    output = subprocess.run([binary], check=True, capture_output=True, text=True, env=environment).stdout
    kept, keep = [], True
    for line in output.splitlines(keepends=True):
        if line.startswith("#"):
            keep = " leader noq " not in line
        if keep or line.startswith("#"):
            kept.append(line)
    return "".join(kept)


def build(mends: list[tuple[str, str, Edits]]) -> Path:
    """Builds the comparison with a copy of noq that has these mends; returns the binary."""
    copy = TARGET / "mended"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source(), copy / "noq")
    file = copy / "noq" / "src" / "congestion" / "bbr3" / "mod.rs"
    lines = file.read_text().splitlines()
    for first, last, text in sorted((edit for _, _, edits in mends for edit in edits), reverse=True):
        lines[first - 1 : last] = text.splitlines()
    file.write_text("\n".join(lines) + "\n")
    shutil.copytree(HERE / "src", copy / "src")
    shutil.copytree(HERE / ".cargo", copy / ".cargo")
    shutil.copy(HERE / "Cargo.lock", copy)
    manifest = (HERE / "Cargo.toml").read_text().replace("../../crates", str(HERE.parent.parent / "crates"))
    (copy / "Cargo.toml").write_text(manifest + '\n[patch.crates-io]\nnoq-proto = { path = "noq" }\n')
    environment = os.environ | {"CARGO_TARGET_DIR": str(TARGET / "of-mended")}
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=copy, check=True, env=environment)
    return TARGET / "of-mended" / "release" / "netlull-bbr-next-to-noq"


State = tuple[str, list[float]]
"""The state, and the numbers of a snapshot from cwnd on; nan for no bound."""


def read(text: str) -> dict[tuple[str, str], list[tuple[int, State, State]]]:
    """The rows of each path and leader: time in us, netlull's state, noq's."""
    runs: dict[tuple[str, str], list[tuple[int, State, State]]] = {}
    current: list[tuple[int, State, State]] = []
    for line in text.splitlines():
        words = line.split()
        if words[:2] == ["#", "path"]:
            current = runs.setdefault((words[2], words[4]), [])
        elif words[0] != "#":
            states = [
                (part[0], [float("nan") if word == "-" else float(word) for word in part[1:]])
                for part in (words[1:9], words[9:17])
            ]
            current.append((int(words[0]), states[0], states[1]))
    return runs


def agreement(run: list[tuple[int, State, State]]) -> list[float]:
    """The share of time in the same state; the mean relative differences of max_bw, pacing rate, window and min_rtt."""
    same, sums, total = 0.0, [0.0] * 4, 0.0
    for (at, ours, noq), (end, _, _) in pairwise(run):
        if at == 0:
            continue
        span = end - at
        total += span
        same += span * (ours[0] == noq[0])
        for index, column in enumerate((2, 1, 0, 4)):
            sums[index] += span * abs(noq[1][column] / ours[1][column] - 1.0)
    return [value / total for value in (same, *sums)]


def table(title: str, text: str) -> None:
    """Prints the agreement of each path that netlull decides."""
    print(f"\n{title}\n")
    print("| path | same state | max_bw | pacing rate | cwnd | min_rtt |\n|---|---|---|---|---|---|")
    for (path, leader), run in read(text).items():
        if leader == "netlull":
            same, *rest = agreement(run)
            print(f"| {path} | {same:.1%} | " + " | ".join(f"{value:.2%}" for value in rest) + " |")


def main() -> None:
    """Prints the tables."""
    if sys.argv[1:] == ["--rerun"]:
        subprocess.run(["cargo", "build", "--release", "--quiet", "--locked"], cwd=HERE, check=True)
        STORED.mkdir(exist_ok=True)
        (STORED / "noq.txt").write_text(rows(TARGET / "release" / "netlull-bbr-next-to-noq", mended=False))
        (STORED / "mended.txt").write_text(rows(build(MENDS), mended=True))
    for title, name in (("noq-proto 1.4.0", "noq.txt"), ("noq-proto 1.4.0, mended", "mended.txt")):
        table(title, (STORED / name).read_text())


if __name__ == "__main__":
    main()
