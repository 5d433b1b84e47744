"""Regressors learn targets in units of their own: any mean and scale of y are one and the same."""

import copy
import pickle

import numpy as np
import pytest
from learners import NAMES, build, learn, learn_each
from oracles import targets as oracle
from sklearn.base import clone

from onlinekern import (
    AROWRegressor,
    KernelForestRegressor,
    KernelOGDRegressor,
    KernelRLSRegressor,
    KRLSTRegressor,
    OGDRegressor,
    OLLARegressor,
    PARegressor,
    SPARegressor,
    StreamRegressor,
    all_estimators,
)
from onlinekern.core import HEADS
from onlinekern.core.stream import restore

# The experts of a race standardise targets, each for itself; a forest does so when it is renewed.
WITHOUT = (KernelForestRegressor, PARegressor, StreamRegressor)
CLASSES = {name: cls for name, cls in all_estimators("regressor") if cls not in WITHOUT}
ONLINE = [name for name in CLASSES if name in NAMES]


@pytest.fixture
def regression(stream):
    """Return 120 samples."""
    return stream("regression", n=120)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.filterwarnings("ignore")
def test_any_mean_and_scale_give_the_same_model(name, regression):
    X, y = regression
    one = CLASSES[name](random_state=0).fit(X, y)
    other = CLASSES[name](random_state=0).fit(X, 4096 + 1024 * y)
    scale = one.target_scale_
    np.testing.assert_allclose((other.predict(X) - 4096) / 1024, one.predict(X), atol=1e-7 * scale)
    np.testing.assert_allclose(other.target_mean_, 4096 + 1024 * one.target_mean_)
    np.testing.assert_allclose(other.target_scale_, 1024 * scale)


@pytest.mark.parametrize("forgetting", [1.0, 0.9])
@pytest.mark.parametrize("weighted", [False, True])
def test_mean_and_scale_are_those_of_the_oracle(forgetting, weighted, regression):
    X, y = regression
    y = 1000 + y
    weights = np.random.default_rng(0).choice([0.5, 1.0, 3.0], 120) if weighted else np.ones(120)
    model = KernelRLSRegressor(forgetting=forgetting, random_state=0, n_components=20)
    model.partial_fit(X, y, sample_weight=weights)
    found = model.target_mean_, model.target_scale_
    np.testing.assert_allclose(found, oracle.statistics(y, weights, forgetting))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        OGDRegressor(eta=0.05),
        OGDRegressor(loss="epsilon_insensitive", eta=0.05, average=True),
        AROWRegressor(covariance="full"),
        KernelOGDRegressor(gamma=0.4, reg=0.1),
        SPARegressor(gamma=0.4, random_state=0),
        KernelRLSRegressor(gamma=0.4, n_components=20, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_rule_sees_the_targets_of_the_oracle(model, weighted, regression):
    """The same learner, told not to standardise, learns what the oracle has standardised."""
    X, y = regression
    y = 50 + 7 * y
    weights = np.random.default_rng(1).choice([0.5, 1.0, 3.0], 120) if weighted else np.ones(120)
    plain = clone(model).set_params(standardize_target=False)
    model = clone(model)
    given = oracle.learnt(y, weights)
    scores = plain.partial_fit_predict(X, given, sample_weight=weights)
    predictions = model.partial_fit_predict(X, y, sample_weight=weights)
    np.testing.assert_allclose(predictions, oracle.predictions(scores, y, weights), rtol=1e-9)
    mean, scale = oracle.statistics(y, weights)
    expected = mean + scale * plain.predict(X)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-9)
    np.testing.assert_allclose(model.score_one(X[5]), expected[5], rtol=1e-9)
    np.testing.assert_allclose(model.cumulative_loss_, plain.cumulative_loss_, rtol=1e-9)


# Rows of outliers, and these: the first two tell of no outlier, a third does, and later ones are
# bounded, unless they go on; 0 and 1 are no outliers.
OUTLIERS = {
    "first": ([0], 1e8),
    "second": ([1], -1e6),
    "fifth": ([5], 1e8),
    "some": ([3, 40, 41, 90], -1e5),
    "level": (list(range(70, 120)), 1e5),
    "rare": (None, 1.0),
}


@pytest.mark.parametrize("forgetting", [1.0, 0.9])
@pytest.mark.parametrize("case", OUTLIERS)
def test_targets_within_reach_are_those_of_the_oracle(case, forgetting, regression, equal):
    X, y = regression
    rows, off = OUTLIERS[case]
    y = np.where(np.arange(120) % 40 == 1, off, 0.0) if rows is None else 50 + y
    y[rows or []] = off
    settings = {"forgetting": forgetting, "n_components": 20, "random_state": 0}
    model = KernelRLSRegressor(**settings)
    plain = KernelRLSRegressor(standardize_target=False, **settings)
    given = oracle.learnt(y, np.ones(120), forgetting)
    scores = plain.partial_fit_predict(X, given)
    predictions = oracle.predictions(scores, y, np.ones(120), forgetting)
    found = model.partial_fit_predict(X, y)
    np.testing.assert_allclose(found, predictions, rtol=1e-5, atol=1e-6 * np.abs(off))
    assert np.abs(given).max() <= 30
    if rows is None:
        mean, scale = oracle.statistics(y, np.ones(120), forgetting)
        np.testing.assert_allclose([model.target_mean_, model.target_scale_], [mean, scale])
    each = KernelRLSRegressor(**settings)
    for x, target in zip(X, y, strict=True):
        each.learn_one(x, target)
    equal(each.predict(X), model.predict(X))


