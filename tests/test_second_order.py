"""CW, SCW and AROW against their NumPy twins, and the properties claimed in papers and notes."""

import copy
import itertools
import pickle
import warnings
from statistics import NormalDist

import numpy as np
import pytest
from grids import forms
from registry import ESTIMATORS, cases_of
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

import onlinekern
from onlinekern import AROWClassifier, AROWRegressor, CWClassifier, SCWClassifier
from onlinekern.estimators import linear

# Name of a case -> its estimator and settings.
SETTINGS = {
    f"{name}-{number}": (name, case)
    for name, cases in cases_of("test_second_order").items()
    for number, case in enumerate(cases)
}
FORMS = [{}, {"average": True}, {"fit_intercept": False}]
CASES = [
    pytest.param(name, task, id=f"{name}-{task}")
    for name, (estimator, _) in SETTINGS.items()
    for task in (["regression"] if estimator.endswith("Regressor") else ["binary", "ovr", "margin"])
]
LAYOUTS = ["dense", "csr"]
COVARIANCES = ["diagonal", "full", "shared"]
every_case = pytest.mark.parametrize(("name", "task"), CASES)
every_covariance = pytest.mark.parametrize("covariance", COVARIANCES)


def spread(X, d=150):
    """Insert columns of zeros between those of X, over more than two panels."""
    wide = np.zeros((len(X), d))
    wide[:, np.linspace(7, d - 5, X.shape[1]).astype(int)] = X
    return wide


def laid_out(X, layout, dtype=np.float64):
    return X.astype(dtype) if layout == "dense" else sparse.csr_matrix(X, dtype=dtype)


def build(name, task, **parameters):
    estimator, own = SETTINGS[name]
    if task in ("ovr", "margin"):
        parameters["multi_class"] = task
    elif task == "regression":
        parameters["standardize_target"] = False
    return getattr(onlinekern, estimator)(**{"random_state": 0, **own, **parameters})


def twin(name, task, X, y, sample_weight=None, **parameters):
    """Run the oracle with the parameters of the estimator."""
    estimator, own = SETTINGS[name]
    arguments = {**own, **parameters, "sample_weight": sample_weight}
    if task == "regression":
        arguments["task"] = task
    else:
        arguments["multi_class"] = task
    return ESTIMATORS[estimator].twin(X, y, **arguments)


def learn(model, X, y, **arguments):
    """Learn one pass; return the predictions before each sample."""
    if hasattr(model, "decision_function"):
        arguments["classes"] = np.unique(y)
    return model.partial_fit_predict(X, y, **arguments)


def check(model, predictions, expected, dtype, close):
    if hasattr(model, "decision_function"):
        np.testing.assert_array_equal(predictions, expected.predictions)
        assert model.n_mistakes_ == expected.mistakes
    else:
        close(predictions, expected.predictions, dtype)
    d = model.n_features_in_
    close(np.atleast_2d(model.coef_), expected.weights[:, :d], dtype)
    constants = expected.weights[:, d] if model.fit_intercept else np.zeros(len(expected.weights))
    close(model.intercept_, constants, dtype)
    close(model.covariance_, expected.covariance, dtype)
    close(model.cumulative_loss_, expected.cumulative_loss, dtype)
    assert model.n_seen_ == expected.n_seen


@pytest.mark.parametrize("form", FORMS, ids=["", "average", "no constant"])
@every_covariance
@every_case
def test_twin(name, task, covariance, form, stream, close):
    X, y = stream(task)
    for rows in (X, spread(X)):
        expected = twin(name, task, rows, y, covariance=covariance, **form)
        assert len(expected.updated) > 10
        for dtype, layout, window in forms(("f4", "f8"), LAYOUTS, (1, None), len(form)):
            model = build(name, task, covariance=covariance, window=window, **form)
            predictions = learn(model, laid_out(rows, layout, dtype), y)
            check(model, predictions, expected, dtype, close)


