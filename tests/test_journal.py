"""The journal of a sweep: sound lines are kept, whatever the damage to the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlull.sweep.journal import Journal, read

RECORDS: list[dict[str, Any]] = [
    {"key": f"run-{seed}", "seed": seed, "summary": {"x": seed / 3, "name": "ü", "links": []}} for seed in range(3)
]


def append(journal: Journal, record: dict[str, Any]) -> None:
    journal.append(json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.jsonl"
    journal, contents = Journal.open(path)
    assert contents.lines == {}
    for record in RECORDS:
        append(journal, record)
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
        append(journal, record)
    journal.close()
    return path, path.read_bytes()


@given(st.data())
def test_every_flipped_byte_is_found_or_harmless(whole: tuple[Path, bytes], data: st.DataObject) -> None:
    path, raw = whole[0], bytearray(whole[1])
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(raw))
    contents = read(path)
    # A record that is read equals a written one.
    for key in contents.lines:
        assert contents.record(key) in RECORDS
    assert len(contents.lines) + len(contents.damaged) >= len(RECORDS) - 1


def test_white_space_in_a_record_is_a_change(path: Path) -> None:
    # The checksum is of the bytes: equal JSON values with other bytes are another record.
    path.write_bytes(path.read_bytes().replace(b'"seed":1', b'"seed": 1'))
    assert read(path).damaged == ("journal.jsonl line 2 is damaged: its checksum is wrong",)


@pytest.mark.parametrize("line", [b"{}", b'{"check":"0123456789abcdef","record":[]}', b'{"check":"', b"{" * 100_000])
def test_what_is_no_record_is_named(path: Path, line: bytes) -> None:
    path.write_bytes(line + b"\n" + path.read_bytes())
    contents = read(path)
    assert contents.damaged == ("journal.jsonl line 1 is damaged: it is not a record",)
    assert [contents.record(key) for key in contents.lines] == RECORDS


def test_a_journal_of_an_earlier_version_reads_alike(path: Path) -> None:
    # Written by 0.1.0: no `cpu_s`, text in ASCII; the checksum is of the same bytes.
    record = b'{"key":"run-2","seed":2,"summary":{"x":0.6666666666666666,"name":"\\u00fc","links":[]}}'
    path.write_bytes(b'{"check":"fed1ee37fa529c0d","record":' + record + b"}\n")
    assert read(path).record("run-2") == RECORDS[2]


def test_damaged_lines_are_named_and_removed(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1].replace(b'"seed":1', b'"seed":9') + b"garbage\n" + lines[2][:20])
    journal, contents = Journal.open(path)
    assert contents.damaged == (
        "journal.jsonl line 2 is damaged: its checksum is wrong",
        "journal.jsonl line 3 is damaged: it is not a record",
        "journal.jsonl line 4 is truncated",
    )
    append(journal, RECORDS[1])
    journal.close()
    assert list(read(path).lines) == ["run-0", "run-1"]
    assert read(path).damaged == ()
