"""The files of a data set: on this machine, or in a store that fsspec reads.

The caller names a file, a folder, a pattern such as ``logs/*/day=*.csv``, a URL such as
``s3://bucket/logs``, or a list of these. ``located`` returns the files as ``Location``s, which the
readers open.
"""

from __future__ import annotations

import glob
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from onlinekern.fitted.save import stores
from onlinekern.fitted.save.stores import named_errors
from onlinekern.streams.errors import StreamError, is_number

BUFFER_BYTES = 1 << 20
# Name of the folder with the rows whose value is missing.
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Location:
    """A file to read.

    Attributes
    ----------
    path : str
        Its path on this machine or in the store.
    name : str
        Name of the file in messages.
    store : fsspec filesystem or None
    folders : tuple of (str, str or None, str)
        Columns from the names of its folders, such as ``day=1/``: name, text of the value, and kind
        (see `TableEncoder`).
    """

    path: str
    name: str
    store: Any = None
    folders: tuple[tuple[str, str | None, str], ...] = ()

    def __str__(self) -> str:
        return self.name

    def open(self, ahead: bool = True) -> io.BufferedReader:
        """Open the file for reading at any position.

        Parameters
        ----------
        ahead : bool
            Whether to read ahead, which is faster if the file is read from beginning to end.
        """
        if self.store is None:
            return Path(self.path).open("rb")
        with named_errors(self.name):
            cache = "readahead" if ahead else "none"
            handle = self.store.open(self.path, "rb", cache_type=cache)
        return io.BufferedReader(StoredBytes(handle, self.name), BUFFER_BYTES)


class StoredBytes(io.RawIOBase):
    """A file of a store, with errors that name it."""

    def __init__(self, handle: Any, name: str) -> None:
        self._handle, self._name = handle, name

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._handle.seekable())

    def readinto(self, buffer: Any) -> int:
        with named_errors(self._name):
            piece = self._handle.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._handle.seek(offset, whence))

    def tell(self) -> int:
        return int(self._handle.tell())

    def close(self) -> None:
        if not self.closed:
            self._handle.close()
        super().close()


def as_location(path: Any) -> Location:
    """Return a file as a `Location`, given a path or a location."""
    return path if isinstance(path, Location) else Location(os.fspath(path), str(path))


def located(paths: Any, storage_options: Mapping[str, Any] | None = None) -> list[Location]:
    """Return the files of paths, folders, patterns and URLs.

    The files of a folder or of a pattern are sorted by name, with numbers in names compared as
    numbers. In folders, files whose names begin with a dot or an underscore are left out.

    Parameters
    ----------
    paths : str or path, or an iterable of them
        "-" is standard input.
    storage_options : mapping, optional
        Options of `fsspec` for the store of a URL, such as keys or an endpoint. By default, fsspec
        takes them from the environment.

    Raises
    ------
    StreamError
        If there is nothing to read.
    OSError
        If there is no such file, or the store refuses.
    ImportError
        If a package is missing; the message names the extra.
    """
    paths = [paths] if isinstance(paths, str | os.PathLike | Location) else list(paths)
    if not paths:
        raise StreamError("no files to read")
    return with_folders([
        file for path in paths for file in files_of(path, storage_options or {})
    ])  # fmt: skip


def absolute(path: Any) -> Any:
    """Return a name of the same files that is valid in a process with another working folder."""
    name = stores.local_path(os.fspath(path)) if not isinstance(path, Location) else path
    if isinstance(name, Location):
        return name if name.store is not None else replace(name, path=os.path.abspath(name.path))
    if os.path.lexists(name):
        return os.path.abspath(name)
    if stores.PROTOCOL.match(name):
        return name
    here = glob.escape(os.getcwd()) if glob.has_magic(name) else os.getcwd()
    return os.path.join(here, name)


def files_of(path: Any, storage_options: Mapping[str, Any]) -> Iterable[Location]:
    """Return the files of one path, folder, pattern or URL."""
    if isinstance(path, Location):
        return [path]
    name = stores.local_path(os.fspath(path))
    if os.path.isdir(name):
        return in_folder(name, [
            os.path.join(place, one) for place, _, names in os.walk(name) for one in names
        ])  # fmt: skip
    if name == "-" or os.path.lexists(name):
        return [Location(name, name)]
    if stores.PROTOCOL.match(name):
        return stored_files(name, storage_options)
    if not glob.has_magic(name):
        return [Location(name, name)]
    found = filter(os.path.isfile, glob.iglob(name, recursive=True))
    return matching(name, [Location(one, one) for one in sorted(found, key=natural)])


def in_folder(folder: str, found: Iterable[str]) -> list[Location]:
    """Return the files of a folder, without hidden ones."""
    start = len(folder)
    shown = [
        path for path in found
        if not any(part.startswith((".", "_")) for part in re.split(r"[\\/]", path[start:]))
    ]  # fmt: skip
    if not shown:
        raise StreamError(f"{folder}: no files in this folder")
    return [Location(path, path) for path in sorted(shown, key=natural)]


def matching(pattern: str, files: list[Location]) -> list[Location]:
    """Return the files of a pattern; at least one must exist."""
    if not files:
        raise FileNotFoundError(2, "No file matches", pattern)
    return files


def natural(path: str) -> list[Any]:
    """Return a sorting key that puts part-10 after part-9."""
    return [int(part) if part.isdigit() else part for part in re.split(r"([0-9]+)", path)]


def stored_files(url: str, options: Mapping[str, Any]) -> list[Location]:
    """Return the files of a URL."""
    store, path = store_of(url, options)

    def stored(one: Location) -> Location:
        name = url if one.path == path else store.unstrip_protocol(one.path)
        return replace(one, name=name, store=store)

    with named_errors(url):
        is_pattern = glob.has_magic(path) and not store.exists(path)
        is_folder = not is_pattern and store.isdir(path)
        found = store.glob(path) if is_pattern else store.find(path) if is_folder else [path]
        if not is_pattern and not is_folder:
            store.info(path)
    if is_pattern:
        files = [one for one in sorted(found, key=natural) if store.isfile(one)]
        return matching(url, [stored(Location(one, one)) for one in files])
    if is_folder:
        return [stored(one) for one in in_folder(path, found)]
    return [stored(Location(path, url))]


def store_of(url: str, options: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the filesystem of a URL, and the path in it."""
    try:
        return stores.store_of(url, options)
    except ValueError as error:
        raise StreamError(str(error)) from error


def with_folders(files: list[Location]) -> list[Location]:
    """Add the columns from folders named ``column=value``.

    A column is numeric if all of its values, in all files, are numbers.
    """
    told = [dict(folder_values(file.path)) for file in files]
    values = [pair for columns in told for pair in columns.items()]
    words = {name for name, text in values if text is not None and not is_number(text)}
    return [
        file if file.folders else replace(file, folders=tuple(
            (name, text, "category" if name in words else "number")
            for name, text in columns.items()
        ))
        for file, columns in zip(files, told, strict=True)
    ]  # fmt: skip


def folder_values(path: str) -> Iterator[tuple[str, str | None]]:
    """Return columns and texts from the folders of a file, named as in Hive."""
    for folder in re.split(r"[\\/]", path)[:-1]:
        name, equals, text = folder.partition("=")
        if name and equals:
            yield unquote(name), None if text == NO_VALUE else unquote(text)
