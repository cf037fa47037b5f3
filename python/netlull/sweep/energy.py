"""The energy of a sweep's runs: the parts for every link that varied, under each power model."""

from __future__ import annotations

import math
from array import array
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from netlull.energy import has_varied

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from netlull.sweep.axes import Axis
    from netlull.sweep.points import Point

__all__ = ["FIELDS", "Energies"]

FIELDS = ("static_j", "rate_dependent_j", "traffic_j", "transitions_j", "total_j", "reference_j")
"""Fields of a run's summary, in joules over the measured part of the run."""
_WIDTH = 1 + len(FIELDS)

_fields = itemgetter(*FIELDS)

_Place = tuple[str, str]


class Energies:
    """Collects the energy of runs into a table of means: a row per point, link and power model."""

    def __init__(self) -> None:
        self._runs: dict[str, dict[_Place, array[float]]] = {}
        self._varied: set[str] = set()

    def add(self, scenario: str, seed: int, summary: Mapping[str, Any]) -> None:
        """Adds a run's energy. `scenario` is the key of its point."""
        places = self._runs.setdefault(scenario, {})
        for link in summary["links"]:
            if has_varied(link):
                self._varied.add(link["name"])
            for model, energy in (link.get("energy") or {}).items():
                numbers = places.setdefault((link["name"], model), array("d"))
                numbers.extend((seed, *_fields(energy)))

    def table(self, points: Sequence[Point], axes: Sequence[Axis]) -> pa.Table:
        """Means in joules over the seeds of each point, for links that varied in any run."""
        import pyarrow as pa

        columns: dict[str, list[Any]] = {"experiment": []}
        columns |= {f"{axis.name}_label": [] for axis in axes}
        columns |= {name: [] for name in ("link", "model", "runs", *FIELDS)}
        for point in points:
            for (link, model), numbers in self._runs.get(point.scenario.key[:40], {}).items():
                if link not in self._varied:
                    continue
                wanted = set(point.seeds)
                runs = [row for row in sorted(_rows(numbers)) if row[0] in wanted]
                columns["experiment"].append(point.experiment)
                for axis in axes:
                    place = point.at.get(axis.name)
                    columns[f"{axis.name}_label"].append(None if place is None else place.text)
                for name, value in zip(("link", "model", "runs"), (link, model, len(runs)), strict=True):
                    columns[name].append(value)
                for index, field in enumerate(FIELDS, start=1):
                    columns[field].append(math.fsum(row[index] for row in runs) / len(runs))
        types = {"runs": pa.int64()} | dict.fromkeys(FIELDS, pa.float64())
        return pa.table({name: pa.array(values, types.get(name, pa.string())) for name, values in columns.items()})


def _rows(numbers: array[float]) -> set[tuple[float, ...]]:
    """The rows by seed. A repeated run counts once."""
    return {tuple(numbers[at : at + _WIDTH]) for at in range(0, len(numbers), _WIDTH)}
