"""The frame of conformance: cases, their runs and checks, and the verdict on a TCP."""

from __future__ import annotations

import functools
import math
import tomllib
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from netlull.conformance.trace import NotExportedError, Spell, Trace
from netlull.documents.textfiles import read_text
from netlull.documents.tomltext import parse_setting
from netlull.errors import InputError, near
from netlull.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = [
    "SUITES",
    "Bench",
    "Case",
    "Check",
    "Judgement",
    "Kind",
    "Subject",
    "Verdict",
    "case",
    "cases",
    "chosen",
    "judge",
    "suite_of",
]

Kind = Literal["black box", "state"]
Verdict = Literal["passes", "fails", "not judged"]
NOT_EXPORTED = "not exported"
"""The observation of a variable that the algorithm does not export."""
_SEEDS = 16
"""The number of seeds to try."""
_PATH = Path(str(files("netlull"))) / "shipped" / "conformance" / "path.toml"


class LateEntryError(Exception):
    """A state begins too late for the case, or never."""

    def __init__(self, state: str, start_s: float, by_s: float) -> None:
        super().__init__(state)
        self.state = state
        self.start_s = start_s
        self.by_s = by_s


@dataclass(frozen=True)
class Check:
    """An observation next to the expectation."""

    kind: Kind
    what: str
    seen: str
    expected: str
    holds: bool | None
    """None: not judged, since a variable is not exported."""
    source: str
    """The section of the case's document."""


@dataclass(frozen=True)
class Case:
    """A numbered procedure."""

    number: str
    title: str
    document: str
    network: str
    """The network and the traffic, in words."""
    procedure: Callable[[Bench], None] = field(repr=False)
    doc: str = ""
    """The steps in words."""

    @property
    def family(self) -> str:
        """The suite, such as `bbr`."""
        return self.procedure.__module__.rpartition(".")[2]


_CASES: dict[str, Case] = {}


def case(
    number: str, title: str, document: str, network: str
) -> Callable[[Callable[[Bench], None]], Callable[[Bench], None]]:
    """Registers a procedure. Its docstring tells the steps."""

    def register(procedure: Callable[[Bench], None]) -> Callable[[Bench], None]:
        doc = " ".join((procedure.__doc__ or "").split())
        _CASES[number] = Case(number, title, document, network, procedure, doc)
        return procedure

    return register


def suite_of(subject: Subject) -> str:
    """The suite of a congestion control's name; `bbr` for all others."""
    return subject.control if subject.control in tuple(SUITES) else next(iter(SUITES))


def cases(family: str | None = None) -> Sequence[Case]:
    """All cases in their order, or those of a family."""
    return [one for one in _CASES.values() if family in {None, one.family}]


def chosen(numbers: Iterable[str], family: str | None = None, default: str | None = None) -> Sequence[Case]:
    """The cases with these numbers, each once, of the family or of all; without numbers all of the family or `default`.

    Raises:
        InputError: there is no such case.
    """
    known = {one.number: one for one in cases(family)}
    wanted = [number.upper() for number in numbers]
    for number in wanted:
        if number not in known:
            suite = "" if family is None else f" in the suite {family}"
            raise InputError(f'--case: there is no case "{number}"{suite}; {near(number, list(known))}')
    return [known[number] for number in dict.fromkeys(wanted)] or cases(family or default)


_FIXED = {
    "tcp.congestion_control": "name it with --congestion-control",
    "flow.flow.tcp.congestion_control": "name it with --congestion-control",
    "seed": "choose it with --seed",
    "duration": "each case has its duration",
    "probe": "the checks need all records",
    "flow.flow.name": "the checks need the name",
}
"""Fields that `settings` cannot change, and the hint."""


@dataclass(frozen=True)
class Subject:
    """The judged TCP: a congestion control, and other values of the networks."""

    control: Any = None
    """A name of `netlull list tcp`, the table of a module or class, or an object; None for that of the suite."""
    folder: Path | None = None
    """The folder of the module or class; None for the current one."""
    classes: tuple[str, ...] = ()
    """The classes that may be loaded, as MODULE:CLASS."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Values of the scenario by their paths, such as `tcp.preset`. They replace those of the suite and of the case."""

    def __post_init__(self) -> None:
        """Refuses settings of the cases.

        Raises:
            InputError: a setting belongs to the cases, or to an option.
        """
        for path in self.settings:
            instead = next((instead for fixed, instead in _FIXED.items() if f"{path}.".startswith(f"{fixed}.")), None)
            if instead is not None:
                raise InputError(f"--set: is {path}; expected a field that the cases leave open; {instead}")

    @classmethod
    def read(cls, text: str) -> Subject:
        """The congestion control that a text names: NAME, FILE.py:CLASS, FILE.wasm, or a table `{ kind = ... }`.

        Raises:
            InputError: there is no such file.
        """
        file, colon, name = text.rpartition(":")
        if colon and file.endswith(".py"):
            path = _existing(file, text)
            reference = f"{path.stem}:{name}"
            return cls({"kind": "python", "class": reference}, path.parent, (reference,))
        if text.endswith(".wasm"):
            path = _existing(text, text)
            return cls({"kind": "wasm", "module": path.name}, path.parent)
        if text.startswith("{"):
            _, table = parse_setting(f"control={text}")
            named = table.get("class") if isinstance(table, dict) else None
            return cls(table, None, () if named is None else (str(named),))
        return cls(text)

    @property
    def name(self) -> str:
        """A short name, with the settings."""
        table = self.control if isinstance(self.control, str) else dict(self.control)
        name = table if isinstance(table, str) else table.get("class") or table.get("module") or table.get("kind")
        return ", ".join([str(name), *(f"{path}={value}" for path, value in self.settings.items())])

    def judged_by(self, suite: str) -> Subject:
        """The subject with the TCP of a suite, where it has no other."""
        usual = SUITES[suite]
        control = usual.control if self.control is None else self.control
        return replace(self, control=control, settings={**usual.settings, **self.settings})


