"""The files of a paper folder: the paper, its claims and its readings (assumptions where it is silent)."""

from __future__ import annotations

import importlib.util
import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, field
from msgspec.structs import asdict, force_setattr, replace

from netlull.documents.decode import Document, FieldError, Text
from netlull.errors import near
from netlull.papers.toml import PaperError, read

FILES = ("paper.toml", "scenario.toml", "sweep.toml", "readings.toml", "claims.toml", "figures.py", "claims.py")
"""The files of every paper folder."""
_PACKAGE = Path(__file__).resolve().parents[1]
SHIPPED = _PACKAGE / "shipped" / "papers"
"""The folder with the shipped papers."""

_Place = float | str
"""A value on an axis: a number, or a name."""


class _Prose(Document, frozen=True):
    """A table whose texts may have several lines."""

    def __post_init__(self) -> None:
        """Joins the lines of each text."""
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, str):
                force_setattr(self, name, _one_line(value))


def _one_line(text: str) -> str:
    return " ".join(text.split()) if "\n" in text else text


def _differ(entries: Sequence[Any], where: str, by: str) -> None:
    """Refuses two entries with the same name."""
    names = [getattr(entry, by) for entry in entries]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise FieldError(f"{where}.{twice}", f'"{twice}" appears twice')


class PaperInfo(Struct, frozen=True):
    """The facts for listing a paper and finding its folder."""

    key: str
    title: str
    folder: Path


class SeriesRun(Document, frozen=True):
    """A run with recorded time series: a point of the sweep."""

    name: Text
    experiment: Text
    point: Mapping[str, _Place] = {}
    seed: Annotated[int, Meta(ge=0)] = 1
    probe: Mapping[str, Any] = {}
    """Further tables to record, as a scenario's `[probe]`."""


class Series(Document, frozen=True):
    """The runs with recorded time series, and the width of their bins."""

    interval: Text
    run: tuple[SeriesRun, ...] = ()

    def __post_init__(self) -> None:
        """Refuses two runs with the same name."""
        _differ(self.run, "run", "name")


class Scope(_Prose, frozen=True):
    """A part of the sweep: its experiments, the kept values of its axes and the number of seeds."""

    description: Text
    experiments: tuple[str, ...]
    keep: Mapping[str, Annotated[tuple[_Place, ...], Meta(min_length=1)]]
    seeds: Annotated[int, Meta(ge=1)]


class Study(_Prose, frozen=True):
    """A further study of a paper: its own sweep, drawn by its own module as sections of the report."""

    name: Annotated[
        str, Meta(pattern="^[a-z][a-z0-9-]*$", extra={"expected": "lower-case letters, digits and hyphens"})
    ]
    title: Text
    full: Text
    """The extent of the whole sweep, in words."""
    scenario: str = ""
    """A file of the paper's folder, or KEY/FILE of another shipped paper."""
    sweep: str = ""
    drawing: str = ""
    quick: Scope | None = None
    """The scope of `--quick`; without it the whole sweep."""
    recorded: Series | None = field(default=None, name="series")
    needs: tuple[str, ...] = ()
    """Packages that its sweep needs beyond netlull's own dependencies."""
    alone: bool = False
    """True if `--full` leaves it out: only `--study` runs it."""

    def __post_init__(self) -> None:
        """Fills in the default file names."""
        super().__post_init__()
        usual = {
            "scenario": f"{self.name}-scenario.toml",
            "sweep": f"{self.name}-sweep.toml",
            "drawing": f"{self.name.replace('-', '_')}.py",
        }
        for which, name in usual.items():
            force_setattr(self, which, getattr(self, which) or name)

    @property
    def module(self) -> str:
        """The module that draws it."""
        return self.drawing.removesuffix(".py")

    @property
    def series(self) -> tuple[SeriesRun, ...]:
        """The recorded runs."""
        return () if self.recorded is None else self.recorded.run

    def missing(self) -> list[str]:
        """The packages in `needs` that are not installed."""
        return [package for package in self.needs if importlib.util.find_spec(package) is None]


