"""Labels that come late: samples are predicted when they come, and learnt when their labels do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from onlinekern.estimators.encoded_tables import asks_for_encoder
from onlinekern.estimators.row_blocks import one_after_another, rows_of
from onlinekern.estimators.types import Array, ArrayLike, Floats, Indices
from onlinekern.evaluate.baselines import Majority, NoChange
from onlinekern.learners.ahead import is_own
from onlinekern.preprocessing.pipeline import StreamPipeline
from onlinekern.preprocessing.steps import does_something, learner_of, takes


def check_delay(delay: Any) -> Any:
    """Return a delay as `Late` takes it, None for 0; ValueError if it is no number of samples."""
    if delay is None or (isinstance(delay, Integral) and delay == 0):
        return None
    delays = np.asarray(delay)
    if isinstance(delay, bool) or delays.dtype.kind not in "iu" or delays.ndim > 1:
        raise ValueError(
            f"delay must be a number of samples or one for each sample, got {delay!r:.60}"
        )
    if delays.size == 0 or delays.min() < 0:
        raise ValueError(f"delay must be >= 0, got {delay!r:.60}")
    return delays.astype(np.int64)


def check_number(delay: Any) -> int | None:
    """Return one delay for all samples, None for 0; ValueError if it is no number of samples."""
    checked = check_delay(delay)
    if checked is None:
        return None
    if checked.ndim:
        raise ValueError("delay must be one number of samples for all")
    return int(checked)


def delays_of(times: ArrayLike, arrivals: ArrayLike) -> Indices:
    """Return how many samples come between each sample and its label.

    Parameters
    ----------
    times : array-like of shape (n_samples,)
        When samples come, ascending: numbers or dates.
    arrivals : array-like of shape (n_samples,)
        When their labels come, no sooner. A label that comes at the time of a sample comes before
        that sample is predicted.

    Returns
    -------
    ndarray of shape (n_samples,)
        The `delay` of `prequential`.

    Raises
    ------
    ValueError
        If times do not ascend, or a label comes before its sample.

    Examples
    --------
    >>> from onlinekern.evaluate import delays_of
    >>> delays_of([0, 1, 2, 3, 10], [0.5, 7, 2, 4, 11])
    array([0, 2, 0, 0, 0])
    """
    times, arrivals = np.asarray(times), np.asarray(arrivals)
    if times.ndim != 1 or times.shape != arrivals.shape:
        raise ValueError(
            "times and arrivals must be of shape (n_samples,), got "
            f"{times.shape} and {arrivals.shape}"
        )
    if (times[1:] < times[:-1]).any() or not (arrivals >= times).all():
        raise ValueError("times must ascend, and none of arrivals come before its sample")
    before = np.searchsorted(times, arrivals, side="left")
    return np.maximum(before - np.arange(len(times)) - 1, 0)


@dataclass(frozen=True)
class Arrivals:
    """The labels that come while a block of samples is predicted.

    Attributes
    ----------
    y : ndarray of shape (n_arrivals,)
        In the order in which they come.
    numbers, due : ndarray of shape (n_arrivals,)
        The samples that they belong to, and the samples after whose prediction they come.
    before : ndarray of shape (n_samples,)
        How many of them come before each sample of the block.
    """

    y: Array
    numbers: Indices
    due: Indices
    before: Indices

    def predict(self, baseline: Any, labels: Any) -> Array:
        """Let a baseline learn the labels; return what it predicts for the samples of the block."""
        each = baseline.partial_fit_predict(None, self.y, labels)
        following = baseline.predict(np.empty((1, 0)))
        return np.concatenate([each, following])[self.before]


@dataclass(frozen=True)
class Waiting:
    """Samples that wait for their labels: rows, labels, their numbers, and when they come."""

    X: Any
    y: Array
    numbers: Indices
    due: Indices

    def part(self, rows: Any) -> Waiting:
        """Return the samples at some places; copies, as the caller's arrays may change."""
        return Waiting(rows_of(self.X, rows), self.y[rows], self.numbers[rows], self.due[rows])

    def each(self, first: int, last: int) -> Iterator[tuple[Any, Array]]:
        """Yield samples one by one, as rows and labels."""
        for rows in (slice(k, k + 1) for k in range(first, last)):
            yield rows_of(self.X, rows), self.y[rows]


def has_encoder(estimator: Any, X: Any) -> bool:
    """Return whether a learner of this library encodes tables itself."""
    learner = learner_of(estimator)
    if "encoder_" in vars(learner):
        return True
    inner = vars(learner).get("estimator_", vars(learner).get("estimator"))
    if inner is not None:  # a wrapper's
        return has_encoder(inner, X)
    return learner is estimator and asks_for_encoder(learner, X)


