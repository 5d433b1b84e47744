"""Measure DualSGD at the sizes of its paper (B = 100, D = 200): the cost of the features."""

from . import common


class Dual(common.Learner):
    """Learn the sparse binary stream, by the number of frequencies."""

    param_names = ["algorithm", "dtype", "layout", "n_components"]
    params = [["DualSGDClassifier"], common.DTYPES, common.LAYOUTS, [16, 200, 1_000]]

    def setup(self, algorithm, dtype, layout, n_components):
        super().setup(algorithm, dtype, layout, 100)
        self.parameters["n_components"] = n_components


class OneAtATime(common.Learner):
    """Learn without look-ahead, which shows the price of a window of one sample."""

    param_names = ["algorithm", "dtype", "layout", "window"]
    params = [["DualSGDClassifier"], common.DTYPES, ["dense"], [1, 16, 64]]

    def setup(self, algorithm, dtype, layout, window):
        super().setup(algorithm, dtype, layout, 100)
        self.parameters["window"] = window
