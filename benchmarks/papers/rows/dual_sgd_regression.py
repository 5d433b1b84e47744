"""Table B2, of the DualSGD paper: root mean squared errors of one pass of regression.

The paper has year (515,345 rows) and airlines. Year is not at hand: kin40k and protein stand in for
it, with targets in [0, 1] as there. Airlines has 42,748 flights of other years; its target is the
delay in minutes. `choose.py` chose all settings; learners standardise their target, without which
the first steps of DualSGD are as large as N / 2.
"""

from protocols import online_regression

import onlinekern as ok

from .dual_sgd import ORDERS
from .row import Row

BUDGET, COMPONENTS = {"budget": 400}, {"n_components": 1600}
DUAL_SGD = {"budget": 100, "n_components": 200, "merge_size": 20}
GAMMA = {"gamma": (0.0625, 0.25, 1.0, 4.0)}
REG = {**GAMMA, "reg_per_stream": (2.0, 8.0, 32.0, 128.0, 512.0, 2048.0)}
ETA = {**GAMMA, "eta": (0.03, 0.1, 0.3, 1.0)}

# Learner -> class, fixed parameters, grid.
LEARNERS = {
    "DualSGD epsilon": (ok.DualSGDRegressor, {**DUAL_SGD, "loss": "epsilon_insensitive"}, REG),
    "DualSGD l1": (ok.DualSGDRegressor, {**DUAL_SGD, "loss": "absolute"}, REG),
    "OGD": (ok.KernelOGDRegressor, {"loss": "squared"}, ETA),
    "BOGD": (ok.BOGDRegressor, {"loss": "squared", **BUDGET}, ETA),
    "FOGD": (ok.FOGDRegressor, {"loss": "squared", **COMPONENTS}, ETA),
    "NOGD": (ok.NOGDRegressor, {"loss": "squared", **BUDGET}, ETA),
}
# Set -> digits, and for each learner the chosen values in the order of its grid, the published and
# the independent figure.
SETS = {
    "year regression": (4, {
        "DualSGD epsilon": ((1.0, 512.0), 0.13, None),
        "DualSGD l1": ((1.0, 512.0), 0.12, None),
        "FOGD": ((1.0, 0.3), 0.16, None),
        "NOGD": ((1.0, 0.3), 0.14, None),
    }),
    "kin40k 20k regression": (4, {
        "DualSGD epsilon": ((1.0, 32.0), None, None),
        "DualSGD l1": ((1.0, 32.0), None, 0.148),
        "OGD": ((1.0, 1.0), None, None),
        "BOGD": ((1.0, 1.0), None, None),
        "FOGD": ((1.0, 1.0), None, 0.105),
        "NOGD": ((1.0, 1.0), None, None),
    }),
    "protein regression": (4, {
        "DualSGD epsilon": ((4.0, 128.0), None, None),
        "DualSGD l1": ((4.0, 128.0), None, None),
        "OGD": ((4.0, 0.1), None, None),
        "BOGD": ((4.0, 0.1), None, None),
        "FOGD": ((4.0, 0.1), None, None),
        "NOGD": ((4.0, 0.1), None, None),
    }),
    "airlines regression": (2, {
        "DualSGD epsilon": ((1.0, 128.0), 36.20, None),
        "DualSGD l1": ((1.0, 2048.0), 36.20, None),
        "OGD": ((1.0, 0.1), None, None),
        "BOGD": ((4.0, 0.1), None, None),
        "FOGD": ((1.0, 0.1), 53.16, None),
        "NOGD": ((1.0, 0.1), 34.74, None),
    }),
}  # fmt: skip


def tried(data, digits, learner, values, published, bar):
    """Return the row of a learner on a set."""
    estimator, fixed, grid = LEARNERS[learner]
    row = Row(
        data, learner, estimator, online_regression, fixed, published, bar, orders=ORDERS,
        digits=digits,
    )  # fmt: skip
    return row.choosing(grid, values)


ROWS = [
    tried(data, digits, learner, *figures)
    for data, (digits, learners) in SETS.items()
    for learner, figures in learners.items()
]
