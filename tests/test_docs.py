"""The how-to pages work as printed."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import netlull
from conftest import ROOT, SHIPPED
from netlull import Link, Result, Scenario, Sweep, builders, catalogue
from netlull.cli import main
from netlull.library import shipped
from netlull.topology import Topology

HOW_TO = ROOT / "docs" / "how-to"


def _blocks(page: str, language: str) -> list[str]:
    text = (HOW_TO / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


@pytest.fixture
def scenario_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`scenario.toml` in the working folder, as on the pages about sweeps."""
    monkeypatch.chdir(tmp_path)
    text = (SHIPPED / "scenarios" / "practra-link.toml").read_text(encoding="utf-8")
    path = tmp_path / "scenario.toml"
    path.write_text(text.replace('duration = "300 s"', 'duration = "2 s"'), encoding="utf-8")
    return path


@pytest.mark.usefixtures("scenario_file")
def test_the_python_page_runs() -> None:
    names: dict[str, object] = {}
    for block in _blocks("python.md", "python"):
        exec(compile(block, "python.md", "exec"), names)  # noqa: S102  # our own page
    assert Result.load("out/my-run").summary["seed"] == 7


def test_the_fluid_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in _blocks("fluid.md", "python"):
        exec(compile(block, "fluid.md", "exec"), names)  # noqa: S102  # our own page
    assert names["awm"].stable
    # 40 kB off at first, and a time constant of about 2 T / beta = 0.8 s: exp(-2 / 0.8) x 40 kB = 3.3 kB off after 2 s.
    assert 45e3 < names["run"].queue_bytes[-1] < 50e3
    assert (tmp_path / "stability.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_the_tcp_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options, sweep = _blocks("tcp.md", "toml")
    (tmp_path / "tcps.toml").write_text(sweep, encoding="utf-8")
    assert Scenario.from_file(shipped()["dumbbell"]).with_values(tomllib.loads(options))
    for block in _blocks("tcp.md", "console"):
        for line in block.splitlines():
            prompt, command, *arguments = shlex.split(line)
            assert (prompt, command) == ("$", "netlull")
            assert main(arguments) == 0, line
    (code,) = _blocks("tcp.md", "python")
    exec(compile(code, "tcp.md", "exec"), {})  # noqa: S102  # our own page
    assert {path.name for path in tmp_path.glob("*.svg")} >= {"duel.svg", "three.svg", "recoveries.svg", "tcps.svg"}


def test_the_index_of_tcps_has_each_of_them() -> None:
    index = (ROOT / "docs" / "models" / "tcp" / "README.md").read_text(encoding="utf-8")
    for entry in catalogue()["tcp"]:
        assert f"| `{entry['name']}` |" in index, entry["name"]
        assert f"({Path(entry['page']).name})" in index, entry["page"]
    for option in catalogue()["tcp-options"]:
        if option["name"] == "loss_recovery":
            assert all(f"| `{value['name']}` |" in index for value in option["values"])


@pytest.mark.parametrize("entry", catalogue()["tcp"], ids=lambda entry: str(entry["name"]))
def test_every_tcp_has_its_page(entry: dict[str, Any]) -> None:
    page = (ROOT / entry["page"]).read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", page, flags=re.MULTILINE)
    assert {"Scope and limitations", "Equations", "Parameters", "Validation", "References"} <= set(headings)
    assert f"`{entry['name']}`" in page or f'"{entry["name"]}"' in page


def test_the_first_command_is_near_the_top_of_the_readme() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    before, _, _ = text.partition("netlull run dumbbell")
    assert len(before.split()) <= 120


def test_the_controller_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    controller, used, control, policy, plan = _blocks("own-controller.md", "python")
    assert len(controller.splitlines()) < 20
    (tmp_path / "mine.py").write_text(controller, encoding="utf-8")
    scenario, sweep, _ = _blocks("own-controller.md", "toml")
    (tmp_path / "mine.toml").write_text(scenario.replace('"20 s"', '"2 s"'), encoding="utf-8")
    (tmp_path / "sweep.toml").write_text(sweep, encoding="utf-8")
    for block in _blocks("own-controller.md", "console"):
        for line in block.splitlines():
            prompt, command, *arguments = shlex.split(line)
            assert (prompt, command) == ("$", "netlull")
            assert main(arguments) == 0, line
    assert (tmp_path / "link.svg").exists()
    for block in (used, control, policy, plan):
        exec(compile(block, "own-controller.md", "exec"), {"__name__": "page"})  # noqa: S102  # our own page
    with pytest.raises(netlull.ScenarioError) as error:
        Scenario.from_file("mine.toml", values={"link.a-b.controller.headroom": 0.5})
    assert str(error.value) == _blocks("own-controller.md", "text")[0].strip()


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *(SHIPPED / "papers").rglob("README.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"


@pytest.mark.usefixtures("scenario_file")
def test_the_sweep_page_runs() -> None:
    for block in _blocks("sweep.md", "python"):
        names: dict[str, object] = {}
        exec(compile(block, "sweep.md", "exec"), names)  # noqa: S102  # our own page
    assert Path("out/my-sweep/results.parquet").exists()


def test_the_sweep_pages_file_is_a_sweep(scenario_file: Path) -> None:
    path = scenario_file.with_name("sweep.toml")
    grid, experiment, listed, sample = _blocks("sweep.md", "toml")
    path.write_text(grid, encoding="utf-8")
    assert len(Sweep.from_file(path).points()) == 3 * 2
    path.write_text(grid + experiment, encoding="utf-8")
    (point,) = Sweep.from_file(path).points()
    assert (point.experiment, point.seeds, point.values) == ("reference", (1,), {"rtt": 10.0})
    base = 'scenario = "scenario.toml"\n[metrics]\ngoodput_bps = "flow.tcp.goodput_bps"\n'
    path.write_text(base + listed, encoding="utf-8")
    assert [each.values for each in Sweep.from_file(path).points()][1] == {"rtt": 30.0, "buffer": 100.0}
    path.write_text(base + sample, encoding="utf-8")
    assert len(Sweep.from_file(path).points()) == 50


def test_the_devices_of_the_guide_have_the_watts_that_it_gives() -> None:
    scenario, box, deep, parts, ideal = _blocks("device.md", "toml")
    found = Scenario.from_toml(scenario).run().metric("network.energy.my-switch-port.total_j")
    assert found == pytest.approx(6, abs=1e-3)
    for tables in (box, deep, ideal):
        assert Scenario.from_toml(scenario + tables)
    nodes = ["core1", "core2", "leased"]
    links = [Link(one, two, "1 Gb/s", "1 ms", "1 BDP") for one, two in (("core1", "leased"), ("leased", "core2"))]
    network = Scenario(duration="1 s", nodes=nodes, links=links, power=tomllib.loads(parts)["power"])
    result = network.run()
    watts = {name: result.link(name)["energy"]["as built"]["mean_w"] for name in ("core1-leased", "leased-core2")}
    # A link of its own, and a link of a node without an entry: 33.19/24 W of box and a 1G port.
    assert watts["core1-leased"] == pytest.approx(5)
    assert watts["leased-core2"] == pytest.approx(33.19 / 24 + 0.059)
    (code,) = _blocks("device.md", "python")
    names: dict[str, Any] = {}
    exec(compile(code, "device.md", "exec"), names)  # noqa: S102  # our own page
    assert names["scenario"].run().link("a-b")["energy"]["access-router"]["total_j"] > 0


def test_the_compare_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (sweep,) = _blocks("compare.md", "toml")
    (tmp_path / "sweep.toml").write_text(sweep, encoding="utf-8")
    web = shipped()["web-load"].read_text(encoding="utf-8").replace('"600 s"', '"20 s"')
    (tmp_path / "busy.toml").write_text(web, encoding="utf-8")
    (tmp_path / "calm.toml").write_text(web.replace('offered = "8 Mb/s"', 'offered = "2 Mb/s"'), encoding="utf-8")
    for block in _blocks("compare.md", "console"):
        for line in block.splitlines():
            prompt, command, *arguments = shlex.split(line)
            assert (prompt, command) == ("$", "netlull")
            assert main(arguments) == 0, line
    (code,) = _blocks("compare.md", "python")
    exec(compile(code, "compare.md", "exec"), {})  # noqa: S102  # our own page


def test_the_doze_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    station, sweep = _blocks("doze.md", "toml")
    assert Scenario.from_dict(Scenario.from_file(shipped()["doze"]).to_dict() | tomllib.loads(station))
    # A part of the downloads, for a fast test.
    assert "[experiment.set]\n" in sweep
    shorter = sweep.replace("[experiment.set]\n", '[experiment.set]\n"flow.download.size" = "500 kB"\n')
    (tmp_path / "doze-sweep.toml").write_text(shorter, encoding="utf-8")
    assert Sweep.from_file(tmp_path / "doze-sweep.toml").points()[0].seeds == tuple(range(1, 11))
    for block in _blocks("doze.md", "console"):
        for line in block.splitlines():
            prompt, command, *arguments = shlex.split(line)
            assert (prompt, command) == ("$", "netlull")
            assert main(arguments) == 0, line
    (code,) = _blocks("doze.md", "python")
    exec(compile(code, "doze.md", "exec"), {})  # noqa: S102  # our own page
    pictures = {path.name for path in tmp_path.glob("*.svg")}
    assert pictures == {f"{name}.svg" for name in ("doze", "whole", "psm", "start", "again", "rtt", "sun", "stanford")}


def test_the_topology_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own, scenario, day = _blocks("topology.md", "toml")
    shown, others, planned, drawn = _blocks("topology.md", "console")
    for line in [*shown.splitlines(), *planned.splitlines()]:
        prompt, command, *arguments = shlex.split(line)
        assert (prompt, command) == ("$", "netlull")
        assert main(arguments) == 0, line
    assert "--modules always" in others
    assert "--phase after" in drawn
    (code,) = _blocks("topology.md", "python")
    exec(compile(code, "topology.md", "exec"), {})  # noqa: S102  # our own page
    assert {path.name for path in tmp_path.glob("*.svg")} == {"abilene.svg", "loads.svg", "mine.svg", "plan.svg"}
    (tmp_path / "alps.toml").write_text(own, encoding="utf-8")
    assert Topology.from_file("alps.toml").delay_ns(Topology.from_file("alps.toml").lines[1]) == 1_500_000
    run = Scenario.from_toml(scenario).with_values({"duration": "1 s"}).run()
    assert run.link("SNVAng-STTLng")["rate_bps"] == 5e6
    assert run.flow("download")["goodput_bps"] > 0
    document = Scenario.from_toml(scenario).to_dict()
    tables = tomllib.loads(day)["topology"]["traffic"]
    several = Scenario.from_dict(document | {"topology": {**document["topology"], "traffic": tables}})
    flows = json.loads(several.canonical())["flow"]
    times = [(flow["name"].partition("-")[0], flow["start"], flow.get("stop")) for flow in flows[1:]]
    assert set(times) == {("night", "0 s", "10 s"), ("day", "10 s", None)}


def test_the_sleep_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]) -> None:
    monkeypatch.chdir(tmp_path)
    network, flow, sweep = _blocks("sleep.md", "toml")
    Path("network.toml").write_text(network, encoding="utf-8")
    Path("sleep.toml").write_text(sweep, encoding="utf-8")
    downloads = Scenario.from_toml(network + flow).with_values({"duration": "20 s"}).run().flow("downloads")
    assert downloads["p95_completion_s"] > 0
    output = ""
    for block in _blocks("sleep.md", "console"):
        for line in block.splitlines():
            prompt, command, *arguments = shlex.split(line)
            assert (prompt, command) == ("$", "netlull")
            output += printed(*arguments)
    assert "N-1 minus no sleep" in output
    shown = "".join(_blocks("sleep.md", "text"))
    for row in (" ".join(line.split()) for line in shown.splitlines() if "─" not in line):
        assert row in " ".join(output.split())
    assert {path.name for path in tmp_path.glob("*.svg")} == {"map.svg", "plan.svg", "loads.svg"}


