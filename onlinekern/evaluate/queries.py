"""Which labels to ask for: samples that the model is least sure of, within a budget."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any, Literal

import numpy as np
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError

from onlinekern.drift.observer import Observer, seed_of
from onlinekern.estimators.atomic import all_or_nothing
from onlinekern.estimators.declared import Check, array, number, of, whole
from onlinekern.estimators.parameters import (
    Forgetting,
    Part,
    Positive,
    RandomState,
    Share,
    estimator,
)
from onlinekern.estimators.row_blocks import n_rows_of, rows_of
from onlinekern.estimators.types import Array, ArrayLike, Floats, Samples
from onlinekern.evaluate.delayed import Arrivals, delays_from, teaching
from onlinekern.evaluate.refitting import first_answers, inside
from onlinekern.learners.ahead import strangeness
from onlinekern.preprocessing.steps import learner_of

# The certainty of a sample is ranked among so many before it.
COMPARED = 256
# Rate at which the level follows the share of labels asked for.
RATE = 0.01
# The share asked for is measured over about the last so many samples (w of Žliobaitė et al.).
SPENT_OVER = 100
# Draws per sample: for random queries, for exploration, and two for ranks and normal numbers.
DRAWS = 4
# A threshold never becomes 0 or infinite.
LEAST = 1e-300


@estimator
class LabelQuery(Observer):
    """Which labels to ask for along a stream: the most informative ones, within a budget.

    Labels are expensive, because somebody has to look them up. `ask` decides for each sample
    whether to ask for its label, by how certain the model is, and keeps to a share of the samples.

    Parameters
    ----------
    budget : float in (0, 1], default=0.1
        Share of the samples whose labels are asked for.
    certainty : {'margin', 'leverage'}, default='margin'
        'margin' is the difference of the best and the second best score; with two classes and one
        score f, ``2 |f|``. For classifiers of other libraries it uses probabilities. 'leverage'
        divides the margin by the standard deviation of the score, for learners that have
        `leverage`: a sample unlike those learnt is uncertain, whatever its score [2]_. Regressors
        have no margin: the certainty is 1 over that deviation.
    strategy : {'quantile', 'variable', 'randomized', 'fixed', 'random'}, default='quantile'
        When a certainty c is low enough. 'quantile': if its rank among the last 256 samples is in
        the lowest part, whose size follows the budget. 'variable': below a threshold that is
        multiplied by ``1 - step`` with each label asked for, and by ``1 + step`` with each that is
        not. 'randomized': below this threshold times a normal number of mean and deviation 1, so
        that all samples have a chance. 'fixed': below `threshold` [1]_. 'random': at random,
        whatever c.
    threshold : float > 0, default=1.0
        The threshold of 'fixed', and the initial one of 'variable' and 'randomized'.
    step : float in (0, 1), default=0.01
        How fast the threshold moves.
    explore : float in [0, 1], default=0.2
        Share of the samples that are decided at random, whatever their certainty, to notice changes
        where the model is certain. With 'variable' this is the strategy Split of [1]_.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws, which also break ties of certainties.

    Attributes
    ----------
    n_seen_, n_asked_ : int
        Samples seen, and those whose labels were asked for.
    threshold_ : float
        The current threshold; with 'quantile', the part of the ranks that is asked for.

    Notes
    -----
    **The budget.** With 'quantile' the part follows the share asked for, ``part <- part + 0.01
    (budget - asked)``: the number asked for is off by 100 times what the part has moved. 'fixed',
    'variable' and 'randomized' ask for nothing while the share of the last hundred samples or so,
    ``u <- 0.99 u + asked``, ``u / 100``, is at the budget [1]_.

    A sample that the model cannot score yet is asked for at random, the first one always.

    Decisions do not depend on how a stream is divided into calls, if the certainties do not.

    References
    ----------
    .. [1] I. Žliobaitė, A. Bifet, B. Pfahringer, G. Holmes (2014). Active learning with drifting
       streaming data. IEEE Transactions on Neural Networks and Learning Systems 25, 27-39.
    .. [2] N. Cesa-Bianchi, C. Gentile, F. Orabona (2009). Robust bounds for classification via
       selective sampling. International Conference on Machine Learning, 121-128.

    Examples
    --------
    >>> from onlinekern import KernelRLSClassifier
    >>> from onlinekern.evaluate import LabelQuery
    >>> from onlinekern.streams import SEA
    >>> X, y = SEA(random_state=0).take(2000)
    >>> model = KernelRLSClassifier(random_state=0).partial_fit(X[:20], y[:20], classes=[0, 1])
    >>> query = LabelQuery(budget=0.1, certainty="leverage", random_state=0)
    >>> for i in range(20, 2000):
    ...     if query.ask(model, X[i : i + 1])[0]:  # y[i] is looked up
    ...         model = model.partial_fit(X[i : i + 1], y[i : i + 1])
    >>> query.n_asked_ < 250
    True
    """

    budget: Forgetting = 0.1
    certainty: Literal["margin", "leverage"] = "margin"
    strategy: Literal["quantile", "variable", "randomized", "fixed", "random"] = "quantile"
    threshold: Positive = 1.0
    step: Share = 0.01
    explore: Part = 0.2
    random_state: RandomState = None

    _learnt_as = "_n_seen"

    def ask(self, model: Any, X: Samples) -> Array:
        """Decide which labels to ask for, by the current model.

        Parameters
        ----------
        model : estimator
            It is not changed; teach it the labels, then ask for the next ones.
        X : array-like, CSR matrix or table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of bool, shape (n_samples,)

        Raises
        ------
        TypeError
            If the model has no such certainties.
        ValueError
            If X is invalid.
        """
        return self.decide(self.certainties(model, X))

    @all_or_nothing
    def decide(self, certainties: ArrayLike) -> Array:
        """Say which labels to ask for, by certainties of your own.

        Parameters
        ----------
        certainties : array-like of shape (n_samples,)
            The lower, the sooner is the label asked for; NaN where the model knows nothing.

        Returns
        -------
        ndarray of bool, shape (n_samples,)
        """
        values = np.asarray(certainties, dtype=np.float64)
        if values.ndim != 1:
            raise ValueError(f"certainties must be of shape (n_samples,), got {values.shape}")
        return self._decide(values, stop=False)

    @all_or_nothing
    def _until_asked(self, certainties: Floats) -> Array:
        """Return the answers up to the first label that is asked for."""
        return self._decide(certainties, stop=True)

    def certainties(self, model: Any, X: Samples) -> Floats:
        """Return how certain a model is of samples; NaN where it knows nothing.

        Parameters
        ----------
        model : estimator
        X : array-like, CSR matrix or table of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        n = n_rows_of(X)
        if self.strategy == "random":
            return np.zeros(n)
        try:
            return certainties_of(model, X, self.certainty == "leverage")
        except NotFittedError:
            return np.full(n, np.nan)

    def _begin(self) -> None:
        self._validate_params()
        self._seed = seed_of(self.random_state)
        self._n_seen = self._n_asked = 0
        self._spent = 0.0
        self._level = float(self.budget if self.strategy == "quantile" else self.threshold)
        self._recent: Floats = np.zeros(0)

    def _decide(self, values: Floats, stop: bool) -> Array:
        if "_n_seen" not in vars(self):
            self._begin()
        # The draws of a sample depend on its number alone: calls may be cut anywhere.
        source = np.random.PCG64(self._seed).advance(self._n_seen * DRAWS)
        draws = np.random.Generator(source).random((len(values), DRAWS)).tolist()
        recent = Ranks(self._recent.tolist())
        answers = []
        for value, draw in zip(values.tolist(), draws, strict=True):
            asked = self._is_asked(value, draw, recent)
            self._spent = self._spent * (1 - 1 / SPENT_OVER) + asked
            self._n_seen += 1
            self._n_asked += asked
            answers.append(asked)
            if asked and stop:
                break
        self._recent = np.array(recent.values, dtype=np.float64)
        return np.array(answers, dtype=bool)

    def _is_asked(self, value: float, draw: list[float], recent: Ranks) -> bool:
        by_chance = draw[0] < self.budget
        if value != value:
            return self._n_seen == 0 or by_chance
        if self.strategy == "random":
            return by_chance
        explores = draw[1] < self.explore
        if self.strategy == "quantile":
            asked = by_chance if explores else recent.share_below(value, draw[2]) < self._level
            recent.add(value)
            self._level += RATE * (self.budget - asked)
            return asked
        if self._spent / SPENT_OVER >= self.budget:
            return False
        return by_chance if explores else self._is_below(value, draw)

    def _is_below(self, value: float, draw: list[float]) -> bool:
        """Compare a certainty with the threshold, which then moves."""
        factor = 1.0
        if self.strategy == "randomized":  # the normal number of Box and Muller
            factor += float(np.sqrt(-2 * np.log(1 - draw[2])) * np.cos(2 * np.pi * draw[3]))
        asked = value < self._level * factor
        if self.strategy != "fixed":
            self._level *= 1 - self.step if asked else 1 + self.step
            self._level = min(max(self._level, LEAST), 1 / LEAST)
        return asked

    @property
    def n_asked_(self) -> int:
        """Samples whose labels were asked for."""
        return int(vars(self).get("_n_asked", 0))

    @property
    def threshold_(self) -> float:
        """The threshold now, or the part of the ranks that is asked for."""
        first = self.budget if self.strategy == "quantile" else self.threshold
        return float(vars(self).get("_level", first))

    def _attributes(self) -> Iterator[tuple[str, Check]]:
        yield "_n_seen", of(int)
        yield "_n_asked", whole(0, self._n_seen)
        yield "_seed", of(int)
        yield "_spent", number()
        yield "_level", number()
        yield "_recent", array(None, least=-np.inf, most=np.inf)
        yield "_recent", lambda recent: len(recent) <= COMPARED


