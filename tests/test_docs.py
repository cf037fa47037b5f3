"""The how-to pages work as they are printed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT
from netlull import Result, Scenario, Sweep

HOW_TO = ROOT / "docs" / "how-to"


def _blocks(page: str, language: str) -> list[str]:
    text = (HOW_TO / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


@pytest.fixture
def scenario_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`scenario.toml` in the working folder, as the pages on sweeps have it."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "scenarios" / "practra-link.toml").read_text(encoding="utf-8")
    path = tmp_path / "scenario.toml"
    path.write_text(text.replace('duration = "300 s"', 'duration = "2 s"'), encoding="utf-8")
    return path


@pytest.mark.usefixtures("scenario_file")
def test_the_python_page_runs() -> None:
    names: dict[str, object] = {}
    for block in _blocks("python.md", "python"):
        exec(compile(block, "python.md", "exec"), names)  # noqa: S102  # our own page
    assert Result.load("out/my-run").summary["seed"] == 7


@pytest.mark.usefixtures("scenario_file")
def test_the_sweep_page_runs() -> None:
    for block in _blocks("sweep.md", "python"):
        names: dict[str, object] = {}
        exec(compile(block, "sweep.md", "exec"), names)  # noqa: S102  # our own page
    assert Path("out/my-sweep/results.parquet").exists()


def test_the_sweep_pages_file_is_a_sweep(scenario_file: Path) -> None:
    path = scenario_file.with_name("sweep.toml")
    grid, experiment = _blocks("sweep.md", "toml")
    path.write_text(grid, encoding="utf-8")
    assert len(Sweep.from_file(path).points()) == 3 * 2
    path.write_text(grid + experiment, encoding="utf-8")
    (point,) = Sweep.from_file(path).points()
    assert (point.experiment, point.seeds, point.values) == ("reference", (1,), {"rtt": 10.0})


def test_the_scenario_pages_examples_are_scenarios() -> None:
    whole, controlled, managed, lossy, probe = _blocks("scenario.md", "toml")
    scenario = Scenario.from_toml(whole.replace('duration = "60 s"', 'duration = "6 s"'))
    changed = scenario.to_dict() | tomllib.loads(probe)
    assert "link" in Scenario.from_dict(changed).run().series_names
    # The second block replaces the second link of the first one's network.
    links = [scenario.to_dict()["link"][0], *tomllib.loads(controlled)["link"]]
    assert Scenario.from_dict(scenario.to_dict() | {"link": links}).run().link("router-receiver")["rate_changes"] > 0
    # So does the third one.
    links = [scenario.to_dict()["link"][0], *tomllib.loads(managed)["link"]]
    assert Scenario.from_dict(scenario.to_dict() | {"link": links}).run().link("router-receiver")["queue"] == "red"
    # The fourth one replaces the first link; its losses fall into the warm-up.
    links = [*tomllib.loads(lossy)["link"], scenario.to_dict()["link"][1]]
    run = Scenario.from_dict(scenario.to_dict() | {"link": links, "warm_up": "0 s"}).run()
    assert run.link("sender-router")["lost_packets"] == 3