class Late:
    """Samples of a stream that wait for their labels.

    After the prediction of sample i, the labels come of all samples k with ``k + delay_k == i``, in
    the order of the samples.

    Parameters
    ----------
    delay : ndarray of int64
        Of shape (), for all samples, or of shape (n_samples,).
    """

    def __init__(self, delay: Any) -> None:
        self.delay = delay
        self._waiting: list[Waiting] = []

    def keep(self, position: int, X: Any, y: Any, now: int) -> Waiting:
        """Keep those of the samples from a position on that wait when `now` samples are predicted.

        Returns
        -------
        Waiting
            The others, in the order in which their labels came.
        """
        block = self._block(position, X, np.asarray(y))
        self._hold(block.part(np.flatnonzero(block.due >= now)))
        came = np.flatnonzero(block.due < now)
        return block.part(came[np.argsort(block.due[came], kind="stable")])

    def learn(
        self, estimator: Any, position: int, X: Any, y: Any, classes: Any
    ) -> tuple[Array, Arrivals]:
        """Predict the samples of a block, and teach those whose labels come meanwhile.

        Returns
        -------
        predicted : ndarray of shape (n_samples,)
        arrivals : Arrivals
        """
        y = np.asarray(y)
        block = self._block(position, X, y)
        stop = position + len(y)
        come = [one.part(np.flatnonzero(one.due < stop)) for one in [*self._waiting, block]]
        rest = [one.part(np.flatnonzero(one.due >= stop)) for one in [*self._waiting, block]]
        arriving = joined(come)
        order = np.lexsort([arriving.numbers, arriving.due])
        arriving = arriving.part(order)
        before = np.searchsorted(arriving.due, np.arange(position, stop), side="left")
        arrivals = Arrivals(arriving.y, arriving.numbers, arriving.due, before)
        if isinstance(estimator, NoChange | Majority):
            predicted = arrivals.predict(estimator, classes)
        elif passes_over(estimator) and not has_encoder(estimator, X):
            predicted = predict_passing_over(estimator, block, arriving, before, classes)
        else:
            predicted = predict_each(estimator, block, arriving, before, classes)
        self._waiting = []
        for one in rest:
            self._hold(one)
        return predicted, arrivals

    def _hold(self, samples: Waiting) -> None:
        if len(samples.y):
            self._waiting.append(samples)

    def _block(self, position: int, X: Any, y: Array) -> Waiting:
        numbers = np.arange(position, position + len(y))
        return Waiting(X, y, numbers, numbers + delays_from(self.delay, position, len(y)))


def delays_from(delay: Any, position: int, n: int) -> Any:
    """Return the delays of n samples from a position of the stream on, as `Late` takes them."""
    if not delay.ndim:
        return np.full(n, delay)
    if position + n > len(delay):
        raise ValueError(
            f"delay must have an element for each sample: it has {len(delay)}, the stream has more"
        )
    return delay[position : position + n]


def joined(parts: list[Waiting]) -> Waiting:
    """Return samples one after the other."""
    X = one_after_another([part.X for part in parts])
    columns = [
        np.concatenate([getattr(part, name) for part in parts]) for name in ("y", "numbers", "due")
    ]
    return Waiting(X, *columns)


def passes_over(estimator: Any) -> bool:
    """Return whether `partial_fit_predict` predicts a sample of weight 0, and learns nothing."""
    if not is_own(estimator):
        return False
    if isinstance(estimator, StreamPipeline):
        steps = [step for _, step in estimator.steps[:-1] if does_something(step)]
        if not all(takes(step, "learn_transform", "sample_weight") for step in steps):
            return False
        return passes_over(learner_of(estimator))
    return takes(estimator, "partial_fit_predict", "sample_weight")


def predict_passing_over(
    estimator: Any, block: Waiting, arriving: Waiting, before: Indices, classes: Any
) -> Array:
    """Predict and teach in one call: predicted samples have weight 0, those to be learnt 1."""
    n, after = len(block.y), np.searchsorted(arriving.due, block.numbers, side="right")
    # A sample whose own label, and no other, comes at once is predicted, then learnt.
    alone = np.zeros(n, dtype=bool)
    single = np.flatnonzero(after - before == 1)
    alone[single] = arriving.numbers[before[single]] == block.numbers[single]
    asked = np.flatnonzero(~alone)
    both = joined([block.part(asked), arriving])
    # Those asked come before the labels that come after them.
    times = np.concatenate([2 * block.numbers[asked], 2 * arriving.due + 1])
    order = np.argsort(times, kind="stable")
    weight = np.repeat([0.0, 1.0], [len(asked), len(arriving.y)])
    more = {} if classes is None else {"classes": classes}
    if weight.all():
        told = estimator.partial_fit_predict(rows_of(both.X, order), both.y[order], **more)
    else:
        rows = rows_of(both.X, order), both.y[order]
        told = estimator.partial_fit_predict(*rows, sample_weight=weight[order], **more)
    found = np.empty_like(told)
    found[order] = told
    predicted = np.empty(n, dtype=told.dtype)
    predicted[asked] = found[: len(asked)]
    predicted[alone] = found[len(asked) + before[alone]]
    return predicted


def predict_each(
    estimator: Any, block: Waiting, arriving: Waiting, before: Indices, classes: Any
) -> Array:
    """Predict and teach sample by sample."""
    teach = teaching(estimator, classes)
    predicted, done = [], 0
    for i, (row, _) in enumerate(block.each(0, len(block.y))):
        for sample in arriving.each(done, before[i]):
            teach(*sample)
        done = before[i]
        try:
            predicted.append(estimator.predict(row)[0])
        except NotFittedError:
            predicted.append(0.0 if classes is None else classes[0])
    for sample in arriving.each(done, len(arriving.y)):
        teach(*sample)
    return np.array(predicted)


def teaching(estimator: Any, classes: Any) -> Any:
    """Return the method that teaches an estimator, with the classes if it takes them."""
    teach = getattr(estimator, "partial_fit", None) or estimator.partial_fit_predict
    if classes is None or not takes(estimator, teach.__name__, "classes"):
        return teach
    return partial(teach, classes=classes)


def losses_come(arrivals: Arrivals, waiting: dict[int, float]) -> tuple[Floats, Indices]:
    """Take the losses of the samples whose labels came; return them, and how many were predicted.

    Parameters
    ----------
    waiting : dict of int to float
        The losses of the samples by their numbers.
    """
    losses = [waiting.pop(number) for number in arrivals.numbers.tolist()]
    return np.array(losses), arrivals.due + 1
