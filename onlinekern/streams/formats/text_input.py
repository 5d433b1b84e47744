"""Files and standard input whose beginning is looked at before they are read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar

from onlinekern.streams.formats.libsvm import (
    BYTE_ORDER_MARK,
    CHUNK_BYTES,
    LONGEST_LINE,
    StreamError,
    name_of,
    open_binary,
)

# An Arrow stream begins with this in place of a length.
ARROW_STREAM = b"\xff\xff\xff\xff"


class Begun:
    """A stream of which the first bytes have been read, and are to be read again."""

    def __init__(self, handle: Any, name: str) -> None:
        self._handle, self._name = handle, name
        self.head, self._ended, self._given = b"", False, 0

    def extend(self, lines: int, least_bytes: int | None = None) -> None:
        """Read until the head has so many lines, or all there are up to `CHUNK_BYTES`; or until it
        has so many bytes that are no blanks."""
        while not self._ended:
            if least_bytes is not None and len(self.head.lstrip()) >= least_bytes:
                return
            enough = self.head.count(b"\n") >= lines
            if enough or (b"\n" in self.head and len(self.head) >= CHUNK_BYTES):
                return
            if len(self.head) > LONGEST_LINE:
                raise StreamError(f"{self._name}, line 1: longer than {LONGEST_LINE >> 20} MiB")
            piece = self._handle.read(CHUNK_BYTES)
            self._ended = not piece
            self.head = (self.head + piece).removeprefix(BYTE_ORDER_MARK)

    def lines(self) -> bytes:
        """The whole lines of the head, or all of it where there is no more."""
        whole = self.head.rfind(b"\n") + 1
        return self.head[:whole] if whole and not self._ended else self.head

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes: those of the head, then what comes."""
        if self._given == len(self.head):
            return bytes(self._handle.read(size))
        end = len(self.head) if size < 0 else min(len(self.head), self._given + size)
        piece = self.head[self._given : end]
        self._given = end
        return piece + self._handle.read() if size < 0 else piece

    # What pyarrow asks of a stream.
    closed = False

    def close(self) -> None:
        """It is closed where it was opened."""


class InFull:
    """A stream that gives as many bytes as are asked for, which formats with lengths rely on."""

    closed = False

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        """So many bytes; fewer at the end only."""
        pieces, held = [], 0
        while held < size and (piece := self._stream.read(size - held)):
            pieces.append(piece)
            held += len(piece)
        return b"".join(pieces) if size >= 0 else bytes(self._stream.read())

    def close(self) -> None:
        """It is closed where it was opened."""


class TextInput:
    """A file, or standard input, which is read only once.

    Parameters
    ----------
    path : str or path
        File name, or "-".
    """

    # Standard input, what has been read of it, and what closes it.
    _begun: ClassVar[tuple[Any, Begun, ExitStack] | None] = None

    def __init__(self, path: Any) -> None:
        self.path, self.name = path, name_of(path)

    def head(self, lines: int) -> bytes:
        """The first whole lines, so many at least if there are."""
        if str(self.path) == "-":
            begun, _ = self._standard_input()
            begun.extend(lines)
            return begun.lines()
        with open_binary(self.path) as (handle, name):
            begun = Begun(handle, name)
            begun.extend(lines)
            return begun.lines()

    def looks_like(self) -> str:
        """The format of standard input, by its first bytes: "arrow", "jsonl" or "csv"."""
        begun, _ = self._standard_input()
        # Of binary data a line may be without end.
        begun.extend(1, least_bytes=len(ARROW_STREAM))
        if begun.head.startswith(ARROW_STREAM):
            return "arrow"
        return "jsonl" if begun.head.lstrip().startswith(b"{") else "csv"

    @contextmanager
    def open(self) -> Iterator[Any]:
        """A binary stream from the beginning. Of standard input only one is ever given."""
        if str(self.path) != "-":
            with open_binary(self.path) as (handle, name):
                yield Begun(handle, name)
            return
        begun, stack = self._standard_input()
        TextInput._begun = None
        with stack:
            yield begun

    def _standard_input(self) -> tuple[Begun, ExitStack]:
        if TextInput._begun is None or TextInput._begun[0] is not sys.stdin:
            stack = ExitStack()
            handle, name = stack.enter_context(open_binary("-"))
            TextInput._begun = sys.stdin, Begun(handle, name), stack
        return TextInput._begun[1:]
