"""`netlull plugin`: the templates of every language build, and all of them decide alike; a failure ends the run."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from netlull import EmulationError, Scenario, ScenarioError
from netlull.cli import commands
from test_wasm import NETWORK, has_target

KINDS = ["rate-controller", "link-controller", "congestion-control", "station"]


def can_build(language: str) -> str:
    """The reason why a language cannot be built here; empty if it can."""
    if language == "rust":
        return "" if has_target() else "needs Rust's target wasm32-unknown-unknown"
    missing = [program for program in ("clang", "wasm-ld") if shutil.which(program) is None]
    return f"needs {' and '.join(missing)}" if missing else ""


def netlull(*arguments: str) -> str:
    """The output of a command."""
    done = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def built(folder: Path, language: str, kind: str) -> Path:
    """The module of a template."""
    if why := can_build(language):
        pytest.skip(why)
    netlull("plugin", "new", str(folder), "--language", language, "--kind", kind)
    subprocess.run([folder / "build.sh"], check=True)
    return folder / f"{folder.name}.wasm"


@pytest.fixture(scope="module")
def outputs() -> dict[str, str]:
    """The table of the first language of each kind."""
    return {}


@pytest.mark.parametrize("language", ["c", "rust"])
@pytest.mark.parametrize("kind", KINDS)
def test_templates_build_and_decide_alike(kind: str, language: str, outputs: dict[str, str], tmp_path: Path) -> None:
    module = built(tmp_path / "mine", language, kind)
    assert '"mine"' in netlull("plugin", "check", str(module))
    table = netlull("plugin", "run", str(module))
    rows = [line.split() for line in table.splitlines() if line.split()]
    assert rows[-2][0] == "mine.wasm"
    assert rows[-2][1:] != rows[-1][-len(rows[-2]) + 1 :]
    assert outputs.setdefault(kind, table) == table
    if kind == "congestion-control":
        tcp = {"preset": "linux-6", "congestion_control": {"kind": "wasm", "module": str(module)}}
        run = Scenario.from_dict(NETWORK | {"tcp": tcp, "probe": {"variables": True}}).run()
        reported = run.series("variable").to_pydict()
        assert {"slow start", "avoidance"} < set(reported["word"])
        assert outputs.setdefault("variables", str(reported)) == str(reported)


@pytest.mark.parametrize("name", ["1mine", "-mine", "a b", "é", "x" * 65])
def test_new_refuses_names_that_a_package_cannot_have(name: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(commands, ["plugin", "new", "--language", "rust", "--", str(tmp_path / name)])
    assert "is no name of a module; expected a letter, then letters, digits" in str(done.exception)
    assert not list(tmp_path.iterdir())


def test_new_never_replaces_a_folder_and_names_parameters(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    done = CliRunner().invoke(commands, ["plugin", "new", str(tmp_path / "mine"), "--language", "c"])
    assert "exists already; expected a new folder" in str(done.exception)
    module = built(tmp_path / "other", "c", "rate-controller")
    assert "1 ms" in netlull("plugin", "check", str(module))
    done = CliRunner().invoke(commands, ["plugin", "run", str(module), "--set", "headroom=0"])
    assert "controller.headroom: is 0; expected a number from 1 to 10" in str(done.exception)
    done = CliRunner().invoke(commands, ["plugin", "run", str(module), "--set", "module=/nowhere.wasm"])
    assert '--set: "module" is no parameter of a module' in str(done.exception)


BAD = """
#include "netlull.h"
NETLULL_EXPORT(netlull_describe) void netlull_describe(void) {
    say("{\\"netlull\\":1,\\"kind\\":\\"link_controller\\",\\"name\\":\\"bad\\"}");
}
NETLULL_EXPORT(netlull_create) int netlull_create(void) { return 0; }
static int number;
NETLULL_EXPORT(netlull_event) void netlull_event(void) {
    answer();
    if (++number == 1) set_rate(get(LINK_RATE) / 4, 0);
    if (number == 200) __builtin_trap();
}
"""


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    """A link whose controller takes a quarter of the rate, and traps at its event 200."""
    folder = tmp_path_factory.mktemp("bad") / "bad"
    if why := can_build("c"):
        pytest.skip(why)
    netlull("plugin", "new", str(folder), "--language", "c", "--kind", "link-controller")
    (folder / "bad.c").write_text(BAD, encoding="utf-8")
    subprocess.run([folder / "build.sh"], check=True)
    there = NETWORK["link"][0] | {"duplex": False, "controller": {"kind": "wasm", "module": str(folder / "bad.wasm")}}
    back = {"from": "b", "to": "a", "rate": "10 Mb/s", "delay": "20 ms"}
    tcp = {"preset": "linux-6", "congestion_control": "cubic"}
    return Scenario.from_dict(NETWORK | {"duration": "3 s", "link": [there, back], "tcp": tcp})


def test_a_trap_ends_a_simulation_with_place_file_event_reason_and_time(bad: Scenario) -> None:
    with pytest.raises(ScenarioError) as raised:
        bad.run()
    for part in (
        "link.a-b.controller.module: is bad.wasm, whose event 200 fails (",
        "unreachable",
        'machine "bad", at ',
    ):
        assert part in str(raised.value)


def test_a_report_that_fails_ends_a_simulation(tmp_path: Path) -> None:
    module = built(tmp_path / "mine", "c", "congestion-control")
    source = module.with_suffix(".c")
    source.write_text(source.read_text(encoding="utf-8").replace("begin_report();", ""), encoding="utf-8")
    subprocess.run([module.parent / "build.sh"], check=True)
    tcp = {"preset": "linux-6", "congestion_control": {"kind": "wasm", "module": str(module)}}
    # One segment, so no event follows the report after its acknowledgement.
    flow = NETWORK["flow"][0] | {"size": "1000 B"}
    for flows in (NETWORK["flow"], [flow]):
        scenario = Scenario.from_dict(NETWORK | {"tcp": tcp, "flow": flows, "probe": {"variables": True}})
        expected = (
            r"mine\.wasm, whose report of variables has a name that is no text; expected 1 to 64 bytes.*at 0\.0\d+ s"
        )
        with pytest.raises(ScenarioError, match=expected):
            scenario.run()
    # Nobody asks for a report without the probe.
    assert Scenario.from_dict(NETWORK | {"tcp": tcp}).run().summary["flows"][0]["goodput_bps"] > 0


def test_a_trap_ends_an_emulation_with_its_reason(bad: Scenario, netlulld: Path) -> None:
    with pytest.raises(EmulationError) as raised:
        bad.emulate(program=netlulld, max_lateness="10 s")
    told = str(raised.value)
    assert told.startswith("link.a-b.controller.module: is bad.wasm, whose event 200 fails (")
    assert re.search(r" \(at 0\.\d{9} s\)$", told)
