"""netlull's BBR next to noq's, and next to noq's with its deviations from the draft mended.

A difference is explained when it disappears with the mend of its cause. The source of noq comes from Cargo's registry;
this file has only the lines that change.

    python validation/bbr/run.py            # the tables of README.md from stored/
    python validation/bbr/run.py --rerun    # builds and runs both first, and rewrites stored/
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
STORED = HERE / "stored"
TARGET = HERE / "target"
Edits = list[tuple[str, str]]

# Each: a name, the draft's section, and the edits (old text, new text) of `src/congestion/bbr3/mod.rs`.
MODEL = "self.update_model_and_state(rate_sample.last_packet, now);"
CONTROL = "self.update_control_parameters();"
MENDS: list[tuple[str, str, Edits]] = [
    (
        "sample first",
        "5.2.3",
        [
            (
                f"""                    {MODEL}
                    {CONTROL}
                    // Zero newly_acked after folding so each packet's bytes count once;
                    // one ACK covers many packets and the model steps run per packet.
                    if let Some(mut rate_sample) = self.rs {{
                        rate_sample.newly_acked = 0;
                        self.rs = Some(rate_sample);
                    }}
""",
                "",
            ),
            (
                f"""                {MODEL}
                {CONTROL}
                // Drain newly_acked after folding, as in the branch above.
                if let Some(mut rate_sample) = self.rs {{
                    rate_sample.newly_acked = 0;
                    self.rs = Some(rate_sample);
                }}
