"""Standard streams, pipes, devices and links: read and written as users expect, and never replaced."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import netlull
from netlull import InputError, OutputError, Scenario
from netlull.documents.textfiles import LARGEST_BYTES, read_text
from netlull.documents.tomltext import read_toml
from netlull.results.output import staged_file

SMALL = """\
name = "small"
duration = "1 s"
nodes = ["a", "b"]
link = [{ from = "a", to = "b", rate = "1 Mb/s" }]
flow = [{ kind = "cbr", name = "c", from = "a", to = "b", rate = "100 kb/s" }]
"""
COMMAND = (sys.executable, "-m", "netlull")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def netlulled(*arguments: str | Path, **options: object) -> subprocess.CompletedProcess[bytes]:
    """A finished `netlull` command."""
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, check=False, **options)  # type: ignore[call-overload,no-any-return]


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
def test_a_pipe_a_device_and_a_socket_are_refused_and_stay(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with (
        pytest.raises(OutputError, match="is a device, a pipe or a socket; expected a regular file"),
        staged_file(pipe),
    ):
        pass
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs /dev/null")
def test_the_null_device_is_never_replaced(small: Path, tmp_path: Path) -> None:
    null = tmp_path / "null.pcapng"
    null.symlink_to("/dev/null")
    done = netlulled("trace", small, "--link", "a-b", "--out", null)
    assert (done.returncode, b"null.pcapng: is a device" in done.stderr) == (2, True)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "deep" / "target.txt", tmp_path / "link.txt"
    target.parent.mkdir()
    link.symlink_to(target)
    for text in ("first", "second"):
        with staged_file(link) as stage:
            stage.write_text(text)
        assert (link.is_symlink(), target.read_text()) == (True, text)


def test_a_link_to_a_result_stays_and_its_folder_is_replaced(tmp_path: Path) -> None:
    folder, link = tmp_path / "result", tmp_path / "latest"
    link.symlink_to(folder, target_is_directory=True)
    result = Scenario.from_toml(SMALL).run(seed=1)
    for _ in range(2):
        result.save(link)
        assert link.is_symlink()
        assert netlull.Result.load(folder).summary == result.summary
    assert sorted(path.name for path in tmp_path.iterdir()) == ["latest", "result"]


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_a_capture_and_a_topology_stream_to_the_standard_output(small: Path, name: str) -> None:
    capture = netlulled("trace", small, "--link", "a-b", "--out", name)
    assert capture.stdout[:4] == b"\x0a\x0d\x0d\x0a"
    assert capture.stderr.decode() == f"written to {name} ({len(capture.stdout)} B)\n"
    text = netlulled("topology", "abilene", "--to", name).stdout.decode()
    assert read_toml(text, "it")["name"] == "abilene"


def test_a_scenario_comes_through_a_pipe_and_with_a_byte_order_mark(small: Path) -> None:
    small.write_bytes(b"\xef\xbb\xbf" + SMALL.encode())
    assert Scenario.from_file(small).to_dict() == Scenario.from_toml(SMALL).to_dict()
    done = netlulled("run", "/dev/stdin", "--json", input=SMALL.encode())
    assert (done.returncode, b'"name"' in done.stdout) == (0, True), done.stderr


def test_an_endless_or_huge_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="/dev/zero: is too large; expected at most 8 MiB"):
        read_text(Path("/dev/zero"))
    huge = tmp_path / "huge.toml"
    huge.write_text("#" * (LARGEST_BYTES + 1))
    with pytest.raises(InputError, match="is too large"):
        Scenario.from_file(huge)


def test_a_key_of_a_hundred_thousand_parts_is_refused_before_it_is_parsed() -> None:
    key = "a." * 100_000 + "b"
    for text in (f"{key} = 1", f"[{key}]", f"x = {{ {key} = 1 }}"):
        with pytest.raises(InputError, match="nested too deeply; expected at most 32"):
            read_toml(text, "file")
    dotted = f'text = "{"1." * 100}"'
    assert len(read_toml(dotted, "file")["text"]) == 200


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_closed_or_narrow_standard_output_gives_no_traceback(small: Path) -> None:
    command = f"'{sys.executable}' -m netlull run '{small}'"
    closed = subprocess.run(["sh", "-c", f"{command} >&-"], capture_output=True, check=False)
    assert (closed.returncode, closed.stderr) == (0, b"")
    narrow = netlulled("run", small, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (narrow.returncode, narrow.stderr, narrow.stdout.isascii()) == (0, b"", True)
    head = subprocess.run(["bash", "-o", "pipefail", "-c", f"{command} | head -1"], capture_output=True, check=False)
    assert (head.returncode, head.stderr) == (0, b"")


def test_a_capture_tells_the_warnings_of_its_scenario(small: Path, tmp_path: Path) -> None:
    earth = 'link.a-b.controller={ kind = "earth", rates = ["1 Mb/s", "2 Mb/s"], threshold = "90 packets" }'
    settings = ("--set", "link.a-b.rate=2 Mb/s", "--set", "link.a-b.buffer=20 packets", "--set", earth)
    done = netlulled("trace", small, "--link", "a-b", "--out", tmp_path / "x.pcapng", *settings)
    assert b"otherwise the rate never rises" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_capture_for_a_closed_standard_output_is_refused(small: Path) -> None:
    command = f"'{sys.executable}' -m netlull trace '{small}' --link a-b --out -"
    closed = subprocess.run(["sh", "-c", f"{command} >&-"], capture_output=True, check=False)
    assert (closed.returncode, closed.stderr) == (
        2,
        b"netlull: -: the standard output is closed; expected an open one\n",
    )


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_control_c_while_modules_load_ends_in_one_line() -> None:
    # The child signals itself as soon as the command's modules load.
    code = (
        "import os, signal, sys\n"
        "class Interrupter:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'netlull.cli':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupter())\n"
        "from netlull.__main__ import main\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (130, b"interrupted\n")


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_control_c_within_an_exec_ends_with_the_code_of_an_interrupt(tmp_path: Path) -> None:
    # As in the import of a dataclass: `python -m` notes such an interrupt, and would end with SIGINT.
    (tmp_path / "sitecustomize.py").write_text(
        "import netlull.cli\n"
        "def interrupted():\n"
        "    try:\n"
        "        exec('raise KeyboardInterrupt')\n"
        "    except KeyboardInterrupt:\n"
        "        return netlull.cli.INTERRUPTED\n"
        "netlull.cli.main = interrupted\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    assert subprocess.run([sys.executable, "-m", "netlull"], env=environment, check=False).returncode == 130
