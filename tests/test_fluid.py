"""The fluid model of AWM: its bounds, its roots, its integration, and packets on both sides."""

from __future__ import annotations

import itertools
import math
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT
from netlull import InputError
from netlull.fluid import AwmFluid, StabilityMap, stability_map
from netlull.plot.fluid import QueuePanel, Swing, both_sides_figure, stability_figure, swing_figure

sys.path.insert(0, str(ROOT / "validation" / "fluid"))

from packets import Case, measure  # a module of the script


def model(**changes: Any) -> AwmFluid:
    """10 Mb/s, 100 ms, T = 50 kB: 1.25 MB/s, so R_0 = 100 + 40 = 140 ms and C R_0 = 175 kB."""
    fields: dict[str, Any] = {
        "rate_bps": 10e6,
        "flows": 20,
        "round_trip_s": 0.1,
        "target_bytes": 50e3,
        "beta_bps": 1e6,
        "buffer_bytes": 100e3,
        "mtu_bytes": 1000,
    }
    return AwmFluid(**(fields | changes))


def period(time: np.ndarray, queue: np.ndarray, target: float) -> float:
    """The mean time between upward crossings of the target, in s."""
    up = time[1:][(queue[:-1] < target) & (queue[1:] >= target)]
    return float(np.diff(up).mean())


def test_the_equilibrium_holds_what_fits_the_pipe_and_the_target() -> None:
    fluid = model()
    assert fluid.loaded_round_trip_s == pytest.approx(0.14)
    assert fluid.window_bytes == pytest.approx(8750)  # 175 kB / 20
    assert fluid.in_control
    assert not model(flows=176).in_control  # 175 kB / 176 < 1000 B
    # beta / T = 1e6 / 8 / 50e3 = 2.5 /s.
    assert fluid.b_per_s == pytest.approx(2.5)


def test_the_rate_model_has_the_bound_1_707_t_over_r0() -> None:
    # omega tan(omega / 2) = 1 at omega = 1.30654: 1.30654 x tan(0.65327) = 1.30654 x 0.76538 = 1.0000.
    # Its square is 1.70705.
    fluid = model(arrivals="rate")
    assert fluid.rate_bound_bps() == pytest.approx(1.30654**2 * 50e3 / 0.14 * 8, rel=1e-5)
    # The scan over the axis does not use the closed form.
    assert fluid.critical_beta_bps() == pytest.approx(fluid.rate_bound_bps(), rel=1e-9)
    # z = j omega / R_0: a period of 2 pi x 0.14 / 1.30654 = 0.6733 s.
    assert fluid.critical_period_s() == pytest.approx(0.6733, abs=1e-4)


def test_windows_in_bursts_beside_the_gateway_have_the_bound_8_232_t_over_r0() -> None:
    # d = 0 and many flows: K(j omega) = sinc(theta) exp(-j theta) with theta = omega R_0 / 2. F = 0 asks for
    # theta = pi / 2 + asin(sinc theta), which is tan theta = -theta: theta = 2.02876 (tan = -2.0288); and
    # b = omega sqrt(1 / sinc^2 - 1) = 2 theta^2 / R_0 = 8.2317 / R_0.
    theta = 2.02876
    assert math.tan(theta) == pytest.approx(-theta, rel=1e-4)
    fluid = model(flows=1000, mtu_bytes=10)
    assert fluid.crossing.b_per_s == pytest.approx(2 * theta**2 / 0.14, rel=5e-3)


def test_one_flow_far_from_the_gateway_is_all_but_unstable() -> None:
    # One flow's acknowledgements come every delta = MTU / C = 0.8 ms. With h = delta << d the loop -x(t - d) is damped
    # by sinc(omega h / 2) alone, at omega = pi / d: b = omega (omega h / 2) / sqrt(3) = pi^2 h / (2 sqrt(3) d^2).
    fluid = model(flows=1, sender_delay_s=0.08)
    expected = math.pi**2 * 0.0008 / (2 * math.sqrt(3) * 0.08**2)
    assert fluid.crossing.b_per_s == pytest.approx(expected, rel=0.03)  # d + h / 2 replaces d: 1 %
    assert fluid.critical_period_s() == pytest.approx(0.16, rel=0.02)  # 2 d


