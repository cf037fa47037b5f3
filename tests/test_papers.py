"""Paper folders: refused files, judgement of claims, and one reproduction from end to end."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import netlull
from conftest import copy_of_paper
from netlull import papers
from netlull.papers import Cell, Evidence, Grid, PaperError, Part, Verdict, decided, judge, load, run
from netlull.papers.documents import FILES
from netlull.papers.effects import Effect, Variations, as_csv, pairs_of, vary, with_effects
from netlull.papers.measure import Execution, judged
from netlull.papers.plan import Plan, plan
from netlull.stats import Interval
from netlull.sweep import Cost, Sweep
from troubled_marriage import FOLDER, OWN, world_of_the_paper

if TYPE_CHECKING:
    from netlull.runs.team import Progress

# ---- Refused files ---------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the paper's folder that a test may damage."""
    return copy_of_paper(FOLDER, tmp_path)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("claims.toml", 'id = "T3"', 'id = "third"', 'claims.toml: claim.third.id: is "third"; expected a letter'),
        ("claims.toml", 'id = "T3"', 'id = "T2"', 'claims.toml: claim.T2: "T2" appears twice'),
        (
            "claims.toml",
            "rank_max = -0.8",
            'rank_max = "low"',
            'claim.T5.tolerance.rank_max: is "low"; expected a number',
        ),
        (
            "claims.toml",
            'title = "The time series"',
            "titel = 1",
            "claims.toml: claim.T9.titel: is unknown; did you mean title?",
        ),
        (
            "claims.toml",
            'title = "The time series"\n',
            "",
            "claims.toml: claim.T9.title: is missing; expected text",
        ),
        (
            "claims.toml",
            'id = "T1"',
            'id = "T1"\ncolour = "red"',
            "claims.toml: claim.T1.colour: is unknown; expected one of",
        ),
        ("claims.toml", "[[claim]]", "[[claim", "claims.toml: is not valid TOML"),
        ("paper.toml", "year = 2016", 'year = "then"', 'paper.toml: year: is "then"; expected a whole number'),
        ("paper.toml", 'key = "troubled', 'key = "un-troubled', "paper.toml: key: is "),
        (
            "paper.toml",
            "seeds = 4",
            "seeds = 0",
            "paper.toml: quick.seeds: is 0; expected a whole number of at least 1",
        ),
        (
            "readings.toml",
            'words = "',
            'words = 33 # "',
            "readings.toml: reading.buffer.alternative.33.words: is 33",
        ),
        ("readings.toml", 'choice = "', 'effects = "', "reading.buffer.effects: is unknown; did you mean effect?"),
    ],
)
def test_a_damaged_file_names_the_field(folder: Path, file: str, old: str, new: str, message: str) -> None:
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(PaperError, match=re.escape(message)):
        load(folder)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (
            "33",
            '"link.N1-N2.buffer" = "33 packets"',
            '"link.N1-N2.bufer" = "33 packets"',
            "readings.toml: alternative 33: link.N1-N2.bufer: is unknown; did you mean buffer?",
        ),
        (
            "33",
            '"link.N1-N2.buffer" = "33 packets"',
            '"link.N9-N2.buffer" = "33 packets"',
            'readings.toml: alternative 33: link.N9-N2.buffer: "N9-N2" is not an entry of link',
        ),
        (
            "joint",
            'loss = "drop_n1"',
            'loss = "drop_n9"',
            "readings.toml: alternative joint: use: 'drop_n9' is not a metric of sweep.toml",
        ),
        (
            "joint",
            'loss = "drop_n1"',
            'losses = "drop_n1"',
            "readings.toml: alternative joint: use: 'losses' is not a metric of sweep.toml; did you mean loss?",
        ),
    ],
)
def test_an_alternative_with_a_wrong_name_is_refused(folder: Path, name: str, old: str, new: str, message: str) -> None:
    path = folder / "readings.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    paper = load(folder)
    alternatives = [each for reading in paper.readings for each in reading.alternatives if each.name == name]
    with pytest.raises(PaperError, match=re.escape(message)):
        plan(paper, paper.quick, changes=alternatives)


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "claims.toml").unlink()
    with pytest.raises(PaperError, match=re.escape("claims.toml: the file is missing")):
        load(folder)


