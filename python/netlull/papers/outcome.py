"""Results of a reproduction: parts of claims, verdicts, drawn figures."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from netlull.papers.documents import Claim, Paper, Tolerance
from netlull.papers.text import table
from netlull.runs.team import Cost, Progress

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from matplotlib.figure import Figure

    from netlull.papers.grid import Cell, Grid
    from netlull.report import Try
    from netlull.stats import Interval
    from netlull.sweep.points import Point


class Verdict(enum.Enum):
    """The verdict on a claim: all of its parts hold, some hold and some fail, none holds, or the seeds are too few."""

    HOLDS = "holds"
    PARTLY = "partly"
    FAILS = "fails"
    UNDECIDED = "undecided"

    def __str__(self) -> str:
        """The printed word."""
        return self.value


@dataclass(frozen=True)
class Part:
    """A measurable part of a claim: its result, and if it holds."""

    id: str
    holds: bool | None
    """None: undecided. The interval over the seeds includes the bound (`decided`)."""
    ours: str
    counted: bool = True
    """False: shown with the others, but without effect on the verdict. Its quantity was fitted, or belongs to another
    rule.
    """

    @property
    def mark(self) -> str:
        """`yes`, `no` or `undecided`; in brackets if the part does not count."""
        held = {True: "yes", False: "no", None: "undecided"}[self.holds]
        return held if self.counted else f"({held})"


def decided(measured: Interval, *, at_least: float = -math.inf, at_most: float = math.inf) -> bool | None:
    """True if the whole interval lies within the bounds, False if it lies outside of one, else None (undecided).

    A single run has no interval: its value decides. A value that is not a number fails.
    """
    if math.isnan(measured.mean):
        return False
    low, high = measured.low, measured.high
    if math.isnan(low) or math.isnan(high):
        low = high = measured.mean
    if low >= at_least and high <= at_most:
        return True
    return False if high < at_least or low > at_most else None


def above_zero(measured: Interval) -> bool | None:
    """True if the interval is above zero, False if it is below or the value is 0, None if it includes zero."""
    return False if measured.low == measured.high == 0 else decided(measured, at_least=0.0)


def every(answers: Iterable[bool | None]) -> bool | None:
    """True if all are True, False if one is False, else None (undecided)."""
    found = set(answers)
    return False if False in found else None if None in found else True


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with the paper's result and ours."""

    claim: Claim
    verdict: Verdict
    explanation: str
    parts: tuple[Part, ...]
    decided_by: str = ""
    """The experiments, seeds and recorded runs that the judge read."""

    @property
    def id(self) -> str:
        """The claim's identifier."""
        return self.claim.id

    @property
    def ours(self) -> str:
        """The parts in one text, each with its mark."""
        return " ".join(f"[{part.mark}] {part.ours}" for part in self.parts)


@dataclass(frozen=True)
class EqualReading:
    """The claims judged again with an alternative that the paper's words support as well as the choice."""

    label: str
    claims: Sequence[JudgedClaim]

    def verdict(self, claim: str) -> Verdict | None:
        """The verdict on a claim; None if a study decides it: studies keep the chosen reading."""
        return next((judged.verdict for judged in self.claims if judged.id == claim), None)


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
    points: Mapping[Cell, Point] = field(default_factory=dict)
    """The points of the sweep."""
    recorded: Mapping[str, tuple[Cell, int]] = field(default_factory=dict)
    """The points and the seeds of the recorded runs, by their names."""
    units: Mapping[str, str | None] = field(default_factory=dict)
    """The units of the sweep's axes."""


@dataclass(frozen=True)
class Drawn:
    """A figure of the report, in one of its sections: figures, energy, appendix, or others of `figures.SECTIONS`."""

    id: str
    title: str
    caption: str
    figure: Figure
    section: str = "figures"
    tries: Sequence[Try] = ()
    """The points of the sweep that the figure shows, for the lab; filled in as it is drawn."""


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
    equals: Sequence[EqualReading] = ()

    def table(self) -> str:
        """The claims as a text table: paper, ours, verdict; one more verdict for each equally supported reading."""
        return claims_table(self.claims, self.equals)