def test_the_page_on_eee_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    link, timers = _blocks("eee.md", "toml")
    Path("my-link.toml").write_text(link, encoding="utf-8")
    Path("timers.toml").write_text(timers, encoding="utf-8")
    (console,) = _blocks("eee.md", "console")
    prompt, command, *arguments = shlex.split(console)
    assert (prompt, command) == ("$", "netlull")
    output = " ".join(printed(*arguments).split())
    _, shown = _blocks("eee.md", "text")
    for row in (" ".join(line.split()) for line in shown.splitlines() if "─" not in line):
        assert row in output
    # The numbers of the short answer: energy saved, and milliseconds that the timer adds to the median.
    text = (HOW_TO / "eee.md").read_text(encoding="utf-8")
    frame = pd.read_parquet("timers/results.parquet")
    means = frame.groupby(["load", "timer"])[["saved", "p50_s"]].mean()
    off = means.loc[(20.0, "EEE off")]
    for timer, saves, adds in (("250 us", "saves 75 %", "adds 0.05 ms"), ("5 us", "saves 78 %", "adds 0.26 ms")):
        found = means.loc[(20.0, timer)]
        assert f"saves {100 * found['saved']:.0f} %" == saves
        assert f"adds {1e3 * (found['p50_s'] - off['p50_s']):.2f} ms" == adds
        assert saves in text
        assert adds in text
    busy = [100 * means.loc[(200.0, timer), "saved"] for timer in ("250 us", "5 us")]
    assert f"the timers of 250 us and 5 us save {busy[0]:.0f} and {busy[1]:.0f} %" in text
    assert not means.loc[(20.0, "250 ms"), "saved"]
    assert means.loc[(20.0, "250 ms"), "p50_s"] == off["p50_s"]


