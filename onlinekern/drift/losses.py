"""The detector of losses that grow, from the mistakes of a learner."""

from collections.abc import Iterator
from copy import deepcopy
from math import inf
from typing import Any, Self

import numpy as np

from onlinekern.core.learning.rank_bets import LEVELS, RankBets
from onlinekern.drift.detector import Detector
from onlinekern.drift.wealth import NOTHING
from onlinekern.estimators.atomic import all_or_nothing
from onlinekern.estimators.declared import Check, between, each, none_or, number, of
from onlinekern.estimators.parameters import Positive, RandomState, Share, estimator
from onlinekern.estimators.types import ArrayLike, Floats

# Losses that are handled at once; after an alarm, the rest is handled anew.
PIECE = 1024
# A `random_state` for the default detectors of streams. Equal losses, as of a model that seldom
# errs, are ranked by these draws only, which raise no false alarm among 800,000 of them.
DRAWS = 932
# Types of immutable values, which need no copy.
PLAIN = (tuple, int, float, bool, type(None))


@estimator
class LossDetector(Detector):
    """Detector of losses that grow, for the mistakes or errors of a learner.

    Each loss is ranked among those since the last alarm: p is the share of them that are larger,
    with a random part of those that are equal. While losses are exchangeable, the p are
    independent and uniform, whatever the losses are. Two payoffs bet that p is small::

        f_1 = 1 - 2 p,   f_2 = 1 / (2 sqrt(p)) - 1
        R <- (R + 1) (1 + s f)   for both, and the stakes s = 0.03, 0.06, 0.125, 0.25, 0.5, 0.9

    and an alarm is raised when the mean of the twelve R reaches `run_length`. Then the detector
    begins anew.

    Parameters
    ----------
    tolerated : float in (0, 1) or None, default=None
        A tolerated mean loss, as a share of `bound`, which raises no alarm. The payoff is then
        ``loss / (tolerated bound) - 1``. None: losses are compared with those since the last alarm.
    bound : float > 0, default=1.0
        The largest loss; larger ones are clipped. 1 is right for mistakes. Without `tolerated`,
        losses are rounded to 256 steps of it.
    random_state : int, RandomState instance or None, default=None
        Seed of the ranks of equal losses.
    run_length : float >= 1, default=10000.0
        The promise: so many losses come between two false alarms, on average, at least. An alarm
        costs a change a delay that grows with the logarithm.

    Attributes
    ----------
    alarms_ : ndarray of shape (n_alarms,), int64
        Numbers of the samples, counted from 1, that raised an alarm.
    drift_detected : bool
        Whether the last call raised an alarm.
    statistic_ : float
        The mean wealth R since the last alarm.
    n_seen_ : int
        Samples seen.

    Notes
    -----
    **The promise.** Given those before, each payoff is at least -1 and 0 on average, if losses are
    exchangeable [1]_. So ``R_t - t`` is a martingale, and for the first alarm N and any t
    ``E[min(N, t)] = E[R_min(N, t)] >= run_length P(N <= t)``, which gives ``E[N] >= run_length``
    [2]_. With `tolerated` it is enough that the expectation of each loss, given those before, does
    not exceed it; losses need not be independent or have one distribution. If mistakes come in
    runs, the expectation within a run exceeds it even if the mean over the stream does not, and
    alarms come sooner than promised.

    While a learner improves, its losses fall, which raises no alarm. Ranks need some losses to
    compare with, so losses that grow from the first sample on are not noticed.

    It is a detector for `onlinekern.evaluate.prequential`, and has the methods of river's.

    References
    ----------
    .. [1] V. Vovk, A. Gammerman, G. Shafer (2005). Algorithmic learning in a random world.
       Springer. Chapter 7.
    .. [2] J. Shin, A. Ramdas, A. Rinaldo (2024). E-detectors: a nonparametric framework for
       sequential change detection. New England Journal of Statistics in Data Science 2, 229-260.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern.drift import LossDetector
    >>> mistakes = np.random.default_rng(0).random(3000) < np.repeat([0.1, 0.2], [2000, 1000])
    >>> detector = LossDetector(random_state=0)
    >>> for loss in mistakes:
    ...     if detector.update(loss).drift_detected:
    ...         break
    >>> 2000 < detector.n_seen_ < 2500
    True
    """

    tolerated: Share | None = None
    bound: Positive = 1.0
    random_state: RandomState = None

    @all_or_nothing
    def update(self, loss: float) -> Self:
        """Add the loss of one sample.

        Parameters
        ----------
        loss : float >= 0

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If the loss is negative or no finite number, or not one.
        """
        losses = checked(np.reshape(loss, -1), "loss")
        if len(losses) != 1:
            raise ValueError(f"loss must be one number, got {len(losses)}: update_many takes more")
        self._see(losses)
        return self

    @all_or_nothing
    def update_many(self, losses: ArrayLike) -> Self:
        """Add losses in their order, with the same result as one `update` each.

        Parameters
        ----------
        losses : array-like of shape (n_samples,)

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a loss is negative or no finite number.
        """
        self._see(checked(losses, "losses"))
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Its tuples hold numbers; to visit each would take longer than to see a loss.
        twin = memo[id(self)] = object.__new__(type(self))
        for name, value in vars(self).items():
            vars(twin)[name] = value if type(value) in PLAIN else deepcopy(value, memo)
        return twin

    _most_kinds = 2

    def _kinds(self) -> int:
        return 2 if self.tolerated is None else 1

    def _forget(self) -> None:
        self._counts = np.zeros(LEVELS, dtype=np.int64)
        self._known = None if self.tolerated is None else float(self.tolerated)
        self._bound = float(self.bound)

    def _see(self, losses: Floats) -> None:
        self._open()
        position = 0
        while position < len(losses):
            with np.errstate(over="ignore"):
                shares = np.minimum(losses[position : position + PIECE] / self._bound, 1.0)
            if (known := self._known) is None:
                found = self._rank(shares)
            else:
                found = self._bet((shares[:, None] / known - 1.0).tolist())
            used = len(shares) if found is None else found + 1
            if found is not None:
                self._raise_alarm(self._n_seen + used)
            position += used
            self._n_seen += used

    def _rank(self, shares: Floats) -> int | None:
        """Bet on the ranks of losses; return the number of the one that raised an alarm."""
        bets = RankBets(self._threshold, self._seed)
        # Files of former versions have a tuple.
        counts = np.asarray(self._counts, dtype=np.int64)
        bets.set_state(counts, np.array(self._wealth), self._n_seen)
        found = bets.see_many(shares)
        self._counts, wealth, _ = bets.get_state()
        self._wealth = tuple(wealth.tolist())
        return found

    def _attributes(self) -> Iterator[tuple[str, Check]]:
        yield "_counts", lambda counts: are_counts(counts, self._n_seen)
        yield "_known", none_or(between(0, 1))
        yield (
            "_wealth",
            each(number(), (2 if vars(self).get("_known") is None else 1) * len(NOTHING)),
        )
        yield "_bound", between(0, inf)


