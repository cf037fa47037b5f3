"""`[topology]` in the JSON Schema of a scenario: the one table that Python reads and the core never sees."""

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
    "file": _text("A file beside the scenario or in the current folder, or a topology that comes with netlull."),
    "hub": _text("Instead of a file: a topology of the package topohub, such as sndlib/germany50."),
    "network": {"type": "object", "description": "Instead of a file: what its TOML holds."},
    "rate": _quantity("Rate", "Of every link, whatever the file says."),
    "rate_scale": _factor("What the capacities of the file, and `default_rate`, are multiplied by."),
    "default_rate": _quantity("Rate", "Capacity of links for which the file has none."),
    "route_factor": _factor("How much longer a cable is than the distance between its ends."),
    "default_delay": _quantity("Time", "Propagation delay of links whose length is not known."),
    "cost": _text(
        "What routing adds up: the file's costs, 1 per link, kilometres, or the largest capacity over the link's.",
        *("given", "hops", "distance", "capacity"),
        default="given",
    ),
    "buffer": _quantity("BufferSize", "Of every link."),
    "queue": _quantity("QueueDocument", "Of every link."),
    "format": _text("Of the file; default what its content tells.", "sndlib-native", "sndlib-xml", "graphml", "toml"),
    "parallel": _text("Several links between two nodes.", "refuse", "merge", default="refuse"),
    "pieces": _text("Of a network in several pieces.", "all", "largest", default="all"),
    "external": _text("Nodes of other networks in GraphML.", "drop", "keep", default="drop"),
    "modules": _text(
        "When SNDlib's module capacities are used: where nothing is installed, always or never.",
        *("missing", "always", "never"),
        default="missing",
    ),
    "unit": _text("Of SNDlib's capacities if the file does not say.", default="Mb/s"),
}


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario: the core's with `topology`, which nodes and links may come from."""
    core = _engine.core_schema()
    definition = {
        "type": "object",
        "description": "A network from a file (docs/how-to/topology.md).",
        "additionalProperties": False,
        "properties": _PROPERTIES,
        "oneOf": [{"required": [source]} for source in ("file", "hub", "network")],
    }
    about = {"$ref": "#/$defs/TopologyDocument", "description": "Nodes and links from a file, beside those given here."}
    without_nodes = [field for field in core["required"] if field != "nodes"]
    return {
        **core,
        "properties": core["properties"] | {"topology": about},
        "required": without_nodes,
        "anyOf": [{"required": ["nodes"]}, {"required": ["topology"]}],
        "$defs": core["$defs"] | {"TopologyDocument": definition},
    }
