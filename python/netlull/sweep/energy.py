"""The energy of a sweep's runs: the parts for every link that varied, under each power model."""

from __future__ import annotations

import math
from array import array
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from netlull.results.energy import has_varied

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from netlull.sweep.axes import Axis
    from netlull.sweep.points import Point

__all__ = ["FIELDS", "Energies"]

FIELDS = ("static_j", "rate_dependent_j", "traffic_j", "transitions_j", "asleep_j", "total_j", "reference_j")
"""Fields of a run's summary, in joules over the measured part of the run."""
_WIDTH = len(FIELDS)

_fields = itemgetter(*FIELDS)

_Place = tuple[str, str]


class _Runs:
    """The runs of a point, for a link and a power model. A seed of 63 bits would lose its last ones as a float."""

    def __init__(self) -> None:
        self.seeds = array("q")
        self.numbers = array("d")

    def rows(self) -> set[tuple[int, tuple[float, ...]]]:
        """The seeds with the numbers of their runs. A repeated run counts once."""
        return {(seed, tuple(self.numbers[at * _WIDTH : (at + 1) * _WIDTH])) for at, seed in enumerate(self.seeds)}


class Energies:
    """Collects the energy of runs into a table of means: a row per point, link and power model."""

    def __init__(self) -> None:
        self._runs: dict[str, dict[_Place, _Runs]] = {}
        self._varied: set[str] = set()

    def add(self, scenario: str, seed: int, summary: Mapping[str, Any]) -> None:
        """Adds a run's energy. `scenario` is the key of its point."""
        places = self._runs.setdefault(scenario, {})
        for link in summary["links"]:
            if has_varied(link):
                self._varied.add(link["name"])
            for model, energy in (link.get("energy") or {}).items():
                runs = places.setdefault((link["name"], model), _Runs())
                runs.seeds.append(seed)
                runs.numbers.extend(_fields(energy))

    def table(self, points: Sequence[Point], axes: Sequence[Axis]) -> pa.Table:
        """Means in joules over the seeds of each point, for links that varied in any run."""
        import pyarrow as pa

        columns: dict[str, list[Any]] = {"experiment": []}
        columns |= {f"{axis.name}_label": [] for axis in axes}
        columns |= {name: [] for name in ("link", "model", "runs", *FIELDS)}
        for point in points:
            for (link, model), found in self._runs.get(point.scenario.key[:40], {}).items():
                if link not in self._varied:
                    continue
                wanted = set(point.seeds)
                runs = [row for seed, row in sorted(found.rows()) if seed in wanted]
                columns["experiment"].append(point.experiment)
                for axis in axes:
                    place = point.at.get(axis.name)
                    columns[f"{axis.name}_label"].append(None if place is None else place.text)
                for name, value in zip(("link", "model", "runs"), (link, model, len(runs)), strict=True):
                    columns[name].append(value)
                for index, field in enumerate(FIELDS):
                    columns[field].append(math.fsum(row[index] for row in runs) / len(runs))
        types = {"runs": pa.int64()} | dict.fromkeys(FIELDS, pa.float64())
        return pa.table({name: pa.array(values, types.get(name, pa.string())) for name, values in columns.items()})
