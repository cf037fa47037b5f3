"""CPU nanoseconds per packet-hop: netlull and its peers in turn on the same networks. `python benches/run.py --help`.

A packet-hop is one packet crossing one link. The simulators alternate (A B A B ...), so all of them meet the same load
of the machine. The result is the ratio within a turn, with its median and spread. The time of netlull includes checking
and building the scenario, the run, the verifier and the summary. The start and set-up of the peers are subtracted. The
peers are ns-2 and ns-3, and htsim from a checkout that `--htsim` or the variable HTSIM names. Goodput and loss must
agree; otherwise the exit code is 1. benches/README.md describes the measurement and its fairness.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import growth
from kept import keep, needs_release
from peers import (
    NS3_OPTIMISED,
    Outcome,
    PeerError,
    build_htsim,
    build_ns3,
    count_htsim_hops,
    count_ns2_hops,
    described,
    htsim_command,
    htsim_version,
    instructions_per_hop,
    ns2_command,
    ns3_command,
    ns3_version,
    run_htsim,
    run_ns2,
    run_ns3,
)
from scenarios import BENCHES, Bench, Tolerance

import netlull

if TYPE_CHECKING:
    from network import Network

# Settings of ns3/bench.cc, under which ns-3 and netlull are compared: without SACK, ns-3 loses far more.
NS3_TCP: dict[str, Any] = {
    "congestion_control": "sack",
    "delayed_ack": False,
    "timestamps": False,
    "initial_window": 2,
    "min_rto": "200 ms",
    "receive_buffer": "14600 kB",
}
# The features of htsim's TCP, under which htsim and netlull are compared.
HTSIM_TCP: dict[str, Any] = {
    "preset": "ns2",
    "limited_transmit": False,
    "partial_ack_timer": "slow_but_steady",
    "min_rto": "250 ms",
}


@dataclass(frozen=True)
class Choice:
    """The options of the command line."""

    runs: int
    peers: Sequence[str]
    quick: bool
    ns3: Path | None
    htsim: Path | None


@dataclass(frozen=True)
class Peer:
    """The result of a peer on a network: its cost in each turn, and its agreement with netlull.

    `reference_name` names netlull's run that the peer must agree with, if that run has another TCP.
    """

    name: str
    turns: list[float]
    ratios: list[float]
    outcome: Outcome
    network: Network
    reference: Outcome
    tolerance: Tolerance
    reference_name: str = ""
    reference_ns: float | None = None

    @property
    def agrees(self) -> bool:
        """Returns True if goodput and loss are within tolerance of netlull's."""
        wanted = self.reference.loss(self.network)
        lossy = abs(self.outcome.loss(self.network) - wanted)
        slower = abs(self.outcome.goodput_bps / self.reference.goodput_bps - 1)
        return slower <= self.tolerance.goodput and lossy <= max(
            self.tolerance.loss * wanted, self.tolerance.loss_floor
        )


def run_netlull(network: Network) -> Outcome:
    """Runs netlull and measures the whole run."""
    document = network.document()
    before = time.process_time()
    summary = netlull.Scenario.from_dict(document).run(seed=1).summary
    cpu_s = time.process_time() - before
    flows = summary["flows"]
    datagrams = sum(flow["delivered_bytes"] for flow in flows if flow["kind"] == "cbr")
    return Outcome(
        cpu_s,
        summary["packet_hops"],
        sum(flow["goodput_bps"] for flow in flows if flow["kind"] != "cbr"),
        sum(link["dropped_packets"] for link in summary["links"]),
        datagrams // network.cbr[0].packet_bytes if network.cbr else 0,
    )


def requests_of(network: Network) -> list[tuple[float, int]]:
    """Returns the times and sizes of netlull's requests, which the peers use too."""
    if network.requests is None:
        return []
    table = netlull.Scenario.from_dict(network.document(record_requests=True)).run(seed=1).series("request")
    return sorted(zip(table["start_s"].to_pylist(), table["size_bytes"].to_pylist(), strict=True))


def measure(bench: Bench, choice: Choice) -> tuple[list[float], Outcome, list[Peer]]:
    """Runs all turns of one network. Returns netlull's nanoseconds, its outcome, and the peers."""
    network = bench.make(bench.quick_s if choice.quick else bench.duration_s)
    requests = requests_of(network)
    equal = replace(network, tcp=HTSIM_TCP)
    own: list[Outcome] = []
    own_equal: list[Outcome] = []
    found: dict[str, list[Outcome]] = {}
    htsim: list[Outcome] = []
    with described(network, requests) as description:
        for _ in range(choice.runs):
            own.append(run_netlull(network))
            if "ns2" in choice.peers:
                for scheduler in dict.fromkeys(("Calendar", bench.ns2_quickest)):
                    found.setdefault(f"ns-2 {scheduler}", []).append(run_ns2(network, description, scheduler))
            if choice.htsim and bench.htsim:
                own_equal.append(run_netlull(equal))
                htsim.append(run_htsim(choice.htsim, network, description))
    peers = [
        Peer(name, *costs(own, outcomes), outcomes[0], network, own[0], bench.ns2) for name, outcomes in found.items()
    ]
    if bench.htsim and htsim:
        cost = statistics.median(outcome.ns_per_hop for outcome in own_equal)
        reference = ("netlull, as htsim", cost)
        peers.append(Peer("htsim", *costs(own_equal, htsim), htsim[0], network, own_equal[0], bench.htsim, *reference))
    if choice.ns3:
        peers.append(measure_ns3(bench, choice.ns3, requests, own, quick=choice.quick))
    return [outcome.ns_per_hop for outcome in own], own[0], peers


