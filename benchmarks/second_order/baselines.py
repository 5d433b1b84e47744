"""Tune the support vector machine that the tables compare with.

Rows are standardised by the training rows of their order. On the first order, twelve settings are
fitted to three quarters of the training rows; the one with the fewest mistakes on the other quarter
is fitted to all training rows of every order.
"""

import itertools
import time
from functools import partial

import numpy as np
import sets
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

GAMMAS, COSTS = (0.3, 1.0, 3.0, 10.0), (1.0, 10.0, 100.0)


def fitted(gamma, C, X, y, Z, labels):
    """Return the error of a fit on test rows in per cent, the seconds and the support vectors."""
    start = time.process_time()
    model = SVC(gamma=gamma / X.shape[1], C=C, cache_size=400).fit(X, y)
    seconds = time.process_time() - start
    error = 100 * float(np.mean(model.predict(Z) != labels))
    return error, seconds, int(model.n_support_.sum())


def standard(X, y, Z, labels):
    """Return training rows and test rows standardised by the training rows."""
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(Z), labels


def tuned(draw, orders, larger=None):
    """Return the figures of the tuned machine on each order; gamma is in units of 1 / d.

    `draw` returns training rows, their labels, test rows and their labels of an order. `larger`
    does the same, for fits to more rows than those that the setting is chosen on.
    """
    X, y = standard(*draw(0))[:2]
    first = 3 * len(X) // 4
    held = X[:first], y[:first], X[first:], y[first:]
    tried = [(*fitted(*one, *held), *one) for one in itertools.product(GAMMAS, COSTS)]
    gamma, C = min(tried, key=lambda one: (one[0], one[3:]))[3:]
    rows = larger or draw
    found = [fitted(gamma, C, *standard(*rows(order))) for order in range(orders)]
    errors, seconds, sizes = (list(column) for column in zip(*found, strict=True))
    return {
        "setting": {"gamma": gamma, "C": C},
        "error": errors,
        "seconds": seconds,
        "support vectors": sizes,
        "seconds of tuning": sum(one[1] for one in tried),
    }


def beside_split(folder, name, orders):
    """Return the machine of the rows of `sets.split`."""
    return tuned(partial(sets.split, folder, name), orders)


def beside_whole(folder, name, orders):
    """Return the machine of a whole training part, in one order: a fit may take a minute."""
    return tuned(partial(sets.split, folder, name), 1, partial(sets.whole, folder, name))
