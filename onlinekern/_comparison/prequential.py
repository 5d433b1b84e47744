"""Test-then-train: every sample is predicted before it is learnt, and the mistakes are counted."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from onlinekern._comparison.refitting import Refitted
from onlinekern._saving import Savable, from_bytes, to_bytes
from onlinekern._typing import ArrayLike, BatchLearner, Samples, StreamLearner

# Curves are recorded at FIRST_MARK * 2^(k / MARKS_PER_OCTAVE) samples. Their length grows with the
# logarithm of the stream's, and blocks are split too rarely to slow the learner.
FIRST_MARK = 64
MARKS_PER_OCTAVE = 4


@dataclass(frozen=True)
class PrequentialResult:
    """Result of one run over one stream.

    Attributes
    ----------
    n_samples : int
    mistakes : int or None
        Samples that were predicted wrongly before they were learnt (classification).
    squared_error : float or None
        Sum of squared prediction errors (regression).
    seconds : float
        Time spent in the learner alone.
    n_support : int
        Support vectors at the end.
    samples, error_curve, support_curve : ndarray of shape (n_marks,)
        Samples seen, and the error and the number of support vectors by then.
    """

    n_samples: int
    mistakes: int | None
    squared_error: float | None
    seconds: float
    n_support: int
    samples: np.ndarray
    error_curve: np.ndarray
    support_curve: np.ndarray

    @property
    def error(self) -> float:
        """Mistake rate, or root mean squared error."""
        return float(self.error_curve[-1])

    @property
    def late_error(self) -> float:
        """Error over the second half, a better estimate for a longer stream."""
        middle = np.searchsorted(self.samples, self.n_samples / 2, side="right") - 1
        if middle < 0:  # fewer samples than two marks
            return self.error
        power = 1 if self.squared_error is None else 2  # squared errors add up, their roots do not
        sums = self.samples * self.error_curve**power
        rows = self.n_samples - self.samples[middle]
        return float(((sums[-1] - sums[middle]) / rows) ** (1 / power))

    @property
    def microseconds_per_sample(self) -> float:
        return 1e6 * self.seconds / self.n_samples


class Run:
    """One estimator that is run over a stream, test-then-train.

    Parameters
    ----------
    estimator : object
        Has ``partial_fit_predict(X, y[, classes])``. An estimator with ``fit`` and ``predict`` only
        is refitted whenever the stream has doubled (see ``Refitted``).
    classes : array-like or None
        All classes of the stream; None for a regression.
    unit : float
        Factor by which regression errors are multiplied before they are recorded.
    """

    def __init__(self, estimator: Any, classes: ArrayLike | None = None, unit: float = 1.0) -> None:
        if not hasattr(estimator, "partial_fit_predict"):
            if not hasattr(estimator, "fit") or not hasattr(estimator, "predict"):
                raise TypeError(
                    "estimator must have partial_fit_predict, or fit and predict, "
                    f"got {type(estimator).__name__}"
                )
            estimator = Refitted(estimator, classes)
        self.estimator, self.classes, self.unit = estimator, classes, unit
        self.n_samples, self.seconds, self._error = 0, 0.0, 0.0
        self._marks = 0
        self._curve: list[tuple[int, float, int]] = []

    def feed(self, X: Any, y: Any) -> None:
        """Test on, then learn, the rows of a block, one after the other."""
        start, rows = 0, len(y)
        while start < rows:
            stop = min(rows, start + self._next_mark() - self.n_samples)
            self._learn(X[start:stop], y[start:stop])
            start = stop
            if self.n_samples == self._next_mark():
                self._record()
                self._marks += 1

    def feed_from(self, position: int, X: Any, y: Any) -> bool:
        """Feed the rows that begin at a position of the stream, but for those learnt already.

        Those were learnt before the model was saved. Returns whether any row was fed.
        """
        learnt = min(self.n_samples - position, len(y))
        if learnt > 0 and isinstance(self.estimator, Refitted):
            self.estimator.keep(X[:learnt], y[:learnt])
        if learnt < len(y):
            self.feed(X[learnt:], y[learnt:])
        return learnt < len(y)

    def state(self) -> dict[str, Any]:
        """Return the counters and the curve as plain numbers, for `restore`."""
        refitted = self.estimator.state() if isinstance(self.estimator, Refitted) else None
        curve = [[int(n), float(error), int(support)] for n, error, support in self._curve]
        return {
            "n_samples": self.n_samples,
            "seconds": self.seconds,
            "error": self._error,
            "marks": self._marks,
            "curve": curve,
            "refitted": refitted,
        }

    def saved_model(self) -> bytes | None:
        """Return the model as the bytes of a file; None for one that cannot be saved."""
        inner = self.estimator.estimator if isinstance(self.estimator, Refitted) else self.estimator
        if not isinstance(inner, Savable):
            return None
        try:
            return to_bytes(inner)
        except TypeError:  # a subclass of the user's, or a parameter that is a function
            return None

    def restore(self, state: Any, model: bytes, name: str) -> None:
        """Go on from `state()` with a saved model; `name` is its name in messages."""
        estimator = from_bytes(model, name)
        if isinstance(self.estimator, Refitted):
            self.estimator.restore(estimator, state["refitted"])
        else:
            self.estimator = estimator
        self.n_samples, self.seconds = state["n_samples"], state["seconds"]
        self._error, self._marks = state["error"], state["marks"]
        self._curve = [(n, error, support) for n, error, support in state["curve"]]

    def result(self) -> PrequentialResult:
        """Return the ``PrequentialResult`` so far."""
        if not self.n_samples:
            raise ValueError("stream must hold at least one sample, got none")
        if isinstance(self.estimator, Refitted):
            began = perf_counter()
            self.estimator.finish()
            self.seconds += perf_counter() - began
            # The last mark may have been made before this fit.
            self._curve = [mark for mark in self._curve if mark[0] != self.n_samples]
        if self._curve[-1:] == [] or self._curve[-1][0] != self.n_samples:
            self._record()
        samples, error, support = (np.array(column) for column in zip(*self._curve, strict=True))
        counted = self.classes is not None
        return PrequentialResult(
            self.n_samples,
            int(self._error) if counted else None,
            None if counted else self._error,
            self.seconds,
            int(support[-1]),
            samples,
            error,
            support,
        )

    def _next_mark(self) -> int:
        return int(FIRST_MARK * 2 ** (self._marks / MARKS_PER_OCTAVE))

    def _learn(self, X: Any, y: Any) -> None:
        classes = {} if self.classes is None else {"classes": self.classes}
        began = perf_counter()
        predicted = self.estimator.partial_fit_predict(X, y, **classes)
        self.seconds += perf_counter() - began
        self.n_samples += len(y)
        if self.classes is None:
            with np.errstate(over="ignore", invalid="ignore"):  # a model may diverge
                squares = (np.asarray(predicted) - y) ** 2
                self._error += self.unit**2 * float(np.sum(squares))
        else:
            self._error += int(np.count_nonzero(predicted != y))

    def _record(self) -> None:
        mean = self._error / self.n_samples
        error = math.sqrt(mean) if self.classes is None else mean
        self._curve.append((self.n_samples, error, getattr(self.estimator, "n_support_", 0)))


def prequential(
    estimator: StreamLearner | BatchLearner,
    stream: Iterable[tuple[Samples, ArrayLike]],
    classes: ArrayLike | None = None,
) -> PrequentialResult:
    """Run an estimator test-then-train over a stream.

    Parameters
    ----------
    estimator : object
        Has ``partial_fit_predict(X, y[, classes])``. It is not cloned, and continues from its
        present state. A batch estimator, of scikit-learn for example, is refitted whenever the
        stream has doubled.
    stream : iterable of (X, y)
        For example ``source.blocks(random_state=0)``.
    classes : array-like, optional
        All classes of the stream; None for a regression.

    Returns
    -------
    PrequentialResult

    Examples
    --------
    >>> from onlinekern import SPAClassifier
    >>> from onlinekern.evaluate import prequential
    >>> from onlinekern.streams import gaussian_mixture
    >>> result = prequential(SPAClassifier(gamma=0.4), [gaussian_mixture(2000, 0)], classes=[-1, 1])
    >>> result.n_samples
    2000
    """
    run = Run(estimator, classes)
    for X, y in stream:
        run.feed(X, y)
    return run.result()
