"""The network that a command is given: a topology, a scenario or a run."""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netlull import library
from netlull.cli.inputs import load_scenario
from netlull.errors import InputError
from netlull.results.result import MANIFEST, Result
from netlull.topology import ReadOptions, Topology
from netlull.topology.find import find, shipped
from netlull.topology.loads import Loads, measured, offered
from netlull.topology.read import LARGEST_BYTES
from netlull.topology.state import topology_of_scenario

if TYPE_CHECKING:
    from netlull.topology import Topology

__all__ = ["loaded_network_of", "network_of", "reading_options", "topology_named"]

_READING: tuple[tuple[str, str], ...] = (
    ("format", "Format of the file: sndlib-native, sndlib-xml, graphml or toml; default by its content."),
    ("parallel", "Several links between two nodes: refuse, merge, or take opposite ones as one cable (reverse)."),
    ("pieces", "Pieces of a disconnected network: all or largest."),
    ("external", "Nodes of other networks in GraphML: drop or keep."),
    ("modules", "Use SNDlib's module capacities: missing (where none is installed), always or never."),
    ("unit", "Unit of SNDlib's capacities if the file names none; default Mb/s."),
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options for reading a topology file. The command gets them as `reading`."""

    @functools.wraps(command)
    def read(*arguments: Any, **options: Any) -> Any:
        taken = {name: options.pop(f"read_{name}") for name, _ in _READING}
        given: dict[str, object] = {name: value for name, value in taken.items() if value is not None}
        try:
            reading = ReadOptions.of(given)
        except InputError as error:
            raise InputError(f"--{error}") from None
        return command(*arguments, reading=reading, **options)

    for name, what in reversed(_READING):
        read = click.option(f"--{name}", f"read_{name}", metavar="WORD", help=what)(read)
    return read


def topology_named(name: str, reading: ReadOptions) -> Topology:
    """The topology of a file, a shipped one, or `topohub:GROUP/NAME`.

    Raises:
        InputError: there is no such topology, or it cannot be read.
    """
    return find(name, reading)


def network_of(name: str, settings: tuple[str, ...], reading: ReadOptions) -> Topology:
    """The network of a scenario, with `--set` applied, or of a topology.

    Raises:
        InputError: the network is missing or unreadable, or settings are given for a topology.
    """
    if _is_scenario(name):
        return topology_of_scenario(_canonical(name, settings))
    if settings:
        raise InputError(f"{name}: is a topology; expected a scenario for --set")
    return topology_named(name, reading)


def loaded_network_of(
    name: str, settings: tuple[str, ...], reading: ReadOptions, at_s: float | None, phase: str | None
) -> tuple[Topology, Loads]:
    """The network of a run, a scenario or a topology with its traffic: measured, offered, or of the file.

    Args:
        name: the folder of a run, a scenario or a topology.
        settings: changes of a scenario.
        reading: options for reading a topology.
        at_s: counts only a scenario's flows that are active at this time in s.
        phase: counts only this phase of a run.

    Raises:
        InputError: the network is missing or unreadable, or an option is for another kind of input.
    """
    is_run, is_scenario = Path(name, MANIFEST).is_file(), _is_scenario(name)
    for option, given, fits, kind in (
        ("--at", at_s is not None, is_scenario, "a scenario"),
        ("--phase", phase is not None, is_run, "the folder of a run"),
        ("--set", bool(settings), is_scenario, "a scenario"),
    ):
        if given and not fits:
            raise InputError(f"{option}: does not fit {name}; expected {kind}")
    if is_run:
        result = Result.load(name)
        loads = measured(result, phase)
        return topology_of_scenario(result.scenario, loads.demands), loads
    if is_scenario:
        document = _canonical(name, settings)
        loads = offered(document, at_s)
        return topology_of_scenario(document, loads.demands), loads
    topology = topology_named(name, reading)
    return topology, Loads(topology.demands, "of the file")


def _canonical(name: str, settings: tuple[str, ...]) -> dict[str, Any]:
    # The scenario's own plan does not count, and may be impossible.
    document: dict[str, Any] = json.loads(
        load_scenario(name, settings, None, without="sleep", plug_ins=False).canonical()
    )
    return document


def _is_scenario(name: str) -> bool:
    """True for a scenario file, and for the name of a shipped scenario without a file of that name."""
    path = Path(name)
    if not path.is_file():
        return name in library.shipped() and name not in shipped()
    if path.suffix != ".toml" or path.stat().st_size > LARGEST_BYTES:
        return False
    try:
        return "duration" in tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError, RecursionError):
        return False
