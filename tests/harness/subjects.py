"""What the harnesses try: every estimator in settings that reach its budget, with small streams.

Beside the estimators there are settings of some with memory of another kind, and what wraps others.
"""

from importlib.util import find_spec

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.utils import get_tags

from onlinekern import (
    ConformalClassifier,
    ConformalRegressor,
    FourierFeatures,
    OnlineStandardScaler,
    TableEncoder,
    all_estimators,
    make_stream_pipeline,
)
from onlinekern.drift import LossDetector, RenewedLearner
from onlinekern.learners import kernel_forest
from onlinekern.preprocessing.steps import learner_of

CLASSES = dict(all_estimators())
# Data frames need pandas, which who runs the tests alone may lack.
FRAMES = ("table",) if find_spec("pandas") else ()
LAYOUTS = ("dense", "csr", "wide", *FRAMES, "targets")
# Sparse rows of so many features are stored sparse (most_panel_features of the core's cost model).
WIDE = 3000
LABELS = ["no", "perhaps", "yes"]
CATEGORIES = ["red", "green", "blue", "grey"]
SETTINGS = {
    "gamma": 0.4, "budget": 12, "n_components": 10, "n_prototypes": 4, "merge_size": 3,
    "random_state": 7, "max_iter": 3, "linear": False,
    "time_budget": 5.0, "n_trees": 4, "memory": 64,
}  # fmt: skip


def small(name, **further):
    """Return a small estimator of the library."""
    known = CLASSES[name]().get_params()
    settings = {key: SETTINGS[key] for key in SETTINGS.keys() & known.keys()}
    return CLASSES[name](**{**settings, **further})


def forest(name):
    """Return a forest of categories, which is renewed all the time."""
    return small(name, categorical_features=[1, 3], when_full="renew", n_replays=1)


FURTHER = {
    "OLLAClassifier of ones": lambda: small("OLLAClassifier", solver="smo"),
    "KernelForestClassifier of categories": lambda: forest("KernelForestClassifier"),
    "KernelForestRegressor of categories": lambda: forest("KernelForestRegressor"),
    "KernelForestClassifier of exact trees": lambda: small("KernelForestClassifier", exact=1.0),
    "KernelForestRegressor of exact trees": lambda: small("KernelForestRegressor", exact=0.5),
    "StreamClassifier with forests": lambda: small("StreamClassifier", time_budget=40.0),
    "StreamRegressor with forests": lambda: small("StreamRegressor", time_budget=100.0),
    "ConformalClassifier": lambda: ConformalClassifier(small("AROWClassifier")),
    "ConformalRegressor": lambda: ConformalRegressor(small("KernelRLSRegressor"), coverage=0.5),
    "RenewedLearner": lambda: RenewedLearner(
        small("PAClassifier"), LossDetector(run_length=20, random_state=0), n_recent=9
    ),
    "StreamPipeline": lambda: make_stream_pipeline(
        OnlineStandardScaler(), FourierFeatures(n_components=6, random_state=0),
        small("SCWClassifier"),
    ),
    "StreamPipeline of tables": lambda: make_stream_pipeline(
        TableEncoder(), OnlineStandardScaler(), small("AROWRegressor")
    ),
}  # fmt: skip
NAMES = sorted([*CLASSES, *FURTHER])
# Of these pipelines one has an encoder of tables in front, and the other has none. What keeps its
# last samples as they came cannot be saved with data frames.
ONLY = {
    "StreamPipeline": ("dense", "csr", "wide"),
    "StreamPipeline of tables": ("dense", *FRAMES),
    "RenewedLearner": ("dense", "csr", "wide"),
}


def build(name, **parameters):
    """Return a small estimator."""
    model = FURTHER[name]() if name in FURTHER else small(name)
    known = model.get_params(deep=False)
    return model.set_params(**{key: parameters[key] for key in parameters.keys() & known.keys()})


def takes(name, layout):
    """Return whether an estimator takes samples of a layout, and not as it takes others."""
    if layout == "targets":
        return get_tags(build(name)).target_tags.multi_output
    return layout in ONLY.get(name, LAYOUTS)


