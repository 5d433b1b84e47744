"""Solutions for coming samples: the same Projectron, bit for bit, whenever they are computed."""

import pickle

import numpy as np
import pytest
from oracles.kernels import kernel_matrix

from onlinekern import ProjectronClassifier
from onlinekern.core.linalg.cholesky import Cholesky
from onlinekern.core.linalg.inverse_panels import InversePanels

FLOAT, DOUBLE = 4, 8


def spread(task="binary", n=700, d=6, dtype=np.float64):
    """Samples that are far from the span of others, and labels that are hard to learn."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)).astype(dtype)
    hidden = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    return X, np.digitize(hidden, [0.0] if task == "binary" else [-0.6, 0.3])


def inverse_of(model):
    return model._model.space.budget.inverse


def factor_of(n, jitter=1e-8):
    rows = np.random.default_rng(0).standard_normal((n, 6))
    K = kernel_matrix("gaussian", rows, rows, 0.4)
    factor = Cholesky(jitter)
    for i in range(n):
        factor.extend(K[i, :i], K[i, i])
    return factor, K + jitter * np.eye(n)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_products_are_solutions(n):
    factor, K = factor_of(n)
    k = np.random.default_rng(1).random((7, n))
    inverse = InversePanels()
    h, d = inverse.apply(factor, k)
    np.testing.assert_allclose(h @ factor.to_array().T, k, atol=1e-10)
    np.testing.assert_allclose(d @ K, k, atol=1e-8)
    alone = np.concatenate([InversePanels().apply(factor, k[i : i + 1])[1] for i in range(7)])
    np.testing.assert_array_equal(alone, d)
    rounded = InversePanels()
    np.testing.assert_allclose(rounded.apply(factor, k, narrow=True)[0], h, rtol=1e-3, atol=1e-4)
    assert (inverse.itemsize, rounded.itemsize) == (DOUBLE, FLOAT)


def settings():
    # Coming samples are solved from 128 support vectors on, a new panel begins there too.
    for task in ("binary", "ovr", "margin"):
        for plus_plus in (False, True):
            yield task, {"budget": 130 if plus_plus else 134, "plus_plus": plus_plus}
    yield "binary", {"budget": None, "plus_plus": True, "eta": 0.3}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("task", "parameters"), list(settings()))
def test_windows(task, parameters, dtype, state_of, same_state):
    X, y = spread(task, dtype=dtype)
    reference = None
    for window in (1, 7, 64, None):
        model = ProjectronClassifier(random_state=0, gamma=0.4, window=window, **parameters)
        if task != "binary":
            model.set_params(multi_class=task)
        for part in np.split(np.arange(len(y)), [310]):
            model.partial_fit(X[part], y[part], classes=np.unique(y))
        model.window = None
        reference = reference or state_of(model)
        same_state(model, reference)
    assert model.n_support_ >= 130


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("at", [100, 333, 600])
def test_a_pickle_goes_on(at, dtype, state_of, same_state):
    X, y = spread(dtype=dtype)
    model = ProjectronClassifier(random_state=0, gamma=0.4, budget=150, plus_plus=True)
    model.partial_fit(X[:at], y[:at], classes=[0, 1])
    copy = pickle.loads(pickle.dumps(model))
    assert inverse_of(copy).n == 0 < inverse_of(model).n
    same_state(copy.partial_fit(X[at:], y[at:]), state_of(model.partial_fit(X[at:], y[at:])))
    assert inverse_of(copy).n == inverse_of(model).n == 150
    assert inverse_of(copy).itemsize == inverse_of(model).itemsize


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("at", [40, 300, 600])
def test_a_failed_call_leaves_the_model_as_it_was(at, dtype, state_of, same_state):
    X, y = spread(dtype=dtype)
    budget = 150 if dtype == np.float32 else 160
    model = ProjectronClassifier(
        kernel="polynomial", coef0=1.0, gamma=0.05, budget=budget, eta=1e-3, random_state=0
    )
    twin = ProjectronClassifier(**model.get_params())
    for learner in (model, twin):
        learner.partial_fit(X[:at], y[:at], classes=[0, 1])
    # The row in the middle of the last window has a score that is not finite.
    bad = np.concatenate([X[at:], X[:30]])
    bad[-15] = 1e30 if dtype == np.float32 else 1e150
    before = state_of(model)
    with pytest.raises(FloatingPointError, match=f"sample {len(bad) - 15} "):
        model.partial_fit(bad, np.concatenate([y[at:], y[:30]]))
    same_state(model, before)
    model.partial_fit(X[at:], y[at:])
    same_state(model, state_of(twin.partial_fit(X[at:], y[at:])))


def test_which_factor_is_rounded():
    X, y = spread(dtype=np.float32)
    sizes = {}
    for name, rows, eta in (("far", X, 0.1), ("near", X * np.float32(0.2), 1e-5)):
        model = ProjectronClassifier(random_state=0, gamma=0.4, budget=100, eta=eta)
        model.partial_fit(rows[:60], y[:60], classes=[0, 1])
        assert inverse_of(model).itemsize == DOUBLE, "not full yet"
        sizes[name] = inverse_of(model.partial_fit(rows[60:], y[60:])).itemsize
        assert model.n_support_ == 100
    assert sizes == {"far": FLOAT, "near": DOUBLE}
    model = ProjectronClassifier(random_state=0, gamma=0.4, budget=100).fit(X.astype(float), y)
    assert inverse_of(model).itemsize == DOUBLE


def test_a_rounded_factor_projects_as_well():
    X, y = spread(n=1000, dtype=np.float32)
    models = [ProjectronClassifier(random_state=0, gamma=0.4, budget=150) for _ in range(2)]
    for model, dtype in zip(models, (np.float32, np.float64), strict=True):
        model.partial_fit(X.astype(dtype), y, classes=[0, 1])
    assert models[0].n_mistakes_ == models[1].n_mistakes_
    scores = [model.decision_function(X) for model in models]
    np.testing.assert_allclose(*scores, atol=1e-4)
