"""The order in which a sweep's runs begin: the longest first, by expected and then by measured length."""

from __future__ import annotations

import copy
import itertools
import pickle
import threading
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlull import Axis, AxisPoint, Progress, Scenario, Sweep
from netlull.runs import team
from netlull.runs.order import Job, LongestFirst
from netlull.sweep import running

METRICS = {"goodput_bps": "flow.tcp.goodput_bps"}


def runs(name: str, expected_hops: float, seeds: int = 1) -> list[Job]:
    """The runs of one scenario, with a stand-in for its content."""
    scenario = cast("Any", object())
    return [Job(f"{name}{seed}", seed, scenario, name, expected_hops) for seed in range(1, seeds + 1)]


def drained(order: LongestFirst, **cpu_s: float) -> list[str]:
    """Takes every run as one worker would. Each takes the CPU time given for its position."""
    taken = []
    while (job := order.next()) is not None:
        order.took(job, cpu_s.get(job.place, 0.0))
        taken.append(job.key)
    return taken


def test_the_shortest_run_begins_then_the_longest_come_first() -> None:
    jobs = [*runs("a", 10), *runs("b", 1000), *runs("c", 100), *runs("d", 1)]
    order = LongestFirst(jobs)
    taken = [order.next() for _ in range(5)]
    assert [job and job.key for job in taken] == ["d1", "b1", "c1", "a1", None]


def test_runs_of_equal_length_keep_their_order() -> None:
    order = LongestFirst([*runs("a", 10, 2), *runs("b", 10, 2), *runs("c", 5)])
    taken = [order.next() for _ in range(5)]
    assert [job and job.key for job in taken] == ["c1", "a1", "a2", "b1", "b2"]


def test_what_was_measured_counts_more_than_what_was_expected() -> None:
    # c1 comes first, as the shortest: 1 hop in 0.1 s, so that a's 100 are expected to take 10 s and b's 50 to take 5 s.
    # a1 takes 1 s: 101 hops in 1.1 s, and b1 is expected to take 50 * 1.1 / 101 = 0.54 s; a2, at 1 s, is longer.
    # a2 takes 1 s: 201 hops in 2.1 s, b1 at 50 * 2.1 / 201 = 0.52 s; a3 is longer. Then b1 and b2.
    order = LongestFirst([*runs("a", 100, 3), *runs("b", 50, 2), *runs("c", 1)])
    assert drained(order, a=1.0, b=8.0, c=0.1) == ["c1", "a1", "a2", "a3", "b1", "b2"]
    # Where a takes 0.02 s, 50 hops are expected to take 50 * 0.12 / 101 = 0.06 s, longer than a2: b1 goes, and b2.
    order = LongestFirst([*runs("a", 100, 3), *runs("b", 50, 2), *runs("c", 1)])
    assert drained(order, a=0.02, b=8.0, c=0.1) == ["c1", "a1", "b1", "b2", "a2", "a3"]


def test_the_mean_of_all_runs_that_ended_is_what_counts() -> None:
    # One run of a takes 9 s and one 1 s: 5 s on average, above the 4 s of b. Another of 0.5 s: 3.5 s, below them.
    a, b = runs("a", 100, 4), runs("b", 100, 2)
    order = LongestFirst([*a, *b])
    for job, cpu_s in ((a[0], 9.0), (a[1], 1.0), (b[0], 4.0)):
        taken = order.next()
        assert taken is not None
        order.took(job, cpu_s)
    # The handed-out runs do not matter here: of each scenario, at least as many are out as have ended.
    upcoming = order.next()
    assert upcoming is not None
    assert upcoming.place == "a"
    order.took(a[2], 0.5)
    last = order.next()
    assert last is not None
    assert last.place == "b"


def test_runs_of_an_earlier_sweep_tell_how_long_others_take() -> None:
    # Half of each has run before: a, expected to be long, was short.
    a, b = runs("a", 100, 2), runs("b", 50, 2)
    order = LongestFirst([a[1], b[1], *runs("c", 1)])
    order.took(a[0], 0.1)
    order.took(b[0], 2.0)
    assert drained(order) == ["c1", "b2", "a2"]


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 4)), min_size=1, max_size=8), st.data())
def test_every_run_is_handed_out_once(groups: list[tuple[int, int]], data: st.DataObject) -> None:
    jobs = [job for index, (hops, seeds) in enumerate(groups) for job in runs(f"g{index}-", hops, seeds)]
    order = LongestFirst(jobs)
    out: list[Job] = []
    taken: list[str] = []
    while len(taken) < len(jobs):
        job = order.next()
        assert job is not None
        taken.append(job.key)
        out.append(job)
        while out and data.draw(st.booleans()):
            order.took(out.pop(0), data.draw(st.sampled_from([0.0, 0.5, 1.0])))
    assert order.next() is None
    assert sorted(taken) == sorted(job.key for job in jobs)


def test_threads_share_the_runs() -> None:
    jobs = list(itertools.chain.from_iterable(runs(f"g{index}-", index + 1, 50) for index in range(20)))
    order = LongestFirst(jobs)
    taken: list[list[str]] = [[] for _ in range(8)]

    def take(mine: list[str]) -> None:
        while (job := order.next()) is not None:
            order.took(job, 0.001)
            mine.append(job.key)

    threads = [threading.Thread(target=take, args=(mine,)) for mine in taken]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(key for mine in taken for key in mine) == sorted(job.key for job in jobs)


