"""The best fixed hypotheses in hindsight, which regret is measured against."""

import numpy as np
from sklearn.svm import LinearSVC


def factor(K, across=None):
    """Rows whose products are kernel values.

    Without `across`, K holds the values of all samples. With it, K holds those of some landmarks,
    `across` those of all samples with the landmarks, and a function of the rows is one of theirs.
    """
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-10 * values[-1]
    return (K if across is None else across) @ (vectors[:, kept] / np.sqrt(values[kept]))


def best_fixed(rows, y, C):
    """The best hypothesis of its own norm: min ||f||^2 / 2 + C sum of hinge losses, no offset.

    A linear machine of rows whose products are kernel values is one of the kernel. Whatever has a
    smaller sum of losses than f has a larger norm, or f would not be the minimum. An inexact
    minimum is a worse comparator, and still a valid one.

    Returns the norm of f, and f of all samples.
    """
    machine = LinearSVC(
        C=C, loss="hinge", fit_intercept=False, max_iter=20_000, tol=1e-3, random_state=0
    )
    w = machine.fit(rows, y).coef_[0]
    return float(np.linalg.norm(w)), rows @ w


def hinge(y, f):
    return np.maximum(0, 1 - y * f)


def logistic(y, f):
    return np.logaddexp(0, -y * f)
