"""Watts next to joules, and runs with sleeping links next to the same runs without sleep."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netlull import Cbr, InputError, Link, NetlullWarning, Phase, Power, Result, Scenario, Sleep, Sweep, SweepError
from netlull.cli import main
from netlull.compare import compare_runs
from netlull.report.sweeps import sweep_report

Printed = Callable[..., str]

SECONDS = 10
# A packet of 1500 B takes 1 ms and 10 ms over each link; each flow sends one every 10 ms from 0 s on, f before g.
TWO = Scenario(
    name="two",
    duration=f"{SECONDS} s",
    nodes=["a", "b", "c"],
    links=[Link("a", "b", "12 Mb/s", "10 ms", duplex=True), Link("b", "c", "12 Mb/s", "10 ms", duplex=True)],
    flows=[Cbr("f", "a", "c", "1.2 Mb/s", packet="1500 B"), Cbr("g", "a", "b", "1.2 Mb/s", packet="1500 B")],
    sleep=[Sleep("0 s", links=["b-c"])],
    power=[Power("fs"), Power("nexus-9336-fx2")],
)
AWAKE = TWO.with_values({"sleep": None})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(TWO.to_toml(), encoding="utf-8")
    return path


def test_the_mean_power_is_energy_over_time() -> None:
    result = TWO.run()
    # Ideal: 1 W for each direction that is awake, 0 W for the others.
    assert [link["energy"]["fs"]["mean_w"] for link in result.summary["links"]] == [1, 1, 0, 0]
    assert result.metric("network.energy.fs.mean_w") == 2
    for link in result.summary["links"]:
        for energy in link["energy"].values():
            assert energy["mean_w"] == pytest.approx(energy["total_j"] / SECONDS)


def test_the_saving_is_the_difference_to_the_run_without_sleep() -> None:
    result, awake = TWO.run(), AWAKE.run()
    found = result.compare_awake(awake)
    assert found is result.summary["awake"]
    # Ideal: 4 W without sleep, 2 W with.
    expected = {"total_j": 40, "mean_w": 4, "saved_j": 20, "saved_w": 2, "saving": 0.5}
    assert found["energy"]["fs"] == pytest.approx(expected)
    # Measured: an awake port takes 1.903 - 0.063 W more than one that is down. A bit takes 9 pJ and a packet 24.8 nJ at
    # 100 Gb/s, so at 12 Mb/s 8,333.3 times as much. Packets of f that arrive by 10 s: k with 11 + 10 k <= 10,000 at b,
    # 22 + 10 k <= 10,000 at c: 999 and 998. With sleep two of them reach b, before a knows.
    packet_j = 100e9 / 12e6 * (9e-12 * 8 * 1500 + 24.8e-9)
    saved_w = 2 * 1.84 + (999 + 998 - 2) * packet_j / SECONDS
    assert result.metric("awake.energy.nexus-9336-fx2.saved_w") == pytest.approx(saved_w)
    assert result.metric("network.energy.nexus-9336-fx2.mean_w") == pytest.approx(
        awake.metric("network.energy.nexus-9336-fx2.mean_w") - saved_w
    )
    # Each flow sends 1001 packets, and all of f are lost. Without sleep none is.
    assert (found["loss_fraction"], found["more_loss_fraction"]) == (0, 0.5)
    # f delivers 998 packets without sleep. g is a ms later then, and delivers 12 + 10 k <= 10,000: 999 either way.
    assert found["goodput_bps"] == pytest.approx((998 + 998) * 1500 * 8 / SECONDS, rel=1e-3)


def test_other_runs_are_no_run_without_sleep() -> None:
    result = TWO.run()
    with pytest.raises(InputError, match="awake: is a run in which links sleep"):
        result.compare_awake(TWO.run())
    with pytest.raises(InputError, match=r"^awake: seed: is 5; expected 1, as in the run with sleep$"):
        result.compare_awake(AWAKE.run(5))
    # 10 s without sleep are 40 J, 12 s are 48 J: 28 J instead of 20 J would be "saved".
    others = (
        ({"duration": "12 s"}, 'duration: is "12 s"; expected "10 s"'),
        ({"warm_up": "1 s"}, 'warm_up: is "1 s"; expected "0 s"'),
        ({"flow.g.rate": "1 Mb/s"}, 'flow.g.rate: is "1 Mb/s"; expected "1.2 Mb/s"'),
        ({"flow.g": None}, 'flow.g: is missing; expected {"kind": "cbr", "name": "g"'),
        ({"power": [{"model": "fs"}]}, 'power.nexus-9336-fx2: is missing; expected {"model": "nexus-9336-fx2"}'),
        ({"link.b-c.cost": 2}, "link.b-c.cost: is 2; expected 1"),
        ({"phase": [{"name": "all"}]}, 'phase: is [{"name": "all"}]; expected missing'),
    )
    for changes, expected in others:
        with pytest.raises(InputError, match=f"^awake: {re.escape(expected)}"):
            result.compare_awake(AWAKE.with_values(changes).run())
    assert "awake" not in result.summary
    # These change no result.
    changes = {"name": "other", "description": "other", "verify": "replay", "probe": {"events": True}}
    assert result.compare_awake(AWAKE.with_values(changes).run())["energy"]["fs"]["saved_j"] == pytest.approx(20)


def test_a_run_of_an_earlier_netlull_says_what_is_missing() -> None:
    result, awake = TWO.run(), AWAKE.run()
    for energy in awake.summary["network"]["energy"].values():
        del energy["mean_w"]
    with pytest.raises(InputError, match="awake: mean_w: is missing in one of the two runs"):
        result.compare_awake(awake)
    assert "awake" not in result.summary


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_of_the_second_run_leaves_the_first(
    file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    code: int,
) -> None:
    run = Scenario.run

    def interrupted(scenario: Scenario, **options: Any) -> Result:
        if "sleep" not in scenario.to_dict():
            signal.raise_signal(number)
        return run(scenario, **options)

    monkeypatch.setattr(Scenario, "run", interrupted)
    out = tmp_path / "out"
    assert main(["run", str(file), "--out", str(out)]) == code
    captured = capsys.readouterr()
    assert "warning: the same run without sleep was interrupted, so the saving is unknown\n" in captured.err
    assert captured.err.endswith("interrupted\n" if code == 130 else "terminated\n")
    assert captured.out.endswith(f"written to {out}\n")
    monkeypatch.undo()
    stored = Result.load(out).summary
    assert "awake" not in stored
    assert stored["network"] == TWO.run().summary["network"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_recording_is_compared_with_the_same_packets(
    printed: Printed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # b-c sleeps from the start: while it sleeps, f reaches no recorder there.
    whole = TWO.to_dict() | {"recording": {"flows": ["f"], "link": "b-c", "without": ["sleep"]}}
    path = tmp_path / "replay.toml"
    path.write_text(Scenario.from_dict(whole).to_toml(), encoding="utf-8")
    summary = json.loads(printed("run", path, "--json"))
    # The recorder is at the start of b-c: packet k of f is at b at 11 + 10 k ms, so 999 by 10 s.
    assert summary["recording"]["packets"] == 999
    assert summary["awake"]["energy"]["fs"]["saved_j"] == pytest.approx(20)
    whole["recording"]["without"] = []
    assert main(["run", str(path), "--set", "recording.without=[]", "--json"]) == 0
    captured = capsys.readouterr()
    assert "awake" not in json.loads(captured.out)
    assert 'so the saving is unknown: recording.without: is []; expected "sleep" among them' in captured.err
    asleep = Scenario.from_dict(whole)
    with pytest.raises(InputError, match=r"recording.without: is \[\]; expected \"sleep\" among them"):
        asleep.run().compare_awake(asleep.with_values({"sleep": None}).run())


def test_run_shows_what_sleep_saves_and_loses(printed: Printed, file: Path) -> None:
    lines = printed("run", file).splitlines()
    # On top, above the links.
    top = lines[: next(at for at, line in enumerate(lines) if line.startswith("Links"))]
    assert any(
        line.startswith("50.0 % lost since links sleep: 50.0 % of the packets that flows sent, ") for line in top
    )
    assert "fs: saving 2 W (50.0 %) compared with the same run without sleep." in lines
    assert "nexus-9336-fx2: saving 3.901 W (7.7 %) compared with the same run without sleep." in lines
    together, awake = (next(line for line in lines if line.startswith(f" {name}")) for name in ("all l", "without sl"))
    assert together.split()[2:7] == ["20", "J,", "2", "W", "(50.0"]
    assert awake.split()[2:6] == ["40", "J,", "4", "W"]


def test_run_shows_what_each_phase_saves(printed: Printed, tmp_path: Path) -> None:
    halves = [{"name": "early", "from": "0 s", "to": "5 s"}, {"name": "late", "from": "5 s", "to": "10 s"}]
    path = tmp_path / "halves.toml"
    path.write_text(TWO.with_values({"phase": halves, "sleep.0.at": "5 s"}).to_toml(), encoding="utf-8")
    lines = printed("run", path).splitlines()
    # Two directions of 1 W, for half of the time.
    said = "fs: saving 1 W (25.0 %) compared with the same run without sleep. By phase: early 0 W, late 2 W."
    assert said in lines


def test_run_leaves_the_second_run_out_on_request(printed: Printed, file: Path) -> None:
    text = printed("run", file, "--no-awake")
    assert "lost since" not in text
    assert "compared with the same run" not in text
    assert json.loads(printed("run", file, "--no-awake", "--json")) == TWO.run().summary


def test_the_comparison_is_part_of_what_is_written(printed: Printed, file: Path, tmp_path: Path) -> None:
    printed("run", file, "--out", tmp_path / "out", "--seed", "3")
    stored = Result.load(tmp_path / "out")
    assert stored.metric("awake.energy.fs.saved_w") == 2
    whole = json.loads(printed("run", file, "--json", "--seed", "3"))
    assert whole["awake"] == stored.summary["awake"]
    result = TWO.run(3)
    result.compare_awake(AWAKE.run(3))
    assert whole == result.summary


def test_a_link_that_nobody_uses_loses_nothing_and_saves_all(printed: Printed, tmp_path: Path) -> None:
    path = tmp_path / "quiet.toml"
    path.write_text(TWO.with_values({"flow": TWO.to_dict()["flow"][1:]}).to_toml(), encoding="utf-8")
    text = printed("run", path)
    assert "lost since links sleep" not in text
    assert "Goodput" not in text
    # Two ports that are down: 2 x 1.84 W of 4 x (285.31 / 36 + 2.791 + 1.84) W and g's 999 packets.
    assert "nexus-9336-fx2: saving 3.68 W (7.3 %) compared with the same run without sleep." in text


def test_stored_runs_are_compared_by_what_sleep_saves(printed: Printed, file: Path, tmp_path: Path) -> None:
    # In the second the cable is awake for half of the time.
    printed("run", file, "--out", tmp_path / "all")
    printed("run", file, "--out", tmp_path / "half", "--set", "sleep.0.at=5 s")
    text = printed("compare", tmp_path / "all", tmp_path / "half")
    row = next(line for line in text.splitlines() if line.startswith(" awake.energy.fs.saved_w [W] "))
    assert row.split()[2:6] == ["1", "2", "1", "-1"]
    assert any(line.startswith(" awake.more_loss_fraction ") for line in text.splitlines())


def test_a_stored_run_without_its_run_without_sleep_is_named(
    printed: Printed, refused: Printed, file: Path, tmp_path: Path
) -> None:
    awake = tmp_path / "never.toml"
    awake.write_text(AWAKE.to_toml(), encoding="utf-8")
    printed("run", file, "--out", tmp_path / "both")
    printed("run", file, "--out", tmp_path / "one", "--no-awake")
    printed("run", awake, "--out", tmp_path / "never")
    only = "only both has a run without sleep next to it (metrics awake.*): "
    text = printed("compare", tmp_path / "both", tmp_path / "one")
    assert f"Note: {only}one has none, as it ran with --no-awake or outside of netlull run." in text
    text = printed("compare", tmp_path / "never", tmp_path / "both")
    assert f"Note: {only}never has none, as no link slept in it." in text
    assert "run without sleep next to it" not in printed("compare", tmp_path / "both", tmp_path / "both")
    metric = ("--metric", "awake.energy.fs.saved_w")
    assert f"; {only}one has none, as it ran with --no-awake" in refused(
        "compare", tmp_path / "both", tmp_path / "one", *metric
    )


@pytest.mark.parametrize("path", ["awake.energy.fs.saved_w", "max(awake.energy.*.saved_w)"])
def test_sweeps_have_no_run_without_sleep(path: str) -> None:
    with pytest.raises(SweepError) as caught:
        Sweep(TWO, seeds=1, metrics={"w": path}).run()
    assert f"metrics.w: {path}: the runs of a sweep have no run without sleep next to them" in str(caught.value)
    assert 'a point of an axis with unset = ["sleep"]' in str(caught.value)
    assert "--json" not in str(caught.value)


def test_networks_without_sleep_run_once(printed: Printed, tmp_path: Path) -> None:
    path = tmp_path / "awake.toml"
    path.write_text(AWAKE.to_toml(), encoding="utf-8")
    assert "without sleep" not in printed("run", path)
    assert json.loads(printed("run", path, "--json")) == AWAKE.run().summary


def test_phases_have_their_own_saving(printed: Printed, tmp_path: Path) -> None:
    # The cable sleeps in the first half only.
    phases = [Phase("night", to="5 s"), Phase("evening", from_="5 s")]
    napping = Scenario.from_dict({**TWO.to_dict(), "phase": phases, "sleep": [Sleep("0 s", links=["b-c"], wake="5 s")]})
    result = napping.run()
    result.compare_awake(napping.with_values({"sleep": None}).run())
    night, evening = (result.summary["awake"]["phase"][name] for name in ("night", "evening"))
    assert (night["energy"]["fs"]["saved_w"], night["energy"]["fs"]["saving"]) == pytest.approx((2, 0.5))
    assert (evening["energy"]["fs"]["saved_w"], evening["energy"]["fs"]["saving"]) == pytest.approx((0, 0), abs=1e-12)
    assert night["more_loss_fraction"] == pytest.approx(0.5, abs=0.01)
    assert result.metric("awake.energy.fs.saved_w") == pytest.approx(1)
    path = tmp_path / "nap.toml"
    path.write_text(napping.to_toml(), encoding="utf-8")
    line = next(line for line in printed("run", path).splitlines() if line.startswith(" night "))
    assert line.split()[1:6] == ["0", "to", "5", "s", "50.0"]
    assert "2 W (50.0 %)" in line


def test_a_failure_of_the_second_run_leaves_the_first(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Awake, 1 Gb/s wait for a link of 12 Mb/s. Asleep, they find no route and take no memory.
    settings = {"flow.f.rate": "1 Gb/s", "link.a-b.rate": "10 Gb/s", "link.b-c.buffer": "unlimited"}
    arguments = [word for path, value in settings.items() for word in ("--set", f"{path}={value}")]
    assert main(["run", str(file), "--memory", "20 MB", *arguments]) == 0
    captured = capsys.readouterr()
    assert "warning: the same run without sleep failed, so the saving is unknown: " in captured.err
    assert "Links slept and traffic took other links" in captured.out


def test_compare_and_reports_have_watts_next_to_joules(printed: Printed, file: Path, tmp_path: Path) -> None:
    awake = tmp_path / "awake.toml"
    awake.write_text(AWAKE.to_toml(), encoding="utf-8")
    metric = "network.energy.fs.total_j"
    arguments = ("compare", awake, file, "--metric", metric, "--seeds", "2")
    row = next(line for line in printed(*arguments).splitlines() if line.startswith(f" {metric} "))
    assert " ".join(row.split()[2:]) == "2 40 (4 W) 20 (2 W) -20 ± 0 (-2 W) -50.0 % [-50.0, -50.0] - lower"
    (found,) = json.loads(printed(*arguments, "--json"))["rows"]
    assert found["watts"] == pytest.approx({"a": 4, "b": 2, "difference": -2})
    result = Sweep(TWO, seeds=1, metrics={"joules": metric}).run(tmp_path / "store")
    assert result.unit_of("joules") == ("J", 1.0)
    page = sweep_report(tmp_path / "store").read_text(encoding="utf-8")
    assert "mean power (W)" in page


def test_energies_of_phases_have_no_watts_of_the_whole_run() -> None:
    phased = AWAKE.with_values({"phase": [{"name": "half", "to": "5 s"}]})
    with pytest.warns(NetlullWarning, match="differ in sleep"):
        found = compare_runs(
            [phased.run()],
            [Scenario.from_dict({**phased.to_dict(), "sleep": [Sleep("0 s", links=["b-c"])]}).run()],
            [
                "phase.half.network.energy.fs.total_j",
                "phase.half.network.energy.fs.mean_w",
                "network.energy.fs.total_j",
            ],
        )
    assert [found.seconds_of(row.metric) for row in found.rows] == [None, None, SECONDS]
    assert [row.difference.mean for row in found.rows] == pytest.approx([-10, -2, -20])


def test_sums_over_phases_have_no_watts_of_the_whole_run() -> None:
    # Halves of 5 s: 4 W awake, 2 W asleep. The cable saves 2 W.
    halves = [{"name": "one", "to": "5 s"}, {"name": "two", "from": "5 s"}]
    runs = [TWO.with_values({"phase": halves}).run() for _ in range(2)]
    twin = AWAKE.with_values({"phase": halves}).run()
    for run in runs:
        run.compare_awake(twin)
    whole = {"sum(link.*.energy.fs.total_j)": 20, "awake.energy.fs.saved_j": 20, "network.energy.fs.total_j": 20}
    parts = {
        "sum(phase.*.network.energy.fs.total_j)": 20,
        "max(phase.one.link.*.energy.fs.total_j)": 5,
        "awake.phase.one.energy.fs.saved_j": 10,
        "sum(awake.phase.*.energy.fs.saved_j)": 20,
        "mean(*.one.network.energy.fs.total_j)": 10,
        "jain(link.*.energy.fs.total_j)": 0.5,
    }
    found = compare_runs(runs[:1], runs[1:], [*whole, *parts])
    assert {row.metric: row.a_mean for row in found.rows} == pytest.approx(whole | parts)
    seconds = dict.fromkeys(whole, SECONDS) | dict.fromkeys(parts)
    assert {row.metric: found.seconds_of(row.metric) for row in found.rows} == seconds


def test_links_that_hold_packets_lose_none_and_save_the_same_time(printed: Printed, tmp_path: Path) -> None:
    # Asleep from 2 to 7 s, held packets and all: 2 directions of 1 W save 5 s. The wake-up takes full power.
    nap = Sleep("2 s", links=["b-c"], wake="7 s", wake_time="500 ms", while_asleep="hold")
    scenario = TWO.with_values({"sleep": [nap], "link.b-c.buffer": "1000 packets", "power": [{"model": "fs"}]})
    result = scenario.run()
    found = result.compare_awake(scenario.with_values({"sleep": None}).run())
    assert found["energy"]["fs"] == pytest.approx(
        {"total_j": 40, "mean_w": 4, "saved_j": 10, "saved_w": 1, "saving": 0.25}
    )
    assert found["more_loss_fraction"] == 0
    low = result.link("b-c")["low_power"]
    assert (low["asleep_s"], low["waking_s"], low["sleeps"]) == (5, 0.5, 1)
    # A packet reaches b each 10 ms from 11 ms on: that of 2.001 s is the first that waits, until 7.5 s.
    assert result.link("b-c")["largest_lateness_s"] == pytest.approx(5.499, abs=1e-9)
    path = tmp_path / "held.toml"
    path.write_text(scenario.to_toml(), encoding="utf-8")
    assert "saving 1 W (25.0 %) compared with the same run without sleep" in printed("run", str(path))
