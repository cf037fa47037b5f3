"""Plug-ins in Python: parameters, runs, errors, tapes, packages and sweeps."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Literal

import pytest

import netlull
from netlull import (
    Axis,
    Link,
    Scenario,
    ScenarioError,
    Sleep,
    Station,
    Sweep,
    Tcp,
    TcpOptions,
    loading,
    param,
)
from netlull.execution import Processes, Threads, local_team
from netlull.modules import source_of
from netlull.run_order import Job, LongestFirst
from netlull.topology.loads import measured

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a scenario and the module of its controller."""
    (tmp_path / "half.py").write_text(HALF, encoding="utf-8")
    (tmp_path / "mine.toml").write_text(SCENARIO, encoding="utf-8")
    return tmp_path


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


# Parameters.


def test_parameters_are_read_in_their_units() -> None:
    read = Steps.read({"low": "1.5 Mb/s", "interval": 0.002, "weights": [1, 2], "limit": 3})
    assert (read["low"], read["interval"], read["weights"], read["limit"]) == (1.5e6, 0.002, (1.0, 2.0), 3)
    assert (read["transition"], read["mode"], read["initial_rate"]) == (1e-4, "calm", None)
    assert list(Steps.parameters()) == [
        *["interval", "transition", "initial_rate", "thresholds", "low", "mode", "weights", "limit"]
    ]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"low": "6 Mb/s"}, 'low: is "6 Mb/s"; expected at most 5 Mb/s'),
        ({"low": "0 b/s"}, 'low: is "0 b/s"; expected more than 0 b/s'),
        ({"low": "1 MB/s"}, 'low: is "1 MB/s"; expected a quantity with a unit, such as "10 Mb/s"'),
        ({"mode": "quiet"}, 'mode: is "quiet"; expected one of "calm", "wild"'),
        ({"weights": 3}, "weights: is 3; expected a list of a number"),
        ({"limit": True}, "limit: is true; expected a whole number"),
        ({"limit": 2.5}, "limit: is 2.5; expected a whole number"),
        ({"interval": 0}, "interval: is 0; expected more than 0 s"),
        ({"gain": 1}, "gain: is unknown; expected one of interval, transition, initial_rate"),
    ],
)
def test_wrong_values_are_named_by_their_path(values: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError) as refused:
        Steps(**values)
    assert message in str(refused.value)
    table = {"kind": "python", "class": f"{__name__}:Steps", **values}
    with pytest.raises(ScenarioError) as wrong:
        small(table)  # type: ignore[arg-type]
    assert str(wrong.value).startswith(f"link.a-b.controller.{message}")


def test_classes_that_netlull_cannot_use_are_refused() -> None:
    with pytest.raises(TypeError, match="defines __init__; expected start"):

        class Own(netlull.RateController):
            def __init__(self) -> None: ...

    with pytest.raises(TypeError, match="is abstract"):
        netlull.RateController()

    class Unknown(netlull.RateController):
        rates: dict[str, float] = param()

        def tick(self, seen: Any) -> None: ...

    with pytest.raises(ScenarioError, match=r"link.a-b.controller.class: .*Unknown.rates: has the type"):
        small({"kind": "python", "class": Unknown.reference()})  # type: ignore[arg-type]


# Runs.


def test_an_object_and_its_table_give_the_same_run(folder: Path) -> None:
    by_table = Scenario.from_file(folder / "mine.toml")
    table = json.loads(by_table.canonical())["link"][0]["controller"]
    assert (table["class"], table["limit"], table["interval"]) == ("half:Half", 5, 0.005)
    assert len(table["source"]) == 64
    result = by_table.run()
    link = result.summary["links"][0]
    assert link["rate_changes"] > 0
    assert link["mean_rate_bps"] < 10e6
    again = Scenario.from_file(folder / "mine.toml", values={"link.a-b.controller.limit": 5}).run()
    assert again.summary == result.summary
    other = Scenario.from_file(folder / "mine.toml", values={"link.a-b.controller.limit": 2}).run()
    assert other.summary != result.summary


def test_each_link_of_each_run_has_an_object_of_its_own() -> None:
    made = []

    class Apart(netlull.RateController):
        def start(self, link: Any) -> None:
            self.seen: list[float] = []
            made.append(self)

        def tick(self, seen: Any) -> None:
            self.seen.append(seen.now)

    links = [Link("a", "b", "10 Mb/s", controller=Apart()), Link("b", "a", "10 Mb/s", controller=Apart())]
    scenario = Scenario(duration="1 s", nodes=["a", "b"], links=links, flows=[Tcp("f", "a", "b", size="100 kB")])
    made.clear()
    scenario.run()
    scenario.run()
    assert len({id(each) for each in made}) == len(made) == 4
    assert [len(each.seen) for each in made] == [100] * 4
    assert made[0].seen[:3] == pytest.approx([0.01, 0.02, 0.03])


