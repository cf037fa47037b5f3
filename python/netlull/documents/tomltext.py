"""TOML text as plain values, and plain values as TOML text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from netlull import _engine
from netlull._engine import read_toml
from netlull.documents.textfiles import check_text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["parse_setting", "read_toml", "toml_document", "toml_key", "toml_value"]


def parse_setting(setting: str) -> tuple[str, Any]:
    """Splits `path=value`. A value in TOML syntax is parsed; any other value is text.

    Raises:
        InputError: there is no `=`, no path before it, the value is nested too deeply, or a number is not finite.
    """
    check_text("--set", setting)
    return _engine.parse_setting(setting)


def toml_key(key: str) -> str:
    """A key, with quotes if TOML needs them."""
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else toml_value(key)


def toml_value(value: Any) -> str:
    """A value on one line. In tables `None` is a missing value, as in a scenario: TOML has no null.

    Raises:
        TypeError: the value is not a text, a number, a list or a table.
    """
    if isinstance(value, dict):
        inner = ", ".join(f"{toml_key(key)} = {toml_value(item)}" for key, item in value.items() if item is not None)
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, str | bool | int):
        # JSON text is TOML text, except for DEL, which TOML escapes.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    raise TypeError(f"{value!r} cannot be written as TOML")


def toml_document(data: Mapping[str, Any]) -> str:
    """Plain data as TOML: a line for each field, and for each table in a list.

    Raises:
        TypeError: a value is not a text, a number, a list or a table.
    """
    lines: list[str] = []
    for key, value in data.items():
        if value is None:
            continue
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            lines.append(f"{toml_key(key)} = [")
            lines += [f"    {toml_value(item)}," for item in value]
            lines.append("]")
        else:
            lines.append(f"{toml_key(key)} = {toml_value(value)}")
    return "\n".join(lines) + "\n"
