"""The benchmark of controllers: its rules by hand, its definition, submissions, seeds, and controllers that fail."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from netlull import InputError, benchmark
from netlull.benchmark import CellRows, Definition, Record, Standing, Submission, judged, standing
from test_plugin import built

DEFINITION = Definition.load()


def cell(
    energy: float = 0.5,
    growth: float = 1.0,
    goodput: float = 1.0,
    *,
    spread: float = 0.0,
    name: str = "c",
    **fields: Any,
) -> CellRows:
    """Two seeds whose p95 over always-on's is growth -+ spread; always on has p95 1 s and goodput 10 b/s."""
    given: dict[str, Any] = {
        "energy": [energy, energy],
        "goodput_bps": ([10 * goodput, 10 * goodput], [10.0, 10.0]),
        "p95_s": {"web": ([growth - spread, growth + spread], [1.0, 1.0])},
        "rate_changes": [3, 3],
        "optimum": [[0.4], [0.3], [0.2]],
        "against_optimum": [energy],
    }
    return CellRows(name, **(given | fields))


# ---- the rules


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (cell(growth=1.0), ["kept", "kept", "kept"]),
        (cell(growth=1.1), ["broken", "kept", "kept"]),
        (cell(growth=1.3), ["broken", "broken", "kept"]),
        (cell(growth=1.6), ["broken", "broken", "broken"]),
        (cell(goodput=0.96), ["kept", "kept", "kept"]),
        (cell(goodput=0.9), ["broken", "kept", "kept"]),
        (cell(goodput=0.4), ["broken", "broken", "broken"]),
        # Student's t of one degree is 12.7: the interval is 12.7 spreads wide on each side.
        (cell(growth=1.0, spread=0.01), ["undecided", "kept", "kept"]),
        (cell(growth=1.1, spread=0.01), ["undecided", "undecided", "kept"]),
    ],
)
def test_a_cell_is_kept_broken_or_undecided(rows: CellRows, expected: list[str]) -> None:
    assert [standing(rows, limit).standing.value for limit in DEFINITION.leagues] == expected


def test_an_undecided_cell_counts_by_its_mean() -> None:
    within, beyond = cell(growth=1.04, spread=0.01), cell(growth=1.06, spread=0.01)
    assert [standing(rows, 0.05).standing for rows in (within, beyond)] == [Standing.UNDECIDED] * 2
    assert [standing(rows, 0.05).counts for rows in (within, beyond)] == [True, False]


def test_one_seed_decides_nothing() -> None:
    rows = cell(goodput_bps=([10.0], [10.0]), p95_s={})
    assert standing(rows, 0.05).standing is Standing.UNDECIDED


def test_a_cell_without_a_completed_transfer_is_broken() -> None:
    assert standing(cell(p95_s={"web": ([None, 1.0], [1.0, 1.0])}), 0.5).standing is Standing.BROKEN


def test_the_worst_flow_decides() -> None:
    rows = cell(p95_s={"near": ([1.0, 1.0], [1.0, 1.0]), "far": ([1.3, 1.3], [1.0, 1.0])})
    assert standing(rows, 0.2).standing is Standing.BROKEN
    assert rows.slowdown == pytest.approx(1.3)


def test_the_score_is_the_mean_of_the_cells_and_a_broken_one_counts_as_always_on() -> None:
    cells = [cell(0.2), cell(0.4, growth=1.3), cell(0.6, growth=1.04, spread=0.01)]
    strict, middle, _ = judged(cells, DEFINITION.leagues)
    # 5 %: 0.2, 1 and 0.6 by its mean; 20 %: the same, as 1.3 is beyond.
    assert strict.energy.mean == pytest.approx((0.2 + 1 + 0.6) / 3)
    assert (strict.kept, strict.undecided, strict.broken) == (1, 1, 1)
    assert (strict.best, strict.worst) == pytest.approx(((0.2 + 1 + 0.6) / 3, (0.2 + 1 + 1) / 3))
    assert middle.energy.mean == pytest.approx((0.2 + 1 + 0.6) / 3)
    # Regret, with optima of 0.4 in each cell: -0.2, 0.6 and 0.2.
    assert strict.optimum == pytest.approx(0.4)
    assert strict.regret == pytest.approx((-0.2 + 0.6 + 0.2) / 3)
    assert middle.regret == pytest.approx((-0.1 + 0.7 + 0.3) / 3)


