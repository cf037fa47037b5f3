"""Scenarios: read from a file or text, or built from Python values; checked once, by the core."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from netlull import _engine, emulation
from netlull.documents.plain import plain
from netlull.documents.textfiles import read_text
from netlull.documents.tomltext import toml_document
from netlull.errors import FieldPathError, InputError, NetlullWarning
from netlull.host import Host, TapeHost, TextHost, check_tape, stamp
from netlull.results.output import staged_file, writing
from netlull.results.result import Result
from netlull.runs.memory import excess, limit
from netlull.topology.document import table as network_table
from netlull.topology.files import Topology

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from netlull._engine import Monitor
    from netlull.builders import Air, Flow, Link, Phase, Power, Probe, Recording, Routing, Sleep, Station, TcpOptions
    from netlull.plugins.loading import AllowedCode

__all__ = ["Scenario"]


class Scenario:
    """A network, its traffic and its recording. Immutable and valid: every instance has passed the core's check.

    Quantities are text with a unit: `"10 Mb/s"`, `"40 ms"`, `"1500 B"`, `"0.5 BDP"`. Arguments left at None take the
    schema's defaults (`netlull.schema()`). `topology` is a `Topology` or that table (docs/how-to/topology.md).

    Example:
        >>> from netlull import Link, Scenario, Tcp
        >>> scenario = Scenario(
        ...     duration="10 s",
        ...     nodes=["a", "b"],
        ...     links=[Link("a", "b", "10 Mb/s", "20 ms", duplex=True)],
        ...     flows=[Tcp("download", "a", "b", size="5 MB")],
        ... )
        >>> round(scenario.run(seed=1).flow("download")["completion_time_s"], 1)
        4.9
        >>> slower = scenario.with_values({"link.a-b.rate": "5 Mb/s"})
        >>> round(slower.run(seed=1).flow("download")["completion_time_s"], 1)
        8.5

    Raises:
        ScenarioError: the message names the field, its value and the expected values.
    """

    def __init__(  # noqa: PLR0913  # the schema's fields
        self,
        *,
        duration: str,
        nodes: Sequence[str] = (),
        links: Iterable[Link | Mapping[str, object]] = (),
        flows: Iterable[Flow | Mapping[str, object]] = (),
        name: str | None = None,
        description: str | None = None,
        warm_up: str | None = None,
        mtu: str | None = None,
        seed: int | None = None,
        verify: str | None = None,
        tcp: TcpOptions | Mapping[str, object] | None = None,
        power: Iterable[Power | Mapping[str, object]] | None = None,
        probe: Probe | Mapping[str, object] | None = None,
        recording: Recording | Mapping[str, object] | None = None,
        phases: Iterable[Phase | Mapping[str, object]] = (),
        routing: Routing | Mapping[str, object] | None = None,
        sleep: Iterable[Sleep | Mapping[str, object]] = (),
        stations: Iterable[Station | Mapping[str, object]] = (),
        airs: Iterable[Air | Mapping[str, object]] = (),
        position: Mapping[str, tuple[float, float]] | None = None,
        topology: Topology | Mapping[str, object] | None = None,
    ) -> None:
        fields = {
            "name": name,
            "description": description,
            "duration": duration,
            "warm_up": warm_up,
            "mtu": mtu,
            "seed": seed,
            "verify": verify,
            "nodes": nodes,
            "link": list(links),
            "flow": list(flows),
            "tcp": tcp,
            "power": None if power is None else list(power),
            "probe": probe,
            "recording": recording,
            "phase": list(phases) or None,
            "routing": routing,
            "sleep": list(sleep) or None,
            "station": list(stations) or None,
            "air": list(airs) or None,
            "position": position,
            "topology": {"network": network_table(topology)} if isinstance(topology, Topology) else topology,
        }
        self._adopt(json.dumps(plain({key: value for key, value in fields.items() if value is not None})))

    def _adopt(
        self,
        text: str,
        origin: str | None = None,
        steps: Iterable[Mapping[str, object]] = (),
        folder: Path | None = None,
        tape: _engine.Tape | None = None,
        *,
        plug_ins: bool = True,
        allow_code: AllowedCode = False,
    ) -> None:
        """Takes over a document: TOML with an origin, else JSON, after several steps of changes."""
        self._folder = folder
        self._tape = tape
        self._plug_ins = plug_ins
        self._allow_code = allow_code
        own = Host(folder, allow_code) if plug_ins else TextHost(folder)
        host = own if tape is None else TapeHost(folder, tape)
        changes = json.dumps([_changes(step) for step in steps])
        self._checked = _engine.Checked(text, origin, changes, host, folder, tape)
        if isinstance(host, TapeHost) and tape is not None:
            host.finish()
            if self.seed != tape.seed:
                raise _engine.ScenarioError(f"seed: is {self.seed}; expected {tape.seed}, that of the tape")
            check_tape(self._complete, tape)

    @classmethod
    def _of(cls, *arguments: Any, **options: Any) -> Self:
        scenario = cls.__new__(cls)
        scenario._adopt(*arguments, **options)  # noqa: SLF001  # its own
        return scenario

    @classmethod
    def from_dict(
        cls,
        mapping: Mapping[str, object],
        *,
        folder: Path | None = None,
        plug_ins: bool = True,
        allow_code: AllowedCode = False,
    ) -> Self:
        """A scenario from a mapping with the schema's fields. Files that it names are relative to `folder`.

        `plug_ins` and `allow_code` are those of `from_toml`.

        Raises:
            InputError: a file that it names is invalid.
            ScenarioError: the message names the field, its value and the expected values.
        """
        text = json.dumps(plain(mapping))
        return cls._of(text, None, (), folder, plug_ins=plug_ins, allow_code=allow_code)

    @classmethod
    def from_toml(
        cls,
        text: str,
        origin: str = "<text>",
        *,
        values: Mapping[str, object] | None = None,
        folder: Path | None = None,
        replay: str | Path | None = None,
        plug_ins: bool = True,
        allow_code: AllowedCode = False,
    ) -> Self:
        """A scenario from TOML text. `values` are applied before the check (see `with_values`).

        Files that it names are relative to `folder`, by default the current one. `replay` is a tape, whose decisions
        replace the plug-ins (see `run`). The default seed is then that of the tape. Without `plug_ins`, no code is
        loaded, and the scenario lacks the parts that are Python classes or WebAssembly modules.

        With `allow_code`, the Python classes that the text names may be loaded, which runs their modules: True for all,
        or a list of their names MODULE:CLASS. Classes that this process has loaded, and those of installed entry
        points, need no permission.

        Raises:
            InputError: the text is not TOML; the message starts with `origin`.
            ScenarioError: the message names the field, its value and the expected values.
        """
        tape = None if replay is None else _tape(Path(replay))
        # Changes may give another seed, which is then an error.
        seed: dict[str, object] = {} if tape is None else {"seed": tape.seed}
        steps = [step for step in (seed, values) if step]
        return cls._of(text, origin, steps, folder, tape, plug_ins=plug_ins, allow_code=allow_code)

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        *,
        values: Mapping[str, object] | None = None,
        replay: str | Path | None = None,
        plug_ins: bool = True,
        allow_code: AllowedCode = False,
    ) -> Self:
        """A scenario from a TOML file or a pipe. `values` are applied before the check (see `with_values`).

        `replay`, `plug_ins` and `allow_code` are those of `from_toml`.

        Raises:
            InputError: the file cannot be read or is not TOML.
            ScenarioError: the message names the field, its value and the expected values.
        """
        path = Path(path)
        folder = None if path.is_fifo() or path.is_char_device() else path.parent
        return cls.from_toml(
            read_text(path),
            os.fsencode(path).decode(errors="replace"),
            values=values,
            folder=folder,
            replay=replay,
            plug_ins=plug_ins,
            allow_code=allow_code,
        )

    def with_values(self, mapping: Mapping[str, object]) -> Self:
        """The same scenario with other values, `{"link.N1-N2.rate": "5 Mb/s", "link.N1-N2.controller": None}`.

        A path is a chain of keys separated by dots. Array entries go by name (an unnamed link: FROM-TO) or by index.
        None removes the field and restores its default.

        Raises:
            FieldPathError: a path names an entry that does not exist; lists the existing ones.
            ScenarioError: the message names the field, its value and the expected values.
        """
        return self.with_changes(mapping)

    def with_changes(self, *steps: Mapping[str, object]) -> Self:
        """Applies several `with_values` in order, with one check at the end.

        Raises:
            FieldPathError: a path names an entry that does not exist; lists the existing ones.
            ScenarioError: the message names the field, its value and the expected values.
        """
        text = self._checked.document()
        options = {"plug_ins": self._plug_ins, "allow_code": self._allow_code}
        return self._of(text, None, steps, self._folder, self._tape, **options)

    def to_dict(self) -> dict[str, Any]:
        """The scenario as given, as a separate document."""
        document: dict[str, Any] = json.loads(self._checked.document())
        return document

    def to_toml(self, *, seed: int | None = None) -> str:
        """The scenario as TOML text that needs no other file, with the links of its topology. `seed` replaces its own.

        Modules and classes of plug-ins stay names of files.
        """
        document = json.loads(self._checked.spelled_out())
        return toml_document(document if seed is None else {**document, "seed": seed})

    def canonical(self) -> str:
        """The scenario as JSON with every default filled in, in the schema's order."""
        return self._checked.canonical()

    @property
    def checked(self) -> _engine.Checked:
        """The core's form of the scenario, shared by all runs of a sweep."""
        return self._checked

    @property
    def has_plug_ins(self) -> bool:
        """True if a part of the scenario is a Python class, given or installed, or a WebAssembly module."""
        return json.loads(self._checked.plug_ins()) != [] or _has_plug_in(self._complete)

    @functools.cached_property
    def warnings(self) -> tuple[str, ...]:
        """Legal but usually mistaken settings, such as requests that offer a link more than its capacity."""
        return tuple(self._checked.warnings())

    @property
    def name(self) -> str:
        """The scenario's short name."""
        return str(self._complete["name"])

    @property
    def seed(self) -> int:
        """The default seed of a run."""
        return int(self._complete["seed"])

    @property
    def duration(self) -> str:
        """The simulated time of a run, with its unit."""
        return str(self._complete["duration"])

    @property
    def warm_up(self) -> str:
        """The start of a run that its summary leaves out, as simulated time with its unit."""
        return str(self._complete["warm_up"])

    @functools.cached_property
    def key(self) -> str:
        """The identity of this scenario's runs for any seed. It changes with the content and with the core's build."""
        document = {field: value for field, value in self._complete.items() if field not in {"seed", "description"}}
        text = json.dumps(_without_places(document), sort_keys=True) + _engine.identity()
        return hashlib.sha256(text.encode()).hexdigest()

    @functools.cached_property
    def _complete(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.canonical())
        return document

    def run(
        self,
        seed: int | None = None,
        *,
        probe: Probe | Mapping[str, object] | None = None,
        verify: str | None = None,
        monitor: Monitor | None = None,
        memory: str | None = None,
        tape: str | Path | None = None,
    ) -> Result:
        """Simulates the scenario. Other Python threads continue meanwhile. Ctrl-C stops it with KeyboardInterrupt.

        Each of the scenario's `warnings` becomes a `NetlullWarning`, and so does a run that is expected to need more
        than its memory limit.

        Args:
            seed: the seed of every random stream, 0 to 2^63 - 1; default the scenario's.
            probe: replaces the scenario's probe. A recording never changes the run.
            verify: replaces the scenario's check: "ledger", "replay" or "off".
            monitor: shows the simulated fraction to other threads, and lets them cancel.
            memory: the most memory of the run, such as "2 GB"; default a third of the free memory.
            tape: a file for the decisions of the plug-ins. `Scenario.from_file(..., replay=tape)` repeats the run
                without their code.

        Raises:
            ScenarioError: the seed, the probe or `verify` is invalid, or a plug-in has failed. The exception of a
                plug-in is its cause.
            InputError: `memory` is not a size.
            MemoryLimitError: the run needs more memory. The message names the largest queue or table.
            VerificationError: the run broke a conservation law: a bug in the simulator.
            Cancelled: `monitor.cancel()` was called.
        """
        options = _engine.run_options(seed, plain(probe, "probe"), verify)
        most = limit(memory)
        for warning in (*self.warnings, *excess(self._checked, most)):
            warnings.warn(warning, NetlullWarning, stacklevel=2)
        if self._tape is not None and seed not in {None, self._tape.seed}:
            raise _engine.ScenarioError(f"seed: is {seed}; expected {self._tape.seed}, that of the tape")
        record = None if tape is None else self._stamp(seed)
        raw = self._checked.run(*options, monitor, most, record)
        if tape is not None:
            with staged_file(Path(tape)) as stage, writing(stage):
                stage.write_text(raw.tape() or "", encoding="utf-8")
        return Result.from_raw(raw, self.warnings)

    def _stamp(self, seed: int | None) -> str:
        """The stamp of a run's tape."""
        return stamp(self._complete, self._checked, self.seed if seed is None else seed)

    def emulate(  # options of one run
        self,
        seed: int | None = None,
        *,
        probe: Probe | Mapping[str, object] | None = None,
        max_lateness: str | None = None,
        tapes: str | Path | None = None,
        capture: str | Path | None = None,
        attach: Mapping[str, str] | None = None,
        progress: Callable[[float], None] | None = None,
        program: str | Path | None = None,
    ) -> Result:
        """Emulates the scenario in real time, with the TCP of this machine's kernel.

        It takes the scenario's duration. Ctrl-C ends the emulation and removes its namespaces and devices. Each of the
        scenario's `warnings` becomes a `NetlullWarning`.

        Args:
            seed: the seed of every random stream, 0 to 2^63 - 1; default the scenario's.
            probe: replaces the scenario's probe.
            max_lateness: the limit for the lateness of 99 % of the packets, such as "1 ms"; default netlulld's.
            tapes: a folder for a recording of each machine's events and decisions.
            capture: a file for every packet that a host sends or receives, as pcapng with an interface per host, or as
                classic pcap if its name ends in `.pcap`.
            attach: existing network namespaces that replace nodes, by the nodes' names.
            progress: called about once a second with the finished share of the run, 0 to 1.
            program: netlulld; default see `netlull.emulation.find_program`.

        Raises:
            ScenarioError: the scenario, the seed or the probe is invalid, or cannot be emulated.
            EmulationError: there is no netlulld, or it cannot emulate this here: no namespaces, no TUN, an algorithm
                that the kernel lacks.
            EmulationLate: packets were too late for a valid run.
        """
        options = emulation.options(max_lateness, tapes, capture, attach or {})
        checked = self._checked.with_options(*_engine.run_options(seed, plain(probe, "probe")))
        found = emulation.find_program(program)
        plan = checked.emulation_plan()
        for warning in self.warnings:
            warnings.warn(warning, NetlullWarning, stacklevel=2)
        outcome = emulation.emulate(plan, found, options, progress)
        return Result.from_raw(outcome.result(checked), self.warnings, outcome.account)

    def __eq__(self, other: object) -> bool:
        """True for equal canonical forms: equal scenarios have equal runs."""
        return isinstance(other, Scenario) and self.canonical() == other.canonical()

    def __hash__(self) -> int:
        """The hash of the canonical form."""
        return hash(self.canonical())

    def __repr__(self) -> str:
        """A short description."""
        complete = self._complete
        sizes = (f"{len(complete[part])} {part}s" for part in ("link", "flow"))
        return f"Scenario({self.name!r}, {complete['duration']}, {', '.join(sizes)})"


def _tape(path: Path) -> _engine.Tape:
    """The tape in a file.

    Raises:
        InputError: the file cannot be read, or is no tape.
    """
    try:
        return _engine.Tape(read_text(path))
    except _engine.ScenarioError as error:
        raise InputError(f"{path}: {error}") from None


def _has_plug_in(value: Any) -> bool:  # any value of a completed document
    if isinstance(value, dict):
        return value.get("kind") in ("python", "wasm") or any(map(_has_plug_in, value.values()))
    return isinstance(value, list) and any(map(_has_plug_in, value))


def _without_places(value: Any) -> Any:  # any value of a whole document
    """The value, in which modules have their digest only: their place does not change a run."""
    if isinstance(value, dict):
        is_located = value.get("kind") == "wasm" and "digest" in value
        return {key: _without_places(part) for key, part in value.items() if not (is_located and key == "module")}
    return [_without_places(part) for part in value] if isinstance(value, list) else value


def _changes(step: Mapping[str, object]) -> dict[str, Any]:
    """A step of changes as plain values by path."""
    for path in step:
        if not isinstance(path, str):
            raise FieldPathError(f"{path!r}: is not a path; expected text such as link.N1-N2.rate")
    return {path: plain(value, path) for path, value in step.items()}