def test_the_seed_alone_decides_random_numbers() -> None:
    scenario = small(Steps(mode="wild"))
    assert scenario.run(seed=1).summary == scenario.run(seed=1).summary
    assert scenario.run(seed=1).summary["links"][0] != scenario.run(seed=2).summary["links"][0]


def test_ticks_thresholds_events_and_actions_reach_the_link() -> None:
    for controller in (Steps(), Counting()):
        summary = small(controller).run().summary
        assert summary["links"][0]["rate_changes"] > 3
    assert summary["links"][0]["gateway"]["rewritten_acknowledgements"] > 10


def test_a_congestion_control_sets_the_window() -> None:
    goodput = []
    for segments in (4, 10):
        flow = Tcp("f", "a", "b", tcp=TcpOptions(congestion_control=Fixed(segments=segments)))
        goodput.append(small(flows=[flow]).run().summary["flows"][0]["goodput_bps"])
    # A window per round trip of 20 ms and the transmission of a packet: 4 x 1448 x 8 / 21.2 ms = 2.19 Mb/s.
    assert goodput[0] == pytest.approx(2.19e6, rel=0.1)
    assert goodput[1] > goodput[0]


def test_a_station_policy_lets_the_radio_sleep() -> None:
    scenario = Scenario(
        duration="2 s",
        nodes=["server", "ap", "phone"],
        links=[
            Link("server", "ap", "100 Mb/s", "10 ms", duplex=True),
            Link("ap", "phone", "11 Mb/s", duplex=True),
        ],
        stations=[Station(["phone"], mechanism=Naps())],
        flows=[Tcp("f", "server", "phone", size="200 kB")],
        verify="replay",
    )
    station = scenario.run().summary["stations"][0]
    assert 0.3 < station["asleep_s"] / 2 < 0.7, station


def test_a_sleep_plan_chooses_the_links() -> None:
    ring = ["a", "b", "c", "d"]
    links = [Link(one, other, "10 Mb/s", duplex=True) for one, other in zip(ring, [*ring[1:], "a"], strict=True)]
    scenario = Scenario(
        duration="1 s", nodes=ring, links=links, sleep=[Sleep("0.2 s", plan=LastOnes())], verify="replay"
    )
    asleep = {link["name"]: link["asleep_s"] for link in scenario.run().summary["links"]}
    assert {name for name, time in asleep.items() if time > 0.5} == {"d-a", "a-d"}


# Errors.


def broken(body: str, *, name: str = "tick") -> type[netlull.RateController]:
    """A controller whose method has this body."""
    space: dict[str, Any] = {"netlull": netlull, "__name__": __name__}
    arguments = "self, seen" if name != "event" else "self, seen, event"
    code = f"class Broken(netlull.RateController):\n    def {name}({arguments}):\n        {body}\n"
    exec(code, space)  # noqa: S102
    found: type[netlull.RateController] = space["Broken"]
    return found


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 11e6", "link.a-b.controller.rate: is 11 Mb/s; expected more than 0 b/s and at most"),
        ("return 0", "link.a-b.controller.rate: is 0 b/s; expected more than 0 b/s"),
        ("return -1.5", "link.a-b.controller.rate: is -1.5 b/s; expected more than 0 b/s"),
        ("return float('nan')", "link.a-b.controller.rate: is NaN b/s; expected more than 0 b/s"),
        ("return 'fast'", "link.a-b.controller.tick: is 'fast'; expected a rate in b/s, an action or None"),
        ("return True", "link.a-b.controller.tick: is True; expected a rate in b/s, an action or None"),
        ("return {'set_window': '1500 B'}", "link.a-b.controller.window: is 1500 B; expected a window only in answer"),
        ("return {'set_rate': 3}", "link.a-b.controller.tick: is {'set_rate': 3}; expected a rate"),
    ],
)
def test_an_impossible_answer_names_the_class_and_the_value(body: str, message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        small(broken(body)()).run()
    assert str(error.value).startswith(message)
    assert '(machine "Broken", at 10000000)' in str(error.value) or "0.01" in str(error.value)


def test_an_exception_is_the_cause_of_the_error() -> None:
    with pytest.raises(ScenarioError) as error:
        small(broken("return 1 / 0")()).run()
    assert "link.a-b.controller.tick: is ZeroDivisionError: division by zero" in str(error.value)
    assert isinstance(error.value.__cause__, ZeroDivisionError)

    class Bad(netlull.CongestionControl):
        def on_ack(self, ack: Any) -> None:
            self.cwnd = "wide"  # type: ignore[assignment]

    with pytest.raises(ScenarioError, match=r"flow.f.tcp.congestion_control.cwnd: is 'wide'; expected a number"):
        small(flows=[Tcp("f", "a", "b", tcp=TcpOptions(congestion_control=Bad()))]).run()


def test_a_run_after_a_failed_run_has_no_cause() -> None:
    with pytest.raises(ScenarioError):
        small(broken("return 1 / 0")()).run()
    with pytest.raises(ScenarioError) as error:
        small(broken("return 0")()).run()
    assert error.value.__cause__ is None


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("half", '"half"; expected MODULE:CLASS'),
        ("../half:Half", '"../half:Half"; expected MODULE:CLASS'),
        ("nowhere:Half", '"nowhere:Half"; expected a module in'),
        ("half:Other", '"half:Other"; expected one of "half:Half"'),
        ("json:dumps", '"json:dumps"; expected a class that derives from netlull.RateController'),
        ("wrong:Wrong", '"wrong:Wrong", whose module raises SyntaxError'),
        ("empty:Empty", '"empty:Empty"; expected a class with a method `tick` or `threshold` or `event`'),
        ("needy:Needy", '"needy:Needy", whose module raises ModuleNotFoundError: No module named'),
    ],
)
def test_a_class_that_is_not_there_is_named(folder: Path, reference: str, message: str) -> None:
    (folder / "wrong.py").write_text("class Wrong(:\n", encoding="utf-8")
    (folder / "empty.py").write_text("import netlull\nclass Empty(netlull.RateController): pass\n", encoding="utf-8")
    (folder / "needy.py").write_text("import no_such_module\n", encoding="utf-8")
    with pytest.raises(ScenarioError) as error:
        Scenario.from_file(folder / "mine.toml", values={"link.a-b.controller.class": reference})
    assert str(error.value).startswith(f"link.a-b.controller.class: is {message}")


