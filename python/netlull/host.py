"""Networks in other formats, packets in Parquet and classes: the parts of a scenario that only Python can give."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from netlull import _engine
from netlull.documents.textfiles import check_regular
from netlull.errors import InputError
from netlull.plugins.loading import WithoutPlugIns, completed, defaults_of, is_plug_in, reference_of
from netlull.plugins.parameters import RefusedError, shown
from netlull.quantities import in_unit
from netlull.topology.document import table as network_table
from netlull.topology.find import find
from netlull.topology.hub import PREFIX
from netlull.topology.options import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from netlull.plugins.loading import AllowedCode

__all__ = ["Host", "TapeHost", "TextHost", "check_tape", "stamp"]

_FREE = ("name", "description", "verify", "probe", "recording")
"""Parts of a scenario that change no decision."""


class Host:
    """The core calls it while it reads a scenario in `folder`, the current one by default.

    An `InputError` becomes an error of the field that names the part.
    """

    def __init__(self, folder: Path | None = None, allow_code: AllowedCode = False) -> None:
        self._folder = folder
        self._allow_code = allow_code

    def network(self, text: str) -> str:
        """The network that a table `[topology]` names, in netlull's own format. Both are JSON."""
        table = json.loads(text)
        options = ReadOptions.of(
            {field.name: table[field.name] for field in fields(ReadOptions) if field.name in table}
        )
        name = table["file"] if "file" in table else f"{PREFIX}{table['hub']}"
        return json.dumps(network_table(find(name, options, self._folder, regular=True)))

    def packets(self, path: Path) -> list[tuple[int, int]]:
        """The times in ns and the bytes of the packets in the series `arrivals` of a saved run."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        check_regular(path)
        try:
            table = pq.read_table(path)
        except FileNotFoundError:
            raise InputError(f"{path}: there is no such file; expected a recorded arrivals.parquet") from None
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path}: is not a Parquet file: {error}") from None
        missing = {"time_ns", "bytes"} - set(table.column_names)
        if missing:
            expected = "expected the series arrivals of a run"
            raise InputError(f"{path}: has no column {', '.join(sorted(missing))}; {expected}")
        if table.num_rows == 0:
            raise InputError(f"{path}: has no packets; expected the series arrivals of a run")
        for column in ("time_ns", "bytes"):
            values = table[column]
            if not pa.types.is_integer(values.type) or values.null_count or pc.min(values).as_py() < 0:
                expected = "expected numbers of 0 or more, as in the series arrivals of a run"
                raise InputError(f"{path}: the column {column} is not of whole numbers; {expected}")
        links = set(table["link"].to_pylist()) if "link" in table.column_names else set()
        if len(links) > 1:
            raise InputError(
                f"{path}: has arrivals at {', '.join(sorted(map(str, links)))}; expected those at one link"
            )
        return list(zip(table["time_ns"].to_pylist(), table["bytes"].to_pylist(), strict=True))

    def plug_in(self, family: str, text: str) -> str | None:
        """The whole table of a plug-in; None for a kind of the core, "null" to read the scenario without this part.

        Raises:
            RefusedError: the plug-in cannot be used.
        """
        table = completed(json.loads(text), family, self._folder, self._allow_code)
        return None if table is None else json.dumps(table)


class TextHost(WithoutPlugIns, Host):
    """Reads a scenario as far as its text allows: its plug-ins are left out, and no code is loaded."""

    def plug_in(self, family: str, text: str) -> str | None:
        """See `Host`."""
        return "null" if json.loads(text)["kind"] == "wasm" else super().plug_in(family, text)


class TapeHost(Host):
    """Takes the tables of plug-ins from a tape, and loads no class. The values must be those of the recorded run."""

    def __init__(self, folder: Path | None, tape: _engine.Tape) -> None:
        super().__init__(folder)
        self._left = list(json.loads(tape.stamp())["plug_ins"])
        self._count = len(self._left)

    def plug_in(self, family: str, text: str) -> str | None:
        """See `Host`."""
        given = json.loads(text)
        if not is_plug_in(given, family):
            return None
        reference = reference_of(given) if given["kind"] == "python" else None
        if not self._left:
            raise RefusedError("class", shown(reference or given["kind"]), "a class whose decisions are on the tape")
        recorded = self._left.pop(0)
        table: dict[str, Any] = recorded["table"]
        if reference not in {None, table["class"]}:
            raise RefusedError("class", f'"{reference}"', f'"{table["class"]}", which is on the tape')
        for name in [*table, *(name for name in given if name not in table)]:
            value = given.get(name, recorded["defaults"].get(name))
            if name in {"kind", "class"} or (name == "source" and name not in given):
                continue
            if name not in table:
                raise RefusedError(name, shown(value), "no such value, as on the tape")
            if not _agrees(table[name], value):
                raise RefusedError(name, shown(value), f"{shown(table[name])}, the value on the tape")
        return json.dumps(table)

    def finish(self) -> None:
        """Checks that the scenario has all plug-ins of the tape.

        Raises:
            ScenarioError: it has fewer.
        """
        if self._left:
            expected = f"the scenario of the tape, with {self._count} plug-ins"
            number = self._count - len(self._left)
            raise _engine.ScenarioError(f"scenario: has {number} plug-ins; expected {expected}")


def stamp(document: Mapping[str, Any], checked: _engine.Checked, seed: int) -> str:
    """The scenario of a tape, as JSON: the digest of its whole document, and the tables of its plug-ins."""
    tables = [
        {"table": table, "defaults": defaults_of(table, family)}
        for family, table in json.loads(checked.plug_ins())
        if table is not None
    ]
    return json.dumps({"scenario": _digest(document, seed), "plug_ins": tables})


def check_tape(document: Mapping[str, Any], tape: _engine.Tape) -> None:
    """Checks that a tape is one of a whole document.

    Raises:
        ScenarioError: it is one of another scenario.
    """
    recorded, own = json.loads(tape.stamp())["scenario"], _digest(document, tape.seed)
    if own != recorded:
        raise _engine.ScenarioError(f"scenario: has the digest {own}; expected {recorded}, that of the tape")


def _digest(document: Mapping[str, Any], seed: int) -> str:
    content = {name: value for name, value in document.items() if name not in _FREE}
    return hashlib.sha256(json.dumps({**content, "seed": seed}, sort_keys=True).encode()).hexdigest()


def _agrees(recorded: object, value: object) -> bool:
    """True if a value of a scenario is that on the tape, where quantities are numbers."""
    if isinstance(recorded, list) and isinstance(value, list | tuple):
        return len(recorded) == len(value) and all(map(_agrees, recorded, value))
    if isinstance(value, str) and isinstance(recorded, float | int) and not isinstance(recorded, bool):
        return any(in_unit(value, unit) == recorded for unit in ("b/s", "s", "B"))
    return isinstance(recorded, bool) == isinstance(value, bool) and recorded == value
