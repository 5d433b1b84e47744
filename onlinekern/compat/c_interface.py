"""The Python half of the C interface: its functions, applied to an estimator.

`core.capi` converts the arguments. Labels are numbers. X is a read-only dense array or CSR matrix
in memory of the C caller, which is valid only during the call.
"""

import ast
import os
import re
from typing import Any

import numpy as np

from onlinekern._registry import all_estimators
from onlinekern.estimators.classification import Classifier, OnlineClassifier
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.outliers import OnlineOutlierDetector
from onlinekern.estimators.regression import OnlineRegressor, Regressor
from onlinekern.estimators.types import Array
from onlinekern.estimators.validation import NUMBERS, same_labels
from onlinekern.fitted.save import from_bytes, to_bytes
from onlinekern.fitted.save import load as saved_estimator
from onlinekern.preprocessing.pipeline import StreamPipeline
from onlinekern.preprocessing.steps import learner_of

# A value ends where the next "key=" begins, so it may contain blanks.
ASSIGNMENT = re.compile(r"\s*(\w+)=(.*?)(?=\s+\w+=|\s*\Z)", re.S)
WORD = re.compile(r"[A-Za-z_][\w-]*")
# Attribute with the classes that were set before the first sample.
ANNOUNCED = "_announced_classes"


def value_of(key: str, text: str) -> Any:
    """Return the value of a Python literal, or the text itself if it is a plain word."""
    try:
        return ast.literal_eval(text)
    except Exception as error:  # literal_eval raises many kinds of errors.
        if WORD.fullmatch(text):
            return text
        raise ValueError(f"{key}={text} is neither a Python literal nor a word") from error


def parameters_of(text: str) -> Any:
    """Parse parameters from "key=value key=value".

    Examples
    --------
    >>> parameters_of("gamma=0.4 kernel=laplacian random_state=None class_weight={1: 2.0, -1: 1.0}")
    {'gamma': 0.4, 'kernel': 'laplacian', 'random_state': None, 'class_weight': {1: 2.0, -1: 1.0}}
    """
    parameters, place = {}, 0
    while text[place:].strip():
        match = ASSIGNMENT.match(text, place)
        if match is None:
            raise ValueError(f"parameters must be 'key=value key=value', got {text[place:]!r}")
        key, place = match[1], match.end()
        if key in parameters:
            raise ValueError(f"parameter {key} is given twice")
        parameters[key] = value_of(key, match[2])
    return parameters


def new(name: str, text: str) -> Any:
    """Make an estimator of `all_estimators` with parameters given as text, and check them."""
    classes = dict(all_estimators())
    if name not in classes:
        raise ValueError(f"there is no estimator {name!r}; there are {', '.join(classes)}")
    estimator = classes[name]()
    parameters = parameters_of(text)
    known = sorted(estimator.get_params())
    for key in parameters:
        if key not in known:
            raise ValueError(f"{name} has no parameter {key!r}; it has {', '.join(known)}")
    estimator.set_params(**parameters)
    estimator._validate_params()
    return estimator


def load(data: bytes) -> Any:
    """Read the estimator in the bytes of `save`."""
    try:
        estimator = from_bytes(data, "the file")
    except ValueError as error:
        raise ValueError(f"the bytes hold no model: {error}") from error
    return numeric(estimator)


def load_file(path: bytes) -> Any:
    """Read the estimator in a file of `save_file`, or of the estimator's own `save`."""
    return numeric(saved_estimator(os.fsdecode(path)))


def numeric(estimator: Any) -> Any:
    """Return the estimator itself, after checking that the C interface can use it."""
    if not isinstance(learner_of(estimator), Learner):
        raise ValueError(f"there is no estimator saved, but a {type(estimator).__name__}")
    labels = classes(estimator)
    if not isinstance(labels, np.ndarray) or labels.dtype.kind not in NUMBERS:
        raise ValueError(f"the labels of this model are no numbers: {labels}")
    return estimator


def is_pipeline(estimator: Any) -> bool:
    # isinstance takes half a microsecond, because pipelines have a metaclass.
    return StreamPipeline in type(estimator).__mro__


def save(estimator: Any) -> bytes:
    """Return an estimator as the bytes of a file that its `save` writes."""
    return to_bytes(estimator)


def save_file(estimator: Any, path: bytes) -> None:
    """Write an estimator to a file, which appears only when complete."""
    estimator.save(os.fsdecode(path))


def classes(estimator: Any) -> Any:
    """Return the learnt or given labels in ascending order; an empty array if there are none."""
    if hasattr(estimator, "classes_"):
        return estimator.classes_
    return vars(estimator).get(ANNOUNCED, np.empty(0))


def announce(estimator: Any, labels: Any) -> None:
    """Set the classes before the first sample."""
    learner = learner_of(estimator)
    if not isinstance(learner, Classifier):
        raise ValueError(f"{type(learner).__name__} knows no classes")
    labels = np.unique(labels)
    if not np.isfinite(labels).all() or len(labels) < 2:
        raise ValueError(f"classes must be two finite numbers at least, got {labels}")
    if not has_learnt(estimator):
        setattr(estimator, ANNOUNCED, labels)
    elif not same_labels(labels, estimator.classes_.astype(float)):
        raise ValueError(f"classes are {labels}, but the model has learnt {estimator.classes_}")