def netlull_command(*arguments: str, folder: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command as a process."""
    code = "import sys; from netlull.cli import main; sys.exit(main())"
    before = "" if path is None else f"import sys; sys.path.insert(0, {str(path)!r}); "
    command = [sys.executable, "-c", before + code, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_command_shows_the_traceback_and_ends_with_1(folder: Path) -> None:
    (folder / "half.py").write_text(HALF.replace("seen.queue_packets", "seen.no_such"), encoding="utf-8")
    done = netlull_command("run", "mine.toml", "--out", "out", "--tape", "x.tape", folder=folder)
    assert done.returncode == 1, done.stderr
    assert 'half.py", line 12, in tick' in done.stderr
    assert "AttributeError: " in done.stderr
    assert done.stderr.splitlines()[-1].startswith("netlull: link.a-b.controller.tick: is AttributeError")
    assert not (folder / "out").exists()
    assert not (folder / "x.tape").exists()


# Sources and tapes.


def test_the_source_of_a_module_and_of_its_neighbours_is_in_the_key(folder: Path) -> None:
    (folder / "half.py").write_text("from helper import SHARE\n" + HALF.replace("/ 2", "* SHARE"), encoding="utf-8")
    (folder / "helper.py").write_text("SHARE = 0.5\n", encoding="utf-8")
    first = Scenario.from_file(folder / "mine.toml")
    assert Scenario.from_file(folder / "mine.toml").key == first.key
    (folder / "unrelated.py").write_text("SHARE = 0.1\n", encoding="utf-8")
    assert Scenario.from_file(folder / "mine.toml").key == first.key
    (folder / "helper.py").write_text("SHARE = 0.25\n", encoding="utf-8")
    second = Scenario.from_file(folder / "mine.toml")
    assert second.key != first.key
    assert second.run().summary["links"][0]["mean_rate_bps"] < first.run().summary["links"][0]["mean_rate_bps"]
    # A scenario that names the old source is refused.
    old = json.loads(first.canonical())["link"][0]["controller"]["source"]
    with pytest.raises(ScenarioError, match=r"link.a-b.controller.source: is .*that of the class now"):
        Scenario.from_file(folder / "mine.toml", values={"link.a-b.controller.source": old})


def test_a_tape_repeats_the_run_without_the_class(folder: Path) -> None:
    first = netlull_command("run", "mine.toml", "--tape", "half.tape", "--seed", "7", "--json", folder=folder)
    assert first.returncode == 0, first.stderr
    (folder / "half.py").unlink()
    again = netlull_command("run", "mine.toml", "--replay", "half.tape", "--json", folder=folder)
    assert again.returncode == 0, again.stderr
    assert again.stdout == first.stdout
    assert Scenario.from_file(folder / "mine.toml", replay=folder / "half.tape").seed == 7
    other = netlull_command("run", "mine.toml", "--replay", "half.tape", "--seed", "8", folder=folder)
    assert (other.returncode, "expected 7, that of the tape" in other.stderr) == (2, True)
    (folder / "half.tape").write_text("nonsense\n", encoding="utf-8")
    wrong = netlull_command("run", "mine.toml", "--replay", "half.tape", folder=folder)
    assert (wrong.returncode, "half.tape: line 1" in wrong.stderr) == (2, True)


def test_tapes_of_every_kind_repeat_their_runs(tmp_path: Path) -> None:
    radio = Scenario(
        duration="1 s",
        nodes=["server", "ap", "phone", "x"],
        links=[
            Link("server", "ap", "100 Mb/s", "10 ms", duplex=True),
            Link("ap", "phone", "11 Mb/s", duplex=True),
            Link("server", "x", "10 Mb/s", controller=Steps(mode="wild")),
            Link("x", "ap", "10 Mb/s", duplex=True),
            Link("x", "server", "10 Mb/s", controller=Counting()),
        ],
        stations=[Station(["phone"], mechanism=Naps())],
        flows=[
            Tcp("f", "server", "phone", size="200 kB", tcp=TcpOptions(congestion_control=Fixed())),
            Tcp("g", "server", "x", tcp=TcpOptions(congestion_control=Fixed(segments=5))),
        ],
        verify="replay",
    )
    tape = tmp_path / "all.tape"
    first = radio.run(seed=3, tape=tape)
    heads = [json.loads(line)["head"]["name"] for line in tape.read_text().splitlines()[1:] if '"head"' in line]
    assert heads[:3] == ["Steps", "Counting", "Naps"]
    assert heads.count("Fixed") >= 2
    document = radio.to_dict()
    again = Scenario.from_toml(_toml(document), replay=tape).run()
    assert again.summary == first.summary


def _toml(document: dict[str, Any]) -> str:
    """A document as TOML, by inline tables."""

    def value(item: Any) -> str:
        if isinstance(item, dict):
            return "{ " + ", ".join(f'"{key}" = {value(each)}' for key, each in item.items()) + " }"
        if isinstance(item, list):
            return "[" + ", ".join(map(value, item)) + "]"
        return json.dumps(item)

    return "".join(f"{key} = {value(item)}\n" for key, item in document.items())


def test_a_tape_of_a_sleep_plan_has_its_links(tmp_path: Path) -> None:
    ring = ["a", "b", "c"]
    links = [Link(one, other, "10 Mb/s", duplex=True) for one, other in zip(ring, [*ring[1:], "a"], strict=True)]
    scenario = Scenario(duration="1 s", nodes=ring, links=links, sleep=[Sleep("0.2 s", plan=LastOnes())])
    first = scenario.run(tape=tmp_path / "plan.tape")
    again = Scenario.from_toml(_toml(scenario.to_dict()), replay=tmp_path / "plan.tape").run()
    assert again.summary == first.summary


# Sweeps.


def test_a_sweep_has_the_same_bytes_with_one_and_with_eight_workers(folder: Path) -> None:
    def measured(workers: int) -> str:
        base = Scenario.from_file(folder / "mine.toml", values={"verify": "off", "duration": "0.5 s"})
        axis = Axis("limit", "link.a-b.controller.limit", [1, 3, 9])
        metrics = {"rate": "link.a-b.mean_rate_bps", "changes": "link.a-b.rate_changes"}
        sweep = Sweep(base, [axis], 3, metrics)
        return json.dumps(sweep.run(workers=workers).table.to_pylist())

    assert measured(1) == measured(8)


def test_runs_that_call_python_get_processes_unless_only_this_process_has_the_class(folder: Path) -> None:
    def team(scenario: Scenario, count: int) -> type:
        job = Job("key", 1, scenario.checked, "place", 1.0)
        return type(local_team(LongestFirst([job]), count))

    importable = Scenario.from_file(folder / "mine.toml")
    assert team(importable, 2) is Processes
    assert team(importable, 1) is Threads
    assert team(importable.with_values({"link.a-b.controller": None}), 2) is Threads

    class Local(netlull.RateController):
        def tick(self, seen: Any) -> None: ...

    assert team(small(Local()), 2) is Threads


def test_a_failing_class_ends_a_sweep_with_its_traceback(folder: Path) -> None:
    (folder / "half.py").write_text(HALF.replace("seen.queue_packets", "seen.no_such"), encoding="utf-8")
    base = Scenario.from_file(folder / "mine.toml", values={"duration": "0.5 s"})
    sweep = Sweep(base, [], 4, {"rate": "link.a-b.mean_rate_bps"})
    with pytest.raises(ScenarioError, match=r"link.a-b.controller.tick: is AttributeError") as error:
        sweep.run(workers=2)
    assert "half.py" in str(error.value.__cause__)


# Packages.


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with an installed package: a working plug-in, a broken one, and one with a name of netlull's own."""
    target = tmp_path / "site"
    (target / "tiny").mkdir(parents=True)
    (target / "tiny" / "__init__.py").write_text(HALF, encoding="utf-8")
    (target / "tiny" / "broken.py").write_text("raise RuntimeError('out of order')\n", encoding="utf-8")
    info = target / "tiny_plugins-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-plugins\nVersion: 1.2\n", encoding="utf-8")
    entries = """
        [netlull.controllers]
        halves = tiny:Half
        broken = tiny.broken:Half
        practra = tiny:Half
    """
    (info / "entry_points.txt").write_text(textwrap.dedent(entries), encoding="utf-8")
    return target


