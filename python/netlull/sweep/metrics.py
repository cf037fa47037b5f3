"""The metrics of a sweep, read from one summary after another. Names are looked up once, then positions are reused."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any

from netlull.errors import FieldPathError, SweepError, near
from netlull.results.result import SUMMARY_LISTS, metric, metric_keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Metrics"]


class _Place:
    """The position of a metric in the last summary: its keys, with the names of entries of lists."""

    def __init__(self, summary: Mapping[str, Any], keys: Sequence[str | int]) -> None:
        first, *rest = keys
        self._steps: list[tuple[str | int, str | None]] = []
        node: Any = summary
        for key in (SUMMARY_LISTS.get(str(first), first), *rest):
            node = node[key]
            named = isinstance(key, int) and isinstance(node, dict)
            self._steps.append((key, node.get("name") if named else None))

    def number(self, summary: Mapping[str, Any]) -> float | None:
        """The number at the position, NaN for null; None if an entry has another name, or for anything else."""
        node: Any = summary
        try:
            for key, name in self._steps:
                node = node[key]
                if name is not None and node["name"] != name:
                    return None
        except (KeyError, IndexError, TypeError):
            return None
        if node is None:
            return math.nan
        return float(node) if type(node) is float or type(node) is int else None


def _alike(summary: Mapping[str, Any], path: str) -> str:
    """`did you mean ...? ` with the most similar paths to numbers; empty if there are none."""
    lists = {key: {entry["name"]: entry for entry in summary.get(name, [])} for key, name in SUMMARY_LISTS.items()}
    rest = {key: value for key, value in summary.items() if key not in SUMMARY_LISTS.values()}
    alike = near(path, _paths({**lists, **rest}))
    return f"{alike} " if alike.startswith("did") else ""


def _paths(node: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for key, value in node.items():
        if isinstance(value, dict):
            yield from _paths(value, f"{above}{key}.")
        elif not isinstance(value, str | list | bool):
            yield f"{above}{key}"


class Metrics:
    """Columns of a table, each a path into a summary."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._paths = dict(paths)
        self._places: dict[str, _Place] = {}

    def of(self, summary: Mapping[str, Any]) -> dict[str, float]:
        """The numbers of a run; NaN for null.

        Raises:
            SweepError: a path leads nowhere or to no number; the message lists the existing keys.
        """
        values = {}
        for column, path in self._paths.items():
            place = self._places.get(column)
            value = None if place is None else place.number(summary)
            values[column] = self._looked_up(summary, column, path) if value is None else value
        return values

    def _looked_up(self, summary: Mapping[str, Any], column: str, path: str) -> float:
        try:
            value = metric(summary, path)
        except FieldPathError as error:
            if path.partition("(")[2].startswith("awake.") or path.startswith("awake."):
                raise SweepError(
                    f"metrics.{column}: {path}: the runs of a sweep have no run without sleep next to them; expected a "
                    'metric of the run itself, and a point of an axis with unset = ["sleep"] to compare with'
                ) from None
            hint = f"{_alike(summary, path)}netlull run FILE --json lists all metrics"
            raise SweepError(f"metrics.{column}: {error}; {hint}") from None
        # Below a missing part there are no keys: a later summary may have it.
        with contextlib.suppress(FieldPathError):
            if keys := metric_keys(summary, path):
                self._places[column] = _Place(summary, keys)
        return value