def has_learnt(estimator: Any) -> bool:
    """Return whether the estimator has learnt a sample."""
    return learner_of(estimator).__sklearn_is_fitted__()


def check_streams(estimator: Any) -> None:
    """Raise ValueError unless the estimator can learn in batches."""
    learner = learner_of(estimator)
    if not hasattr(learner, "partial_fit"):
        raise ValueError(f"{type(learner).__name__} learns no streams: use ok_fit")


def first_classes(estimator: Any) -> Any:
    """Return the classes as keyword argument for the first call of a classifier; later, nothing."""
    if has_learnt(estimator) or not isinstance(learner_of(estimator), Classifier):
        return {}
    if ANNOUNCED not in vars(estimator):
        raise ValueError("the classes are not known: call ok_set_classes before the first sample")
    return {"classes": getattr(estimator, ANNOUNCED)}


def fit(estimator: Any, X: Any, y: Any, weight: Any) -> None:
    """Learn from scratch."""
    estimator.fit(X, targets(estimator, y), sample_weight=weight)


def learn(estimator: Any, X: Any, y: Any, weight: Any, predictions: Any) -> None:
    """Learn one pass; write the predictions before learning to `predictions` if not None."""
    check_streams(estimator)
    y, first = targets(estimator, y), first_classes(estimator)
    if predictions is None:
        estimator.partial_fit(X, y, sample_weight=weight, **first)
    else:
        predictions[:] = estimator.partial_fit_predict(X, y, sample_weight=weight, **first)


def way_of(cls: type) -> tuple[bool, ...]:
    """Return which single-row calls the core can make directly for a class: `one_row.Way`.

    For each such call, the method that Python would use must be the one that `one_row`
    reimplements.
    """

    def has(name: str, *owners: Any) -> bool:
        return any(getattr(cls, name, None) is getattr(owner, name) for owner in owners)

    calls_blas = issubclass(cls, Learner) and cls._calls_blas
    learns = has("learn_one", OnlineClassifier, OnlineRegressor)
    # Each sample of these calls uses BLAS, for which `learn_one` makes preparations.
    learns = learns and not (calls_blas and has("_next_calls_blas", Learner))
    scores = has("score_one", Learner) and has("_scores", Learner)
    classifies = has("predict", Classifier) and has("_winners", Classifier)
    return (
        learns,
        issubclass(cls, Classifier),
        calls_blas,
        scores,
        scores and (classifies or has("predict", Regressor)),
        issubclass(cls, Learner) and hasattr(cls, "partial_fit"),
    )


def learn_one(pipeline: Any, x: Any, y: Any) -> bool:
    """Learn one sample by `learn_one` of a fitted pipeline; for others, return False."""
    if not (is_pipeline(pipeline) and has_learnt(pipeline)):
        return False
    check_streams(pipeline)
    pipeline.learn_one(x, y)
    return True


def targets(estimator: Any, y: Any) -> Any:
    """Return y; only an outlier detector may do without it."""
    if y is None and not isinstance(learner_of(estimator), OnlineOutlierDetector):
        raise ValueError("y is NULL")
    return y


def scores(estimator: Any, X: Any, out: Array) -> None:
    """Write decision values of samples, or a regressor's predictions, to the array `out`."""
    # Check the size before computing.
    check_room(out, X.shape[0] * count(estimator, "n_outputs_"), "scores")
    regressor = isinstance(learner_of(estimator), Regressor)
    write((estimator.predict if regressor else estimator.decision_function)(X), out, "scores")


def score_one(estimator: Any, x: Any, out: Array) -> None:
    """Write the scores of one sample to the array `out`."""
    score = estimator.score_one(x)
    if type(score) is float and len(out) > 0:
        out[0] = score
    else:
        write(score, out, "scores")


def write(values: Any, out: Array, name: str) -> None:
    """Write numbers to the beginning of the array `out`."""
    values = np.ravel(values)
    check_room(out, len(values), name)
    out[: len(values)] = values


def check_room(out: Array, needed: int, name: str) -> None:
    if needed > len(out):
        raise ValueError(f"{name} has room for {len(out)} numbers, {needed} are needed")


def predict(estimator: Any, X: Any, out: Array) -> None:
    """Write predictions of samples to the array `out`."""
    found = estimator.predict(X)
    if found.ndim > 1:
        raise ValueError(f"a prediction is {found.shape[1]} targets: ask for the scores instead")
    out[:] = found


def count(estimator: Any, name: str) -> Any:
    """Return a counter or size of the estimator by attribute name; 0 before the first sample."""
    learner = learner_of(estimator)
    if not hasattr(type(learner), name) and name == "n_mistakes_":
        raise ValueError(f"{type(learner).__name__} counts no mistakes")
    if not has_learnt(estimator):
        return 0
    if name == "n_outputs_":
        return learner._model.head.n_outputs
    return getattr(estimator if name == "n_features_in_" else learner, name, 0)