def test_a_package_registers_a_name(folder: Path, site: Path) -> None:
    text = SCENARIO.replace('kind = "python"\nclass = "half:Half"', 'kind = "halves"\nlimit = 3')
    (folder / "packaged.toml").write_text(text, encoding="utf-8")
    done = netlull_command("run", "packaged.toml", "--json", folder=folder, path=site)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["links"][0]["rate_changes"] > 0
    listed = netlull_command("list", "mechanisms", "halves", "--json", folder=folder, path=site)
    (entry,) = json.loads(listed.stdout)
    assert entry["source"] == "tiny-plugins 1.2"
    assert entry["description"] == "Runs the link at half of its rate while the queue is short."
    limit = next(each for each in entry["parameters"] if each["name"] == "limit")
    assert (limit["default"], limit["description"]) == ("5", "The packets of a short queue.")
    warned = listed.stderr.splitlines()
    assert any('"broken" of the package tiny-plugins 1.2 cannot be used' in line for line in warned)
    assert any('"practra" of the package tiny-plugins 1.2 cannot be used' in line for line in warned)


def test_the_doctor_examines_packages(folder: Path, site: Path) -> None:
    done = netlull_command("doctor", "--json", folder=folder, path=site)
    (check,) = [each for each in json.loads(done.stdout)["checks"] if each["name"] == "plug-ins"]
    assert not check["ok"]
    assert "broken of tiny-plugins 1.2" in check["message"]
    without = netlull_command("doctor", "--json", folder=folder)
    assert "plug-ins" not in {each["name"] for each in json.loads(without.stdout)["checks"]}