class Ranks:
    """The last numbers of a series, in order and sorted.

    Parameters
    ----------
    values : list of float
        In the order in which they came.
    """

    def __init__(self, values: list[float]) -> None:
        self.values = values
        self.sorted = sorted(values)

    def share_below(self, value: float, draw: float) -> float:
        """Return the share of the numbers, and of this one, that are lower.

        Of those that are equal a part of [0, 1) counts, `draw`: so the share is uniform if the
        numbers come in any order.
        """
        lower = bisect_left(self.sorted, value)
        equal = bisect_right(self.sorted, value) - lower + 1
        return (lower + draw * equal) / (len(self.sorted) + 1)

    def add(self, value: float) -> None:
        """Add a number; the oldest of too many goes."""
        self.values.append(value)
        insort(self.sorted, value)
        if len(self.values) > COMPARED:
            del self.sorted[bisect_left(self.sorted, self.values.pop(0))]


def certainties_of(model: Any, X: Any, by_leverage: bool) -> Floats:
    """Return how certain a model is of samples; NotFittedError if it knows nothing."""
    steps = getattr(model, "steps", None)
    learner = learner_of(model)
    has_scores = not is_regressor(model)
    if not has_scores and not (by_leverage and hasattr(learner, "leverage")):
        if hasattr(learner, "leverage"):
            instead = "certainty='leverage' takes the deviation of its predictions"
        else:
            instead = (
                "strategy='random' asks by chance; KernelRLSRegressor and AROWRegressor have "
                "`leverage`, which certainty='leverage' takes"
            )
        raise TypeError(f"{type(learner).__name__} is a regressor, which has no margin: {instead}")
    margins = margins_of(strangeness(model, X)) if has_scores else np.ones(1)
    if not by_leverage:
        return margins
    if not hasattr(learner, "leverage"):
        raise TypeError(
            f"certainty='leverage' needs a learner that has `leverage`, as KernelRLSClassifier and "
            f"AROWClassifier have, got {type(learner).__name__}; certainty='margin' takes it"
        )
    rows = X if steps is None or len(steps) == 1 else model[:-1].transform(X)
    deviations = np.sqrt(learner.leverage(rows))
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(deviations > 0, margins / deviations, np.inf)
    return found


