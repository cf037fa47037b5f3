"""Traffic from Python: laws of sizes, files of sizes and arrivals, recording and replay, warnings."""

from __future__ import annotations

import json
import math
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import netlull
from conftest import SHIPPED
from netlull.cli import main
from netlull.cli.tables import print_result
from netlull.errors import InputError
from netlull.library import shipped


def network(flow: Any, **fields: Any) -> dict[str, Any]:
    """Two nodes, 10 Mb/s, and one flow."""
    link = {"from": "a", "to": "b", "duplex": True, "rate": "10 Mb/s", "delay": "5 ms"}
    return {"duration": "10 s", "nodes": ["a", "b"], "link": [link], "flow": [flow]} | fields


def web(size: Any, **fields: Any) -> dict[str, Any]:
    flow = {"kind": "requests", "name": "web", "from": "a", "to": "b", "offered": "4 Mb/s", "size": size}
    return network(flow | fields)


def sizes(folder: Path, text: str | bytes) -> netlull.Scenario:
    """A scenario whose sizes are in a file with this text."""
    content = text if isinstance(text, bytes) else text.encode()
    (folder / "sizes.csv").write_bytes(content)
    return netlull.Scenario.from_dict(web({"kind": "empirical", "file": "sizes.csv"}), folder=folder)


def replay(folder: Path, text: str, name: str = "arrivals.csv") -> netlull.Scenario:
    (folder / name).write_text(text, encoding="utf-8")
    flow = {"kind": "replay", "name": "trace", "from": "a", "to": "b", "file": name}
    return netlull.Scenario.from_dict(network(flow), folder=folder)


@pytest.mark.parametrize(
    "size",
    [
        netlull.LognormalSize([netlull.LognormalComponent(1, "2 kB", 1.0)], max="1 MB"),
        netlull.CampusSize("15 kB"),
        netlull.EmpiricalSize([(1000, 0.5), (30_000, 1.0)]),
        netlull.WebSearchSize("15 kB"),
    ],
)
def test_the_builder_writes_every_law(size: netlull.CampusSize) -> None:
    scenario = netlull.Scenario.from_dict(web(size))
    assert scenario.to_dict()["flow"][0]["size"]["kind"] == size.kind
    assert scenario.run().flow("web")["requests_completed"] > 0


def test_a_file_of_sizes_becomes_its_points(tmp_path: Path) -> None:
    scenario = sizes(tmp_path, "bytes,p\n# half\n1000, 0.5\n30000 1\n")
    size = scenario.to_dict()["flow"][0]["size"]
    assert size == {"kind": "empirical", "cdf": [[1000, 0.5], [30_000, 1.0]]}
    same = netlull.Scenario.from_dict(web(size))
    assert (scenario, scenario.key) == (same, same.key), "what runs is the content"
    (tmp_path / "sizes.csv").unlink()
    assert scenario.run().summary == same.run().summary
    assert scenario.with_values({"duration": "5 s"}).duration == "5 s"


SIZES = """0 0
10000 15
20000 20
30000 30
50000 40
80000 53
200000 60
1000000 70
2000000 80
5000000 90
10000000 97
30000000 100
"""
"""The web-search sizes of DCTCP (2010), figure 4, in the form of data-centre simulators: from 0 B, in percent."""


def test_tables_of_data_centre_simulators_are_read_as_they_are(tmp_path: Path) -> None:
    percent = sizes(tmp_path, SIZES)
    assert percent.to_dict()["flow"][0]["size"]["cdf"][:2] == [[0, 0], [10_000, 15]]
    rows = [line.split() for line in SIZES.splitlines()]
    # By hand: shares of 1, and no size below 1 B.
    edited = "1 0\n" + "".join(f"{size} {float(share) / 100}\n" for size, share in rows[1:])
    share = sizes(tmp_path, edited)
    assert percent.run().summary == share.run().summary
    inline = netlull.EmpiricalSize([(int(size), float(share)) for size, share in rows])
    assert netlull.Scenario.from_dict(web(inline)).run().summary == share.run().summary


def test_drawn_sizes_have_the_mean_of_a_table_in_percent(tmp_path: Path) -> None:
    text = "0 0\n1000 50\n3000 90\n10000 100\n"
    # 0.5 x 500 + 0.4 x 2000 + 0.1 x 6500 B; E S^2 of uniform pieces: (a^2 + a b + b^2) / 3.
    mean = 0.5 * 500 + 0.4 * 2000 + 0.1 * 6500
    square = (0.5 * 1e6 + 0.4 * 13e6 + 0.1 * 139e6) / 3
    flow = sizes(tmp_path, text).with_values({"duration": "60 s"}).run().flow("web")
    count, drawn = flow["requests_started"], flow["requested_bytes"]
    assert count > 10_000
    assert abs(drawn / count - mean) < 4 * math.sqrt((square - mean**2) / count)