def test_a_broken_package_is_named_where_it_is_used_and_hurts_nothing_else(folder: Path, site: Path) -> None:
    text = SCENARIO.replace('kind = "python"\nclass = "half:Half"', 'kind = "broken"')
    (folder / "packaged.toml").write_text(text, encoding="utf-8")
    done = netlull_command("run", "packaged.toml", folder=folder, path=site)
    assert done.returncode == 1
    assert (
        'link.a-b.controller.kind: is "broken" of the package tiny-plugins 1.2, which raises RuntimeError'
        in done.stderr
    )
    assert "raise RuntimeError('out of order')" in done.stderr
    for command in (["run", "mine.toml"], ["list", "power"], ["schema"]):
        assert netlull_command(*command, folder=folder, path=site).returncode == 0


def test_a_plan_reads_the_traffic_of_a_scenario_without_its_classes(folder: Path) -> None:
    text = SCENARIO.replace('verify = "replay"\n', "").replace(
        '[[flow]]\nkind = "tcp"\n', '[[flow]]\nkind = "cbr"\nrate = "1 Mb/s"\n'
    )
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    result = Scenario.from_file(folder / "mine.toml").run()
    (folder / "half.py").unlink()
    (demand,) = measured(result).demands
    assert (demand.source, demand.target) == ("a", "b")


def test_an_emulation_has_no_classes(folder: Path) -> None:
    text = SCENARIO.replace('verify = "replay"\n', "")
    checked = Scenario.from_toml(text, folder=folder).checked
    with pytest.raises(ScenarioError, match=r'link.a-b.controller: is "Half", a custom controller of this program'):
        checked.emulation_plan()


def test_the_vocabulary_has_a_version() -> None:
    assert netlull.vocabulary()["x-version"] == 1


def test_folders_of_scenarios_are_known_to_other_processes(folder: Path) -> None:
    Scenario.from_file(folder / "mine.toml")
    assert str(folder.resolve()) in loading.folders()


# Modules of folders.


def plug_in_source(folder: Path) -> str:
    """The digest of the class of a folder's scenario."""
    source: str = json.loads(Scenario.from_file(folder / "mine.toml").canonical())["link"][0]["controller"]["source"]
    return source


