"""Measure each length of the look-ahead window, which never changes a result."""

from . import common


class Window(common.Warm):
    """Learning with a fixed window; 0 stands for the library's own choice.

    SPA adds few support vectors, so its windows are seldom repaired. PA adds most samples.
    """

    number = 1
    warmup_time = 0
    rows = 2_000
    param_names = ["algorithm", "dtype", "layout", "window"]
    params = [
        ["SPAClassifier", "KernelPAClassifier"],
        common.DTYPES,
        common.LAYOUTS,
        [0, 1, 4, 16, 64, 256],
    ]

    def setup(self, algorithm, dtype, layout, window):
        chosen = {"beta": 20.0} if algorithm == "SPAClassifier" else {}
        self.prepare(algorithm, dtype, layout, n_support=1_000, **chosen)
        self.model.set_params(window=window or None)

    def time_learn(self, *_):
        common.learn(self.model, self.X, self.y)
