"""Runs the packet scripts of the RFCs; run it with `python validation/rfc/run.py`.

Builds the interpreter (`crates/tcp/examples/packet_script.rs`), and prints one line per script with its verdict and the
quoted sections. Exits 1 if a script fails or the lines differ from those in `stored/`. With `--store` they replace the
stored ones; `-v` also prints the events of each script. Names of scripts or of their files (`rfc6582-partial-ack`,
`rfc6582`) limit the run to them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
STORED = HERE / "stored" / "results.txt"


def build() -> Path:
    """Builds the interpreter; returns its path."""
    subprocess.run(
        ["cargo", "build", "--quiet", "--locked", "--package", "netlull-tcp", "--example", "packet_script"],
        cwd=ROOT,
        check=True,
    )
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "examples" / "packet_script"


def main() -> int:
    """Runs the scripts; returns 1 if one fails or the results differ from the stored ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="scripts to run; all if none is named")
    parser.add_argument("--store", action="store_true", help="replace the lines in stored/")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what happened in each script")
    arguments = parser.parse_args()

    names = arguments.names or sorted(path.stem for path in (HERE / "scripts").glob("*.script"))
    parts = (name.partition("-") for name in names)
    files = [f"scripts/{file}.script" + (f":{script}" if script else "") for file, _, script in parts]
    command = [str(build()), *(["-v"] if arguments.verbose else []), *files]
    run = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    print(run.stdout + run.stderr, end="")
    if arguments.verbose or arguments.names:
        return run.returncode
    if arguments.store:
        STORED.write_text(run.stdout)
    elif run.stdout != STORED.read_text():
        print("these are not the results stored; where they should be, run with --store")
        return 1
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
