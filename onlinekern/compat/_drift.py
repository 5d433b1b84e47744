"""The detectors of `onlinekern.drift` as drift detectors of river."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from river import base
from sklearn.base import clone

# A warning comes with this share of the wealth that raises an alarm.
WARNING = 0.1


class RiverDriftDetector(base.DriftAndWarningDetector):
    """A detector of `onlinekern.drift` as a drift detector of river.

    river's wrappers, ``DriftRetrainingClassifier`` for example, feed it numbers. It takes samples
    as dictionaries too.

    Parameters
    ----------
    detector : detector
        One of `onlinekern.drift`. It is cloned, not changed.

    Attributes
    ----------
    drift_detected : bool
        Whether the last update raised an alarm.
    warning_detected : bool
        Whether the detector has won a tenth of its `run_length`, but raised no alarm. By the same
        promise it comes after as many bets as that, at least.
    detector_ : detector
        The clone, which sees the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinekern.compat.river import RiverDriftDetector
    >>> from onlinekern.drift import LossDetector
    >>> alarm = RiverDriftDetector(LossDetector(random_state=0))
    >>> mistakes = np.random.default_rng(0).random(3000) < np.repeat([0.1, 0.3], [2000, 1000])
    >>> found = []
    >>> for n, mistake in enumerate(mistakes):
    ...     alarm.update(bool(mistake))
    ...     if alarm.drift_detected:
    ...         found.append(n)
    >>> 2000 < found[0] < 2200
    True
    """

    def __init__(self, detector: Any) -> None:
        super().__init__()
        self.detector = detector
        self.detector_ = clone(detector)
        self._names: list[Hashable] | None = None

    def update(self, x: Any) -> None:
        """See one sample.

        Parameters
        ----------
        x : float, array-like or dict
            What the detector takes; of a dictionary, the values in the order of the first one.

        Raises
        ------
        ValueError
            If the detector does not take x, or a dictionary has other features than the first one.
        """
        names = self._names
        if isinstance(x, Mapping):
            if names is None:
                names = list(x)
            if x.keys() != set(names):
                raise ValueError(f"x has the features {list(x)}, but those before had {names}")
            x = [x[name] for name in names]
        self.detector_.update(x)
        self._names = names
        self._drift_detected = self.detector_.drift_detected
        won = self.detector_.statistic_ / self.detector_.run_length
        self._warning_detected = not self._drift_detected and won >= WARNING

    @classmethod
    def _unit_test_params(cls) -> Any:
        from onlinekern.drift import LossDetector

        yield {"detector": LossDetector(random_state=0)}
