"""The compiled simulator core. Private: only `netlull._engine` imports it."""

from os import PathLike
from typing import final

import numpy as np
import numpy.typing as npt

__all__ = [
    "IS_CHECKED",
    "Cancelled",
    "Checked",
    "Given",
    "LinkEvent",
    "Lists",
    "MemoryLimitError",
    "Monitor",
    "Observation",
    "RawResult",
    "ScenarioError",
    "SegmentView",
    "Simulators",
    "StationEvent",
    "Tape",
    "TcpView",
    "VerificationError",
    "__version__",
    "catalogue",
    "device_watts",
    "module_bindings",
    "module_description",
    "parse_setting",
    "power_causes",
    "read_toml",
    "renames",
    "schema",
    "sleep_plan",
    "sleep_plans",
    "vocabulary",
]

__version__: str
IS_CHECKED: bool
"""True if this build has checks and is slower than a release."""

class ScenarioError(ValueError):
    field: str | None
    file: str | None
    line: int | None
    column: int | None

class MemoryLimitError(ScenarioError): ...
class VerificationError(RuntimeError): ...
class Cancelled(Exception): ...  # noqa: N818  # the request is no error

@final
class Checked:
    def __new__(
        cls,
        text: str,
        origin: str | None = None,
        changes: str | None = None,
        host: object = None,
        folder: str | PathLike[str] | None = None,
        tape: Tape | None = None,
    ) -> Checked: ...
    @staticmethod
    def restored(canonical: str, document: str, plug_ins: str) -> Checked: ...
    def document(self) -> str: ...
    def spelled_out(self) -> str: ...
    def plug_ins(self) -> str: ...
    @property
    def calls_python(self) -> bool: ...
    def canonical(self) -> str: ...
    def with_options(self, seed: int | None = None, probe: str | None = None, verify: str | None = None) -> Checked: ...
    def run(
        self,
        seed: int | None = None,
        probe: str | None = None,
        verify: str | None = None,
        monitor: Monitor | None = None,
        memory: int | None = None,
        stamp: str | None = None,
    ) -> RawResult: ...
    def trace(
        self,
        links: list[str],
        path: str,
        monitor: Monitor | None = None,
        memory: int | None = None,
        *,
        named: str | None = None,
    ) -> RawResult: ...
    def bound(self, request_json: str, times: list[int], sizes: list[int]) -> str: ...
    def emulation_plan(self) -> str: ...
    def emulation_result(self, outcome_json: str) -> RawResult: ...
    def warnings(self) -> list[str]: ...
    def offers(self) -> str: ...
    def expected_hops(self) -> float: ...
    def expected_memory(self) -> float: ...
    def measure(self, seed: int, monitor: Monitor, memory: int | None = None) -> str: ...
    def __reduce__(self) -> tuple[object, tuple[str, str, str]]: ...

@final
class Monitor:
    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def fraction(self) -> float: ...

@final
class Given:
    def canonical(self) -> str: ...

@final
class Lists:
    def sizes(self) -> tuple[int, int]: ...
    def links(self, start: int, stop: int) -> str: ...
    def flows(self, start: int, stop: int) -> str: ...

@final
class RawResult:
    def scenario(self) -> Given: ...
    def summary(self) -> str: ...
    def head(self) -> str: ...
    def lists(self) -> Lists: ...
    def tape(self) -> str | None: ...
    def tables(self) -> list[str]: ...
    def table(self, name: str) -> dict[str, npt.NDArray[np.generic]]: ...

@final
class Tape:
    def __new__(cls, text: str) -> Tape: ...
    @property
    def seed(self) -> int: ...
    def stamp(self) -> str: ...

@final
class SegmentView:
    flow: int
    kind: str
    end: int
    acknowledged: int
    data: bool
    fin: bool
    timestamps: tuple[int, int] | None

@final
class TcpView:
    connection: int
    kind: str
    fin: bool
    seq: int
    len: int
    acknowledged: int | None
    window: int
    timestamps: tuple[int, int] | None

@final
class Observation:
    now: float
    reason: str
    threshold: int | None
    reached: bool
    span: float
    rate: float
    queue_packets: int
    queue_bytes: int
    in_service_bytes: int
    arrived_packets: int
    arrived_bytes: int
    departed_packets: int
    departed_bytes: int
    dropped_packets: int
    dropped_bytes: int
    marked_packets: int
    marked_bytes: int
    utilisation: float
    round_trip: float | None
    flows: float | None

@final
class LinkEvent:
    kind: str
    size: int | None
    admission: str | None
    segment: SegmentView | None
    window: int | None

@final
class StationEvent:
    now: float
    kind: str
    size: int | None
    segment: TcpView | None
    more: bool

@final
class Simulators:
    def __new__(cls, checked: Checked, kind: str, options: str, count: int) -> Simulators: ...
    def shape(self) -> tuple[list[int], list[tuple[str, float]], list[str], int]: ...
    def reset(self, number: int, seed: int) -> None: ...
    def step(
        self, actions: npt.NDArray[np.int64], seeds: npt.NDArray[np.uint64]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.float64]]: ...
    def read(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64]]: ...
    def finish(self, number: int) -> RawResult: ...

def schema() -> str: ...
def renames() -> str: ...
def read_toml(text: str, origin: str) -> str: ...
def parse_setting(setting: str) -> tuple[str, str]: ...
def vocabulary() -> str: ...
def module_description(file: str) -> str: ...
def module_bindings() -> str: ...
def catalogue() -> str: ...
def sleep_plan(request_json: str) -> str: ...
def sleep_plans() -> str: ...
def power_causes() -> list[str]: ...
def device_watts(
    table: str,
    uses: str,
    states: npt.NDArray[np.uint8],
    bits: npt.NDArray[np.float64],
    packets: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
