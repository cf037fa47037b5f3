"""`netlulld client` on real packets: `python validation/linux/daemon/run.py`.

Prints the table of the stored downloads (stored/downloads.json). `--measure` downloads again, in real time: it needs
root, netlulld, iptables, and writes results.md and stored/downloads.json.

**Criteria**, fixed before the first measurement:

- Paths: the paper's grid of 20 emulated paths (30, 60, 90, 120 ms; 0, 0.1, 0.25, 0.5, 1 % of loss; 4.5 MB; windows
  of 32 KiB) and its seven sites, with gamma noise of 2 % of the round trip and 20 Mb/s of air. Each with Linux's Reno
  and CUBIC: 54 cells.
- A pair is two downloads of one cell and seed, each in new namespaces and over a new path: one with
  `--mechanism eager` (the paper's baseline), one with `netlulld client`'s default shaper. Both drop packets that
  arrive while the radio sleeps. The daemon meters time and energy of both (radio `wavelan-dsss`).
- Each cell has 5 pairs, seeds 1 to 5. The order is seed by seed, so an early end leaves fewer pairs in each cell.
- A download is late if more than 1 % of the path's packets are later than 1 ms, or if the daemon waits for a processor
  for more than 0.2 ms on average. A late download is repeated with its seed, up to four attempts. After four late
  attempts its pair does not count. Missed packets, fallbacks and durations exclude nothing.
- A download counts if all bytes arrived. An incomplete one is repeated once, with 120 s. If that fails as well, its
  pair does not count, and the table says so.
- The measure of a cell is the mean over pairs of energy x delay with the shaper over energy x delay of eager, with the
  95 % interval of Student's t. A cell saves if the interval lies below 1, and costs if it lies above 1.
- The mean of the grid, or of the sites, is the mean over cells, seed by seed; its interval is that of the seeds.

Added when the 54 cells had been measured: 16 cells of the grid (0 and 1 % of loss) without the limit of 32 KiB. The
client's kernel then chooses its windows, with window scaling. All other criteria are the same.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any

FOLDER = Path(__file__).parent
sys.path += [str(FOLDER.parent), str(FOLDER.parent / "client")]  # the paths of the paper's figures
from paths import BASE, LIVE, LOSSES, ROUND_TRIPS, SITES, Case, emulated_path  # noqa: E402  # they are not installed

from netlull import EmulationError, Scenario  # noqa: E402
from netlull.emulation import find_program  # noqa: E402
from netlull.quantities import in_unit  # noqa: E402
from netlull.stats import Interval, mean_interval  # noqa: E402

STORED = FOLDER / "stored" / "downloads.json"
RESULTS = FOLDER / "results.md"
INSIDE = FOLDER.parent / "client" / "stored" / "emulated.json"
"""The same downloads with the machine inside the emulation, one run of each."""
SENDERS = ("reno", "cubic")
SEEDS = (1, 2, 3, 4, 5)
RADIO = "wavelan-dsss"
LATEST_S, LONGEST_WAIT_S = 1e-3, 0.2e-3
"""The limits of lateness: of 99 % of packets, and of the daemon's mean wait for a processor."""
ATTEMPTS = 4
LONGEST_S = 120.0
START_S, SPARE_SHARE, SPARE_S = 5.0, 1.25, 2.0
"""The time for namespaces and programs to start, and spare time over the expected download."""
REAL_TIME = ("chrt", "--fifo", "30")
"""The scheduling of server, daemon and client. netlulld raises its own priority: the daemon to 40, the path to 50."""
ENDS = (*REAL_TIME, sys.executable, str(FOLDER / "hosts.py"))
WORDS = {True: "saves", False: "costs", None: "undecided"}


@dataclass(frozen=True)
class Download:
    """The measurements of a download by the daemon, and of its conditions."""

    cell: str
    way: str
    seed: int
    size: int
    """The bytes of the file."""
    received: int
    seconds: float
    """First SYN to FIN."""
    energy_j: float
    product_js: float
    """Energy x delay."""
    asleep_s: float
    missed: int
    """Packets that arrived while the radio slept, and were dropped."""
    packets: int
    bursts: int
    resent_opens: int
    fallback: str
    late_s: float
    """The lateness that 99 % of the path's packets did not exceed."""
    latest_s: float
    wait_s: float
    """The mean time for which the daemon was ready and had no processor."""
    load: float
    """The machine's load average over a minute, at the end."""
    attempt: int
    kernel: str
    processors: int

    @property
    def is_late(self) -> bool:
        """True if the machine was too busy for a valid run."""
        return self.late_s > LATEST_S or self.wait_s > LONGEST_WAIT_S

    @property
    def is_whole(self) -> bool:
        """True if all bytes arrived."""
        return self.received == self.size and not math.isnan(self.seconds)


