"""netlull: a packet-level simulator of energy-saving networks under TCP.

Build or load a `Scenario`, `run` it and read its `Result`. A `Sweep` runs a grid of scenarios and seeds. See
docs/how-to/python.md.
"""

from __future__ import annotations

from importlib import import_module

# Defined here: `typing` takes longer to load than everything else in this file.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from netlull import benchmark as benchmark
    from netlull import compare as compare
    from netlull import fleet as fleet
    from netlull import fluid as fluid
    from netlull import gym as gym
    from netlull import papers as papers
    from netlull import plot as plot
    from netlull import report as report
    from netlull import stats as stats
    from netlull import sweep as sweep
    from netlull import topology as topology
    from netlull._engine import (
        Cancelled,
        MemoryLimitError,
        Monitor,
        ScenarioError,
        VerificationError,
        __version__,
        catalogue,
        device_watts,
        schema,
        vocabulary,
    )
    from netlull.bounds import Bounds, CausalBound, ClairvoyantBound, ControllerRun, ModelBounds, bound
    from netlull.builders import *
    from netlull.cluster import Cluster, open_cluster
    from netlull.errors import (
        ClusterError,
        EmulationError,
        EmulationLate,
        FieldPathError,
        InputError,
        NetlullWarning,
        OutputError,
        ResultError,
        SweepError,
    )
    from netlull.library import Site, all_sites, site
    from netlull.plugins.classes import (
        CongestionControl,
        Data,
        Duration,
        Rate,
        RateController,
        SleepPlan,
        StationPolicy,
        param,
    )
    from netlull.results.result import Result
    from netlull.scenario import Scenario
    from netlull.sweep import Axis, AxisPoint, Column, Design, Experiment, Point, Progress, Range, Sweep, SweepResult

__all__ = [
    "Axis",
    "AxisPoint",
    "Bounds",
    "Cancelled",
    "CausalBound",
    "ClairvoyantBound",
    "Cluster",
    "ClusterError",
    "Column",
    "CongestionControl",
    "ControllerRun",
    "Data",
    "Design",
    "Duration",
    "EmulationError",
    "EmulationLate",
    "Experiment",
    "FieldPathError",
    "InputError",
    "MemoryLimitError",
    "ModelBounds",
    "Monitor",
    "NetlullWarning",
    "OutputError",
    "Point",
    "Progress",
    "Range",
    "Rate",
    "RateController",
    "Result",
    "ResultError",
    "Scenario",
    "ScenarioError",
    "Site",
    "SleepPlan",
    "StationPolicy",
    "Sweep",
    "SweepError",
    "SweepResult",
    "VerificationError",
    "__version__",
    "all_sites",
    "bound",
    "catalogue",
    "device_watts",
    "open_cluster",
    "param",
    "schema",
    "site",
    "vocabulary",
]
# builders: written by tools/generate.py
__all__ += [
    "Access",
    "AccessPoint",
    "Aggregation",
    "Air",
    "Awm",
    "AwmEarth",
    "Bernoulli",
    "Bsd",
    "Bursts",
    "CEarth",
    "CampusSize",
    "Cbr",
    "ClientShaper",
    "Codel",
    "DropTail",
    "Eager",
    "Earth",
    "EmpiricalSize",
    "Esacon",
    "Estop",
    "ExponentialSize",
    "FixedSize",
    "Flooding",
    "GRouter",
    "GilbertElliott",
    "Late",
    "LineCard",
    "Link",
    "LoadAware",
    "LognormalComponent",
    "LognormalSize",
    "Lpi",
    "Lull",
    "Noise",
    "ParetoSize",
    "Phase",
    "Poisson",
    "Policer",
    "Port",
    "Power",
    "Practra",
    "Probe",
    "Psm",
    "Radio",
    "RateSteps",
    "Recording",
    "Red",
    "Replay",
    "Requests",
    "Routing",
    "Scripted",
    "ScriptedDrops",
    "Simultaneous",
    "Sleep",
    "Station",
    "Steps",
    "Supply",
    "Tcp",
    "TcpOptions",
    "Trace",
    "UniformRedraw",
    "VegasBounds",
    "WebSearchSize",
    "WriteSteps",
]
# end

_HOMES = {
    "netlull._engine": (
        "Cancelled MemoryLimitError Monitor ScenarioError VerificationError __version__ catalogue device_watts schema "
        "vocabulary"
    ),
    "netlull.bounds": "Bounds CausalBound ClairvoyantBound ControllerRun ModelBounds bound",
    "netlull.cluster": "Cluster open_cluster",
    "netlull.errors": (
        "ClusterError EmulationError EmulationLate FieldPathError InputError NetlullWarning OutputError ResultError "
        "SweepError"
    ),
    "netlull.plugins.classes": "CongestionControl Data Duration Rate RateController SleepPlan StationPolicy param",
    "netlull.results.result": "Result",
    "netlull.scenario": "Scenario",
    "netlull.library": "Site all_sites site",
    "netlull.sweep": "Axis AxisPoint Column Design Experiment Point Progress Range Sweep SweepResult",
}
# `import netlull.result` finds netlull/_earlier/result.py.
__path__.append(f"{__path__[0]}/_earlier")

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Loads a class, a function or a module at its first use: `netlull --help` does not load Arrow."""
    home = _HOME_OF.get(name, "netlull.builders" if name in __all__ else None)
    if home is None:
        return _module(name)
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def _module(name: str) -> ModuleType:
    """A public module of netlull, such as `netlull.topology`."""
    path = f"{__name__}.{name}"
    try:
        if not name.startswith("_"):
            return import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
    raise AttributeError(f"module 'netlull' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
