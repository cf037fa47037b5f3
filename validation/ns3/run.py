"""Compares netlull with ns-3 on the cases of `cases.toml`: `python validation/ns3/run.py [FAMILY ...]`.

Prints a table of differences per case and exits 1 if one is out of its tolerance. ns-3's results are read from
`stored/`. With `--rerun` the ns-3 program is compiled and run first, and they are rewritten.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import tomllib
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ns3
from ns3 import HERE, Ns3Error, Value

sys.path.append(str(HERE.parent / "ns2"))  # the common part of both comparisons
import compare
from compare import Difference, Evidence
from ns2 import StoredError, in_parallel, named, read_numbers, verdict

from netlull.results.entries import jain

STORED = HERE / "stored"
SAMPLES_PER_LINE = 20
SAMPLES = 200
PACKET_BITS = 8 * 1500
MSS_BYTES = 1448
SETTLED_S = 2.0
"""The start of the comparison of windows under scripted drops, in s."""


@dataclass(frozen=True)
class Case:
    """A TCP on one network."""

    family: str
    name: str
    purpose: str
    ns3: Mapping[str, Value]
    netlull: Mapping[str, Any]
    tolerance: Mapping[str, float]
    staggers: tuple[float, ...] = ()
    """Starting patterns of several flows. The numbers are means over them."""
    drops: tuple[int, ...] = ()
    reason: str = ""
    """The reason for tolerances wider than its family's."""

    @property
    def runs(self) -> list[Case]:
        """The case, once per starting pattern."""
        if not self.staggers:
            return [self]
        return [replace(self, ns3={**self.ns3, "stagger": stagger}, staggers=()) for stagger in self.staggers]

    @property
    def records_window(self) -> bool:
        """True if the congestion window is kept: that of a single flow."""
        return self.ns3["flows"] == 1

    @property
    def sample_times(self) -> list[float]:
        """The sample times of the congestion window."""
        return [float(self.ns3["duration"]) * index / SAMPLES for index in range(1, SAMPLES)]


# ------------------------------------------------------------------------------------------------------------- cases


def read_cases(path: Path = HERE / "cases.toml") -> list[Case]:
    """All cases: every family on its grid and under the scripted drops."""
    document = tomllib.loads(path.read_text())
    return [
        case for family in document["family"] for case in (*on_grid(document, family), *under_drops(document, family))
    ]


def on_grid(document: Mapping[str, Any], family: Mapping[str, Any]) -> list[Case]:
    """A family with every number of flows and every buffer."""
    network = document["network"][family["network"]]
    cases = []
    for flows in document["grid"]["flows"]:
        for share in document["grid"]["buffers"]:
            buffer = round(share * network["rate"] * network["rtt"] / PACKET_BITS)
            options = ns3_options(document, family, network) | {"flows": flows, "buffer": buffer}
            tolerance = family["tolerance"] | (family.get("one", {}) if flows == 1 else {})
            staggers: tuple[float, ...] = ()
            if flows > 1:
                staggers = tuple(document["grid"]["stagger"])
                options["duration"] = document["grid"]["duration"]
            name = f"{flows} flow{'s'[: flows > 1]}, {share:g} BDP ({buffer} packets)"
            tcp = netlull_options(document, family)
            reason = ""
            for exception in family.get("exception", []):
                if name.startswith(exception["case"]):
                    tolerance, reason = tolerance | exception["tolerance"], exception["reason"]
            case = Case(family["name"], name, family["purpose"], options, tcp, tolerance, staggers, reason=reason)
            cases.append(case)
    return cases


