"""Measure LOL on samples like digits: 784 features, ten classes, around eighty centres."""

import numpy as np
from scipy import sparse

from . import common

PAPER = {
    "n_prototypes": 60, "n_assign": 1, "center": False, "fit_intercept": False, "step": "pa",
    "average": False,
}  # fmt: skip
BETTER = {"n_assign": 8, "center": True, "fit_intercept": True, "step": "arow"}
SETTINGS = {
    "i-lol": {"joint": False},
    "lol": {},
    "lol average": {"average": True},
    "lol margin": {"multi_class": "margin"},
    "lol arow": {"n_prototypes": 100, **BETTER},
}
SETTINGS = {name: {**PAPER, **setting} for name, setting in SETTINGS.items()}


def places(n, d, n_classes=10, n_places=80, stored=0.2):
    """Generate samples of unit length with a fifth of the features not 0, and their classes."""
    rng = np.random.default_rng(0)
    centers = rng.random((n_places, d)) * (rng.random((n_places, d)) < stored)
    place = rng.integers(n_places, size=n)
    X = centers[place] * (1 + rng.normal(size=(n, d)))
    return X / np.linalg.norm(X, axis=1, keepdims=True), place % n_classes


class Local:
    """Learn a pass in the given order, and predict."""

    param_names = ["setting", "dtype", "layout"]
    params = [list(SETTINGS), common.DTYPES, common.LAYOUTS]

    def setup(self, setting, dtype, layout):
        if "LOLClassifier" not in common.ALL:
            raise NotImplementedError("LOLClassifier")
        X, self.y = places(20_000 if common.FULL else 2_000, 784)
        self.X = X.astype(dtype) if layout == "dense" else sparse.csr_matrix(X, dtype=dtype)
        self.setting = SETTINGS[setting]
        self.model = self.learn()

    def learn(self):
        """Return a learner after its pass."""
        return common.ALL["LOLClassifier"](**self.setting).partial_fit(
            self.X, self.y, classes=range(10)
        )

    def time_learn(self, *_):
        self.learn()

    def time_predict(self, *_):
        self.model.predict(self.X)

    def track_us_per_sample(self, *_):
        return common.least_us(self.learn, len(self.y))

    track_us_per_sample.unit = "us"

    def track_mistakes(self, *_):
        return self.model.n_mistakes_

    track_mistakes.unit = "mistakes"
