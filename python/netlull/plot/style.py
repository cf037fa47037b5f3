"""The common style of all figures, and saving without anything that changes between runs."""

from __future__ import annotations

import io
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from netlull.results.output import is_standard_output, staged_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

SINGLE_COLUMN = 3.5
"""Width of one column of a two-column paper, in inches."""
DOUBLE_COLUMN = 7.2
"""Width of the page's text, in inches."""

COLOURS: tuple[str, ...] = ("#0072B2", "#D55E00", "#009E73", "#AA4499", "#56B4E9", "#E69F00", "#444444")
"""Okabe and Ito's palette without its pale yellow. The fourth colour is Tol's purple."""
MARKERS: tuple[str, ...] = ("o", "s", "^", "D", "v", "P", "X")

_DOTS_PER_INCH = 200

# Any: the type of the settings' names differs between versions of matplotlib.
_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.6,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "netlull",
    "pdf.fonttype": 42,
    "path.simplify": True,
    "path.simplify_threshold": 0.5,
}


@contextmanager
def styled() -> Iterator[None]:
    """Applies netlull's style within the block. The caller's matplotlib settings stay."""
    with matplotlib.rc_context(_STYLE):
        yield


def figure(width: float = DOUBLE_COLUMN, height: float = 5.4) -> Figure:
    """An empty figure with automatic layout, in inches. Call it inside `styled()`."""
    made = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(made)
    return made


def legend_above(figure: Figure, axes: Sequence[Axes], columns: int = 5) -> None:
    """Adds one legend for all panels, outside them, without repeated entries."""
    entries: dict[str, Any] = {}
    for panel in axes:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if entries:
        rows = -(-len(entries) // columns)
        count = -(-len(entries) // rows)  # equal rows as far as possible
        figure.legend(list(entries.values()), list(entries), loc="outside upper center", ncols=count)


_COORDINATES = re.compile(r' (?:d|x|y|width|height)="[^"]*"|translate\([^)]*\)')
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_LINE = re.compile(r"\s*\n\s*(<g id=)?")


def compact(svg: str) -> str:
    """The same picture in fewer bytes: coordinates to a hundredth of a point, a line for each named group."""

    def rounded(number: re.Match[str]) -> str:
        return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")

    short = _COORDINATES.sub(lambda found: _LONG_NUMBER.sub(rounded, found[0]), svg)
    return _LINE.sub(lambda found: "\n<g id=" if found[1] else " ", short).strip() + "\n"


def _svg_bytes(drawn: Figure) -> bytes:
    buffer = io.BytesIO()
    drawn.savefig(buffer, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return compact(buffer.getvalue().decode("utf-8")).encode("utf-8")


def _pdf_bytes(drawn: Figure) -> bytes:
    buffer = io.BytesIO()
    fixed = {"CreationDate": None, "ModDate": None, "Creator": "netlull", "Producer": None}
    drawn.savefig(buffer, format="pdf", metadata=fixed)
    return buffer.getvalue()


def _png_bytes(drawn: Figure) -> bytes:
    buffer = io.BytesIO()
    drawn.savefig(buffer, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None})
    return buffer.getvalue()


def svg_text(drawn: Figure) -> str:
    """The figure as SVG text."""
    with styled():
        return _svg_bytes(drawn).decode("utf-8")


def save(drawn: Figure, folder: Path, name: str) -> list[Path]:
    """Writes `NAME.svg` and `NAME.pdf` into the folder, each complete or not at all.

    Raises:
        OutputError: a file cannot be written.
    """
    written = [folder / f"{name}{suffix}" for suffix in (".svg", ".pdf")]
    for path in written:
        save_as(drawn, path)
    return written


def save_as(drawn: Figure, path: Path) -> None:
    """Writes the figure in the format of the file's suffix (.svg, .pdf, .png; SVG to the standard output).

    The file is complete or does not appear.

    Raises:
        OutputError: the file cannot be written.
    """
    with styled():
        suffix = ".svg" if is_standard_output(path) else path.suffix
        content = {".svg": _svg_bytes, ".pdf": _pdf_bytes, ".png": _png_bytes}[suffix](drawn)
    with staged_file(path) as stage:
        stage.write_bytes(content)
