"""What the harnesses try: every estimator in settings that reach its budget, with small streams."""

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_outlier_detector

from onlinekern import all_estimators

CLASSES = dict(all_estimators())
# Further settings of estimators, whose memory the others do not have: points stored as bytes.
FURTHER = {"OLLAClassifier of ones": ("OLLAClassifier", {"solver": "smo"})}
NAMES = sorted([*CLASSES, *FURTHER])
LAYOUTS = ("dense", "csr", "wide")
# Sparse rows of so many features are stored sparse (most_panel_features of the core's cost model).
WIDE = 3000
LABELS = ["no", "perhaps", "yes"]
SETTINGS = {
    "gamma": 0.4, "budget": 12, "n_components": 10, "n_prototypes": 4, "merge_size": 3,
    "random_state": 7, "max_iter": 3, "linear": False,
    "time_budget": 5.0, "n_trees": 4, "memory": 64,
}  # fmt: skip


def build(name, **parameters):
    """Return a small estimator."""
    name, further = FURTHER.get(name, (name, {}))
    known = CLASSES[name]().get_params()
    settings = {key: SETTINGS[key] for key in SETTINGS.keys() & known.keys()}
    model = CLASSES[name](**settings, **further)
    return model.set_params(**{key: parameters[key] for key in parameters.keys() & known.keys()})


def has_targets(model):
    """Return whether a learner takes targets: all do but those of a single class."""
    return not is_outlier_detector(model)


def is_online(model):
    return hasattr(model, "partial_fit")


def samples(model, n, d=5, seed=0, layout="dense"):
    """Return rows in a layout, and targets as the learner takes them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[rng.random((n, d)) < 0.3] = 0
    hidden = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(n)
    if getattr(model, "solver", None) == "smo":
        X = np.sign(np.abs(X))
    y = np.digitize(hidden, [-0.4, 0.6]) if is_classifier(model) else hidden
    return as_layout(X, layout), np.array(LABELS)[y] if is_classifier(model) else y


def as_layout(X, layout):
    """Put dense rows in a layout; 'wide' is CSR whose support vectors are stored sparse."""
    if layout == "dense":
        return X
    if layout == "csr":
        return sparse.csr_matrix(X)
    columns = np.linspace(7, WIDE - 5, X.shape[1]).astype(int)
    rows = sparse.coo_matrix(X)
    return sparse.csr_matrix((rows.data, (rows.row, columns[rows.col])), shape=(len(X), WIDE))


def targets(model, y):
    """Return the arguments after the samples."""
    return [y] if has_targets(model) else []


def first_call(model):
    """Return the arguments that only the first call of a stream needs."""
    return {"classes": LABELS} if is_classifier(model) else {}


def row_of(X, i):
    """Return row i as `learn_one` takes it."""
    return X[i : i + 1] if sparse.issparse(X) else X[i]


def score(model, X):
    """Return the scores of rows; the predictions, if there are no others."""
    for method in ("decision_function", "score_samples", "predict"):
        if hasattr(model, method):
            return getattr(model, method)(X)
    return model.transform(X)
