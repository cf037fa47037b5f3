"""Plug-ins in scenarios: their classes, found in files, in this process and in installed packages."""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import threading
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from netlull import _engine
from netlull.modules import file_of, module_from, source_of
from netlull.parameters import shown
from netlull.plugins import FAMILIES, METHODS, OPTIONS, Found, PlugIn, RefusedError
from netlull.quantities import in_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Listed", "check_tape", "complete", "folders", "found", "listed", "stamp", "without_plugins"]

_BUILT_IN = {
    "controllers": "mechanisms",
    "station_policies": "mechanisms",
    "sleep_plans": "mechanisms",
    "congestion_controls": "tcp",
}
"""The lists of the catalogue with built-in parts, by family."""

_FIELDS = ("kind", "class", "source")

_FREE = ("name", "description", "verify", "probe", "recording")
"""Parts of a scenario that change no decision."""

_lock = threading.RLock()
_known: dict[tuple[str, str], type[PlugIn]] = {}
"""The classes of this process's scenarios, by MODULE:CLASS and source."""
_folders: dict[str, None] = {}
"""The folders of this process's scenarios with plug-ins, for other processes."""


# In documents.


def complete(document: Mapping[str, Any], folder: Path | None, tape: _engine.Tape | None = None) -> dict[str, Any]:
    """The document for the core: each plug-in's table with its class, its source and all its parameters.

    With a tape, the tables come from there, and no class is loaded. The values must be those of the recorded run.

    Raises:
        ScenarioError: a plug-in cannot be used; the message names its path, the value and the expected values.
    """
    recorded = None if tape is None else json.loads(tape.stamp())["plug_ins"]
    completer = _Completer(folder, recorded)
    whole = completer.of(document)
    if completer.number < len(recorded or ()):
        expected = f"the scenario of the tape, with {len(recorded or ())} plug-ins"
        raise _engine.ScenarioError(f"scenario: has {completer.number} plug-ins; expected {expected}")
    return whole


def stamp(document: Mapping[str, Any], given: Mapping[str, Any], seed: int) -> str:
    """The scenario of a tape, as JSON: the digest of the core's document, and the plug-ins' tables in the given one."""
    stamper = _Stamper(None, None)
    stamper.of(given)
    return json.dumps({"scenario": _digest(document, seed), "plug_ins": stamper.tables})


def _digest(document: Mapping[str, Any], seed: int) -> str:
    content = {name: value for name, value in document.items() if name not in _FREE}
    return hashlib.sha256(json.dumps({**content, "seed": seed}, sort_keys=True).encode()).hexdigest()


def check_tape(document: Mapping[str, Any], tape: _engine.Tape) -> None:
    """Checks that a tape is one of the core's complete document.

    Raises:
        ScenarioError: it is one of another scenario.
    """
    recorded, own = json.loads(tape.stamp())["scenario"], _digest(document, tape.seed)
    if own != recorded:
        raise _engine.ScenarioError(f"scenario: has the digest {own}; expected {recorded}, that of the tape")


