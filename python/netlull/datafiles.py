"""Files that a scenario names, read once: the scenario and its key hold their content."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netlull.errors import InputError
from netlull.textfiles import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["inline"]

_NANOSECONDS = {"time_ns": 1, "time_s": 1_000_000_000}
"""Nanoseconds in one unit of a record's time column."""
_LATEST_S = 1_000_000_000
"""The longest run, in seconds."""
_LARGEST_BYTES = 256 * 2**20
"""The largest file of packets or sizes that is read, in bytes."""


def inline(document: dict[str, Any], folder: Path | None = None) -> None:
    """Replaces `file` by its content in `document`: `cdf` of an empirical law of sizes, `arrivals` of a replay.

    Files are relative to `folder`, or else to the current one.

    Raises:
        InputError: the message names the field, and the file with the invalid line.
    """
    flows = document.get("flow")
    for flow in flows if isinstance(flows, list) else ():
        if not isinstance(flow, dict):
            continue
        size = flow.get("size")
        where = f"flow.{flow.get('name', '?')}"
        if isinstance(size, dict) and size.get("kind") == "empirical":
            _replace(size, "cdf", f"{where}.size", folder, _points)
        if flow.get("kind") == "replay":
            _replace(flow, "arrivals", where, folder, _arrivals)


def _replace(
    table: dict[str, Any], field: str, where: str, folder: Path | None, read: Callable[[Path], list[list[Any]]]
) -> None:
    name = table.get("file")
    # The core refuses a `file` that is no text or has the field as well: it has the messages.
    if not isinstance(name, str) or field in table:
        return
    try:
        table[field] = read(_find(name, folder))
    except InputError as error:
        raise InputError(f"{where}.file: {error}") from None
    del table["file"]


def _find(name: str, folder: Path | None) -> Path:
    """The file next to the scenario; if there is none, the one in the current folder."""
    beside = (folder or Path()) / name
    return Path(name) if not beside.exists() and Path(name).exists() else beside


def _lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The non-empty lines of a file: the position of each, and its two columns."""
    for number, line in enumerate(read_text(path, _LARGEST_BYTES).splitlines(), 1):
        text = line.partition("#")[0].strip()
        if text:
            columns = [column.strip() for column in text.split(",")] if "," in text else text.split()
            if len(columns) != 2:  # the two columns
                raise InputError(
                    f"{path}, line {number}: {line.strip()!r} is not a line of two columns; expected two numbers"
                )
            yield f"{path}, line {number}", columns


def _number(text: str, where: str, what: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise InputError(f"{where}: {text!r} is not a number; expected {what}") from None
    if not number.is_finite() or number < 0:
        raise InputError(f"{where}: {text} is out of range; expected {what}")
    return number


def _whole(text: str, where: str, what: str) -> int:
    number = _number(text, where, what)
    if number > 2**53 or number != number.to_integral_value():
        raise InputError(f"{where}: {text} is not a {what}; expected whole bytes")
    return int(number)


def _points(path: Path) -> list[list[Any]]:
    """Pairs of bytes and cumulative share, one per line. A heading is skipped."""
    points: list[list[Any]] = []
    for where, (size_text, share_text) in _lines(path):
        if not points and not _is_number(size_text) and not _is_number(share_text):
            continue
        size = _whole(size_text, where, "number of bytes")
        share = float(_number(share_text, where, "a share from 0 to 1"))
        if share > 1 or not math.isfinite(share):
            raise InputError(f"{where}: {share_text} is out of range; expected a share from 0 to 1")
        if points and (size < points[-1][0] or share < points[-1][1]):
            before = f"{points[-1][0]} B, {points[-1][1]}"
            raise InputError(f"{where}: is {size} B, {share} after {before}; expected both columns not to decrease")
        points.append([size, share])
    if not points:
        raise InputError(f"{path}: has no points; expected lines of two columns, bytes and cumulative share")
    if points[-1][1] < 1 - 1e-9:
        raise InputError(f"{path}: rises to {points[-1][1]}; expected a last share of 1")
    return points


def _is_number(text: str) -> bool:
    try:
        Decimal(text)
    except InvalidOperation:
        return False
    return True


def _arrivals(path: Path) -> list[list[Any]]:
    """Pairs of nanoseconds and bytes, one packet per line. The heading names the unit of the times."""
    if path.suffix == ".parquet":
        return _recorded(path)
    lines = _lines(path)
    where, heading = next(lines, (str(path), []))
    unit = _NANOSECONDS.get(heading[0]) if heading[1:] == ["bytes"] else None
    if unit is None:
        raise InputError(f'{where}: expected the heading "time_ns,bytes" or "time_s,bytes"')
    packets: list[list[Any]] = []
    for place, (time_text, size_text) in lines:
        time_number = _number(time_text, place, "a time of 0 or more")
        if time_number > _LATEST_S * _NANOSECONDS["time_s"] / unit:
            raise InputError(f"{place}: {time_text} is out of range; expected a time up to {_LATEST_S} s")
        time = int((time_number * unit).to_integral_value())
        if packets and time < packets[-1][0]:
            raise InputError(f"{place}: {time_text} comes after a later time; expected times that do not decrease")
        packets.append([time, _whole(size_text, place, "number of bytes")])
    if not packets:
        raise InputError(f"{path}: has no packets; expected lines of two columns, time and bytes")
    return packets


def _recorded(path: Path) -> list[list[Any]]:
    """Packets of the series `arrivals` of a saved run."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; expected a recorded arrivals.parquet") from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: is not a Parquet file: {error}") from None
    missing = {"time_ns", "bytes"} - set(table.column_names)
    if missing:
        raise InputError(f"{path}: has no column {', '.join(sorted(missing))}; expected the series arrivals of a run")
    links = set(table["link"].to_pylist()) if "link" in table.column_names else set()
    if len(links) > 1:
        raise InputError(f"{path}: has arrivals at {', '.join(sorted(links))}; expected those at one link")
    return [list(packet) for packet in zip(table["time_ns"].to_pylist(), table["bytes"].to_pylist(), strict=True)]
