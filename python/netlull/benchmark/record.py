"""The result file of a submission: its numbers by seed, the scores, and digests that `verify` recomputes."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

from msgspec import Meta

from netlull.benchmark.judge import CellRows, League, judged, standing
from netlull.documents.decode import Document, FieldError, Text, decode
from netlull.documents.textfiles import read_text
from netlull.errors import InputError, ResultError, check_format
from netlull.results.output import origin, staged_file

if TYPE_CHECKING:
    from netlull.benchmark.definition import Definition
    from netlull.benchmark.runs import Measured, Run
    from netlull.benchmark.submission import Submission

__all__ = ["KIND", "Record", "check_sum", "optimum_of"]

KIND = "netlull benchmark"
_LARGEST = 64 * 2**20
"""The largest result that is read, in bytes: one of all cells and 20 seeds has 50 kB."""
_FORMAT = 1
_DIGITS = 7
"""Significant digits of a number in a result file. The digests are of the whole numbers."""

_Number = Annotated[float, Meta(ge=0, le=1e18, extra={"expected": "a number from 0 to 1e18"})]
_Seed = Annotated[int, Meta(ge=0)]
_Numbers = tuple[_Number, ...]
_Pair = tuple[tuple[_Number | None, ...], tuple[_Number | None, ...]]


class _Definition(Document, frozen=True):
    version: int
    digest: str


class _Seeds(Document, frozen=True):
    kind: Literal["development", "ranking"]
    values: tuple[_Seed, ...]


class _Cell(Document, frozen=True):
    """The numbers of a cell. A list of numbers has one for each seed; those of a failed controller are empty."""

    name: Text
    energy: _Numbers
    goodput_bps: _Pair
    p95_s: Mapping[str, _Pair]
    rate_changes: tuple[_Seed, ...]
    optimum: tuple[_Numbers, ...]
    against_optimum: _Numbers
    digest: str
    standing: tuple[str, ...]
    failed: Text | None = None

    def check_lengths(self, seeds: int, leagues: int) -> None:
        """Refuses lists with missing or additional numbers."""
        ours = seeds if self.failed is None else 0
        lengths = {
            "energy": (len(self.energy), ours),
            "rate_changes": (len(self.rate_changes), ours),
            "optimum": (len(self.optimum), leagues),
            "standing": (len(self.standing), leagues),
        }
        for field, (controlled, always_on) in {"goodput_bps": self.goodput_bps, **self.p95_s}.items():
            lengths[f"{field}.0"], lengths[f"{field}.1"] = (len(controlled), ours), (len(always_on), seeds)
        for field, (length, expected) in lengths.items():
            if length != expected:
                raise FieldError(f"cells.{self.name}.{field}", f"has {length} values; expected {expected}")


class _File(Document, frozen=True):
    """The content of a result file."""

    format: int
    kind: str
    benchmark: _Definition
    version: str
    engine: str
    commit: str | None
    name: Text
    controller: Mapping[str, Any] | None
    submission: str
    limits: _Numbers
    whole: bool
    seeds: _Seeds
    leagues: tuple[Mapping[str, Any], ...]
    check: str
    cells: tuple[_Cell, ...]

    def __post_init__(self) -> None:
        for field in ("limits", "cells"):
            if not getattr(self, field):
                raise FieldError(field, "is empty; expected at least one")
        if not self.seeds.values:
            raise FieldError("seeds.values", "is empty; expected at least one seed")
        if len(self.leagues) != len(self.limits):
            raise FieldError("leagues", f"has {len(self.leagues)} entries; expected {len(self.limits)}")
        names = [cell.name for cell in self.cells]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise FieldError(f"cells.{twice}", "appears twice; expected different names")
        for cell in self.cells:
            cell.check_lengths(len(self.seeds.values), len(self.limits))


@dataclass(frozen=True)
class Record:
    """A result file. `document` is its content, `cells` the numbers that are judged."""

    document: Mapping[str, Any]
    cells: tuple[CellRows, ...]

    @property
    def name(self) -> str:
        """The submission's name."""
        return str(self.document["name"])

    @property
    def controller(self) -> Mapping[str, Any] | None:
        """The submitted controller; None for a link that is always on."""
        found: Mapping[str, Any] | None = self.document["controller"]
        return found

    @property
    def leagues(self) -> list[League]:
        """The results in all leagues, judged from the numbers of the cells."""
        return judged(self.cells, self.document["limits"])

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of every cell."""
        return tuple(self.document["seeds"]["values"])

    @classmethod
    def of(
        cls,
        definition: Definition,
        submission: Submission,
        digest: str,
        kind: str,
        seeds: Sequence[int],
        measured: Mapping[str, Measured],
    ) -> Record:
        """The record of measured cells."""
        cells = list(cls.cells_of(measured).values())
        rows = tuple(map(_rows, cells))
        scores = _judged(cells, rows, definition)
        document = {
            "format": _FORMAT,
            "kind": KIND,
            "benchmark": {"version": definition.version, "digest": definition.digest},
            **origin(),
            "name": submission.name,
            "controller": None if submission.controller is None else dict(submission.controller),
            "submission": digest,
            "limits": list(definition.leagues),
            "whole": definition.is_whole(list(measured), len(seeds)),
            "seeds": {"kind": kind, "values": list(seeds)},
            **scores,
        }
        # As it is read back.
        return cls(json.loads(json.dumps({**document, "check": check_sum(document)})), rows)

    @staticmethod
    def rows_of(document: Mapping[str, Any]) -> tuple[CellRows, ...]:
        """The numbers of the cells of a document."""
        return tuple(map(_rows, document["cells"]))

    @staticmethod
    def cells_of(measured: Mapping[str, Measured]) -> dict[str, dict[str, Any]]:
        """The cells as they are in a file, by name, without their verdicts."""
        cells: dict[str, dict[str, Any]] = {name: _cell(name, found) for name, found in measured.items()}
        return cells

    def check_version(self, definition: Definition) -> None:
        """Refuses a result of another version of the benchmark: versions have different cells and seeds.

        Raises:
            InputError: the result is of another version, or of other cells of this one.
        """
        theirs = self.document["benchmark"]
        if theirs != {"version": definition.version, "digest": definition.digest}:
            raise InputError(
                f"benchmark: the result is of version {theirs['version']} ({theirs['digest'][:12]}); expected version "
                f"{definition.version} ({definition.digest[:12]}): run the controller again, or use the netlull that "
                "wrote the result"
            )

    def judged_again(self, definition: Definition) -> dict[str, Any]:
        """The fields `leagues` and `cells` of the document, as its numbers give them."""
        return _judged(self.document["cells"], self.cells, definition)

    @classmethod
    def read(cls, path: str | Path) -> Record:
        """The record in a file.

        Raises:
            ResultError: it cannot be read, or is no result of the benchmark. The message names the field.
        """
        try:
            document = json.loads(read_text(Path(path), _LARGEST), parse_constant=_refuse)
        except InputError as error:
            raise ResultError(str(error)) from None
        except (ValueError, RecursionError):
            raise ResultError(f"{path}: is truncated or damaged; expected a result of netlull benchmark") from None
        if not isinstance(document, dict) or document.get("kind") != KIND:
            raise ResultError(f"{path}: is no result of netlull benchmark")
        check_format(path, document, _FORMAT, "run the benchmark again, or read it with the netlull that wrote it")
        try:
            decode(document, _File)
        except FieldError as error:
            raise ResultError(f"{path}: {error}") from None
        return cls(document, cls.rows_of(document))

    def write(self, path: Path) -> None:
        """Writes the file, with a line for each cell.

        Raises:
            OutputError: it cannot be written.
        """
        head = {name: value for name, value in self.document.items() if name != "cells"}
        lines = ",\n".join(f"    {_text(cell)}" for cell in self.document["cells"])
        text = ",\n".join(f"  {_text(name)}: {_text(value)}" for name, value in head.items())
        with staged_file(path) as stage:
            stage.write_text(f'{{\n{text},\n  "cells": [\n{lines}\n  ]\n}}\n', encoding="utf-8", newline="\n")


def optimum_of(definition: Definition, cell: str) -> list[list[float | None]]:
    """The optimum of a cell as it is in a file."""
    return list(map(_shorts, definition.shares(cell)))


def _refuse(constant: str) -> NoReturn:
    """Refuses NaN and infinities, which JSON lacks."""
    raise ValueError(constant)


def check_sum(document: Mapping[str, Any]) -> str:
    """The checksum of all fields of a result file but itself, independent of white space."""
    rest = {name: value for name, value in document.items() if name != "check"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _judged(cells: Sequence[Mapping[str, Any]], rows: Sequence[CellRows], definition: Definition) -> dict[str, Any]:
    """The leagues, and the cells with their verdicts."""
    return {
        "leagues": [_league(found) for found in judged(rows, definition.leagues)],
        "cells": [
            {**cell, "standing": [standing(row, limit).standing.value for limit in definition.leagues]}
            for cell, row in zip(cells, rows, strict=True)
        ],
    }


def _cell(name: str, measured: Measured) -> dict[str, Any]:
    """The numbers of a cell, and the digest of its runs."""
    always_on, ours = measured.always_on, measured.controlled
    document: dict[str, Any] = {"name": name}
    if measured.failed is not None:
        document["failed"] = measured.failed
    flows = list(always_on[0].p95_s)
    pairs = list(zip(ours, always_on, strict=False))
    return document | {
        "energy": [_short(run.energy_j / plain.energy_j) for run, plain in pairs],
        "goodput_bps": [_shorts(run.goodput_bps for run in runs) for runs in (ours, always_on)],
        "p95_s": {flow: [_shorts(run.p95_s[flow] for run in runs) for runs in (ours, always_on)] for flow in flows},
        "rate_changes": [run.rate_changes for run in ours],
        "optimum": list(map(_shorts, measured.optimum)),
        "against_optimum": _shorts(measured.against_optimum),
        "digest": _digest([*ours, *always_on]),
    }


def _digest(runs: Sequence[Run]) -> str:
    return hashlib.sha256("".join(run.digest for run in runs).encode()).hexdigest()


def _rows(cell: Mapping[str, Any]) -> CellRows:
    def pair(values: Sequence[Sequence[float | None]]) -> tuple[Sequence[float | None], Sequence[float | None]]:
        ours, theirs = values
        return ours, theirs

    return CellRows(
        str(cell["name"]),
        [float(value) for value in cell["energy"]],
        pair(cell["goodput_bps"]),
        {flow: pair(values) for flow, values in cell["p95_s"].items()},
        [int(value) for value in cell["rate_changes"]],
        [[float(value) for value in values] for values in cell["optimum"]],
        [float(value) for value in cell["against_optimum"]],
        cell.get("failed"),
    )


def _league(found: League) -> dict[str, Any]:
    return {
        "limit": found.limit,
        "energy": _short(found.energy.mean),
        "interval": [_short(found.energy.low), _short(found.energy.high)],
        "best": _short(found.best),
        "worst": _short(found.worst),
        "kept": found.kept,
        "undecided": found.undecided,
        "broken": found.broken,
        "optimum": _short(found.optimum),
        "regret": _short(found.regret),
    }


def _short(value: float | None) -> float | None:
    """The number with few digits; None for NaN, which JSON lacks."""
    return None if value is None or math.isnan(value) else float(f"{value:.{_DIGITS}g}")


def _shorts(values: Any) -> list[float | None]:
    return [_short(value) for value in values]


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
