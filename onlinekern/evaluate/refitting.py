"""A batch estimator on a stream: it is refitted whenever the stream has doubled."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.estimators.row_blocks import n_rows_of, one_after_another
from onlinekern.estimators.types import Array, Classes


class Refitted:
    """Adapter that lets an estimator with ``fit`` and ``predict`` only run test-then-train.

    It keeps all samples. All fits together cost about twice the last one.

    Parameters
    ----------
    estimator : object
    classes : array-like or None
        All classes of the stream; None for a regression.
    """

    FIRST = 64

    def __init__(self, estimator: Any, classes: Any = None) -> None:
        self.estimator, self.classes = estimator, classes
        self._X: list[Any] = []
        self._y: list[Any] = []
        self._seen, self._fitted = 0, 0

    @property
    def n_support_(self) -> int:
        """Support vectors of the last fit."""
        return int(np.sum(getattr(self.estimator, "n_support_", 0))) if self._fitted else 0

    def partial_fit_predict(self, X: Any, y: Any, classes: Classes = None) -> Array:
        """Return the predictions of the last fit for X, and keep X and y."""
        predicted = self.predict(X)
        self.keep(X, y)
        self._seen += len(y)
        if self._seen >= max(self.FIRST, 2 * self._fitted):
            self.finish()
        return predicted

    def keep(self, X: Any, y: Any) -> None:
        """Keep rows for the next fit."""
        self._X.append(X)
        self._y.append(y)

    def state(self) -> dict[str, int]:
        """Return how many rows came, and how many of them the estimator was fitted on."""
        return {"seen": self._seen, "fitted": self._fitted}

    def restore(self, estimator: Any, state: dict[str, int]) -> None:
        """Go on with an estimator in a state; the rows that came before are kept one by one."""
        self.estimator, self._seen, self._fitted = estimator, state["seen"], state["fitted"]

    def predict(self, X: Any) -> Array:
        """Return the predictions of the last fit for X; before the first fit, `classes[0]` or 0."""
        if self._fitted:
            return self.estimator.predict(X)
        return first_answers(X, self.classes)

    def finish(self) -> None:
        """Fit on all samples so far, unless that is done already, or they are of one class."""
        if not self._y:  # it took the place of another one after the last sample
            return
        y = np.concatenate(self._y)
        if self._fitted == self._seen or (self.classes is not None and len(np.unique(y)) < 2):
            return
        self._X, self._y = [one_after_another(self._X)], [y]
        self.estimator.fit(self._X[0], y)
        self._fitted = self._seen


def first_answers(X: Any, classes: Any) -> Array:
    """Return what stands for predictions where nothing has been learnt: `classes[0]` or 0."""
    return np.full(n_rows_of(X), 0.0 if classes is None else classes[0])


def inside(estimator: Any) -> Any:
    """Return the estimator that is refitted, or an estimator itself."""
    return estimator.estimator if isinstance(estimator, Refitted) else estimator
