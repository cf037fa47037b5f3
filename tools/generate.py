#!/usr/bin/env python3
"""Writes the files derived from the core: `make generate`.

    tools/generate.py [--check]

- python/netlull/shipped/scenarios/scenario.schema.json, as `netlull schema` prints it,
- python/netlull/builders.py, a class for each table of that schema, and their names in python/netlull/__init__.py,
- the tables of parameters in docs/models, between `<!-- parameters: NAME -->` and `<!-- end -->`; NAME is a kind or a
  table of the schema,
- python/netlull/shipped/scenarios/vocabulary.schema.json, as `netlull schema --vocabulary` prints it, and the tables of
  its types there, between `<!-- vocabulary: NAME -->` and `<!-- end -->`,
- the tables of the interface of WebAssembly modules in docs/how-to/wasm-interface.md, between `<!-- interface -->` and
  `<!-- end -->`,
- the words with another name in python/netlull/renames.py, and their table in the CHANGELOG, between
  `<!-- renames -->` and `<!-- end -->`,
- the tables of power models and radios there, between `<!-- catalogue: power -->` or `<!-- catalogue: radios -->` and
  `<!-- end -->`.

With --check it writes nothing, prints the stale files, and exits 1 if there are any.
"""

from __future__ import annotations

import json
import keyword
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from netlull import _engine, catalogue, schema, vocabulary

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "netlull"
Table = dict[str, Any]
"""A table of the JSON Schema, or a field of it."""

NAMES = {
    "components": "LognormalComponent",
    "drops": "ScriptedDrops",
    "mechanism": "Doze",
    "rates": "RateSteps",
    "tcp": "TcpOptions",
    "vegas": "VegasBounds",
}
"""Names of classes that differ from their field's name. Classes of kinds are named after their `kind`."""

MAPPINGS = {"flows", "round_trip", "steps", "topology"}
"""Fields whose tables are mappings in Python, without a class."""

POSITIONAL = {
    "Bursts": "name from to rate",
    "CEarth": "target min_rate round_trip",
    "Codel": "target interval",
    "EmpiricalSize": "cdf file",
    "GRouter": "target min_rate round_trip",
    "GilbertElliott": "to_bad to_good loss_bad loss_good",
    "Link": "from to rate delay buffer",
    "LognormalSize": "components min max",
    "ParetoSize": "mean shape max",
    "Port": "speed",
    "Power": "model",
    "Probe": "interval",
    "Red": "min_threshold max_threshold",
    "Tcp": "name from to size",
    "WebSearchSize": "mean",
}
"""Positional fields of classes, unless they are the required fields in the schema's order. Others are keywords."""

PRIMITIVES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
WIDTH = 120


# Classes.


@dataclass
class Field:
    """A field of a class."""

    name: str
    type: str
    description: str
    keyword_only_from_here: bool = False


@dataclass
class Class:
    """A table of the schema as a class. `table` is its field with a table, if there is one."""

    name: str
    kind: str | None
    description: str
    fields: list[Field]
    table: Field | None = None


@dataclass
class Union:
    """The classes of a family."""

    name: str
    members: list[str]
    description: str


