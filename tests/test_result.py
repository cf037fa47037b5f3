"""Results: summary, tables, series, other libraries, and their folder."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from netlull import FieldPathError, InputError, OutputError, Probe, Result, ResultError, Scenario

PROBE = Probe("100 ms", window=True, drops=True)


@pytest.fixture(scope="module")
def result(small: Scenario) -> Result:
    return small.run(probe=PROBE)


def test_the_summary_adds_up(result: Result) -> None:
    for link in result.summary["links"]:
        assert link["offered_packets"] >= link["delivered_packets"] + link["dropped_packets"] + link["lost_packets"]
        assert 0 <= link["utilisation"] <= 1
        residency = sum(entry["seconds"] + entry["transition_seconds"] for entry in link["residency"])
        assert residency == pytest.approx(result.summary["measured_s"])
        for energy in link["energy"].values():
            parts = sum(energy[part] for part in ("static_j", "rate_dependent_j", "traffic_j", "transitions_j"))
            assert energy["total_j"] == pytest.approx(parts)
            assert energy["saving"] == pytest.approx(1 - energy["total_j"] / energy["reference_j"])
    assert result.link("a-b")["rate_changes"] > 0
    assert 0 < result.flow("tcp")["goodput_bps"] < 10e6


def test_a_metric_is_a_number_of_the_summary(result: Result) -> None:
    assert result.metric("events") == result.summary["events"]
    assert result.metric("link.a-b.mean_rate_bps") == result.link("a-b")["mean_rate_bps"]
    assert result.metric("link.a-b.energy.fs.saving") == result.link("a-b")["energy"]["fs"]["saving"]
    assert np.isnan(result.metric("flow.tcp.completion_time_s"))  # endless


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("link.a-z.rate_bps", '"a-z" is not an entry of link; expected one of a-b, b-a, b-c, c-b'),
        ("flow.tcp.happiness", "it has name, kind"),
        ("flow.tcp.kind", "is not a number: it is 'tcp'"),
        ("link.a-b.energy.fs", "is not a number: it has the fields static_j"),
        ("nothing", '"nothing" is not a field of the scenario'),
    ],
)
def test_a_metric_that_is_none_is_named(result: Result, path: str, says: str) -> None:
    with pytest.raises(FieldPathError, match=says):
        result.metric(path)


def test_unknown_names_list_the_known(result: Result) -> None:
    with pytest.raises(FieldPathError, match='there is no link "x"; expected one of a-b'):
        result.link("x")
    with pytest.raises(FieldPathError, match='there is no flow "x"; expected one of tcp, noise'):
        result.flow("x")
    with pytest.raises(InputError, match=r'series "x" was not recorded; recorded: .*rate'):
        result.series("x")


def test_tables_have_a_row_for_each(result: Result) -> None:
    links, flows = result.links, result.flows
    assert links["name"].to_pylist() == ["a-b", "b-a", "b-c", "c-b"]
    assert flows["name"].to_pylist() == ["tcp", "noise"]
    assert links["energy.fs.saving"].to_pylist()[0] == result.metric("link.a-b.energy.fs.saving")
    assert flows.schema.field("completion_time_s").type == pa.float64()


def test_series_name_links_and_flows(result: Result) -> None:
    assert set(result.series_names) == {"rate", "link", "flow", "window", "drop"}
    link = result.series("link")
    assert pa.types.is_dictionary(link.schema.field("link").type)
    assert set(link["link"].to_pylist()) == {"a-b", "b-a", "b-c", "c-b"}
    # 2 s in bins of 100 ms, four links
    assert link.num_rows == 20 * 4
    assert link["time_s"].to_pylist()[-1] == pytest.approx(2.0)
    delivered = sum(row["delivered_bytes"] for row in link.to_pylist() if row["link"] == "a-b")
    assert delivered == result.link("a-b")["delivered_bytes"]
    assert result.series("drop").num_rows == sum(link["dropped_packets"] for link in result.summary["links"])
    assert set(result.series("window")["flow"].to_pylist()) == {"tcp"}
    assert set(result.series("rate")["link"].to_pylist()) == {"a-b"}
    assert result.series("rate").num_rows == result.link("a-b")["rate_changes"] + 1


def test_probes_choose_links_and_flows(small: Scenario) -> None:
    result = small.run(probe={"interval": "500 ms", "links": ["b-c"], "flows": ["noise"]})
    assert set(result.series("link")["link"].to_pylist()) == {"b-c"}
    assert set(result.series("flow")["flow"].to_pylist()) == {"noise"}


def test_pandas_reads_it(result: Result) -> None:
    frame = result.to_pandas("link")
    assert str(frame["link"].dtype) == "category"
    assert frame[frame["link"] == "a-b"]["delivered_bytes"].sum() == result.link("a-b")["delivered_bytes"]
    assert list(result.to_pandas("flows")["name"]) == ["tcp", "noise"]


def test_polars_reads_it(result: Result) -> None:
    import polars as pl

    frame = result.to_polars("link").filter(pl.col("link") == "a-b")
    assert frame["delivered_bytes"].sum() == result.link("a-b")["delivered_bytes"]
    assert result.to_polars("links").height == 4


def test_what_is_saved_loads(result: Result, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    result.save(folder)
    files = {path.name for path in folder.iterdir()}
    assert {"summary.json", "manifest.json", "links.parquet", "flows.parquet", "link.parquet", "rate.parquet"} <= files
    loaded = Result.load(folder)
    assert loaded.summary == result.summary
    assert loaded.scenario == result.scenario
    assert loaded.series_names == result.series_names
    for name in result.series_names:
        assert loaded.series(name).equals(result.series(name)), name
    assert loaded.links.equals(result.links)
    assert Scenario.from_dict(loaded.scenario).run().summary == result.summary


def test_the_manifest_says_what_ran(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["seed"] == 1
    assert manifest["scenario"]["name"] == "small"
    assert manifest["engine"].startswith(manifest["version"] + "+")
    assert "commit" in manifest


def test_senders_tell_of_their_segments_and_events(small: Scenario, tmp_path: Path) -> None:
    run = small.run(probe=Probe(segments=True, events=True))
    segments = run.series("segment")
    assert str(segments["retransmission"].type) == "bool"
    assert segments["retransmission"].to_pylist().count(True) == run.flow("tcp")["retransmissions"]
    assert set(segments["flow"].to_pylist()) == {"tcp"}  # datagrams are not segments
    words = run.series("event")["event"].to_pylist()
    assert words.count("fast_retransmit") == run.flow("tcp")["fast_retransmits"] > 0
    run.save(tmp_path / "run")
    loaded = Result.load(tmp_path / "run")
    assert loaded.series("segment").equals(segments)
    assert loaded.series("event").equals(run.series("event"))


def test_a_table_of_events_may_be_empty(small: Scenario) -> None:
    quiet = small.with_values({"duration": "1 ms"}).run(probe=Probe(events=True)).series("event")
    assert (quiet.num_rows, str(quiet["event"].type)) == (0, "string")


def test_the_same_run_saves_the_same_bytes(small: Scenario, tmp_path: Path) -> None:
    for name in ("one", "two"):
        small.run(7, probe=PROBE).save(tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_an_earlier_result_is_replaced_and_other_files_are_not(result: Result, small: Scenario, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    result.save(folder)
    small.run(2).save(folder)
    assert Result.load(folder).summary["seed"] == 2
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(OutputError, match="holds other files"):
        result.save(tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.tex").exists()


def test_a_result_is_all_there_or_not_at_all(result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("netlull.results.output.file_record", full)
    with pytest.raises(OSError, match="No space left"):
        result.save(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["summary.json", "links.parquet", "link.parquet", "manifest.json"])
def test_a_missing_file_is_named(result: Result, tmp_path: Path, name: str) -> None:
    result.save(tmp_path / "run")
    (tmp_path / "run" / name).unlink()
    with pytest.raises(ResultError, match=f"{name}: is missing"):
        Result.load(tmp_path / "run")


@pytest.mark.parametrize("name", ["summary.json", "links.parquet", "link.parquet", "manifest.json"])
def test_a_truncated_file_is_named(result: Result, tmp_path: Path, name: str) -> None:
    result.save(tmp_path / "run")
    path = tmp_path / "run" / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ResultError, match=f"{name}: is truncated"):
        Result.load(tmp_path / "run")


def test_a_damaged_file_is_named(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "run")
    path = tmp_path / "run" / "summary.json"
    path.write_text(path.read_text().replace('"seed": 1', '"seed": 2'))
    with pytest.raises(ResultError, match=r"summary\.json: is damaged: its checksum"):
        Result.load(tmp_path / "run")


def test_a_folder_without_a_result_is_named(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="nowhere: there is no such folder; expected the folder of a run"):
        Result.load(tmp_path / "nowhere")


def test_a_pickled_result_has_its_tables_and_its_origin(result: Result) -> None:
    copy = pickle.loads(pickle.dumps(result))  # noqa: S301  # its own bytes
    assert copy.summary == result.summary
    assert copy.origin == result.origin
    assert copy.series_names == result.series_names
    assert all(copy.series(name).equals(result.series(name)) for name in result.series_names)


def test_a_run_whose_tables_are_not_read_does_without_numpy(small: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(small.to_toml(), encoding="utf-8")
    lines = [
        "import sys, netlull",
        "result = netlull.Scenario.from_file(sys.argv[1]).run()",
        "print(sorted(result.series_names), 'numpy' in sys.modules)",
        "result.series(result.series_names[0])",
        "print('numpy' in sys.modules)",
    ]
    command = [sys.executable, "-c", "\n".join(lines), str(file)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["['rate'] False", "True"]