SUITES: Mapping[str, Subject] = {
    "bbr": Subject("bbr"),
    "cubic": Subject("cubic"),
    "sack": Subject("sack", settings={"tcp.loss_recovery": "sack", "tcp.window_reduction": "immediate"}),
    "rack": Subject("new_reno", settings={"tcp.loss_recovery": "rack"}),
}
"""The suites, and the TCP that each judges unless another is named."""


def _existing(file: str, text: str) -> Path:
    path = Path(file)
    if not path.is_file():
        raise InputError(
            f'--congestion-control: is "{text}"; expected a name of `netlull list tcp`, or an existing file'
        )
    return path


class Bench:
    """Runs the networks of one case with the judged TCP, and collects the checks."""

    def __init__(self, subject: Subject, seed: int = 1) -> None:
        self.subject = subject
        self.seed = seed
        self.traces: list[Trace] = []
        self.scenarios: list[Scenario] = []
        self.checks: list[Check] = []
        self.marks: list[tuple[float, str]] = []
        """Times of the procedure in the last run, for the picture."""
        self._owns: dict[int, Trace] = {}

    def run(self, duration: str, settings: Mapping[str, object] | None = None, *, note: str = "") -> Trace:
        """Runs the network with changed values, by their paths. `note` tells the change."""
        values: dict[str, Any] = {
            "duration": duration,
            "seed": self.seed,
            "flow.flow.tcp.congestion_control": self.subject.control,
            **(settings or {}),
            **self.subject.settings,
        }
        scenario = self._base.with_values(values)
        trace = Trace(scenario.run(), note)
        self.scenarios.append(scenario)
        self.traces.append(trace)
        self.marks.clear()
        return trace

    @functools.cached_property
    def _base(self) -> Scenario:
        # Files of the subject are relative to its folder.
        document = tomllib.loads(read_text(_PATH))
        return Scenario.from_dict(document, folder=self.subject.folder or Path(), allow_code=self.subject.classes)

    def mark(self, time_s: float, what: str) -> float:
        """Marks a step of the procedure in the picture; returns its time."""
        if math.isfinite(time_s):
            self.marks.append((time_s, what))
        return time_s

    def entry(
        self, trace: Trace, state: str, after_s: float = 0.0, *, by_s: float = math.inf, exact: bool = False
    ) -> float:
        """The time of the first entry into a state after `after_s`.

        Without exported states it is the time at which netlull's own BBR enters the state on the same network. `exact`
        refuses that: the checks need the time, and a random wait precedes it. After `by_s` PROBE_RTT disturbs the case.

        Raises:
            LateEntryError: the state is never entered, or later than `by_s`.
            NotExportedError: the case needs the exact time, and the algorithm exports no state.
        """
        if "BBR.state" not in trace:
            if exact:
                raise NotExportedError("BBR.state")
            trace = self._own(trace)
        start = next((spell.start_s for spell in trace.spells(state) if spell.start_s > after_s), math.nan)
        if not start <= by_s:
            raise LateEntryError(state, start, by_s)
        return start

    def _own(self, trace: Trace) -> Trace:
        """The run of netlull's own BBR on the network of another."""
        place = self.traces.index(trace)
        if place not in self._owns:
            scenario = self.scenarios[place].with_values({"flow.flow.tcp.congestion_control": "bbr"})
            self._owns[place] = Trace(scenario.run())
        return self._owns[place]

    def black_box(self, what: str, seen: float, low: float, high: float, unit: str, source: str) -> bool:
        """Checks a measured value against its bounds."""
        return self._within("black box", what, seen, low, high, unit, source)

    def state(self, what: str, seen: float, low: float, high: float, unit: str, source: str) -> bool:
        """Checks a variable against its bounds."""
        return self._within("state", what, seen, low, high, unit, source)

    def _within(self, kind: Kind, what: str, seen: float, low: float, high: float, unit: str, source: str) -> bool:
        holds = bool(low <= seen <= high)
        # A value that fails looks different from its bounds.
        digits = next(
            (n for n in _DIGITS if holds or shown(seen, unit, n) not in {shown(low, unit, n), shown(high, unit, n)}),
            _DIGITS[-1],
        )
        told, expected = shown(seen, unit, digits), _bounds(low, high, unit, digits)
        self.checks.append(Check(kind, what, told, expected, holds, source))
        return holds

    def says(self, what: str, seen: object, expected: object, source: str, *, kind: Kind = "state") -> bool:
        """Checks a word, such as a state, against the expected one."""
        holds = bool(seen == expected)
        self.checks.append(Check(kind, what, _text(seen), _text(expected), holds, source))
        return holds

    def follows(self, spell: Spell | None, trace: Trace, source: str, *expected: str) -> bool:
        """Checks the state after a stay: one of the expected."""
        after = trace.after(spell)
        before = "the state" if spell is None else spell.state
        holds = after in expected
        self.checks.append(Check("state", f"after {before}", after or "nothing", " or ".join(expected), holds, source))
        return holds