def are_counts(counts: Any, most: int) -> bool:
    """Return whether these are numbers of losses of each level, at most so many in all."""
    if not isinstance(counts, np.ndarray) and not each(of(int))(counts):
        return False
    found = np.asarray(counts)
    fits = found.dtype == np.int64 and found.shape == (LEVELS,)
    return fits and bool(found.min() >= 0) and sum(found.tolist()) <= most


def checked(values: Any, name: str) -> Floats:
    """Return losses as an array, if they are finite and not negative."""
    try:
        losses = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, got {values!r:.80}") from None
    if losses.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got the shape {losses.shape}")
    if not (np.isfinite(losses) & (losses >= 0)).all():
        wrong = losses[~(np.isfinite(losses) & (losses >= 0))][0]
        raise ValueError(f"{name} must be finite and >= 0, got {wrong}")
    return losses


class Bounded:
    """Losses below 1 that are ordered as errors without a bound, for a `LossDetector`.

    An error e becomes q / (q + 1) with q = sqrt(e / s). The scale s is the geometric mean of the
    first hundred errors that are not 0; nothing is told of what comes before it is known.

    Attributes
    ----------
    scale : float
        s; 0 until it is known.
    first : tuple of float
        The first errors.
    """

    FIRST = 100

    def __init__(self) -> None:
        self.scale = 0.0
        self.first: tuple[float, ...] = ()

    def __call__(self, errors: Floats) -> tuple[Floats, int]:
        """Return the losses of errors, and how many of these came too soon to have one."""
        early = 0
        if not self.scale:
            known = np.cumsum(errors > 0)
            missing = self.FIRST - len(self.first)
            early = int(np.searchsorted(known, missing)) + 1 if len(errors) else 0
            early = min(early, len(errors))
            self.first += tuple(error for error in errors[:early].tolist() if error > 0)
        if not self.scale and len(self.first) == self.FIRST:
            self.scale = float(np.exp(np.mean(np.log(self.first))))
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            ratios = np.sqrt(errors[early:] / self.scale)
            return np.where(np.isinf(ratios), 1.0, ratios / (ratios + 1.0)), early
