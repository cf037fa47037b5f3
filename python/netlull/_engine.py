"""The only door to the compiled core: JSON documents in, JSON and columns out."""

from __future__ import annotations

import functools
import hashlib
import json
import numbers
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netlull import _core
from netlull._core import (
    Cancelled,
    Checked,
    MemoryLimitError,
    Monitor,
    RawResult,
    ScenarioError,
    Simulators,
    Tape,
    VerificationError,
    __version__,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

__all__ = [
    "MAX_SEED",
    "Cancelled",
    "Checked",
    "MemoryLimitError",
    "Monitor",
    "RawResult",
    "ScenarioError",
    "Simulators",
    "Tape",
    "VerificationError",
    "__version__",
    "catalogue",
    "check_seed",
    "device_watts",
    "identity",
    "interruptible",
    "module_bindings",
    "module_description",
    "parse_setting",
    "read_toml",
    "renames",
    "run_options",
    "schema",
    "sleep_plan",
    "sleep_plans",
    "vocabulary",
]

MAX_SEED = 2**63 - 1
_LOOKS_S = 0.1


def read_toml(text: str, origin: str) -> dict[str, Any]:
    """The document in TOML text, as plain values.

    Raises:
        InputError: the text is not TOML, or has a date, or is nested too deeply; names `origin`, line and column.
    """
    loaded: dict[str, Any] = json.loads(_core.read_toml(text, origin))
    return loaded


def parse_setting(setting: str) -> tuple[str, Any]:
    """Splits `path=value`. A value in TOML syntax is parsed; any other value is text.

    Raises:
        InputError: there is no `=`, no path before it, the value is nested too deeply, or a number is not finite.
    """
    path, value = _core.parse_setting(setting)
    return path, json.loads(value)


def renames() -> list[dict[str, Any]]:
    """The words that have another name now, with `place`, `old`, `new`, `since` and `works`."""
    loaded: list[dict[str, Any]] = json.loads(_core.renames())
    return loaded


def schema() -> dict[str, Any]:
    """The JSON Schema of a scenario."""
    loaded: dict[str, Any] = json.loads(_core.schema())
    return loaded


def vocabulary() -> dict[str, Any]:
    """The JSON Schema of the events, observations and actions of plug-ins. Its version is "x-version"."""
    loaded: dict[str, Any] = json.loads(_core.vocabulary())
    return loaded


def module_description(file: str) -> dict[str, Any]:
    """The description of a WebAssembly module, its digest and the limits of modules.

    Raises:
        ScenarioError: it is not a module for netlull.
    """
    loaded: dict[str, Any] = json.loads(_core.module_description(file))
    return loaded


def module_bindings() -> dict[str, str]:
    """The bindings of modules by file name, and the tables of the interface as "tables"."""
    loaded: dict[str, str] = json.loads(_core.module_bindings())
    return loaded


def catalogue() -> dict[str, list[dict[str, Any]]]:
    """The mechanisms, TCPs and power models of the core, with their parameters and sources."""
    loaded: dict[str, list[dict[str, Any]]] = json.loads(_core.catalogue())
    return loaded


def sleep_plans() -> list[dict[str, Any]]:
    """The kinds of sleep plans, in the order of the documentation.

    Returns:
        A dict per kind: "name", "description", "source" and "parameters" as in `catalogue`; "required" (names of
        parameters); "reads_traffic"; "rank", the quantity that orders the links ("name" and "unit").
    """
    loaded: list[dict[str, Any]] = json.loads(_core.sleep_plans())
    return loaded


def device_watts(
    table: Mapping[str, object],
    uses: Sequence[Mapping[str, object]],
    states: npt.NDArray[np.uint8],
    bits: npt.NDArray[np.float64],
    packets: npt.NDArray[np.float64] | None = None,
) -> tuple[dict[str, npt.NDArray[np.float64]], npt.NDArray[np.float64]]:
    """The power of a device over time, by cause and by port. The GIL is released meanwhile.

    A port is charged half of its bits and packets in and out, as a forwarded one enters a port and leaves another.

    Args:
        table: the device, as in [[power]] of a scenario.
        uses: its ports in use: "speed" and, unless it is that of the device's port, "transceiver": a name, or
            {"in": "1.2 W", "up": "0 W"}.
        states: ports x times: 0 down, 1 up, 2 asleep.
        bits: ports x 2 x times: bit/s in and out.
        packets: ports x 2 x times: packets/s in and out; default none.

    Returns:
        The watts by cause, an array over the times for each; their sum is the device at the wall. And ports x times:
        the watts of each port with its transceiver and traffic, before the power supplies.

    Raises:
        ScenarioError: the message names the field, its value and the expected values.
    """
    packets = 0.0 * bits if packets is None else packets
    texts = json.dumps(dict(table)), json.dumps([dict(use) for use in uses])
    causes, ports = _core.device_watts(*texts, states, bits, packets)
    return dict(zip(_core.power_causes(), causes, strict=True)), ports


def sleep_plan(request: Mapping[str, object]) -> dict[str, Any]:
    """The links of a graph that a plan puts to sleep. The GIL is released meanwhile.

    Args:
        request: "nodes" (their number), "links" ([[0, 1], ...]) and "plan" ({"kind": "estop", "threshold": 0.7}). A
            plan that reads the traffic also takes "capacities_bps", "weights" and "demands" ([[from, to, bps], ...]).
            The "names" of the nodes appear in messages.

    Returns:
        "initial_connectivity", "off" (link numbers) and "steps" (each with "link", "rank", "verdict", "connectivity").

    Raises:
        ScenarioError: the message names the field, its value and the expected values.
    """
    loaded: dict[str, Any] = json.loads(interruptible(_core.sleep_plan, json.dumps(request)))
    return loaded


def interruptible(work: Callable[[str], str], request: str) -> str:
    """The result of `work` from a separate thread: Ctrl-C ends the wait and the command."""
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
    """The seed as a plain integer.

    Raises:
        ScenarioError: the seed is not a whole number from 0 to 2^63 - 1.
    """
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or not 0 <= int(seed) <= MAX_SEED:
        raise ScenarioError(f"{field}: {seed!r} is out of range; expected a whole number from 0 to {MAX_SEED}")
    return int(seed)


def run_options(
    seed: object = None, probe: dict[str, Any] | None = None, verify: str | None = None
) -> tuple[int | None, str | None, str | None]:
    """The options of one run, as `Checked.run` and `Checked.with_options` take them. None keeps the scenario's value.

    Raises:
        ScenarioError: the seed is out of range.
    """
    table = None if probe is None else json.dumps(probe)
    return None if seed is None else check_seed(seed), table, verify


@functools.cache
def identity() -> str:
    """Version and build of the core, such as `0.1.0+3f2a9c01d4e5`. Results of another build are not reused."""
    binary = Path(_core.__file__)
    return f"{__version__}+{hashlib.sha256(binary.read_bytes()).hexdigest()[:12]}"
