"""The result of one run: a summary, time series as Arrow tables, a folder of files with a manifest."""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Self

from netlull.documents.textfiles import read_regular
from netlull.errors import FieldPathError, InputError, ResultError, check_format, some
from netlull.results import output
from netlull.results.awake import compared_with_awake
from netlull.results.entries import aggregate, entries, get, keys_to
from netlull.results.output import MANIFEST, check_folder, origin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from netlull._engine import RawResult

    Columns = Mapping[str, npt.NDArray[Any]]

__all__ = ["KIND", "MANIFEST", "SUMMARY_LISTS", "Result", "metric", "metric_keys", "polars_frame"]

KIND = "netlull run"
SUMMARY = "summary.json"
_FORMAT = 1
SUMMARY_LISTS = {"link": "links", "flow": "flows", "station": "stations"}
"""The lists of the summary, by the names of their entries in paths and columns of series."""
_PARTS = (("link", "gateway"), ("link", "low_power"), ("station", "download"))
"""Parts of entries that may be null or missing."""
_MANIFEST_FIELDS: dict[str, tuple[type | UnionType, str]] = {
    "version": (str, "a version"),
    "engine": (str, "a version and build"),
    "commit": (str | None, "a commit or null"),
    "series": (list, "a list of names"),
    "files": (dict, "a table of files"),
    "scenario": (dict, "a scenario"),
}
"""The required fields of a manifest."""


def metric(summary: Mapping[str, Any], path: str) -> float:
    """A number of a summary by its path: `events`, `link.N1-N2.mean_rate_bps`, `flow.tcp.goodput_bps`.

    The unit is in the name. NaN stands for null: an incomplete transfer has no completion time. Everything is NaN under
    `gateway` of a link without a gateway, under `routing` if routes never change, and under `download` of a station
    with an incomplete download. `max(link.*.utilisation)`, and likewise min, mean, sum and jain (Jain's fairness
    index), reduce several numbers to one.

    Raises:
        FieldPathError: the path leads nowhere or to no number; the message lists the existing keys.
    """
    by_path = _by_path(summary)
    aggregated = aggregate(by_path, path)
    if aggregated is not None:
        return aggregated
    value = _below(by_path, path)
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, int | float):
        what = f"has the fields {', '.join(value)}" if isinstance(value, dict) else f"is {value!r}"
        raise FieldPathError(f"{path}: is not a number: it {what}")
    return float(value)


def metric_keys(summary: Mapping[str, Any], path: str) -> list[str | int]:
    """The keys to a metric. The first is `link`, `flow` or `station` (see `SUMMARY_LISTS`), or a field of the summary.

    Empty for an aggregate of several numbers, and below `routing`, which may be null.

    Raises:
        FieldPathError: the path leads nowhere; the message lists the existing keys.
    """
    by_path = _by_path(summary)
    plain = aggregate(by_path, path) is None and not path.startswith("routing.")
    return keys_to(by_path, path) if plain else []


def _below(node: dict[str, Any], path: str) -> Any:
    """The value at `path`; None also below a missing part: a gateway, a download, changes of routes."""
    if path.startswith("routing.") and "routing" in node and node["routing"] is None:
        return None
    for kind, part in _PARTS:
        entry, inside, _ = path.partition(f".{part}.")
        if inside and entry.startswith(f"{kind}.") and _is_without(part, node[kind], entry.removeprefix(f"{kind}.")):
            return None
    return get(node, path)


def _is_without(part: str, listed: Sequence[dict[str, Any]], name: str) -> bool:
    found = [entry for entry in listed if entry["name"] == name]
    return bool(found) and found[0].get(part) is None


def _by_path(summary: Mapping[str, Any]) -> dict[str, Any]:
    # Runs of versions without stations have no list of them.
    lists = {key: summary.get(name, []) for key, name in SUMMARY_LISTS.items()}
    return lists | {key: value for key, value in summary.items() if key not in SUMMARY_LISTS.values()}