class Builders:
    """The classes for a schema, from its links and flows down. A class has the name of its field."""

    def __init__(self, whole: Table) -> None:
        self.definitions: Table = whole["$defs"]
        self.classes: dict[str, Class] = {}
        self.unions: dict[str, Union] = {}
        self._tables: dict[str, Table] = {}
        """The table of each class and union."""
        self.kinds: dict[str, Table] = {}
        """The table of each kind."""
        for key, field in whole["properties"].items():
            self._type(key, field)

    def module(self) -> str:
        """The text of the module."""
        template = jinja2.Template((ROOT / "tools" / "builders.py.jinja").read_text(encoding="utf-8"))
        # A class follows its table.
        classes = sorted(self.classes.values(), key=lambda each: (each.table is not None, each.name))
        unions = [self.unions[name] for name in sorted(self.unions)]
        return formatted(template.render(classes=classes, unions=unions, exported=sorted(self.classes)) + "\n")

    def _type(self, key: str, field: Table) -> str:
        """The Python type of a field. Adds its class if it has one."""
        if "$ref" in field:
            return self._of_definition(key, definition_of(field, self.definitions))
        if "anyOf" in field:
            parts = [self._type(key, each) for each in field["anyOf"] if each != {"type": "null"}]
            return " | ".join(dict.fromkeys(" | ".join(parts).split(" | ")))
        if "enum" in field:
            return literal(field["enum"])
        (kind,) = {field["type"]} if isinstance(field["type"], str) else set(field["type"]) - {"null"}
        if kind == "array" and "prefixItems" in field:
            return f"tuple[{', '.join(self._type(key, each) for each in field['prefixItems'])}]"
        if kind == "array":
            return f"Sequence[{self._type(key, field['items'])}]"
        return PRIMITIVES.get(kind, "Mapping[str, object]")

    def _of_definition(self, key: str, definition: Table) -> str:
        variants = [merged(each, self.definitions) for each in definition.get("oneOf", [])]
        if variants and "const" in variants[0]:
            return literal([each["const"] for each in variants])
        if not variants and "properties" not in definition:
            return self._type(key, definition)
        if key in MAPPINGS:
            return "Mapping[str, object]"
        name = NAMES.get(key, camel_case(key))
        if variants:
            self._add_union(name, definition, variants)
        else:
            self._add(name, definition)
        return f"{name} | Mapping[str, object]"

    def _is_new(self, name: str, table: Table) -> bool:
        """Registers a name. False for a known one; raises ValueError if that belongs to another table."""
        is_new = name not in self._tables
        if self._tables.setdefault(name, table) != table:
            raise ValueError(f"class {name}: belongs to two tables; expected another kind, or an entry in NAMES")
        return is_new

    def _add_union(self, name: str, definition: Table, variants: list[Table]) -> None:
        if not self._is_new(name, definition):
            return
        union = self.unions[name] = Union(name, [], docstring(definition["description"], indent=0))
        for table in variants:
            kind = table["properties"]["kind"]["const"]
            if table.get("additionalProperties"):
                # A plug-in's own parameters are in no schema: it is a mapping.
                self.kinds.setdefault(kind, table)
                continue
            union.members.append(camel_case(kind) + ("Size" if name == "Size" else ""))
            self.kinds[kind] = table
            self._add(union.members[-1], table)

    def _add(self, name: str, table: Table) -> None:
        if not self._is_new(name, table):
            return
        fields: Table = {key: field for key, field in table["properties"].items() if key != "kind"}
        kind = table["properties"].get("kind", {}).get("const")
        required = [key for key in fields if key in table.get("required", [])]
        positional = POSITIONAL[name].split() if name in POSITIONAL else required
        made = self.classes[name] = Class(name, kind, docstring(table["description"]), [])
        for key in [*positional, *sorted(set(fields) - set(positional), key=list(fields).index)]:
            made.fields.append(self._field(key, fields[key], is_required=key in required))
            made.fields[-1].keyword_only_from_here = len(made.fields) == len(positional) + 1
            if self._is_own_table(fields[key]):
                made.table = made.fields[-1]

    def _is_own_table(self, field: Table) -> bool:
        """True for a table with a default, whose fields belong to the class like its other fields."""
        return isinstance(field.get("default"), dict) and "properties" in definition_of(field, self.definitions)

    def _field(self, key: str, field: Table, *, is_required: bool) -> Field:
        name = f"{key}_" if keyword.iskeyword(key) else key
        optional = "" if is_required else " | None = None"
        texts = [field["description"], self._quantity(field), default_text(field)]
        return Field(name, self._type(key, field) + optional, docstring(*texts))

    def _quantity(self, field: Table) -> str:
        """An example of a quantity, from its definition: `A time, such as "40 ms"`."""
        definition = definition_of(field, self.definitions)
        if definition.get("type") != "string":
            return ""
        text = re.sub(r" with a unit \(.*?\)", "", definition["description"])
        return text[0].upper() + text[1:]


