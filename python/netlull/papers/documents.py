"""What a paper folder says: the paper, its claims and the readings of its silences."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netlull.papers.toml import Fields, PaperError, read

if TYPE_CHECKING:
    from collections.abc import Mapping

FILES = ("paper.toml", "scenario.toml", "sweep.toml", "readings.toml", "claims.toml", "figures.py", "claims.py")
"""Every paper folder has these files."""


@dataclass(frozen=True)
class PaperInfo:
    """Enough to list a paper and to find its folder."""

    key: str
    title: str
    folder: Path


@dataclass(frozen=True)
class SeriesRun:
    """One run whose time series are recorded: a point of the sweep."""

    name: str
    experiment: str
    point: Mapping[str, float]
    seed: int = 1
    probe: Mapping[str, Any] = field(default_factory=dict)
    """What is recorded beside bins and drops, as a scenario's `[probe]`."""


@dataclass(frozen=True)
class Scope:
    """A part of the sweep: its experiments, the kept values of its axes and the number of seeds."""

    description: str
    experiments: tuple[str, ...]
    keep: Mapping[str, tuple[float, ...]]
    seeds: int


@dataclass(frozen=True)
class Study:
    """A further study of a paper: a sweep of its own, drawn by a module of its own as sections of the report."""

    name: str
    title: str
    full: str
    """What the whole sweep runs, in words."""
    scenario: str
    sweep: str
    module: str
    quick: Scope | None
    """What `--quick` runs; without it the whole sweep."""
    series: tuple[SeriesRun, ...]
    series_interval: str
    needs: tuple[str, ...] = ()
    """Packages beyond netlull's own that its sweep reads."""

    def missing(self) -> list[str]:
        """Those of `needs` that are not installed."""
        return [package for package in self.needs if importlib.util.find_spec(package) is None]


@dataclass(frozen=True)
class PaperFigure:
    """A figure or table of the paper and what becomes of it here."""

    id: str
    label: str
    title: str
    reproduced: str


@dataclass(frozen=True)
class Tolerance:
    """A claim's numbers, fixed before our result was looked at."""

    claim: str
    file: Path
    values: Mapping[str, float]

    def __getitem__(self, name: str) -> float:
        """One of them; missing, it is the file's fault."""
        if name not in self.values:
            where = f"{self.file.parent.name}/{self.file.name}: claim.{self.claim}.tolerance.{name}"
            raise PaperError(f"{where}: is missing; expected a number")
        return self.values[name]


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, how it is judged, and why a part of it may not hold."""

    id: str
    title: str
    statement: str
    where: str
    theirs: str
    measured: str
    tolerance: Tolerance
    reason: str
    why: Mapping[str, str]
    study: str = ""
    """The study whose runs it is judged by; empty: the paper's own sweep."""


@dataclass(frozen=True)
class Alternative:
    """Another answer to a reading's question: a change of the scenario, of an axis, or of the metric that is judged."""

    name: str
    label: str
    effect: str
    set: Mapping[str, Any] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    axes: tuple[Mapping[str, Any], ...] = ()
    use: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """A place where the paper is silent: what was chosen, why, and what it matters."""

    id: str
    question: str
    choice: str
    reason: str
    effect: str
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True)
class Paper:
    """A paper folder, read and checked."""

    info: PaperInfo
    authors: tuple[str, ...]
    venue: str
    year: int
    doi: str
    simulator: str
    summary: str
    full: str
    parameters: Mapping[str, str]
    figures: tuple[PaperFigure, ...]
    quick: Scope
    vary: Scope
    """What `--readings` runs again under every alternative: `[vary]`, or else what `--quick` runs."""
    series: tuple[SeriesRun, ...]
    series_interval: str
    claims: tuple[Claim, ...]
    readings: tuple[Reading, ...]
    search_over: tuple[str, ...]
    studies: tuple[Study, ...] = ()

    def study(self, name: str) -> Study:
        """One of its studies."""
        for study in self.studies:
            if study.name == name:
                return study
        known = ", ".join(study.name for study in self.studies) or "none"
        raise PaperError(f'{self.info.key}: study "{name}" is unknown; expected one of: {known}')


def load(folder: Path) -> Paper:
    """Reads a paper folder.

    Raises:
        PaperError: a file is missing or malformed; names the file, the field and the value.
    """
    for name in FILES:
        if not (folder / name).is_file():
            raise PaperError(f"{folder.name}/{name}: the file is missing; a paper folder has {', '.join(FILES)}")
    top = read(folder / "paper.toml")
    info = _info(top, folder)
    readings, search_over = _readings(folder / "readings.toml")
    quick = _scope(top.table("quick"))
    series, series_interval = _recorded(top)
    paper = Paper(
        info=info,
        authors=tuple(top.texts("authors")),
        venue=top.text("venue"),
        year=top.whole("year", 1900),
        doi=top.text("doi", default=""),
        simulator=top.text("simulator"),
        summary=top.text("summary"),
        full=top.text("full"),
        parameters={name: str(value) for name, value in top.mapping("parameters").items()},
        figures=tuple(_figure(item) for item in top.tables("figure", "id")),
        quick=quick,
        vary=_scope(top.table("vary")) if "vary" in top.names() else quick,
        series=series,
        series_interval=series_interval,
        claims=_claims(folder / "claims.toml"),
        readings=readings,
        search_over=search_over,
        studies=tuple(_study(item, folder) for item in top.tables("study", "name")),
    )
    top.close()
    for claim in paper.claims:
        if claim.study:
            paper.study(claim.study)
    return paper