class Result:
    """The measurements of a run.

    Names have the units: times in s, rates in b/s, energy in J, sizes in bytes or packets.

    Example:
        >>> from netlull import Link, Scenario, Tcp
        >>> link = Link("a", "b", "10 Mb/s", "20 ms", duplex=True)
        >>> result = Scenario(duration="10 s", nodes=["a", "b"], links=[link], flows=[Tcp("tcp", "a", "b")]).run(seed=1)
        >>> result.link("a-b")["dropped_packets"], result.metric("link.a-b.energy.fs.saving")
        (35, 0.0)
        >>> result.flows.num_rows
        1
    """

    def __init__(
        self,
        summary: dict[str, Any],
        scenario: Callable[[], dict[str, Any]],
        origin: Callable[[], Mapping[str, str | None]],
        series: Mapping[str, pa.Table | Callable[[], Columns]],
        warnings: Sequence[str] = (),
        emulation: Mapping[str, Any] | None = None,
    ) -> None:
        """Used by `Scenario.run` and `Result.load`."""
        self.summary = summary
        """The run in numbers: totals, links with their energy, flows.

        More than 1,000 links or flows are a sequence that reads each entry when it is used (`netlull.results.entries`).
        """
        self._scenario = scenario
        self._origin = origin
        self.warnings = tuple(warnings)
        """The warnings about the scenario (`Scenario.warnings`)."""
        self.emulation = None if emulation is None else dict(emulation)
        """The account of an emulated run; None for a simulated one.

        `lateness` (of packets, in s), `system` (kernel, processors), `differences` (parts of the scenario that this
        kernel does not implement).
        """
        self._series: dict[str, pa.Table | Callable[[], Columns]] = dict(series)

    @classmethod
    def from_raw(cls, raw: RawResult, warnings: Sequence[str] = (), emulation: Mapping[str, Any] | None = None) -> Self:
        """The result of a finished run of the core or of netlulld."""
        lists, given = raw.lists(), raw.scenario()
        links, flows = lists.sizes()
        long = {"links": entries(links, lists.links), "flows": entries(flows, lists.flows)}
        # In the order of the head.
        summary = json.loads(raw.head()) | long
        # Tables are read when they are used: many runs need none, and numpy takes longer to load than a short run.
        series = {name: functools.partial(raw.table, name) for name in raw.tables()}
        return cls(summary, lambda: json.loads(given.canonical()), origin, series, warnings, emulation)

    @functools.cached_property
    def scenario(self) -> dict[str, Any]:
        """The canonical scenario of the run, with its seed."""
        return self._scenario()

    @functools.cached_property
    def origin(self) -> dict[str, str | None]:
        """`version`, `engine` and `commit` of the netlull that ran it."""
        return dict(self._origin())

    def __getstate__(self) -> dict[str, Any]:
        """The parts of a copy or of a pickle, all of them read."""
        parts = {name: part for name, part in vars(self).items() if name not in {"_scenario", "_origin"}}
        series = {name: self.series(name) for name in self._series}
        return {**parts, "scenario": self.scenario, "origin": self.origin, "_series": series}

    @property
    def world(self) -> str:
        """The kind of run: `simulated` in virtual time, or `emulated` in real time with real TCP."""
        return "simulated" if self.emulation is None else "emulated"

    @property
    def links(self) -> pa.Table:
        """The links, a row each. Columns include `energy.MODEL.total_j`, ... and `gateway.mean_flows`, ..."""
        return _wide_table([_without_null("gateway", link) for link in self.summary["links"]])

    @property
    def flows(self) -> pa.Table:
        """The flows, a row each, with the fields of the summary as columns."""
        return _wide_table(self.summary["flows"])

    @property
    def stations(self) -> pa.Table:
        """The stations, a row each. Columns include `energy.RADIO.total_j`, ... and `download.seconds`, ..."""
        return _wide_table([_without_null("download", station) for station in self.summary.get("stations", [])])

    @property
    def phases(self) -> pa.Table:
        """The phases of the scenario, a row each.

        Columns include `from_s` and `to_s`; the transfers of a known size that started in the phase, as
        `transfers.started`, `transfers.completed`, `transfers.unfinished` and their completion times in s,
        `transfers.p50_completion_s`, ...; and `network.energy.MODEL.mean_w`, ...
        """
        return _wide_table([_phase_row(name, phase) for name, phase in self.summary.get("phase", {}).items()])

    @property
    def series_names(self) -> tuple[str, ...]:
        """The names of the recorded time series."""
        return tuple(self._series)

    def series(self, name: str) -> pa.Table:
        """A time series, one row per bin or event. Names of links, flows and stations are dictionary-encoded text.

        Raises:
            InputError: the series was not recorded; lists the recorded ones.
        """
        import pyarrow as pa

        found = self._series.get(name)
        if found is None:
            recorded = ", ".join(self._series) or "none"
            raise InputError(f'series "{name}" was not recorded; recorded: {recorded}. [probe] selects the series')
        if not isinstance(found, pa.Table):
            found = pa.table({key: self._decoded(key, column) for key, column in found().items()})
            self._series[name] = found
        return found

    def _decoded(self, key: str, column: npt.NDArray[Any]) -> pa.Array:
        import numpy as np
        import pyarrow as pa

        if key not in SUMMARY_LISTS:
            # NaN marks a missing value (the window of datagrams), which is null in Arrow.
            return pa.array(column, from_pandas=True)
        names = pa.array([entry["name"] for entry in self.summary[SUMMARY_LISTS[key]]], pa.string())
        return pa.DictionaryArray.from_arrays(pa.array(column.astype(np.int32)), names)

    def link(self, name: str) -> dict[str, Any]:
        """A link's part of the summary.

        Raises:
            FieldPathError: there is no such link; lists the existing ones.
        """
        return _entry(self.summary["links"], "link", name)

    def flow(self, name: str) -> dict[str, Any]:
        """A flow's part of the summary.

        Raises:
            FieldPathError: there is no such flow; lists the existing ones.
        """
        return _entry(self.summary["flows"], "flow", name)

    def station(self, name: str) -> dict[str, Any]:
        """A station's part of the summary. A station has the name of its node.

        Raises:
            FieldPathError: there is no such station; lists the existing ones.
        """
        return _entry(self.summary.get("stations", []), "station", name)

    def phase(self, name: str) -> dict[str, Any]:
        """A phase's part of the summary: its `transfers`, `network`, and every `link` and `flow` by name.

        Raises:
            FieldPathError: there is no such phase; lists the existing ones.
        """
        phases = self.summary.get("phase", {})
        return _entry([{"name": known} | phase for known, phase in phases.items()], "phase", name)

    def compare_awake(self, awake: Result) -> dict[str, Any]:
        """Adds the part `awake` to the summary, and returns it: what the sleep of links saves, and what it costs.

        It has the values of the run without sleep: `goodput_bps`, `loss_fraction` (of the packets that flows sent), and
        for each power model `energy.MODEL.mean_w`. `more_loss_fraction` is the loss of this run minus that one.
        `energy.MODEL.saved_w`, `saved_j` and `saving` are the power, energy and share that sleep saves. `phase.NAME`
        has the same for phases, and the `transfers` of the run without sleep. All are metrics, such as
        `awake.energy.fs.saved_w`.

        Args:
            awake: the same scenario with the same seed, without sleep: `scenario.with_values({"sleep": None}).run()`.

        Raises:
            InputError: links sleep in `awake`, or it is another run otherwise: in its scenario, seed, measured time or
                recorded packets. The message names the field, its value and the expected one.
        """
        found = self.summary["awake"] = compared_with_awake(self, awake)
        return found

    def metric(self, path: str) -> float:
        """A number of the summary by its path, such as `link.N1-N2.mean_rate_bps`; NaN for null.

        Raises:
            FieldPathError: the path leads nowhere or to no number; the message lists the existing keys.
        """
        return metric(self.summary, path)

    def _table(self, name: str) -> pa.Table:
        return getattr(self, name) if name in {*SUMMARY_LISTS.values(), "phases"} else self.series(name)

    def to_pandas(self, name: str) -> pd.DataFrame:
        """A series, or `"links"`, `"flows"`, `"stations"`, `"phases"`, as a pandas frame (needs `netlull[pandas]`).

        Raises:
            InputError: the series was not recorded.
        """
        return self._table(name).to_pandas()

    def to_polars(self, name: str) -> pl.DataFrame:
        """A series, or `"links"`, `"flows"`, `"stations"`, `"phases"`, as a polars frame (needs `netlull[polars]`).

        Raises:
            InputError: the series was not recorded.
        """
        return polars_frame(self._table(name))

    def save(self, folder: str | Path) -> None:
        """Writes summary.json, manifest.json, links.parquet, flows.parquet and a Parquet file per series.

        Scenarios with stations also get stations.parquet, those with phases phases.parquet. The folder appears
        complete or not at all. An earlier result in its place is replaced, but other files never.

        Raises:
            OutputError: the folder cannot be written, or holds other files.
        """
        with output.staged_folder(Path(folder), kind=KIND) as stage:
            self.write_into(stage)

    def write_into(self, folder: Path) -> None:
        """Writes the files of `save` into an existing folder. The manifest, written last, lists the figures."""
        import pyarrow.parquet as pq

        output.write_json(folder / SUMMARY, self.summary)
        tables = {"links": self.links, "flows": self.flows}
        if self.summary.get("stations"):
            tables["stations"] = self.stations
        if self.summary.get("phase"):
            tables["phases"] = self.phases
        tables |= {name: self.series(name) for name in self._series}
        for name, table in tables.items():
            path = folder / f"{name}.parquet"
            with output.writing(path):
                pq.write_table(table, path, compression="zstd")
        names = [SUMMARY, *(f"{name}.parquet" for name in tables)]
        manifest = {
            "format": _FORMAT,
            "kind": KIND,
            **self.origin,
            "seed": self.summary["seed"],
            "warnings": list(self.warnings),
            **({"recording": self.summary["recording"]} if "recording" in self.summary else {}),
            **({} if self.emulation is None else {"emulation": self.emulation}),
            "series": list(self._series),
            "files": {name: output.file_record(folder / name) for name in names},
            "figures": sorted(path.relative_to(folder).as_posix() for path in folder.glob("figures/*")),
            "scenario": self.scenario,
        }
        output.write_json(folder / MANIFEST, manifest)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Reads the files of `save` and checks each against the manifest.

        Raises:
            ResultError: a file is missing, truncated or damaged; the message names it.
        """
        import pyarrow.parquet as pq

        folder = Path(folder)
        manifest = _read_manifest(folder)
        for name, record in manifest["files"].items():
            if Path(name).name != name:
                raise ResultError(f'{folder / MANIFEST}: files: is "{name}"; expected names of files in this folder')
            _check_file(folder / name, record)
        series = {
            name: pq.read_table(folder / f"{name}.parquet", read_dictionary=[*SUMMARY_LISTS])
            for name in manifest["series"]
        }
        series = {name: table.cast(_int32_keys(table.schema)) for name, table in series.items()}
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        emulation = manifest.get("emulation")
        origin = {key: manifest[key] for key in ("version", "engine", "commit")}
        return cls(
            summary, lambda: manifest["scenario"], lambda: origin, series, manifest.get("warnings", ()), emulation
        )

    def __repr__(self) -> str:
        """A short description."""
        return f"Result({self.summary['name']!r}, seed {self.summary['seed']}, {self.summary['events']} events)"


def polars_frame(table: pa.Table) -> pl.DataFrame:
    """The table as a polars data frame (needs `netlull[polars]`).

    Raises:
        TypeError: polars makes something else of the table.
    """
    import polars as pl

    frame = pl.from_arrow(table)
    if not isinstance(frame, pl.DataFrame):
        raise TypeError(f"polars made a {type(frame).__name__} of the table")
    return frame


def _int32_keys(schema: pa.Schema) -> pa.Schema:
    import pyarrow as pa

    fields = [
        field.with_type(pa.dictionary(pa.int32(), pa.string())) if field.name in SUMMARY_LISTS else field
        for field in schema
    ]
    return pa.schema(fields)


def _entry(listed: Sequence[dict[str, Any]], what: str, name: str) -> dict[str, Any]:
    for entry in listed:
        if entry["name"] == name:
            return entry
    names = some(entry["name"] for entry in listed)
    raise FieldPathError(f'there is no {what} "{name}"; expected one of {names}')


def _flattened(value: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        return {path: value}
    flat: dict[str, Any] = {}
    for key, item in value.items():
        flat |= _flattened(item, f"{path}.{key}" if path else key)
    return flat


def _phase_row(name: str, phase: Mapping[str, Any]) -> dict[str, Any]:
    """A phase without its links and flows. The flows of unfinished transfers are one text."""
    row = {"name": name} | {key: value for key, value in phase.items() if key not in {"link", "flow"}}
    if "transfers" in row:
        unfinished = ", ".join(row["transfers"]["unfinished_flows"])
        row["transfers"] = row["transfers"] | {"unfinished_flows": unfinished}
    return row


def _without_null(part: str, entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != part or value is not None}


def _wide_table(listed: Sequence[dict[str, Any]]) -> pa.Table:
    import pyarrow as pa

    rows = [_flattened(entry) for entry in listed]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names}
    arrays = {name: pa.array(values) for name, values in columns.items()}
    missing = pa.null()
    return pa.table(
        {name: array.cast(pa.float64()) if array.type == missing else array for name, array in arrays.items()}
    )


def _read_manifest(folder: Path) -> dict[str, Any]:
    check_folder(folder, "the folder of a run saved with netlull")
    path = folder / MANIFEST
    try:
        content = read_regular(path)
    except FileNotFoundError:
        raise ResultError(f"{path}: is missing; expected the folder of a run saved with netlull") from None
    except OSError as error:
        raise ResultError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        manifest: Any = json.loads(content)
    except (ValueError, RecursionError):
        raise ResultError(f"{path}: is truncated or damaged: it is not JSON") from None
    if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
        raise ResultError(f"{path}: is not a manifest of a run")
    check_format(path, manifest, _FORMAT, "run the scenario again, or read it with the netlull that wrote it")
    for key, (kind, expected) in _MANIFEST_FIELDS.items():
        if key not in manifest:
            raise ResultError(f"{path}: has no {key}; expected {expected}")
        if not isinstance(manifest[key], kind):
            raise ResultError(f'{path}: the key "{key}" is {_brief(manifest[key])}; expected {expected}')
    if not isinstance(manifest.get("emulation"), dict | None):
        raise ResultError(f'{path}: the key "emulation" is {_brief(manifest["emulation"])}; expected a table')
    for name, record in manifest["files"].items():
        if not isinstance(record, dict) or not {"bytes", "sha256"} <= record.keys():
            raise ResultError(f'{path}: the key "files" has {_brief(record)} for {name}; expected bytes and sha256')
    for name in (SUMMARY, *(f"{name}.parquet" for name in manifest["series"])):
        if name not in manifest["files"]:
            raise ResultError(f'{path}: the key "files" lacks {name}; expected its bytes and sha256')
    return manifest


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _check_file(path: Path, record: Mapping[str, Any]) -> None:
    try:
        content = read_regular(path)
    except FileNotFoundError:
        raise ResultError(f"{path}: is missing; the manifest lists it") from None
    except OSError as error:
        raise ResultError(f"{path}: cannot be read: {error.strerror}") from None
    if len(content) != record["bytes"]:
        raise ResultError(f"{path}: is truncated or damaged: {len(content)} bytes, the manifest says {record['bytes']}")
    if hashlib.sha256(content).hexdigest() != record["sha256"]:
        raise ResultError(f"{path}: is damaged: its checksum is not the manifest's")
