"""Attacks netlull's readers and the simulator with damaged input: scenarios, networks, sweeps, papers, stores, fleets.

    tools/attack.py [--cases N | --seconds S] [--seed N] [--workers N] [--target NAME] [--out DIR]
    tools/attack.py --replay FILE

A case is a target and a number, which together determine the input. Input may be refused with one of netlull's errors
for users. A finding is any other exception, a panic, the end of the process, more than 5 s of CPU time, or more memory
than the limit. It is written to DIR, default out/fuzz, as a file for `--replay`. The exit code is 1 if there are any.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import functools
import io
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import tomllib
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

import psutil
from mutations import Json, Rng, Schema, at, mutated, mutated_bytes, mutated_text, places

import netlull
from netlull import InputError, MemoryLimitError, Monitor, Scenario, ScenarioError, Sweep, library
from netlull.cli.text import printable
from netlull.papers import documents, source
from netlull.results.result import Result
from netlull.sweep.journal import Journal
from netlull.topology import Topology
from netlull.topology.find import shipped

ROOT = Path(__file__).resolve().parent.parent
MOST_CPU_S = 5.0
MOST_MEMORY = 4 * 10**9
"""Bytes of address space of a worker, with its libraries and thread stacks."""

RUN_MEMORY = "200 MB"
RUN_S = 0.01
"""Seconds after which the simulation of a valid scenario is cancelled."""

POINTS_S = 0.1
"""Seconds of CPU time after which no further point of a sweep is checked: many points are sound work."""

MOST_FINDINGS = 25
LONGEST_MESSAGE = 20_000
# --- targets ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """A reader: makes the input of a case as plain values, and attacks with it."""

    make: Callable[[Rng], Json]
    attack: Callable[[Json, Path], None]


class Canceller:
    """A thread that cancels the run under way after `RUN_S`."""

    def __init__(self) -> None:
        self.due: tuple[float, Monitor] | None = None
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            time.sleep(RUN_S / 3)
            due = self.due
            if due is not None and time.monotonic() >= due[0]:
                due[1].cancel()

    @contextlib.contextmanager
    def __call__(self) -> Iterator[Monitor]:
        """A monitor that is cancelled soon."""
        monitor = Monitor()
        self.due = (time.monotonic() + RUN_S, monitor)
        try:
            yield monitor
        finally:
            self.due = None


def targets() -> dict[str, Target]:
    """All targets by name."""
    schema = Schema(netlull.schema())
    papers = (path for info in source.find() for path in info.folder.glob("scenario.toml"))
    files = [*library.shipped().values(), *papers]
    documents_ = [tomllib.loads(path.read_text(encoding="utf-8")) for path in files]
    pool = [at(document, path) for document in documents_ for path in places(document) if path]
    words = sorted({value for value in pool if isinstance(value, str)})
    soon = Canceller()

    def scenario(rng: Rng) -> Json:
        return mutated(rng.choice(documents_), rng, schema, pool)

    def simulate(document: Json, _: Path) -> None:
        checked = Scenario.from_dict(document)
        again = Scenario.from_dict(json.loads(checked.canonical()))
        if again.canonical() != checked.canonical():
            raise AssertionError("the canonical form changes when it is read again")
        for name in names(json.loads(checked.canonical())):
            if printable(name) != name:
                raise AssertionError(f"the name {name!r} would move the cursor of a terminal")
        with soon() as monitor:
            result = checked.run(monitor=monitor, memory=RUN_MEMORY)
        json.dumps(result.summary, allow_nan=False)

    networks = network_texts()
    papers = paper_texts()
    sweeps = [
        number
        for number, (name, _) in enumerate(papers)
        if name.endswith("sweep.toml") and not name.endswith("larger-networks-sweep.toml")  # seconds of sound work
    ]

    def read_network(text: Json, folder: Path) -> None:
        path = folder / "network"
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        Topology.from_file(path).to_toml()

    def sweep(rng: Rng) -> Json:
        number = rng.choice(sweeps)
        return [number, mutated_text(papers[number][1], rng, words)]

    def read_sweep(case: Json, folder: Path) -> None:
        key = papers[case[0]][0].partition("/")[0]
        for path in source.folder_of(key).glob("*scenario.toml"):
            shutil.copy(path, folder)
        (folder / "sweep.toml").write_text(case[1], encoding="utf-8", errors="surrogateescape")
        check_points(Sweep.from_file(folder / "sweep.toml"))

    def paper(rng: Rng) -> Json:
        number = rng.randrange(len(papers))
        return [number, mutated_text(papers[number][1], rng, words)]

    def read_paper(case: Json, folder: Path) -> None:
        name, _ = papers[case[0]]
        key, _, file = name.partition("/")
        shutil.copytree(source.folder_of(key), folder / key, ignore=shutil.ignore_patterns("*.md", "__pycache__"))
        (folder / key / file).write_text(case[1], encoding="utf-8", errors="surrogateescape")
        documents.load(folder / key)

    return {
        "scenario": Target(scenario, simulate),
        "network": Target(lambda rng: mutated_text(rng.choice(networks), rng, words), read_network),
        "sweep": Target(sweep, read_sweep),
        "paper": Target(paper, read_paper),
        "store": store_target(lambda value, rng: mutated(value, rng, schema, pool)),
        "fleet": fleet_target(words),
    }


def store_target(change: Callable[[Json, Rng], Json]) -> Target:
    """The files of a run and of a sweep, with other bytes or other values."""
    kept = stored()

    def make(rng: Rng) -> Json:
        name = rng.choice(sorted(kept))
        is_json = name.endswith((".json", ".jsonl"))
        content = forged(kept[name], change, rng) if is_json and rng.random() < 0.7 else mutated_bytes(kept[name], rng)
        return [name, base64.b64encode(content).decode()]

    def read(case: Json, folder: Path) -> None:
        for name, content in kept.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(base64.b64decode(case[1]) if name == case[0] else content)
        if case[0].startswith("run/"):
            Result.load(folder / "run").series("link")
            return
        # Both read the files; the report reads the description as well.
        with contextlib.suppress(InputError, ScenarioError):
            netlull.report.sweep_report(folder / "sweep", folder / "report.html")
        tiny_sweep().run(folder / "sweep", workers=1)

    return Target(make, read)


FLEET = {
    "inventory.csv": """\