def test_the_page_of_pictures_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (HOW_TO / "picture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| `netlull ([^`]*)` \|$", text, flags=re.MULTILINE)
    shown = [
        line.removeprefix("$ netlull ") for block in _blocks("picture.md", "console") for line in block.splitlines()
    ]
    for command in [*rows, *shown]:
        printed(*shlex.split(command))
    pictures = {"sawtooth.svg", "duel.svg", "three.svg", "link.svg", "doze.svg", "asleep.svg"}
    assert {path.name for path in tmp_path.glob("*.svg")} == pictures
    assert (tmp_path / "practra" / "figures" / "links.svg").exists()


@pytest.mark.usefixtures("scenario_file")
def test_the_sweep_pages_search_for_seeds_runs() -> None:
    grid, *_ = _blocks("sweep.md", "toml")
    # The shipped scenario with a shorter duration.
    Path("sweep.toml").write_text(grid.replace('"practra-link"', '"scenario.toml"'), encoding="utf-8")
    _, until = _blocks("sweep.md", "console")
    _, _, *arguments = shlex.split(until)
    assert main([*arguments[:-1], "20"]) == 0


def test_the_scenario_pages_examples_are_scenarios() -> None:
    whole, repeated, controlled, stepped, traced, managed, lossy, late, stopped, paused, spread, *rest = _blocks(
        "scenario.md", "toml"
    )
    assert "trace" in tomllib.loads(traced)["capacity"]["kind"]
    web, recording, phases, day, sleep, probe = rest
    assert len(Scenario.from_toml(repeated).run().summary["flows"]) == 50
    scenario = Scenario.from_toml(whole.replace('duration = "60 s"', 'duration = "6 s"'))
    changed = scenario.to_dict() | tomllib.loads(probe)
    assert "link" in Scenario.from_dict(changed).run().series_names
    # The controlled link replaces the second link of the first block's network.
    links = [scenario.to_dict()["link"][0], *tomllib.loads(controlled)["link"]]
    assert Scenario.from_dict(scenario.to_dict() | {"link": links}).run().link("router-receiver")["rate_changes"] > 0
    # So does the next one. The capacity is 10 Mb/s until 30 s.
    links = [scenario.to_dict()["link"][0], *tomllib.loads(stepped)["link"], *tomllib.loads(controlled)["link"][1:]]
    run = Scenario.from_dict(scenario.to_dict() | {"link": links}).run()
    assert run.link("router-receiver")["mean_rate_bps"] == 10e6
    links = [scenario.to_dict()["link"][0], *tomllib.loads(managed)["link"]]
    assert Scenario.from_dict(scenario.to_dict() | {"link": links}).run().link("router-receiver")["queue"] == "red"
    # The fifth one replaces the first link; its losses fall into the warm-up.
    links = [*tomllib.loads(lossy)["link"], scenario.to_dict()["link"][1]]
    run = Scenario.from_dict(scenario.to_dict() | {"link": links, "warm_up": "0 s"}).run()
    assert run.link("sender-router")["lost_packets"] == 3
    # The sixth and the seventh one are more traffic for the first one's network. The first upload stops after 30 of
    # 60 s at 500 kb/s, written in pieces of 10 kB: 188 of them (187 x 160 ms = 29.92 s), and closes.
    flows = [*scenario.to_dict()["flow"], *tomllib.loads(stopped)["flow"]]
    run = Scenario.from_dict(scenario.to_dict() | {"flow": flows, "duration": "60 s", "warm_up": "0 s"}).run()
    assert run.flow("upload-1")["delivered_bytes"] == 188 * 10_000
    assert all(run.flow(f"upload-{n}")["completion_time_s"] >= 30 for n in range(1, 21))
    # Nothing is sent from 2 s to 8 s, 2 Mb/s to 12 s.
    steps = [{"name": "pause", "from": "3 s", "to": "8 s"}, {"name": "slow", "from": "9 s", "to": "12 s"}]
    parts = tomllib.loads(paused) | {"duration": "14 s", "warm_up": "0 s", "phase": steps}
    run = Scenario.from_dict(scenario.to_dict() | parts).run()
    assert run.metric("phase.pause.flow.pauses.goodput_bps") == 0
    assert run.metric("phase.slow.flow.pauses.goodput_bps") == pytest.approx(2e6, rel=0.01)
    # A late packet needs the flow that it belongs to.
    links = [scenario.to_dict()["link"][0], *tomllib.loads(late)["link"]]
    assert Scenario.from_dict(scenario.to_dict() | {"link": links}).run().flow("download")["delivered_bytes"] > 0
    # 20 transfers from the router to the receiver: 40 ms without an access link, 50 to 130 ms with them.
    bulk = tomllib.loads(spread)["flow"][0]
    wide = Scenario.from_dict(scenario.to_dict() | {"flow": [bulk]}).run()
    delays = [wide.link(f"bulk-{n}-router")["delay_s"] for n in (1, 2, 20)]
    assert [later - delays[0] for later in delays[1:]] == pytest.approx([0.040 / 19, 0.040])
    # Its phases are within the first block's 60 s: 10 Mb/s for both links in both.
    phased = Scenario.from_dict(scenario.to_dict() | tomllib.loads(phases) | {"duration": "60 s"}).run()
    assert phased.metric("phase.before.link.router-receiver.mean_rate_bps") == 10e6
    edges = (phased.summary["phase"]["before"]["to_s"], phased.summary["phase"]["after"]["from_s"])
    assert edges == pytest.approx((30, 35))
    busier = Scenario.from_toml(day).run()
    night, evening = (busier.metric(f"phase.{name}.transfers.p95_completion_s") for name in ("night", "evening"))
    assert evening > 2 * night > 0
    # Its only path sleeps from 30 (and 50 ms) to 45 s.
    slept = Scenario.from_dict(scenario.to_dict() | tomllib.loads(sleep) | {"duration": "60 s"}).run()
    assert slept.link("router-receiver")["asleep_s"] == pytest.approx(14.95)
    assert slept.metric("routing.table_changes") == 6  # all three learn of both
    flows = [*scenario.to_dict()["flow"], *tomllib.loads(web)["flow"]]
    busy = scenario.to_dict() | {"flow": flows}
    assert Scenario.from_dict(busy).run().flow("web")["requests_started"] > 0
    # The eighth block replays the seventh one's traffic, in the network of the second.
    replayed = tomllib.loads(recording)
    links = [scenario.to_dict()["link"][0], *tomllib.loads(controlled)["link"]]
    assert Scenario.from_dict(busy | replayed | {"link": links}).run().flow("replay")["packets_sent"] > 0


