"""Run the learners of the tables, with the settings they choose from.

A learner chooses its setting by its own mistakes (in regression by its own squared error) on the
first order, as it learns: no test row is used. gamma is in units of 1 / d. All rows are float32,
standardised by what has been seen (`sets.running_standard`).
"""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sets
from peer_kernel_rls import BlockRLS

import onlinekern

GAMMAS = (0.1, 0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True)
class Learner:
    """A way to make a model, and the settings to choose from.

    Attributes
    ----------
    make : callable
        (number of features, order, **setting) -> model.
    grid : dict
        Parameter -> values.
    regression : bool
    """

    make: Callable
    grid: dict
    regression: bool = False

    def settings(self):
        """Return all settings of the grid."""
        return [
            dict(zip(self.grid, values, strict=True))
            for values in itertools.product(*self.grid.values())
        ]


def library(name, grid=None, **parameters):
    """Return a learner of the library; without a grid gamma alone is chosen."""

    def make(d, order, gamma=None, **setting):
        widths = {} if gamma is None else {"gamma": gamma / d}
        arguments = {**parameters, **setting, **widths}
        estimator = getattr(onlinekern, name)
        if "random_state" in estimator().get_params():
            arguments["random_state"] = order
        if "standardize_target" in estimator().get_params():
            arguments["standardize_target"] = False  # the sets have chosen units
        return estimator(**arguments)

    grid = {"gamma": GAMMAS} if grid is None else grid
    return Learner(make, grid, name.endswith("Regressor"))


def peer(regression=False, **parameters):
    """Return kernel least squares by the block NumPy peer."""

    def make(d, order, gamma):
        return BlockRLS(gamma / d, regression=regression, random_state=order, **parameters)

    return Learner(make, {"gamma": GAMMAS}, regression)


class LeastSquares:
    """Makes kernel least squares, by the library or by the peer."""

    def __init__(self, by_peer):
        self.by_peer = by_peer

    def classifier(self, n_components, gate="margin", **parameters):
        """Return a classifier of so many features of the kernel."""
        arguments = {"n_components": n_components, "gate": gate, "reg": 0.1, **parameters}
        return peer(**arguments) if self.by_peer else library("KernelRLSClassifier", **arguments)

    def regressor(self, n_components, **parameters):
        """Return a regressor."""
        arguments = {"n_components": n_components, "reg": 0.1, **parameters}
        if self.by_peer:
            return peer(True, gate="always", **arguments)
        return library("KernelRLSRegressor", **arguments)


def run(learner, setting, rows, order):
    """Learn training rows once; return the figures, with the test error if there are test rows.

    `rows` are standardised: X, y and perhaps test rows and their labels.
    """
    X, y, *test = rows
    model = learner.make(X.shape[1], order, **setting)
    start = time.process_time()
    if learner.regression:
        model.partial_fit(X, y)
    else:
        model.partial_fit(X, y, classes=np.unique(y))
    seconds = time.process_time() - start
    found = {"mistakes": progress(model, learner.regression, len(y)), "seconds": seconds}
    if hasattr(model, "n_entered_"):
        found["share"] = model.n_entered_ / len(y)
        found["landmarks"] = landmarks(model)
    if test:
        found["error"] = 100 * float(np.mean(model.predict(test[0]) != test[1]))
    return found


def progress(model, regression, n):
    """Return the mistakes in per cent, or the mean squared error of a regressor."""
    if not regression:
        return 100 * model.n_mistakes_ / n
    return 2 * model.cumulative_loss_ / n


def landmarks(model):
    """Return the number of landmarks, 0 with random frequencies."""
    if model.features == "fourier":
        return 0
    return len(model.rows if isinstance(model, BlockRLS) else model.landmarks_)


def over_orders(learner, draw, orders):
    """Choose on the first order, learn every order; return the figures of each, and the setting.

    `draw` returns the rows of an order.
    """
    rows = draw(0)
    settings = learner.settings()
    tried = [run(learner, setting, rows, 0) for setting in settings]
    best = int(np.argmin([figures["mistakes"] for figures in tried]))
    found = [tried[best]]
    found += [run(learner, settings[best], draw(order), order) for order in range(1, orders)]
    columns = {name: [figures[name] for figures in found] for name in found[0]}
    return {"setting": settings[best], **columns}


def drawn(folder, name, most=None, test=True):
    """Return the function from an order to the standardised rows of a set."""

    def draw(order):
        if test:
            return standard(*sets.split(folder, name, order, most or sets.MOST_TRAINING))
        return standard(*sets.stream(folder, name, order, most or sets.MOST_STREAM))

    return draw


def drawn_whole(folder, name):
    """Return the function from an order to the standardised training part and the test part."""
    return lambda order: standard(*sets.whole(folder, name, order))


def standard(X, y, *test):
    """Return rows standardised along the stream, and test rows by all of it."""
    if not test:
        return sets.running_standard(X), y
    X, Z = sets.running_standard(X, test[0])
    return X, y, Z, test[1]


def drawn_targets(folder, name):
    """Return the function from an order to standardised rows and targets of a regression set."""

    def draw(order):
        X, y = sets.stream(folder, name, order, sets.MOST_TRAINING)
        _, targets = sets.load(folder, name)
        return sets.running_standard(X), (y - targets.mean()) / targets.std()

    return draw