device,model,interface,speed,transceiver,state,peer_device,peer_interface,loads,weight
a,ncs-55a1-24h,e0,10 Gb/s,qsfp28-lr4,up,b,e0,a-e0.csv,10
a,,e1,100gbase-x-qsfp28,,down,,,,
b,AC-7050,e0,,,,,,,
b,,e1,SFP+ (10GE),none,,c,e0,,10
c,box,e0,10 Gb/s,sfp+-lr,,,,,10
c,,e1,1 Gb/s,,,a,e2,,
a,,e2,1 Gb/s,,,,,,100
""",
    "loads.csv": """\
time,device,interface,in_octets,out_octets
2026-03-29T01:00:00+01:00,b,e1,18446744073709551000,200
2026-03-29T01:05:00+01:00,b,e1,100,
1774743000,b,e1,4000000,70000
1774743300000,b,e1,4100000,80000
""",
    "folder/a-e0.csv": "time,in,out\n2026-03-29 01:00,1e9,2e9\n2026-03-29 03:00,3e9,4e9\n2026-03-29 03:05,,\n",
    "loads.json": json.dumps({
        "status": "success",
        "data": {"resultType": "matrix", "result": [
            {"metric": {"__name__": name, "instance": "a:9116", "ifName": "e2"},
             "values": [[1774742400 + 300 * step, str(5000 * step)] for step in range(4)]}
            for name in ("ifHCInOctets", "ifOutOctets")
        ]},
    }),
    "plan.csv": "device,interface,from,to\na,e0,,2026-03-29T02:00:00Z\nc,e1,1774742400,\n",
    "devices/own.toml": """\
