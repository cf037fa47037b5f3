"""Compares every TCP of ns-2 with netlull's, segment by segment: `python validation/ns2/traces.py [AGENT ...]`.

Runs the scenarios of `traces.toml` for each agent in netlull and compares them with ns-2's runs in `stored/traces/`:
the sent segments, their times, and the congestion window at each. Prints a table per agent, and exits 1 if a row
exceeds the tolerance in `traces.toml`. With `--rerun` ns-2 runs first and the stored results are rewritten.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import tomllib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents import AGENTS, tcp_options
from ns2 import HERE, Ns2Error, StoredError, Value, in_parallel, run_script, stored_lines, verdict, write_runs
from run import milliseconds, network

import netlull

if TYPE_CHECKING:
    from netlull.plugins import ControlledLink

STORED = HERE / "stored" / "traces"
MSS_BYTES = 1460
START_S = 1.005
"""The start of ns-2's first flow. netlull's flow starts earlier by the additional time of its handshake."""
ALIGNED_S = 1e-6
ALIGNMENTS = 8
DOCUMENT = tomllib.loads((HERE / "traces.toml").read_text())


@dataclass(frozen=True)
class Send:
    """A sent data segment: time (s, from `START_S`), number from 1, congestion window in segments."""

    time: float
    segment: int
    cwnd: float
    recovering: bool = False
    """Sent in fast recovery."""


Trace = list[list[Send]]
"""The sends of each flow."""


@dataclass(frozen=True)
class Case:
    """An agent in one scenario."""

    agent: str
    scenario: str

    @property
    def is_linux(self) -> bool:
        """True for agents of Agent/TCP/Linux."""
        return self.agent.startswith("linux-")

    @property
    def options(self) -> dict[str, Any]:
        """Options of common.tcl."""
        entry = dict(DOCUMENT["defaults"]) | dict(DOCUMENT["scenario"][self.scenario])
        for name in ("purpose", "drops", "steps"):
            entry.pop(name, None)
        if self.is_linux or self.agent == "vegas":
            # Agent/TCP/Linux: the first ssthresh is also the largest window that it ever uses. Agent/TCP/Vegas: its
            # records of segments have as many slots, and a segment takes the slot of the one `window` before.
            entry["ssthresh"] = entry["window"]
        entry["duration"] += START_S
        return {"flows": 1, "stagger": 0.0, "delay_access": 0.0} | entry

    @property
    def steps(self) -> list[tuple[float, float]]:
        """Changes of the rate: time (s), bit/s."""
        return [
            (START_S + float(time), float(rate)) for time, rate in DOCUMENT["scenario"][self.scenario].get("steps", [])
        ]

    @property
    def drops(self) -> list[int | str]:
        """The lost data segments of flow 0, by the order of sending from 1."""
        drops = DOCUMENT["scenario"][self.scenario].get("drops", [])
        return list(range(drops["from"], drops["to"] + 1)) if isinstance(drops, dict) else list(drops)


# -------------------------------------------------------------------------------------------------------------- ns-2


def run_ns2(case: Case, drops: Sequence[int]) -> Trace:
    """A run of traces.tcl."""
    # In Agent/TCP/Linux the SYN is not a separate packet: the first data segment has number 0.
    first = 1 if case.is_linux else 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace"
        options: dict[str, Value] = case.options | {
            "start": START_S,
            "agent": case.agent,
            "trace": str(path),
            "drops": ",".join(str(number - first) for number in drops),
            "steps": ",".join(f"{time}:{rate}" for time, rate in case.steps),
        }
        run_script("traces.tcl", options)
        return read_ns2(path.read_text(), int(case.options["flows"]), first)


def read_ns2(text: str, flows: int, first: int) -> Trace:
    """The trace of traces.tcl."""
    trace: Trace = [[] for _ in range(flows)]
    cwnd = [0.0] * flows
    for line in text.splitlines():
        kind, time, flow, value = line.split()
        index = int(flow)
        if kind == "w":
            cwnd[index] = float(value)
        elif int(value) + first > 0:
            trace[index].append(Send(float(time) - START_S, int(value) + first, cwnd[index]))
    return trace


def losses(case: Case, trace: Trace) -> list[int]:
    """The drops of a case. `retransmission` is the number of the first one in a run without it."""
    repeated = next((n for n, send in enumerate(trace[0], 1) if send.segment < n), 0)
    return [repeated if drop == "retransmission" else int(drop) for drop in case.drops]


def rerun(case: Case) -> list[str]:
    """Runs ns-2. Returns the lines to store."""
    known = [drop for drop in case.drops if isinstance(drop, int)]
    trace = run_ns2(case, known)
    drops = losses(case, trace)
    if drops != known:
        trace = run_ns2(case, drops)
    lines = [
        f"# ns-2.35, traces.tcl, {case.agent}: {DOCUMENT['scenario'][case.scenario]['purpose']}",
        f"# options {options_line(case)}",
        f"# drops {' '.join(map(str, drops))}",
        "# a line per run of sends with one window, each of the next segment: flow, time of the first"
        f" (us, from {START_S:g} s),",
        "# its number, how many, cwnd (segments), then the us from each to the next",
    ]
    return lines + [line for flow, sends in enumerate(trace) for line in packed(flow, sends)]


def rerun_all(agents: Sequence[str], names: Sequence[str]) -> None:
    """Runs ns-2 and replaces the stored runs of these agents and scenarios."""
    cases = [Case(agent, name) for agent in agents for name in names]
    renewed = dict(zip(cases, in_parallel(rerun, cases), strict=True))
    for agent in agents:
        runs = {case.scenario: lines for case, lines in renewed.items() if case.agent == agent}
        write_runs(STORED / f"{agent}.txt.xz", runs, DOCUMENT["scenario"])


def options_line(case: Case) -> str:
    """The options as one line."""
    numbers = " ".join(f"{name}={value:g}" for name, value in sorted(case.options.items()))
    steps = " ".join(f"{time:g}:{rate:g}" for time, rate in case.steps)
    return f"{numbers} steps={steps}"


def packed(flow: int, sends: Sequence[Send]) -> Iterator[str]:
    """The sends of a flow as lines."""
    group: list[Send] = []
    for send in [*sends, None]:
        if group and (send is None or send.segment != group[-1].segment + 1 or send.cwnd != group[0].cwnd):
            micros = [round(1e6 * one.time) for one in group]
            gaps = " ".join(str(after - before) for before, after in itertools.pairwise(micros))
            yield f"{flow} {micros[0]} {group[0].segment} {len(group)} {group[0].cwnd:.3f} {gaps}".rstrip()
            group = []
        if send is not None:
            group.append(send)


def read_stored(case: Case) -> tuple[list[int], Trace]:
    """The drops and the sends of ns-2.

    Raises:
        StoredError: there are none, or they are of other options.
    """
    path, options = STORED / f"{case.agent}.txt.xz", f"# options {options_line(case)}"
    lines = stored_lines(path, options, "traces.toml", case.scenario)
    drops: list[int] = []
    trace: Trace = [[] for _ in range(int(case.options["flows"]))]
    for line in lines:
        if line.startswith("# drops"):
            drops = [int(number) for number in line.split()[2:]]
        elif not line.startswith("#"):
            flow, first, segment, count, cwnd, *gaps = line.split()
            time = int(first)
            for index in range(int(count)):
                time += int(gaps[index - 1]) if index else 0
                trace[int(flow)].append(Send(1e-6 * time, int(segment) + index, float(cwnd)))
    return drops, trace


# ----------------------------------------------------------------------------------------------------------- netlull


def quick_network(options: Mapping[str, Value]) -> tuple[list[str], list[dict[str, Any]]]:
    """Nodes and links of traces.tcl, where acknowledgements have no transmission time."""
    nodes, links = network(options)
    for link in links[1::2]:
        link["rate"] = "1000 Gb/s"
    return nodes, links


class Steps(netlull.RateController):
    """Changes of the rate at given times, as in ns-2, where the packet being sent keeps its old rate."""

    interval = "5 ms"
    transition = "0 s"
    steps: str = netlull.param("", doc="TIME:RATE, in s and bit/s, with spaces between.")

    def start(self, link: ControlledLink) -> None:
        """Begins at the rate of the link."""
        self.rate = link.rate
        self.left = deque(tuple(map(float, step.split(":"))) for step in self.steps.split())

    def tick(self, seen: Any) -> float:
        """Returns the rate of the last step."""
        while self.left and self.left[0][0] <= seen.now + 1e-9:
            self.rate = self.left.popleft()[1]
        return self.rate


def scenario(case: Case, drops: Sequence[int], starts: Sequence[float]) -> dict[str, Any]:
    """The case in netlull's schema. Flows open their connections at `starts` (s)."""
    options = case.options
    nodes, links = quick_network(options)
    # The SYN precedes the first data segment.
    numbers = [number + 1 for number in drops]
    if numbers:
        links[0]["loss"] = {"kind": "scripted", "drops": [{"flow": "flow0", "packets": numbers}]}
    if case.steps:
        links[0]["controller"] = Steps(steps=" ".join(f"{time}:{rate}" for time, rate in case.steps))
    flows = [
        {
            "kind": "tcp",
            "name": f"flow{flow}",
            "from": f"source{flow}",
            "to": f"sink{flow}",
            "start": milliseconds(start),
        }
        for flow, start in enumerate(starts)
    ]
    window, ssthresh = (int(options[name]) * MSS_BYTES for name in ("window", "ssthresh"))
    return {
        "name": f"{case.agent}-{case.scenario}",
        "duration": milliseconds(float(options["duration"])),
        "nodes": nodes,
        "link": links,
        "flow": flows,
        "tcp": tcp_options(case.agent) | {"receive_buffer": f"{window} B", "initial_ssthresh": f"{ssthresh} B"},
        "probe": {"segments": True, "events": True},
    }


