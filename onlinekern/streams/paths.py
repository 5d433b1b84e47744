"""Checks before a long run that files can be read and written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onlinekern.fitted.save.stores import check_stored, exists_stored, is_stored, local_path
from onlinekern.streams.locations import located


def check_readable(path: Any) -> None:
    """Raise OSError unless a file or URL can be read."""
    if is_stored(path):
        if not exists_stored(path):
            raise FileNotFoundError(2, "No such file or directory", path)
        return
    path = local_path(path)
    if Path(path).is_dir():
        raise IsADirectoryError(21, "Is a directory", path)
    with Path(path).open("rb"):
        pass


def check_data(paths: Any) -> None:
    """Raise OSError, StreamError or ImportError unless data can be read.

    The data are files, folders, patterns and URLs. For a store, only the list of files is read.
    """
    for file in located(paths):
        if file.store is None and file.path != "-":
            check_readable(file.path)


def check_apart(read: Any, written: Mapping[str, str | None]) -> None:
    """Raise ValueError if an output file is also an input file, or another output file.

    Parameters
    ----------
    read : str or iterable of str
        As `check_data` takes them.
    written : mapping of str to str or None
        Option -> file. "-" is standard output.
    """
    files = (str(file.path) for file in located(read) if file.store is None)
    taken = {os.path.realpath(file): "is read" for file in files if file != "-"}
    for option, path in written.items():
        if path in (None, "-") or is_stored(path):
            continue
        own = os.path.realpath(local_path(path))
        if own in taken and (os.path.isfile(own) or not os.path.exists(own)):
            raise ValueError(f"{option} {path}: this file {taken[own]}; name another one")
        taken[own] = f"is that of {option}"


def check_writable(path: Any, stored: bool = False, storage_options: Any = None) -> None:
    """Raise OSError unless a file can be written; ValueError for a URL, if it may not be `stored`.

    The file is opened for writing. Permission bits are no reliable sign for a superuser or on a
    read-only file system.
    """
    if is_stored(path):
        if not stored:
            raise ValueError(f"{path}: a file of this machine is needed, not a URL")
        check_stored(path, storage_options)
        return
    path = local_path(path) if stored else path
    if path == "-":
        raise ValueError("-: a file is needed, not standard output")
    existed = Path(path).exists()
    with Path(path).open("ab"):
        pass
    if not existed:
        os.unlink(path)


@contextmanager
def writing(name: str) -> Iterator[None]:
    """Add the file's name to errors while it is written; the error of a full disk has no name."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise OSError(error.errno, error.strerror, name) from error
        raise
