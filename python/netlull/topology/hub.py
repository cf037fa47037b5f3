"""Topologies of the package topohub: SNDlib, the Topology Zoo and others, without a file (MIT licence)."""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netlull.errors import InputError
from netlull.topology.draft import Draft
from netlull.topology.sndlib import clean_name, places

if TYPE_CHECKING:
    from netlull.topology.model import Network
    from netlull.topology.options import ReadOptions

__all__ = ["PREFIX", "read_hub"]

PREFIX = "topohub:"
"""The prefix of a hub topology where a file is expected: `topohub:sndlib/germany50`."""


def read_hub(key: str, options: ReadOptions) -> Network:
    """A topology of the hub, such as `sndlib/germany50` or `topozoo/Abilene`. It has positions, but no capacities.

    Raises:
        InputError: the package is not installed, or has no such topology.
    """
    origin = f"{PREFIX}{key}"
    data = _loaded(key, origin)
    draft = Draft(origin, options.parallel)
    found = [
        (str(node["id"]), clean_name(str(node.get("name") or node["id"])), node.get("pos")) for node in data["nodes"]
    ]
    labels = Counter(name for _, name, _ in found)
    names = {number: name if labels[name] == 1 else f"{name} ({number})" for number, name, _ in found}
    known = places({number: (float(pos[0]), float(pos[1])) for number, _, pos in found if pos}, None)
    for number, name in names.items():
        draft.node("", name, known.get(number))
    for edge in data["edges"]:
        ends = (names[str(edge["source"])], names[str(edge["target"])])
        # Without positions on Earth, the hub's distances may come from pixels of a map.
        length = float(edge["dist"]) if known and edge.get("dist") is not None else None
        draft.link("", *ends, distance_km=length)
    made = draft.topology(key.rpartition("/")[2])
    return made.largest() if options.pieces == "largest" else made


def _loaded(key: str, origin: str) -> dict[str, Any]:
    package = importlib.util.find_spec("topohub")
    if package is None or package.origin is None:
        raise InputError(f"{origin}: needs the package topohub: pip install 'netlull[topology]'")
    folder = Path(package.origin).parent / "data"
    path = folder / f"{key}.json"
    if not re.fullmatch(r"[\w-]+(/[\w.-]+)+", key) or ".." in key or not path.is_file():
        there = sorted(one.stem for one in (folder / Path(key).parent).glob("*.json")) if ".." not in key else []
        groups = sorted(one.name for one in folder.iterdir() if one.is_dir())
        listed = ", ".join(there[:30]) + (", ..." if len(there) > 30 else "")
        expected = listed or f"GROUP/NAME with one of the groups {', '.join(groups)}"
        raise InputError(f'{origin}: topohub has no "{key}"; expected {expected}')
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded
