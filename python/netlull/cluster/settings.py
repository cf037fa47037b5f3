"""What `--cluster-config FILE` may say of a site with a batch system: how many jobs, and what each is."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from netlull.errors import ClusterError
from netlull.fieldpath import read_toml
from netlull.quantities import in_unit
from netlull.textfiles import read_text

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Settings", "read_settings"]

WAIT_S = 900.0
"""How long a site's queue may take to start the first job, unless `wait` says otherwise."""

_OURS = ("jobs", "minimum_jobs", "maximum_jobs", "wait")
_NOT_FOR_USERS = {
    "self",
    "scheduler",
    "loop",
    "asynchronous",
    "silence_logs",
    "config_name",
    "n_workers",
    "job_cls",
} | {
    "security",
    "shared_temp_directory",
}


@dataclass(frozen=True)
class Settings:
    """How many jobs, and how long to wait for the first; `job` goes to dask-jobqueue as it is."""

    jobs: int | None = None
    minimum_jobs: int | None = None
    maximum_jobs: int | None = None
    wait_s: float = WAIT_S
    job: dict[str, Any] = field(default_factory=dict)

    @property
    def is_adaptive(self) -> bool:
        """Whether jobs come and go with the work."""
        return self.maximum_jobs is not None


def read_settings(path: Path | None, kinds: tuple[type, ...]) -> Settings:
    """The settings in a TOML file, for the classes of dask-jobqueue that will take them; without a file the defaults.

    Raises:
        InputError: the file cannot be read or is no TOML.
        ClusterError: a field is unknown, or is of another type.
    """
    if path is None:
        return Settings()
    document = read_toml(read_text(path), str(path))
    try:
        return _settings(document, kinds)
    except ClusterError as error:
        raise ClusterError(f"{path}: {error}") from None


def _settings(document: dict[str, Any], kinds: tuple[type, ...]) -> Settings:
    known = {name for kind in kinds for name in _arguments(kind)} - _NOT_FOR_USERS
    for name in document:
        if name not in known and name not in _OURS:
            raise ClusterError(f"{name}: is unknown; expected one of {', '.join([*_OURS, *sorted(known)])}")
    least = {"jobs": 1, "minimum_jobs": 0, "maximum_jobs": 1}
    numbers = {name: _count(document, name, at_least) for name, at_least in least.items() if name in document}
    if ("minimum_jobs" in numbers) != ("maximum_jobs" in numbers) or ("jobs" in numbers and len(numbers) > 1):
        raise ClusterError("jobs: expected either `jobs`, or `minimum_jobs` and `maximum_jobs`")
    if numbers.get("minimum_jobs", 0) > numbers.get("maximum_jobs", 0):
        raise ClusterError(
            f"maximum_jobs: {numbers['maximum_jobs']} is less than minimum_jobs; expected at least as many"
        )
    job = {name: value for name, value in document.items() if name not in _OURS}
    return Settings(**numbers, wait_s=_seconds(document.get("wait")), job=job)


def _arguments(kind: type) -> list[str]:
    """What a class takes, its base classes' included."""
    return [
        name
        for base in kind.__mro__
        if "__init__" in vars(base) and base is not object
        for name, parameter in inspect.signature(vars(base)["__init__"]).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD and parameter.kind is not parameter.VAR_POSITIONAL
    ]


def _count(document: dict[str, Any], name: str, at_least: int) -> int:
    value = document[name]
    if not isinstance(value, int) or isinstance(value, bool) or value < at_least:
        raise ClusterError(f"{name}: is {value!r}; expected a whole number, at least {at_least}")
    return value


def _seconds(value: Any) -> float:
    """`wait = "30 min"`."""
    if value is None:
        return WAIT_S
    seconds = in_unit(value, "s") if isinstance(value, str) else None
    if seconds is None or not 0 < seconds < math.inf:
        raise ClusterError(f'wait: is {value!r}; expected a time such as "30 min"')
    return seconds