@every_covariance
@every_case
def test_twin_of_weighted_samples(name, task, covariance, stream, close):
    X, y = stream(task)
    weights = np.random.default_rng(5).choice([0.0, 0.5, 1.0, 2.5], size=len(y))
    expected = twin(name, task, X, y, sample_weight=weights, covariance=covariance)
    model = build(name, task, covariance=covariance)
    predictions = learn(model, X, y, sample_weight=weights)
    check(model, predictions, expected, np.float64, close)


@every_covariance
@every_case
def test_layouts_change_in_mid_stream(name, task, covariance, stream, close):
    X, y = stream(task)
    X = spread(X)
    expected = twin(name, task, X, y, covariance=covariance)
    model, predictions = build(name, task, covariance=covariance), []
    for part, layout in zip(np.split(np.arange(90), [30, 50, 70]), LAYOUTS * 2, strict=True):
        first = {"classes": np.unique(y)} if task != "regression" else {}
        rows = laid_out(X[part], layout)
        predictions.append(model.partial_fit_predict(rows, y[part], **first))
    check(model, np.concatenate(predictions), expected, np.float64, close)


@every_covariance
@every_case
def test_any_split_gives_the_same_bits(name, task, covariance, stream, same_state):
    # Also through pickles, which must hold the contraction postponed to the next sample.
    X, y = stream(task)
    first = {"classes": np.unique(y)} if task != "regression" else {}
    for rows in (X, sparse.csr_matrix(X)):
        whole = build(name, task, covariance=covariance, average=True)
        learn(whole, rows, y)
        parts = build(name, task, covariance=covariance, average=True)
        for part in np.split(np.arange(90), [1, 2, 40, 41]):
            parts.partial_fit(rows[part], y[part], **first)
            parts = pickle.loads(pickle.dumps(parts))
        same_state(parts, whole)


@every_covariance
@every_case
def test_failed_calls_leave_no_trace(name, task, covariance, stream, state_of, same_state):
    X, y = stream(task, n=60)
    model = build(name, task, covariance=covariance, average=True)
    learn(model, X, y)
    before, other = state_of(model), copy.deepcopy(model)
    # Finite in every place, but not the square of its length; and not what the model takes it for.
    bad = np.vstack([X[30:], np.full((1, X.shape[1]), 1e200)])
    wrong = y[y != model.predict(bad[-1:])][0]
    targets = np.append(y[30:], wrong)
    for rows, first in itertools.product((bad, sparse.csr_matrix(bad)), (0, 20, 29, 30)):
        with pytest.raises(FloatingPointError, match=f"sample {30 - first}"):
            model.partial_fit(rows[first:], targets[first:])
        same_state(model, before)
    with pytest.raises(FloatingPointError):
        model.learn_one(bad[-1], targets[-1])
    same_state(model, before)
    for call in (slice(0, 1), slice(1, 7), slice(7, 30)):
        same_state(
            model.partial_fit(bad[call], targets[call]), other.partial_fit(bad[call], targets[call])
        )


@every_covariance
def test_a_call_for_one_sample_is_undone(covariance, stream, state_of, same_state):
    X, y = stream("regression")
    model = AROWRegressor(covariance=covariance).partial_fit(X[:40], y[:40])
    before, covariance = state_of(model), model.covariance_
    for call in (slice(40, 41), slice(40, 43)):
        model.partial_fit(X[call], y[call])
        assert not np.array_equal(model.covariance_, covariance)
        model._model.undo()
        same_state(model, before)


@pytest.mark.parametrize("confidence", [0.6, 0.9])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_cw_meets_its_constraint(layout, confidence, stream):
    # Few samples: after more of them, the remaining variance would be rounding.
    X, y = stream("binary", n=12)
    phi = NormalDist().inv_cdf(confidence)
    model = CWClassifier(confidence=confidence, covariance="full")
    for x, label in zip(np.delete(X, 3, axis=0), np.delete(y, 3), strict=True):
        model.partial_fit(laid_out(x[None], layout), [label], classes=["no", "yes"])
        sign, lifted = (1 if label == "yes" else -1), np.append(x, 1)
        variance = lifted @ model.covariance_[0] @ lifted
        assert sign * model.score_one(x) >= phi * np.sqrt(variance) - 1e-12