def aligned_starts(case: Case, drops: Sequence[int], wanted: Sequence[float]) -> list[float]:
    """The connection starts at which the flows' first data leaves at `wanted` (s from `START_S`)."""
    starts = [START_S + time for time in wanted]
    for _ in range(ALIGNMENTS):
        # The duration of a handshake depends on the queue.
        early = scenario(case, drops, starts) | {"duration": f"{START_S + wanted[-1] + 5} s"}
        late = [first - time for first, time in zip(first_sends_of(early), wanted, strict=True)]
        starts = [start - by for start, by in zip(starts, late, strict=True)]
        if max(map(abs, late)) < ALIGNED_S:
            break
    return starts


def index_of(flow: object) -> int:
    """The number in a flow's name."""
    return int(str(flow).removeprefix("flow"))


def rows_of(result: netlull.Result, table: str, *columns: str) -> Iterator[tuple[Any, ...]]:
    """Some columns of a run's table, row by row."""
    found = result.series(table)
    return zip(*(found[name].to_pylist() for name in columns), strict=True)


def first_sends_of(document: Mapping[str, Any]) -> list[float]:
    """Runs a scenario; returns the time of each flow's first data (s from `START_S`)."""
    result = netlull.Scenario.from_dict(dict(document)).run(seed=1)
    firsts: dict[int, float] = {}
    for time, flow in rows_of(result, "segment", "time_s", "flow"):
        firsts.setdefault(index_of(flow), time - START_S)
        if len(firsts) == len(document["flow"]):
            break
    return [firsts[flow] for flow in range(len(firsts))]