def camel_case(words: str) -> str:
    """A class name from words: `AccessPoint` from `access_point`."""
    return "".join(word.capitalize() for word in words.split("_"))


def definition_of(field: Table, definitions: Table) -> Table:
    """The definition to which a field refers, even if the field may be null; empty if there is none."""
    names = [each["$ref"].rpartition("/")[2] for each in (field, *field.get("anyOf", [])) if "$ref" in each]
    return definitions[names[0]] if names else {}


def merged(table: Table, definitions: Table) -> Table:
    """A table with the fields of the definitions to which it refers."""
    for part in [definition_of(table, definitions), *table.get("allOf", [])]:
        inner = merged(part, definitions) if part else {}
        properties = table.get("properties", {}) | inner.get("properties", {})
        required = [*table.get("required", []), *inner.get("required", [])]
        table = inner | table | {"properties": properties, "required": required}
    return table


def literal(values: list[str]) -> str:
    """The `Literal` type of some words."""
    return f"Literal[{', '.join(json.dumps(value) for value in values)}]"


def default_text(field: Table) -> str:
    """The default of a field as a sentence."""
    if "efault" in field["description"]:
        return ""
    if "x-default" in field:
        return f"Default: {field['x-default']}"
    default = field.get("default")
    if default is None or isinstance(default, dict | list):
        return ""
    return f"Default {json.dumps(default, ensure_ascii=False)}"


def docstring(*texts: str, indent: int = 4) -> str:
    """A docstring of sentences. The first line is the first sentence, or its beginning if it is too long."""
    sentences = [
        each if each.endswith(".") else f"{each}." for each in (" ".join(text.split()) for text in texts) if each
    ]
    room = WIDTH - indent
    whole = " ".join(sentences)
    if len(whole) + 6 <= room:
        return f'"""{whole}"""'
    first, rest = split_summary(whole, room - 3)
    lines = textwrap.wrap(rest, room, break_on_hyphens=False)
    margin = " " * indent
    return "\n".join([f'"""{first}', "", *(margin + line for line in lines), f'{margin}"""'])


def split_summary(text: str, room: int) -> tuple[str, str]:
    """The first line of a docstring, which ends with a full stop, and the other sentences."""
    first, _, rest = text.partition(". ")
    if rest and len(first) < room:
        return f"{first}.", rest
    for mark in (": ", "; ", ", "):
        head, found, tail = text[:room].rpartition(mark)
        if found:
            return f"{head}.", (tail[0].upper() + tail[1:] if tail else "") + text[room:]
    raise ValueError(f"no first line of {room} characters: {text}")


def formatted(code: str) -> str:
    """Python code in ruff's format."""
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", "python/netlull/builders.py", "-"]
    return subprocess.run(command, input=code, capture_output=True, text=True, check=True, cwd=ROOT).stdout  # noqa: S603


def with_names(package: str, names: Iterable[str]) -> str:
    """The text of the package with the names of the classes."""
    listed = "".join(f'    "{name}",\n' for name in sorted(names))
    begin, end = "# builders: written by tools/generate.py\n", "# end\n"
    return re.sub(f"{begin}.*?{end}", f"{begin}__all__ += [\n{listed}]\n{end}", package, flags=re.DOTALL)


# Tables of parameters.


def with_renames(module: str) -> str:
    """The text of the module with the words that have another name."""
    listed = "".join(f"Rename({', '.join(map(repr, each.values()))})," for each in _engine.renames())
    begin, end = "# renames: written by tools/generate.py\n", "# end\n"
    table = formatted(f"RENAMES: tuple[Rename, ...] = ({listed})")
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}{table}{end}", module, flags=re.DOTALL)


def with_table_of_renames(page: str) -> str:
    """The text of the page with a row for each word that has another name."""
    lines = ["| where | old | new | since | the old word |", "|---|---|---|---|---|"]
    for each in _engine.renames():
        new = f"`{each['new']}`" if each["new"] else "removed"
        then = "still works" if each["works"] else "an error names the new one" if each["new"] else "an error says so"
        lines.append(f"| {each['place']} | `{each['old']}` | {new} | {each['since']} | {then} |")
    begin, end = "<!-- renames -->\n", "<!-- end -->"
    table = "\n".join(lines)
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}{table}\n{end}", page, flags=re.DOTALL)


