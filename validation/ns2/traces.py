"""Compares every TCP of ns-2 with netlull's, segment by segment: `python validation/ns2/traces.py [AGENT ...]`.

Runs the scenarios of `traces.toml` for each agent in netlull and holds them against ns-2's runs in `stored/traces/`:
which segments are sent, when, and the congestion window at each. Prints a table per agent and exits 1 if a row is
neither equal nor listed in `traces.toml` with a reason. With `--rerun` ns-2 runs again and the stored results are
rewritten first; `--around N` shows N sends on both sides of a row's first difference.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents import AGENTS, is_linux, tcp_options
from ns2 import HERE, Ns2Error, Value, in_parallel, run_script
from run import megabits, milliseconds, network

if TYPE_CHECKING:
    import netlull

STORED = HERE / "stored" / "traces"
MSS_BYTES = 1460
DOCUMENT = tomllib.loads((HERE / "traces.toml").read_text())


@dataclass(frozen=True)
class Send:
    """A data segment sent: when (s, from the flow's first), its number from 1, the congestion window in segments."""

    time: float
    segment: int
    cwnd: float

    settled: bool = True
    """Neither in fast recovery nor a timer's, as netlull knows it: here the windows are compared."""


Trace = list[list[Send]]
"""The sends of each flow."""

HANDSHAKES = 4
"""Runs in search of the start of a second flow with which its data is sent when ns-2's is."""
SAME_WINDOW = 0.1
"""Windows of equal rows differ by less, in segments."""
AT_THE_END = 3
"""Sends that only one has before the run is over: handshakes take longer in the other, 12 ms with ns-2's Vegas, whose
SYN has 1500 B."""


@dataclass(frozen=True)
class Case:
    """One agent in one scenario."""

    agent: str
    scenario: str

    @property
    def path(self) -> Path:
        """Where ns-2's run is kept."""
        return STORED / self.agent / f"{self.scenario}.txt"

    @property
    def is_linux(self) -> bool:
        """Whether the agent is one of Agent/TCP/Linux."""
        return is_linux(self.agent)

    @property
    def reason(self) -> str | None:
        """Why it need not be equal."""
        for entry in DOCUMENT["reason"]:
            if self.agent in entry["agents"] and self.scenario in entry.get("scenarios", [self.scenario]):
                return str(entry["why"])
        return None

    @property
    def options(self) -> dict[str, Any]:
        """Options of common.tcl."""
        entry = dict(DOCUMENT["defaults"]) | dict(DOCUMENT["scenario"][self.scenario])
        for name in ("purpose", "drops", "steps"):
            entry.pop(name, None)
        if self.is_linux or self.agent == "vegas":
            # Agent/TCP/Linux: the first ssthresh is also the largest window that it ever uses. Agent/TCP/Vegas: its
            # records of segments have as many places, and a segment takes that of the one `window` before.
            entry["ssthresh"] = entry["window"]
        return {"flows": 1, "stagger": 0.0, "delay_access": 0.0} | entry

    @property
    def steps(self) -> list[tuple[float, float]]:
        """Changes of the rate: time (s), bit/s."""
        return [(float(time), float(rate)) for time, rate in DOCUMENT["scenario"][self.scenario].get("steps", [])]

    @property
    def drops(self) -> list[int | str]:
        """Data segments of flow 0 to lose, by the order of sending from 1."""
        drops = DOCUMENT["scenario"][self.scenario].get("drops", [])
        return list(range(drops["from"], drops["to"] + 1)) if isinstance(drops, dict) else list(drops)


# -------------------------------------------------------------------------------------------------------------- ns-2


def run_ns2(case: Case, drops: Sequence[int]) -> Trace:
    """One run of traces.tcl."""
    # To Agent/TCP/Linux the SYN is no packet of its own: its first data segment has number 0.
    first = 1 if case.is_linux else 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace"
        options: dict[str, Value] = case.options | {
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
    cwnd, start = [0.0] * flows, [0.0] * flows
    for line in text.splitlines():
        kind, time, flow, value = line.split()
        index = int(flow)
        if kind == "w":
            cwnd[index] = float(value)
        elif int(value) + first > 0:
            if not trace[index]:
                start[index] = float(time)
            trace[index].append(Send(float(time) - start[index], int(value) + first, cwnd[index]))
    return trace


def losses(case: Case, trace: Trace) -> list[int]:
    """The drops of a case; `retransmission` is the number of the first one in a run without it."""
    repeated = next((n for n, send in enumerate(trace[0], 1) if send.segment < n), 0)
    return [repeated if drop == "retransmission" else int(drop) for drop in case.drops]


def rerun(case: Case) -> None:
    """Runs ns-2 and stores what it gave."""
    known = [drop for drop in case.drops if isinstance(drop, int)]
    trace = run_ns2(case, known)
    drops = losses(case, trace)
    if drops != known:
        trace = run_ns2(case, drops)
    case.path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        f"# ns-2.35, traces.tcl, {case.agent}: {DOCUMENT['scenario'][case.scenario]['purpose']}",
        f"# options {options_line(case)}",
        f"# drops {' '.join(map(str, drops))}",
        "# a line per run of sends with one window, each of the next segment: flow, time of the first (us, from the",
        "# flow's first), its number, how many, cwnd (segments), then the us from each to the next",
    ]
    lines += [line for flow, sends in enumerate(trace) for line in packed(flow, sends)]
    case.path.write_text("\n".join(lines) + "\n")


def options_line(case: Case) -> str:
    """All options and steps, to tell whether a stored run is of this case."""
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
        Ns2Error: there is nothing, or it was run with other options.
    """
    try:
        lines = case.path.read_text().splitlines()
    except FileNotFoundError:
        raise Ns2Error(f"{case.path}: there is no such file; --rerun writes it") from None
    if f"# options {options_line(case)}" not in lines:
        raise Ns2Error(f"{case.path}: was written with other options than traces.toml has; --rerun renews it")
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


def scenario(case: Case, drops: Sequence[int], shift: float = 0.0, lead: float = 0.0) -> dict[str, Any]:
    """The case in netlull's schema: its steps come `shift` s later, its second flow `lead` s earlier."""
    options = case.options
    nodes, links = network(options)
    # The SYN goes before the first data segment.
    numbers = [number + 1 for number in drops]
    if numbers:
        links[0]["loss"] = {"kind": "scripted", "drops": [{"flow": "flow0", "packets": numbers}]}
    if case.steps:
        steps = [{"at": milliseconds(time + shift), "rate": megabits(rate)} for time, rate in case.steps]
        links[0]["capacity"] = {"kind": "steps", "steps": steps}
    flows = [
        {
            "kind": "tcp",
            "name": f"flow{flow}",
            "from": f"source{flow}",
            "to": f"sink{flow}",
            "start": milliseconds(flow * (float(options["stagger"]) - lead)),
        }
        for flow in range(int(options["flows"]))
    ]
    window, ssthresh = (int(options[name]) * MSS_BYTES for name in ("window", "ssthresh"))
    if case.is_linux and case.steps:
        # ns-2's TCP/Linux knows no receiver's window; its recovery sends on, and only cwnd is bounded.
        window *= 10
    return {
        "name": f"{case.agent}-{case.scenario}",
        "duration": milliseconds(float(options["duration"]) + shift),
        "nodes": nodes,
        "link": links,
        "flow": flows,
        "tcp": tcp_options(case.agent) | {"receive_buffer": f"{window} B", "initial_ssthresh": f"{ssthresh} B"},
        "probe": {"segments": True, "events": True},
    }


def run_netlull(case: Case, drops: Sequence[int]) -> Trace:
    """Runs the case through the public API."""
    from netlull import Scenario

    shift = lead = 0.0
    if case.is_linux:
        # ns-2's agent sends data where netlull begins with a handshake.
        alone = scenario(case, drops) | {"duration": "2 s"}
        shift = first_sends(Scenario.from_dict(alone | {"flow": alone["flow"][:1]}).run(seed=1))["flow0"]
        # The second's takes as long as the queue that it meets, which depends on when it begins.
        for _ in range(HANDSHAKES if case.options["flows"] > 1 else 0):
            sends = first_sends(Scenario.from_dict(scenario(case, drops, shift, lead)).run(seed=1))
            lead += sends["flow1"] - sends["flow0"] - float(case.options["stagger"])
    result = Scenario.from_dict(scenario(case, drops, shift, lead)).run(seed=1)
    table = result.series("segment")
    trace: Trace = [[] for _ in range(int(case.options["flows"]))]
    unsettled = [unsettled_times(result, f"flow{flow}") for flow in range(len(trace))]
    start: dict[int, float] = {}
    # What recovery adds to the window is part of `cwnd_` in these.
    inflated = case.is_linux or case.agent == "vegas"
    names = ("time_s", "flow", "offset_bytes", "cwnd_bytes" if inflated else "control_cwnd_bytes")
    for time, flow, offset, cwnd in zip(*(table[name].to_pylist() for name in names), strict=True):
        index = int(str(flow).removeprefix("flow"))
        start.setdefault(index, time)
        settled = not any(begin <= time <= end for begin, end in unsettled[index])
        trace[index].append(Send(time - start[index], offset // MSS_BYTES + 1, cwnd / MSS_BYTES, settled))
    return trace


def first_sends(result: netlull.Result) -> dict[str, float]:
    """When each flow sends its first data (s)."""
    table = result.series("segment")
    times: dict[str, float] = {}
    for time, flow in zip(table["time_s"].to_pylist(), table["flow"].to_pylist(), strict=True):
        times.setdefault(flow, time)
    return times


def unsettled_times(result: netlull.Result, flow: str) -> list[tuple[float, float]]:
    """From each fast retransmission to the end of recovery, and the instants of timeouts."""
    events = result.series("event")
    times: list[tuple[float, float]] = []
    begin: float | None = None
    for time, of, event in zip(*(events[name].to_pylist() for name in ("time_s", "flow", "event")), strict=True):
        if of != flow:
            continue
        if event == "fast_retransmit":
            begin = time if begin is None else begin
        elif begin is not None and event in ("recovered", "timeout"):
            times.append((begin, time))
            begin = None
        if event == "timeout":
            times.append((time, time))
    return times if begin is None else [*times, (begin, float("inf"))]


# ------------------------------------------------------------------------------------------------------- differences


@dataclass(frozen=True)
class Row:
    """How far a case is from ns-2."""

    case: Case
    sends: tuple[int, int]
    same: int
    """Sends before the first of another segment."""
    complete: bool
    """There is none; one may have sent a few more when the run ended."""
    time_ms: float
    """The largest difference of times among them."""
    window: float
    """The largest difference of the windows among those outside recovery, in segments."""

    @property
    def verdict(self) -> str:
        """Equal, not so with a reason, or without one."""
        if self.complete and self.window <= SAME_WINDOW:
            return "equal"
        return "listed" if self.case.reason else "NOT MET"


def compare(case: Case, ns2: Trace, netlull: Trace) -> Row:
    """All flows together."""
    same, complete, late, distance = 0, True, 0.0, 0.0
    for theirs, ours in zip(ns2, netlull, strict=True):
        count = first_difference(theirs, ours)
        same += count
        complete = complete and max(len(theirs), len(ours)) <= count + AT_THE_END
        for one, other in zip(theirs[:count], ours[:count], strict=True):
            late = max(late, abs(one.time - other.time))
            if other.settled:
                distance = max(distance, abs(one.cwnd - other.cwnd))
    return Row(case, (sum(map(len, ns2)), sum(map(len, netlull))), same, complete, 1e3 * late, distance)


def first_difference(theirs: Sequence[Send], ours: Sequence[Send]) -> int:
    """How many sends are of the same segments."""
    pairs = enumerate(zip(theirs, ours, strict=False))
    shorter = min(len(theirs), len(ours))
    return next((index for index, (one, other) in pairs if one.segment != other.segment), shorter)


HEAD = (
    f"  {'scenario':20}{'sends':>7}{'':9}{'same':>8}{'time':>10}{'window':>10}\n"
    f"  {'':20}{'ns-2':>7}{'netlull':>9}{'':8}{'ms':>10}{'segments':>10}"
)
"""Sends up to the first of another segment, and the largest differences among them; windows outside recovery."""


def table(agent: str, rows: Sequence[Row]) -> str:
    """All rows of an agent, and the reasons below."""
    lines = [f"{agent}", HEAD]
    reasons: dict[str, list[str]] = {}
    for row in rows:
        name, sends = row.case.scenario, row.sends
        shown = f"  {name:20}{sends[0]:7}{sends[1]:9}{row.same:8}{row.time_ms:10.3f}{row.window:10.2f}"
        lines.append(f"{shown}  {row.verdict}")
        if row.verdict == "listed":
            reasons.setdefault(str(row.case.reason), []).append(name)
    lines += [f"  {', '.join(names)}: {why}" for why, names in reasons.items()]
    return "\n".join(lines) + "\n"


def around(ns2: Trace, netlull: Trace, count: int) -> str:
    """The sends around the first difference of each flow, ns-2's on the left: time (s), segment, window (segments)."""

    def shown(send: Send | None) -> str:
        return f"{send.time:11.6f}{send.segment:8}{send.cwnd:10.3f}" if send else " " * 29

    lines = []
    for flow, (theirs, ours) in enumerate(zip(ns2, netlull, strict=True)):
        middle = first_difference(theirs, ours)
        lines.append(f"  flow {flow}, after {middle} sends:")
        for index in range(max(middle - count, 0), middle + count):
            pair = [shown(sends[index] if index < len(sends) else None) for sends in (theirs, ours)]
            lines.append(f"{index:8}  {pair[0]}  |{pair[1]}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="*", metavar="AGENT", help=f"of {', '.join(AGENTS)}; default all")
    parser.add_argument("--scenario", action="append", help="only this one")
    parser.add_argument("--around", type=int, metavar="N", help="show N sends before and after each first difference")
    parser.add_argument("--rerun", action="store_true", help="run ns-2 and rewrite the stored results first")
    chosen = parser.parse_args(arguments)
    agents = chosen.agents or AGENTS
    names = chosen.scenario or list(DOCUMENT["scenario"])
    try:
        if chosen.rerun:
            in_parallel(rerun, [Case(agent, name) for agent in agents for name in names])
        holds = True
        for agent in agents:
            rows, details = [], []
            for name in names:
                case = Case(agent, name)
                drops, ns2 = read_stored(case)
                trace = run_netlull(case, drops)
                rows.append(compare(case, ns2, trace))
                if chosen.around and not rows[-1].complete:
                    details.append(f"  {name}\n{around(ns2, trace, chosen.around)}\n")
            print("\n".join([table(agent, rows), *details]), flush=True)
            holds = holds and all(row.verdict != "NOT MET" for row in rows)
    except Ns2Error as error:
        print(error, file=sys.stderr)
        return 2
    print("all equal or listed" if holds else "OUT OF TOLERANCE")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
