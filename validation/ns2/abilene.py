"""Compares switched-off links on Abilene with ns-2: `python validation/ns2/abilene.py [--rerun] [--quick]`.

The case of "TCP behavior over a greened network" (2012): one TCP flow from New York to Seattle, constant background on
every link, and links that are switched off at 30 s. The paper is silent about the size and direction of the
background's packets and about the buffers: a `Reading` is one answer. ns-2's results are read from `stored/abilene.txt`
and shown next to the paper's Table IV. With `--rerun` ns-2 runs first and the file is rewritten. Then netlull runs the
reading `default` with the same starts and rates. Exits 1 if a mean over the seeds is out of its tolerance.
"""

from __future__ import annotations

import math
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents import tcp_options
from ns2 import HERE, Numbers, Value, Verdict, in_parallel, run_comparison, run_script
from scipy.stats import fisher_exact

STORED = HERE / "stored" / "abilene.txt"
SEEDS = tuple(range(1, 11))
"""Seeds of `READINGS["default"]`. Other readings have the first `FEW_SEEDS`."""
FEW_SEEDS = 1
QUICK_SEEDS = 3
TOLERANCE = 0.02
"""Relative tolerance of means over seeds, in addition to three standard errors of the difference."""
COLLAPSED_MBPS = 2.0
LEAST_CHANCE = 0.01
"""The smallest accepted probability that two counts of collapsed runs have one distribution."""

COORDINATES = {
    "ATLAM5": (-84.3833, 33.75),
    "ATLAng": (-85.50, 34.50),
    "CHINng": (-87.6167, 41.8333),
    "DNVRng": (-105.00, 40.75),
    "HSTNng": (-95.517364, 29.770031),
    "IPLSng": (-86.159535, 39.780622),
    "KSCYng": (-96.596704, 38.961694),
    "LOSAng": (-118.25, 34.05),
    "NYCMng": (-73.9667, 40.7833),
    "SNVAng": (-122.02553, 37.38575),
    "STTLng": (-122.30, 47.60),
    "WASHng": (-77.026842, 38.897303),
}
"""Longitude and latitude (degrees) of Abilene's nodes. The index of a node is its number in the paper's Fig. 1."""
NODES = tuple(COORDINATES)
LINES = (
    *((0, 1), (1, 4), (1, 5), (1, 11), (2, 5), (2, 8), (3, 6), (3, 9), (3, 10)),
    *((4, 6), (4, 7), (5, 6), (7, 9), (8, 11), (9, 10)),
)
"""Its links."""
CAPACITY_BPS = 40_000_000
BACKGROUND_BPS = 10_000_000
"""A quarter of the capacity (Table II)."""
SEGMENT_BYTES, HEADER_BYTES = 1040, 40
WINDOW_SEGMENTS = 10_000
"""`window_`, which never limits here."""
TTL_HOPS = 32
"""ns-2's default."""
TRANSITION_S = 0.03
"""Time in s until all routers have their new tables, if they get them at once (Table II)."""
SPEED_KM_PER_S = 200e3
"""Speed of light in fibre."""
EARTH_RADIUS_KM = 6371.0
OFF_S, END_S = 30.0, 60.0
BACKGROUND_START_S, START_S, START_SPREAD_S = 1.0, 1.0, 0.1

STATES = {"90": "9-10,3-9", "70": "9-10,3-9,2-8", "50": "9-10,3-9,2-8,1-5"}
"""Links that are off at each threshold of Table V (%). 60 equals 70. 80 equals 90 in the paper, and 70 by its rule."""
AGENTS = ("tahoe", "reno", "new_reno", "linux-bic", "linux-cubic", "vegas")
TABLE_IV = {
    "tahoe": {"before": 18.11, "50": 12.42, "70": 12.81, "90": 13.19},
    "reno": {"before": 20.82, "50": 15.62, "70": 15.91, "90": 16.27},
    "new_reno": {"before": 21.51, "50": 15.30, "70": 15.51, "90": 15.96},
    "linux-bic": {"before": 27.23, "50": 19.07, "70": 19.62, "90": 20.16},
    "linux-cubic": {"before": 26.26, "50": 19.96, "70": 20.19, "90": 20.49},
    "vegas": {"before": 26.72, "50": 0.1, "70": 0.32, "90": 19.02},
}
"""Mean throughput (Mb/s)."""


@dataclass(frozen=True)
class Reading:
    """An assumption where the paper is silent."""

    buffer: int = 49
    """Waiting packets at each link. 49 is ns-2's default, `limit_` 50."""
    cbr_packet: int = 210
    """Size of the background's packets (B); 210 is ns-2's default."""
    direction: str = "down"
    """Direction of the background: "down" from the end of a link with the higher number, "up", or "both"."""
    routing: str = "ls"
    """ns-2's link-state routing, or "static": all tables change 30 ms after the switch-off (Table II)."""
    ends: tuple[int, int] = (8, 10)
    """Source and destination of the TCP flow's data."""


