"""The error of streams that cannot be learnt from, the names of files in messages, and texts that
are numbers."""

from __future__ import annotations

from typing import Any


class StreamError(ValueError):
    """A stream that cannot be learnt from: the message says which file, where and why."""


class ExtraFeatures(StreamError):
    """A file that has all features that there should be, and more."""


def name_of(path: Any) -> str:
    """Return what a file is called in messages."""
    return "standard input" if str(path) == "-" else str(path)


def is_number(text: str) -> bool:
    """Return whether a text is a number, as Python reads it."""
    try:
        float(text)
    except ValueError:
        return False
    return True
