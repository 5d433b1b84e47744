"""Measure samples of very many features, whose support vectors are stored sparse."""

from . import common, streams


class Text:
    """Rows like text, with a bounded number of support vectors."""

    param_names = ["features", "dtype"]
    params = [[20_000, 1_000_000], common.DTYPES]

    def setup(self, features, dtype):
        X, self.y = streams.text(6_000 if common.FULL else 2_500, features, 50)
        self.X = streams.laid_out(X, dtype, "csr")
        self.model = common.new("KernelPAClassifier", max_support=1_200)
        common.learn(self.model, self.X[:2_000], self.y[:2_000])
        self.X, self.y = self.X[2_000:], self.y[2_000:]
        self.samples = self.X[:50].toarray()

    def time_learn(self, *_):
        common.learn(self.model, self.X, self.y)

    def time_score_one(self, *_):
        for x in self.samples:
            self.model.score_one(x)

    def track_us_per_sample(self, *_):
        return common.least_us(lambda: self.time_learn(), len(self.y))

    track_us_per_sample.unit = "us"

    def track_bytes_per_element(self, *_):
        stored = self.model.support_vectors_.nnz
        return round(self.model._model.space.support.nbytes() / stored, 2)

    track_bytes_per_element.unit = "bytes"
