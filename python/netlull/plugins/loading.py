"""Plug-ins in scenarios: their classes, found in files, in this process and in installed packages."""

from __future__ import annotations

import functools
import importlib
import json
import sys
import threading
from collections.abc import Collection
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from netlull import _engine, renames
from netlull.errors import NEEDS_CODE
from netlull.plugins.classes import FAMILIES, METHODS, OPTIONS, Found, PlugIn, RefusedError
from netlull.plugins.modules import digest_of, file_of, has_no_source, module_from, source_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "AllowedCode",
    "Listed",
    "Passed",
    "WithoutPlugIns",
    "completed",
    "defaults_of",
    "found",
    "is_plug_in",
    "listed",
    "pass_on",
    "reference_of",
    "take",
]

_BUILT_IN = {
    "controllers": "mechanisms",
    "station_policies": "mechanisms",
    "sleep_plans": "mechanisms",
    "congestion_controls": "tcp",
}
"""The lists of the catalogue with built-in parts, by family."""

_FIELDS = ("kind", "class", "source")

_lock = threading.RLock()
_known: dict[tuple[str, str], type[PlugIn]] = {}
"""The classes of this process's scenarios, by MODULE:CLASS and source."""
_folders: dict[str, None] = {}
"""The folders of this process's scenarios with plug-ins, for other processes."""
_passed: set[tuple[str, str]] = set()
"""The classes that another process allows this one to load, by MODULE:CLASS and source."""

AllowedCode = bool | Collection[str]
"""The classes of a scenario that may be loaded: all, none, or those with these names MODULE:CLASS."""
Passed = tuple[list[str], list[tuple[str, str]]]
"""The folders and the classes that a process passes on to those that simulate for it."""


# In documents.


def completed(
    given: Mapping[str, Any], family: str, folder: Path | None, allow_code: AllowedCode
) -> dict[str, Any] | None:
    """The whole table of a plug-in: its class, its source and all its parameters. None for a kind of the core.

    A class of an installed entry point, or one that this process has loaded already, needs no permission.

    Raises:
        RefusedError: the plug-in cannot be used, or it may not be loaded.
    """
    if given["kind"] == "python":
        return _with(given, family, _class(reference_of(given), family, folder, allow_code), folder)
    entry = _entry_point(given["kind"], family)
    return None if entry is None else _with(given, family, _loaded(entry, family), folder)


def is_plug_in(given: Mapping[str, Any], family: str) -> bool:
    """True for a table of a Python class, in this folder or in a package."""
    return given["kind"] == "python" or _entry_point(given["kind"], family) is not None


class WithoutPlugIns:
    """The host of a whole scenario that is read without its classes; none of them is loaded."""

    def plug_in(self, family: str, text: str) -> str | None:
        """The answer for the table of a part, as `netlull.host.Host.plug_in` gives it."""
        return "null" if is_plug_in(json.loads(text), family) else None


def reference_of(given: Mapping[str, Any]) -> str:
    """The class in a table of the kind `python`.

    Raises:
        RefusedError: it is missing, or no text.
    """
    reference = given.get("class")
    if not isinstance(reference, str):
        value = "missing" if reference is None else json.dumps(reference, default=repr)
        raise RefusedError("class", value, 'MODULE:CLASS, such as "mine:Mine"')
    return reference


def _with(given: Mapping[str, Any], family: str, cls: type[PlugIn], folder: Path | None) -> dict[str, Any]:
    source = source_of(cls, PlugIn)
    if given.get("source") not in {None, source}:
        expected = f'"{source}", that of the class now; without the field, any source is accepted'
        raise RefusedError("source", json.dumps(given["source"], default=repr), expected)
    options = {name: value for name, value in given.items() if name in OPTIONS[family]}
    fields = {name: value for name, value in given.items() if name not in {*_FIELDS, *options}}
    values = cls.read(fields)
    # A completed table has numbers and the source of its class; people write units.
    if "source" not in given:
        for name, value in fields.items():
            cls.parameters()[name].check_units(value)
    with _lock:
        _known[cls.reference(), source] = cls
        if folder is not None:
            _folders[str(folder.resolve())] = None
    return {"kind": "python", "class": cls.reference(), "source": source, **values, **options}