def updates(model, X, y):
    """Learn one by one; return the samples that changed the weights."""
    moved, before = [], np.zeros(X.shape[1])
    for i, (row, label) in enumerate(zip(X, y.tolist(), strict=True)):
        model.learn_one(row, label, classes=["no", "yes"])
        if not np.array_equal(model.coef_[0], before):
            moved.append(i)
        before = model.coef_[0].copy()
    return moved


@pytest.mark.parametrize("r", [0.1, 1.0, 30.0])
def test_arow_is_ridge_regression_on_what_it_updated(r, stream):
    X, y = stream("binary", n=200)
    model = AROWClassifier(r=r, covariance="full", fit_intercept=False)
    moved = updates(model, X, y)
    assert 20 < len(moved) < 200
    signs = np.where(y[moved] == "yes", 1.0, -1.0)
    ridge = Ridge(alpha=r, fit_intercept=False).fit(X[moved], signs)
    np.testing.assert_allclose(model.coef_[0], ridge.coef_, rtol=1e-11, atol=1e-12)
    inverse = np.linalg.inv(np.eye(6) + X[moved].T @ X[moved] / r)
    np.testing.assert_allclose(model.covariance_[0], inverse, rtol=1e-11, atol=1e-13)


def test_arow_regression_is_weighted_ridge_regression(stream):
    X, y = stream("regression", n=200)
    weights = np.random.default_rng(0).uniform(0.1, 3, size=200)
    model = AROWRegressor(r=2.0, covariance="full", standardize_target=False)
    model.partial_fit(X, y, sample_weight=weights)
    # The constant is penalised like the weights.
    lifted = np.column_stack([X, np.ones(200)])
    ridge = Ridge(alpha=2.0, fit_intercept=False).fit(lifted, y, sample_weight=weights)
    np.testing.assert_allclose([*model.coef_, *model.intercept_], ridge.coef_, rtol=1e-10)


def test_arow_does_nothing_from_margin_one_on():
    model = AROWClassifier(fit_intercept=False, r=1e-3).partial_fit([[2.0]], [1], classes=[0, 1])
    model.partial_fit([[2.0]], [1])
    before = pickle.dumps(model.covariance_), model.coef_[0, 0]
    row = 1.0000001 / before[1]
    model.partial_fit([[row]], [1])
    assert (pickle.dumps(model.covariance_), model.coef_[0, 0]) == before
    model.partial_fit([[row]], [0])
    assert model.coef_[0, 0] < before[1]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d", [4, 70])
def test_full_covariances_do_not_drift(d, layout):
    # A hundred thousand contractions, against the inverse of the equivalent sum.
    rng = np.random.default_rng(0)
    n = 100_000 if d == 4 else 5_000
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 3, size=d)
    X[:, 1] = X[:, 0] + 1e-3 * X[:, 1]
    model = AROWRegressor(covariance="full", fit_intercept=False, standardize_target=False)
    model.partial_fit(laid_out(X, layout), X[:, 0])
    [S] = model.covariance_
    np.testing.assert_array_equal(S, S.T)
    inverse = np.linalg.inv(np.eye(d) + X.T @ X)
    assert np.linalg.eigvalsh(S).min() > 0
    assert np.abs(S - inverse).max() < 1e-9 * np.abs(inverse).max()


def test_variances_only_fall(stream):
    X, y = stream("ovr")
    for name in ("SCWClassifier-0", "AROWClassifier-0"):
        model, last = build(name, "ovr"), np.inf
        for part in np.split(np.arange(90), 9):
            model.partial_fit(X[part], y[part], classes=np.unique(y))
            assert np.all(model.covariance_ <= last)
            assert model.covariance_.min() >= 0
            last = model.covariance_
        assert np.any(last < 0.5)


