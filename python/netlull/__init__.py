"""netlull: a laboratory for energy-saving networking under TCP.

Build or load a `Scenario`, `run` it, look at the `Result`; or give a `Sweep` a grid and seeds.
See docs/how-to/python.md.
"""

from __future__ import annotations

from importlib import import_module

# As in `typing`, which takes longer to load than all else here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from netlull import compare as compare
    from netlull import fluid as fluid
    from netlull import paired as paired
    from netlull import papers as papers
    from netlull import plot as plot
    from netlull import report as report
    from netlull import stats as stats
    from netlull import sweep as sweep
    from netlull import topology as topology
    from netlull._engine import Cancelled, Monitor, ScenarioError, VerificationError, __version__, catalogue
    from netlull.cluster import Cluster, open_cluster
    from netlull.elements import (
        Awm,
        Bernoulli,
        Bursts,
        CampusSize,
        Cbr,
        CEarth,
        Codel,
        DropTail,
        Earth,
        EmpiricalSize,
        ExponentialSize,
        FixedSize,
        GilbertElliott,
        GRouter,
        Link,
        LognormalComponent,
        LognormalSize,
        Noise,
        ParetoSize,
        Phase,
        Poisson,
        Power,
        Practra,
        Probe,
        RateSteps,
        Recording,
        Red,
        Replay,
        Requests,
        Scripted,
        ScriptedDrops,
        Steps,
        Tcp,
        TcpOptions,
        UniformRedraw,
        VegasBounds,
        WebSearchSize,
    )
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
    from netlull.result import Result
    from netlull.routing import Esacon, Estop, Flooding, LoadAware, Routing, Simultaneous, Sleep
    from netlull.scenario import Scenario
    from netlull.sites import Site, all_sites, site
    from netlull.stations import AccessPoint, Bsd, ClientShaper, Eager, Psm, Radio, Station
    from netlull.sweep import Axis, AxisPoint, Column, Design, Experiment, Point, Progress, Range, Sweep, SweepResult
    from netlull.topology.schema import schema

__all__ = [
    "AccessPoint",
    "Awm",
    "Axis",
    "AxisPoint",
    "Bernoulli",
    "Bsd",
    "Bursts",
    "CEarth",
    "CampusSize",
    "Cancelled",
    "Cbr",
    "ClientShaper",
    "Cluster",
    "ClusterError",
    "Codel",
    "Column",
    "Design",
    "DropTail",
    "Eager",
    "Earth",
    "EmpiricalSize",
    "EmulationError",
    "EmulationLate",
    "Esacon",
    "Estop",
    "Experiment",
    "ExponentialSize",
    "FieldPathError",
    "FixedSize",
    "Flooding",
    "GRouter",
    "GilbertElliott",
    "InputError",
    "Link",
    "LoadAware",
    "LognormalComponent",
    "LognormalSize",
    "Monitor",
    "NetlullWarning",
    "Noise",
    "OutputError",
    "ParetoSize",
    "Phase",
    "Point",
    "Poisson",
    "Power",
    "Practra",
    "Probe",
    "Progress",
    "Psm",
    "Radio",
    "Range",
    "RateSteps",
    "Recording",
    "Red",
    "Replay",
    "Requests",
    "Result",
    "ResultError",
    "Routing",
    "Scenario",
    "ScenarioError",
    "Scripted",
    "ScriptedDrops",
    "Simultaneous",
    "Site",
    "Sleep",
    "Station",
    "Steps",
    "Sweep",
    "SweepError",
    "SweepResult",
    "Tcp",
    "TcpOptions",
    "UniformRedraw",
    "VegasBounds",
    "VerificationError",
    "WebSearchSize",
    "__version__",
    "all_sites",
    "catalogue",
    "open_cluster",
    "schema",
    "site",
]

_ELEMENTS = (
    "Awm Bernoulli Bursts CampusSize Cbr CEarth Codel DropTail EmpiricalSize ExponentialSize FixedSize "
    "GilbertElliott Earth GRouter Link LognormalComponent LognormalSize Noise ParetoSize Phase Poisson Power Practra "
    "Probe RateSteps Recording Red Replay Requests Scripted ScriptedDrops Steps Tcp TcpOptions UniformRedraw "
    "VegasBounds WebSearchSize"
)
_HOMES = {
    "netlull._engine": "Cancelled Monitor ScenarioError VerificationError __version__ catalogue",
    "netlull.cluster": "Cluster open_cluster",
    "netlull.elements": _ELEMENTS,
    "netlull.errors": (
        "ClusterError EmulationError EmulationLate FieldPathError InputError NetlullWarning OutputError ResultError "
        "SweepError"
    ),
    "netlull.result": "Result",
    "netlull.routing": "Esacon Estop Flooding LoadAware Routing Simultaneous Sleep",
    "netlull.scenario": "Scenario",
    "netlull.sites": "Site all_sites site",
    "netlull.stations": "AccessPoint Bsd ClientShaper Eager Psm Radio Station",
    "netlull.sweep": "Axis AxisPoint Column Design Experiment Point Progress Range Sweep SweepResult",
    "netlull.topology.schema": "schema",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Loads a class, a function or a module at its first use, so that `netlull --help` does not wait for Arrow."""
    home = _HOME_OF.get(name)
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