def under_drops(document: Mapping[str, Any], family: Mapping[str, Any]) -> list[Case]:
    """A family's single flow under each list of drops."""
    defaults = document["scripted_defaults"]
    network = family["network"]
    cases = []
    for script in document["scripted"]:
        drops = tuple(script[network])
        options = ns3_options(document, family, document["network"][network]) | defaults[network]
        options |= {"flows": 1, "buffer": defaults["buffer"], "drops": ",".join(str(number) for number in drops)}
        tcp = netlull_options(document, family)
        tolerance = defaults["tolerance"] | family.get("scripted", {})
        cases.append(Case(family["name"], script["name"], script["purpose"], options, tcp, tolerance, drops=drops))
    return cases


def ns3_options(document: Mapping[str, Any], family: Mapping[str, Any], network: Mapping[str, Any]) -> dict[str, Value]:
    """A family's options of dumbbell.cc without flows and buffer."""
    options = document["defaults"]["ns3"] | family["ns3"]
    one_way = network["rtt"] / 2 - 2 * options["delay_access"]
    return options | {"rate": network["rate"], "delay": round(one_way, 9), "duration": network["duration"]}


def netlull_options(document: Mapping[str, Any], family: Mapping[str, Any]) -> dict[str, Any]:
    """A family's `[tcp]`."""
    options: dict[str, Any] = document["defaults"]["netlull"] | family["netlull"]
    if not options["delayed_ack"]:
        options.pop("delayed_ack_timeout")
    return options


def described(options: Mapping[str, Value]) -> str:
    """Options as one line, in alphabetical order."""
    shown = {name: f"{value:g}" if isinstance(value, int | float) else value for name, value in options.items()}
    return " ".join(f"{name}={shown[name]}" for name in sorted(shown))


# -------------------------------------------------------------------------------------------------------------- ns-3


def run_ns3(binary: Path, case: Case) -> Evidence:
    """Runs ns-3 once."""
    if not case.records_window:
        return Evidence(read_numbers(ns3.run(binary, case.ns3).splitlines()))
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace"
        numbers = read_numbers(ns3.run(binary, {**case.ns3, "trace": str(trace)}).splitlines())
        return Evidence(numbers, compare.at(read_trace(trace.read_text()), case.sample_times))


def stored_text(case: Case, found: Evidence) -> str:
    """A result of ns-3 as stored text."""
    lines = [f"[{case.name}]", *header(case), *(f"{name} {value:.9g}" for name, value in found.numbers.items())]
    if found.window:
        every = float(case.ns3["duration"]) / SAMPLES
        lines.append(f"# congestion window (segments) every {every:g} s, from {every:g} s")
    starts = range(0, len(found.window), SAMPLES_PER_LINE)
    rows = (found.window[start : start + SAMPLES_PER_LINE] for start in starts)
    lines += ["w " + " ".join(f"{value:.2f}" for value in row) for row in rows]
    return "\n".join(lines) + "\n"


def header(case: Case) -> list[str]:
    """The options of a stored result."""
    lines = [f"# options {described(case.ns3)}"]
    if case.staggers:
        lines.append(f"# mean over stagger {' '.join(f'{each:g}' for each in case.staggers)}")
    return lines


def merged(found: Sequence[Evidence]) -> Evidence:
    """A result from a case's runs: means, and the window of a single run."""
    names = found[0].numbers
    means = {name: sum(each.numbers[name] for each in found) / len(found) for name in names}
    return Evidence(means, found[0].window if len(found) == 1 else ())


def in_runs(work: Callable[[Case], Evidence], cases: Sequence[Case]) -> list[Evidence]:
    """Every case's result, with its runs in parallel."""
    results = iter(in_parallel(work, [run for case in cases for run in case.runs]))
    return [merged([next(results) for _ in case.runs]) for case in cases]


def read_trace(text: str) -> list[compare.Sample]:
    """Time and window of the only flow."""
    fields = (line.split() for line in text.splitlines() if line.startswith("w "))
    return [(float(time), float(cwnd)) for _, time, _, cwnd, _ in fields]


