"""A submission: the controller that is judged, what the benchmark adds to it in each cell, and its seeds."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netlull._engine import schema
from netlull.documents.plain import plain
from netlull.documents.textfiles import read_text
from netlull.documents.tomltext import read_toml
from netlull.errors import InputError, near
from netlull.quantities import in_unit
from netlull.scenario import Scenario

if TYPE_CHECKING:
    from netlull.benchmark.definition import Cell, Definition
    from netlull.plugins.loading import AllowedCode

__all__ = ["DEVELOPMENT", "RANKING", "Submission", "development_seeds", "ranking_seeds"]

DEVELOPMENT, RANKING = "development", "ranking"
"""The kinds of seeds."""
_HARDWARE = ("in_service", "transition_power")
"""The fields of a controller that no submission sets."""
_CELL = "cell"
"""The value of such a field in a controller whose parameters the schema does not list: the cell's own."""
_SCALED = re.compile(r"(\d+(?:\.\d+)?) (buffer|transition|rate|lowest|step)")


@dataclass(frozen=True)
class Submission:
    """A controller by its document fragment; None for a link that is always on."""

    name: str
    controller: Mapping[str, Any] | None
    folder: Path = Path()
    """The folder that the controller's files are relative to; default the current one."""
    allow_code: AllowedCode = False
    """The classes that may be loaded, as in `Scenario.from_toml`."""

    @classmethod
    def read(cls, text: str, definition: Definition, *, name: str | None = None) -> Submission:
        """The controller in a table such as `{ kind = "lull" }` (TOML or JSON), in a file, or a baseline's.

        A file holds the controller's fields, or has them in a table `controller` next to an optional `name`. The name
        of a table is its kind, with "my-" before it if a baseline with another controller has that name.

        Raises:
            InputError: the text is none of these, or the name is that of a baseline with another controller.
        """
        found = cls._read(text, definition)
        if name is not None:
            found = replace(found, name=name)
        baseline = definition.baseline(found.name)
        if baseline is not None and baseline.controller != found.controller:
            raise InputError(
                f'name: "{found.name}" is a baseline with another controller; expected another name (--name)'
            )
        return found

    @classmethod
    def _read(cls, text: str, definition: Definition) -> Submission:
        if text.lstrip().startswith("{"):
            controller = _inline(text)
            kind = str(controller.get("kind", "controller"))
            baseline = definition.baseline(kind)
            return cls(kind if baseline is None or baseline.controller == controller else f"my-{kind}", controller)
        baseline = definition.baseline(text)
        if baseline is not None:
            return cls(baseline.name, baseline.controller)
        path = Path(text)
        if not path.is_file():
            known = [each.name for each in definition.baselines]
            expected = f'expected a table such as {{ kind = "lull" }}, a file, or a baseline; {near(text, known)}'
            raise InputError(f"controller: {text}: there is no such file; {expected}")
        found = _file(path)
        if "controller" in found:
            unknown = sorted(found.keys() - {"name", "controller"})
            if unknown:
                raise InputError(f"{path}: {unknown[0]}: is unknown; expected `name` and `controller`")
            named, controller = found.get("name"), found["controller"]
        else:
            named, controller = None, found
        return cls(str(named or path.stem), _table(controller, str(path)), path.parent)

    @property
    def sets_rates(self) -> bool:
        """True for a controller that chooses its own rates and pauses, such as a class or a module."""
        return self.controller is not None and _parameters(str(self.controller.get("kind"))) is None

    def base(self, definition: Definition) -> Scenario:
        """The scenario that every cell changes. The controller's files are relative to the submission's folder."""
        return Scenario.from_dict(definition.document, folder=self.folder, allow_code=self.allow_code)

    def changes(self, definition: Definition, cell: Cell) -> dict[str, Any]:
        """The changes of the scenario for a cell with this controller on the link.

        Raises:
            InputError: the controller has a field that the benchmark sets.
        """
        changes = definition.changes(cell)
        if self.controller is None:
            return changes
        complete = json.loads(definition.scenario.with_values(changes).canonical())
        table = _link(complete, definition)
        controller = _completed(self.controller, cell, table, complete["mtu"])
        return {**changes, f"link.{definition.link}.controller": controller}

    def digest(self, scenarios: Mapping[str, Scenario], definition: Definition) -> str:
        """Identifies the submission: the SHA-256 of its controllers in all valid cells, with the content of files."""
        found = {}
        for name, scenario in scenarios.items():
            controller = _link(json.loads(scenario.canonical()), definition).get("controller")
            if controller is not None and "digest" in controller:
                # The content of the file, wherever it is.
                controller = {field: value for field, value in controller.items() if field != "module"}
            found[name] = controller
        return hashlib.sha256(json.dumps(found, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def development_seeds(definition: Definition) -> tuple[int, ...]:
    """The published seeds: 1, 2, ..."""
    return tuple(range(1, definition.seeds + 1))


def ranking_seeds(definition: Definition, submission: str) -> tuple[int, ...]:
    """The seeds that rank a submission with this digest.

    Seed i (from 1) is the first 63 bits of SHA-256 of "netlull benchmark VERSION DEFINITION SUBMISSION i", where
    DEFINITION and SUBMISSION are digests in hexadecimal.
    """
    start = f"netlull benchmark {definition.version} {definition.digest} {submission}"
    digests = (hashlib.sha256(f"{start} {number}".encode()).digest() for number in range(1, definition.seeds + 1))
    return tuple(int.from_bytes(digest[:8], "big") >> 1 for digest in digests)


def _link(complete: Mapping[str, Any], definition: Definition) -> dict[str, Any]:
    """The controlled link in a complete scenario."""
    links: list[dict[str, Any]] = complete["link"]
    return next(each for each in links if f"{each['from']}-{each['to']}" == definition.link)


def _inline(text: str) -> dict[str, Any]:
    """A table in TOML or JSON on the command line."""
    try:
        return _table(json.loads(text), "controller")
    except ValueError:
        pass
    try:
        return _table(tomllib.loads(f"controller = {text}")["controller"], "controller")
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f'controller: {text}: is no table: {error}; expected one such as {{ kind = "lull" }}'
        ) from None


def _file(path: Path) -> dict[str, Any]:
    text = read_text(path)
    if path.suffix != ".json":
        return read_toml(text, str(path))
    try:
        return _table(json.loads(text), str(path))
    except ValueError as error:
        raise InputError(f"{path}: is not JSON: {error}") from None


def _table(found: object, where: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise InputError(f"{where}: is {found!r}; expected a table with the controller's `kind` and parameters")
    table: dict[str, Any] = plain(found)
    return table


def _completed(controller: Mapping[str, Any], cell: Cell, link: Mapping[str, Any], mtu: str) -> dict[str, Any]:
    """The controller with the fields of the cell, and with quantities in its units as plain ones."""
    rates = cell.rates.listed()
    owned: dict[str, Any] = {
        "rates": cell.rates.table(),
        "min_rate": cell.rates.low,
        "granularity": cell.rates.step,
        "transition": cell.transition,
        "in_service": "finish_then_pause",
        "transition_power": "higher",
    }
    known = _parameters(str(controller.get("kind")))
    fields: dict[str, Any] = {}
    for name, value in owned.items():
        if known is None and controller.get(name) == _CELL:
            fields[name] = [f"{rate} b/s" for rate in rates] if name == "rates" else value
        elif name in controller and (known is not None or name in _HARDWARE):
            raise InputError(f"controller.{name}: is {controller[name]!r}; the benchmark sets it: expected it left out")
        elif known is not None and name in known:
            fields[name] = value
    packets, packet = in_unit(link["buffer"], "packets"), in_unit(mtu, "B")
    units: dict[str, Callable[[float], str]] = {
        "buffer": lambda share: f"{round(share * (packets or 0) * (packet or 0))} B",
        "transition": lambda share: f"{round(share * (in_unit(cell.transition, 'ns') or 0))} ns",
        "rate": lambda share: f"{round(share * rates[-1])} b/s",
        "lowest": lambda share: f"{round(share * rates[0])} b/s",
        "step": lambda share: f"{round(share * (rates[1] - rates[0]))} b/s",
    }
    return {**{name: _scaled(value, units) for name, value in controller.items()}, **fields}


def _scaled(value: Any, units: Mapping[str, Callable[[float], str]]) -> Any:
    if isinstance(value, dict):
        return {name: _scaled(each, units) for name, each in value.items()}
    if isinstance(value, list):
        return [_scaled(each, units) for each in value]
    found = _SCALED.fullmatch(value) if isinstance(value, str) else None
    return value if found is None else units[found[2]](float(found[1]))


def _parameters(kind: str) -> set[str] | None:
    """The parameters of a kind of controller in the scenario's schema; None for a kind with parameters of its own."""
    for option in schema()["$defs"]["ControllerDocument"]["oneOf"]:
        properties = option.get("properties", {})
        if properties.get("kind", {}).get("const") == kind and option.get("additionalProperties") is not True:
            return set(properties)
    return None
