"""The files of a server: the snapshot, which is a model file, and the journal."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from onlinekern.evaluate.checkpoint import Period
from onlinekern.fitted.save import contents_of, load
from onlinekern.fitted.save.atomic import FileLock, remove_leftovers, replacing
from onlinekern.fitted.save.model_file import header_of
from onlinekern.serve import journal as journals
from onlinekern.serve.journal import Journal
from onlinekern.serve.refusal import Refusal
from onlinekern.serve.served import ServedModel

logger = logging.getLogger("onlinekern.serve")

# Seconds between two checks of a snapshot that is being written.
POLL = 0.1


@dataclass(frozen=True)
class Found:
    """Findings at the start.

    Attributes
    ----------
    source : str
        The file that was loaded.
    replayed : int
        Requests of the journal that were learnt again.
    refused : int
        Requests of the journal that the model refused: they were never acknowledged.
    dropped : int
        Bytes at the journal's end that are no whole record: never acknowledged either.
    """

    source: str
    replayed: int = 0
    refused: int = 0
    dropped: int = 0


def checksum_of(stream: Any) -> str:
    """Return the checksum that a model file says it has; `load` compares it with its contents."""
    return header_of(stream).metadata.get("sha256", "")


class Store:
    """The snapshot and the journal of one model that learns.

    Parameters
    ----------
    model : str
        The model file that is served as long as there is no snapshot.
    snapshot : str
        The model file that is written; the same one, usually.
    every : Period
        After how many samples or seconds.
    sync : str
        When the journal is forced to the disk.

    Raises
    ------
    ValueError
        If the model cannot learn, another server has the snapshot, or the journal is damaged or
        belongs to another model.
    OSError
        If a file cannot be read or written.
    """

    def __init__(self, model: str, snapshot: str, every: Period, sync: str) -> None:
        # The files lie beside the one that a link points to.
        self.path = os.path.realpath(snapshot)
        self.every = every
        self.journal_path = f"{self.path}.journal"
        advice = "--read-only serves it beside that one, and does not learn"
        self.lock = FileLock(f"{self.path}.lock", "another server", advice)
        try:
            for path in (self.path, self.journal_path):
                remove_leftovers(path)
            source = self.path if os.path.exists(self.path) else model
            self.found = Found(source)
            loaded, self.metadata = load(source, return_metadata=True)
            self.served = ServedModel(loaded, source)
            self.served.check_learns()
            self._check_origin(model, source)
            with open(source, "rb") as stream:
                self.snapshot_sequence = self._open(checksum_of(stream), sync)
        except BaseException:
            self.lock.release()
            raise
        self.snapshot_time: float | None = None
        if source == self.path:
            self.snapshot_time = os.stat(self.path).st_mtime
        self.snapshots = self.failures = 0
        self.failure: str | None = None
        self._samples, self._tried = 0, time.monotonic()
        self._writing: threading.Thread | None = None

    def _check_origin(self, model: str, source: str) -> None:
        """Note the model file from which a snapshot elsewhere begins; raise ValueError if it is
        another one now, which would never be served."""
        if os.path.realpath(model) == self.path or not os.path.exists(model):
            return
        with open(model, "rb") as stream:
            checksum = checksum_of(stream)
        origin = f"{self.path}.origin"
        if source == model:
            with replacing(origin) as stream:
                stream.write(f"{checksum}\n".encode())
        elif os.path.exists(origin):
            with open(origin, encoding="ascii") as text:
                if text.read().strip() != checksum:
                    raise ValueError(
                        f"{model} is not the file from which {self.path} has learnt: was it "
                        f"trained anew? Remove {self.path} and what lies beside it to begin with "
                        "it, or put the one before back"
                    )

    def _open(self, checksum: str, sync: str) -> int:
        """Open the journal, or begin one; return the number up to which the model has learnt."""
        path, last = self.journal_path, 0
        base: int | None = None
        if os.path.exists(path):
            contents = journals.contents_of(path)
            self._drop_tail(contents)
            last, base = contents.last, self._base(contents, checksum)
        if base is None:
            base = last
            Journal.create(path, last, checksum)
        self.journal = Journal(path, sync, last)
        return base

    def _drop_tail(self, contents: journals.Contents) -> None:
        """Cut off a last record that is not whole; raise ValueError if it is not a torn one."""
        dropped = contents.n_bytes - contents.stop
        if dropped == 0:
            return
        path = self.journal_path
        if not journals.is_torn(path, contents):
            raise ValueError(
                f"{path} is damaged at byte {contents.stop:,}, and {dropped:,} bytes follow, which "
                f"may hold samples that were acknowledged. To go on with the {contents.last:,} "
                f"requests up to there, copy it, then: truncate -s {contents.stop} {path}"
            )
        os.truncate(path, contents.stop)
        self.found = Found(self.found.source, dropped=dropped)

    def _base(self, contents: journals.Contents, checksum: str) -> int | None:
        """Return the sequence number of a model file; None if it is new, and nothing is lost."""
        if checksum in contents.snapshots:
            return contents.snapshots[checksum]
        # A snapshot that it names may never have come to be.
        if any(record.kind == journals.LEARNT for record in journals.records(self.journal_path)):
            raise ValueError(
                f"{self.journal_path} holds samples that were learnt after another state of "
                f"{self.found.source}: was the file replaced? Put the one before back, or remove "
                "the journal to give these samples up"
            )
        return None

    def replay(self, learn: Callable[[bytes], None]) -> None:
        """Learn what the journal has beyond the snapshot; `learn` may raise Refusal."""
        replayed = refused = 0
        for record in journals.records(self.journal_path):
            if record.kind != journals.LEARNT or record.sequence <= self.snapshot_sequence:
                continue
            try:
                learn(record.body)
            except Refusal as error:
                if error.status >= 500:
                    raise MemoryError(f"{self.journal_path}: {error.message}") from error
                # It was written, and the process was killed before the model had refused it.
                refused += 1
            else:
                replayed += 1
        self.found = Found(self.found.source, replayed, refused, self.found.dropped)

    def count(self, n_samples: int) -> None:
        """Take note that samples were learnt."""
        self._samples += n_samples

    def seconds_left(self) -> float | None:
        """Return how long `begin_snapshot` has nothing to do; None if that needs more samples."""
        if self._writing is not None and self._writing.is_alive():
            return POLL
        if self.journal.sequence <= self.snapshot_sequence:
            return None
        if self.every.samples is not None:
            return 0.0 if self._samples >= self.every.samples else None
        return max(0.0, self._tried + (self.every.seconds or 0.0) - time.monotonic())

    def begin_snapshot(self) -> None:
        """Begin to write a snapshot of the model as it is now; learning may go on meanwhile.

        No other thread may be teaching the model.
        """
        left = self.seconds_left()
        if left is None or left > 0:
            return
        with self._noting_failure():
            # It is copied between two requests: the number is that of this very state.
            arguments = self._contents(), self.journal.sequence
            self._writing = threading.Thread(target=self._write, args=arguments, name="snapshot")
            self._writing.start()

    def snapshot(self) -> None:
        """Write a snapshot now, and wait for it."""
        self._wait()
        if self.journal.sequence > self.snapshot_sequence or self.journal.failure is not None:
            with self._noting_failure():
                self._write(self._contents(), self.journal.sequence)

    def _contents(self) -> Any:
        """Return what a snapshot holds now: what was saved beside the model stays beside it."""
        return contents_of(self.served.model, self.metadata)

    def _wait(self) -> None:
        if self._writing is not None:
            self._writing.join()

    def _write(self, contents: Any, sequence: int) -> None:
        with self._noting_failure():
            memory = BytesIO()
            contents.write(memory)
            memory.seek(0)
            checksum = checksum_of(memory)
            # The journal notes the file before it appears, and drops old requests only afterwards.
            self.journal.note_snapshot(sequence, checksum)
            with replacing(self.path) as stream:
                stream.write(memory.getbuffer())
            self.snapshot_sequence, self.snapshot_time = sequence, time.time()
            self.snapshots += 1
            self.journal.rotate(sequence, checksum)
            self.failure = None

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        """Let serving go on if a snapshot fails; the next one is tried after the same interval."""
        self._samples, self._tried = 0, time.monotonic()
        try:
            yield
        except Exception as error:
            self.failures += 1
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            self.failure = f"the last snapshot failed: {reason}"
            logger.warning("%s: %s", self.path, self.failure)

    def close(self, save: bool = True) -> None:
        """Write a last snapshot if wanted, and give the files up."""
        try:
            self._wait()
            if save:
                self.snapshot()
        finally:
            self.journal.close()
            self.lock.release()
