"""The `netlull` command.

`--help` loads no command. A command's module is loaded when the command runs. Packages that draw or read tables are
attributes of `netlull`, loaded at their first use.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

import click

from netlull import _engine, renames
from netlull.cli.progress import warnings_told
from netlull.cli.text import echo
from netlull.errors import NEEDS_CODE, InputError, near

__all__ = ["INTERRUPTED", "LISTED", "commands", "main"]

_STDERR = 2
_BAD_INPUT = 2
INTERRUPTED = 130
"""The exit code after Ctrl-C."""

_TERMINATED = 143


class _Terminated(KeyboardInterrupt):
    """SIGTERM: ends everything as Ctrl-C does, but with its own exit code."""


def _print_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        echo(f"netlull {_engine.__version__}")
        context.exit()


@dataclass(frozen=True)
class Listed:
    """A command before its module is loaded."""

    module: str
    attribute: str
    short_help: str
    """The first sentence of the command's help."""

    def loaded(self) -> click.Command:
        command: click.Command = getattr(import_module(f"netlull.cli.{self.module}"), self.attribute)
        return command


LISTED: Mapping[str, Listed] = {
    "benchmark": Listed("benchmark", "benchmark_group", "Judge a link controller on the public benchmark."),
    "bound": Listed("bound", "bound_command", "Bound the energy that any controller of a link can save."),
    "compare": Listed("compare", "compare_command", "Compare A and B, paired by point and seed."),
    "conformance": Listed(
        "conformance", "conformance_command", "Check a congestion control or loss recovery, case by case."
    ),
    "doctor": Listed("doctor", "doctor_command", "Report if this machine can simulate and emulate."),
    "emulate": Listed(
        "emulate",
        "emulate_command",
        "Emulate FILE in real time with the kernel's TCP.",
    ),
    "energy": Listed("energy", "energy_command", "Show the power of devices by cause, and possible savings."),
    "lab": Listed("lab", "lab_command", "Write the laboratory for the browser, and print its address."),
    "list": Listed("listing", "list_command", "List papers, mechanisms, TCPs, scenarios and more."),
    "map": Listed(
        "topology",
        "map_command",
        "Draw the network of a topology, a scenario or a run.",
    ),
    "new": Listed("new", "new_command", "Write NAME.toml, a commented scenario that runs as written."),
    "plan": Listed(
        "plan",
        "plan_command",
        "Print the links of FILE that a plan switches off.",
    ),
    "plugin": Listed("plugin", "plugin_group", "Write, check and try WebAssembly modules."),
    "plot": Listed("plot", "plot_group", "Draw figures of runs."),
    "replay": Listed(
        "doctor",
        "replay_command",
        "Replay a recording of `netlull emulate --tapes`.",
    ),
    "report": Listed(
        "report",
        "report_command",
        "Write the report of a sweep as one HTML page.",
    ),
    "reproduce": Listed(
        "reproduce",
        "reproduce_command",
        "Reproduce papers: judged claims, figures and a report.",
    ),
    "run": Listed(
        "run",
        "run_command",
        "Simulate FILE and print the results.",
    ),
    "schema": Listed("listing", "schema_command", "Print the JSON Schema of a scenario, for editors."),
    "sweep": Listed("sweep", "sweep_command", "Run the sweep in FILE, and reuse the runs in its store."),
    "topology": Listed("topology", "topology_command", "Show nodes, links, degrees and lengths of a topology."),
    "trace": Listed(
        "run",
        "trace_command",
        "Write the packets at links of a simulation as pcapng.",
    ),
}


