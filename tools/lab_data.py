#!/usr/bin/env python3
"""Writes the data that the lab bundles, web/lab/data.json; `make generate` calls it.

- SHIPPED: name -> TOML text of a scenario; NETWORKS: name -> TOML text of a network.
- BACKBONE: the scenario `abilene` with its links, and `places`: node -> [x, y], 0 to 1 from left and top.
- FLUID: the fluid model of AWM over beta and the round trip, and the scenario of its packets (lab_fluid.py).
- TCPS: the congestion controls: name, title of the page of the documentation, usual `ecn`.
- QUEUES: the kinds of queue management: name, description.
- PAGES: the address of the documentation's pages in Markdown.
- CLAIMS: the claims that scenes judge: `paper`, `statement` and `tolerance` of the paper's claims.toml.
- FINE_CLOCK: the TCP options of client-centered-2004's sender with a timestamp clock of 1 ms, from its readings.toml.
- EXERCISES: the exercises of docs/teaching: `scene`, `title`, and the HTML of `questions` and `answers`.
"""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from pathlib import Path
from typing import Any

from lab_fluid import fluid
from markdown_it import MarkdownIt

from netlull import Scenario, _engine
from netlull.papers import Paper, folder_of, load
from netlull.topology.find import shipped

ROOT = Path(__file__).resolve().parents[1]
SCENARIOS = ROOT / "python" / "netlull" / "shipped" / "scenarios"
DATA = ROOT / "web" / "lab" / "data.json"
TEACHING = "docs/teaching"
CLAIMS = {"T2": "troubled-marriage-2016", "I6": "intertwining-2012", "C7": "client-centered-2004"}
"""The claims that scenes judge, with the keys of their papers."""


def scenarios() -> dict[str, str]:
    """The texts of the shipped scenarios by name."""
    found: dict[str, str] = {}
    for path in sorted(SCENARIOS.glob("*.toml")):
        Scenario.from_file(path)  # it is valid
        found[path.stem] = path.read_text(encoding="utf-8")
    return found


def backbone() -> dict[str, Any]:
    """The scenario `abilene` with the links of its topology."""
    document: dict[str, Any] = json.loads(Scenario.from_file(SCENARIOS / "abilene.toml").checked.spelled_out())
    return document


def places(document: dict[str, Any]) -> dict[str, list[float]]:
    """The nodes' positions, longitudes and latitudes, as shares of the map's width and height."""
    position: dict[str, tuple[float, float]] = document["position"]
    xs, ys = zip(*position.values(), strict=True)

    def share(value: float, low: float, high: float) -> float:
        return round((value - low) / (high - low), 4)

    return {name: [share(x, min(xs), max(xs)), share(-y, -max(ys), -min(ys))] for name, (x, y) in position.items()}


def title(page: str) -> str:
    """The heading of a page of the documentation."""
    return (ROOT / page).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def tcps() -> list[dict[str, str]]:
    """The congestion controls in the order of the core's catalogue."""
    listed = _engine.catalogue()["tcp"]
    return [{"name": each["name"], "title": title(each["page"]), "ecn": each["defaults"]["ecn"]} for each in listed]


def queues() -> list[dict[str, str]]:
    """The kinds of queue management, as in `QueueDocument` of the JSON Schema."""
    return [{"name": each["name"], "description": each["description"]} for each in _engine.catalogue()["queues"]]


def pages() -> str:
    """The address below which a page of docs/ has its path."""
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    return f"{cargo['workspace']['package']['repository']}/blob/main/docs/"


def paper(key: str) -> Paper:
    """A paper by its key."""
    return load(folder_of(key))


def claims() -> dict[str, dict[str, Any]]:
    """The claims that scenes judge."""
    found = {}
    for name, key in CLAIMS.items():
        claim = next(each for each in paper(key).claims if each.id == name)
        found[name] = {"paper": key, "statement": claim.statement, "tolerance": dict(claim.tolerance)}
    return found


def fine_clock() -> dict[str, Any]:
    """The TCP options of the reading `clock` with 1 ms."""
    theirs = paper(CLAIMS["C7"])
    reading = next(each for each in theirs.readings if each.id == "clock")
    change = next(each for each in reading.alternatives if each.name == "ms")
    changes = dict(change.set) | dict.fromkeys(change.unset)
    fine = Scenario.from_file(theirs.info.folder / "scenario.toml").with_values(changes).to_dict()["tcp"]
    options: dict[str, Any] = {name.removeprefix("tcp."): value for name, value in change.set.items()} | fine
    return options


def exercises() -> list[dict[str, str]]:
    """The exercises. Their links into the lab are fragments; links to other pages are `page:` and the path in docs/."""

    def page(match: re.Match[str]) -> str:
        return f'href="page:{posixpath.normpath(f"teaching/{match[1]}")}"'

    found = []
    for path in sorted((ROOT / TEACHING).glob("*.md")):
        heading, _, text = path.read_text(encoding="utf-8").partition("\n")
        if not heading.startswith("# Exercise "):
            continue
        html = MarkdownIt("commonmark").enable("table").render(text)
        html = re.sub(r'href="[^"#]*lab/index\.html#', 'href="#', html)
        html = re.sub(r'href="([^":#]+)\.md"', page, html)
        questions, _, answers = html.partition("<h2>Answers</h2>\n")
        scene = re.findall(r'href="#scene=([a-z-]+)', questions)[0]
        found.append({"scene": scene, "title": heading.removeprefix("# "), "questions": questions, "answers": answers})
    return found


def listed() -> dict[str, Any]:
    """The data without the fluid model, whose integration takes half a minute."""
    scenario = backbone()
    return {
        "SHIPPED": scenarios(),
        "NETWORKS": {name: path.read_text(encoding="utf-8") for name, path in shipped().items()},
        "BACKBONE": {"scenario": scenario, "places": places(scenario)},
        "TCPS": tcps(),
        "QUEUES": queues(),
        "PAGES": pages(),
        "CLAIMS": claims(),
        "FINE_CLOCK": fine_clock(),
        "EXERCISES": exercises(),
    }


def main() -> None:
    """Writes the file, a line for each name."""
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in {**listed(), "FLUID": fluid()}.items())
    DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
