"""The detector whose witness is the difference of two means of random Fourier features."""

from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np

from onlinekern.drift.pairs import PairDetector
from onlinekern.drift.wealth import NOTHING
from onlinekern.estimators.declared import Check, array, between, each, number, of
from onlinekern.estimators.parameters import Count, KernelWidth, RandomState, Share, estimator
from onlinekern.estimators.types import Floats
from onlinekern.preprocessing.kernel_features import FourierFeatures

# Payoffs are clipped at so many times their root mean square.
SPREAD = 3.0


@estimator
class MMDDetector(PairDetector):
    """Detector of change in rows, by the witness of the maximum mean discrepancy (MMD).

    Every second row of the stream becomes a reference row and waits. The other rows are paired with
    the reference row that has waited longest. Let z be features of a row. The witness w is the
    exponentially weighted mean of the differences of the pairs so far. It bets that a new row x is
    more like earlier new rows than its reference row r is::

        g = w . (z(x) - z(r)),   f = clip(g / (3 root mean square of g), -1, 1)
        R <- (R + 1) (1 + s f)   for the stakes s = 0.03, 0.06, 0.125, 0.25, 0.5, 0.9

    One witness has random Fourier features of a kernel, a second one the features of the row and
    their absolute values. An alarm is raised when the mean of the twelve R reaches `run_length`.
    Then the detector begins anew.

    Parameters
    ----------
    n_reference : int >= 1, default=500
        Reference rows that wait. So many rows come after the first 100 before the first bet, and a
        change can be seen while those of before it last, twice as many rows. More finds smaller
        changes.
    forgetting : float in (0, 1), default=0.99
        Factor by which the weight of a pair in w shrinks with each later pair.
    n_components : int >= 1, default=200
        Frequencies of the Fourier features.
    gamma : {'median', 'scale', 'auto'} or float > 0, default='median'
        Width of the Gaussian kernel of standardised rows, as for `FourierFeatures`, from the first
        100 rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the frequencies.
    run_length : float >= 1, default=10000.0
        The promise: so many bets come between two false alarms, on average, at least. An alarm
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
    feature_shares_ : ndarray of shape (n_features,), float64
        After an alarm: how much of the payoffs of its last 128 pairs or so is lost if a feature
        changes places between the two rows of each pair, as shares. Of correlated features it shows
        all that take part. It describes what the witness has learnt, chance with it: features that
        have not changed have shares too, and small changes are not told from them.
    n_features_in_ : int
        Features of a row.

    Notes
    -----
    **The promise.** Let rows come independently from one distribution. Both rows of a pair are new
    to w and to the scale, and they are exchangeable. So f is symmetric about 0 given the past. So
    ``R_t - t`` is a martingale, for every stake and for their mean, and for the first alarm N and
    any t ``E[min(N, t)] = E[R_min(N, t)] >= run_length P(N <= t)``, which gives ``E[N] >=
    run_length``: the argument of Shiryaev and Roberts, as for all e-detectors [1]_. Nothing else is
    assumed of the distribution or the kernel. CUSUM, ``max(R, 1)(1 + s f)``, is never above R: it
    keeps the same promise, but raises alarms later. The promise counts bets; each takes two rows.

    It needs each row to be used only once: if reference rows were reused, their peculiarities would
    look like change. Neighbouring rows of a series are not independent, and raise more alarms
    (docs/alarms.md).

    Payoffs and witness are those of the sequential kernel test [2]_, with features instead of the
    kernel [3]_, and with forgetting. The second witness is sooner if one feature of many changes.
    The first 100 rows give the centre and the scale of each feature, and are not used for bets.
    Pairs are learnt eight at a time. Parameters that are set later take effect when the detector
    begins anew.

    References
    ----------
    .. [1] J. Shin, A. Ramdas, A. Rinaldo (2024). E-detectors: a nonparametric framework for
       sequential change detection. New England Journal of Statistics in Data Science 2, 229-260.
    .. [2] S. Shekhar, A. Ramdas (2024). Nonparametric two-sample testing by betting. IEEE
       Transactions on Information Theory 70, 1178-1203.
    .. [3] N. Keriven, D. Garreau, I. Poli (2020). NEWMA: a new method for scalable model-free
       online change-point detection. IEEE Transactions on Signal Processing 68, 3515-3528.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern.drift import MMDDetector
    >>> X = np.random.default_rng(0).normal(size=(4000, 5))
    >>> X[3000:, 1] = 0.9 * X[3000:, 0] + 0.44 * X[3000:, 1]  # only the correlation changes
    >>> detector = MMDDetector(random_state=0).update_many(X)
    >>> bool(3000 < detector.alarms_[0] < 4000)
    True
    >>> sorted(np.argsort(detector.feature_shares_)[-2:].tolist())
    [0, 1]
    """

    n_components: Count = 200
    forgetting: Share = 0.99
    gamma: KernelWidth = "median"
    random_state: RandomState = None

    _block = 8
    _most_kinds = 2

    def _kinds(self) -> int:
        return 2

    def _new_witness(self, rows: Floats) -> None:
        self._features = FourierFeatures(
            n_components=self.n_components, gamma=self.gamma, random_state=self._seed
        ).fit(rows)
        lengths = self._features._map.n_features, 2 * rows.shape[1]
        self._directions = tuple(np.zeros(length) for length in lengths)
        self._squares = 0.0, 0.0
        kept = float(self.forgetting)
        self._kept = kept**self._block
        self._weights = (1 - kept) * kept ** np.arange(self._block - 1, -1, -1)

    def _differences(self, pairs: Floats) -> Iterator[Floats]:
        """Yield the differences of the rows of each pair, in both kinds of features."""
        for features in (self._features._map.transform(pairs), np.hstack([pairs, np.abs(pairs)])):
            yield features[1::2] - features[::2]

    def _payoffs(self, pairs: Floats) -> Floats:
        paid = np.zeros((len(pairs) // 2, 2))
        known = zip(self._differences(pairs), self._directions, self._squares, strict=True)
        for kind, (differences, direction, square) in enumerate(known):
            if square > 0:
                scaled = products(differences, direction) / (SPREAD * sqrt(square))
                paid[:, kind] = np.clip(scaled, -1.0, 1.0)
        return paid

    def _learn(self, pairs: Floats) -> None:
        learnt = [
            self._learnt(differences, direction, square)
            for differences, direction, square in zip(
                self._differences(pairs), self._directions, self._squares, strict=True
            )
        ]
        self._directions = tuple(direction for direction, _ in learnt)
        self._squares = learnt[0][1], learnt[1][1]

    def _learnt(
        self, differences: Floats, direction: Floats, before: float
    ) -> tuple[Floats, float]:
        """Return the direction and the mean square of its values after a block."""
        # The scale is that of values before they are learnt, as those that pay.
        square = float((products(differences, direction) ** 2).mean())
        if before > 0:
            square = self._kept * before + (1 - self._kept) * square
        added = (self._weights[:, None] * differences).sum(axis=0)
        return self._kept * direction + added, square

    def _witness_attributes(self, d: int) -> Iterator[tuple[str, Check]]:
        yield "_features", lambda features: has_map(features, d)
        lengths = self._features._map.n_features, 2 * d
        yield "_directions", each(of(np.ndarray), 2)
        yield "_directions", lambda both: all(map(lambda n, one: array(n)(one), lengths, both))
        yield "_weights", array(self._block)
        yield "_squares", each(number(0), 2)
        yield "_wealth", each(number(), 2 * len(NOTHING))
        yield "_kept", between(0, 1)


def has_map(features: Any, d: int) -> bool:
    """Return whether these are Fourier features, in doubles, of d others."""
    known = isinstance(features, FourierFeatures) and "_map" in vars(features)
    return known and features.n_features_in_ == d and features._map.itemsize == 8


def products(differences: Floats, direction: Floats) -> Floats:
    """Return the products with a direction, each row by itself: bits do not depend on how many
    rows there are."""
    return (differences * direction).sum(axis=1)