def sends_of(document: Mapping[str, Any], inflated: bool = False) -> Trace:
    """Runs a scenario through the public API. The window is congestion control's, or `inflated` by recovery."""
    result = netlull.Scenario.from_dict(dict(document)).run(seed=1)
    changes = deque(
        (time, index_of(flow), event == "fast_retransmit")
        for time, flow, event in rows_of(result, "event", "time_s", "flow", "event")
        if event in {"fast_retransmit", "recovered", "timeout"}
    )
    trace: Trace = [[] for _ in document["flow"]]
    recovering = [False] * len(trace)
    window = "cwnd_bytes" if inflated else "control_cwnd_bytes"
    for time, name, cwnd, offset in rows_of(result, "segment", "time_s", "flow", window, "offset_bytes"):
        while changes and changes[0][0] <= time:
            _, flow, recovering_now = changes.popleft()
            recovering[flow] = recovering_now
        flow = index_of(name)
        trace[flow].append(Send(time - START_S, offset // MSS_BYTES + 1, cwnd / MSS_BYTES, recovering[flow]))
    return trace


def run_netlull(case: Case, drops: Sequence[int], ns2: Trace) -> Trace:
    """The case in netlull."""
    starts = aligned_starts(case, drops, [sends[0].time for sends in ns2])
    # In ns-2's Vegas `cwnd_` includes the additions by duplicate acknowledgements.
    return sends_of(scenario(case, drops, starts), inflated=case.agent == "vegas")


# ------------------------------------------------------------------------------------------------------- differences


@dataclass(frozen=True)
class Row:
    """The distance of a case from ns-2."""

    case: Case
    sends: tuple[int, int]
    same: int
    """Number of equal sends before the first difference."""
    time_ms: float
    """The largest difference of times among them."""
    window: float
    """The largest distance of the windows among them, in segments."""
    mean: float
    """The mean distance of the windows."""

    @property
    def known(self) -> Mapping[str, Any]:
        """The known difference, if there is one."""
        entries = DOCUMENT.get("known", [])
        mine = (self.case.agent, self.case.scenario)
        return next((entry for entry in entries if (entry["agent"], entry["scenario"]) == mine), {})

    @property
    def holds(self) -> bool:
        """True within the tolerances of `traces.toml`."""
        allowed = DOCUMENT["allowed"]
        equal = self.sends[0] == self.sends[1] == self.same
        same = self.same >= self.known["same"] if self.known else equal
        time_ms = float(self.known.get("time_ms", allowed["time_ms"]))
        window = self.known.get("window", allowed["window_linux" if self.case.is_linux else "window"])
        return same and self.time_ms <= time_ms and self.window <= window


def compare(case: Case, ns2: Trace, netlull: Trace) -> Row:
    """The comparison of all flows together."""
    same, late, distances = 0, 0.0, [0.0]
    for theirs, ours in zip(ns2, netlull, strict=True):
        for one, other in zip(theirs, ours, strict=False):
            if one.segment != other.segment:
                break
            same += 1
            late = max(late, abs(one.time - other.time))
            # While TCP/Linux halves its rate, `cwnd_` is the value after the previous acknowledgement.
            if not (case.is_linux and other.recovering):
                distances.append(abs(one.cwnd - other.cwnd))
    totals = (sum(map(len, ns2)), sum(map(len, netlull)))
    return Row(case, totals, same, 1e3 * late, max(distances), sum(distances) / len(distances))


def table(agent: str, rows: Sequence[Row]) -> str:
    """The rows of an agent as text."""
    lines = [
        f"{agent:<22}{'sends: ns-2':>11}{'netlull':>9}{'same':>8}{'time, ms':>11}{'window':>8}{'mean':>7}  verdict"
    ]
    for row in rows:
        verdict = "NOT MET" if not row.holds else f"ok: {row.known['reason']}" if row.known else "ok"
        lines.append(
            f"{row.case.scenario:22}{row.sends[0]:11}{row.sends[1]:9}{row.same:8}{row.time_ms:11.3f}"
            f"{row.window:8.2f}{row.mean:7.3f}  {verdict}",
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="*", metavar="AGENT", help=f"of {', '.join(AGENTS)}; default all")
    parser.add_argument("--scenario", action="append", help="only this one")
    parser.add_argument("--rerun", action="store_true", help="run ns-2 and rewrite the stored results first")
    chosen = parser.parse_args(arguments)
    agents = chosen.agents or AGENTS
    names = chosen.scenario or list(DOCUMENT["scenario"])
    holds = True
    try:
        if chosen.rerun:
            rerun_all(agents, names)
        for agent in agents:
            rows = []
            for name in names:
                case = Case(agent, name)
                drops, ns2 = read_stored(case)
                rows.append(compare(case, ns2, run_netlull(case, drops, ns2)))
            print(table(agent, rows), flush=True)
            holds = holds and all(row.holds for row in rows)
    except (Ns2Error, StoredError) as error:
        print(error, file=sys.stderr)
        return 2
    return verdict(holds=holds)


if __name__ == "__main__":
    sys.exit(main())
