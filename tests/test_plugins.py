"""Classes in Python: parameters, runs, errors, attributes and answers."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import netlull
from netlull import (
    Link,
    Scenario,
    ScenarioError,
    Sleep,
    Station,
    Sweep,
    Tcp,
    TcpOptions,
    param,
)
from plugin_classes import (
    HALF,
    SCENARIO,
    Counting,
    Fixed,
    LastOnes,
    Naps,
    Steps,
    as_toml,
    broken,
    netlull_command,
    small,
    write_half,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_half(tmp_path)


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


def test_documents_refuse_quantities_without_a_unit_and_objects_write_them() -> None:
    def table(**values: object) -> Any:
        return {"kind": "python", "class": f"{__name__}:Steps", **values}

    for values, message in (
        ({"low": 2e6}, 'low: is 2000000.0; expected a quantity with a unit, such as "10 Mb/s"'),
        ({"interval": 1}, 'interval: is 1; expected a quantity with a unit, such as "40 ms"'),
    ):
        with pytest.raises(ScenarioError, match=f"controller.{message}"):
            small(table(**values))
    scenario = small(table(low="2 Mb/s", interval="1 ms", weights=[1, 2]))
    assert small(Steps(low=2e6, interval=0.001, weights=[1, 2])).canonical() == scenario.canonical()
    written = dict(Steps(low=2e6, limit=3))
    assert (written["low"], written["limit"]) == ("2000000.0 b/s", 3)
    # The whole table of a checked scenario has numbers, with the source of the class.
    assert Scenario.from_dict(scenario.to_dict(), allow_code=True).canonical() == scenario.canonical()


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
    by_table = Scenario.from_file(folder / "mine.toml", allow_code=True)
    table = json.loads(by_table.canonical())["link"][0]["controller"]
    assert (table["class"], table["limit"], table["interval"]) == ("half:Half", 5, 0.005)
    assert len(table["source"]) == 64
    result = by_table.run()
    link = result.summary["links"][0]
    assert link["rate_changes"] > 0
    assert link["mean_rate_bps"] < 10e6
    again = Scenario.from_file(folder / "mine.toml", values={"link.a-b.controller.limit": 5}, allow_code=True).run()
    assert again.summary == result.summary
    other = Scenario.from_file(folder / "mine.toml", values={"link.a-b.controller.limit": 2}, allow_code=True).run()
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


def test_thresholds_beyond_number_are_refused_at_once() -> None:
    class Watches(netlull.RateController):
        def threshold(self, seen: Any) -> None:
            raise AssertionError

    lengths = [f"{number} packets" for number in range(1, 100_002)]
    begun = time.process_time()
    with pytest.raises(ScenarioError, match=r"thresholds: is a list of 100001; expected at most 10000"):
        small(Watches(thresholds=lengths))
    # Reading each took 12 s.
    assert time.process_time() - begun < 5


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
        Scenario.from_file(folder / "mine.toml", values={"link.a-b.controller.class": reference}, allow_code=True)
    assert str(error.value).startswith(f"link.a-b.controller.class: is {message}")


def test_the_command_shows_the_traceback_and_ends_with_1(folder: Path) -> None:
    (folder / "half.py").write_text(HALF.replace("seen.queue_packets", "seen.no_such"), encoding="utf-8")
    done = netlull_command("run", "mine.toml", "--allow-code", "--out", "out", "--tape", "x.tape", folder=folder)
    assert done.returncode == 1, done.stderr
    assert 'half.py", line 12, in tick' in done.stderr
    assert "AttributeError: " in done.stderr
    assert done.stderr.splitlines()[-1].startswith("netlull: link.a-b.controller.tick: is AttributeError")
    assert not (folder / "out").exists()
    assert not (folder / "x.tape").exists()


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
    again = Scenario.from_toml(as_toml(scenario.to_dict()), replay=tmp_path / "nested.tape").run()
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
    done = netlull_command("bound", "mine.toml", "--allow-code", "--json", folder=folder)
    assert done.returncode == 0, done.stderr


def test_a_class_that_reads_the_input_does_not_hang_a_sweep(folder: Path) -> None:
    source = HALF.replace("        return", "        import sys\n        assert sys.stdin.read() == ''\n        return")
    (folder / "half.py").write_text(source, encoding="utf-8")
    base = Scenario.from_file(folder / "mine.toml", values={"duration": "0.1 s"}, allow_code=True)
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
    with pytest.raises(TypeError, match=f"Mine.{name}: is a reserved name; expected another name"):
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
