"""DualSGD against its twin, coefficient by coefficient, and the properties of its model."""

import pickle

import numpy as np
import pytest
from grids import grid
from interpreters import lines_of
from oracles.dual_sgd import dual_sgd, random_features
from oracles.kernels import kernel_matrix
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from onlinekern import DualSGDClassifier, DualSGDRegressor, FourierFeatures
from onlinekern.core.base.vector import available_levels

DTYPES = [np.float32, np.float64]
LAYOUTS = ["dense", "csr", "wide"]
WINDOWS = [1, 7, 64]
# 'wide' has more features than that: support rows are then stored sparse.
WIDE = 3000
TOLERANCE = {np.float32: 3e-4, np.float64: 1e-9}
SMALL = {"gamma": 0.3, "budget": 12, "merge_size": 5, "n_components": 20}
TASKS = [
    ("binary", "hinge"),
    ("binary", "logistic"),
    ("binary", "smooth_hinge"),
    ("margin", "hinge"),
    ("margin", "logistic"),
    ("ovr", "hinge"),
    ("ovr", "smooth_hinge"),
    ("regression", "absolute"),
    ("regression", "epsilon_insensitive"),
]


def make_stream(task, n=160, d=6, seed=0):
    """Return rows of float32 numbers, a third of them 0 and row 3 all 0, and labels or targets."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(np.float32).astype(np.float64)
    X[rng.random((n, d)) < 1 / 3] = 0
    X[3] = 0
    hidden = X[:, 0] + 0.7 * X[:, 1] - 0.5 * X[:, 2] ** 2 + 0.3 * rng.standard_normal(n)
    if task == "regression":
        return X, hidden
    return X, (hidden > 0).astype(int) if task == "binary" else np.digitize(hidden, [-1.0, 0.5])


def columns_of(d, layout):
    return np.linspace(7, WIDE - 5, d).astype(int) if layout == "wide" else np.arange(d)


def laid_out(X, layout, dtype):
    if layout == "dense":
        return np.ascontiguousarray(X, dtype=dtype)
    rows = sparse.coo_matrix(X.astype(dtype))
    columns = columns_of(X.shape[1], layout)[rows.col]
    shape = (len(X), WIDE if layout == "wide" else X.shape[1])
    return sparse.csr_matrix((rows.data, (rows.row, columns)), shape=shape)


def as_dense(rows):
    return rows.toarray() if sparse.issparse(rows) else rows


def build(task, loss, **parameters):
    settings = {"random_state": 1, "reg": 0.05, "loss": loss, **SMALL, **parameters}
    if task == "regression":
        return DualSGDRegressor(standardize_target=False, **settings)
    return DualSGDClassifier(multi_class="margin" if task == "binary" else task, **settings)


def learn(model, X, y, task, **arguments):
    if task != "regression":
        arguments["classes"] = np.unique(y)
    return model.partial_fit_predict(X, y, **arguments)


def twin(model, X, y, task, layout, **arguments):
    """Run the oracle with the parameters and the frequencies of a fitted model."""
    names = [
        "kernel",
        "reg",
        "gamma",
        "budget",
        "merge_size",
        "loss",
        "fit_intercept",
        "max_step",
        "average",
    ]
    parameters = {name: getattr(model, name) for name in names}
    own = {"delta": getattr(model, "delta", 1.0), "epsilon": getattr(model, "epsilon", 0.1)}
    frequencies = model.frequencies_[:, columns_of(X.shape[1], layout)]
    n_classes = None if task == "regression" else len(np.unique(y))
    return dual_sgd(
        X, y, frequencies, head=task, n_classes=n_classes, **parameters, **own, **arguments
    )


def compare(model, predictions, expected, layout, dtype):
    """Compare all public results of a model with the oracle's."""
    close = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype]}
    if isinstance(model, DualSGDClassifier):
        np.testing.assert_array_equal(predictions, expected.predictions)
        assert model.n_mistakes_ == expected.mistakes
    else:
        np.testing.assert_allclose(predictions, expected.predictions, **close)
    assert model.n_seen_ == expected.t
    np.testing.assert_allclose(model.cumulative_loss_, expected.cumulative_loss, **close)
    columns = columns_of(expected.X.shape[1], layout)
    rows = as_dense(model.support_vectors_)[:, columns]
    np.testing.assert_array_equal(rows, expected.X[expected.support])
    coefficients = expected.coefficients(model.average)[:, expected.support]
    np.testing.assert_allclose(model.dual_coef_, coefficients, **close)
    np.testing.assert_allclose(model.provision_coef_, expected.provision(model.average), **close)
    np.testing.assert_allclose(model.intercept_, expected.intercept(model.average), **close)
    Z, _ = make_stream("binary", n=30, seed=5)
    score = getattr(model, "decision_function", model.predict)
    scores = score(laid_out(Z, layout, dtype)).reshape(30, -1)
    np.testing.assert_allclose(scores, expected.scores(Z, model.average), **close)


