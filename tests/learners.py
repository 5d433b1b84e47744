"""Make and feed the learners of the stream contract's tests."""

import numpy as np
from sklearn.base import TransformerMixin, is_classifier
from sklearn.exceptions import NotFittedError

import onlinekern
from onlinekern import TableEncoder, all_estimators
from onlinekern._registry import public_classes

CLASSES = dict(all_estimators("classifier") + all_estimators("regressor"))
# These are the stream learners with targets. Batch learners are not part of the stream contract.
NAMES = sorted(name for name, cls in CLASSES.items() if hasattr(cls, "partial_fit"))

# These transform rows of numbers.
TRANSFORMERS = {
    name: cls
    for name, cls in public_classes().items()
    if issubclass(cls, TransformerMixin) and cls is not TableEncoder
}


def public_names():
    """Return what lines of code find that a message prints, by name."""
    return {name: getattr(onlinekern, name) for name in onlinekern.__all__}


# These are so small that a test fills the budget.
SIZES = {
    "NOGDClassifier": {"budget": 15, "n_components": 10},
    "NOGDRegressor": {"budget": 15, "n_components": 10},
    "KernelAROWClassifier": {"n_components": 15, "covariance": "sketched", "sketch_size": 4},
    "KernelSCWClassifier": {"n_components": 15, "covariance": "diagonal"},
    "FOGDClassifier": {"n_components": 40},
    "FOGDRegressor": {"n_components": 40},
    "LOLClassifier": {"n_prototypes": 12},
    # Linear features of the widest samples would fill matrices of 3,000 x 3,000.
    "KernelLogisticClassifier": {
        "n_components": 15,
        "covariance": "full",
        "r": 0.3,
        "linear": False,
    },
    "KernelRLSClassifier": {"n_components": 30, "linear": False},
    "KernelRLSRegressor": {"n_components": 30, "linear": False},
    "KernelForestClassifier": {"n_trees": 8, "memory": 64},
    "KernelForestRegressor": {"n_trees": 8, "memory": 64},
    "StreamClassifier": {"time_budget": 5.0},
    "StreamRegressor": {"time_budget": 5.0},
}


def width(name):
    """Return a kernel width and a small budget, for learners that have these parameters."""
    sizes = {"gamma": 0.4, "budget": 20, **SIZES.get(name, {})}
    return {size: value for size, value in sizes.items() if hasattr(CLASSES[name], size)}


def build(name, **parameters):
    """Return an averaged estimator whose scale, if it has one, is folded within fifty samples.

    Learners that forget have no average.
    """
    average = {"average": True} if hasattr(CLASSES[name], "average") else {}
    model = CLASSES[name](**width(name), random_state=7, **average)
    if hasattr(model, "shuffle"):
        model.shuffle = True  # Filters keep the order by default, and then have no use for a seed.
    steps = {"eta": 0.4, "reg": 1.5} if hasattr(model, "eta") and hasattr(model, "reg") else {}
    return model.set_params(**{**steps, **parameters})


def passes(name, n):
    """Return the parameters with which `fit` makes n passes."""
    known = CLASSES[name]().get_params()
    return {"n_epochs": n} if "n_epochs" in known else {"max_iter": n, "tol": None}


def data(name, stream, n=90, **arguments):
    return stream("ovr" if is_classifier(CLASSES[name]()) else "regression", n=n, **arguments)


def learn(model, X, y, cuts=(), **arguments):
    """Learn in parts, with the labels given in each call; return the predictions."""
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


def normals_and_outliers():
    """Return normal samples, others with outliers among them, and 1 for those that are none."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((2000, 2))
    X_test = np.r_[rng.standard_normal((2000, 2)), rng.uniform(-6, 6, (400, 2))]
    return X, X_test, np.r_[np.ones(2000), np.zeros(400)]


def answer_of(model, rows, classes=None):
    """Return what a model predicts of the only row, or without any sample the first class or 0."""
    try:
        return model.predict(rows)[0]
    except NotFittedError:
        return 0 if classes is None else classes[0]


def answers(model, rows):
    """Return scores of classes, or predictions of a regressor."""
    return getattr(model, "decision_function", model.predict)(rows)


def alpha_of(model, n):
    """Return the coefficients of all n points of a dual, ndarray of shape (n, n_outputs)."""
    alpha = np.zeros((n, len(model.dual_coef_)))
    alpha[model.support_] = model.dual_coef_.T
    return alpha


def columns_of(rows, d=6):
    """Return the columns of the layout that hold the features of the stream."""
    width = rows.shape[1]
    return np.arange(d) if width == d else np.linspace(7, width - 5, d).astype(int)
