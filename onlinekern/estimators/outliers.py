"""Outlier detection under scikit-learn's contract."""

from collections.abc import Iterator
from numbers import Real
from typing import Annotated, Any, Self, cast

import numpy as np

from onlinekern.core.learning.heads import HEADS
from onlinekern.estimators.atomic import all_or_nothing, fit_method
from onlinekern.estimators.blas_threads import ONE_THREAD
from onlinekern.estimators.contract import AS_IT_IS, Learner
from onlinekern.estimators.declared import Check, array, check_attributes, of, whole
from onlinekern.estimators.parameters import estimator
from onlinekern.estimators.savable import MOST_COUNT, require
from onlinekern.estimators.scikit_learn import Interval, OutlierMixin
from onlinekern.estimators.types import Array, Floats, Sample, Samples, Targets, Weights
from onlinekern.estimators.validation import (
    check_weights,
    goes_by_names,
    learn_row,
    own_weight,
    refused,
    validate_data,
)

# A trend is fitted to at least TREND_FROM numbers. Numbers are clipped to LEAST ... MOST, so that
# their odds are finite; MOST is the float32 below 1.
TREND_FROM, LEAST, MOST = 8, 2.0**-100, 1 - 2.0**-24
# For the trend, numbers are clipped at FAR times the gap between the quantiles TAIL and 1 - TAIL,
# beyond these: a score of an unbounded kernel may be 1e15 times the others.
TAIL, FAR = 0.1, 3


