"""`netlull doctor` and `netlull replay`: the abilities of this machine, and the check of a recording."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from netlull.cli.inputs import json_option
from netlull.cli.tables import Table, new_console, show
from netlull.doctor import examine, simulates
from netlull.emulation import replay

__all__ = ["doctor_command", "replay_command"]


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
        click.echo(json.dumps({"simulates": can, "checks": [asdict(check) for check in checks]}, indent=2))
    else:
        table = Table(["", "check", "needed for", "found or missing"], words=4)
        for check in checks:
            uses = [*check.needed_for, *(f"{use} (optional)" for use in check.optional_for)]
            table.add(["ok" if check.ok else "no", check.name, ", ".join(uses), check.message])
        show(new_console(), "Abilities of this machine", table)
        lacking = [check for check in checks if not check.ok]
        missing = dict.fromkeys(use for check in lacking for use in check.needed_for)
        inexact = dict.fromkeys(use for check in lacking for use in check.optional_for if use not in missing)
        click.echo(f"Not or only partly possible: {', '.join(missing)}." if missing else "Everything is possible here.")
        if inexact:
            click.echo(f"Possible, but less exact: {', '.join(inexact)}.")
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
    click.echo(words, err=not same)
    if not same:
        context.exit(1)
