"""Measure FOGD and NOGD by the number of features, and the cost of the features alone."""

import numpy as np

import onlinekern

from . import common

# Scale of the frequencies: that of gamma = 1/32 on a9a.
WIDTH = 0.25


class Fourier(common.Streams):
    """Learn the sparse binary stream with FOGD; compute its features alone."""

    param_names = ["dtype", "layout", "n_components"]
    params = [common.DTYPES, common.LAYOUTS, [200, 1_600]]

    def setup(self, dtype, layout, n_components):
        self.parameters = {"n_components": n_components, "gamma": WIDTH**2 / 2}
        common.new("FOGDClassifier")
        self.load("FOGDClassifier", dtype, layout)
        self.features = onlinekern.FourierFeatures(**self.parameters).fit(self.X[:10])

    def time_learn(self, *_):
        common.learn(common.new("FOGDClassifier", **self.parameters), self.X, self.y)

    def time_transform(self, *_):
        self.features.transform(self.X)

    def track_us_per_sample(self, *_):
        return common.least_us(self.time_learn, len(self.y))

    track_us_per_sample.unit = "us"

    def track_mistakes(self, *_):
        model = common.new("FOGDClassifier", **self.parameters)
        return common.learn(model, self.X, self.y).n_mistakes_

    track_mistakes.unit = "mistakes"


class Product(common.Streams):
    """Compute the product and the sines that FOGD cannot do without, by NumPy."""

    param_names = ["dtype", "n_components"]
    params = [common.DTYPES, [200, 1_600]]

    def setup(self, dtype, n_components):
        self.load("FOGDClassifier", dtype, "dense")
        self.frequencies = product_of(dtype, n_components, self.X.shape[1])

    def time_product_and_sines(self, *_):
        product_and_sines(self.X, self.frequencies)


class Nystroem(common.Learner):
    """Learn with NOGD, by its budget."""

    param_names = ["algorithm", "dtype", "layout", "budget"]
    params = [["NOGDClassifier"], common.DTYPES, common.LAYOUTS, [100, 500]]


class Block(common.Streams):
    """Learn with FOGD, by the length of the look-ahead block."""

    param_names = ["dtype", "window"]
    params = [common.DTYPES, [1, 16, 64]]

    def setup(self, dtype, window):
        self.load("FOGDClassifier", dtype, "csr")
        self.parameters = {"n_components": 1_600, "gamma": WIDTH**2 / 2, "window": window}
        common.new("FOGDClassifier")

    def time_learn(self, *_):
        common.learn(common.new("FOGDClassifier", **self.parameters), self.X, self.y)


def product_of(dtype, n_components, n_features):
    """Generate frequencies."""
    drawn = np.random.default_rng(0).standard_normal((n_components, n_features))
    return (WIDTH * drawn).astype(dtype)


def product_and_sines(X, frequencies, block=64):
    """Compute cos and sin of X times the frequencies by NumPy, some rows at a time."""
    for first in range(0, len(X), block):
        angles = X[first : first + block] @ frequencies.T
        np.cos(angles)
        np.sin(angles)
