"""Mix-ins of the benchmarks. A class states `params` and mixes in its measurements.

    Streams      setup_cache: the streams, written once per run
      Fresh      time_learn, track_us_per_sample, track_mistakes
        Learner  peakmem_learn, track_mean_loss, track_n_support too
      Warm       a model that has reached a number of support vectors
        SingleLearner   time_learn_one
        Predictor       time_predict

asv reads a method's name: time_ (seconds), peakmem_ (bytes), track_ (the returned value). The
defaults suit a pull request. The environment variable ONLINEKERN_BENCH=full selects longer streams
and larger budgets. ONLINEKERN_DATA names a folder with a9a, which replaces the synthetic stream.
"""

import os
import pickle
import time
import warnings
from abc import ABC, abstractmethod

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from . import streams

try:
    from onlinekern import all_estimators

    ALL = dict(all_estimators())
except ImportError:  # An old commit without all_estimators.
    ALL = {}
# Learners whose model is a set of support vectors; the others have their own benchmarks.
ESTIMATORS = {name: item for name, item in ALL.items() if "max_support" in item().get_params()}

FULL = os.environ.get("ONLINEKERN_BENCH") == "full"
STREAM_ROWS = 50_000
ROWS = STREAM_ROWS if FULL else 4_000
BUDGETS = [100, 1_000, 10_000] if FULL else [100, 1_000]
DTYPES = ["float32", "float64"]
LAYOUTS = ["csr", "dense"]
# Parameters near the best on a9a, where they are not the default.
PARAMETERS = {
    "BOGDClassifier": {"eta": 1.0},
    "BPAClassifier": {"C": 0.5},
    "BSGDClassifier": {"reg": 2 / ROWS},
    "BSGDRegressor": {"reg": 256 / ROWS},
    "DualSGDClassifier": {"reg": 2 / ROWS},
    "DualSGDRegressor": {"reg": 256 / ROWS},
    "FOGDClassifier": {"eta": 0.1, "loss": "hinge", "schedule": "constant", "average": False},
    "FOGDRegressor": {"eta": 0.1, "average": False},
    "KernelOGDClassifier": {"eta": 0.1},
    "KernelOGDRegressor": {"eta": 0.1},
    "KernelPAClassifier": {"C": 0.5, "average": False},
    "NOGDClassifier": {"eta": 0.1},
    "NOGDRegressor": {"eta": 0.1},
    "OSKLClassifier": {"eta": 0.1},
    "SPAClassifier": {"eta": 0.1, "alpha": 1.0, "beta": 5.0, "average": True},
    "SPARegressor": {"eta": 0.1, "beta": 2.0, "average": True},
}


def new(algorithm, **parameters):
    """Make an estimator; if the commit lacks it, asv records the case as not applicable."""
    if algorithm not in ALL:
        raise NotImplementedError(algorithm)
    chosen = {"random_state": 0, **PARAMETERS.get(algorithm, {}), **parameters}
    if hasattr(ALL[algorithm], "gamma"):
        chosen = {"gamma": 0.4, **chosen}
    return ALL[algorithm](**chosen)


def size_parameter(algorithm):
    """Return the name of the parameter that bounds the support vectors."""
    return "budget" if "budget" in new(algorithm).get_params() else "max_support"


def learn(model, X, y):
    """Learn one pass in the given order; classifiers get their classes."""
    with warnings.catch_warnings():
        # The benchmark wants a full support set.
        warnings.filterwarnings("ignore", message="max_support")
        if is_classifier(model):
            return model.partial_fit(X, y, classes=[-1, 1])
        return model.partial_fit(X, y)


def warm(model, X, y, n_support, block=64):
    """Learn from the head of a stream until there are about `n_support` support vectors.

    A sampling gate is open meanwhile: only the number of support vectors matters.
    """
    kept = {"beta": model.beta} if hasattr(model, "beta") else {}
    if kept:
        model.set_params(beta=model.alpha)
    for first in range(0, X.shape[0], block):
        learn(model, X[first : first + block], y[first : first + block])
        if model.n_support_ >= n_support:
            # New parameters take effect at the next partial_fit, not in learn_one.
            return learn(model.set_params(**kept), X[-1:], y[-1:])
    raise ValueError(f"{X.shape[0]} rows give {model.n_support_} support vectors, not {n_support}")


