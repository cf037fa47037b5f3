"""Compares netlull with ns-2 on the cases of `cases.toml`: `python validation/ns2/run.py [CASE ...]`.

Prints a table of differences per case and exits 1 if one is out of its tolerance. ns-2's results are read from
`stored/cases.txt`. With `--rerun` ns-2 runs first and they are rewritten.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import compare
from compare import Difference, Evidence, Sample
from ns2 import (
    HERE,
    Ns2Error,
    Numbers,
    StoredError,
    Value,
    in_parallel,
    named,
    read_numbers,
    run_script,
    stored_lines,
    verdict,
    write_runs,
)

if TYPE_CHECKING:
    import netlull

STORED = HERE / "stored" / "cases.txt"
FIRST_CHANGES = 200
SAMPLE_EVERY_S = 0.5
SAMPLES_PER_LINE = 20
SLOW_START_S = 10.0
MSS_BYTES = 1460


@dataclass(frozen=True)
class Case:
    """An entry of `cases.toml`."""

    name: str
    script: str
    purpose: str
    options: Mapping[str, Value]
    tolerance: Mapping[str, float]

    @property
    def records_window(self) -> bool:
        """True if a congestion window is compared: that of a single flow without power control."""
        return self.script == "dumbbell.tcl" and self.options["flows"] == 1

    @property
    def sample_times(self) -> list[float]:
        """The sample times of the congestion window."""
        return [index * SAMPLE_EVERY_S for index in range(1, int(float(self.options["duration"]) / SAMPLE_EVERY_S))]


# ------------------------------------------------------------------------------------------------------------- cases


def read_cases(path: Path = HERE / "cases.toml") -> list[Case]:
    """All cases, with the defaults filled in."""
    document = tomllib.loads(path.read_text())
    return [
        Case(
            entry["name"],
            entry["script"],
            entry["purpose"],
            document["defaults"] | entry.get("options", {}),
            entry["tolerance"],
        )
        for entry in document["case"]
    ]


def described(options: Mapping[str, Value]) -> str:
    """Options as one line, in alphabetical order."""
    return " ".join(f"{name}={options[name]:g}" for name in sorted(options))


# -------------------------------------------------------------------------------------------------------------- ns-2


def read_trace(text: str) -> list[tuple[float, float, float]]:
    """Time, cwnd and ssthresh of flow 0 from a trace of `dumbbell.tcl`. The last of simultaneous changes counts."""
    changes: list[tuple[float, float, float]] = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        time, flow, cwnd, ssthresh = line.split()
        if flow != "0":
            continue
        change = (float(time), float(cwnd), float(ssthresh))
        if changes and changes[-1][0] == change[0]:
            changes[-1] = change
        else:
            changes.append(change)
    return changes


def lines_of(case: Case, numbers: Numbers, changes: Sequence[tuple[float, float, float]]) -> list[str]:
    """A result of ns-2 as lines to store."""
    lines = [
        f"# ns-2.35, {case.script}; written by run.py --rerun",
        f"# {case.purpose}",
        f"# options {described(case.options)}",
        *(f"{name} {value:.12g}" for name, value in numbers.items()),
    ]
    if changes:
        samples: list[Sample] = [(time, cwnd) for time, cwnd, _ in changes]
        window = compare.at(samples, case.sample_times)
        cut = compare.cuts(samples)
        lines += ["", f"# congestion window (packets) every {SAMPLE_EVERY_S:g} s, from {SAMPLE_EVERY_S:g} s"]
        for start in range(0, len(window), SAMPLES_PER_LINE):
            lines.append("w " + " ".join(f"{value:.2f}" for value in window[start : start + SAMPLES_PER_LINE]))
        lines += ["", f"# the first {FIRST_CHANGES} cuts: time (s), window before it (packets)"]
        lines += [f"c {time:.5f} {before:.3f}" for time, before in cut[:FIRST_CHANGES]]
        lines += ["", f"# the first {FIRST_CHANGES} changes: time (s), cwnd, ssthresh (packets)"]
        lines += [f"x {time:.5f} {cwnd:.3f} {ssthresh:.0f}" for time, cwnd, ssthresh in changes[:FIRST_CHANGES]]
    return lines


def window_statistics(changes: Sequence[tuple[float, float, float]], end: float) -> Numbers:
    """Least, largest and time-averaged window after the first 10 s, and the time of the first cut."""
    steady = [(time, cwnd) for time, cwnd, _ in changes if time > SLOW_START_S]
    area = sum(cwnd * (after - time) for (time, cwnd), (after, _) in itertools.pairwise([*steady, (end, 0.0)]))
    cut = compare.cuts([(time, cwnd) for time, cwnd, _ in changes])
    return {
        "first_cut_s": cut[0][0] if cut else end,
        "cwnd_min": min(cwnd for _, cwnd in steady),
        "cwnd_mean": area / (end - steady[0][0]),
        "cwnd_max": max(cwnd for _, cwnd in steady),
    }


def rerun(case: Case) -> list[str]:
    """Runs ns-2. Returns the lines to store."""
    changes: list[tuple[float, float, float]] = []
    if case.records_window:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace"
            numbers = run_script(case.script, dict(case.options) | {"trace": str(path)})
            changes = read_trace(path.read_text())
        numbers |= window_statistics(changes, float(case.options["duration"]))
    else:
        numbers = run_script(case.script, case.options)
        numbers = {name: value for name, value in numbers.items() if "." not in name}
    return lines_of(case, numbers, changes)


def read_stored(case: Case) -> Evidence:
    """The stored result of ns-2.

    Raises:
        StoredError: there is none, or it is of other options.
    """
    lines = stored_lines(STORED, f"# options {described(case.options)}", "cases.toml", case.name)
    window = [float(value) for line in lines if line.startswith("w ") for value in line.split()[1:]]
    return Evidence(read_numbers(lines), window)


# ----------------------------------------------------------------------------------------------------------- netlull


def megabits(rate_bps: Value) -> str:
    """A rate in netlull's notation."""
    return f"{float(rate_bps) / 1e6:.12g} Mb/s"