[[device]]
name = "box"
base = "40 W"
line_card = { power = "30 W", capacity = "20 Gb/s", asleep = "5 W" }
port = [{ speed = "10 Gb/s", power = "2 W", transceiver = "sfp+-lr", per_bit = "20 pJ" }, { speed = "1 Gb/s" }]
supply = { count = 2, efficiency = "pfe600" }
""",
    "devices/type.yaml": """\
---
manufacturer: Acme
model: 7050
slug: acme-7050
part_number: AC-7050
weight: ~
interfaces:
  - name: e0
    type: 10gbase-x-sfpp
  - {name: "e1", type: lag, mgmt_only: true}
power-ports:
  - name: PSU1
    maximum_draw: 250
    allocated_draw: 120
""",
}  # fmt: skip
"""The files of `netlull energy`: small, of every kind and column that it reads."""


def fleet_target(words: list[str]) -> Target:
    """The files of `netlull energy`, of which one is damaged; every tenth answer becomes a report."""

    def make(rng: Rng) -> Json:
        name = rng.choice(sorted(FLEET))
        if rng.random() < 0.2:
            content = mutated_bytes(FLEET[name].encode(), rng)
        else:
            content = mutated_text(FLEET[name], rng, words).encode(errors="surrogateescape")
        return [name, base64.b64encode(content).decode(), rng.random() < 0.1]

    def read(case: Json, folder: Path) -> None:
        for name, content in FLEET.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(base64.b64decode(case[1]) if name == case[0] else content.encode())
        out = folder / "out"
        try:
            told = answered(folder)
            if case[2]:
                netlull.report.energy_report(told, out, anonymise=len(case[1]) % 2 == 0)
        except InputError:
            if out.exists():
                raise AssertionError("a refused report is there") from None
            raise
        if case[2] and sorted(path.name for path in folder.iterdir() if path.name.startswith(".")):
            raise AssertionError("a report leaves other files")

    def answered(folder: Path) -> netlull.fleet.Answer:
        devices = netlull.fleet.read_devices(folder / "devices")
        there = netlull.fleet.read_inventory(folder / "inventory.csv", devices)
        files = [folder / name for name in ("loads.csv", "folder", "loads.json")]
        loads = netlull.fleet.read_loads(files, there, unit="b/s", zone="Europe/Oslo")
        plans = {"mine": netlull.fleet.read_plan(folder / "plan.csv", there, loads, "Europe/Oslo")}
        told = netlull.fleet.answer(netlull.fleet.fleet_of(there, devices), loads, plans=plans, zone="Europe/Oslo")
        json.dumps(told.document(), allow_nan=False)
        if abs(sum(watts for _, watts in told.by_cause()) - told.mean_w) > 1e-9 * told.mean_w:
            raise AssertionError("the causes are not the sum")
        return told

    # Damage tells nothing about files that are refused without it.
    with tempfile.TemporaryDirectory() as sound:
        read(["", "", False], Path(sound))
    return Target(make, read)


def forged(content: bytes, change: Callable[[Json, Rng], Json], rng: Rng) -> bytes:
    """A stored JSON file, or a line of a journal, with another value and a checksum that fits: sound form, no sense."""
    if not content.startswith(b'{"check":'):
        document = json.loads(content)
        document.pop("check", None)
        return json.dumps(change(document, rng)).encode()
    records = [json.loads(line)["record"] for line in content.splitlines()]
    place = rng.randrange(len(records))
    key = records[place]["key"]
    changed = change({"record": records[place]}, rng).get("record")
    records[place] = {"key": key, **changed} if isinstance(changed, dict) else {"key": changed}
    with tempfile.TemporaryDirectory() as name:
        journal, _ = Journal.open(Path(name) / "journal.jsonl")
        for record in records:
            journal.append(json.dumps(record, separators=(",", ":")).encode())
        journal.close()
        return (Path(name) / "journal.jsonl").read_bytes()


def names(document: Json) -> Iterator[str]:
    """The names in a scenario."""
    for path in places(document):
        value = at(document, path)
        if isinstance(value, str) and path[-1] in ("name", "from", "to"):
            yield value


def check_points(sweep: Sweep) -> None:
    """Checks points of a sweep for `POINTS_S`."""
    end_s = time.process_time() + POINTS_S
    points = 0
    for _ in sweep.each_point():
        points += 1
        if time.process_time() > end_s:
            return
    if points == 0:
        raise AssertionError("a sweep without points")


def network_texts() -> list[str]:
    """A network in every format that netlull reads."""
    toml = shipped()["abilene"].read_text(encoding="utf-8")
    return [toml, *(path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests" / "networks").iterdir()))]


def paper_texts() -> list[tuple[str, str]]:
    """The TOML files of all papers, by KEY/NAME."""
    files = [path for info in source.find() for path in sorted(info.folder.glob("*.toml"))]
    return [(f"{path.parent.name}/{path.name}", path.read_text(encoding="utf-8")) for path in files]


def tiny_sweep() -> Sweep:
    """A sweep of two short runs."""
    scenario = Scenario.from_file(library.shipped()["dumbbell"]).with_values({"duration": "50 ms"})
    axis = netlull.Axis("rate", "link.N1-N2.rate", ["5 Mb/s", "10 Mb/s"], unit="Mb/s")
    return Sweep(scenario, [axis], seeds=1, metrics={"offered": "link.N1-N2.offered_packets"})


def stored() -> dict[str, bytes]:
    """The files of a stored run and of a sweep, by RUN/NAME."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scenario = Scenario.from_file(library.shipped()["dumbbell"]).with_values({"duration": "50 ms"})
        scenario.run(probe={"interval": "10 ms"}).save(folder / "run")
        tiny_sweep().run(folder / "sweep", workers=1)
        files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".lock"]
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}


