"""Further studies of a paper: separate sweeps that end as sections of its report, alone or with the whole."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import SHIPPED, copy_of_paper
from netlull import NetlullWarning, papers
from netlull.cli import main
from netlull.papers import PaperError, documents, load, run
from netlull.papers.measure import Execution
from netlull.papers.plan import plan, plan_study

if TYPE_CHECKING:
    from netlull.papers import Paper

FOLDER = SHIPPED / "papers" / "troubled-marriage-2016"

STUDY = """
[[study]]
name = "few"
title = "Few packets"
full = "two rates, 3 seeds"

[study.quick]
description = "one rate, 2 seeds"
experiments = ["all"]
keep = { rate = [2] }
seeds = 2

[study.series]
interval = "100 ms"

[[study.series.run]]
name = "slow"
experiment = "all"
point = { rate = 2 }
"""

SCENARIO = """
name = "few"
duration = "1 s"
nodes = ["a", "b"]

[[link]]
from = "a"
to = "b"
duplex = true
rate = "8 Mb/s"
delay = "1 ms"
loss = { kind = "bernoulli", probability = 0.1 }

[[flow]]
kind = "tcp"
name = "t"
from = "a"
to = "b"
"""

SWEEP = """
scenario = "few-scenario.toml"
seeds = 3

[metrics]
goodput_bps = "flow.t.goodput_bps"

[[axis]]
name = "rate"
unit = "Mb/s"
path = "link.a-b.rate"
values = ["2 Mb/s", "8 Mb/s"]

[[experiment]]
name = "all"
axes = ["rate"]
"""

MODULE = """
from netlull.papers import Drawn, Tabled
from netlull.plot import Curve, Panel, panel_grid


def figures(evidence):
    rates = evidence.grid.values("all", "rate")
    got = [evidence.grid.interval(cell, "goodput_bps", 1e-6) for cell in evidence.grid.cells("all")]
    drawing = panel_grid([Panel("(a)", "Rate", "Goodput", [Curve("TCP", rates, got, 0)])])
    yield Drawn("goodput", "Goodput by rate", f"Recorded: {', '.join(evidence.series)}.", drawing)


def tables(evidence):
    rows = [[str(cell), f"{evidence.grid.interval(cell, 'goodput_bps').n}"] for cell in evidence.grid.cells("all")]
    yield Tabled("figures", "Points", ["point", "seeds"], rows)
"""

NOTES = """
[paper]

[study.few]
figures = ["What a study says in words."]
"""

FIRST = """

_all = figures


def figures(evidence):
    yield next(_all(evidence))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a paper's folder with only this study."""
    copy = copy_of_paper(FOLDER, tmp_path)
    for name, text in (
        ("few-scenario.toml", SCENARIO),
        ("few-sweep.toml", SWEEP),
        ("few.py", MODULE),
        ("notes.toml", NOTES),
    ):
        (copy / name).write_text(text, encoding="utf-8")
    # Of the paper's own figures the first is enough.
    with (copy / "figures.py").open("a", encoding="utf-8") as figures:
        figures.write(FIRST)
    paper = copy / "paper.toml"
    own = paper.read_text(encoding="utf-8").partition("[[study]]")[0]
    paper.write_text(own + STUDY, encoding="utf-8")
    # Without the paper's own studies, no claim is theirs to judge.
    claims = copy / "claims.toml"
    text = claims.read_text(encoding="utf-8")
    begin = text.rindex("[[claim]]", 0, text.index('study = "'))
    claims.write_text(text[:begin] + text[text.index("[[unjudged]]") :], encoding="utf-8")
    return copy


@pytest.fixture
def paper(folder: Path) -> Paper:
    return load(folder)


