"""One scenario simulated and emulated with the kernel's own TCP, if the machine allows it."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_both_worlds_have_the_same_columns_and_a_recording_replays(netlulld: Path, tmp_path: Path) -> None:
    scenario = Scenario.from_toml(DOZING)
    simulated = scenario.run()
    tapes, capture = tmp_path / "tapes", tmp_path / "packets.pcapng"
    # Assertions are on virtual time or counts. Hosts without processor time take longer: one of five must be close.
    near = pytest.approx(simulated.flow("download")["completion_time_s"], rel=0.5)
    for _ in range(5):
        emulated = scenario.emulate(program=netlulld, max_lateness="10 s", tapes=tapes, capture=capture)
        if emulated.flow("download")["completion_time_s"] == near:
            break
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
    # The download begins when its sender sends the SYN, in both worlds.
    begins = [result.station("client")["download"]["start_s"] for result in (simulated, emulated)]
    assert begins == pytest.approx([0.0, emulated.flow("download")["start_s"] or 0.0], abs=0.02)
    download, station = emulated.flow("download"), emulated.station("client")
    assert download["delivered_bytes"] == 1_000_000
    assert download["completion_time_s"] == near
    assert station["bursts"] > 1
    assert station["asleep_s"] > 0.05
    assert 0 < station["energy"]["wavelan-dsss"]["saving"] < 1
    assert emulated.emulation is not None
    # A host may send packets outside of any flow.
    assert [text for text in emulated.emulation["differences"] if "of no flow" not in text] == []
    assert capture.stat().st_size > 1_000_000
    assert "all as recorded" in replay(tapes / "client.tape", program=netlulld)[1]


TRACED = """
name = "traced"
duration = "3 s"
nodes = ["a", "b", "c"]
[probe]
arrivals = ["b-c"]
[[link]]
from = "a"
to = "b"
rate = "12 Mb/s"
delay = "10 ms"
buffer = "30 packets"
[link.capacity]
kind = "trace"
opportunities = {0}
[[link]]
from = "b"
to = "a"
rate = "12 Mb/s"
delay = "10 ms"
buffer = "30 packets"
[[link]]
from = "b"
to = "c"
duplex = true
rate = "100 Mb/s"
delay = "1 ms"
buffer = "unlimited"
[[flow]]
kind = "tcp"
name = "download"
from = "a"
to = "c"
"""


def test_a_link_sends_packets_of_real_tcp_at_the_opportunities_of_its_trace(netlulld: Path) -> None:
    # 500 opportunities, then half a second without any.
    trace = [*range(1, 501), 1000]
    emulated = Scenario.from_toml(TRACED.format(trace)).emulate(program=netlulld, max_lateness="10 s")
    left_ns = [at - 10_000_000 for at in emulated.series("arrivals")["time_ns"].to_pylist()]
    assert len(left_ns) > 300
    assert {at % 1_000_000 for at in left_ns} == {0}
    opportunities = {at % 1000 for at in trace}
    assert {at // 1_000_000 % 1000 for at in left_ns} <= opportunities
    # A full packet takes a whole opportunity; few packets are shorter.
    assert len(left_ns) - len(set(left_ns)) < 20


ASLEEP = """
name = "asleep"
duration = "4 s"
nodes = ["a", "b", "c", "d"]
verify = "replay"
[routing]
ttl = 3
[probe]
interval = "50 ms"
drops = true
[[power]]
model = "fs"
[[phase]]
name = "after"
from = "1.5 s"
[[sleep]]
at = "1 s"
links = ["a-b", "b-c"]
spacing = "700 ms"
drain = "20 ms"
wake = "2 s"
wake_time = "100 ms"
[[link]]
from = "a"
to = "b"
rate = "4 Mb/s"
delay = "30 ms"
buffer = "40 packets"
duplex = true
[[link]]
from = "b"
to = "c"
rate = "2 Mb/s"
delay = "10 ms"
buffer = "20 packets"
duplex = true
noise = { mean = "2 ms", shape = 2.0 }
[[link]]
from = "c"
to = "d"
rate = "2 Mb/s"
delay = "10 ms"
buffer = "20 packets"
duplex = true
loss = { kind = "bernoulli", probability = 0.01 }
[[link]]
from = "d"
to = "a"
rate = "2 Mb/s"
delay = "10 ms"
buffer = "20 packets"
duplex = true
queue = { kind = "codel" }
"""
FLOW = """
[[flow]]
kind = "poisson"
name = "{0}-{1}"
from = "{0}"
to = "{1}"
rate = "1.3 Mb/s"
"""


def test_links_that_sleep_lose_the_same_packets_in_both_worlds(netlulld: Path) -> None:
    """Datagrams need no host: each has the same fate in both worlds, through sleep, floods and loops."""
    scenario = Scenario.from_toml(ASLEEP + "".join(FLOW.format(*pair) for pair in ("ab", "bd", "ca", "dc")))
    simulated, emulated = scenario.run(seed=3), scenario.emulate(seed=3, program=netlulld, max_lateness="10 s")
    routing = simulated.summary["routing"]
    assert min(routing[name] for name in ("asleep_packets", "unroutable_packets", "expired_packets")) > 0, routing
    assert emulated.summary["routing"] == routing
    for part in ("links", "phase", "network"):
        assert emulated.summary[part] == simulated.summary[part], part
    for ours, theirs in zip(emulated.summary["flows"], simulated.summary["flows"], strict=True):
        for name in ("packets_sent", "packets_dropped", "delivered_bytes"):
            assert ours[name] == theirs[name], (ours["name"], name)
    for table in ("link", "drop"):
        assert emulated.series(table).equals(simulated.series(table)), table