def defaults_of(table: Mapping[str, Any], family: str) -> dict[str, Any]:
    """The defaults of the parameters that a whole table may leave out, and its options."""
    cls = _known.get((str(table.get("class")), str(table.get("source"))))
    parameters = {} if cls is None else cls.parameters()
    defaults = {name: each.read(each.default.value) for name, each in parameters.items() if not each.is_required}
    return {name: value for name, value in table.items() if name in OPTIONS[family]} | defaults


# For the core.


def found(family: str, table: str) -> Found:
    """The class and the parameters of a completed table.

    Raises:
        RefusedError: there is no such class in this process.
    """
    fields: dict[str, Any] = json.loads(table)
    reference, source = str(fields.get("class")), str(fields.get("source"))
    cls = _known.get((reference, source)) or _from_elsewhere(reference, source, family)
    return Found(cls, cls.read({name: value for name, value in fields.items() if name not in _FIELDS}))


def _from_elsewhere(reference: str, source: str, family: str) -> type[PlugIn]:
    """A class of a scenario that another process has completed, and passed on."""
    allowed = [reference] if (reference, source) in _passed else []
    for folder in [*map(Path, _folders), None]:
        try:
            cls = _class(reference, family, folder, allowed)
        except RefusedError:
            continue
        if source_of(cls, PlugIn) == source:
            _known[reference, source] = cls
            return cls
    expected = f"a class of this process with the source {source}"
    if has_no_source(reference.partition(":")[0]):
        expected = "a class in a file: one made with type(...) has no source, so other processes cannot load it"
    raise RefusedError("class", f'"{reference}"', expected)


def pass_on() -> Passed:
    """The folders and the classes of this process's scenarios."""
    with _lock:
        return list(_folders), list(_known)


def take(passed: Passed) -> None:
    """Allows this process to load the classes of another one."""
    folders, classes = passed
    with _lock:
        _folders.update(dict.fromkeys(folders))
        _passed.update((reference, source) for reference, source in classes)


# Classes.


def _class(reference: str, family: str, folder: Path | None, allow_code: AllowedCode) -> type[PlugIn]:
    """The class MODULE:CLASS.

    Raises:
        RefusedError: there is no such class, it is not one of the family, or it may not be loaded.
    """
    module_name, colon, name = reference.partition(":")
    names = [*module_name.split("."), *(part for part in name.split(".") if part != "<locals>")]
    if not (colon and all(part.isidentifier() for part in names)):
        raise RefusedError("class", f'"{reference}"', 'MODULE:CLASS, such as "mine:Mine"')
    file = None if folder is None else file_of(module_name, folder)
    live = PlugIn._live.get(reference)  # noqa: SLF001  # its registry
    if live is not None and (file is None or source_of(live, PlugIn) == digest_of(module_name, file)):
        return _fitting(live, reference, family)
    is_loaded = file is None and module_name in sys.modules
    if not (is_loaded or allow_code is True or (allow_code and reference in allow_code)):
        raise RefusedError("class", f'"{reference}", which is code', NEEDS_CODE)
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
        for entry in _in_old_groups(family):
            problem = f"it is in the group {entry.group}; expected another group: {_hint_of(entry)}"
            found.append(Listed(entry.name, family, _package(entry), None, problem))
    return found


def _entry_point(kind: str, family: str) -> metadata.EntryPoint | None:
    """The entry point of a kind, unless netlull has that kind itself.

    Raises:
        RefusedError: a package has the kind in a group that has another name now.
    """
    if kind in _own_names(_BUILT_IN[family]):
        return None
    entry = _entry_points(family).get(kind)
    for old in _in_old_groups(family) if entry is None else ():
        if old.name == kind:
            value = f'"{kind}" of the package {_package(old)}, in the group {old.group}'
            raise RefusedError("kind", value, f"another group: {_hint_of(old)}")
    return entry


def _entry_points(family: str) -> dict[str, metadata.EntryPoint]:
    return {entry.name: entry for entry in metadata.entry_points(group=f"netlull.{family}")}


def _in_old_groups(family: str) -> list[metadata.EntryPoint]:
    """The entry points in groups of the family that have another name now."""
    groups = [rename.old for rename in renames.RENAMES if rename.new == f"netlull.{family}" and not rename.works]
    return [entry for group in groups for entry in metadata.entry_points(group=group)]


def _hint_of(entry: metadata.EntryPoint) -> str:
    """The hint of the old group of an entry point."""
    return next(rename.hint for rename in renames.RENAMES if rename.old == entry.group)


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
