"""Measure what raw streams need: the scaler, a pipeline with it, and streams that drift."""

import numpy as np

from . import common

try:
    from onlinekern import OnlineStandardScaler, make_stream_pipeline
except ImportError:  # An old commit without pipelines.
    OnlineStandardScaler = make_stream_pipeline = None
try:
    from onlinekern import streams
except ImportError:
    streams = None

DRIFTING = ["Agrawal", "RandomRBF", "SEA"]
if common.FULL:
    DRIFTING += ["Hyperplane", "LED", "Mixed", "STAGGER", "Sine"]


def new_scaler():
    """Return a scaler that forgets."""
    if OnlineStandardScaler is None:
        raise NotImplementedError("OnlineStandardScaler")
    return OnlineStandardScaler(forgetting=0.999)


class Scaler(common.Streams):
    """OnlineStandardScaler: learn and transform row by row, and transform."""

    param_names = ["dtype", "layout"]
    params = [common.DTYPES, common.LAYOUTS]

    def setup(self, dtype, layout):
        self.load("", dtype, layout, common.STREAM_ROWS if common.FULL else 10_000)
        self.scaler = new_scaler().fit(self.X)

    def time_learn_transform(self, *_):
        new_scaler().learn_transform(self.X)

    def time_transform(self, *_):
        self.scaler.transform(self.X)

    def track_ns_per_sample(self, *_):
        return 1e3 * common.least_us(self.time_learn_transform, len(self.y))

    track_ns_per_sample.unit = "ns"


class Pipeline(common.Streams):
    """A scaler in front of a learner, in batches of 256 rows, and one sample at a time."""

    param_names = ["algorithm", "layout"]
    params = [["PAClassifier", "SPAClassifier"], common.LAYOUTS]

    def setup(self, algorithm, layout):
        new_scaler()
        self.algorithm = algorithm
        self.load(algorithm, "float32", layout)
        self.model = self.learnt()
        self.samples = [(self.X[i], self.y[i].item()) for i in range(100)]

    def learnt(self):
        """Return a pipeline after its pass."""
        model = make_stream_pipeline(new_scaler(), common.new(self.algorithm))
        for first in range(0, len(self.y), 256):
            part = slice(first, first + 256)
            common.learn(model, self.X[part], self.y[part])
        return model

    def time_learn(self, *_):
        self.learnt()

    def time_learn_one(self, *_):
        for x, y in self.samples:
            self.model.learn_one(x, y)

    def track_mistakes(self, *_):
        return self.learnt()[-1].n_mistakes_

    track_mistakes.unit = "mistakes"


class DriftStreams:
    """Samples of a stream that drifts, and of two concepts with a gradual change between."""

    param_names = ["stream", "joined"]
    params = [DRIFTING, [False, True]]
    n_samples = 100_000 if common.FULL else 10_000

    def setup(self, name, joined):
        if not hasattr(streams, name):
            raise NotImplementedError(name)
        cls = getattr(streams, name)
        # The centroids of RandomRBF have a seed of their own.
        more = {"model_state": 0} if hasattr(cls, "model_state") else {}
        self.stream, other = (cls(random_state=seed, **more) for seed in (0, 1))
        if joined:
            middle = self.n_samples // 2
            self.stream = streams.ConceptDrift(
                [self.stream, other], position=middle, width=self.n_samples / 10, random_state=0
            )

    def time_take(self, *_):
        self.stream.take(self.n_samples)

    def track_share_of_class_0(self, *_):
        """Return what is the same on all commits: a stream never changes."""
        return float(np.mean(self.stream.take(self.n_samples)[1] == 0))

    track_share_of_class_0.unit = "share"