# --- cases -----------------------------------------------------------------------------------------------------------

WEIGHTS = {"scenario": 65, "network": 18, "sweep": 2, "paper": 3, "store": 2, "fleet": 10}
"""Cases of each target among a hundred, in the order of `choice`."""


def choice(number: int, only: str | None) -> str:
    """The target of a case."""
    return only or [name for name, weight in WEIGHTS.items() for _ in range(weight)][number % 100]


def random_of(seed: int, number: int) -> Rng:
    """The random numbers of a case."""
    return random.Random(f"{seed}/{number}")  # noqa: S311  # cases


def attacked(target: Target, case: Json, folder: Path) -> str | None:
    """The finding of a case, if there is one."""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()) as said:
            warnings.simplefilter("ignore")
            target.attack(case, folder)
        return "wrote to standard error: " + said.getvalue() if said.getvalue() else None
    except (InputError, ScenarioError, MemoryLimitError) as error:
        message = str(error)
        if not message or len(message) > LONGEST_MESSAGE:
            return f"a message of {len(message)} characters: {message[:200]}"
        return None
    except netlull.Cancelled:
        return None
    except KeyboardInterrupt:
        raise
    except BaseException:  # a panic is no Exception
        return traceback.format_exc()


def save(out: Path, name: str, number: int, case: Json, finding: str) -> Path:
    """Writes a finding for `--replay`."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}-{number}.json"
    path.write_text(json.dumps({"target": name, "finding": finding.splitlines()[-1:], "case": case}), encoding="utf-8")
    return path


def replay(path: Path) -> str | None:
    """The finding of a stored case, if it still is one."""
    stored_case = json.loads(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        return attacked(targets()[stored_case["target"]], stored_case["case"], Path(folder))


def work(link: Connection, first: int, step: int, seed: int, only: str | None) -> NoReturn:
    """Attacks with every `step`-th case from `first` on; reports each number before and each finding after it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A case changes one file in several, and readers copy what they get.
    tomllib.loads = functools.lru_cache(maxsize=1000)(tomllib.loads)
    known = targets()
    number = first
    while True:
        name = choice(number, only)
        link.send((number, None, None))
        case = known[name].make(random_of(seed, number))
        with tempfile.TemporaryDirectory() as folder:
            finding = attacked(known[name], case, Path(folder))
        if finding is not None:
            link.send((number, finding, case))
        number += step