def test_a_pareto_law_that_draws_only_its_smallest_size_warns() -> None:
    def told(shape: float) -> list[str]:
        return list(netlull.Scenario.from_dict(web({"kind": "pareto", "mean": "10 kB", "shape": shape})).warnings)

    # The smallest is 10 kB x (shape - 1) / shape, 1 B after rounding; 1 - (L / 1.5 B)^shape are no larger.
    (warning,) = told(1.000001)
    assert warning.startswith("flow.web.size.shape: makes 99.33")
    assert "% of the sizes 1 B, the smallest" in warning
    assert not told(1.35)
    assert not told(1000.0)  # all sizes are near the mean


def test_a_file_is_relative_to_the_scenario_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sizes.csv").write_text("1000 0.5\n30000 1\n")
    text = f"duration = '1 s'\nnodes = ['a', 'b']\nlink = {_toml(web(0)['link'])}\nflow = [{{ {_FLOW} }}]\n"
    (tmp_path / "scenario.toml").write_text(text)
    scenario = netlull.Scenario.from_file(tmp_path / "scenario.toml")
    assert scenario.to_dict()["flow"][0]["size"]["cdf"] == [[1000, 0.5], [30_000, 1.0]]
    other = tmp_path / "other.csv"
    other.write_text("2000 1\n")
    size = {"kind": "empirical", "file": "other.csv"}
    changed = scenario.with_values({"flow.web.size": size})
    # A missing file may be in the current folder, where a shipped scenario's user works.
    monkeypatch.chdir(tmp_path)
    web_load = netlull.Scenario.from_file(SHIPPED / "scenarios" / "web-load.toml", values={"flow.web.size": size})
    assert web_load.to_dict()["flow"][0]["size"] == changed.to_dict()["flow"][0]["size"]
    assert changed.to_dict()["flow"][0]["size"]["cdf"] == [[2000, 1.0]]
    assert changed.key != scenario.key


_FLOW = (
    "kind = 'requests', name = 'web', from = 'a', to = 'b', offered = '1 Mb/s', "
    "size = { kind = 'empirical', file = 'sizes.csv' }"
)