def test_a_missing_tolerance_is_named_when_it_is_needed(folder: Path) -> None:
    path = folder / "claims.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("gap_min = 0.02, ", ""), encoding="utf-8")
    evidence = world_of_the_paper(load(folder))
    with pytest.raises(PaperError, match=re.escape("claim.T3.tolerance.gap_min: is missing; expected a number")):
        judged(evidence)


def test_an_unknown_paper_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        PaperError, match=r'there is no paper "happy-marriage"; expected one of .*troubled-marriage-2016'
    ):
        papers.folder_of("happy-marriage")


def test_an_unknown_scope_and_no_seeds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PaperError, match='scope "slow" is unknown; expected one of: quick, full'):
        papers.reproduce([FOLDER.name], scope="slow", out=tmp_path)
    with pytest.raises(PaperError, match="seeds: 0 is too few"):
        papers.reproduce([FOLDER.name], seeds=0, out=tmp_path)


def test_papers_are_found() -> None:
    info = next(info for info in papers.find() if info.key == FOLDER.name)
    assert info.title.startswith("Network interface power management")
    assert info.folder.is_dir()


def test_papers_are_files_of_the_package_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    package = Path(netlull.__file__).parent
    assert FOLDER.resolve().is_relative_to(package.resolve())
    assert papers.folder_of(FOLDER.name).is_relative_to(package)
    assert not [path for path in (package / "shipped").rglob("*") if path.is_symlink()]


def test_the_papers_page_names_every_file() -> None:
    text = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    assert [name for name in (*FILES, "notes.toml") if f"| `{name}` |" not in text] == []


# ---- The plan --------------------------------------------------------------------------------------------------------


def test_quick_holds_exactly_the_points_of_the_papers_figures() -> None:
    paper = load(FOLDER)
    quick = plan(paper, paper.quick)
    axes = {axis["name"]: len(axis.get("point", axis.get("values"))) for axis in quick.sweep["axis"]}
    assert axes == {"rtt": 4, "near": 9, "mrci": 5, "bon": 1, "bn": 1}
    names = ("single", "near", "background", "both")
    assert quick.experiments == [found for name in names for found in (name, f"{name}-tcponly")]


def test_full_holds_every_burst_duration_and_bottleneck_interval_of_table_1() -> None:
    full = plan(load(FOLDER), None)
    size = {axis["name"]: len(axis.get("point", axis.get("values"))) for axis in full.sweep["axis"]}
    runs = 0
    for experiment in full.sweep["experiment"]:
        points = int(np.prod([size[axis] for axis in experiment["axes"]]))
        runs += points * experiment.get("seeds", len(full.sweep["seeds"]))
    # 20 + 4, 45 + 9, 800 + 160, 800 + 160
    assert runs == 1998


