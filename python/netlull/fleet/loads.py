"""The loads of interfaces over time, from CSV files or Prometheus's range queries."""

from __future__ import annotations

import codecs
import datetime as dt
import zoneinfo
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import msgspec
import numpy as np

from netlull.documents.textfiles import check_regular
from netlull.errors import InputError, near, near_file, some
from netlull.fleet.columns import BYTE, LARGEST, line_of, read_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from netlull.fleet.columns import Coded, Columns
    from netlull.fleet.inventory import Inventory, PortName

__all__ = ["TOLERANCE", "Loads", "link_loads", "read_loads", "times_of", "zone_of"]

LARGEST_BYTES = 2**31
"""The largest file of loads, in bytes."""
MOST_INTERVALS = 1_000_000
_EARLIEST, _LATEST = 631_152_000.0, 1e11
"""The start of 1990 and a time in the year 5138, in seconds since 1970: other numbers are dates without dashes,
milliseconds, or mistakes."""
_YEARS = (1990, 5137)
"""The first and the last year of a date: the same limits."""
_ALONE = 300.0
"""The step in seconds where no interface has two times."""
_GAP = 1.5
"""Steps after which a rate is no longer known."""
_ABOVE = 1.05
"""The share of a port's speed above which a counter has been reset: headers and clocks explain less."""
TOLERANCE = 0.1
"""The difference of the means that two ends of a link count of the same direction, as a share of the larger."""
_IDLE = 0.001
"""The utilisation up to which ends are not compared: keep-alives of one end only make a difference there."""

_BITS = {
    "ifHCInOctets": (0, 64), "ifHCOutOctets": (1, 64), "ifInOctets": (0, 32), "ifOutOctets": (1, 32),
    "node_network_receive_bytes_total": (0, 64), "node_network_transmit_bytes_total": (1, 64),
}  # fmt: skip
"""Direction (0 is in, 1 is out) and bits of counters, by metric: RFC 2863 and Prometheus's node exporter."""
_DEVICE_LABELS = ("device_name", "sysName", "host", "hostname", "instance", "device")
_PORT_LABELS = ("ifName", "interface", "ifDescr", "port", "device")


class Samples(NamedTuple):
    """Intervals that do not overlap, and the rate in each."""

    starts: NDArray[np.float64]
    """In seconds since 1970."""
    ends: NDArray[np.float64]
    """The same. The end of a rate is the start of the next one, or infinite."""
    rates: NDArray[np.float64]
    """In b/s."""
    step: float | None
    """The usual length of an interval; None for a counter, which tells the bits of each interval, however long."""

    def shortened(self) -> Samples:
        """The same with rates that last a step where the next one is missing."""
        if self.step is None:
            return self
        has_next = self.ends - self.starts <= _GAP * self.step
        return self._replace(ends=np.where(has_next, self.ends, self.starts + self.step))


@dataclass(frozen=True)
class Loads:
    """The loads of interfaces over equal intervals."""

    start_s: float
    """The start of the first interval, in seconds since 1970."""
    step_s: float
    """The length of an interval in seconds."""
    rates: Mapping[PortName, NDArray[np.float64]]
    """In and out in b/s: an array of shape (2, intervals) for each interface. NaN is unknown, also at the other end."""
    resets: int = 0
    """Steps of counters that neither a wrap nor the port's speed explains. The load is unknown there."""
    fast: int = 0
    """Rates above the speed of their port by more than 5 %."""
    missing: tuple[str, ...] = ()
    """Files that the inventory names and that the folder lacks."""
    strangers: tuple[str, ...] = ()
    """Interfaces of the files that the inventory does not have."""
    unequal: tuple[tuple[int, float], ...] = ()
    """Directions of links whose two ends differ by more than `TOLERANCE`, the worst first: the place of the link in
    `Inventory.links`, and the difference of the means as a share of the larger."""

    @property
    def intervals(self) -> int:
        """The number of intervals."""
        return int(next(iter(self.rates.values())).shape[1])


def link_loads(inventory: Inventory, loads: Loads) -> NDArray[np.float64]:
    """The loads of the inventory's links in b/s: an array of shape (links, 2 directions, intervals).

    A direction is measured at both ends. Their mean counts.
    """
    unknown = np.full((2, loads.intervals), np.nan)
    found = np.empty((len(inventory.links), 2, loads.intervals))
    for place, link in enumerate(inventory.links):
        one, other = (loads.rates.get(end, unknown) for end in link.ends)
        found[place] = (one[1] + other[0]) / 2, (other[1] + one[0]) / 2
    return found