def _run_tutorial(step: str, printed: Callable[..., str]) -> None:
    """Runs the commands of a step as printed; lines of output that the page shows must be among those printed."""

    def lines(text: str) -> list[str]:
        return [" ".join(re.sub("─+", "─", line).split()) for line in text.splitlines()]

    output = ""
    for language, block in re.findall(r"```(\w+)\n(.*?)```", step, flags=re.DOTALL):
        if language in {"console", "sh"}:
            commands = [shlex.split(line.removeprefix("$ ")) for line in block.splitlines()]
            assert {command[0] for command in commands} <= {"netlull", "make"}
            output = "".join(printed(*command[1:]) for command in commands if command[0] == "netlull")
        elif language == "text":
            assert [line for line in lines(block) if line not in lines(output)] == []
        elif "\n[[axis]]" in block:
            Path("sweep.toml").write_text(block, encoding="utf-8")
        else:
            _change_line(Path("mine.toml"), block)


def _change_line(file: Path, line: str) -> None:
    """Writes a line into a file in the place of the one for the same key."""
    key = line.split("=", maxsplit=1)[0]
    text, changes = re.subn(rf"^{key}=.*\n", line, file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert changes == 1, line
    file.write_text(text, encoding="utf-8")


def _steps_of_the_tutorial() -> list[str]:
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    steps = re.split(r"^## (?=\d)", text, flags=re.MULTILINE)[1:]
    assert len(steps) == 6
    return steps


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]) -> None:
    monkeypatch.chdir(tmp_path)
    for step in _steps_of_the_tutorial()[:-1]:
        _run_tutorial(step, printed)
    pictures = {path.name for path in tmp_path.glob("*.svg")}
    assert pictures == {"dumbbell.svg", "both.svg", "sweep.svg"}
    assert (tmp_path / "mine" / "figures" / "links.svg").exists()