class Streams(ABC):
    """Streams in files of the working folder, made once for all classes.

    The mix-ins are abstract so that asv does not take them for benchmarks.
    """

    stream = "sparse"

    @property
    @abstractmethod
    def params(self):
        """Return the lists of values of asv's parameters."""

    def setup_cache(self):
        """Write the streams."""
        folder = os.environ.get("ONLINEKERN_DATA")
        drawn = {
            "sparse": streams.a9a(folder) if folder else streams.sparse_binary(STREAM_ROWS),
            "mixture": streams.gaussian_mixture(STREAM_ROWS),
        }
        for name, (X, y, target) in drawn.items():
            with open(f"{name}.pickle", "wb") as file:
                pickle.dump((sparse.csr_matrix(X), y, target), file)

    def load(self, algorithm, dtype, layout, rows=ROWS):
        """Set X and y; a regressor gets regression targets."""
        with open(f"{self.stream}.pickle", "rb") as file:
            X, labels, target = pickle.load(file)
        self.X = streams.laid_out(X[:rows], dtype, layout)
        self.y = (target if algorithm.endswith("Regressor") else labels)[:rows]


class Fresh(Streams):
    """Learn X and y, which `setup` sets, from the beginning."""

    def new(self):
        """Return the estimator that is measured."""
        return new(self.algorithm, **self.parameters)

    def learnt(self):
        """Return it when it has learnt."""
        return learn(self.new(), self.X, self.y)

    def time_learn(self, *_):
        self.learnt()

    def track_us_per_sample(self, *_):
        return least_us(self.learnt, len(self.y))

    track_us_per_sample.unit = "us"

    def track_mistakes(self, *_):
        return getattr(self.learnt(), "n_mistakes_", np.nan)

    track_mistakes.unit = "mistakes"


class Learner(Fresh):
    """Learn a stream of all learners."""

    def setup(self, algorithm, dtype, layout, max_support):
        self.algorithm = algorithm
        self.parameters = {size_parameter(algorithm): max_support}
        self.new()
        self.load(algorithm, dtype, layout)

    def peakmem_learn(self, *_):
        self.learnt()

    def track_mean_loss(self, *_):
        model = self.learnt()
        return model.cumulative_loss_ / model.n_seen_

    track_mean_loss.unit = "loss"

    def track_n_support(self, *_):
        return self.learnt().n_support_

    track_n_support.unit = "support vectors"


class Warm(Streams):
    """Make a model with a given number of support vectors, and rows that it has not seen."""

    rows = 1_000

    def prepare(self, algorithm, dtype, layout, n_support, **parameters):
        """Set `model`, and X and y to rows that follow those it learnt."""
        model = new(algorithm, **parameters)
        self.load(algorithm, dtype, layout, rows=STREAM_ROWS if FULL else 10_000)
        head = len(self.y) - self.rows
        self.model = warm(model, self.X[:head], self.y[:head], n_support)
        self.X, self.y = self.X[head:], self.y[head:]


class SingleLearner(Warm):
    """Learn one sample at a time, from dense rows made before."""

    # asv calls `setup` before each repeat, so the model does not grow from one to the next.
    number = 1
    warmup_time = 0

    def setup(self, algorithm, dtype, n_support):
        self.prepare(algorithm, dtype, "dense", n_support)
        self.samples = list(zip(self.X, self.y.tolist(), strict=True))

    def time_learn_one(self, *_):
        for x, y in self.samples:
            self.model.learn_one(x, y)


class Predictor(Warm):
    """Predict many samples."""

    def setup(self, algorithm, dtype, layout, n_support):
        self.prepare(algorithm, dtype, layout, n_support)

    def time_predict(self, *_):
        self.model.predict(self.X)


def least_us(call, samples, repeats=5):
    """Return the minimum time of a few calls, in microseconds per sample."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return round(1e6 * min(times) / samples, 4)
