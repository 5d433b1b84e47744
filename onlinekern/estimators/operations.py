"""The way up from a method of an estimator to the operation on fitted models that it stands for."""

from __future__ import annotations

from typing import Any


def operations() -> Any:
    """The package `onlinekern.fitted`, which lies above: imported when an operation is called."""
    from onlinekern import fitted

    return fitted
