"""Web pages through `netlulld router --mechanism lull`: `sudo python validation/linux/lull/pages.py [--netlulld FILE]`.

Builds three network namespaces, web ── 40 ms ── gate ── 20 Mb/s ── user, and loads pages with curl: a document of
20 kB, then six objects of 5 to 80 kB at the same time, then a pause. The link from gate to user is a token bucket:
always at 20 Mb/s, or under Lull. Prints the completion times of pages and the energy that Lull saves. Needs root,
curl, iproute2 and Python 3.11, nothing else; removes the namespaces at the end.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import json
import os
import random
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

RATE, BUFFER, ONE_WAY_S = "20 Mb/s", "100 kB", 0.02
OBJECTS_KB = (5, 10, 15, 25, 40, 80)
DOCUMENT_KB = 20
PAUSE_S = 1.0
"""Mean of the pauses between pages, which are exponential."""
LULL = ("--mechanism", "lull", "--set", "transition=5 ms")
RATES = 'rates={ from = "1 Mb/s", to = "20 Mb/s", step = "1 Mb/s" }'
SERVER = """
import functools, http.server, sys
http.server.ThreadingHTTPServer.request_queue_size = 128
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
http.server.ThreadingHTTPServer(("", 8000), handler).serve_forever()
"""
"""Python's own web server. By default it accepts five waiting connections, too few for parallel downloads."""
CLONE_NEWNET, TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x40000000, 0x400454CA, 1, 0x1000


def run(line: str) -> None:
    """Runs a command that must succeed."""
    subprocess.run(line.split(), check=True, capture_output=True)


def inside(namespace: str, *words: str) -> list[str]:
    """A command in a namespace."""
    return ["ip", "netns", "exec", namespace, *words]


def tun(namespace: str, device: str) -> int:
    """Opens a new TUN device in a namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    other = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        if libc.setns(other, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"namespace {namespace}")
        file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TUN | IFF_NO_PI))
        return file
    finally:
        libc.setns(own, CLONE_NEWNET)
        os.close(own)
        os.close(other)


def delay(one: int, other: int, stop: threading.Event) -> None:
    """Carries packets between two TUN devices, each `ONE_WAY_S` later."""
    lines: dict[int, tuple[int, deque[tuple[float, bytes]]]] = {one: (other, deque()), other: (one, deque())}
    while not stop.is_set():
        now = time.monotonic()
        wait = 0.05
        for to, waiting in lines.values():
            while waiting and waiting[0][0] <= now:
                os.write(to, waiting.popleft()[1])
            if waiting:
                wait = min(wait, waiting[0][0] - now)
        for file in select.select([one, other], [], [], wait)[0]:
            due = time.monotonic() + ONE_WAY_S
            while True:
                try:
                    lines[file][1].append((due, os.read(file, 65536)))
                except BlockingIOError:
                    break


@contextmanager
def network(tag: str) -> Iterator[tuple[str, str, str]]:
    """The namespaces, with a delay between web and gate."""
    names = web, gate, user = f"{tag}-web", f"{tag}-gate", f"{tag}-user"
    with ExitStack() as ends:
        for name in names:
            run(f"ip netns add {name}")
            ends.callback(run, f"ip netns del {name}")
            run(f"ip -n {name} link set lo up")
        run(f"ip netns exec {gate} sysctl -qw net.ipv4.ip_forward=1")
        run(f"ip netns exec {web} sysctl -qw net.ipv4.tcp_no_metrics_save=1")
        files = tun(web, "near"), tun(gate, "near")
        run(f"ip link add far netns {gate} type veth peer name far netns {user}")
        for name, device, address in (
            (web, "near", "10.78.1.1"),
            (gate, "near", "10.78.1.2"),
            (gate, "far", "10.78.2.2"),
            (user, "far", "10.78.2.1"),
        ):
            run(f"ip -n {name} link set {device} up gso_max_segs 1")
            run(f"ip -n {name} addr add {address}/24 dev {device}")
        run(f"ip -n {web} route add default via 10.78.1.2")
        run(f"ip -n {user} route add default via 10.78.2.2")
        stop = threading.Event()
        line = threading.Thread(target=delay, args=(*files, stop))
        line.start()
        ends.callback(line.join)
        ends.callback(stop.set)
        yield names


def fetch(user: str, sizes: tuple[int, ...]) -> float:
    """Downloads objects at the same time; returns the longest time in s."""
    objects = [word for size in sizes for word in ("-o", "/dev/null", f"http://10.78.1.1:8000/{size}kB")]
    options = ["-sS", "--fail", "--parallel", "--parallel-immediate", "--parallel-max", "6", "-w", "%{time_total}\n"]
    done = subprocess.run(inside(user, "curl", *options, *objects), check=True, capture_output=True, text=True)
    return max(float(time_s) for time_s in done.stdout.split())


def pages(user: str, count: int, seed: int) -> list[float]:
    """Loads pages with pauses; returns their completion times in s."""
    draw, times = random.Random(seed), []  # noqa: S311
    for _ in range(count):
        time.sleep(draw.expovariate(1 / PAUSE_S))
        times.append(fetch(user, (DOCUMENT_KB,)) + fetch(user, OBJECTS_KB))
    return times


def gateway(program: str, gate: str, state: str, words: tuple[str, ...]) -> subprocess.Popen[str]:
    """Starts a gateway, and waits until it controls the link."""
    command = [program, "router", "run", "--dev", "far", "--rate", RATE, "--buffer", BUFFER, "--json", *words]
    started = subprocess.Popen(
        inside(gate, *command, "--state", state), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for line in started.stderr or ():
        if "controls the device" in line:
            return started
        print(line, end="", file=sys.stderr)
    raise SystemExit("the gateway did not start")


def under(
    program: str, names: tuple[str, str, str], mode: str, given: argparse.Namespace, seed: int
) -> dict[str, object]:
    """Loads pages in one mode; returns the times and the gateway's report."""
    _, gate, user = names
    # A set of one rate is a link that is always on.
    words = (*LULL, "--set", RATES if mode == "Lull" else f'rates=["{RATE}"]')
    with tempfile.TemporaryDirectory() as state:
        started = gateway(program, gate, state, words)
        try:
            times = pages(user, given.pages, seed)
        finally:
            started.send_signal(signal.SIGTERM)
            report, _ = started.communicate()
    return {"times": times, **json.loads(report)}


