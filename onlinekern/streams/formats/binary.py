"""Files and standard input as bytes: decompressed, inspected before reading, cut into lines."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import select
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, ClassVar

from onlinekern.streams.errors import StreamError, name_of
from onlinekern.streams.locations import as_location

CHUNK_BYTES = 4 << 20
# A line is held in memory. If it is searched for an error, its entries become objects, which take
# ten times the memory. A longer line belongs to a binary file, not to samples.
LONGEST_LINE = 64 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# An Arrow stream begins with these bytes instead of a length.
ARROW_STREAM = b"\xff\xff\xff\xff"
NAMED = "the ending of a name tells the format, or `format` does (in a command --format)"
NO_UTF_8 = "not UTF-8; iconv -f LATIN1 -t UTF-8 makes this of it, if it is Latin-1"
UTF_16 = "text of UTF-16, not of UTF-8: iconv -f UTF-16 -t UTF-8 makes this of it"
PICKLE = "a pickle, and no text: pandas.DataFrame.to_parquet writes a file that is read"
# A JSON array, which pandas and polars write by default.
ARRAY = (
    "an array of JSON: JSON lines, an object a line, are read, from files named .jsonl; "
    "to_json(name, orient='records', lines=True) of pandas writes them"
)
ARFF = (
    "ARFF: what follows its line @data is CSV without a header, which header=False reads (in a "
    "command --no-header)"
)
# First bytes of files that are not text -> the format, and the advice for the user.
NO_TEXT = {
    b"PAR1": f"a Parquet file, and no text; {NAMED}",
    b"ARROW1": f"an Arrow file, and no text; {NAMED}",
    b"PK\x03\x04": "an archive, as zip and Excel write them: unpack it, or save it as CSV; "
    "pandas.read_excel(name).to_csv(name, index=False) does so with .xlsx",
    b"\xd0\xcf\x11\xe0": "an old file of Excel (.xls): save it as CSV",
    b"Obj\x01": "an Avro file, and no text: save it as Parquet",
    b"\x93NUMPY": "an array of NumPy, and no text: np.savetxt writes CSV",
    b"\x80\x04": PICKLE,
    b"\x80\x05": PICKLE,
    b"\x89HDF": "an HDF5 file, and no text",
    b"SQLite format 3\x00": "an SQLite database, and no text",
    b"\xff\xfe": UTF_16,
    b"\xfe\xff": UTF_16,
}
# Beginnings of text in other formats; for ARFF, after its comments.
OTHER_TEXT = {
    re.compile(rb"(\s|%[^\n]*\n)*@relation[ \t]+[^,\s]", re.I): ARFF,
    re.compile(rb"\s*\[\s*\{"): ARRAY,
}


def open_zstandard(raw: Any, mode: str) -> Any:
    """Open a stream compressed by Zstandard, with Python from 3.14 on or with pyarrow."""
    found = of_python()
    if found is not None:
        return found.open(raw, mode)
    import pyarrow as pa

    return io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd"))


def of_python() -> Any:
    """Return Python's own module for Zstandard, or None."""
    try:
        return import_module("compression.zstd")
    except ImportError:
        return None


DECOMPRESSORS: dict[bytes, Any] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": open_zstandard,
}


def damages() -> tuple[type[Exception], ...]:
    """Return the errors for damaged compressed files, besides OSError without a number."""
    more = [] if (found := of_python()) is None else [found.ZstdError]
    return EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, *more


def check_text(head: bytes, name: str) -> None:
    """Raise StreamError if a file begins like binary data, or like text in another format."""
    found = [what for magic, what in NO_TEXT.items() if head.startswith(magic)]
    found += [what for begin, what in OTHER_TEXT.items() if begin.match(head)]
    if found:
        raise StreamError(f"{name}: {found[0]}")


@contextmanager
def open_binary(path: Any) -> Iterator[Any]:
    """Open a file for reading ("-" is standard input), and decompress it if necessary."""
    name = name_of(path)
    # Not where they are caught: a reader that is left in the middle may be thrown away within an
    # import, where another one fails.
    damaged = damages()
    if str(path) == "-":
        if sys.stdin is None:
            raise StreamError("standard input is closed")
        raw: Any = sys.stdin.buffer
        raw = raw if hasattr(raw, "peek") else io.BufferedReader(raw)
    else:
        raw = as_location(path).open()
    try:
        head = raw.peek(6)
        unpack: Any = next(
            (f for magic, f in DECOMPRESSORS.items() if head.startswith(magic)), None
        )
        try:
            handle: Any = unpack(raw, "rb") if unpack else raw
        except ModuleNotFoundError:
            raise StreamError(
                f"{name}: packed by Zstandard, which Python unpacks from 3.14 on, and pyarrow (pip "
                "install 'onlinekern[cli]'); so does zstd -d"
            ) from None
        yield (PipeReader(handle, raw) if str(path) == "-" else handle), name
    except damaged as error:
        raise StreamError(f"{name}: damaged compressed file ({error})") from error
    except OSError as error:
        if error.errno is None:  # bz2 and pyarrow report damaged data this way
            raise StreamError(f"{name}: damaged compressed file ({error})") from error
        raise
    finally:
        if str(path) != "-":
            raw.close()


