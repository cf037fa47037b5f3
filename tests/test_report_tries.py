"""The points of a report's figures that open in the lab."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import hashlib
import itertools
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from netlull import Axis, AxisPoint, Scenario, Sweep
from netlull.papers.grid import Cell, Grid
from netlull.papers.measure import points_read, watch
from netlull.papers.outcome import Evidence
from netlull.report import FigureBlock, Section, render, tries, write
from netlull.report.tries import Try, offer, spread
from test_report import SVG, checked, page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netlull.report import Page
    from netlull.sweep import Point

LAB = b"<!doctype html><title>lab</title>"


def with_figures(*figures: Sequence[Try]) -> Page:
    """A page with a figure for each list of points."""
    blocks = [FigureBlock(f"f{number}", "F", "C", SVG, points=points) for number, points in enumerate(figures)]
    return dataclasses.replace(page(), sections=[Section("figures", "Figures", figures=blocks)])


def unpacked(packed: str) -> list[str]:
    texts: list[str] = json.loads(gzip.decompress(base64.b64decode(packed)))
    return texts


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> None:
    """A laboratory that was built."""
    for module in ("library", "report.page"):
        monkeypatch.setattr(f"netlull.{module}.lab_page", lambda: LAB)


@pytest.fixture
def points(small_file: Path) -> list[Point]:
    axes = [Axis("rate", "link.b-c.rate", ["5 Mb/s", "10 Mb/s"]), Axis("delay", "link.b-c.delay", ["1 ms", "9 ms"])]
    return Sweep(Scenario.from_file(small_file), axes, [3, 1], {"goodput_bps": "flow.tcp.goodput_bps"}).points()


def test_a_page_holds_each_scenario_once() -> None:
    one, two, three = (Try(name, f"x = {name}\n") for name in "123")
    found = offer({"a": [one, two], "b": [two, three]})
    assert unpacked(found.packed) == ["x = 1\n", "x = 2\n", "x = 3\n"]
    assert [found.numbers[point.toml] for point in found.by_figure["b"]] == [1, 2]


@pytest.mark.parametrize(("most", "expected"), [(9, [0, 1, 2, 3, 4, 5, 6]), (4, [0, 2, 4, 6]), (1, [0]), (0, [])])
def test_points_are_spread_evenly(most: int, expected: list[int]) -> None:
    assert list(spread(range(7), most)) == expected


def noise(number: int) -> str:
    """Text that cannot be compressed to less than half."""
    return "".join(hashlib.sha256(f"{number} {part}".encode()).hexdigest() for part in range(20))


def test_too_many_bytes_leave_fewer_points() -> None:
    few, many = ([Try(str(n), noise(n)) for n in numbers] for numbers in (range(5), range(100)))
    whole = offer({"few": few, "many": many})
    assert len(whole.by_figure["many"]) == 100
    found = offer({"few": few, "many": many}, most_bytes=len(whole.packed) // 3)
    assert len(found.packed) <= len(whole.packed) // 3
    # The figure with few points keeps them.
    assert len(found.by_figure["few"]) == 5
    labels = [int(point.label) for point in found.by_figure["many"]]
    assert 20 < len(labels) < 40
    assert (labels[0], labels[-1]) == (0, 99)
    steps = {b - a for a, b in itertools.pairwise(labels)}
    assert max(steps) - min(steps) <= 1
    assert offer({"few": few}, most_bytes=10).by_figure["few"] == []


@pytest.mark.usefixtures("lab")
def test_a_figure_says_how_many_of_its_points_it_offers() -> None:
    html = render(with_figures([Try(str(number), f"x = {number}\n") for number in range(1001)], [Try("a", "x = 1\n")]))
    assert "<label>Point (200 of 1,001, evenly spread) <select>" in html
    assert "<label>Point <select>" in html
    assert checked(html).open == []


@pytest.mark.usefixtures("lab")
def test_the_lab_is_written_next_to_the_report_once(tmp_path: Path) -> None:
    place = tmp_path / "lab.html"
    one = with_figures([Try("one", "x = 1\n")])
    first = write(one, tmp_path / "report.html").read_bytes()
    assert place.read_bytes() == LAB
    os.utime(place, (1, 1))
    assert write(one, tmp_path / "report.html").read_bytes() == first
    assert place.stat().st_mtime == 1
    place.write_bytes(LAB[:-1] + b"?")
    write(one, tmp_path / "report.html")
    assert place.read_bytes() == LAB
    assert sorted(each.name for each in tmp_path.iterdir()) == ["lab.html", "report.html"]


@pytest.mark.usefixtures("lab")
def test_a_report_without_points_has_no_lab(tmp_path: Path) -> None:
    html = write(with_figures([]), tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'class="try"' not in html
    assert 'id="tries"' not in html
    assert not (tmp_path / "lab.html").exists()


def test_without_the_lab_a_report_has_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("library", "report.page"):
        monkeypatch.setattr(f"netlull.{module}.lab_page", lambda: None)
    html = write(with_figures([Try("one", "x = 1\n")]), tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'class="try"' not in html
    assert 'id="tries"' not in html
    assert not (tmp_path / "lab.html").exists()


def test_a_point_is_its_scenario_with_its_first_seed(points: list[Point]) -> None:
    found = tries(points, {})
    assert [each.label for each in found] == [
        f"rate={rate} Mb/s, delay={delay} ms" for rate, delay in ((5, 1), (5, 9), (10, 1), (10, 9))
    ]
    for point, each in zip(points, found, strict=True):
        assert Scenario.from_toml(each.toml) == Scenario.from_dict({**point.scenario.to_dict(), "seed": 3})


def test_labels_name_what_differs_with_units(points: list[Point]) -> None:
    place = {"rtt": AxisPoint(50.0), "who": AxisPoint("all"), "load": AxisPoint(70.0, "7/10"), "n": AxisPoint(2)}
    one = dataclasses.replace(points[0], at=place)
    (alone,) = tries([one], {"rtt": "ms", "who": "ms", "load": "%", "n": None})
    assert alone.label == "rtt=50 ms, who=all, load=7/10, n=2"
    both = tries([one, dataclasses.replace(points[1], experiment="other", at={})], {"rtt": "ms"})
    assert [each.label for each in both] == ["sweep at rtt=50 ms, who=all, load=7/10, n=2", "other"]


def test_points_with_a_plug_in_are_left_out(points: list[Point]) -> None:
    document: dict[str, Any] = points[0].scenario.to_dict()
    document["link"][1]["controller"] = {"kind": "python", "class": "plugin_classes:Steps"}
    assert tries([dataclasses.replace(points[0], scenario=Scenario.from_dict(document))], {}) == []


def test_each_drawing_has_the_points_that_it_looked_up(points: list[Point]) -> None:
    sweep = Sweep(points[0].scenario, [Axis("rate", "link.b-c.rate", ["5 Mb/s", "10 Mb/s"])], 1, {"n": "packet_hops"})
    grid = Grid(sweep.run().table, ["rate"])
    slow, fast = (Cell.of("sweep", rate=rate) for rate in grid.labels("sweep", "rate"))
    at = dict(zip((slow, fast), sweep.points(), strict=True))
    recorded = {"slow": at[slow].scenario.run(), "fast": at[fast].scenario.run()}
    evidence = watch(
        Evidence(None, grid, recorded, points=at, recorded={"slow": (slow, 7), "fast": (fast, 1)})  # type: ignore[arg-type]
    )
    evidence.grid.interval(fast, "n")
    assert points_read(evidence) == [at[fast]]
    evidence.grid.difference(fast, slow, "n")
    assert points_read(evidence) == [at[fast], at[slow]]
    assert evidence.series["slow"].summary
    assert points_read(evidence) == [dataclasses.replace(at[slow], seeds=(7,))]
    assert points_read(evidence) == []