def store(family: str, cases: Sequence[Case], blocks: Sequence[str]) -> None:
    """Writes one family's results."""
    purpose = next(case.purpose for case in cases if not case.drops)
    head = f"# {family}: ns-{ns3.STORED_VERSION}, dumbbell.cc; written by run.py --rerun\n# {purpose}\n\n"
    STORED.mkdir(exist_ok=True)
    (STORED / f"{family}.txt").write_text(head + "\n".join(blocks))


def read_stored(case: Case) -> Evidence:
    """The stored result of ns-3.

    Raises:
        StoredError: there is none, or it is of other options.
    """
    path = STORED / f"{case.family}.txt"
    try:
        blocks = path.read_text().split("\n[")
    except FileNotFoundError:
        raise StoredError(f"{path}: there is no such file; --rerun writes it") from None
    lines = next((block.splitlines()[1:] for block in blocks if block.startswith(f"{case.name}]")), None)
    if lines is None or any(line not in lines for line in header(case)):
        raise StoredError(f"{path}: has no [{case.name}] with the options of cases.toml; --rerun renews it")
    window = [float(value) for line in lines if line.startswith("w ") for value in line.split()[1:]]
    return Evidence(read_numbers(lines), window)


# ----------------------------------------------------------------------------------------------------------- netlull


