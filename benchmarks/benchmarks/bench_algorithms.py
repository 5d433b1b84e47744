"""Measure every kernel machine on both layouts and dtypes: speed, memory, and mistakes."""

from . import common


class Algorithms(common.Learner):
    """Learn the sparse binary stream."""

    param_names = ["algorithm", "dtype", "layout", "max_support"]
    params = [list(common.ESTIMATORS), common.DTYPES, common.LAYOUTS, common.BUDGETS]


class LowDimension(common.Learner):
    """Learn points of the plane, where the exponential takes most of the time."""

    stream = "mixture"
    param_names = ["algorithm", "dtype", "layout", "max_support"]
    params = [["KernelPAClassifier", "SPAClassifier"], common.DTYPES, ["dense"], common.BUDGETS]