_ROOM = len(Verdict.UNDECIDED.value)


def claims_table(claims: Sequence[JudgedClaim], equals: Sequence[EqualReading] = (), width: int = 112) -> str:
    """Claim, paper, ours and verdicts, wrapped into columns of `width` characters in total."""
    verdicts = 1 + len(equals)
    share = (width - 4 - verdicts * _ROOM - (2 + verdicts) * 2) // 2
    header = ["", "paper", "ours", "verdict", *(f"({index})" for index in range(1, verdicts))]
    rows = [
        [judged.id, judged.claim.theirs, judged.ours, judged.verdict.value]
        + [str(equal.verdict(judged.id) or "-") for equal in equals]
        for judged in claims
    ]
    body = table(header, rows, [4, share, share, *[_ROOM] * verdicts])
    legend = "".join(f"\n({index}): {equal.label}" for index, equal in enumerate(equals, start=1))
    return f"{body}\n{len(claims)} claims, in the order of the paper: {counts(claims)}{legend}"


def counts(claims: Sequence[JudgedClaim]) -> str:
    """The number of claims by verdict, in words."""
    found = [judged.verdict for judged in claims]
    return ", ".join(f"{found.count(verdict)} {verdict}" for verdict in Verdict)


def judge(claim: Claim, parts: Sequence[Part], decided_by: str = "") -> JudgedClaim:
    """The verdict from the parts that count.

    The claim *holds* if all parts hold and *fails* if all fail. It holds *partly* if some hold and some fail, whichever
    way undecided parts would go. Otherwise it is *undecided*.

    Raises:
        ValueError: no part counts.
    """
    counted = [part for part in parts if part.counted]
    if not counted:
        raise ValueError(f"claim {claim.id} has no parts")
    return JudgedClaim(
        claim, _verdict({part.holds for part in counted}), _explanation(claim, parts), tuple(parts), decided_by
    )


def _verdict(held: set[bool | None]) -> Verdict:
    if True in held and False in held:
        return Verdict.PARTLY
    if None in held:
        return Verdict.UNDECIDED
    return Verdict.HOLDS if True in held else Verdict.FAILS


def _explanation(claim: Claim, parts: Sequence[Part]) -> str:
    """The reasons of the parts that do not hold, each once."""
    reasons: dict[str, None] = {}
    for part in parts:
        if part.id in claim.why and part.holds is not True:
            reasons.setdefault(claim.why[part.id])
        elif part.holds is None and part.counted:
            reasons.setdefault(f"Part “{part.id}” is undecided: the interval over the seeds includes the bound.")
        elif part.holds is False and part.counted:
            reasons.setdefault(f"Part “{part.id}” does not hold; no explanation is on record.")
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


def percent(value: Interval, digits: int = 1) -> str:
    """A share in per cent with its interval, as text."""
    return number(value.scaled(100), digits=digits) + " %"


def times(value: Interval) -> str:
    """A ratio with its interval, as text."""
    return number(value, "times", digits=3)


def part_id(name: str) -> str:
    """The id of a part: a name without blanks, commas and slashes."""
    return name.replace(",", "").replace(" ", "-").replace("/", "").lower()


def cells_within(
    name: str,
    found: Sequence[tuple[object, Interval]],
    show: Callable[[Interval], str] = percent,
    *,
    least: float = -math.inf,
    most: float = math.inf,
) -> Part:
    """A part that holds if every cell lies within the bounds. Its text has the cell that is worst."""
    answers = [decided(value, at_least=least, at_most=most) for _, value in found]

    def beyond(item: tuple[object, Interval]) -> float:
        return max(item[1].mean - most, least - item[1].mean)

    worst, value = max(found, key=beyond)
    count = f"{answers.count(True)} of {len(answers)} cells hold"
    count += f", {answers.count(None)} undecided" if None in answers else ""
    return Part(part_id(name), every(answers), f"{name}: {count}; worst {show(value)} at {worst}.")