def milliseconds(time_s: Value) -> str:
    """A time in netlull's notation."""
    return f"{float(time_s) * 1e3:.12g} ms"


def network(options: Mapping[str, Value]) -> tuple[list[str], list[dict[str, Any]]]:
    """Nodes and links of common.tcl. Only the buffers of N1 and N2 towards the sinks are limited."""

    def link(start: str, end: str, rate: Value, delay: Value, buffer: str = "unlimited") -> dict[str, Any]:
        return {"from": start, "to": end, "rate": megabits(rate), "delay": milliseconds(delay), "buffer": buffer}

    def back(rate: Value) -> Value:
        return options.get("rate_back", rate)

    nodes = ["N1", "N2", "N3"]
    links = [
        link("N1", "N2", options["rate"], options["delay_n1"], f"{options['buffer']} packets"),
        link("N2", "N1", back(options["rate"]), options["delay_n1"]),
        link("N2", "N3", options["rate_n2"], options["delay_n2"], f"{options['buffer_n2']} packets"),
        link("N3", "N2", back(options["rate_n2"]), options["delay_n2"]),
    ]
    for flow in range(int(options["flows"])):
        nodes += [f"source{flow}", f"sink{flow}"]
        for start, end in ((f"source{flow}", "N1"), ("N3", f"sink{flow}")):
            links += [
                link(start, end, options["rate_access"], options["delay_access"]),
                link(end, start, back(options["rate_access"]), options["delay_access"]),
            ]
    return nodes, links