def margins_of(strange: Floats) -> Floats:
    """Return how far the least strange class is from the next one, for each sample."""
    if strange.shape[1] < 2:
        return np.full(len(strange), np.nan)
    two = np.partition(strange, 1, axis=1)
    return two[:, 1] - two[:, 0]


class Asked:
    """Test-then-train where only the labels that a query asks for are learnt, when they come.

    Parameters
    ----------
    query : object
        A `LabelQuery`.
    delay : ndarray of int64 or None
        As of `Late`; None: labels come at once.
    """

    def __init__(self, query: LabelQuery, delay: Any = None) -> None:
        self.query = query
        self._delay = np.zeros((), dtype=np.int64) if delay is None else delay
        # Samples that wait for their labels: a heap by the time at which those come.
        self._waiting: list[tuple[int, int, Any, Any]] = []
        self._ahead = max(1, round(1 / query.budget))
        self._asked_before = query.n_asked_

    @property
    def n_asked(self) -> int:
        """Labels asked for, of which some may never come."""
        return self.query.n_asked_ - self._asked_before

    def learn(
        self, estimator: Any, position: int, X: Any, y: Any, classes: Any
    ) -> tuple[Array, Arrivals]:
        """Predict the samples of a block, and teach those whose labels were asked for, and came.

        Returns
        -------
        predicted : ndarray of shape (n_samples,)
        arrivals : Arrivals
        """
        y = np.asarray(y)
        inner, teach = inside(estimator), teaching(estimator, classes)
        predicted: list[Array] = []
        came: list[tuple[int, int, Any]] = []
        delays, i = delays_from(self._delay, position, len(y)).tolist(), 0
        while i < len(y):
            # Until a label comes, the model stays as it is.
            stop = min(len(y), i + self._ahead)
            if self._waiting:
                stop = min(stop, self._waiting[0][0] + 1 - position)
            rows = rows_of(X, slice(i, stop))
            answers = self.query._until_asked(self.query.certainties(inner, rows))
            n = len(answers)
            predicted.append(self._predict(estimator, rows, classes)[:n])
            i += n
            if answers[-1]:
                number = position + i - 1
                row = rows_of(X, np.array([i - 1])), y[i - 1 : i].copy()
                heappush(self._waiting, (number + delays[i - 1], number, *row))
            while self._waiting and self._waiting[0][0] < position + i:
                due, number, x, label = heappop(self._waiting)
                teach(x, label)
                came.append((due, number, label))
        return np.concatenate(predicted), arrivals_of(came, y, position)

    @staticmethod
    def _predict(estimator: Any, rows: Any, classes: Any) -> Array:
        try:
            return np.asarray(estimator.predict(rows))
        except NotFittedError:
            return first_answers(rows, classes)


def arrivals_of(came: list[tuple[int, int, Any]], y: Array, position: int) -> Arrivals:
    """Return the labels that came, one by one, while a block was predicted."""
    due, numbers = (np.array([one[k] for one in came], dtype=np.intp) for k in (0, 1))
    before = np.searchsorted(due, np.arange(position, position + len(y)), side="left")
    labels = np.concatenate([y[:0], *(label for _, _, label in came)])
    return Arrivals(labels, numbers, due, before)