def read_info(folder: Path) -> PaperInfo:
    """Key and title of a paper folder."""
    return _info(read(folder / "paper.toml"), folder)


def _info(top: Fields, folder: Path) -> PaperInfo:
    key = top.text("key")
    if key != folder.name:
        raise top.wrong("key", f'is "{key}"; expected the name of its folder, "{folder.name}"')
    return PaperInfo(key, top.text("title"), folder)


def _figure(item: Fields) -> PaperFigure:
    made = PaperFigure(item.text("id"), item.text("label"), item.text("title"), item.text("reproduced"))
    item.close()
    return made


def _scope(item: Fields) -> Scope:
    keep: dict[str, tuple[float, ...]] = {}
    for axis, values in item.mapping("keep").items():
        if not isinstance(values, list) or not values or not all(isinstance(value, int | float) for value in values):
            raise item.wrong(f"keep.{axis}", f"is {values!r}; expected a list of numbers")
        keep[axis] = tuple(float(value) for value in values)
    made = Scope(item.text("description"), tuple(item.texts("experiments")), keep, item.whole("seeds", 1))
    item.close()
    return made


def _recorded(item: Fields) -> tuple[tuple[SeriesRun, ...], str]:
    """The runs whose time series are recorded, and the width of their bins."""
    series = item.table("series")
    runs, interval = tuple(_series(run) for run in series.tables("run", "name")), series.text("interval")
    series.close()
    return runs, interval


def _study(item: Fields, folder: Path) -> Study:
    name = item.text("name")
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise item.wrong("name", f'is "{name}"; expected lower-case letters, digits and hyphens')
    series: tuple[tuple[SeriesRun, ...], str] = ((), "")
    if "series" in item.names():
        series = _recorded(item)
    made = Study(
        name=name,
        title=item.text("title"),
        full=item.text("full"),
        scenario=_file(item, "scenario", f"{name}-scenario.toml", folder),
        sweep=_file(item, "sweep", f"{name}-sweep.toml", folder),
        module=_file(item, "drawing", f"{name.replace('-', '_')}.py", folder).removesuffix(".py"),
        quick=_scope(item.table("quick")) if "quick" in item.names() else None,
        series=series[0],
        series_interval=series[1],
        needs=tuple(item.texts("needs")),
    )
    item.close()
    return made


def _file(item: Fields, field: str, default: str, folder: Path) -> str:
    """The name of a file of the paper's folder."""
    name = item.text(field, default=default)
    suffix = Path(default).suffix
    if Path(name).name != name or not name.endswith(suffix) or not (folder / name).is_file():
        raise item.wrong(field, f'is "{name}"; expected a {suffix} file of the paper\'s folder')
    return name


def _series(item: Fields) -> SeriesRun:
    point: dict[str, float] = {}
    for axis, value in item.mapping("point").items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise item.wrong(f"point.{axis}", f"is {value!r}; expected a number")
        point[axis] = float(value)
    seed = item.whole("seed", 0) if "seed" in item.names() else 1
    made = SeriesRun(item.text("name"), item.text("experiment"), point, seed, item.mapping("probe"))
    item.close()
    return made


def _claims(path: Path) -> tuple[Claim, ...]:
    top = read(path)
    claims = tuple(_claim(item) for item in top.tables("claim", "id"))
    if not claims:
        raise top.wrong("claim", "is missing; expected at least one claim")
    top.close()
    return claims


def _claim(item: Fields) -> Claim:
    name = item.text("id")
    if not re.fullmatch(r"[A-Z][0-9]+", name):
        raise item.wrong("id", f'is "{name}"; expected a letter and a number, such as "T1"')
    numbers = item.table("tolerance")
    tolerance = Tolerance(name, item.file, {name: numbers.number(name) for name in numbers.names()})
    reasons = item.table("why")
    claim = Claim(
        id=name,
        title=item.text("title"),
        statement=item.text("statement"),
        where=item.text("where"),
        theirs=item.text("theirs"),
        measured=item.text("measured"),
        tolerance=tolerance,
        reason=item.text("reason"),
        why={part: reasons.text(names) for names in reasons.names() for part in names.split()},
        study=item.text("study", default=""),
    )
    item.close()
    return claim


def _readings(path: Path) -> tuple[tuple[Reading, ...], tuple[str, ...]]:
    top = read(path)
    readings = tuple(_reading(item) for item in top.tables("reading", "id"))
    search = tuple(top.texts("search_over"))
    known = {reading.id for reading in readings}
    for name in search:
        if name not in known:
            raise top.wrong("search_over", f'"{name}" is no reading; expected some of: {", ".join(sorted(known))}')
    top.close()
    return readings, search


def _reading(item: Fields) -> Reading:
    alternatives = tuple(_alternative(entry) for entry in item.tables("alternative", "name"))
    reading = Reading(
        id=item.text("id"),
        question=item.text("question"),
        choice=item.text("choice"),
        reason=item.text("reason"),
        effect=item.text("effect", default=""),
        alternatives=alternatives,
    )
    item.close()
    return reading


def _alternative(item: Fields) -> Alternative:
    axes = item.tables("axis", "name")
    made = Alternative(
        name=item.text("name"),
        label=item.text("label"),
        effect=item.text("effect", default=""),
        set=item.mapping("set"),
        unset=tuple(item.texts("unset")),
        axes=tuple({key: entry.data[key] for key in entry.names()} for entry in axes),
        use={column: str(metric) for column, metric in item.mapping("use").items()},
    )
    if not (made.set or made.unset or made.axes or made.use):
        raise item.wrong("set", "is missing; expected a change: set, unset, axis or use")
    item.close()
    return made