def test_the_interval_of_the_score_is_over_the_seeds() -> None:
    (strict, *_) = judged([CellRows(**vars(cell()) | {"energy": [0.2, 0.4]}), cell(0.5)], DEFINITION.leagues)
    # Means by seed: 0.35 and 0.45; half of the interval is 12.706 * 0.05.
    assert strict.energy.mean == pytest.approx(0.4)
    assert strict.energy.half_width == pytest.approx(12.706 * 0.05, rel=1e-3)


def test_a_failed_cell_is_broken_and_counts_as_always_on() -> None:
    failed = CellRows("f", [], ([], [10.0, 10.0]), {}, [], [[0.4], [0.3], [0.2]], [], "raises ValueError")
    (strict, *_) = judged([failed, cell(0.5)], DEFINITION.leagues)
    assert (strict.energy.mean, strict.kept, strict.broken) == (pytest.approx(0.75), 1, 1)
    assert strict.regret == pytest.approx((0.6 + 0.1) / 2)
    assert math.isinf(failed.slowdown)


# ---- the definition


def test_the_benchmark_has_the_cells_that_its_page_names() -> None:
    assert len(DEFINITION.cells) == 45
    page = (Path(__file__).parents[1] / "docs" / "how-to" / "benchmark.md").read_text(encoding="utf-8")
    for family in {each.family for each in DEFINITION.cells}:
        count = sum(each.family == family for each in DEFINITION.cells)
        assert f"| {family} | {count} |" in page


@pytest.mark.parametrize("baseline", DEFINITION.baselines, ids=lambda each: each.name)
def test_every_baseline_is_valid_in_every_cell(baseline: benchmark.Baseline) -> None:
    scenarios, failed = benchmark.valid_cells(DEFINITION, Submission.read(baseline.name, DEFINITION), DEFINITION.cells)
    assert not failed
    for each in DEFINITION.cells:
        links = json.loads(scenarios[each.name].canonical())["link"]
        (link,) = (table for table in links if (table["from"], table["to"]) == ("N1", "N2"))
        assert (
            int(link["rate"].split()[0]) * {"M": 1, "G": 1000}[link["rate"].split()[1][0]] * 10**6
            == each.rates.listed()[-1]
        )
        assert ("controller" in link) == (baseline.controller is not None)


def test_the_digest_knows_every_number_of_the_definition(tmp_path: Path) -> None:
    def digest_with(old: str, new: str, name: str = "benchmark.toml") -> str:
        for file in ("benchmark.toml", "link.toml", "baselines.toml"):
            text = (benchmark.SHIPPED / file).read_text(encoding="utf-8")
            assert file != name or old in text
            (tmp_path / file).write_text(text.replace(old, new) if file == name else text, encoding="utf-8")
        return Definition.load(tmp_path).digest

    assert digest_with("# A cell", "# Another comment") == DEFINITION.digest
    others = [
        digest_with("0.05", "0.06"),
        digest_with("300 s", "301 s"),
        digest_with("42 packets", "43 packets", "link.toml"),
    ]
    assert len({DEFINITION.digest, *others}) == 4


def test_a_definition_names_its_errors(tmp_path: Path) -> None:
    for file in ("benchmark.toml", "link.toml", "baselines.toml"):
        text = (benchmark.SHIPPED / file).read_text(encoding="utf-8")
        (tmp_path / file).write_text(text.replace('"web-0.2"', '"web-0.1"'), encoding="utf-8")
    with pytest.raises(InputError, match=r'the cell "web-0\.1" appears twice'):
        Definition.load(tmp_path)
    with pytest.raises(InputError, match=r'cells: "webs" is unknown; did you mean web\?'):
        DEFINITION.chosen(("webs",))


def test_the_optima_are_of_this_definition() -> None:
    assert list(DEFINITION.optima) == [each.name for each in DEFINITION.cells]
    assert all(len(each) == DEFINITION.optimum_seeds for each in DEFINITION.optima.values())
    (writer,) = DEFINITION.chosen(("writer-reno-dvs",))
    (strict, middle, loose), _ = (each.shares for each in DEFINITION.optima["writer-reno-dvs"])
    # 3.1 Mb/s with headers. Cubic power is linear below half the rate: 0.31 / 4 at least.
    assert 0.31 / 4 * 0.99 < loose <= middle <= strict < 0.1
    assert benchmark.optima(DEFINITION, [writer], workers=1)["writer-reno-dvs"] == DEFINITION.optima["writer-reno-dvs"]