@pytest.mark.parametrize(
    ("imports", "helper"),
    [
        ("from helpers import gains\nSHARE = gains.SHARE\n", "helpers/gains.py"),
        ("import helpers.gains\nSHARE = helpers.gains.SHARE\n", "helpers/gains.py"),
        ("from helpers import SHARE\n", "helpers/__init__.py"),
    ],
)
def test_a_change_of_an_imported_module_gives_a_new_source(folder: Path, imports: str, helper: str) -> None:
    (folder / "helpers").mkdir()
    (folder / "helpers" / "gains.py").write_text("SHARE = 0.5\n", encoding="utf-8")
    (folder / "half.py").write_text(imports + HALF.replace("/ 2", "* SHARE"), encoding="utf-8")
    (folder / helper).write_text("SHARE = 0.5\n", encoding="utf-8")
    first = plug_in_source(folder)
    rate = Scenario.from_file(folder / "mine.toml").run().summary["links"][0]["mean_rate_bps"]
    (folder / helper).write_text("SHARE = 0.25\n", encoding="utf-8")
    assert plug_in_source(folder) != first
    assert Scenario.from_file(folder / "mine.toml").run().summary["links"][0]["mean_rate_bps"] < rate


@pytest.mark.parametrize("imports", ["from my_package.gains import SHARE\n", "from .gains import SHARE\n"])
def test_a_package_in_the_folder_resolves_its_imports_from_the_folder(folder: Path, imports: str) -> None:
    package = folder / "my_package"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "core.py").write_text(imports + HALF.replace("/ 2", "* SHARE"), encoding="utf-8")
    (package / "gains.py").write_text("SHARE = 0.5\n", encoding="utf-8")
    (folder / "mine.toml").write_text(SCENARIO.replace("half:Half", "my_package.core:Half"), encoding="utf-8")
    first = plug_in_source(folder)
    (package / "gains.py").write_text("SHARE = 0.25\n", encoding="utf-8")
    assert plug_in_source(folder) != first


@pytest.mark.parametrize("is_late", [False, True])
def test_folders_with_the_same_names_keep_their_own_modules(tmp_path: Path, is_late: bool) -> None:
    scenarios = []
    for name, share in (("a", 0.5), ("b", 0.25)):
        place = tmp_path / name
        place.mkdir()
        source = "from util import SHARE\n" + HALF.replace("/ 2", "* SHARE")
        if is_late:
            source = HALF.replace("        return", "        from util import SHARE\n        return").replace(
                "/ 2", "* SHARE"
            )
        (place / "half.py").write_text(source, encoding="utf-8")
        (place / "util.py").write_text(f"SHARE = {share}\n", encoding="utf-8")
        (place / "mine.toml").write_text(SCENARIO, encoding="utf-8")
        scenarios.append(Scenario.from_file(place / "mine.toml"))
    first, second = (scenario.run().summary["links"][0]["mean_rate_bps"] for scenario in scenarios)
    assert second < first
    again = scenarios[0].run().summary["links"][0]["mean_rate_bps"]
    assert again == first


def test_a_module_that_exits_is_named(folder: Path) -> None:
    (folder / "half.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    done = netlull_command("run", "mine.toml", folder=folder)
    assert done.returncode != 0
    assert 'link.a-b.controller.class: is "half:Half", whose module raises SystemExit' in done.stderr


def test_a_class_without_a_file_has_the_digest_of_its_code() -> None:
    def source(gain: float, bound: str = "seen.rate") -> str:
        code = f"""
            class Local(netlull.RateController):
                def tick(self, seen, gain={gain}):
                    return self.fast(seen)
                @property
                def slow(self):
                    return GAIN * 1e6
                def fast(self, seen):
                    return {bound}
        """
        space: dict[str, Any] = {"netlull": netlull, "__name__": "no_such_notebook", "GAIN": gain}
        exec(textwrap.dedent(code), space)  # noqa: S102
        return source_of(space["Local"], netlull.plugins.PlugIn)

    assert source(2.0) == source(2.0)
    assert len({source(2.0), source(3.0), source(2.0, "None")}) == 3


# Tapes of other scenarios.


TWO = SCENARIO.replace(
    'delay = "10 ms"\n\n[[flow]]',
    'delay = "10 ms"\n[link.controller]\nkind = "python"\nclass = "half:Half"\ninitial_rate = "2 Mb/s"\n\n[[flow]]',
)


def test_two_links_of_one_class_repeat_their_own_parameters(folder: Path) -> None:
    (folder / "mine.toml").write_text(TWO, encoding="utf-8")
    first = Scenario.from_file(folder / "mine.toml")
    result = first.run(tape=folder / "two.tape")
    again = Scenario.from_file(folder / "mine.toml", replay=folder / "two.tape").run()
    assert again.summary == result.summary


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"link.a-b.controller.limit": 7}, "link.a-b.controller.limit: is 7; expected 5, the value on the tape"),
        ({"link.a-b.controller.interval": "6 ms"}, 'interval: is "6 ms"; expected 0.005, the value on the tape'),
        ({"link.a-b.controller.mode": "zzz"}, 'mode: is "zzz"; expected no such value, as on the tape'),
        ({"link.a-b.controller": None}, "scenario: has 0 plug-ins; expected the scenario of the tape, with 1 plug-ins"),
        ({"duration": "1 s"}, "scenario: has the digest "),
        ({"link.a-b.rate": "11 Mb/s"}, "scenario: has the digest "),
    ],
)
def test_a_tape_of_another_scenario_is_refused(folder: Path, values: dict[str, Any], message: str) -> None:
    Scenario.from_file(folder / "mine.toml").run(tape=folder / "half.tape")
    Scenario.from_file(folder / "mine.toml", values={"link.a-b.controller.limit": 5}, replay=folder / "half.tape")
    with pytest.raises(ScenarioError) as refused:
        Scenario.from_file(folder / "mine.toml", values=values, replay=folder / "half.tape")
    assert message in str(refused.value)


