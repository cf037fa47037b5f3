"""Errors of plain data that becomes structs: the field's path, its value and the expected value."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, field

from netlull.documents.decode import Document, FieldError, Text, decode
from netlull.errors import InputError


class Entry(Document, frozen=True):
    name: Text
    values: tuple[float | str, ...] = ()
    share: float = 0.0

    def __post_init__(self) -> None:
        if self.share > 1:
            raise FieldError("share", "is more than 1; expected at most 1")
        if self.share < 0:
            raise InputError("the whole is wrong")


class Sheet(Document, frozen=True):
    title: Text
    seeds: Annotated[int, Meta(ge=1)] | Sequence[int] = 1
    kind: Literal["grid", "list"] = "grid"
    whole: bool = True
    entries: tuple[Entry, ...] = field(default=(), name="entry")
    tolerance: Mapping[str, float] = {}
    keep: Mapping[str, tuple[float, ...]] = {}
    path: Annotated[str | None, Meta(extra={"expected": "a path such as link.a-b.rate"})] = None


def test_a_document_becomes_a_struct() -> None:
    sheet = decode({"title": "t", "seeds": [1, 2], "entry": [{"name": "a", "values": [1, "x"]}]}, Sheet)
    assert sheet.entries == (Entry("a", (1.0, "x")),)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"title": None}, "title: is null; expected text"),
        ({"title": " "}, 'title: is " "; expected text'),
        ({"titel": 1}, "titel: is unknown; did you mean title?"),
        ({"x": 1}, "x: is unknown; expected one of title, seeds, kind, whole, entry, tolerance, keep, path"),
        ({"seeds": 0}, "seeds: is 0; expected a whole number of at least 1 or a list"),
        ({"seeds": True}, "seeds: is true; expected a whole number of at least 1 or a list"),
        ({"kind": "tree"}, 'kind: is "tree"; expected one of grid, list'),
        ({"whole": 1}, "whole: is 1; expected true or false"),
        ({"path": 3}, "path: is 3; expected a path such as link.a-b.rate"),
        ({"entry": {"name": "a"}}, 'entry: is {"name": "a"}; expected a list of tables'),
        ({"entry": [{"name": "a"}, 3]}, "entry.1: is 3; expected a table"),
        ({"entry": [{"values": []}]}, "entry.0.name: is missing; expected text"),
        ({"entry": [{"name": "a", "values": [1, True]}]}, "entry.a.values.1: is true; expected a number or text"),
        ({"entry": [{"name": "a", "share": 2}]}, "entry.a.share: is more than 1; expected at most 1"),
        ({"entry": [{"name": "a", "share": -1}]}, "the whole is wrong"),
        ({"tolerance": {"low": 1, "high": "many"}}, 'tolerance.high: is "many"; expected a number'),
        ({"keep": {"rtt": [1], "load": [1, "x"]}}, 'keep.load.1: is "x"; expected a number'),
        ({"title": [1] * 99}, "..."),
    ],
)
def test_an_error_names_the_field_its_value_and_what_was_expected(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as raised:
        decode({"title": "t", **changes}, Sheet)
    assert message in str(raised.value)


def test_a_document_that_is_no_table() -> None:
    with pytest.raises(FieldError, match=r"^is \[\]; expected a table$"):
        decode([], Sheet)


THREADS = """
import sys, threading
from netlull.documents.decode import Document, decode

sys.setswitchinterval(1e-6)
for _ in range(500):
    class Inner(Document):
        a: str

    class Outer(Document):
        items: tuple[Inner, ...] = ()
        many: dict[str, list[Inner]] = {}

    together = threading.Barrier(4)

    def run(kind):
        together.wait()
        decode({"items": [{"a": "x"}], "many": {"k": [{"a": "y"}]}}, kind)

    threads = [threading.Thread(target=run, args=(Outer,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_threads_may_read_a_kind_of_document_for_the_first_time_at_once() -> None:
    ended = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