def test_the_slow_mode_is_2t_over_beta() -> None:
    # The paper's beta: 10 kb/s = 1250 B/s with T = 50 kB: 2 x 50e3 / 1250 = 80 s.
    for arrivals in ("rate", "ack_clock"):
        root = model(beta_bps=10e3, arrivals=arrivals).eigenvalue()
        assert root.imag == 0
        assert -1 / root.real == pytest.approx(80, rel=0.01)
    # exp(-t / 80) = 0.05 after 80 x 2.9957 = 240 s.
    assert model(beta_bps=10e3).settling_time_s() == pytest.approx(239.7, rel=0.01)


@settings(deadline=None, max_examples=30)
@given(
    flows=st.integers(1, 60),
    round_trip=st.floats(0.01, 0.4),
    target=st.floats(3e3, 2e5),
    place=st.floats(0, 1),
    burst=st.none() | st.floats(1, 50),
    multiple=st.floats(0.05, 0.98) | st.floats(1.02, 1.2),
    arrivals=st.sampled_from(["rate", "ack_clock"]),
)
def test_the_rightmost_root_is_left_of_the_axis_just_below_the_bound(
    flows: int, round_trip: float, target: float, place: float, burst: float | None, multiple: float, arrivals: Any
) -> None:
    fluid = model(
        flows=flows,
        round_trip_s=round_trip,
        target_bytes=target,
        buffer_bytes=math.inf,
        sender_delay_s=place * round_trip,
        burst_packets=burst,
        arrivals=arrivals,
    )
    fluid = fluid.with_beta(multiple * fluid.critical_beta_bps())
    assert (fluid.eigenvalue().real < 0) == fluid.stable == (multiple < 1)
    assert math.isinf(fluid.settling_time_s()) == (multiple > 1)


def test_a_loop_may_be_stable_again_above_the_bound() -> None:
    # By the argument principle: the change of arg F around the right half-plane counts the roots there.
    fluid = model(flows=7, round_trip_s=0.25, target_bytes=3e3, buffer_bytes=math.inf, arrivals="ack_clock")
    for multiple, roots in ((0.9, 0), (1.5, 2), (3.0, 0)):
        changed = fluid.with_beta(multiple * fluid.critical_beta_bps())
        side, far = np.linspace(-300, 300, 100_000), 300.0
        box = np.concatenate(
            [1e-3 - 1j * side, side[side > 0] - 1j * far, far + 1j * side, side[side > 0][::-1] + 1j * far]
        )
        found, _ = changed.loop._characteristic(box, changed.b_per_s)
        turned = np.unwrap(np.angle(found))
        assert round((turned[-1] - turned[0]) / (2 * np.pi)) == roots
        assert changed.stable == (changed.eigenvalue().real < 0) == (roots == 0)


def test_no_root_lies_right_of_the_rightmost() -> None:
    # The change of arg F around a box right of the root counts the roots in it (argument principle): none; one more
    # with the root inside. F = s + (s + b) K(s) exp(-s d), here from the definition of K.
    fluid = model(sender_delay_s=0.04, beta_bps=15e6)
    inside, between, every = fluid.ack_gaps_s
    burst, root = fluid.burst, fluid.eigenvalue()

    def roots_between(left: float, right: float) -> int:
        top, side = 400.0, np.linspace(0, 1, 20_001)
        corners = [complex(left, 1e-6), complex(right, 1e-6), complex(right, top), complex(left, top)]
        corners.append(corners[0])
        s = np.concatenate([a + (b - a) * side for a, b in itertools.pairwise(corners)])
        ages = ((burst - 1) * (1 - np.exp(-s * inside)) + 1 - np.exp(-s * between)) / (s * every)
        values = s + (s + fluid.b_per_s) * ages * np.exp(-s * 0.04)
        return round(float(np.diff(np.unwrap(np.angle(values))).sum()) / (2 * math.pi))

    assert root.real > 0
    assert roots_between(root.real + 0.05, 100.0) == 0
    assert roots_between(root.real - 0.05, 100.0) == 1


