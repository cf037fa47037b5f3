"""Runs ns-2, ns-3 and htsim on a network and measures the CPU time of the process, as reported by the kernel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from network import HEADERS_BYTES, SET_UP_ONLY_S, Network

HERE = Path(__file__).resolve().parent
NS2_SCRIPT = HERE / "ns2" / "bench.tcl"
NS3_PROGRAM = HERE / "ns3" / "bench.cc"
NS3_HEADER = Path("/usr/include/ns3/version-defines.h")
NS3_LIBRARIES = ("core", "network", "internet", "point-to-point")
NS3_OPTIMISED = 1.76
HTSIM_PROGRAM = HERE / "htsim" / "bench.cc"


class PeerError(Exception):
    """A simulator is missing or failed."""


@dataclass(frozen=True)
class Outcome:
    """The results of a simulator on a network, and its CPU time in seconds."""

    cpu_s: float
    packet_hops: int
    goodput_bps: float
    drops: int
    datagrams: int

    @property
    def ns_per_hop(self) -> float:
        """Returns the CPU nanoseconds per packet-hop."""
        return self.cpu_s * 1e9 / self.packet_hops

    def loss(self, network: Network) -> float:
        """Returns drops divided by the sum of drops and delivered packets, without duplicates of delivered data."""
        delivered = self.goodput_bps * network.duration_s / 8 / network.mss + self.datagrams
        return self.drops / (self.drops + delivered)


@contextmanager
def described(network: Network, requests: Sequence[tuple[float, int]] = ()) -> Iterator[Path]:
    """Writes the network to a temporary file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.txt"
        path.write_text(network.peer_text(requests))
        yield path


def weigh(command: Sequence[str]) -> tuple[float, str]:
    """Runs a process and returns its CPU seconds, user and system, and its output.

    Raises:
        PeerError: the process failed, or could not be started.
    """
    try:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    except FileNotFoundError as error:
        raise PeerError(f"{command[0]}: {error.strerror}") from None
    with child:
        text = child.stdout.read() if child.stdout else ""
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise PeerError(f"{' '.join(command)}: exit code {child.returncode}")
    return used.ru_utime + used.ru_stime, text


def run_ns2(network: Network, description: Path, scheduler: str) -> Outcome:
    """Runs ns-2 with one of its event queues. The time of start and set-up is subtracted."""
    return run(ns2_command(network, description, scheduler), "duration={}", network.duration_s)


def ns2_command(network: Network, description: Path, scheduler: str) -> list[str]:
    """Returns the command of ns-2 without the duration."""
    packet = network.mss + HEADERS_BYTES
    options = {"network": description, "packet": packet, "ssthresh": network.ssthresh or 0, "scheduler": scheduler}
    return ["ns", str(NS2_SCRIPT), *(f"{name}={value}" for name, value in options.items())]


def run_ns3(binary: Path, network: Network, description: Path) -> Outcome:
    """Runs ns-3. The time of start and set-up is subtracted."""
    return run(ns3_command(binary, network, description), "--duration={}", network.duration_s)


def ns3_command(binary: Path, network: Network, description: Path) -> list[str]:
    """Returns the command of ns-3 without the duration."""
    ssthresh = network.ssthresh or 0
    # Data in the send buffer takes memory. This limit is enough for any window that occurs.
    options = {"network": description, "mss": network.mss, "ssthresh": ssthresh, "window": 4 * ssthresh or 400}
    return [str(binary), *(f"--{name}={value}" for name, value in options.items())]


def run_htsim(binary: Path, network: Network, description: Path) -> Outcome:
    """Runs htsim. The time of start and set-up is subtracted."""
    return run(htsim_command(binary, network, description), "--duration={}", network.duration_s)


def htsim_command(binary: Path, network: Network, description: Path) -> list[str]:
    """Returns the command of htsim without the duration."""
    packet = network.mss + HEADERS_BYTES
    options = {"network": description, "packet": packet, "ssthresh": network.ssthresh or 0}
    return [str(binary), *(f"--{name}={value}" for name, value in options.items())]


def run(command: Sequence[str], duration: str, duration_s: float) -> Outcome:
    """Measures a run, and subtracts the cost of a run with almost no simulated time."""
    set_up_s, _ = weigh([*command, duration.format(SET_UP_ONLY_S)])
    cpu_s, text = weigh([*command, duration.format(duration_s)])
    numbers = read_numbers(text)
    return Outcome(
        cpu_s - set_up_s,
        int(numbers["packet_hops"]),
        numbers["goodput_bps"],
        int(numbers["drops"]),
        int(numbers["datagrams"]),
    )