def test_full_judges_an_equal_reading_on_the_experiments_that_claims_read(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = []

    def measured(paper: papers.Paper, plan: Plan, *_: object, **__: object) -> Evidence:
        planned.append(plan)
        return world_of_the_paper(paper)

    monkeypatch.setattr(run, "measure", measured)
    paper = load(FOLDER)
    job = run._Job("full", Path("unused"), None, Execution(workers=1), readings=False)
    equal, _ = job._equal(paper, Path("unused"), paper.equals[0])
    words = {word for claim in equal.claims for word in re.findall(r"[\w-]+", claim.decided_by)}
    assert set(planned[0].experiments) == words & set(plan(paper, None).experiments)


def test_every_alternative_is_a_valid_scenario(tmp_path: Path) -> None:
    from netlull import Sweep

    paper = load(FOLDER)
    for reading in paper.readings:
        for alternative in reading.alternatives:
            changed = plan(paper, paper.quick, changes=[alternative])
            points = Sweep.from_file(changed.write(tmp_path / reading.id / alternative.name)).points()
            assert len(points) == 126, reading.id


READINGS = """\
# A comment stays.
[[reading]]
id = "window"
effect = "a reading's own is kept"
[[reading.alternative]]
name = "16"
effect = "stale"
label = "16 KiB"
[[reading.alternative.axis]]
name = "64"
point = [
    { value = 1 },
]
[[reading.alternative]]
name = "64"
label = "64 KiB"

[[reading]]
id = "clock"
name = "16"
"""


def test_effects_are_written_once_however_often() -> None:
    def effect(changes: tuple[tuple[str, str], ...], number: float) -> Effect:
        return Effect("", changes, {"T1": Verdict.HOLDS}, {"energy": number})

    alternatives = [effect((("window", name),), number) for name, number in (("16", 5.0), ("64", 20.0))]
    found = Variations(effect((), 10.0), alternatives, [], Cost())
    once = with_effects(READINGS, found)
    halves = 'effect = "no verdict changes; energy 10.0 → 5.0."'
    # In place of an old one, and without one; not at an axis or at another reading with the same name.
    assert once == READINGS.replace('effect = "stale"', halves).replace(
        'name = "64"\nlabel', 'name = "64"\neffect = "no verdict changes; energy 10.0 → 20.0."\nlabel'
    )
    assert with_effects(once, found) == once


SUPPORTED = """\
[[reading]]
id = "buffer"
question = "?"
choice = "33 packets"
reason = "-"
[[reading.alternative]]
name = "32"
label = "32 packets"
words = "“32”"
set = { "link.N1-N2.buffer" = "32 packets" }
[[reading.alternative]]
name = "31"
label = "31 packets"
words = "“31”"
set = { "link.N1-N2.buffer" = "31 packets" }

[[reading]]
id = "sizes"
question = "?"
choice = "as printed"
reason = "-"
[[reading.alternative]]
name = "small"
label = "small, with a buffer of its own"
words = "“small”"
set = { "link.N1-N2.buffer" = "5 packets" }
[[reading.alternative]]
name = "silent"
label = "no words support it"
set = { "warm_up" = "0 s" }

[[reading]]
id = "acks"
question = "?"
choice = "one for each segment"
reason = "-"
[[reading.alternative]]
name = "delayed"
label = "one for two segments"
words = "“every second”"
set = { "tcp.delayed_ack" = true }
"""


def test_pairs_have_words_and_change_no_field_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "readings.toml").write_text(SUPPORTED, encoding="utf-8")
    paper = load(folder)
    named = [tuple((reading.id, option.name) for reading, option in pair) for pair in pairs_of(paper)]
    assert named == [
        (("buffer", "32"), ("acks", "delayed")),
        (("buffer", "31"), ("acks", "delayed")),
        (("sizes", "small"), ("acks", "delayed")),
    ]
    texts = []

    def measured(paper: papers.Paper, plan: Plan, *_: object, **__: object) -> Evidence:
        texts.append(plan.scenario)
        return world_of_the_paper(paper)

    monkeypatch.setattr("netlull.papers.effects.measure", measured)
    found = vary(paper, folder, Execution(workers=1))
    assert [effect.changes for effect in found.pairs] == named
    assert len(texts) == 1 + 5 + 3
    assert all(word in texts[6] for word in ('buffer = "32 packets"', "delayed_ack = true"))
    header, *rows = csv.reader(as_csv(found, paper).splitlines())
    assert header[:2] == ["readings", paper.claims[0].id]
    single = ["as chosen", "buffer 32", "buffer 31", "sizes small", "sizes silent", "acks delayed"]
    assert [row[0] for row in rows] == [*single, *(f"{name}, acks delayed" for name in single[1:4])]
    assert {len(row) for row in rows} == {len(header)}


