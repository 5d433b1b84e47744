"""Kernel recursive least squares: against its twin, ridge regression, and cuts of the stream."""

import pickle
from functools import partial

import numpy as np
import pytest
from grids import grid
from oracles.kernel_rls import kernel_rls
from scipy import sparse
from sklearn.linear_model import Ridge

from onlinekern import KernelRLSClassifier, KernelRLSRegressor
from onlinekern.core.base.random import Generator
from onlinekern.core.linalg.copies import PANEL, unpacked
from onlinekern.estimators.memory import Form
from onlinekern.fitted.save import from_bytes, to_bytes

SETTINGS = {"n_components": 30, "gamma": 0.3, "random_state": 3}
CASES = [
    {},
    {"gate": "always"},
    {"margin": 0.4, "reg": 2.0},
    {"reg": "auto"},
    {"reg": "auto", "gate": "always", "forgetting": 0.97},
    {"gate": "loss_proportional", "beta": 1.5},
    {"gate": "loss_proportional", "alpha": 0.5, "beta": 0.7, "weighted": True},
    {"selection": "margin", "novelty": 0.3},
    {"selection": "ald", "novelty": 0.2, "linear": False, "kernel": "laplacian"},
    {"forgetting": 0.97, "gate": "always"},
    {"forgetting": 0.5},
    {"features": "fourier"},
    {"features": "fourier", "linear": False, "forgetting": 0.99},
    {"kernel": "polynomial", "degree": 2, "coef0": 1.0, "n_components": 20},
]
OF_CLASSES = {"gate", "margin"}
REGRESSION = [case for case in CASES if not OF_CLASSES & {*case.keys(), case.get("selection")}]
REGRESSION += [{"forgetting": 0.97}, {"reg": 1e-3}]
# Rounding of float32 features decides who enters at ties only, but the inverse multiplies it.
LOOSE = {np.float32: 5e-3, np.float64: 1e-9}


def new_model(task, **case):
    if task == "regression":
        return KernelRLSRegressor(standardize_target=False, **{**SETTINGS, **case})
    return KernelRLSClassifier(**{**SETTINGS, **case})


def twin_of(model, X, y, columns=None, **others):
    """Run the twin with the parameters, frequencies and random numbers of a model."""
    names = ["features", "n_components", "selection", "novelty", "linear", "reg", "forgetting"]
    names += ["kernel", "gamma", "degree", "coef0"]
    if isinstance(model, KernelRLSClassifier):
        names += ["gate", "margin", "alpha", "beta", "weighted"]
    frequencies = None
    if model.features == "fourier":
        frequencies = model.frequencies_[:, columns] if columns is not None else model.frequencies_
    draw = np.random.RandomState(SETTINGS["random_state"]).randint(2**63 - 1, dtype=np.int64)
    return kernel_rls(
        X, y, frequencies, uniforms=iter(Generator(int(draw)).random(len(X))),
        task="regression" if isinstance(model, KernelRLSRegressor) else "classification",
        block=model._model.space.block.epoch_length,
        closing=model._model.space.block.block_length,
        **{name: getattr(model, name) for name in names}, **others,
    )  # fmt: skip


