"""The safetensors format: named arrays and a dictionary of texts in one file.

The library `safetensors` writes and reads the same files, and the tests hold the two together. It
is no dependency: it has no wheel for free-threaded Python, where a Rust compiler would have to
build it, and it forces nothing to the disk.

    8 bytes        length of the header, little-endian
    header         JSON: name -> {"dtype", "shape", "data_offsets"}, "__metadata__" -> texts
    data           the arrays, little-endian, one after another without gaps
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from onlinekern.estimators.savable import require
from onlinekern.estimators.types import Array

# The library safetensors has this limit.
MOST_HEADER_BYTES = 100_000_000
# NumPy has this limit.
MOST_DIMENSIONS = 64
METADATA = "__metadata__"
DTYPES = {
    "BOOL": np.dtype("?"),
    "U8": np.dtype("<u1"),
    "I8": np.dtype("<i1"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "F16": np.dtype("<f2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "F32": np.dtype("<f4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
}
CODES = {dtype: code for code, dtype in DTYPES.items()}


class Entry(NamedTuple):
    """Description of an array in the header; `start` and `stop` are places in the data."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int


class Header(NamedTuple):
    """Header of a file, and the place in the file where the data begin."""

    metadata: dict[str, str]
    entries: dict[str, Entry]
    begin: int


def in_file_order(arrays: dict[str, Array]) -> list[str]:
    """Sort the names by width of element, so that each array lies at a multiple of its width."""
    return sorted(arrays, key=lambda name: -arrays[name].itemsize)


def write(stream: BinaryIO, arrays: dict[str, Array], metadata: dict[str, str]) -> None:
    """Write a file of C-contiguous arrays of the dtypes in `CODES`."""
    header: dict[str, Any] = {METADATA: metadata}
    start = 0
    for name in in_file_order(arrays):
        array = arrays[name]
        places = [start, start + array.nbytes]
        header[name] = {
            "dtype": CODES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": places,
        }
        start = places[1]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MOST_HEADER_BYTES:
        raise ValueError(
            f"what the model holds beside its arrays takes {len(text)} bytes; at most "
            f"{MOST_HEADER_BYTES} can be saved"
        )
    stream.write(len(text).to_bytes(8, "little"))
    stream.write(text)
    for name in in_file_order(arrays):
        stream.write(bytes_of(arrays[name]))


def bytes_of(array: Array) -> memoryview:
    """Return the memory of a C-contiguous array."""
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")


def read_header(stream: BinaryIO) -> Header:
    """Return the header; every number of it is checked against the size of the file.

    Raises
    ------
    ValueError
        If the file is not of this format; the message goes on where the file's name ends.
    """
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    length = int.from_bytes(stream.read(8), "little")
    written = "is no safetensors file, as `save` and `onlinekern train` write them"
    require(size >= 10 and 2 <= length <= MOST_HEADER_BYTES, written)
    require(length <= size - 8, "is no safetensors file, or it is cut off")
    header = parse(stream.read(length))
    metadata = header.pop(METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise ValueError("is no safetensors file: its metadata are no texts")
    entries = {name: entry_of(name, value) for name, value in header.items()}
    check_places(entries.values(), size - 8 - length)
    return Header(metadata, entries, 8 + length)


def parse(text: bytes) -> dict[str, Any]:
    """Return the JSON object of a header."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        require(len(found) == len(pairs), "a name is given twice")
        return found

    try:
        header = json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is no safetensors file: its header is no JSON: {error}") from None
    require(isinstance(header, dict), "is no safetensors file: its header is no JSON object")
    return header


def entry_of(name: str, value: Any) -> Entry:
    """Return what the header says of one array."""
    try:
        dtype, shape, (start, stop) = value["dtype"], value["shape"], value["data_offsets"]
        sizes = [start, stop, *shape]
        valid = dtype in DTYPES and len(sizes) <= MOST_DIMENSIONS + 2
        valid = valid and all(type(n) is int and 0 <= n < 1 << 63 for n in sizes)
    except (TypeError, KeyError, ValueError):
        valid = False
    if not valid or math.prod(shape) * DTYPES[dtype].itemsize != stop - start:
        raise ValueError(f"has a wrong header: what it says of the array {name!r} makes no sense")
    return Entry(dtype, tuple(shape), start, stop)


def check_places(entries: Iterable[Entry], n_bytes: int) -> None:
    """Raise ValueError unless the arrays fill the data without gaps."""
    reached = 0
    for entry in sorted(entries, key=lambda entry: (entry.start, entry.stop)):
        if entry.start != reached:
            raise ValueError("has a wrong header: its arrays do not lie one after another")
        reached = entry.stop
    require(reached <= n_bytes, f"is cut off: {reached - n_bytes} bytes are missing")
    require(reached >= n_bytes, f"has {n_bytes - reached} bytes too many at its end")


def read_array(stream: BinaryIO, header: Header, name: str) -> Array:
    """Return one array of the file, in memory of its own."""
    entry = header.entries[name]
    array: Array = np.empty(entry.shape, DTYPES[entry.dtype])
    stream.seek(header.begin + entry.start)
    data = bytes_of(array)
    if len(data) and stream.readinto(data) != len(data):  # type: ignore[attr-defined]
        raise ValueError("is cut off")
    return array