def test_an_edited_tape_is_refused(folder: Path) -> None:
    tape = folder / "half.tape"
    Scenario.from_file(folder / "mine.toml").run(tape=tape)
    head, part, *answers = tape.read_text(encoding="utf-8").splitlines()
    for edited in (answers[1:], answers[::-1], [*answers, '{"part":0,"call":99999,"answer":{"rate":"1 Mb/s"}}']):
        tape.write_text("\n".join([head, part, *edited, ""]), encoding="utf-8")
        with pytest.raises(netlull.InputError, match="line 1 is the checksum"):
            Scenario.from_file(folder / "mine.toml", replay=tape)


def test_a_plan_and_a_controller_repeat_together(tmp_path: Path) -> None:
    ring = ["a", "b", "c"]
    links = [Link(one, other, "10 Mb/s", duplex=True) for one, other in zip(ring, [*ring[1:], "a"], strict=True)]
    links[0] = Link("a", "b", "10 Mb/s", duplex=True, controller=Thrifty(rates=["2 Mb/s", "5 Mb/s"]))
    plans = [Sleep("0.2 s", plan=LastOnes())]
    scenario = Scenario(duration="1 s", nodes=ring, links=links, sleep=plans, flows=[Tcp("f", "a", "b")])
    first = scenario.run(tape=tmp_path / "plan.tape")
    again = Scenario.from_toml(_toml(scenario.to_dict()), replay=tmp_path / "plan.tape").run()
    assert again.summary == first.summary


class Thrifty(netlull.RateController):
    """Takes turns with its rates."""

    rates: list[netlull.Rate] = param(["1 Mb/s"])

    def start(self, link: Any) -> None:
        self.ticks = 0

    def tick(self, seen: Any) -> float:
        self.ticks += 1
        return self.rates[self.ticks % len(self.rates)]


# Runs in methods, attributes and answers.


def test_a_method_can_run_another_scenario(tmp_path: Path) -> None:
    inner = small()

    class Nested(netlull.RateController):
        interval = "200 ms"

        def tick(self, seen: Any) -> str:
            inner.run()
            return f"{2 + self.random.randrange(3)} Mb/s"

    scenario = small(Nested())
    first = scenario.run(tape=tmp_path / "nested.tape")
    again = Scenario.from_toml(_toml(scenario.to_dict()), replay=tmp_path / "nested.tape").run()
    assert again.summary == first.summary


def test_start_may_set_times_as_text_but_not_the_initial_rate() -> None:
    class Late(netlull.RateController):
        def start(self, link: Any) -> None:
            self.interval = "500 ms"  # type: ignore[assignment]

        def tick(self, seen: Any) -> float:
            return 1e6 * (1 + seen.now)

    assert small(Late()).run().summary["links"][0]["rate_changes"] in {3, 4}

    class Own(Late):
        def start(self, link: Any) -> None:
            self.initial_rate = 2e6

    with pytest.raises(ScenarioError, match=r"link.a-b.controller.initial_rate: is 2000000.0 after `start`; expected"):
        small(Own()).run()
    with pytest.raises(ScenarioError, match=r"link.a-b.controller.interval: is 1e\+300 s; expected at most 9e\+09 s"):
        small(Late(transition="0 s", interval="1 s")).with_values({"link.a-b.controller": Forever()}).run()


class Forever(netlull.RateController):
    """Has a tick after the end of time."""

    interval = "1e300 s"

    def tick(self, seen: Any) -> None: ...


def window(body: str, **attributes: Any) -> Scenario:
    """A scenario with a congestion control whose `on_ack` has this body."""
    space: dict[str, Any] = {"netlull": netlull, "__name__": __name__}
    code = f"class Window(netlull.CongestionControl):\n    def on_ack(self, ack):\n        {body}\n"
    exec(code, space)  # noqa: S102
    for name, value in attributes.items():
        setattr(space["Window"], name, value)
    return small(flows=[Tcp("f", "a", "b", tcp=TcpOptions(congestion_control=space["Window"]()))])


