"""What users can get wrong outside a scenario's fields (those raise `netlull.ScenarioError`)."""

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
    """Something given to netlull cannot be used; the message names it and says what was expected."""


class FieldPathError(InputError):
    """A path such as `link.N1-N2.rate` leads nowhere."""


class SweepError(InputError):
    """A sweep's description, or the store it resumes from, cannot be used."""


class ResultError(InputError):
    """A stored result is missing, truncated or damaged; the message names the file."""


class OutputError(InputError):
    """Results cannot be written where they were asked for."""


class ClusterError(InputError):
    """A cluster cannot be reached or used, or what runs there cannot be used; finished runs are in the store."""


class EmulationError(InputError):
    """A scenario cannot be emulated here; the message names what is missing."""


class EmulationLate(EmulationError):  # noqa: N818  # what it was
    """An emulation was too late for its result to be trusted; there is none."""

    def __init__(self, message: str, *, p99_s: float, limit_s: float) -> None:
        super().__init__(message)
        self.p99_s = p99_s
        """How late 99 of 100 packets were at most."""
        self.limit_s = limit_s
        """How late they might have been."""


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
    """Something that may be meant, but usually is not, or that was mended."""
