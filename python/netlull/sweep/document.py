"""Reading of sweep.toml. Errors name the file and the field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, field

from netlull import _engine
from netlull.documents.decode import Document, FieldError, decode
from netlull.documents.textfiles import check_regular, read_text
from netlull.documents.tomltext import read_toml
from netlull.errors import SweepError
from netlull.library import shipped
from netlull.renames import hint_of_path
from netlull.scenario import Scenario
from netlull.sweep.axes import Axis, Experiment
from netlull.sweep.design import Column, Design, Range

if TYPE_CHECKING:
    from netlull.plugins.loading import AllowedCode

__all__ = ["read_sweep"]


class _List(Document, frozen=True):
    """`[list]`: points row by row."""

    axis: tuple[Column, ...] = ()
    rows: Sequence[Any] = ()

    def design(self) -> Design:
        """The points."""
        return Design.listed(self.axis, self.rows)


class _Sample(Document, frozen=True):
    """`[sample]`: points drawn from ranges."""

    kind: Annotated[str, Meta(extra={"expected": '"latin_hypercube" or "random"'})]
    points: Annotated[int, Meta(extra={"expected": "a whole number of points"})]
    axis: tuple[Range, ...] = ()
    seed: int = 1

    def design(self) -> Design:
        """The points."""
        return Design.sampled(self.kind, self.points, self.axis, self.seed)


class _SweepFile(Document, frozen=True):
    """The contents of sweep.toml."""

    scenario: Annotated[str, Meta(extra={"expected": "a scenario file, relative to this one"})]
    seeds: int | Sequence[Any] = 1
    metrics: Mapping[str, str] = {}
    axes: tuple[Axis, ...] = field(default=(), name="axis")
    experiments: tuple[Experiment, ...] = field(default=(), name="experiment")
    list: _List | None = None
    sample: _Sample | None = None

    def __post_init__(self) -> None:
        """Refuses a sweep with two designs, and one without points."""
        if self.list is not None and self.sample is not None:
            raise FieldError("list", "is given together with sample; expected one of the two")
        if not (self.axes or self.experiments or self.list or self.sample):
            expected = "expected [[axis]] entries, [list] or [sample]"
            raise FieldError("axis", f"is missing: the sweep has no points; {expected}")


def read_sweep(path: Path, allow_code: AllowedCode) -> dict[str, Any]:
    """The arguments of `Sweep` in a file. `allow_code` is that of `Scenario.from_toml`.

    Raises:
        InputError: the file, or its scenario, cannot be read or is invalid.
        ScenarioError: its scenario is invalid; the message starts with the scenario's file.
    """
    data = read_toml(read_text(path), str(path))
    if "scenario" not in data and "duration" in data:
        raise SweepError(f"{path}: is a scenario; expected a sweep, which names its scenario, or `netlull run`")
    try:
        document = decode(data, _SweepFile)
        source = document.list or document.sample
        design = None if source is None else source.design()
    except (FieldError, SweepError) as error:
        raise SweepError(f"{path}: {error}") from None
    return {
        "scenario": _scenario(path.parent, document.scenario, allow_code),
        "axes": document.axes,
        "seeds": document.seeds,
        "metrics": document.metrics,
        "experiments": document.experiments,
        "design": design,
    }


def _scenario(folder: Path, name: str, allow_code: AllowedCode) -> Scenario:
    """The file next to the sweep; if there is none, the shipped scenario with this name."""
    path = folder / name
    if not path.exists():
        path = shipped().get(name, path)
        renamed = hint_of_path(path, shipped())
        if renamed is not None and not path.exists():
            raise SweepError(f"{folder / name}: there is no such file; {renamed}")
    check_regular(path)
    try:
        return Scenario.from_file(path, allow_code=allow_code)
    except _engine.ScenarioError as error:
        raise _engine.ScenarioError(f"{path}: {error}") from None
