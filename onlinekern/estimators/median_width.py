"""``gamma="median"`` in a stream: the width of the kernel comes from its first 200 samples.

With ``gamma="best"`` multiples of the median width are tried on the first 200, 500 and 1,000: a
model of each learns these samples, and the one goes on that has predicted them best on the way.

These samples are kept. When there are 2, 5, 10, 20, 50, 100 and 200 of them, the width is measured
anew, and a new model of that width, which draws the same random numbers as the first, learns them
again, in their order. The model in between predicts and learns like any other. What is learnt
depends on the samples alone: calls of any length give the same bits.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier

from onlinekern.core.samples.rows import rows_at
from onlinekern.estimators.declared import SMALLEST, Check, array, between, check_attributes, of
from onlinekern.estimators.kernel_width import (
    MOST_MEASURED,
    MULTIPLES,
    kernel_width,
    measures_width,
    median_width,
    tries_widths,
)
from onlinekern.estimators.row_blocks import one_after_another
from onlinekern.estimators.savable import require

if TYPE_CHECKING:
    from onlinekern.core.stream import Model

# Learning 387 samples in all is no more than the first 587 take.
COUNTS = (2, 5, 10, 20, 50, 100, MOST_MEASURED)
# Widths are tried at these counts. Earlier ones say too little; at later ones, relearning costs
# more than the choice gains (benchmarks/defaults.py, widths).
TRIED_AT = (MOST_MEASURED, 500, 1000)
# Rows, targets and weights before the first sample.
NONE = (None, np.empty(0), np.empty(0))


@dataclass(eq=False, repr=False)
class WarmUp:
    """The samples that are kept until the width of the kernel is settled. It never changes.

    Parameters
    ----------
    parameters : dict
        Of the estimator when the stream began. Those set since act in a new fit only, but for
        those of the step.
    draws : numpy.random.RandomState
        In the state in which the first model was made.
    gamma : float
        The width in use.
    samples : tuple
        Rows (None: there are none yet), class numbers or targets, and weights > 0.
    """

    parameters: dict[str, Any]
    draws: Any
    gamma: float = 1.0
    samples: Any = NONE

    @property
    def count(self) -> int:
        """Number of samples kept."""
        return len(self.samples[1])

    @property
    def tries(self) -> bool:
        """Whether several widths are tried."""
        return tries_widths(self.parameters.get("gamma"), self.parameters.get("kernel"))

    @property
    def counts(self) -> tuple[int, ...]:
        """Numbers of samples at which the width is measured anew."""
        return COUNTS + TRIED_AT[1:] if self.tries else COUNTS

    def cuts(self, rows: Any, weight: Any) -> Any:
        """Return where to cut rows so that all pieces but the last end at one of `counts`.

        Samples of weight 0 are not learnt, and do not count.
        """
        places = np.arange(len(rows)) if weight is None else np.flatnonzero(weight[rows])
        known = self.count
        ends = [at - known for at in self.counts if known < at <= known + len(places)]
        return places[np.array(ends, dtype=np.intp) - 1] + 1

    def keep(self, X: Any, y: Any, weight: Any, rows: Any) -> WarmUp:
        """Return it with copies of these rows, in the form, dense or CSR, of the first ones."""
        weight = np.ones(len(rows)) if weight is None else weight[rows]
        rows, weight = rows[weight > 0], weight[weight > 0]
        if len(rows) == 0:
            return self
        known, targets, weights = self.samples
        samples = rows_at(X, rows)
        if known is not None:
            samples = one_after_another([known, samples])
        told = y[rows] if known is None else np.concatenate([targets, y[rows]])
        kept = samples, told, np.concatenate([weights, weight])
        return replace(self, samples=kept)

    def measured(self, kernel: str) -> list[WarmUp]:
        """Return it with each width that the samples so far suggest."""
        first = rows_at(self.samples[0], np.arange(min(self.count, MOST_MEASURED)))
        gamma = median_width(first, kernel)
        multiples = MULTIPLES if self.tries and self.count in TRIED_AT else (1.0,)
        return [replace(self, gamma=gamma * multiple) for multiple in multiples]

    def renumbered(self, numbers: Any) -> WarmUp:
        """Return it with the classes numbered anew: class k is now numbers[k]."""
        rows, targets, weights = self.samples
        targets = numbers.astype(np.float64)[targets.astype(np.intp)]
        return replace(self, samples=(rows, targets, weights))

    def _check_loaded(self) -> None:
        check_attributes(self, others=False)

    def _attributes(self) -> Iterator[tuple[str, Check]]:
        yield "parameters", of(dict)
        yield "draws", lambda draws: isinstance(draws, np.random.RandomState)
        yield "gamma", between(0, np.inf)
        yield "samples", are_samples

    def check_fits(self, model: Model) -> None:
        """Raise ValueError unless the samples are those of a model that was loaded."""
        self._check_loaded()
        require(self.count == model.n_seen < self.counts[-1], "it has seen other samples")
        X, y, _ = self.samples
        fits = X is None or (X.shape[1] == model.d and X.dtype == model.dtype)
        require(fits, "its first samples are others")
        n_targets = model.head.n_targets
        told = () if n_targets == 1 or X is None else (n_targets,)
        require(y.shape[1:] == told, "its first samples have other targets")


def are_samples(samples: Any) -> bool:
    """Return whether these can be rows, targets and weights > 0 of samples."""
    if type(samples) is not tuple or len(samples) != 3:
        return False
    X, y, weight = samples
    if not (X is None or is_matrix(X)):
        return False
    count = 0 if X is None else X.shape[0]
    are_targets = isinstance(y, np.ndarray) and y.dtype == float and y.shape[:1] == (count,)
    return are_targets and y.ndim <= 2 and array(count, least=SMALLEST)(weight)


def is_matrix(X: Any) -> bool:
    """Return whether X is a dense or CSR matrix."""
    return isinstance(X, (np.ndarray, sp.csr_matrix, sp.csr_array)) and X.ndim == 2


def width_of(estimator: Any, X: Any) -> float:
    """Return the kernel width for a new model of samples like X."""
    warm_up = vars(estimator).get("_warm_up")
    if warm_up is not None:
        return warm_up.gamma
    encoder = vars(estimator).get("encoder_")
    if encoder is not None and isinstance(estimator.gamma, str) and estimator.gamma == "auto":
        # A feature reserved for a new category does not contribute to distances.
        return 1.0 / (X.shape[1] - encoder.n_empty_)
    return kernel_width(estimator.gamma, X, estimator.kernel)


def is_warming_up(estimator: Any) -> bool:
    """Return whether the width of the kernel is not settled yet."""
    return "_warm_up" in vars(estimator)


def first_samples(estimator: Any) -> Any:
    """Return the rows and targets that are kept; None for the rows if none are."""
    kept = estimator._warm_up.samples if is_warming_up(estimator) else NONE
    return kept[:2]


def at_one_moment(state: dict[str, Any]) -> dict[str, Any]:
    """Return attributes with a copy of the model, which belongs to the samples that are kept.

    Callers hold the lock of the learner, because a model that is warming up may learn in place.
    """
    if "_warm_up" in state and "_model" in state:
        state["_model"] = copy.copy(state["_model"])
    return state


def begin_warm_up(estimator: Any, draws: np.random.RandomState) -> None:
    """Begin to keep samples, if the width of a learner's kernel comes from them."""
    if measures_width(estimator.gamma, estimator.kernel):
        estimator._warm_up = WarmUp(estimator.get_params(deep=False), copy.deepcopy(draws))


