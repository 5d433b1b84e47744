"""Kernel least squares in a learnt metric: against their twin, step by step, and its parts."""

import numpy as np
import pytest
from grids import grid
from oracles.kernel_rls import kernel_rls
from oracles.kernels import KERNELS as FORMULAS
from oracles.metric import metric_of
from oracles.metric import root_of as root_of_metric

from onlinekern import KernelRLSClassifier, KernelRLSRegressor
from onlinekern.core import FEATURE_MAPS, KERNELS
from onlinekern.core.features.metric import change_of, root_of
from onlinekern.core.features.slopes import slopes_of, sum_of_products
from onlinekern.core.kernels.derivatives import SLOPES, expansion_slopes
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.models.metric_least_squares import renewal_interval
from onlinekern.estimators.kernel import new_kernel

SETTINGS = {"n_components": 24, "gamma": 0.3, "random_state": 3}
CASES = [
    {"metric": "diagonal"},
    {"metric": "full"},
    {"metric": "full", "metric_exponent": 1.0, "kernel": "laplacian"},
    {"metric": "diagonal", "metric_exponent": 1.0, "kernel": "polynomial", "coef0": 1.0},
    {"metric": "diagonal", "kernel": "cosine", "linear": False},
    {"metric": "full", "features": "fourier"},
    {"metric": "diagonal", "selection": "ald", "novelty": 0.2},
    {"metric": "diagonal", "forgetting": 0.98, "reg": 0.1},
    {"metric": "auto"},
    {"metric": "auto", "metric_exponent": 0.7, "kernel": "exponential", "reg": 0.3},
    {"metric": "auto", "features": "fourier", "forgetting": 0.98},
]
OF_CLASSES = [
    {"metric": "diagonal", "selection": "margin", "novelty": 0.2},
    {"metric": "auto", "reg": "auto"},
]
# A choice is made at the second renewal, whole after 640 samples; a fifth may have weight 0.
LENGTH = {False: 600, True: 820}
LOOSE = {np.float32: 5e-4, np.float64: 1e-8}
NAMES = ["features", "n_components", "selection", "novelty", "reg", "forgetting", "kernel"]
NAMES += ["gamma", "degree", "coef0", "metric", "metric_exponent"]


