"""Measure CW, SCW and AROW on the sparse stream; full covariances on dense samples."""

import numpy as np

from . import common

SETTINGS = {
    "arow": ("AROWClassifier", {}),
    "arow average": ("AROWClassifier", {"average": True}),
    "scw1": ("SCWClassifier", {"C": 0.1}),
    "scw2": ("SCWClassifier", {"C": 0.1, "variant": "scw2"}),
    "arow regression": ("AROWRegressor", {}),
}
COVARIANCES = ["diagonal", "full"]


class SecondOrder(common.Streams):
    """Learn a pass in the given order."""

    param_names = ["setting", "covariance", "dtype", "layout"]
    params = [list(SETTINGS), COVARIANCES, common.DTYPES, common.LAYOUTS]

    def setup(self, setting, covariance, dtype, layout):
        self.algorithm, parameters = SETTINGS[setting]
        self.parameters = {**parameters, "covariance": covariance}
        self.learner()
        self.load(self.algorithm, dtype, layout)

    def learner(self):
        """Return the estimator that is measured."""
        return common.new(self.algorithm, **self.parameters)

    def time_learn(self, *_):
        common.learn(self.learner(), self.X, self.y)

    def track_ns_per_sample(self, *_):
        """Return the time of the compiled loop and the validation of a batch."""
        return 1e3 * common.least_us(
            lambda: common.learn(self.learner(), self.X, self.y), len(self.y)
        )

    track_ns_per_sample.unit = "ns"

    def track_mean_loss(self, *_):
        model = common.learn(self.learner(), self.X, self.y)
        return model.cumulative_loss_ / model.n_seen_

    track_mean_loss.unit = "loss"


class FullCovariance:
    """A regression in which every sample contracts the matrix."""

    param_names = ["n_features"]
    params = [[22, 123, 784]]

    def setup(self, n_features):
        common.new("AROWRegressor")
        rng = np.random.default_rng(0)
        self.X = rng.normal(size=(500, n_features)).astype(np.float32)
        self.y = self.X[:, 0] + rng.normal(size=500)

    def time_learn(self, *_):
        common.new("AROWRegressor", covariance="full").partial_fit(self.X, self.y)

    def time_learn_one(self, *_):
        model = common.new("AROWRegressor", covariance="full")
        for x, y in zip(self.X, self.y.tolist(), strict=True):
            model.learn_one(x, y)
