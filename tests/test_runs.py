"""Runs: repeatable, independent of observation, watched and cancelled from other threads."""

from __future__ import annotations

import pickle
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlull import Cancelled, Monitor, Probe, Scenario, ScenarioError, VerificationError

EVERYTHING = Probe("10 ms", window=True, drops=True, segments=True, events=True)


def test_the_same_seed_gives_the_same_result(small: Scenario) -> None:
    first, second = (small.run(11, probe=EVERYTHING) for _ in range(2))
    assert first.summary == second.summary
    for name in first.series_names:
        assert first.series(name).equals(second.series(name)), name


def test_another_seed_gives_another_result(small: Scenario) -> None:
    first, second = (small.run(seed).summary for seed in (1, 2))
    assert (first["seed"], second["seed"]) == (1, 2)
    assert first["flows"] != second["flows"]


def test_nothing_is_random_without_random_parts(small: Scenario) -> None:
    still = small.with_values({"flow.noise": None})
    first, second = (still.run(seed).summary for seed in (1, 2))
    assert first.pop("seed") != second.pop("seed")
    assert first == second


def test_observing_never_changes_a_run(small: Scenario) -> None:
    assert small.run(3, probe=EVERYTHING).summary == small.run(3).summary


@settings(max_examples=20, deadline=None)
@given(
    interval=st.none() | st.integers(1, 3000).map(lambda ms: f"{ms} ms"),
    window=st.booleans(),
    drops=st.booleans(),
    links=st.none() | st.lists(st.sampled_from(["a-b", "b-a", "b-c", "c-b"]), unique=True),
    seed=st.integers(0, 2**63 - 1),
)
def test_no_probe_changes_any_run(
    small: Scenario, interval: str | None, window: bool, drops: bool, links: list[str] | None, seed: int
) -> None:
    short = small.with_values({"duration": "300 ms"})
    probe = Probe(interval, window=window, drops=drops, links=links)
    assert short.run(seed, probe=probe).summary == short.run(seed).summary


def test_the_verifiers_agree_and_change_nothing(small: Scenario) -> None:
    results = {verify: small.run(5, verify=verify).summary for verify in ("off", "ledger", "replay")}
    for summary in results.values():
        del summary["verify"]
        del summary["checks"]
    assert results["off"] == results["ledger"] == results["replay"]


def test_threads_run_at_the_same_time_and_can_be_watched(small: Scenario) -> None:
    # Two runs in separate threads, both seen under way from this one: neither holds the GIL.
    long = small.with_values({"duration": "1000000 s"})
    monitors = [Monitor(), Monitor()]
    ends: list[str] = []

    def work(monitor: Monitor) -> None:
        try:
            long.run(monitor=monitor)
        except Cancelled:
            ends.append("cancelled")

    threads = [threading.Thread(target=work, args=(monitor,)) for monitor in monitors]
    for thread in threads:
        thread.start()
    seen = [0.0, 0.0]
    while not all(0 < fraction < 1 for fraction in seen):
        seen = [monitor.fraction for monitor in monitors]
    moved = seen
    while not all(new > old for new, old in zip(moved, seen, strict=True)):
        moved = [monitor.fraction for monitor in monitors]
    for monitor in monitors:
        monitor.cancel()
    for thread in threads:
        thread.join()
    assert ends == ["cancelled", "cancelled"]


def test_a_cancelled_run_says_so(small: Scenario) -> None:
    monitor = Monitor()
    monitor.cancel()
    with pytest.raises(Cancelled):
        small.run(monitor=monitor)


def test_a_finished_run_is_wholly_done(small: Scenario) -> None:
    monitor = Monitor()
    assert monitor.fraction == 0
    small.run(monitor=monitor)
    assert monitor.fraction == 1


def test_options_of_a_run_are_those_of_its_document(small: Scenario) -> None:
    changed = small.with_values({"seed": 3, "probe": EVERYTHING, "verify": "replay"}).run()
    run = small.run(3, probe=EVERYTHING, verify="replay")
    assert run.scenario == changed.scenario
    assert run.summary == changed.summary
    assert all(run.series(name).equals(changed.series(name)) for name in changed.series_names)


def test_a_run_reads_no_document(small: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("netlull._engine.Checked")
    assert small.run(3, probe=EVERYTHING, verify="off").scenario["verify"] == "off"


def test_a_copy_in_another_process_runs_alike(small: Scenario) -> None:
    copy = pickle.loads(pickle.dumps(small.checked))  # noqa: S301  # our own
    assert copy.run(3).summary() == small.checked.run(3).summary()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"verify": "twice"}, 'verify: "twice" is unknown; expected one of ledger, replay, off'),
        ({"probe": {"links": ["a-z"]}}, 'probe.links: "a-z" is unknown; expected one of a-b, b-a, b-c, c-b'),
        ({"probe": {"interval": "1 km"}}, 'probe.interval: "1 km" has the unit "km"; expected a time'),
        ({"probe": {"windows": True}}, "probe.windows: is unknown; did you mean window?"),
        ({"probe": 3}, "probe: "),
    ],
)
def test_options_that_cannot_be_used_are_named(small: Scenario, options: dict[str, object], message: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        small.run(**options)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ScenarioError) as read:
        small.with_values(options)
    assert str(raised.value) == str(read.value)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("kind", [ScenarioError, VerificationError, Cancelled])
def test_errors_of_the_core_cross_process_borders(kind: type[Exception]) -> None:
    copy = pickle.loads(pickle.dumps(kind("link.a-b.rate: 0 b/s; expected more")))  # noqa: S301  # its own bytes
    assert (type(copy), copy.args) == (kind, ("link.a-b.rate: 0 b/s; expected more",))
