"""The study of the G-Router's failure modes: its closed forms by hand, its points, and the floor in the simulator."""

from __future__ import annotations

from collections import Counter

import pytest

from conftest import SHIPPED, STUDIES
from netlull import Sweep
from netlull.papers.source import module_of

FOLDER = SHIPPED / "papers" / "g-router"
SWEEP = STUDIES / FOLDER.name / "limits-sweep.toml"

limits = module_of(FOLDER, "limits")


def test_the_floor_ends_control_where_the_pipe_and_the_target_are_full() -> None:
    # 10 Mb/s x 100 ms = 125 kB = 125 packets of 1000 B.
    assert limits.flows_at_floor(50) == 175
    assert limits.flows_at_floor(100) == 225
    # At 4 Mb/s 50 packets fit into the pipe.
    assert limits.flows_at_floor(50, rate=4e6) == 100
    assert [limits.queue_of(flows) for flows in (100, 175, 200, 225, 300)] == [50, 50, 75, 100, 100]


def test_the_queue_beside_datagrams() -> None:
    # Twenty windows of 1000 B in 1 Mb/s last 160 ms, 60 ms more than the path: 75 packets at 10 Mb/s.
    assert limits.queue_beside(9e6) == pytest.approx(75)
    # Control ends at C - U = 160 kb / 140 ms = 1.143 Mb/s, the buffer at 160 kb / 180 ms = 0.889 Mb/s.
    assert limits.queue_beside(8.8e6) == 50
    assert limits.queue_beside(10e6 - 160e3 / 0.140) == pytest.approx(50)
    assert limits.queue_beside(10e6 - 160e3 / 0.180) == pytest.approx(100)
    assert [limits.queue_beside(rate) for rate in (9.5e6, 10e6, 11e6)] == [100, 100, 100]


def test_equal_windows_make_rates_of_one_over_the_round_trip() -> None:
    # T takes 40 ms at 10 Mb/s: 440 ms over 60 ms.
    assert limits.ratio_of(0.4) == pytest.approx(440 / 60)
    assert limits.ratio_of(0.02) == 1


def test_the_units_of_a_scaled_window_are_a_floor_too() -> None:
    assert [limits.least_windows(shift) for shift in (0, 7, 13, 14)] == pytest.approx([20, 20, 163.84, 327.68])


def test_every_point_is_a_scenario() -> None:
    points = Counter(point.experiment for point in Sweep.from_file(SWEEP).points())
    assert points["many"] == 4 * 14
    assert points["settled"] == 2 * 2 * 3 * 6
    assert points["recovery"] == 2 * 2 * 3 * 4
    assert set(limits.SECTIONS) >= {"floor", "settled", "unused", "web", "deaf", "rtts", "rounding", "recovery"}


def test_unsteered_acknowledgements_take_the_other_way_and_no_others_do() -> None:
    point = next(
        point for point in Sweep.from_file(SWEEP).points() if str(point.values.get("unsteered")) in {"1", "1.0"}
    )
    run = point.scenario.with_values({"duration": "25 s", "warm_up": "0 s"}).run(1)
    # One acknowledgement for each segment of 948 B of the only flow, with duplicates.
    segments = run.flow("unsteered")["delivered_bytes"] / 948
    assert segments > 500
    assert abs(segments - run.link("servers-others")["delivered_packets"]) < 150
    assert run.link("router-homes")["delivered_packets"] > 5 * segments
