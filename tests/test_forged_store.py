"""A store with well-formed nonsense: each field of sweep.json and of a run takes each type of JSON."""

from __future__ import annotations

import copy
import hashlib
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from netlull import Axis, InputError, Scenario, Sweep, SweepResult
from netlull.report.sweeps import sweep_report
from netlull.sweep.journal import Journal, read

VALUES: list[Any] = [None, True, -1, 1.5, 10**400, "", "\ud800", "text", [], [7], {}, {"text": 7}, [[]], [None]]
"""Values of each type, and text and numbers beyond the usual."""
MISSING = object()


def forgeries(document: Any) -> Iterator[tuple[str, Any]]:
    """Copies of the document with one field missing or replaced, and the place and value of the change."""

    def places(node: Any, above: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
        inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, value in inner:
            yield (*above, key)
            yield from places(value, (*above, key))

    for place in places(document, ()):
        for value in (*VALUES, MISSING):
            forged = copy.deepcopy(document)
            node = forged
            for key in place[:-1]:
                node = node[key]
            if value is MISSING:
                del node[place[-1]]
            else:
                node[place[-1]] = value
            yield f"{'.'.join(map(str, place))} is {'missing' if value is MISSING else repr(value)[:20]}", forged


def refusal(what: str, act: Callable[[], object]) -> str | None:
    """The message of the refusal, if there is one. No other error may come."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            act()
        except InputError as error:
            return str(error)
        except Exception as error:
            pytest.fail(f"{what}: {repr(error)[:300]}")
    return None


def read_and_report(store: Path, report: bool) -> None:
    SweepResult.load(store).summarise()
    if report:
        sweep_report(store)


@pytest.fixture
def sweep(small: Scenario) -> Sweep:
    rate = Axis("rate", "flow.noise.rate", ["2 Mb/s", "8 Mb/s"], unit="Mb/s")
    return Sweep(small.with_values({"duration": "50 ms"}), [rate], 5, {"goodput_bps": "flow.tcp.goodput_bps"})


def write_description(store: Path, document: dict[str, Any]) -> None:
    rest = {key: value for key, value in document.items() if key != "check"}
    text = json.dumps({**rest, "check": hashlib.sha256(json.dumps(rest).encode()).hexdigest()})
    (store / "sweep.json").write_text(text, encoding="utf-8")


def test_a_forged_description_gives_an_error_of_the_input(sweep: Sweep, tmp_path: Path) -> None:
    store = tmp_path / "store"
    sweep.run(store, until="goodput_bps<500%")
    sound = json.loads((store / "sweep.json").read_text())
    assert {"until", "files", "axes", "measured"} <= set(sound)
    refused = []
    for number, (what, forged) in enumerate(forgeries(sound)):
        # The scenario has hundreds of fields and one reader.
        if what.startswith("scenario.") and number % 11:
            continue
        write_description(store, forged)
        refused.append(refusal(what, lambda number=number: read_and_report(store, number % 37 == 0)))
    named = [message for message in refused if message is not None]
    assert len(named) > 300
    assert all(message.startswith(f"{store}/") for message in named)


@pytest.mark.filterwarnings("ignore::netlull.NetlullWarning")
def test_a_forged_description_is_rewritten_by_a_sweep(sweep: Sweep, tmp_path: Path) -> None:
    store = tmp_path / "store"
    sweep.run(store)
    sound = (store / "sweep.json").read_bytes()
    for number, (what, forged) in enumerate(forgeries(json.loads(sound))):
        if number % 13 or what.startswith(("format", "kind")):
            continue
        write_description(store, forged)
        assert sweep.run(store).executed == 0, what
        assert (store / "sweep.json").read_bytes() == sound, what


def write_record(store: Path, record: dict[str, Any]) -> None:
    journal, _ = Journal.open(store / "journal.jsonl")
    # A later line of a run replaces the earlier ones.
    journal.append(json.dumps(record, separators=(",", ":")).encode())
    journal.close()


def test_a_forged_run_gives_an_error_of_the_input(sweep: Sweep, tmp_path: Path) -> None:
    store = tmp_path / "store"
    sweep.run(store)
    journal = store / "journal.jsonl"
    sound = journal.read_bytes()
    contents = read(journal)
    record = contents.record(next(iter(contents.lines)))
    refused = []
    for number, (what, forged) in enumerate(forgeries(record)):
        if what.startswith("key ") or number % 41:
            continue
        journal.write_bytes(sound)
        write_record(store, forged)
        refused.append(refusal(what, lambda: sweep.run(store)))
    named = [message for message in refused if message is not None]
    assert len(named) > 20
    assert all(message.startswith((f"{journal}: the run ", "metrics.goodput_bps: ")) for message in named)


@pytest.mark.parametrize("record", [b'{"key":"KEY"', b'{"key":"KEY"}', b'{"key":"KEY"}' + b"]" * 9, b'{"key":"\xff"}'])
def test_a_line_that_is_no_run_is_named(sweep: Sweep, tmp_path: Path, record: bytes) -> None:
    store = tmp_path / "store"
    sweep.run(store)
    key = next(iter(read(store / "journal.jsonl").lines))
    journal, _ = Journal.open(store / "journal.jsonl")
    journal.append(record.replace(b"KEY", key.encode()))
    journal.close()
    if b"\xff" in record:
        assert read(store / "journal.jsonl").damaged == ("journal.jsonl line 11 is damaged: it is not a record",)
        return
    with pytest.raises(InputError, match=rf"journal\.jsonl: the run {key}: "):
        sweep.run(store)
