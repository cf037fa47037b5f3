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
    assert contents.lines == {}
    for record in RECORDS:
        journal.append(record)
    journal.close()
    return path


def test_records_read_back(path: Path) -> None:
    contents = read(path)
    assert [contents.record(key) for key in contents.lines] == RECORDS
    assert contents.damaged == ()


def test_every_truncation_keeps_the_whole_lines(path: Path) -> None:
    raw = path.read_bytes()
    ends = [index + 1 for index, byte in enumerate(raw) if byte == ord("\n")]
    for length in range(len(raw)):
        path.write_bytes(raw[:length])
        contents = read(path)
        whole = sum(end <= length for end in ends)
        assert len(contents.lines) == whole
        assert len(contents.damaged) == (0 if length in (0, *ends) else 1)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A file to write to, and the bytes of a sound journal."""
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    journal, _ = Journal.open(path)
    for record in RECORDS:
        journal.append(record)
    journal.close()
    return path, path.read_bytes()


@given(st.data())
def test_every_flipped_byte_is_found_or_harmless(whole: tuple[Path, bytes], data: st.DataObject) -> None:
    path, raw = whole[0], bytearray(whole[1])
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(raw))
    contents = read(path)
    # White space between tokens may change without harm; a record that is read is always what was written.
    for key in contents.lines:
        assert contents.record(key) in RECORDS
    assert len(contents.lines) + len(contents.damaged) >= len(RECORDS) - 1


def test_a_number_that_became_infinite_is_found(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"x":0.3', b'"x":1e999'))
    assert read(path).damaged == ("journal.jsonl line 2 is damaged: it is no record",)


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
    assert list(read(path).lines) == ["run-0", "run-1"]
    assert read(path).damaged == ()
