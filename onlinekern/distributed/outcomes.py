"""Results that an engine carries as bytes: a value, or the error in its place.

An error of the data would be the same in every try: it goes to the client as it is, and the engine
does not try again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onlinekern.distributed.dask import dumps, loads


def outcome_of(function: Callable[..., Any], *arguments: Any) -> bytes:
    """Return what a function gives, or its error."""
    try:
        return dumps((None, function(*arguments)))
    except Exception as error:
        return dumps((error, None))


def value_of(outcome: bytes) -> Any:
    """Return a value, or raise its error."""
    error, value = loads(outcome)
    if error is not None:
        raise error
    return value
