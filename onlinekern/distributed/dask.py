"""What `onlinekern.distributed` does; see there."""

from __future__ import annotations

import pickle
from importlib import import_module
from typing import Any


def needed(name: str) -> Any:
    """A module of dask; ImportError that says what to install if it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            "onlinekern.distributed needs dask: pip install 'onlinekern[dask]'"
        ) from error


def packed(model: Any) -> bytes:
    """A model, or a function, as bytes."""
    return bytes(needed("cloudpickle").dumps(model, protocol=pickle.HIGHEST_PROTOCOL))


def unpacked(data: bytes) -> Any:
    """What was `packed`."""
    return pickle.loads(data)
