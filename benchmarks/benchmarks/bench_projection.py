"""Measure learners that project, merge or solve: the cost of an update by the budget."""

from . import common

BUDGETS = [100, 1_000] if common.FULL else [100, 400]


class Projection(common.Learner):
    """Learn the sparse binary stream."""

    param_names = ["algorithm", "dtype", "layout", "budget"]
    params = [
        ["ProjectronClassifier", "BOLSSVMClassifier", "BSGDClassifier"],
        ["float32"],
        common.LAYOUTS,
        BUDGETS,
    ]


class Maintenance(common.Learner):
    """BSGD in the plane: removal, projection or merging of the smallest support vector."""

    stream = "mixture"
    param_names = ["algorithm", "dtype", "layout", "budget", "maintenance"]
    params = [["BSGDClassifier"], ["float32"], ["dense"], BUDGETS, ["remove", "project", "merge"]]

    def setup(self, algorithm, dtype, layout, budget, maintenance):
        super().setup(algorithm, dtype, layout, budget)
        self.parameters["maintenance"] = maintenance