def _toml(links: list[dict[str, Any]]) -> str:
    tables = ", ".join("{ " + ", ".join(f"{key} = {json.dumps(v)}" for key, v in link.items()) + " }" for link in links)
    return f"[{tables}]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1000 0.5\n2000 0.9\n", "sizes.csv: rises to 0.9; expected a last share of 1"),
        ("1000 50\n2000 99\n", "sizes.csv: rises to 99; expected a last share of 1, or of 100 in a table in percent"),
        ("1000 50\n2000 101\n", "sizes.csv, line 2: 101 is out of range"),
        ("1000 0.5\n900 1\n", "sizes.csv, line 2: is 900 B, 1 after 1000 B, 0.5; expected both columns"),
        ("1000 0.5\n2000 0.4\n3000 1\n", "sizes.csv, line 2: is 2000 B, 0.4 after 1000 B, 0.5"),
        ("1000 -0.5\n2000 1\n", "sizes.csv, line 1: -0.5 is out of range; expected a share"),
        ("-1000 0.5\n2000 1\n", "sizes.csv, line 1: -1000 is out of range"),
        ("1000 0.5\n2000 nan\n", "sizes.csv, line 2: nan is out of range"),
        ("1000 0.5\n2000 x\n", 'sizes.csv, line 2: "x" is not a number'),
        ("1000 0.5\n2000.5 1\n", "sizes.csv, line 2: 2000.5 is not a number of bytes"),
        ("1000 0.5\n2000 1.5\n", "sizes.csv: rises to 1.5; expected a last share of 1"),
        ("1000 0.5 7\n", 'sizes.csv, line 1: "1000 0.5 7" is not a line of two columns; expected two numbers'),
        ("\n# nothing\n", "sizes.csv: has no points"),
        ("bytes,p\n", "sizes.csv: has no points"),
        (b"\xff\xfe\x00", "sizes.csv: is not UTF-8 text; expected a text file"),
        ("0 0.5\n2000 1\n", r"flow.web.size.cdf.0: is 0 B"),
    ],
)
def test_a_file_of_sizes_that_cannot_be_used_is_named_with_its_line(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    with pytest.raises((InputError, netlull.ScenarioError)) as error:
        sizes(tmp_path, text)
    assert message in str(error.value)
    assert str(error.value).startswith("flow.web.size.")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    size = {"kind": "empirical", "file": "none.csv"}
    with pytest.raises(InputError, match=r"^flow\.web\.size\.file: .*none\.csv: there is no such file"):
        netlull.Scenario.from_dict(web(size), folder=tmp_path)
    with pytest.raises(netlull.ScenarioError, match="expected one of them"):
        netlull.Scenario.from_dict(web(size | {"cdf": [[1, 1.0]]}))
    with pytest.raises(netlull.ScenarioError, match=r"flow\.web\.size\.file"):
        netlull.Scenario.from_dict(web({"kind": "empirical", "file": 7}))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(text=st.text('0123456789.,-e#xn \t\n"bytesp_') | st.text(), record=st.booleans())
def test_whatever_a_file_holds_it_is_read_or_refused(tmp_path: Path, text: str, record: bool) -> None:
    heading = "time_s,bytes\n" if record else ""
    try:
        (replay if record else sizes)(tmp_path, heading + text)
    except (InputError, netlull.ScenarioError) as error:
        assert str(error).startswith("flow.")  # noqa: PT017


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
PATHS = st.lists(
    st.sampled_from(["link", "flow", "a-b", "web", "0", "size", "controller", "probe", "", "x"]), max_size=4
)


@settings(max_examples=300, deadline=None)
@given(
    table=st.fixed_dictionaries(
        {},
        optional={
            "flows": JSON | st.just(["web"]),
            "link": JSON | st.just("a-b"),
            "without": JSON | st.lists(PATHS.map(".".join), max_size=2),
            "name": JSON,
            "to": JSON | st.just("b"),
        },
    )
)
def test_whatever_a_recording_says_it_can_be_run_or_is_refused(table: dict[str, Any]) -> None:
    try:
        scenario = netlull.Scenario.from_dict(web(netlull.FixedSize("10 kB"), duration="1 s", recording=table))
    except (InputError, netlull.ScenarioError):
        return
    assert scenario.run().summary["recording"]["packets"] >= 0


def test_a_file_of_arrivals_is_replayed(tmp_path: Path) -> None:
    in_ns = replay(tmp_path, "time_ns,bytes\n0,100\n1500000,1500\n")
    in_s = replay(tmp_path, "time_s bytes\n0 100\n0.0015 1500\n")
    assert in_ns == in_s
    assert in_ns.run().flow("trace")["delivered_bytes"] == 1600


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,100\n", 'line 1: expected the heading "time_ns,bytes" or "time_s,bytes"'),
        ("", 'expected the heading "time_ns,bytes"'),
        ("time_ns,bytes\n", "has no packets"),
        ("time_ns,bytes\n5,100\n4,100\n", "line 3: 4 comes after a later time"),
        ("time_s,bytes\n-1,100\n", "line 2: -1 is out of range; expected a time"),
        ("time_s,bytes\n1,1e400\n", "line 2: 1e400 is out of range; expected whole bytes"),
        ("time_s,bytes\n1e30,100\n", "line 2: 1e30 is out of range; expected a time up to 1000000000 s"),
        ("time_ns,bytes\n1e999999,100\n", "line 2: 1e999999 is out of range"),
        ("time_s,bytes\n1,2000\n", "flow.trace.arrivals.0: has 2000 B"),
    ],
)
def test_a_file_of_arrivals_that_cannot_be_used_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises((InputError, netlull.ScenarioError)) as error:
        replay(tmp_path, text)
    assert message in str(error.value)


def test_arrivals_that_a_run_has_saved_are_replayed(tmp_path: Path) -> None:
    probe = netlull.Probe(arrivals=["a-b"])
    first = netlull.Scenario.from_dict(web(netlull.CampusSize("15 kB"))).run(probe=probe)
    first.save(tmp_path / "first")
    flow = netlull.Replay("trace", "a", "b", file="first/arrivals.parquet")
    second = netlull.Scenario.from_dict(network(flow), folder=tmp_path).run(probe=probe)
    columns = ["time_ns", "bytes"]
    assert second.series("arrivals").select(columns).equals(first.series("arrivals").select(columns))
    assert set(first.series("arrivals")["flow"].to_pylist()) == {"web"}
    both = netlull.Scenario.from_dict(web(netlull.CampusSize("15 kB"))).run(probe={"arrivals": ["a-b", "b-a"]})
    both.save(tmp_path / "both")
    flow = netlull.Replay("t", "a", "b", file="both/arrivals.parquet")
    with pytest.raises(InputError, match=r"has arrivals at a-b, b-a; expected those at one link"):
        netlull.Scenario.from_dict(network(flow), folder=tmp_path)
    (tmp_path / "bad.parquet").write_text("no")
    with pytest.raises(InputError, match=r"bad\.parquet: is not a Parquet file"):
        netlull.Scenario.from_dict(network(netlull.Replay("t", "a", "b", file="bad.parquet")), folder=tmp_path)