class _Commands(click.Group):
    """Commands whose modules are loaded at first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, sorted."""
        return sorted(LISTED)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The loaded command; None if the name is unknown."""
        return LISTED[cmd_name].loaded() if cmd_name in LISTED else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command and its arguments."""
        if args and args[0] not in LISTED and not args[0].startswith("-"):
            raise click.UsageError(f'there is no command "{args[0]}"; {near(args[0], sorted(LISTED))}', ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands without loading them."""
        room = formatter.width - 6 - max(len(name) for name in LISTED)
        with formatter.section("Commands"):
            unloaded = [click.Command(name, help=listed.short_help) for name, listed in LISTED.items()]
            formatter.write_dl([(command.name or "", command.get_short_help_str(room)) for command in unloaded])


_FIRST_STEPS = """\
A packet-level simulator of energy-saving networks under TCP.
Three commands to start:

  netlull run dumbbell                        simulate a TCP flow: a table
  netlull reproduce troubled-marriage-2016    judge a paper's claims: a report
  netlull new mine                            write a scenario of your own

`netlull --help` lists all commands."""


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.pass_context
def commands(context: click.Context) -> None:
    """A packet-level simulator of energy-saving networks under TCP."""
    if context.invoked_subcommand is None:
        echo(_FIRST_STEPS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code: 0, 1 (defect, or "no"), 2 (bad input), 130 (Ctrl-C), 143 (SIGTERM)."""
    _prepare_streams()
    try:
        with _sigterm_interrupts(), warnings_told():
            code = commands.main(args=arguments, prog_name="netlull", standalone_mode=False)
            sys.stdout.flush()
    except click.ClickException as error:
        return _refused(_with_hint(error.format_message()))
    except (KeyboardInterrupt, Exception) as error:
        stop = _stop_behind(error)
        if stop is None:
            return _failed(error, sys.argv[1:] if arguments is None else arguments)
        terminated = issubclass(stop, _Terminated)
        echo("terminated" if terminated else "interrupted", err=True)
        return _TERMINATED if terminated else INTERRUPTED
    # The exit code of a command that ended with `context.exit(code)`.
    return code if isinstance(code, int) else 0


def _stop_behind(error: BaseException) -> type[KeyboardInterrupt] | None:
    """The kind of signal behind an error: Python and click wrap it in their own errors, or a clean-up fails after it.

    Not the exception: a reference to it would keep unfinished files open that are removed with their last reference.
    """
    link: BaseException | None = error
    seen = set()
    # An error that was raised again can be its own cause's cause.
    while link is not None and id(link) not in seen:
        if isinstance(link, KeyboardInterrupt):
            return type(link)
        seen.add(id(link))
        link = link.__cause__ or link.__context__
    return KeyboardInterrupt if isinstance(error, click.Abort) else None


def _prepare_streams() -> None:
    """Makes the standard streams usable: a closed one leads nowhere, and one without UTF-8 prints `?` for the rest."""
    # Files that are opened later must not take the numbers 0 to 2 of closed streams.
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        pass
    os.close(descriptor)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  # open to the end
        elif isinstance(stream, io.TextIOWrapper) and stream.errors == "strict" and mode == "w":
            stream.reconfigure(errors="replace")


@contextlib.contextmanager
def _sigterm_interrupts() -> Iterator[None]:
    """SIGTERM unwinds the block: no half-written file stays."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def terminate(_signal: int, _frame: object) -> None:
        # A second signal must not interrupt the clean-up.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise _Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _unwritable(error: OSError) -> int:
    """Reports a full disk or a broken standard output in one line. A closed pipe is silent."""
    try:
        sys.stdout.flush()
    except OSError:
        # The rest of the buffer would fail again when the interpreter ends.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return 0
    return _refused(f"{error.filename or 'output'}: {error.strerror or error}")


def _with_hint(message: str) -> str:
    """The message of click with the new name of an old word in it."""
    words = re.findall(r"'([^']+)'", message)
    hints = [hint for hint in (renames.hint(word, words) for word in words) if hint is not None]
    return f"{message.rstrip('.')}; {hints[0]}" if hints else message


def _refused(message: str, command: str = "") -> int:
    """Prints an error on one line. Its end may be a command, which is not changed."""
    echo(f"netlull: {' '.join(message.split())}{command}", err=True)
    return _BAD_INPUT


def _failed(error: BaseException, arguments: Sequence[str]) -> int:
    """Reports bad input and broken conservation laws in one line. Other errors are defects, with their traceback."""
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    if isinstance(error, InputError | _engine.ScenarioError) and NEEDS_CODE in str(error):
        again = shlex.join(["netlull", *arguments, "--allow-code"])
        return _refused(str(error).replace(NEEDS_CODE, "that you trust it:"), f" {again}")
    if isinstance(error, InputError | _engine.ScenarioError) and error.__cause__ is not None:
        # The exception of a plug-in, with the lines of its code.
        echo("".join(traceback.format_exception(error.__cause__)), err=True, nl=False)
        _refused(f"{error}{notes}")
        return 1
    if isinstance(error, InputError | _engine.ScenarioError):
        return _refused(f"{error}{notes}")
    if isinstance(error, _engine.VerificationError):
        message = f"netlull: VERIFICATION FAILED: {error}{notes}. This is a defect of the simulator: please report it"
        echo(" ".join(message.split()), err=True)
        return 1
    if isinstance(error, RecursionError):
        return _refused("the input is nested too deeply; expected a scenario's few levels")
    if isinstance(error, OSError):
        return _unwritable(error)
    raise error
