"""The `netlull` command, also as `python -m netlull`."""

import os
import signal
import sys
from types import FrameType


def _leave(_signal: int, _frame: FrameType | None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(130)


def main() -> int:
    """Runs the command. Ctrl-C ends it in one line from the start, even while modules are loaded."""
    before = signal.signal(signal.SIGINT, _leave)
    from netlull.cli import main as command  # under the handler

    signal.signal(signal.SIGINT, before)
    return command()


if __name__ == "__main__":
    sys.exit(main())
