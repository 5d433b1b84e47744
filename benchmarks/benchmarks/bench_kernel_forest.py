"""Measure kernel forests: a stream with its renewals, single rows between them, and predictions."""

import numpy as np

from . import common

ROWS = 3_600
# The renewal that began at 2,048 rows is over a quarter as many later.
BEFORE = 2_600


def stream():
    """Return rows, labels and targets of a function of two of ten features."""
    X = np.random.default_rng(0).uniform(-1, 1, (ROWS, 10)).astype("float32")
    f = X[:, 0] * X[:, 1]
    return X, np.where(f > 0, 1, -1), f.astype(np.float64)


class Forest(common.Fresh):
    """KernelForestClassifier on a dense binary stream."""

    algorithm = "KernelForestClassifier"
    param_names = ["n_trees", "levels"]
    params = [[30, 100] if common.FULL else [30], ["leaf", "both"]]

    def setup(self, n_trees, levels):
        self.parameters = {"n_trees": n_trees, "levels": levels}
        self.X, self.y, _ = stream()
        self.new()


class RegressionForest(Forest):
    """KernelForestRegressor on the same rows."""

    algorithm = "KernelForestRegressor"

    def setup(self, n_trees, levels):
        super().setup(n_trees, levels)
        self.y = stream()[-1]


class Between:
    """A forest that has learnt a stream, and rows that do not renew it."""

    # asv calls `setup` before each repeat, so the model does not learn rows twice.
    number = 1
    warmup_time = 0
    param_names = ["algorithm", "n_trees"]
    params = [
        ["KernelForestClassifier", "KernelForestRegressor"],
        [30, 100] if common.FULL else [30],
    ]

    def setup(self, algorithm, n_trees):
        X, labels, targets = stream()
        y = targets if algorithm.endswith("Regressor") else labels
        self.model = common.new(algorithm, n_trees=n_trees)
        common.learn(self.model, X[:BEFORE], y[:BEFORE])
        self.X, self.y = X[BEFORE:], y[BEFORE:]
        self.samples = list(zip(self.X, self.y.tolist(), strict=True))

    def time_learn_one(self, *_):
        for x, y in self.samples:
            self.model.learn_one(x, y)

    def time_learn_block(self, *_):
        common.learn(self.model, self.X, self.y)

    def time_predict(self, *_):
        self.model.predict(self.X)
