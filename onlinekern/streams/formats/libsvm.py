"""LIBSVM text as blocks of rows.

A reader's ``blocks()`` yields ``(X, y)`` pairs with finite float64 values: CSR with the file's own
feature indices for LIBSVM text, dense for tables. Errors in the file become a ``StreamError`` that
names the file and the line or row. A reader stores at most one block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from onlinekern.core.samples.text import parse_libsvm
from onlinekern.streams.errors import StreamError, name_of
from onlinekern.streams.formats import binary
from onlinekern.streams.formats.binary import TextInput, line_chunks, open_binary
from onlinekern.streams.formats.reading import PLAIN, Reading

# Bytes of a short entry such as "1:2 ". The average is longer, because indices ascend.
SHORTEST_ENTRY = 4
LARGEST_INDEX = np.iinfo(np.int32).max - 1
INDEX = re.compile(rb"-?[0-9]+")
NUMBER = re.compile(rb"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf|infinity|nan)", re.I)
QUERY = re.compile(rb"qid:[+-]?[0-9]+")


def _libsvm_fault(line: bytes) -> str | None:
    """Return the error in one line of LIBSVM text, or None."""
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
    """Return whether a text is a finite number, or None if it is not a number."""
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
    target, like, labelled, reading : as of `TableReader`
        There is no target to name, and a table that was read before is an error.
    """

    typed = False
    feature_names = None
    text_labels = False

    def __init__(
        self,
        path: Any,
        target: str | None = None,
        like: Any = None,
        labelled: bool = True,
        reading: Reading = PLAIN,
    ) -> None:
        if target is not None:
            name = name_of(path)
            TextInput(path).head(1)  # This raises the error if the file is not text.
            told = f"; {binary.NAMED}"
            if name.endswith(".json"):
                told = "; JSON lines, an object a line, are named .jsonl"
            raise StreamError(
                f"{name}: LIBSVM text has no target column to name; CSV, Parquet, Arrow "
                f"and JSON lines have{told}"
            )
        if like is not None and like.feature_names is not None:
            TextInput(path).head(1)  # This raises the error if the file has another known format.
            raise StreamError(
                f"{name_of(path)}: not of the same kind of file as the first one, a table"
            )
        self.path, self.faults = path, reading.faults

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
        # `Source` shifts the indices after it has read the whole file.
        return sparse.csr_matrix((values, columns, starts), shape=(len(labels), width)), labels

    @staticmethod
    def _check_entries(chunk: Any, first: Any, name: str) -> None:
        """Raise for a long line with entries too short to be valid, before they become objects."""
        for number, line in enumerate(chunk.split(b"\n"), start=first):
            entries = 0
            if len(line) > binary.CHUNK_BYTES:
                entries = line.count(b" ") + line.count(b"\t") - 2 * line.count(b"  ")
            if entries > len(line) // SHORTEST_ENTRY + 1:
                raise StreamError(f"{name}, line {number}: {entries} entries are not index:value")

    @classmethod
    def _complain(cls, chunk: bytes, first: int, name: str) -> NoReturn:
        """Raise an error for the first invalid line."""
        for number, (_, fault) in enumerate(cls._faults(chunk, first, name), start=first):
            if fault:
                # A file whose first line is invalid usually has another format.
                hint = f"; this is read as LIBSVM text: {binary.NAMED}" if number == 1 else ""
                raise StreamError(fault + hint)
        last = first + chunk.count(b"\n")
        raise StreamError(f"{name}, lines {first} to {last}: not LIBSVM text")

    def _good_lines(self, chunk: bytes, first: int, name: str) -> bytes:
        """Return the valid lines, and record the errors of the others."""
        good = []
        for line, fault in self._faults(chunk, first, name):
            if fault is None:
                good.append(line)
            elif self.faults is not None:
                self.faults.append(fault)
        return b"\n".join(good)

    @classmethod
    def _faults(cls, chunk: bytes, first: int, name: str) -> Iterator[tuple[bytes, str | None]]:
        """Yield each line with its error, or None."""
        if len(chunk) > 2 * binary.CHUNK_BYTES:
            cls._check_entries(chunk, first, name)
        for number, line in enumerate(chunk.split(b"\n"), start=first):
            content = line.partition(b"#")[0].strip()
            fault = _libsvm_fault(content) if content else None
            yield line, fault and f"{name}, line {number}: {fault}"
