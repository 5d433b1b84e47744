"""The journal of every request that was learnt after the snapshot, so that a kill loses none.

    8 bytes        okjrnl1 and a line feed
    records        one after another, little-endian:
        4 bytes    length of the body
        4 bytes    CRC-32 of what follows
        8 bytes    sequence number
        1 byte     L: a request that was learnt; S: a snapshot
        body       of L the body of the request, of S the model file's SHA-256, 64 letters

A snapshot of the model holds the requests up to its record's number. The checksum of a model file
tells which snapshot it is: so the two files agree whenever the process is killed, though they
cannot be replaced at the same moment.
"""

from __future__ import annotations

import os
import struct
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import BinaryIO, NamedTuple

from onlinekern.fitted.save.atomic import replacing

MAGIC = b"okjrnl1\n"
LEARNT, SNAPSHOT = b"L", b"S"
FRAME, HEAD = struct.Struct("<II"), struct.Struct("<Qc")
# Seconds between two syncs of "interval".
SYNC_SECONDS = 1.0
CHUNK = 1 << 20
# The times of the file are left out where the system can do so (macOS cannot).
force = getattr(os, "fdatasync", os.fsync)


class Record(NamedTuple):
    """Entry of a journal; `stop` is the place in the file where it ends."""

    sequence: int
    kind: bytes
    body: bytes
    stop: int


class Contents(NamedTuple):
    """Contents of a journal.

    Attributes
    ----------
    snapshots : dict of str to int
        Checksum of a model file -> sequence number up to which it has learnt.
    last : int
        The highest sequence number.
    stop : int
        Where the last whole record ends.
    n_bytes : int
        Length of the file: beyond `stop` is what no record is.
    """

    snapshots: dict[str, int]
    last: int
    stop: int
    n_bytes: int


def encoded(sequence: int, kind: bytes, body: bytes) -> bytes:
    """Return a record as bytes."""
    rest = HEAD.pack(sequence, kind) + body
    return FRAME.pack(len(body), zlib.crc32(rest)) + rest


def records(path: str) -> Iterator[Record]:
    """Yield the whole records of a journal, up to the first that is none."""
    with open(path, "rb") as stream:
        stop = len(MAGIC)
        stream.seek(stop)
        size = os.fstat(stream.fileno()).st_size
        while record := _next(stream, stop, size):
            yield record
            stop = record.stop


def _next(stream: BinaryIO, start: int, size: int) -> Record | None:
    frame = stream.read(FRAME.size)
    if len(frame) < FRAME.size:
        return None
    length, checksum = FRAME.unpack(frame)
    stop = start + FRAME.size + HEAD.size + length
    if stop > size:
        return None
    rest = stream.read(HEAD.size + length)
    if len(rest) < HEAD.size + length or zlib.crc32(rest) != checksum:
        return None
    sequence, kind = HEAD.unpack_from(rest)
    return Record(sequence, kind, rest[HEAD.size :], stop)


