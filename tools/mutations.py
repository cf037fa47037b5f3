"""Damaged input for `tools/attack.py`: changes of documents that follow their structure, of texts and of bytes."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from typing import Any

DEEPEST = 300
"""Depth of the values that are changed. `grow` makes deeper ones, and recursion ends at 1,000."""

MOST_DEPTH = 4
"""Tables in one another in a value made from the schema."""

Rng = random.Random
Json = Any

NUMBERS = (
    "0",
    "-1",
    "1",
    "2",
    "1e-9",
    "0.5",
    "1e9",
    "1e18",
    "1e308",
    "1e309",
    "nan",
    "inf",
    "-0",
    "007",
    "18446744073709551616",
)
UNITS = (
    "s",
    "ms",
    "ns",
    "b/s",
    "kb/s",
    "Mb/s",
    "Gb/s",
    "B",
    "kB",
    "MB",
    "packets",
    "BDP",
    "W",
    "mW",
    "%",
    "furlongs",
    "",
)
SCALARS: tuple[Json, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 7, 10**6, 2**31, 2**32, 2**53 + 1, 2**63, 2**64, -(2**63), 10**30, 0.0, -0.0,
    0.1, 1.0, 1e-300, 1e300, float("inf"), float("nan"), "", " ", "a", "\0", "\n", "é", "\ud800", "a" * 5000, "a.b",
    "../x", "N1", "N2", "N1-N2", "all", "tcp", "\x1b]0;x\x07", "N1\x1b[2J",
    "N1\u202e", "a\x9b1m", [], {}, [[]], [{}], {"": 0}, {"kind": "nothing"},
)  # fmt: skip
"""Values of every kind, near the limits of the readers."""

_NUMBER = re.compile(r"[-+]?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


def number(rng: Rng) -> str:
    """A number, often a sound one."""
    return rng.choice(NUMBERS) if rng.random() < 0.3 else f"{rng.uniform(0, 100) * 10 ** rng.randint(-3, 3):.3g}"


def quantity(rng: Rng) -> str:
    """A number with a unit, often a sound one."""
    return f"{number(rng)} {rng.choice(UNITS)}"


def places(value: Json, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all values in a document."""
    yield path
    if len(path) >= DEEPEST:
        return
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def at(value: Json, path: tuple[str | int, ...]) -> Json:
    """The value at a path."""
    for key in path:
        value = value[key]
    return value


