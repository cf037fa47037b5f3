"""A process that simulates runs for another one: requests and answers are lines of JSON.

    python -m netlull.runs.worker

reads requests from its standard input until that closes. Runs that call Python classes need it: in one process they
would share the GIL.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import subprocess
import sys
import time
import traceback
from typing import IO, Any

from netlull import _engine
from netlull.plugins.loading import Passed, take

__all__ = ["Worker"]

_ERRORS = {
    error.__name__: error for error in (_engine.MemoryLimitError, _engine.ScenarioError, _engine.VerificationError)
}
_MOST_SCENARIOS = 100
"""Number of checked scenarios that a process keeps."""


class _RemoteError(Exception):
    """The traceback of an exception in the process."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Worker:
    """A process that simulates one run after the other."""

    def __init__(self, code: Passed) -> None:
        """Starts the process, which may load this code."""
        # -P: with -m alone, Python would import modules of the current folder that this process does not.
        command = [sys.executable, "-P", "-m", "netlull.runs.worker"]
        # An empty part is the current folder, as in a notebook.
        path = os.pathsep.join(part or os.curdir for part in sys.path)
        self._process = subprocess.Popen(  # noqa: S603  # itself
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": path},
        )
        self._cancelled = False
        self._code = code

    def measure(self, scenario: str, seed: int, memory: int | None) -> tuple[str, float]:
        """The summary of a run of a scenario in JSON, and its CPU time in seconds.

        Raises:
            ScenarioError, MemoryLimitError, VerificationError: as the core raises them.
            Cancelled: `cancel` was called.
        """
        request = {"code": self._code, "scenario": scenario, "seed": seed, "memory": memory}
        try:
            stream = _open(self._process.stdin)
            stream.write(json.dumps(request) + "\n")
            stream.flush()
            line = _open(self._process.stdout).readline()
        except OSError:
            line = ""
        if not line:
            if self._cancelled:
                raise _engine.Cancelled("the run was cancelled")
            raise RuntimeError(f"a process that simulates has ended with the code {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            error = _ERRORS.get(answer["error"], RuntimeError)(answer["message"])
            cause = answer["cause"]
            raise error from (None if cause is None else _RemoteError(cause))
        return str(answer["summary"]), float(answer["cpu_s"])

    def cancel(self) -> None:
        """Ends the process, in the middle of a run."""
        self._cancelled = True
        self._process.kill()

    def close(self) -> None:
        """Ends the process after its run."""
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                _open(stream).close()
        self._process.wait()


def _open(stream: IO[str] | None) -> IO[str]:
    if stream is None:
        raise OSError("the stream is closed")
    return stream


@functools.lru_cache(_MOST_SCENARIOS)
def _checked(text: str) -> _engine.Checked:
    return _engine.Checked(text)


def _answer(request: dict[str, Any]) -> dict[str, object]:
    take(request["code"])
    began = time.process_time()
    try:
        checked = _checked(request["scenario"])
        summary = checked.measure(request["seed"], _engine.Monitor(), request["memory"])
    except Exception as error:
        cause = error.__cause__ if type(error).__name__ in _ERRORS else error
        trace = None if cause is None else "".join(traceback.format_exception(cause))
        return {"error": type(error).__name__, "message": str(error), "cause": trace}
    return {"summary": summary, "cpu_s": time.process_time() - began}


def _serve() -> None:
    # What classes print goes to the standard error: the standard output is for answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # Classes that read get an empty input: the standard input has the requests.
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    for line in requests:
        answers.write(json.dumps(_answer(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        _serve()