@pytest.mark.parametrize(
    "changes", [{"arrivals": "rate"}, {"sender_delay_s": 0.04}, {"sender_delay_s": 0.099}, {"burst_packets": 1.0}]
)
@pytest.mark.parametrize("multiple", [0.85, 1.1])
def test_integration_decays_and_grows_as_the_rightmost_root_says(changes: dict[str, Any], multiple: float) -> None:
    fluid = model(sender_delay_s=0.04) if "burst_packets" in changes else model(**changes)
    fluid = replace(fluid, **changes)
    fluid = fluid.with_beta(multiple * fluid.critical_beta_bps())
    root = fluid.eigenvalue()
    # From 1 % off the target, a fluid without withheld or lost data, after the decay of the other roots' share.
    run = fluid.solve(4.0, from_bytes=49.5e3)
    early, late = (run.amplitude_bytes(start, start + fluid.period_s()) for start in (1.0, 2.5))
    assert math.log(late / early) / 1.5 == pytest.approx(root.real, rel=0.12, abs=0.02)
    assert (late < early) == fluid.stable
    kept = run.time_s > 1.0
    assert period(run.time_s[kept], run.queue_bytes[kept], 50e3) == pytest.approx(fluid.period_s(), rel=0.02)


def test_a_stable_fluid_settles_at_target_and_window_and_an_unstable_one_ends_in_its_buffer() -> None:
    fluid = model(sender_delay_s=0.04)
    settled = fluid.with_beta(0.5 * fluid.critical_beta_bps()).solve(4.0, from_bytes=10e3)
    assert settled.queue_bytes[0] == 10e3
    assert settled.queue_bytes[-1] == pytest.approx(50e3, rel=1e-3)
    assert settled.window_bytes[-1] == pytest.approx(8750, rel=1e-3)
    wild = fluid.with_beta(1.5 * fluid.critical_beta_bps()).solve(1.5, from_bytes=20e3)
    # Between empty and full, never outside: within the packet over which the fluid is lost.
    late = wild.queue_bytes[wild.time_s > 1.0]
    assert late.min() < 1e3
    assert late.max() > 99e3
    assert wild.queue_bytes.min() >= -10
    assert wild.queue_bytes.max() <= 100.5e3
    assert wild.window_bytes.min() >= 990  # one MTU, within the rounding of the floor


@pytest.fixture(scope="module")
def far() -> Case:
    """30 flows of ns-2's NewReno, the gateway 80 ms from its senders and back: the bound is 1.10 x 1.707 T / R_0."""
    return Case("ns2", 30, 0.1, 50, 0.08)


def test_packets_stay_well_below_the_bound_and_swing_well_above_it_with_the_models_period(far: Case) -> None:
    bound = far.fluid.critical_beta_bps()
    below = measure(far.scenario(0.5 * bound, 30).run(1))
    above = measure(far.scenario(1.25 * bound, 30).run(1))
    assert (below.drops, below.late_packets < 10) == (0, True)
    assert below.utilisation > 0.999
    # Between empty and full (a sine of amplitude T has 0.71 T = 35 packets), at the rate of the model.
    assert above.late_packets > 25
    assert above.period_s == pytest.approx(far.fluid.critical_period_s(), rel=0.15)


def test_a_gateway_beside_its_senders_stands_what_the_rate_models_bound_forbids() -> None:
    near = Case("ns2", 30, 0.1, 50, 0.002)
    assert near.fluid.critical_beta_bps() > 4 * near.fluid.rate_bound_bps()
    beyond = measure(near.scenario(2.5 * near.fluid.rate_bound_bps(), 30).run(1))
    assert (beyond.drops, beyond.late_packets < 2) == (0, True)
    assert measure(near.scenario(2.5 * near.fluid.critical_beta_bps(), 30).run(1)).late_packets > 15


