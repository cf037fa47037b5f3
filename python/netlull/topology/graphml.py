"""GraphML of the Internet Topology Zoo (topology-zoo.org; Knight et al., IEEE JSAC 29(9), 2011), and of yEd."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from netlull.quantities import in_unit, rate_text
from netlull.topology.draft import Draft
from netlull.topology.sndlib import clean_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netlull.topology.markup import Element
    from netlull.topology.model import Network
    from netlull.topology.options import ReadOptions

__all__ = ["read"]

_OC_BPS = 51_840_000
"""OC-1 of SONET (ANSI T1.105) in b/s: OC-192 is 9.95328 Gb/s."""
_OC = re.compile(r"OC-?(\d{1,5})c?", re.IGNORECASE)
_RATE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([kKMGT])(?:b|bit|bps|b/s|bit/s|bits/s)?", re.IGNORECASE)
_POWERS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_Data = dict[str, str]


def read(root: Element, name: str, origin: str, options: ReadOptions) -> Network:
    """The topology in a document.

    Raises:
        InputError: names the file, the line, the value and the expected values.
    """
    draft = Draft(origin, options.parallel)
    graph = root.first("graph")
    if root.tag != "graphml" or graph is None:
        raise draft.wrong(f"line {root.line}", "has no graph; expected <graphml><graph>")
    keys = _Keys(root)
    parts = list(_graphs(graph))
    nodes = _nodes([node for part in parts for node in part.all("node")], keys, draft, options)
    for part in parts:
        usual = part.attributes.get("edgedefault") == "directed"
        for edge in part.all("edge"):
            directed = {"true": True, "false": False}.get(edge.attributes.get("directed", ""), usual)
            _edge(edge, keys.data(edge), nodes, draft, directed=directed)
        if part.first("hyperedge") is not None:
            raise draft.wrong("", "has a <hyperedge>; expected edges of two ends")
    about = keys.data(graph)
    return draft.topology(clean_name(about.get("Network") or about.get("label") or name) or name)


class _Keys:
    """The names of a document's data, and their defaults for nodes, edges and the graph."""

    def __init__(self, root: Element) -> None:
        keys = list(root.all("key"))
        self._names = {key.attributes.get("id", ""): key.attributes.get("attr.name", "") for key in keys}
        self._defaults: dict[str, _Data] = {"node": {}, "edge": {}, "graph": {}}
        for key in keys:
            default, of = key.content("default"), key.attributes.get("for", "all")
            if default is not None:
                for kind in [of] if of in self._defaults else self._defaults if of == "all" else []:
                    self._defaults[kind][key.attributes.get("attr.name", "")] = default

    def data(self, element: Element) -> _Data:
        """The data of a node, an edge or the graph. yEd keeps a label in the element's drawing."""
        found = dict(self._defaults[element.tag])
        for data in element.all("data"):
            name = self._names.get(data.attributes.get("key", ""), "")
            found[name] = data.text.strip()
            label = next((label for drawn in data.children for label in _LABELS if drawn.first(label)), None)
            drawn = next((drawn.content(label) for drawn in data.children if label and drawn.first(label)), None)
            if drawn:
                found.setdefault("LinkLabel" if element.tag == "edge" else "label", drawn)
        return found


_LABELS = ("NodeLabel", "EdgeLabel")
"""yEd's elements with the label of a drawing."""


def _graphs(graph: Element) -> Iterator[Element]:
    """A graph and those inside its nodes, which are groups of nodes."""
    yield graph
    for node in graph.all("node"):
        for inner in node.all("graph"):
            yield from _graphs(inner)


def _nodes(elements: list[Element], keys: _Keys, draft: Draft, options: ReadOptions) -> dict[str, str | None]:
    """Adds the nodes but groups. Returns their names by id, with None for omitted nodes of other networks."""
    found = [(node, keys.data(node)) for node in elements if node.first("graph") is None]
    labels = Counter(clean_name(data.get("label", "")) for _, data in found)
    names: dict[str, str | None] = {}
    for node, data in found:
        number, where = node.attributes.get("id", ""), f"line {node.line}"
        if number in names:
            raise draft.wrong(where, f'node id "{number}": is given twice; expected different ids')
        if options.external == "drop" and _is_no(data.get("Internal", "")):
            names[number] = None
            continue
        label = clean_name(data.get("label", ""))
        # Labels are not unique in GraphML: "None", or a repeated city.
        names[number] = name = label if label and labels[label] == 1 else f"{label} ({number})" if label else number
        draft.node(where, name, _place(where, name, data, draft))
    return names


def _is_no(text: str) -> bool:
    """True for a boolean or a number that is false."""
    try:
        return float(text) == 0
    except ValueError:
        return text.lower() in {"false", "no"}


def _place(where: str, name: str, data: _Data, draft: Draft) -> tuple[float, float] | None:
    if not data.get("Longitude") or not data.get("Latitude"):
        return None
    try:
        return float(data["Longitude"]), float(data["Latitude"])
    except ValueError:
        told = f'node "{name}": "{data["Longitude"]} {data["Latitude"]}" is not a place'
        raise draft.wrong(where, f"{told}; expected numbers in Longitude and Latitude") from None


def _edge(edge: Element, data: _Data, nodes: dict[str, str | None], draft: Draft, *, directed: bool) -> None:
    where = f"line {edge.line}"
    ends = []
    for end in ("source", "target"):
        number = edge.attributes.get(end)
        if number is None or number not in nodes:
            raise draft.wrong(where, f'{end} "{number}": is not a node; expected the id of one')
        ends.append(nodes[number])
    a, b = ends
    if a is None or b is None:
        return
    draft.link(where, a, b, directed=directed, name=edge.attributes.get("id"), capacity=_capacity(where, data, draft))


def _capacity(where: str, data: _Data, draft: Draft) -> str | None:
    """The capacity by LinkSpeedRaw (b/s), else LinkSpeed and LinkSpeedUnits, else a rate in LinkLabel or LinkType."""
    raw = data.get("LinkSpeedRaw")
    if raw:
        bits = in_unit(f"{raw} b/s", "b/s")
        if bits is None or bits < 1:
            raise draft.wrong(where, f'LinkSpeedRaw "{raw}" is not a rate; expected b/s such as 10000000000.0')
        return draft.rate(where, bits)
    for said in (
        data.get("LinkSpeed", "") + data.get("LinkSpeedUnits", ""),
        data.get("LinkLabel"),
        data.get("LinkType"),
    ):
        text = (said or "").strip()
        carrier, rate = _OC.fullmatch(text), _RATE.fullmatch(text)
        if carrier is not None and int(carrier[1]):
            return rate_text(int(carrier[1]) * _OC_BPS)
        if rate is not None and float(rate[1]):
            return rate_text(float(rate[1]) * _POWERS[rate[2].upper()])
    return None
