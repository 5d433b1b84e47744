"""Measure prediction in bulk."""

from . import common


class Predict(common.Predictor):
    """Predict a thousand rows of the sparse binary stream."""

    param_names = ["algorithm", "dtype", "layout", "n_support"]
    params = [
        ["KernelPAClassifier", "SPAClassifier"],
        common.DTYPES,
        common.LAYOUTS,
        [100, 1_000],
    ]


class PredictLowDimension(common.Predictor):
    """Predict a thousand points of the plane."""

    stream = "mixture"
    param_names = ["algorithm", "dtype", "layout", "n_support"]
    params = [["SPAClassifier"], common.DTYPES, ["dense"], [100, 1_000]]
