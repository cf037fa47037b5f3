"""Captures, read by independent programs: tshark, capinfos, tcpdump (libpcap) and tcptrace."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from netlull.numbers import scaled

if TYPE_CHECKING:
    from netlull import Scenario

Printed = Callable[..., str]


@pytest.fixture(scope="session")
def tshark() -> Callable[..., list[list[str]]]:
    """Fields of the matching packets of a capture."""
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("it reads captures with tshark, which is not installed: run `make tools` (Debian: tshark)")

    def fields(path: Path, wanted: str, *names: str) -> list[list[str]]:
        options = [part for name in names for part in ("-e", name)]
        command = [program, "-r", str(path), "-Y", wanted, "-T", "fields", *options]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        return [line.split("\t") for line in lines]

    return fields


@pytest.fixture
def capture(printed: Printed, small_file: Path, tmp_path: Path) -> Path:
    path = tmp_path / "small.pcapng"
    assert f"written to {path}" in printed("trace", small_file, "--link", "a-b", "--link", "c-b", "--out", path)
    return path


def test_a_trace_opens_and_has_every_packet(
    capture: Path, tshark: Callable[..., list[list[str]]], small: Scenario
) -> None:
    interfaces = tshark(capture, "frame", "frame.interface_name")
    seen = {name: sum(row == [name] for row in interfaces) for name in ("a-b", "c-b")}
    result = small.run()
    for name, packets in seen.items():
        assert packets == result.link(name)["delivered_packets"], name


def test_without_links_it_has_all_and_its_size_is_told(
    printed: Printed, small_file: Path, tmp_path: Path, tshark: Callable[..., list[list[str]]]
) -> None:
    path = tmp_path / "all.pcapng"
    told = printed("trace", small_file, "--out", path)
    assert told == f"written to {path} ({scaled(path.stat().st_size, 'B')})\n"
    names = {row[0] for row in tshark(path, "frame", "frame.interface_name")}
    assert names == {"a-b", "b-a", "b-c", "c-b"}


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"it reads captures with {name}, which is not installed: run `make tools` (Debian)")
    return found


def said(*command: str) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("count", [1, 2, 20])
@pytest.mark.parametrize("form", ["pcapng", "pcap"])
def test_programs_count_the_same_packets(printed: Printed, tmp_path: Path, form: str, count: int) -> None:
    # Ten hosts on both sides of a link, with TCP one way and datagrams the other way.
    scenario = tmp_path / "many.toml"
    scenario.write_text(
        """name = "many"