READINGS = {
    "default": Reading(),
    "1000 B": Reading(cbr_packet=1000),
    "up": Reading(direction="up"),
    "mirror": Reading(direction="up", ends=(10, 8)),
    "both ways": Reading(direction="both"),
    "BDP": Reading(buffer=250),
    "BDP, 1000 B": Reading(buffer=250, cbr_packet=1000),
    "static": Reading(routing="static"),
    "100 packets": Reading(buffer=99),
}


@dataclass(frozen=True)
class Case:
    """A run."""

    reading: str
    agent: str
    """A kind of TCP in agents.py."""
    state: str
    """A state of `STATES`."""
    seed: int

    @property
    def read(self) -> Reading:
        """The parameters of its reading."""
        return READINGS[self.reading]


@dataclass(frozen=True)
class Background:
    """A flow of constant rate."""

    source: int
    destination: int
    start_s: float
    rate_bps: int


def distance_km(a: int, b: int) -> float:
    """Great circle between two nodes (haversine)."""
    (lon_a, lat_a), (lon_b, lat_b) = ([math.radians(x) for x in COORDINATES[NODES[n]]] for n in (a, b))
    h = math.sin((lat_b - lat_a) / 2) ** 2 + math.cos(lat_a) * math.cos(lat_b) * math.sin((lon_b - lon_a) / 2) ** 2
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(h))


def delay_ns(a: int, b: int) -> int:
    """Propagation delay of a link (ns)."""
    return round(distance_km(a, b) / SPEED_KM_PER_S * 1e9)


