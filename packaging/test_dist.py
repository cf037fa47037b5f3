"""Each file of a release works where nothing else of netlull is. `make dist test-dist` takes minutes."""

from __future__ import annotations

import base64
import gzip
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

DIST = Path(__file__).resolve().parents[1] / "dist"
NO_PATHS = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "NETLULLD", "VIRTUAL_ENV"}}


def said(*command: object, where: Path) -> str:
    """Standard output of a command that must end well."""
    done = subprocess.run([*map(str, command)], cwd=where, env=NO_PATHS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def only(pattern: str) -> Path:
    """The one file of the release with such a name."""
    (found,) = DIST.glob(pattern)
    return found


@pytest.mark.parametrize(("pattern", "most"), [("netlull-*.whl", 5_600_000), ("netlulld-*.tar.gz", 3_200_000)])
def test_a_file_has_not_grown(pattern: str, most: int) -> None:
    assert only(pattern).stat().st_size < most


@pytest.mark.parametrize("pattern", ["netlull-*.whl", "netlull-*[0-9].tar.gz"], ids=["wheel", "sdist"])
def test_the_package_runs_in_a_clean_environment(pattern: str, tmp_path: Path) -> None:
    said(sys.executable, "-m", "venv", tmp_path / "venv", where=tmp_path)
    binaries = tmp_path / "venv" / "bin"
    said(binaries / "pip", "install", "--quiet", only(pattern), where=tmp_path)
    names = {line.partition("==")[0] for line in said(binaries / "pip", "freeze", where=tmp_path).splitlines()}
    assert not names & {"matplotlib", "scipy"}
    assert "dumbbell" in said(binaries / "netlull", "run", "dumbbell", where=tmp_path)
    said(binaries / "netlull", "run", "dumbbell", "--out", tmp_path / "out", where=tmp_path)
    assert (tmp_path / "out" / "links.parquet").stat().st_size
    # The lab's page is in the package.
    assert said(binaries / "netlull", "lab", where=tmp_path).strip() == (tmp_path / "lab.html").as_uri()
    assert "troubled-marriage-2016" in said(binaries / "netlull", "list", "papers", where=tmp_path)


def test_the_lab_is_small() -> None:
    with zipfile.ZipFile(only("netlull-*.whl")) as wheel:
        page = wheel.read("netlull/report/shipped/lab.html").decode()
    module = max(re.findall(r"[A-Za-z0-9+/=]{1000,}", page), key=len)
    assert gzip.decompress(base64.b64decode(module)).startswith(b"\0asm")
    # Every byte is loaded over the network.
    assert len(base64.b64decode(module)) <= 830_000
    assert len(page) <= 2_000_000


def unpacked(pattern: str, folder: Path) -> Path:
    with tarfile.open(only(pattern)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def test_netlulld_is_static_and_tells_its_version(tmp_path: Path) -> None:
    (folder,) = unpacked("netlulld-*.tar.gz", tmp_path).iterdir()
    version = folder.name.split("-")[1]
    assert said(folder / "netlulld", "--version", where=tmp_path) == f"netlulld {version}\n"
    # musl's programs are static-pie: they ask for no interpreter.
    assert "INTERP" not in said("readelf", "--program-headers", folder / "netlulld", where=tmp_path)


@pytest.mark.parametrize(
    ("pattern", "page", "word"),
    [
        ("netlull-*-pages.tar.gz", "netlull.1", "energy-saving"),
        ("netlull-*-pages.tar.gz", "netlull-run.1", "--seed"),
        ("netlulld-*.tar.gz", "netlulld.1", "emulate"),
        ("netlulld-*.tar.gz", "netlulld-emulate.1", "--plan"),
    ],
)
def test_a_man_page_renders(pattern: str, page: str, word: str, tmp_path: Path) -> None:
    (path,) = unpacked(pattern, tmp_path).rglob(page)
    assert word in said("man", "--encoding=ascii", "-l", path, where=tmp_path)


@pytest.mark.parametrize("pattern", ["netlull-*-pages.tar.gz", "netlulld-*.tar.gz"])
def test_bash_takes_the_completions(pattern: str, tmp_path: Path) -> None:
    (path,) = unpacked(pattern, tmp_path).rglob("*.bash")
    program = path.stem
    assert f" {program}" in said("bash", "-c", f"source {path}; complete -p {program}", where=tmp_path)
