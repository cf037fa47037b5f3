"""Results of the benchmark: a tiny run from end to end, changed and damaged files, the page and the commands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netlull import InputError, ResultError, benchmark
from netlull.benchmark import Record
from test_benchmark import DEFINITION, cell, measured_record, verified_record

Printed = Callable[..., str]
Refused = Callable[..., str]

# ---- a tiny run from end to end


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("benchmark")


@pytest.fixture(scope="module")
def record(folder: Path) -> Record:
    """practRA in two short cells, with ranking seeds."""
    return measured_record(folder, "practra-best", ("writer-reno", "writer-reno-dvs", "0.1-ms-1-gb-0.1"))


def test_a_record_is_the_same_after_writing_and_reading(record: Record, tmp_path: Path) -> None:
    record.write(tmp_path / "result.json")
    again = Record.read(tmp_path / "result.json")
    assert again.document == record.document
    assert again.cells == record.cells
    assert not benchmark.is_ranked(record)


def test_the_numbers_of_a_record(record: Record) -> None:
    writer, cubic, fast = record.cells
    assert writer.name == "writer-reno"
    # The rate settles at 4 or 3 Mb/s of 10: cubic power is far below linear power, of the same runs.
    assert 0.3 <= min(writer.energy) <= max(writer.energy) < 0.55
    assert max(cubic.energy) < min(writer.energy) / 2
    assert writer.goodput_bps == cubic.goodput_bps
    assert writer.goodput.mean == pytest.approx(1, abs=0.01)
    assert not writer.p95_s
    assert list(fast.p95_s) == ["web"]
    # More lateness never costs the optimum energy.
    for rows in record.cells:
        assert len(rows.against_optimum) == 2
        for strict, middle, loose in zip(*rows.optimum, strict=True):
            assert 0 < loose <= middle <= strict <= 1


def test_finished_runs_are_not_repeated(record: Record, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise AssertionError("a finished part is repeated")

    monkeypatch.setattr("netlull.runs.team.Threads.start", refuse)
    again = measured_record(folder, "practra-best", ("writer-reno", "writer-reno-dvs", "0.1-ms-1-gb-0.1"))
    assert again.document == record.document


def test_always_on_is_100_per_cent(folder: Path) -> None:
    found = measured_record(folder, "always-on", ("writer-reno",))
    assert [league.energy.mean for league in found.leagues] == [1, 1, 1]
    assert all(league.kept == 1 for league in found.leagues)
    # Regret is then all that the optimum saves.
    assert all(league.regret == pytest.approx(1 - league.optimum) for league in found.leagues)


def test_a_true_record_is_verified(record: Record, tmp_path: Path) -> None:
    found = verified_record(record, tmp_path, ("writer-reno", "writer-reno-dvs"))
    assert found.holds
    assert found.cells == ("writer-reno", "writer-reno-dvs")
    assert any("cannot be ranked" in note for note in found.notes)


def _tampered(record: Record, change: Callable[[dict[str, Any]], None], *, checked: bool = True) -> Record:
    """A record with another content, with scores and a checksum that fit if `checked`."""
    document = json.loads(json.dumps(record.document))
    change(document)
    changed = Record(document, Record.rows_of(document))
    if checked:
        document |= changed.judged_again(DEFINITION)
        document["check"] = benchmark.check_sum(document)
    return changed


def _halve_energy(document: dict[str, Any]) -> None:
    cell = document["cells"][1]
    cell["energy"] = [value / 2 for value in cell["energy"]]


def test_a_changed_number_is_named_with_its_cell(record: Record, tmp_path: Path) -> None:
    found = verified_record(_tampered(record, _halve_energy), tmp_path, ("writer-reno", "writer-reno-dvs"))
    assert len(found.problems) == 1
    assert found.problems[0].startswith("cell writer-reno-dvs: energy is ")


def test_a_changed_number_without_a_new_checksum_needs_no_run(record: Record, tmp_path: Path) -> None:
    found = verified_record(_tampered(record, _halve_energy, checked=False), tmp_path, ())
    assert found.problems[0] == "the file: its checksum is wrong: it was changed after it was written"
    assert any(problem.startswith("league 5%: energy is") for problem in found.problems)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda document: document["seeds"].update(values=[1, 2]),
            "seeds: they do not follow the rule of ranking seeds",
        ),
        (lambda document: document.update(submission="0" * 64), "submission: its digest is of another controller"),
        (
            lambda document: document.update(controller={"kind": "lull"}),
            "submission: its digest is of another controller",
        ),
        (lambda document: document.update(whole=True), "whole: is true; the file has 3 of 45 cells and 2 of 20 seeds"),
        (
            lambda document: document.update(limits=[0.5, 0.5, 0.5]),
            "limits: are [0.5, 0.5, 0.5]; expected [0.05, 0.2, ",
        ),
        (lambda document: document.update(limits=[0.5]), "limits: are [0.5]; expected [0.05, 0.2, "),
        (lambda document: document.update(name="lull"), 'name: "lull" is a baseline with another controller'),
        (
            lambda document: document["cells"][0]["optimum"][0].__setitem__(0, 0.9),
            "cell writer-reno: optimum is [[0.9, ",
        ),
        (lambda document: document["cells"][0].update(name="desk"), "cell desk: is no cell of the benchmark"),
        (lambda document: document["cells"][0].update(digest="0" * 64), "cell writer-reno: digest is 000"),
    ],
)
def test_other_changes_are_named(
    record: Record, tmp_path: Path, change: Callable[[dict[str, Any]], None], problem: str
) -> None:
    cells = ("writer-reno",) if "cell writer-reno" in problem else ()
    found = verified_record(_tampered(record, change), tmp_path, cells)
    assert any(each.startswith(problem) for each in found.problems)


def test_a_result_of_version_1_is_refused(record: Record, refused: Refused, tmp_path: Path) -> None:
    """Its seeds and some of its cells are others, even where the names of the cells are the same."""
    other = _tampered(
        record, lambda document: document["benchmark"].update(version=1, digest="b44e1d8152d9" + 52 * "0")
    )
    message = r"benchmark: the result is of version 1 \(b44e1d8152d9\); expected version 2 \([0-9a-f]{12}\): run "
    with pytest.raises(InputError, match=message):
        verified_record(other, tmp_path, ())
    path = tmp_path / "result.json"
    other.write(path)
    for command in ("verify", "compare"):
        told = " ".join(refused("benchmark", command, str(path)).split())
        assert re.search(re.escape(f"{path}: ") + message, told)
        assert "runs the submission" not in told


def test_a_result_of_other_cells_of_this_version_is_refused(record: Record, tmp_path: Path) -> None:
    other = _tampered(record, lambda document: document["benchmark"].update(digest=64 * "0"))
    with pytest.raises(InputError, match=r"is of version 2 \(000000000000\); expected version 2 "):
        verified_record(other, tmp_path, ())


def test_damaged_files_are_named(record: Record, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    for text, message in [
        ("{", "is truncated"),
        ("{}", "is no result"),
        ('{"kind": "netlull benchmark"}', "has no format; expected the format 1: run the benchmark again"),
    ]:
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ResultError, match=message):
            Record.read(path)


def _truncated(document: dict[str, Any]) -> None:
    document["cells"][0]["energy"].pop()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: document.pop("name"), "name: is missing; expected text"),
        (lambda document: document.update(limits="0.05"), 'limits: is "0.05"; expected a list'),
        (lambda document: document.update(benchmark=[]), "benchmark: is []; expected a table"),
        (lambda document: document.update(cells=[]), "cells: is empty; expected at least one"),
        (lambda document: document["seeds"].update(kind="lucky"), 'seeds.kind: is "lucky"; expected one of'),
        (lambda document: document["cells"].append(document["cells"][0]), "cells.writer-reno: appears twice"),
        (_truncated, "cells.writer-reno.energy: has 1 values; expected 2"),
        (lambda document: document["cells"][0].update(energy=[-1, 0.5]), "cells.writer-reno.energy.0: is -1; expected"),
        (lambda document: document["cells"][0].update(energy=[1e400, 0.5]), "is truncated or damaged"),
        (lambda document: document["cells"][1].update(energy="low"), 'cells.writer-reno-dvs.energy: is "low"'),
    ],
)
def test_a_damaged_field_is_named(
    record: Record, tmp_path: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    document = json.loads(json.dumps(record.document))
    change(document)
    path = tmp_path / "result.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ResultError) as raised:
        Record.read(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert message in str(raised.value)


def test_an_edited_file_is_not_compared(record: Record, refused: Refused, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    _tampered(record, lambda document: document.update(limits=[0.5, 0.5, 0.5])).write(path)
    assert f"{path}: limits: are [0.5, 0.5, 0.5]" in refused("benchmark", "compare", str(path))
    _tampered(record, _halve_energy, checked=False).write(path)
    assert f"{path}: the file: its checksum is wrong" in refused("benchmark", "compare", str(path))


def test_the_sample_is_a_part_of_the_cells(record: Record) -> None:
    assert benchmark.sampled(record, None) == ("writer-reno", "writer-reno-dvs", "0.1-ms-1-gb-0.1")
    drawn = {benchmark.sampled(record, 1, seed) for seed in range(20)}
    assert drawn == {("writer-reno",), ("writer-reno-dvs",), ("0.1-ms-1-gb-0.1",)}


# ---- the page and the commands


def test_the_page_of_results(record: Record, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Mine\n\n{benchmark.BEGIN}\nold\n{benchmark.END}\n\nafter\n", encoding="utf-8")
    text = benchmark.markdown([record], DEFINITION, "picture.svg")
    benchmark.replace_results(page, text)
    found = page.read_text(encoding="utf-8")
    assert found.startswith("# Mine\n\n")
    assert found.endswith("\n\nafter\n")
    assert "old" not in found
    assert "| - | practRA, best static setting |" in found
    benchmark.replace_results(page, text)
    assert page.read_text(encoding="utf-8") == found
    (tmp_path / "other.md").write_text("other\n", encoding="utf-8")
    with pytest.raises(InputError, match="lacks the lines"):
        benchmark.replace_results(tmp_path / "other.md", text)


def test_results_are_compared_over_their_common_cells(record: Record) -> None:
    part = Record(record.document, record.cells[1:])
    whole, same = benchmark.common([Record({**record.document, "whole": True}, record.cells), part])
    assert (
        [each.name for each in whole.cells]
        == [each.name for each in part.cells]
        == ["writer-reno-dvs", "0.1-ms-1-gb-0.1"]
    )
    assert not whole.document["whole"]
    assert same is part
    with pytest.raises(InputError, match="no cell in common"):
        benchmark.common([Record(record.document, record.cells[:1]), part])


def test_ranks_follow_the_score_then_the_kept_cells(record: Record) -> None:
    def scored(name: str, energy: float, growth: float) -> Record:
        rows = (cell(energy, growth),)
        return Record({**record.document, "name": name, "whole": True}, rows)

    records = [scored("dear", 0.9, 1.0), scored("broken", 0.1, 2.0), scored("cheap", 0.5, 1.0), scored("on", 1.0, 1.0)]
    assert [each.name for each in benchmark.ranked(records, 0)] == ["cheap", "dear", "on", "broken"]
    rows = benchmark.league_rows(records, DEFINITION, 0)
    assert [row[:2] for row in rows] == [
        ["", "Offline optimum"],
        ["1", "cheap"],
        ["2", "dear"],
        ["3", "on"],
        ["4", "broken"],
    ]


def test_the_commands_from_end_to_end(printed: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text('[controller]\nkind = "earth"\nthreshold = "0.5 buffer"\n', encoding="utf-8")
    run = ("benchmark", "run", "--controller", "mine.toml", "--cells", "writer", "--count", "2", "--jobs", "1")
    told = printed(*run)
    assert "mine: 3 of 45 cells, 2 development seeds" in told
    assert "cannot be ranked" in told
    result = Path("out/benchmark/mine/result.json")
    told = printed("benchmark", "verify", str(result), "--sample", "1", "--draw", "1", "--jobs", "1")
    assert "verified" in told
    assert "1 of 3 cells run again" in told
    told = printed("benchmark", "compare", str(result), "--no-baselines", "--page", "page.md", "--picture", "page.svg")
    assert "mine" in told
    assert "(page.svg)" in Path("page.md").read_text(encoding="utf-8")
    assert Path("page.svg").stat().st_size > 1000
    document = json.loads(printed(*run, "--json"))
    assert document[0]["name"] == "mine"


def test_the_python_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[1] / "docs" / "how-to" / "benchmark.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "benchmark.md", "exec"), {})  # noqa: S102
    assert "'writer-reno': [" in capsys.readouterr().out


def test_the_list_of_cells(printed: Printed) -> None:
    assert "45 cells, 20 seeds each" in printed("benchmark", "list")
    assert len(json.loads(printed("benchmark", "list", "--json"))["cells"]) == 45


def test_a_tampered_file_fails(printed: Printed, refused: Refused, record: Record, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    _tampered(record, _halve_energy, checked=False).write(path)
    from netlull.cli import main

    assert main(["benchmark", "verify", str(path), "--sample", "0"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--controller", "lul"], "did you mean lull?"),
        (["run", "--controller", "lull", "--cells", "webb"], 'cells: "webb" is unknown'),
        (["run", "--controller", "lull", "--name", "../x"], "expected a name that a folder may have"),
        (["run", "--controller", "lull", "--controller", "lull"], 'two have the name "lull"'),
        (["run", "--controller", "baselines", "--name", "x"], "names one submission"),
        (["compare", "--no-baselines"], "FILE: is missing"),
        (["verify", "missing.json"], "there is no such file"),
    ],
)
def test_the_commands_name_their_errors(refused: Refused, arguments: list[str], message: str) -> None:
    assert message in refused("benchmark", *arguments)


# ---- the shipped results


def test_the_shipped_results_are_whole_and_of_this_benchmark() -> None:
    records = benchmark.shipped()
    assert {each.name for each in records} == {each.name for each in DEFINITION.baselines}
    for each in records:
        assert benchmark.is_ranked(each)
        assert each.document["benchmark"] == {"version": DEFINITION.version, "digest": DEFINITION.digest}
        assert each.document["check"] == benchmark.check_sum(each.document)
        again = each.judged_again(DEFINITION)
        assert each.document["leagues"] == again["leagues"]
        assert each.document["cells"] == again["cells"]


@pytest.mark.parametrize("name", ["practra-10", "earth"])
def test_a_shipped_result_is_verified(name: str, tmp_path: Path) -> None:
    """The writer's cells: a change of the simulator that changes results needs new results (make benchmark)."""
    (found,) = (each for each in benchmark.shipped() if each.name == name)
    verified = verified_record(found, tmp_path, ("writer-reno",))
    assert verified.problems == ()


def test_the_page_shows_the_shipped_results() -> None:
    page = (Path(__file__).parents[1] / "docs" / "benchmark.md").read_text(encoding="utf-8")
    assert benchmark.markdown(benchmark.shipped(), DEFINITION, "images/benchmark.svg") in page
