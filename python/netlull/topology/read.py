"""Reading of a topology's file: its size limit and its format."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from netlull.errors import InputError, near_file
from netlull.topology import document, graphml, native, sndlib_xml
from netlull.topology.markup import parse

if TYPE_CHECKING:
    from netlull.topology.model import Network
    from netlull.topology.options import ReadOptions

__all__ = ["LARGEST_BYTES", "read_bytes", "read_file"]

LARGEST_BYTES = 16 * 2**20
"""The largest file that is read, in bytes: a network of 100,000 links is smaller."""
_MOST_LINES = 400_000


def read_file(path: str | Path, options: ReadOptions) -> Network:
    """The topology in a file.

    Raises:
        InputError: names the file, the place in it, the value and the expected values.
    """
    path = Path(path)
    return read_bytes(_content(path), path.stem, str(path), options)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; {near_file(path, 'one that exists')}") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; expected a topology's file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > LARGEST_BYTES:
        raise InputError(f"{path}: is too large; expected at most {LARGEST_BYTES // 2**20} MiB")
    return content


def read_bytes(content: bytes, name: str, origin: str, options: ReadOptions) -> Network:
    """The topology in a file's content. `name` is the default name.

    Raises:
        InputError: names `origin`, the place in it, the value and the expected values.
    """
    chosen = options.format
    markup = chosen in {"sndlib-xml", "graphml"} or (chosen is None and _is_markup(content))
    if markup:
        root = parse(content, origin)
        chosen = chosen or {"network": "sndlib-xml", "graphml": "graphml"}.get(root.tag)
        if chosen is None:
            raise InputError(
                f"{origin}, line {root.line}: <{root.tag}> is not a topology; expected <network> or <graphml>"
            )
        read = sndlib_xml.read if chosen == "sndlib-xml" else graphml.read
        made = read(root, name, origin, options)
    else:
        text = _text(content, origin)
        chosen = chosen or _told(text, origin)
        made = (native.read if chosen == "sndlib-native" else document.read)(text, name, origin, options)
    return made.largest() if options.pieces == "largest" else made


def _is_markup(content: bytes) -> bool:
    start = content[:4096]
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return b"<" in start[:4]
    return start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")


def _text(content: bytes, origin: str) -> str:
    if not content.strip():
        raise InputError(f"{origin}: is empty; expected a topology")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{origin}, line {line}: is not UTF-8 text; expected a topology's file") from None
    if "\0" in text:
        raise InputError(f"{origin}: is not text; expected a topology's file")
    if text.count("\n") > _MOST_LINES:
        raise InputError(f"{origin}: has more than {_MOST_LINES:,} lines; expected a network")
    return text.replace("\r\n", "\n")


_SECTION = re.compile(r"^[ \t]*(META|NODES|LINKS|DEMANDS|ADMISSIBLE_PATHS)[ \t]*\(", re.MULTILINE)


def _told(text: str, origin: str) -> str:
    """The format of a text that is not XML."""
    if text.lstrip().startswith("?SNDlib") or _SECTION.search(text):
        return "sndlib-native"
    if re.match(r"(?s)\s*(?:#[^\n]*\n\s*|Creator[^\n]*\n\s*|Version[^\n]*\n\s*)*graph\s*\[", text):
        raise InputError(f"{origin}: is GML; expected SNDlib's native format or XML, GraphML, or TOML")
    return "toml"
