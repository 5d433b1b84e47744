"""Predictions for dask collections, lazily, chunk by chunk."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from onlinekern.distributed.dask_parts import is_array, is_frame
from onlinekern.distributed.engines import dumps, loads, require

METHODS = ("predict", "decision_function", "predict_proba", "predict_log_proba", "score_samples")


def predictions(model: Any, X: Any, method: str) -> Any:
    """Carry out `onlinekern.distributed.predict`."""
    check_is_fitted(model)
    if method not in METHODS or not hasattr(model, method):
        there = [name for name in METHODS if hasattr(model, name)]
        raise ValueError(f"method must be one of {', '.join(there)}, got {method!r}")
    if is_frame(X):
        return of_frame(model, X, method)
    if is_array(X):
        return of_array(model, X, method)
    raise TypeError(f"X must be a dask array or a dask data frame, got {type(X).__name__}")


def delayed_model(model: Any) -> Any:
    """Delay a model: it is one task, whose result each worker fetches once."""
    return require("dask").delayed(loads, pure=True)(dumps(model))


def of_array(model: Any, X: Any, method: str) -> Any:
    """Return the answers for an array: a dask array with the chunks of X."""
    if X.ndim != 2:
        raise ValueError(f"X must have two axes, got shape {X.shape}")
    if X.shape[1] != model.n_features_in_:
        raise ValueError(f"X has {X.shape[1]} features, the model has {model.n_features_in_}")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    like = call_method(np.zeros((1, X.shape[1]), X.dtype), model, method)[:0]
    shape: dict[str, Any] = {"drop_axis": 1} if like.ndim == 1 else {
        "chunks": (X.chunks[0], (like.shape[1],))
    }  # fmt: skip
    return X.map_blocks(
        call_unless_empty, delayed_model(model), method, like, dtype=like.dtype, meta=like, **shape
    )


def of_frame(model: Any, X: Any, method: str) -> Any:
    """Return the answers for a data frame: a series, or a frame with a column for each class."""
    like = with_index(
        call_method(X._meta_nonempty, model, method), X._meta_nonempty, model, method
    )[:0]
    return X.map_partitions(call_framed, delayed_model(model), method, like, meta=like)


def call_method(X: Any, model: Any, method: str) -> Any:
    """Call a method of the model with rows."""
    return getattr(model, method)(X)


def call_unless_empty(X: Any, model: Any, method: str, like: Any) -> Any:
    """Call it unless there are no rows, which have no answers."""
    return call_method(X, model, method) if X.shape[0] else like


def call_framed(X: Any, model: Any, method: str, like: Any) -> Any:
    """Call it unless there are no rows; return the answers with the index of X."""
    return with_index(call_method(X, model, method), X, model, method) if len(X) else like


def with_index(answers: Any, X: Any, model: Any, method: str) -> Any:
    """Return answers with the index of X."""
    pandas = require("pandas")
    if answers.ndim == 1:
        return pandas.Series(answers, index=X.index, name=method)
    return pandas.DataFrame(answers, index=X.index, columns=model.classes_)
