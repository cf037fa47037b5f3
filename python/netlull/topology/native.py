"""SNDlib's native format: sections of lines in parentheses (sndlib.put.poznan.pl, "Native network format")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from netlull.topology import sndlib
from netlull.topology.draft import Draft

if TYPE_CHECKING:
    from netlull.topology.model import Network
    from netlull.topology.options import ReadOptions

__all__ = ["read"]

_HEADER = re.compile(r"\?SNDlib native format\s*;\s*type:\s*(\w+)\s*;\s*version:\s*(\S+)")
_OPEN = re.compile(r"(META|NODES|LINKS|DEMANDS|ADMISSIBLE_PATHS)\s*\(\s*(\))?")
_META = re.compile(r"(\S+)\s*=\s*(.*)")
_NODE = re.compile(r"([^\s()]+)\s*(?:\(\s*([^\s(),]+)[\s,]+([^\s(),]+)\s*\))?")
_LINK = re.compile(
    r"([^\s()]+)\s*\(\s*([^\s()]+)\s+([^\s()]+)\s*\)\s*"  # <link_id> ( <source> <target> )
    r"([^()]*?)\s*"  # <pre_installed_capacity> <its cost> <routing_cost> <setup_cost>
    r"(?:\(([^()]*)\))?"  # ( {<module_capacity> <module_cost>}* )
)
_DEMAND = re.compile(r"([^\s()]+)\s*\(\s*([^\s()]+)\s+([^\s()]+)\s*\)\s*(\S+)\s+(\S+)(?:\s+(\S+))?")
_EXPECTED = {
    "META": "attribute = content",
    "NODES": "NAME ( LONGITUDE LATITUDE )",
    "LINKS": "ID ( SOURCE TARGET ) CAPACITY COST ROUTING_COST SETUP_COST ( MODULE_CAPACITY MODULE_COST ... )",
    "DEMANDS": "ID ( SOURCE TARGET ) ROUTING_UNIT VALUE MAX_PATH_LENGTH",
}
_Entry = tuple[str, re.Match[str]]


def read(text: str, name: str, origin: str, options: ReadOptions) -> Network:
    """The topology in the text of a file.

    Raises:
        InputError: names the file, the line, the value and the expected values.
    """
    draft = Draft(origin, options.parallel)
    sections = _sections(text, draft)
    meta = {entry[1]: entry[2].strip() for _, entry in sections["META"]}
    unit = sndlib.unit_bps(meta.get("unit"), options)
    _nodes(sections["NODES"], draft)
    for where, entry in sections["LINKS"]:
        _link(where, entry, draft, unit, options)
    for where, entry in sections["DEMANDS"]:
        value = sndlib.number(draft, where, "demand", entry[5])
        source, target = sndlib.clean_name(entry[2]), sndlib.clean_name(entry[3])
        draft.demand(where, source, target, draft.rate(where, value * unit))
    return draft.topology(name)


def _sections(text: str, draft: Draft) -> dict[str, list[_Entry]]:
    """The parsed lines of each section."""
    found: dict[str, list[_Entry]] = {section: [] for section in _EXPECTED}
    patterns = {"META": _META, "NODES": _NODE, "LINKS": _LINK, "DEMANDS": _DEMAND}
    section, opened = "", ""
    seen: set[str] = set()
    for where, line in _lines(text):
        if not section:
            section = _opened(where, line, seen, draft)
            opened = where
            continue
        if line == ")":
            section = ""
        elif section in patterns:
            entry = patterns[section].fullmatch(line)
            if entry is None:
                raise draft.wrong(where, f'"{_brief(line)}" is not a line of {section}; expected {_EXPECTED[section]}')
            found[section].append((where, entry))
    if section and section != "ADMISSIBLE_PATHS":
        raise draft.wrong(opened, f'{section} is not closed; expected a line ")" at its end')
    if "NODES" not in seen:
        raise draft.wrong("", "has no section NODES; expected NODES ( ... ) and LINKS ( ... )")
    return found


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """The non-empty lines and their places. Single spaces keep the patterns' matching unambiguous."""
    for count, line in enumerate(text.splitlines(), 1):
        said = " ".join(line.partition("#")[0].split())
        if said:
            yield f"line {count}", said


def _opened(where: str, line: str, seen: set[str], draft: Draft) -> str:
    """The section that a line opens; empty for the heading, and for an empty section."""
    if line.startswith("?"):
        header = _HEADER.fullmatch(line)
        if header is None or header[1] != "network":
            expected = "expected ?SNDlib native format; type: network; version: 1.0"
            raise draft.wrong(where, f'"{_brief(line)}" is not a heading of a network; {expected}')
        return ""
    opening = _OPEN.fullmatch(line)
    if opening is None:
        raise draft.wrong(where, f'"{_brief(line)}" opens no section; expected NODES (, LINKS ( or DEMANDS (')
    if opening[1] in seen:
        raise draft.wrong(where, f"{opening[1]} is given twice; expected one section with this name")
    seen.add(opening[1])
    return "" if opening[2] else opening[1]


def _nodes(entries: list[_Entry], draft: Draft) -> None:
    found: dict[str, tuple[float, float]] = {}
    for where, entry in entries:
        if entry[2] is not None:
            try:
                found[entry[1]] = (float(entry[2]), float(entry[3]))
            except ValueError:
                told = f'node "{entry[1]}": "{entry[2]} {entry[3]}" is not a place; expected longitude and latitude'
                raise draft.wrong(where, told) from None
    places = sndlib.places(found, None)
    for where, entry in entries:
        draft.node(where, sndlib.clean_name(entry[1]), places.get(entry[1]))


def _link(where: str, entry: re.Match[str], draft: Draft, unit: float, options: ReadOptions) -> None:
    numbers = [sndlib.number(draft, where, "value", text) for text in entry[4].split()]
    modules = [sndlib.number(draft, where, "module", text) for text in (entry[5] or "").split()]
    if len(numbers) > 4 or len(modules) % 2:
        raise draft.wrong(where, f'"{_brief(entry[0])}" is not a line of LINKS; expected {_EXPECTED["LINKS"]}')
    size = sndlib.capacity(numbers[0] if numbers else None, modules[::2], unit, options.modules)
    capacity = None if size is None else draft.rate(where, size)
    cost = sndlib.cost(numbers[2] if len(numbers) > 2 else None)
    ends = (sndlib.clean_name(entry[2]), sndlib.clean_name(entry[3]))
    draft.link(where, *ends, directed=True, name=entry[1], capacity=capacity, cost=cost)


def _brief(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}..."
