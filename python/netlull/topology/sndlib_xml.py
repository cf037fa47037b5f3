"""SNDlib's XML format (http://sndlib.zib.de/network)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.topology import sndlib
from netlull.topology.draft import Draft

if TYPE_CHECKING:
    from netlull.topology.markup import Element
    from netlull.topology.model import Network
    from netlull.topology.options import ReadOptions

__all__ = ["read"]


def read(root: Element, name: str, origin: str, options: ReadOptions) -> Network:
    """The topology in a document.

    Raises:
        InputError: names the file, the line, the value and the expected values.
    """
    draft = Draft(origin, options.parallel)
    if root.tag != "network":
        raise draft.wrong(f"line {root.line}", f"<{root.tag}> is not an SNDlib network; expected <network>")
    unit = sndlib.unit_bps(root.content("meta", "unit"), options)
    nodes, links = (root.first("networkStructure", part) for part in ("nodes", "links"))
    if nodes is None:
        raise draft.wrong(f"line {root.line}", "has no nodes; expected <networkStructure><nodes>")
    _nodes(nodes, draft)
    for link in links.all("link") if links is not None else ():
        _link(link, draft, unit, options)
    demands = root.first("demands")
    for demand in demands.all("demand") if demands is not None else ():
        where = f"line {demand.line}"
        value = sndlib.number(draft, where, "demandValue", _needed(demand, "demandValue", draft))
        source, target = (sndlib.clean_name(_needed(demand, end, draft)) for end in ("source", "target"))
        draft.demand(where, source, target, draft.rate(where, value * unit))
    return draft.topology(name)


def _needed(element: Element, tag: str, draft: Draft) -> str:
    text = element.content(tag)
    if not text:
        what = f'<{element.tag} id="{element.attributes.get("id", "?")}">'
        raise draft.wrong(f"line {element.line}", f"{what} has no <{tag}>; expected one")
    return text


def _nodes(nodes: Element, draft: Draft) -> None:
    found: dict[str, tuple[float, float]] = {}
    named: list[tuple[str, str]] = []
    for node in nodes.all("node"):
        where = f"line {node.line}"
        name = node.attributes.get("id", "")
        named.append((where, name))
        x, y = (node.content("coordinates", axis) for axis in ("x", "y"))
        if x is not None and y is not None:
            try:
                found[name] = (float(x), float(y))
            except ValueError:
                told = f'node "{name}": "{x} {y}" is not a place; expected numbers in <x> and <y>'
                raise draft.wrong(where, told) from None
    told_type = nodes.attributes.get("coordinatesType")
    places = sndlib.places(found, None if told_type is None else told_type == "geographical")
    for where, name in named:
        draft.node(where, sndlib.clean_name(name), places.get(name))


def _link(link: Element, draft: Draft, unit: float, options: ReadOptions) -> None:
    where = f"line {link.line}"
    ends = (sndlib.clean_name(_needed(link, "source", draft)), sndlib.clean_name(_needed(link, "target", draft)))
    installed_text = link.content("preInstalledModule", "capacity")
    installed = None if installed_text is None else sndlib.number(draft, where, "capacity", installed_text)
    more = link.first("additionalModules")
    modules = [
        sndlib.number(draft, where, "capacity", _needed(module, "capacity", draft))
        for module in (more.all("addModule") if more is not None else ())
    ]
    size = sndlib.capacity(installed, modules, unit, options.modules)
    capacity = None if size is None else draft.rate(where, size)
    routing = link.content("routingCost")
    cost = sndlib.cost(None if routing is None else sndlib.number(draft, where, "routingCost", routing))
    draft.link(where, *ends, directed=True, name=link.attributes.get("id"), capacity=capacity, cost=cost)
