"""The public benchmark of link controllers: cells, submissions, scores and verification. docs/how-to/benchmark.md."""

from importlib import import_module
from typing import TYPE_CHECKING

from netlull.benchmark.definition import SHIPPED, Baseline, Cell, Definition, Optimum, Rates, optimum_seeds
from netlull.benchmark.judge import CellRows, League, Standing, judged, standing
from netlull.benchmark.optimum import optima, write_optima
from netlull.benchmark.page import (
    BEGIN,
    END,
    common,
    is_ranked,
    league_rows,
    markdown,
    ranked,
    replace_results,
    shipped,
)
from netlull.benchmark.record import Record, check_sum
from netlull.benchmark.runs import Measured, Run, illegal, measure, valid_cells
from netlull.benchmark.submission import DEVELOPMENT, RANKING, Submission, development_seeds, ranking_seeds
from netlull.benchmark.verification import Verification, disagreements, sampled, verify

if TYPE_CHECKING:
    from netlull.benchmark.picture import overview

__all__ = [
    "BEGIN",
    "DEVELOPMENT",
    "END",
    "RANKING",
    "SHIPPED",
    "Baseline",
    "Cell",
    "CellRows",
    "Definition",
    "League",
    "Measured",
    "Optimum",
    "Rates",
    "Record",
    "Run",
    "Standing",
    "Submission",
    "Verification",
    "check_sum",
    "common",
    "development_seeds",
    "disagreements",
    "illegal",
    "is_ranked",
    "judged",
    "league_rows",
    "markdown",
    "measure",
    "optima",
    "optimum_seeds",
    "overview",
    "ranked",
    "ranking_seeds",
    "replace_results",
    "sampled",
    "shipped",
    "standing",
    "valid_cells",
    "verify",
    "write_optima",
]


def __getattr__(name: str) -> object:
    """Loads the drawing function at first use: scores need no matplotlib."""
    if name == "overview":
        return import_module("netlull.benchmark.picture").overview
    raise AttributeError(f"module 'netlull.benchmark' has no attribute {name!r}")