def test_optima_of_another_definition_are_not_used(tmp_path: Path) -> None:
    for file in ("benchmark.toml", "link.toml", "baselines.toml", "optima.json"):
        text = (benchmark.SHIPPED / file).read_text(encoding="utf-8")
        (tmp_path / file).write_text(text.replace("seeds = 20", "seeds = 21"), encoding="utf-8")
    changed = Definition.load(tmp_path)
    assert changed.optima == {}
    benchmark.write_optima(tmp_path / "optima.json", changed, DEFINITION.optima)
    assert Definition.load(tmp_path).optima == DEFINITION.optima


# ---- submissions and seeds


def _controller(text: str, name: str = "web-0.1") -> Mapping[str, Any]:
    (chosen,) = DEFINITION.chosen((name,))
    changes = Submission.read(text, DEFINITION).changes(DEFINITION, chosen)
    found: Mapping[str, Any] = changes["link.N1-N2.controller"]
    return found


def test_the_benchmark_sets_the_fields_of_the_link() -> None:
    assert _controller('{ kind = "lull" }', "0.1-ms-1-gb-0.1") == {
        "kind": "lull",
        "rates": {"from": "100 Mb/s", "to": "1 Gb/s", "step": "100 Mb/s"},
        "transition": "0.1 ms",
        "in_service": "finish_then_pause",
        "transition_power": "higher",
    }
    # C-EARTH has no list of rates.
    found = _controller(
        '{"kind": "c_earth", "target": "0.5 buffer", "round_trip": {"kind": "handshake", "initial": "50 ms"}}'
    )
    assert (found["min_rate"], found["granularity"], found["target"]) == ("1 Mb/s", "1 Mb/s", "31500 B")
    assert "rates" not in found


def test_a_controller_outside_the_schema_asks_for_the_fields_of_the_link() -> None:
    assert _controller(
        '{ kind = "other", rates = "cell", transition = "cell", low = "1 lowest", step = "1 step" }'
    ) == {
        "kind": "other",
        "rates": [f"{rate}000000 b/s" for rate in range(1, 11)],
        "transition": "2 ms",
        "low": "1000000 b/s",
        "step": "1000000 b/s",
    }
    assert _controller('{ kind = "other" }') == {"kind": "other"}
    with pytest.raises(InputError, match=r"controller\.in_service"):
        _controller('{ kind = "other", in_service = "suspend" }')


def test_quantities_may_be_in_units_of_the_cell() -> None:
    text = (
        '{ kind = "x", a = "0.5 buffer", b = "5 transition", c = ["0.1 rate", "1 lowest"], d = "5 ms", '
        'e = { f = "2 transition" } }'
    )
    found = _controller(text, "1-ms-100-mb-0.3")
    assert (found["a"], found["b"], found["c"]) == ("312750 B", "5000000 ns", ["10000000 b/s", "10000000 b/s"])
    assert (found["d"], found["e"]) == ("5 ms", {"f": "2000000 ns"})


