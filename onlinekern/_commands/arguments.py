"""Arguments of commands: checks of what can be seen to be wrong at once, and parsing."""

from __future__ import annotations

import os
from ast import literal_eval
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def one_of(option: str, value: Any, known: Any) -> None:
    """Raise ValueError, which names the option, unless a value is one of those known."""
    if value not in known:
        raise ValueError(f"{option}: unknown {value!r}; known are {', '.join(known)}")


def check_readable(path: Any) -> None:
    """Raise OSError unless a file can be read."""
    if Path(path).is_dir():
        raise IsADirectoryError(21, "Is a directory", path)
    with Path(path).open("rb"):
        pass


def check_writable(path: Any) -> None:
    """Raise OSError unless a file can be written.

    It is tried, for permission bits tell little to a superuser or on a read-only file system.
    """
    existed = Path(path).exists()
    with Path(path).open("ab"):
        pass
    if not existed:
        os.unlink(path)


def parse_value(text: str) -> Any:
    """A number, True, False or None if the text says so; else the text."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, int | float) else text


def parse_pairs(option: str, texts: Iterable[str], last: bool = False) -> dict[str, str]:
    """NAME=VALUE as name -> text; ValueError, which names the option, of anything else.

    The first equals sign divides them, or the last one.
    """
    found = {}
    for text in texts:
        parts = text.rpartition("=") if last else text.partition("=")
        name, _, value = (part.strip() for part in parts)
        if not name or not value:
            raise ValueError(f"{option} {text!r}: expected NAME=VALUE")
        found[name] = value
    return found


@contextmanager
def writing(name: str) -> Iterator[None]:
    """Give an error that comes in writing the file's name: that of a full disk has none."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise OSError(error.errno, error.strerror, name) from error
        raise