# Measurement


@dataclass(frozen=True)
class OwnWindow(Case):
    """A download with the windows of the client's kernel."""

    def scenario(self, duration_s: float = LONGEST_S) -> Scenario:
        """The path, between hosts that may scale their windows."""
        return super().scenario(duration_s).with_values({"tcp.window_scaling": True, "tcp.receive_buffer": "6 MiB"})


def cells() -> list[Case]:
    """The cells, in the order of the table."""
    grid = [emulated_path(round_trip, loss) for round_trip in ROUND_TRIPS for loss in LOSSES]
    ends = [emulated_path(round_trip, loss) for round_trip in ROUND_TRIPS for loss in (LOSSES[0], LOSSES[-1])]
    found = [Case(path, sender, LIVE) for path in (*grid, *SITES) for sender in SENDERS]
    return [*found, *(OwnWindow(path, sender, LIVE) for path in ends for sender in SENDERS)]


def cell_of(case: Case) -> str:
    """The name of a cell: path and sender."""
    return f"{case.path}/{case.sender}{'/own-window' if isinstance(case, OwnWindow) else ''}"


def bytes_of(quantity: str) -> int:
    """A size such as `4.5 MB` in bytes."""
    return round(in_unit(quantity, "B") or 0.0)


def inside() -> dict[str, Mapping[str, Any]]:
    """The runs with the machine inside the emulation, by the names of their cases."""
    document = json.loads(INSIDE.read_text(encoding="utf-8"))
    return {name: case["runs"][0] for name, case in document.items()}


def download(case: Case, seed: int, name: str, longest_s: float) -> Download:
    """Downloads once, over a path between two new namespaces whose names begin with `name`."""
    with tempfile.TemporaryDirectory() as folder, namespaces(name) as (server, client):
        report, ended = Path(folder, "report.json"), START_S + longest_s
        values: dict[str, object] = {
            # A flow makes the routes and the hosts' TCP settings. This one begins after the download.
            "flow.download.size": "1 kB",
            "flow.download.start": f"{ended - 1:g} s",
            "flow.download.jitter": None,
            "duration": f"{ended:g} s",
        }
        path = replace(case, way="always_on").scenario(ended)
        size, window = bytes_of(path.to_dict()["flow"][0]["size"]), bytes_of(path.to_dict()["tcp"]["receive_buffer"])
        window = 0 if isinstance(case, OwnWindow) else window
        scenario = path.with_values(values)
        with ThreadPoolExecutor(1) as pool, process(in_real_time(server, "serve", case.sender)):
            attach = {"server": server, "client": client}
            emulation = pool.submit(scenario.emulate, seed, max_lateness="100 s", attach=attach)
            until(lambda: device_is_up(client) or emulation.done(), "the path is there")
            mechanism = "eager" if case.way == BASE else "client-shaper"
            options = ["--dev", "netlull", "--air-rate", "20 Mb/s", "--drop-asleep", "--mechanism", mechanism]
            fetch = [*ENDS, "fetch", "10.200.0.0", str(size), str(window), f"{longest_s:g}"]
            daemon = [str(find_program()), "client", "run", *options, "--radio", RADIO, "--report", str(report)]
            command = ["ip", "netns", "exec", client, *REAL_TIME, *daemon, "--", *fetch]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            account = emulation.result().emulation
        if done.returncode or account is None:
            raise EmulationError(f"{cell_of(case)}: the daemon ended with {done.returncode}: {done.stderr.strip()}")
        said = {"size": size, **json.loads(done.stdout)}
        return measured(case, seed, said, json.loads(report.read_text(encoding="utf-8")), account)