@every_case
def test_average_is_the_mean_of_all_models(name, task, stream):
    X, y = stream(task, n=30)
    first = {"classes": np.unique(y)} if task != "regression" else {}
    last, mean = build(name, task), build(name, task, average=True)
    models = []
    for i in range(30):
        last.partial_fit(X[i : i + 1], y[i : i + 1], **first)
        mean.partial_fit(X[i : i + 1], y[i : i + 1], **first)
        models.append(last.coef_)
    expected = np.sum(models, axis=0) / 31  # the first of 31 is 0
    np.testing.assert_allclose(mean.coef_, expected, rtol=1e-10, atol=1e-13)


def test_margin_contracts_both_classes():
    model = AROWClassifier(multi_class="margin", fit_intercept=False)
    model.partial_fit([[1.0, 0.0]], [2], classes=[0, 1, 2])
    # v = 1 + 1, beta = 1 / (2 + 1); the rival is the first of equals.
    np.testing.assert_allclose(model.coef_, np.array([[-1, 0], [0, 0], [1, 0]]) / 3)
    np.testing.assert_allclose(model.covariance_, [[2 / 3, 1], [1, 1], [2 / 3, 1]])


def test_a_shared_matrix_is_contracted_once():
    X = [[1.0, 0.0]]
    margin = AROWClassifier(multi_class="margin", fit_intercept=False, covariance="shared")
    margin.partial_fit(X, [2], classes=[0, 1, 2])
    # v = 2 x'Sx = 2, beta = 1 / (2 + 1).
    np.testing.assert_allclose(margin.coef_, np.array([[-1, 0], [0, 0], [1, 0]]) / 3)
    np.testing.assert_allclose(margin.covariance_, [[[2 / 3, 0], [0, 1]]])
    rest = AROWClassifier(fit_intercept=False, covariance="shared")
    rest.partial_fit(X, [2], classes=[0, 1, 2])
    # Each of three classes has v = 1 and moves; S loses 1 / (1 + 1) once.
    np.testing.assert_allclose(rest.coef_, np.array([[-1, 0], [-1, 0], [1, 0]]) / 2)
    np.testing.assert_allclose(rest.covariance_, [[[1 / 2, 0], [0, 1]]])


def test_a_shared_covariance_is_ridge_regression_where_all_classes_move(stream):
    # A loss nearly everywhere: r is so large that no score comes near 1.
    X, y = stream("ovr", n=200)
    r = 1e4
    shared = AROWClassifier(r=r, covariance="shared", fit_intercept=False)
    shared.partial_fit(X, y, classes=np.unique(y))
    targets = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    ridge = Ridge(alpha=r, fit_intercept=False).fit(X, targets)
    np.testing.assert_allclose(shared.coef_, ridge.coef_, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("name", ["AROWClassifier-0", "SCWClassifier-0", "AROWRegressor-0"])
def test_one_output_shares_its_matrix_with_none(name, stream, equal):
    task = "regression" if name.startswith("AROWR") else "binary"
    X, y = stream(task)
    models = [build(name, task, covariance=covariance) for covariance in ("full", "shared")]
    for model in models:
        learn(model, X, y)
    equal(models[1].coef_, models[0].coef_)
    equal(models[1].covariance_, models[0].covariance_)


def test_full_follows_what_goes_together():
    # x2 is x1 and noise: on the noise, only a full covariance leaves weight where the target is.
    rng = np.random.default_rng(0)
    noise = rng.normal(size=4000)
    X = np.column_stack([rng.normal(size=4000) * 0.2 + noise, noise])
    y = np.where(X[:, 0] > X[:, 1], 1, 0)
    scores = {c: AROWClassifier(covariance=c, random_state=0).fit(X, y).score(X, y)
              for c in ("diagonal", "full")}  # fmt: skip
    assert scores["full"] > 0.97 > scores["diagonal"] + 0.02


def noisy(n=3000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] > 0) ^ (rng.random(n) < 0.15)


