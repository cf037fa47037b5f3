"""The public benchmark of link controllers: cells, submissions, scores and verification. docs/how-to/benchmark.md."""

from netlull.benchmark.definition import Baseline, Cell, Definition, Rates
from netlull.benchmark.judge import CellRows, League, Standing, judged, standing
from netlull.benchmark.measure import Measured, Run, measure, valid_cells
from netlull.benchmark.page import is_ranked, league_rows, markdown, overview, ranked, replace_results, shipped
from netlull.benchmark.record import Record
from netlull.benchmark.submission import DEVELOPMENT, RANKING, Submission, development_seeds, ranking_seeds
from netlull.benchmark.verify import Verification, sampled, verify

__all__ = [
    "DEVELOPMENT",
    "RANKING",
    "Baseline",
    "Cell",
    "CellRows",
    "Definition",
    "League",
    "Measured",
    "Rates",
    "Record",
    "Run",
    "Standing",
    "Submission",
    "Verification",
    "development_seeds",
    "is_ranked",
    "judged",
    "league_rows",
    "markdown",
    "measure",
    "overview",
    "ranked",
    "ranking_seeds",
    "replace_results",
    "sampled",
    "shipped",
    "standing",
    "valid_cells",
    "verify",
]
