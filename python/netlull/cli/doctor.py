"""`netlull doctor` and `netlull replay`: the abilities of this machine, and the check of a recording."""

from __future__ import annotations

import json
import platform
import subprocess
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from netlull import _engine
from netlull.builders import Cbr, Link
from netlull.cli.inputs import json_option
from netlull.cli.tables import Table, new_console, show
from netlull.cli.text import echo
from netlull.emulation import find_program, program_version, replay
from netlull.errors import EmulationError
from netlull.plugins.loading import listed
from netlull.results.output import origin
from netlull.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Check", "doctor_command", "examine", "replay_command", "simulates"]

SIMULATING = "simulating"
EMULATING = "emulating"
PLUG_INS = "plug-ins of packages"
_PATIENCE_S = 60.0


@click.command("doctor")
@json_option
@click.pass_context
def doctor_command(context: click.Context, as_json: bool) -> None:
    """Report if this machine can simulate and emulate.

    Exit code 0 if it can simulate.
    """
    checks = examine()
    can = simulates(checks)
    if as_json:
        echo(json.dumps({"simulates": can, "checks": [asdict(check) for check in checks]}, indent=2))
    else:
        table = Table(["", "check", "needed for", "found or missing"], words=4)
        for check in checks:
            uses = [*check.needed_for, *(f"{use} (optional)" for use in check.optional_for)]
            table.add(["ok" if check.ok else "no", check.name, ", ".join(uses), check.message])
        show(new_console(), "Abilities of this machine", table)
        lacking = [check for check in checks if not check.ok]
        missing = dict.fromkeys(use for check in lacking for use in check.needed_for)
        inexact = dict.fromkeys(use for check in lacking for use in check.optional_for if use not in missing)
        echo(f"Not or only partly possible: {', '.join(missing)}." if missing else "Everything is possible here.")
        if inexact:
            echo(f"Possible, but less exact: {', '.join(inexact)}.")
    if not can:
        context.exit(1)


@click.command("replay")
@click.argument("tape", type=click.Path(exists=True, dir_okay=False), metavar="TAPE")
@click.pass_context
def replay_command(context: click.Context, tape: str) -> None:
    """Replay a recording of `netlull emulate --tapes`.

    The exit code is 1 if the machine decides differently.
    """
    same, words = replay(tape)
    echo(words, err=not same)
    if not same:
        context.exit(1)


@dataclass(frozen=True)
class Check:
    """A check of one requirement of netlull."""

    name: str
    ok: bool
    needed_for: tuple[str, ...]
    message: str
    """The result, or the missing part and how to get it."""
    optional_for: tuple[str, ...] = ()
    """The uses that work without it, but less exactly."""


def examine(program: str | Path | None = None) -> list[Check]:
    """Checks every requirement of simulation and emulation here; never raises."""
    return [_package(), _core(), *_plugins(), *_netlulld(program)]


def simulates(checks: list[Check]) -> bool:
    """True if every requirement of simulation is met."""
    return all(check.ok for check in checks if SIMULATING in check.needed_for)


def _package() -> Check:
    facts = origin()
    commit = f", commit {facts['commit']}" if facts["commit"] else ""
    message = f"netlull {facts['version']}{commit}, Python {platform.python_version()}"
    return Check("package", ok=True, needed_for=(SIMULATING,), message=message)


def _core() -> Check:
    """Checks the compiled core with a run of known result: 1 Mb/s for 100 ms is one packet per 12 ms."""
    try:
        scenario = Scenario(
            duration="100 ms",
            nodes=["a", "b"],
            links=[Link("a", "b", "10 Mb/s", "1 ms")],
            flows=[Cbr("packets", "a", "b", "1 Mb/s", packet="1500 B")],
        )
        sent = scenario.run().flow("packets")["packets_sent"]
    except Exception as error:  # any failure is the check's message
        return Check("core", ok=False, needed_for=(SIMULATING,), message=f"{type(error).__name__}: {error}")
    return Check(
        "core",
        ok=sent == 9,
        needed_for=(SIMULATING,),
        message=f"engine {_engine.identity()}: a run of 100 ms sent {sent} packets (expected 9)",
    )


def _plugins() -> list[Check]:
    """Checks the plug-ins of installed packages, if there are any."""
    found = listed()
    if not found:
        return []
    broken = [f"{each.name} of {each.package} ({each.problem})" for each in found if each.problem is not None]
    names = ", ".join(f"{each.name} of {each.package}" for each in found)
    message = f"cannot be used: {'; '.join(broken)}" if broken else names
    return [Check("plug-ins", ok=not broken, needed_for=(PLUG_INS,), message=message)]


def _netlulld(program: str | Path | None) -> list[Check]:
    try:
        found = find_program(program)
        version = program_version(found)
    except EmulationError as error:
        return [Check("netlulld", ok=False, needed_for=(EMULATING,), message=str(error))]
    same = version == _engine.__version__
    message = f"{found}, version {version}"
    if not same:
        message += f"; expected {_engine.__version__}, as netlull's: `make netlulld` builds it"
    return [Check("netlulld", ok=same, needed_for=(EMULATING,), message=message), *_its_checks(found)]


def _its_checks(program: Path) -> list[Check]:
    """The checks of `netlulld doctor --json`."""
    command = [str(program), "doctor", "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE_S)  # noqa: S603
        checks: Any = json.loads(done.stdout)["checks"]
        return [
            Check(
                str(each["name"]),
                bool(each["ok"]),
                tuple(map(str, each["needed_for"])),
                str(each["message"]),
                tuple(map(str, each["optional_for"])),
            )
            for each in checks
        ]
    except (OSError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
        message = f"`{program} doctor --json` gives no checks ({type(error).__name__})"
        return [Check("netlulld doctor", ok=False, needed_for=(EMULATING,), message=message)]
