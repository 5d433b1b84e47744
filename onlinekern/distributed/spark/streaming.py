"""A stream of Spark (Structured Streaming) that is learnt: a model for each key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from onlinekern.distributed.arguments import check_learner, check_targets, has_begun
from onlinekern.distributed.dask import require
from onlinekern.distributed.parts import check_column, to_array
from onlinekern.distributed.rows import missing
from onlinekern.estimators.types import ArrayLike
from onlinekern.fitted.save import from_bytes, to_bytes

PREDICTION = "prediction"
STATE = "model binary"


def learn_stream(
    estimator: Any,
    X: Any,
    key: str,
    y: str,
    *,
    order: str,
    features: Sequence[str] | str | None = None,
    classes: ArrayLike | None = None,
) -> Any:
    """Learn a stream of Spark, test-then-train: a model for each key.

    The model of a key is the state of the query (`applyInPandasWithState`): Spark keeps it in its
    checkpoint, together with the place in the stream. A query that is stopped, or dies, and begins
    again from its checkpoint has learnt each row once; its models and predictions are those of a
    query that was not interrupted, bit for bit.

    Parameters
    ----------
    estimator : estimator
        A learner, or a pipeline that ends with one. Each key begins with a clone of it; with a copy
        if it has learnt something. It is not changed.
    X : pyspark.sql.DataFrame
        A stream (`spark.readStream`).
    key : str
        The column whose values have a model each. Rows of several keys are learnt side by side.
    y : str
        The column of labels or targets. A row whose y is missing is predicted and not learnt.
    order : str
        A column by which the rows of a key are sorted in each micro-batch, since Spark itself
        keeps no order: a time, or an offset. Among micro-batches the order is that of arrival.
    features : list of str, str or None, default=None
        The columns that are learnt, in this order, or one column of arrays. None: all columns but
        key, y and order.
    classes : array-like or None, default=None
        All labels, which a classifier must be told.

    Returns
    -------
    pyspark.sql.DataFrame
        A stream: the rows of X with a column `prediction`, made by the model of the key before it
        learnt the row. It is missing as long as that model has learnt nothing and y is missing. Its
        output mode is 'append'.

    Raises
    ------
    ValueError
        If an argument is invalid.
    TypeError
        If the estimator is no learner of streams, or X no data frame of Spark.
    ImportError
        If pyspark, pyarrow or pandas is missing.

    Notes
    -----
    The state is what `save` writes (docs/files.md), so a checkpoint outlives versions of the
    library; a learner that cannot be saved is refused. Rows of a key in one micro-batch must fit
    into memory. Bad rows end the query: filter them out of X before.

    Examples
    --------
    >>> from onlinekern import KernelRLSRegressor
    >>> from onlinekern.distributed import spark
    >>> learner = KernelRLSRegressor(n_components=50, random_state=0)
    >>> rows = session.readStream.schema("sensor string, at long, t double, load double").json(
    ...     "readings"
    ... )  # doctest: +SKIP
    >>> answers = spark.learn_stream(learner, rows, "sensor", "load", order="at")  # doctest: +SKIP
    >>> query = answers.writeStream.option("checkpointLocation", "place").start()  # doctest: +SKIP
    """
    check_learner(estimator)
    check_targets(estimator, X, y, classes)
    sql, types = require("pyspark.sql", "spark"), require("pyspark.sql.types", "spark")
    require("pyarrow", "spark")
    if not isinstance(X, sql.DataFrame):
        raise TypeError(f"X must be a data frame of Spark, got {type(X).__name__}")
    columns = list(X.columns)
    for name, value in (("key", key), ("y", y), ("order", order)):
        check_column(name, value, columns)
    if PREDICTION in columns:
        raise ValueError(f"X must have no column {PREDICTION!r}: it is that of the result")
    others = [name for name in columns if name not in (key, y, order)]
    chosen = others if features is None else features
    for name in [chosen] if isinstance(chosen, str) else chosen:
        check_column("features", name, columns)
    if is_classifier(estimator) and classes is None and not has_begun(estimator):
        raise ValueError("classes must be given: a stream tells them late")
    begun = to_bytes(estimator if has_begun(estimator) else clone(estimator))
    target = X.schema[y].dataType if is_classifier(estimator) else types.DoubleType()
    schema = types.StructType([*X.schema.fields, types.StructField(PREDICTION, target)])
    known = None if classes is None else np.unique(np.asarray(classes))
    learner = KeyLearner(begun, chosen, y, order, known)
    state = require("pyspark.sql.streaming.state", "spark").GroupStateTimeout.NoTimeout
    return X.groupBy(key).applyInPandasWithState(learner.of_key(), schema, STATE, "append", state)


@dataclass(frozen=True)
class KeyLearner:
    """Learns the rows of a key in a micro-batch.

    Parameters
    ----------
    begun : bytes
        The model of a key that has no rows yet.
    features : list of str or str
    y, order : str
        Columns.
    classes : ndarray or None
    """

    begun: bytes
    features: Any
    y: str
    order: str
    classes: Any

    def of_key(self) -> Callable[..., Iterator[Any]]:
        """Return the function of `applyInPandasWithState`."""

        def work(key: Any, frames: Iterable[Any], state: Any) -> Iterator[Any]:
            yield self(frames, state)

        return work

    def __call__(self, frames: Iterable[Any], state: Any) -> Any:
        """Return the rows with their predictions, and put the model into the state."""
        pandas = require("pandas", "spark")
        rows = pandas.concat(list(frames), ignore_index=True)
        rows = rows.sort_values(self.order, kind="stable", ignore_index=True)
        model = from_bytes(bytes(state.get[0]) if state.exists else self.begun, "state")
        rows[PREDICTION] = self.learn(model, rows)
        state.update((to_bytes(model),))
        return rows

    def learn(self, model: Any, rows: Any) -> Any:
        """Predict each row, and learn it if its target is there; return the predictions."""
        absent = missing(rows[self.y].to_numpy())
        begins = [0, *(np.flatnonzero(np.diff(absent)) + 1)]
        answers = np.full(len(rows), None, object)
        for first, last in zip(begins, [*begins[1:], len(rows)], strict=True):
            piece = slice(first, last)
            X = self.features_of(rows.iloc[piece])
            if not absent[first]:
                given = {} if self.classes is None else {"classes": self.classes}
                y = to_array(rows[self.y].iloc[piece])
                answers[piece] = model.partial_fit_predict(X, y, **given)
            elif has_begun(model):
                answers[piece] = model.predict(X)
        return answers

    def features_of(self, rows: Any) -> Any:
        """Return X of some rows."""
        if isinstance(self.features, str):
            return np.stack(rows[self.features].to_list())
        return rows[list(self.features)]
