"""The compiled simulator core. Private: only `netlull._engine` imports it."""

from typing import final

import numpy as np
import numpy.typing as npt

__all__ = [
    "Cancelled",
    "Checked",
    "Monitor",
    "RawResult",
    "ScenarioError",
    "VerificationError",
    "__version__",
    "catalogue",
    "run",
    "schema",
    "sleep_plan",
    "trace",
]

__version__: str

class ScenarioError(ValueError): ...
class VerificationError(RuntimeError): ...
class Cancelled(Exception): ...  # noqa: N818  # the request is no error

@final
class Checked:
    def __new__(cls, scenario_json: str) -> Checked: ...
    def canonical(self) -> str: ...
    def warnings(self) -> list[str]: ...
    def expected_hops(self) -> float: ...
    def measure(self, seed: int, monitor: Monitor) -> str: ...
    def __reduce__(self) -> tuple[type[Checked], tuple[str]]: ...

@final
class Monitor:
    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def fraction(self) -> float: ...

@final
class RawResult:
    def summary(self) -> str: ...
    def tables(self) -> dict[str, dict[str, npt.NDArray[np.generic]]]: ...

def schema() -> str: ...
def catalogue() -> str: ...
def sleep_plan(request_json: str) -> str: ...
def run(scenario_json: str, seed: int | None = None, monitor: Monitor | None = None) -> RawResult: ...
def trace(
    scenario_json: str,
    links: list[str],
    path: str,
    seed: int | None = None,
    monitor: Monitor | None = None,
) -> RawResult: ...
