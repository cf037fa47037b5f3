"""WebAssembly modules: netlull's own machines as guests decide exactly as the built-in ones."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, SHIPPED
from netlull import Scenario, ScenarioError, conformance
from netlull.conformance import Subject
from netlull.emulation import replay
from netlull.errors import InputError
from plugin_classes import as_toml

TARGET = "wasm32-unknown-unknown"


def has_target() -> bool:
    if shutil.which("cargo") is None:
        return False
    root = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, cwd=ROOT, check=True).stdout
    return (Path(root.strip()) / "lib" / "rustlib" / TARGET).is_dir()


needs_target = pytest.mark.skipif(not has_target(), reason=f"needs Rust's target {TARGET}")
NETWORK: dict[str, Any] = {
    "name": "toy",
    "duration": "5 s",
    "nodes": ["a", "b"],
    "link": [{"from": "a", "to": "b", "duplex": True, "rate": "10 Mb/s", "delay": "20 ms", "buffer": "40 packets"}],
    "flow": [{"kind": "tcp", "name": "f", "from": "a", "to": "b"}],
}
PRACTRA: dict[str, Any] = {
    "kind": "practra",
    "rates": ["1 Mb/s", "4 Mb/s", "10 Mb/s"],
    "transition": "2 ms",
    "min_interval": "16 ms",
    "delay_bound": "40 ms",
}


@pytest.fixture(scope="module")
def guests() -> Path:
    """The folder with netlull's own machines as modules."""
    command = ["cargo", "build", "--quiet", "--locked", "--profile", "web", "--target", TARGET]
    command += ["--package", "netlull-guest", "--features", "tcp", "--examples"]
    subprocess.run(command, cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute() / TARGET / "web" / "examples"


def as_guest(value: Any, kind: str, folder: Path) -> Any:
    """A document with the module of a kind in place of the built-in machine."""
    if isinstance(value, dict):
        changed = {key: as_guest(inner, kind, folder) for key, inner in value.items()}
        if value.get("kind") == kind:
            changed |= {"kind": "wasm", "module": str(folder / f"{kind}.wasm")}
        if value.get("congestion_control") == kind:
            changed["congestion_control"] = {"kind": "wasm", "module": str(folder / f"{kind}.wasm")}
        return changed
    return [as_guest(inner, kind, folder) for inner in value] if isinstance(value, list) else value


def document(scenario: Scenario) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(scenario.canonical())
    return loaded


def summary(scenario: Scenario) -> str:
    return json.dumps(scenario.run().summary)


def with_practra() -> list[Path]:
    """All shipped scenarios and scenarios of papers with practRA."""
    files = sorted([*SHIPPED.glob("scenarios/*.toml"), *SHIPPED.glob("papers/*/*scenario.toml")])
    return [file for file in files if '"practra"' in file.read_text(encoding="utf-8")]


@needs_target
@pytest.mark.parametrize("file", with_practra(), ids=lambda file: f"{file.parent.name}-{file.stem}")
@pytest.mark.filterwarnings("ignore::netlull.NetlullWarning")
def test_practra_as_a_guest_decides_as_the_built_in_controller(file: Path, guests: Path) -> None:
    built_in = Scenario.from_file(file)
    guest = Scenario.from_dict(as_guest(document(built_in), "practra", guests))
    assert summary(guest) == summary(built_in)


BROUGHT_BY_CUBIC = {
    "rfc": {"loss_recovery": "sack", "sack_detection": "rfc6675", "window_reduction": "proportional"},
    "ns2": {"loss_recovery": "sack", "sack_detection": "rfc6675", "window_reduction": "proportional"},
    "linux-6": {"loss_recovery": "rack", "sack_detection": "rfc6675", "window_reduction": "linux_6"},
}


@needs_target
@pytest.mark.parametrize("preset", BROUGHT_BY_CUBIC)
@pytest.mark.parametrize("name", ["dumbbell", "dumbbell-20-flows", "scripted-drops", "tcp-duel", "web-load"])
def test_cubic_as_a_guest_decides_as_the_built_in_congestion_control(name: str, preset: str, guests: Path) -> None:
    shipped = document(Scenario.from_file(SHIPPED / "scenarios" / f"{name}.toml"))
    # A plug-in has no loss recovery.
    tcp = {"preset": preset, "congestion_control": "cubic", "ecn": "off"} | BROUGHT_BY_CUBIC[preset]
    flows = [{key: value for key, value in flow.items() if key != "tcp"} for flow in shipped["flow"]]
    short = {"duration": "8 s", "warm_up": "1 s", "tcp": tcp, "flow": flows, "phase": []}
    built_in = Scenario.from_dict(shipped | short)
    guest = Scenario.from_dict(as_guest(document(built_in), "cubic", guests))
    assert summary(guest) == summary(built_in)


@needs_target
@pytest.mark.parametrize("number", ["A.1", "A.7", "A.12"])
def test_bbr_as_a_guest_is_judged_with_its_state_as_the_built_in_congestion_control(number: str, guests: Path) -> None:
    [case] = conformance.chosen([number])
    guest, built_in = (conformance.judge(case, Subject.read(name)) for name in (str(guests / "bbr.wasm"), "bbr"))
    assert guest.verdict_of("state") == "passes"
    assert [check.seen for check in guest.checks] == [check.seen for check in built_in.checks]


@needs_target
def test_psm_as_a_guest_decides_as_the_built_in_machine(guests: Path) -> None:
    built_in = Scenario.from_file(SHIPPED / "scenarios" / "doze.toml", values={"station.0.mechanism": {"kind": "psm"}})
    guest = Scenario.from_dict(as_guest(document(built_in), "psm", guests))
    assert summary(guest) == summary(built_in)


SWEEP = """
scenario = "s.toml"
seeds = [1, 2, 3, 4]

[metrics]
rate = "link.a-b.mean_rate_bps"
goodput = "flow.f.goodput_bps"

[[axis]]
name = "bound"
path = "link.a-b.controller.delay_bound"
values = ["20 ms", "40 ms"]
"""


@needs_target
def test_one_and_eight_workers_write_the_same_bytes(guests: Path, tmp_path: Path) -> None:
    module = as_guest(
        NETWORK | {"link": [NETWORK["link"][0] | {"controller": PRACTRA, "duplex": False}]}, "practra", guests
    )
    module["link"].append({"from": "b", "to": "a", "rate": "10 Mb/s", "delay": "20 ms"})
    module["flow"].append(
        {"kind": "bursts", "name": "n", "from": "a", "to": "b", "rate": "9 Mb/s", "cycle": "90 ms", "mean_on": "20 ms"}
    )
    (tmp_path / "s.toml").write_text(as_toml(module), encoding="utf-8")
    (tmp_path / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    written = []
    for workers in ("1", "8"):
        out = tmp_path / workers
        command = [sys.executable, "-m", "netlull", "sweep", str(tmp_path / "sweep.toml"), "--out", str(out)]
        subprocess.run([*command, "--workers", workers], check=True, capture_output=True, env=os.environ)
        written.append({path.name: path.read_bytes() for path in sorted(out.rglob("results.*"))})
    assert written[0]
    assert written[0] == written[1]


@needs_target
def test_the_key_has_the_digest_and_not_the_place(guests: Path, tmp_path: Path) -> None:
    def scenario(module: Path) -> Scenario:
        return Scenario.from_dict(NETWORK).with_values(
            {"flow.f.tcp.congestion_control": {"kind": "wasm", "module": str(module)}}
        )

    other = tmp_path / "elsewhere.wasm"
    shutil.copy(guests / "cubic.wasm", other)
    first, second = scenario(guests / "cubic.wasm"), scenario(other)
    assert first.key == second.key
    # A custom section changes the digest and nothing else.
    other.write_bytes(other.read_bytes() + b"\x00\x02\x01x")
    third = scenario(other)
    assert third.key != first.key
    assert summary(third) == summary(first)
    with pytest.raises(ScenarioError, match=r"congestion_control\.digest: is .*; expected .*the digest of"):
        second.with_values({"duration": "1 s"})


@needs_target
def test_parameters_of_a_guest_are_checked_like_those_of_the_built_in(guests: Path) -> None:
    def error(parameters: dict[str, object], *, guest: bool) -> str:
        network = NETWORK | {"link": [NETWORK["link"][0] | {"controller": parameters}]}
        with pytest.raises(ScenarioError) as raised:
            Scenario.from_dict(as_guest(network, "practra", guests) if guest else network)
        return str(raised.value)

    for wrong in (
        PRACTRA | {"rates": ["1 Mb/s", "20 Mb/s"]},
        PRACTRA | {"delay_bound": "0 s"},
        {field: value for field, value in PRACTRA.items() if field != "delay_bound"},
    ):
        assert error(wrong, guest=True) == error(wrong, guest=False)


def test_a_missing_module_is_named() -> None:
    with pytest.raises(InputError, match=r'link\.a-b\.controller\.module: "none\.wasm": there is no such file'):
        Scenario.from_dict(
            NETWORK | {"link": [NETWORK["link"][0] | {"controller": {"kind": "wasm", "module": "none.wasm"}}]}
        )


@needs_target
def test_a_tape_of_an_emulation_replays_through_the_guest(guests: Path, netlulld: Path, tmp_path: Path) -> None:
    there = NETWORK["link"][0] | {"duplex": False, "controller": PRACTRA}
    back = {"from": "b", "to": "a", "rate": "10 Mb/s", "delay": "20 ms"}
    sender = {"preset": "linux-6", "congestion_control": "cubic"}
    built_in = NETWORK | {"duration": "3 s", "link": [there, back]}
    tapes = []
    for name, network in (("built-in", built_in), ("guest", as_guest(built_in, "practra", guests))):
        scenario = Scenario.from_dict(network | {"tcp": sender})
        scenario.emulate(program=netlulld, max_lateness="10 s", tapes=tmp_path / name)
        tapes.append(tmp_path / name / "a-b.tape")
    for tape in tapes:
        same, words = replay(tape, netlulld)
        assert same, words
    # The guest decides on the events of the built-in controller as that has done.
    head = json.loads(tapes[1].read_text(encoding="utf-8").splitlines()[0])
    crossed = tmp_path / "crossed.tape"
    events = tapes[0].read_text(encoding="utf-8").splitlines()[1:]
    crossed.write_text("\n".join([json.dumps(head, separators=(",", ":")), *events]) + "\n", encoding="utf-8")
    same, words = replay(crossed, netlulld)
    assert same, words
    assert len(events) > 1000
    # Another module is refused.
    head["config"]["mechanism"]["digest"] = "0" * 64
    crossed.write_text(json.dumps(head) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="digest"):
        replay(crossed, netlulld)
