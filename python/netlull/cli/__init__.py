"""The `netlull` command. Commands import what they need when they run, so that `--help` is fast."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence

import click

from netlull.cli.compare import compare_command
from netlull.cli.doctor import doctor_command, replay_command
from netlull.cli.emulate import emulate_command
from netlull.cli.listing import list_command, schema_command
from netlull.cli.map import map_command
from netlull.cli.plan import plan_command
from netlull.cli.plot import plot_group
from netlull.cli.report import report_command
from netlull.cli.reproduce import reproduce_command
from netlull.cli.run import run_command
from netlull.cli.sweep import sweep_command
from netlull.cli.topology import topology_command
from netlull.cli.trace import trace_command

__all__ = ["main"]

_BAD_INPUT = 2
_INTERRUPTED = 130
_TERMINATED = 143


class _Terminated(KeyboardInterrupt):
    """SIGTERM: ends everything as Ctrl-C does, with another exit code."""


def _print_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from netlull import __version__

        click.echo(f"netlull {__version__}")
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Say which.")
def _commands() -> None:
    """A laboratory for energy-saving networking under TCP."""


for _command in (
    run_command,
    emulate_command,
    sweep_command,
    compare_command,
    plot_group,
    reproduce_command,
    report_command,
    list_command,
    schema_command,
    trace_command,
    topology_command,
    plan_command,
    map_command,
    doctor_command,
    replay_command,
):
    _commands.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code: 0, 1 (a defect, or no), 2 (bad input), 130 (Ctrl-C), 143 (SIGTERM)."""
    try:
        with _sigterm_interrupts():
            code = _commands.main(args=arguments, prog_name="netlull", standalone_mode=False)
            sys.stdout.flush()
    except click.ClickException as error:
        return _refused(error.format_message())
    except (click.Abort, KeyboardInterrupt) as error:
        terminated = isinstance(error, _Terminated) or isinstance(error.__cause__, _Terminated)
        click.echo("terminated" if terminated else "interrupted", err=True)
        return _TERMINATED if terminated else _INTERRUPTED
    except Exception as error:
        return _failed(error)
    # Of a command that ended with `context.exit(code)`.
    return code if isinstance(code, int) else 0


@contextlib.contextmanager
def _sigterm_interrupts() -> Iterator[None]:
    """SIGTERM unwinds the block, so that nothing half-written stays."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def terminate(_signal: int, _frame: object) -> None:
        # A second one must not interrupt the cleaning up.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise _Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _unwritable(error: OSError) -> int:
    """A full disk, or a standard output that takes no more: one line; nothing at all for a closed pipe."""
    try:
        sys.stdout.flush()
    except OSError:
        # What is left in the buffer would fail again when the interpreter ends.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return 1
    return _refused(f"{error.filename or 'output'}: {error.strerror or error}")


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
        return _unwritable(error)
    raise error
