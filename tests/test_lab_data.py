"""The data that the lab bundles, and the scenarios that its scenes make from them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from typing import Any

import numpy as np
import pytest

from conftest import ROOT
from netlull import Scenario
from netlull.papers import folder_of

sys.path.insert(0, str(ROOT / "tools"))

import lab_data
import lab_fluid

WEB = ROOT / "web"
Presets = dict[str, dict[str, dict[str, Any]]]


@pytest.mark.parametrize(
    ("round_trip_s", "delay_s", "multiple"), [(0.02, 0.016, 0.8), (0.1, 0.08, 2.0), (0.04, 0.002, 1.3)]
)
def test_the_queues_of_the_plane_are_those_of_the_model(round_trip_s: float, delay_s: float, multiple: float) -> None:
    pytest.importorskip("jitcdde")
    model = lab_fluid.Case("ns2", 30, round_trip_s, 50, delay_s).fluid
    model = model.with_beta(multiple * model.critical_beta_bps())
    expected = model.solve(1.0, step_s=0.01).queue_bytes[1:]
    found = lab_fluid.Plane([model]).queues(1.0, 0.01)[:, 0]
    # The page has tenths of a packet of 1000 B; the queue moves by more than 6000 B in each case.
    assert np.abs(found - expected).max() < 250
    assert np.ptp(expected) > 6000


def test_the_stored_data_are_what_the_command_writes() -> None:
    stored = json.loads(lab_data.DATA.read_text(encoding="utf-8"))
    fluid = stored.pop("FLUID")
    assert stored == json.loads(json.dumps(lab_data.listed())), "run `make generate`"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lab_fluid, "SOLVED_S", lab_fluid.SHOWN_STEP_S)
        patch.setattr(lab_fluid, "SHOWN_S", lab_fluid.SHOWN_STEP_S)
        short = json.loads(json.dumps(lab_fluid.fluid()))
    # The queues take half a minute; the test above has their equations.
    for position in ("near", "far"):
        short[position].pop("queue_tenths")
        fluid[position].pop("queue_tenths")
    assert fluid == short | {"shown_s": lab_fluid.SHOWN_S}, "run `make generate`"


def test_places_are_shares_of_the_map() -> None:
    backbone = lab_data.backbone()
    places = lab_data.places(backbone)
    assert set(places) == set(backbone["nodes"])
    assert {min(values) for values in zip(*places.values(), strict=True)} == {0.0}
    assert {max(values) for values in zip(*places.values(), strict=True)} == {1.0}
    # Seattle lies in the north-west, Houston in the south.
    assert places["STTLng"] == [0.0, 0.0]
    assert places["HSTNng"][1] == 1.0


@pytest.fixture(scope="module")
def presets() -> Presets:
    """The scenarios of all presets."""
    node = shutil.which("node")
    if node is None or not (WEB / "node_modules" / "esbuild").exists():
        pytest.skip("needs node and the packages of web/ (npm ci --prefix web)")
    done = subprocess.run(
        [node, str(WEB / "lab" / "tests" / "presets.mjs"), str(lab_data.DATA)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: Presets = json.loads(done.stdout)
    return found


@pytest.mark.filterwarnings("ignore::netlull.NetlullWarning")  # some presets show settings that harm
def test_every_preset_runs(presets: Presets) -> None:
    assert list(presets) == ["one-flow", "duel", "web-load", "eee", "doze", "backbone", "fluid"]
    for scene, by_name in presets.items():
        for preset, scenarios in by_name.items():
            for document in scenarios.values():
                assert Scenario.from_dict(document).run().summary["packet_hops"] > 0, (scene, preset)


def test_the_packets_next_to_the_fluid_are_those_of_the_comparison(presets: Presets) -> None:
    for preset, case, beta in (
        ("Below the bound", lab_fluid.Case("ns2", 30, 0.1, 50, 0.08), 4e6),
        ("The same next to the senders", lab_fluid.Case("ns2", 30, 0.1, 50, 0.002), 8e6),
    ):
        own = Scenario.from_dict(presets["fluid"][preset]["own"]).to_dict()
        expected = case.scenario(beta, 30).to_dict()
        different = {key for key in own.keys() | expected.keys() if own.get(key) != expected.get(key)}
        # The probe records one flow; neither it nor a name changes a run.
        assert different <= {"name", "description", "probe", "seed"}


def paper(key: str) -> dict[str, Any]:
    """A paper's scenario, written out."""
    return Scenario.from_file(folder_of(key) / "scenario.toml").to_dict()


