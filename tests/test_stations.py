"""Stations from Python: as elements, in results, metrics and tables, and in the commands' output."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import netlull
from conftest import SHIPPED, doze
from netlull import (
    AccessPoint,
    Bsd,
    ClientShaper,
    Eager,
    FieldPathError,
    Psm,
    Result,
    Scenario,
    ScenarioError,
    Station,
    TcpOptions,
    catalogue,
)
from netlull.results.result import metric
from netlull.sweep.metrics import Metrics

Printed = Callable[..., str]


@pytest.fixture(scope="module")
def result() -> Result:
    return doze(ClientShaper()).run()


@pytest.mark.parametrize(
    ("mechanism", "kind"),
    [
        (None, "always_on"),
        (Eager(longest_wait="30 ms"), "eager"),
        (ClientShaper(growth=1.4, rtt_from="open_ack"), "client_shaper"),
        (Psm(access_point=AccessPoint(poll="all", beacon_period="50 ms")), "psm"),
        (Bsd(slowdown=0.2, access_point={"poll": "one"}), "bsd"),
    ],
)
def test_every_mechanism_can_be_built_and_completes_a_download(mechanism: Any, kind: str) -> None:
    station = doze(mechanism).run().station("client")
    assert station["mechanism"] == kind
    assert (station["wakes"] > 0) == (kind in {"client_shaper", "psm", "bsd"})
    # 1 MB at 20 Mb/s takes 0.4 s, plus more than a round trip.
    assert 0.44 < station["download"]["seconds"] < 4


def test_what_the_core_refuses_names_the_station() -> None:
    with pytest.raises(ScenarioError, match=r"station\..*growth.*expected"):
        doze(ClientShaper(growth=3.0))
    with pytest.raises(ScenarioError, match="sundial"):
        doze(stations=[Station(["client"], radio=["sundial"])])


def test_fields_of_the_access_point_are_told_where_they_belong() -> None:
    wrong: dict[str, Any] = {"poll": "one"}
    wrong_too: dict[str, Any] = {"slowdown": 0.2, "buffer": 3}
    with pytest.raises(TypeError, match=r"poll is .* expected Psm\(access_point=AccessPoint\(poll='one'\)\)"):
        Psm(**wrong)
    with pytest.raises(TypeError, match=r"buffer is .* expected Bsd\(access_point=AccessPoint\(buffer=3\)\)"):
        Bsd(**wrong_too)
    # They behave as values: equal, copied, changed.
    one = Psm(access_point=AccessPoint(poll="one"))
    assert copy.deepcopy(one) == one
    assert dataclasses.replace(one, listen_interval=2) == Psm(access_point=AccessPoint(poll="one"), listen_interval=2)


def test_a_station_is_found_by_its_node_in_results_and_metrics(result: Result) -> None:
    station = result.station("client")
    assert result.metric("station.client.energy.modern.total_j") == station["energy"]["modern"]["total_j"]
    path = "station.client.download.energy_j.wavelan-dsss"
    assert result.metric(path) == station["download"]["energy_j"]["wavelan-dsss"]
    assert result.metric("sum(station.*.missed_packets)") == station["missed_packets"]
    assert result.metric("mean(station.c*.download.seconds)") == station["download"]["seconds"]
    with pytest.raises(FieldPathError, match='there is no station "phone"; expected one of client'):
        result.station("phone")
    with pytest.raises(FieldPathError, match='"x" is not an entry of station; expected one of client'):
        result.metric("station.x.wakes")


def test_what_an_unfinished_download_would_have_is_not_a_number() -> None:
    told = doze(ClientShaper(), duration="300 ms").run().summary
    assert told["stations"][0]["download"] is None
    assert math.isnan(metric(told, "station.client.download.seconds"))
    assert math.isnan(metric(told, "mean(station.*.download.energy_j.modern)"))
    assert metric(told, "station.client.wakes") == told["stations"][0]["wakes"]


def test_a_sweep_s_metrics_are_read_from_runs_with_and_without_a_download(result: Result) -> None:
    metrics = Metrics({"s": "station.client.download.seconds"})
    unfinished = doze(ClientShaper(), duration="300 ms").run().summary
    assert math.isnan(metrics.of(unfinished)["s"])
    assert metrics.of(result.summary) == {"s": result.station("client")["download"]["seconds"]}
    assert math.isnan(metrics.of(unfinished)["s"])


def test_the_table_of_stations_has_a_row_for_each(result: Result) -> None:
    table = result.stations
    assert table["name"].to_pylist() == ["client"]
    assert table["energy.modern.saving"].to_pylist() == [result.metric("station.client.energy.modern.saving")]
    assert list(result.to_pandas("stations")["mechanism"]) == ["client_shaper"]
    unfinished = doze(duration="300 ms").run()
    assert "download" not in unfinished.stations.column_names


def test_series_name_the_station(result: Result) -> None:
    assert {"radio", "air", "burst"} <= set(result.series_names)
    for name in ("radio", "air", "burst"):
        column = result.series(name)["station"]
        assert pa.types.is_dictionary(column.type)
        assert set(column.to_pylist()) == {"client"}, name
    kinds = result.series("air")["kind"].to_pylist()
    assert kinds.count("missed") == result.station("client")["missed_packets"]
    assert kinds.count("closed") == result.station("client")["closed_acks"]
    assert result.series("radio")["state"].to_pylist().count("waking") == result.station("client")["wakes"]


def test_saved_stations_load(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "run")
    assert (tmp_path / "run" / "stations.parquet").is_file()
    loaded = Result.load(tmp_path / "run")
    assert loaded.stations.equals(result.stations)
    assert loaded.series("burst").equals(result.series("burst"))


def test_a_run_without_stations_has_none(small: Scenario, tmp_path: Path) -> None:
    run = small.run()
    assert run.stations.num_rows == 0
    run.save(tmp_path / "run")
    assert not (tmp_path / "run" / "stations.parquet").exists()
    # A summary of a version without stations.
    old = {key: value for key, value in run.summary.items() if key != "stations"}
    assert metric(old, "events") == run.summary["events"]
    with pytest.raises(FieldPathError, match="it has no entries"):
        metric(old, "station.client.wakes")


def test_run_prints_a_table_of_stations(printed: Printed, tmp_path: Path) -> None:
    path = tmp_path / "nap.toml"
    text = (SHIPPED / "scenarios" / "doze.toml").read_text(encoding="utf-8")
    path.write_text(text.replace('"4.5 MB"', '"500 kB"').replace('"20 s"', '"3 s"'), encoding="utf-8")
    text = printed("run", path)
    row = next(line for line in text.splitlines() if line.strip().startswith("client "))
    station = json.loads(printed("run", path, "--json"))["stations"][0]
    assert "client_shaper" in row
    assert f"{100 * station['download']['asleep_s'] / station['download']['seconds']:.1f} %" in row
    assert f"{1e3 * station['download']['seconds']:.1f} ms" in row
    assert all(len(line) <= 150 for line in text.splitlines())


def test_run_says_why_a_shaper_gave_up_and_what_other_radios_use(printed: Printed, tmp_path: Path) -> None:
    from netlull.cli.stations import stations_notes

    # At the end of 300 ms it has given up without an end.
    given_up = doze(ClientShaper(), tcp=TcpOptions(timestamps=False), duration="300 ms").run().summary["stations"]
    first, second = stations_notes(given_up)
    assert first == "client: its shaper fell back to standard TCP: the sender echoes no timestamps."
    assert second.startswith("client with other radios: modern ")


def test_list_radios_shows_powers_and_sources(printed: Printed) -> None:
    radios = json.loads(printed("list", "radios", "--json"))
    assert radios == catalogue()["radios"]
    (paper,) = [radio for radio in radios if radio["name"] == "wavelan-dsss"]
    # Section IV-A-b: 177, 1319, 1425 and 1675 mW, and 2 ms of idle to wake.
    powers = [paper[f"{state}_w"] for state in ("asleep", "idle", "receive", "transmit", "waking")]
    assert powers == pytest.approx([0.177, 1.319, 1.425, 1.675, 1.319])
    assert paper["wake_time_s"] == pytest.approx(0.002)
    text = printed("list", "radios")
    assert "asleep 177 mW" in text
    assert "Radios" in text
    for radio in radios:
        # Each can be named in a scenario.
        assert doze(stations=[netlull.Station(["client"], radio=[radio["name"]])])