class PaperFigure(_Prose, frozen=True):
    """A figure or table of the paper, and its reproduction here."""

    id: Text
    label: Text
    title: Text
    reproduced: Text


class Tolerance(dict[str, float]):
    """A claim's numbers, fixed before our result was known."""

    def __init__(self, claim: str, file: Path, values: Mapping[str, float]) -> None:
        super().__init__(values)
        self._where = f"{file.parent.name}/{file.name}: claim.{claim}.tolerance"

    def __missing__(self, name: str) -> float:
        """Raises an error that names the file."""
        raise PaperError(f"{self._where}.{name}: is missing; expected a number")


class Claim(_Prose, frozen=True):
    """A claim of the paper, its judgement, and the reasons of parts that may not hold."""

    id: Annotated[str, Meta(pattern="^[A-Z][0-9]+$", extra={"expected": 'a letter and a number, such as "T1"'})]
    title: Text
    statement: Text
    where: Text
    theirs: Text
    measured: Text
    reason: Text
    quote: str = ""
    """The paper's own words; empty for a claim of ours, which no sentence of the paper makes."""
    fixed: str = ""
    """Who fixed measure and tolerance, and when; by default the file's `fixed`."""
    tolerance: Mapping[str, float] = {}
    why: Mapping[str, Text] = {}
    """The reason by part. In the file, a key may name several parts."""
    study: str = ""
    """The study whose runs judge the claim; empty for the paper's own sweep."""

    def __post_init__(self) -> None:
        """Gives every part its own reason."""
        super().__post_init__()
        why = {part: _one_line(text) for parts, text in self.why.items() for part in parts.split()}
        force_setattr(self, "why", why)


class Unjudged(_Prose, frozen=True):
    """A sentence of the paper that states a result and that no claim judges, with the reason."""

    quote: Text
    where: Text
    reason: Text


class Alternative(_Prose, frozen=True):
    """Another answer to a reading's question: a change of the scenario, of an axis, or of the judged metric."""

    name: Text
    label: Text
    effect: str = ""
    words: str = ""
    """The paper's words that support it. `--readings` runs every pair of alternatives that have words."""
    equal: bool = False
    """True if the paper's words support it as well as the choice. Every reproduction judges the claims with it too."""
    set: Mapping[str, Any] = {}
    unset: tuple[str, ...] = ()
    axes: tuple[Mapping[str, Any], ...] = field(default=(), name="axis")
    use: Mapping[str, str] = {}
    scripts: tuple[Mapping[str, Any], ...] = ()
    """Changes for scripts without random numbers: the first, added to `set`, runs instead of the first seed."""

    def __post_init__(self) -> None:
        """Refuses an alternative without a change."""
        super().__post_init__()
        if not self.changed:
            raise FieldError("set", "is missing; expected a change: set, unset, axis, use or scripts")

    @property
    def changed(self) -> frozenset[str]:
        """The fields, axes and metrics that it changes."""
        axes = (str(axis.get("name")) for axis in self.axes)
        return frozenset([*self.set, *self.unset, *self.use, *axes, *itertools.chain(*self.scripts)])


class Reading(_Prose, frozen=True):
    """An assumption where the paper is silent: the choice, its reason and its effect."""

    id: Text
    question: Text
    choice: Text
    reason: Text
    effect: str = ""
    alternatives: tuple[Alternative, ...] = field(default=(), name="alternative")

    def __post_init__(self) -> None:
        """Refuses two alternatives with the same name."""
        super().__post_init__()
        _differ(self.alternatives, "alternative", "name")