""",
                "",
            ),
            ("        _now: Instant,\n        in_flight: u64,", "        now: Instant,\n        in_flight: u64,"),
            (
                """                    return;
                }
                if rate_sample.interval != Duration::ZERO {""",
                """                    rate_sample.delivery_rate = 0.0;
                } else if rate_sample.interval != Duration::ZERO {""",
            ),
            (
                "                self.rs = Some(rate_sample);\n                rate_sample.newly_acked = 0;",
                f"                self.rs = Some(rate_sample);\n                {MODEL}\n                {CONTROL}\n"
                "                rate_sample.newly_acked = 0;",
            ),
        ],
    ),
    (
        "ACKS_INIT",
        "5.3.3.9",
        [
            (
                "        if !self.is_inflight_too_high() {\n            if self.inflight_longterm == u64::MAX {",
                """        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.bw_probe_samples = false;
            self.ack_phase = AckPhase::Refilling; // any phase without an effect
        }
        if !self.is_inflight_too_high() {
            if self.inflight_longterm == u64::MAX {""",
            )
        ],
    ),
    (
        "two cycles, ten rounds",
        "5.5.3, 5.5.9",
        [
            ("const MAX_BW_FILTER_LEN: usize = 2;", "const MAX_BW_FILTER_LEN: usize = 1;"),
            ("const EXTRA_ACKED_FILTER_LEN: usize = 10;", "const EXTRA_ACKED_FILTER_LEN: usize = 9;"),
            (
                "self.extra_acked = extra; // In",
                "self.extra_acked = if self.round_start { extra } else { Ord::max(self.extra_acked, extra) }; // In",
            ),
        ],
    ),
    (
        "BBR.bw bounds the volume",
        "5.6.4.2, 5.3.2",
        [
            ("self.bdp_multiple(self.max_bw, self.cwnd_gain)", "self.bdp_multiple(self.bw, self.cwnd_gain)"),
            (
                "(self.inflight <= self.get_inflight(1.0)",
                "({ let cap = self.bdp_multiple(self.bw, 1.0); self.inflight <= self.quantization_budget(cap) }",
            ),
        ],
    ),
    (
        "ProbeRTT",
        "5.3.4.3",
        [
            (
                "        if self.probe_rtt_done_stamp.is_none() && self.inflight",
                """        self.app_limited = Ord::max(self.delivered + self.inflight, 1);
        if self.probe_rtt_done_stamp.is_none() && self.inflight""",
            ),
            (
                "                    self.ack_phase = AckPhase::ProbeStopping;\n                    self.start_round();\n",
                "                    self.ack_phase = AckPhase::ProbeStopping;\n                    self.start_round();\n"
                "                    self.handle_probe_rtt(now);\n",
            ),
        ],
    ),
    (
        "first rate, gain 2.77",
        "5.6.2, 2.5",
        [
            ("const STARTUP_PACING_GAIN: f64 = 2.773;", "const STARTUP_PACING_GAIN: f64 = 2.77;"),
            (
                "            } else {\n                let rate_sample = BbrRateSample {",
                """            } else {
                self.pacing_rate = self.startup_pacing_gain * self.initial_cwnd as f64 / rtt.get().as_secs_f64();
                let rate_sample = BbrRateSample {""",
            ),
        ],
    ),
    (
        "precautionary probing",
        "5.3.3.6, 5.3.3.9",
        [
            (
                "    drain_start_round: u64,\n",
                "    drain_start_round: u64,\n    too_high: bool,\n    precautionary: bool,\n",
            ),
            (
                "            drain_start_round: 0,\n",
                "            drain_start_round: 0,\n            too_high: false,\n            precautionary: false,\n",
            ),
            (
                "    fn handle_inflight_too_high(&mut self, now: Instant) {\n",
                "    fn handle_inflight_too_high(&mut self, now: Instant) {\n        self.too_high = true;\n",
            ),
            ("        self.bw_probe_up_acks = 0;\n", "        self.bw_probe_up_acks = 0;\n        self.precautionary = false;\n"),
            (
                "        if self.is_cwnd_limited && self.cwnd >= self.inflight_longterm {",
                """        if self.too_high && self.inflight >= self.inflight_longterm {
            self.precautionary = true;
            return true;
        }
        if self.is_cwnd_limited && self.cwnd >= self.inflight_longterm {""",
            ),
            (
                "if self.maybe_go_down() => {\n",
                "if self.maybe_go_down() => {\n                self.too_high = false;\n",
            ),
            (
                "        self.adapt_long_term_model();\n",
                """        let stopped = self.ack_phase == AckPhase::ProbeStopping && self.round_start;
        self.adapt_long_term_model();
        if stopped && matches!(self.state, BbrState::ProbeBw(_)) && self.precautionary && !self.too_high {
            self.start_probe_bw_refill();
            return;
        }
""",
            ),
        ],
    ),
    (
        "growth by segments",
        "5.3.3.9",
        [
            (
                "        let growth_this_round = self\n            .smss\n            .checked_shl(self.bw_probe_up_rounds)\n"
                "            .unwrap_or(u64::MAX);\n",
                "        let growth_this_round = 1_u64 << self.bw_probe_up_rounds;\n",
            ),
            ("Ord::max(self.cwnd / growth_this_round, 1);", "Ord::max(self.cwnd / growth_this_round, self.smss);"),
            ("            self.inflight_longterm += delta;\n", "            self.inflight_longterm += delta * self.smss;\n"),
        ],
    ),
    (
        "losses leave the flight",
        "2.2",
        [
            (
                "        self.lost += lost_bytes_64;\n",
                "        self.lost += lost_bytes_64;\n        self.inflight = self.inflight.saturating_sub(lost_bytes_64);\n",
            )
        ],
    ),
    (
        "a round a segment, 63 at most",
        "5.3.3.8.3",
        [
            ("let reno_rounds = self.target_inflight() / self.smss;", "let reno_rounds = self.target_inflight().div_ceil(self.smss);"),
            ("let rounds = Ord::min(reno_rounds, self.reno_rounds_bound);", "let rounds = Ord::min(reno_rounds, 63);"),
        ],
    ),
    (
        "undo",
        "5.5.11",
        [
            ("        self.save_state_upon_loss();\n        self.loss_in_round = true;", "        self.loss_in_round = true;"),
            (
                "        self.in_recovery = true;\n",
                "        self.in_recovery = true;\n        self.save_cwnd();\n        self.save_state_upon_loss();\n",
            ),
            (
                "    fn on_spurious_congestion_event(&mut self) {\n        self.loss_in_round = false;",
                "    fn on_spurious_congestion_event(&mut self) {\n        self.restore_cwnd();\n        self.loss_in_round = false;",
            ),
            ("                self.start_probe_bw_up();\n            }\n        }\n    }", "                self.start_probe_bw_refill();\n            }\n        }\n    }"),
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
    text = file.read_text()
    for name, _, edits in mends:
        for old, new in edits:
            if text.count(old) != 1:
                raise SystemExit(f"run.py: {name}: found {text.count(old)} times, expected once:\n{old}")
            text = text.replace(old, new)
    file.write_text(text)
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
            states = [(part[0], [float("nan") if word == "-" else float(word) for word in part[1:]]) for part in (words[1:9], words[9:17])]
            current.append((int(words[0]), states[0], states[1]))
    return runs


def agreement(run: list[tuple[int, State, State]]) -> tuple[float, float, float, float, float]:
    """The share of time in the same state; the mean relative differences of max_bw, pacing rate, window and min_rtt."""
    same, sums, total = 0.0, [0.0] * 4, 0.0
    for (at, ours, noq), (end, _, _) in zip(run, run[1:], strict=False):
        if at == 0:
            continue
        span = end - at
        total += span
        same += span * (ours[0] == noq[0])
        for index, column in enumerate((2, 1, 0, 4)):
            sums[index] += span * abs(noq[1][column] / ours[1][column] - 1.0)
    return same / total, *(value / total for value in sums)


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
