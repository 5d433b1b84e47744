"""Measure kernel forests: rows between two renewals, and whole streams with their renewals."""

import numpy as np

from . import common


class Forest(common.Fresh):
    """KernelForestClassifier on a dense stream, by the number of classes and of trees."""

    algorithm = "KernelForestClassifier"
    param_names = ["n_classes", "n_trees"]
    params = [[2, 7], [30, 100] if common.FULL else [30]]

    def setup(self, n_classes, n_trees):
        self.parameters = {"n_trees": n_trees}
        random = np.random.default_rng(0)
        self.X = random.uniform(-1, 1, (3_000, 10)).astype("float32")
        f = self.X[:, 0] * self.X[:, 1]
        self.y = np.digitize(f, np.quantile(f, np.arange(1, n_classes) / n_classes))
        self.new()
