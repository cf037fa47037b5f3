"""Scenarios and classes for the tests of plug-ins in Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import netlull
from netlull import (
    Link,
    Scenario,
    Tcp,
    param,
)
from netlull.documents.tomltext import toml_key, toml_value

HALF = '''
import netlull


class Half(netlull.RateController):
    """Runs the link at half of its rate while the queue is short."""

    interval = "5 ms"
    limit: int = netlull.param(5, least=1, doc="The packets of a short queue.")

    def tick(self, seen):
        return self.link.rate / 2 if seen.queue_packets < self.limit else self.link.rate
'''

SCENARIO = """
name = "plug-ins"
duration = "2 s"
verify = "replay"
nodes = ["a", "b"]

[[link]]
from = "a"
to = "b"
rate = "10 Mb/s"
delay = "10 ms"
buffer = "50 packets"
[link.controller]
kind = "python"
class = "half:Half"

[[link]]
from = "b"
to = "a"
rate = "10 Mb/s"
delay = "10 ms"

[[flow]]
kind = "tcp"
name = "f"
from = "a"
to = "b"
"""


def write_half(folder: Path) -> Path:
    """Writes a scenario and the module of its controller into a folder."""
    (folder / "half.py").write_text(HALF, encoding="utf-8")
    (folder / "mine.toml").write_text(SCENARIO, encoding="utf-8")
    return folder


def small(controller: netlull.RateController | None = None, **more: Any) -> Scenario:
    """Two nodes and a TCP flow, with a controller on the way to b."""
    there = Link("a", "b", "10 Mb/s", "10 ms", "50 packets", controller=controller)
    back = Link("b", "a", "10 Mb/s", "10 ms")
    flows = more.pop("flows", [Tcp("f", "a", "b")])
    return Scenario(duration="2 s", nodes=["a", "b"], links=[there, back], flows=flows, verify="replay", **more)


class Steps(netlull.RateController):
    """Uses ticks, a threshold and its random numbers."""

    interval = "1 ms"
    thresholds = ("10 packets",)
    transition = "100 us"
    low: netlull.Rate = param("2 Mb/s", above="0 b/s", most="5 Mb/s")
    mode: Literal["calm", "wild"] = "calm"
    weights: list[float] = (1.0, 0.5)  # type: ignore[assignment]
    limit: int | None = None

    def start(self, link: Any) -> None:
        self.ticks = 0

    def tick(self, seen: Any) -> float | str | None:
        self.ticks += 1
        if seen.queue_packets > 5 or self.mode == "wild":
            return f"{5 + self.random.randrange(6)} Mb/s"
        return self.low if seen.utilisation < 0.3 else None

    def threshold(self, seen: Any) -> float:
        return float(self.link.rate if seen.reached else self.link.rate / 2)


class Counting(netlull.RateController):
    """Counts every event."""

    segments = True

    def start(self, link: Any) -> None:
        self.arrived = 0

    def event(self, seen: Any, event: Any) -> dict[str, object] | None:
        self.arrived += event.kind == "arrival"
        if event.kind == "acknowledgement":
            assert event.segment.kind in {"syn", "syn_ack", "other"}
            return {"set_window": "15000 B"}
        if self.arrived % 100 == 50:
            return {"set_rate": {"rate": "5 Mb/s", "pause": "1 ms"}}
        return {"set_rate": {"rate": "10 Mb/s", "pause": "0 s"}} if self.arrived % 100 == 0 else None


class Fixed(netlull.CongestionControl):
    """A window of some segments, halved by a loss."""

    segments: int = param(10, least=2)

    def on_ack(self, ack: Any) -> None:
        assert ack.acked > 0
        assert ack.phase in {"open", "fast_recovery", "loss"}
        if ack.phase == "open":
            self.cwnd = self.segments * self.smss

    def on_loss(self, loss: Any) -> None:
        self.ssthresh = self.cwnd = max(loss.flight / 2, 2 * self.smss)

    def on_timeout(self, loss: Any, repeated: bool) -> None:
        self.cwnd = self.smss


class Naps(netlull.StationPolicy):
    """Sleeps for a while after each silence."""

    silence: netlull.Duration = param("20 ms")
    nap: netlull.Duration = param("30 ms")

    def start(self, station: Any) -> None:
        self.asleep = False
        self.timer = self.silence

    def event(self, event: Any) -> str | list[str] | None:
        if event.kind == "timeout" and not self.asleep:
            self.asleep, self.timer = True, event.now + self.nap
            return "sleep"
        self.timer = event.now + self.silence
        if self.asleep:
            self.asleep = False
            return ["wake"]
        return None


class LastOnes(netlull.SleepPlan):
    """Lets the last links sleep as long as the network stays connected."""

    most: int = param(1, least=0)

    def plan(self, graph: Any, loads: Any) -> list[tuple[str, str]]:
        assert len(loads.capacities) == len(graph.links)
        asleep: list[int] = []
        for link in reversed(range(len(graph.links))):
            if len(asleep) < self.most and graph.is_connected([*asleep, link]):
                asleep.append(link)
        return [graph.links[link] for link in asleep]


def broken(body: str, *, name: str = "tick") -> type[netlull.RateController]:
    """A controller whose method has this body."""
    space: dict[str, Any] = {"netlull": netlull, "__name__": __name__}
    arguments = "self, seen" if name != "event" else "self, seen, event"
    code = f"class Broken(netlull.RateController):\n    def {name}({arguments}):\n        {body}\n"
    exec(code, space)  # noqa: S102
    found: type[netlull.RateController] = space["Broken"]
    return found


def netlull_command(*arguments: str, folder: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command as a process."""
    code = "import sys; from netlull.cli import main; sys.exit(main())"
    before = "" if path is None else f"import sys; sys.path.insert(0, {str(path)!r}); "
    command = [sys.executable, "-c", before + code, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def as_toml(document: dict[str, Any]) -> str:
    """A document as TOML, by inline tables."""
    return "".join(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in document.items())