@dataclass(frozen=True)
class Judgement:
    """The verdict of a case on a TCP."""

    case: Case
    subject: Subject
    checks: Sequence[Check]
    traces: Sequence[Trace] = field(repr=False, default=())
    scenarios: Sequence[Scenario] = field(repr=False, default=())
    marks: Sequence[tuple[float, str]] = ()
    seed: int = 1
    """The seed of the runs."""

    def verdict_of(self, kind: Kind | None = None) -> Verdict:
        """The verdict of all checks, or of one kind."""
        every = [one.holds for one in self.checks if kind in {None, one.kind}]
        judged = [holds for holds in every if holds is not None]
        if not all(judged):
            return "fails"
        # The checks after a missing variable are not made.
        return "passes" if judged and (kind is None or len(judged) == len(every)) else "not judged"

    @property
    def verdict(self) -> Verdict:
        """The verdict of all checks."""
        return self.verdict_of()

    @property
    def told(self) -> str:
        """The first failed check, or the first one, in words."""
        one = next((one for one in self.checks if one.holds is False), self.checks[0] if self.checks else None)
        return "" if one is None else f"{one.what}: {one.seen}"

    def to_dict(self) -> dict[str, Any]:
        """The judgement as plain values."""
        return {
            "case": self.case.number,
            "title": self.case.title,
            "document": self.case.document,
            "network": self.case.network,
            "seed": self.seed,
            "black_box": self.verdict_of("black box"),
            "state": self.verdict_of("state"),
            "verdict": self.verdict,
            "checks": [asdict(one) for one in self.checks],
        }


def judge(one: Case, subject: Subject, *, seed: int = 1) -> Judgement:
    """Judges a TCP by a case, with the seed of the runs.

    BBR waits for a random time between its probes. If a probe comes too late for the case, the next seed is tried.

    Raises:
        ScenarioError: there is no such congestion control, or its code fails.
    """
    subject = subject.judged_by(one.family)
    for attempt in range(_SEEDS):
        bench = Bench(subject, seed + attempt)
        try:
            one.procedure(bench)
        except NotExportedError as missing:
            bench.checks.append(Check("state", f"{missing}", NOT_EXPORTED, "a variable", None, one.document))
        except LateEntryError as late:
            never = math.isnan(late.start_s)
            if not never and attempt + 1 < _SEEDS:
                continue
            what, expected = f"{late.state} begins at", "a time" if never else f"at most {shown(late.by_s, 's')}"
            seen, holds = shown(late.start_s, "s"), False if never else None
            bench.checks.append(Check("state", what, seen, expected, holds, one.document))
        break
    return Judgement(one, subject, bench.checks, bench.traces, bench.scenarios, bench.marks, bench.seed)


_SCALES: Mapping[str, tuple[float, str]] = {
    "B/s": (8e-6, "Mb/s"),
    "B": (1e-3, "kB"),
    "s": (1.0, "s"),
}
_DIGITS = range(4, 10)


def shown(value: float, unit: str, digits: int = 4) -> str:
    """A value as people read it: rates in Mb/s, volumes in kB, times below a second in ms."""
    if math.isnan(value):
        return "never" if unit == "s" else "none"
    if math.isinf(value):
        return "no bound"
    scale, name = _SCALES.get(unit, (1.0, unit))
    if unit == "s" and 0 < abs(value) < 1:
        scale, name = 1e3, "ms"
    return f"{value * scale:.{digits}g}{f' {name}' if name else ''}"


def _bounds(low: float, high: float, unit: str, digits: int) -> str:
    if low == high:
        return shown(low, unit, digits)
    if math.isinf(high):
        return f"at least {shown(low, unit, digits)}"
    if math.isinf(low) or low == 0:
        return f"at most {shown(high, unit, digits)}"
    return f"{shown(low, unit, digits)} to {shown(high, unit, digits)}"


def _text(value: object) -> str:
    return "nothing" if value is None else str(value)
