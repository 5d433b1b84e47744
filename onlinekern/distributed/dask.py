"""What `onlinekern.distributed` does; see there."""

from __future__ import annotations

import pickle
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