def measured(
    case: Case, seed: int, fetched: Mapping[str, Any], report: Mapping[str, Any], account: Mapping[str, Any]
) -> Download:
    """The values of a download, from the client's, the daemon's and the path's own reports."""
    if not report["downloads"]:
        raise EmulationError("the client received no data")
    one = report["downloads"][0]
    whole = one["complete"]
    return Download(
        cell=cell_of(case),
        way=case.way,
        seed=seed,
        size=fetched["size"],
        received=fetched["received"],
        seconds=one["seconds"] if whole else math.nan,
        energy_j=one["energy_j"][RADIO] if whole else math.nan,
        product_js=one["energy_delay_js"][RADIO] if whole else math.nan,
        asleep_s=one["asleep_s"],
        missed=report["missed_packets"],
        packets=report["received_packets"],
        bursts=one.get("bursts") or 0,
        resent_opens=one.get("resent_opens") or 0,
        fallback=one.get("fallback") or "",
        late_s=account["lateness"]["p99_s"],
        latest_s=account["lateness"]["max_s"],
        wait_s=fetched["waited_s"] / max(1, fetched["turns"]),
        load=os.getloadavg()[0],
        attempt=1,
        kernel=account["system"]["kernel"],
        processors=os.cpu_count() or 0,
    )


@contextmanager
def namespaces(name: str) -> Iterator[tuple[str, str]]:
    """Two namespaces without IPv6 and without memory of earlier connections, removed at the end."""
    both = f"{name}s", f"{name}c"
    settings = ["net.ipv6.conf.all.disable_ipv6=1", "net.ipv4.tcp_no_metrics_save=1"]
    # A socket that begins as bbr, the system's default, stays paced.
    settings += ["net.ipv4.tcp_congestion_control=reno"]
    try:
        for one in both:
            subprocess.run(["ip", "netns", "add", one], check=True)
            subprocess.run(["ip", "netns", "exec", one, "sysctl", "-q", "-w", *settings], check=True)
        yield both
    finally:
        for one in both:
            subprocess.run(["ip", "netns", "del", one], check=False, stderr=subprocess.DEVNULL)


def in_real_time(namespace: str, *words: str) -> list[str]:
    """The command that runs `hosts.py` in a namespace, in real time."""
    return ["ip", "netns", "exec", namespace, *ENDS, *words]


