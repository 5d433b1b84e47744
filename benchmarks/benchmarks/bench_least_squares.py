"""Measure kernel recursive least squares, by the number of features, the sampler, the metric."""

import numpy as np

from . import common


class LeastSquares(common.Fresh):
    """KernelRLSClassifier on a dense binary stream."""

    algorithm = "KernelRLSClassifier"
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
            "linear": False,
        }  # fmt: skip
        random = np.random.default_rng(0)
        self.X = random.uniform(-1, 1, (6_000, 10)).astype(dtype)
        self.y = np.where(self.X[:, 0] * self.X[:, 1] > 0.1, 1, -1)
        self.new()


class Metric(common.Fresh):
    """KernelRLSClassifier that learns its metric, on a stream of which two features matter."""

    algorithm = "KernelRLSClassifier"
    param_names = ["dtype", "n_features", "metric"]
    params = [
        common.DTYPES if common.FULL else ["float32"],
        [8, 20, 100] if common.FULL else [8],
        ["none", "diagonal", "full"],
    ]

    def setup(self, dtype, n_features, metric):
        self.parameters = {"n_components": 200, "gamma": 1 / n_features, "metric": metric}
        self.X = np.random.default_rng(0).standard_normal((6_000, n_features)).astype(dtype)
        self.y = np.where(self.X[:, 0] * self.X[:, 1] > 0.1, 1, -1)
        self.new()