def test_a_submission_may_be_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('name = "my own"\n[controller]\nkind = "lull"\n', encoding="utf-8")
    found = Submission.read(str(file), DEFINITION)
    assert (found.name, found.controller, found.folder) == ("my own", {"kind": "lull"}, tmp_path)
    file.write_text('kind = "lull"\nslowdown = 0.1\n', encoding="utf-8")
    assert Submission.read(str(file), DEFINITION).name == "mine"
    other = tmp_path / "other.json"
    other.write_text('{"controller": {"kind": "lull"}}', encoding="utf-8")
    assert Submission.read(str(other), DEFINITION).controller == {"kind": "lull"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lul", r"controller: lul: there is no such file; .* did you mean lull\?"),
        ("{ kind = lull }", "is no table"),
        (
            '{ kind = "lull", rates = ["10 Mb/s"] }',
            r"controller.rates: is .*; the benchmark sets it: expected it left out",
        ),
        ('{ kind = "lull", transition = "0 s" }', "controller.transition"),
    ],
)
def test_a_submission_names_its_errors(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        _controller(text)


def submission_digest(text: str) -> str:
    """The digest of a controller in all cells."""
    submission = replace(Submission.read(text, DEFINITION), allow_code=True)
    scenarios, _ = benchmark.valid_cells(DEFINITION, submission, DEFINITION.cells)
    return submission.digest(scenarios, DEFINITION)


def test_ranking_seeds_follow_from_the_submission() -> None:
    plain, other = submission_digest('{ kind = "lull" }'), submission_digest('{ kind = "lull", slowdown = 0.06 }')
    seeds = benchmark.ranking_seeds(DEFINITION, plain)
    assert len(set(seeds)) == DEFINITION.seeds == 20
    assert all(0 <= seed < 2**63 for seed in seeds)
    # A default that is written out is the same controller, and a name changes nothing.
    assert plain == submission_digest('{ kind = "lull", slowdown = 0.05 }') == submission_digest("lull")
    assert not set(seeds) & set(benchmark.ranking_seeds(DEFINITION, other))


def test_the_rule_of_the_seeds_is_the_one_on_the_page() -> None:
    import hashlib

    text = f"netlull benchmark {DEFINITION.version} {DEFINITION.digest} abc 1"
    first = int(hashlib.sha256(text.encode()).hexdigest(), 16) >> (256 - 63)
    assert benchmark.ranking_seeds(DEFINITION, "abc")[0] == first


def test_the_name_of_a_baseline_is_its_own() -> None:
    assert Submission.read('{ kind = "lull" }', DEFINITION).name == "lull"
    assert Submission.read('{ kind = "lull", slowdown = 0.2 }', DEFINITION).name == "my-lull"
    with pytest.raises(InputError, match='name: "earth" is a baseline with another controller'):
        Submission.read('{ kind = "lull" }', DEFINITION, name="earth")


# ---- controllers that fail


def measured_record(folder: Path, text: str, names: tuple[str, ...]) -> Record:
    """The result of a controller in these cells, with two ranking seeds; its runs are below `folder`."""
    submission = replace(Submission.read(text, DEFINITION), allow_code=True)
    digest = submission_digest(text)
    seeds = benchmark.ranking_seeds(DEFINITION, digest)[:2]
    chosen = DEFINITION.chosen(names)
    measured = benchmark.measure(DEFINITION, submission, chosen, seeds, folder / submission.name, workers=1)
    return Record.of(DEFINITION, submission, digest, benchmark.RANKING, seeds, measured)


def test_a_controller_that_is_invalid_in_a_cell_breaks_that_cell(tmp_path: Path) -> None:
    # mRCI must exceed the transition: 5 ms is not above 10 ms.
    text = '{ kind = "practra", min_interval = "5 ms", delay_bound = "40 ms" }'
    found = measured_record(tmp_path, text, ("writer-reno", "10-ms-0.1"))
    first, second = found.cells
    assert first.failed is None
    assert second.failed is not None
    assert "min_interval" in second.failed
    assert [league.broken for league in found.leagues] == [1, 1, 1]


def test_a_controller_that_is_invalid_everywhere_is_an_error(tmp_path: Path) -> None:
    with pytest.raises((InputError, ValueError), match="slowdown"):
        measured_record(tmp_path, '{ kind = "lull", slowdown = "fast" }', ("writer-reno",))


def test_a_run_error_breaks_its_cell_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from netlull.sweep import Sweep

    run = Sweep.run

    def failing(self: Sweep, store: Path, **options: Any) -> Any:
        if store.name == "controlled" and any(point.text == "writer-cubic" for point in self.axes[0].points):
            raise RuntimeError("the controller divides by zero")
        return run(self, store, **options)

    monkeypatch.setattr(Sweep, "run", failing)
    found = measured_record(tmp_path, "lull", ("writer-reno", "writer-cubic"))
    assert [rows.failed for rows in found.cells] == [None, "the controller divides by zero"]
    assert found.document["cells"][1]["energy"] == []


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"link.N1-N2.controller.rates": ["1.5 Mb/s", "10 Mb/s"]}, "uses the rate 1500000 b/s"),
        ({"link.N1-N2.controller.transition": "0.1 ms"}, "pauses"),
        # Nine tenths of the cell's 2 ms.
        ({"link.N1-N2.controller.transition": "1.8 ms"}, "pauses"),
        ({}, None),
    ],
)
def test_rates_and_transitions_of_the_link_hold(values: dict[str, Any], reason: str | None) -> None:
    (chosen,) = DEFINITION.chosen(("web-0.1",))
    submission = Submission.read("practra-best", DEFINITION)
    scenario = submission.base(DEFINITION).with_values(submission.changes(DEFINITION, chosen))
    found = benchmark.illegal(scenario.with_values(values), DEFINITION, chosen, 1)
    assert found is None if reason is None else found is not None and found.startswith(reason)


# ---- controllers in Python


def verified_record(record: Record, folder: Path, cells: tuple[str, ...]) -> benchmark.Verification:
    """Runs these cells of a result again, below `folder`."""
    return benchmark.verify(record, DEFINITION, folder, cells=cells, workers=1, allow_code=True)


