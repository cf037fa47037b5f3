"""One scenario simulated and emulated with the kernel's own TCP, where the machine allows it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT
from netlull import Scenario
from netlull.emulation import replay

DOZING = """
name = "dozing"
duration = "4 s"
nodes = ["server", "access", "client"]
[[link]]
from = "server"
to = "access"
rate = "100 Mb/s"
delay = "20 ms"
buffer = "1000 packets"
duplex = true
[[link]]
from = "access"
to = "client"
rate = "20 Mb/s"
delay = "10 ms"
buffer = "1000 packets"
duplex = true
[[flow]]
kind = "tcp"
name = "download"
from = "server"
to = "client"
size = "1 MB"
[tcp]
preset = "linux-6"
congestion_control = "sack"
receive_buffer = "64 KiB"
[[station]]
nodes = ["client"]
mechanism = { kind = "client_shaper", rtt_from = "open_ack", repair = "as_they_are", margin = "1 ms" }
[probe]
interval = "100 ms"
window = true
drops = true
requests = true
stations = true
arrivals = ["access-client"]
"""


@pytest.fixture(scope="module")
def netlulld() -> Path:
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "netlulld"
    if not built.exists():
        pytest.skip(f"{built} is missing: `cargo build -p netlull-live` makes it")
    said = json.loads(subprocess.run([built, "doctor", "--json"], capture_output=True, check=True).stdout)
    missing = [check for check in said["checks"] if "emulate" in check["needed_for"] and not check["ok"]]
    if missing:
        pytest.skip("; ".join(f"{check['name']}: {check['message']}" for check in missing))
    return built


def test_both_worlds_have_the_same_columns_and_a_recording_replays(netlulld: Path, tmp_path: Path) -> None:
    scenario = Scenario.from_toml(DOZING)
    simulated = scenario.run()
    tapes, capture = tmp_path / "tapes", tmp_path / "packets.pcapng"
    # What is asserted is in virtual time, or counted: a machine that is late does not matter.
    emulated = scenario.emulate(program=netlulld, max_lateness="10 s", tapes=tapes, capture=capture)
    assert (simulated.world, emulated.world) == ("simulated", "emulated")
    for table in ("links", "flows", "stations"):
        assert getattr(simulated, table).column_names == getattr(emulated, table).column_names
    assert simulated.series_names == emulated.series_names
    for name in simulated.series_names:
        assert simulated.series(name).schema.equals(emulated.series(name).schema), name
    for table in ("radio", "air", "burst"):
        assert emulated.series(table).num_rows > 10, table
    kinds = [set(result.series("air")["kind"].to_pylist()) for result in (simulated, emulated)]
    assert {"data", "closed", "open", "ack"} <= kinds[0] & kinds[1]
    assert emulated.series("air")["kind"].to_pylist().count("data") == emulated.station("client")["received_packets"]
    # The download begins when its sender sends the SYN, in either world.
    begins = [result.station("client")["download"]["start_s"] for result in (simulated, emulated)]
    assert begins == pytest.approx([0.0, emulated.flow("download")["start_s"] or 0.0], abs=0.02)
    download, station = emulated.flow("download"), emulated.station("client")
    assert download["delivered_bytes"] == 1_000_000
    assert download["completion_time_s"] == pytest.approx(simulated.flow("download")["completion_time_s"], rel=0.5)
    assert station["bursts"] > 1
    assert station["asleep_s"] > 0.05
    assert 0 < station["energy"]["wavelan-dsss"]["saving"] < 1
    assert emulated.emulation is not None
    # A host may send of itself what no flow knows.
    assert [text for text in emulated.emulation["differences"] if "of no flow" not in text] == []
    assert capture.stat().st_size > 1_000_000
    assert "all as recorded" in replay(tapes / "client.tape", program=netlulld)[1]
