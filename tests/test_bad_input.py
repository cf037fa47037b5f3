"""Bad input on the command line: exit code 2, and one line with the field, the value and the expected values."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Refused = Callable[..., str]

CASES = {
    "unknown field": (["link.a-b.pace=3"], ["link.a-b.pace: is unknown; expected one of name, from"]),
    "misspelt field": (["link.a-b.controler=3"], ["link.a-b.controler: is unknown; did you mean controller?"]),
    "truth as in Python": (["link.a-b.duplex=True"], ['link.a-b.duplex: is "True"; expected true or false']),
    "unknown field at the top": (["speed=3"], ["speed: is unknown; did you mean seed or sleep?"]),
    "wrong unit": (["link.a-b.rate=10 MB/s"], ["link.a-b.rate", '"10 MB/s"', "Mb/s"]),
    "no unit": (["duration=10"], ["duration", "10", "time with a unit"]),
    "zero rate": (["link.b-a.rate=0 b/s"], ["link.b-a.rate", "0 b/s", "more than 0 b/s"]),
    "negative rate": (["link.b-a.rate=-5 Mb/s"], ["link.b-a.rate", '"-5 Mb/s"', "negative"]),
    "zero rate of a flow": (["flow.noise.rate=0 b/s"], ["flow.noise.rate", "0 b/s"]),
    "unknown node of a link": (["link.a-b.to=z"], ["link.", ".to", '"z"', "a, b, c"]),
    "unknown node of a flow": (["flow.tcp.to=z"], ["flow.tcp.to", '"z"', "a, b, c"]),
    "stop before the start": (
        ["flow.noise.stop=0 s"],
        ["flow.noise.stop: is 0 s", "after the start, 0 s"],
    ),
    "unknown congestion control": (["tcp.congestion_control=magic"], ["tcp.congestion_control", '"magic"', "new_reno"]),
    "unknown controller": (["link.a-b.controller.kind=magic"], ["link.a-b.controller.kind", '"magic"', "practra"]),
    "unknown power model": (['power=[{ model = "coal" }]'], ["power", '"coal"', "fs"]),
    "unreachable destination": (['nodes=["a", "b", "c", "d"]', "flow.tcp.to=d"], ["flow.tcp", '"d"']),
    "mRCI below delta": (
        ["link.a-b.controller.min_interval=1 ms"],
        ["link.a-b.controller.min_interval", "1 ms", "2 ms"],
    ),
    "mRCI equal to delta": (["link.a-b.controller.min_interval=2 ms"], ["link.a-b.controller.min_interval", "2 ms"]),
    "empty rate set": (["link.a-b.controller.rates=[]"], ["link.a-b.controller.rates"]),
    "rate set with a zero": (['link.a-b.controller.rates=["0 b/s", "10 Mb/s"]'], ["link.a-b.controller.rates"]),
    "rate set that ends above the link": (
        ['link.a-b.controller.rates=["1 Mb/s", "20 Mb/s"]'],
        ["link.a-b.controller.rates", "20 Mb/s", "10 Mb/s"],
    ),
    "buffer below a packet": (["link.a-b.buffer=1000 B"], ["link.a-b.buffer", "1"]),
    "buffer of no packets": (["link.a-b.buffer=0 packets"], ["link.a-b.buffer", "0 packets"]),
    "duration 0": (["duration=0 s"], ["duration", "0"]),
    "negative duration": (["duration=-1 s"], ["duration", '"-1 s"', "negative"]),
    "warm-up beyond the end": (["warm_up=3 s"], ["warm_up", "3 s"]),
    "negative seed in the file": (["seed=-1"], ["seed", "-1"]),
    "seed too large in the file": (["seed=9223372036854775808"], ["seed", "9223372036854775808"]),
    "loss of 1": (['link.b-a.loss={ kind = "bernoulli", probability = 1.0 }'], ["link.b-a.loss.probability", "1"]),
    "weight of 0": (["link.a-b.controller.forecast_weight=0"], ["link.a-b.controller.forecast_weight", "0"]),
    "unknown verifier": (["verify=maybe"], ["verify", "maybe", "ledger"]),
    "unknown link of a probe": (['probe={ interval = "1 ms", links = ["z"] }'], ["probe.links", '"z"']),
    "two flows of one name": (["flow.noise.name=tcp"], ["flow", '"tcp"', "twice"]),
    "set of an unknown entry": (["link.a-z.rate=1 Mb/s"], ["link.a-z.rate", '"a-z"', "a-b, b-a, b-c"]),
    "set of a path that ends in a dot": (["link.a-b.=1"], ['"link.a-b."', "keys separated by dots"]),
    "set of a field that ends in a dot": (["speed.=1"], ['"speed."', "keys separated by dots"]),
    "set without a value": (["duration"], ["duration", "PATH=VALUE"]),
}


@pytest.mark.parametrize(("settings", "says"), CASES.values(), ids=CASES)
def test_a_bad_scenario_is_refused(refused: Refused, small_file: Path, settings: list[str], says: list[str]) -> None:
    line = refused("run", small_file, *(part for setting in settings for part in ("--set", setting)))
    for words in says:
        assert words in line, line


@pytest.mark.parametrize("seed", ["-1", str(2**63), str(2**80)])
def test_seeds_out_of_range(refused: Refused, small_file: Path, seed: str) -> None:
    line = refused("run", small_file, "--seed", seed)
    assert f"seed: {seed} is out of range" in line


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "nowhere.toml"], ["nowhere.toml", "no such file", "dumbbell"]),
        (["run"], ["FILE"]),
        (["run", "dumbbell", "--seed", "x"], ["--seed", "'x'"]),
        (["run", "dumbbell", "--verify", "maybe"], ["--verify", "maybe", "ledger"]),
        (["fly"], ["fly"]),
        (["list", "birds"], ["birds", "mechanisms"]),
        (["sweep", "nowhere.toml"], ["nowhere.toml", "no such file"]),
        (["plugin", "check", "/dev/null"], ["/dev/null: module:", "no regular file"]),
        (["reproduce", "nobody-1999"], ["nobody-1999"]),
        (["trace", "dumbbell"], ["--out"]),
        (["run", "/"], ["/: is a folder", "dumbbell"]),
        (["run", "dumbbell", "--out", "-"], ["-: is the standard output", "a folder"]),
        (["run", "dumbbell", "--set", "name=\udcff"], ["--set", "\\udcff", "is not UTF-8 text"]),
        (["map", "abilene", "--out", "x.svg", "--title", "\udcff"], ["--title", "is not UTF-8 text"]),
        (
            ["bound", "practra-link", "--set", "duration=1 s", "--transition", "1 h"],
            ["transition: 1 h", "the run's 1 s"],
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_commands(refused: Refused, arguments: list[str], says: list[str]) -> None:
    line = refused(*arguments)
    for words in says:
        assert words in line, line


@pytest.mark.parametrize("where", ["/proc/netlull", "a-file/out"])
def test_an_output_folder_that_cannot_be_written(
    refused: Refused, small_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").write_text("not a folder")
    line = refused("run", small_file, "--out", where)
    assert "cannot be written" in line
    assert where in line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-file", "small.toml"]


@pytest.mark.parametrize(
    ("factor", "says"),
    [("rate_scale", "is above 1000000 Gb/s"), ("route_factor", "expected more than 0 and at most 1000000")],
)
def test_factors_of_a_network_are_bounded(refused: Refused, tmp_path: Path, factor: str, says: str) -> None:
    file = tmp_path / "network.toml"
    file.write_text('name = "network"\nduration = "1 s"\ntopology.file = "abilene"\n')
    line = refused("run", file, "--set", f"topology.{factor}=1e300")
    assert f"topology.{factor}: " in line
    assert "1e" in line
    assert says in line


def test_a_symbolic_link_to_itself_is_left_alone(refused: Refused, small_file: Path, tmp_path: Path) -> None:
    loop = tmp_path / "loop.pcap"
    loop.symlink_to("loop.pcap")
    assert "is a symbolic link to itself" in refused("trace", small_file, "--link", "a-b", "--out", loop)
    assert loop.is_symlink()


@pytest.mark.parametrize("values", ["[]", '["10 Mb/s", "10 Mb/s"]', '["10 Mb/s", "10000 kb/s"]', '["nan Mb/s"]'])
def test_an_axis_that_is_refused(refused: Refused, small_file: Path, values: str) -> None:
    file = small_file.with_name("sweep.toml")
    file.write_text(
        'scenario = "small.toml"\nseeds = 2\nmetrics.g = "flow.tcp.goodput_bps"\n'
        f'[[axis]]\nname = "rate"\nunit = "Mb/s"\npath = "link.a-b.rate"\nvalues = {values}\n'
    )
    assert "axis.rate" in refused("sweep", file, "--out", file.with_name("out"))


def test_a_scenario_is_no_sweep_and_a_sweep_no_scenario(refused: Refused, small_file: Path) -> None:
    assert "is a scenario; expected a sweep" in refused("sweep", small_file)
    sweep = small_file.with_name("sweep.toml")
    sweep.write_text('scenario = "small.toml"\nmetrics.g = "flow.tcp.goodput_bps"\n')
    assert "scenario: is a field of sweeps" in refused("run", sweep)


def test_an_output_folder_with_other_files_is_left_alone(refused: Refused, small_file: Path, tmp_path: Path) -> None:
    line = refused("run", small_file, "--out", tmp_path)
    assert "holds other files" in line
    assert small_file.exists()


def test_an_output_that_is_a_file(refused: Refused, small_file: Path) -> None:
    assert "is a file; expected a folder" in refused("run", small_file, "--out", small_file)


def test_a_trace_that_cannot_be_written(refused: Refused, small_file: Path) -> None:
    line = refused("trace", small_file, "--link", "a-b", "--out", "/proc/netlull/x.pcapng")
    assert "/proc/netlull/x.pcapng: cannot be written" in line


def test_a_trace_of_an_unknown_link(refused: Refused, small_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.pcapng"
    line = refused("trace", small_file, "--link", "a-z", "--out", out)
    assert '"a-z"' in line
    assert "a-b" in line
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


SWEEP = """
scenario = "small.toml"
[metrics]
goodput = "flow.tcp.goodput_bps"
"""

SWEEPS = {
    "no axes": ("", ["axis", "no points"]),
    "no values": ('[[axis]]\nname = "d"\npath = "duration"\nvalues = []', ["axis.d", "no points"]),
    "no points": ('[[axis]]\nname = "d"\npoint = []', ["axis.d", "no points"]),
    "several paths": (
        '[[axis]]\nname = "d"\npath = ["duration", "warm_up"]\nvalues = ["1 s"]',
        ["axis.d.path", '["duration", "warm_up"]', "expected one path", "[list]", "[[axis.point]]"],
    ),
    "no path": ('[[axis]]\nname = "d"\nvalues = ["1 s"]', ["axis.d.path", "missing"]),
    "unknown field": ('[[axis]]\nname = "d"\nstep = 1', ["axis.d.step", "unknown", "values"]),
    "wrong unit": (
        '[[axis]]\nname = "d"\nunit = "ms"\npath = "duration"\nvalues = ["1 Mb/s"]',
        ["axis.d", '"1 Mb/s"', "ms"],
    ),
    "value that the scenario refuses": (
        '[[axis]]\nname = "d"\npath = "duration"\nvalues = ["1 s", "0 s"]',
        ["sweep at d=0 s", "duration"],
    ),
    "path that leads nowhere": (
        '[[axis]]\nname = "r"\npath = "link.a-z.rate"\nvalues = ["1 Mb/s"]',
        ["sweep at r=1 Mb/s", '"a-z"', "a-b"],
    ),
    "experiment over an unknown axis": (
        '[[axis]]\nname = "d"\npath = "duration"\nvalues = ["1 s"]\n[[experiment]]\nname = "e"\naxes = ["x"]',
        ["experiment.e.axes", '"x"', "d"],
    ),
    "axis named like a column": (
        '[[axis]]\nname = "goodput"\npath = "duration"\nvalues = ["1 s"]',
        ['"goodput"', "two columns"],
    ),
}


@pytest.mark.parametrize(("rest", "says"), SWEEPS.values(), ids=SWEEPS)
def test_a_bad_sweep_is_refused(refused: Refused, small_file: Path, rest: str, says: list[str]) -> None:
    path = small_file.parent / "sweep.toml"
    path.write_text(SWEEP + rest)
    line = refused("sweep", path, "--out", small_file.parent / "store")
    assert str(path) in line or "sweep at" in line
    for words in says:
        assert words in line, line
    assert not (small_file.parent / "store").exists()


@pytest.mark.parametrize(
    ("replace", "by", "says"),
    [
        ("flow.tcp.goodput_bps", "flow.tcp.happiness", ["metrics.goodput", '"happiness"', "goodput_bps"]),
        ("flow.tcp.goodput_bps", "flow.tcp.kind", ["metrics.goodput", "is not a number"]),
        ("[metrics]\n", "seeds = 0\n[metrics]\n", ["seeds", "0", "1 or more"]),
        ("[metrics]\n", "seeds = []\n[metrics]\n", ["seeds", "empty"]),
        ("[metrics]\n", "seeds = [1, 1]\n[metrics]\n", ["seeds: holds 1 twice", "expected"]),
        ("[metrics]\n", "seeds = [-1]\n[metrics]\n", ["seeds", "-1", "out of range"]),
        ("small.toml", "other.toml", ["other.toml", "no such file"]),
        ('scenario = "small.toml"', "", ["scenario", "missing"]),
        ('goodput = "flow.tcp.goodput_bps"', "", ["metrics", "empty"]),
    ],
)
def test_a_bad_head_of_a_sweep_is_refused(
    refused: Refused, small_file: Path, replace: str, by: str, says: list[str]
) -> None:
    path = small_file.parent / "sweep.toml"
    axis = '[[axis]]\nname = "d"\npath = "duration"\nvalues = ["100 ms"]'
    path.write_text(SWEEP.replace(replace, by) + axis)
    line = refused("sweep", path, "--out", small_file.parent / "store")
    for words in says:
        assert words in line, line


def test_errors_of_the_core_keep_to_one_line(refused: Refused, tmp_path: Path) -> None:
    path = tmp_path / "odd.toml"
    text = json.dumps("1\n\ns")
    path.write_text(f"duration = {text}\nnodes = []")
    refused("run", path)


def test_misspelt_commands_files_and_papers_get_the_names_most_like_them(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text("duration = True")
    assert 'there is no command "runn"; did you mean run' in refused("runn", "dumbbell")
    assert "dumbell: there is no such file; did you mean dumbbell?" in refused("run", "dumbell")
    assert "mie.toml: there is no such file; did you mean mine.toml?" in refused("run", "mie.toml")
    assert "abilen: there is no such file; did you mean abilene?" in refused("topology", "abilen")
    assert 'there is no paper "troubled"; did you mean troubled-marriage-2016?' in refused("reproduce", "troubled")
    line = refused("reproduce", "--out", tmp_path / "out")
    assert "KEY: is missing; expected one or more of client-centered-2004, eee-2026, g-router, " in line
    assert line.endswith(", troubled-marriage-2016, or --all\n")
    line = refused("reproduce", "g-router", "--all", "--out", tmp_path / "out")
    assert "--all: reproduces all papers; expected it without g-router" in line
    assert not (tmp_path / "out").exists()
    assert "mine.toml, line 1, column 12: is not TOML: True; expected true" in refused("run", "mine.toml")
