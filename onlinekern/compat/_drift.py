"""The detectors of `onlinekern.drift` as drift detectors of river."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from river import base
from sklearn.base import clone

# A warning is raised at this share of the wealth that raises an alarm.
WARNING = 0.1


class RiverDriftDetector(base.DriftAndWarningDetector):
    """A detector of `onlinekern.drift` as a drift detector of river.

    river's wrappers, such as ``DriftRetrainingClassifier``, pass numbers to it. It also accepts
    samples as dictionaries.

    Parameters
    ----------
    detector : detector
        One of `onlinekern.drift`. It is cloned, not changed.

    Attributes
    ----------
    drift_detected : bool
        Whether the last update raised an alarm.
    warning_detected : bool
        Whether the wealth of the detector has reached a tenth of its `run_length`, without an
        alarm. Without a change, a warning comes after at least this number of bets on average.
    detector_ : detector
        The clone that gets the samples.

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
        """Update the detector by one sample.

        Parameters
        ----------
        x : float, array-like or dict
            Input of the detector. The values of a dictionary are put in the order of the first one.

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
