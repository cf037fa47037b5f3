"""Results of a reproduction: parts of claims, verdicts, drawn figures."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from netlull.execution import Cost, Progress
from netlull.papers.documents import Claim, Paper, Tolerance
from netlull.papers.text import table

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from matplotlib.figure import Figure

    from netlull.papers.grid import Grid
    from netlull.stats import Interval


class Verdict(enum.Enum):
    """The verdict on a claim: all of its parts hold, some do, none does."""

    HOLDS = "holds"
    PARTLY = "partly"
    FAILS = "fails"

    def __str__(self) -> str:
        """The printed word."""
        return self.value


@dataclass(frozen=True)
class Part:
    """A measurable part of a claim: its result, and if it holds."""

    id: str
    holds: bool
    ours: str
    counted: bool = True
    """False: shown with the others, but without effect on the verdict. Its quantity was fitted, or belongs to another
    rule.
    """

    @property
    def mark(self) -> str:
        """`yes` or `no`; in brackets if the part does not count."""
        held = "yes" if self.holds else "no"
        return held if self.counted else f"({held})"


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with the paper's result and ours."""

    id: str
    title: str
    statement: str
    where: str
    theirs: str
    ours: str
    verdict: Verdict
    explanation: str
    parts: tuple[Part, ...]


class Recorded(Protocol):
    """A run with its time series, such as `netlull.Result`."""

    @property
    def summary(self) -> dict[str, Any]:
        """The run in numbers."""

    def series(self, name: str) -> pa.Table:
        """A time series by its name."""


@dataclass(frozen=True)
class Evidence:
    """The material for judging claims and drawing figures."""

    paper: Paper
    grid: Grid
    series: Mapping[str, Recorded]
    cost: Cost = field(default_factory=Cost)
    """The cost of the runs simulated for it."""
    energy: pa.Table | None = None
    """The energy of the sweep's runs by use, in J (`SweepResult.energy`)."""


@dataclass(frozen=True)
class Drawn:
    """A figure of the report, in one of its sections: figures, energy, appendix, or others of `figures.SECTIONS`."""

    id: str
    title: str
    caption: str
    figure: Figure
    section: str = "figures"


@dataclass(frozen=True)
class Tabled:
    """A table of numbers in a section of the report."""

    section: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Headline:
    """A number that shows the effect of a reading on the result."""

    label: str
    unit: str
    measure: Callable[[Evidence], float]


Watcher = Callable[[Progress], None]
"""Called with the progress of a sweep."""

Judge = Callable[[Evidence, Tolerance], Sequence[Part]]


@dataclass(frozen=True)
class Time:
    """The time of a reproduction, from reading the paper to drawing its figures, without the report."""

    wall_s: float
    cpu_s: float
    """CPU time of this process, with all its threads, in seconds."""
    simulated: Cost
    """The cost of the simulated runs alone, without those in the store."""

    def __str__(self) -> str:
        """The times in one line."""
        runs = self.simulated
        hops = f"; {runs.packet_hops:,} packet-hops at {runs.ns_per_hop:.0f} ns" if runs.packet_hops else ""
        return f"{self.wall_s:.1f} s, {self.cpu_s:.1f} s of CPU time{hops}"


@dataclass(frozen=True)
class PaperOutcome:
    """A reproduced paper."""

    key: str
    title: str
    claims: list[JudgedClaim]
    report: Path
    figures: list[Path]
    scope: str
    runs: int
    time: Time
    readings: str = ""
    studies: tuple[str, ...] = ()
    """Further studies in the report."""

    def table(self) -> str:
        """The claims as a text table: paper, ours, verdict."""
        return claims_table(self.claims)


def claims_table(claims: Sequence[JudgedClaim], width: int = 110) -> str:
    """Claim, paper, ours and verdict, wrapped into columns of `width` characters in total."""
    fixed = 4 + 8 + 3 * 2
    share = (width - fixed) // 2
    header = ["", "paper", "ours", "verdict"]
    rows = [[claim.id, claim.theirs, claim.ours, claim.verdict.value] for claim in claims]
    body = table(header, rows, [4, share, share, 8])
    found = [claim.verdict.value for claim in claims]
    counts = ", ".join(f"{found.count(word)} {word}" for word in ("holds", "partly", "fails"))
    return f"{body}\n{len(claims)} claims: {counts}"


def judge(claim: Claim, parts: Sequence[Part]) -> JudgedClaim:
    """The verdict from the parts that count: *holds* if all hold, *fails* if none does, else *partly*.

    Raises:
        ValueError: no part counts.
    """
    counted = [part for part in parts if part.counted]
    if not counted:
        raise ValueError(f"claim {claim.id} has no parts")
    held = [part for part in counted if part.holds]
    verdict = Verdict.HOLDS if len(held) == len(counted) else Verdict.FAILS if not held else Verdict.PARTLY
    return JudgedClaim(
        id=claim.id,
        title=claim.title,
        statement=claim.statement,
        where=claim.where,
        theirs=claim.theirs,
        ours=" ".join(f"[{part.mark}] {part.ours}" for part in parts),
        verdict=verdict,
        explanation=_explanation(claim, parts),
        parts=tuple(parts),
    )


def _explanation(claim: Claim, parts: Sequence[Part]) -> str:
    """The reasons of the parts that do not hold, each once."""
    reasons: dict[str, None] = {}
    for part in parts:
        if not part.holds and (part.counted or part.id in claim.why):
            reasons.setdefault(claim.why.get(part.id, f"Part “{part.id}” does not hold; no explanation is on record."))
    return " ".join(reasons)


def number(value: Interval, unit: str = "", digits: int = 1) -> str:
    """`4.2 ± 0.3 %`; without ± for a single run."""
    if not math.isfinite(value.mean):
        return "none"
    spread = ""
    if value.n > 1 and math.isfinite(value.high):
        spread = f" ± {(value.high - value.low) / 2:.{digits}f}"
    mean = round(value.mean, digits) + 0.0  # no -0.0
    return f"{mean:.{digits}f}{spread}{' ' + unit if unit else ''}"
