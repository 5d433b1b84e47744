"""Measure frequent directions and SDROGD: a shrink beside a singular value decomposition."""

import numpy as np

from . import common

try:
    from onlinekern.core.linalg.frequent_directions import FrequentDirections
except ImportError:  # An old commit without sketches.
    FrequentDirections = None


class Shrink:
    """One shrink of 2 l rows, including the copies of these rows and of the last one."""

    number = 1
    warmup_time = 0
    param_names = ["features, directions"]
    params = [[(784, 78), (5_000, 50), (200, 20)]]

    def setup(self, case):
        if FrequentDirections is None:
            raise NotImplementedError
        d, size = case
        self.rows = np.random.default_rng(0).normal(size=(2 * size, d)) * np.linspace(0.1, 3, d)
        self.renew(d, size)

    def renew(self, d, size):
        """Make a sketch that shrinks at the next row."""
        self.sketch = FrequentDirections(size, d)
        self.sketch.insert(self.rows[:-1])

    def time_shrink(self, *_):
        self.sketch.insert(self.rows[-1:])

    def time_svd(self, *_):
        np.linalg.svd(self.rows, full_matrices=False)

    def track_ratio(self, case):
        def shrink():
            self.sketch.insert(self.rows[-1:])

        shrinks, decompositions = [], []
        for _ in range(15):
            self.renew(*case)
            shrinks.append(common.least_us(shrink, 1, repeats=1))
            decompositions.append(common.least_us(self.time_svd, 1, repeats=1))
        return min(decompositions) / min(shrinks)

    track_ratio.unit = "times"


class SketchedDescent(common.Streams):
    """Learn the sparse binary stream with SDROGD."""

    param_names = ["dtype", "layout", "between"]
    params = [common.DTYPES, common.LAYOUTS, ["linear", "quadratic"]]

    def setup(self, dtype, layout, between):
        self.between = between
        self.new()
        self.load("SDROGDClassifier", dtype, layout)

    def new(self):
        """Return the estimator that is measured."""
        return common.new("SDROGDClassifier", between=self.between)

    def time_learn(self, *_):
        common.learn(self.new(), self.X, self.y)

    def peakmem_learn(self, *_):
        common.learn(self.new(), self.X, self.y)

    def track_mistakes(self, *_):
        return common.learn(self.new(), self.X, self.y).n_mistakes_

    track_mistakes.unit = "mistakes"

    def track_us_per_sample(self, *_):
        call = common.learn
        return common.least_us(lambda: call(self.new(), self.X, self.y), len(self.y))

    track_us_per_sample.unit = "us"
