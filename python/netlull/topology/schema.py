"""`[topology]` in the JSON Schema of a scenario: the only table that Python reads and the core never sees."""

from __future__ import annotations

from typing import Any

from netlull import _engine

__all__ = ["schema"]


def _text(description: str, *choices: str, default: str | None = None) -> dict[str, Any]:
    field: dict[str, Any] = {"type": "string", "description": description}
    if choices:
        field["enum"] = list(choices)
    return field if default is None else {**field, "default": default}


def _quantity(kind: str, description: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{kind}", "description": description}


def _factor(description: str) -> dict[str, Any]:
    return {"type": "number", "exclusiveMinimum": 0, "description": description, "default": 1.0}


_PROPERTIES: dict[str, Any] = {
    "file": _text("A file next to the scenario or in the current folder, or a shipped topology."),
    "hub": _text("Instead of a file: a topology of the package topohub, such as sndlib/germany50."),
    "network": {"type": "object", "description": "Instead of a file: the content of its TOML."},
    "rate": _quantity("Rate", "Rate of every link, instead of the file's capacities."),
    "rate_scale": _factor("Factor of the file's capacities and of `default_rate`."),
    "demand_scale": _factor("Factor of the file's demands, without effect on traffic with a `load`."),
    "default_rate": _quantity("Rate", "Capacity of links without one in the file."),
    "route_factor": _factor("Length of a cable as a multiple of the distance between its ends."),
    "default_delay": _quantity("Time", "Propagation delay of links without a known length."),
    "cost": _text(
        "Routing cost of a link: from the file, 1, its kilometres, or the largest capacity over its own.",
        *("given", "hops", "distance", "capacity"),
        default="given",
    ),
    "buffer": _quantity("BufferSize", "Buffer of every link."),
    "queue": _quantity("QueueDocument", "Queue discipline of every link."),
    "traffic": {
        "description": "Datagrams between all pairs of nodes: a table, or a list such as one table per time of day.",
        "anyOf": [
            {"$ref": "#/$defs/TopologyTrafficDocument"},
            {"type": "array", "items": {"$ref": "#/$defs/TopologyTrafficDocument"}},
        ],
    },
    "format": _text("Format of the file; default by its content.", "sndlib-native", "sndlib-xml", "graphml", "toml"),
    "parallel": _text("Treatment of several links between two nodes.", "refuse", "merge", default="refuse"),
    "pieces": _text("Part of a disconnected network to read.", "all", "largest", default="all"),
    "external": _text("Treatment of nodes of other networks in GraphML.", "drop", "keep", default="drop"),
    "modules": _text(
        "Use of SNDlib's module capacities: if none is installed, always or never.",
        *("missing", "always", "never"),
        default="missing",
    ),
    "unit": _text("Unit of SNDlib's capacities if the file has none.", default="Mb/s"),
}


_TRAFFIC: dict[str, Any] = {
    "kind": _text("Gravity model by the capacities at the nodes, or the demands of the file.", "gravity", "demands"),
    "name": _text("First part of the flows' names, such as `traffic-A-B`.", default="traffic"),
    "load": {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": 1,
        "description": "Mean load of the links, both directions, on shortest paths by hops.",
    },
    "packet": _text("Size of each packet on the wire.", default="1000 B"),
    "process": _text("Arrival process.", "poisson", "cbr", default="poisson"),
    "start": _quantity("Time", "Start time; default 0 s."),
    "stop": _quantity("Time", "Stop time; default never."),
}


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario: the core's, with the table `topology` as a source of nodes and links."""
    core = _engine.core_schema()
    definition = {
        "type": "object",
        "description": "A network from a file (docs/how-to/topology.md).",
        "additionalProperties": False,
        "properties": _PROPERTIES,
        "oneOf": [{"required": [source]} for source in ("file", "hub", "network")],
    }
    traffic = {
        "type": "object",
        "description": "Traffic between all pairs of nodes (docs/how-to/topology.md).",
        "additionalProperties": False,
        "properties": _TRAFFIC,
        "required": ["kind"],
    }
    about = {
        "$ref": "#/$defs/TopologyDocument",
        "description": "Nodes and links from a file, in addition to those given here.",
    }
    without_nodes = [field for field in core["required"] if field != "nodes"]
    return {
        **core,
        "properties": core["properties"] | {"topology": about},
        "required": without_nodes,
        "anyOf": [{"required": ["nodes"]}, {"required": ["topology"]}],
        "$defs": core["$defs"] | {"TopologyDocument": definition, "TopologyTrafficDocument": traffic},
    }