def _unequal(inventory: Inventory, rates: Mapping[PortName, NDArray[np.float64]]) -> list[tuple[int, float]]:
    """`Loads.unequal`: the means are those of the intervals that both ends know."""
    found = []
    for place, link in enumerate(inventory.links):
        one, other = (rates.get(end) for end in link.ends)
        if one is None or other is None:
            continue
        both = ~np.isnan(one) & ~np.isnan(other[::-1])
        for direction in (0, 1):
            known = both[direction]
            ends = (
                [float(each[known].mean()) for each in (one[direction], other[1 - direction])] if known.any() else [0.0]
            )
            difference = max(ends) - min(ends)
            if difference > TOLERANCE * max(ends) and max(ends) > _IDLE * link.speed_bps:
                found.append((place, difference / max(ends)))
    return sorted(found, key=lambda entry: -entry[1])


def _filled(inventory: Inventory, rates: Mapping[PortName, NDArray[np.float64]]) -> dict[PortName, NDArray[np.float64]]:
    """The rates with those of the other end where an interface has none."""
    found = dict(rates)
    for link in inventory.links:
        known = [rates.get(end) for end in link.ends]
        for own, other, end in zip(known, reversed(known), link.ends, strict=True):
            if other is not None:
                turned = other[::-1]
                found[end] = turned if own is None else np.where(np.isnan(own), turned, own)
    return found


def read_loads(
    paths: Sequence[Path], inventory: Inventory, *, unit: str | None = None, zone: str | None = None
) -> Loads:
    """Reads the loads of an inventory's interfaces.

    A file is a CSV table (`time`, `device`, `interface` and two columns of loads), or the JSON answer of a Prometheus
    range query of `ifHCInOctets` and `ifHCOutOctets`. A folder has a CSV table (`time` and loads) for each interface,
    with the name of its `loads` in the inventory. The columns of loads are `in_bps` and `out_bps`, `in_bytes_per_s` and
    `out_bytes_per_s`, `in_octets` and `out_octets` (counters of 64 bits), or `in` and `out` in `unit`. A rate is the
    mean from its time on. A time is ISO 8601, or in seconds or milliseconds since 1970.

    Args:
        paths: files and folders.
        inventory: the interfaces.
        unit: "b/s" or "B/s", for columns named `in` and `out`.
        zone: the time zone of times without one, such as "Europe/Oslo". Where clocks go back, the first of two equal
            times of an interface comes first, and loads that begin in the hour that comes twice need offsets.

    Raises:
        InputError: a file is missing or wrong; the message names the file, and the line if there is one.
    """
    reader = _Reader(inventory, unit, zone_of(zone))
    for path in paths:
        reader.read(path)
    return reader.finish(paths)


def zone_of(name: str | None) -> zoneinfo.ZoneInfo | None:
    """The time zone with a name.

    Raises:
        InputError: there is none.
    """
    if name is None:
        return None
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        hint = near(name, sorted(zoneinfo.available_timezones()))
        raise InputError(f'--timezone: "{name}" is unknown; {hint}') from None


class _Series(msgspec.Struct):
    metric: dict[str, str]
    values: msgspec.Raw


class _Data(msgspec.Struct):
    result: list[_Series]
    resultType: Annotated[str, msgspec.Meta(pattern="^matrix$")]  # noqa: N815  # Prometheus's name


class _Answer(msgspec.Struct):
    data: _Data


