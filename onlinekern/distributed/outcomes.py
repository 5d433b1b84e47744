"""Results of jobs that an engine carries as bytes: a value, or the error in its place.

An error of the data would be the same in every try: it goes to the client as it is, and the engine
does not try again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onlinekern.distributed.dask import dumps, loads, require


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


def loss_of_job(engine: str, error: Exception) -> str | None:
    """Say what is lost by an error, if an engine of Java has given up a job."""
    lost = require("py4j.protocol", engine.lower()).Py4JError, ConnectionError
    if not isinstance(error, lost):
        return None
    java = getattr(error, "java_exception", None)
    text = error if java is None else java.getMessage()
    return f"{engine} gave up a job ({type(error).__name__}: {text})"