def named(entries: list[dict[str, Any]], **values: Any) -> dict[str, Any]:
    """The entry with these values."""
    return next(each for each in entries if values.items() <= each.items())


@pytest.mark.parametrize(
    ("scene", "preset", "readings"),
    [
        ("web-load", "The paper's 7 s", {"tick": "16 ms"}),
        ("one-flow", "One flow, no bursts", {"min_interval": "1000 ms"}),
    ],
)
def test_claims_of_practra_are_judged_in_the_papers_scenario(
    presets: Presets, scene: str, preset: str, readings: dict[str, str]
) -> None:
    """Other values are those of the sweep's point, and readings."""
    theirs = paper({"web-load": lab_data.CLAIMS["I6"], "one-flow": lab_data.CLAIMS["T2"]}[scene])
    own = Scenario.from_dict(presets[scene][preset]["own"]).to_dict()
    for key in ("tcp", "duration", "warm_up"):
        assert own.get(key) == theirs.get(key), key
    ours, printed = (named(each["link"], **{"from": "N1", "to": "N2"}) for each in (own, theirs))
    assert ours["rate"] == printed["rate"]
    # A default that one of the two names is the same in both.
    assert own_controller(ours) == own_controller(printed) | readings
    kept = presets[scene][preset]["plain"]
    assert "controller" not in named(kept["link"], **{"from": "N1", "to": "N2"})


def own_controller(link: dict[str, Any]) -> dict[str, Any]:
    """A link's controller without fields at their defaults."""
    defaults = {"forecast_weight": 0.25, "arrivals": "offered", "queue": "waiting", "in_service": "finish_then_pause"}
    return {key: value for key, value in link["controller"].items() if defaults.get(key) != value}


def test_the_claim_on_psm_is_judged_with_the_papers_mechanisms(presets: Presets) -> None:
    runs = presets["doze"]["A clock of 1 ms"]
    sweep = tomllib.loads((folder_of(lab_data.CLAIMS["C7"]) / "sweep.toml").read_text(encoding="utf-8"))
    way = named(sweep["axis"], name="way")["point"]
    ideal = named(way, value="PSM, ideal")["set"]
    psm = runs["ideal_psm"]["station"][0]
    assert psm["wake_time"] == ideal["station.laptop.wake_time"]
    assert {"beacon_period": "100 ms"} | psm["mechanism"]["access_point"] == (
        ideal["station.laptop.mechanism"]["access_point"]
    )
    theirs = paper(lab_data.CLAIMS["C7"])
    coarse = presets["doze"]["The paper's path"]["own"]
    assert coarse["tcp"] == theirs["tcp"] | {"timestamps": True, "receive_buffer": "32 KiB"}
    # The clock is all that changes: the other options are the preset's, written out.
    assert runs["own"]["tcp"] == lab_data.fine_clock() | {"receive_buffer": "32 KiB"}
    assert runs["own"]["station"][0]["mechanism"] == {"kind": "client_shaper", "margin": "3 ms"}
    assert runs["own"]["link"] == coarse["link"]


def test_presets_without_a_claim_have_no_run_for_one(presets: Presets) -> None:
    assert set(presets["doze"]["A site with a large window"]) == {"own", "awake"}
    assert set(presets["doze"]["The paper's path"]) == {"own", "awake", "ideal_psm"}