def measure_ns3(
    bench: Bench, binary: Path, requests: Sequence[tuple[float, int]], own: Sequence[Outcome], *, quick: bool
) -> Peer:
    """Runs ns-3 once, over a shorter time. It must agree with netlull with SACK over the same time."""
    network = (bench.make_ns3 or bench.make)(bench.ns3_quick_s if quick else bench.ns3_s)
    within = [request for request in requests if request[0] < network.duration_s]
    with described(network, within) as description:
        outcome = run_ns3(binary, network, description)
    reference = run_netlull(replace(network, tcp=NS3_TCP))
    title = f"ns-3.{(ns3_version() or '').split('.')[-1]}, {network.duration_s:g} s"
    ratios = [outcome.ns_per_hop / turn.ns_per_hop for turn in own]
    return Peer(title, [outcome.ns_per_hop], ratios, outcome, network, reference, bench.ns3, "netlull, SACK")


def costs(own: Sequence[Outcome], outcomes: Sequence[Outcome]) -> tuple[list[float], list[float]]:
    """Returns the nanoseconds of a peer, and their ratio to netlull's in the same turn."""
    turns = [outcome.ns_per_hop for outcome in outcomes]
    return turns, [theirs / mine.ns_per_hop for mine, theirs in zip(own, turns, strict=True)]


