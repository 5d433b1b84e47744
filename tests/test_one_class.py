"""One-class SPA: its scores are its twin's, its offset is the promised quantile."""

import copy
import pickle

import numpy as np
import pytest
from grids import grid
from learners import normals_and_outliers
from oracles.algorithms import spa_one_class
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.svm import OneClassSVM

from onlinekern import KernelMeanDetector, SPAOneClass
from onlinekern.core.base.random import Generator
from onlinekern.estimators.outliers import RecentQuantile
from onlinekern.fitted.merge.merging import merged_quantile
from onlinekern.fitted.merge.mix import Mix

LAYOUTS = ["dense", "csr", "wide"]
SEED = 3


def uniforms(n):
    seed = np.random.RandomState(SEED).randint(np.iinfo(np.int64).max, dtype=np.int64)
    return iter(Generator(seed).random(n))


def parts_of(model):
    recent = model._recent
    return model.dual_coef_, recent.values, recent.count, recent.quantile, model.n_seen_


@pytest.fixture
def X(stream):
    return stream("regression", n=300)[0]


@pytest.mark.parametrize(
    ("average", "dtype", "layout", "window"),
    grid([False, True], [np.float32, np.float64], LAYOUTS, [1, 7, None]),
)
def test_twin(X, average, dtype, layout, window, as_layout, close):
    settings = {"eta": 0.3, "alpha": 0.7, "beta": 1.5, "gamma": 0.4, "average": average}
    rows = as_layout(X.astype(dtype), layout)
    model = SPAOneClass(**settings, window=window, random_state=SEED).partial_fit(rows)
    dense = np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray())
    expected = spa_one_class(dense.astype(np.float64), uniforms=uniforms(len(X)), **settings)
    assert 0 < model.n_support_ == len(expected.support) < len(X)
    close(model.dual_coef_, expected.dual_coef, dtype)
    close(model._recent.values[: len(X)], expected.predictions, dtype)
    assert model.cumulative_loss_ == pytest.approx(expected.cumulative_loss, rel=1e-4)


@pytest.mark.parametrize("contamination", [0.02, 0.1, 0.5])
def test_offset_after_fit(X, contamination):
    model = SPAOneClass(gamma=0.4, contamination=contamination, random_state=0).fit(X)
    level = np.quantile(model.score_samples(X), contamination, method="weibull")
    assert model.offset_ == level
    assert np.mean(model.predict(X) == -1) == pytest.approx(contamination, abs=1 / len(X))
    assert np.array_equal(model.predict(X) == -1, model.decision_function(X) < 0)


def changed(model):
    """Return the parameters that are not the defaults."""
    usual = type(model)().get_params()
    return {key: value for key, value in model.get_params().items() if value != usual[key]}


def test_score_one_is_the_decision_function(X):
    model = SPAOneClass(gamma=0.4, random_state=0).fit(X)
    np.testing.assert_array_equal([model.score_one(x) for x in X], model.decision_function(X))


def naive_step(seen):
    """Return how many numbers are between updates: powers of 2, a 32nd to a 16th of them."""
    return next(step for step in (128, 64, 32, 16, 8, 4, 2, 1) if seen >= 16 * step or step == 1)