def test_maps_and_figures_have_what_they_say() -> None:
    found = stability_map(model(), "sender_delay_s", [0.0, 0.05, 0.1], [1e6, 1e7, 1e8])
    assert isinstance(found, StabilityMap)
    assert found.growth_per_s.shape == (3, 3)
    # A row per beta: growth changes sign where the column's bound lies.
    assert ((found.growth_per_s < 0) == (found.beta_bps[:, None] < found.critical_bps[None, :])).all()
    assert (np.diff(found.critical_bps) < 0).all(), "the further the senders, the lower the bound"
    axes = stability_figure([found]).axes[0]
    assert axes.get_xlabel() == "gateway to sender and back d (ms)"
    time = np.array([0.0, 1.0])
    panel = QueuePanel("one", (time, time), None, 50, 100)
    assert both_sides_figure([panel, panel]).axes[0].get_ylabel() == "queue (packets)"
    drawn = swing_figure([("left", [Swing("a", [0.5, 2.0], [0.1, 0.6])]), ("right", [])])
    assert [axes.get_title(loc="left") for axes in drawn.axes] == ["left", "right"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rate_bps": 0}, "rate_bps: is 0; expected a number above zero"),
        ({"flows": -1}, "flows: is -1; expected a number above zero"),
        ({"beta_bps": math.nan}, "beta_bps: is nan; expected a number above zero"),
        ({"round_trip_s": "100 ms"}, "round_trip_s: is '100 ms'; expected a number above zero"),
        ({"target_bytes": math.inf}, "target_bytes: is inf; expected a number above zero"),
        ({"buffer_bytes": 50e3}, r"buffer_bytes: is 50000.0; expected more than target_bytes \(50000\)"),
        ({"sender_delay_s": 0.2}, r"sender_delay_s: is 0.2; expected 0 to round_trip_s \(0.1\)"),
        ({"segments_per_ack": 0.5}, "segments_per_ack: is 0.5; expected a number from 1"),
        ({"burst_packets": 0}, "burst_packets: is 0; expected a number from 1, or None"),
        ({"arrivals": "window"}, "arrivals: is 'window'; expected ack_clock or rate"),
    ],
)
def test_wrong_fields_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        model(**changes)


def test_wrong_arguments_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    fluid = model()
    with pytest.raises(InputError, match="duration_s: is -1; expected a number above zero"):
        fluid.solve(-1)
    with pytest.raises(InputError, match=r"from_bytes: is 200000.0; expected mtu_bytes \(1000\) to buffer_bytes"):
        fluid.solve(1.0, from_bytes=200e3)
    with pytest.raises(InputError, match=r"step_s: is 0.0; expected a number above zero"):
        fluid.solve(1.0, step_s=0.0)
    with pytest.raises(InputError, match="step_s: is 2; expected at most duration_s"):
        fluid.solve(1.0, step_s=2)
    with pytest.raises(InputError, match=r"x: is \['wide'\]; expected numbers"):
        stability_map(fluid, "target_bytes", ["wide"], [1e6])  # type: ignore[list-item]
    with pytest.raises(InputError, match="beta_bps: is empty; expected at least one number"):
        stability_map(fluid, "target_bytes", [50e3], [])
    with pytest.raises(InputError, match="maps: is empty"):
        stability_figure([])
    with pytest.raises(InputError, match="remaining: is 1; expected a number between 0 and 1"):
        fluid.settling_time_s(1)
    with pytest.raises(InputError, match="axis: is 'colour'; expected one of target_bytes"):
        stability_map(fluid, "colour", [1], [1])
    monkeypatch.setitem(sys.modules, "jitcdde", None)
    with pytest.raises(InputError, match=r"jitcdde is missing: pip install 'netlull\[fluid\]'"):
        fluid.solve(1.0)
