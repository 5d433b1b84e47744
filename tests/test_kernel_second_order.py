"""Kernel AROW and SCW against their twins: every covariance, kind of features, gate and layout."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from learners import columns_of
from oracles.kernel_logistic import kernel_logistic
from oracles.kernel_second_order import kernel_arow, kernel_scw
from sklearn.base import clone

from onlinekern import (
    KernelAROWClassifier,
    KernelLogisticClassifier,
    KernelRLSClassifier,
    KernelSCWClassifier,
)
from onlinekern.core import COVARIANCES
from onlinekern.estimators import linear

DTYPES = [np.float32, np.float64]
LAYOUTS = ["dense", "csr", "wide"]
WINDOWS = [1, None]
# Whitening divides by distances to the landmarks, which magnifies errors of kernel values.
TOLERANCE = {np.float32: 2e-3, np.float64: 1e-8}
TASKS = ["binary", "ovr", "margin"]
SETTINGS = {"gamma": 0.2, "n_components": 12, "sketch_size": 4}
CASES = {
    "arow": (KernelAROWClassifier, kernel_arow, {"r": 0.5}),
    "scw1": (KernelSCWClassifier, kernel_scw, {"C": 0.3}),
    "scw2": (KernelSCWClassifier, kernel_scw, {"variant": "scw2", "C": 0.3, "confidence": 0.9}),
    "logistic": (KernelLogisticClassifier, kernel_logistic, {"r": 0.2}),
}
# What is compared in three tasks: of the last, several classes have one loss.
CASES_OF_TASKS = [
    (case, "softmax" if (case, task) == ("logistic", "margin") else task)
    for case in CASES
    for task in TASKS
]
OF_THE_LOOP = {"encode", "n_epochs", "shuffle", "random_state", "window", "n_jobs", "verbose"}
OF_THE_LOOP |= {"class_weight"}
every_covariance = pytest.mark.parametrize("covariance", sorted(COVARIANCES))


def build(case, task, **parameters):
    cls, _, own = CASES[case]
    if task != "binary":
        parameters["multi_class"] = task
    return cls(**{"random_state": 1, **SETTINGS, **own, **parameters})


def twin(case, model, X, y, rows, sample_weight=None):
    """Run the oracle with the parameters, frequencies and random numbers of a model."""
    parameters = {k: v for k, v in model.get_params().items() if k not in OF_THE_LOOP}
    # The gate that lets all pass draws no number.
    started = clone(model).set_params(gate=type(model)().gate)
    started.partial_fit(rows[:1], y[:1], classes=np.unique(y))
    if model.features == "fourier":
        parameters["frequencies"] = started.frequencies_[:, columns_of(rows)]
    uniforms = iter(started._model.rng.random(len(y)))
    return CASES[case][1](
        X, y, uniforms=uniforms, sample_weight=sample_weight, dtype=rows.dtype, **parameters
    )


def spread(array, model, X):
    """Return numbers of the twin's features in the model's order: the constant comes last."""
    d = X.shape[1]
    order = [*range(d), *range(d + 1, array.shape[-1]), d]
    return array[..., order] if model.linear else array


def compare(model, predictions, expected, Z, dtype):
    """Compare all public results of a model with the oracle's."""
    close = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype]}
    np.testing.assert_array_equal(predictions, expected.predictions)
    assert (model.n_mistakes_, model.n_seen_) == (expected.mistakes, expected.n_seen)
    np.testing.assert_allclose(model.cumulative_loss_, expected.cumulative_loss, **close)
    X, rows = Z
    scores = model.decision_function(rows).reshape(len(X), -1)
    np.testing.assert_allclose(scores, expected.decision_function(X), **close)
    if rows.shape[1] != X.shape[1]:
        return  # the linear features of the layout are others
    numbers = model.coef_
    if model.linear:
        numbers = np.hstack([numbers, model.intercept_[:, None]])
    np.testing.assert_allclose(numbers, spread(expected.weights, model, X), **close)
    covariance = spread(expected.sigma.to_array(), model, X)
    if covariance.ndim == 3:
        covariance = spread(covariance.transpose(0, 2, 1), model, X)
    np.testing.assert_allclose(model.covariance_, covariance, **close)


