"""Kernel recursive least squares by the number of features and the gate."""

import numpy as np

from . import common


class LeastSquares(common.Streams):
    """KernelRLSClassifier on a dense binary stream."""

    param_names = ["dtype", "features", "n_components", "gate"]
    params = [
        common.DTYPES if common.FULL else ["float32"],
        ["nystroem", "fourier"],
        [128, 400] if common.FULL else [128],
        ["always", "margin", "loss_proportional"],
    ]

    def setup(self, dtype, features, n_components, gate):
        self.parameters = {
            "features": features, "n_components": n_components, "gate": gate, "gamma": 0.5,
            "linear": False, "random_state": 0,
        }  # fmt: skip
        random = np.random.default_rng(0)
        self.X = random.uniform(-1, 1, (6_000, 10)).astype(dtype)
        self.y = np.where(self.X[:, 0] * self.X[:, 1] > 0.1, 1, -1)
        common.new("KernelRLSClassifier")

    def learnt(self):
        return common.learn(common.new("KernelRLSClassifier", **self.parameters), self.X, self.y)

    def time_learn(self, *_):
        self.learnt()

    def track_us_per_sample(self, *_):
        return common.least_us(self.time_learn, len(self.y))

    track_us_per_sample.unit = "us"

    def track_mistakes(self, *_):
        return self.learnt().n_mistakes_

    track_mistakes.unit = "mistakes"