MARKED = re.compile(r"(<!-- parameters: (\w+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
HEADING = "| parameter | meaning | unit or choices | default | source |\n|---|---|---|---|---|\n"
QUANTITIES = {
    "Time": "time",
    "Rate": "bit rate",
    "Data": "data",
    "Power": "power",
    "SignedPower": "power with a sign",
    "Energy": "energy",
    "BufferSize": "packets, data or BDP",
}


class Parameters:
    """The parameters of every kind in the schema, as tables in Markdown.

    The schema's keys `x-unit`, `x-default` and `x-source` come first, then the entries of the catalogue.
    """

    def __init__(self, builders: Builders) -> None:
        self._definitions, self._kinds = builders.definitions, builders.kinds
        listed = catalogue()
        entries = [entry for kind in ("mechanisms", "queues", "losses") for entry in listed[kind]]
        self._listed = {entry["name"]: {each["name"]: each for each in entry["parameters"]} for entry in entries}

    def page(self, text: str) -> str:
        """A page with its tables renewed."""
        return MARKED.sub(lambda found: f"{found[1]}\n{self._table(found[2])}\n{found[3]}", text)

    def _table(self, kind: str) -> str:
        table = self._kinds.get(kind) or self._definitions[kind]
        return HEADING + "".join(self._rows(table, self._listed.get(kind, {})))

    def _rows(self, table: Table, listed: Table, prefix: str = "") -> Iterator[str]:
        for key, field in table["properties"].items():
            name, inner = prefix + key, definition_of(field, self._definitions)
            if "properties" in inner and isinstance(field.get("default"), dict):
                yield from self._rows(inner, listed, f"{name}.")
            elif key != "kind":
                own = listed.get(name, {})
                is_required = key in table.get("required", [])
                default = "must be given" if is_required else field.get("x-default", own.get("default") or plain(field))
                cells = [
                    f"`{name}`",
                    " ".join(field["description"].split()),
                    choices(field.get("x-unit", own.get("unit") or self._unit(field))),
                    default,
                    field.get("x-source", own.get("source", "")),
                ]
                yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"

    def _unit(self, field: Table) -> str:
        """The unit or the choices of a field, by its type, and its range."""
        unit, bounds = self._unit_of_type(field), range_of(field)
        if not bounds or "integer" in field.get("type", ""):
            return unit
        return f"{unit} {bounds}" if any(f"x-{key}" in field for key in BOUNDS) else bounds

    def _unit_of_type(self, field: Table) -> str:
        parts = [each for each in field.get("anyOf", [field]) if each != {"type": "null"}]
        for name in (each["$ref"].rpartition("/")[2] for each in parts if "$ref" in each):
            known = self._definitions[name].get("oneOf", [])
            words = [each.get("const") or each["properties"]["kind"]["const"] for each in known]
            return QUANTITIES.get(name) or " | ".join(words) or self._unit_of_type(self._definitions[name])
        if "type" not in field:
            return self._unit_of_type(parts[0])
        kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
        return "true | false" if "boolean" in kinds else next(kind for kind in kinds if kind != "null")


BOUNDS = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}


def range_of(field: Table) -> str:
    """The range of a number or quantity in words."""
    bounds = {word: field.get(key, field.get(f"x-{key}")) for key, word in BOUNDS.items()}
    given = {
        word: f"{bound:g}" if isinstance(bound, float) else bound for word, bound in bounds.items() if bound is not None
    }
    if given.keys() == {"from", "at most"}:
        return f"{given['from']} to {given['at most']}"
    return ", ".join(f"{word} {bound}" for word, bound in given.items())


def choices(unit: str) -> str:
    """A unit, or choices in backticks. An optional value has an empty choice, which is left out."""
    found = [choice for choice in unit.split(" | ") if choice]
    return ", ".join(f"`{choice}`" for choice in found) if len(found) > 1 else "".join(found)


