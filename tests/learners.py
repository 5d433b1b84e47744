"""How the tests of the stream contract make their learners and feed them."""

import numpy as np
from sklearn.base import is_classifier

from onlinekern import all_estimators

CLASSES = dict(all_estimators())
NAMES = sorted(CLASSES)


def width(name):
    """The kernel's width, as parameters, for those that have a kernel."""
    return {"gamma": 0.4} if hasattr(CLASSES[name], "gamma") else {}


def build(name, **parameters):
    """An averaged estimator whose scale, where it has one, is folded within fifty samples."""
    model = CLASSES[name](**width(name), random_state=7)
    if hasattr(model, "average"):
        model.set_params(average=True)
    steps = {"eta": 0.4, "reg": 1.5} if hasattr(model, "eta") and hasattr(model, "reg") else {}
    return model.set_params(**{**steps, **parameters})


def data(name, stream, n=90, **arguments):
    return stream("ovr" if is_classifier(CLASSES[name]()) else "regression", n=n, **arguments)


def learn(model, X, y, cuts=(), **arguments):
    """Learn in parts; the labels are announced in each call. Returns the predictions made."""
    if is_classifier(model):
        arguments["classes"] = [5, 15, 25] if y.dtype.kind == "i" else ["no", "yes"]
    parts = np.split(np.arange(len(y)), cuts)
    return [model.partial_fit_predict(X[part], y[part], **arguments) for part in parts if len(part)]


def learn_each(model, X, y):
    """Learn one by one."""
    for row, target in zip(X, y.tolist(), strict=True):
        first = {"classes": [5, 15, 25]} if is_classifier(model) else {}
        model.learn_one(row, target, **first)
    return model