duration = "1 s"
nodes = ["s", "h{1..10}"]
[[link]]
each = { i = "1..10" }
from = "h{i}"
to = "s"
duplex = true
rate = "1 Mb/s"
delay = "2 ms"
[[flow]]
each = { i = "1..10" }
kind = "tcp"
name = "t{i}"
from = "h{i}"
to = "s"
size = "10 kB"
[[flow]]
each = { i = "1..10" }
kind = "cbr"
name = "u{i}"
from = "s"
to = "h{i}"
rate = "100 kb/s"
packet = "500 B"
""",
        encoding="utf-8",
    )
    names = [name for host in range(1, 11) for name in (f"h{host}-s", f"s-h{host}")][:count]
    out = tmp_path / f"many.{form}"
    links = [part for name in names for part in ("--link", name)]
    summary = json.loads(printed("trace", scenario, *links, "--out", out, "--json"))
    packets = sum(link["delivered_packets"] for link in summary["links"] if link["name"] in names)
    assert packets > count * 5
    assert f"Number of packets:   {packets}" in said(program("capinfos"), "-c", "-M", str(out))
    read = said(program("tcpdump"), "-nr", str(out))
    assert len(read) == packets
    assert sum("UDP" in line for line in read) == 25 * (count // 2)
    if form == "pcap":  # tcptrace, of 2004, knows no type of link without headers but RAW.
        segments = packets - 25 * (count // 2)
        assert any(f"{segments} TCP packets traced" in line for line in said(program("tcptrace"), str(out)))


@pytest.mark.parametrize("name", ["packets.txt", "packets", "packets.pcap.gz", "/dev/null"])
def test_other_endings_are_refused(refused: Printed, small_file: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    line = refused("trace", small_file, "--out", out)
    assert line == f"netlull: --out {out}: expected a name that ends in .pcapng or .pcap\n"
    line = refused("emulate", small_file, "--capture", out)
    assert line == f"netlull: --capture {out}: expected a name that ends in .pcapng or .pcap\n"
    assert list(tmp_path.glob("packets*")) == []


def test_retransmissions_are_counted_once_at_the_links_of_the_sender(
    printed: Printed, tmp_path: Path, tshark: Callable[..., list[list[str]]]
) -> None:
    def shown(path: Path, *links: str) -> tuple[int, int]:
        """The retransmissions that the filter of docs/how-to/trace.md shows, and those of the run."""
        named = [part for link in links for part in ("--link", link)]
        told = printed("trace", "dumbbell", "--set", "duration='5 s'", *named, "--out", path, "--json")
        found = tshark(path, "tcp.analysis.retransmission || tcp.analysis.out_of_order", "frame.number")
        return len(found), json.loads(told)["flows"][0]["retransmissions"]

    found, sent = shown(tmp_path / "sender.pcapng", "sender-N1", "N1-sender")
    assert found == sent > 100
    # With all links, each packet is a repetition of itself.
    found, sent = shown(tmp_path / "all.pcapng")
    assert found > 3 * sent


def test_a_trace_shows_a_tcp_connection(capture: Path, tshark: Callable[..., list[list[str]]]) -> None:
    handshake = tshark(capture, "tcp.flags.syn==1", "frame.interface_name", "tcp.flags.ack")
    assert [row[0] for row in handshake] == ["a-b", "c-b"]
    assert tshark(capture, "_ws.malformed", "frame.number") == []
    assert tshark(capture, "udp", "frame.number")


def test_times_are_the_simulators(capture: Path, tshark: Callable[..., list[list[str]]]) -> None:
    times = [float(row[0]) for row in tshark(capture, "frame", "frame.time_epoch")]
    assert times == sorted(times)
    assert times[-1] <= 2.0


def test_the_same_seed_gives_the_same_capture(printed: Printed, small_file: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        printed("trace", small_file, "--link", "b-c", "--out", tmp_path / f"{name}.pcapng", "--seed", "3")
    assert (tmp_path / "one.pcapng").read_bytes() == (tmp_path / "two.pcapng").read_bytes()


def test_the_summary_of_a_traced_run_is_written_as_json(tmp_path: Path) -> None:
    out = tmp_path / "packets.pcapng"
    command = [sys.executable, "-m", "netlull", "trace", "dumbbell", "--set", "duration='1 s'", "--link", "N1-N2"]
    done = subprocess.run([*command, "--out", str(out), "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["duration_s"] == 1.0
    assert out.exists()


def test_a_trace_shows_selective_acknowledgements(
    printed: Printed, small_file: Path, tmp_path: Path, tshark: Callable[..., list[list[str]]]
) -> None:
    path = tmp_path / "sack.pcapng"
    sack = ("--set", "tcp.congestion_control=sack")
    printed("trace", small_file, "--link", "a-b", "--link", "c-b", "--out", path, *sack)
    assert len(tshark(path, "tcp.options.sack_perm", "frame.number")) == 2
    assert tshark(path, "_ws.malformed", "frame.number") == []
    blocks = tshark(path, "tcp.options.sack.count > 0", "frame.interface_name", "tcp.len")
    # The receiver reports losses, in segments without data.
    assert blocks
    assert set(map(tuple, blocks)) == {("c-b", "0")}


def test_a_missing_program_skips_a_test_by_name(tmp_path: Path) -> None:
    """`make test` counts the names in this file at its end."""
    reports, name = tmp_path / "skipped", "test_trace.py::test_a_trace_shows_a_tcp_connection"
    environment = {**os.environ, "PATH": "", "NETLULL_SKIPPED": str(reports)}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"tests/{name}"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "captures with tshark, which is not installed" in done.stdout
    assert reports.read_text() == f"{name}\n"