MINE = """
import netlull


class Half(netlull.RateController):
    interval = "5 ms"
    limit: netlull.Data = netlull.param("7.5 kB", doc="The queue that asks for the full rate.")

    def tick(self, seen):
        return self.link.rate / 2 if seen.queue_bytes < self.limit else self.link.rate


class Lucky(netlull.RateController):
    # Takes a rate that the link lacks, in runs with some seeds.

    interval = "5 ms"

    def start(self, link):
        self.rate = link.rate / (2.6 if self.random.random() < 0.5 else 2)

    def tick(self, seen):
        return self.rate


class Broken(netlull.RateController):
    interval = "5 ms"

    def tick(self, seen):
        if self.link.rate > 10e6:
            raise ValueError("too fast")
        return self.link.rate / 2
"""


def test_a_class_in_python_is_judged_and_its_source_makes_the_seeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = '{ kind = "python", class = "half_a_link:Half", transition = "cell", limit = "0.1 buffer" }'
    Path("half_a_link.py").write_text(MINE, encoding="utf-8")
    found = measured_record(tmp_path / "runs", text, ("writer-reno",))
    assert found.cells[0].energy == [0.5, 0.5]
    assert verified_record(found, tmp_path / "again", ("writer-reno",)).holds
    Path("half_a_link.py").write_text(MINE.replace("/ 2", "/ 2.5"), encoding="utf-8")
    (problem, *_) = verified_record(found, tmp_path / "changed", ()).problems
    assert problem.startswith("submission: its digest is of another controller")


def test_an_exception_in_a_cell_breaks_that_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("breaks.py").write_text(MINE, encoding="utf-8")
    text = '{ kind = "python", class = "breaks:Broken", transition = "cell" }'
    slow, fast = measured_record(tmp_path / "runs", text, ("writer-reno", "1-ms-100-mb-0.3")).cells
    assert slow.failed is None
    assert fast.failed is not None
    assert "ValueError: too fast" in fast.failed


def test_a_module_is_judged_and_verified(tmp_path: Path) -> None:
    """The template of a rate controller, with fifths of the link's rate in place of quarters."""
    built(tmp_path / "steps", "c", "rate-controller")
    source = (tmp_path / "steps" / "steps.c").read_text(encoding="utf-8")
    (tmp_path / "steps" / "steps.c").write_text(source.replace("full / 4 * quarter", "full / 5 * quarter"), "utf-8")
    subprocess.run([tmp_path / "steps" / "build.sh"], check=True)
    file = tmp_path / "steps.toml"
    file.write_text('[controller]\nkind = "wasm"\nmodule = "steps/steps.wasm"\ntransition = "cell"\n', "utf-8")
    found = measured_record(tmp_path / "runs", str(file), ("writer-reno", "10-ms-0.1"))
    assert [rows.failed for rows in found.cells] == [None, None]
    assert max(found.cells[0].energy) < 1
    again = benchmark.verify(found, DEFINITION, tmp_path / "again", cells=("writer-reno",), source=tmp_path, workers=1)
    assert again.holds
    with pytest.raises(InputError, match=r"steps.wasm.* \(files are relative to .*runs; --files DIR names another"):
        benchmark.verify(found, DEFINITION, tmp_path / "third", cells=(), source=tmp_path / "runs")
    # Quarters of 10 Mb/s are no rates of the link.
    (tmp_path / "steps" / "steps.c").write_text(source, "utf-8")
    subprocess.run([tmp_path / "steps" / "build.sh"], check=True)
    (problem, *_) = benchmark.verify(found, DEFINITION, tmp_path / "other", cells=(), source=tmp_path).problems
    assert problem.startswith("submission: its digest is of another controller")
    quarters = measured_record(tmp_path / "more", str(file), ("writer-reno",))
    assert (quarters.cells[0].failed or "").startswith("uses the rate ")


def test_the_rates_of_a_class_are_checked_with_every_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lucky.py").write_text(MINE, encoding="utf-8")
    read = Submission.read('{ kind = "python", class = "lucky:Lucky", transition = "cell" }', DEFINITION)
    submission = replace(read, allow_code=["lucky:Lucky"])
    (chosen,) = DEFINITION.chosen(("writer-reno",))
    scenario = submission.base(DEFINITION).with_values(submission.changes(DEFINITION, chosen))
    seeds = range(1, 9)
    breaks = [benchmark.illegal(scenario, DEFINITION, chosen, seed) is not None for seed in seeds]
    assert set(breaks) == {True, False}
    # A seed that keeps to the rates first, then one that does not.
    order = (seeds[breaks.index(False)], seeds[breaks.index(True)])
    found = benchmark.measure(DEFINITION, submission, (chosen,), order, tmp_path / "runs", workers=1)
    assert (found["writer-reno"].failed or "").startswith("uses the rate ")
