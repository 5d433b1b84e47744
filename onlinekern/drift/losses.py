"""The detector of losses that grow, from the mistakes of a learner."""

from copy import deepcopy
from math import inf, sqrt
from typing import Any, Self

import numpy as np

from onlinekern.drift.detector import Detector, are_all, seed_of
from onlinekern.drift.wealth import NOTHING
from onlinekern.estimators.atomic import all_or_nothing
from onlinekern.estimators.parameters import Positive, RandomState, Share, estimator
from onlinekern.estimators.types import ArrayLike, Floats

# Losses are told apart in so many steps of the bound.
LEVELS = 256
# So many losses are looked at before an alarm may make the rest begin anew.
PIECE = 1024
# The constants of SplitMix64 (Steele, Lea, Flood 2014).
GAMMA, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
MASK = 2**64 - 1
# What never changes need not be copied.
PLAIN = (tuple, int, float, bool, type(None))


def uniform(seed: int, number: int) -> float:
    """Return a random number of (0, 1): the same for the same sample, however calls are cut."""
    z = (seed + number * GAMMA) & MASK
    z = ((z ^ (z >> 30)) * FIRST) & MASK
    z = ((z ^ (z >> 27)) * SECOND) & MASK
    return (((z ^ (z >> 31)) >> 11) + 0.5) * 2.0**-53


@estimator
class LossDetector(Detector):
    """Detector of losses that grow, for the mistakes or errors of a learner.

    Each loss is ranked among those since the last alarm: p is the share of them that are larger,
    with a random part of those that are equal. While losses are exchangeable, the p are
    independent and uniform, whatever the losses are. Two payoffs bet that p is small::

        f_1 = 1 - 2 p,   f_2 = 1 / (2 sqrt(p)) - 1
        R <- (R + 1) (1 + s f)   for both, and the stakes s = 0.03, 0.06, 0.125, 0.25, 0.5, 0.9

    and an alarm is raised when the mean of the twelve R reaches `run_length`. Then all begins anew.

    Parameters
    ----------
    tolerated : float in (0, 1) or None, default=None
        A mean loss that raises no alarm, as a share of `bound`. The payoff is then ``loss /
        (tolerated bound) - 1``. None compares losses with those since the last alarm.
    bound : float > 0, default=1.0
        The largest loss; larger ones count as this one. 1 is right for mistakes. Without
        `tolerated`, losses are told apart in 256 steps of it.
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
    [2]_. With `tolerated` it is enough that the mean of each loss,
    given those before, is not above it: losses may depend on each other, and the promise holds for
    neighbours that are alike too.

    A learner that still learns has losses that fall, which raise no alarm. Ranks know the level of
    losses only after some; what grows from the first sample on is not seen.

    It is a detector of `onlinekern.evaluate.prequential`, and has the methods of river's.

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
        """See the loss of one sample.

        Parameters
        ----------
        loss : float >= 0

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If the loss is negative or no finite number.
        """
        self._see(checked(np.reshape(loss, -1), "loss"))
        return self

    @all_or_nothing
    def update_many(self, losses: ArrayLike) -> Self:
        """See losses, in their order: the same bits as one `update` each.

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

    def _new_seed(self) -> int:
        return seed_of(self.random_state)

    def _forget(self) -> None:
        self._counts: tuple[int, ...] = (0,) * LEVELS
        self._known = None if self.tolerated is None else float(self.tolerated)
        self._bound = float(self.bound)

    def _see(self, losses: Floats) -> None:
        self._open()
        position = 0
        while position < len(losses):
            with np.errstate(over="ignore"):
                shares = np.minimum(losses[position : position + PIECE] / self._bound, 1.0)
            known = self._known
            beyond = (shares[:, None] / (known or 1.0) - 1.0).tolist()
            found = self._bet(self._of_ranks(shares) if known is None else beyond)
            used = len(shares) if found is None else found + 1
            if found is not None:
                self._raise_alarm(self._n_seen + used)
            position += used
            self._n_seen += used

    def _of_ranks(self, shares: Floats) -> Any:
        """Yield two payoffs of p, the share of the losses so far that are as large, or larger."""
        counts, first = list(self._counts), self._n_seen
        total = sum(counts)
        for number, level in enumerate((shares * (LEVELS - 1)).round().astype(int).tolist()):
            counts[level] += 1
            total += 1
            larger = sum(counts[level + 1 :])
            p = (larger + uniform(self._seed, first + number) * counts[level]) / total
            self._counts = tuple(counts)
            yield 1.0 - 2.0 * p, 0.5 / sqrt(p) - 1.0

    def _is_sound(self) -> bool:
        own = vars(self)
        if not super()._is_sound() or not self._has_begun():
            return super()._is_sound()
        counts, known, bound = own.get("_counts"), own.get("_known"), own.get("_bound")
        return (
            are_all(counts, int)
            and len(own["_counts"]) == LEVELS
            and min(own["_counts"]) >= 0
            and sum(own["_counts"]) <= own["_n_seen"]
            and (known is None or (type(known) is float and 0 < known < 1))
            and len(own["_wealth"]) == (2 if known is None else 1) * len(NOTHING)
            and type(bound) is float
            and 0 < bound < inf
        )


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
        raise ValueError(f"{name} must be finite and >= 0, got {wrong!r}")
    return losses


class Bounded:
    """Losses below 1 that are ordered as errors without a bound, for a `LossDetector`.

    An error e becomes e / (e + s), with s the mean of the first hundred, which are not told of.

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
        missing = 0 if self.scale else min(self.FIRST - len(self.first), len(errors))
        self.first += tuple(errors[:missing].tolist())
        if not self.scale and len(self.first) == self.FIRST:
            self.scale = float(np.mean(self.first)) or 1.0
        with np.errstate(over="ignore"):
            return errors[missing:] / (errors[missing:] + self.scale), missing