def without_plugins(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document without plug-ins and sleep: its nodes, links and traffic, whether or not the classes are here."""
    return _Remover(None, None).of({name: part for name, part in document.items() if name != "sleep"})


class _Completer:
    def __init__(self, folder: Path | None, recorded: list[dict[str, Any]] | None) -> None:
        self._folder = folder
        self._recorded = recorded
        self.number = 0
        """The number of tables from the tape."""

    def of(self, document: Mapping[str, Any]) -> dict[str, Any]:
        whole = dict(document)
        self._change(whole, "tcp", "congestion_control", "congestion_controls", "tcp")
        parts = [
            ("link", None, "controller", "controllers"),
            ("flow", "tcp", "congestion_control", "congestion_controls"),
        ]
        parts += [("station", None, "mechanism", "station_policies"), ("sleep", None, "plan", "sleep_plans")]
        for part, inner, field, family in parts:
            if not isinstance(whole.get(part), list):
                continue
            whole[part] = list(whole[part])
            for index, given in enumerate(whole[part]):
                # Other entries stay as they are: a copy of each would double the memory of the document.
                if not isinstance(given, dict) or (inner or field) not in given:
                    continue
                where = f"{part}.{_entry_name(given, index)}"
                whole[part][index] = entry = dict(given)
                if inner is None:
                    self._field(entry, field, family, f"{where}.{field}")
                else:
                    self._change(entry, inner, field, family, f"{where}.{inner}")
        return whole

    def _change(self, table: dict[str, Any], inner: str, field: str, family: str, where: str) -> None:
        if isinstance(table.get(inner), dict) and field in table[inner]:
            table[inner] = dict(table[inner])
            self._field(table[inner], field, family, f"{where}.{field}")

    def _field(self, table: dict[str, Any], field: str, family: str, where: str) -> None:
        given = table.get(field)
        if isinstance(given, str):
            given = {"kind": given}
        if not isinstance(given, dict) or not isinstance(given.get("kind"), str):
            return
        try:
            if given["kind"] == "python":
                table[field] = self._python(given, family)
            elif (entry := _entry_point(given["kind"], family)) is not None:
                table[field] = self._packaged(given, family, entry)
        except RefusedError as error:
            name, value, expected = error.refusal
            raise _engine.ScenarioError(f"{where}.{name}: is {value}; expected {expected}") from error.__cause__
        except TypeError as error:
            # A class that netlull cannot use, such as one with parameters of unknown types.
            raise _engine.ScenarioError(f"{where}.class: {error}") from error

    def _python(self, given: dict[str, Any], family: str) -> dict[str, Any]:
        reference = given.get("class")
        if not isinstance(reference, str):
            value = "missing" if reference is None else json.dumps(reference, default=repr)
            raise RefusedError("class", value, 'MODULE:CLASS, such as "mine:Mine"')
        if self._recorded is not None:
            return self._taped(given, reference)
        return self._with(given, family, _class(reference, family, self._folder))

    def _packaged(self, given: dict[str, Any], family: str, entry: metadata.EntryPoint) -> dict[str, Any]:
        if self._recorded is not None:
            return self._taped(given, None)
        return self._with(given, family, _loaded(entry, family))

    def _with(self, given: dict[str, Any], family: str, cls: type[PlugIn]) -> dict[str, Any]:
        source = source_of(cls, PlugIn)
        if given.get("source") not in {None, source}:
            expected = f'"{source}", that of the class now; without the field, any source is accepted'
            raise RefusedError("source", json.dumps(given["source"], default=repr), expected)
        options = {name: value for name, value in given.items() if name in OPTIONS[family]}
        values = cls.read({name: value for name, value in given.items() if name not in {*_FIELDS, *options}})
        with _lock:
            _known[cls.reference(), source] = cls
            if self._folder is not None:
                _folders[str(self._folder.resolve())] = None
        return {"kind": "python", "class": cls.reference(), "source": source, **values, **options}

    def _taped(self, given: dict[str, Any], reference: str | None) -> dict[str, Any]:
        """The next table on the tape, whose values must be the given ones."""
        recorded = self._recorded or []
        if self.number >= len(recorded):
            raise RefusedError("class", shown(reference or given["kind"]), "a class whose decisions are on the tape")
        table, defaults = recorded[self.number]["table"], recorded[self.number]["defaults"]
        self.number += 1
        if reference not in {None, table["class"]}:
            raise RefusedError("class", f'"{reference}"', f'"{table["class"]}", which is on the tape')
        for name in [*table, *(name for name in given if name not in table)]:
            value = given.get(name, defaults.get(name))
            if name in {"kind", "class"} or (name == "source" and name not in given):
                continue
            if name not in table:
                raise RefusedError(name, shown(value), "no such value, as on the tape")
            if not _agrees(table[name], value):
                raise RefusedError(name, shown(value), f"{shown(table[name])}, the value on the tape")
        return dict(table)


class _Stamper(_Completer):
    """Collects the tables of a complete document, with the defaults of their classes."""

    def __init__(self, folder: Path | None, recorded: list[dict[str, Any]] | None) -> None:
        super().__init__(folder, recorded)
        self.tables: list[dict[str, Any]] = []

    def _field(self, table: dict[str, Any], field: str, family: str, where: str) -> None:  # as its base
        given = table.get(field)
        if not isinstance(given, dict) or given.get("kind") != "python":
            return
        cls = _known.get((str(given.get("class")), str(given.get("source"))))
        parameters = {} if cls is None else cls.parameters()
        defaults = {name: each.read(each.default.value) for name, each in parameters.items() if not each.is_required}
        options = {name: value for name, value in given.items() if name in OPTIONS[family]}
        self.tables.append({"table": given, "defaults": {**options, **defaults}})


class _Remover(_Completer):
    def _field(self, table: dict[str, Any], field: str, family: str, where: str) -> None:  # as its base
        given = table.get(field)
        kind = given.get("kind") if isinstance(given, dict) else given
        if kind == "python" or (isinstance(kind, str) and _entry_point(kind, family) is not None):
            del table[field]


def _agrees(recorded: object, value: object) -> bool:
    """True if a value of a scenario is that on the tape, where quantities are numbers."""
    if isinstance(recorded, list) and isinstance(value, list | tuple):
        return len(recorded) == len(value) and all(map(_agrees, recorded, value))
    if isinstance(value, str) and isinstance(recorded, float | int) and not isinstance(recorded, bool):
        return any(in_unit(value, unit) == recorded for unit in ("b/s", "s", "B"))
    return isinstance(recorded, bool) == isinstance(value, bool) and recorded == value


def _entry_name(entry: Mapping[str, Any], index: int) -> str:
    """The name of an entry in paths."""
    if isinstance(entry.get("name"), str):
        return str(entry["name"])
    ends = (entry.get("from"), entry.get("to"))
    return f"{ends[0]}-{ends[1]}" if all(isinstance(end, str) for end in ends) else str(index)


# For the core.


def found(family: str, table: str) -> Found:
    """The class and the parameters of a completed table.

    Raises:
        RefusedError: there is no such class in this process.
    """
    fields: dict[str, Any] = json.loads(table)
    reference, source = str(fields.get("class")), str(fields.get("source"))
    cls = _known.get((reference, source)) or _elsewhere(reference, source, family)
    return Found(cls, cls.read({name: value for name, value in fields.items() if name not in _FIELDS}))


def _elsewhere(reference: str, source: str, family: str) -> type[PlugIn]:
    """A class of a scenario that another process has completed."""
    for folder in [*map(Path, _folders), None]:
        try:
            cls = _class(reference, family, folder)
        except RefusedError:
            continue
        if source_of(cls, PlugIn) == source:
            _known[reference, source] = cls
            return cls
    raise RefusedError("class", f'"{reference}"', f"a class of this process with the source {source}")


def folders(more: Sequence[str] = ()) -> list[str]:
    """The folders of this process's scenarios with plug-ins, after adding those of another process."""
    with _lock:
        _folders.update(dict.fromkeys(more))
        return list(_folders)


# Classes.


def _class(reference: str, family: str, folder: Path | None) -> type[PlugIn]:
    """The class MODULE:CLASS.

    Raises:
        RefusedError: there is no such class, or it is not one of the family.
    """
    module_name, colon, name = reference.partition(":")
    names = [*module_name.split("."), *(part for part in name.split(".") if part != "<locals>")]
    if not (colon and all(part.isidentifier() for part in names)):
        raise RefusedError("class", f'"{reference}"', 'MODULE:CLASS, such as "mine:Mine"')
    file = None if folder is None else file_of(module_name, folder)
    live = PlugIn._live.get(reference)  # noqa: SLF001  # its registry
    if file is None and live is not None:
        return _fitting(live, reference, family)
    try:
        module = importlib.import_module(module_name) if file is None else module_from(module_name, file)
    except ModuleNotFoundError as error:
        if error.name != module_name.partition(".")[0] and error.name != module_name:
            raise _failed(reference, error) from error
        where = "" if folder is None else f" in {folder} or"
        raise RefusedError("class", f'"{reference}"', f"a module{where} on Python's path") from None
    except (Exception, SystemExit) as error:
        raise _failed(reference, error) from error
    value: Any = module
    for part in name.split("."):
        value = getattr(value, part, None)
    if value is None:
        raise RefusedError("class", f'"{reference}"', _classes_of(module, family))
    return _fitting(value, reference, family)


def _failed(reference: str, error: BaseException) -> RefusedError:
    what = f'"{reference}", whose module raises {type(error).__name__}: {error}'
    return RefusedError("class", what, "a module that can be imported")


def _classes_of(module: ModuleType, family: str) -> str:
    base = FAMILIES[family]
    own = [name for name, value in vars(module).items() if isinstance(value, type) and issubclass(value, base)]
    names = [f'"{module.__name__}:{name}"' for name in own if getattr(module, name) is not base]
    return f"one of {', '.join(names)}" if names else f"a class that derives from netlull.{base.__name__}"


def _fitting(value: object, reference: str, family: str) -> type[PlugIn]:
    base = FAMILIES[family]
    if not (isinstance(value, type) and issubclass(value, base) and value is not base):
        raise RefusedError("class", f'"{reference}"', f"a class that derives from netlull.{base.__name__}")
    methods = METHODS[family]
    if not any(hasattr(value, method) for method in methods):
        wanted = f"a class with a method {' or '.join(f'`{method}`' for method in methods)}"
        raise RefusedError("class", f'"{reference}"', wanted)
    return value


# Packages.


@dataclass(frozen=True)
class Listed:
    """A plug-in of an installed package."""

    name: str
    family: str
    package: str
    cls: type[PlugIn] | None
    problem: str | None
    """The reason why it cannot be used."""

    def described(self) -> dict[str, Any]:
        """The plug-in as an entry of the catalogue."""
        doc = "" if self.cls is None else (self.cls.__doc__ or "").strip().partition("\n")[0]
        parameters = [] if self.cls is None else [each.described() for each in self.cls.parameters().values()]
        return {"name": self.name, "description": doc, "source": self.package, "parameters": parameters}


def listed() -> list[Listed]:
    """The plug-ins of installed packages, by family and name. A broken one has a problem and no class."""
    found = []
    for family in FAMILIES:
        for name, entry in sorted(_entry_points(family).items()):
            package = _package(entry)
            problem, cls = None, None
            try:
                cls = _loaded(entry, family)
                cls.parameters()
            except (RefusedError, TypeError) as error:
                problem, cls = str(error), None
            if name in _own_names(_BUILT_IN[family]):
                problem = f'"{name}" is a built-in name; expected another name'
            found.append(Listed(name, family, package, cls, problem))
    return found


def _entry_point(kind: str, family: str) -> metadata.EntryPoint | None:
    """The entry point of a kind, unless netlull has that kind itself."""
    return None if kind in _own_names(_BUILT_IN[family]) else _entry_points(family).get(kind)


def _entry_points(family: str) -> dict[str, metadata.EntryPoint]:
    return {entry.name: entry for entry in metadata.entry_points(group=f"netlull.{family}")}


@functools.cache
def _own_names(part: str) -> frozenset[str]:
    return frozenset(str(entry["name"]) for entry in _engine.catalogue()[part])


def _package(entry: metadata.EntryPoint) -> str:
    return "an unknown package" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


def _loaded(entry: metadata.EntryPoint, family: str) -> type[PlugIn]:
    """The class of an entry point.

    Raises:
        RefusedError: it cannot be loaded, or is not one of the family; names the package.
    """
    what = f'"{entry.name}" of the package {_package(entry)}'
    try:
        value = entry.load()
    except (Exception, SystemExit) as error:
        raise RefusedError(
            "kind", f"{what}, which raises {type(error).__name__}: {error}", "a working plug-in"
        ) from error
    try:
        return _fitting(value, entry.value, family)
    except RefusedError as error:
        raise RefusedError("kind", f"{what}, {entry.value}", error.refusal[2]) from None
