"""What engines share: their packages, values as bytes, and the results of their jobs.

A result that an engine carries as bytes is a value, or the error in its place. An error of the data
would be the same in every try: it goes to the client as it is, and the engine does not try again.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from importlib import import_module
from typing import Any


def require(name: str, engine: str = "dask") -> Any:
    """Import a module of an engine; ImportError says what to install if it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        where = "" if engine == "dask" else f".{engine}"
        raise ImportError(
            f"onlinekern.distributed{where} needs {engine}: pip install 'onlinekern[{engine}]'"
        ) from error


def dumps(model: Any) -> bytes:
    """Return a model, or a function, as bytes; functions of a script need cloudpickle."""
    try:
        pickler = import_module("cloudpickle")
    except ImportError:
        # Dask has it; workers of other engines may do without.
        pickler = pickle
    return bytes(pickler.dumps(model, protocol=pickle.HIGHEST_PROTOCOL))


def loads(data: bytes) -> Any:
    """Return what was turned into bytes."""
    return pickle.loads(data)


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