def scenario(case: Case) -> dict[str, Any]:
    """The case in netlull's schema."""
    options = case.options
    nodes, links = network(options)
    if case.script == "practra.tcl":
        links[0]["controller"] = {
            "kind": "practra",
            "rates": {"from": "1 Mb/s", "to": megabits(options["rate"]), "step": "1 Mb/s"},
            "transition": "2 ms",
            "min_interval": milliseconds(options["mrci"]),
            "delay_bound": milliseconds(options["d"]),
            "forecast_weight": 0.25,
        }
    tcp: dict[str, Any] = {
        "preset": "ns2",
        "congestion_control": "new_reno",
        "delayed_ack": bool(options["delack"]),
        "limited_transmit": bool(options["limited_transmit"]),
    }
    if options["delack"]:
        tcp["delayed_ack_timeout"] = milliseconds(options["delack_interval"])
    flows = [
        {
            "kind": "tcp",
            "name": f"flow{flow}",
            "from": f"source{flow}",
            "to": f"sink{flow}",
            "start": milliseconds(flow * float(options["stagger"])),
            "size": "endless",
        }
        for flow in range(int(options["flows"]))
    ]
    return {
        "name": case.name,
        "duration": f"{options['duration']:g} s",
        "mtu": "1500 B",
        "nodes": nodes,
        "link": links,
        "flow": flows,
        "tcp": tcp,
        "probe": {"window": case.records_window},
    }


def run_netlull(case: Case) -> Evidence:
    """Runs the case through the public API."""
    from netlull import Scenario

    result = Scenario.from_dict(scenario(case)).run(seed=1)
    window: list[float] = []
    if case.records_window:
        changes = result.series("window")
        columns = (changes[name].to_pylist() for name in ("time_s", "cwnd_bytes", "ssthresh_bytes"))
        segments = (
            (time, cwnd / MSS_BYTES, ssthresh / MSS_BYTES) for time, cwnd, ssthresh in zip(*columns, strict=True)
        )
        window = compare.at(compare.without_inflation(segments), case.sample_times)
    return Evidence(counters(result), window)


def counters(result: netlull.Result) -> Numbers:
    """The counters of netlull under the names of the scripts.

    `packets_sent` counts every segment of the sender with the SYN; the scripts omit the SYN.
    """
    flows = [entry for entry in result.summary["flows"] if entry["kind"] == "tcp"]

    def total(name: str) -> float:
        return float(sum(entry[name] for entry in flows))

    sent = total("packets_sent") - len(flows)
    bottleneck = result.link("N1-N2")
    return {
        "goodput_bps": total("goodput_bps"),
        "segments_in_order": total("delivered_bytes") / MSS_BYTES,
        "segments_sent": sent,
        "segments_retransmitted": total("retransmissions"),
        "timeouts": total("timeouts"),
        "fast_retransmits": total("fast_retransmits"),
        "drops_n1": float(bottleneck["dropped_packets"]),
        "loss": total("packets_dropped") / sent,
        "mean_rate_bps": float(bottleneck["mean_rate_bps"]),
        "rate_changes": float(bottleneck["rate_changes"]),
    }


# ----------------------------------------------------------------------------------------------------------- verdict


def judge(case: Case, ns2: Evidence, netlull: Evidence) -> list[Difference]:
    """All differences of a case."""
    found = compare.differences(ns2.numbers, netlull.numbers, case.tolerance)
    if case.records_window:
        distance = compare.window_distance(ns2.window, netlull.window)
        found.append(Difference("window", 0.0, distance, case.tolerance.get("window")))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command."""
    cases = {case.name: case for case in read_cases()}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(cases)}; default all")
    parser.add_argument("--rerun", action="store_true", help="run ns-2 and rewrite the stored results first")
    parser.add_argument("--only-ns2", action="store_true", help="with --rerun: stop there, without netlull")
    chosen = parser.parse_args(arguments)
    selected = [cases[name] for name in named(parser, chosen.cases, cases)]
    try:
        if chosen.rerun:
            renewed = zip((case.name for case in selected), in_parallel(rerun, selected), strict=True)
            write_runs(STORED, dict(renewed), cases)
            if chosen.only_ns2:
                return 0
        stored = [read_stored(case) for case in selected]
    except (Ns2Error, StoredError) as error:
        print(error, file=sys.stderr)
        return 2
    holds = True
    for case, ns2 in zip(selected, stored, strict=True):
        found = judge(case, ns2, run_netlull(case))
        print(compare.table(f"{case.name}: {case.purpose}", found))
        holds = holds and all(difference.holds for difference in found)
    return verdict(holds=holds)


if __name__ == "__main__":
    sys.exit(main())
