"""Building and running of the ns-3 program in this folder."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "dumbbell.cc"
HEADER = Path("/usr/include/ns3/version-defines.h")
STORED_VERSION = "3.37"
LIBRARIES = ("core", "network", "internet", "applications", "point-to-point", "traffic-control")

Value = str | int | float


class Ns3Error(Exception):
    """ns-3 is missing, or the program did not compile or failed."""


def version() -> str | None:
    """The version of the installed Debian package, such as `3.37`; None without it."""
    if not HEADER.exists():
        return None
    parts = dict(re.findall(r"#define NS3_VERSION_(MAJOR|MINOR) (\d+)", HEADER.read_text()))
    return f"{parts['MAJOR']}.{parts['MINOR']}"


def build(folder: Path) -> Path:
    """Compiles the program into a folder, without pkg-config, whose files for this package have no usable include path.

    Raises:
        Ns3Error: ns-3 or the compiler is missing, ns-3 has another version, or the program does not compile.
    """
    found = version()
    if found is None:
        raise Ns3Error(
            "ns-3 is not installed: it comes with the Debian package libns3-dev (apt-get install libns3-dev)"
        )
    if found != STORED_VERSION:
        raise Ns3Error(f"ns-3 {STORED_VERSION} is not installed, but {found}: its results would be others")
    binary = folder / "dumbbell"
    libraries = [f"-lns3-{name}" for name in LIBRARIES]
    checked(["g++", "-O2", "-std=c++17", "-Wall", "-Wextra", str(PROGRAM), "-o", str(binary), *libraries])
    return binary


def run(binary: Path, options: Mapping[str, Value]) -> str:
    """The output of the program.

    Raises:
        Ns3Error: it failed.
    """
    return checked([str(binary), *(f"--{name}={value}" for name, value in options.items())])


def checked(command: list[str]) -> str:
    """Output of a command that must succeed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise Ns3Error(f"{command[0]}: {error.strerror}") from None
    if done.returncode != 0:
        complaint = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise Ns3Error(f"{' '.join(command)}: exit code {done.returncode}: {complaint[0]}")
    return done.stdout
