"""The benchmark's definition: cells, leagues, seeds and baselines, read from the files in `shipped/benchmark`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from msgspec import field

from netlull.documents.decode import Document, FieldError, Text, decode
from netlull.documents.textfiles import read_text
from netlull.documents.tomltext import read_toml
from netlull.errors import InputError, near
from netlull.quantities import in_unit
from netlull.scenario import Scenario

__all__ = ["OPTIMA", "SHIPPED", "Baseline", "Cell", "Definition", "Optimum", "Rates", "optimum_seeds"]

_T = TypeVar("_T")

OPTIMA = "optima.json"
"""The file with the optima."""
SHIPPED = Path(__file__).parents[1] / "shipped" / "benchmark"
"""The folder of the benchmark that comes with netlull."""


class Rates(Document, frozen=True):
    """The rates of a cell's link, in equal steps; the highest is the link's."""

    low: str = field(name="from")
    high: str = field(name="to")
    step: str

    def listed(self) -> list[int]:
        """The rates in b/s, ascending."""
        low, high, step = (round(in_unit(text, "b/s") or 0) for text in (self.low, self.high, self.step))
        return list(range(low, high + 1, step))

    def table(self) -> dict[str, str]:
        """The rates as scenarios have them."""
        return {"from": self.low, "to": self.high, "step": self.step}


class _Setting(Document, frozen=True):
    """The fields of a cell. Those that it leaves out are its family's, or else the defaults."""

    name: Text
    flows: tuple[str, ...] | None = None
    duration: str | None = None
    rates: Rates | None = None
    transition: str | None = None
    power: str | None = None
    round_trip: str | None = None
    set: Mapping[str, Any] = {}


class _Family(_Setting, frozen=True, kw_only=True):
    """A group of cells, and the fields that they share."""

    title: Text
    cell: tuple[_Setting, ...]


class _Defaults(Document, frozen=True):
    duration: str
    rates: Rates
    transition: str
    power: str
    round_trip: str


class _File(Document, frozen=True):
    """The contents of benchmark.toml."""

    version: int
    scenario: str
    link: str
    leagues: tuple[float, ...]
    seeds: int
    optimum_seeds: int
    optimum_duration: str
    defaults: _Defaults
    family: tuple[_Family, ...]


class Baseline(Document, frozen=True):
    """A controller that the benchmark knows by name; without one, the link is always on."""

    name: Text
    title: Text
    controller: Mapping[str, Any] | None = None


class _Baselines(Document, frozen=True):
    baseline: tuple[Baseline, ...]


class Optimum(Document, frozen=True):
    """The offline optimum of a cell with a seed."""

    always_on_j: float
    """The energy of the link always on."""
    shares: tuple[float, ...]
    """The optimum's energy over it, for each league."""


class _Optima(Document, frozen=True):
    """The contents of optima.json."""

    digest: str
    """The digest of the definition."""
    cells: Mapping[str, tuple[Optimum, ...]]


@dataclass(frozen=True)
class Cell:
    """A setting in which controllers are judged: traffic, link and power model."""

    name: str
    family: str
    title: str
    """The title of the family."""
    flows: tuple[str, ...]
    """The flows of the scenario that the cell keeps."""
    rates: Rates
    transition: str
    power: str
    """The power model that the cell's energy is counted with."""
    round_trip: str
    """The shortest round trip of the cell's connections."""
    values: Mapping[str, Any]
    """The fields of the scenario that the cell sets, by their paths."""