class _PaperFile(_Prose, frozen=True, kw_only=True):
    """The contents of paper.toml."""

    key: Text
    title: Text
    authors: tuple[str, ...] = ()
    venue: Text
    year: Annotated[int, Meta(ge=1900)]
    doi: str = ""
    simulator: Text
    summary: Text
    full: Text
    parameters: Mapping[str, Any] = {}
    figures: tuple[PaperFigure, ...] = field(default=(), name="figure")
    scenario: Text = "scenario.toml"
    """The scenario of the paper's own sweep: a file of its folder, or KEY/FILE of another shipped paper."""
    quick: Scope
    vary: Scope | None = None
    """The scope that `--readings` repeats with every alternative; without it `quick`."""
    equal: Scope | None = None
    """The scope of `--full` with an equally supported reading; without it the whole sweep."""
    recorded: Series = field(name="series")
    studies: tuple[Study, ...] = field(default=(), name="study")

    def __post_init__(self) -> None:
        """Refuses two figures or studies with the same name."""
        super().__post_init__()
        _differ(self.figures, "figure", "id")
        _differ(self.studies, "study", "name")
        force_setattr(self, "vary", self.vary or self.quick)
        force_setattr(self, "parameters", {name: str(value) for name, value in self.parameters.items()})


class _StudiesFile(Document, frozen=True):
    """The contents of studies.toml."""

    studies: tuple[Study, ...] = field(default=(), name="study")


class _ClaimsFile(Document, frozen=True):
    """The contents of claims.toml."""

    claim: Annotated[tuple[Claim, ...], Meta(min_length=1, extra={"expected": "at least one claim"})]
    fixed: str = ""
    unjudged: tuple[Unjudged, ...] = ()

    def __post_init__(self) -> None:
        """Refuses two claims with the same name."""
        _differ(self.claim, "claim", "id")


class _ReadingsFile(Document, frozen=True):
    """The contents of readings.toml."""

    reading: tuple[Reading, ...] = ()

    def __post_init__(self) -> None:
        """Refuses two readings with the same name."""
        _differ(self.reading, "reading", "id")


class Notes(Document, frozen=True):
    """The contents of notes.toml: paragraphs for the report's sections, by paper and by study."""

    paper: Mapping[str, tuple[Text, ...]] = {}
    study: Mapping[str, Mapping[str, tuple[Text, ...]]] = {}

    def __post_init__(self) -> None:
        """Joins the lines of each paragraph."""
        force_setattr(self, "paper", _folded(self.paper))
        force_setattr(self, "study", {name: _folded(notes) for name, notes in self.study.items()})


