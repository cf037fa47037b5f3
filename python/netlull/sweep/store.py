"""The folder of a sweep: sweep.json (what it is), journal.jsonl (finished runs), results.parquet (at the end)."""

from __future__ import annotations

import contextlib
import fcntl
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netlull import output
from netlull.errors import OutputError, SweepError
from netlull.provenance import origin
from netlull.sweep.journal import Contents, Journal, is_foreign

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from netlull.sweep.execution import Finished

__all__ = ["DESCRIPTION", "TABLE", "Store"]

KIND = "netlull sweep"
DESCRIPTION = "sweep.json"
JOURNAL = "journal.jsonl"
TABLE = "results.parquet"


@dataclass(frozen=True, slots=True)
class Kept:
    """A run in the store."""

    summary: dict[str, Any]
    cpu_s: float | None
    """The CPU time that it took; None in a journal that does not say."""


class Store:
    """Finished runs of a sweep on disk, held by one process at a time."""

    def __init__(self, folder: Path, journal: Journal, contents: Contents) -> None:
        self._folder = folder
        self._journal = journal
        self._contents = contents
        self.damaged = contents.damaged
        """What was wrong with lines of the journal; their runs are not known."""

    @classmethod
    @contextlib.contextmanager
    def open(cls, folder: Path, description: Mapping[str, Any]) -> Iterator[Store]:
        """Makes the folder or resumes from it.

        Raises:
            OutputError: it cannot be written, or holds other files.
            SweepError: another process is writing to it.
        """
        try:
            output.refuse_working_folder(folder)
            folder.mkdir(parents=True, exist_ok=True)
            _check_ours(folder)
        except OSError as error:
            raise OutputError(f"{folder}: cannot be written: {error.strerror or error}") from None
        with _locked(folder):
            with output.staged_file(folder / DESCRIPTION) as stage:
                output.write_json(stage, {"format": 1, "kind": KIND, **origin(), **description})
            try:
                journal, contents = Journal.open(folder / JOURNAL)
            except OSError as error:
                raise OutputError(f"{folder / JOURNAL}: cannot be used: {error.strerror or error}") from None
            try:
                yield cls(folder, journal, contents)
            finally:
                journal.close()

    def kept(self, key: str) -> Kept | None:
        """What is known of a run that was finished when the store was opened; None if it was not."""
        if key not in self._contents.lines:
            return None
        record = self._contents.record(key)
        return Kept(record["summary"], record.get("cpu_s"))

    def record(self, run: Finished) -> None:
        """Keeps a finished run.

        Raises:
            OutputError: the disk is full, for example.
        """
        # Joined as text: to read a summary and write it again would take longer than a short run.
        record = f'{{"key":"{run.job.key}","seed":{run.job.seed},"cpu_s":{run.cpu_s:.6f},"summary":{run.summary}}}'
        try:
            self._journal.append(record.encode())
        except OSError as error:
            raise OutputError(f"{self._folder / JOURNAL}: cannot be written: {error.strerror or error}") from None

    def write_table(self, table: pa.Table) -> None:
        """Writes results.parquet; the same table gives the same bytes."""
        import pyarrow.parquet as pq

        with output.staged_file(self._folder / TABLE) as stage:
            pq.write_table(table, stage, compression="zstd")


def _check_ours(folder: Path) -> None:
    """Refuses a folder with files of somebody else, before anything in it is touched."""
    if not any(".partial-" not in path.name for path in folder.iterdir()):
        return
    expected = "expected a new folder or a sweep's"
    if not (folder / DESCRIPTION).exists():
        raise OutputError(f"{folder}: holds other files (no {DESCRIPTION}); {expected}")
    description = output.read_description(folder / DESCRIPTION)
    if description is None or description.get("kind") != KIND:
        raise OutputError(f"{folder}: holds files that no sweep wrote ({DESCRIPTION}); {expected}")
    if is_foreign(folder / JOURNAL):
        raise OutputError(f"{folder}: holds files that no sweep wrote ({JOURNAL}); {expected}")


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Holds the folder; the lock goes with the process, however it ends."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise SweepError(f"{folder}: another sweep is writing there; expected it to end first") from None
    try:
        yield
    finally:
        os.close(descriptor)
