"""Measure the cost of an eviction: learners with a full budget of support vectors."""

from . import common

REMOVING = [
    "AhpatronClassifier", "BOGDClassifier", "BPAClassifier", "ForgetronClassifier", "RBPClassifier",
]  # fmt: skip


class Budgeted(common.Learner):
    """Learn the sparse binary stream."""

    param_names = ["algorithm", "dtype", "layout", "budget"]
    params = [REMOVING, common.DTYPES, common.LAYOUTS, [100, 1_000]]


class Nonuniform(common.Learner):
    """BOGD++, which computes probabilities and factors at every eviction."""

    param_names = ["algorithm", "dtype", "layout", "budget"]
    params = [["BOGDClassifier"], ["float32"], ["csr"], [100, 1_000]]

    def setup(self, algorithm, dtype, layout, budget):
        super().setup(algorithm, dtype, layout, budget)
        self.parameters["removal"] = "nonuniform"