@pytest.mark.parametrize(
    ("body", "deliveries", "message"),
    [
        ("self.cwnd = True", False, "cwnd: is True; expected a number of 1 or more"),
        ("self.pacing_rate = 1e6", False, "pacing_rate: is 1000000.0; expected None, or the class attribute `deliv"),
        ("self.pacing_rate = None if self.pacing_rate else 1e6", True, "pacing_rate: is None; expected a rate in b/s"),
    ],
)
def test_windows_and_pacing_are_checked(body: str, deliveries: bool, message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        window(body, deliveries=deliveries).run()
    assert f"flow.f.tcp.congestion_control.{message}" in str(error.value)


def test_actions_may_have_numbers() -> None:
    numbers = small(broken("return {'set_rate': {'rate': 5e6, 'pause': 0.002}}")()).run()
    text = small(broken("return {'set_rate': {'rate': '5 Mb/s', 'pause': '2 ms'}}")()).run()
    assert numbers.summary == text.summary
    with pytest.raises(ScenarioError, match=r"an action or None \(missing field `pause`\)"):
        small(broken("return {'set_rate': {'rate': 5e6}}")()).run()
    with pytest.raises(ScenarioError) as error:
        small(broken("return 'x' * 10000")()).run()
    assert len(str(error.value)) < 1000


def test_ctrl_c_in_a_method_stops_the_run() -> None:
    with pytest.raises(KeyboardInterrupt):
        small(broken("raise KeyboardInterrupt")()).run()


def test_an_energy_bound_reads_the_times_of_a_class(folder: Path) -> None:
    text = SCENARIO.replace('class = "half:Half"', 'class = "half:Half"\ntransition = "3 ms"')
    text = text.replace('duration = "2 s"', 'duration = "0.1 s"')
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    done = netlull_command("bound", "mine.toml", "--json", folder=folder)
    assert done.returncode == 0, done.stderr


def test_a_class_that_reads_the_input_does_not_hang_a_sweep(folder: Path) -> None:
    source = HALF.replace("        return", "        import sys\n        assert sys.stdin.read() == ''\n        return")
    (folder / "half.py").write_text(source, encoding="utf-8")
    base = Scenario.from_file(folder / "mine.toml", values={"duration": "0.1 s"})
    table = Sweep(base, [], 2, {"rate": "link.a-b.mean_rate_bps"}).run(workers=2).table
    assert table.num_rows == 2


@pytest.mark.parametrize(
    ("family", "name"),
    [
        *[("RateController", name) for name in ("source", "read", "random", "link", "tick", "kind", "values")],
        *[("CongestionControl", name) for name in ("cwnd", "smss", "on_ack")],
        ("StationPolicy", "timer"),
    ],
)
def test_names_with_another_use_are_refused(family: str, name: str) -> None:
    base = getattr(netlull, family)
    with pytest.raises(TypeError, match=f"Mine.{name}: has a use of netlull's own; expected another name"):
        type("Mine", (base,), {"__annotations__": {name: float}, name: 1.0, "__module__": __name__})


@pytest.mark.parametrize(
    ("hint", "value", "name", "message"),
    [
        (float, param(1, least="x"), "gain", "has least='x'; expected a number"),
        (str, "1 s", "interval", "has another type than in the base class; expected the same type"),
    ],
)
def test_wrong_declarations_are_refused(hint: type, value: object, name: str, message: str) -> None:
    space = {"__annotations__": {name: hint}, name: value, "__module__": __name__}
    with pytest.raises(TypeError, match=message):
        type("Mine", (netlull.RateController,), space).parameters()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 1 / 0", "sleep.0.plan.plan: is ZeroDivisionError: division by zero"),
        ("return {0: 1}", "sleep.0.plan.plan: is {"),
        ("graph.links.append(('a', 'c'))", "sleep.0.plan.plan: is AttributeError: 'tuple' object"),
    ],
)
def test_wrong_sleep_plans_are_named(body: str, message: str) -> None:
    space: dict[str, Any] = {"netlull": netlull, "__name__": __name__}
    code = f"class Plan(netlull.SleepPlan):\n    def plan(self, graph, loads):\n        {body}\n"
    exec(code, space)  # noqa: S102
    links = [Link("a", "b", "10 Mb/s", duplex=True)]
    with pytest.raises(ScenarioError) as error:
        Scenario(duration="1 s", nodes=["a", "b"], links=links, sleep=[Sleep("0.2 s", plan=space["Plan"]())])
    assert message in str(error.value)
