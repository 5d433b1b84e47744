"""Learning a stream of Spark (Structured Streaming), with a model for each key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sklearn.base import is_classifier

from onlinekern.distributed import keyed
from onlinekern.distributed.engines import require
from onlinekern.distributed.keyed import PREDICTION, learner_of_keys
from onlinekern.estimators.types import Classes
from onlinekern.fitted.save import from_bytes, to_bytes

STATE = "model binary"


def learn_stream(
    estimator: Any,
    X: Any,
    key: str,
    y: str,
    *,
    order: str,
    features: Sequence[str] | str | None = None,
    classes: Classes = None,
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
    sql, types = require("pyspark.sql", "spark"), require("pyspark.sql.types", "spark")
    require("pyarrow", "spark")
    if not isinstance(X, sql.DataFrame):
        raise TypeError(f"X must be a data frame of Spark, got {type(X).__name__}")
    names = {"key": key, "y": y, "order": order}
    learner = learner_of_keys(KeyLearner, estimator, X, list(X.columns), names, features, classes)
    target = X.schema[y].dataType if is_classifier(estimator) else types.DoubleType()
    schema = types.StructType([*X.schema.fields, types.StructField(PREDICTION, target)])
    state = require("pyspark.sql.streaming.state", "spark").GroupStateTimeout.NoTimeout
    return X.groupBy(key).applyInPandasWithState(learner, schema, STATE, "append", state)


class KeyLearner(keyed.KeyLearner):
    """Learns the rows of a key in a micro-batch."""

    def __call__(self, key: Any, frames: Iterable[Any], state: Any) -> Iterator[Any]:
        """Yield the rows with their predictions, and store the model in the state."""
        rows = self.in_order(require("pandas", "spark").concat(list(frames), ignore_index=True))
        model = from_bytes(bytes(state.get[0]) if state.exists else self.begun, "state")
        rows[PREDICTION] = self.learn(model, rows)
        state.update((to_bytes(model),))
        yield rows