def test_the_tutorials_emulation_runs(
    netlulld: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NETLULLD", str(netlulld))
    emulation = _steps_of_the_tutorial()[-1]
    # Its output is a recording, and a busy machine is late.
    commands = re.sub(r"```text\n.*?```", "", emulation, flags=re.DOTALL)
    commands = commands.replace("netlull emulate ", "netlull emulate --max-lateness '10 s' ")
    _run_tutorial(commands, printed)
    assert (tmp_path / "worlds.svg").exists()


@pytest.mark.parametrize("key", [path.parent.name for path in sorted((SHIPPED / "papers").glob("*/paper.toml"))])
def test_every_paper_has_its_page(key: str) -> None:
    page = (SHIPPED / "papers" / key / "README.md").read_text(encoding="utf-8")
    pictures = [ROOT / "docs" / name for name in re.findall(r"!\[[^]]+\]\([./]*/docs/([^)]*)\)", page)]
    assert 2 <= len(pictures) <= 4
    assert all(picture.stat().st_size < 160_000 for picture in pictures)
    own = ROOT / "docs" / "images" / "papers" / key
    assert set(own.iterdir()) <= set(pictures), "every picture of the folder is shown"
    assert page.count("\n<!-- claims -->\n") == 1
    claims = tomllib.loads((SHIPPED / "papers" / key / "claims.toml").read_text(encoding="utf-8"))["claim"]
    rows = dict(re.findall(r"^\| ([A-Z]\d+) [^|]*\| (\w+) \|", page, flags=re.MULTILINE))
    missing = {claim["id"] for claim in claims if "study" not in claim} - set(rows)
    assert not missing, "no verdict"
    assert set(rows.values()) <= {"holds", "partly", "fails", "undecided"}
    assert f"{key}/README.md" in (SHIPPED / "papers" / "README.md").read_text(encoding="utf-8")


def test_the_page_of_parts_names_each_of_them() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    section = page.split("## The parts of a scenario\n")[1].split("\n## ")[0]
    assert set(re.findall(r"`(\w+)`", section)) == {
        name for name in builders.__all__ if inspect.isclass(getattr(builders, name))
    }


def test_pictures_of_the_tutorial_are_small() -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    pictures = set((ROOT / "docs" / "images" / "tutorial").iterdir())
    assert {(ROOT / "docs" / name) for name in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text)} == pictures
    assert all(picture.stat().st_size < 100_000 for picture in pictures)


@pytest.mark.parametrize(
    "word",
    "LAG bundle ECMP OSPF IS-IS SNMP NetFlow kWh euro CO2 PUE DRX TWT QUIC".split(),  # noqa: SIM905
)
def test_words_of_the_field_lead_to_what_is_missing(word: str) -> None:
    page = (ROOT / "docs" / "limitations.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| ")]
    assert sum(word in row for row in rows) == 1