@pytest.fixture
def uneven(small: Scenario) -> Sweep:
    lengths = ["100 ms", "1 s", "300 ms", "600 ms"]
    return Sweep(small, [Axis("length", "duration", lengths, unit="ms")], seeds=2, metrics=METRICS)


def test_a_sweep_begins_its_longest_runs_first(uneven: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    original = LongestFirst.next

    def noted(order: LongestFirst) -> Job | None:
        job = original(order)
        if job is not None:
            begun.append(job.label)
        return job

    monkeypatch.setattr(LongestFirst, "next", noted)
    # The runs' times are not measured here: only expectations decide.
    monkeypatch.setattr(LongestFirst, "took", lambda *_: None)
    uneven.run(workers=1)
    order = [("100 ms", 1), ("1 s", 1), ("1 s", 2), ("600 ms", 1), ("600 ms", 2), ("300 ms", 1), ("300 ms", 2)]
    assert begun == [f"sweep at length={length}, seed {seed}" for length, seed in [*order, ("100 ms", 2)]]


def test_the_order_changes_nothing(uneven: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = uneven.run(tmp_path / "whole")
    assert whole.executed == 8

    class ShortestFirst(LongestFirst):
        def __init__(self, jobs: list[Job]) -> None:
            super().__init__(sorted(jobs, key=lambda job: job.expected_hops))
            self._guessed = [(-hops, number) for hops, number in self._guessed]
            self._guessed.sort()

    monkeypatch.setattr(team, "LongestFirst", ShortestFirst)
    for workers in (1, 3):
        uneven.run(tmp_path / str(workers), workers=workers)

    # Interruption half way and resumption in the usual order give the same result.
    def interrupt(progress: Progress) -> None:
        if progress.done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        uneven.run(tmp_path / "resumed", workers=2, progress=interrupt)
    monkeypatch.setattr(team, "LongestFirst", LongestFirst)
    resumed = uneven.run(tmp_path / "resumed")
    assert resumed.reused >= 3
    expected = (tmp_path / "whole" / "results.parquet").read_bytes()
    for name in ("1", "3", "resumed"):
        assert (tmp_path / name / "results.parquet").read_bytes() == expected


def test_runs_share_what_was_checked(small: Scenario) -> None:
    # Twice the same scenario under two labels, and another: two checked scenarios for six runs.
    same = Axis("label", points=[AxisPoint("one"), AxisPoint("two"), AxisPoint("other", set={"mtu": "1000 B"})])
    jobs = running._jobs(Sweep(small, [same], 2, METRICS).points())
    assert len(jobs) == 4
    assert len({id(job.scenario) for job in jobs.values()}) == 2


def test_a_checked_scenario_copies_and_pickles(small: Scenario) -> None:
    for again in (copy.deepcopy(small), pickle.loads(pickle.dumps(small))):  # noqa: S301  # its own
        assert again == small
        assert again.run(3).summary == small.run(3).summary


def test_progress_counts_packet_hops(uneven: Sweep) -> None:
    # With one worker 100 ms ends first, then 1 s; only the next run can be under way.
    first: dict[int, float] = {}
    uneven.run(workers=1, progress=lambda progress: first.setdefault(progress.done, progress.fraction) and None)
    tenth, second, *_ = (point.scenario.checked.expected_hops() for point in uneven.points())
    total = 2 * sum(point.scenario.checked.expected_hops() for point in uneven.points())
    assert tenth / total <= first[1] <= (tenth + second) / total
    assert (tenth + second) / total <= first[2] <= (tenth + 2 * second) / total
    assert first[8] == 1.0


def test_batches_are_shares_of_what_is_left() -> None:
    # Of 100 runs with 1e6 hops: the first goes alone and takes 0.1 s, the expectation for each of the other 99.
    order = LongestFirst(runs("a", 1e6, 100))
    first = order.batch(2, 0.05, 1.0)
    assert [job.key for job in first] == ["a1"]
    order.took(first[0], 0.1)
    # Half of 9.9 s is more than the 1 s that a batch may take: 10 runs, the tenth of which reaches 1 s or misses
    # it by rounding.
    sizes = [len(batch) for batch in iter(lambda: order.batch(2, 0.05, 1.0), [])]
    assert sizes[0] in (10, 11)
    assert sum(sizes) == 99
    assert len(order) == 0
    # The last are single: half of the last 0.1 s is 0.05 s, and one run lasts longer.
    assert sizes[-1] == 1
    assert sizes == sorted(sizes, reverse=True)


def test_batches_before_anything_was_measured_go_by_expected_hops() -> None:
    # After the shortest: 100 ns for each of a's 4e6 hops are 0.4 s, 3 runs to reach 1 s.
    order = LongestFirst([*runs("a", 4e6, 30), *runs("b", 1)])
    assert [job.key for job in order.batch(2, 0.05, 1.0)] == ["b1"]
    assert [job.key for job in order.batch(2, 0.05, 1.0)] == ["a1", "a2", "a3"]
    # A run longer than the limit of a batch goes alone, as does every run if batches must be short.
    assert [job.key for job in order.batch(2, 0.05, 0.3)] == ["a4"]
