"""One self-contained HTML page for each reproduction: opens from disk, asks nothing of the network, runs no script."""

from netlull.report.page import (
    ClaimPart,
    ClaimRow,
    Fact,
    FigureBlock,
    Page,
    ReadingRow,
    Section,
    TableBlock,
    render,
    write,
)

__all__ = [
    "ClaimPart",
    "ClaimRow",
    "Fact",
    "FigureBlock",
    "Page",
    "ReadingRow",
    "Section",
    "TableBlock",
    "render",
    "write",
]
