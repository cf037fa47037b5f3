"""The models of devices in files of the user: `[[device]]` tables in TOML, and device types of NetBox in YAML."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from netlull import _engine
from netlull.documents.textfiles import check_regular, read_text
from netlull.documents.tomltext import read_toml
from netlull.documents.yamltext import Yaml, read_yaml
from netlull.errors import InputError
from netlull.quantities import in_unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["DeviceType", "Devices", "Table", "known_devices", "read_devices", "speed_of"]

LARGEST_BYTES = 2**20
"""The largest device type, in bytes."""
_MOST_FILES = 10_000
_MOST_W = 1_000_000

Table = dict[str, Any]
"""The watts of a device, as a `[[power]]` table of a scenario."""

_TYPE = re.compile(r"(\d{1,5}(?:\.\d{1,3})?)([gt]?)base-.*")
"""An interface type of NetBox: "1000base-t" is in Mb/s, "10gbase-x-sfpp" in Gb/s."""
_LABEL = re.compile(r".*\((?:\d+/)*(\d{1,5}(?:\.\d{1,3})?)([MGT])E\)")
"""The same as NetBox shows it: "SFP+ (10GE)"."""
_SCALES = {"": 1e6, "m": 1e6, "g": 1e9, "t": 1e12}


def speed_of(text: str) -> float | None:
    """The speed in b/s of a rate such as "10 Gb/s", or of a NetBox interface type; None for another text."""
    told = _TYPE.fullmatch(text) or _LABEL.fullmatch(text)
    return in_unit(text, "b/s") if told is None else float(told[1]) * _SCALES[told[2].lower()]


@dataclass(frozen=True)
class DeviceType:
    """A device type of NetBox."""

    path: Path
    names: Sequence[str]
    """Its model, slug and part number, as far as the file has them."""
    speeds: Mapping[str, float | None]
    """The speed of each interface in b/s; None for one that is no Ethernet."""
    draw_w: float | None
    """The draw of its power ports; None if the file has none."""
    draw_field: str
    """The field of that draw."""
    known: str | None
    """The model of netlull with measured watts."""

    def table(self) -> Table:
        """Its watts.

        Raises:
            InputError: the file gives none.
        """
        if self.known is not None:
            return {"model": self.known}
        if self.draw_w is None:
            raise InputError(
                f"{self.path}: power-ports: no draw; expected maximum_draw or allocated_draw in W, or a TOML file with "
                "a [[device]] table of the inventory's model"
            )
        source = f"{self.draw_field} in {self.path.name}: a data sheet's figure, not a measurement"
        return {"base": f"{self.draw_w:g} W", "source": source}


@dataclass(frozen=True)
class Devices:
    """The models of the user's files."""

    tables: Mapping[str, Table] = field(default_factory=dict)
    """`[[device]]` tables by name."""
    types: Mapping[str, Sequence[DeviceType]] = field(default_factory=dict)
    """NetBox's device types by each of their names."""

    @property
    def names(self) -> list[str]:
        """All names of models."""
        return [*self.tables, *self.types]

    def type_of(self, model: str) -> DeviceType | None:
        """The device type with a name.

        Raises:
            InputError: two files have it.
        """
        found = self.types.get(model, ())
        if len(found) > 1:
            files = " and ".join(str(each.path) for each in found[:2])
            raise InputError(f'model "{model}" is in {files}; expected the slug of one of them')
        return found[0] if found else None


def known_devices() -> dict[str, Table]:
    """The tables of netlull's devices."""
    return {model["name"]: model["device"] for model in _engine.catalogue()["power"] if model.get("device")}


def read_devices(path: Path) -> Devices:
    """The models of a file, or of all files of a folder: TOML with `[[device]]` tables, or NetBox device types in YAML.

    Raises:
        InputError: a file is wrong; the message names the file, and the line or the field.
    """
    tables: dict[str, Table] = {}
    types: dict[str, list[DeviceType]] = {}
    for file in _files(path):
        if file.suffix in _YAML:
            found = _read_type(file)
            for name in found.names:
                types.setdefault(name, []).append(found)
            continue
        for name, table in _read_tables(file).items():
            if name in tables:
                raise InputError(f"{file}: device {name} is in another file of {path}; expected it once")
            tables[name] = table
    return Devices(tables, types)


_YAML = (".yaml", ".yml")


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    try:
        found = sorted(file for file in path.iterdir() if file.suffix in {".toml", *_YAML})
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if not found:
        raise InputError(f"{path}: has no TOML and no YAML file; expected models of devices")
    if len(found) > _MOST_FILES:
        raise InputError(f"{path}: has {len(found)} files; expected at most {_MOST_FILES}")
    for file in found:
        check_regular(file)
    return found


