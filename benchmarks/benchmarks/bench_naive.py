"""Measure SPA against a plain C loop with the same random numbers; both must learn the same."""

import sys
from pathlib import Path

from . import common, streams

# The plain loop is in the folder above, where the script ratio.py finds it too.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import naive

PARAMETERS = {"gamma": 0.4, "eta": 0.1, "alpha": 1.0, "beta": 5.0}


class Naive(common.Streams):
    """Both learn the head of a stream; ``python benchmarks/ratio.py`` runs whole streams."""

    param_names = ["stream", "dtype", "layout"]
    params = [["sparse", "mixture"], common.DTYPES, common.LAYOUTS]

    def setup(self, stream, dtype, layout):
        self.stream = stream
        self.load("SPAClassifier", dtype, layout)
        self.rows = streams.laid_out(self.X, "float64", "dense")
        self.uniforms = naive.gate_numbers(0, len(self.y))
        naive.loop()

    def learn(self):
        model = common.new("SPAClassifier", **PARAMETERS)
        return common.learn(model, self.X, self.y)

    def learn_naively(self):
        return naive.spa(self.rows, self.y, self.uniforms, **PARAMETERS)

    def time_naive(self, *_):
        self.learn_naively()

    def track_ratio(self, *_):
        """Return how many times longer the plain loop takes; fail if it learns something else."""
        model, outcome = self.learn(), self.learn_naively()
        ours, theirs = (model.n_mistakes_, model.n_support_), (outcome.mistakes, outcome.n_support)
        if ours != theirs:
            raise AssertionError(f"mistakes, support vectors: {ours}, of the naive loop {theirs}")
        samples = len(self.y)
        slow = common.least_us(self.learn_naively, samples, repeats=3)
        return round(slow / common.least_us(self.learn, samples), 2)

    track_ratio.unit = "times"