def cases(names, layouts):
    """Return the pairs of an estimator and a layout that it takes."""
    return [(name, layout) for name in names for layout in layouts if takes(name, layout)]


def hasten():
    """Let short streams have what long ones have: renewals over many samples, and exact cuts."""
    kernel_forest.EARLY = kernel_forest.EXACT_FROM = kernel_forest.ASKED_FROM = 32


def has_targets(model):
    """Return whether a learner takes targets: all do but those of a single class."""
    return not is_outlier_detector(model)


def learner(model):
    """Return the learner at the end of a pipeline, or inside of what wraps it."""
    model = learner_of(model)
    return getattr(model, "estimator_", model)


def n_seen(model):
    """Return how many samples a model has learnt."""
    return getattr(model, "n_seen_", None) or learner(model).n_seen_


def takes_labels_up(model):
    """Return whether a learner takes up classes as they come."""
    return getattr(learner(model), "_takes_labels_up", False)


def is_online(model):
    return hasattr(model, "partial_fit")


def samples(model, n, d=5, seed=0, layout="dense"):
    """Return rows in a layout, and targets as the learner takes them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[rng.random((n, d)) < 0.3] = 0
    hidden = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(n)
    y = np.digitize(hidden, [-0.4, 0.6]) if is_classifier(model) else hidden
    if getattr(model, "solver", None) == "smo":
        X = np.sign(np.abs(X))
    if isinstance(categories := getattr(model, "categorical_features", None), list):
        # Numbers of categories, and values that are missing.
        X[:, categories] = np.abs(3 * X[:, categories]).astype(int)
        X[rng.random(n) < 0.2, 4] = np.nan
    if layout == "targets":
        y = np.c_[y, X[:, 2] - hidden]
    return as_layout(X, layout), np.array(LABELS)[y] if is_classifier(model) else y


def as_layout(X, layout):
    """Put dense rows in a layout.

    'wide' is CSR whose support vectors are stored sparse, 'table' a data frame with categories,
    text and missing values; 'targets' is dense, with two targets.
    """
    if layout in ("dense", "targets"):
        return X
    if layout == "csr":
        return sparse.csr_matrix(X)
    if layout == "table":
        return as_table(X)
    columns = np.linspace(7, WIDE - 5, X.shape[1]).astype(int)
    rows = sparse.coo_matrix(X)
    return sparse.csr_matrix((rows.data, (rows.row, columns[rows.col])), shape=(len(X), WIDE))


def as_table(X):
    """Return dense rows as a data frame."""
    import pandas as pd

    numbers = np.abs(2 * X[:, 1:3]).astype(int) % len(CATEGORIES)
    known = np.array(CATEGORIES)[numbers]
    return pd.DataFrame({
        "size": X[:, 0], "colour": pd.Categorical(known[:, 0]), "text": known[:, 1],
        "some": np.where(X[:, 3] > 1, np.nan, X[:, 3]), "last": X[:, -1],
    })  # fmt: skip


def targets(model, y):
    """Return the arguments after the samples."""
    return [y] if has_targets(model) else []


def first_call(model):
    """Return the arguments that only the first call of a stream needs."""
    return {"classes": LABELS} if is_classifier(model) and not takes_labels_up(model) else {}


def row_of(X, i):
    """Return row i as `learn_one` takes it."""
    if isinstance(X, np.ndarray):
        return X[i]
    return X[i : i + 1] if sparse.issparse(X) else X.iloc[i].to_dict()


def repeated(X, i, n):
    """Return n times row i."""
    numbers = np.full(n, i)
    return X[numbers] if isinstance(X, np.ndarray) or sparse.issparse(X) else X.iloc[numbers]


def narrower(X):
    """Return rows without their last feature."""
    return X[:, :-1] if isinstance(X, np.ndarray) or sparse.issparse(X) else X.iloc[:, :-1]


def score(model, X):
    """Return the scores of rows; the predictions, if there are no others."""
    for method in ("decision_function", "score_samples", "predict"):
        if hasattr(model, method):
            return getattr(model, method)(X)
    return model.transform(X)
