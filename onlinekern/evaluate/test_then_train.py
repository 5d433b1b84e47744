"""Test-then-train: every sample is predicted before it is learnt, and the mistakes are counted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector, is_regressor

from onlinekern.estimators.array_types import column_of_labels, plain_targets
from onlinekern.estimators.row_blocks import rows_of
from onlinekern.estimators.savable import Savable
from onlinekern.estimators.scales import columns_called
from onlinekern.estimators.types import (
    ArrayLike,
    BatchLearner,
    Classes,
    DriftDetector,
    Floats,
    Samples,
    StreamLearner,
)
from onlinekern.estimators.validation import wrong_type
from onlinekern.evaluate.delayed import Arrivals, Late, check_delay, losses_come
from onlinekern.evaluate.errors import Curve, Metrics
from onlinekern.evaluate.queries import Asked, LabelQuery
from onlinekern.evaluate.refitting import Refitted, inside
from onlinekern.fitted.save import from_bytes, to_bytes
from onlinekern.streams.errors import check_count, check_instance, pairs_of

# Curves have points at FIRST_MARK * 2^(k / MARKS_PER_OCTAVE) samples. So their length grows with
# the logarithm of the stream's, and blocks are split too rarely to slow the learner.
FIRST_MARK = 64
MARKS_PER_OCTAVE = 4
# Samples in the window, and between two points of the windowed curves.
WINDOW = 1000


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
    figures : dict of str to float
        ``error``, and the errors of two baselines: ``no_change_error`` of predicting the last label
        or target, ``majority_error`` of predicting the most frequent label or the mean so far. For
        classification also ``kappa`` (Cohen's), ``kappa_temporal`` and ``kappa_m``, the shares of
        mistakes saved against chance, no change and the majority. If asked for, the same figures of
        the last samples have the prefix ``window_``, and faded ones ``faded_``.
    curves : dict of str to ndarray of shape (n_points,)
        ``samples``, and each of the figures at that time: at the multiples of the window (of 1,000
        with fading alone), thinned to at most 512 points, and at the end. Empty without window and
        fading.
    drifts : ndarray of shape (n_drifts,), int64
        Samples seen when the detector found drift.
    n_asked : int or None
        Samples whose labels the query asked for; None without one.
    """

    n_samples: int
    mistakes: int | None
    squared_error: float | None
    seconds: float
    n_support: int
    # Arrays are left out, so that a result prints as one line.
    samples: np.ndarray = field(repr=False)
    error_curve: np.ndarray = field(repr=False)
    support_curve: np.ndarray = field(repr=False)
    figures: dict[str, float] = field(default_factory=dict, repr=False)
    curves: dict[str, np.ndarray] = field(default_factory=dict, repr=False)
    drifts: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    n_asked: int | None = None

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
        power = 1 if self.squared_error is None else 2  # sums of squares, not of roots
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
        All classes of the stream; None for a regression, or for those that the classifier knows.
    unit : float
        Factor by which regression errors are multiplied before they are recorded.
    window, fading : as for ``prequential``
    detector, on_drift, delay, query, watch : as for ``prequential``
    curve : bool
        False: record no curve, and learn blocks as they come, which is faster.
    names : list of str, optional
        Names of the features, for warnings.
    """

    def __init__(
        self,
        estimator: Any,
        classes: Classes = None,
        unit: float = 1.0,
        *,
        window: int | None = None,
        fading: float | None = None,
        detector: DriftDetector | None = None,
        on_drift: Callable[[Any, int], Any] | None = None,
        delay: int | ArrayLike | None = None,
        query: LabelQuery | None = None,
        watch: Callable[[PrequentialResult], Any] | None = None,
        curve: bool = True,
        names: list[str] | None = None,
    ) -> None:
        check_recording(window, fading, watch)
        check_instance("detector", detector)
        if on_drift is not None and detector is None:
            raise ValueError("on_drift needs a detector, got detector=None")
        classes = _labels(estimator, classes)
        self.estimator, self.classes = _stream_learner(estimator, classes), classes
        self.seconds, self._names = 0.0, names
        self._metrics = Metrics(classes, unit, window, fading)
        # A batch estimator is refitted at marks, so it needs them.
        self._has_marks = curve or isinstance(self.estimator, Refitted)
        self._marks: list[tuple[int, float, int]] = []
        self._curve = None if window is None and fading is None else Curve(window or WINDOW)
        self._detector, self._on_drift, self._drifts = detector, on_drift, list[int]()
        self._watch = watch
        delays = check_delay(delay)
        if query is not None and not isinstance(query, LabelQuery):
            raise wrong_type("query", "be a LabelQuery", query)
        if query is not None:
            query._validate_params()
        self._late = None if delays is None or query is not None else Late(delays)
        self._query = None if query is None else Asked(query, delays)
        # Losses of samples whose labels have not come yet.
        self._losses: dict[int, float] = {}

    @property
    def n_samples(self) -> int:
        """Samples predicted; without a delay, these are also learnt."""
        return self._metrics.n_rows

    def feed(self, X: Any, y: Any) -> Floats:
        """Test on, then learn, the rows of a block, one after the other.

        Returns their losses: 0 or 1 for a classification, else the absolute errors.
        """
        if getattr(y, "ndim", 1) > 1:
            raise ValueError(
                f"y must be one label or target of each sample, got an array of shape {y.shape}: "
                "test several targets one by one"
            )
        y = plain_targets(y)
        start, rows, losses = 0, len(y), [np.zeros(0)]
        while start < rows:
            stop = min(rows, start + self._samples_to_next_mark())
            losses.append(self._learn(rows_of(X, slice(start, stop)), y[start:stop]))
            start = stop
            if self.n_samples == self._next_mark():
                self._marks.append(self._mark())
            noted = self._curve is not None and self._curve.note(self._metrics)
            if noted and self._watch is not None:
                self._watch(self._result())
        return np.concatenate(losses)

    def feed_from(self, position: int, X: Any, y: Any) -> bool:
        """Feed rows that begin at a position of the stream, except those learnt before a save.

        Returns whether any row was fed.
        """
        learnt = min(self.n_samples - position, len(y))
        if learnt > 0:
            self._keep(position, rows_of(X, slice(learnt)), y[:learnt])
        if learnt < len(y):
            self.feed(rows_of(X, slice(learnt, None)), y[learnt:])
        return learnt < len(y)

    def _keep(self, position: int, X: Any, y: Any) -> None:
        """Keep what is needed of rows that were predicted before the model was saved."""
        if self._late is not None:
            learnt = self._late.keep(position, X, y, self.n_samples)
            X, y = learnt.X, learnt.y
        if isinstance(self.estimator, Refitted):
            self.estimator.keep(X, y)

    def state(self) -> dict[str, Any]:
        """Return the errors and the curves as plain numbers, for `restore`."""
        return {
            "n_samples": self.n_samples,
            "seconds": self.seconds,
            "errors": self._metrics.state(),
            "marks": self._marks,
            "curve": None if self._curve is None else self._curve.state(),
            "refitted": self.estimator.state() if isinstance(self.estimator, Refitted) else None,
        }

    def saved_model(self) -> bytes | None:
        """Return the model as the bytes of a file; None for one that cannot be saved."""
        inner = inside(self.estimator)
        try:
            return to_bytes(inner) if isinstance(inner, Savable) else None
        except TypeError:  # a user's subclass, or a parameter that is a function
            return None

    def restore(self, state: Any, model: bytes, name: str) -> None:
        """Go on from `state()` with a saved model; `name` is its name in messages."""
        estimator = from_bytes(model, name)
        if isinstance(self.estimator, Refitted):
            self.estimator.restore(estimator, state["refitted"])
        else:
            self.estimator = estimator
        self.seconds = state["seconds"]
        self._metrics.restore(state["errors"])
        self._marks = [(n, error, support) for n, error, support in state["marks"]]
        if self._curve is not None:
            self._curve.restore(state["curve"])

    def result(self) -> PrequentialResult:
        """Return the ``PrequentialResult`` of the whole stream, which ends here."""
        if not self.n_samples:
            raise ValueError("stream must hold at least one sample, got none")
        if isinstance(self.estimator, Refitted):
            began = perf_counter()
            self.estimator.finish()
            self.seconds += perf_counter() - began
        return self._result()

    def _result(self) -> PrequentialResult:
        """Return the ``PrequentialResult`` so far."""
        # A mark at the end may have been made before this fit.
        marks = [*(mark for mark in self._marks if mark[0] < self.n_samples), self._mark()]
        samples, error, support = (np.array(column) for column in zip(*marks, strict=True))
        counted, error_sum = self._metrics.counted, float(self._metrics.total.losses[0])
        return PrequentialResult(
            self.n_samples,
            int(error_sum) if counted else None,
            None if counted else error_sum,
            self.seconds,
            int(support[-1]),
            samples,
            error,
            support,
            self._metrics.figures(),
            {} if self._curve is None else self._curve.columns(self._metrics),
            np.array(self._drifts, dtype=np.int64),
            None if self._query is None else self._query.n_asked,
        )

    def _next_mark(self) -> int:
        if not self._has_marks:
            return sys.maxsize
        return int(FIRST_MARK * 2 ** (len(self._marks) / MARKS_PER_OCTAVE))

    def _samples_to_next_mark(self) -> int:
        """Return how many samples may be learnt in one call."""
        if self._on_drift is not None:  # it must be called before the next sample
            return 1
        to_mark = self._next_mark() - self.n_samples
        if self._curve is None:
            return to_mark
        return min(to_mark, self._curve.to_next(self.n_samples))

    def _learn(self, X: Any, y: Any) -> Floats:
        classes = {} if self.classes is None else {"classes": self.classes}
        arrivals: Arrivals | None = None
        first = self.n_samples
        began = perf_counter()
        later = self._late or self._query
        with columns_called(self.estimator, self._names):
            if later is None:
                predicted = self.estimator.partial_fit_predict(X, y, **classes)
            else:
                predicted, arrivals = later.learn(self.estimator, first, X, y, self.classes)
        self.seconds += perf_counter() - began
        losses = self._metrics.add(y, predicted, arrivals)
        if self._detector is not None:
            counts: Any = range(first + 1, first + 1 + len(losses))
            told = losses
            if arrivals is not None:
                self._losses.update(enumerate(losses.tolist(), start=first))
                told, counts = losses_come(arrivals, self._losses)
            self._detect(self._detector, told, counts)
        return losses

    def _detect(self, detector: DriftDetector, losses: Floats, counts: Any) -> None:
        for count, loss in zip(counts, losses.tolist(), strict=True):
            detector.update(loss)
            if not detector.drift_detected:
                continue
            self._drifts.append(int(count))
            if self._on_drift is not None:
                inner = inside(self.estimator)
                found = self._on_drift(inner, int(count))
                if found is not None and found is not inner:
                    self.estimator = _stream_learner(found, self.classes)

    def _mark(self) -> tuple[int, float, int]:
        """Return samples, error and support vectors by now."""
        n_support = int(getattr(self.estimator, "n_support_", 0))
        return self.n_samples, self._metrics.error, n_support


def check_recording(window: int | None, fading: float | None, watch: Any) -> None:
    """Raise ValueError unless the arguments say what is recorded and who watches it."""
    check_count("window", window, optional=True)
    if fading is not None and not (isinstance(fading, Real) and 0 < fading < 1):
        raise ValueError(f"fading must be a number between 0 and 1, got {fading!r}")
    if watch is not None and window is None and fading is None:
        raise ValueError("watch needs a window or fading, got window=None and fading=None")


def _labels(estimator: Any, classes: Classes) -> ArrayLike | None:
    """Return all classes of a stream: those given, or the estimator's; None for a regression."""
    if isinstance(estimator, type) or not hasattr(estimator, "__sklearn_tags__"):
        return classes
    name = type(estimator).__name__
    if classes is not None and is_regressor(estimator):
        raise ValueError(
            f"classes are for classifiers, and {name} is a regressor; rows and their targets are "
            "one argument, as in [(X, y)]"
        )
    if classes is None and is_classifier(estimator):
        classes = getattr(estimator, "classes_", None)
        if classes is None:
            raise ValueError(
                "classes must hold all labels of the stream, unless it is a list or a tuple: "
                f"{name} is a classifier"
            )
    if is_outlier_detector(estimator):
        raise TypeError(f"{name} predicts no labels or targets that could be tested")
    return classes