def learn_first(
    estimator: Any,
    model: Model,
    X: Any,
    y: Any,
    weight: Any,
    order: Any,
    noted: bool,
    scores: Any = None,
) -> tuple[Model, Any]:
    """Learn as `_learn` does, in a learner that is warming up."""
    rows = np.arange(X.shape[0]) if order is None else order
    n_targets = model.head.n_targets
    # Several targets of a sample are a row.
    told = y if n_targets == 1 else y.reshape(-1, n_targets)
    predictions = np.full(told.shape, np.nan)
    window = estimator.window or 0
    *whole, rest = np.split(rows, estimator._warm_up.cuts(rows, weight))
    if len(whole) + (len(rest) > 0) > 1 and model is vars(estimator).get("_model"):
        # A thread that reads meanwhile never sees half of a call. One piece alone is learnt in
        # place, which a call that fails undoes: a copy takes a hundred times as long as a sample
        # (benchmarks/latency.py).
        model = copy.copy(model)
    for piece in whole:
        predictions[piece] = model.learn(X, y, weight, piece, window, scores, noted)[piece]
        estimator._warm_up = estimator._warm_up.keep(X, told, weight, piece)
        model = measured_anew(estimator, model)
    if len(rest):
        predictions[rest] = model.learn(X, y, weight, rest, window, scores, noted)[rest]
        if is_warming_up(estimator):
            estimator._warm_up = estimator._warm_up.keep(X, told, weight, rest)
    return model, predictions


def measured_anew(estimator: Any, model: Model) -> Model:
    """Return a model of the width that suits the samples so far, which has learnt them."""
    maker = object.__new__(type(estimator))
    maker.__dict__.update({**vars(estimator), **estimator._warm_up.parameters})
    best, least = model, np.inf
    for warm_up in estimator._warm_up.measured(maker.kernel):
        maker._warm_up = warm_up
        fresh, error = learnt_anew(estimator, maker)
        # An error may be infinite.
        if best is model or error < least:
            best, least, estimator._warm_up = fresh, error, warm_up
    best.resume_counts(best.n_seen, model.n_mistakes, model.cumulative_loss)
    estimator.gamma_ = estimator._warm_up.gamma
    if estimator._warm_up.count == estimator._warm_up.counts[-1]:
        del estimator._warm_up
    return best


def learnt_anew(estimator: Any, maker: Any) -> tuple[Model, float]:
    """Return a new model that has learnt the samples kept, and its error on the way.

    It is the weight of the mistakes, or the weighted sum of squared errors, those of several
    targets in units of each.
    """
    X, y, weight = maker._warm_up.samples
    fresh: Model = maker._new_model(X, copy.deepcopy(maker._warm_up.draws))
    estimator._renew(fresh)
    found = fresh.learn(X, y.reshape(-1), weight, None, estimator.window or 0, None, True)
    errors = found != y if is_classifier(estimator) else (found - y) ** 2
    if y.ndim == 2:
        errors = (errors / fresh.target_scale**2).sum(axis=1)
    return fresh, float(np.dot(weight, errors))
