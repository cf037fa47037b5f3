"""Errors of users outside a scenario's fields, which raise `netlull.ScenarioError`."""

from __future__ import annotations

import contextlib

# As in `typing`, which takes long to load.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "ClusterError",
    "EmulationError",
    "EmulationLate",
    "FieldPathError",
    "InputError",
    "MissingPackageError",
    "NetlullWarning",
    "OutputError",
    "ResultError",
    "SweepError",
    "needs",
]


class InputError(ValueError):
    """Invalid input. The message names it, its value and the expected values."""


class FieldPathError(InputError):
    """A path such as `link.N1-N2.rate` leads nowhere."""


class SweepError(InputError):
    """A sweep's description, or its store, is invalid."""


class ResultError(InputError):
    """A stored result is missing, truncated or damaged. The message names the file."""


class OutputError(InputError):
    """The results cannot be written to the requested place."""


class ClusterError(InputError):
    """A cluster, or a result from it, is unreachable or unusable. Finished runs are in the store."""


class EmulationError(InputError):
    """A scenario cannot be emulated here. The message names the missing part."""


class EmulationLate(EmulationError):  # noqa: N818  # the name says enough
    """An emulation was too late to be valid. There is no result."""

    def __init__(self, message: str, *, p99_s: float, limit_s: float) -> None:
        super().__init__(message)
        self.p99_s = p99_s
        """The lateness that 99 % of packets did not exceed, in seconds."""
        self.limit_s = limit_s
        """The limit of that lateness, in seconds."""


class MissingPackageError(InputError):
    """A package that netlull does not always need is not installed; the message names the extra that has it."""


@contextlib.contextmanager
def needs(extra: str) -> Iterator[None]:
    """Wraps the import of a package that comes with an extra of netlull, such as `statistics`.

    Raises:
        MissingPackageError: the package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingPackageError(f"needs {error.name}: pip install 'netlull[{extra}]'") from None


class NetlullWarning(UserWarning):
    """A legal input that is usually a mistake, or a repaired one."""