@pytest.mark.parametrize("cls", [KernelRLSRegressor, KernelForestRegressor, StreamRegressor])
@pytest.mark.parametrize("row", [0, 1, 5, 300])
@pytest.mark.parametrize("off", [1e4, -1e8])
def test_one_target_far_off_is_no_end_of_a_stream(cls, row, off):
    rng = np.random.default_rng(row)
    X = rng.normal(size=(900, 4))
    f = 100 + np.sin(2 * X[:, 0]) + X[:, 1]
    y = f + 0.1 * rng.normal(size=900)
    errors = []
    for given in (y, np.where(np.arange(900) == row, off, y)):
        model = cls(random_state=0).fit(X[:600], given[:600])
        errors.append(np.sqrt(np.mean((model.predict(X[600:]) - f[600:]) ** 2)) / f.std())
    # Before, least squares and forests were off by some thousand deviations.
    assert errors[1] < 5 * errors[0]
    assert errors[1] < 0.5


@pytest.mark.parametrize("name", ["AROWRegressor", "KernelRLSRegressor", "OGDRegressor"])
@pytest.mark.parametrize("change", ["level", "unit"])
def test_targets_that_stay_far_off_are_learnt_as_they_are(name, change):
    """A sensor that works from row 500 on: its first targets alone are seen as less far ones."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    later = np.arange(600) >= 500
    works = 1e3 + X[:, 0] if change == "level" else 1e6 * (1 + X[:, 0])
    y = np.where(later, works, 1e-3 * rng.normal(size=600))
    model = CLASSES[name]().partial_fit(X, y)
    # With a bound for each of them it was .91 and .79 of it.
    np.testing.assert_allclose(model.target_scale_, y.std(), rtol=0.02)


def test_several_targets_of_which_one_forgets_an_outlier_are_saved_as_they_are(equal):
    X = np.random.default_rng(0).normal(size=(400, 3))
    y = np.c_[X[:, 0], 1000 + X[:, 1]]
    y[0, 1] = 1e9
    model = KernelRLSRegressor(random_state=0).partial_fit(X[:300], y[:300])
    copied = pickle.loads(pickle.dumps(model))
    for each in (model, copied):
        each.partial_fit(X[300:], y[300:])
    equal(copied.predict(X), model.predict(X))
    equal(copied.target_scale_, model.target_scale_)
    np.testing.assert_allclose(model.target_scale_[1], y[1:, 1].std())


@pytest.mark.parametrize("name", ONLINE)
def test_any_way_to_learn_gives_the_same_units(name, regression, same_state, equal):
    X, y = regression
    y = 1e3 * y - 70
    whole, parts = build(name), build(name)
    predictions = learn(whole, X, y)[0]
    equal(np.concatenate(learn(parts, X, y, [1, 30, 31])), predictions)
    same_state(parts, whole)
    same_state(learn_each(build(name), X, y), whole)
    other = pickle.loads(pickle.dumps(whole))
    equal(other.predict(X), whole.predict(X))
    assert whole.target_scale_ > 100 or name == "PARegressor"


def test_predictions_are_of_the_units_before(regression):
    X, y = regression
    model = OGDRegressor(eta=1e-9)  # learns nothing
    found = model.partial_fit_predict(X, 100 + y)
    means = np.cumsum(100 + y)[:-1] / np.arange(1, 120)
    np.testing.assert_allclose(found, [0, *means], atol=1e-6)
    scores = np.zeros((120, 1))
    again = OGDRegressor(eta=1e-9).partial_fit(X[:1], y[:1] + 100)
    again._model.learn(X[1:], 100 + y[1:], scores=scores[1:])
    np.testing.assert_allclose(scores[1:, 0], means, atol=1e-6)


@pytest.mark.parametrize("y", [np.zeros(20), np.full(20, 0.1), np.full(20, -3e9)])
def test_equal_targets_have_no_scale(y, regression):
    X = regression[0][:20]
    for model in (SPARegressor(), KernelRLSRegressor(), OLLARegressor(), KRLSTRegressor()):
        model.fit(X, y)
        assert model.target_scale_ == 1
        np.testing.assert_allclose(model.predict(X), y, rtol=1e-15)


def test_a_weight_beside_which_those_before_are_nothing():
    """What such a target adds to the squares is 0, and by rounding may be less."""
    for seed in range(20):
        y = np.random.default_rng(seed).normal(size=5)
        model = AROWRegressor()
        model.partial_fit(np.ones((5, 1)), y, sample_weight=np.array([1e-30] * 4 + [1.0]))
        assert model.target_mean_ == pytest.approx(y[-1])
        assert model.target_scale_ > 0


@pytest.mark.parametrize("y", [[1e308, -1e308], [1e200, 0.0], [1e308, 1e308, -1e308]])
def test_targets_beyond_numbers_fail_and_change_nothing(y, regression, same_state):
    X = regression[0][: len(y)]
    model = SPARegressor(random_state=0).partial_fit(X[:1], [1.0])
    before = copy.deepcopy(model)
    with pytest.raises(FloatingPointError):
        model.partial_fit(X, y)
    same_state(model, before)


@pytest.mark.parametrize("standardize", [True, False])
def test_attributes_are_in_the_units_of_the_targets(standardize, regression):
    X, y = regression
    y = 30 + 5 * y
    linear = OGDRegressor(eta=0.01, standardize_target=standardize).fit(X, y)
    np.testing.assert_allclose(X @ linear.coef_ + linear.intercept_, linear.predict(X))
    kernel = KernelOGDRegressor(gamma=0.4, standardize_target=standardize, random_state=0)
    kernel.fit(X, y)
    distances = ((X[:, None] - kernel.support_vectors_) ** 2).sum(axis=2)
    values = np.exp(-0.4 * distances) @ kernel.dual_coef_[0]
    np.testing.assert_allclose(kernel.target_mean_ + values, kernel.predict(X))
    batch = OLLARegressor(gamma=0.4, standardize_target=standardize, random_state=0).fit(X, y)
    distances = ((X[:, None] - batch.support_vectors_) ** 2).sum(axis=2)
    values = np.exp(-0.4 * distances) @ batch.dual_coef_[0] + batch.intercept_
    np.testing.assert_allclose(values, batch.predict(X))


@pytest.mark.parametrize("cls", [KernelRLSRegressor, KRLSTRegressor])
def test_deviations_are_in_the_units_of_the_targets(cls, regression):
    X, y = regression
    found = []
    for unit in (1, 1024):
        model = cls(random_state=0, gamma=0.4).fit(X, unit * y)
        found.append([values / unit for values in model.predict(X, return_std=True)])
        if cls is KernelRLSRegressor:
            found[-1] += [values / unit for values in model.predict_interval(X)]
            found[-1].append(model.noise_ / unit)
        else:
            found[-1].append(model.signal_power_ / unit**2)
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("selection", ["shuffled", "max_violator"])
def test_a_batch_learner_knows_all_targets(selection, regression):
    X, y = regression
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.0], 120)
    mean, scale = oracle.statistics(y, weights)
    settings = {"gamma": 0.4, "selection": selection, "random_state": 0}
    model = OLLARegressor(**settings).fit(X, 9 * y, sample_weight=weights)
    assert model.target_mean_ == pytest.approx(9 * mean)
    assert model.target_scale_ == pytest.approx(9 * scale)
    plain = OLLARegressor(**settings, standardize_target=False)
    plain.fit(X, (y - mean) / scale, sample_weight=weights)
    np.testing.assert_allclose(model.predict(X), 9 * (mean + scale * plain.predict(X)), rtol=1e-6)


def test_an_older_model_learns_targets_as_they_are(regression):
    X, y = regression
    model = SPARegressor(standardize_target=False, random_state=0).fit(X, y)
    state = model.__getstate__()
    del state["standardize_target"]
    older = SPARegressor()
    older.__setstate__(state)
    assert older.standardize_target is False
    np.testing.assert_array_equal(older.partial_fit(X, y).predict(X),
                                  model.partial_fit(X, y).predict(X))  # fmt: skip
    assert PARegressor().standardize_target is False
    assert "standardize_target" not in PARegressor().get_params()


def test_a_wrong_state_is_refused(regression):
    X, y = regression
    model = OGDRegressor(eta=0.01).fit(X, y)._model
    parts = model.space, model.head, model.rule, model.sampler, model.rng, model.d, model.dtype
    good = (False, 120.0, 1.0, 4.0, 2.0)
    assert restore(parts, 1, 0, 0.0, None, good).target_scale == 2
    for place, value in [(0, 1), (1, -1.0), (2, np.nan), (3, -2.0), (4, 0.0), (4, np.inf)]:
        wrong = (*good[:place], value, *good[place + 1 :])
        with pytest.raises((ValueError, TypeError)):
            restore(parts, 1, 0, 0.0, None, wrong)
    with pytest.raises(TypeError, match="targets must be a tuple"):
        restore(parts, 1, 0, 0.0)
    for forgetting in (0.0, 1.5, np.nan):
        with pytest.raises(ValueError, match="forgetting must be"):
            HEADS["standardized"](forgetting)