# ---- The grid --------------------------------------------------------------------------------------------------------


def test_reductions_are_paired_by_seed() -> None:
    # Seed by seed: 1 - 5/10 = 0.5 and 1 - 12/20 = 0.4; unpaired means would give 1 - 8.5/15 = 0.433.
    rows = [
        {"experiment": "pc", "rtt": 1.0, "seed": 1, "goodput": 5.0},
        {"experiment": "pc", "rtt": 1.0, "seed": 2, "goodput": 12.0},
        {"experiment": "tcponly", "rtt": 1.0, "seed": 1, "goodput": 10.0},
        {"experiment": "tcponly", "rtt": 1.0, "seed": 2, "goodput": 20.0},
    ]
    grid = Grid(pa.Table.from_pylist(rows), ["rtt"])
    found = grid.reduction(Cell.of("pc", rtt=1), Cell.of("tcponly", rtt=1), "goodput")
    assert found.mean == pytest.approx(0.45)
    assert found.n == 2
    with pytest.raises(PaperError, match="no point pc rtt=2"):
        grid.interval(Cell.of("pc", rtt=2), "goodput")
    with pytest.raises(PaperError, match="no metric badput"):
        grid.interval(Cell.of("pc", rtt=1), "badput")


def test_another_metric_is_judged_under_the_same_name() -> None:
    table = pa.table({"experiment": ["a"], "seed": [1], "loss": [0.1], "drop_n1": [0.3]})
    assert Grid(table, [], {"loss": "drop_n1"}).interval(Cell.of("a"), "loss").mean == pytest.approx(0.3)


def test_a_ratio_is_taken_seed_by_seed_and_may_be_of_two_metrics() -> None:
    rows = [
        {"experiment": name, "seed": seed, "got": got, "asked": asked}
        for name, seed, got, asked in (("a", 1, 3.0, 0.0), ("a", 2, 8.0, 0.0), ("b", 1, 2.0, 6.0), ("b", 2, 2.0, 4.0))
    ]
    grid = Grid(pa.Table.from_pylist([*rows, {"experiment": "c", "seed": 3, "got": 1.0, "asked": 1.0}]), [])
    a, b = Cell.of("a"), Cell.of("b")
    # 3/2 and 8/2, in percent; 3/6 and 8/4.
    assert grid.ratio(a, b, "got", 100).mean == pytest.approx(275)
    assert grid.ratio(a, b, "got", to="asked").mean == pytest.approx(1.25)
    with pytest.raises(PaperError, match="share no seed"):
        grid.ratio(a, Cell.of("c"), "got")


# ---- Verdicts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("held", "verdict"),
    [
        ((True, True), Verdict.HOLDS),
        ((True, False), Verdict.PARTLY),
        ((False, False), Verdict.FAILS),
        ((True, None), Verdict.UNDECIDED),
        ((False, None), Verdict.UNDECIDED),
        ((True, False, None), Verdict.PARTLY),
    ],
)
def test_a_verdict_is_all_some_or_none_of_the_parts(held: tuple[bool | None, ...], verdict: Verdict) -> None:
    claim = load(FOLDER).claims[0]
    assert judge(claim, [Part(f"part{index}", part, "x") for index, part in enumerate(held)]).verdict is verdict