@every_covariance
def test_cw_collapses_on_noise_and_says_so_once(covariance):
    X, y = noisy()
    model = CWClassifier(confidence=0.9, covariance=covariance, random_state=0)
    with pytest.warns(ConvergenceWarning, match="SCWClassifier or AROWClassifier") as caught:
        model.partial_fit(X, y, classes=[False, True])
    assert len(caught) == 1
    assert np.isfinite(model.coef_).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for other in (SCWClassifier(C=0.1), AROWClassifier()):
            other.set_params(covariance=covariance, random_state=0)
            assert other.fit(X, y).score(X, y) > 0.8
        model.partial_fit(X, y)


@every_covariance
def test_warning_as_error_leaves_no_trace(covariance, same_state):
    X, y = noisy()
    model = CWClassifier(confidence=0.9, covariance=covariance)
    model.partial_fit(X[:5], y[:5], classes=[False, True])
    other = copy.deepcopy(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        with pytest.raises(ConvergenceWarning):
            model.partial_fit(X[5:], y[5:])
    same_state(model, other)


def test_what_does_not_fit_is_refused():
    X = sparse.csr_matrix(([1.0, 1.0], ([0, 1], [3, 200_000 - 1])), shape=(2, 200_000))
    model = AROWClassifier(covariance="full")
    with pytest.raises(MemoryError, match=r"a matrix of 200001 x 200001 numbers.* 640 gigabytes"):
        model.fit(X, [0, 1])
    assert vars(model) == vars(AROWClassifier(covariance="full"))
    assert model.set_params(covariance="diagonal").fit(X, [0, 1]).score(X, [0, 1]) == 1


def test_what_fits_depends_on_the_memory(monkeypatch, stream, same_state):
    X, y = stream("ovr")
    model = AROWClassifier(covariance="full", random_state=0).fit(X, y)
    other = copy.deepcopy(model)
    # 3 matrices of 7 rows of whole panels, twice.
    needed = 2 * 3 * 7 * 64 * 8
    monkeypatch.setattr(linear, "available_memory", lambda: needed - 1)
    with pytest.raises(MemoryError, match="3 matrices of 7 x 7"):
        model.fit(X, y)
    shared = AROWClassifier(covariance="shared").fit(X, y)
    monkeypatch.setattr(linear, "available_memory", lambda: needed // 3 - 1)
    with pytest.raises(MemoryError, match='"shared" keeps a matrix of 7 x 7'):
        shared.fit(X, y)
    same_state(model, other)
    monkeypatch.setattr(linear, "available_memory", lambda: needed)
    same_state(model.fit(X, y), other)


def test_available_memory(monkeypatch):
    from onlinekern.estimators import memory

    assert memory.available_memory() > 2**20

    def missing(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr(memory.Path, "read_text", missing)
    assert memory.available_memory() > 2**20
    monkeypatch.delattr(memory.os, "sysconf", raising=False)
    assert memory.available_memory() == float("inf")


def test_parameters_of_the_step_change_in_mid_stream(stream):
    X, y = stream("binary")
    model = AROWClassifier(r=1e6).partial_fit(X[:45], y[:45], classes=["no", "yes"])
    small = np.abs(model.coef_).max()
    model.set_params(r=0.1).partial_fit(X[45:], y[45:])
    assert np.abs(model.coef_).max() > 100 * small


@pytest.mark.parametrize("confidence", [0.5, 1.0, 0.2])
def test_confidence_out_of_range(confidence, stream):
    X, y = stream("binary")
    for cls in (CWClassifier, SCWClassifier):
        with pytest.raises(ValueError, match="'confidence' parameter"):
            cls(confidence=confidence).fit(X, y)