@contextmanager
def process(command: Sequence[str]) -> Iterator[None]:
    """A process that ends with the block. The block begins after the first line of its output."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        try:
            if running.stdout is not None:
                running.stdout.readline()
            yield
        finally:
            running.terminate()


def device_is_up(namespace: str) -> bool:
    """True if the path has made its device in a namespace."""
    command = ["ip", "-n", namespace, "link", "show", "netlull", "up"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0 and bool(done.stdout)


def until(holds: Callable[[], bool], what: str) -> None:
    """Waits until a condition holds."""
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    raise EmulationError(f"30 s later it is not so that {what}")


def valid(case: Case, seed: int, name: str, expected_s: float) -> list[Download]:
    """All attempts at a download; only the last can be valid."""
    found: list[Download] = []
    longest_s = min(LONGEST_S, SPARE_SHARE * expected_s + SPARE_S)
    for attempt in range(1, ATTEMPTS + 1):
        one = replace(download(case, seed, name, longest_s), attempt=attempt)
        found.append(one)
        if not one.is_whole and longest_s < LONGEST_S:
            longest_s = LONGEST_S
        elif not one.is_late:
            break
    return found


def measure(given: argparse.Namespace) -> None:
    """Measures pair after pair, and stores after each."""
    known, found = inside(), read() if given.resume else []
    there = {(one.cell, one.way, one.seed) for one in found}
    jobs = [
        (replace(case, way=way), seed)
        for seed in SEEDS[: given.seeds]
        for case in cells()
        for way in (BASE, LIVE)
        if cell_of(case).startswith(given.path) and (cell_of(case), way, seed) not in there
    ]
    ends = time.monotonic() + 60 * given.minutes
    slots: SimpleQueue[int] = SimpleQueue()
    for slot in range(given.jobs):
        slots.put(slot)
    lock = Lock()

    def one(job: tuple[Case, int]) -> None:
        case, seed = job
        expected_s = known[case.name]["seconds"]
        if time.monotonic() + expected_s > ends:
            return
        slot = slots.get()
        try:
            attempts = valid(case, seed, f"nld{os.getpid()}-{slot}", expected_s)
        except (EmulationError, OSError, ValueError, LookupError, subprocess.CalledProcessError) as error:
            print(f"{case.name}, seed {seed}: {error}", file=sys.stderr)
            return
        finally:
            slots.put(slot)
        with lock:
            found.extend(attempts)
            write(found)
            last = attempts[-1]
            print(
                f"{case.name}, seed {seed}: {last.seconds:.2f} s, {last.energy_j:.2f} J, missed {last.missed}, "
                f"late {1e3 * last.late_s:.2f} ms, wait {1e3 * last.wait_s:.3f} ms, attempt {last.attempt}",
                file=sys.stderr,
            )

    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(one, jobs))


def write(found: Sequence[Download]) -> None:
    """Writes a line per download, in the order of the table."""
    order = {cell_of(case): index for index, case in enumerate(cells())}
    lines = sorted(found, key=lambda one: (order[one.cell], one.seed, one.way, one.attempt))
    STORED.parent.mkdir(exist_ok=True)
    STORED.write_text(
        "[\n" + ",\n".join(json.dumps({k: _digits(v) for k, v in asdict(one).items()}) for one in lines) + "\n]\n",
        encoding="utf-8",
    )


def _digits(value: object) -> object:
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.6g}")
    return value


def read() -> list[Download]:
    """The stored downloads."""
    if not STORED.exists():
        return []
    document = json.loads(STORED.read_text(encoding="utf-8"))
    values: list[dict[str, Any]] = [{k: math.nan if v is None else v for k, v in one.items()} for one in document]
    return [Download(**one) for one in values]


# Report


@dataclass(frozen=True)
class Pair:
    """Two valid downloads of one cell and seed."""

    eager: Download
    shaped: Download

    @property
    def product(self) -> float:
        """Energy x delay relative to eager."""
        return self.shaped.product_js / self.eager.product_js

    @property
    def time(self) -> float:
        """Time relative to eager."""
        return self.shaped.seconds / self.eager.seconds

    @property
    def energy(self) -> float:
        """Energy relative to eager."""
        return self.shaped.energy_j / self.eager.energy_j


@dataclass(frozen=True)
class Cell:
    """A path and a sender, with their valid pairs by seed."""

    case: Case
    pairs: Mapping[int, Pair]
    inside: float
    """Energy x delay relative to eager with the machine inside the emulation, one run; NaN without one."""

    def over(self, value: Callable[[Pair], float]) -> Interval:
        """The mean of a value over the pairs."""
        return mean_interval([value(pair) for pair in self.pairs.values()])

    @property
    def product(self) -> Interval:
        """Energy x delay relative to eager."""
        return self.over(lambda pair: pair.product)

    @property
    def saves(self) -> bool | None:
        """True if it saves, False if it costs, None if the interval has 1 inside."""
        return self.product.mean < 1 if self.product.excludes(1) else None

    def cells(self) -> list[str]:
        """The cells of its row."""
        time, energy, eager = self.over(lambda pair: pair.time), self.over(lambda pair: pair.energy), self.pairs
        seconds = statistics.mean(pair.eager.seconds for pair in eager.values())
        fallbacks = sorted({pair.shaped.fallback for pair in eager.values()} - {""})
        return [
            cell_of(self.case),
            str(len(self.pairs)),
            f"{seconds:.2f}",
            _interval(time),
            _interval(energy),
            _interval(self.product),
            "" if math.isnan(self.inside) else f"{self.inside:.2f}",
            " ".join(str(pair.shaped.missed) for pair in eager.values()),
            f"{100 * statistics.mean(pair.shaped.asleep_s / pair.shaped.seconds for pair in eager.values()):.0f}",
            ", ".join(fallbacks),
            WORDS[self.saves],
        ]


COLUMNS = (
    *("path/sender", "pairs", "eager [s]", "time", "energy", "energy x delay", "inside the emulation"),
    *("missed, each pair", "asleep [%]", "fallback", "verdict"),
)

MEANS = (
    *("mean of", "paths", "energy x delay", "time", "energy", "best", *WORDS.values(), "missed [%]"),
    *("without loss", "1 % of loss"),
)


def _interval(found: Interval) -> str:
    half = "" if math.isnan(found.half_width) else f" ± {found.half_width:.2f}"
    return f"{found.mean:.2f}{half}"


def table(found: Sequence[Download]) -> list[Cell]:
    """The cells with valid pairs."""
    good = {(one.cell, one.way, one.seed): one for one in found if one.is_whole and not one.is_late}
    known, rows = inside(), []
    for case in cells():
        keys = [(cell_of(case), way) for way in (BASE, LIVE)]
        both = {seed: [good.get((*key, seed)) for key in keys] for seed in SEEDS}
        pairs = {seed: Pair(eager, shaped) for seed, (eager, shaped) in both.items() if eager and shaped}
        both_known = not isinstance(case, OwnWindow)
        ratio = known[case.name]["product_js"] / known[case.base.name]["product_js"] if both_known else math.nan
        if pairs:
            rows.append(Cell(case, pairs, ratio))
    return rows


def of_grid(rows: Sequence[Cell], value: Callable[[Pair], float]) -> Interval:
    """The mean over cells, seed by seed, of the seeds that all cells have."""
    seeds = [seed for seed in SEEDS if all(seed in row.pairs for row in rows)]
    return mean_interval([statistics.mean(value(row.pairs[seed]) for row in rows) for seed in seeds])


def report(found: Sequence[Download]) -> str:
    """The table and its summary in Markdown."""
    rows = table(found)
    lines = [
        f"| {' | '.join(COLUMNS)} |",
        f"|---|{'---:|' * (len(COLUMNS) - 3)}---|---|",
        *(f"| {' | '.join(row.cells())} |" for row in rows),
        "",
        "Time, energy and energy x delay are relative to `eager` with the same seed: means over pairs, 95 % intervals.",
        "",
        f"| {' | '.join(MEANS)} |",
        f"|---|{'---:|' * (len(MEANS) - 1)}",
    ]
    for kind, is_in in KINDS.items():
        for sender in SENDERS:
            own = [row for row in rows if row.case.sender == sender and is_in(row.case)]
            if own:
                lines.append(_summary(f"{sender}, {kind}", own))
    lines += ["", *_conditions(found, rows)]
    return "\n".join(lines) + "\n"


KINDS: Mapping[str, Callable[[Case], bool]] = {
    "grid": lambda case: case.path not in SITES and not isinstance(case, OwnWindow),
    "sites": lambda case: case.path in SITES,
    "the kernel's own windows": lambda case: isinstance(case, OwnWindow),
}


def _summary(name: str, rows: Sequence[Cell]) -> str:
    best = min(rows, key=lambda row: row.product.mean)
    lossy = [row for row in rows if row.case.path.endswith("-1%")]
    calm = [row for row in rows if row.case.path.endswith("-0%")]
    missed = statistics.mean(pair.shaped.missed / pair.shaped.packets for row in rows for pair in row.pairs.values())
    ends = [_interval(of_grid(kind, lambda pair: pair.product)) if kind else "" for kind in (calm, lossy)]
    cells = [
        name,
        str(len(rows)),
        _interval(of_grid(rows, lambda pair: pair.product)),
        _interval(of_grid(rows, lambda pair: pair.time)),
        _interval(of_grid(rows, lambda pair: pair.energy)),
        f"{_interval(best.product)} ({best.case.path})",
        *(str(sum(row.saves is saves for row in rows)) for saves in WORDS),
        f"{100 * missed:.2f}",
        *ends,
    ]
    return f"| {' | '.join(cells)} |"


def _conditions(found: Sequence[Download], rows: Sequence[Cell]) -> list[str]:
    valid = [one for row in rows for pair in row.pairs.values() for one in (pair.eager, pair.shaped)]
    late, broken = sum(one.is_late for one in found), sum(not one.is_whole for one in found)
    if not valid:
        return ["No valid pair."]
    kernels = ", ".join(sorted({one.kernel for one in valid}))
    loads = [one.load for one in valid]
    return [
        f"Linux {kernels}. {len(found)} downloads, of which {late} were late and {broken} incomplete; "
        f"{len(valid)} are in {len(valid) // 2} pairs.",
        f"Of the counted ones: 99 % of packets were at most {1e3 * max(one.late_s for one in valid):.2f} ms late "
        f"(median of downloads {1e3 * statistics.median(one.late_s for one in valid):.2f} ms, latest packet "
        f"{1e3 * max(one.latest_s for one in valid):.1f} ms), the daemon waited "
        f"{1e3 * max(one.wait_s for one in valid):.3f} ms at most on average. "
        f"The machine's load average was {min(loads):.0f} to {max(loads):.0f}, on {valid[0].processors} processors.",
    ]


def main() -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="?", default="", help="the beginning of a cell's name, such as 60ms-0.5%%/reno")
    parser.add_argument("--measure", action="store_true", help="download again, in real time")
    parser.add_argument("--resume", action="store_true", help="keep the stored downloads, add missing ones")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="pairs of each cell")
    parser.add_argument("--jobs", type=int, default=8, help="downloads at the same time; default 8")
    parser.add_argument("--minutes", type=float, default=35, help="no download begins that would end later; default 35")
    given = parser.parse_args()
    if given.measure:
        os.nice(-10)
        measure(given)
    text = report(read())
    print(text, end="")
    if given.measure:
        RESULTS.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