@pytest.mark.parametrize(
    ("interval", "bounds", "answer"),
    [
        (Interval(2.0, 1.5, 2.5, 4), {"at_least": 1.0}, True),
        (Interval(2.0, 0.5, 3.5, 4), {"at_least": 1.0}, None),
        (Interval(0.5, 0.2, 0.8, 4), {"at_least": 1.0}, False),
        (Interval(2.0, 1.5, 2.5, 4), {"at_least": 1.0, "at_most": 2.2}, None),
        (Interval(2.0, 1.5, 2.5, 4), {"at_least": 1.0, "at_most": 3.0}, True),
        (Interval(2.0, math.nan, math.nan, 1), {"at_most": 3.0}, True),
        (Interval(2.0, math.nan, math.nan, 1), {"at_least": 3.0}, False),
        (Interval(math.nan, math.nan, math.nan, 0), {"at_least": 3.0}, False),
    ],
)
def test_an_interval_that_includes_the_bound_decides_nothing(
    interval: Interval, bounds: dict[str, float], answer: bool | None
) -> None:
    assert decided(interval, **bounds) is answer


def test_a_judged_claim_names_the_experiments_seeds_and_recorded_runs_that_its_judge_read() -> None:
    found = {claim.id: claim.decided_by for claim in judged(world_of_the_paper(load(FOLDER)))}
    assert found["T1"] == "single, single-tcponly (seed 1)"
    assert found["T6"] == "background, background-tcponly (seeds 1 to 4)"
    assert found["T18"] == "recorded runs " + ", ".join(
        f"fig7{panel}{seed}" for panel in "bd" for seed in ("", "-302", "-303", "-304")
    )


def test_a_part_that_fails_without_a_reason_says_so() -> None:
    claim = load(FOLDER).claims[0]
    assert "undecided: the interval" in judge(claim, [Part("unheard-of", None, "x")]).explanation
    assert "no explanation is on record" in judge(claim, [Part("unheard-of", False, "x")]).explanation
    assert judge(claim, [Part("unheard-of", True, "x")]).explanation == ""


# ---- From end to end -------------------------------------------------------------------------------------------------


def test_a_tiny_reproduction_runs_from_end_to_end_and_resumes(folder: Path, tmp_path: Path) -> None:
    scenario = folder / "scenario.toml"
    scenario.write_text(scenario.read_text(encoding="utf-8").replace('"300 s"', '"15 s"'), encoding="utf-8")
    out = tmp_path / "out"
    seen: list[Progress] = []
    outcome = papers.reproduce([str(folder)], out=out, seeds=2, progress=seen.append)[0]
    assert [claim.id for claim in outcome.claims] == OWN
    assert {path.name for path in outcome.figures} >= {"fig2.svg", "fig2.pdf", "fig7.svg", "energy.svg"}
    page = outcome.report.read_text(encoding="utf-8")
    assert "--quick" in page
    assert "T9" in outcome.table()
    # An equally supported reading has its own verdicts on every claim, in the table and on the page.
    assert [equal.label for equal in outcome.equals] == [
        "33 waiting packets: ns-2's queue-limit 34",
        "once per mRCI, on a clock",
        "once per mRCI; loss at N1; TCPonly's first loss at 14 s",
        "all packets dropped at N1",
    ]
    assert all(equal.verdict(claim.id) for equal in outcome.equals for claim in outcome.claims)
    assert "(1): 33 waiting packets" in outcome.table()
    assert "as well: (1) 33 waiting packets" in page
    # Each has a table of its own, so that results.parquet in `store` is the table behind the first verdicts.
    own, equal = (outcome.report.parent / place / "results.parquet" for place in ("store", "equals/33/store"))
    assert own.read_bytes() != equal.read_bytes()
    # A recorded run is not repeated in the sweep. A sweep that runs everything has the same tables.
    assert 0 < seen[0].reused < seen[0].total
    Sweep.from_file(outcome.report.parent / "sweep.toml").run(tmp_path / "alone")
    for name in ("results.parquet", "energy.parquet"):
        assert (outcome.report.parent / "store" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    before = {path: path.read_bytes() for path in outcome.figures if path.suffix == ".svg"}

    again = papers.reproduce([str(folder)], out=out, seeds=2, workers=1)[0]
    assert [claim.ours for claim in again.claims] == [claim.ours for claim in outcome.claims]
    assert {path: path.read_bytes() for path in before} == before
