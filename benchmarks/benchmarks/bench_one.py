"""Measure what Python adds to a compiled update, one sample at a time."""

import pickle
import statistics
import time

from . import common


def learn_each(model, samples):
    """Learn the pairs (x, y) one by one."""
    for x, y in samples:
        model.learn_one(x, y)


def compare_one(model, X, y, repeats=15):
    """Time learn_one against partial_fit with a window of one sample, in turns.

    Both learn the same samples with copies of the model.

    Parameters
    ----------
    model : estimator
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    repeats : int

    Returns
    -------
    single, bulk, overhead : float
        Medians of the two CPU times and of their difference, in microseconds per sample.
    """
    samples = list(zip(X, y.tolist(), strict=True))
    kept = pickle.dumps(model)
    singles, bulks = [], []
    for _ in range(repeats):
        one, many = pickle.loads(kept), pickle.loads(kept).set_params(window=1)
        times = [time.process_time()]
        learn_each(one, samples)
        times.append(time.process_time())
        common.learn(many, X, y)
        times.append(time.process_time())
        singles.append(1e6 * (times[1] - times[0]) / len(y))
        bulks.append(1e6 * (times[2] - times[1]) / len(y))
    differences = [single - bulk for single, bulk in zip(singles, bulks, strict=True)]
    return tuple(map(statistics.median, (singles, bulks, differences)))


class One(common.SingleLearner):
    """Learn the sparse binary stream, as dense rows."""

    param_names = ["algorithm", "dtype", "n_support"]
    params = [
        ["KernelPerceptronClassifier", "KernelOGDClassifier", "SPAClassifier", "SPARegressor"],
        common.DTYPES,
        [64, 1_000],
    ]

    def time_score_one(self, *_):
        for x, _label in self.samples:
            self.model.score_one(x)


class Overhead(common.Warm):
    """Time of learn_one minus partial_fit with a window of one sample; the goal is at most 1.5 us.

    The models have few support vectors: the difference of two large times would be noise.
    """

    rows = 2_000
    param_names = ["stream", "algorithm", "dtype", "n_support"]
    params = [
        ["sparse", "mixture"],
        ["KernelPerceptronClassifier", "SPAClassifier"],
        common.DTYPES,
        [64],
    ]

    def setup(self, stream, algorithm, dtype, n_support):
        self.stream = stream
        self.prepare(algorithm, dtype, "dense", n_support)

    def track_overhead_us(self, *_):
        return round(compare_one(self.model, self.X, self.y)[2], 3)

    track_overhead_us.unit = "us"


class OneRow(common.Warm):
    """partial_fit with one row, here and in scikit-learn: the cost of scikit-learn's contract."""

    rows = 300
    param_names = ["dtype"]
    params = [common.DTYPES]

    def setup(self, dtype):
        self.prepare("SPAClassifier", dtype, "dense", 64)
        self.parts = [(self.X[i : i + 1], self.y[i : i + 1]) for i in range(self.rows)]

    def learn_each(self, model):
        """Learn row after row."""
        for x, y in self.parts:
            model.partial_fit(x, y)

    def time_partial_fit(self, *_):
        self.learn_each(self.model)

    def track_ratio(self, *_):
        """Return how many times longer scikit-learn's linear classifier takes."""
        from sklearn.linear_model import SGDClassifier

        peer = common.learn(SGDClassifier(), self.X, self.y)
        ours, theirs = [], []
        for _ in range(5):
            ours.append(common.least_us(lambda: self.learn_each(self.model), 1, repeats=1))
            theirs.append(common.least_us(lambda: self.learn_each(peer), 1, repeats=1))
        return round(statistics.median(theirs) / statistics.median(ours), 2)

    track_ratio.unit = "times"
