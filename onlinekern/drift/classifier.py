"""The detector whose witness is a classifier, which tells reference rows from new ones."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import clone

from onlinekern.drift.pairs import PairDetector
from onlinekern.estimators.declared import Check, of
from onlinekern.estimators.parameters import estimator
from onlinekern.estimators.types import Floats
from onlinekern.estimators.validation import wrong_type


@estimator
class ClassifierDetector(PairDetector):
    """Detector of change in rows, by a classifier that guesses which row of a pair is the new one.

    Pairs are those of `MMDDetector`: every second row waits, and becomes the reference row of a
    later one. A classifier with the labels -1 (reference) and 1 (new) scores both rows before it
    learns them [2]_ [3]_. It bets ``f = clip((score(x) - score(r)) / 2, -1, 1)``, and wealth and
    alarms are those of `MMDDetector`, with the same promise [1]_.

    Parameters
    ----------
    classifier : object or None, default=None
        Has ``partial_fit(X, y, classes=)`` and ``decision_function``; it is cloned. None:
        ``KernelRLSClassifier(forgetting=0.998, n_components=200)``.
    n_reference : int >= 1, default=500
        Reference rows that wait. So many rows come after the first 100 before the first bet, and a
        change can be seen while those of before it last, twice as many rows. More finds smaller
        changes.
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
    The promise of false alarms holds for any classifier whose scores depend only on what it has
    learnt; its accuracy decides the delay. It learns 16 pairs of standardised rows at a time.

    `MMDDetector` is faster, and sooner if means or scales change. The classifier is sooner if only
    correlations change, and finds smaller changes of them (docs/alarms.md).

    With learners of this library, results do not depend on how rows are divided into calls. A call
    of more than a few rows copies the classifier first, so that a failed call changes nothing.

    References
    ----------
    .. [1] J. Shin, A. Ramdas, A. Rinaldo (2024). E-detectors: a nonparametric framework for
       sequential change detection. New England Journal of Statistics in Data Science 2, 229-260.
    .. [2] A. Podkopaev, A. Ramdas (2023). Sequential predictive two-sample and independence
       testing. Advances in Neural Information Processing Systems 36.
    .. [3] D. Lopez-Paz, M. Oquab (2017). Revisiting classifier two-sample tests. International
       Conference on Learning Representations.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern.drift import ClassifierDetector
    >>> X = np.random.default_rng(1).normal(size=(4000, 5))
    >>> X[3000:, 1] = 0.7 * X[3000:, 0] + 0.7 * X[3000:, 1]
    >>> detector = ClassifierDetector().update_many(X)
    >>> bool(3000 < detector.alarms_[0] < 4000)
    True
    """

    classifier: object = None

    def _validate_params(self) -> None:
        super()._validate_params()
        for method in ("partial_fit", "decision_function"):
            if self.classifier is not None and not hasattr(self.classifier, method):
                wanted = "have partial_fit and decision_function"
                raise wrong_type("classifier", wanted, self.classifier)

    def _new_witness(self, rows: Floats) -> None:
        if self.classifier is None:
            from onlinekern.learners.least_squares import KernelRLSClassifier

            self._witness: Any = KernelRLSClassifier(forgetting=0.998, n_components=200)
            # Rows are standardised here, so this learner need not warn of scales.
            self._witness.__dict__["_any_scale"] = True
        else:
            self._witness = clone(self.classifier)
        self._has_learnt = False

    def _keep_witness(self) -> None:
        self._witness = deepcopy(self._witness)

    def _payoffs(self, pairs: Floats) -> Floats:
        if not self._has_learnt:
            return np.zeros((len(pairs) // 2, 1))
        scores = self._witness.decision_function(pairs)
        return np.clip((scores[1::2] - scores[::2]) / 2, -1.0, 1.0)[:, None]

    def _learn(self, pairs: Floats) -> None:
        self._has_learnt = True
        self._witness.partial_fit(pairs, np.tile([-1, 1], len(pairs) // 2), classes=[-1, 1])

    def _witness_attributes(self, d: int) -> Iterator[tuple[str, Check]]:
        yield "_has_learnt", of(bool)
        known = d if self._has_learnt else None
        yield (
            "_witness",
            lambda witness: (
                hasattr(witness, "partial_fit")
                and hasattr(witness, "decision_function")
                and getattr(witness, "n_features_in_", None) == known
            ),
        )
