"""StreamClassifier by its time budget: the cost of a sample, and the mistakes."""

import numpy as np

from . import common


class Race(common.Streams):
    """StreamClassifier on a dense stream whose concept turns over half-way."""

    param_names = ["time_budget", "classes"]
    params = [[20.0, 100.0] if common.FULL else [20.0], [2, 10] if common.FULL else [2]]

    def setup(self, time_budget, classes):
        self.parameters = {"time_budget": time_budget, "random_state": 0}
        random = np.random.default_rng(0)
        n = 8_000 if common.FULL else 3_000
        self.X = random.standard_normal((n, 10)) * np.logspace(-3, 3, 10)
        Z = self.X / np.logspace(-3, 3, 10)
        f = np.where(np.arange(n) < n // 2, Z[:, 0] * Z[:, 1], Z[:, 2] + Z[:, 3] ** 2)
        self.y = np.digitize(f, np.quantile(f, np.arange(1, classes) / classes))
        common.new("StreamClassifier")

    def learnt(self):
        return common.learn(common.new("StreamClassifier", **self.parameters), self.X, self.y)

    def time_learn(self, *_):
        self.learnt()

    def track_us_per_sample(self, *_):
        return common.least_us(self.time_learn, len(self.y))

    track_us_per_sample.unit = "us"

    def track_mistakes(self, *_):
        return self.learnt().n_mistakes_

    track_mistakes.unit = "mistakes"