def rows(
    bench: Bench, own_ns: Sequence[float], own: Outcome, peers: Sequence[Peer], duration_s: float
) -> Iterator[str]:
    """Yields the table of one network."""
    yield f"{bench.title}, {duration_s:g} s: {own.packet_hops:,} packet-hops"
    network = bench.make(duration_s)
    set_up_s = run_netlull(network.set_up_only()).cpu_s
    yield (
        f"  {'netlull':<18} {statistics.median(own_ns):8.1f} ns   {behaviour(own, network)}"
        f"  set-up included, {set_up_s:.3f} s"
    )
    for peer in peers:
        ratios = sorted(peer.ratios)
        line = (
            f"  {peer.name:<18} {statistics.median(peer.turns):8.1f} ns   {behaviour(peer.outcome, peer.network)}"
            f"  {'agree ' if peer.agrees else 'DIFFER'}  ratio {statistics.median(ratios):6.2f}"
            f"  ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        )
        if peer.name.startswith("ns-3"):
            line += f"; optimised build (/ {NS3_OPTIMISED}) {statistics.median(ratios) / NS3_OPTIMISED:.1f}"
        if peer.reference_name:
            cost = f"{peer.reference_ns:8.1f} ns" if peer.reference_ns is not None else f"{'':11}"
            yield f"  {peer.reference_name:<18} {cost}   {behaviour(peer.reference, peer.network)}"
        yield line


def behaviour(outcome: Outcome, network: Network) -> str:
    """Returns goodput and loss as text."""
    return f"goodput {outcome.goodput_bps / 1e6:9.3f} Mb/s  loss {100 * outcome.loss(network):7.4f} %"


def run_benches(names: Sequence[str], choice: Choice) -> Iterator[tuple[str, bool]]:
    """Yields each line of the table, and True if the peers agree."""
    mode = "; short runs, no figures to quote" if choice.quick else ""
    yield f"CPU ns per packet-hop, median of {choice.runs} turns; netlull {netlull.__version__}, ns-2.35{mode}", True
    for bench in BENCHES:
        if bench.name not in names:
            continue
        duration_s = bench.quick_s if choice.quick else bench.duration_s
        try:
            own_ns, own, peers = measure(bench, choice)
        except netlull.ScenarioError as error:
            if bench.make(duration_s).requests is None:
                raise
            yield f"{bench.title}: skipped, because this version of netlull has no requests ({error})", True
            continue
        fine = all(peer.agrees for peer in peers)
        for line in rows(bench, own_ns, own, peers, duration_s):
            yield line, fine
        if choice.htsim and not bench.htsim:
            yield f"  {'htsim':<18} {'-':>8}      skipped: its program runs endless TCP transfers only", True


def check_hops(names: Sequence[str], peers: Sequence[str], htsim: Path | None) -> None:
    """Compares the computed packet-hops of ns-2 and htsim with a count packet by packet, in short runs."""
    for bench in BENCHES:
        if bench.name not in names:
            continue
        network = bench.make(bench.quick_s)
        with described(network, requests_of(network)) as description:
            counts = {"ns-2": count_ns2_hops(network, description)} if "ns2" in peers else {}
            if htsim and bench.htsim:
                counts["htsim"] = count_htsim_hops(htsim, network, description)
        for name, (summed, counted) in counts.items():
            print(f"{bench.title}, {bench.quick_s:g} s, {name}: {summed:,} computed, {counted:,} counted", flush=True)


def count_instructions(names: Sequence[str], peers: Sequence[str], ns3: Path | None, htsim: Path | None) -> None:
    """Counts the peers' instructions per packet-hop."""
    for bench in BENCHES:
        if bench.name not in names or bench.counted_s is None:
            continue
        network = bench.make(bench.counted_s[1])
        with described(network) as description, described((bench.make_ns3 or bench.make)(bench.counted_s[1])) as fewer:
            commands: dict[str, tuple[list[str], str]] = {}
            if "ns2" in peers:
                commands["ns-2"] = (ns2_command(network, description, "Calendar"), "duration={}")
            if htsim:
                commands["htsim"] = (htsim_command(htsim, network, description), "--duration={}")
            if ns3:
                commands["ns-3"] = (ns3_command(ns3, network, fewer), "--duration={}")
            for name, (command, duration) in commands.items():
                cost = instructions_per_hop(command, duration, *bench.counted_s)
                shorter_s, longer_s = bench.counted_s
                print(f"{bench.title}, {shorter_s:g} to {longer_s:g} s, {name}: {cost:,.0f} instructions", flush=True)


def chosen_peers(text: str) -> list[str]:
    """Splits a list of names at its commas.

    Raises:
        PeerError: a name is unknown.
    """
    names = [name for name in text.split(",") if name not in ("", "none")]
    unknown = [name for name in names if name not in ("ns2", "ns3")]
    if unknown:
        raise PeerError(f"--peers: {unknown[0]!r} is unknown; expected ns2, ns3, ns2,ns3 or none")
    return names


def arguments() -> argparse.Namespace:
    """Parses the command line."""
    names = [bench.name for bench in BENCHES]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, help="turns of netlull and ns-2 (default 5; with --quick 1); ns-3 has one")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=f"some of {', '.join(names)}")
    parser.add_argument("--peers", default="ns2,ns3", help="ns2,ns3 (default), one of them, or none")
    parser.add_argument(
        "--htsim",
        type=Path,
        metavar="DIR",
        default=os.environ.get("HTSIM") or None,
        help="a checkout of csg-htsim, to be compiled and measured (default: the variable HTSIM, else none)",
    )
    parser.add_argument("--quick", action="store_true", help="short runs, in a minute or two")
    parser.add_argument("--growth", action="store_true", help="also measure time and memory from 1 to 10,000 flows")
    parser.add_argument("--growth-only", action="store_true", help="only measure growth from 1 to 10,000 flows")
    parser.add_argument("--check-hops", action="store_true", help="only compare packet-hops of peers with a count")
    parser.add_argument("--instructions", action="store_true", help="only count instructions of peers under callgrind")
    parser.add_argument("--store", action="store_true", help="write the tables to benches/runs/DATE/")
    return parser.parse_args()


def htsim_note(checkout: Path | None) -> str:
    """Returns a line that names the measured htsim, or says that there is none."""
    if checkout is None:
        return "htsim is skipped: name a checkout of csg-htsim with --htsim DIR, or with make bench HTSIM=DIR"
    return f"htsim {htsim_version(checkout)}, compiled by its Makefile without assertions"


def note(kept: dict[str, list[str]], line: str, table: str = "bench.txt") -> None:
    """Prints a line and keeps it for its table."""
    print(line, flush=True)
    kept.setdefault(table, []).append(line)


def main() -> int:
    """Prints the tables. Returns 1 if a peer disagrees, 2 if one is missing or fails."""
    given = arguments()
    if not given.quick:
        needs_release()
    kept: dict[str, list[str]] = {}
    good = True
    names = given.only or [bench.name for bench in BENCHES]
    with tempfile.TemporaryDirectory() as folder:
        try:
            peers = chosen_peers(given.peers)
            measured = not given.growth_only
            htsim = build_htsim(given.htsim, Path(folder)) if given.htsim and measured else None
            if given.check_hops:
                check_hops(names, peers, htsim)
                return 0
            binary = build_ns3(Path(folder)) if "ns3" in peers and measured else None
            if given.instructions:
                count_instructions(names, peers, binary, htsim)
                return 0
            if measured:
                run_netlull(BENCHES[0].make(1.0))  # loads the late imports
                note(kept, htsim_note(given.htsim))
                choice = Choice(max(1, given.runs or (1 if given.quick else 5)), peers, given.quick, binary, htsim)
                for line, fine in run_benches(names, choice):
                    note(kept, line)
                    good = good and fine
            if given.growth or given.growth_only:
                for line in growth.table(quick=given.quick):
                    note(kept, line, "growth.txt")
        except PeerError as error:
            print(error, file=sys.stderr)
            return 2
    if given.store:
        keep(kept)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