def contents_of(path: str) -> Contents:
    """Look through a journal; raise ValueError if the file is none or is damaged in its middle."""
    with open(path, "rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            raise ValueError(f"{path} is no journal of onlinekern serve")
        n_bytes = os.fstat(stream.fileno()).st_size
    snapshots: dict[str, int] = {}
    last, stop = 0, len(MAGIC)
    for record in records(path):
        if record.kind == SNAPSHOT:
            snapshots[record.body.decode("ascii")] = record.sequence
        last, stop = max(last, record.sequence), record.stop
    return Contents(snapshots, last, stop, n_bytes)


def is_torn(path: str, contents: Contents) -> bool:
    """Return whether a record that was being written follows the last whole one.

    It reaches beyond the end of the file, or is nothing but zeros, which a file system leaves after
    a loss of power. Anything else is damage of what had been written.
    """
    with open(path, "rb") as stream:
        stream.seek(contents.stop)
        frame = stream.read(FRAME.size)
        if len(frame) == FRAME.size:
            whole = FRAME.size + HEAD.size + FRAME.unpack(frame)[0]
            if contents.stop + whole > contents.n_bytes:
                return True
            stream.seek(contents.stop)
            return all(not any(chunk) for chunk in iter(lambda: stream.read(CHUNK), b""))
        return True


class Journal:
    """The journal of a server that is running.

    Parameters
    ----------
    path : str
        The file is there, and whole.
    sync : {'always', 'interval', 'off'}
        When what was written is forced to the disk: before `append` returns, once in a second, or
        when the system likes. A process that is killed loses nothing in any case.
    last : int
        The highest sequence number in it.

    Attributes
    ----------
    lock : threading.RLock
        Who appends and may take back holds it all the while.
    sequence : int
        The number of the last request.
    failure : str or None
        Why nothing can be appended any more, until `rotate` has made a new file.
    trouble : str or None
        Why the last `append` failed; the next one may succeed.
    """

    def __init__(self, path: str, sync: str, last: int) -> None:
        self.path, self.sync, self.sequence = path, sync, last
        self.lock = threading.RLock()
        self.failure: str | None = None
        self.trouble: str | None = None
        self._number = -1
        self._dirty: float | None = None
        self._open()

    @staticmethod
    def create(path: str, sequence: int, checksum: str, learnt: Sequence[bytes] = ()) -> None:
        """Write a new journal, which appears whole or not at all."""
        with replacing(path) as stream:
            stream.write(MAGIC + encoded(sequence, SNAPSHOT, checksum.encode("ascii")))
            for number, body in enumerate(learnt, sequence + 1):
                stream.write(encoded(number, LEARNT, body))

    def append(self, bodies: Sequence[bytes]) -> None:
        """Write requests under the next sequence numbers; raise OSError if nothing was written."""
        with self.lock:
            if self.failure is not None:
                raise OSError(5, self.failure, self.path)
            self._before = self.size, self.sequence
            numbers = range(self.sequence + 1, self.sequence + 1 + len(bodies))
            data = b"".join(map(encoded, numbers, [LEARNT] * len(bodies), bodies))
            try:
                self._write(data)
            except OSError as error:
                self.trouble = f"the journal could not be written: {error.strerror or error}"
                raise
            self.trouble = None
            self.sequence += len(bodies)

    def take_back(self) -> None:
        """Remove what the last `append` wrote: it was not learnt."""
        with self.lock:
            size, self.sequence = self._before
            self._cut(size)

    def note_snapshot(self, sequence: int, checksum: str) -> None:
        """Write that the model file of this checksum, which is about to appear, holds so much."""
        with self.lock:
            if self.failure is None:
                self._write(encoded(sequence, SNAPSHOT, checksum.encode("ascii")))
                os.fsync(self._number)

    def rotate(self, sequence: int, checksum: str) -> None:
        """Drop what the model file of this checksum holds."""
        with self.lock:
            left = [r.body for r in records(self.path)
                    if r.kind == LEARNT and sequence < r.sequence <= self.sequence]  # fmt: skip
            self.create(self.path, sequence, checksum, left)
            self._open()
            self.failure = None

    def sync_if_due(self) -> float | None:
        """Force to the disk what has waited for a second; return when there is more to do."""
        with self.lock:
            if self._dirty is None:
                return None
            left = self._dirty + SYNC_SECONDS - time.monotonic()
            if left > 0:
                return left
            self._dirty = None
            try:
                force(self._number)
            except OSError as error:
                self._fail(error)
            return None

    def close(self) -> None:
        """Force everything to the disk, and close the file."""
        with self.lock, suppress(OSError):
            os.fsync(self._number)
            os.close(self._number)

    def _open(self) -> None:
        before = self._number
        self._number = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        if before >= 0:
            os.close(before)
        self.size = os.fstat(self._number).st_size
        self._before = self.size, self.sequence
        self._dirty = None

    def _write(self, data: bytes) -> None:
        before, rest = self.size, memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._number, rest) :]
        except OSError:
            self._cut(before)
            raise
        try:
            self._sync()
        except OSError as error:
            # Nobody knows what the system has of the file now: only a new one will do.
            self._fail(error)
            self._cut(before)
            raise
        self.size = before + len(data)

    def _sync(self) -> None:
        if self.sync == "always":
            force(self._number)
        elif self.sync == "interval" and self._dirty is None:
            self._dirty = time.monotonic()

    def _cut(self, size: int) -> None:
        """Shorten the file, which a full disk allows too."""
        self.size = size
        try:
            os.ftruncate(self._number, size)
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self.failure = f"the journal cannot be written: {error.strerror or error}"
