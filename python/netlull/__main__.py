"""The `netlull` command, also as `python -m netlull`. Ctrl-C ends it in one line even while modules are loaded."""

import atexit
import os
import signal
import sys
from types import FrameType


def _leave(_signal: int, _frame: FrameType | None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(130)  # INTERRUPTED, which is not loaded yet


_BEFORE = signal.signal(signal.SIGINT, _leave)

from netlull.cli import INTERRUPTED, main  # noqa: E402  # under the handler

signal.signal(signal.SIGINT, _BEFORE)

if __name__ == "__main__":
    code = main()
    if code == INTERRUPTED:
        # If Ctrl-C passed through an `exec`, as in the import of a dataclass, `python -m` would end with SIGINT instead
        # of this code.
        atexit._run_exitfuncs()  # noqa: SLF001  # the rest of an orderly end
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)
