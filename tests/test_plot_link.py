"""`netlull plot link`: rates, queue and windows on one axis of time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from netlull import Scenario
from netlull.errors import FieldPathError, InputError
from netlull.plot import charts_of, link_figure
from netlull.plot.link import rate_traces

SMALL = """
name = "slow"
duration = "4 s"
nodes = ["a", "b"]
[[link]]
from = "a"
to = "b"
duplex = true
rate = "4 Mb/s"
delay = "10 ms"
buffer = "20 packets"
[link.capacity]
kind = "steps"
steps = [{ at = "0 s", rate = "2 Mb/s" }, { at = "3 s", rate = "4 Mb/s" }]
[[flow]]
kind = "tcp"
name = "one"
from = "a"
to = "b"
[[flow]]
kind = "tcp"
name = "two"
from = "a"
to = "b"
start = "1 s"
[probe]
interval = "100 ms"
window = true
"""


def test_rates_queue_and_windows_share_their_time() -> None:
    result = Scenario.from_toml(SMALL).run()
    drawn = link_figure(result, "a-b", span_s=(1.5, 3.5))
    rates, queue, windows = charts_of(drawn)
    assert {axes.get_xlim() for axes in drawn.axes} == {(1.5, 3.5)}
    assert [series.label for series in rates.series] == ["arrival rate", "link rate"]
    assert {2.0, 4.0} == set(rates.series[1].y)
    assert max(queue.series[0].y) > 5
    assert [series.label for series in windows.series] == ["one", "two"]
    assert [len(charts_of(link_figure(result, "a-b", ["two"]))[2].series)] == [1]


def test_titles_state_the_length_of_coarse_bins() -> None:
    def titles(interval: str) -> list[str]:
        result = Scenario.from_toml(SMALL).with_values({"probe.interval": interval}).run()
        return [axes.get_title(loc="left") for axes in link_figure(result, "a-b", span_s=(1.0, 4.0)).axes]

    assert titles("250 ms")[:2] == ["a-b: rates, arrivals in bins of 0.25 s", "Queue, sampled every 0.25 s"]
    # A figure of 3 s chooses 300 bins of 10 ms itself.
    assert titles("10 ms")[:2] == ["a-b: rates", "Queue"]


def test_flows_without_data_in_the_span_are_left_out() -> None:
    result = Scenario.from_toml(SMALL).run()
    windows = charts_of(link_figure(result, "a-b", span_s=(0.2, 0.8)))[2]
    assert [series.label for series in windows.series] == ["one"]
    drawn = link_figure(result, "a-b", ["two"], span_s=(0.2, 0.8))
    assert drawn.axes[2].get_title(loc="left") == "Congestion window: nothing in this time"
    assert "two" not in [text.get_text() for text in drawn.legends[0].get_texts()]


def test_many_changes_become_means_that_keep_their_sum() -> None:
    # Every 10 ms between 2 and 4 Mb/s: the mean is 3 Mb/s. The arrivals are 1000 B in each bin of 100 ms: 80 kb/s.
    time = np.arange(1, 101) * 0.1
    link = pa.array(["a-b"] * 100)
    binned = pa.table({"time_s": time, "link": link, "arrived_bytes": np.full(100, 1e3), "rate_bps": np.full(100, 2e6)})
    changes = np.arange(1000) * 0.01
    rates = pa.table({"time_s": changes, "link": pa.array(["a-b"] * 1000), "rate_bps": np.tile([2e6, 4e6], 500)})
    arrivals, service = rate_traces(rates, binned, "a-b")
    assert service.label == "link rate, mean of 0.1 s"
    assert service.value.tolist() == pytest.approx([3.0] * 100)
    assert arrivals.value.tolist() == pytest.approx([0.08] * 100)
    # A short span shows every change.
    assert rate_traces(rates, binned, "a-b", (1.0, 2.0))[1].label == "link rate"


def test_what_cannot_be_drawn() -> None:
    result = Scenario.from_toml(SMALL).run()
    with pytest.raises(FieldPathError, match="a-c"):
        link_figure(result, "a-c")
    with pytest.raises(InputError, match="from 5 s to 4 s: is not a span of time"):
        link_figure(result, "a-b", span_s=(5.0, None))
    with pytest.raises(
        InputError, match=r"from 2 s to 2.05 s: is shorter than a bin of the run; expected at least 0.1 s"
    ):
        link_figure(result, "a-b", span_s=(2.0, 2.05))
    without = Scenario.from_toml(SMALL).with_values({"probe": {}}).run()
    with pytest.raises(InputError, match="recorded no time series"):
        link_figure(without, "a-b")


def test_the_command(tmp_path: Path, printed: Callable[..., str]) -> None:
    (tmp_path / "slow.toml").write_text(SMALL, encoding="utf-8")
    out = tmp_path / "link.svg"
    said = printed("plot", "link", tmp_path / "slow.toml", "--link", "a-b", "--from", "1", "--to", "2", "--out", out)
    assert said == f"written to {out}\n"
    assert "Congestion window" in out.read_text(encoding="utf-8")
