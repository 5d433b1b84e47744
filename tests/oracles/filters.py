"""Kernel adaptive filters, one sample at a time, as their papers write them.

KLMS is `algorithms.kernel_ogd`. QKLMS: B. Chen, S. Zhao, P. Zhu, J. C. Principe, "Quantized kernel
least mean square algorithm", IEEE TNNLS 23, 2012, table 1.

Support vectors are a list of rows, the oldest first; every inverse is computed anew.
"""

import numpy as np

from .losses import LOSSES
from .projection import run


def filtered(X, y, learn, **common):
    """Run learn(machine, x, target, error, weight) over a series."""

    def with_error(machine, x, problems, target, t, weight):
        (problem,) = problems
        learn(machine, x, target, target - problem.f, weight)

    return run(X, y, with_error, LOSSES["squared"](), **common)


def distances(rows, x, kernel):
    """Return the distances of x from rows in the space of the samples."""
    return np.linalg.norm(np.array(rows) - x, ord=1 if kernel == "laplacian" else 2, axis=1)


def qklms(X, y, *, eta=0.5, epsilon=0.5, budget=None, kernel="gaussian", **common):
    """Run QKLMS; with a budget, the nearest support vector takes all steps once it is full."""

    def learn(machine, x, target, error, weight):
        far = distances(machine.rows, x, kernel) if machine.rows else np.array([np.inf])
        nearest = int(np.argmin(far))
        full = budget is not None and len(machine.rows) >= budget
        if far[nearest] <= epsilon or full:
            machine.alpha[nearest] = machine.alpha[nearest] + eta * weight * error
        else:
            machine.rows.append(x)
            machine.alpha.append(np.array([eta * weight * error]))

    return filtered(X, y, learn, kernel=kernel, **common)