def naive_level(newest, seen, fraction, odds=False):
    """Return the quantile around a line in the middle of the next numbers.

    The line is in 1 / t, or of logarithms of odds in that of t.
    """
    n = len(newest)
    if n < 8:
        return np.quantile(newest, fraction, method="weibull")
    if odds:
        newest = np.log(newest / (1 - newest))
    time_of = np.log if odds else np.reciprocal
    times = time_of(np.arange(seen - n + 1.0, seen + 1))
    # In units of their spread, so that the equations are well conditioned.
    unit = times.std()
    low, high = np.quantile(newest, [0.1, 0.9], method="weibull")
    near = np.clip(newest, low - 3 * (high - low), high + 3 * (high - low))
    slope, level = np.polyfit((times - times.mean()) / unit, near, 1)
    rests = newest - level - slope * (times - times.mean()) / unit
    ahead = (time_of(seen + (naive_step(seen) + 1) / 2) - times.mean()) / unit
    wider = np.sqrt((1 + (1 + ahead**2) / n) / (1 - 2 / n))
    found = level + slope * ahead + wider * np.quantile(rests, fraction, method="weibull")
    found = min(found, near[-(n // 8) :].mean())
    return 1 / (1 + np.exp(-found)) if odds else found


def naive_quantiles(scores, fraction, odds):
    """Return the quantile before each score, and after the last one."""
    before, quantile = [], 0.0
    for t in range(len(scores)):
        before.append(quantile)
        seen = t + 1
        if seen % naive_step(seen) == 0:
            newest = scores[max(seen // 2, seen - 1024) : seen]
            quantile = naive_level(newest, seen, fraction, odds)
    return np.array(before), quantile


@pytest.mark.parametrize("odds", [False, True])
@pytest.mark.parametrize("cuts", [[], [1, 2, 3, 64, 65, 127, 1000, 2500], list(range(1, 3000))])
def test_recent_quantile(cuts, odds):
    scores = np.random.default_rng(0).standard_normal(3000).cumsum()
    if odds:
        scores = 1 / (1 + np.exp(-scores / 10))
    recent, whole = RecentQuantile(0.2, odds), RecentQuantile(0.2, odds)
    found = np.concatenate([recent.append(part) for part in np.split(scores, cuts)])
    assert np.array_equal(found, whole.append(scores))
    expected, last = naive_quantiles(scores, 0.2, odds)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert recent.quantile == whole.quantile == pytest.approx(last, rel=1e-9)


def test_equal_numbers_have_no_trend():
    """And those that creep towards a limit, one by one, are not below what the next ones have."""
    for numbers in (np.full(3000, 0.1), 1 - 1 / np.arange(1, 3001) ** 0.7):
        recent = RecentQuantile(0.05)
        assert (numbers >= recent.append(numbers))[1:].all()
    leverages = RecentQuantile(0.05, odds=True)
    leverages.append(np.ones(3000))
    assert 0.999999 < leverages.quantile < 1


def test_any_split(X):
    whole, parts, single = (SPAOneClass(gamma=0.4, random_state=0) for _ in range(3))
    predictions = whole.partial_fit_predict(X)
    assert set(predictions) == {-1, 1}
    found = [parts.partial_fit_predict(part) for part in np.split(X, [1, 50, 177])]
    assert np.array_equal(np.concatenate(found), predictions)
    for row in X:
        single.learn_one(row)
    for model in (parts, single):
        for actual, expected in zip(parts_of(model), parts_of(whole), strict=True):
            assert np.array_equal(actual, expected)
    twin = pickle.loads(pickle.dumps(parts))
    assert np.array_equal(twin.partial_fit_predict(X), whole.partial_fit_predict(X))


def test_offset_follows_the_stream():
    rng = np.random.default_rng(0)
    model = SPAOneClass(gamma=0.5, contamination=0.05, random_state=0)
    model.partial_fit(rng.standard_normal((3000, 2)))
    assert model.predict([[6.0, 6.0]]) == [-1]
    found = model.partial_fit_predict(6 + rng.standard_normal((6000, 2)))
    assert (found[:20] == -1).mean() > 0.5
    assert np.mean(found[-2000:] == -1) == pytest.approx(0.05, abs=0.04)
    assert model.predict([[6.0, 6.0]]) == [1]


@pytest.mark.parametrize("detector", [SPAOneClass, KernelMeanDetector])
def test_finds_the_share_among_others(detector):
    rng = np.random.default_rng(0)
    model = detector(contamination=0.05, random_state=0)
    found = model.partial_fit_predict(rng.standard_normal((1024, 2)))
    assert np.mean(found == -1) == pytest.approx(0.05, abs=0.03)
    others = model.predict(rng.standard_normal((4000, 2)))
    assert np.mean(others == -1) == pytest.approx(0.05, abs=0.025)


@pytest.mark.parametrize("scale", [1e6, 1e100])
@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
def test_a_few_rows_far_away_do_not_decide(kernel, scale):
    """Scores of these kernels have no bound: those of a hundredth of the rows are far from all."""
    scale = min(scale, 1e30) if kernel == "polynomial" else scale
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((600, 3))
        X[::97] *= scale
        model = SPAOneClass(kernel=kernel, random_state=seed).partial_fit(X)
        others = rng.standard_normal((4000, 3))
        assert -100 < model.offset_ < 1
        assert 0.02 < np.mean(model.predict(others) == -1) < 0.2


@pytest.mark.parametrize("n_features", [2, 20])
@pytest.mark.parametrize(
    "detector",
    [
        SPAOneClass(),
        KernelMeanDetector(),
        KernelMeanDetector(statistic="leverage"),
        KernelMeanDetector(statistic="leverage", n_components=50),
        KernelMeanDetector(statistic="leverage", features="nystroem"),
    ],
    ids=lambda model: "-".join([type(model).__name__, *map(str, changed(model).values())]),
)
def test_a_stream_finds_the_share_among_others(detector, n_features):
    """Though the model knew less when it scored its samples: leverages fall like 1 / t."""
    shares = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        model = clone(detector).set_params(contamination=0.05, random_state=seed)
        for n in (110, 190, 301, 600):
            model.partial_fit(rng.standard_normal((n, n_features)))
            others = rng.standard_normal((2000, n_features))
            shares.append(np.mean(model.predict(others) == -1))
    assert np.mean(shares) == pytest.approx(0.05, abs=0.015)


@pytest.mark.parametrize("n_features", [2, 20, 60])
@pytest.mark.parametrize(
    "detector",
    [
        SPAOneClass(),
        KernelMeanDetector(),
        KernelMeanDetector(features="nystroem"),
        KernelMeanDetector(statistic="leverage"),
        KernelMeanDetector(statistic="leverage", forgetting=0.99),
        KernelMeanDetector(statistic="leverage", features="nystroem", n_epochs=2),
    ],
    ids=lambda model: "-".join([type(model).__name__, *map(str, changed(model).values())]),
)
def test_fit_finds_the_share_among_others(detector, n_features):
    """Though samples that have been learnt score higher: of few samples, much higher."""
    shares = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        model = clone(detector).set_params(contamination=0.05, random_state=seed)
        X = rng.standard_normal((300, n_features))
        assert np.mean(model.fit_predict(X) == -1) == pytest.approx(0.05)
        shares.append(np.mean(model.predict(rng.standard_normal((2000, n_features))) == -1))
    # The quantile of 300 numbers is off by 1.3 points, which the mean of four halves.
    assert np.mean(shares) == pytest.approx(0.05, abs=0.025)


def test_ranks_no_worse_than_a_one_class_svm():
    X, X_test, inside = normals_and_outliers()
    model = SPAOneClass(gamma=0.5, random_state=0).fit(X)
    machine = OneClassSVM(gamma=0.5, nu=0.1).fit(X)
    areas = [roc_auc_score(inside, m.score_samples(X_test)) for m in (model, machine)]
    assert areas[0] > areas[1] - 0.01


def test_failed_call(X):
    model = SPAOneClass(gamma=0.4, random_state=0).partial_fit(X)
    before, twin = parts_of(model), copy.deepcopy(model)
    bad = X.copy()
    bad[-1, 0] = np.nan
    calls = [
        lambda: model.partial_fit(bad),
        lambda: model.fit(bad),
        lambda: model.partial_fit(X[:, :-1]),
        lambda: model.partial_fit(X, sample_weight=-np.ones(len(X))),
        lambda: model.learn_one(bad[-1]),
    ]
    for call in calls:
        with pytest.raises(ValueError):
            call()
        for actual, expected in zip(parts_of(model), before, strict=True):
            assert np.array_equal(actual, expected)
    assert np.array_equal(model.partial_fit_predict(X), twin.partial_fit_predict(X))


def test_weights(X):
    weight = np.arange(len(X)) % 3.0
    model = SPAOneClass(gamma=0.4, eta=0.1, random_state=SEED).partial_fit(X, sample_weight=weight)
    settings = {"eta": 0.1, "gamma": 0.4, "average": True, "sample_weight": weight}
    expected = spa_one_class(X, uniforms=uniforms(len(X)), **settings)
    assert np.allclose(model.dual_coef_, expected.dual_coef, rtol=1e-9)


@pytest.mark.parametrize("detector", [SPAOneClass, KernelMeanDetector])
def test_offset_does_not_count_samples_of_weight_0(X, detector):
    weight = np.arange(len(X)) % 3 / 2.0
    some, rest = (detector(gamma=0.5, random_state=0) for _ in range(2))
    told = some.partial_fit_predict(X, sample_weight=weight)
    kept = rest.partial_fit_predict(X[weight > 0], sample_weight=weight[weight > 0])
    np.testing.assert_array_equal(told[weight > 0], kept)
    assert some.offset_ == rest.offset_
    one = detector(gamma=0.5, random_state=0)
    for x, own in zip(X, weight, strict=True):
        one.learn_one(x, sample_weight=own)
    assert one.offset_ == rest.offset_
    fitted, counted = (clone(rest).set_params(shuffle=False) for _ in range(2))
    fitted.fit(X[:90], sample_weight=weight[:90])
    counted.fit(X[:90][weight[:90] > 0], sample_weight=weight[:90][weight[:90] > 0])
    assert fitted.offset_ == counted.offset_


def test_contamination_acts_at_once(X):
    rows, single = (SPAOneClass(gamma=0.5, random_state=0).partial_fit(X[:100]) for _ in range(2))
    rows.set_params(contamination=0.4).partial_fit(X[100:260])
    single.set_params(contamination=0.4)
    for x in X[100:260]:
        single.learn_one(x)
    assert single.offset_ == rows.offset_


def test_not_fitted():
    with pytest.raises(NotFittedError):
        SPAOneClass().predict([[0.0]])
    assert not hasattr(SPAOneClass(), "offset_")


@pytest.mark.parametrize("contamination", [0, 0.6, "auto"])
def test_contamination(contamination, X):
    with pytest.raises(ValueError, match="contamination"):
        SPAOneClass(contamination=contamination).fit(X)


@pytest.mark.parametrize(
    ("first", "numbers", "kept"),
    [
        (0, (40, 40), (40, 40)),
        (50, (40, 40), (40, 40)),
        (50, (90, 30), (90, 30)),
        (300, (90, 30), (90, 30)),
        (2000, (600, 1200), (341, 683)),
    ],
)
def test_the_offset_of_a_merged_detector_is_that_of_the_last_half(first, numbers, kept):
    """What came since the base takes turns behind it, as if it had come in one stream."""
    rng = np.random.default_rng(0)
    base, parts, scores = RecentQuantile(0.1), [], []
    before = rng.normal(-2, size=first)
    base.append(before)
    for k, (n, n_kept) in enumerate(zip(numbers, kept, strict=True)):
        parts.append(base.copy())
        own = rng.normal(3 * k, size=n)
        parts[-1].append(own)
        scores.append(own[n - n_kept :])
    found = merged_quantile(Mix((1.0, 1.0)), parts, base if first else None)
    assert found.count == first + sum(numbers)
    turns = [(place + 0.5) / len(own) for own in scores for place in range(len(own))]
    later = np.concatenate(scores)[np.argsort(turns, kind="stable")]
    half = min((found.count + 1) // 2, 1024)
    stream = np.concatenate([before, later])[-half:]
    level = naive_level(stream, found.count, 0.1)
    assert found.quantile == pytest.approx(level, rel=1e-9, abs=1e-9)
