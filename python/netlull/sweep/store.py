"""The folder of a sweep: sweep.json (description), journal.jsonl (finished runs), results.parquet (at the end).

Runs live in the journal. The two other files derive from it and from the sweep, and are rewritten if damaged.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from netlull import _engine
from netlull.errors import FormatError, OutputError, ResultError, SweepError
from netlull.results import output
from netlull.sweep.description import (
    DESCRIPTION,
    ENERGY,
    JOURNAL,
    LOCK,
    TABLE,
    Description,
    check_ours,
    describe,
    read_checked,
    write_description,
)
from netlull.sweep.journal import Contents, Journal, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from netlull.runs.team import Finished

__all__ = ["DESCRIPTION", "TABLE", "Store"]


@dataclass(frozen=True, slots=True)
class Kept:
    """A run in the store."""

    summary: dict[str, Any]
    cpu_s: float | None
    """The CPU time of the run in s; None in a journal without it."""


class Store:
    """Finished runs of a sweep on disk, held by one process at a time."""

    def __init__(self, folder: Path, journal: Journal, contents: Contents, written: Description) -> None:
        self._folder = folder
        self._journal = journal
        self._contents = contents
        self._lent: list[Contents] = []
        self._description = written.document
        self.damaged = contents.damaged
        """The damage to lines of the journal. Their runs are unknown."""
        self.rebuilt = written.damaged
        """The damage to the other files, which are rewritten."""
        self._unused = [_of_another_engine(DESCRIPTION, written.engine)] if contents.lines else []

    @classmethod
    @contextlib.contextmanager
    def open(cls, folder: Path, description: Mapping[str, Any]) -> Iterator[Store]:
        """Creates the folder or resumes from it.

        Raises:
            OutputError: it cannot be written, or holds other files.
            SweepError: another process is writing to it.
        """
        with output.writing(folder):
            output.refuse_working_folder(folder)
        with output.made_folder(folder, folder):
            with output.writing(folder):
                check_ours(folder)
                is_new = not any(folder.iterdir())
            with _locked(folder):
                written = describe(folder, description)
                try:
                    journal, contents = Journal.open(folder / JOURNAL)
                except OSError as error:
                    raise OutputError(f"{folder / JOURNAL}: cannot be used: {error.strerror or error}") from None
                try:
                    yield cls(folder, journal, contents, written)
                except BaseException:
                    if is_new:
                        _forget(folder)
                    raise
                finally:
                    with output.writing(folder / JOURNAL):
                        journal.close()

    def mended(self) -> list[str]:
        """The damage in words and its repair, and the stores whose runs another engine made."""
        repeated = [f"{what}; its run is repeated" for what in self.damaged]
        rewritten = [f"{what}; it is rewritten" for what in self.rebuilt]
        return [*repeated, *rewritten, *filter(None, self._unused)]

    def borrow(self, folder: Path) -> None:
        """Also takes runs from the journal of another store, if it has one. They stay there.

        Raises:
            FormatError: the store has another format.
            OutputError: the journal cannot be read.
        """
        try:
            self._lent.append(read(folder / JOURNAL))
            engine = read_checked(folder).get("engine")
        except FormatError as error:
            raise FormatError(f"{folder}/{error}") from None
        except (FileNotFoundError, ResultError):
            # Its journal alone decides.
            return
        except OSError as error:
            raise OutputError(f"{folder / JOURNAL}: cannot be used: {error.strerror or error}") from None
        if self._lent[-1].lines:
            self._unused.append(_of_another_engine(folder / DESCRIPTION, engine))

    def kept(self, key: str) -> Kept | None:
        """The record of a run that was in the store when it was opened, or is borrowed; else None."""
        for contents in (self._contents, *self._lent):
            if key in contents.lines:
                record = contents.record(key)
                return Kept(record["summary"], record.get("cpu_s"))
        return None

    def record(self, run: Finished) -> None:
        """Keeps a finished run.

        Raises:
            OutputError: it cannot be written, for example on a full disk.
        """
        # Joined as text: parsing and rewriting a summary would take longer than a short run.
        record = f'{{"key":"{run.job.key}","seed":{run.job.seed},"cpu_s":{run.cpu_s:.6f},"summary":{run.summary}}}'
        with output.writing(self._folder / JOURNAL):
            self._journal.append(record.encode())

    def write_tables(
        self, table: pa.Table, energy: pa.Table, unmet: Sequence[str] = (), constant: Sequence[str] = ()
    ) -> None:
        """Writes results.parquet and energy.parquet, and their checksums into sweep.json.

        Equal tables give equal bytes.

        Raises:
            OutputError: they cannot be written, for example on a full disk; the earlier files stay.
        """
        files = {name: self._written(name, content) for name, content in ((TABLE, table), (ENERGY, energy))}
        last = {"unmet": list(unmet), "constant": list(constant), "files": files}
        write_description(self._folder, {**self._description, **last})

    def _written(self, name: str, table: pa.Table) -> dict[str, object]:
        """Writes a table; returns its size and checksum."""
        import pyarrow.parquet as pq

        path = self._folder / name
        with output.staged_file(path) as stage:
            pq.write_table(table, stage, compression="zstd")
            return output.file_record(stage)


def _of_another_engine(where: object, engine: str | None) -> str | None:
    """The note on a store whose runs are not used: runs of different engines need not be equal."""
    ours = _engine.identity()
    if engine in {None, ours}:
        return None
    return f"{where}: is of the engine {engine}; this is {ours}, which repeats all runs and keeps those in {JOURNAL}"


def _forget(folder: Path) -> None:
    """Removes the files of a sweep that has no finished run."""
    with contextlib.suppress(OSError):
        if (folder / JOURNAL).stat().st_size == 0:
            for name in (JOURNAL, DESCRIPTION):
                (folder / name).unlink()


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Holds the folder. The lock ends with the process, however it ends."""
    file = folder / LOCK
    lock = FileLock(file, blocking=False)
    with output.writing(file):
        try:
            lock.acquire()
        except Timeout:
            raise SweepError(f"{folder}: another sweep is writing to it; expected that sweep to end first") from None
    try:
        yield
    finally:
        # Removed while it is held: a later owner never loses its file. Windows keeps an open file.
        with contextlib.suppress(OSError):
            file.unlink()
        lock.release()
