"""CSV tables of loads as columns of numbers, read in pieces: 30 days of 260 links have 4.5 million rows."""

from __future__ import annotations

import csv
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from netlull.errors import InputError
from netlull.fleet.inventory import columns_in

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["BYTE", "LARGEST", "UNITS", "Coded", "Columns", "line_of", "read_columns"]

BYTE = 8.0
"""The bits of a byte."""
LARGEST = 2.0**64
"""The largest number of a load, as a counter of 64 bits has it."""
_RATES = {"bps": 1.0, "bytes_per_s": BYTE}
"""Bits per unit, by the end of a column's name."""
UNITS = {"b/s": 1.0, "B/s": BYTE}
_COUNTERS = "octets"
_PIECE = 2**20
"""The size of a piece in bytes."""


@dataclass
class Coded:
    """A column of texts: each different text once, and its place in each row."""

    texts: dict[str, int] = field(default_factory=dict)
    rows: bytearray = field(default_factory=bytearray)

    def add(self, cells: pa.DictionaryArray) -> None:
        """Adds rows."""
        known = cells.dictionary.to_pylist()
        found = list(map(self.texts.get, known))
        if None in found:
            found = [self.texts.setdefault(text, len(self.texts)) for text in known]
        places = np.array(found, dtype=np.int32)
        self.rows += places[np.from_dlpack(cells.indices)].data

    @property
    def codes(self) -> NDArray[np.int32]:
        """The place of each row's text in `texts`."""
        return np.frombuffer(self.rows, np.int32)


@dataclass(frozen=True)
class Columns:
    """A table of loads."""

    time: Coded
    device: Coded
    interface: Coded
    loads: tuple[NDArray[np.float64], NDArray[np.float64]]
    """In and out, in bits or b/s. NaN is unknown."""
    counts: bool
    """True if they are counters."""


def read_columns(path: Path, unit: str | None, *, named: bool) -> Columns:
    """Reads a table; without `named` it has one interface, and no columns that name it.

    Raises:
        InputError: a column is missing, or a cell is wrong; the message names the file and the line.
    """
    header = _header(path)
    columns, scale, counts = _load_columns(path, header, unit)
    texts = {name: Coded() for name in ("time", *(("device", "interface") if named else ()))}
    for name in texts:
        if name not in header:
            raise InputError(f"{path}, line 1: column {name} is missing; {columns_in(header)}")
    types = dict.fromkeys(texts, pa.dictionary(pa.int32(), pa.string())) | dict.fromkeys(columns, pa.float64())
    # Grows in place. Pieces that are joined at the end would need twice the memory.
    rows = (bytearray(), bytearray())
    try:
        with arrow_csv.open_csv(
            path,
            read_options=arrow_csv.ReadOptions(use_threads=False, block_size=_PIECE, column_names=header, skip_rows=1),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types, include_columns=[*texts, *columns], null_values=["", "NaN", "nan", "null", "NA"]
            ),
            memory_pool=pa.system_memory_pool(),
        ) as reader:
            for batch in reader:
                for name, coded in texts.items():
                    coded.add(batch.column(name))
                for column, grown in zip(columns, rows, strict=True):
                    grown.extend(_numbers(batch.column(column)).data.cast("B"))
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise _located(path, header, columns, error) from None
    if not rows[0]:
        raise InputError(f"{path}: has no rows; expected loads")
    for name, coded in texts.items():
        if "" in coded.texts:
            line = line_of(path, int(np.flatnonzero(coded.codes == coded.texts[""])[0]))
            expected = "a time" if name == "time" else "a name"
            raise InputError(f"{path}, line {line}: {name}: is empty; expected {expected}")
    loads = []
    for column, cells in zip(columns, rows, strict=True):
        values = np.frombuffer(cells, np.float64)
        wrong = np.flatnonzero((values < 0) | (values > LARGEST))
        if wrong.size:
            raise _wrong_load(path, line_of(path, int(wrong[0])), column, str(values[wrong[0]]))
        values *= scale
        loads.append(values)
    one, other = loads
    return Columns(texts["time"], texts.get("device", Coded()), texts.get("interface", Coded()), (one, other), counts)


def _numbers(cells: pa.DoubleArray) -> NDArray[np.float64]:
    """The numbers of a column, NaN where it has none. Arrow's own conversion would import pandas: 50 MB."""
    valid, data = cells.buffers()
    numbers = np.frombuffer(data, np.float64, len(cells), 8 * cells.offset)
    if not cells.null_count:
        return numbers
    bits = np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")
    return np.where(bits[cells.offset : cells.offset + len(cells)], numbers, np.nan)


def line_of(path: Path, row: int) -> int:
    """The line of a row, which is not its number where lines are empty or cells have several."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        next(reader)
        filled = (reader.line_num for cells in reader if cells)
        return next(itertools.islice(filled, row, None))


def _header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            line = file.readline(100_000)
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; expected CSV") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    header = [name.strip() for name in next(csv.reader([line]), [])]
    if len(set(header)) != len(header):
        raise InputError(f"{path}, line 1: a column comes twice: {', '.join(header)}; expected each once")
    return header


def _load_columns(path: Path, header: Sequence[str], unit: str | None) -> tuple[list[str], float, bool]:
    for end, scale in (*_RATES.items(), (_COUNTERS, BYTE)):
        columns = [f"in_{end}", f"out_{end}"]
        if all(column in header for column in columns):
            return columns, scale, end == _COUNTERS
    if "in" in header and "out" in header:
        if unit is None:
            raise InputError(f"{path}: columns in and out have no unit; expected --unit with {' or '.join(UNITS)}")
        return ["in", "out"], UNITS[unit], False
    pairs = ", ".join(f"in_{end} and out_{end}" for end in (*_RATES, _COUNTERS))
    found = columns_in(header)
    raise InputError(f"{path}, line 1: no columns of loads; expected {pairs}, or in and out with --unit; {found}")


def _located(path: Path, header: Sequence[str], columns: Sequence[str], error: Exception) -> InputError:
    """The first wrong line of a table that Arrow refuses."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            next(reader)
            for cells in reader:
                if cells and len(cells) != len(header):
                    found = f"has {len(cells)} cells; expected {len(header)}, as in the first line"
                    return InputError(f"{path}, line {reader.line_num}: {found}")
                for column in columns if cells else ():
                    try:
                        float(cells[header.index(column)] or "nan")
                    except ValueError:
                        return _wrong_load(path, reader.line_num, column, cells[header.index(column)])
    except (UnicodeDecodeError, csv.Error):
        return InputError(f"{path}: is not UTF-8 text; expected CSV")
    return InputError(f"{path}: is not CSV: {str(error).splitlines()[0]}")


def _wrong_load(path: Path, line: int, column: str, found: str) -> InputError:
    return InputError(f'{path}, line {line}: {column}: is "{found}"; expected a number from 0 to 2^64')