def _read_tables(path: Path) -> dict[str, Table]:
    tables: dict[str, Table] = {}
    given = read_toml(read_text(path), str(path)).get("device", [])
    for place, table in enumerate(given if isinstance(given, list) else [given]):
        name = table.get("name") if isinstance(table, dict) else None
        if not isinstance(name, str) or not name:
            raise InputError(f"{path}: device.{place}.name: is missing; expected the name of a model")
        if name in tables:
            raise InputError(f"{path}: device.{place}.name: {name} comes twice; expected it once")
        none = np.zeros((0, 2, 1))
        try:
            _engine.device_watts(table, [], np.zeros((0, 1), dtype=np.uint8), none, none)
        except _engine.ScenarioError as error:
            raise InputError(f"{path}: device.{place} ({name}): {error}") from None
        tables[name] = table
    if not tables:
        raise InputError(f"{path}: has no [[device]]; expected a table for each model")
    return tables


def _read_type(path: Path) -> DeviceType:
    root = _Mapping.of(path, "", read_yaml(read_text(path, LARGEST_BYTES), str(path)))
    manufacturer, model, slug = (root.text(name) for name in ("manufacturer", "model", "slug"))
    part = root.text("part_number", required=False)
    names = [name for name in dict.fromkeys((model, slug, part)) if name]
    speeds: dict[str, float | None] = {}
    for port in root.entries("interfaces"):
        name = port.text("name")
        if name in speeds:
            raise port.error("name", f'"{name}" comes twice; expected it once')
        told = port.text("type")
        speeds[name] = speed_of(told) if _TYPE.fullmatch(told) else None
    draws = [
        {name: port.watts(name) for name in ("allocated_draw", "maximum_draw")} for port in root.entries("power-ports")
    ]
    chosen = next((name for name in ("allocated_draw", "maximum_draw") if any(draw[name] for draw in draws)), "")
    given = [watts for draw in draws if chosen and (watts := draw[chosen]) is not None]
    # Two supplies or more: half of them carry the device alone.
    draw_w = sum(given) / min(2, len(given)) if given else None
    plain = [name.lower().replace(" ", "-") for name in names]
    maker = manufacturer.lower().replace(" ", "-") + "-"
    known = known_devices()
    own = next((name for each in plain for name in (each, each.removeprefix(maker)) if name in known), None)
    return DeviceType(path, names, speeds, draw_w, chosen, own)


@dataclass(frozen=True)
class _Mapping:
    """A mapping of a file, and its path in it."""

    path: Path
    place: str
    line: int
    values: Mapping[str, Yaml]

    @classmethod
    def of(cls, path: Path, place: str, node: Yaml) -> _Mapping:
        """A value that has to be a mapping."""
        if not isinstance(node.value, dict):
            expected = "expected a mapping such as a NetBox device type"
            raise cls(path, place, node.line, {}).error("", f"is {_shown(node)}; {expected}")
        return cls(path, place, node.line, node.value)

    def error(self, name: str, text: str) -> InputError:
        """An error of a field."""
        line = self.values[name].line if name in self.values else self.line
        field_path = ".".join(each for each in (self.place, name) if each)
        return InputError(f"{self.path}, line {line}: {field_path + ': ' if field_path else ''}{text}")

    def text(self, name: str, *, required: bool = True) -> str:
        """A field's text; empty if it may be missing and is."""
        node = self._given(name)
        if node is None:
            if required:
                raise self.error(name, "is missing; expected text")
            return ""
        if not isinstance(node.value, str) or (required and not node.value):
            raise self.error(name, f"is {_shown(node)}; expected text")
        return node.value

    def watts(self, name: str) -> float | None:
        """A field in W."""
        node = self._given(name)
        if node is None:
            return None
        told = node.value
        if (
            not isinstance(told, str)
            or not re.fullmatch(r"\d{1,7}(\.\d{1,3})?", told)
            or not 0 < float(told) <= _MOST_W
        ):
            raise self.error(name, f"is {_shown(node)}; expected a number of W above 0, up to {_MOST_W:,}")
        return float(told)

    def entries(self, name: str) -> Iterator[_Mapping]:
        """The mappings in a list."""
        node = self._given(name)
        if node is None:
            return
        if not isinstance(node.value, list):
            raise self.error(name, f"is {_shown(node)}; expected a list")
        for place, entry in enumerate(node.value):
            yield self.of(self.path, f"{name}.{place}", entry)

    def _given(self, name: str) -> Yaml | None:
        """A field that has a value."""
        node = self.values.get(name)
        return None if node is None or node.value is None else node


def _shown(node: Yaml) -> str:
    if isinstance(node.value, str):
        return f'"{node.value[:100]}"'
    return "empty" if node.value is None else "a list" if isinstance(node.value, list) else "a mapping"
