"""Contents of `--cluster-config FILE` for a site with a batch system: the number and form of its jobs."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from netlull.documents.decode import Document, FieldError, decode
from netlull.documents.textfiles import read_text
from netlull.documents.tomltext import read_toml
from netlull.errors import ClusterError
from netlull.quantities import in_unit

__all__ = ["Settings", "read_settings"]

WAIT_S = 900.0
"""The longest wait for the first job in a site's queue, in seconds, unless `wait` sets another."""

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


class Settings(Document, frozen=True):
    """The number of jobs and the longest wait for the first. `job` goes to dask-jobqueue unchanged."""

    jobs: Annotated[int, Meta(ge=1)] | None = None
    minimum_jobs: Annotated[int, Meta(ge=0)] | None = None
    maximum_jobs: Annotated[int, Meta(ge=1)] | None = None
    wait: Annotated[str | None, Meta(extra={"expected": 'a time such as "30 min"'})] = None
    job: Mapping[str, Any] = {}

    def __post_init__(self) -> None:
        """Refuses two numbers of jobs, an invalid range and an invalid time."""
        ends = (self.minimum_jobs is None, self.maximum_jobs is None)
        if ends[0] != ends[1] or (self.jobs is not None and not all(ends)):
            raise FieldError("jobs", "expected either `jobs`, or both `minimum_jobs` and `maximum_jobs`")
        if (self.minimum_jobs or 0) > (self.maximum_jobs or 0):
            less = f"{self.maximum_jobs} is less than minimum_jobs; expected at least as many"
            raise FieldError("maximum_jobs", less)
        if not 0 < self.wait_s < math.inf:
            raise FieldError("wait", f'is "{self.wait}"; expected a time such as "30 min"')

    @property
    def wait_s(self) -> float:
        """The longest wait in seconds; NaN if `wait` is not a time."""
        if self.wait is None:
            return WAIT_S
        seconds = in_unit(self.wait, "s")
        return math.nan if seconds is None else seconds

    @property
    def is_adaptive(self) -> bool:
        """True if the number of jobs follows the work."""
        return self.maximum_jobs is not None


_OURS = tuple(name for name in Settings.__struct_fields__ if name != "job")


def read_settings(path: Path | None, kinds: tuple[type, ...]) -> Settings:
    """The settings in a TOML file for these classes of dask-jobqueue; the defaults without a file.

    Raises:
        InputError: the file cannot be read or is not TOML.
        ClusterError: a field is unknown or has the wrong type.
    """
    if path is None:
        return Settings()
    document = read_toml(read_text(path), str(path))
    known = {name for kind in kinds for name in _arguments(kind)} - _NOT_FOR_USERS
    for name in document:
        if name not in known and name not in _OURS:
            listed = ", ".join([*_OURS, *sorted(known)])
            raise ClusterError(f"{path}: {name}: is unknown; expected one of {listed}")
    ours = {name: value for name, value in document.items() if name in _OURS}
    job = {name: value for name, value in document.items() if name not in _OURS}
    try:
        return decode({**ours, "job": job}, Settings)
    except FieldError as error:
        raise ClusterError(f"{path}: {error}") from None


def _arguments(kind: type) -> list[str]:
    """The parameters of a class and of its base classes."""
    return [
        name
        for base in kind.__mro__
        if "__init__" in vars(base) and base is not object
        for name, parameter in inspect.signature(vars(base)["__init__"]).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD and parameter.kind is not parameter.VAR_POSITIONAL
    ]
