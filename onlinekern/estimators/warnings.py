"""Warnings that name the line of the user's program, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings
from typing import Any
from weakref import WeakValueDictionary

# The user's call goes through these packages.
OURS = ("onlinekern", "sklearn", "joblib")
# The message on features of different scales begins so, for filters.
SCALES_DIFFER = "the scales of the features differ"

# What has been warned of, by `id`.
TOLD: WeakValueDictionary[int, Any] = WeakValueDictionary()


def warn_once(about: Any, message: str, category: type[Warning]) -> None:
    """Warn of an object that never changes, the first time: an equal one is another one."""
    if TOLD.get(id(about)) is not about:
        warn(message, category)
        TOLD[id(about)] = about


def warn(message: str, category: type[Warning]) -> None:
    """Warn of something in the first line, from here upwards, that is not of these packages."""
    frame = sys._getframe(1)
    level = 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in OURS:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)