def main() -> None:
    """Runs both modes, round by round, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--netlulld", default="netlulld", metavar="FILE", help="the program; default on the PATH")
    parser.add_argument("--pages", type=int, default=20, help="pages per mode and round; default 20")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of both modes; default 3")
    given = parser.parse_args()
    found: dict[str, list[dict[str, object]]] = {"always on": [], "Lull": []}
    with tempfile.TemporaryDirectory() as folder, network("lull") as names:
        for size in (DOCUMENT_KB, *OBJECTS_KB):
            Path(folder, f"{size}kB").write_bytes(bytes(1000 * size))
        words = ("-c", SERVER, folder)
        server = subprocess.Popen(
            inside(names[0], sys.executable, *words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            time.sleep(1)
            for seed in range(given.rounds):
                for mode, runs in found.items():
                    runs.append(under(given.netlulld, names, mode, given, seed))
                    print(f"round {seed + 1}: {mode} done", file=sys.stderr)
        finally:
            server.terminate()
            server.wait()
    show(found)


def show(found: dict[str, list[dict[str, object]]]) -> None:
    """Prints a Markdown table."""
    print("| link | pages | median [ms] | mean [ms] | 95 % [ms] | FS saved | drops | changes | loop late p99 [ms] |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for mode, runs in found.items():
        times = sorted(1e3 * time_s for run in runs for time_s in run["times"])  # type: ignore[attr-defined]
        total = {
            name: sum(float(str(run[name])) for run in runs)
            for name in ("energy_j", "full_energy_j", "drops", "rate_changes")
        }
        saved = 100 * (1 - total["energy_j"] / total["full_energy_j"])
        late = max(1e3 * float(str(run["loop_lateness_p99_s"])) for run in runs)
        p95 = times[max(0, -(-95 * len(times) // 100) - 1)]
        print(
            f"| {mode} | {len(times)} | {statistics.median(times):.0f} | {statistics.mean(times):.0f} | {p95:.0f} "
            f"| {saved:.0f} % | {total['drops']:.0f} | {total['rate_changes']:.0f} | {late:.2f} |"
        )


if __name__ == "__main__":
    main()
