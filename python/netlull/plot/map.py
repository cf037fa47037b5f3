"""A picture of a network: positions of nodes, loads of links, sleeping links, power."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.lines import Line2D

from netlull.errors import InputError
from netlull.plot.style import DOUBLE_COLUMN, figure, styled
from netlull.quantities import rate_text
from netlull.topology.layout import layout
from netlull.topology.state import LineState, Part

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

    from netlull.topology.files import Topology
    from netlull.topology.layout import Points
    from netlull.topology.model import Line

__all__ = ["network_map"]

_ASLEEP = "#999999"
_PLAIN = "#0072B2"
_NODE = "#222222"
_THINNEST, _WIDEST = 1.2, 4.2
_MOST_POWER_LABELS = 60
_MANY_LINKS = 400
_MOST_NODES, _MOST_LINKS = 2_000, 4_000
_MOST_NAMES = 200
_CLEAR = 4.0
"""Distance between text and the middle of a node, in pixels of a hundredth of an inch."""
_FROM_DARK = 0.92
"""The part of viridis in use, from its dark end: its yellow is hardly visible on white."""


def network_map(topology: Topology, part: Part | None = None, *, title: str | None = None) -> Figure:
    """The network; with a part of a run also the links' loads, sleeping links, and power in W.

    The same input gives the same picture. In an SVG, links and nodes have the ids `link:A-B` (asleep:
    `link:A-B:asleep`)
    and `node:A`.

    Raises:
        InputError: the network has more than 2,000 nodes or 4,000 links.
    """
    for count, most, noun in ((len(topology.nodes), _MOST_NODES, "nodes"), (len(topology.lines), _MOST_LINKS, "links")):
        if count > most:
            raise InputError(f"{topology.name}: has {count:,} {noun}; expected at most {most:,} {noun} in a picture")
    points = layout(topology)
    with styled():
        width, height = np.maximum(np.ptp(points, axis=0), 1e-9)
        drawn = figure(DOUBLE_COLUMN, DOUBLE_COLUMN * float(np.clip(height / width, 0.45, 1.05)) + 0.5)
        axes = drawn.add_subplot()
        axes.set_aspect("equal")
        axes.margins(0.1)
        axes.axis("off")
        _draw_links(axes, topology, points, part)
        _draw_nodes(axes, topology, points)
        axes.set_title(title or _title(topology, part))
        _explain(drawn, axes, topology, part)
        _write_on(drawn, axes, topology, points, part)
    return drawn


def _title(topology: Topology, part: Part | None) -> str:
    counts = f"{topology.name}: {len(topology.nodes)} nodes, {len(topology.lines)} links"
    return counts if part is None or not part.title else f"{counts}, {part.title}"


def _colours(part: Part | None) -> ScalarMappable | None:
    loads = [] if part is None else [state.load for state in part.states.values() if state.load is not None]
    if not loads:
        return None
    from matplotlib import colormaps

    colours = ListedColormap(colormaps["viridis_r"](np.linspace(1 - _FROM_DARK, 1, 256)), "load")
    return ScalarMappable(Normalize(0, max(1.0, *loads) * 100), colours)


def _widths(topology: Topology) -> list[float]:
    """Line widths: equal steps for equal factors of capacity; thinner in large networks."""
    thin = 1.0 if len(topology.lines) <= _MANY_LINKS else 0.35
    rates = [line.capacity_bps for line in topology.lines]
    known = [math.log(rate) for rate in rates if rate is not None]
    if not known or max(known) - min(known) < 1e-9:
        return [2.2 * thin] * len(rates)
    least, spread = min(known), max(known) - min(known)
    step = (_WIDEST - _THINNEST) / spread
    return [thin * (_THINNEST + (0 if rate is None else (math.log(rate) - least) * step)) for rate in rates]


def _ends(topology: Topology) -> set[frozenset[str]]:
    return {line.ends for line in topology.lines}


def _state(part: Part | None, line: Line) -> LineState:
    return LineState() if part is None else part.states.get(line.ends, LineState())


def _draw_links(axes: Axes, topology: Topology, points: Points, part: Part | None) -> None:
    colours = _colours(part)
    for line, (a, b), width in zip(topology.lines, topology.edges, _widths(topology), strict=True):
        state = _state(part, line)
        (x_a, y_a), (x_b, y_b) = points[a], points[b]
        if state.asleep:
            drawn = axes.plot([x_a, x_b], [y_a, y_b], color=_ASLEEP, linewidth=width, linestyle=(0, (2.5, 1.5)))
        else:
            colour = (
                _PLAIN if colours is None or state.load is None else colours.to_rgba(np.array([state.load * 100]))[0]
            )
            drawn = axes.plot([x_a, x_b], [y_a, y_b], color=colour, linewidth=width, solid_capstyle="butt")
        drawn[0].set_gid(f"link:{line.label}{':asleep' if state.asleep else ''}")


def _draw_nodes(axes: Axes, topology: Topology, points: Points) -> None:
    size = 5.0 if len(topology.nodes) <= 60 else 3.0 if len(topology.lines) <= _MANY_LINKS else 2.0
    for node, (x, y) in zip(topology.nodes, points, strict=True):
        shown = axes.plot(
            [x], [y], "o", color=_NODE, markersize=size, markeredgecolor="white", markeredgewidth=0.6, zorder=4
        )
        shown[0].set_gid(f"node:{node.name}")


def _explain(drawn: Figure, axes: Axes, topology: Topology, part: Part | None) -> None:
    """Adds the colour bar of loads, and a legend of widths, sleep and power."""
    colours = _colours(part)
    if colours is not None:
        bar = drawn.colorbar(colours, ax=axes, shrink=0.7, pad=0.01, aspect=28)
        bar.set_label("utilisation, busier direction (%)")
        bar.outline.set_visible(False)
    entries = _width_entries(topology, _PLAIN if colours is None else "#555555")
    if part is not None and any(state.asleep for state in part.states.values()):
        entries.append(Line2D([], [], color=_ASLEEP, linewidth=2, linestyle=(0, (2.5, 1.5)), label="asleep"))
    if part is not None and part.model is not None:
        powers = [part.states[ends].power_w for ends in _ends(topology) & part.states.keys()]
        total = math.fsum(power for power in powers if power is not None)
        costed = f"\n({part.costed_as})" if part.costed_as else ""
        entries.append(Line2D([], [], linestyle="none", label=f"power: {part.model}, {_watts(total)} in all{costed}"))
    if entries:
        drawn.legend(handles=entries, loc="outside lower center", ncols=len(entries))


def _width_entries(topology: Topology, colour: str) -> list[Line2D]:
    """The narrowest and the widest link, with their capacities."""
    found = {line.capacity_bps: width for line, width in zip(topology.lines, _widths(topology), strict=True)}
    ends = sorted({rate for rate in found if rate is not None})
    ends = [ends[0], ends[-1]] if len(ends) > 2 else ends
    return [Line2D([], [], color=colour, linewidth=found[rate], label=rate_text(rate)) for rate in ends]


_SIDES = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)]
_ACROSS = {1: "left", 0: "center", -1: "right"}
_UP = {1: "bottom", 0: "center", -1: "top"}


def _watts(watts: float) -> str:
    return f"{watts:.3g} W" if watts < 1000 else f"{watts:.0f} W"


def _write_on(drawn: Figure, axes: Axes, topology: Topology, points: Points, part: Part | None) -> None:
    """Writes power on the links and names next to the nodes. A note counts labels without room."""
    axes.autoscale_view()
    drawn.draw_without_rendering()
    at = axes.transData.transform(points)
    taken: list[Bbox] = []
    others = set() if part is None else part.states.keys() - _ends(topology)
    notes = [
        _power(axes, topology, points, at, part, taken),
        _names(axes, topology, points, at, taken),
        _counted(len(others), "access link of flows", "access links of flows"),
    ]
    said = ", ".join(note for note in notes if note)
    if said:
        axes.text(0.0, 0.0, f"left out: {said}", transform=axes.transAxes, fontsize=5.5, color="#666666")


def _power(axes: Axes, topology: Topology, points: Points, at: Points, part: Part | None, taken: list[Bbox]) -> str:
    """Writes each link's power in W at its middle; returns a note on the omitted ones."""
    shown = [
        (line, ends, _state(part, line).power_w) for line, ends in zip(topology.lines, topology.edges, strict=True)
    ]
    known = [(line, ends, watts) for line, ends, watts in shown if watts is not None]
    if len(known) > _MOST_POWER_LABELS:
        return _counted(len(known), "link's power", "links' power")
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    left_out = 0
    for line, (a, b), watts in known:
        x, y = (points[a] + points[b]) / 2
        label = axes.text(
            x, y, _watts(watts), fontsize=5.5, ha="center", va="center", bbox=box, zorder=3, color="#333333"
        )
        label.set_gid(f"power:{line.label}")
        label.set_in_layout(False)
        extent = label.get_window_extent().padded(_CLEAR)
        if any(extent.overlaps(other) for other in taken) or _inside(at, extent):
            label.remove()
            left_out += 1
        else:
            taken.append(extent)
    return _counted(left_out, "link's power", "links' power")


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}" if count else ""


