"""Measure kernel adaptive filters: the cost of a sample by the size of the dictionary."""

from . import common

BUDGETS = [100, 500] if common.FULL else [50]


class Filters(common.Learner):
    """Learn points of the plane, whose targets are numbers for a regressor."""

    stream = "mixture"
    param_names = ["algorithm", "dtype", "layout", "budget"]
    params = [
        [
            "QKLMSRegressor",
            "KAPARegressor",
            "KRLSRegressor",
            "SlidingWindowKRLSRegressor",
            "FixedBudgetKRLSRegressor",
            "KRLSTRegressor",
        ],
        ["float32"],
        ["dense"],
        BUDGETS,
    ]
