"""Whether the attributes of a loaded estimator fit together.

The core checks its parts when they are restored. What is checked here are the attributes around
them, which Python code uses without a look.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Attributes that follow from others; files do not hold them.
DERIVED = {"_numbers"}


def complete(loaded: Any) -> None:
    """Set the derived attributes of an object; ValueError if the others contradict one another."""
    from onlinekern._base import Learner
    from onlinekern._outliers import RecentQuantile
    from onlinekern.features import FeatureTransformer
    from onlinekern.sketch import FrequentDirections

    learnt: dict[type, str] = {
        Learner: "_model",
        FeatureTransformer: "_map",
        FrequentDirections: "_sketch",
    }
    checks = {
        Learner: check_learner,
        RecentQuantile: check_quantile,
        FeatureTransformer: check_transformer,
        FrequentDirections: check_sketch,
    }
    for cls, check in checks.items():
        if isinstance(loaded, cls):
            check(loaded)
        elif cls in learnt:
            require(learnt[cls] not in vars(loaded), f"{learnt[cls]} is of another class")


def check_learner(learner: Any) -> None:
    from onlinekern._outliers import OnlineOutlierDetector, RecentQuantile
    from onlinekern._tasks import Classifier
    from onlinekern.core.stream import Model

    own = vars(learner)
    if "_model" not in own:
        return
    require(type(own["_model"]) is Model, "its model is none")
    require(own.get("n_features_in_") == learner._model.d, "the number of features is not one")
    if isinstance(learner, Classifier):
        check_labels(learner)
    if isinstance(learner, OnlineOutlierDetector):
        require(type(own.get("_recent")) is RecentQuantile, "it has no quantile")


def check_labels(learner: Any) -> None:
    """Check the classes of a classifier, and number them."""
    labels = vars(learner).get("classes_")
    require(isinstance(labels, np.ndarray) and labels.ndim == 1, "its classes are no labels")
    outputs = 1 if len(labels) == 2 else len(labels)
    require(len(labels) > 1 and outputs == learner._model.head.n_outputs, "it has other classes")
    require(np.array_equal(np.unique(labels), labels), "its classes do not ascend")
    learner._note_classes(labels)


def check_quantile(quantile: Any) -> None:
    own = vars(quantile)
    require(own.keys() == {"fraction", "values", "count", "quantile"}, "its quantile is none")
    values, count = own["values"], own["count"]
    require(isinstance(values, np.ndarray) and values.dtype == float, "its scores are none")
    require(values.shape == (quantile.LENGTH,), "its quantile is of other scores")
    require(type(count) is int and count >= 0, "its count of scores is none")
    require(type(own["quantile"]) is float, "its quantile is no number")


def check_transformer(transformer: Any) -> None:
    from onlinekern.core.features.map import FeatureMap

    own = vars(transformer)
    if "_map" in own:
        require(isinstance(own["_map"], FeatureMap), "its map is none")
        require(own.get("n_features_in_") == own["_map"].d, "the number of features is not one")


def check_sketch(transformer: Any) -> None:
    from onlinekern.core.linalg.frequent_directions import FrequentDirections

    own = vars(transformer)
    if "_sketch" in own:
        require(type(own["_sketch"]) is FrequentDirections, "its sketch is none")
        require(own.get("n_features_in_") == own["_sketch"].d, "the number of features is not one")


def require(holds: Any, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
