"""Measure learners of second order on features of a kernel, by the covariance."""

import numpy as np

from . import common


class KernelSecondOrder(common.Fresh):
    """Learn a dense binary stream, of which two features tell."""

    param_names = ["algorithm", "covariance", "dtype"]
    params = [
        ["KernelAROWClassifier", "KernelSCWClassifier", "KernelLogisticClassifier"],
        ["shared", "full"],
        common.DTYPES if common.FULL else ["float32"],
    ]

    def setup(self, algorithm, covariance, dtype):
        self.algorithm = algorithm
        self.parameters = {"n_components": 128, "gamma": 0.5, "covariance": covariance}
        self.X = np.random.default_rng(0).uniform(-1, 1, (4_000, 10)).astype(dtype)
        self.y = np.where(self.X[:, 0] * self.X[:, 1] > 0.1, 1, -1)
        self.new()
