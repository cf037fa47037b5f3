"""The journal of a sweep: whole lines are kept, whatever happened to the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlull.sweep.journal import Journal, read

RECORDS = [{"key": f"run-{seed}", "seed": seed, "summary": {"x": seed / 3, "name": "ü"}} for seed in range(3)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.jsonl"
    journal, contents = Journal.open(path)
    assert contents.records == {}
    for record in RECORDS:
        journal.append(record)
    journal.close()
    return path


def test_records_read_back(path: Path) -> None:
    contents = read(path)
    assert list(contents.records.values()) == RECORDS
    assert contents.damaged == ()


def test_every_truncation_keeps_the_whole_lines(path: Path) -> None:
    raw = path.read_bytes()
    ends = [index + 1 for index, byte in enumerate(raw) if byte == ord("\n")]
    for length in range(len(raw)):
        path.write_bytes(raw[:length])
        contents = read(path)
        whole = sum(end <= length for end in ends)
        assert len(contents.records) == whole
        assert len(contents.damaged) == (0 if length in (0, *ends) else 1)


@given(st.data())
def test_every_flipped_byte_is_found_or_harmless(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    journal, _ = Journal.open(path)
    for record in RECORDS:
        journal.append(record)
    journal.close()
    raw = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(raw))
    contents = read(path)
    # White space between tokens may change without harm; a record that is read is always what was written.
    for record in contents.records.values():
        assert record in RECORDS
    assert len(contents.records) + len(contents.damaged) >= len(RECORDS) - 1


def test_damaged_lines_are_named_and_removed(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1].replace(b'"seed":1', b'"seed":9') + b"garbage\n" + lines[2][:20])
    journal, contents = Journal.open(path)
    assert contents.damaged == (
        "journal.jsonl line 2 is damaged: its checksum is wrong",
        "journal.jsonl line 3 is damaged: it is no record",
        "journal.jsonl line 4 is truncated",
    )
    journal.append(RECORDS[1])
    journal.close()
    assert list(read(path).records) == ["run-0", "run-1"]
    assert read(path).damaged == ()
