"""Estimates of a gateway compared with the truth, in small networks where theory gives the tolerance."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from netlull import Result, Scenario

ROOT = Path(__file__).parent.parent
FLOWS = 20
RTT_S = 0.1
TARGET_PACKETS = 50
PACKET_S = 8000 / 10e6
"""1000 B at 10 Mb/s."""


def uploads(**controller: Any) -> Scenario:
    """20 uploads over 10 Mb/s with a queue of 50 packets; two-way propagation 100 ms, half on either side."""
    link = {"rate": "1 Gb/s", "delay": "25 ms", "buffer": "unlimited"}
    gateway = {"kind": "awm", "target": f"{TARGET_PACKETS} packets", "beta": "1 Mb/s", "initial_window": "12 kB"}
    return Scenario.from_dict(
        {
            "duration": "30 s",
            "warm_up": "10 s",
            "mtu": "1000 B",
            "nodes": ["homes", "router", "internet"],
            "link": [
                {"from": "homes", "to": "router", "duplex": True, **link},
                {
                    "from": "router",
                    "to": "internet",
                    **link,
                    "rate": "10 Mb/s",
                    "buffer": "100 packets",
                    "controller": gateway | controller,
                },
                {"from": "internet", "to": "router", **link},
            ],
            "flow": [{"kind": "tcp", "name": "up", "from": "homes", "to": "internet", "count": FLOWS, "jitter": "1 s"}],
            "tcp": {"timestamps": True, "delayed_ack": False},
            "probe": {"interval": "1 s", "links": ["router-internet"]},
        }
    )


@pytest.fixture(scope="module")
def measured() -> Result:
    """Working estimators, with a C-EARTH that cannot change the rate."""
    round_trip = {"kind": "timestamps", "initial": "1 s"}
    return uploads(kind="g_router", min_rate="10 Mb/s", round_trip=round_trip).run(seed=3)


def after_warm_up(result: Result, column: str) -> Any:
    table = result.series("gateway")
    return table[column].to_numpy().astype(float)[table["time_s"].to_numpy() > 10]


def test_the_truth_is_what_the_network_gives(measured: Result) -> None:
    assert set(after_warm_up(measured, "active_flows")) == {FLOWS}
    assert set(after_warm_up(measured, "seen_flows")) == {FLOWS}
    # Propagation, the queue, and the packet itself; serialisation at 1 Gb/s takes 10 us. The queue stays within five
    # packets of its target.
    truth = after_warm_up(measured, "true_round_trip_s")
    assert truth.mean() == pytest.approx(RTT_S + (TARGET_PACKETS + 1) * PACKET_S, abs=5 * PACKET_S)


def test_estimates_are_as_far_off_as_theory_allows(measured: Result) -> None:
    # Linear counting, t = n/m: m (e^t - t - 1) is the variance (Whang et al. 1990): 0.05 for 20 flows in 4096 bits. The
    # commonest error is two flows on one bit, which loses one flow.
    load = FLOWS / 4096
    error = math.sqrt(4096 * (math.exp(load) - load - 1))
    assert np.abs(after_warm_up(measured, "flows") - FLOWS).max() < max(4 * error, 1.0)
    # Every flow's round trip differs only by the queue, which varies by a few packets; so does the estimate.
    difference = after_warm_up(measured, "round_trip_s") - after_warm_up(measured, "true_round_trip_s")
    assert np.abs(difference).max() < 5 * PACKET_S


def test_as_printed_nothing_is_measured() -> None:
    flows, round_trip = {"kind": "printed", "initial": 7}, {"kind": "printed"}
    result = uploads(kind="g_router", min_rate="10 Mb/s", flows=flows, round_trip=round_trip).run(seed=3)
    # RTT_0 = N_0 swnd_0 / C_0 = 7 x 12 kB x 8 / 10 Mb/s = 67.2 ms in any network; N = RTT_0 C / swnd.
    assert after_warm_up(result, "round_trip_s") == pytest.approx(0.0672)
    product = after_warm_up(result, "flows") * after_warm_up(result, "window_bytes") * 8 / 10e6
    assert product == pytest.approx(0.0672)


def test_the_summary_has_what_the_gateway_did(measured: Result) -> None:
    gateway = measured.link("router-internet")["gateway"]
    assert gateway["mean_flows"] == pytest.approx(FLOWS, abs=1)
    assert measured.metric("link.router-internet.gateway.mean_flows") == gateway["mean_flows"]
    assert measured.links["gateway.floor_share"].to_pylist() == [None, None, 0.0, None]
    # A link without a gateway has none of its numbers.
    assert math.isnan(measured.metric("link.homes-router.gateway.mean_flows"))


def test_the_measurement_runs_as_documented() -> None:
    script = ROOT / "validation" / "estimators" / "run.py"
    done = subprocess.run(
        [sys.executable, str(script), "--seeds", "2", "printed"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "g-router-20" in done.stdout