@dataclass(frozen=True)
class Definition:
    """A benchmark. `load` reads it."""

    version: int
    link: str
    """The controlled link."""
    leagues: tuple[float, ...]
    """The share by which p95 completion times may grow, and goodput may fall."""
    seeds: int
    """The number of seeds of a cell."""
    optimum_seeds: int
    """The number of development seeds with an offline optimum, the first ones."""
    optimum_duration: str
    """The longest duration of a run with an offline optimum."""
    cells: tuple[Cell, ...]
    document: Mapping[str, Any]
    """The scenario with all flows and an uncontrolled link."""
    digest: str
    """Identifies the cells, the leagues and the scenario: the SHA-256 of their content without comments."""
    baselines: tuple[Baseline, ...]
    optima: Mapping[str, Sequence[Optimum]]
    """The offline optima of each cell by seed; empty if they were not computed for this definition."""

    @classmethod
    def load(cls, folder: Path = SHIPPED) -> Definition:
        """The benchmark in a folder with benchmark.toml, its scenario and baselines.toml.

        Raises:
            InputError: a file cannot be read or is invalid.
        """
        raw = _read(folder / "benchmark.toml")
        found = _decoded(raw, _File, folder / "benchmark.toml")
        document = _read(folder / found.scenario)
        baselines = _decoded(_read(folder / "baselines.toml"), _Baselines, folder / "baselines.toml")
        cells = tuple(_cell(found.defaults, family, cell) for family in found.family for cell in family.cell)
        names = [cell.name for cell in cells]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f'{folder / "benchmark.toml"}: the cell "{twice}" appears twice; expected different names')
        text = json.dumps([raw, document], sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(text.encode()).hexdigest()
        return cls(
            found.version,
            found.link,
            found.leagues,
            found.seeds,
            found.optimum_seeds,
            found.optimum_duration,
            cells,
            document,
            digest,
            baselines.baseline,
            _optima(folder / OPTIMA, digest),
        )

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario with all flows and an uncontrolled link."""
        return Scenario.from_dict(self.document)

    def chosen(self, names: tuple[str, ...] = ()) -> tuple[Cell, ...]:
        """The cells with these names, or of the families with these names; all without a name.

        Raises:
            InputError: a name is unknown.
        """
        if not names:
            return self.cells
        known = dict.fromkeys([cell.name for cell in self.cells] + [cell.family for cell in self.cells])
        for name in names:
            if name not in known:
                raise InputError(f'cells: "{name}" is unknown; {near(name, list(known))}')
        return tuple(cell for cell in self.cells if cell.name in names or cell.family in names)

    def changes(self, cell: Cell) -> dict[str, Any]:
        """The changes of the scenario for a cell, as `Scenario.with_values` takes them."""
        flows = [flow["name"] for flow in self.document["flow"]]
        return {**{f"flow.{name}": None for name in flows if name not in cell.flows}, **cell.values}

    def shortened(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """The changes for a run with an optimum: its duration is limited."""
        shortest = min(changes["duration"], self.optimum_duration, key=lambda text: in_unit(text, "s") or 0.0)
        return {**changes, "duration": shortest}

    def is_whole(self, cells: Sequence[str], seeds: int) -> bool:
        """True for all cells, each once, and all seeds."""
        return sorted(cells) == sorted(cell.name for cell in self.cells) and seeds == self.seeds

    def shares(self, cell: str) -> list[list[float]]:
        """The energy of a cell's optimum over always-on's: for each league, a number for each seed with an optimum."""
        optima = self.optima.get(cell, ())
        return [[optimum.shares[number] for optimum in optima] for number in range(len(self.leagues))]

    def baseline(self, name: str) -> Baseline | None:
        """The baseline with this name."""
        return next((each for each in self.baselines if each.name == name), None)


def optimum_seeds(definition: Definition) -> tuple[int, ...]:
    """The seeds of the runs with an optimum: the first development seeds."""
    return tuple(range(1, definition.optimum_seeds + 1))


def _optima(path: Path, digest: str) -> Mapping[str, Sequence[Optimum]]:
    """The optima in a file, if it is of this definition."""
    if not path.exists():
        return {}
    found = _decoded(json.loads(read_text(path)), _Optima, path)
    return found.cells if found.digest == digest else {}


def _read(path: Path) -> dict[str, Any]:
    return read_toml(read_text(path), str(path))


def _decoded(raw: object, kind: type[_T], path: Path) -> _T:
    try:
        return decode(raw, kind)
    except FieldError as error:
        raise InputError(f"{path}: {error}") from None


def _cell(defaults: _Defaults, family: _Family, cell: _Setting) -> Cell:
    flows = cell.flows or family.flows
    if not flows:
        raise InputError(f"benchmark.toml: the cell {cell.name} keeps no flow; expected `flows`")
    duration = cell.duration or family.duration or defaults.duration
    return Cell(
        cell.name,
        family.name,
        family.title,
        flows,
        cell.rates or family.rates or defaults.rates,
        cell.transition or family.transition or defaults.transition,
        cell.power or family.power or defaults.power,
        cell.round_trip or family.round_trip or defaults.round_trip,
        {"duration": duration, **family.set, **cell.set},
    )
