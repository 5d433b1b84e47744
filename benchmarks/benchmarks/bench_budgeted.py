"""Learners that remove support vectors, with a full budget: what a removal costs beside a step."""

from . import common

REMOVING = ["BOGDClassifier", "BPAClassifier", "ForgetronClassifier", "RBPClassifier"]


class Budgeted(common.Learner):
    """On the sparse binary stream."""

    param_names = ["algorithm", "dtype", "layout", "budget"]
    params = [REMOVING, common.DTYPES, common.LAYOUTS, [100, 1_000]]


class Nonuniform(common.Learner):
    """BOGD++, whose probabilities and factors are made for every removal."""

    param_names = ["algorithm", "dtype", "layout", "budget"]
    params = [["BOGDClassifier"], ["float32"], ["csr"], [100, 1_000]]

    def setup(self, algorithm, dtype, layout, budget):
        super().setup(algorithm, dtype, layout, budget)
        self.parameters["removal"] = "nonuniform"
