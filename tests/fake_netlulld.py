"""A stand-in for netlulld: reads a plan and writes a matching outcome, immediately and without any namespace.

Every TCP flow gets the full rate of the slowest link from its start, after two round trips. No packet is lost. Tests
choose other behaviour in FAKE_NETLULLD: late, refuse, silent, damaged, slow.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TextIO

MODE = os.environ.get("FAKE_NETLULLD", "")
HEADERS = 52
SEGMENT = 1448


def _say(text: str, file: TextIO | None = None) -> None:
    (file or sys.stdout).write(text + "\n")
    (file or sys.stdout).flush()


def _check(
    name: str, message: str, needed_for: Sequence[str] = (), optional_for: Sequence[str] = (), *, ok: bool = True
) -> dict[str, Any]:
    return {"name": name, "ok": ok, "needed_for": needed_for, "optional_for": optional_for, "message": message}


def base(quantity: str) -> int:
    """A quantity of a plan in ns, bit/s or bytes."""
    number, unit = quantity.split()
    scales = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "b/s": 1, "kb/s": 10**3, "Mb/s": 10**6, "Gb/s": 10**9}
    return round(Fraction(number) * scales[unit])


def span(nanoseconds: int) -> str:
    return f"{nanoseconds} ns"


def flow_outcome(plan: dict[str, Any], flow: dict[str, Any]) -> tuple[dict[str, Any], int, float]:
    """The outcome of a flow, the arrival of its first data in ns, and its rate in bytes per nanosecond."""
    round_trip = sum(base(link["delay"]) for link in plan["links"])
    rate = min(base(link["rate"]) for link in plan["links"]) / 8e9 * SEGMENT / (SEGMENT + HEADERS)
    own = flow["traffic"].get("tcp")
    outcome: dict[str, Any] = {
        "opened": None,
        "completed": None,
        "segment_bytes": None,
        "mean_cwnd_bytes": None,
        "requests": [],
        "most_open": 0,
    }
    if own is None:
        return outcome, 0, 0.0
    begins = own["start"] + 2 * round_trip
    outcome |= {"opened": own["start"], "segment_bytes": SEGMENT, "mean_cwnd_bytes": rate * round_trip}
    if own["size"] is not None and begins + own["size"] / rate <= base(plan["duration"]):
        outcome["completed"] = round(begins + own["size"] / rate)
    return outcome, begins, rate


def delivered(flow: dict[str, Any], begins: int, rate: float, at: int) -> int:
    size = (flow["traffic"].get("tcp") or {}).get("size")
    came = round(max(0, at - begins) * rate)
    return came if size is None else min(came, size)


COUNTERS = (
    *("offered_packets", "offered_bytes", "dropped_packets", "dropped_bytes", "managed_drops", "marked_packets"),
    *("lost_packets", "lost_bytes", "asleep_packets", "asleep_bytes", "stranded_packets", "delivered_packets"),
    *("delivered_bytes", "waited_ns", "queued_ns", "served_packets", "waited_in_vain_ns", "discarded_packets"),
    *("discarded_bytes", "most_waiting", "most_waiting_bytes", "asleep_ns"),
)


def mark(plan: dict[str, Any], flows: list[tuple[dict[str, Any], int, float]], at: int) -> dict[str, Any]:
    counts = [delivered(flow, begins, rate, at) for flow, (_, begins, rate) in zip(plan["flows"], flows, strict=True)]
    packets = -(-sum(counts) // SEGMENT)
    sums = {"offered_packets": packets, "delivered_packets": packets, "served_packets": packets}
    sums |= {"offered_bytes": packets * 1500, "delivered_bytes": packets * 1500}
    link = {"counters": dict.fromkeys(COUNTERS, 0) | sums, "residency": None, "rate_changes": 0}
    return {
        "at": at,
        "links": [link for _ in plan["links"]],
        "routers": {"unroutable": 0, "expired": 0},
        "flows": [
            {
                "sent_packets": -(-count // SEGMENT),
                "sent_bytes": -(-count // SEGMENT) * 1500,
                "dropped_packets": 0,
                "marked_packets": 0,
                "delivered_bytes": count,
                "retransmissions": 0,
                "timeouts": 0,
                "fast_retransmits": 0,
            }
            for count in counts
        ],
    }


def tables(plan: dict[str, Any]) -> list[dict[str, Any]]:
    probe = plan["probe"]
    found = []
    if probe["interval"]:
        times = list(range(0, base(plan["duration"]), base(probe["interval"])))
        rows = [(at / 1e9, link) for at in times for link in probe["links"]]
        zeros = [0] * len(rows)
        columns: list[list[Any]] = [
            ["time_s", {"float": [at for at, _ in rows]}],
            ["link", {"index": [link for _, link in rows]}],
            ["arrived_bytes", {"count": zeros}],
            ["delivered_bytes", {"count": zeros}],
            ["dropped_packets", {"count": zeros}],
            ["queue_packets", {"count": [index % 5 for index in range(len(rows))]}],
            ["rate_bps", {"count": [base(plan["links"][link]["rate"]) for _, link in rows]}],
        ]
        found.append({"name": "link", "columns": columns})
    if probe["window"]:
        tcp = [flow for flow in probe["flows"] if "tcp" in plan["flows"][flow]["traffic"]]
        rows = [(at / 1e9, flow) for at in range(0, base(plan["duration"]), 50_000_000) for flow in tcp]
        columns = [
            ["time_s", {"float": [at for at, _ in rows]}],
            ["flow", {"index": [flow for _, flow in rows]}],
            ["cwnd_bytes", {"count": [SEGMENT * (10 + index % 20) for index in range(len(rows))]}],
            ["ssthresh_bytes", {"float": [None] * len(rows)}],
        ]
        found.append({"name": "window", "columns": columns})
    return found


def station(plan: dict[str, Any], mechanism: dict[str, Any] | None) -> dict[str, Any]:
    """A station that is asleep for half of the measured time and idle for the rest."""
    measured = plan["marks"][-1] - plan["marks"][0]
    radio = {"asleep": span(measured // 2), "idle": span(measured - measured // 2)}
    radio |= dict.fromkeys(("waking", "receiving", "transmitting"), span(0))
    counts = (
        "received_packets missed_packets missed_bytes held_packets refused_packets beacons polls closed_acks bursts"
    )
    shaper = None
    if mechanism and mechanism["kind"] == "client_shaper":
        shaper = {"state": {"standard": "paced"}, "fallback": "paced", "round_trip": span(40_000_000)}
        shaper |= {"resent_opens": 0, "early": span(0), "recovery": span(0), "detection": span(0)}
    zeros = dict.fromkeys(counts.split(), 0)
    return {"radio": radio | {"wakes": 7}, "counts": zeros, "shaper": shaper, "download": None}


def outcome(plan: dict[str, Any]) -> dict[str, Any]:
    flows = [flow_outcome(plan, flow) for flow in plan["flows"]]
    late = 40_000_000 if MODE == "late" else 15_000
    return {
        "format": plan["format"],
        "packet_hops": 1000,
        "events": 4000,
        "marks": [mark(plan, flows, at) for at in plan["marks"]],
        "rates": [[] for _ in plan["links"]],
        "gateways": [None for _ in plan["links"]],
        "flows": [found for found, _, _ in flows],
        "stations": [station(plan, each["mechanism"]) for each in plan["stations"]],
        "tables": tables(plan),
        "lateness": {
            "packets": 1000,
            "p50": span(7_000),
            "p99": span(late),
            "p999": span(late + 5_000),
            "max": span(late + 29_000),
            "limit": span(1_000_000),
        },
        "system": {"kernel": "6.18.5", "scheduling": "fifo", "processors": 2, "kept_awake": True, "version": "0.2.0"},
        "differences": ["the kernel's min RTO stands"],
    }


def emulate(arguments: argparse.Namespace) -> int:
    if MODE == "refuse":
        _say("netlulld: flow.tcp: the kernel has no vegas; it has reno, cubic, bbr", file=sys.stderr)
        return 1
    if MODE == "silent":
        return 1
    plan = json.loads(arguments.plan.read_text())
    if arguments.progress:
        for share in ("0.5", "nonsense", "1.0"):
            _say(f"progress {share}")
    if MODE == "slow":
        Path(os.environ["FAKE_STARTED"]).write_text(str(os.getpid()))
        time.sleep(600)
    if MODE == "damaged":
        arguments.outcome.write_text('{"lateness": ')
        return 0
    counted = outcome(plan)
    if MODE == "foreign":
        counted["flows"] = []
    arguments.outcome.write_text(json.dumps(counted))
    if MODE == "late":
        _say("netlulld: 1 of 100 packets was 40 ms late or more; expected at most 1 ms", file=sys.stderr)
        return 3
    return 0


def ended(*_: object) -> None:
    Path(os.environ["FAKE_STARTED"]).with_name("removed").write_text("what was made")
    sys.exit(143)


def main() -> int:
    signal.signal(signal.SIGTERM, ended)
    signal.signal(signal.SIGINT, ended)
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", action="version", version="netlulld 0.2.0")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("emulate")
    run.add_argument("--plan", type=Path, required=True)
    run.add_argument("--outcome", type=Path, required=True)
    run.add_argument("--max-lateness")
    run.add_argument("--tapes")
    run.add_argument("--capture")
    run.add_argument("--attach", action="append")
    run.add_argument("--progress", action="store_true")
    commands.add_parser("doctor").add_argument("--json", action="store_true")
    commands.add_parser("replay").add_argument("tape")
    arguments = parser.parse_args()
    if log := os.environ.get("FAKE_ARGUMENTS"):
        Path(log).write_text(json.dumps(sys.argv[1:]))
    if arguments.command == "emulate":
        return emulate(arguments)
    if arguments.command == "doctor":
        _say(
            json.dumps(
                {
                    "checks": [
                        _check("root", "is root", needed_for=["emulating"]),
                        _check("netem", "not in this kernel", needed_for=["nothing"], ok=False),
                        _check("real-time priority", "not allowed", optional_for=["emulating", "nothing"], ok=False),
                    ]
                }
            )
        )
        return 0
    same = "other" not in Path(arguments.tape).read_text()
    _say("1 event, 1 decision: the same" if same else "decision 1 of 1 differs")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