def background(case: Case) -> list[Background]:
    """The background of a run.

    Each flow begins at a random time in its first interval, with its own rate within 0.01 % of the nominal one.
    Otherwise a flow's packets would again and again arrive exactly at the end of a busy period that the flow itself
    began.
    """
    draw = random.Random(case.seed)  # noqa: S311
    interval_ns = case.read.cbr_packet * 8 * 1_000_000_000 // BACKGROUND_BPS
    flows = []
    for low, high in LINES:
        ways = {"up": [(low, high)], "down": [(high, low)]}.get(case.read.direction, [(low, high), (high, low)])
        for source, destination in ways:
            start_s = BACKGROUND_START_S + draw.randrange(interval_ns) * 1e-9
            rate = BACKGROUND_BPS + draw.randint(-BACKGROUND_BPS // 10_000, BACKGROUND_BPS // 10_000)
            flows.append(Background(source, destination, start_s, rate))
    return flows


def start_s(case: Case) -> float:
    """The start of the TCP flow in s."""
    return START_S + random.Random(1000 + case.seed).randrange(round(START_SPREAD_S * 1e9)) * 1e-9  # noqa: S311


def run_ns2(case: Case, extra: dict[str, Value] | None = None) -> Numbers:
    """The output of abilene.tcl."""
    with tempfile.TemporaryDirectory() as folder:
        lines, flows = Path(folder, "lines"), Path(folder, "background")
        lines.write_text("".join(f"{a} {b} {delay_ns(a, b) * 1e-9:.9f}\n" for a, b in LINES))
        flows.write_text(
            "".join(f"{f.source} {f.destination} {f.start_s:.9f} {f.rate_bps}\n" for f in background(case))
        )
        options: dict[str, Value] = {"lines": str(lines), "background": str(flows), "start": f"{start_s(case):.9f}"}
        options |= {"agent": case.agent, "off": STATES[case.state], "buffer": case.read.buffer}
        options |= {"from": case.read.ends[0], "to": case.read.ends[1]}
        options |= {"cbr_packet": case.read.cbr_packet, "routing": case.read.routing}
        return run_script("abilene.tcl", options | (extra or {}))


PERIODS = {"before": (0.0, 30.0), "after": (30.0, 60.0), "settled": (5.0, 30.0), "later": (32.0, 60.0)}
"""Periods in seconds. The paper has the first two."""
COUNTED = ("timeouts", "retransmitted", "queue_drops")
MEASURES = (
    *(f"goodput_{period}" for period in PERIODS),
    *(f"sent_{period}" for period in ("before", "after")),
    *(f"{name}_{period}" for name in COUNTED for period in ("before", "after")),
    *("down_drops", "min_cwnd", "hops"),
)
"""Goodput and sent data with headers in Mb/s; packets; the smallest window within two seconds after the switch-off."""


def measures(case: Case, printed: Numbers) -> Numbers:
    """The measures of a run, from the output of abilene.tcl."""

    def between(counter: str, period: str) -> float:
        first, last = PERIODS[period]
        return printed[f"{last:g}.{counter}"] - printed.get(f"{first:g}.{counter}", 0.0)

    def length_s(period: str) -> float:
        first, last = PERIODS[period]
        return last - max(first, start_s(case))

    payload = SEGMENT_BYTES - HEADER_BYTES
    found = {f"goodput_{p}": between("in_order", p) * payload * 8e-6 / length_s(p) for p in PERIODS}
    for period in ("before", "after"):
        found[f"sent_{period}"] = between("sent", period) * SEGMENT_BYTES * 8e-6 / length_s(period)
        found |= {f"{name}_{period}": between(name, period) for name in COUNTED}
    last = f"{END_S:g}"
    return found | {
        "down_drops": printed[f"{last}.down_drops"],
        "min_cwnd": printed["min_cwnd"],
        "hops": printed[f"{last}.hops"],
    }


def seeds_of(reading: str) -> tuple[int, ...]:
    """The seeds of a reading."""
    return SEEDS if reading == "default" else SEEDS[:FEW_SEEDS]


def cases() -> list[Case]:
    """All cases."""
    return [
        Case(reading, agent, state, seed)
        for reading in READINGS
        for agent in AGENTS
        for state in STATES
        for seed in seeds_of(reading)
    ]


def store() -> None:
    """Runs ns-2 and stores its results."""
    lines = [
        "# ns-2.35, abilene.tcl; written by abilene.py --rerun",
        f"# reading | agent | threshold | seed | {' | '.join(MEASURES)}",
    ]
    jobs = cases()
    for case, numbers in zip(jobs, in_parallel(lambda case: measures(case, run_ns2(case)), jobs), strict=True):
        fields = [case.reading, case.agent, case.state, str(case.seed)]
        lines.append(" | ".join([*fields, *(f"{numbers[name]:.5g}" for name in MEASURES)]))
    STORED.write_text("\n".join(lines) + "\n")


def read_stored(path: Path = STORED) -> dict[Case, Numbers]:
    """The stored results of ns-2."""
    found = {}
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            reading, agent, state, seed, *values = (field.strip() for field in line.split("|"))
            numbers = {name: float(value) for name, value in zip(MEASURES, values, strict=True)}
            found[Case(reading, agent, state, int(seed))] = numbers
    return found


# ----------------------------------------------------------------------------------------------------------- netlull


def netlull_scenario(case: Case, end_s: float = END_S) -> dict[str, Any]:
    """The case in netlull's schema: nodes and links are named by the paper's numbers."""
    capacity = f"{CAPACITY_BPS} b/s"
    window = f"{WINDOW_SEGMENTS * (SEGMENT_BYTES - HEADER_BYTES)} B"
    tcp = {"kind": "tcp", "name": "tcp", "start": f"{start_s(case):.9f} s"}
    tcp |= dict(zip(("from", "to"), map(str, case.read.ends), strict=True))
    document: dict[str, Any] = {
        "name": f"abilene-{case.agent}-{case.state}",
        "duration": f"{end_s} s",
        "mtu": f"{SEGMENT_BYTES} B",
        "nodes": [str(node) for node in range(len(NODES))],
        "link": [
            {
                "from": str(a),
                "to": str(b),
                "duplex": True,
                "rate": capacity,
                "delay": f"{delay_ns(a, b)} ns",
                "buffer": f"{case.read.buffer} packets",
            }
            for a, b in LINES
        ],
        "tcp": tcp_options(case.agent) | {"receive_buffer": window, "initial_ssthresh": window},
        "flow": [tcp, *(netlull_background(flow, case.read.cbr_packet) for flow in background(case))],
        "phase": [
            {"name": name, "from": f"{max(first, start_s(case)):.9f} s", "to": f"{last} s"}
            for name, (first, last) in PERIODS.items()
            if last <= end_s
        ],
    }
    if end_s <= OFF_S:
        return document
    update = (
        {"kind": "flooding", "processing": "0 s", "computation": "0 s"}
        if case.read.routing == "ls"
        else {"kind": "simultaneous", "after": f"{TRANSITION_S} s"}
    )
    return document | {
        "routing": {"metric": "hops", "ttl": TTL_HOPS, "update": update},
        "sleep": [{"at": f"{OFF_S} s", "links": STATES[case.state].split(",")}],
    }


def netlull_background(flow: Background, packet: int) -> dict[str, Any]:
    """A background flow in netlull's schema."""
    return {
        "kind": "cbr",
        "name": f"cbr-{flow.source}-{flow.destination}",
        "from": str(flow.source),
        "to": str(flow.destination),
        "rate": f"{flow.rate_bps} b/s",
        "packet": f"{packet} B",
        "start": f"{flow.start_s:.9f} s",
    }


def run_netlull(case: Case) -> Numbers:
    """Goodput before and after (Mb/s) in a run of netlull."""
    from netlull import Scenario

    result = Scenario.from_dict(netlull_scenario(case)).run(seed=case.seed)
    return {f"goodput_{p}": result.metric(f"phase.{p}.flow.tcp.goodput_bps") * 1e-6 for p in ("before", "after")}


# ------------------------------------------------------------------------------------------------------------ tables


def cell_of(state: str) -> tuple[str, str]:
    """A column of Table IV: the measure and its state."""
    return ("goodput_before", "90") if state == "before" else ("goodput_after", state)


def beside_the_paper(reading: str, stored: dict[Case, Numbers]) -> Iterator[Verdict]:
    """Means of ns-2 and their distance from Table IV, a row per version of TCP."""
    for agent, row in TABLE_IV.items():
        line = f"{reading:<13}{agent:<12}"
        for state, printed in row.items():
            measure, off = cell_of(state)
            found = [stored[Case(reading, agent, off, seed)][measure] for seed in seeds_of(reading)]
            mean = statistics.fmean(found)
            line += f"{mean:>7.2f} [{min(found):5.2f},{max(found):6.2f}]{mean / printed - 1:>+6.0%}"
        yield line, True


def beside_ns2(stored: dict[Case, Numbers], states: Sequence[str], seeds: Sequence[int]) -> Iterator[Verdict]:
    """Means of netlull next to ns-2's, a row per version of TCP and column of Table IV."""
    for agent in AGENTS:
        for off in states:
            cases = [Case("default", agent, off, seed) for seed in seeds]
            runs = in_parallel(run_netlull, cases)
            for state in ("before", off) if off == states[0] else (off,):
                measure = "goodput_before" if state == "before" else "goodput_after"
                ours, theirs = ([one[measure] for one in found] for found in (runs, [stored[case] for case in cases]))
                label = f"{agent:<12}{state:>7}"
                yield paired_line(label, ours, theirs)
                if agent == "vegas" and state != "before":
                    yield kinds_line(label, ours, theirs)


def kinds_line(label: str, ours: Sequence[float], theirs: Sequence[float]) -> Verdict:
    """The number of Vegas runs that collapsed: a mean of a quantity with two values is not useful."""
    counts = [sum(value < COLLAPSED_MBPS for value in runs) for runs in (theirs, ours)]
    chance = fisher_exact([[count, len(ours) - count] for count in counts]).pvalue
    fits = chance >= LEAST_CHANCE
    said = f"collapsed in {counts[0]} and {counts[1]} of {len(ours)} runs, Fisher's exact p {chance:.2f}"
    return f"{label}{'':>4}{said}{'' if fits else '  OUT OF TOLERANCE'}", fits


def paired_line(label: str, ours: Sequence[float], theirs: Sequence[float]) -> Verdict:
    """A line with the means of both simulators over the same seeds."""
    mean, gaps = statistics.fmean(theirs), [mine - other for mine, other in zip(ours, theirs, strict=True)]
    gap, error = statistics.fmean(gaps), statistics.stdev(gaps) / math.sqrt(len(gaps))
    fits = abs(gap) <= 3 * error + TOLERANCE * mean
    columns = "".join(f"{statistics.fmean(v):>9.3f} [{min(v):6.2f},{max(v):6.2f}]" for v in (theirs, ours))
    return f"{label}{columns}{gap:>+8.3f} +- {error:.3f}{'' if fits else '  OUT OF TOLERANCE'}", fits


def table(quick: bool) -> Iterator[Verdict]:
    """ns-2 next to the paper, then netlull next to ns-2."""
    stored = read_stored()
    columns = "".join(f"{state:>14}{'paper':>14}" for state in TABLE_IV["tahoe"])
    yield (
        f"goodput of ns-2, Mb/s: mean [least, most], distance from Table IV\n{'reading':<13}{'version':<8}{columns}",
        True,
    )
    for reading in READINGS:
        yield from beside_the_paper(reading, stored)
    yield f"\n{'version':<12}{'':>7}{'ns-2':>9}{'':16}{'netlull':>9}{'':16}{'difference':>8}", True
    yield from beside_ns2(stored, ["70"] if quick else list(STATES), SEEDS[:QUICK_SEEDS] if quick else SEEDS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command."""
    quick = f"netlull at 70 % only, the first {QUICK_SEEDS} seeds of {len(SEEDS)}"
    return run_comparison(__doc__, store, table, arguments, quick=quick)


if __name__ == "__main__":
    sys.exit(main())