def test_values_alone_lead_from_one_scenario_of_the_paper_to_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    udp = netlull.Scenario.from_file(SHIPPED / "scenarios" / "udp-replay.toml", values={"duration": "20 s"})
    tcp = udp.with_values({"recording": None})
    alone = tcp.with_values({"link.N1-N2.controller": None})
    controlled, replayed, free = (scenario.run() for scenario in (tcp, udp, alone))
    record = replayed.summary["recording"]
    # The replay has the traffic offered without power control, from the start; the warm-up is in no summary.
    assert record["packets"] > free.link("N1-N2")["offered_packets"]
    whole = alone.with_values({"warm_up": None}).run()
    assert (record["packets"], record["bytes"]) == (
        whole.link("N1-N2")["offered_packets"],
        whole.link("N1-N2")["offered_bytes"],
    )
    assert replayed.link("N1-N2")["buffer"] == controlled.link("N1-N2")["buffer"]
    assert replayed.flow("replay")["kind"] == "replay"
    replayed.save(tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["recording"] == record
    assert "recording" not in controlled.summary
    print_result(replayed)
    assert " packets recorded at N1-N2 in an earlier run" in " ".join(capsys.readouterr().out.split())


def test_a_load_of_one_or_more_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    busy = netlull.Scenario.from_dict(web(netlull.FixedSize("10 kB"), offered="10 Mb/s", stop="1 s"))
    message = "link.a-b: requests offer 10.000 Mb/s of data to 10 Mb/s, a load of 1.000"
    assert [warning.startswith(message) for warning in busy.warnings] == [True]
    with pytest.warns(UserWarning, match=r"a load of 1\.000"):
        result = busy.run()
    result.save(tmp_path / "run")
    assert netlull.Result.load(tmp_path / "run").warnings == busy.warnings
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["warnings"] == [*busy.warnings]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert busy.with_values({"flow.web.offered": "9 Mb/s"}).run().warnings == ()
        assert main(["run", "web-load", "--set", "duration=11 s", "--set", "flow.web.offered=12 Mb/s"]) == 0
    assert capsys.readouterr().err.startswith("warning: link.N1-N2: requests offer 12.000 Mb/s")


SWEPT = """
scenario = "web-load"
[metrics]
done = "flow.web.requests_completed"
[[axis]]
name = "offered"
path = "flow.web.offered"
values = ["1 Mb/s", "11 Mb/s", "12 Mb/s"]
[[axis]]
name = "length"
path = "duration"
values = ["11 s"]
"""


def test_a_sweep_names_the_points_whose_load_is_one_or_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, store = tmp_path / "sweep.toml", tmp_path / "store"
    file.write_text(SWEPT)
    assert main(["sweep", str(file), "--out", str(store), "--json"]) == 0
    said = capsys.readouterr()
    (line,) = said.err.splitlines()
    assert line.startswith("warning: link.N1-N2: requests offer 11.000 Mb/s of data to 10 Mb/s, a load of 1.100; ")
    places = "sweep at offered=11 Mb/s, length=11 s; sweep at offered=12 Mb/s, length=11 s"
    assert line.endswith(f" (2 of 3 points: {places}; the numbers are those of the first)")
    warned = line.removeprefix("warning: ")
    assert json.loads(said.out)["warnings"] == [warned]
    assert netlull.SweepResult.load(store).warnings == (warned,)
    html = (store / "report.html").read_text(encoding="utf-8")
    assert f"<p>{warned}.</p>" in html
    # A resumed sweep, and one from Python, warn again.
    with pytest.warns(netlull.NetlullWarning, match=r"2 of 3 points") as told:
        again = netlull.Sweep.from_file(file).run(store)
    assert (len(told), again.warnings, again.rebuilt) == (1, (warned,), ())
    # A comparison of its points warns as well.
    assert main(["compare", str(store), "--by", "offered=1 Mb/s,11 Mb/s"]) == 0
    assert capsys.readouterr().err == f"{line}\n"


def test_compared_scenarios_are_warned_of_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shipped()["web-load"].read_text().replace('"8 Mb/s"', '"12 Mb/s"')
    busy, calm = tmp_path / "busy.toml", tmp_path / "calm.toml"
    busy.write_text(re.sub(r'duration = "[^"]*"', 'duration = "11 s"', text))
    calm.write_text(busy.read_text().replace('"12 Mb/s"', '"1 Mb/s"'))
    metric = "flow.web.requests_completed"
    assert main(["compare", str(busy), str(calm), "--seeds", "2", "--metric", metric]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("warning: busy.toml: link.N1-N2: requests offer 12.000 Mb/s")