@pytest.mark.parametrize(
    ("dtype", "layout", "average"), grid(DTYPES, LAYOUTS, [False, True, "decay", 0.02])
)
@pytest.mark.parametrize(("task", "loss"), TASKS)
def test_against_the_oracle(task, loss, dtype, layout, average):
    X, y = make_stream(task)
    rows = laid_out(X, layout, dtype)
    expected = None
    for window in WINDOWS:
        model = build(task, loss, average=average, window=window)
        predictions = learn(model, rows, y, task)
        expected = expected or twin(model, X, y, task, layout)
        assert len(expected.merged) > 3
        compare(model, predictions, expected, layout, dtype)


@pytest.mark.parametrize(
    "parameters",
    [
        {"fit_intercept": True},
        {"max_step": 0.4},
        {"max_step": 0.4, "fit_intercept": True, "average": True},
        {"budget": 1, "merge_size": 1},
        {"budget": 12, "merge_size": 12},
        {"n_components": 1},
        {"n_components": 64},
        {"n_components": 65},
        {"gamma": 40.0},
        {"kernel": "laplacian"},
        {"frequencies": "orthogonal"},
    ],
)
@pytest.mark.parametrize("task", ["binary", "margin", "regression"])
def test_parameters_against_the_oracle(task, parameters):
    X, y = make_stream(task)
    weight = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    for loss in ["absolute"] if task == "regression" else ["hinge", "logistic"]:
        model = build(task, loss, **parameters)
        predictions = learn(model, X, y, task, sample_weight=weight)
        expected = twin(model, X, y, task, "dense", sample_weight=weight)
        compare(model, predictions, expected, "dense", np.float64)


def test_the_oracle_by_hand():
    # reg = 1/2, B = 1, k = 1, one frequency omega = pi, gamma = ln 2: kappa(0, 1) = 1/2,
    # z(0) = (1, 0), z(1) = (-1, 0).
    # x = 0, +: f = 0, a_1 = 2.  x = 1, -: f = 2/2^1 = 1, loss 2, a_2 = -2; a_1 as old and as large
    # leaves: w = (2, 0).  x = 0, +: f = (-2/2 + 2)/2 = 1/2, a_3 = 2; a_2 leaves: w = (4, 0).
    X, y = np.array([[0.0], [1.0], [0.0], [1.0]]), [1, 0, 1, 1]
    arguments = {"reg": 0.5, "gamma": np.log(2), "budget": 1, "merge_size": 1}
    run = dual_sgd(X, y, [[np.pi]], **arguments)
    # x = 1, +: f = (2/2 - 4)/3 = -1, a_4 = 2; a_3 leaves: w = (6, 0).
    assert run.merged == [[0], [1], [2]]
    assert run.support == [3]
    assert run.cumulative_loss == pytest.approx(1 + 2 + 0.5 + 2)
    np.testing.assert_allclose(run.provision(False) * 4, [[6, 0]], atol=1e-14)
    np.testing.assert_allclose(run.coefficients(False) * 4, [[2, -2, 2, 2]])
    np.testing.assert_array_equal(run.predictions, [0, 1, 1, 0])
    # f_1 ... f_5 had 0, 2, 1, 2/3, 1/2 of the first sample.
    np.testing.assert_allclose(run.coefficients(True)[0, 0] * 5, 2 + 1 + 2 / 3 + 1 / 2)


