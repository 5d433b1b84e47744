"""Measure what a call costs beside its samples: batches, single rows, dictionaries."""

import sys
from pathlib import Path

from onlinekern import StreamClassifier

from . import common

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import latency

try:
    from onlinekern.compat.river import Learner
except ImportError:  # Without river, or an old commit.
    Learner = None

LINEAR = ["PAClassifier", "OGDClassifier", "PerceptronClassifier", "AROWClassifier"]
WEIGHTS = {"none": None, "dict": {-1: 1.0, 1: 2.0}, "balanced": "balanced"}


class Batches(common.Streams):
    """Call partial_fit of linear learners, all checks on, with so many rows."""

    param_names = ["algorithm", "dtype", "layout", "rows"]
    params = [LINEAR, common.DTYPES, common.LAYOUTS, [1, 100, 1_000, 10_000]]

    def setup(self, algorithm, dtype, layout, rows):
        self.load(algorithm, dtype, layout, 10_000)
        self.model = common.learn(common.new(algorithm), self.X, self.y)
        starts = range(0, min(10_000, 200 * rows), rows)
        self.parts = [(self.X[i : i + rows], self.y[i : i + rows]) for i in starts]

    def learn_parts(self):
        """Learn batch after batch."""
        for X, y in self.parts:
            self.model.partial_fit(X, y)

    def time_partial_fit(self, *_):
        self.learn_parts()

    def track_ns_per_row(self, *_):
        return 1e3 * common.least_us(self.learn_parts, sum(len(y) for _, y in self.parts))

    track_ns_per_row.unit = "ns"


class Rows(common.Streams):
    """Call each method that takes a row, a hundred times."""

    param_names = ["algorithm", "layout"]
    params = [["PAClassifier", "SPAClassifier"], common.LAYOUTS]

    def setup(self, algorithm, layout):
        self.load(algorithm, "float32", layout, 2_000)
        self.model = common.learn(common.new(algorithm), self.X, self.y)
        self.matrices = [self.X[i : i + 1] for i in range(100)]
        self.rows = self.matrices if layout == "csr" else list(self.X[:100])
        self.labels = self.y[:100].tolist()

    def each(self, method, rows):
        """Call a method of the model with each row."""
        for x in rows:
            method(x)

    def time_score_one(self, *_):
        self.each(self.model.score_one, self.rows)

    def time_predict(self, *_):
        self.each(self.model.predict, self.matrices)

    def time_decision_function(self, *_):
        self.each(self.model.decision_function, self.matrices)

    def time_predict_proba(self, *_):
        self.each(self.model.predict_proba, self.matrices)

    def time_learn_one(self, *_):
        for x, y in zip(self.rows, self.labels, strict=True):
            self.model.learn_one(x, y)

    def time_partial_fit_predict(self, *_):
        for i, X in enumerate(self.matrices):
            self.model.partial_fit_predict(X, self.y[i : i + 1])


class ClassWeights(common.Streams):
    """Learn a row with weights of the classes, a hundred times."""

    param_names = ["algorithm", "weights"]
    params = [["PAClassifier", "OGDClassifier"], list(WEIGHTS)]

    def setup(self, algorithm, weights):
        self.load(algorithm, "float32", "dense", 2_000)
        model = common.new(algorithm, class_weight=WEIGHTS[weights])
        self.model = common.learn(model, self.X, self.y)
        self.samples = list(zip(self.X[:100], self.y[:100].tolist(), strict=True))
        self.parts = [(self.X[i : i + 1], self.y[i : i + 1]) for i in range(100)]

    def time_learn_one(self, *_):
        for x, y in self.samples:
            self.model.learn_one(x, y)

    def time_partial_fit(self, *_):
        for X, y in self.parts:
            self.model.partial_fit(X, y)


class Races(common.Streams):
    """Learn a row by all experts of a race that may sleep by now, a hundred times."""

    param_names = ["method"]
    params = [["learn_one", "partial_fit", "predict", "score_one"]]

    def setup(self, method):
        self.load("PAClassifier", "float32", "dense", 3_000)
        self.model = StreamClassifier(random_state=0).partial_fit(self.X, self.y)
        rows = self.X[:100] if method.endswith("one") else self.X[:100, None]
        labels = self.y[:100].tolist() if method == "learn_one" else self.y[:100, None]
        learns = method in ("learn_one", "partial_fit")
        self.calls = list(zip(rows, labels, strict=True)) if learns else [(x,) for x in rows]

    def time_call(self, method):
        call = getattr(self.model, method)
        for arguments in self.calls:
            call(*arguments)


class Latency:
    """Time each call of learn_one: the slowest of a thousand, and the worst, beside the median."""

    timeout = 600
    param_names = ["learner"]
    params = [list(latency.CASES)]

    def found(self, learner):
        """Return the median, the 99 and 99.9 per cent, and the worst, in microseconds."""
        return latency.latency(*latency.CASES[learner], 50_000 if common.FULL else 5_000, 2)

    def track_one_of_a_thousand(self, learner):
        median, _, slow, _ = self.found(learner)
        return round(slow / median, 1)

    def track_worst_us(self, learner):
        return round(self.found(learner)[3], 1)

    track_one_of_a_thousand.unit = "times the median"
    track_worst_us.unit = "us"


class Dictionaries(common.Streams):
    """Learn rows as dictionaries of their stored features, as river has them, a hundred times."""

    param_names = ["sparse"]
    params = [[False, True]]

    def setup(self, sparse):
        if Learner is None:
            raise NotImplementedError("onlinekern.compat.river")
        self.load("PAClassifier", "float64", "csr", 2_000)
        rows = [self.X[i : i + 1] for i in range(500)]
        self.samples = [
            (dict(zip(x.indices.tolist(), x.data.tolist(), strict=True)), y)
            for x, y in zip(rows, self.y[:500].tolist(), strict=True)
        ]
        width = self.X.shape[1]
        self.model = Learner(common.new("PAClassifier"), max_features=width, sparse=sparse)
        self.learn_each(self.samples)

    def learn_each(self, samples):
        """Learn dictionary after dictionary."""
        for x, y in samples:
            self.model.learn_one(x, y)

    def time_learn_one(self, *_):
        self.learn_each(self.samples[:100])

    def time_predict_one(self, *_):
        for x, _label in self.samples[:100]:
            self.model.predict_one(x)