@dataclass
class Worker:
    """A process that attacks, and its case under way."""

    process: multiprocessing.process.BaseProcess
    link: Connection
    number: int
    cpu_s: float = 0.0

    def spent_s(self) -> float:
        """CPU seconds since the start of the case, including its preparation."""
        with contextlib.suppress(psutil.Error):
            times = psutil.Process(self.process.pid).cpu_times()
            return float(times.user + times.system) - self.cpu_s
        return 0.0


class Attack:
    """Workers, their cases and the findings."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.done = 0
        self.findings = 0
        self.context = multiprocessing.get_context("spawn")
        self.workers = [self.hire(number) for number in range(options.workers)]

    def hire(self, first: int) -> Worker:
        """A worker that begins with a case."""
        ours, theirs = self.context.Pipe(duplex=False)
        arguments = (theirs, first, self.options.workers, self.options.seed, self.options.target)
        process = self.context.Process(target=work, args=arguments, daemon=True)
        process.start()
        theirs.close()
        return Worker(process, ours, first, cpu_s=60.0)

    def find(self, number: int, finding: str, case: Json = None) -> None:
        """Records a finding."""
        self.findings += 1
        name = choice(number, self.options.target)
        if case is None:
            case = targets()[name].make(random_of(self.options.seed, number))
        path = save(self.options.out, name, number, case, finding)
        print(f"case {number} of {name}: {finding.splitlines()[-1]} ({path})", flush=True)

    def look(self, index: int) -> None:
        """Reads the reports of a worker; replaces one that ended or hangs."""
        worker = self.workers[index]
        try:
            while worker.link.poll():
                number, finding, case = worker.link.recv()
                if finding is not None:
                    self.find(number, finding, case)
                else:
                    self.done += number != worker.number
                    worker.number, worker.cpu_s = number, worker.cpu_s + worker.spent_s()
        except EOFError:
            worker.process.join()
            self.replace(index, f"the process ended with {worker.process.exitcode}")
            return
        if worker.spent_s() > MOST_CPU_S:
            worker.process.kill()
            worker.process.join()
            self.replace(index, f"more than {MOST_CPU_S:.0f} s of CPU time")

    def replace(self, index: int, finding: str) -> None:
        """Records the finding of a worker that is gone, and hires another for the next case."""
        number = self.workers[index].number
        self.find(number, finding)
        self.done += 1
        self.workers[index] = self.hire(number + self.options.workers)

    def run(self) -> int:
        """Attacks until enough cases, time or findings; returns the exit code."""
        end = time.monotonic() + self.options.seconds
        try:
            while self.done < self.options.cases and time.monotonic() < end and self.findings < MOST_FINDINGS:
                for index in range(len(self.workers)):
                    self.look(index)
                time.sleep(0.05)
        finally:
            for worker in self.workers:
                worker.process.kill()
            # Also when it is stopped.
            print(f"{self.done} cases with seed {self.options.seed}: {self.findings} findings", flush=True)
        return 1 if self.findings else 0


def main() -> int:
    """Parses the command line and attacks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=sys.maxsize, help="number of cases")
    parser.add_argument("--seconds", type=float, default=60.0, help="time, without a number of cases")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--target", choices=list(WEIGHTS))
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "fuzz")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="only repeat a finding")
    options = parser.parse_args()
    if options.replay is not None:
        finding = replay(options.replay)
        print(finding or "no finding")
        return 1 if finding else 0
    if options.cases < sys.maxsize:
        options.seconds = float("inf")
    # The workers end with this process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    return Attack(options).run()


if __name__ == "__main__":
    raise SystemExit(main())
