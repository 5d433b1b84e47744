"""Measure linear learners: a pass over the sparse stream, single samples, many features."""

import numpy as np
from scipy import sparse

from . import common

SETTINGS = {
    "Perceptron": ("PerceptronClassifier", {}),
    "OGD": ("OGDClassifier", {"reg": 1e-4}),
    "Pegasos": ("PegasosClassifier", {}),
    "Pegasos, batches": ("PegasosClassifier", {"batch_size": 50}),
    "PA-I": ("PAClassifier", {}),
    "PA-I, average": ("PAClassifier", {"average": True}),
}


class Linear(common.Streams):
    """Learn a pass in the given order, and predict."""

    param_names = ["setting", "dtype", "layout"]
    params = [list(SETTINGS), common.DTYPES, common.LAYOUTS]

    def setup(self, setting, dtype, layout):
        self.algorithm, self.parameters = SETTINGS[setting]
        self.load(self.algorithm, dtype, layout, common.STREAM_ROWS if common.FULL else 20_000)
        self.model = self.learn()

    def learn(self):
        """Return a learner after its pass."""
        return common.learn(common.new(self.algorithm, **self.parameters), self.X, self.y)

    def time_learn(self, *_):
        self.learn()

    def time_predict(self, *_):
        self.model.predict(self.X)

    def track_ns_per_sample(self, *_):
        """Return the time of the compiled loop alone, without validation."""
        labels = (self.y > 0).astype(np.float64)
        return 1e3 * common.least_us(lambda: self.model._model.learn(self.X, labels), len(labels))

    track_ns_per_sample.unit = "ns"

    def track_mistakes(self, *_):
        return self.model.n_mistakes_

    track_mistakes.unit = "mistakes"


class ManyFeatures:
    """Learn one sparse sample at a time: the cost may not depend on the number of features."""

    param_names = ["setting", "n_features"]
    params = [list(SETTINGS), [1_000, 1_000_000]]

    def setup(self, setting, n_features):
        rng = np.random.default_rng(0)
        shape = (1_000, n_features)
        columns = rng.integers(n_features, size=20 * shape[0])
        rows = np.repeat(np.arange(shape[0]), 20)
        X = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
        algorithm, parameters = SETTINGS[setting]
        self.model = common.learn(common.new(algorithm, **parameters), X, np.tile([-1, 1], 500))
        self.samples = [(X[i], 1 - 2 * (i % 2)) for i in range(shape[0])]

    def time_learn_one(self, *_):
        for x, y in self.samples:
            self.model.learn_one(x, y)
