"""Plug-ins in scenarios: their classes, found in files, in this process and in installed packages."""

from __future__ import annotations

import functools
import importlib
import json
import sys
import threading
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from netlull import _engine
from netlull.modules import file_of, module_from, source_of
from netlull.plugins import FAMILIES, METHODS, OPTIONS, Found, PlugIn, RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Listed", "complete", "folders", "found", "listed", "without_plugins"]

_BUILT_IN = {
    "controllers": "mechanisms",
    "station_policies": "mechanisms",
    "sleep_plans": "mechanisms",
    "congestion_controls": "tcp",
}
"""The lists of the catalogue with netlull's own parts, by family."""

_FIELDS = ("kind", "class", "source")

_lock = threading.RLock()
_known: dict[tuple[str, str], type[PlugIn]] = {}
"""The classes of this process's scenarios, by MODULE:CLASS and source."""
_folders: dict[str, None] = {}
"""The folders of this process's scenarios with plug-ins, for other processes."""


# In documents.


def complete(document: Mapping[str, Any], folder: Path | None, tape: _engine.Tape | None = None) -> dict[str, Any]:
    """The document for the core: each plug-in's table with its class, its source and all its parameters.

    With a tape, the tables come from there, and no class is loaded.

    Raises:
        ScenarioError: a plug-in cannot be used; the message names its path, the value and the expected values.
    """
    recorded = None if tape is None else json.loads(tape.tables())
    return _Completer(folder, recorded).of(document)


def without_plugins(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document without plug-ins and sleep: its nodes, links and traffic, whether or not the classes are here."""
    return _Remover(None, None).of({name: part for name, part in document.items() if name != "sleep"})


class _Completer:
    def __init__(self, folder: Path | None, recorded: list[dict[str, Any]] | None) -> None:
        self._folder = folder
        self._recorded = recorded

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
                if not isinstance(given, dict):
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
            return self._taped(given, entry.value)
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

    def _taped(self, given: dict[str, Any], reference: str) -> dict[str, Any]:
        """The table on the tape of a class, with the given values."""
        for table in self._recorded or []:
            if table["class"] == reference and all(_agrees(table, name, value) for name, value in given.items()):
                return {**table, **{name: value for name, value in given.items() if name not in {*table, *_FIELDS}}}
        raise RefusedError("class", f'"{reference}"', "a class whose decisions are on the tape")


class _Remover(_Completer):
    def _field(self, table: dict[str, Any], field: str, family: str, where: str) -> None:  # as its base
        given = table.get(field)
        kind = given.get("kind") if isinstance(given, dict) else given
        if kind == "python" or (isinstance(kind, str) and _entry_point(kind, family) is not None):
            del table[field]


def _agrees(table: Mapping[str, Any], name: str, value: object) -> bool:
    """True unless the tape has another value. A quantity in text is compared by the class only, which is not there."""
    return name in {"kind", "class"} or name not in table or isinstance(value, str) or table[name] == value


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
    if not (colon and module_name and name):
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
                problem = f"{name} is a name of netlull's own; expected another name"
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