class PipeReader:
    """A pipe from which bytes are read as soon as they arrive, without waiting for a full buffer.

    Parameters
    ----------
    handle : binary stream
        The stream to read.
    raw : binary stream
        The stream below it, which may be compressed.
    """

    def __init__(self, handle: Any, raw: Any) -> None:
        self._handle, self._raw = handle, raw

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes; an empty result means the end."""
        if size < 0:
            return bytes(self._handle.read())
        pieces = [self._handle.read1(size)]
        held = len(pieces[0])
        while held < size and pieces[-1] and self._has_more():
            pieces.append(self._handle.read1(size - held))
            held += len(pieces[-1])
        return b"".join(pieces)

    def _has_more(self) -> bool:
        try:
            return bool(select.select([self._raw], [], [], 0)[0])
        except (OSError, ValueError):  # one that select cannot wait for
            return True


def line_chunks(handle: Any, name: str) -> Iterator[tuple[int, bytes]]:
    """Yield (number of the first line, bytes of whole lines), about ``CHUNK_BYTES`` at a time."""
    pieces: list[bytes] = []
    held, line = 0, 1
    while piece := handle.read(CHUNK_BYTES):
        if line == 1 and not pieces:
            check_text(piece, name)
            piece = piece.removeprefix(BYTE_ORDER_MARK)
        cut = piece.rfind(b"\n") + 1
        if not cut:
            pieces.append(piece)
            held += len(piece)
            if held > LONGEST_LINE:
                raise StreamError(f"{name}, line {line}: longer than {LONGEST_LINE >> 20} MiB")
            continue
        chunk = b"".join([*pieces, piece[:cut]])
        yield line, chunk
        line += chunk.count(b"\n")
        pieces, held = [piece[cut:]], len(piece) - cut
    if rest := b"".join(pieces):
        yield line, rest


class PeekedStream:
    """A stream whose first bytes have been read, and will be returned again."""

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
        """Return the whole lines of the head, or all of it if the stream has ended."""
        whole = self.head.rfind(b"\n") + 1
        return self.head[:whole] if whole and not self._ended else self.head

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes: first those of the head, then those of the stream."""
        if self._given == len(self.head):
            return bytes(self._handle.read(size))
        end = len(self.head) if size < 0 else min(len(self.head), self._given + size)
        piece = self.head[self._given : end]
        self._given = end
        return piece + self._handle.read() if size < 0 else piece

    # pyarrow requires this attribute.
    closed = False

    def close(self) -> None:
        """Do nothing: the stream is closed by the function that opened it."""


class FullReads:
    """A stream that returns exactly as many bytes as requested, which some formats rely on."""

    closed = False

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        """Return `size` bytes, or fewer only at the end."""
        pieces, held = [], 0
        while held < size and (piece := self._stream.read(size - held)):
            pieces.append(piece)
            held += len(piece)
        return b"".join(pieces) if size >= 0 else bytes(self._stream.read())

    def close(self) -> None:
        """Do nothing: the stream is closed by the function that opened it."""


class TextInput:
    """A file, or standard input, which can be read only once.

    Parameters
    ----------
    path : str or path
        File name, or "-".
    """

    # For standard input: the stream, the bytes read so far, and the function that closes it.
    _peeked: ClassVar[tuple[Any, PeekedStream, ExitStack] | None] = None

    def __init__(self, path: Any) -> None:
        self.path, self.name = path, name_of(path)

    def head(self, lines: int) -> bytes:
        """Return the first whole lines: at least `lines` of them, or all."""
        if str(self.path) == "-":
            begun, _ = self._standard_input()
            return self._first(begun, lines)
        with open_binary(self.path) as (handle, name):
            return self._first(PeekedStream(handle, name), lines)

    def _first(self, begun: PeekedStream, lines: int) -> bytes:
        begun.extend(lines)
        check_text(begun.head, self.name)
        return begun.lines()

    def looks_like(self) -> str:
        """Guess the format of standard input from its first bytes: "arrow", "jsonl" or "csv"."""
        begun, _ = self._standard_input()
        # A line of binary data may never end.
        begun.extend(1, least_bytes=len(ARROW_STREAM))
        if begun.head.startswith(ARROW_STREAM):
            return "arrow"
        return "jsonl" if begun.head.lstrip().startswith(b"{") else "csv"

    @contextmanager
    def open(self) -> Iterator[Any]:
        """Open a binary stream from the beginning. Standard input can be opened only once."""
        if str(self.path) != "-":
            with open_binary(self.path) as (handle, name):
                yield PeekedStream(handle, name)
            return
        begun, stack = self._standard_input()
        TextInput._peeked = None
        with stack:
            yield begun

    def _standard_input(self) -> tuple[PeekedStream, ExitStack]:
        if TextInput._peeked is None or TextInput._peeked[0] is not sys.stdin:
            stack = ExitStack()
            handle, name = stack.enter_context(open_binary("-"))
            TextInput._peeked = sys.stdin, PeekedStream(handle, name), stack
        return TextInput._peeked[1:]
