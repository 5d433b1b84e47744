"""Kernel forests against their NumPy twin, and what they claim."""

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
from grids import grid
from oracles.kernel_forest import kernel_forest

from onlinekern import KernelForestClassifier, KernelForestRegressor

# 170 samples, some of weight 0: renewals at 32, 64 and 128, and growth where fewer are kept.
SMALL = {"n_trees": 5, "memory": 512}
SETTINGS = {
    "default": {},
    "grows": {"memory": 100},
    "leaf": {"levels": "leaf", "noise": 0.5},
    "upper": {"levels": "upper", "memory": 64},
    "first cuts": {"n_candidates": 1, "max_leaf": 1, "max_samples": 1.0},
    "shallow": {"max_leaf": 30, "max_rows": 40, "n_replays": 1},
}
TWINS = inspect.signature(kernel_forest).parameters
CLASSES = {"binary": 2, "three": 3, "ten": 10, "regression": 0}


def samples(n_classes, n=170, d=9, seed=0):
    """Return a function of few features, labels or targets of it, and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[np.abs(X) < 0.3] = 0
    X = X * np.geomspace(0.1, 100, d) + np.where(np.arange(d) % 3 == 1, 5, 0)
    Z = X / np.geomspace(0.1, 100, d)
    f = np.sin(2 * Z[:, 0]) + Z[:, 3] * Z[:, 2] + 0.2 * rng.normal(size=n)
    weight = rng.integers(0, 5, size=n) / 2
    if n_classes == 0:
        return X, 30 + 7 * f, weight
    return X, np.digitize(f, np.quantile(f, np.arange(1, n_classes) / n_classes)), weight


def run(X, y, weight, n_classes, **parameters):
    """Return a model that has learnt, its predictions before that, and its twin's result."""
    cls = KernelForestClassifier if n_classes else KernelForestRegressor
    model = cls(random_state=3, **{**SMALL, **parameters})
    known = {"classes": np.arange(n_classes)} if n_classes else {}
    predictions = model.partial_fit_predict(X, y, sample_weight=weight, **known)
    given = {key: value for key, value in model.get_params().items() if key in TWINS}
    dense = X.toarray() if sp.issparse(X) else X
    seed = model._model.space.settings[-1]
    return model, predictions, kernel_forest(dense, y, n_classes, seed, weight, **given)


def assert_twins(model, twin, X):
    state, twin = model._model.space.get_state(), twin.model
    assert state["entered"] == twin.entered
    sizes = [len(tree.left) for tree in twin.trees]
    np.testing.assert_array_equal(state["first"], np.cumsum([0, *sizes]))
    for name in ("features", "left"):
        own = np.concatenate([getattr(tree, name) for tree in twin.trees])
        np.testing.assert_array_equal(state[name], own)
    cuts = np.concatenate([tree.cuts for tree in twin.trees])
    np.testing.assert_allclose(state["cuts"], cuts, rtol=1e-5, atol=1e-5)
    cells = np.concatenate(twin.experts.numbers)
    np.testing.assert_allclose(state["cells"], cells, rtol=1e-4, atol=1e-4)
    for name in ("shares", "metric", "importances", "offset", "unit"):
        np.testing.assert_allclose(state[name], getattr(twin, name), rtol=1e-6)


@pytest.mark.parametrize(
    ("setting", "task", "dtype", "layout"),
    grid(list(SETTINGS), list(CLASSES), ["float64", "float32"], ["dense", "csr"]),
)
def test_twin(setting, task, dtype, layout):
    X, y, weight = samples(CLASSES[task])
    X = X.astype(dtype)
    given = sp.csr_matrix(X) if layout == "csr" else X
    model, predictions, twin = run(given, y, weight, CLASSES[task], **SETTINGS[setting])
    if CLASSES[task]:
        np.testing.assert_array_equal(predictions, twin.predictions)
        assert model.n_mistakes_ == twin.mistakes
    else:
        np.testing.assert_allclose(predictions, twin.predictions, rtol=1e-6)
    assert model.cumulative_loss_ == pytest.approx(twin.cumulative_loss, rel=1e-6)
    assert_twins(model, twin, X)