def check(case, task, stream, as_layout, weight=None, layouts=LAYOUTS, **parameters):
    """Compare dtypes, layouts and windows with the oracle; return the last run of the oracle."""
    X, y = stream(task)
    Z, _ = stream(task, n=20, seed=9)
    for dtype, layout in itertools.product(DTYPES, layouts):
        rows, outside = as_layout(X, layout, dtype), as_layout(Z, layout, dtype)
        linear = {} if rows.shape[1] == X.shape[1] else {"linear": False}
        expected = None
        for window in WINDOWS:
            model = build(case, task, window=window, **{**parameters, **linear})
            expected = expected or twin(case, model, X, y, rows, weight)
            predictions = model.partial_fit_predict(rows, y, np.unique(y), sample_weight=weight)
            compare(model, predictions, expected, (Z, outside), dtype)
    return expected


@every_covariance
@pytest.mark.parametrize(("case", "task"), CASES_OF_TASKS)
def test_twin(case, task, covariance, stream, as_layout):
    layouts = LAYOUTS if case in ("arow", "logistic") else ["dense"]
    run = check(case, task, stream, as_layout, layouts=layouts, covariance=covariance)
    assert len(run.entered) > 15
    assert len(run.map.places) == 12


FORMS = {
    "average": {"average": True, "covariance": "sketched"},
    "few directions": {"covariance": "sketched", "sketch_size": 1},
    "not linear": {"linear": False, "covariance": "diagonal"},
    "margin": {"selection": "margin", "novelty": 0.3},
    "ald": {"selection": "ald", "novelty": 0.3, "covariance": "full"},
    "polynomial": {"kernel": "polynomial", "degree": 2, "coef0": 1.0, "selection": "ald"},
    "laplacian": {"features": "fourier", "kernel": "laplacian", "average": True},
}


@pytest.mark.parametrize(
    ("case", "task"), [case for case in CASES_OF_TASKS if case[0] != "scw2" and case[1] != "ovr"]
)
@pytest.mark.parametrize("form", FORMS)
def test_forms(form, case, task, stream, as_layout):
    check(case, task, stream, as_layout, layouts=["dense"], **FORMS[form])


@every_covariance
def test_fourier_features(covariance, stream, as_layout):
    for task in ("binary", "ovr"):
        check("arow", task, stream, as_layout, features="fourier", covariance=covariance)


GATES = [
    {"beta": 1.0},
    {"alpha": 0.5, "beta": 1.5, "weighted": True},
    {"beta": 2.0, "selection": "margin", "novelty": 0.2},
]


@pytest.mark.parametrize("gate", GATES, ids=["1", "2", "3"])
@pytest.mark.parametrize("task", TASKS)
def test_gates(gate, task, stream, as_layout):
    for case, covariance in (("arow", "shared"), ("scw1", "diagonal"), ("logistic", "full")):
        task = "softmax" if (case, task) == ("logistic", "margin") else task
        parameters = {"gate": "loss_proportional", "covariance": covariance, **gate}
        weight = np.random.default_rng(3).choice([0.0, 0.5, 1.0, 2.5], size=90)
        run = check(case, task, stream, as_layout, weight, ["dense"], **parameters)
        always = check(case, task, stream, as_layout, weight, ["dense"], covariance=covariance)
        assert 5 < len(run.entered) < len(always.entered)


@pytest.mark.parametrize(("case", "task"), [("arow", "margin"), ("logistic", "softmax")])
@pytest.mark.parametrize("layout", LAYOUTS)
@every_covariance
def test_any_split_gives_the_same_bits(
    covariance, layout, case, task, stream, as_layout, same_state, equal
):
    X, y = stream("margin", n=120)
    rows = as_layout(X, layout, np.float32)
    # Without linear features, of which the wide layout has thousands.
    settings = {"covariance": covariance, "average": True, "gate": "loss_proportional"}
    settings["linear"] = layout != "wide"
    whole = build(case, task, **settings).partial_fit(rows, y, np.unique(y))
    for window in (1, 5, None):
        parts = build(case, task, window=window, **settings)
        for part in np.split(np.arange(120), [1, 2, 9, 50, 51]):
            parts.partial_fit(rows[part], y[part], np.unique(y))
            parts = pickle.loads(pickle.dumps(parts))
        same_state(parts.set_params(window=None), whole)
        equal(parts.decision_function(rows), whole.decision_function(rows))


