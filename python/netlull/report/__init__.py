"""Self-contained HTML reports of reproductions, sweeps and fleets: each page opens from disk without network access."""

from netlull.report.energy import energy_report
from netlull.report.page import (
    ClaimPart,
    ClaimRow,
    Fact,
    FigureBlock,
    Page,
    ReadingRow,
    Section,
    TableBlock,
    UnjudgedRow,
    chart_library,
    render,
    write,
)
from netlull.report.sweeps import sweep_report
from netlull.report.tries import Try, tries

__all__ = [
    "ClaimPart",
    "ClaimRow",
    "Fact",
    "FigureBlock",
    "Page",
    "ReadingRow",
    "Section",
    "TableBlock",
    "Try",
    "UnjudgedRow",
    "chart_library",
    "energy_report",
    "render",
    "sweep_report",
    "tries",
    "write",
]