def scenario(case: Case) -> dict[str, Any]:
    """The case in netlull's schema, with the network of dumbbell.cc."""
    options = case.ns3

    def wire(start: str, end: str, rate: Value, delay: Value, buffer: str = "unlimited") -> dict[str, Any]:
        shown = {"rate": f"{float(rate) / 1e6:.12g} Mb/s", "delay": f"{float(delay) * 1e3:.12g} ms"}
        return {"from": start, "to": end, "buffer": buffer} | shown

    nodes = ["A", "B"]
    links = [
        wire("A", "B", options["rate"], options["delay"], f"{options['buffer']} packets"),
        wire("B", "A", options["rate"], options["delay"]),
    ]
    flows = []
    for flow in range(int(options["flows"])):
        nodes += [f"source{flow}", f"sink{flow}"]
        for start, end in ((f"source{flow}", "A"), ("B", f"sink{flow}")):
            links.append(wire(start, end, options["rate_access"], options["delay_access"]))
            links.append(wire(end, start, options["rate_access"], options["delay_access"]))
        start_s = float(options["stagger"]) * flow
        ends = {"from": f"source{flow}", "to": f"sink{flow}", "start": f"{start_s * 1e3:.12g} ms"}
        flows.append({"kind": "tcp", "name": f"flow{flow}"} | ends)
    if case.drops:
        # The flow's packets count from 1: SYN, the acknowledgement of the handshake, then data.
        numbers = [number + 2 for number in case.drops]
        last = next(link for link in links if link["to"] == "sink0")
        last["loss"] = {"kind": "scripted", "drops": [{"flow": "flow0", "packets": numbers}]}
    return {
        "name": f"{case.family}: {case.name}",
        "duration": f"{options['duration']:g} s",
        "mtu": "1500 B",
        "nodes": nodes,
        "link": links,
        "flow": flows,
        "tcp": dict(case.netlull),
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
        segments = [
            (time, cwnd / MSS_BYTES, math.inf if ssthresh is None else ssthresh / MSS_BYTES)
            for time, cwnd, ssthresh in zip(*columns, strict=True)
        ]
        # ns-3's window is never inflated: with duplicate acknowledgements it counts less data in flight.
        plain = (
            compare.without_inflation(segments)
            if case.netlull["congestion_control"] == "new_reno"
            else [(time, cwnd) for time, cwnd, _ in segments]
        )
        window = compare.at(plain, case.sample_times)
    flows = result.summary["flows"]
    goodputs = [8 * entry["delivered_bytes"] / float(case.ns3["duration"]) for entry in flows]
    bottleneck = result.link("A-B")
    return Evidence(
        {
            "goodput_bps": sum(goodputs),
            # ns-3 counts every segment; the SYN and the handshake's acknowledgement have no data.
            "segments_sent": float(sum(entry["packets_sent"] - 2 for entry in flows)),
            "segments_retransmitted": float(sum(entry["retransmissions"] for entry in flows)),
            "timeouts": float(sum(entry["timeouts"] for entry in flows)),
            "fast_retransmits": float(sum(entry["fast_retransmits"] for entry in flows)),
            "drops": float(bottleneck["dropped_packets"]),
            "mean_queue_packets": float(bottleneck["mean_queue_packets"]),
            "mean_cwnd_segments": sum(entry["mean_cwnd_bytes"] for entry in flows) / MSS_BYTES,
            "jain": jain(goodputs),
        },
        window,
    )


# ----------------------------------------------------------------------------------------------------------- verdict


def judge(case: Case, other: Evidence, netlull: Evidence) -> list[Difference]:
    """All differences of a case; under scripted drops also that of the windows."""
    found = compare.differences(other.numbers, netlull.numbers, case.tolerance)
    if case.drops:
        settled = bisect_left(case.sample_times, SETTLED_S)
        distance = compare.window_distance(other.window[settled:], netlull.window[settled:])
        found.append(Difference("window", 0.0, distance, case.tolerance["window"]))
    return found


def renew(cases: Sequence[Case]) -> None:
    """Runs ns-3 for these cases, in whole families, and stores its results."""
    with tempfile.TemporaryDirectory() as folder:
        binary = ns3.build(Path(folder))
        results = in_runs(lambda case: run_ns3(binary, case), cases)
        blocks = [stored_text(case, found) for case, found in zip(cases, results, strict=True)]
    for family in dict.fromkeys(case.family for case in cases):
        mine = [(case, block) for case, block in zip(cases, blocks, strict=True) if case.family == family]
        store(family, [case for case, _ in mine], [block for _, block in mine])


def outdated(cases: Sequence[Case]) -> list[str]:
    """Cases whose stored results ns-3 does not repeat exactly."""
    with tempfile.TemporaryDirectory() as folder:
        binary = ns3.build(Path(folder))
        results = in_runs(lambda case: run_ns3(binary, case), cases)
    return [
        f"{case.family}, {case.name}"
        for case, found in zip(cases, results, strict=True)
        if stored_text(case, found) not in (STORED / f"{case.family}.txt").read_text()
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command."""
    cases = read_cases()
    families = list(dict.fromkeys(case.family for case in cases))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(families)}; default all")
    parser.add_argument("--rerun", action="store_true", help="run ns-3 and rewrite the stored results first")
    parser.add_argument("--only-ns3", action="store_true", help="with --rerun: stop there, without netlull")
    parser.add_argument("--check-stored", action="store_true", help="only run ns-3 under the drops, against stored/")
    chosen = parser.parse_args(arguments)
    wanted = named(parser, chosen.families, families)
    selected = [case for case in cases if case.family in wanted]
    try:
        if chosen.check_stored:
            changed = outdated([case for case in selected if case.drops])
            print("\n".join(f"{name}: ns-3 gives something else; --rerun renews it" for name in changed) or "as stored")
            return 1 if changed else 0
        if chosen.rerun:
            renew(selected)
            if chosen.only_ns3:
                return 0
        stored = [read_stored(case) for case in selected]
    except (Ns3Error, StoredError) as error:
        print(error, file=sys.stderr)
        return 2
    holds = True
    for case, other, netlull in zip(selected, stored, in_runs(run_netlull, selected), strict=True):
        found = judge(case, other, netlull)
        title = f"{case.family}, {case.name}: {case.purpose}" + (f"\n  {case.reason}" if case.reason else "")
        print(compare.table(title, found, "ns-3"))
        holds = holds and all(difference.holds for difference in found)
    return verdict(holds=holds)


if __name__ == "__main__":
    sys.exit(main())
