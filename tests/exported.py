"""Fitted models of every learner, in every form that changes what they compute."""

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from budgeted import weights_of
from learners import SIZES
from registry import ESTIMATORS, OTHER_KERNELS, POLICIES
from sklearn.base import is_classifier, is_regressor

from onlinekern import KernelForestClassifier, all_estimators

CLASSES = dict(all_estimators())
DETECTORS = [
    {"statistic": statistic, "features": features, "forgetting": forgetting, "n_components": 12}
    for statistic in ("mean", "leverage")
    for features in ("fourier", "nystroem")
    for forgetting in (1.0, 0.9)
]
# Parameters that choose another form of model, for each learner that has them.
FORMS: list[dict[str, Any]] = [{"average": True}, {"average": "decay"}, {"linear": True}]


PAGES = Path(__file__).parents[1] / "docs"


def told_by(page):
    """Return the learners of a page's table with what it says of their learning there."""
    text = PAGES.joinpath(page).read_text(encoding="utf-8")
    _, table = text.split("| learner | scores | learns |\n|---|---|---|\n")
    found = {}
    for row in table.partition("\n\n")[0].splitlines():
        names, _, learns = row.strip("| ").split(" | ")
        found |= dict.fromkeys(CLASSES.keys() & set(re.findall(r"`(\w+)`", names)), learns)
    return found


class Case(NamedTuple):
    """A learner, its parameters, and the kind of its targets."""

    name: str
    parameters: dict
    task: str


def tasks_of(name):
    return ["binary", "ovr"] if is_classifier(CLASSES[name]()) else ["regression"]


@cache
def parameters_of(name):
    """Return the names of a learner's parameters."""
    return frozenset(CLASSES[name]().get_params())


def known(name, parameters):
    """Return the parameters that a learner has."""
    return {key: value for key, value in parameters.items() if key in parameters_of(name)}


def settings():
    """Return (name, parameters) of every learner in every form."""
    found = [(name, {}) for name in CLASSES]
    found += [(name, form) for form in FORMS for name in CLASSES if known(name, form)]
    found += list(POLICIES.values())
    found += [(name, case) for name, entry in ESTIMATORS.items() for case in entry.cases]
    found += [(name, {"kernel": kernel}) for kernel in OTHER_KERNELS for name in KERNELS_OF]
    found += [("KernelMeanDetector", parameters) for parameters in DETECTORS]
    return [*found, *OTHERS]


KERNELS_OF = ["KernelPAClassifier", "KernelRLSClassifier"]
OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("LOLClassifier", {"n_prototypes": 8, "n_assign": 3}),
    ("NOGDClassifier", {"budget": 200}),
    ("KernelPARegressor", {"standardize_target": False}),
    ("KernelRLSRegressor", {"forgetting": 0.95, "n_components": 20}),
    ("KernelRLSRegressor", {"metric": "diagonal", "n_components": 20}),
    ("KernelRLSClassifier", {"metric": "diagonal", "n_components": 20}),
]


def cases():
    return [
        Case(name, parameters, task) for name, parameters in settings() for task in tasks_of(name)
    ]


def fitted(case, X, y, **more):
    """Return the learner of a case that has learnt these samples."""
    given = {"gamma": 0.4, "budget": 20, **SIZES.get(case.name, {}), **case.parameters, **more}
    model = CLASSES[case.name](**known(case.name, given))
    model.set_params(**known(case.name, {"random_state": 7}))
    return model.fit(X, y, sample_weight=1 + weights_of(len(y)))


def scores_of(model, X):
    """Return what an exported model must compute, ndarray (n, n_outputs)."""
    scores = model.predict(X) if is_regressor(model) else model.decision_function(X)
    return np.reshape(scores, (X.shape[0], -1))


def numbers_of(model, X):
    """Return the class numbers of the predictions; those of a detector are 0 for -1, and 1."""
    labels = getattr(model, "classes_", np.array([-1, 1]))
    return np.searchsorted(labels, model.predict(X))


def where_hardly_any_errs(n=10_000, more=200):
    """Return a forest after n samples, of whose scores hardly any errs lately, and more samples."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n + more, 6)), rng.integers(2, size=n + more)
    X[:, 0] = 2 * y - 1 + rng.uniform(-0.3, 0.3, size=n + more)
    model = KernelForestClassifier(n_trees=8, memory=64, random_state=0).fit(X[:n], y[:n])
    return model, X[n:], y[n:]


def error_of(found, expected):
    """Return the largest error, in units of the largest number where that is above 1."""
    return np.abs(found - expected).max() / max(1, np.abs(expected).max())
