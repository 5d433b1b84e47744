"""Measure cells of trees as features: how they grow along a stream, and how rows find them."""

import numpy as np

from . import common

try:
    from onlinekern import PartitionFeatures
except ImportError:  # An old commit without it.
    PartitionFeatures = None


class Cells:
    """PartitionFeatures with targets and without."""

    param_names = ["dtype", "targets"]
    params = [common.DTYPES, [True, False]]

    def setup(self, dtype, targets):
        if PartitionFeatures is None:
            raise NotImplementedError
        random = np.random.default_rng(0)
        self.X = random.uniform(-1, 1, (3_000, 10)).astype(dtype)
        self.y = self.X[:, 0] * self.X[:, 1] > 0 if targets else None
        self.grown = self.new().fit(self.X, self.y)

    def new(self):
        return PartitionFeatures(n_trees=30, random_state=0)

    def time_stream(self, *_):
        self.new().learn_transform(self.X, self.y)

    def time_transform(self, *_):
        self.grown.transform(self.X)
