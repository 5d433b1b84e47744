"""A stage for pipelines of `pyspark.ml`: an estimator and its model."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasFeaturesCol, HasLabelCol, HasPredictionCol, HasWeightCol
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql.functions import pandas_udf
from sklearn.base import is_classifier

from onlinekern.distributed.arguments import check_learner
from onlinekern.distributed.spark.fitting import as_arrays, fit
from onlinekern.fitted.save import from_bytes, to_bytes

__all__ = ["StreamEstimator", "StreamModel"]

# Kind of the dtype of labels -> their type in pyspark.
TYPES = {"U": "string", "i": "long", "u": "long", "f": "double", "b": "boolean"}


def to_text(learner: Any) -> str:
    """Return a learner as text that pyspark can save: the bytes of its file."""
    if isinstance(learner, str):
        return learner
    check_learner(learner)
    return b64encode(to_bytes(learner)).decode()


def from_text(text: str) -> Any:
    """Return the learner stored in a text."""
    return from_bytes(b64decode(text), "the parameter learner")


class HasLearner(HasFeaturesCol, HasLabelCol, HasPredictionCol, HasWeightCol):
    """Parameters that the estimator and its model share."""

    learner = Param(Params._dummy(), "learner", "the learner, as text", to_text)

    def __init__(self, **given: Any) -> None:
        super().__init__()
        self._set(**given)

    def setParams(self, **given: Any) -> Any:
        """Set parameters by name."""
        return self._set(**given)


class StreamEstimator(Estimator, HasLearner, DefaultParamsWritable, DefaultParamsReadable):
    """An estimator of `pyspark.ml` that learns by `fit` of this package.

    Parameters
    ----------
    learner : estimator
        A learner of onlinekern that can be saved.
    featuresCol : str, default='features'
        A column of vectors of pyspark.ml, or of arrays.
    labelCol : str, default='label'
    predictionCol : str, default='prediction'
    weightCol : str
        Not set: all samples weigh the same.
    rounds, passes : int >= 1, default=1
    nLearners : int
        Not set: Spark's default parallelism.

    Notes
    -----
    `write` and `load`, pipelines and searches of pyspark.ml work as with its own estimators.

    Examples
    --------
    >>> from onlinekern import KernelRLSClassifier
    >>> from onlinekern.distributed.spark.pipelines import StreamEstimator  # doctest: +SKIP
    >>> learner = KernelRLSClassifier(n_components=50, random_state=0)
    >>> stage = StreamEstimator(learner=learner, labelCol="sold", rounds=2)  # doctest: +SKIP
    >>> answers = stage.fit(table).transform(table)  # doctest: +SKIP
    """

    rounds = Param(Params._dummy(), "rounds", "merges in a pass", TypeConverters.toInt)
    passes = Param(Params._dummy(), "passes", "passes over the data", TypeConverters.toInt)
    nLearners = Param(
        Params._dummy(), "nLearners", "learners that learn side by side", TypeConverters.toInt
    )

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._setDefault(rounds=1, passes=1)

    def _fit(self, dataset: Any) -> StreamModel:
        options = {
            name: self.getOrDefault(name)
            for name in ("rounds", "passes", "nLearners")
            if self.isDefined(name)
        }
        fitted = fit(
            from_text(self.getOrDefault(self.learner)), dataset, self.getLabelCol(),
            features=self.getFeaturesCol(),
            sample_weight=self.getWeightCol() if self.isDefined(self.weightCol) else None,
            n_learners=options.pop("nLearners", None), progress=False, **options,
        )  # fmt: skip
        model = self._copyValues(StreamModel())
        model._resetUid(self.uid)
        return model._set(learner=fitted.model)


class StreamModel(Model, HasLearner, DefaultParamsWritable, DefaultParamsReadable):
    """The model that `StreamEstimator` returns.

    Attributes
    ----------
    model : estimator
        The fitted learner.
    """

    @property
    def model(self) -> Any:
        """The fitted learner."""
        return from_text(self.getOrDefault(self.learner))

    def _transform(self, dataset: Any) -> Any:
        model = self.model
        kind = TYPES[np.asarray(model.classes_).dtype.kind] if is_classifier(model) else "double"
        answer = pandas_udf(predicting(self.getOrDefault(self.learner)), kind)
        found = answer(as_arrays(dataset, self.getFeaturesCol()))
        return dataset.withColumn(self.getPredictionCol(), found)


def predicting(text: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that predicts batches; a worker reads the model once for each task."""
    import pandas as pd

    def work(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:
        model = from_text(text)
        for rows in batches:
            yield pd.Series(model.predict(np.stack(rows.to_list())) if len(rows) else [])

    # pyspark evaluates these annotations, so they must not be texts.
    work.__annotations__ = {"batches": Iterator[pd.Series], "return": Iterator[pd.Series]}
    return work
