"""Learning a stream of Flink: a model for each key, as keyed state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sklearn.base import is_classifier

from onlinekern.distributed.engines import require
from onlinekern.distributed.keyed import PREDICTION, KeyLearner, learner_of_keys
from onlinekern.estimators.types import Classes


class KeyedStreams(NamedTuple):
    """The result of `learn_stream`.

    Attributes
    ----------
    answers : pyflink.datastream.DataStream
        The rows of X with a column `prediction`, made by the model of the key before it learnt the
        row. It is missing as long as that model has learnt nothing and y is missing.
    models : pyflink.datastream.DataStream
        Rows (key, model), one for each key, when X ends, or the job is stopped with a savepoint and
        drained. A model is the bytes of a file of `save`, which `onlinekern.load` reads.
    """

    answers: Any
    models: Any


def learn_stream(
    estimator: Any,
    X: Any,
    key: str,
    y: str,
    *,
    order: str | None = None,
    features: Sequence[str] | str | None = None,
    classes: Classes = None,
    uid: str = "onlinekern",
) -> KeyedStreams:
    """Learn a stream of Flink, test-then-train: a model for each key.

    The model of a key is keyed state (``ValueState`` of a ``KeyedProcessFunction``), which Flink
    keeps in its checkpoints and savepoints together with the place in the stream. A job that is
    begun again from one, because a worker has died or somebody has stopped it, has learnt each row
    once; its models are those of a job that was not interrupted, byte for byte.

    Parameters
    ----------
    estimator : estimator
        A learner, or a pipeline that ends with one. Each key begins with a clone of it; with a copy
        if it has learnt something. It is not changed. A learner that draws random numbers needs a
        `random_state`: otherwise a key that is begun again, since its first checkpoint was not
        finished, begins with other ones.
    X : pyflink.datastream.DataStream
        A stream of rows whose type names its columns (``Types.ROW_NAMED``), such as
        ``StreamTableEnvironment.to_data_stream`` gives.
    key : str
        The column whose values have a model each. Rows of several keys are learnt side by side.
    y : str
        The column of labels or targets. A row whose y is missing is predicted and not learnt.
    order : str or None, default=None
        A column by which the rows of a key are sorted, such as a time. Rows wait until the
        watermark has passed their timestamps, which X must have
        (`assign_timestamps_and_watermarks`). A row that comes later than that is learnt with the
        next ones. None: rows are learnt as they come; Flink keeps the order of the rows of a key
        that come from one partition of a source, and of several partitions none.
    features : list of str, str or None, default=None
        The columns that are learnt, in this order, or one column of arrays. None: all columns but
        key, y and order.
    classes : array-like or None, default=None
        All labels, which a classifier must be told.
    uid : str, default='onlinekern'
        The name by which a savepoint knows the models. Two streams that are learnt in one job need
        two.

    Returns
    -------
    KeyedStreams
        The streams `answers` and `models`.

    Raises
    ------
    ValueError
        If an argument is invalid.
    TypeError
        If the estimator is no learner of streams, or X no stream of rows with names.
    ImportError
        If PyFlink is missing.

    Notes
    -----
    Rows of a key that come together, in one bundle of Flink's (``python.fn-execution.bundle.size``
    and ``.time``), are learnt in one call; until then they are state, too. How a stream is cut into
    calls changes no bit. The model's bytes are made once a bundle and key. The state is what `save`
    writes (docs/files.md), so a savepoint outlives versions of the library; a learner that cannot
    be saved is refused. Bad rows end the job: filter them out of X before.

    Answers are exactly once if the sink is, such as a ``FileSink``.

    Examples
    --------
    >>> from onlinekern import KernelRLSRegressor
    >>> from onlinekern.distributed import flink
    >>> learner = KernelRLSRegressor(n_components=50, random_state=0)
    >>> answers, models = flink.learn_stream(learner, rows, "sensor", "load")  # doctest: +SKIP
    >>> answers.print()  # doctest: +SKIP
    >>> environment.execute()  # doctest: +SKIP
    """
    Types = require("pyflink.common", "flink").Types
    streams = require("pyflink.datastream", "flink")
    if not isinstance(X, streams.DataStream):
        raise TypeError(f"X must be a DataStream of Flink, got {type(X).__name__}")
    types = types_of(X)
    names = {"key": key, "y": y, "order": order}
    learner = learner_of_keys(KeyLearner, estimator, X, list(types), names, features, classes)
    from onlinekern.distributed.flink.keys import MODELS, Models

    target = types[y] if is_classifier(estimator) else Types.DOUBLE()
    answer = Types.ROW_NAMED(*columns_of({**types, PREDICTION: target}))
    place = list(types).index(key)
    keyed = X.key_by(lambda row: row[place], key_type=types[key])
    answers = keyed.process(Models(learner, list(types)), output_type=answer).name(uid).uid(uid)
    model = Types.ROW_NAMED(["key", "model"], [types[key], Types.PRIMITIVE_ARRAY(Types.BYTE())])
    return KeyedStreams(answers, answers.get_side_output(streams.OutputTag(MODELS, model)))


def columns_of(types: dict[str, Any]) -> tuple[list[str], list[Any]]:
    """Return names and types of columns."""
    return list(types), list(types.values())


def types_of(X: Any) -> dict[str, Any]:
    """Return the columns of a stream of rows, with their types."""
    kind = X.get_type()
    # Rows that come from a table have the type of the table around their own.
    kind = getattr(kind, "_type_info", kind)
    if not hasattr(kind, "get_field_names"):
        raise TypeError(f"X must be a stream of rows with names (Types.ROW_NAMED), got {kind}")
    return dict(zip(kind.get_field_names(), kind.get_field_types(), strict=True))
