"""Measure StreamClassifier by its time budget: the cost of a sample, and the mistakes."""

import numpy as np

from . import common


class Race(common.Fresh):
    """StreamClassifier on a dense stream whose concept turns over half-way."""

    algorithm = "StreamClassifier"
    param_names = ["time_budget", "classes"]
    params = [[20.0, 100.0] if common.FULL else [20.0], [2, 10] if common.FULL else [2]]

    def setup(self, time_budget, classes):
        self.parameters = {"time_budget": time_budget}
        random = np.random.default_rng(0)
        n = 8_000 if common.FULL else 3_000
        self.X = random.standard_normal((n, 10)) * np.logspace(-3, 3, 10)
        Z = self.X / np.logspace(-3, 3, 10)
        f = np.where(np.arange(n) < n // 2, Z[:, 0] * Z[:, 1], Z[:, 2] + Z[:, 3] ** 2)
        self.y = np.digitize(f, np.quantile(f, np.arange(1, classes) / classes))
        self.new()

    def learnt(self):
        # Its classes are those that come.
        return self.new().partial_fit(self.X, self.y)
