"""One sample at a time: what Python adds to the compiled cost of an update."""

import statistics
import time

from . import common


def elapsed_us(call, samples):
    """Time of one call, in microseconds per sample."""
    start = time.perf_counter()
    call()
    return 1e6 * (time.perf_counter() - start) / samples


def learn_each(model, samples):
    """Learn the pairs (x, y) one by one."""
    for x, y in samples:
        model.learn_one(x, y)


def compare_one(copy, X, y, repeats=15):
    """Time learn_one against partial_fit with a window of one sample, taking turns.

    Parameters
    ----------
    copy : callable
        Returns the model in its first state; both ways learn the same samples from there.
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    repeats : int

    Returns
    -------
    single, bulk, overhead : float
        Medians of the two times and of their difference, in microseconds per sample.
    """
    samples = list(zip(X, y.tolist(), strict=True))
    singles, bulks = [], []
    for _ in range(repeats):
        one, many = copy(), copy().set_params(window=1)
        singles.append(elapsed_us(lambda: learn_each(one, samples), len(y)))  # noqa: B023
        bulks.append(elapsed_us(lambda: common.learn(many, X, y), len(y)))  # noqa: B023
    differences = [single - bulk for single, bulk in zip(singles, bulks, strict=True)]
    return tuple(map(statistics.median, (singles, bulks, differences)))


class One(common.SingleLearner):
    """On the sparse binary stream, as dense rows."""

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
    """learn_one less partial_fit with a window of one sample: target 1.5 us at most.

    Few support vectors: the difference of two large times would be noise.
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
        return compare_one(self.copy, self.X, self.y)[2]

    track_overhead_us.unit = "us"
