"""Measure the detectors of one class, on dense points of the plane and on sparse rows."""

from . import common

SETTINGS = {
    "spa": ("SPAOneClass", {}),
    "mean": ("KernelMeanDetector", {}),
    "mean nystroem": ("KernelMeanDetector", {"features": "nystroem"}),
    "leverage": ("KernelMeanDetector", {"statistic": "leverage"}),
    "leverage nystroem": (
        *("KernelMeanDetector", {"statistic": "leverage", "features": "nystroem"}),
    ),
}


class OneClass(common.Streams):
    """Learn a pass in the given order, and score a thousand rows."""

    param_names = ["setting", "dtype", "stream"]
    params = [
        list(SETTINGS),
        common.DTYPES if common.FULL else ["float32"],
        ["mixture", "sparse"] if common.FULL else ["mixture"],
    ]

    def setup(self, setting, dtype, stream):
        self.stream = stream
        self.algorithm, self.parameters = SETTINGS[setting]
        if not self.parameters.keys() <= common.new(self.algorithm).get_params().keys():
            raise NotImplementedError(setting)
        self.load(self.algorithm, dtype, "csr" if stream == "sparse" else "dense")
        self.model = self.learner().partial_fit(self.X)

    def learner(self):
        """Return the estimator that is measured."""
        return common.new(self.algorithm, **self.parameters)

    def time_learn(self, *_):
        self.learner().partial_fit(self.X)

    def time_score(self, *_):
        self.model.score_samples(self.X[:1_000])

    def track_us_per_sample(self, *_):
        return common.least_us(self.time_learn, len(self.y))

    track_us_per_sample.unit = "us"
