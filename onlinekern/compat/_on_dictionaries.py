"""The base of river's models: dictionaries and data frames become rows for an estimator."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import wraps
from math import isfinite
from numbers import Real
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
from river.utils.dataframe import into_frame, into_series, to_numpy
from sklearn.base import clone
from sklearn.utils import check_random_state

from onlinekern._registry import public
from onlinekern.compat._vocabulary import Records, Vocabulary
from onlinekern.estimators.scales import COLUMNS, is_same
from onlinekern.estimators.types import Floats, Function
from onlinekern.preprocessing.tables.encoder import encoder_of

Features: TypeAlias = dict[Hashable, Any]
METHODS = ("partial_fit", "learn_one", "score_one")


def seeded(estimator: Any) -> Any:
    """Return a clone in which every random state that is None gets a random seed.

    So a copy of a model learns the same as the model, even if it was copied before the first
    sample.
    """
    fresh = clone(estimator)
    draws = check_random_state(None)
    missing = [
        name
        for name, value in fresh.get_params().items()
        if value is None and name.rpartition("__")[2] == "random_state"
    ]
    return fresh.set_params(**{name: int(draws.randint(2**31 - 1)) for name in sorted(missing)})


def names_features(method: Function) -> Function:
    """Wrap a method for dictionaries or data frames: its errors and warnings name features."""

    @wraps(method)
    def named(self: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        # A context manager would take longer than some learners need for a sample.
        before = COLUMNS.set(self._names_for)
        try:
            return method(self, x, *args, **kwargs)
        except ValueError as error:
            # With an encoder, or a learner that accepts missing values, such values are valid.
            takes = isinstance(self._vocabulary, Records)
            takes = takes or getattr(self.estimator_, "_takes_missing", False)
            found = None if takes else not_finite(x)
            if found is None:
                raise
            raise ValueError(
                f"feature {found[0]!r} is {found[1]}, and {type(self.estimator).__name__} takes "
                "finite numbers; river.preprocessing.StatImputer fills what is missing"
            ) from error
        finally:
            COLUMNS.reset(before)

    return cast(Function, named)


def not_finite(x: Any) -> tuple[Hashable, Any] | None:
    """Return name and value of the first feature that is not a finite number, or None."""
    rows = [x] if isinstance(x, Mapping) else into_frame(x).rows(named=True)
    for row in rows:
        for name, value in row.items():
            if value is None or (isinstance(value, Real) and not isfinite(value)):
                return name, value
    return None


class OnDictionaries:
    """Mixin of models that convert dictionaries to rows by a vocabulary, for an estimator."""

    _is_kind: ClassVar[Callable[[Any], bool]]
    _kind: ClassVar[str]
    # The learner with which river's own tests check the class.
    _example: ClassVar[str]

    def __init__(
        self, estimator: Any, max_features: int | None = None, sparse: bool = False
    ) -> None:
        missing = [name for name in METHODS if not hasattr(estimator, name)]
        if missing or not type(self)._is_kind(estimator):
            raise TypeError(
                f"estimator must be a {self._kind} with the methods {', '.join(METHODS)}, "
                f"got {estimator!r}"
            )
        if max_features is not None and max_features < 1:
            raise ValueError(f"max_features must be None or at least 1, got {max_features}")
        self.estimator = estimator
        self.max_features = max_features
        self.sparse = sparse
        self.estimator_ = seeded(estimator)
        self._vocabulary: Vocabulary | Records
        # The estimator makes its own encoder for samples with values of any type.
        first = first_of(estimator)
        any_values = max_features is None and not sparse
        self._may_encode = any_values and getattr(first, "encode", False) is not False
        if encoder_of(estimator) is None:
            self._vocabulary = Vocabulary(max_features, sparse)
        elif any_values:
            self._vocabulary = Records()
        else:
            raise ValueError("max_features and sparse are for features that are numbers: the "
                             "TableEncoder has parameters of its own")  # fmt: skip

    @names_features
    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn the rows of a data frame in order, as `learn_one` would learn each.

        Parameters
        ----------
        X : data frame of shape (n_samples, n_features)
        y : series of shape (n_samples,)
        w : float or array-like of shape (n_samples,), default=1.0
        """
        frame = into_frame(X)
        labels = into_series(y).to_list()
        if len(labels) != len(frame):
            raise ValueError(f"X has {len(frame)} rows, y has {len(labels)}")
        if not labels:
            return
        if self._vocabulary.width == 0:
            self._look_at(value for column in frame.iter_columns() for value in column)
        known = self._vocabulary.take_up(frame.columns)
        try:
            weights = np.array(np.broadcast_to(np.asarray(w, dtype=np.float64), len(labels)))
            self._learn_rows(self._rows(frame), labels, weights)
        except BaseException:
            self._vocabulary.forget(known)
            raise

    @property
    def feature_names(self) -> list[Hashable]:
        """Names of the features with a column, in the order of the columns."""
        return list(self._vocabulary.columns)

    def _names_for(self, learner: Any) -> list[Hashable] | None:
        """Return the names of the columns that a learner gets, unless a step has changed them."""
        return self.feature_names if is_same(learner, self.estimator_) else None

    def _learn_row(self, row: Any, y: Any, w: float) -> None:
        """Learn one sample."""
        self.estimator_.learn_one(row, y, sample_weight=w)

    def _learn_rows(self, rows: Any, y: list[Any], weights: Floats) -> None:
        """Learn samples in order."""
        self.estimator_.partial_fit(rows, y, sample_weight=weights)

    def _look_at(self, values: Iterable[Any]) -> None:
        """Decide by the values of the first sample whether values are numbers or of any type."""
        if self._may_encode:
            takes_missing = getattr(self.estimator_, "_takes_missing", False)
            others = any(is_other(value, takes_missing) for value in values)
            self._vocabulary = Records() if others else Vocabulary(self.max_features, self.sparse)

    def _teach_one(self, x: Features, y: Any, w: float) -> None:
        """Learn a dictionary; if this fails, its new names are forgotten."""
        if self._vocabulary.width == 0:
            self._look_at(x.values())
        vocabulary = self._vocabulary
        row = vocabulary.known_row(x)
        if row is not None:
            self._learn_row(row, y, w)
            return
        known = vocabulary.take_up(x)
        try:
            self._learn_row(vocabulary.row(x), y, w)
        except BaseException:
            vocabulary.forget(known)
            raise

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"estimator": public(cls._example)(random_state=0)}

    def _rows(self, frame: Any) -> Any:
        if isinstance(self._vocabulary, Records):
            return [self._vocabulary.row(row) for row in frame.rows(named=True)]
        return self._vocabulary.rows(frame.columns, to_numpy(frame))


def first_of(model: Any) -> Any:
    """Return the estimator that gets the samples first: a step, or a learner inside a wrapper."""
    if hasattr(model, "steps"):
        return first_of(model.steps[0][1])
    inside = getattr(model, "estimator", None)
    if inside is None and hasattr(model, "_default"):
        return model._default()
    return model if inside is None else first_of(inside)


def is_other(value: Any, takes_missing: bool) -> bool:
    """Return whether a value is of a type that a learner cannot use without an encoder."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return True
    return number != number and not takes_missing
