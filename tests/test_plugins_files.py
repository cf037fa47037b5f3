"""Classes in Python as files and packages: sources, tapes, sweeps."""

from __future__ import annotations

import json
import pickle
import textwrap
from pathlib import Path
from typing import Any

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
    param,
)
from netlull.plugins import loading
from netlull.plugins.modules import source_of
from netlull.plugins.parameters import RefusedError
from netlull.runs.order import Job, LongestFirst
from netlull.runs.team import Processes, Threads, local_team
from netlull.topology.loads import measured
from plugin_classes import (
    HALF,
    SCENARIO,
    Counting,
    Fixed,
    LastOnes,
    Naps,
    Steps,
    as_toml,
    netlull_command,
    small,
    write_half,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_half(tmp_path)


# Sources and tapes.


def test_the_source_of_a_module_and_of_its_neighbours_is_in_the_key(folder: Path) -> None:
    (folder / "half.py").write_text("from helper import SHARE\n" + HALF.replace("/ 2", "* SHARE"), encoding="utf-8")
    (folder / "helper.py").write_text("SHARE = 0.5\n", encoding="utf-8")
    first = Scenario.from_file(folder / "mine.toml", allow_code=True)
    assert Scenario.from_file(folder / "mine.toml", allow_code=True).key == first.key
    (folder / "unrelated.py").write_text("SHARE = 0.1\n", encoding="utf-8")
    assert Scenario.from_file(folder / "mine.toml", allow_code=True).key == first.key
    (folder / "helper.py").write_text("SHARE = 0.25\n", encoding="utf-8")
    second = Scenario.from_file(folder / "mine.toml", allow_code=True)
    assert second.key != first.key
    assert second.run().summary["links"][0]["mean_rate_bps"] < first.run().summary["links"][0]["mean_rate_bps"]
    # A scenario that names the old source is refused.
    old = json.loads(first.canonical())["link"][0]["controller"]["source"]
    with pytest.raises(ScenarioError, match=r"link.a-b.controller.source: is .*that of the class now"):
        Scenario.from_file(folder / "mine.toml", values={"link.a-b.controller.source": old}, allow_code=True)


def test_a_tape_repeats_the_run_without_the_class(folder: Path) -> None:
    first = netlull_command(
        "run", "mine.toml", "--allow-code", "--tape", "half.tape", "--seed", "7", "--json", folder=folder
    )
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
    again = Scenario.from_toml(as_toml(document), replay=tape).run()
    assert again.summary == first.summary


def test_a_tape_of_a_sleep_plan_has_its_links(tmp_path: Path) -> None:
    ring = ["a", "b", "c"]
    links = [Link(one, other, "10 Mb/s", duplex=True) for one, other in zip(ring, [*ring[1:], "a"], strict=True)]
    scenario = Scenario(duration="1 s", nodes=ring, links=links, sleep=[Sleep("0.2 s", plan=LastOnes())])
    first = scenario.run(tape=tmp_path / "plan.tape")
    again = Scenario.from_toml(as_toml(scenario.to_dict()), replay=tmp_path / "plan.tape").run()
    assert again.summary == first.summary


# Sweeps.


def test_a_sweep_has_the_same_bytes_with_one_and_with_eight_workers(folder: Path) -> None:
    def measured(workers: int) -> str:
        base = Scenario.from_file(folder / "mine.toml", values={"verify": "off", "duration": "0.5 s"}, allow_code=True)
        axis = Axis("limit", "link.a-b.controller.limit", [1, 3, 9])
        metrics = {"rate": "link.a-b.mean_rate_bps", "changes": "link.a-b.rate_changes"}
        sweep = Sweep(base, [axis], 3, metrics)
        return json.dumps(sweep.run(workers=workers).table.to_pylist())

    assert measured(1) == measured(8)


def test_runs_that_call_python_get_processes_unless_only_this_process_has_the_class(folder: Path) -> None:
    def team(scenario: Scenario, count: int) -> type:
        job = Job("key", 1, scenario.checked, "place", 1.0)
        return type(local_team(LongestFirst([job]), count))

    importable = Scenario.from_file(folder / "mine.toml", allow_code=True)
    assert team(importable, 2) is Processes
    assert team(importable, 1) is Threads
    assert team(importable.with_values({"link.a-b.controller": None}), 2) is Threads

    class Local(netlull.RateController):
        def tick(self, seen: Any) -> None: ...

    assert team(small(Local()), 2) is Threads


def test_a_failing_class_ends_a_sweep_with_its_traceback(folder: Path) -> None:
    (folder / "half.py").write_text(HALF.replace("seen.queue_packets", "seen.no_such"), encoding="utf-8")
    base = Scenario.from_file(folder / "mine.toml", values={"duration": "0.5 s"}, allow_code=True)
    sweep = Sweep(base, [], 4, {"rate": "link.a-b.mean_rate_bps"})
    with pytest.raises(ScenarioError, match=r"link.a-b.controller.tick: is AttributeError") as error:
        sweep.run(workers=2)
    assert "half.py" in str(error.value.__cause__)


# Packages.


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with an installed package: a working plug-in, a broken one, and one with a built-in name."""
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
    # A class that only its name tells apart from the core's controllers.
    refused = netlull_command("lab", "packaged.toml", folder=folder, path=site)
    assert refused.returncode == 2
    assert "a part in Python" in refused.stderr
    listed = netlull_command("list", "mechanisms", "halves", "--json", folder=folder, path=site)
    (entry,) = json.loads(listed.stdout)
    assert entry["source"] == "tiny-plugins 1.2"
    assert entry["description"] == "Runs the link at half of its rate while the queue is short."
    limit = next(each for each in entry["parameters"] if each["name"] == "limit")
    assert (limit["default"], limit["description"]) == ("5", "The packets of a short queue.")
    warned = listed.stderr.splitlines()
    assert any('"broken" of the package tiny-plugins 1.2 cannot be used' in line for line in warned)
    (practra,) = [line for line in warned if '"practra" of the package tiny-plugins 1.2 cannot be used' in line]
    assert practra.endswith('"practra" is a built-in name; expected another name')


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
    for command in (["run", "mine.toml", "--allow-code"], ["list", "power"], ["schema"]):
        assert netlull_command(*command, folder=folder, path=site).returncode == 0


def test_a_plan_reads_the_traffic_of_a_scenario_without_its_classes(folder: Path) -> None:
    text = SCENARIO.replace('verify = "replay"\n', "").replace(
        '[[flow]]\nkind = "tcp"\n', '[[flow]]\nkind = "cbr"\nrate = "1 Mb/s"\n'
    )
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    result = Scenario.from_file(folder / "mine.toml", allow_code=True).run()
    (folder / "half.py").unlink()
    (demand,) = measured(result).demands
    assert (demand.source, demand.target) == ("a", "b")


def test_an_emulation_has_no_classes(folder: Path) -> None:
    text = SCENARIO.replace('verify = "replay"\n', "")
    checked = Scenario.from_toml(text, folder=folder, allow_code=True).checked
    with pytest.raises(ScenarioError, match=r'link.a-b.controller: is "Half", a custom controller of this program'):
        checked.emulation_plan()


def test_the_vocabulary_has_a_version() -> None:
    assert netlull.vocabulary()["x-version"] == 1


def test_folders_of_scenarios_are_known_to_other_processes(folder: Path) -> None:
    Scenario.from_file(folder / "mine.toml", allow_code=True)
    folders, classes = loading.pass_on()
    assert str(folder.resolve()) in folders
    assert "half:Half" in {reference for reference, _ in classes}


# Modules of folders.


def plug_in_source(folder: Path) -> str:
    """The digest of the class of a folder's scenario."""
    source: str = json.loads(Scenario.from_file(folder / "mine.toml", allow_code=True).canonical())["link"][0][
        "controller"
    ]["source"]
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
    rate = Scenario.from_file(folder / "mine.toml", allow_code=True).run().summary["links"][0]["mean_rate_bps"]
    (folder / helper).write_text("SHARE = 0.25\n", encoding="utf-8")
    assert plug_in_source(folder) != first
    assert Scenario.from_file(folder / "mine.toml", allow_code=True).run().summary["links"][0]["mean_rate_bps"] < rate


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
        scenarios.append(Scenario.from_file(place / "mine.toml", allow_code=True))
    first, second = (scenario.run().summary["links"][0]["mean_rate_bps"] for scenario in scenarios)
    assert second < first
    again = scenarios[0].run().summary["links"][0]["mean_rate_bps"]
    assert again == first


def test_a_module_that_exits_is_named(folder: Path) -> None:
    (folder / "half.py").write_text("import sys\nsys.exit(0)\n", encoding="utf-8")
    done = netlull_command("run", "mine.toml", "--allow-code", folder=folder)
    assert done.returncode != 0
    assert 'link.a-b.controller.class: is "half:Half", whose module raises SystemExit' in done.stderr


def test_a_class_of_type_has_no_source_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    made = type("Made", (netlull.RateController,), {"tick": lambda _self, _seen: 5e6})
    other = type("Made", (netlull.RateController,), {"tick": lambda _self, _seen: 4e6})
    # The metaclass is called in abc, which imports 300 files of the standard library.
    assert made.__module__ == "abc"
    monkeypatch.setattr("ast.parse", None)
    assert source_of(made, netlull.RateController) != source_of(other, netlull.RateController)
    elsewhere = json.dumps({"class": "abc:Made", "source": "0" * 64})
    with pytest.raises(RefusedError) as refused:
        loading.found("controllers", elsewhere)
    assert "one made with type(...) has no source, so other processes cannot load it" in str(refused.value.args)


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
        return source_of(space["Local"], netlull.plugins.classes.PlugIn)

    assert source(2.0) == source(2.0)
    assert len({source(2.0), source(3.0), source(2.0, "None")}) == 3


# Tapes of other scenarios.


TWO = SCENARIO.replace(
    'delay = "10 ms"\n\n[[flow]]',
    'delay = "10 ms"\n[link.controller]\nkind = "python"\nclass = "half:Half"\ninitial_rate = "2 Mb/s"\n\n[[flow]]',
)


def test_two_links_of_one_class_repeat_their_own_parameters(folder: Path) -> None:
    (folder / "mine.toml").write_text(TWO, encoding="utf-8")
    first = Scenario.from_file(folder / "mine.toml", allow_code=True)
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
    Scenario.from_file(folder / "mine.toml", allow_code=True).run(tape=folder / "half.tape")
    Scenario.from_file(folder / "mine.toml", values={"link.a-b.controller.limit": 5}, replay=folder / "half.tape")
    with pytest.raises(ScenarioError) as refused:
        Scenario.from_file(folder / "mine.toml", values=values, replay=folder / "half.tape")
    assert message in str(refused.value)


def test_an_edited_tape_is_refused(folder: Path) -> None:
    tape = folder / "half.tape"
    Scenario.from_file(folder / "mine.toml", allow_code=True).run(tape=tape)
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
    again = Scenario.from_toml(as_toml(scenario.to_dict()), replay=tmp_path / "plan.tape").run()
    assert again.summary == first.summary


class Thrifty(netlull.RateController):
    """Takes turns with its rates."""

    rates: list[netlull.Rate] = param(["1 Mb/s"])

    def start(self, link: Any) -> None:
        self.ticks = 0

    def tick(self, seen: Any) -> float:
        self.ticks += 1
        return self.rates[self.ticks % len(self.rates)]


def test_commands_that_do_not_simulate_load_no_code(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("raise RuntimeError('loaded')\n", encoding="utf-8")
    file = tmp_path / "mine.toml"
    file.write_text(
        'duration = "1 s"\nnodes = ["a", "b"]\n[[link]]\nfrom = "a"\nto = "b"\nrate = "1 Mb/s"\n'
        'controller = { kind = "python", class = "mine:Mine" }\n',
        encoding="utf-8",
    )
    with pytest.raises(ScenarioError, match=r"mine\.toml, line 7, column \d+: link\.a-b\.controller\.class: .* loaded"):
        Scenario.from_file(file, allow_code=True)
    read = Scenario.from_file(file, plug_ins=False)
    assert read.has_plug_ins
    assert "controller" not in json.loads(read.canonical())["link"][0]
    assert "controller" in read.to_dict()["link"][0]


def test_a_change_of_a_scenario_without_code_loads_none(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text("raise RuntimeError('loaded')\n", encoding="utf-8")
    controller = 'controller = { kind = "python", class = "loud:Loud" }'
    text = f'duration = "1 s"\nnodes = ["a", "b"]\n[[link]]\nfrom = "a"\nto = "b"\nrate = "1 Mb/s"\n{controller}\n'
    read = Scenario.from_toml(text, folder=tmp_path, plug_ins=False)
    assert read.with_values({"seed": 3}).seed == 3


def test_the_tape_of_a_pickled_scenario_replays(tmp_path: Path) -> None:
    file, tape = write_half(tmp_path) / "mine.toml", tmp_path / "half.tape"
    copy = pickle.loads(pickle.dumps(Scenario.from_file(file, allow_code=True)))  # noqa: S301  # our own
    recorded = copy.run(tape=tape)
    assert Scenario.from_file(file, replay=tape).run().summary == recorded.summary
