"""Measure the detectors of change, in one call and sample by sample."""

import numpy as np

from onlinekern.drift import ClassifierDetector, LossDetector, MMDDetector

from . import common

DETECTORS = {
    "mmd": lambda: MMDDetector(random_state=0),
    "classifier": ClassifierDetector,
    "losses": lambda: LossDetector(random_state=0),
}


class Drift:
    """See normal rows, or mistakes, that do not change."""

    param_names = ["detector"]
    params = [list(DETECTORS)]

    def setup(self, detector):
        X = np.random.default_rng(0).standard_normal((5_000, 20))
        self.X = (X[:, 0] > 1).astype(float) if detector == "losses" else X
        self.detector = DETECTORS[detector]

    def time_update_many(self, *_):
        self.detector().update_many(self.X)

    def time_update(self, *_):
        detector = self.detector()
        for x in self.X:
            detector.update(x)

    def track_us_per_sample(self, *_):
        return common.least_us(self.time_update_many, len(self.X))

    track_us_per_sample.unit = "us"