def _labels_in(stream: Any, estimator: Any) -> Any:
    """Return the labels in a list of (X, y), for a classifier that knows none; otherwise None."""
    if not isinstance(stream, list | tuple) or not stream or isinstance(estimator, type):
        return None
    if not hasattr(estimator, "__sklearn_tags__") or not is_classifier(estimator):
        return None
    if hasattr(estimator, "classes_"):
        return None
    pairs = list(pairs_of(stream, "stream"))
    return np.unique(np.concatenate([column_of_labels(y) for _, y in pairs]))


def _stream_learner(estimator: Any, classes: Classes) -> Any:
    """Return an estimator that predicts before it learns; a batch estimator is wrapped."""
    check_instance("estimator", estimator)
    if hasattr(estimator, "partial_fit_predict"):
        return estimator
    if not hasattr(estimator, "fit") or not hasattr(estimator, "predict"):
        raise wrong_type("estimator", "have partial_fit_predict, or fit and predict", estimator)
    return Refitted(estimator, classes)


def prequential(
    estimator: StreamLearner | BatchLearner,
    stream: Iterable[tuple[Samples, ArrayLike]],
    classes: Classes = None,
    *,
    window: int | None = WINDOW,
    fading: float | None = None,
    detector: DriftDetector | None = None,
    on_drift: Callable[[Any, int], Any] | None = None,
    delay: int | ArrayLike | None = None,
    query: LabelQuery | None = None,
    watch: Callable[[PrequentialResult], Any] | None = None,
) -> PrequentialResult:
    """Run an estimator test-then-train over a stream.

    Parameters
    ----------
    estimator : object
        Has ``partial_fit_predict(X, y[, classes])``. It is not cloned, and goes on from its current
        state. A batch estimator, for example of scikit-learn, is refitted whenever the stream has
        doubled.
    stream : iterable of (X, y)
        For example ``source.blocks(random_state=0)``.
    classes : array-like, optional
        All classes of the stream. None for a regression, for the classes that the classifier knows,
        or for the labels in a stream that is a list or a tuple.
    window : int or None, default=1000
        Also score the last `window` samples, at all multiples of `window` [1]_. None: do not.
    fading : float between 0 and 1, or None, default=None
        Also score samples with weights that fade: each has `fading` times the weight of the next
        one. With 0.999 the last thousand samples or so count.
    detector : object, optional
        Has ``update(value)`` and ``drift_detected``, like river's drift detectors. It gets each
        sample's mistake, 0 or 1, or absolute error.
    on_drift : callable, optional
        Called as ``on_drift(estimator, n)`` when the detector finds drift at the n-th sample, after
        it was learnt and before the next one: the samples are learnt one by one, which is slower.
        It may change the estimator, or return another one to go on with, for example
        ``sklearn.base.clone(estimator)``.
    delay : int, array-like of int of shape (n_samples,), or None, default=None
        How many samples are predicted before a sample's label comes, for all samples or for each
        (`delays_of` computes them from times). A sample is learnt when its label comes; labels that
        come together are learnt in the order of their samples. Errors are those of all samples,
        also of the last ones, whose labels never come. Baselines and detector know only the labels
        that have come. None or 0: labels come at once.
    query : LabelQuery, optional
        Only samples whose labels it asks for are learnt; baselines and detector know only these.
        Errors are those of all samples. The query goes on from its current state. With a `delay`,
        it decides when a sample comes, and the label comes later.
    watch : callable, optional
        Called as ``watch(result)`` with the result so far at each point of the curves: to draw, to
        log, or to stop a run by raising an error. `onlinekern.plotting.PrequentialDisplay` with
        ``live=True`` uses it.

    Returns
    -------
    PrequentialResult
        Errors, and figures relative to baselines: kappa-temporal [2]_, kappa-M [3]_.

    Raises
    ------
    TypeError
        If the estimator can neither learn streams nor be fitted, the detector lacks a method, or
        the stream yields no pairs.
    ValueError
        If an argument is out of range, the stream has no sample, or X and y of a pair differ in
        length.

    References
    ----------
    .. [1] J. Gama, R. Sebastião, P. P. Rodrigues (2013). On evaluating stream learning algorithms.
       Machine Learning 90, 317-346.
    .. [2] I. Žliobaitė, A. Bifet, J. Read, B. Pfahringer, G. Holmes (2015). Evaluation methods and
       decision theory for classification of streaming data with temporal dependence. Machine
       Learning 98, 455-482.
    .. [3] A. Bifet, G. De Francisci Morales, J. Read, G. Holmes, B. Pfahringer (2015). Efficient
       online evaluation of big data stream classifiers. ACM SIGKDD International Conference on
       Knowledge Discovery and Data Mining, 59-68.

    Examples
    --------
    >>> from onlinekern import SPAClassifier
    >>> from onlinekern.evaluate import prequential
    >>> from onlinekern.streams import gaussian_mixture
    >>> result = prequential(SPAClassifier(gamma=0.4), [gaussian_mixture(2000, 0)], classes=[-1, 1])
    >>> result.n_samples
    2000
    >>> result.curves["samples"].tolist(), bool(result.figures["kappa_temporal"] > 0.3)
    ([1000, 2000], True)
    """
    if detector is not None and not (
        hasattr(detector, "update") and hasattr(detector, "drift_detected")
    ):
        raise wrong_type("detector", "have update and drift_detected", detector)
    if classes is None:
        classes = _labels_in(stream, estimator)
    run = Run(
        estimator, classes, window=window, fading=fading, detector=detector, on_drift=on_drift,
        delay=delay, query=query, watch=watch,
    )  # fmt: skip
    for X, y in pairs_of(stream, "stream"):
        run.feed(X, y)
    return run.result()
