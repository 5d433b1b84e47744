"""The second pass of kernel least squares begins with landmarks that the first one has found."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from test_kernel_rls import LOOSE, new_model, twin_of

from onlinekern import KernelRLSRegressor
from onlinekern.learners.least_squares import margins_of_classes

CASES = [
    {},
    {"gate": "always", "kernel": "laplacian"},
    {"reg": 2.0, "linear": False},
    {"forgetting": 0.97, "gate": "always"},
]
OF_TARGETS = [{}, {"kernel": "polynomial", "coef0": 1.0}, {"forgetting": 0.97}]


def samples(task, n=160, d=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d)).astype(np.float32)
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    if task == "regression":
        return X, f + 0.1 * random.standard_normal(n)
    return X, (f > 0).astype(int) if task == "binary" else np.digitize(f, [-0.6, 0.6])


def losses_of(model, X, y):
    """Return the losses in whose proportion samples become landmarks."""
    scores = model._scores(X)
    if hasattr(model, "classes_"):
        return np.maximum(0, 1 - margins_of_classes(scores, np.searchsorted(model.classes_, y)))
    return np.abs(scores[:, 0] - y)


def is_twin_of_second_pass(model, X, y, dtype):
    """Assert that a model of two passes is the twin that begins with its landmarks."""
    first = clone(model).set_params(n_epochs=1).fit(X, y)
    places = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in model.landmarks_]
    assert len(places) == model.n_components
    losses = losses_of(first, X, y)
    assert (losses[places] > 0).all()
    assert losses[places].mean() > 1.2 * losses.mean()
    run = twin_of(model, X, y, dtype=dtype, landmarks=model.landmarks_.astype(np.float64))
    scores = model._scores(X)
    np.testing.assert_allclose(scores, run.decision_function(X), atol=LOOSE[dtype])
    assert model.n_entered_ == first.n_entered_ + len(run.entered)
    assert model.n_seen_ == 2 * len(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("task", ["binary", "three"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_second_pass_of_classifier_is_its_twin(case, task, dtype):
    X, y = samples(task)
    X = X.astype(dtype)
    model = new_model(task, n_epochs=2, shuffle=False, **case).fit(X, y)
    is_twin_of_second_pass(model, X, y, dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", OF_TARGETS, ids=str)
def test_second_pass_of_regressor_is_its_twin(case, dtype):
    X, y = samples("regression")
    X = X.astype(dtype)
    model = new_model("regression", n_epochs=2, shuffle=False, reg=0.1, **case).fit(X, y)
    is_twin_of_second_pass(model, X, y, dtype)


@pytest.mark.parametrize("standardize", [False, True])
def test_second_pass_counts_the_losses_of_several_targets(standardize):
    X, y = samples("regression")
    model = new_model("regression", n_epochs=2, shuffle=False, reg=0.1)
    model.set_params(standardize_target=standardize)
    one = clone(model).fit(X, y)
    # Of a target that is always 0 no loss remains: the landmarks are those of the other one.
    two = clone(model).fit(X, np.column_stack([y, 0 * y]))
    np.testing.assert_array_equal(two.landmarks_, one.landmarks_)
    np.testing.assert_allclose(two.predict(X)[:, 0], one.predict(X), atol=1e-5)


@pytest.mark.parametrize("metric", ["none", "diagonal", "full", "auto"])
@pytest.mark.parametrize("task", ["three", "regression"])
def test_a_pickle_goes_on_after_two_passes(task, metric, same_state):
    X, y = samples(task, 700)
    model = new_model(task, n_epochs=2, metric=metric).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > 0.6
    other = pickle.loads(pickle.dumps(model))
    model.partial_fit(X[600:], y[600:])
    for x, target in zip(X[600:], y[600:], strict=True):
        other.learn_one(x, target)
    same_state(model, other)


def test_later_passes_keep_the_landmarks():
    X, y = samples("binary")
    two, three = (new_model("binary", n_epochs=n, shuffle=False).fit(X, y) for n in (2, 3))
    np.testing.assert_array_equal(two.landmarks_, three.landmarks_)
    assert three.n_entered_ >= two.n_entered_


def test_samples_without_weight_become_no_landmarks():
    X, y = samples("binary")
    weight = np.arange(len(y)) % 2.0
    model = new_model("binary", n_epochs=2).fit(X, y, sample_weight=weight)
    assert not (X[weight == 0][:, None] == model.landmarks_).all(axis=2).any()


def test_second_pass_begins_with_losses_beside_which_others_are_nothing():
    X, y = samples("binary")
    weight = np.where(np.arange(len(y)) % 40 == 0, 1e100, 1e-290)
    model = new_model("binary", n_epochs=2).fit(X, y, sample_weight=weight)
    assert (X[weight == 1e100] == model.landmarks_[0]).all(axis=1).any()


def test_sparse_rows_have_the_same_second_pass():
    from scipy.sparse import csr_matrix

    X, y = samples("three")
    X = np.where(np.abs(X) > 0.8, X, 0)
    models = [new_model("three", n_epochs=2).fit(rows, y) for rows in (X, csr_matrix(X))]
    np.testing.assert_allclose(*(model._scores(X) for model in models), atol=1e-3)


def test_what_is_learnt_without_an_error_is_learnt_again():
    """Without losses nothing tells which landmarks would be better."""
    X = np.random.default_rng(0).standard_normal((60, 2))
    model = new_model("binary", n_epochs=3, gate="always", margin=0.1).fit(10 * X, X[:, 0] > 0)
    assert model.score(10 * X, X[:, 0] > 0) > 0.9


def test_fourier_features_stay():
    X, y = samples("binary")
    one, two = (new_model("binary", n_epochs=n, features="fourier").fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.frequencies_, two.frequencies_)


def test_errors_of_samples_that_have_been_learnt_tell_no_interval():
    """Passes of a fit beyond the first, and beyond the second where landmarks were drawn anew."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (60, 3))
    y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(60)
    for features, fair in (("fourier", 1), ("nystroem", 2)):
        once, often = (
            KernelRLSRegressor(features=features, n_epochs=n, random_state=0).fit(X, y)
            for n in (fair, 4)
        )
        assert often.n_seen_ == 4 * len(X)
        told = [model._model.space.residuals for model in (once, often)]
        assert [each.seen for each in told] == [fair * len(X)] * 2
        np.testing.assert_array_equal(told[0].rings(), told[1].rings())
        often.partial_fit(X[:5], y[:5])
        assert often._model.space.residuals.seen == fair * len(X) + 5


def test_intervals_of_several_passes_hold_their_share_of_new_samples():
    shares = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-3, 3, (1100, 3))
        y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(1100)
        model = KernelRLSRegressor(features="fourier", n_epochs=3, random_state=seed)
        lower, upper = model.fit(X[:100], y[:100]).predict_interval(X[100:])
        shares.append(np.mean((lower <= y[100:]) & (y[100:] <= upper)))
    assert np.mean(shares) > 0.86
