"""LIBSVM text, compressed files and standard input, as blocks of rows in bounded memory.

A reader's ``blocks()`` yields ``(X, y)`` pairs with finite float64 values: CSR with the file's
own feature indices for LIBSVM text, dense for tables. Whatever is wrong with the file becomes a
``StreamError`` that names the file and the line or row. Nothing here keeps more than one block.
"""

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
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from onlinekern.core.samples.text import parse_libsvm

CHUNK_BYTES = 4 << 20
# A line is held in memory, and when a fault is searched in it, its entries as objects, which take
# ten times as much. A longer one comes from a binary file, not from samples.
LONGEST_LINE = 64 << 20
# "1:2 ", on average more: indices ascend.
SHORTEST_ENTRY = 4
LARGEST_INDEX = np.iinfo(np.int32).max - 1
DECOMPRESSORS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
INDEX = re.compile(rb"-?[0-9]+")
NUMBER = re.compile(rb"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf|infinity|nan)", re.I)
QUERY = re.compile(rb"qid:[+-]?[0-9]+")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class StreamError(ValueError):
    """A stream that cannot be learnt from: the message says which file, where and why."""


def name_of(path: Any) -> str:
    """What a file is called in messages."""
    return "standard input" if str(path) == "-" else str(path)


@contextmanager
def open_binary(path: Any) -> Iterator[Any]:
    """Open a file (or "-", standard input) for reading, unpacking gzip, bzip2 and xz."""
    name = name_of(path)
    if str(path) == "-":
        if sys.stdin is None:
            raise StreamError("standard input is closed")
        raw: Any = sys.stdin.buffer
        raw = raw if hasattr(raw, "peek") else io.BufferedReader(raw)
    else:
        raw = Path(path).open("rb")  # noqa: SIM115
    try:
        head = raw.peek(6)
        unpack: Any = next(
            (f for magic, f in DECOMPRESSORS.items() if head.startswith(magic)), None
        )
        handle: Any = unpack(raw, "rb") if unpack else raw
        yield (Live(handle, raw) if str(path) == "-" else handle), name
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise StreamError(f"{name}: damaged compressed file ({error})") from error
    except OSError as error:
        if error.errno is None:  # how bz2 reports damaged data
            raise StreamError(f"{name}: damaged compressed file ({error})") from error
        raise
    finally:
        if str(path) != "-":
            raw.close()


class Live:
    """A pipe that is read as its bytes come: a reader does not wait for more than there is.

    Parameters
    ----------
    handle : binary stream
        What is read.
    raw : binary stream
        What it comes from, which may be compressed.
    """

    def __init__(self, handle: Any, raw: Any) -> None:
        self._handle, self._raw = handle, raw

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes; none at the end only."""
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
        except (OSError, ValueError):  # no file of the system's, or none that can be waited for
            return True


def line_chunks(handle: Any, name: str) -> Iterator[tuple[int, bytes]]:
    """Yield (number of the first line, bytes of whole lines), about ``CHUNK_BYTES`` at a time."""
    pieces: list[bytes] = []
    held, line = 0, 1
    while piece := handle.read(CHUNK_BYTES):
        if line == 1 and not pieces:
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


def _libsvm_fault(line: bytes) -> str | None:
    """Return what is wrong with one line of LIBSVM text, None if nothing is."""
    label, *pairs = line.split()
    if not is_finite(label):
        what = "not a number" if is_finite(label) is None else "not finite"
        return f"label {_quoted(label)} is {what}"
    if pairs and pairs[0].startswith(b"qid:"):
        query = pairs.pop(0)
        if not QUERY.fullmatch(query):
            return f"{_quoted(query)} is not qid:number"
    last = -1
    for pair in pairs:
        before, _, after = pair.partition(b":")
        if not INDEX.fullmatch(before) or is_finite(after) is None:
            return f"{_quoted(pair)} is not index:value"
        index = int(before[:20])
        if not 0 <= index <= LARGEST_INDEX:
            return f"feature index {index} is out of range"
        if index <= last:
            return f"feature indices must ascend without repeats, {index} comes after {last}"
        if not is_finite(after):
            return f"value of feature {index} is {float(after)}"
        last = index
    return None


def is_finite(text: bytes) -> bool | None:
    """Whether a text is a finite number; None if it is no number."""
    if not NUMBER.fullmatch(text):
        return None
    return bool(np.isfinite(float(text)))


def _quoted(text: bytes) -> str:
    shown = text.decode("ascii", "backslashreplace")
    return repr(shown if len(shown) <= 30 else shown[:27] + "...")


class LibsvmReader:
    """LIBSVM / SVMlight text: ``label [qid:n] index:value ...``, '#' starts a comment.

    Parameters
    ----------
    path : str or path
        File name, or "-" for standard input.
    faults : list of str, optional
        Faulty lines are left out, and what is wrong with them is appended here. Without it, the
        first one is an error.
    """

    feature_names = None
    text_labels = False

    def __init__(self, path: Any, faults: list[str] | None = None) -> None:
        self.path, self.faults = path, faults

    def blocks(self) -> Iterator[tuple[Any, Any]]:
        """Yield (X, y): CSR float64 of shape (rows, largest index + 1), indices as in the file."""
        with open_binary(self.path) as (handle, name):
            for first, chunk in line_chunks(handle, name):
                X, y = self._parse(chunk, first, name)
                if len(y):
                    yield X, y

    def _parse(self, chunk: bytes, first: int, name: str) -> Any:
        parsed = parse_libsvm(chunk)
        if parsed is None and self.faults is not None:
            parsed = parse_libsvm(self._good_lines(chunk, first, name))
        if parsed is None:
            self._complain(chunk, first, name)
        labels, values, columns, starts = parsed
        width = int(columns.max()) + 1 if len(columns) else 1
        # `Source` shifts the indices at the end of the file.
        return sparse.csr_matrix((values, columns, starts), shape=(len(labels), width)), labels

    @staticmethod
    def _check_entries(chunk: Any, first: Any, name: str) -> None:
        """Raise for a long line of entries too short to be any: millions would become objects."""
        for number, line in enumerate(chunk.split(b"\n"), start=first):
            entries = 0
            if len(line) > CHUNK_BYTES:
                entries = line.count(b" ") + line.count(b"\t") - 2 * line.count(b"  ")
            if entries > len(line) // SHORTEST_ENTRY + 1:
                raise StreamError(f"{name}, line {number}: {entries} entries are not index:value")

    @classmethod
    def _complain(cls, chunk: bytes, first: int, name: str) -> NoReturn:
        """Raise with the first faulty line."""
        for _, fault in cls._faults(chunk, first, name):
            if fault:
                raise StreamError(fault)
        last = first + chunk.count(b"\n")
        raise StreamError(f"{name}, lines {first} to {last}: not LIBSVM text")

    def _good_lines(self, chunk: bytes, first: int, name: str) -> bytes:
        """The lines without a fault; notes what is wrong with the others."""
        good = []
        for line, fault in self._faults(chunk, first, name):
            if fault is None:
                good.append(line)
            elif self.faults is not None:
                self.faults.append(fault)
        return b"\n".join(good)

    @classmethod
    def _faults(cls, chunk: bytes, first: int, name: str) -> Iterator[tuple[bytes, str | None]]:
        """Yield each line, and what is wrong with it or None."""
        if len(chunk) > 2 * CHUNK_BYTES:
            cls._check_entries(chunk, first, name)
        for number, line in enumerate(chunk.split(b"\n"), start=first):
            content = line.partition(b"#")[0].strip()
            fault = _libsvm_fault(content) if content else None
            yield line, fault and f"{name}, line {number}: {fault}"
