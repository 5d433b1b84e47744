"""Measure kernel forests: a stream with its renewals, by the number of trees and the experts."""

import numpy as np

from . import common


class Forest(common.Fresh):
    """KernelForestClassifier on a dense binary stream."""

    algorithm = "KernelForestClassifier"
    param_names = ["n_trees", "levels"]
    params = [[30, 100] if common.FULL else [30], ["leaf", "both"]]

    def setup(self, n_trees, levels):
        self.parameters = {"n_trees": n_trees, "levels": levels}
        random = np.random.default_rng(0)
        self.X = random.uniform(-1, 1, (3_000, 10)).astype("float32")
        self.y = np.where(self.X[:, 0] * self.X[:, 1] > 0, 1, -1)
        self.new()
