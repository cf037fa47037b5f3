"""The package loads where there are no POSIX modules, as on Windows; `make lint` types it for Windows too."""

import subprocess
import sys

import pytest

# Only what netlull itself asks for is hidden: other packages have their own ways for other systems.
LOAD = """
import builtins, importlib, pkgutil, sys

hidden = set(sys.argv[1:])
real = builtins.__import__

def of_windows(name, globals=None, locals=None, fromlist=(), level=0):
    asking = (globals or {}).get("__name__") or ""
    if asking.startswith("netlull") and name.partition(".")[0] in hidden:
        raise ModuleNotFoundError(f"{asking} imports {name}, which only POSIX has")
    return real(name, globals, locals, fromlist, level)

builtins.__import__ = of_windows
import netlull
names = [found.name for found in pkgutil.walk_packages(netlull.__path__, "netlull.")]
for name in names:
    if name != "netlull.__main__":
        importlib.import_module(name)

from netlull.papers import find
from netlull.papers.source import module_of
for paper in find():
    for file in sorted(paper.folder.glob("*.py")):
        module_of(paper.folder, file.stem)
print(len(names))
"""
POSIX = ["fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"]


def load(*hidden: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LOAD, *hidden]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_module_loads_without_posix() -> None:
    done = load(*POSIX)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 80


@pytest.mark.parametrize("module", ["tomllib", "json"])
def test_a_hidden_module_is_noticed(module: str) -> None:
    done = load(module)
    assert done.returncode == 1
    assert f"imports {module}, which only POSIX has" in done.stderr
