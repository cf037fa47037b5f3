"""The only door to the compiled core: documents go in as JSON, results come out as JSON and columns."""

from __future__ import annotations

import functools
import hashlib
import json
import numbers
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netlull import _core
from netlull._core import Cancelled, Checked, Monitor, RawResult, ScenarioError, VerificationError, __version__
from netlull.fieldpath import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "MAX_SEED",
    "Cancelled",
    "Checked",
    "Monitor",
    "RawResult",
    "ScenarioError",
    "VerificationError",
    "__version__",
    "catalogue",
    "check",
    "check_seed",
    "core_schema",
    "emulation_plan",
    "emulation_result",
    "identity",
    "run",
    "sleep_plan",
    "trace",
]

MAX_SEED = 2**63 - 1
_LOOKS_S = 0.1


def check(document: Mapping[str, object]) -> Checked:
    """Validates a scenario document; what comes back can be run.

    Raises:
        ScenarioError: names the field, its value and what was expected.
    """
    return Checked(json.dumps(plain(document)))


def core_schema() -> dict[str, Any]:
    """The JSON Schema of the scenarios that the core reads: without `[topology]`."""
    loaded: dict[str, Any] = json.loads(_core.schema())
    return loaded


def catalogue() -> dict[str, list[dict[str, Any]]]:
    """The mechanisms, TCPs and power models that the core knows, with their parameters and sources."""
    loaded: dict[str, list[dict[str, Any]]] = json.loads(_core.catalogue())
    return loaded


def sleep_plan(request: Mapping[str, object]) -> dict[str, Any]:
    """Which links of a graph may sleep; the GIL is released meanwhile.

    Args:
        request: "nodes" (how many), "links" ([[0, 1], ...]), "plan" ({"kind": "estop", "threshold": 0.7}); for
            load_aware also "capacities_bps", "weights" and "demands" ([[from, to, bps], ...]); "names" of the nodes for
            messages.

    Returns:
        "initial_connectivity", "off" (numbers of links), "steps" (each with "link", "rank", "verdict", "connectivity").

    Raises:
        ScenarioError: names what cannot be used, its value and what was expected.
    """
    loaded: dict[str, Any] = json.loads(_interruptible(_core.sleep_plan, json.dumps(request)))
    return loaded


def _interruptible(work: Callable[[str], str], request: str) -> str:
    """What `work` makes of the request, in a thread of its own, so that Ctrl-C ends the wait and the command."""
    done: list[str] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work(request))
        except BaseException as error:  # raised again below
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LOOKS_S)
    if failed:
        raise failed[0]
    return done[0]


def check_seed(seed: object, field: str = "seed") -> int:
    """The seed, if the core can take it.

    Raises:
        ScenarioError: the seed is no whole number from 0 to 2^63 - 1.
    """
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or not 0 <= int(seed) <= MAX_SEED:
        raise ScenarioError(f"{field}: {seed!r} is out of range; expected a whole number from 0 to {MAX_SEED}")
    return int(seed)


def run(scenario_json: str, seed: int | None = None, monitor: Monitor | None = None) -> RawResult:
    """Simulates; the GIL is released meanwhile.

    Raises:
        ScenarioError: the scenario or the seed cannot be used.
        VerificationError: the run broke a conservation law (a bug in the simulator).
        Cancelled: `monitor.cancel()` was called.
    """
    return _core.run(scenario_json, None if seed is None else check_seed(seed), monitor)


def trace(
    scenario_json: str, links: Sequence[str], path: Path, seed: int | None = None, monitor: Monitor | None = None
) -> RawResult:
    """Simulates and writes the packets seen at `links` to `path` as pcapng; raises what `run` raises, and `OSError`."""
    return _core.trace(scenario_json, list(links), str(path), None if seed is None else check_seed(seed), monitor)


def emulation_plan(scenario_json: str) -> str:
    """What `netlulld` is to emulate, as JSON.

    Raises:
        ScenarioError: the scenario cannot be used, or cannot be emulated; says what can.
    """
    return _core.emulation_plan(scenario_json)


def emulation_result(scenario_json: str, outcome_json: str) -> RawResult:
    """What `netlulld` counted, as a run of the scenario.

    Raises:
        ScenarioError: the outcome is damaged, of another scenario or of another version.
    """
    return _core.emulation_result(scenario_json, outcome_json)


@functools.cache
def identity() -> str:
    """Version and build of the core, such as `0.1.0+3f2a9c01d4e5`: results of another build are not reused."""
    binary = Path(_core.__file__)
    return f"{__version__}+{hashlib.sha256(binary.read_bytes()).hexdigest()[:12]}"
