"""One self-contained HTML page for each reproduction and sweep: opens from disk, asks nothing of the network."""

from netlull.report.page import (
    ClaimPart,
    ClaimRow,
    Fact,
    FigureBlock,
    Page,
    ReadingRow,
    Section,
    TableBlock,
    bundled,
    render,
    write,
)
from netlull.report.sweeps import sweep_report

__all__ = [
    "ClaimPart",
    "ClaimRow",
    "Fact",
    "FigureBlock",
    "Page",
    "ReadingRow",
    "Section",
    "TableBlock",
    "bundled",
    "render",
    "sweep_report",
    "write",
]
