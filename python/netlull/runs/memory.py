"""The memory limit of a run: by default a third of the free memory, shared by simultaneous runs."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from netlull.errors import InputError
from netlull.quantities import in_unit

if TYPE_CHECKING:
    from netlull import _engine

__all__ = ["excess", "limit"]

_TIMES_WHILE_GROWING = 3
"""A queue that doubles needs its old and its new memory at once, three times the old."""

_MEGA = 1e6
_GROUP = Path("/sys/fs/cgroup")
_KERNEL = Path("/proc")


def limit(asked: str | None, runs: int = 1) -> int:
    """The memory limit of one of `runs` simultaneous runs, in bytes.

    Args:
        asked: the limit of each run, such as "2 GB"; None for the default.
        runs: the number of simultaneous runs.

    Raises:
        InputError: `asked` is not a positive size.
    """
    if asked is None:
        return max(_free() // (_TIMES_WHILE_GROWING * runs), 1)
    size = in_unit(str(asked), "B")
    if size is None or not 1 <= size < 2**63:
        raise InputError(f"memory: {asked!r} is not a size; expected a size of at least 1 B, such as '2 GB'")
    return int(size)


def excess(checked: _engine.Checked, memory: int) -> tuple[str, ...]:
    """A warning if a run of the scenario is expected to need more than `memory` bytes; else nothing."""
    expected = checked.expected_memory()
    if expected <= memory:
        return ()
    return (
        f"memory: a run is expected to need {_told(expected)}, more than its limit of {_told(memory)}; "
        "expected smaller buffers, less traffic, fewer recorded rows, or a higher limit",
    )


def _told(size: float) -> str:
    return f"{size:.0f} B" if size < _MEGA else f"{size / _MEGA:.0f} MB"


def _free() -> int:
    """The memory that this process may still allocate, in bytes: of the machine, its control group and its limits."""
    free = [_available()]
    with contextlib.suppress(OSError, ValueError):  # no control group, or no limit ("max")
        used = int((_GROUP / "memory.current").read_text(encoding="ascii"))
        free.append(int((_GROUP / "memory.max").read_text(encoding="ascii")) - used)
    if sys.platform == "linux":
        most = _words("self/limits", "Max address space")[0]
        if most != "unlimited":
            free.append(int(most) - 1024 * int(_words("self/status", "VmSize:")[0]))
    return max(min(free), 1)


def _available() -> int:
    """The memory that the machine can give without swapping, in bytes."""
    if sys.platform == "linux":  # psutil reads the same line, but takes 25 ms to load
        return 1024 * int(_words("meminfo", "MemAvailable:")[0])
    else:  # noqa: RET505  (for mypy, which checks each system's branch)
        import psutil

        return psutil.virtual_memory().available


def _words(file: str, beginning: str) -> list[str]:
    """The words after the beginning of a line in a file of the kernel."""
    lines = (_KERNEL / file).read_text(encoding="utf-8", errors="replace").splitlines()
    return next(line.removeprefix(beginning).split() for line in lines if line.startswith(beginning))
