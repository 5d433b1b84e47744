"""Classes of a stream that are not known in advance: each label is added when it comes."""

from __future__ import annotations

import copy
from collections import deque
from typing import Any

import numpy as np
from sklearn.utils import check_array

from onlinekern.compat._on_dictionaries import OnDictionaries
from onlinekern.estimators.row_blocks import one_after_another
from onlinekern.estimators.table_errors import check_labels, explained
from onlinekern.estimators.types import Array, Floats
from onlinekern.estimators.validation import check_weights, one_row

# Number of samples kept while all are of one class, as in StreamClassifier.
MOST_WAITING = 1000


class ClassesAsTheyCome(OnDictionaries):
    """Mixin of classifiers whose estimators must know a class before its first sample."""

    def __init__(
        self, estimator: Any, max_features: int | None = None, sparse: bool = False,
        classes: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(estimator, max_features, sparse)
        check_announced(classes)
        self.classes = classes
        # The labels seen so far; two or more are in the order of the estimator's classes.
        self._labels: list[Any] = []
        self._known: frozenset[Any] = frozenset()
        self._waiting: deque[tuple[Any, float]] = deque(maxlen=MOST_WAITING)

    def _learn_row(self, row: Any, y: Any, w: float) -> None:
        if len(self._labels) > 1 and y in self._known:
            self.estimator_.learn_one(row, y, sample_weight=w)
        else:
            self._learn_piece(one_row(row), [y], np.array([w], dtype=np.float64))

    def _learn_rows(self, rows: Any, y: list[Any], weights: Floats) -> None:
        starts = first_places(y, self._known)
        state = self.estimator_, self._labels, self._known, self._waiting.copy()
        if starts:
            # A later piece may fail, so the estimator is copied first.
            self.estimator_ = copy.deepcopy(self.estimator_)
        try:
            edges = sorted({0, *starts, len(y)})
            for piece in map(slice, edges, edges[1:]):
                self._learn_piece(rows[piece], y[piece], weights[piece])
        except BaseException:
            self.estimator_, self._labels, self._known, self._waiting = state
            raise

    def _learn_piece(self, rows: Any, y: list[Any], weights: Floats) -> None:
        """Learn rows, of which only the first may be of a new class."""
        before = self._labels or list(self.classes or ())
        labels = before if y[0] in before else [*before, y[0]]
        if len({isinstance(label, str) for label in labels}) > 1:
            raise ValueError(f"y is {y[0]!r}, which is of another kind than {before}")
        if len(labels) > len(before):
            check_labels(y)
        if len(labels) == 1:
            self._wait(rows, y, weights)
        elif len(labels) == len(self._labels):
            self.estimator_.partial_fit(rows, y, sample_weight=weights)
            return
        else:
            rows, y, weights = self._with_waiting(rows, y, weights)
            self.estimator_.partial_fit(rows, y, classes=labels, sample_weight=weights)
            self._waiting.clear()
            labels = self.estimator_.classes_.tolist()
        self._labels, self._known = labels, frozenset(labels)

    def _wait(self, rows: Any, y: list[Any], weights: Floats) -> None:
        """Keep samples while only one class has come."""
        if not isinstance(rows, list):
            missing = getattr(self.estimator_, "_takes_missing", False)
            finite = "allow-nan" if missing else True
            try:
                rows = check_array(rows, accept_sparse="csr", ensure_all_finite=finite)
            except ValueError as error:
                raise explained(self.estimator_, rows, error, missing) from None
            weights = check_weights(weights, rows)
        self._waiting.extend((rows[k : k + 1], weights[k]) for k in range(len(y)))

    def _with_waiting(self, rows: Any, y: list[Any], weights: Floats) -> tuple[Any, Any, Array]:
        """Return the samples that were kept, followed by these."""
        if not self._waiting:
            return rows, y, weights
        kept = [row for row, _ in self._waiting]
        joined = one_after_another([*kept, rows])
        before = [weight for _, weight in self._waiting]
        return joined, [self._labels[0]] * len(kept) + y, np.concatenate([before, weights])


def check_announced(classes: Any) -> None:
    """Raise ValueError unless classes are None, or two labels or more."""
    if classes is None:
        return
    if isinstance(classes, str) or len({*classes}) < 2 or len({*classes}) < len(classes):
        raise ValueError(f"classes must be two or more labels, each once, got {classes!r}")


def first_places(labels: list[Any], known: frozenset[Any]) -> list[int]:
    """Return the places at which unknown labels occur for the first time."""
    first: dict[Any, int] = {}
    for place, label in enumerate(labels):
        if label not in known:
            first.setdefault(label, place)
    return list(first.values())