@pytest.mark.parametrize(("case", "task"), [("scw1", "ovr"), ("logistic", "softmax")])
@every_covariance
def test_learn_one_is_partial_fit(covariance, case, task, stream, same_state):
    X, y = stream("ovr")
    one, many = (build(case, task, covariance=covariance) for _ in range(2))
    for x, label in zip(X, y.tolist(), strict=True):
        one.learn_one(x, label, classes=np.unique(y))
    same_state(one, many.partial_fit(X, y, np.unique(y)))


@pytest.mark.parametrize(("case", "task"), [("arow", "ovr"), ("logistic", "softmax")])
@pytest.mark.parametrize("window", [1, None])
@every_covariance
def test_failed_calls_leave_no_trace(covariance, window, case, task, stream, same_state, equal):
    X, y = stream("ovr")
    bad = np.vstack([X, np.full((1, X.shape[1]), 1e200)])
    labels = np.append(y, y[0])
    settings = {"kernel": "polynomial", "degree": 2, "coef0": 1.0, "selection": "ald"}
    model = build(case, task, covariance=covariance, window=window, **settings)
    # Landmarks, and shrinks of a sketch, come before, in and after the calls that fail.
    for learnt in (1, 6, 40):
        model.partial_fit(X[:learnt], y[:learnt], np.unique(y))
        before, scores = copy.deepcopy(model), model.decision_function(X)
        with pytest.raises(FloatingPointError, match="sample"):
            model.partial_fit(bad[learnt:], labels[learnt:])
        same_state(model, before)
        equal(model.decision_function(X), scores)
        for each in (model, before):
            each.partial_fit(X[learnt:], y[learnt:])
        same_state(model, before)


@pytest.mark.parametrize(("case", "task"), [("arow", "binary"), ("logistic", "softmax")])
@every_covariance
def test_a_call_is_undone(covariance, case, task, stream, state_of, same_state):
    X, y = stream("binary" if task == "binary" else "ovr")
    model = build(case, task, covariance=covariance).partial_fit(X[:40], y[:40], np.unique(y))
    before, shown = state_of(model), model.covariance_
    for call in (slice(40, 41), slice(40, 60)):
        model.partial_fit(X[call], y[call])
        assert not np.array_equal(model.covariance_, shown)
        model._model.undo()
        same_state(model, before)