def _folded(notes: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {section: tuple(map(_one_line, texts)) for section, texts in notes.items()}


class Paper(_PaperFile, frozen=True, kw_only=True):
    """A paper folder, read and checked."""

    info: PaperInfo
    claims: tuple[Claim, ...]
    unjudged: tuple[Unjudged, ...]
    readings: tuple[Reading, ...]
    notes: Notes

    def file(self, name: str) -> Path:
        """A file of the paper's folder, of the folder with its further studies, or KEY/FILE of a shipped paper."""
        places = [*folders(self.info.folder), *([SHIPPED] if "/" in name else [])]
        return next((path / name for path in places if (path / name).is_file()), self.info.folder / name)

    @property
    def equals(self) -> list[Alternative]:
        """The alternatives that the paper's words support as well as the choice."""
        return [alternative for reading in self.readings for alternative in reading.alternatives if alternative.equal]

    @property
    def series(self) -> tuple[SeriesRun, ...]:
        """The recorded runs."""
        return self.recorded.run

    def study(self, name: str) -> Study:
        """The study with this name.

        Raises:
            PaperError: there is no such study; lists the names.
        """
        for study in self.studies:
            if study.name == name:
                return study
        known = ", ".join(study.name for study in self.studies) or "none"
        raise PaperError(
            f'{self.info.key}: study "{name}" is unknown; expected one of: {known}{_hint(self.info.folder)}'
        )


def folders(folder: Path) -> list[Path]:
    """A paper's folder, and in a checkout the one with the further studies of a shipped paper."""
    further = _further(folder)
    return [folder, further] if folder.parent == SHIPPED and further.is_dir() else [folder]


def _hint(folder: Path) -> str:
    """Where a shipped paper's further studies are, for an installation without them."""
    if folder.parent != SHIPPED or _further(folder).is_dir():
        return ""
    return f"; studies that decide no claim run in a clone of netlull's source, which has them in studies/{folder.name}"


def _further(folder: Path) -> Path:
    """The folder of a shipped paper's further studies, which only a checkout has."""
    return _PACKAGE.parents[1] / "studies" / folder.name


def load(folder: Path) -> Paper:
    """Reads a paper folder.

    Raises:
        PaperError: a file is missing or malformed; the message names the file, the field and the value.
    """
    for name in FILES:
        if not (folder / name).is_file() and name != "scenario.toml":
            raise PaperError(f"{folder.name}/{name}: the file is missing; a paper folder has {', '.join(FILES)}")
    claims_path = folder / "claims.toml"
    sheet = read(folder / "paper.toml", _PaperFile)
    readings = read(folder / "readings.toml", _ReadingsFile)
    claims = read(claims_path, _ClaimsFile)
    more = [read(path / "studies.toml", _StudiesFile) for path in folders(folder)[1:]]
    notes = [read(path, Notes) for path in (place / "notes.toml" for place in folders(folder)) if path.is_file()]
    paper = Paper(
        **asdict(sheet) | {"studies": (*sheet.studies, *(study for file in more for study in file.studies))},
        info=_info(folder, sheet.key, sheet.title),
        claims=tuple(_completed(claim, claims, claims_path) for claim in claims.claim),
        unjudged=claims.unjudged,
        readings=readings.reading,
        notes=Notes(
            {section: texts for file in notes for section, texts in file.paper.items()},
            {name: texts for file in notes for name, texts in file.study.items()},
        ),
    )
    if not paper.file(paper.scenario).is_file():
        raise PaperError(f"{folder.name}/{paper.scenario}: the file is missing; a paper folder has {', '.join(FILES)}")
    for study in paper.studies:
        _check_files(study, paper)
    for claim in paper.claims:
        if claim.study and paper.study(claim.study).alone:
            where = f"{folder.name}/paper.toml: study.{claim.study}.alone"
            raise PaperError(f"{where}: is true; expected false, because the study decides claim {claim.id}")
    names = [study.name for study in paper.studies]
    for name in paper.notes.study:
        if name not in names:
            raise PaperError(f"{folder.name}/notes.toml: study.{name}: is unknown; {near(name, names)}")
    return paper


def _completed(claim: Claim, file: _ClaimsFile, path: Path) -> Claim:
    """The claim with the file's `fixed`, and with tolerances that name themselves in errors."""
    tolerance = Tolerance(claim.id, path, claim.tolerance)
    return replace(claim, tolerance=tolerance, fixed=claim.fixed or _one_line(file.fixed))


class _Head(Struct, frozen=True):
    """The fields of paper.toml that a list of papers shows."""

    key: Text
    title: Text


def read_info(folder: Path) -> PaperInfo:
    """Key and title of a paper folder.

    Raises:
        PaperError: paper.toml is malformed, or its key is not the folder's name.
    """
    head = read(folder / "paper.toml", _Head)
    return _info(folder, head.key, head.title)


def _info(folder: Path, key: str, title: str) -> PaperInfo:
    if key != folder.name:
        expected = f'expected the name of its folder, "{folder.name}"'
        raise PaperError(f'{folder.name}/paper.toml: key: is "{key}"; {expected}')
    return PaperInfo(key, _one_line(title), folder)


def _check_files(study: Study, paper: Paper) -> None:
    """Refuses a study whose files are not in the paper's folder."""
    folder = paper.info.folder
    for which, suffix in (("scenario", ".toml"), ("sweep", ".toml"), ("drawing", ".py")):
        name = getattr(study, which)
        other = r"(?:[\w-]+/)?" if which == "scenario" else ""
        if not re.fullmatch(rf"{other}[^/\\]+{re.escape(suffix)}", name) or not paper.file(name).is_file():
            expected = f"expected a {suffix} file of the paper's folder"
            raise PaperError(f'{folder.name}/paper.toml: study.{study.name}.{which}: is "{name}"; {expected}')
