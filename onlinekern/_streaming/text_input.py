"""Files and standard input whose beginning is looked at before they are read."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar

from onlinekern._streaming.readers import (
    BYTE_ORDER_MARK,
    CHUNK_BYTES,
    LONGEST_LINE,
    StreamError,
    name_of,
    open_binary,
)

# An Arrow stream begins with this in place of a length.
ARROW_STREAM = b"\xff\xff\xff\xff"


class TextInput:
    """A file, or standard input, which is read only once.

    Parameters
    ----------
    path : str or path
        File name, or "-".
    """

    # Of standard input, what has been read of it, and the rest.
    _begun: ClassVar[tuple[Any, bytes, Any, ExitStack] | None] = None

    def __init__(self, path: Any) -> None:
        self.path, self.name = path, name_of(path)

    def head(self) -> bytes:
        """The first bytes: whole lines, or all there is."""
        if str(self.path) == "-":
            head = self._standard_input()[0]
        else:
            with open_binary(self.path) as (handle, _):
                head = self._first(handle)
        whole = head.rfind(b"\n") + 1
        return head[:whole] if whole else head

    def looks_like(self) -> str:
        """The format, by the first bytes: "arrow", "jsonl" or "csv"."""
        head = self.head()
        if head.startswith(ARROW_STREAM):
            return "arrow"
        return "jsonl" if head.lstrip().startswith(b"{") else "csv"

    @contextmanager
    def open(self) -> Iterator[Any]:
        """A binary stream from the beginning. Of standard input only one is ever given."""
        if str(self.path) != "-":
            with open_binary(self.path) as (handle, _):
                yield handle
            return
        head, handle, stack = self._standard_input()
        TextInput._begun = None
        with stack:
            yield io.BufferedReader(Rejoined(head, handle), CHUNK_BYTES)

    def _standard_input(self) -> tuple[bytes, Any, ExitStack]:
        import sys

        if TextInput._begun is None or TextInput._begun[0] is not sys.stdin:
            stack = ExitStack()
            handle, _ = stack.enter_context(open_binary("-"))
            TextInput._begun = sys.stdin, self._first(handle), handle, stack
        return TextInput._begun[1:]

    def _first(self, handle: Any) -> bytes:
        pieces, held = [], 0
        while piece := handle.read(CHUNK_BYTES):
            pieces.append(piece)
            held += len(piece)
            if b"\n" in piece:
                break
            if held > LONGEST_LINE:
                raise StreamError(f"{self.name}, line 1: longer than {LONGEST_LINE >> 20} MiB")
        return b"".join(pieces).removeprefix(BYTE_ORDER_MARK)


class Rejoined(io.RawIOBase):
    """Bytes that have been read, and the stream they came from."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head, self._rest = memoryview(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not len(self._head):
            return int(self._rest.readinto(buffer))
        count = min(len(buffer), len(self._head))
        buffer[:count] = self._head[:count]
        self._head = self._head[count:]
        return count
