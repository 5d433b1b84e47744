"""Checks that the attributes of a loaded estimator fit together.

The core checks its parts when they are restored. The attributes around them are checked here, for
Python code uses them without a look.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinekern.estimators.savable import Savable

# These attributes follow from others; files do not hold them.
DERIVED = {"_numbers"}

# Counters may still be added to, in 64 bits.
MOST = 1 << 62


def complete(loaded: Any) -> None:
    """Set the derived attributes of an object; raise ValueError if the others do not agree, or if
    it has learnt with parameters that are not valid."""
    check_parameters(loaded)
    check_detector(loaded)
    check_transformer(loaded)
    from onlinekern.estimators.contract import Learner
    from onlinekern.estimators.median_width import WarmUp
    from onlinekern.estimators.outliers import RecentQuantile
    from onlinekern.preprocessing.kernel_features import FeatureTransformer
    from onlinekern.preprocessing.pipeline import StreamPipeline
    from onlinekern.preprocessing.sketches import FrequentDirections
    from onlinekern.preprocessing.tables.encoder import TableEncoder
    from onlinekern.preprocessing.taught import TaughtTransformer

    checks = {
        Learner: ("_model", check_learner),
        RecentQuantile: ("", check_quantile),
        WarmUp: ("", check_warm_up),
        FeatureTransformer: ("", check_map),
        FrequentDirections: ("", check_sketch),
        TaughtTransformer: ("", check_taught),
        StreamPipeline: ("", check_pipeline),
        TableEncoder: ("", check_table),
    }
    for cls, (learnt, check) in checks.items():
        if isinstance(loaded, cls):
            check(loaded)
        else:
            require(learnt not in vars(loaded), f"{learnt} is of another class")
    # Their module is imported only where there is one.
    if {"_coverage", "estimator_"} & vars(loaded).keys():
        check_conformal(loaded)


def check_parameters(loaded: Any) -> None:
    """Check the parameters of what has learnt, which it can with valid ones only.

    Others may hold any, as in Python, and say so when they learn.
    """
    if not hasattr(loaded, "_get_param_names"):
        return
    if vars(loaded).keys() - set(loaded._get_param_names()):
        loaded._validate_params()


def check_detector(detector: Any) -> None:
    """Check a detector of change, which knows what fits together."""
    is_sound = getattr(detector, "_is_sound", None)
    if is_sound is None:
        require("_wealth" not in vars(detector), "_wealth is of another class")
    else:
        require(is_sound(), "its state is none of a detector")


def check_learner(learner: Any) -> None:
    from onlinekern.core.race import Race
    from onlinekern.core.renewed_race import RenewedRace
    from onlinekern.core.stream import Model
    from onlinekern.estimators.categories import are_categories
    from onlinekern.estimators.classification import Classifier
    from onlinekern.estimators.outliers import OnlineOutlierDetector, RecentQuantile

    own = vars(learner)
    if "_model" not in own:
        return
    require(type(own["_model"]) in (Model, Race, RenewedRace), "its model is none")
    check_features(learner)
    if "_warm_up" in own:
        check_first_samples(learner)
    if isinstance(learner, Classifier):
        check_labels(learner)
    if "_categories" in own:
        coded = getattr(learner._model.space, "categories", None)
        require(are_categories(own["_categories"], coded), "its categories are none of the model")
    if isinstance(learner, OnlineOutlierDetector):
        require(type(own.get("_recent")) is RecentQuantile, "it has no quantile")


def check_features(learner: Any) -> None:
    """Check that the features of a learner, or those that its encoder makes, are the model's."""
    own = vars(learner)
    n_features = own.get("n_features_in_")
    if "encoder_" in own:
        from onlinekern.preprocessing.tables.encoder import TableEncoder

        encoder = own["encoder_"]
        fitted = type(encoder) is TableEncoder and "_columns" in vars(encoder)
        require(fitted, "its encoder is none")
        require(n_features == len(encoder._columns), "the number of columns is not one")
        n_features = encoder.n_features_out_
    require(n_features == learner._model.d, "the number of features is not one")


def check_first_samples(learner: Any) -> None:
    """Check that the samples that give the kernel's width are the model's."""
    from onlinekern.estimators.median_width import WarmUp

    warm_up, model = learner._warm_up, learner._model
    known = learner._warms_up and type(warm_up) is WarmUp
    require(known, "its first samples are none")
    require(warm_up.count == model.n_seen < warm_up.counts[-1], "it has seen other samples")
    X = warm_up.samples[0]
    fits = X is None or (X.shape[1] == model.d and X.dtype == model.dtype)
    require(fits, "its first samples are others")
    n_targets = model.head.n_targets
    told = () if n_targets == 1 or X is None else (n_targets,)
    require(warm_up.samples[1].shape[1:] == told, "its first samples have other targets")


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
    require(type(count) is int and 0 <= count < MOST, "its count of scores is none")
    require(type(own["quantile"]) is float, "its quantile is no number")


def check_conformal(model: Any) -> None:
    from onlinekern.estimators.coverage import Coverage
    from onlinekern.learners.conformal_base import Conformal

    own = vars(model)
    if not isinstance(model, Conformal):
        require("_coverage" not in own, "_coverage is of another class")
        return
    followed, learner = own.get("_coverage"), own.get("estimator_")
    require(type(followed) is Coverage, "its coverage is none")
    fault = followed.fault() if isinstance(followed, Coverage) else None
    require(fault is None, fault or "")
    require(hasattr(learner, "predict") and hasattr(learner, "partial_fit"), "it has no learner")