def test_average_is_the_mean_of_all_models():
    # With no merge, the mean of the scores of the models after 0, 1, ..., n samples.
    X, y = make_stream("binary", n=40)
    mean, n = 0.0, len(y)
    settings = {"budget": 100, "merge_size": 1}
    for t in range(n + 1):
        if t > 0:
            last = build("binary", "logistic", **settings)
            last.partial_fit(X[:t], y[:t], classes=[0, 1])
            mean = mean + last.decision_function(X) / (n + 1)
    averaged = build("binary", "logistic", average=True, **settings)
    averaged.partial_fit(X, y, classes=[0, 1])
    np.testing.assert_allclose(averaged.decision_function(X), mean, atol=1e-12)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_features_are_those_of_the_kernel(kernel):
    X, y = make_stream("binary")
    model = build("binary", "hinge", kernel=kernel, gamma=0.7, n_components=20_000).fit(X, y)
    z = random_features(X, model.frequencies_)
    # The deviation of a mean of 20,000 products of cosines and sines is 0.005.
    np.testing.assert_allclose(z @ z.T, kernel_matrix(kernel, X, X, 0.7), atol=0.04)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_the_budget_holds_in_fixed_memory(loss):
    X, y = make_stream("binary", n=3000)
    model = build("binary", loss, window=64)
    sizes = set()
    for first in range(0, 3000, 50):
        part = slice(first, first + 50)
        model.partial_fit(X[part], y[part], classes=[0, 1])
        assert model.n_support_ <= 12
        sizes.add(model._model.space.support.capacity)
    assert len(sizes) == 1


def test_equal_coefficients_leave_in_the_order_in_which_they_came():
    # With random labels the hinge takes a step at nearly every sample.
    X, _ = make_stream("binary", n=2000)
    y = np.random.default_rng(3).integers(0, 2, 2000)
    model = build("binary", "hinge", reg=1e-3)
    stepped = []
    model.partial_fit(X[:1], y[:1], classes=[0, 1])
    for i in range(1, 2000):
        loss = model.cumulative_loss_
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        if model.cumulative_loss_ > loss:
            stepped.append(i)
    assert len(stepped) > 500
    np.testing.assert_array_equal(model.support_vectors_, X[stepped[-model.n_support_ :]])


def state(model):
    """Return the state of a model as bytes."""
    return pickle.dumps((model._model, model.n_support_))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_any_split_and_any_window_is_the_same_stream(dtype, layout):
    X, y = make_stream("margin", n=300, d=9)
    rows = laid_out(X / 3, layout, dtype)
    found = []
    for window in (1, 5, 64, 1000, None):
        for cuts in ([], [40, 41, 170]):
            model = build("margin", "logistic", window=window, average=True, fit_intercept=True)
            for part in np.split(np.arange(len(y)), cuts):
                model.partial_fit(rows[part], y[part], classes=[0, 1, 2])
            found.append(model)
    expected = found[0].decision_function(rows)
    for model in found:
        np.testing.assert_array_equal(model.decision_function(rows), expected)
        np.testing.assert_array_equal(model.dual_coef_, found[0].dual_coef_)
        np.testing.assert_array_equal(model.provision_coef_, found[0].provision_coef_)
        assert state(model) == state(found[0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_learn_one_is_partial_fit(dtype):
    X, y = make_stream("margin", n=200)
    X = X.astype(dtype)
    one, many = build("margin", "hinge"), build("margin", "hinge")
    many.partial_fit(X, y, classes=[0, 1, 2])
    one.learn_one(X[0], y[0], classes=[0, 1, 2])
    for x, label in zip(X[1:], y[1:], strict=True):
        one.learn_one(x, label)
    assert state(one) == state(many)
    np.testing.assert_array_equal(one.score_one(X[7]), many.decision_function(X[7:8])[0])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("task", ["binary", "margin"])
def test_a_pickle_in_mid_stream_goes_on_identically(task, layout):
    X, y = make_stream(task, n=200)
    rows = laid_out(X, layout, np.float32)
    model = build(task, "logistic", average=True, fit_intercept=True)
    model.partial_fit(rows[:77], y[:77], classes=np.unique(y))
    copy = pickle.loads(pickle.dumps(model))
    assert state(copy) == state(model)
    for each in (model, copy):
        each.partial_fit(rows[77:], y[77:])
    assert state(copy) == state(model)
    np.testing.assert_array_equal(copy.decision_function(rows), model.decision_function(rows))


@pytest.mark.parametrize("window", [1, 16, None])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("learnt", [5, 60])
def test_a_call_that_fails_leaves_the_model_as_it_was(learnt, layout, window):
    X, y = make_stream("margin", n=200)
    broken = X.copy()
    broken[150] = 1e308  # its product with a frequency overflows
    rows, bad = laid_out(X, layout, np.float64), laid_out(broken, layout, np.float64)
    parameters = {"average": True, "fit_intercept": True, "window": window}
    model, other = (build("margin", "logistic", **parameters) for _ in range(2))
    for each in (model, other):
        each.partial_fit(rows[:learnt], y[:learnt], classes=[0, 1, 2])
    before = state(model)
    for _ in range(2):
        with pytest.raises(FloatingPointError, match="not finite"):
            model.partial_fit(bad[learnt:], y[learnt:])
        assert state(model) == before
    for each in (model, other):
        each.partial_fit(rows[learnt:], y[learnt:])
    assert state(model) == state(other)


def test_several_threads_score_alike():
    X, y = make_stream("margin", n=500)
    model = build("margin", "hinge", average=True).fit(X, y)
    before = state(model)
    expected = model.decision_function(X)
    model.n_jobs = 3
    np.testing.assert_array_equal(model.decision_function(X), expected)
    assert state(model) == before


@pytest.mark.parametrize("task", ["binary", "margin", "ovr"])
def test_probabilities(task):
    X, y = make_stream(task, n=2000)
    model = build(task, "logistic", reg=0.01, budget=50).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities >= 0).all()
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    # The more certain half has fewer errors.
    certainty = probabilities.max(axis=1)
    sure = certainty > np.median(certainty)
    right = model.predict(X) == y
    assert right[sure].mean() > right[~sure].mean() + 0.05


def test_regression_is_stable_from_the_first_sample():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (4000, 4))
    y = 0.5 + 0.2 * np.sin(3 * X[:, 0]) + 0.1 * X[:, 1] + 0.02 * rng.standard_normal(4000)

    def errors(**parameters):
        settings = {"gamma": 1.0, "random_state": 0, "standardize_target": False}
        model = DualSGDRegressor(**settings, **parameters)
        return model.partial_fit_predict(X, y) - y

    found = errors()
    assert np.abs(found).max() < 2
    assert np.sqrt(np.mean(found[2000:] ** 2)) < 0.5 * y.std()
    assert np.abs(errors(max_step=None)).max() > 20


