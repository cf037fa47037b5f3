"""Errors of users outside a scenario's fields, which raise `netlull.ScenarioError`; suggestions for unknown names."""

from __future__ import annotations

import contextlib
import difflib
from pathlib import Path

from netlull.renames import hint

# As in `typing`, which takes long to load.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import PurePath

__all__ = [
    "NEEDS_CODE",
    "ClusterError",
    "EmulationError",
    "EmulationLate",
    "FieldPathError",
    "FormatError",
    "InputError",
    "MissingPackageError",
    "NetlullWarning",
    "OutputError",
    "ResultError",
    "SweepError",
    "check_format",
    "near",
    "near_file",
    "needs",
    "some",
]

NEEDS_CODE = "permission to run it (allow_code=True)"
"""The expectation of a class that may not be loaded. Commands put their option in its place."""


class InputError(ValueError):
    """Invalid input. The message names it, its value and the expected values."""

    field: str | None = None
    """The field of a document, as a path."""
    file: str | None = None
    """The file of the document, if the error has a place in it."""
    line: int | None = None
    """The line in the file, from 1."""
    column: int | None = None
    """The column in the line, from 1."""


class FieldPathError(InputError):
    """A path such as `link.N1-N2.rate` leads nowhere."""


class SweepError(InputError):
    """A sweep's description, or its store, is invalid."""


class ResultError(InputError):
    """A stored result is missing, truncated or damaged. The message names the file."""


class FormatError(ResultError):
    """A stored result has another format. Nothing of it is read."""


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


def check_format(where: object, document: Mapping[str, object], expected: int, then: str) -> None:
    """Refuses a stored document whose `format` has another number than the expected one.

    Args:
        where: the file, for the message.
        document: its content.
        expected: the number that this version reads.
        then: what the user can do.

    Raises:
        FormatError: the number is another one, or missing.
    """
    found = document.get("format")
    if found != expected or isinstance(found, bool):
        has = "no format" if found is None else f"the format {found}"
        version = document.get("version")
        by = f" (written by netlull {version})" if isinstance(version, str) else ""
        raise FormatError(f"{where}: has {has}{by}; expected the format {expected}: {then}")


class NetlullWarning(UserWarning):
    """A legal input that is usually a mistake, or a repaired one."""


_MOST_NAMED = 12
_LEAST_BEGINNING = 3
"""The letters that the beginning of a name has at least."""


def near(name: str, names: Iterable[str]) -> str:
    """`did you mean X, Y` if names are similar, else `expected one of ...`, shortened for many names.

    An old word has its new name before that.
    """
    known = list(names)
    renamed = hint(name, known)
    if renamed is not None:
        return f"{renamed}; expected one of {some(known)}"
    return _alike(name, known) or f"expected one of {some(known)}"


def near_file(path: str | PurePath, expected: str, names: Iterable[str] = ()) -> str:
    """`did you mean X, Y` if the folder has files of similar names, or `names` are similar, else `expected ...`."""
    folder, suffix = Path(path).parent, Path(path).suffix
    try:
        known = [str(file) for file in folder.iterdir() if file.suffix == suffix and file.is_file()]
    except OSError:
        known = []
    return _alike(str(path), [*names, *sorted(known)]) or f"expected {expected}"


def _alike(name: str, known: Collection[str]) -> str:
    """The names that begin with `name`, or else those most like it, as a question; empty if there are none."""
    begun = [other for other in known if other.startswith(name)][:3] if len(name) >= _LEAST_BEGINNING else []
    alike = begun or difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    return f"did you mean {' or '.join(alike)}?" if alike else ""


def some(names: Iterable[str]) -> str:
    """Lists names for a message; of many the first ones, and the number of the others."""
    known = list(names)
    more = len(known) - _MOST_NAMED
    listed = ", ".join(known[:_MOST_NAMED]) or "none"
    return f"{listed} and {more} more" if more > 0 else listed
