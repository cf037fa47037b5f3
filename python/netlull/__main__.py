"""The `netlull` command, also as `python -m netlull`. Ctrl-C ends it in one line even while modules are loaded."""

import os
import signal
import sys
from types import FrameType


def _leave(_signal: int, _frame: FrameType | None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(130)


_BEFORE = signal.signal(signal.SIGINT, _leave)

from netlull.cli import main  # noqa: E402  # under the handler

signal.signal(signal.SIGINT, _BEFORE)

if __name__ == "__main__":
    sys.exit(main())
