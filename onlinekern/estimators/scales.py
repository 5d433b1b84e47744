"""The warning of features, or of targets, whose scales a learner does not cope with.

A learner that takes samples as they are fails in silence on raw units: what is small has no effect,
and steps are too short or too long. Its first samples tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.sparsefuncs import min_max_axis

from onlinekern.core.samples.distances import pair_distances
from onlinekern.core.samples.rows import rows_at
from onlinekern.estimators.encoded_tables import feature_names
from onlinekern.estimators.kernel_width import falls_with_distance, spread_rows
from onlinekern.estimators.types import Array
from onlinekern.estimators.warnings import SCALES_DIFFER, warn

# The look comes in the call that brings this sample of a stream, and once for each `fit`.
LEAST = 20
# Fewer rows do not tell scales from chance: one uniform feature in 10^9 is so small in three rows.
FEWEST = 3
# Scales that differ by less are common among features that were scaled, or count something.
MOST_APART = 1e3
# With larger shares of one feature in the squared distances a kernel hardly sees the others: of
# 4 features, kernel least squares has 4.7 % mistakes with all alike (0.18), 18.6 with one of 10
# times the scale (0.96), 24.8 with 30 times (0.995), 25.6 with 1,000 times.
MOST_OF_DISTANCE = 0.99
# The rows of TF-IDF matrices have the length 1, written with a few digits.
ROUNDING = 1e-3
# So little is what rounding leaves of a constant that a scaler has moved to 0.
OF_A_CONSTANT = 64 * np.finfo(np.float64).eps

# What tells the names of the columns of the rows that a learner learns, if it is not told them.
COLUMNS: ContextVar[Callable[[Any], Sequence[Any] | None]] = ContextVar(
    "columns", default=lambda estimator: None
)


@contextmanager
def columns_called(estimator: Any, names: Sequence[Any] | None) -> Iterator[None]:
    """Return a context in which messages on the rows that an estimator learns know these names."""
    before = COLUMNS.set(lambda learner: names if is_same(learner, estimator) else None)
    try:
        yield
    finally:
        COLUMNS.reset(before)


def is_same(learner: Any, estimator: Any) -> bool:
    """Return whether the learner that has something to say is the estimator that was called.

    Single rows of a warm-up are learnt by a copy. What is inside the estimator, behind transformers
    say, is of another class.
    """
    return type(learner) is type(estimator)


def warn_of_scales(estimator: Any, X: Any, y: Any) -> None:
    """Warn if the features of rows differ much in scale, or targets are far from unit scale.

    Parameters
    ----------
    estimator : estimator
        Which learns them as they are, but for targets with `standardize_target`.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Fewer than three rows tell nothing. Of many, those of `spread_rows` are looked at.
    y : ndarray of shape (n_samples,)
        Class numbers, or targets.
    """
    if X.shape[0] < FEWEST:
        return
    chosen = spread_rows(X.shape[0])
    rows = rows_at(X, chosen)
    if not warn_of_features(estimator, rows) and falls_with_distance(
        getattr(estimator, "kernel", None)
    ):
        warn_of_distances(estimator, rows)
    if is_regressor(estimator) and not estimator.standardize_target:
        warn_of_targets(estimator, y[chosen])


def warn_of_features(estimator: Any, rows: Any) -> bool:
    """Warn if the largest values of two features differ by more than a factor of 1,000.

    Return whether it did.
    """
    numbers, largest = largest_values(rows)
    if len(numbers) > 0:
        varies = largest > OF_A_CONSTANT * largest.max()
        numbers, largest = numbers[varies], largest[varies]
    if len(numbers) == 0 or largest.max() <= MOST_APART * largest.min() or are_normalised(rows):
        return False
    above, below = (
        f"{feature_name(estimator, numbers[at])} reaches {largest[at]:.3g}"
        for at in (largest.argmax(), largest.argmin())
    )
    warn(
        f"{SCALES_DIFFER} by more than {MOST_APART:,.0f}: {above}, {below}. What "
        f"is small has next to no effect. {how_to_scale(estimator)}",
        UserWarning,
    )
    return True


def how_to_scale(estimator: Any) -> str:
    """Return the end of a message: what to do."""
    other = ""
    if is_classifier(estimator) or is_regressor(estimator):
        kind = "StreamClassifier" if is_classifier(estimator) else "StreamRegressor"
        other = f", or take {kind}, which scales by itself"
    own = vars(estimator)
    encodes = "encoder_" in own or "_encoder_in_front" in own
    steps = "TableEncoder(), " * encodes + "OnlineStandardScaler(), "
    return (
        f"Scale the features, as make_stream_pipeline({steps}{type(estimator).__name__}()) "
        f"does{other}."
    )


def warn_of_distances(estimator: Any, rows: Any) -> None:
    """Warn if one feature makes nearly the whole distance of most pairs of rows.

    A kernel that falls with the distance then sees this feature alone. Pairs that differ in no
    other feature do not count, so that rare features do not cause it.
    """
    numbers, largest = largest_values(rows)
    if len(numbers) < 2:
        return
    feature = numbers[largest.argmax()]
    # Shares stay as they are, and squares are finite. Of tiny numbers the factor would not be.
    root = 2.0 ** (-int(np.frexp(largest.max())[1]) // 2)
    rows = rows * root * root
    with np.errstate(over="ignore", invalid="ignore"):
        own, others = (
            pair_distances(columns_of(rows, chosen), True)
            for chosen in (numbers[numbers == feature], numbers[numbers != feature])
        )
        differ = others > 0
        share = np.median((own / (own + others))[differ]) if differ.any() else 0.0
    if share <= MOST_OF_DISTANCE:
        return
    warn(
        f"{SCALES_DIFFER}: {feature_name(estimator, feature)} makes {share:.1%} of the squared "
        "distance of two samples, and the kernel sees next to nothing of the others. "
        f"{how_to_scale(estimator)}",
        UserWarning,
    )


def largest_values(rows: Any) -> tuple[Array, Array]:
    """Return which features vary in these rows, by number, and their largest absolute values.

    The deviation would not do: that of a rare feature, 1 in few samples and else 0, is small, and
    depends on how many samples there are. By largest values, features of 0 and 1 are
    as large as each other, one-hot or however rare; counts and pixels are within their range;
    standardised rows have values of 1 at least, and of the root of their number at most. The zeros
    of CSR rows count as those of dense rows. A constant feature tells nothing of its scale.
    """
    if sp.issparse(rows):
        low, high = (values.astype(np.float64) for values in min_max_axis(rows, axis=0))
    else:
        low, high = rows.min(axis=0), rows.max(axis=0)
    numbers = np.flatnonzero(low < high)
    return numbers, np.maximum(-low, high)[numbers]


def columns_of(rows: Any, numbers: Array) -> Any:
    """Return some columns, in C order or as CSR."""
    columns = rows[:, numbers]
    return columns.tocsr() if sp.issparse(rows) else np.ascontiguousarray(columns)


def are_normalised(rows: Any) -> bool:
    """Return whether all nonzero rows have the length 1: their features need no scaling."""
    with np.errstate(over="ignore"):
        squares = rows.multiply(rows) if sp.issparse(rows) else rows * rows
    lengths = np.sqrt(np.asarray(squares.sum(axis=1))).ravel()
    return bool(np.all(np.abs(lengths[lengths > 0] - 1) < ROUNDING))


def feature_name(estimator: Any, number: Any) -> str:
    """Return how a message calls a feature: by its name, if it has one."""
    names: Any = feature_names(estimator)
    if (encoder := vars(estimator).get("_encoder_in_front")) is not None:
        names = encoder.get_feature_names_out()
    elif names is None:
        names = COLUMNS.get()(estimator)
    return f"feature {number}" if names is None else f"feature {str(names[number])!r}"


def warn_of_targets(estimator: Any, y: Array) -> None:
    """Warn if the root mean square of targets is above 1,000, or below 1 / 1,000 but not 0."""
    with np.errstate(over="ignore"):
        size = np.sqrt(np.mean(y * y))
    if size == 0 or 1 / MOST_APART <= size <= MOST_APART:
        return
    if "standardize_target" in estimator.get_params(deep=False):
        remedy = "Set standardize_target=True"
    else:
        remedy = (
            "Scale them, as scikit-learn's TransformedTargetRegressor does in fit, or take "
            "OGDRegressor or AROWRegressor, which standardise them along the stream"
        )
    warn(
        f"the targets are far from unit scale: their root mean square is {size:.3g}, and steps and "
        f"tolerances are made for targets near 1. {remedy}.",
        UserWarning,
    )
