"""Reproduction of papers: their folders are read and checked, their claims judged, their figures drawn.

A folder holds a paper's claims and its scenarios. README.md in `netlull/shipped/papers` describes its files.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from netlull.papers.documents import Alternative, Claim, Paper, PaperInfo, Reading, Study, Tolerance, Unjudged, load
from netlull.papers.grid import Cell, Grid
from netlull.papers.outcome import (
    Drawn,
    EqualReading,
    Evidence,
    Headline,
    JudgedClaim,
    PaperOutcome,
    Part,
    Recorded,
    Tabled,
    Time,
    Verdict,
    above_zero,
    cells_within,
    decided,
    every,
    judge,
    number,
    part_id,
    percent,
    times,
)
from netlull.papers.source import find, folder_of
from netlull.papers.toml import PaperError

if TYPE_CHECKING:
    from netlull.papers.run import reproduce, reproduce_studies

__all__ = [
    "Alternative",
    "Cell",
    "Claim",
    "Drawn",
    "EqualReading",
    "Evidence",
    "Grid",
    "Headline",
    "JudgedClaim",
    "Paper",
    "PaperError",
    "PaperInfo",
    "PaperOutcome",
    "Part",
    "Reading",
    "Recorded",
    "Study",
    "Tabled",
    "Time",
    "Tolerance",
    "Unjudged",
    "Verdict",
    "above_zero",
    "cells_within",
    "decided",
    "every",
    "find",
    "folder_of",
    "judge",
    "load",
    "number",
    "part_id",
    "percent",
    "reproduce",
    "reproduce_studies",
    "times",
]


def __getattr__(name: str) -> object:
    """Loads the reproducing functions at first use: a list of papers needs no simulator."""
    if name in {"reproduce", "reproduce_studies"}:
        return getattr(import_module("netlull.papers.run"), name)
    raise AttributeError(f"module 'netlull.papers' has no attribute {name!r}")
