"""The laboratory in the browser: its module's results equal those of this build, and its page works."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import netlull
from conftest import ROOT
from netlull import InputError, Scenario, ScenarioError
from netlull.documents.tomltext import toml_document
from netlull.library import shipped
from netlull.papers import folder_of, load
from netlull.topology.find import shipped as networks_of_netlull

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

sys.path.insert(0, str(ROOT / "tools"))

import lab_data
from mutations import Schema, at, mutated, places

PAGE = ROOT / "out" / "lab" / "index.html"
MODULE = (
    Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    / "wasm32-unknown-unknown" / "web" / "netlull_web.wasm"
)  # fmt: skip
NODE = shutil.which("node")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
RANDOM = 200
MOST_HOPS = 200_000

needs_lab = pytest.mark.skipif(
    NODE is None or not MODULE.is_file() or not PAGE.is_file(),
    reason="no lab here: make lab needs npm and the target wasm32",
)


def digest(tables: dict[str, dict[str, Any]]) -> str:
    """The digest of web/lab/tests/summaries.mjs: counts as floats, flags as bytes."""
    hashed = hashlib.sha256()
    for table in sorted(tables):
        for column in sorted(tables[table]):
            hashed.update(f"{table}.{column}\n".encode())
            values = tables[table][column]
            if values.dtype.kind == "U":
                hashed.update("\n".join(values.tolist()).encode())
            else:
                hashed.update(values.astype(np.float64 if values.dtype == np.uint64 else values.dtype).tobytes())
    return hashed.hexdigest()


def native(scenario: Scenario) -> dict[str, str]:
    """The result of this build, in the form of web/lab/tests/summaries.mjs."""
    try:
        raw = scenario.checked.run()
    except ScenarioError as error:
        return {"error": str(error)}
    return {"summary": raw.summary(), "digest": digest({name: raw.table(name) for name in raw.tables()})}


def in_node(scenarios: list[Scenario], folder: Path) -> list[dict[str, str]]:
    """The results of the module."""
    return answered([{"scenario": json.loads(scenario.canonical())} for scenario in scenarios], folder)


def answered(requests: list[dict[str, Any]], folder: Path) -> list[dict[str, str]]:
    """The answers of the module to requests (crates/web/src/session.rs)."""
    assert NODE
    file = folder / "scenarios.json"
    file.write_text(json.dumps(requests), encoding="utf-8")
    ended = subprocess.run(
        [NODE, ROOT / "web/lab/tests/summaries.mjs", MODULE, file], capture_output=True, text=True, check=True
    )
    results: list[dict[str, str]] = json.loads(ended.stdout)
    return results


def random_scenarios(seed: int) -> Iterator[Scenario]:
    """Valid scenarios with random changes of the shipped ones, by the schema."""
    rng = random.Random(seed)  # noqa: S311  # reproducible
    schema = Schema(netlull.schema())
    documents = [Scenario.from_file(path).to_dict() for path in shipped().values()]
    pool = [at(document, path) for document in documents for path in places(document) if path]
    while True:
        try:
            document = mutated(rng.choice(documents), rng, schema, pool)
            document |= {"duration": f"{rng.uniform(0.5, 8):.3f} s", "warm_up": "0 s"}
            scenario = Scenario.from_dict(document)
        except (InputError, ScenarioError):
            continue
        if scenario.checked.expected_hops() < MOST_HOPS and not scenario.checked.calls_python:
            yield scenario


@needs_lab
def test_ready_scenarios_have_the_same_bytes(tmp_path: Path) -> None:
    scenarios = [Scenario.from_file(path) for path in shipped().values()]
    assert in_node(scenarios, tmp_path) == [native(scenario) for scenario in scenarios]


@needs_lab
def test_texts_are_read_alike_with_their_networks(tmp_path: Path) -> None:
    networks = {name: path.read_text(encoding="utf-8") for name, path in networks_of_netlull().items()}
    texts = {name: path.read_text(encoding="utf-8") for name, path in shipped().items()}
    assert any("[topology]" in text for text in texts.values())
    wanted = [native(Scenario.from_toml(text)) for text in texts.values()]
    assert answered([{"toml": text, "networks": networks} for text in texts.values()], tmp_path) == wanted


@needs_lab
def test_random_scenarios_have_the_same_bytes(tmp_path: Path) -> None:
    found = random_scenarios(1)
    scenarios = [next(found) for _ in range(RANDOM)]
    theirs, ours = in_node(scenarios, tmp_path), [native(scenario) for scenario in scenarios]
    for scenario, their, our in zip(scenarios, theirs, ours, strict=True):
        assert their == our, scenario.canonical()
    assert sum("summary" in our for our in ours) > RANDOM * 0.9
    assert len({our.get("summary") for our in ours}) > RANDOM * 0.5


def first_number(figure: str) -> float:
    """The number of a figure with its unit."""
    return float(figure.split(maxsplit=1)[0])


T2 = "#scene=one-flow&rtt=100&ns2=true&bursts=false"
I6 = "#scene=web-load&load=0.8&mrci=16&law=campus&mean=6.5&ns2=true"


@needs_lab
def test_verdicts_of_the_lab_follow_the_rules_of_the_papers(tmp_path: Path) -> None:
    """The rules of `netlull reproduce` on the rounded figures of single runs, far from the bounds."""
    t2 = [f"{T2}&buffer=33&mrci={mrci}&tick={tick}" for mrci in (10, 1000) for tick in ("every", "mrci")]
    i6 = [f"{I6}{readings}" for readings in ("", "&rtt=36&counted=true&tick=mrci", "&buffer=0.5")]
    fragments = tmp_path / "fragments.json"
    fragments.write_text(json.dumps([*t2, *i6]), encoding="utf-8")
    assert NODE
    command = [NODE, ROOT / "web/lab/tests/figures.mjs", MODULE, ROOT / "web/lab/data.json", fragments]
    shown = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    bounds = {claim.id: claim.tolerance for key in lab_data.CLAIMS.values() for claim in load(folder_of(key)).claims}
    verdicts = []
    for figures in shown:
        if "T2" in figures:
            lower, bound = 1 - first_number(figures["Mean rate"]) / 10, bounds["T2"]
            parts = [bound["low"] - bound["slack"] <= lower <= bound["high"] + bound["slack"]]
        else:
            bound = bounds["I6"]
            parts = [
                first_number(figures["Mean of completion times"]) / 1000 >= bound["control_min_s"],
                first_number(figures["Mean, compared with always-on"]) >= bound["ratio_min"],
            ]
        verdicts.append("holds" if all(parts) else "holds partly" if any(parts) else "fails")
    assert [figures.get("T2", figures.get("I6")) for figures in shown] == verdicts
    assert set(verdicts) == {"holds", "holds partly", "fails"}


@needs_lab
@pytest.mark.skipif(BROWSER is None, reason="no chromium here")
def test_the_page_works(tmp_path: Path) -> None:
    """The user-interface tests, web/lab/tests/*.test.mjs."""
    assert NODE
    assert BROWSER
    file = tmp_path / "scenarios.json"
    texts = {name: Scenario.from_file(path) for name, path in shipped().items()}
    file.write_text(
        json.dumps({name: native(scenario).get("summary") for name, scenario in texts.items()}), encoding="utf-8"
    )
    ended = subprocess.run(
        [NODE, "--test", "--test-reporter=spec", *sorted(map(str, (ROOT / "web/lab/tests").glob("*.test.mjs")))],
        env=os.environ | {"LAB": PAGE.as_uri(), "BROWSER": BROWSER, "SUMMARIES": str(file)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    # Tests that have failed stand again after all others, and an error outside of all tests before them.
    before, _, failed = ended.stdout.partition("failing tests:")
    assert ended.returncode == 0, f"{failed}\n{before[-3000:]}\n{ended.stderr}"


def test_a_scenario_becomes_toml_that_needs_no_file() -> None:
    scenario = Scenario.from_file(shipped()["abilene"])
    text = scenario.to_toml(seed=7)
    again = Scenario.from_toml(text, folder=Path("/"))
    assert "topology" not in again.to_dict()
    assert json.loads(again.canonical()) == json.loads(scenario.canonical()) | {"seed": 7}


def test_the_command_prints_an_address_that_opens_the_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]
) -> None:
    monkeypatch.setattr("netlull.library.lab_page", lambda: b"<!doctype html>")
    page = tmp_path / "page.html"
    address = printed("lab", "dumbbell", "--set", "duration=3 s", "--out", page).strip()
    path, _, packed = address.partition("#scene=free&toml=")
    assert path == page.as_uri()
    text = zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -zlib.MAX_WBITS).decode()
    assert Scenario.from_toml(text).to_dict()["duration"] == "3 s"
    assert printed("lab", "--out", page).strip() == page.as_uri()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "duration=3 s"], "--set and --seed"),
        (["nothing-here"], "nothing-here"),
        (["dumbbell"], "the lab was not built; `make lab` in the sources builds it"),
    ],
)
def test_errors_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str], arguments: list[str], message: str
) -> None:
    monkeypatch.setattr("netlull.library.lab_page", lambda: None)
    assert message in refused("lab", *arguments, "--out", tmp_path / "page.html")
    assert "ends in .html" in refused("lab", "--out", tmp_path / "precious.toml")
    assert list(tmp_path.iterdir()) == []


@needs_lab
def test_a_page_for_a_class_has_no_answers(tmp_path: Path, printed: Callable[..., str]) -> None:
    page = tmp_path / "page.html"
    answers = {}
    for options in ([], ["--no-answers"]):
        printed("lab", *options, "--out", page)
        found = re.findall(r'<script type="application/json" id="answers">(.*?)</script>', page.read_text("utf-8"))
        answers[bool(options)] = json.loads(found[0])
    assert len(answers[False]) == 5
    assert answers[True] == {}
    sentences = [re.findall(r"<p>([^<&]{40,})", text)[0] for text in answers[False].values()]
    assert [sentence for sentence in sentences if sentence in page.read_text("utf-8")] == []


def test_make_lab_puts_the_page_where_the_command_finds_it() -> None:
    rules = subprocess.run(
        ["make", "--dry-run", "--always-make", "lab"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "cp out/lab/index.html python/netlull/report/shipped/lab.html" in rules.stdout


def test_parts_in_python_do_not_run_in_the_lab(tmp_path: Path, refused: Callable[..., str]) -> None:
    document = Scenario.from_file(shipped()["practra-link"]).to_dict()
    assert not Scenario.from_dict(document).has_plug_ins
    document["link"][1]["controller"] = {"kind": "python", "class": "plugin_classes:Steps"}
    assert Scenario.from_dict(document, allow_code=True).has_plug_ins
    file = tmp_path / "mine.toml"
    file.write_text(toml_document(document), encoding="utf-8")
    assert "part in Python" in refused("lab", file, "--out", tmp_path / "page.html")


def test_the_lab_links_to_pages_that_exist() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "web/lab/src/scenes").glob("*.tsx")]
    data = json.loads((ROOT / "web/lab/data.json").read_text("utf-8"))
    exercises = [exercise[part] for exercise in data["EXERCISES"] for part in ("questions", "answers")]
    paths = {path for text in sources for path in re.findall(r'path: "([^"]*)"', text)}
    paths |= {path for text in exercises for path in re.findall(r'href="page:([^"#]*)', text)}
    assert len(paths) > 10
    assert [path for path in sorted(paths) if not (ROOT / "docs" / f"{path}.md").is_file()] == []
    links = {link for text in exercises for link in re.findall(r'href="([^"]*)"', text)}
    assert all(link.startswith(("#scene=", "page:")) for link in links)


def test_pages_link_to_scenes_that_exist() -> None:
    sources = (ROOT / "web/lab/src/scenes").glob("*.tsx")
    scenes = {name for path in sources for name in re.findall(r'^  id: "([a-z-]+)",$', path.read_text(), re.MULTILINE)}
    texts = [path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md")]
    linked = {name for text in texts for name in re.findall(r"#scene=([a-z-]+)", text)}
    assert len(scenes) == 7
    assert linked == scenes