def check_warm_up(warm_up: Any) -> None:
    own = vars(warm_up)
    require(own.keys() == {"parameters", "draws", "gamma", "samples"}, "its first samples are none")
    require(type(own["parameters"]) is dict, "the parameters of its first samples are none")
    require(isinstance(own["draws"], np.random.RandomState), "its draws are none")
    require(type(own["gamma"]) is float and own["gamma"] > 0, "its width is none")
    samples = own["samples"]
    require(type(samples) is tuple and len(samples) == 3, "its first samples are none")
    X, y, weight = samples
    if X is not None:
        forms = (np.ndarray, sp.csr_matrix, sp.csr_array)
        require(isinstance(X, forms) and X.ndim == 2, "its first samples are none")
    count = 0 if X is None else X.shape[0]
    for numbers in (y, weight):
        require(isinstance(numbers, np.ndarray) and numbers.dtype == float, "a target is none")
        require(numbers.shape[:1] == (count,), "its first samples have other targets")
    require(weight.ndim == 1 and y.ndim <= 2, "its first samples have other targets")
    require(np.isfinite(weight).all() and (weight > 0).all(), "a weight is none")


def check_transformer(transformer: Any) -> None:
    from onlinekern.core.features.gradient_metric import MetricStream
    from onlinekern.core.features.map import FeatureMap
    from onlinekern.core.features.partition import Partition
    from onlinekern.core.linalg import frequent_directions, running_moments
    from onlinekern.preprocessing.kernel_features import FeatureTransformer
    from onlinekern.preprocessing.learnt_metric import LearntMetric
    from onlinekern.preprocessing.partition_features import PartitionFeatures
    from onlinekern.preprocessing.scaler import OnlineStandardScaler
    from onlinekern.preprocessing.sketches import FrequentDirections

    # What each has learnt, and of which class of the core that is.
    learnt = {
        FeatureTransformer: ("_map", FeatureMap),
        FrequentDirections: ("_sketch", frequent_directions.FrequentDirections),
        LearntMetric: ("_metric", MetricStream),
        OnlineStandardScaler: ("_moments", running_moments.RunningMoments),
        PartitionFeatures: ("_partition", Partition),
    }
    own = vars(transformer)
    for cls, (name, kind) in learnt.items():
        if name in own:
            require(isinstance(transformer, cls), f"{name} is of another class")
            require(isinstance(own[name], kind), f"its {name[1:]} is none")
            require(own.get("n_features_in_") == own[name].d, "the number of features is not one")


def check_map(transformer: Any) -> None:
    own = vars(transformer)
    if "_first" not in own:
        return
    first, known = own["_first"], own.get("_map")
    require(type(first) is tuple and len(first) == 3, "its first rows are none")
    rows, draws, parameters = first
    names = set(transformer._get_param_names())
    known_names = type(parameters) is dict and parameters.keys() == names
    require(known_names, "the parameters of its first rows are none")
    begun = transformer._with(parameters)
    begun._validate_params()
    require(isinstance(draws, np.random.RandomState), "its draws are none")
    forms = (np.ndarray, sp.csr_matrix, sp.csr_array)
    require(isinstance(rows, forms) and rows.ndim == 2 and known is not None, "it has no map")
    fits = rows.shape[1] == known.d and rows.dtype.itemsize == known.itemsize
    require(fits and rows.dtype.kind == "f", "its first rows are others")
    require(0 < rows.shape[0] < begun._counts()[-1], "its map is settled")


def check_sketch(transformer: Any) -> None:
    own = vars(transformer)
    if "_held" not in own:
        return
    held, sketch = own["_held"], own.get("_sketch")
    require(type(held) is tuple and len(held) == 2 and sketch is not None, "it holds no directions")
    count, directions = held
    require(type(count) is int and 0 <= count < MOST, "its count of rows is none")
    known = isinstance(directions, np.ndarray) and directions.dtype == float
    require(known and directions.shape == (sketch.size, sketch.d), "its directions are none")
    require(bool(np.isfinite(directions).all()), "its directions are none")


def check_taught(transformer: Any) -> None:
    from onlinekern.estimators.atomic import learnt_by

    learnt = learnt_by(transformer)
    if learnt is None:
        return
    labels, kind = vars(transformer).get("_labels"), learnt.kind
    known = type(labels) is tuple and all(type(label) is str for label in labels)
    require(known and len(set(labels)) == len(labels), "its labels are none")
    require(not labels or kind == "labels", "its targets are no labels")


def check_table(encoder: Any) -> None:
    from onlinekern.preprocessing.scaler import OnlineStandardScaler

    own = vars(encoder)
    if "_columns" not in own:
        return
    from onlinekern.preprocessing.tables.columns import Column

    columns = own["_columns"]
    require(isinstance(columns, list) and len(columns) > 0, "its columns are none")
    for column in columns:
        require(isinstance(column, Column) and column.is_sound(), "one of its columns is none")
    require(type(own.get("sparse_")) is bool, "its features have no form")
    require(own.get("n_features_in_") == len(columns), "the number of columns is not one")
    require(type(own.get("_scaler")) in (type(None), OnlineStandardScaler), "its scaler is none")


def check_pipeline(pipeline: Any) -> None:
    steps = vars(pipeline).get("steps")
    require(isinstance(steps, list) and len(steps) > 0, "it has no steps")
    for step in steps:
        require(isinstance(step, tuple) and len(step) == 2, "its steps are no pairs")
        require(isinstance(step[0], str), "the names of its steps are no text")
        known = step[1] is None or isinstance(step[1], (str, Savable))
        require(known or hasattr(step[1], "get_params"), f"its step {step[0]!r} is no estimator")


def require(holds: Any, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
