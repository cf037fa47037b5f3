"""Control of `netlulld`, which emulates links and mechanisms between network namespaces, with the kernel's TCP.

`netlulld` is a separate program (`make netlulld`). This module gives it a plan and reads its counts.
docs/how-to/emulate.md lists its requirements and the parts of a scenario that the kernel implements.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from netlull import _engine
from netlull.errors import EmulationError, EmulationLate, InputError
from netlull.quantities import in_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["VARIABLE", "Outcome", "emulate", "find_program", "options", "program_version", "replay"]

VARIABLE = "NETLULLD"
"""The environment variable that names the program."""
_NAME = "netlulld"
_BAD_INPUT = 2
_TOO_LATE = 3
_INTERRUPTED = (130, 143)
_PATIENCE_S = 10.0
"""The longest time for the program to remove its namespaces and devices, in seconds."""


def find_program(program: str | Path | None = None) -> Path:
    """The path of `netlulld`: the given one, that in `NETLULLD`, next to this Python, or on the PATH.

    Raises:
        EmulationError: netlulld is not installed; the message lists the searched places and the build command.
    """
    if program is not None:
        return _program(Path(program), "program")
    if named := os.environ.get(VARIABLE):
        return _program(Path(named), VARIABLE)
    beside = Path(sys.executable).parent / _NAME
    if _runs(beside):
        return beside
    found = shutil.which(_NAME)
    if found is None:
        raise EmulationError(
            f"{_NAME} is missing: it is neither named by {VARIABLE}, nor next to {sys.executable}, nor on the PATH; "
            "in a checkout `make netlulld` builds it, and a release has it as an archive to unpack onto the PATH"
        )
    return Path(found)


def _program(path: Path, named_by: str) -> Path:
    if not _runs(path):
        raise EmulationError(f"{named_by}: {path} is not a program; expected {_NAME} (`make netlulld` builds it)")
    return path


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def program_version(program: str | Path | None = None) -> str:
    """The version that `netlulld --version` prints, such as `0.1.0`.

    Raises:
        EmulationError: there is no such program, or its output has no version.
    """
    found = find_program(program)
    done = _asked([str(found), "--version"])
    words = done.stdout.split()
    if done.returncode or words[:1] != [_NAME] or len(words) < 2:
        raise EmulationError(f"{found}: is not {_NAME}: --version prints {done.stdout[:40]!r}")
    return words[1]


def replay(tape: str | Path, program: str | Path | None = None) -> tuple[bool, str]:
    """Replays a recorded machine's events: True if all decisions are the same, and netlulld's message.

    Raises:
        EmulationError: there is no netlulld.
        InputError: `tape` is not a tape.
    """
    done = _asked([str(find_program(program)), "replay", str(tape)])
    if done.returncode == _BAD_INPUT:
        raise InputError(_said(done.stderr))
    return done.returncode == 0, "\n".join(text for text in (done.stdout.strip(), _said(done.stderr)) if text)


def _asked(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # netlulld
    except OSError as error:
        raise EmulationError(f"{command[0]}: cannot be run: {error.strerror}") from None


@dataclass(frozen=True)
class Outcome:
    """The counts of `netlulld` for a run with acceptable lateness."""

    program: Path
    document: Mapping[str, Any]
    account: Mapping[str, Any]
    """The account of the emulation in a result: `lateness` in s, `system`, `differences`."""

    def result(self, scenario: _engine.Checked) -> _engine.RawResult:
        """The outcome as a run of the scenario.

        Raises:
            EmulationError: the outcome is damaged, or of another scenario or version.
        """
        try:
            return scenario.emulation_result(json.dumps(self.document))
        except _engine.ScenarioError as error:
            raise EmulationError(f"{self.program}: {error}") from None


def emulate(
    plan: str, program: Path, arguments: Sequence[str] = (), progress: Callable[[float], None] | None = None
) -> Outcome:
    """Executes a plan of the core in real time. `Scenario.emulate` is the function for users.

    Args:
        plan: the plan, as JSON.
        program: the path of netlulld.
        arguments: further arguments, from `options`.
        progress: called with the finished share, 0 to 1.

    Raises:
        EmulationError: the program cannot emulate this here.
        EmulationLate: packets were too late for a valid run.
    """
    # Files without a name: nothing is left of them, however this process ends.
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as given,
        tempfile.TemporaryFile("w+", encoding="utf-8") as done,
    ):
        given.write(plan)
        given.flush()
        files = [given.fileno(), done.fileno()]
        plan_file, outcome_file = (f"/dev/fd/{each}" for each in files)
        command = [str(program), "emulate", "--plan", plan_file, "--outcome", outcome_file, *arguments]
        code, said = _run(command, progress, files)
        document = _outcome(done, code, said)
    account = _account(document)
    if code == _TOO_LATE:
        late = account["lateness"]
        raise EmulationLate(
            said or "packets were too late, so the run is not valid", p99_s=late["p99_s"], limit_s=late["limit_s"]
        )
    return Outcome(program, document, account)


def options(
    max_lateness: str | None,
    tapes: str | Path | None,
    capture: str | Path | None,
    attach: Mapping[str, str],
) -> list[str]:
    """The program's arguments for the options of `Scenario.emulate`.

    Raises:
        InputError: the lateness is not a time.
    """
    arguments: list[str] = []
    if max_lateness is not None:
        if (in_unit(max_lateness, "ns") or 0.0) <= 0:
            raise InputError(f'max_lateness: "{max_lateness}" is not a time; expected one such as "1 ms"')
        arguments += ["--max-lateness", max_lateness]
    if tapes is not None:
        arguments += ["--tapes", str(tapes)]
    if capture is not None:
        arguments += ["--capture", str(capture)]
    return arguments + [word for node, name in attach.items() for word in ("--attach", f"{node}={name}")]


def _run(command: list[str], progress: Callable[[float], None] | None, files: Sequence[int]) -> tuple[int, str]:
    """The program's exit code and its standard error. The program gets the open files."""
    if progress is not None:
        command = [*command, "--progress"]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        with _child(command, errors, files) as child:
            for line in child.stdout or ():
                word, _, share = line.partition(" ")
                if progress is not None and word == "progress":
                    with contextlib.suppress(ValueError):
                        progress(float(share))
            code = child.wait()
        errors.seek(0)
        return code, _said(errors.read())