def samples(task, n=600, d=4, seed=0):
    """Return rows, of which two features matter, and targets."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)).astype(np.float32).astype(np.float64)
    f = np.sin(2 * X[:, 0]) + X[:, 0] * X[:, 1] + 0.1 * random.standard_normal(n)
    if task == "regression":
        return X, f
    return X, (f > 0).astype(int) if task == "binary" else np.digitize(f, [-0.5, 0.5])


def new_model(task, **case):
    if task == "regression":
        return KernelRLSRegressor(standardize_target=False, **{**SETTINGS, **case})
    return KernelRLSClassifier(**{**SETTINGS, **case})


def twin_of(model, X, y, dtype, weight=None, first_taught=0):
    """Run the twin with the parameters, frequencies and seed of a model."""
    space = model._model.space
    return kernel_rls(
        X, y, model.frequencies_ if model.features == "fourier" else None, dtype=dtype,
        task="regression" if isinstance(model, KernelRLSRegressor) else "classification",
        block=space.block.epoch_length, closing=space.block.block_length, sample_weight=weight,
        linear=bool(model.linear), seed=space.seed, first_taught=first_taught,
        **{name: getattr(model, name) for name in NAMES},
    )  # fmt: skip


def is_twin(model, run, X, dtype):
    """Assert that the metric, the counts and scores are those of the twin."""
    assert run.n_renewals > 0
    assert (model.n_seen_, model.n_entered_) == (run.n_seen, len(run.entered))
    metric = model.metric_ if model.metric_.ndim == 2 else np.diag(model.metric_)
    np.testing.assert_allclose(metric, run.metric, atol=LOOSE[dtype])
    if model.metric == "auto":
        choice = model._model.space.choice
        assert (choice.form, choice.width) == (run.place, run.width) != (1, 1.0)
    scores = model._scores(X[:30].astype(dtype))
    np.testing.assert_allclose(scores, run.decision_function(X[:30]), atol=LOOSE[dtype])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_regressor_is_its_twin(case, dtype):
    X, y = samples("regression", n=LENGTH[case["metric"] == "auto"])
    weight = np.arange(len(X)) % 5 / 2
    model = new_model("regression", **case)
    found = model.partial_fit_predict(X.astype(dtype), y, sample_weight=weight)
    run = twin_of(model, X, y, dtype, weight)
    np.testing.assert_allclose(found, run.predictions, atol=LOOSE[dtype])
    is_twin(model, run, X, dtype)


@pytest.mark.parametrize("metric", ["diagonal", "full", "auto"])
def test_the_metric_of_the_last_outputs_is_its_twin(metric):
    X, y = samples("regression", n=600)
    targets = np.stack([y, np.cos(2 * X[:, 2]) + X[:, 1]], axis=1)
    model = new_model("regression", metric=metric)
    model._first_taught = 1
    found = model.partial_fit_predict(X, targets)
    run = twin_of(model, X, targets, np.float64, first_taught=1)
    np.testing.assert_allclose(found, run.predictions, atol=1e-8)
    assert run.n_renewals > 0
    own = model.metric_ if model.metric_.ndim == 2 else np.diag(model.metric_)
    np.testing.assert_allclose(own, run.metric, atol=1e-8)
    # What the first output alone depends on does not matter to it.
    assert np.argmin(np.diag(own)) in (0, 3)
    other = new_model("regression", metric=metric).fit(X, targets)
    assert not np.allclose(other.metric_, model.metric_)


@pytest.mark.parametrize(
    ("case", "task", "dtype"),
    grid(CASES[:2] + CASES[5:9] + OF_CLASSES, ["binary", "three"], [np.float32, np.float64]),
    ids=str,
)
def test_classifier_is_its_twin(case, task, dtype):
    X, y = samples(task, n=LENGTH[case["metric"] == "auto"])
    model = new_model(task, **case)
    found = model.partial_fit_predict(X.astype(dtype), y, classes=np.unique(y))
    run = twin_of(model, X, y, dtype)
    np.testing.assert_array_equal(found, run.predictions)
    is_twin(model, run, X, dtype)


def test_what_samples_have_left_must_change_more():
    """Beyond 4,096 samples a metric that has changed little stays: nothing is forgotten for it."""
    X, y = samples("regression", n=8704, d=3)
    model = new_model("regression", metric="diagonal", n_components=12)
    model.partial_fit(X[:8191], y[:8191])
    before, landmarks = model.metric_, model.landmarks_
    model.partial_fit(X[8191:], y[8191:])
    np.testing.assert_array_equal(model.metric_, before)
    np.testing.assert_array_equal(model.landmarks_, landmarks)
    # Another feature matters now, and much.
    y[4100:] = 10 * X[4100:, 2] ** 2
    model = new_model("regression", metric="diagonal", n_components=40)
    model.partial_fit(X[:8703], y[:8703])
    before = model.metric_
    model.partial_fit(X[8703:], y[8703:])
    assert change_of(np.sqrt(before), np.sqrt(model.metric_)) > 0.4


# Gradients and metrics


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_gradients_of_kernels(name):
    random = np.random.default_rng(1)
    X, C, weights = (random.standard_normal(shape) for shape in ((7, 3), (9, 3), (2, 9)))
    kernel = new_kernel(name, 0.4, 3, 0.7)
    found = expansion_slopes(kernel, X, C, weights)

    def scores(Z):
        return FORMULAS[name](Z, C, 0.4, 3, 0.7) @ weights.T

    for j, step in enumerate(1e-6 * np.eye(3)):
        expected = (scores(X + step) - scores(X - step)) / 2e-6
        for k in range(2):
            np.testing.assert_allclose(found[k][:, j], expected[:, k], rtol=1e-6, atol=1e-7)


def test_every_kernel_has_gradients():
    assert set(SLOPES) == set(KERNELS.values())


def nested(X):
    """Return Nystroem features of the first rows."""
    support = SupportSet(KERNELS["gaussian"](0.3), X.shape[1], X.dtype, 1, False, False)
    made = FEATURE_MAPS["nested_nystroem"](support, 12, "first", 0.1)
    made.add_rows(X[:12])
    return made


def fourier(X):
    frequencies = np.random.default_rng(0).normal(size=(6, X.shape[1])).astype(X.dtype)
    return FEATURE_MAPS["random_fourier"](frequencies, X.dtype)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("inner", [nested, fourier])
def test_gradients_of_features(inner, full):
    X, _ = samples("regression", n=40)
    root = np.array([0.5, 2.0, 1.0, 0.1])
    root = np.diag(root) + 0.3 if full else root
    made = FEATURE_MAPS["with_linear"](FEATURE_MAPS["in_metric"](inner(X), root))
    weights = np.random.default_rng(0).standard_normal((2, made.n_features))
    found = slopes_of(made, weights, X)
    for j, step in enumerate(1e-6 * np.eye(4)):
        expected = (made.transform(X + step) - made.transform(X - step)) @ weights.T / 2e-6
        for k in range(2):
            np.testing.assert_allclose(found[k][:, j], expected[:, k], atol=1e-7)
    mean = sum(slopes.T @ slopes for slopes in found) / len(X)
    total = sum_of_products(slopes_of(made, weights, X), True)
    np.testing.assert_allclose(total / len(X), mean, atol=1e-12)
    diagonal = sum_of_products(slopes_of(made, weights, X), False)
    np.testing.assert_allclose(diagonal / len(X), np.diag(mean), atol=1e-12)


def test_rows_without_a_gradient_count_as_zero():
    X, _ = samples("regression", n=40)
    made, weights = nested(X), np.ones((1, 12))
    wild = np.vstack([X, np.full((1, 4), 1e200)])
    with np.errstate(all="ignore"):
        found = sum_of_products(slopes_of(made, weights, wild), True)
    np.testing.assert_allclose(found, sum_of_products(slopes_of(made, weights, X), True))


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_metrics_of_gradients(exponent):
    random = np.random.default_rng(2)
    slopes = random.standard_normal((50, 5)) * [3.0, 1.0, 0.1, 0.0, 1e-9]
    G = slopes.T @ slopes
    root = root_of(G, exponent)
    np.testing.assert_allclose(root @ root, metric_of(G, exponent), atol=1e-12)
    np.testing.assert_allclose(root, root_of_metric(root @ root), atol=1e-8)
    own = root_of(np.diag(G), exponent)
    np.testing.assert_allclose(own**2, np.diag(metric_of(np.diag(np.diag(G)), exponent)))
    assert own[3] == own[4]
    assert np.trace(root @ root) == pytest.approx(5) == np.square(own).sum()
    assert change_of(root, root) == 0
    assert change_of(np.ones(5), 2 * np.ones(5)) == pytest.approx(0.75)


@pytest.mark.parametrize("bad", [np.zeros(3), np.array([1.0, np.nan, 1.0]), np.full(3, np.inf)])
def test_gradients_that_tell_nothing(bad):
    assert root_of(bad, 0.5) is None
    assert root_of(np.diag(bad), 0.5) is None


@pytest.mark.parametrize(
    ("forgetting", "interval"),
    [(1.0, 2**62), (0.9, 256), (0.99, 512), (0.998, 2048), (0.9999, 4096)],
)
def test_intervals(forgetting, interval):
    assert renewal_interval(forgetting) == interval