def test_as_many_directions_as_features_are_exact(stream):
    X, y = stream("ovr", n=300)
    shared, sketched = (
        build("arow", "ovr", covariance=covariance, sketch_size=500).fit(X, y)
        for covariance in ("shared", "sketched")
    )
    np.testing.assert_allclose(sketched.coef_, shared.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(sketched.covariance_, shared.covariance_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("features", ["nystroem", "fourier"])
def test_two_classes_are_gated_least_squares(features, stream, equal):
    # Equal decisions, and weights of the same sums: S^-1 = I + sum phi phi' / r.
    X, y = stream("binary", n=300)
    settings = {"gamma": 0.2, "n_components": 40, "features": features, "random_state": 0}
    arow = KernelAROWClassifier(r=0.3, **settings)
    squares = KernelRLSClassifier(reg=0.3, **settings)
    predictions = [model.partial_fit_predict(X, y, np.unique(y)) for model in (arow, squares)]
    equal(*predictions)
    np.testing.assert_allclose(arow.coef_, squares.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(arow.intercept_, squares.intercept_, rtol=1e-6, atol=1e-9)


def test_a_sketch_keeps_the_diagonal_of_the_inverse(stream):
    X, y = stream("binary", n=300)
    # So large an r that every sample enters, whatever the covariance is.
    exact, sketched = (
        build("arow", "binary", r=1e3, gamma=1.0, covariance=covariance, sketch_size=2)
        .partial_fit(X, y, np.unique(y)).covariance_[0]
        for covariance in ("shared", "sketched")
    )  # fmt: skip
    inverses = [np.linalg.inv(matrix) for matrix in (exact, sketched)]
    np.testing.assert_allclose(np.diag(inverses[1]), np.diag(inverses[0]), rtol=1e-9)
    assert np.linalg.eigvalsh(sketched).min() > 0
    assert np.abs(inverses[1] - inverses[0]).max() > 1e-3


def test_a_landmark_s_own_coordinate_is_learnt():
    # Without linear features the first sample has features only as a landmark: phi = 1, v = 1.
    model = KernelAROWClassifier(linear=False, gamma=1.0, r=0.5)
    model.partial_fit([[3.0]], [1], classes=[0, 1])
    np.testing.assert_allclose(model.coef_, [[1 / 1.5]])
    np.testing.assert_allclose(model.covariance_, [[[1 - 1 / 1.5]]])
    np.testing.assert_allclose(model.decision_function([[3.0]]), 1 / 1.5)


def test_all_covariances_learn_what_is_not_linear(stream):
    X, y = stream("ovr", n=1500)
    for (cls, _, _), covariance in itertools.product(CASES.values(), COVARIANCES):
        model = cls(covariance=covariance, n_components=60, sketch_size=10, random_state=0)
        model.fit(X[:1000], y[:1000])
        assert model.score(X[1000:], y[1000:]) > 0.7


def test_a_gate_admits_fewer_samples(stream):
    X, y = stream("binary", n=800)
    model = build("arow", "binary", gate="loss_proportional", beta=4.0, selection="margin",
                  n_components=400, novelty=1e-6).partial_fit(X, y, np.unique(y))  # fmt: skip
    mean_loss = model.cumulative_loss_ / 800
    # Every sample that enters is new, and becomes a landmark.
    assert len(model.landmarks_) <= mean_loss / 4 * 800 + 4 * np.sqrt(mean_loss / 4 * 800)
    assert len(model.landmarks_) > 20


@pytest.mark.parametrize("parameters", [
    {"covariance": "sparse"}, {"sketch_size": 0}, {"gate": "always"}, {"alpha": 0.0},
    {"gate": "loss_proportional", "alpha": 2.0}, {"r": 0.0},
])  # fmt: skip
def test_parameters_out_of_range(parameters, stream):
    X, y = stream("binary")
    with pytest.raises(ValueError, match=list(parameters)[-1]):
        KernelAROWClassifier(**parameters).fit(X, y)


def test_what_does_not_fit_is_refused(monkeypatch, stream):
    X, y = stream("ovr")
    # [x, 1] and 12 landmarks, each in whole panels of 64.
    length = 128
    needed = {
        "diagonal": 2 * 3 * length * 8,
        "full": 2 * 3 * length * length * 8,
        "shared": 2 * length * length * 8,
        "sketched": (4 * 4 * (length + 8) + 2 * 4 * length) * 8,
    }
    for covariance, n_bytes in needed.items():
        model = build("arow", "ovr", covariance=covariance)
        monkeypatch.setattr(linear, "available_memory", lambda least=n_bytes: least)
        model.fit(X, y)
        monkeypatch.setattr(linear, "available_memory", lambda least=n_bytes: least - 1)
        with pytest.raises(MemoryError, match=f'covariance="{covariance}" keeps'):
            model.fit(X, y)


def test_states_that_contradict_themselves_are_refused(stream):
    X, y = stream("binary", n=30)
    model = build("arow", "binary", covariance="sketched").fit(X, y)
    restore, (n_outputs, sketch, diagonal, factor) = model._model.space.covariance.__reduce__()
    np.testing.assert_array_equal(
        restore(n_outputs, sketch, diagonal, factor).to_array(),
        model._model.space.covariance.to_array(),
    )
    with pytest.raises(ValueError, match="must be the Cholesky factor"):
        restore(n_outputs, sketch, diagonal, 2 * factor)
    with pytest.raises(ValueError, match="diagonal of the sketch must be at least 1"):
        restore(n_outputs, sketch, diagonal / 2, factor)
    with pytest.raises(ValueError, match=r"diagonal of the sketch must have shape \(1, 128\)"):
        restore(n_outputs, sketch, diagonal[:, 1:], factor)
    space = model._model.space
    other = COVARIANCES["diagonal"](2, 128)
    restore, (features, averaged, _, n_degenerate, weights) = space.__reduce__()
    with pytest.raises(ValueError, match=r"must have shape \(2, 128\)"):
        restore(features, averaged, other, n_degenerate, weights)
    with pytest.raises(ValueError, match="must be one of 1 outputs and 128 features"):
        type(space)(features, 1, False, covariance=COVARIANCES["full"](1, 64))