@contextlib.contextmanager
def _child(command: Sequence[str], errors: IO[str], files: Sequence[int]) -> Iterator[subprocess.Popen[str]]:
    """The program, within the block. If the block fails, the program removes its namespaces and devices first."""
    try:
        child = subprocess.Popen(  # noqa: S603  # netlulld
            command, stdout=subprocess.PIPE, stderr=errors, text=True, pass_fds=files
        )
    except OSError as error:
        raise EmulationError(f"{command[0]}: cannot be run: {error.strerror}") from None
    with child:
        try:
            yield child
        except BaseException:
            child.terminate()
            try:
                child.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                child.kill()
            raise


def _said(errors: str) -> str:
    """The program's message without its name, in one line."""
    return " ".join(errors.split()).removeprefix(f"{_NAME}: ")


def _outcome(file: IO[str], code: int, said: str) -> dict[str, Any]:
    if code in _INTERRUPTED:
        raise KeyboardInterrupt
    if code not in {0, _TOO_LATE}:
        raise EmulationError(said or f"{_NAME} ended with code {code} and no message")
    try:
        file.seek(0)
        outcome: Any = json.load(file)
    except (OSError, ValueError):
        outcome = None
    if not isinstance(outcome, dict):
        raise EmulationError(f"{_NAME} wrote no outcome, though it ended with code {code}")
    return outcome


def _nanoseconds(time: str) -> float:
    """A time of an outcome, such as `"0.15 ms"`, in ns."""
    found = in_unit(time, "ns")
    if found is None:
        raise ValueError(f"{time!r} is not a time")
    return found


def _account(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """The account of the emulation in a result: `lateness` in s, `system`, `differences`."""
    try:
        late = outcome["lateness"]
        lateness: dict[str, float] = {"packets": int(late["packets"])}
        lateness |= {f"{key}_s": _nanoseconds(late[key]) / 1e9 for key in ("p50", "p99", "p999", "max", "limit")}
        return {
            "lateness": lateness,
            "system": dict(outcome["system"]),
            "differences": [str(difference) for difference in outcome["differences"]],
        }
    except (AttributeError, KeyError, TypeError, ValueError):
        raise EmulationError(
            f"{_NAME} wrote an outcome without its lateness; expected one of version {_engine.__version__}"
        ) from None
