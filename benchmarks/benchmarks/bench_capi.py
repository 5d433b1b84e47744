"""Measure the C interface, called by a compiled loop, beside the same calls from Python."""

import pickle
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from . import bench_one, common

# The compiled loop lies beside this package.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import capi_loop


class Capi(common.Warm):
    """A learner of few support vectors and a linear one: most of their time goes into the calls."""

    rows = 1_000
    # asv calls `setup` before each repeat, so the model does not grow from one to the next.
    number = 1
    warmup_time = 0
    param_names = ["algorithm", "layout"]
    params = [["SPAClassifier", "PAClassifier"], common.LAYOUTS]

    def setup(self, algorithm, layout):
        if algorithm in common.ESTIMATORS:
            self.prepare(algorithm, "float32", layout, 64)
        else:
            self.load(algorithm, "float32", layout)
            head = len(self.y) - self.rows
            self.model = common.learn(common.new(algorithm), self.X[:head], self.y[:head])
            self.X, self.y = self.X[head:], self.y[head:]
        self.y = self.y.astype(float)
        self.out = np.empty(self.rows)
        self.samples = list(zip(self.X, self.y.tolist(), strict=True))
        self.kept = pickle.dumps(self.model)
        self.through_c = capi_loop.Model(self.model)
        capi_loop.loops()

    def time_learn(self, *_):
        self.through_c.learn(self.X, self.y)

    def time_learn_one(self, *_):
        self.through_c.each(self.X, self.y)

    def time_score_one(self, *_):
        self.through_c.each(self.X, self.y, self.out)

    def time_scores(self, *_):
        self.through_c.score(self.X, self.out)

    def ratio(self, through_c, through_python, repeats=7):
        """Return how many times longer Python's calls take: medians, in turns, on equal models."""
        times = []
        for _ in range(repeats):
            estimator = pickle.loads(self.kept)
            model = capi_loop.Model(estimator)
            start = time.process_time()
            through_c(model)
            middle = time.process_time()
            through_python(estimator)
            times.append((middle - start, time.process_time() - middle))
        ours, theirs = map(statistics.median, zip(*times, strict=True))
        return round(theirs / ours, 3)

    def track_ratio_learn(self, *_):
        return self.ratio(
            lambda model: model.learn(self.X, self.y),
            lambda estimator: estimator.partial_fit(self.X, self.y),
        )

    track_ratio_learn.unit = "times"

    def track_ratio_learn_one(self, *_):
        return self.ratio(
            lambda model: model.each(self.X, self.y),
            lambda estimator: bench_one.learn_each(estimator, self.samples),
        )

    track_ratio_learn_one.unit = "times"

    def track_ratio_score_one(self, *_):
        """Return the ratio; fail if the scores differ."""
        scores = []

        def score_each(estimator):
            scores[:] = [estimator.score_one(x) for x, _ in self.samples]

        ratio = self.ratio(lambda model: model.each(self.X, self.y, self.out), score_each)
        np.testing.assert_array_equal(self.out, scores)
        return ratio

    track_ratio_score_one.unit = "times"