def test_an_installation_without_the_source_says_where_further_studies_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {study.name for study in load(FOLDER).studies} == {"flows", "buffer", "causes", "g-router-instead"}
    shipped = tmp_path / "netlull" / "shipped" / "papers"
    shutil.copytree(FOLDER, shipped / FOLDER.name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(documents, "SHIPPED", shipped)
    monkeypatch.setattr(documents, "_PACKAGE", tmp_path / "netlull" / "netlull")
    installed = load(shipped / FOLDER.name)
    assert [study.name for study in installed.studies] == ["flows"]
    with pytest.raises(PaperError, match=r"expected one of: flows; studies .* in studies/troubled-marriage-2016$"):
        installed.study("buffer")


def test_its_files_are_named_after_it(paper: Paper) -> None:
    study = paper.study("few")
    assert (study.scenario, study.sweep, study.module) == ("few-scenario.toml", "few-sweep.toml", "few")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "few"', 'name = "Few"', 'study.Few.name: is "Few"; expected lower-case letters, digits and hyphens'),
        ('name = "few"', 'name = "more"', 'study.more.scenario: is "more-scenario.toml"; expected a .toml file of the'),
        (
            'full = "two',
            'sweep = "../sweep.toml"\nfull = "two',
            'study.few.sweep: is "../sweep.toml"; expected a .toml',
        ),
        (
            'full = "two',
            'drawing = "few.toml"\nfull = "two',
            'study.few.drawing: is "few.toml"; expected a .py file of',
        ),
        ('full = "two', 'claims = "none"\nfull = "two', "study.few.claims: is unknown; expected one of name, "),
        ('title = "Few packets"\n', "", "study.few.title: is missing; expected text"),
        ('interval = "100 ms"\n', "", "study.few.series.interval: is missing; expected text"),
        ("seeds = 2", "seeds = 0", "study.few.quick.seeds: is 0; expected a whole number of at least 1"),
    ],
)
def test_what_is_wrong_with_it_is_named(folder: Path, old: str, new: str, message: str) -> None:
    path = folder / "paper.toml"
    before, after = path.read_text(encoding="utf-8").split("[[study]]")
    assert old in after
    path.write_text(f"{before}[[study]]{after.replace(old, new, 1)}", encoding="utf-8")
    with pytest.raises(PaperError, match=re.escape(f"{FOLDER.name}/paper.toml: {message}")):
        load(folder)


def test_notes_on_no_study_are_refused(folder: Path) -> None:
    (folder / "notes.toml").write_text('[study.fewer]\nfigures = ["Words."]\n', encoding="utf-8")
    with pytest.raises(PaperError, match=r"notes\.toml: study\.fewer: is unknown; did you mean few\?"):
        load(folder)


def test_quick_is_its_own_part(paper: Paper) -> None:
    study = paper.study("few")
    whole, quick = plan_study(paper, study, None), plan_study(paper, study, study.quick)
    assert (whole.sweep["seeds"], quick.sweep["seeds"]) == (3, 2)
    assert [len(planned.sweep["axis"][0]["values"]) for planned in (whole, quick)] == [2, 1]
    assert whole.scenario == SCENARIO
    assert plan_study(paper, study, study.quick, seeds=5).sweep["seeds"] == 5


def test_a_scope_that_does_not_fit_names_the_study(folder: Path) -> None:
    path = folder / "paper.toml"
    path.write_text(path.read_text(encoding="utf-8").replace('experiments = ["all"]', 'experiments = ["none"]'))
    paper = load(folder)
    study = paper.study("few")
    message = "paper.toml: study.few.quick.experiments: 'none' is not in few-sweep.toml"
    with pytest.raises(PaperError, match=re.escape(message)):
        plan_study(paper, study, study.quick)


def test_a_series_that_is_no_point_names_the_study(folder: Path, tmp_path: Path) -> None:
    path = folder / "paper.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("point = { rate = 2 }", "point = { rate = 3 }"))
    with pytest.raises(PaperError, match=re.escape("paper.toml: study.few.series.run.slow: all rate=3 is not a point")):
        papers.reproduce_studies(str(folder), ["few"], out=tmp_path / "out")


def test_alone_it_has_a_report_of_its_own(folder: Path, tmp_path: Path) -> None:
    outcome = papers.reproduce_studies(str(folder), ["few"], out=tmp_path / "out")
    # One rate with two seeds, and the recorded run.
    assert (outcome.runs, outcome.claims, outcome.studies) == (3, [], ("few",))
    place = tmp_path / "out" / FOLDER.name / "studies"
    assert outcome.report == place / "few.html"
    assert {path.relative_to(place).as_posix() for path in outcome.figures} == {
        "few/figures/goodput.svg",
        "few/figures/goodput.pdf",
    }
    page = outcome.report.read_text(encoding="utf-8")
    for text in ("Few packets", "What a study says in words.", "Study few: one rate, 2 seeds.", "Recorded: slow."):
        assert text in page
    assert 'id="few-goodput"' in page
    # Taken from its store.
    again = papers.reproduce_studies(str(folder), ["few"], out=tmp_path / "out")
    assert again.time.simulated.packet_hops < outcome.time.simulated.packet_hops