def _names(axes: Axes, topology: Topology, points: Points, at: Points, taken: list[Bbox]) -> str:
    """Places names where they cover few links and no other text; returns a note on the omitted ones."""
    if len(topology.nodes) > _MOST_NAMES:
        return _counted(len(topology.nodes), "name", "names")
    size = 7.0 if len(topology.nodes) <= 30 else 5.5 if len(topology.nodes) <= 80 else 4.5
    on_links = _along(at, topology)
    left_out = 0
    for number in sorted(range(len(at)), key=lambda node: (-topology.degrees[node], node)):
        label = _placed(axes, topology.nodes[number].name, points[number], size, taken, at, on_links)
        left_out += label is None
    return _counted(left_out, "name", "names")


def _along(at: Points, topology: Topology) -> Points:
    """Points along the links, in pixels, one every other pixel."""
    counts = [2 + int(np.hypot(*(at[b] - at[a])) / 2) for a, b in topology.edges]
    ends = zip(topology.edges, counts, strict=True)
    lines = [at[a] + (at[b] - at[a]) * np.linspace(0.0, 1.0, count)[:, None] for (a, b), count in ends]
    return np.concatenate(lines) if lines else np.empty((0, 2))


def _placed(
    axes: Axes, name: str, point: Points, size: float, taken: list[Bbox], nodes: Points, on_links: Points
) -> Annotation | None:
    """The name at the best of eight sides, near or a little further away; None if it would cover a label everywhere."""
    best: tuple[int, tuple[float, float], Bbox] | None = None
    others = [other.bbox.x0 - _CLEAR for other in axes.figure.axes if other is not axes]  # the colour bar
    right = min(others, default=axes.figure.bbox.x1)
    label = axes.annotate(
        name,
        (float(point[0]), float(point[1])),
        (0.0, 0.0),
        textcoords="offset points",
        fontsize=size,
        ha="left",
        va="bottom",
        zorder=5,
        annotation_clip=False,
    )
    label.set_in_layout(False)
    label.set_gid(f"name:{name}")
    # Laying out text is slow: once is enough for all sides.
    corner = label.get_window_extent()
    texts = np.array([other.extents for other in taken]).reshape(-1, 4)
    for away in (4.5, 9.0):
        for across, up in _SIDES:
            offset = (across * away * (0.75 if up else 1), up * away * (0.75 if across else 1))
            pixels = np.array(offset) * axes.figure.dpi / 72
            shift = (across - 1) / 2 * corner.width + pixels[0], (up - 1) / 2 * corner.height + pixels[1]
            box = corner.translated(*shift)
            if _overlaps(box, texts) or not (box.x0 > 0 and box.x1 < right):
                continue
            covered = 3 * _inside(nodes, box.padded(_CLEAR - 2)) + _inside(on_links, box) + int(away > 5)
            if best is None or covered < best[0]:
                best = (covered, offset, box)
                label.set(ha=_ACROSS[across], va=_UP[up])
    if best is None:
        label.remove()
        return None
    taken.append(best[2])
    label.xyann = best[1]
    return label


def _overlaps(box: Bbox, others: Points) -> bool:
    """True if the box overlaps one of others, in rows of x0, y0, x1 and y1."""
    x0, y0, x1, y1 = others.T
    return bool(((x0 <= box.x1) & (box.x0 <= x1) & (y0 <= box.y1) & (box.y0 <= y1)).any())


def _inside(points: Points, box: Bbox) -> int:
    inside = (points[:, 0] > box.x0) & (points[:, 0] < box.x1) & (points[:, 1] > box.y0) & (points[:, 1] < box.y1)
    return int(inside.sum())