class Schema:
    """The JSON Schema of scenarios as a source of values."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.root = schema

    def resolved(self, schema: Json, rng: Rng) -> dict[str, Any]:
        """A schema without references, with one of its alternatives."""
        for _ in range(20):
            if "$ref" in schema:
                schema = self.root["$defs"][schema["$ref"].rpartition("/")[2]]
            elif "anyOf" in schema and "properties" not in schema:
                schema = rng.choice(schema["anyOf"])
            elif "oneOf" in schema:
                schema = rng.choice(schema["oneOf"])
            else:
                break
        return dict(schema)

    def value(self, schema: Json, rng: Rng, depth: int = 0) -> Json:
        """A value that mostly fits a schema."""
        schema = self.resolved(schema, rng)
        fixed = schema.get("enum") or [schema[name] for name in ("const", "default") if name in schema]
        if fixed and ("default" not in schema or rng.random() < 0.2):
            return copy.deepcopy(rng.choice(fixed))
        kinds = schema.get("type", "string")
        kind = rng.choice(kinds) if isinstance(kinds, list) else kinds
        if kind == "object":
            return self.table(schema, rng, depth)
        if kind == "array":
            few = 0 if depth > MOST_DEPTH else rng.choice((0, 1, 1, 2, 3, 30))
            return [self.value(schema.get("items", {}), rng, depth + 1) for _ in range(few)]
        bounds = (schema.get("minimum", 0), schema.get("maximum", 9))
        choices: dict[str, tuple[Json, ...]] = {
            "integer": (0, 1, 2, 3, 10, 100, 2**16, 2**32, -1, *bounds),
            "number": (0, 0.5, 1, 1.5, -0.1, 1e9, *bounds),
            "boolean": (True, False),
            "null": (None,),
        }
        texts = (quantity(rng), "a", "N1", "N1-N2", *schema.get("examples", ["b"]))
        return copy.deepcopy(rng.choice(choices.get(kind, texts)))

    def table(self, schema: dict[str, Any], rng: Rng, depth: int) -> dict[str, Any]:
        """A table with the required fields and some others."""
        fields = schema.get("properties", {})
        chosen = set(schema.get("required", ()))
        if depth < MOST_DEPTH:
            chosen |= {name for name in fields if rng.random() < min(0.3, 3 / len(fields))}
        return {name: self.value(fields.get(name, {}), rng, depth + 1) for name in sorted(chosen)}

    def below(self, path: tuple[str | int, ...], rng: Rng) -> Json:
        """The schema at a path of a document; an alternative is chosen at random."""
        schema: Json = self.root
        for key in path:
            schema = self.resolved(schema, rng) if schema is not self.root else schema
            schema = schema.get("items", {}) if isinstance(key, int) else schema.get("properties", {}).get(key, {})
        return schema


def mutated(document: Json, rng: Rng, schema: Schema, pool: list[Json]) -> Json:
    """The document after one to six changes that follow its structure."""
    document = copy.deepcopy(document)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        paths = [path for path in places(document) if path]
        if not paths:
            return document
        path = rng.choice(paths)
        holder, key = at(document, path[:-1]), path[-1]
        match rng.randrange(16):
            case 0:
                del holder[key]
            case 1:
                holder[key] = copy.deepcopy(rng.choice(pool))
            case 2:
                holder[key] = copy.deepcopy(rng.choice(SCALARS))
            case 3 | 4 | 5:
                holder[key] = schema.value(schema.below(path, rng), rng)
            case 6 | 7 | 8 | 9:
                holder[key] = changed_number(holder[key], rng)
            case 10:
                holder[key] = copy.deepcopy(at(document, rng.choice(paths)))
            case 11:
                grow(holder, key, rng)
            case _:
                add_field(holder[key] if isinstance(holder[key], dict) else holder, path, rng, schema)
    return document


def changed_number(value: Json, rng: Rng) -> Json:
    """A text with another number in it, or another number."""
    if isinstance(value, str) and _NUMBER.search(value):
        return _NUMBER.sub(lambda _: number(rng), value, count=1)
    return quantity(rng) if isinstance(value, str) else copy.deepcopy(rng.choice(SCALARS))


def grow(holder: Json, key: str | int, rng: Rng) -> None:
    """Repeats an item of a list, or replaces a value by a deep or long one."""
    if isinstance(holder, list):
        holder.extend(copy.deepcopy(holder[key]) for _ in range(rng.choice((1, 2, 40))))  # type: ignore[index]
        return
    deep: Json = 0
    for _ in range(rng.choice((5, 200))):
        deep = [deep] if rng.random() < 0.5 else {"a": deep}
    holder[key] = deep


def add_field(holder: Json, path: tuple[str | int, ...], rng: Rng, schema: Schema) -> None:
    """Adds a field that the schema allows here, or an unknown one."""
    if not isinstance(holder, dict):
        return
    fields = schema.resolved(schema.below(path, rng), rng).get("properties") or schema.root["properties"]
    name = rng.choice([*fields, "unknown"])
    holder[name] = schema.value(fields.get(name, {}), rng)


def mutated_text(text: str, rng: Rng, pool: list[str]) -> str:
    """The text after one to five changes of lines, numbers, tokens or characters."""
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        lines = text.split("\n")
        place = rng.randrange(len(lines))
        match rng.randrange(12):
            case 0:
                del lines[place]
            case 1:
                lines.insert(place, rng.choice(lines))
            case 2 | 9 | 10:
                lines[place] = _NUMBER.sub(lambda _: number(rng), lines[place], count=1)
            case 3 | 11:
                lines[place] = re.sub(r'"[^"]*"', lambda _: json.dumps(rng.choice(pool)), lines[place], count=1)
            case 4:
                lines[place] = lines[place].replace(
                    rng.choice('"[]{}=<>/(),. '), rng.choice(('"', "[", "}", "<", "\0", "")), 1
                )
            case 5:
                lines[place] = rng.choice(pool)
            case 6:
                lines = lines[:place]
            case 7:
                other = rng.randrange(len(lines))
                lines[place], lines[other] = lines[other], lines[place]
            case _:
                lines[place:place] = [rng.choice(lines)] * rng.choice((2, 50))
        text = "\n".join(lines) or "x"
    return text[:200_000]


def mutated_bytes(content: bytes, rng: Rng) -> bytes:
    """The bytes after one to four changes."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        if not changed:
            break
        place = rng.randrange(len(changed))
        match rng.randrange(4):
            case 0:
                changed[place] = rng.randrange(256)
            case 1:
                del changed[place : place + rng.choice((1, 8, 1000))]
            case 2:
                changed[place:place] = rng.randbytes(rng.choice((1, 8)))
            case _:
                changed = changed[:place]
    return bytes(changed)