def test_a_claim_may_be_a_study_s_to_judge(folder: Path, tmp_path: Path) -> None:
    claims = folder / "claims.toml"
    text = claims.read_text(encoding="utf-8")
    claims.write_text(text.replace('id = "T1"\n', 'id = "T1"\nstudy = "few"\n'), encoding="utf-8")
    with (folder / "claims.py").open("a", encoding="utf-8") as module:
        # Two seeds of one rate: from the study's table, not from the paper's.
        module.write("\nfrom netlull.papers import Part\n")
        module.write('\nJUDGES["T1"] = lambda evidence, _: [Part("runs", evidence.grid.runs == 2, "Two runs.")]\n')
    outcome = papers.reproduce_studies(str(folder), ["few"], out=tmp_path / "out")
    assert [(claim.id, claim.verdict.value, claim.ours) for claim in outcome.claims] == [
        ("T1", "holds", "[yes] Two runs.")
    ]
    assert "T1" in outcome.report.read_text(encoding="utf-8")


def test_a_claim_of_a_study_that_is_not_there(folder: Path) -> None:
    claims = folder / "claims.toml"
    text = claims.read_text(encoding="utf-8")
    claims.write_text(text.replace('id = "T1"\n', 'id = "T1"\nstudy = "many"\n'), encoding="utf-8")
    with pytest.raises(PaperError, match='study "many" is unknown; expected one of: few'):
        load(folder)


def test_the_whole_has_it_as_a_section(folder: Path, tmp_path: Path) -> None:
    scenario = folder / "scenario.toml"
    scenario.write_text(scenario.read_text(encoding="utf-8").replace('"300 s"', '"15 s"'), encoding="utf-8")
    # The whole is cut to the quick part, for a fast test.
    plan(load(folder), load(folder).quick).write(folder)
    full = papers.reproduce([str(folder)], scope="full", out=tmp_path / "out", seeds=2)[0]
    page = full.report.read_text(encoding="utf-8")
    assert full.studies == ("few",)
    for text in ("Few packets", "Study few: two rates, 3 seeds.", "4 runs, seeds 1 to 2", "T9"):
        assert text in page
    # The paper's own figures and claims are present.
    assert {path.parent.name + "/" + path.name for path in full.figures} >= {"figures/fig2.svg", "figures/goodput.svg"}
    assert len(full.claims) == 20


def test_the_command_runs_one_and_names_what_it_cannot(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "out")]
    assert main(["reproduce", str(folder), "--study", "few", *out]) == 0
    told = capsys.readouterr().out
    assert "studies: few" in told
    assert "claims" not in told
    for arguments, message in (
        ([str(folder), "--study", "more"], f'{FOLDER.name}: study "more" is unknown; expected one of: few'),
        (["--study", "few"], "--study: 0 papers are named; expected the KEY of the study's paper"),
        (
            [str(folder), "--study", "few", "--readings"],
            "--readings: varies the paper's own sweep; expected it without",
        ),
    ):
        assert main(["reproduce", *arguments, *out]) == 2
        assert message in capsys.readouterr().err


def test_a_study_that_decides_no_claim_may_run_only_by_its_name(folder: Path, tmp_path: Path) -> None:
    path = folder / "paper.toml"
    text = path.read_text(encoding="utf-8")
    job = run._Job("full", tmp_path / "out", None, Execution(workers=1), readings=False)
    assert [study.name for study, _ in job.all_studies(load(folder))] == ["few"]
    path.write_text(text.replace('full = "two', 'alone = true\nfull = "two'), encoding="utf-8")
    assert job.all_studies(load(folder)) == []
    assert papers.reproduce_studies(str(folder), ["few"], out=tmp_path / "out").studies == ("few",)
    claims = folder / "claims.toml"
    judged = claims.read_text(encoding="utf-8").replace('id = "T1"\n', 'id = "T1"\nstudy = "few"\n')
    claims.write_text(judged, encoding="utf-8")
    message = "paper.toml: study.few.alone: is true; expected false, because the study decides claim T1"
    with pytest.raises(PaperError, match=re.escape(message)):
        load(folder)


def test_a_study_that_needs_what_is_not_there_is_left_out_or_refused(folder: Path, tmp_path: Path) -> None:
    path = folder / "paper.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('full = "two', 'needs = ["json", "no_such_package"]\nfull = "two'), encoding="utf-8")
    told = "study few needs packages that are not installed; expected: pip install no_such_package"
    with pytest.raises(PaperError, match=re.escape(f"{folder}: {told}")):
        papers.reproduce_studies(str(folder), ["few"], out=tmp_path / "out")
    scenario = folder / "scenario.toml"
    scenario.write_text(scenario.read_text(encoding="utf-8").replace('"300 s"', '"15 s"'), encoding="utf-8")
    plan(load(folder), load(folder).quick).write(folder)
    with pytest.warns(NetlullWarning, match=told):
        full = papers.reproduce([str(folder)], scope="full", out=tmp_path / "out", seeds=2)[0]
    assert full.studies == ()