def instructions_per_hop(command: Sequence[str], duration: str, shorter_s: float, longer_s: float) -> float:
    """Returns the instructions per packet-hop under callgrind: those of a longer run less those of a shorter one."""
    runs = []
    for duration_s in (shorter_s, longer_s):
        whole = [*command, duration.format(duration_s)]
        valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *whole]
        try:
            done = subprocess.run(valgrind, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise PeerError("valgrind is not installed (Debian: apt-get install valgrind)") from None
        counted = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode != 0 or counted is None:
            raise PeerError(f"{' '.join(valgrind)}: exit code {done.returncode}\n{done.stderr}")
        runs.append((int(counted[1]), int(read_numbers(done.stdout)["packet_hops"])))
    (fewer, fewer_hops), (more, more_hops) = runs
    return (more - fewer) / (more_hops - fewer_hops)


def read_numbers(text: str) -> dict[str, float]:
    """Reads a name and a number per line."""
    return {name: float(value) for name, value in (line.split() for line in text.splitlines())}


def count_ns2_hops(network: Network, description: Path) -> tuple[int, int]:
    """Returns ns-2's packet-hops as computed at the end, and as counted by monitors on all its links."""
    command = ns2_command(network, description, "Calendar")
    return count_hops([*command, f"duration={network.duration_s}", "count=1"])


def count_htsim_hops(binary: Path, network: Network, description: Path) -> tuple[int, int]:
    """Returns htsim's packet-hops as computed at the end, and as counted by all its queues."""
    command = htsim_command(binary, network, description)
    return count_hops([*command, f"--duration={network.duration_s}", "--count=1"])


def count_hops(command: Sequence[str]) -> tuple[int, int]:
    """Returns the packet-hops that a command computes at the end, and those that it counts."""
    numbers = read_numbers(weigh(command)[1])
    return int(numbers["packet_hops"]), int(numbers["counted_hops"])


def ns3_version() -> str | None:
    """Returns the installed version of the Debian package, such as `3.37`; None without it."""
    if not NS3_HEADER.exists():
        return None
    parts = dict(re.findall(r"#define NS3_VERSION_(MAJOR|MINOR) (\d+)", NS3_HEADER.read_text()))
    return f"{parts['MAJOR']}.{parts['MINOR']}"


def build_ns3(folder: Path) -> Path:
    """Compiles the program for ns-3 into a folder.

    Raises:
        PeerError: ns-3 or the compiler is missing, or the program does not compile.
    """
    if ns3_version() is None:
        raise PeerError("ns-3 is not installed (Debian: apt-get install libns3-dev g++)")
    binary = folder / "bench"
    libraries = [f"-lns3-{name}" for name in NS3_LIBRARIES]
    weigh(["g++", "-O3", "-std=c++17", "-Wall", "-Wextra", str(NS3_PROGRAM), "-o", str(binary), *libraries])
    return binary


def build_htsim(checkout: Path, folder: Path) -> Path:
    """Compiles a copy of a checkout of htsim, then the program for it, into a folder.

    The flags are those of htsim's own Makefile. Only its assertions are compiled out.

    Raises:
        PeerError: the checkout or a tool is missing, or htsim or the program does not compile.
    """
    if not (checkout / "sim" / "Makefile").exists():
        raise PeerError(f"--htsim: {checkout}/sim/Makefile is missing; expected a checkout of csg-htsim")
    copy = folder / "htsim"
    shutil.copytree(checkout / "sim", copy, ignore=shutil.ignore_patterns("*.o", "*.a", "EXAMPLES"))
    jobs = len(os.sched_getaffinity(0))
    compile_quietly(["make", "-C", str(copy), f"--jobs={jobs}", "CC=g++ -DNDEBUG", "libhtsim.a"])
    binary = folder / "bench-htsim"
    # Warnings of htsim's headers are off, those of the program are on.
    flags = ["-O3", "-DNDEBUG", "-std=c++14", "-Wall", "-Wextra", "-isystem", str(copy)]
    compile_quietly(["g++", *flags, str(HTSIM_PROGRAM), str(copy / "libhtsim.a"), "-o", str(binary)])
    return binary


def compile_quietly(command: Sequence[str]) -> None:
    """Runs a compiler or make, and shows its output only if it fails.

    Raises:
        PeerError: the command failed, or could not be started.
    """
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    except FileNotFoundError as error:
        raise PeerError(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        raise PeerError(f"{done.stdout}{' '.join(command)}: exit code {done.returncode}")


def htsim_version(checkout: Path) -> str:
    """Returns the commit of a checkout of htsim."""
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "of unknown commit"
