"""The `netlull` command. Commands import what they need when they run, so that `--help` is fast."""

from __future__ import annotations

from collections.abc import Sequence

import click

from netlull.cli.listing import list_command, schema_command
from netlull.cli.reproduce import reproduce_command
from netlull.cli.run import run_command
from netlull.cli.sweep import sweep_command
from netlull.cli.trace import trace_command

__all__ = ["main"]

_BAD_INPUT = 2
_INTERRUPTED = 130


def _print_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from netlull import __version__

        click.echo(f"netlull {__version__}")
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Say which.")
def _commands() -> None:
    """A laboratory for energy-saving networking under TCP."""


for _command in (run_command, sweep_command, reproduce_command, list_command, schema_command, trace_command):
    _commands.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code: 0, 1 (a defect), 2 (bad input) or 130 (Ctrl-C)."""
    try:
        _commands.main(args=arguments, prog_name="netlull", standalone_mode=False)
    except click.ClickException as error:
        return _refused(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return _INTERRUPTED
    except Exception as error:
        return _failed(error)
    return 0


def _refused(message: str) -> int:
    click.echo(f"netlull: {' '.join(message.split())}", err=True)
    return _BAD_INPUT


def _failed(error: Exception) -> int:
    """Bad input and broken conservation laws in one line; anything else is a defect, with its traceback."""
    from netlull import _engine
    from netlull.errors import InputError

    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    if isinstance(error, InputError | _engine.ScenarioError):
        return _refused(f"{error}{notes}")
    if isinstance(error, _engine.VerificationError):
        message = f"netlull: VERIFICATION FAILED: {error}{notes}. This is a defect of the simulator: please report it"
        click.echo(" ".join(message.split()), err=True)
        return 1
    if isinstance(error, RecursionError):
        return _refused("the input is nested too deeply; expected a scenario's few levels")
    if isinstance(error, OSError):
        return _refused(f"{error.filename or 'output'}: {error.strerror or error}")
    raise error