def plain(field: Table) -> str:
    """The default of a field in the form of a document."""
    default = field.get("default")
    if isinstance(default, dict):
        return str(default.get("kind", ""))
    return "none" if default is None else default if isinstance(default, str) else json.dumps(default)


# Tables of the catalogue.

CATALOGUE = re.compile(r"(<!-- catalogue: (\w+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)


def with_catalogue(text: str) -> str:
    """A page with its tables of power models and radios renewed."""
    tables = {"power": power_table, "radios": radio_table, "transceivers": transceiver_table}
    return CATALOGUE.sub(lambda found: f"{found[1]}\n{tables[found[2]]()}\n{found[3]}", text)


def power_table() -> str:
    """The power models with their values."""
    rows = [[f"`{each['name']}`", each["description"], values(each), each["source"]] for each in catalogue()["power"]]
    return table_of(["model", "description", "values", "source"], rows)


def values(model: Table) -> str:
    """The numbers of a device; none of them is of its own for an ideal model."""
    device = model.get("device")
    if device is None:
        return "as parameters"
    card = device.get("line_card")
    parts = [f"P_BASE {device['base']}, {device['ports']} ports"] if "base" in device else []
    parts += [f"a card of {card['power']} for {card['capacity']}"] if card else []
    parts += [port_words(port) for port in device["port"] if len(port) > 1]
    parts += [f"data sheet {device['data_sheet']}"] if "data_sheet" in device else []
    parts += [f"measured in use {device['wall']}"] if "wall" in device else []
    return "; ".join(parts)


PORT_WORDS = {
    "power": "P_PORT",
    "transceiver_in": "P_TRX_IN",
    "transceiver_up": "P_TRX_UP",
    "per_bit": "E_BIT",
    "per_packet": "E_PKT",
}


def port_words(port: Table) -> str:
    """A port's numbers."""
    known = [f"{word} {port[field]}" for field, word in PORT_WORDS.items() if field in port]
    kind = f" {port['transceiver']}" if "transceiver" in port else ""
    source = f" ({port['source']})" if "source" in port else ""
    return f"{port['speed'].removesuffix(' Gb/s')}G{kind}: {', '.join(known)}{source}"


def transceiver_table() -> str:
    """The transceivers with their powers."""
    rows = [
        [f"`{each['name']}`", f"{each['in_w']:g} W", f"{each['up_w']:g} W", each["source"]]
        for each in catalogue()["transceivers"]
    ]
    return table_of(["transceiver", "P_TRX_IN", "P_TRX_UP", "source"], rows)


def radio_table() -> str:
    """The radios with their powers."""
    states = ["asleep", "idle", "receive", "transmit", "waking"]
    rows = []
    for each in catalogue()["radios"]:
        powers = [f"{each[f'{state}_w']:g} W" for state in states]
        wake_time = f"{each['wake_time_s'] * 1e3:g} ms"
        rows.append([f"`{each['name']}`", *powers, wake_time, each["description"], each["source"]])
    return table_of(["profile", *states, "wake time", "description", "source"], rows)


def table_of(heading: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines).replace("| --- ", "|---").replace("--- |", "---|")


# Tables of the vocabulary.

VOCABULARY = re.compile(r"(<!-- vocabulary: (\w+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
WORDS = {"Time": "time", "Rate": "bit rate", "Data": "data", "Instant": "ns", "number": "number", "integer": "integer"}


class Vocabulary:
    """The types of the vocabulary as tables in Markdown: the fields of a struct, or the values of an enum."""

    def __init__(self, whole: Table) -> None:
        self._types: Table = whole["$defs"]

    def page(self, text: str) -> str:
        """A page with its tables renewed."""
        return VOCABULARY.sub(lambda found: f"{found[1]}\n{self._table(found[2])}\n{found[3]}", text)

    def _table(self, name: str) -> str:
        definition = self._types[name]
        if "oneOf" not in definition:
            return table_of(["field", "type", "description"], [list(row) for row in self._fields(definition)])
        rows = [row for value in definition["oneOf"] for row in self._values(value)]
        return table_of(["value", "type", "description"], rows)

    def _fields(self, struct: Table) -> Iterator[tuple[str, str, str]]:
        for name, field in struct["properties"].items():
            yield f"`{name}`", self._type(field), prose(field.get("description", ""))

    def _values(self, value: Table) -> Iterator[list[str]]:
        """A value of an enum, then its fields."""
        if "properties" not in value:
            for name in [value["const"]] if "const" in value else value["enum"]:
                yield [f"`{name}`", "", prose(value.get("description", ""))]
            return
        [(name, content)] = value["properties"].items()
        inside = content.get("properties")
        yield [f"`{name}`", "" if inside else self._type(content), prose(value.get("description", ""))]
        for field, kind, description in self._fields(content) if inside else []:
            yield [f"`{name}.{field[1:]}", kind, description]

    def _type(self, field: Table) -> str:
        parts = [each for each in field.get("anyOf", [field]) if each != {"type": "null"}]
        optional = ", or null" if len(parts) < len(field.get("anyOf", [])) or "null" in field.get("type", []) else ""
        return self._name(parts[0]) + optional

    def _name(self, field: Table) -> str:
        if "$ref" in field:
            name = field["$ref"].rpartition("/")[2]
            known = self._types[name].get("enum") or [each.get("const") for each in self._types[name].get("oneOf", [])]
            words = "" if None in known else ", ".join(f"`{word}`" for word in known)
            return WORDS.get(name) or words or name
        kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
        kind = next(kind for kind in kinds if kind != "null")
        if kind == "array":
            return f"list of {self._name(field['items'])}"
        return {"boolean": "true or false"}.get(kind, kind)


def prose(description: str) -> str:
    """A description without the links of rustdoc."""
    plain_links = re.sub(
        r"\[(`?)([^\]`]+)`?\](\([^)]*\))?", lambda found: f"{found[1]}{found[2]}{found[1]}", description
    )
    return " ".join(plain_links.replace("|", "\\|").split())


# Files.


def derived() -> Iterator[tuple[Path, str]]:
    """Every derived file and its text."""
    whole = schema()
    yield (
        ROOT / "python" / "netlull" / "shipped" / "scenarios" / "scenario.schema.json",
        json.dumps(whole, indent=2, ensure_ascii=False) + "\n",
    )
    words = vocabulary()
    yield (
        ROOT / "python" / "netlull" / "shipped" / "scenarios" / "vocabulary.schema.json",
        json.dumps(words, indent=2, ensure_ascii=False) + "\n",
    )
    builders = Builders(whole)
    yield PACKAGE / "builders.py", builders.module()
    yield PACKAGE / "__init__.py", with_names((PACKAGE / "__init__.py").read_text(encoding="utf-8"), builders.classes)
    for path, change in ((PACKAGE / "renames.py", with_renames), (ROOT / "CHANGELOG.md", with_table_of_renames)):
        yield path, change(path.read_text(encoding="utf-8"))
    interface = ROOT / "docs" / "how-to" / "wasm-interface.md"
    begin, end = "<!-- interface -->\n", "<!-- end -->"
    tables_of_interface = f"{begin}\n{_engine.module_bindings()['tables']}\n{end}"
    text = interface.read_text(encoding="utf-8")
    yield interface, re.sub(f"{begin}.*?{end}", lambda _: tables_of_interface, text, flags=re.DOTALL)
    parameters, tables = Parameters(builders), Vocabulary(words)
    for path in sorted((ROOT / "docs" / "models").rglob("*.md")):
        yield path, with_catalogue(tables.page(parameters.page(path.read_text(encoding="utf-8"))))


def main(arguments: list[str]) -> int:
    """Writes or checks; returns the exit code."""
    stale = [(path, text) for path, text in derived() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path, text in stale:
        if "--check" in arguments:
            print(f"{path.relative_to(ROOT)} is stale: run `make generate`")
        else:
            path.write_text(text, encoding="utf-8")
            print(f"written: {path.relative_to(ROOT)}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