class _Reader:
    """Collects samples by interface and direction."""

    def __init__(self, inventory: Inventory, unit: str | None, zone: zoneinfo.ZoneInfo | None) -> None:
        self.inventory = inventory
        self.unit = unit
        self.zone = zone
        self.samples: dict[PortName, list[Samples | None]] = {}
        self.steps: Counter[float] = Counter()
        self.resets = 0
        self.fast = 0
        self.found = False
        """True after loads of an interface of the inventory, known or not."""
        self.missing: list[str] = []
        self.strangers: dict[str, None] = {}

    def read(self, path: Path) -> None:
        if path.is_dir():
            self._folder(path)
            return
        check_regular(path)
        try:
            size = path.stat().st_size
        except OSError:
            raise InputError(f"{path}: there is no such file; {near_file(path, 'loads')}") from None
        if size > LARGEST_BYTES:
            raise InputError(f"{path}: is too large; expected at most {LARGEST_BYTES // 2**20} MiB, or several files")
        if path.suffix == ".json":
            self._prometheus(path)
        else:
            self._table(path, None)

    def finish(self, paths: Sequence[Path]) -> Loads:
        """The samples on a common grid."""
        known = {name: both for name, both in self.samples.items() if any(both)}
        where = ", ".join(map(str, paths))
        if not known:
            if self.found:
                raise InputError(f"{where}: no load is known; expected numbers, and counters at two times or more")
            found = some(self.strangers) if self.strangers else "no interface"
            raise InputError(f"{where}: no load of an interface of {self.inventory.path}; found {found}")
        # That of most interfaces, the shortest of equally common ones.
        step = min(self.steps, key=lambda length: (-self.steps[length], length), default=_ALONE)
        every = [samples for both in known.values() for samples in both if samples is not None]
        start, end = min(one.starts[0] for one in every), max(one.shortened().ends[-1] for one in every)
        count = max(1, round((end - start) / step))
        if count > MOST_INTERVALS:
            raise InputError(f"{where}: {count} intervals of {step:g} s; expected at most {MOST_INTERVALS}")
        edges = start + step * np.arange(count + 1)
        del every, self.samples
        rates = {}
        for name in list(known):
            both = known.pop(name)
            binned = [np.full(count, np.nan) if one is None else _binned(one.shortened(), edges) for one in both]
            rates[name] = np.stack(binned)
        unequal = tuple(_unequal(self.inventory, rates))
        filled = _filled(self.inventory, rates)
        missing, strangers = tuple(self.missing), tuple(self.strangers)
        return Loads(float(start), float(step), filled, self.resets, self.fast, missing, strangers, unequal)

    def _folder(self, folder: Path) -> None:
        named = {port.loads: name for name, port in self.inventory.ports.items() if port.loads is not None}
        if not named:
            raise InputError(
                f"{folder}: is a folder; expected a column `loads` in {self.inventory.path} with its files"
            )
        for file, name in named.items():
            if Path(file).name != file:
                raise InputError(f'{self.inventory.path}: loads: "{file}"; expected the name of a file in the folder')
            if (folder / file).is_file():
                self._table(folder / file, name)
            else:
                self.missing.append(file)

    def _table(self, path: Path, only: PortName | None) -> None:
        table = read_columns(path, self.unit, named=only is None)
        times = _Times(path, table.time, self.zone)
        for name, rows in self._groups(table, only):
            at = times.of(rows)
            order = np.argsort(at, kind="stable")
            at = at[order]
            same = np.flatnonzero(np.diff(at) == 0)
            if same.size:
                row = int(rows[order[same[0] + 1]])
                text = f"{times.text(row)} comes twice for {' '.join(name)}; expected it once"
                raise InputError(f"{path}, line {line_of(path, row)}: time: {text}")
            both = [values[rows[order]] for values in table.loads]
            self._add(path, name, {0: both[0], 1: both[1]}, at, 64 if table.counts else None)

    def _groups(self, table: Columns, only: PortName | None) -> Iterator[tuple[PortName, NDArray[np.int64]]]:
        """The rows of each interface of the inventory."""
        if only is not None:
            yield only, np.arange(table.loads[0].size)
            return
        names = list(table.interface.texts)
        owners = list(table.device.texts)
        # By device first: the last key decides.
        order = np.lexsort((table.interface.codes, table.device.codes))
        device, interface = table.device.codes[order], table.interface.codes[order]
        starts = np.flatnonzero((np.diff(device) != 0) | (np.diff(interface) != 0)) + 1
        firsts = [(owners[device[row]], names[interface[row]]) for row in (0, *starts.tolist())]
        del device, interface
        # A month of 260 links has 36 MB of them.
        table.device.rows = table.interface.rows = bytearray()
        for name, rows in zip(firsts, np.split(order, starts), strict=True):
            if name in self.inventory.ports:
                yield name, rows
            else:
                self.strangers[" ".join(name)] = None

    def _prometheus(self, path: Path) -> None:
        try:
            answer = msgspec.json.decode(path.read_bytes().removeprefix(codecs.BOM_UTF8), type=_Answer)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            expected = "expected the answer of a range query (data.result, resultType matrix)"
            raise InputError(f"{path}: {error}; {expected}") from None
        for place, series in enumerate(answer.data.result):
            where = f"{path}, data.result[{place}]"
            metric = series.metric.get("__name__", "")
            if metric not in _BITS:
                raise InputError(f'{where}: metric "{metric}" is unknown; {near(metric, _BITS)}')
            name = self._port_of(series.metric)
            if name is None:
                self.strangers[" ".join(f"{key}={value}" for key, value in sorted(series.metric.items()))] = None
                continue
            try:
                values = msgspec.json.decode(series.values, type=list[tuple[float, str]])
                at, counter = (np.array([float(pair[side]) for pair in values]) for side in (0, 1))
            except (msgspec.DecodeError, ValueError) as error:
                raise InputError(f"{where}.values: {error}; expected pairs of a time and a number") from None
            wrong = counter[(counter < 0) | (counter > LARGEST)]
            if wrong.size:
                raise InputError(f"{where}.values: a counter is {wrong[0]:g}; expected a number from 0 to 2^64")
            wrong = at[~((at >= _EARLIEST) & (at < _LATEST))]
            if wrong.size:
                raise InputError(f"{where}.values: a time is {wrong[0]:g}; expected seconds since 1970, from 1990 on")
            if np.any(np.diff(at) <= 0):
                raise InputError(f"{where}.values: times do not grow; expected ascending times")
            direction, bits = _BITS[metric]
            self._add(path, name, {direction: counter * BYTE}, at, bits)

    def _port_of(self, labels: Mapping[str, str]) -> PortName | None:
        devices = [labels[label] for label in _DEVICE_LABELS if label in labels]
        devices += [device.rpartition(":")[0] for device in devices]
        ports = [labels[label] for label in _PORT_LABELS if label in labels]
        found = ((device, port) for device in devices for port in ports)
        return next((name for name in found if name in self.inventory.ports), None)

    def _add(
        self, path: Path, name: PortName, loads: Mapping[int, NDArray[np.float64]], at: NDArray[np.float64],
        bits: int | None,
    ) -> None:  # fmt: skip
        """Adds times in s with rates in b/s by direction, or with counters of `bits` bits, in bits."""
        self.found = True
        # Clocks of collectors jitter.
        between = np.sort(np.diff(at))
        step = float(between[(between.size - 1) // 2]) if between.size else _ALONE
        step = 5 * round(step / 5) if step >= 60 else step
        # A rate lasts until the next one; `finish` shortens gaps.
        ends = np.append(at[1:], np.inf)
        gone: NDArray[np.bool_] | None = None
        for direction, values in loads.items():
            self.steps[step] += 1
            missing = np.isnan(values)
            if gone is None or not np.array_equal(gone, missing):
                # Both directions share their times: they usually lack the same values.
                gone, starts, until = missing, at[~missing], ends[~missing]
            if bits is None:
                found = Samples(starts, until, values[~missing], step)
                self._check_speed(name, found)
            else:
                found = self._differences(name, starts, values[~missing], bits)
            if found.starts.size:
                both = self.samples.setdefault(name, [None, None])
                earlier = both[direction]
                both[direction] = found if earlier is None else _joined(path, name, earlier, found)

    def _check_speed(self, name: PortName, found: Samples) -> None:
        self.fast += int(np.count_nonzero(found.rates > _ABOVE * self.inventory.ports[name].speed_bps))

    def _differences(self, name: PortName, at: NDArray[np.float64], counter: NDArray[np.float64], bits: int) -> Samples:
        """Rates between counter values. A wrap is one that leaves the rate within the port's speed."""
        change, between = np.diff(counter), np.diff(at)
        most = _ABOVE * self.inventory.ports[name].speed_bps * between
        whole = 2.0**bits * BYTE
        wrapped = np.where(change < 0, change + whole, change)
        # A counter that may have wrapped more than once tells nothing.
        good = (wrapped <= most) & (most < whole)
        self.resets += int(np.count_nonzero(~good))
        return Samples(at[:-1][good], at[1:][good], wrapped[good] / between[good], None)


def _joined(path: Path, name: PortName, one: Samples, other: Samples) -> Samples:
    """The samples of two files."""
    starts, ends, rates = (np.concatenate(pair) for pair in zip(one[:3], other[:3], strict=True))
    order = np.argsort(starts, kind="stable")
    starts, ends, rates = starts[order], ends[order], rates[order]
    if one.step is not None:
        ends[:-1] = np.minimum(ends[:-1], starts[1:])
    if (one.step is None) != (other.step is None) or np.any(starts[1:] < ends[:-1]) or np.any(np.diff(starts) <= 0):
        raise InputError(f"{path}: has times of {' '.join(name)} that are known already; expected them once")
    return Samples(starts, ends, rates, one.step)


def _binned(samples: Samples, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean rates between the edges; NaN where less than half of an interval is known."""
    starts, ends, rates, _ = samples
    places = np.column_stack((starts, ends)).ravel()
    spans = ends - starts
    known, volume = (np.concatenate(([0.0], np.cumsum(each))) for each in (spans, spans * rates))
    at_places = [np.column_stack((each[:-1], each[1:])).ravel() for each in (known, volume)]
    seconds, bits = (np.diff(np.interp(edges, places, each)) for each in at_places)
    enough = seconds >= 0.5 * np.diff(edges)
    rate = np.full(seconds.size, np.nan)
    np.divide(bits, seconds, out=rate, where=enough)
    return rate


class _Times:
    """The times of a table, each different text read once."""

    def __init__(self, path: Path, column: Coded, zone: zoneinfo.ZoneInfo | None) -> None:
        self._path = path
        self._codes = column.codes
        self._texts = list(column.texts)
        read = [self._read(code, text, zone) for code, text in enumerate(self._texts)]
        self._first, self._second = (np.array([pair[side] for pair in read]) for side in (0, 1))

    def text(self, row: int) -> str:
        """The time of a row as written."""
        text: str = self._texts[self._codes[row]]
        return text

    def of(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The times of an interface's rows, in seconds since 1970."""
        codes = self._codes[rows]
        at: NDArray[np.float64] = self._first[codes]
        twice = np.flatnonzero(at != self._second[codes])
        if twice.size:
            self._check_start(rows, at, twice)
        seen: set[int] = set()
        for place in twice:
            code = int(codes[place])
            if code in seen:
                at[place] = self._second[code]
            seen.add(code)
        return at

    def _check_start(self, rows: NDArray[np.int64], at: NDArray[np.float64], twice: NDArray[np.int64]) -> None:
        """Refuses loads that begin in an hour that comes twice unless each of its times comes twice, too.

        Nothing tells in which of the two hours they begin.
        """
        first = int(np.argmin(at))
        if first in twice and np.any(np.unique(self._codes[rows[twice]], return_counts=True)[1] < 2):
            row = int(rows[first])
            where = f"{self._path}, line {line_of(self._path, row)}: time"
            found = f'the loads of an interface begin at "{self.text(row)}", in an hour that comes twice'
            raise InputError(f"{where}: {found}; expected the offset of each time, such as +01:00")

    def _read(self, code: int, text: str, zone: zoneinfo.ZoneInfo | None) -> tuple[float, float]:
        try:
            return times_of(text, zone)
        except InputError as error:
            row = int(np.flatnonzero(self._codes == code)[0])
            raise InputError(f"{self._path}, line {line_of(self._path, row)}: time: {error}") from None


def times_of(text: str, zone: zoneinfo.ZoneInfo | None) -> tuple[float, float]:
    """A time in seconds since 1970, and the same text an hour later where clocks go back.

    Raises:
        InputError: the text is no time, or has no zone.
    """
    try:
        number = float(text)
    except ValueError:
        pass
    else:
        if not _EARLIEST <= number < 1000 * _LATEST:
            raise InputError(f'"{text}" is no time since 1990; expected seconds or milliseconds since 1970')
        number = number / 1000 if number >= _LATEST else number
        return number, number
    try:
        time = dt.datetime.fromisoformat(text)
    except ValueError:
        expected = 'ISO 8601, such as "2026-03-29T02:30:00+01:00", or seconds since 1970'
        raise InputError(f'"{text}" is no time; expected {expected}') from None
    if not _YEARS[0] <= time.year <= _YEARS[1]:
        raise InputError(f'"{text}" is in the year {time.year}; expected {_YEARS[0]} to {_YEARS[1]}')
    if time.tzinfo is not None:
        return (time.timestamp(),) * 2
    if zone is None:
        raise InputError(f'"{text}" has no time zone; expected an offset such as +01:00, or --timezone')
    first, second = (time.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if first.astimezone(dt.UTC).astimezone(zone).replace(tzinfo=None) != time:
        raise InputError(f'"{text}" does not exist in {zone.key}: clocks go forward then; expected another time')
    return first.timestamp(), second.timestamp()
