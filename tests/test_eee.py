"""Low-power idle from Python: its class, its times in a result, its errors."""

from __future__ import annotations

import pytest

from netlull import Link, Lpi, Poisson, Scenario, ScenarioError
from netlull.cli.tables import print_result
from netlull.numbers import percent


def sleeper(**fields: object) -> Scenario:
    """A link of 10GBASE-T at a load of 0.05."""
    controller = Lpi(**{"phy": "10gbase-t", "hysteresis": "0 s"} | fields)
    link = Link("a", "b", "10 Gb/s", buffer="unlimited", controller=controller)
    flow = Poisson("data", "a", "b", "500 Mb/s", packet="1500 B")
    return Scenario(nodes=["a", "b"], links=[link], flows=[flow], duration="20 ms", power=[{"model": "fs"}])


def test_a_result_has_the_time_in_each_state() -> None:
    link = sleeper().run(seed=1).link("a-b")
    low = link["low_power"]
    states = ("awake_s", "entering_s", "fast_s", "asleep_s", "refresh_s", "waking_s")
    assert sum(low[state] for state in states) == pytest.approx(0.02, rel=1e-12)
    assert low["low_share"] == pytest.approx(0.706, abs=0.02)
    # An ideal model saves 0.9 of the time asleep.
    assert link["energy"]["fs"]["saving"] == pytest.approx(0.9 * low["low_share"], rel=1e-9)
    assert "low_power" not in Scenario(
        nodes=["a", "b"], links=[Link("a", "b", "1 Gb/s")], flows=[Poisson("data", "a", "b", "1 Mb/s")], duration="1 s"
    ).run(seed=1).link("a-b")


def test_a_printed_run_has_the_share_of_time_asleep(capsys: pytest.CaptureFixture[str]) -> None:
    for scenario in (sleeper(), sleeper().with_values({"link.a-b.controller": None})):
        result = scenario.run(seed=1)
        print_result(result)
        lines = capsys.readouterr().out.splitlines()
        header, row = [line for line in lines if line.startswith((" link ", " a-b "))][:2]
        low = result.link("a-b").get("low_power")
        assert ("asleep" in header) == (low is not None)
        assert low is None or row.split("   ")[-1].strip() == percent(low["low_share"])


def test_coalescing_trades_waits_for_sleep() -> None:
    one, ten = (sleeper(coalesce_frames=frames).run(seed=1).link("a-b") for frames in (1, 10))
    assert ten["low_power"]["low_share"] > one["low_power"]["low_share"] + 0.15
    assert ten["mean_wait_s"] > 10 * one["mean_wait_s"]


def test_a_target_keeps_the_mean_wait_at_every_load() -> None:
    scenario = sleeper(target_delay="20 us")
    for rate in ("500 Mb/s", "5 Gb/s"):
        found = scenario.with_values({"flow.data.rate": rate, "duration": "100 ms"}).run(seed=1).link("a-b")
        assert found["mean_wait_s"] == pytest.approx(20e-6, rel=0.05)
    with pytest.raises(ScenarioError, match=r"link\.a-b\.controller\.coalesce_time: .* target_delay sets it"):
        sleeper(target_delay="20 us", coalesce_time="5 us").run(seed=1)


def test_a_missing_hysteresis_is_named() -> None:
    with pytest.raises(ScenarioError, match=r"link\.a-b\.controller\.hysteresis"):
        sleeper(hysteresis=None).run(seed=1)
