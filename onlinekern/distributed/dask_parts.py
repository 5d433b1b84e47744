"""The parts of dask arrays and data frames, and lazy predictions for them, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from onlinekern.distributed.engines import dumps, loads, require
from onlinekern.distributed.parts import (
    Part,
    Reader,
    Stream,
    are_files,
    check_column,
    listed_parts,
    to_array,
)

if TYPE_CHECKING:
    from onlinekern.distributed.starting import Asked


class Arrays(Reader):
    """Chunks of dask arrays: X, y if there is any, weights if there are any."""

    def __init__(self, has_y: bool, has_weight: bool) -> None:
        self.has_y, self.has_weight = has_y, has_weight

    def blocks(self, X: Any, *more: Any) -> Iterator[Any]:
        """Yield the chunk."""
        values = [to_array(one) for one in more]
        y = values.pop(0) if self.has_y else None
        yield X, y, values.pop(0) if self.has_weight else None

    def labels(self, y: Any) -> Iterator[Any]:
        """Yield the labels of the chunk."""
        yield to_array(y)


class Frames(Arrays):
    """Partitions of dask data frames.

    Parameters
    ----------
    names : list of str
        The columns that are features.
    target, weight : str or None
        Columns; None: they are given apart, or there are none.
    has_y, has_weight : bool
        Whether they are given apart.
    """

    def __init__(self, names: Any, target: Any, weight: Any, has_y: bool, has_weight: bool) -> None:
        super().__init__(has_y, has_weight)
        self.names, self.target, self.weight = names, target, weight

    def blocks(self, together: Any) -> Iterator[Any]:
        """Yield the chunk, of a frame and the series beside it."""
        frame, *more = together
        for X, y, weight in super().blocks(frame[self.names], *more):
            if self.target is not None:
                y = to_array(frame[self.target])
            if self.weight is not None:
                weight = to_array(frame[self.weight])
            yield X, y, weight


def parts_of(asked: Asked, weight: Any, tasks: Any) -> Stream:
    """Return a stream in parts, in their order.

    Parameters
    ----------
    asked : Asked
        What the caller of `onlinekern.distributed.fit` asks for.
    weight
        As it takes `sample_weight`.
    tasks : Tasks
        Files are listed, and rows of chunks of unknown length are counted, on the workers.
    """
    X, y = asked.X, asked.y
    if are_files(X) or isinstance(X, list | tuple):
        names = "delayed readers", "delayed"
        return listed_parts(asked, weight, tasks, require("dask.delayed").Delayed, names)
    if is_frame(X):
        return frame_parts(X, y, weight, tasks)
    if is_array(X):
        return array_parts(X, y, weight, tasks)
    raise TypeError(
        "X must be a dask array, a dask data frame, a list of delayed readers, or paths or URLs of "
        f"files, got {type(X).__name__}"
    )


def is_array(X: Any) -> bool:
    """Return whether X is a dask array."""
    return isinstance(X, require("dask.array").Array)


def is_frame(X: Any, n_axes: int = 2) -> bool:
    """Return whether X is a dask data frame, or a series; pandas may be missing."""
    known = type(X).__module__.startswith(("dask.dataframe", "dask_expr"))
    return known and getattr(X, "ndim", 0) == n_axes


def array_parts(X: Any, y: Any, weight: Any, tasks: Any) -> Stream:
    """Return the chunks of rows of an array."""
    if X.ndim != 2:
        raise ValueError(f"X must have two axes, got shape {X.shape}")
    if X.numblocks[1] > 1:
        raise ValueError(
            f"X has {X.numblocks[1]} chunks along its columns; a row must be in one: "
            "X.rechunk({1: -1})"
        )
    more = _aligned(X, tasks, y=y, sample_weight=weight)
    reader = Arrays(y is not None, weight is not None)
    parts = [
        Part(reader, f"chunk {number} of X", data)
        for number, data in enumerate(zip(*delayed_chunks(X, *more), strict=True))
    ]
    return Stream(parts, [Part(reader, part.name, part.data[1:2]) for part in parts])


def frame_parts(X: Any, y: Any, weight: Any, tasks: Any) -> Stream:
    """Return the partitions of a data frame."""
    columns, apart = list(X.columns), {"y": y, "sample_weight": weight}
    for name, value in apart.items():
        if isinstance(value, str):
            check_column(name, value, columns)
    named = {name: value for name, value in apart.items() if isinstance(value, str)}
    apart = {name: value for name, value in apart.items() if name not in named}
    names = [name for name in columns if name not in named.values()]
    target, weight_column = named.get("y"), named.get("sample_weight")
    has_y, has_weight = (apart.get(name) is not None for name in ("y", "sample_weight"))
    reader = Frames(names, target, weight_column, has_y, has_weight)
    series = [as_series(one) for one in _aligned(X, tasks, **apart)]
    # One collection: what is optimised apart may be cut apart, and read twice.
    together = X.map_partitions(
        side_by_side, *series, align_dataframes=False, enforce_metadata=False, meta=X._meta
    )
    (chunks,) = delayed_chunks(together)
    # Less is read of a column alone.
    labels = delayed_chunks(X[target] if target is not None else series[0] if series else X)[0]
    parts, labelled = (
        [Part(reader, f"partition {number} of X", (one,)) for number, one in enumerate(found)]
        for found in (chunks, labels)
    )
    return Stream(parts, labelled)


def side_by_side(*one: Any) -> tuple[Any, ...]:
    """Return partitions of several collections, as they are."""
    return one


def as_series(values: Any) -> Any:
    """Return a dask array of one axis, or a series, as a series."""
    return require("dask.dataframe").from_dask_array(values) if is_array(values) else values


def _aligned(X: Any, tasks: Any, **given: Any) -> list[Any]:
    """Return what is given for the rows of X, cut as X is."""
    found, rows = [], None
    for name, values in given.items():
        if values is None:
            continue
        if not is_array(values) and not is_frame(values, n_axes=1):
            what = "dask array" if is_array(X) else "dask array or series"
            raise TypeError(f"{name} must be a {what} where X is one, got {type(values).__name__}")
        if values.ndim != 1:
            raise ValueError(f"{name} must have one axis, got shape {values.shape}")
        if n_chunks(values) != n_chunks(X) or lengths_of(X, values) is not None:
            rows = lengths_of(X) or rows or counted("X", X, tasks)
            values = cut_at(rows, values, name, tasks)
        found.append(values)
    return found


def n_chunks(collection: Any) -> int:
    """Return the number of chunks of rows."""
    return int(collection.numblocks[0] if is_array(collection) else collection.npartitions)


def lengths_of(*collections: Any) -> tuple[int, ...] | None:
    """Return the lengths of the chunks of the first one, or None if those of any are unknown."""
    lengths: list[Any] = [one.chunks[0] if is_array(one) else (np.nan,) for one in collections]
    return None if np.isnan(np.concatenate(lengths)).any() else tuple(lengths[0])


def counted(name: str, collection: Any, tasks: Any) -> tuple[int, ...]:
    """Return the lengths of the chunks, which are counted on the workers."""
    (chunks,) = delayed_chunks(collection)
    futures = [
        tasks.send(f"count-{name}-{number}", n_rows, chunk) for number, chunk in enumerate(chunks)
    ]
    tasks.each(list(futures))
    return tuple(tasks.client.gather(futures))


def n_rows(chunk: Any) -> int:
    """Return the number of rows of a chunk."""
    return int(chunk.shape[0])


def cut_at(rows: tuple[int, ...], values: Any, name: str, tasks: Any) -> Any:
    """Return values of one axis as an array, whose chunks have so many rows."""
    lengths = lengths_of(values) or counted(name, values, tasks)
    if sum(rows) != sum(lengths):
        raise ValueError(f"{name} has {sum(lengths)} values, X has {sum(rows)} rows")
    if lengths_of(values) is None:
        # From the chunks that were counted: dask would cut a data frame anew.
        array, as_array = require("dask.array"), require("dask").delayed(np.asarray)
        (chunks,), meta = delayed_chunks(values), np.asarray(values._meta)
        values = array.concatenate([
            array.from_delayed(as_array(chunk), (length,), meta=meta)
            for chunk, length in zip(chunks, lengths, strict=True)
        ])  # fmt: skip
    return values.rechunk((rows,))


def delayed_chunks(*collections: Any) -> list[list[Any]]:
    """Return the chunks of collections, each delayed, with what is needed for it and no more."""
    cull, flatten = require("dask.optimization").cull, require("dask.core").flatten
    delayed = require("dask.delayed").Delayed
    chunks = []
    for best, graph in optimised(collections):
        keys = flatten(best.__dask_keys__())
        chunks.append([delayed(key, cull(graph, [key])[0]) for key in keys])
    return chunks


def optimised(collections: Any) -> Iterator[tuple[Any, dict[Any, Any]]]:
    """Yield each collection, optimised, with its graph."""
    ensure_dict: Callable[[Any], dict[Any, Any]] = require("dask.utils").ensure_dict
    # Together, so that what they share is computed once. It loses columns of data frames, though,
    # and chunks that are persisted.
    arrays = [one for one in collections if is_array(one)]
    best = iter(require("dask").optimize(*arrays))
    for collection in collections:
        if is_array(collection):
            array = next(best)
            graph = ensure_dict(collection.__dask_graph__())
            yield array, graph | ensure_dict(array.__dask_graph__())
        else:
            # Other columns than those that are asked for are not read. `optimize` would also join
            # partitions, as many as fit the columns: a part is what X calls a partition.
            frame = collection.simplify()
            yield frame, ensure_dict(frame.__dask_graph__())


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
    like = getattr(model, method)(np.zeros((1, X.shape[1]), X.dtype))[:0]
    shape: dict[str, Any] = {"drop_axis": 1} if like.ndim == 1 else {
        "chunks": (X.chunks[0], (like.shape[1],))
    }  # fmt: skip
    return X.map_blocks(
        call_unless_empty, delayed_model(model), method, like, dtype=like.dtype, meta=like, **shape
    )


def of_frame(model: Any, X: Any, method: str) -> Any:
    """Return the answers for a data frame: a series, or a frame with a column for each class."""
    rows = X._meta_nonempty
    like = with_index(getattr(model, method)(rows), rows, model, method)[:0]
    return X.map_partitions(call_framed, delayed_model(model), method, like, meta=like)


def call_unless_empty(X: Any, model: Any, method: str, like: Any) -> Any:
    """Call a method of the model unless there are no rows, which have no answers."""
    return getattr(model, method)(X) if X.shape[0] else like


def call_framed(X: Any, model: Any, method: str, like: Any) -> Any:
    """Call it unless there are no rows; return the answers with the index of X."""
    return with_index(getattr(model, method)(X), X, model, method) if len(X) else like


def with_index(answers: Any, X: Any, model: Any, method: str) -> Any:
    """Return answers with the index of X."""
    pandas = require("pandas")
    if answers.ndim == 1:
        return pandas.Series(answers, index=X.index, name=method)
    return pandas.DataFrame(answers, index=X.index, columns=model.classes_)