def test_merge_size_within_budget():
    X, y = make_stream("binary")
    model = build("binary", "hinge", budget=4)
    with pytest.raises(ValueError, match="merge_size must be at most budget"):
        model.fit(X, y)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_components", [1, 16, 64, 100])
def test_fourier_features(n_components, dtype, layout):
    X, _ = make_stream("binary", n=150)
    rows = laid_out(X, layout, dtype)
    model = FourierFeatures(n_components=n_components, gamma=0.3, random_state=3).fit(rows)
    found = model.transform(rows)
    frequencies = model.frequencies_[:, columns_of(X.shape[1], layout)]
    close = {"rtol": 0, "atol": 20 * np.finfo(dtype).eps}
    np.testing.assert_allclose(found, random_features(X, frequencies), **close)
    assert found.dtype == dtype
    np.testing.assert_array_equal(model.transform(rows[70:75]), found[70:75])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(rows), found)


@parametrize_with_checks([FourierFeatures(random_state=0)])
def test_fourier_features_are_a_transformer(estimator, check):
    check(estimator)


ACCURACY = """
import numpy as np
from onlinekern.core.base.vector import cosine_sine
for dtype, far in ((np.float32, 2.0**13), (np.float64, 2.0**26)):
    for reach in (1.0, 100.0, far):
        t = np.random.default_rng(0).uniform(-reach, reach, 100_003).astype(dtype)
        t[:5] = 0, np.pi / 4, -np.pi / 4, reach, -reach
        exact = np.stack([np.cos(t.astype(np.longdouble)), np.sin(t.astype(np.longdouble))])
        error = np.abs(cosine_sine(t) - exact).max()
        assert error < 0.75 * np.finfo(dtype).eps, (dtype, reach, error)
    wild = np.array([1e30, -1e30, 1e5], dtype=dtype)
    assert (np.abs(cosine_sine(wild)) <= 1).all()
    assert np.isnan(cosine_sine(np.array([np.inf, -np.inf, np.nan], dtype=dtype))).all()
"""


@pytest.mark.parametrize("level", available_levels())
def test_cosine_and_sine_to_the_last_place(level):
    # Errors are in units in the last place of 1: that matters for a sum of features.
    lines_of(ACCURACY, env={"ONLINEKERN_ISA": level})