class RecentQuantile:
    """Estimates a quantile of the next numbers of a stream from the last ones and their trend.

    It uses the last half of the numbers, `LENGTH` at most. It is updated at fixed positions in the
    stream, so the result does not depend on how the stream is divided into calls.

    Scores of a model have a trend: the more it has learnt, the higher it scores a row. Least
    squares fit ``level + slope / s`` to number s, or ``factor s^power`` to its odds. The estimate
    is the quantile of the residuals, added to the trend at the middle of the numbers until the next
    update. There is no trend of fewer than eight numbers. Outliers are clipped for the fit.

    Parameters
    ----------
    fraction : float in (0, 1)
    odds : bool, default=False
        Whether numbers are in (0, 1), and the trend is fitted to their odds.
    """

    LENGTH = 1024
    EVERY = 128
    # Default for models of former versions.
    odds = False

    def __init__(self, fraction: float, odds: bool = False) -> None:
        self.fraction, self.odds = fraction, odds
        self.values = np.zeros(self.LENGTH)
        self.count = 0
        # An empty model gives this score to every sample.
        self.quantile = 0.0

    def copy(self) -> Any:
        """Return a copy in the same state."""
        twin = RecentQuantile(self.fraction, self.odds)
        twin.values = self.values.copy()
        twin.count, twin.quantile = self.count, self.quantile
        return twin

    def step(self) -> int:
        """Return the numbers between two updates: a 16th to a 32nd of the count, EVERY at most."""
        return min(max(1 << self.count.bit_length() >> 5, 1), self.EVERY)

    def left(self) -> int:
        """Return how many numbers are left until the next update."""
        return self.step() - self.count % self.step()

    def append_counted(self, values: Any, weights: Any) -> Any:
        """Append the numbers of weight > 0; return for each number the quantile before it."""
        counts = weights > 0
        levels = np.append(self.append(values[counts]), self.quantile)
        return levels[np.cumsum(counts) - counts]

    def append(self, values: Any) -> Any:
        """Append numbers; return for each the quantile before it."""
        before = np.empty(len(values))
        first = 0
        while first < len(values):
            part = values[first : first + self.left()]
            before[first : first + len(part)] = self.quantile
            self.values[(self.count + np.arange(len(part))) % self.LENGTH] = part
            renew = len(part) == self.left()
            self.count += len(part)
            if renew:
                self.renew()
            first += len(part)
        return before

    def renew(self) -> None:
        """Estimate the quantile of the numbers until the next update."""
        places = np.arange(max(self.count // 2, self.count - self.LENGTH), self.count)
        recent = self.values[places % self.LENGTH]
        n = len(places)
        if n < TREND_FROM:
            # The next of n independent numbers is below it with probability `fraction`.
            self.quantile = float(np.quantile(recent, self.fraction, method="weibull"))
            return
        seen = self.linked(recent)
        times = self.times(self.count - 1 - places, places + 1)
        low, high = np.quantile(seen, [TAIL, 1 - TAIL], method="weibull")
        clipped = np.clip(seen, low - FAR * (high - low), high + FAR * (high - low))
        # Relative to the last number: then equal numbers have exactly no slope and no residuals.
        last = clipped[-1]
        level, middle = (clipped - last).mean(), times.mean()
        centred = times - middle
        spread = np.square(centred).sum()
        slope = (centred * (clipped - last)).sum() / spread
        half = (self.step() + 1) / 2
        ahead = self.times(-half, self.count + half) - middle
        # A line fitted to n numbers is closer to these than to the next: widen the residuals.
        wider = np.sqrt((1 + 1 / n + ahead * ahead / spread) / (1 - 2 / n))
        residuals = seen - last - level - slope * centred
        residual = np.quantile(residuals, self.fraction, method="weibull")
        # If residuals are tiny, as for equal rows, a misfit of the trend would decide. So the
        # quantile is at most the mean of the last numbers.
        most = (clipped[-(n // TREND_FROM) :] - last).mean()
        found = min(level + slope * ahead + wider * residual, most)
        self.quantile = float(self.unlinked(last + found))

    def times(self, ages: Any, numbers: Any) -> Any:
        """Return the regressor of the trend: n / s - 1 or log(n / s) for number s of n."""
        return np.log1p(ages / numbers) if self.odds else ages / numbers

    def linked(self, numbers: Floats) -> Floats:
        """Return the numbers that the trend is fitted to: these, or the logs of their odds."""
        return -np.log(1 / np.clip(numbers, LEAST, MOST) - 1) if self.odds else numbers

    def unlinked(self, seen: Any) -> Any:
        """Return the inverse of `linked`."""
        return 1 / (1 + np.exp(-seen)) if self.odds else seen

    def _check_loaded(self) -> None:
        check_attributes(self, others=False)

    def _attributes(self) -> Iterator[tuple[str, Check]]:
        yield "fraction", lambda fraction: fraction is not None
        yield "values", array(self.LENGTH)
        yield "count", whole(0, MOST_COUNT - 1)
        yield "quantile", of(float)
        # Models of former versions do not have it.
        if "odds" in vars(self):
            yield "odds", of(bool)


@estimator
class OnlineOutlierDetector(OutlierMixin, Learner):
    """Base of learners of one class, which predict 1 for its samples and -1 for outliers."""

    contamination: Annotated[float, Interval(Real, 0, 0.5, closed="right")] = 0.1

    @fit_method
    def fit(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> Self:
        """Learn from scratch, in `n_epochs` passes.

        `offset_` becomes the quantile `contamination` of the scores that the samples of X would
        have if the final model had not learnt them, as estimated: this share of new samples of the
        same kind are outliers. Samples of weight 0 do not count.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        self._fit_scored(X, sample_weight)
        return self

    @fit_method
    def fit_predict(  # type: ignore[override]  # of what `fit` takes
        self, X: Samples, y: Targets = None, sample_weight: Weights = None
    ) -> Array:
        """Learn from scratch, then predict which of these samples are outliers among themselves.

        They are the share `contamination` of X with the lowest scores. Each score is estimated as
        if the model had not learnt the sample. `predict` is for new samples: the model has learnt
        X, so `predict` finds fewer outliers in it.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            -1 for outliers, 1 for the others.
        """
        scores, weight = self._fit_scored(X, sample_weight)
        return np.where(scores < np.quantile(scores[weight > 0], self.contamination), -1, 1)

    @fit_method
    def partial_fit(self, X: Samples, y: Targets = None, sample_weight: Weights = None) -> Self:
        """Learn one pass over a batch, in its order.

        `offset_` follows the scores, and their trend, of the last half of the samples, 1,024 at
        most, from before each was learnt. Samples of weight 0 do not count.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
        y : Ignored
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        self._follow(X, sample_weight)
        return self

    @fit_method
    def partial_fit_predict(
        self, X: Samples, y: Targets = None, sample_weight: Weights = None
    ) -> Array:
        """Predict each sample, then learn it: `partial_fit` that tests first.

        Parameters
        ----------
        X, y, sample_weight
            As in `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            -1 for samples that were outliers before they were learnt, 1 for the others.
        """
        return self._follow(X, sample_weight)

    @all_or_nothing
    def learn_one(self, x: Sample, y: Targets = None, sample_weight: float = 1.0) -> Self:
        """Learn one sample, without scikit-learn's validation.

        Parameters
        ----------
        x : ndarray of shape (n_features,), or dict
            Fastest as an array, C-contiguous and of the model's dtype. The keys of a dictionary are
            the names of the columns (docs/tables.md).
        y : Ignored
        sample_weight : float >= 0, default=1.0

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If x has not `n_features_in_` finite features.
        """
        attributes = self.__dict__
        if (
            "_model" not in attributes or "_warm_up" in attributes
            or "_waiting_parameters" in attributes
            or goes_by_names(attributes, x) or isinstance(x, dict)
        ):  # fmt: skip
            return learn_row(self, x, sample_weight=own_weight(sample_weight))
        recent, sample = self._followed(), cast(Any, x)
        try:
            with ONE_THREAD() if self._calls_blas and self._next_calls_blas() else AS_IT_IS:
                score = self._model.learn_one(sample, 1.0, sample_weight)
        except (TypeError, ValueError) as error:
            raise refused(self, x, error) from None
        if sample_weight > 0:
            recent.append(np.array([score]))
        self._recent = recent
        return self

    def score_one(self, x: Sample) -> float | Floats:
        """Return ``decision_function`` of one sample, without scikit-learn's validation.

        Parameters
        ----------
        x : ndarray of shape (n_features,), or dict
            Fastest as an array, C-contiguous and of the model's dtype. The keys of a dictionary are
            the names of the columns (docs/tables.md).

        Returns
        -------
        float
        """
        return float(super().score_one(x) - self.offset_)

    def score_samples(self, X: Samples) -> Floats:
        """Score samples: high within the class, low far from all samples learnt.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._scores(X)[:, 0]

    def decision_function(self, X: Samples) -> Floats:
        """Return ``score_samples(X) - offset_``, negative for outliers.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Samples) -> Array:
        """Predict -1 for outliers, 1 for the others.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    @property
    def offset_(self) -> float:
        """Score below which a sample is an outlier."""
        _ = self._fitted_model  # raises an error if not fitted
        return self._recent.quantile

    def _fit_scored(self, X: Any, sample_weight: Weights) -> tuple[Floats, Floats]:
        """Learn from scratch; return the scores as if each sample were new, and the weights."""
        self._orders: list[Any] = []
        super().fit(X, (), sample_weight)  # y is ignored
        orders = vars(self).pop("_orders")
        scores = self.score_samples(X)
        weight = check_weights(sample_weight, scores)
        weight = np.ones(len(scores)) if weight is None else weight
        scores, told = self._as_if_new(scores, X, weight, orders)
        self._recent = RecentQuantile(self.contamination, self._scores_are_odds())
        self._recent.append(scores[told])
        # The next of n independent numbers is below it with this probability.
        level = float(np.quantile(scores[told], self.contamination, method="weibull"))
        self._recent.quantile = level
        return scores, weight

    def _as_if_new(
        self, scores: Floats, X: Any, weight: Floats, orders: list[Any]
    ) -> tuple[Floats, Array]:
        """Return the scores that samples of `fit` would have if the model had not learnt them.

        Parameters
        ----------
        scores : ndarray of shape (n,)
            Their scores by the final model.
        X : array-like or CSR matrix of shape (n, n_features)
        weight : ndarray of shape (n,)
            Sample weights; at least one is above 0.
        orders : list of ndarray of intp, or None
            For each pass, the indices of its samples in the order of learning; None: all, in order.

        Returns
        -------
        scores : ndarray of shape (n,)
        told : ndarray of bool, shape (n,)
            Which scores are used to find the offset.
        """
        return scores, weight > 0

    def _learn(
        self, model: Any, X: Any, y: Any, weight: Any, order: Any, noted: bool = True,
        scores: Any = None,
    ) -> tuple[Any, Any]:  # fmt: skip
        if "_orders" in vars(self):
            self._orders.append(order)
        return super()._learn(model, X, y, weight, order, noted, scores)

    def _follow(self, X: Any, sample_weight: Weights) -> Any:
        fresh = not self.__sklearn_is_fitted__()
        recent = RecentQuantile(self.contamination) if fresh else self._followed()
        scores = self._partial_fit(X, None, None, sample_weight)
        recent.odds = self._scores_are_odds()
        if sample_weight is None:
            before = recent.append(scores)
        else:
            before = recent.append_counted(scores, check_weights(sample_weight, scores))
        self._recent = recent
        return np.where(scores < before, -1, 1)

    def _followed(self) -> RecentQuantile:
        """Return a copy of the quantile, with the present `contamination`."""
        recent: RecentQuantile = self._recent.copy()
        recent.fraction, recent.odds = self.contamination, self._scores_are_odds()
        return recent

    def _scores_are_odds(self) -> bool:
        """Return whether scores are between 0 and 1, and the trend is fitted to their odds."""
        return False

    def _check_loaded(self) -> None:
        own = vars(self)
        if "_model" in own:
            require(type(own.get("_recent")) is RecentQuantile, "it has no quantile")
            own["_recent"]._check_loaded()

    def _samples(self, X: Any, y: Any, dtype: Any, start: bool) -> Any:
        X = validate_data(self, X, dtype=dtype, reset=start, learn=True)
        return X, np.ones(X.shape[0])

    def _head(self) -> Any:
        return HEADS["regression"]()