def is_twin(model, run, rows, X, tolerance):
    """Assert that scores and leverages of some samples are those of the twin."""
    assert (model.n_seen_, model._model.n_mistakes) == (run.n_seen, run.mistakes or 0)
    assert model.cumulative_loss_ == pytest.approx(run.cumulative_loss, rel=tolerance)
    assert model.n_entered_ == len(run.entered)
    scores = model._scores(rows[:40])
    np.testing.assert_allclose(scores, run.decision_function(X[:40]), atol=tolerance)
    expected = [run.answer(x)[1] for x in X[:40]]
    np.testing.assert_allclose(model.leverage(rows[:40]), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("layout", ["dense", "csr", "wide"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("task", ["binary", "three"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_classifier_is_its_twin(case, task, dtype, layout, stream, as_layout):
    X, y = stream(task, n=160)
    # All columns but a few of a wide matrix are 0.
    model = new_model(task, **{**case, **({"linear": False} if layout == "wide" else {})})
    rows = as_layout(X, layout, dtype)
    predictions = model.partial_fit_predict(rows, y, classes=np.unique(y))
    columns = np.unique(rows.indices) if layout == "wide" else None
    run = twin_of(model, X, y, columns, dtype=dtype)
    np.testing.assert_array_equal(predictions, run.predictions)
    is_twin(model, run, rows, X, LOOSE[dtype])


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", REGRESSION, ids=str)
def test_regressor_is_its_twin(case, dtype, layout, stream, as_layout):
    X, y = stream("regression", n=160)
    weight = np.arange(160) % 3 / 2
    model = new_model("regression", **case)
    rows = as_layout(X, layout, dtype)
    predictions = model.partial_fit_predict(rows, y, sample_weight=weight)
    run = twin_of(model, X, y, dtype=dtype, sample_weight=weight)
    np.testing.assert_allclose(predictions, run.predictions, atol=LOOSE[dtype])
    run.mistakes = model._model.n_mistakes
    is_twin(model, run, rows, X, LOOSE[dtype])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ridge_regression_after_many_blocks(dtype):
    # The inverse is made anew every 512 samples of these, and corrected after each 64.
    random = np.random.default_rng(0)
    X = random.standard_normal((1300, 4)).astype(dtype)
    y = np.sin(2 * X[:, 0]) + 0.1 * random.standard_normal(1300)
    model = KernelRLSRegressor(
        n_components=40, features="fourier", gamma=0.5, standardize_target=False, reg=0.1,
        random_state=0,
    )  # fmt: skip
    model.partial_fit(X, y)
    assert model._model.space.block.epoch_length < 1300
    Z = model._model.space.map.transform(X).astype(np.float64)
    ridge = Ridge(alpha=0.1, fit_intercept=False).fit(np.c_[Z, np.ones(1300)], y)
    expected = ridge.coef_ / np.abs(ridge.coef_).max()
    found = np.r_[model.coef_[0], model.intercept_] / np.abs(ridge.coef_).max()
    np.testing.assert_allclose(found, expected, atol={np.float32: 1e-4, np.float64: 1e-11}[dtype])


def cut(X, y, lengths):
    """Yield the stream in calls of these lengths, again and again."""
    first = 0
    while first < len(y):
        for length in lengths:
            yield X[first : first + length], y[first : first + length]
            first += length


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_stream_may_be_cut_anywhere(case, dtype, stream, equal):
    X, y = stream("three", n=300)
    X = X.astype(dtype)
    expected = new_model("three", **case).partial_fit(X, y, classes=np.unique(y))
    for lengths, window in [((1,), None), ((300,), 1), ((7, 64, 100), None), ((130,), 9)]:
        model = new_model("three", window=window, **case)
        for rows, labels in cut(X, y, lengths):
            if len(labels):
                model.partial_fit(rows, labels, classes=np.unique(y))
        equal(model.decision_function(X), expected.decision_function(X))
        assert model._model.n_mistakes == expected._model.n_mistakes
        equal(model.leverage(X[:9]), expected.leverage(X[:9]))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_pickle_goes_on_where_it_was(case, stream, equal):
    X, y = stream("three", n=300)
    model = new_model("three", **case).partial_fit(X[:150], y[:150], classes=np.unique(y))
    other = pickle.loads(pickle.dumps(model))
    for each in (model, other):
        each.partial_fit(X[150:], y[150:])
    equal(other.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("n", [1, 20, 170])
def test_a_failed_call_changes_nothing(case, n, stream, equal):
    X, y = stream("three", n=400)
    model = new_model("three", **case).partial_fit(X[:130], y[:130], classes=np.unique(y))
    expected = pickle.loads(pickle.dumps(model))
    model.partial_fit(X[130 : 130 + n], y[130 : 130 + n])
    model._model.undo()
    equal(model.decision_function(X), expected.decision_function(X))
    for each in (model, expected):
        each.partial_fit(X[200:], y[200:])
    equal(model.decision_function(X), expected.decision_function(X))
    equal(model.leverage(X), expected.leverage(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("begin", [31, 32, 63, 64, 95, 200])
@pytest.mark.parametrize("n", [1, 33, 65, 100])
def test_a_call_is_undone_from_any_place_in_a_block(begin, n, dtype, stream, equal):
    # A block is closed by its last sample; in its middle the one before is added to the sums.
    X, y = stream("regression", n=400)
    X = X.astype(dtype)
    model = new_model("regression").partial_fit(X[:begin], y[:begin])
    block = model._model.space.block
    assert block.count == begin % block.block_length
    before = block.get_state()
    for _ in range(2):
        model.partial_fit(X[begin : begin + n], y[begin : begin + n])
        model._model.undo()
        after = block.get_state()
        for name in before:
            equal(after[name], before[name])
    expected = new_model("regression").partial_fit(X, y)
    equal(model.partial_fit(X[begin:], y[begin:]).predict(X), expected.predict(X))


@pytest.mark.parametrize("n", [212, 250, 256])
def test_a_state_may_hold_samples_of_several_blocks(n):
    """Older files do: their sums lack up to 255 samples."""
    random = np.random.default_rng(0)
    X, y = random.standard_normal((400, 3)), random.standard_normal(400)
    make = partial(
        KernelRLSRegressor, n_components=40, features="fourier", gamma=0.5, random_state=0, reg=0.3,
        standardize_target=False,
    )  # fmt: skip
    model, rows = make(), []
    for i in range(n - 1):
        model.learn_one(X[i], y[i])
        # The row of the last sample of a block is in no state: that of a model which has no other.
        alone = make().partial_fit(X[i : i + 1], y[i : i + 1])
        rows.append(alone._model.space.block.get_state()["rows"][0])
    state = model._model.space.block.get_state()
    full = np.zeros((state["used"], state["used"]))
    np.fill_diagonal(full, 0.3)
    late = {**state, "rows": np.array(rows), "weights": np.ones((n - 1, 1)), "waiting": n - 1}
    late["matrix"] = full
    other = pickle.loads(pickle.dumps(model))
    other._model.space.block.set_state(late)
    for each in (model, other):
        each.partial_fit(X[n - 1 :], y[n - 1 :])
    found, expected = (one._model.space.block.get_state() for one in (other, model))
    assert found["waiting"] == expected["waiting"] < 100
    np.testing.assert_allclose(found["matrix"], expected["matrix"], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    ("dtype", "points", "stream_of"),
    grid(
        [np.float32, np.float64], [None, 50], [(1, "auto", 1100), (1, 0.1, 1660), (0.99, 0.1, 1100)]
    ),
)
def test_what_is_made_ahead_changes_no_bit(dtype, points, stream_of):
    """The sums of a block, its inverse and the next one are made while samples come, call by call.

    A model that is saved, called with several samples or undone has made less of them. With few
    points, landmarks join in the block in which the inverse is made anew.
    """
    forgetting, reg, n = stream_of
    random = np.random.default_rng(3)
    X = random.standard_normal((n, 3)).astype(dtype)
    if points is not None:
        X[:1480] = X[random.integers(0, points, min(n, 1480))]
    y = random.standard_normal(n)
    make = partial(
        KernelRLSRegressor, n_components=100, gamma=0.5, random_state=0, forgetting=forgetting,
        reg=reg,
    )  # fmt: skip
    rows, saved, undone = make(), make(), make()
    for i in range(len(X)):
        rows.learn_one(X[i], y[i])
        saved.learn_one(X[i], y[i])
        undone.learn_one(X[i], y[i])
        if i % 5 == 0:
            saved = pickle.loads(pickle.dumps(saved))
        if i % 7 == 0:
            undone.partial_fit(X[: 1 + i % 90], y[: 1 + i % 90])
            undone._model.undo()
        if i == 800 and points is None:  # another block has no landmark left to find
            assert rows.landmarks_.shape[0] == 100
    expected = make().partial_fit(X, y)
    wanted = expected._model.space.block.get_state()
    assert reg == "auto" or wanted["since"] < 200  # N has been made anew
    for model in (rows, saved, undone):
        np.testing.assert_array_equal(model.predict(X), expected.predict(X))
        found = model._model.space.block.get_state()
        for name in wanted:
            np.testing.assert_array_equal(found[name], wanted[name], err_msg=name)


def inverse_of(state):
    """Return the sums and N of the state of a block."""
    return [
        unpacked(name, state[name], state["used"], width)
        for name, width in (("matrix", 1), ("inverse", PANEL))
    ]


@pytest.mark.parametrize("begin", [1400, 1480, 1511, 1520, 1530])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_inverse_that_is_off_is_made_anew(dtype, begin):
    # In the last block of an epoch; or at its end, if a state of a former version says so.
    random = np.random.default_rng(3)
    X = random.standard_normal((1600, 3)).astype(dtype)
    y = random.standard_normal(1600)
    model = KernelRLSRegressor(
        n_components=100, gamma=0.5, random_state=0, reg=0.1, standardize_target=False
    )
    model.partial_fit(X[:begin], y[:begin])
    assert model._model.space.block.epoch_length == 1536
    state = model._model.space.block.get_state()
    inverse = inverse_of(state)[1]
    noise = random.standard_normal(inverse.shape) * np.sqrt(np.diag(inverse))
    state["inverse"], state["since"] = inverse + 1e-2 * (noise + noise.T), begin
    model._model.space.block.set_state(state)
    model.partial_fit(X[begin:], y[begin:])
    state = model._model.space.block.get_state()
    matrix, inverse = inverse_of(state)
    expected = np.linalg.inv(matrix)
    tolerance = {np.float32: 1e-4, np.float64: 1e-10}[dtype]
    np.testing.assert_allclose(inverse, expected, atol=tolerance * expected.max())
    w = state["vectors"] @ expected
    np.testing.assert_allclose(state["base"], w, atol=tolerance * np.abs(w).max())


@pytest.mark.parametrize("forgetting", [1, 0.999])
def test_an_inverse_is_made_anew_where_another_reg_is_chosen(forgetting):
    random = np.random.default_rng(3)
    X = random.standard_normal((640, 3))
    y = np.sin(X[:, 0]) + random.standard_normal(640)
    model = KernelRLSRegressor(n_components=100, gamma=0.5, random_state=0, forgetting=forgetting)
    changes = []
    for first in range(0, 640, 64):
        model.partial_fit(X[first : first + 64], y[first : first + 64])
        block = model._model.space.block
        changes.append((first + 64, block.sums.reg, block.since))
    reg, since = 0.1, 0
    for n, chosen, left in changes:
        due = n in (64, 128, 256, 512)
        beside = forgetting == 1 and n == 512  # then the next block ends an epoch
        anew = model._model.space.block.epoch_length - 64 if beside else 0
        since = anew if due and (chosen != reg or forgetting < 1) else since + 64
        since = 64 if since == model._model.space.block.epoch_length else since
        assert due or chosen == reg
        assert left == since
        reg = chosen
    anew = [n for n, _, left in changes if left == 0]
    assert 64 in anew
    assert (256 in anew) == (forgetting < 1)  # there r stays


def test_a_landmark_is_no_longer_one_after_undo(stream):
    X, y = stream("binary")
    model = new_model("binary").partial_fit(X[:10], y[:10], classes=np.unique(y))
    before = model.landmarks_
    model.partial_fit(X[10:], y[10:])
    assert len(model.landmarks_) == 30
    model._model.undo()
    np.testing.assert_array_equal(model.landmarks_, before)


def test_undo_of_blocks_in_which_landmarks_came(stream, equal):
    # What is multiplied in whole panels is 0 beyond the landmarks, of which there are fewer again.
    X, y = stream("regression", n=400)
    model = new_model("regression", n_components=100, linear=True).partial_fit(X[:60], y[:60])
    expected = pickle.loads(pickle.dumps(model))
    model.partial_fit(X[60:160], y[60:160])
    model._model.undo()
    for each in (model, expected):
        each.partial_fit(X[60:], y[60:])
    equal(model.predict(X), expected.predict(X))


def test_weights_are_repetitions_without_a_gate(stream):
    X, y = stream("regression")
    weight = np.random.default_rng(0).integers(0, 4, len(X))
    model = partial(new_model, "regression", reg=0.1)
    one = model().partial_fit(X, y, sample_weight=weight)
    many = model().partial_fit(np.repeat(X, weight, 0), np.repeat(y, weight))
    np.testing.assert_allclose(one.predict(X), many.predict(X), atol=1e-10)


def test_forgetting_returns_to_the_prior():
    # 2,000 samples at one place: elsewhere the variance is what it was before any sample.
    X = np.zeros((2000, 2))
    model = KernelRLSRegressor(
        n_components=10, features="fourier", gamma=1.0, forgetting=0.98, random_state=0, reg=0.5
    )
    model.partial_fit(np.eye(2), [5.0, -5.0])
    model.partial_fit(X, np.ones(2000))
    sums = model._model.space.block.sums.get_state(10)[0]
    assert np.linalg.eigvalsh(sums).min() > 0.24
    assert np.isfinite(model.predict(100 * np.eye(2))).all()


@pytest.mark.parametrize("drift", [False, True])
def test_intervals_cover_what_is_asked(drift):
    random = np.random.default_rng(1)
    n = 4000
    X = random.standard_normal((n, 3))
    y = np.sin(X[:, 0]) + (0.1 + 0.2 * (X[:, 1] > 0)) * random.standard_normal(n)
    y += 2 * drift * (np.arange(n) > n // 2) * X[:, 2]
    model = KernelRLSRegressor(n_components=50, gamma=0.3, random_state=0)
    missed = {0.5: 0, 0.9: 0}
    for first in range(0, n, 20):
        part = slice(first, first + 20)
        for coverage in missed if first > 0 else ():
            lower, upper = model.predict_interval(X[part], coverage=coverage)
            missed[coverage] += np.sum((y[part] < lower) | (y[part] > upper))
        model.partial_fit(X[part], y[part])
    for coverage, count in missed.items():
        assert 1 - count / n == pytest.approx(coverage, abs=0.03)


@pytest.mark.parametrize(("coverage", "off"), [(0.5, 0.09), (0.8, 0.075)])
def test_intervals_follow_noise_that_rises_and_falls(coverage, off):
    random = np.random.default_rng(0)
    n = 5000
    X = random.uniform(-3, 3, (n, 2))
    noise = 0.3 * np.exp(1.2 * np.sin(2 * np.pi * np.arange(n) / 2000))
    y = np.sin(X[:, 0]) + noise * random.standard_normal(n)
    model = KernelRLSRegressor(n_components=50, random_state=0)
    held = np.ones(n)
    for first in range(0, n, 10):
        part = slice(first, first + 10)
        if first > 0:
            lower, upper = model.predict_interval(X[part], coverage=coverage)
            held[part] = (lower <= y[part]) & (y[part] <= upper)
        model.partial_fit(X[part], y[part])
    shares = np.convolve(held[500:], np.ones(1000) / 1000, "valid")
    assert np.abs(shares - coverage).max() < off


@pytest.mark.parametrize(("coverage", "enough"), [(0.5, 2), (0.8, 5), (0.9, 10), (0.999, 513)])
@pytest.mark.parametrize("standardize", [True, False])
def test_intervals_are_infinite_as_long_as_residuals_are_too_few(coverage, enough, standardize):
    random = np.random.default_rng(3)
    X = random.standard_normal((600, 2))
    y = X[:, 0] + 0.3 * random.standard_normal(600)
    model = KernelRLSRegressor(n_components=20, standardize_target=standardize, random_state=0)
    assert (model.fit(X[:1], y[:1]).predict_interval(X[:3], coverage)[0] == -np.inf).all()
    for k in range(1, enough - 1):
        model.learn_one(X[k], y[k])
    model.partial_fit(X[:9], y[:9], np.zeros(9))  # they tell nothing
    for sides in zip(model.predict_interval(X[:3], coverage), (-np.inf, np.inf), strict=True):
        np.testing.assert_array_equal(*sides)
    several = KernelRLSRegressor(n_components=20, random_state=0)
    several.fit(X[: enough - 1], np.column_stack([y, -y])[: enough - 1])
    assert np.isinf(several.predict_interval(X[:3], coverage)).all()
    model.learn_one(X[enough], y[enough])
    lower, upper = model.predict_interval(X[:3], coverage)
    assert (upper > lower).all()
    assert np.isfinite(upper - lower).all()


def test_the_spread_is_that_of_the_targets():
    random = np.random.default_rng(2)
    X = random.standard_normal((3000, 2))
    y = X[:, 0] + 0.5 * random.standard_normal(3000)
    model = KernelRLSRegressor(n_components=30, random_state=0).fit(X, y)
    assert model.noise_ == pytest.approx(0.5, rel=0.1)
    predictions, std = model.predict([[0.0, 0.0], [30.0, 0.0]], return_std=True)
    np.testing.assert_array_equal(predictions, model.predict([[0.0, 0.0], [30.0, 0.0]]))
    assert std[0] == pytest.approx(0.5, rel=0.12)
    assert std[1] > std[0]
    assert std == pytest.approx(model.noise_ * np.sqrt(1 + model.leverage([[0, 0], [30, 0]])))
    for coverage in (0, 1, "all", 1.5):
        with pytest.raises(ValueError, match="coverage must be in"):
            model.predict_interval(X, coverage=coverage)


def test_wrong_parameters_are_named(stream):
    X, y = stream("binary")
    for wrong, message in [
        (
            {"alpha": 2.0, "beta": 1.0, "gate": "loss_proportional"},
            "beta must be at least alpha .* got alpha=2",
        ),
        ({"features": "fourier", "kernel": "polynomial"}, "one of the kernels gaussian, laplacian"),
        ({"features": "fourier", "n_components": 5}, "n_components must be even"),
        ({"forgetting": 0.0}, "forgetting"),
        ({"novelty": 1.0}, "novelty"),
    ]:
        with pytest.raises(ValueError, match=message):
            new_model("binary", **wrong).fit(X, y)
    model = new_model("binary").fit(X, y)
    with pytest.raises(AttributeError, match="frequencies_ is there with features='fourier' only"):
        _ = model.frequencies_
    with pytest.raises(ValueError, match="'selection' parameter"):
        new_model("regression", selection="margin").fit(X, np.arange(len(X)))


def test_a_lot_needs_fewer_samples_than_the_margin(stream):
    X, y = stream("binary", n=600)
    entered = []
    for case in ({}, {"gate": "loss_proportional"}, {"gate": "loss_proportional", "beta": 3.0}):
        model = new_model("binary", **case).partial_fit(X, y, classes=np.unique(y))
        entered.append(model.n_entered_)
    assert entered == sorted(entered, reverse=True)
    assert entered[2] < entered[0] / 2


def test_parameters_of_the_gate_may_change_in_mid_stream(stream):
    X, y = stream("binary", n=200)
    model = new_model("binary", margin=1e-9).partial_fit(X, y, classes=np.unique(y))
    before = model.n_entered_
    model.set_params(gate="always").partial_fit(X[:30], y[:30])
    assert model.n_entered_ == before + 30


def test_small_reg_is_learnt_in_double(stream):
    X, y = stream("regression", n=300)
    model = new_model("regression", reg=1e-6, n_components=20)
    single = pickle.loads(pickle.dumps(model)).partial_fit(X.astype(np.float32), y)
    assert single._model.space.block.itemsize == 8
    double = model.partial_fit(X, y)
    np.testing.assert_allclose(single.predict(X[:50].astype(np.float32)), double.predict(X[:50]),
                               atol=0.01)  # fmt: skip


@pytest.mark.parametrize("case", [{}, {"gate": "always"}, {"forgetting": 0.99}], ids=str)
@pytest.mark.filterwarnings("ignore:the scales of the features differ")
def test_float32_goes_on_in_double_where_samples_are_large(case, stream, equal):
    X, y = stream("three", n=300)
    X[140:] *= [1, 1e3, 1, 1e5, 1, 1]
    X = X.astype(np.float32)
    classes = {"classes": np.unique(y)}
    model = new_model("three", **case).partial_fit(X[:140], y[:140], **classes)
    assert model._model.space.block.itemsize == 4
    before = pickle.loads(pickle.dumps(model))
    model.partial_fit(X[140:], y[140:])
    assert model._model.space.block.itemsize == 8
    model._model.undo()
    assert model._model.space.block.itemsize == 4
    equal(model.decision_function(X[:140]), before.decision_function(X[:140]))
    model.partial_fit(X[140:], y[140:])
    whole = new_model("three", **case).partial_fit(X, y, **classes)
    single = new_model("three", **case)
    for x, label in zip(X, y, strict=True):
        single.learn_one(x, label, **classes)
    for other in (whole, single, pickle.loads(pickle.dumps(model))):
        equal(other.decision_function(X), model.decision_function(X))
        equal(other.leverage(X), model.leverage(X))
    double = new_model("three", **case).partial_fit(X.astype(np.float64), y, **classes)
    assert model.n_mistakes_ == pytest.approx(double.n_mistakes_, abs=3)


def test_sparse_landmarks(stream):
    X, y = stream("binary")
    model = new_model("binary", linear=False).fit(sparse.csr_matrix(X), y)
    assert sparse.issparse(model.landmarks_)
    assert model.landmarks_.shape == (30, 6)


def test_the_linear_part_of_a_wide_matrix_is_too_large():
    X = sparse.random(9, 300_000, density=1e-4, format="csr", random_state=0)
    with pytest.raises(MemoryError, match="use linear='auto' for so many features"):
        KernelRLSRegressor(linear=True).fit(X, np.arange(9))


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_samples_of_many_features_are_left_out(layout, equal):
    # With them, 300 rows of 10,000 features take minutes.
    random = np.random.default_rng(0)
    for width, linear in ((512, True), (513, False), (10_000, False)):
        X = sparse.random(90, width, density=0.02, format="csr", random_state=0)
        X.data += 1  # the scales of the features differ little
        X, y = X if layout == "csr" else X.toarray(), random.standard_normal(90)
        model = KernelRLSRegressor(n_components=20, random_state=0).partial_fit(X, y)
        expected = KernelRLSRegressor(n_components=20, random_state=0, linear=linear)
        equal(model.predict(X), expected.partial_fit(X, y).predict(X))
        assert model.coef_.shape == (1, linear * width + 20)
        assert model._n_bytes(Form(width, 1, 8, True)) < 2**25
        equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


@pytest.mark.parametrize(("noise", "reg"), [(0.01, 0.03), (3.0, 3.0)])
def test_reg_follows_the_noise(noise, reg):
    random = np.random.default_rng(0)
    X = random.standard_normal((600, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + noise * random.standard_normal(600)
    model = KernelRLSRegressor(random_state=0).partial_fit(X, y)
    assert model.reg_ <= reg if noise < 1 else model.reg_ >= reg
    given = KernelRLSRegressor(random_state=0, reg=0.7).partial_fit(X, y)
    assert given.reg_ == 0.7


def test_noisy_rows_are_predicted_as_well_as_by_ridge_regression():
    errors = {"auto": [], "0.1": [], "ridge": []}
    for seed in range(5):
        random = np.random.default_rng(seed)
        X, w = random.standard_normal((1300, 10)), random.standard_normal(10)
        y = X @ w + 3 * random.standard_normal(1300)
        given = KernelRLSRegressor(random_state=0, reg=0.1)
        models = KernelRLSRegressor(random_state=0), given, Ridge()
        for name, model in zip(errors, models, strict=True):
            model.fit(X[:300], y[:300])
            errors[name].append(np.mean((model.predict(X[300:]) - y[300:]) ** 2))
    best = np.mean(errors["ridge"])
    assert np.mean(errors["auto"]) < 1.06 * best
    assert np.mean(errors["0.1"]) > 1.3 * best


def test_reg_of_classes_follows_the_noise():
    random = np.random.default_rng(0)
    X = random.standard_normal((900, 5))
    f = np.sin(2 * X[:, 0]) + X[:, 1]
    regs = []
    for noise in (0.01, 3.0):
        y = f + noise * random.standard_normal(900) > 0
        new = partial(KernelRLSClassifier, random_state=0, reg="auto")
        model = new().partial_fit(X, y, classes=[False, True])
        again = pickle.loads(pickle.dumps(model))
        whole = new().partial_fit(X[:700], y[:700], classes=[False, True])
        whole = from_bytes(to_bytes(whole), "a file").partial_fit(X[700:], y[700:])
        assert model.reg_ == again.reg_ == whole.reg_
        assert np.array_equal(model.decision_function(X), whole.decision_function(X))
        regs.append(model.reg_)
    assert regs[0] < 0.1 < regs[1]
    assert KernelRLSClassifier(random_state=0).fit(X, y).reg_ == 0.1


@pytest.mark.parametrize("linear", [True, False])
@pytest.mark.parametrize("metric", ["none", "diagonal"])
def test_reg_goes_on_with_more_classes(metric, linear):
    X = np.random.default_rng(0).standard_normal((700, 4))
    y = np.digitize(np.sin(X[:, 0]) + X[:, 1], [-0.5, 0.5, 1.5])
    first = np.flatnonzero(y[:300] < 2)
    new = partial(KernelRLSClassifier, random_state=0, gate="always", metric=metric, linear=linear)
    model, known = new(reg="auto"), new(reg="auto")
    model.partial_fit(X[first], y[first], classes=[0, 1])
    model.partial_fit(X[300:], y[300:], classes=[0, 1, 2, 3])
    known.partial_fit(X[first], y[first], classes=[0, 1, 2, 3])
    known.partial_fit(X[300:], y[300:])
    found, expected = (each._model.space.block.evidence.get_state() for each in (model, known))
    if linear:
        np.testing.assert_allclose(found, expected)
    else:  # of the classes that were not there the targets were 0, until all is learnt anew
        np.testing.assert_allclose(found[[0, 1, 4, 5]], expected[[0, 1, 4, 5]])
        assert (found[2:4] < expected[2:4]).all() == (metric == "none")
    assert again_is_same(model, X)


def again_is_same(model, X):
    """Return whether a model that has been saved goes on with the same reg and scores."""
    loaded = from_bytes(to_bytes(model), "a file")
    same = np.array_equal(loaded.decision_function(X), model.decision_function(X))
    return same and loaded.reg_ == model.reg_


def test_landmarks_that_join_after_choices_of_reg_are_those_of_a_pickle():
    """Steps of r leave no rounding where no sample has a feature yet: files hold none of these."""
    random = np.random.default_rng(10)
    points = np.minimum(5 + np.arange(300) // 4, 80)
    X = random.standard_normal((80, 3))[(random.random(300) * points).astype(int)]
    noise = np.repeat([1.5, 0.01], [70, 230]) * random.standard_normal(300)
    y = 2 * np.sin(X[:, 0]) + noise
    model = KernelRLSRegressor(n_components=80, gamma=0.5, linear=False, random_state=0)
    other, chosen = model.partial_fit(X[:20], y[:20]), set()
    for first in range(20, 300, 20):
        other = pickle.loads(pickle.dumps(other))
        for each in (model, other):
            each.partial_fit(X[first : first + 20], y[first : first + 20])
        chosen.add(model.reg_)
        found, expected = (each._model.space.block.get_state() for each in (other, model))
        np.testing.assert_array_equal(found["matrix"], expected["matrix"])
    assert len(chosen) > 2


@pytest.mark.parametrize("forgetting", [1.0, 0.995])
def test_the_choice_of_reg_does_not_depend_on_calls(forgetting, stream, equal):
    X, y = stream("regression", n=400)
    new = partial(new_model, "regression", forgetting=forgetting, reg="auto")
    whole = new().partial_fit(X, y)
    assert whole.reg_ != 0.1
    for lengths in [(1,), (7, 64, 100)]:
        model = new()
        for rows, targets in cut(X, y, lengths):
            if len(targets):
                model.partial_fit(rows, targets)
        assert model.reg_ == whole.reg_
        equal(model.predict(X), whole.predict(X))
    # A choice is undone, and a pickle makes the next one.
    model = new().partial_fit(X[:120], y[:120])
    before, other = model.reg_, pickle.loads(pickle.dumps(model))
    model.partial_fit(X[120:], y[120:])
    model._model.undo()
    assert model.reg_ == before
    for each in (model, other):
        equal(each.partial_fit(X[120:], y[120:]).predict(X), whole.predict(X))
