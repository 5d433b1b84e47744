"""Intervals and sets that hold a share of the targets, around learners of any library."""

import copy
import pickle
import warnings
from functools import cache

import numpy as np
import pytest
from commands import run
from grids import thinned
from oracles.conformal import thresholds, thresholds_of_classes
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import onlinekern
from onlinekern import (
    AROWRegressor,
    ConformalClassifier,
    ConformalRegressor,
    FOGDRegressor,
    KernelForestClassifier,
    KernelForestRegressor,
    KernelOGDRegressor,
    KernelPAClassifier,
    KernelRLSClassifier,
    KernelRLSRegressor,
    OGDClassifier,
    OLLAClassifier,
    OnlineStandardScaler,
    PAClassifier,
    PARegressor,
    SPAOneClass,
    StreamClassifier,
    StreamRegressor,
    TableEncoder,
    make_stream_pipeline,
)
from onlinekern.drift import RenewedLearner
from onlinekern.estimators.coverage import Coverage
from onlinekern.evaluate import prequential
from onlinekern.learners.ahead import strangeness


def targets(n=600, seed=0):
    """Return samples and targets whose function changes half way, when the noise grows too."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 3))
    later = np.arange(n) >= n // 2
    y = np.sin(X[:, 0]) * np.where(later, -1, 1) + X[:, 1]
    return X, y + rng.standard_normal(n) * np.where(later, 0.3, 0.1)


def labels(n=600, n_classes=3, seed=0):
    """Return samples and labels, of which the last comes from the middle of the stream on."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[: n // 2][y[: n // 2] == n_classes - 1] = 0
    centers = rng.standard_normal((n_classes, 4)) * 1.5
    return centers[y] + rng.standard_normal((n, 4)), y


REGRESSORS = {
    "kernel": KernelOGDRegressor(random_state=0),
    "least squares": KernelRLSRegressor(n_components=30, random_state=0),
    "linear": AROWRegressor(),
    "stream": StreamRegressor(time_budget=5, random_state=0),
    "pipeline": make_stream_pipeline(OnlineStandardScaler(), AROWRegressor()),
    "foreign": SGDRegressor(random_state=0),
}
CLASSIFIERS = {
    "kernel": KernelPAClassifier(random_state=0),
    "least squares": KernelRLSClassifier(n_components=30, random_state=0),
    "linear": PAClassifier(random_state=0),
    "separate": OGDClassifier(loss="logistic", multi_class="ovr", random_state=0),
    "forest": KernelForestClassifier(n_trees=3, random_state=0),
    "stream": StreamClassifier(time_budget=5, random_state=0),
    "pipeline": make_stream_pipeline(OnlineStandardScaler(), PAClassifier(random_state=0)),
    "margins of another library": SGDClassifier(random_state=0),
    "probabilities of another library": SGDClassifier(loss="log_loss", random_state=0),
}
CUTS = [[1], [2, 3, 130], [149, 150, 151, 152], list(range(1, 140, 7))]
# So many samples are cut.
N = 300


def told_in_calls(model, method, X, y, cuts, **more):
    """Return what a method tells of the samples of a stream that is cut into calls."""
    parts = [slice(*edge) for edge in zip([0, *cuts], [*cuts, len(y)], strict=True)]
    rows = X.tocsr() if sparse.issparse(X) else X
    found = [getattr(model, method)(rows[part], y[part], **more) for part in parts]
    if not isinstance(found[0], tuple):
        return np.concatenate(found)
    return tuple(np.concatenate(each) for each in zip(*found, strict=True))


# The thresholds.


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99, 0.3])
@pytest.mark.parametrize("kind", ["normal", "growing", "ties", "infinite", "gaps"])
def test_thresholds_are_those_of_the_twin(share, kind):
    rng = np.random.default_rng(3)
    scores = np.abs(rng.standard_normal(1500))
    if kind == "growing":
        scores *= np.geomspace(1e-3, 1e3, 1500)
    elif kind == "ties":
        scores = np.floor(3 * scores)
    elif kind == "infinite":
        scores[rng.random(1500) < 0.2] = np.inf
    elif kind == "gaps":
        scores[rng.random(1500) < 0.2] = np.nan
    coverage = Coverage(share)
    expected, following = thresholds(scores, 1 - coverage.share, len(coverage.recent))
    found = np.concatenate([coverage.append(part) for part in np.split(scores, [1, 5, 700])])
    # Beyond the largest score the compiler may round once where NumPy rounds twice.
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(coverage.threshold, following, rtol=1e-12)
    told = np.isfinite(found) & ~np.isnan(scores)
    assert (coverage.told, coverage.held) == (told.sum(), (scores <= found)[told].sum())
    coverage._check_loaded()


@pytest.mark.parametrize("share", [0.8, 0.9, 0.95])
def test_the_share_is_held_on_streams_that_change(share):
    rng = np.random.default_rng(0)
    n = np.arange(20_000)
    scale = np.where(n < 7000, 1.0, np.where(n < 13_000, 20.0, 0.05)) * (1 + n / 5000)
    scores = np.abs(rng.standard_normal(len(n))) * scale
    held = scores <= Coverage(share).append(scores)
    assert abs(held[1000:].mean() - share) < 0.01
    windows = np.convolve(held[1000:], np.full(1000, 1e-3), "valid")
    assert np.abs(windows - share).max() < 0.04


@pytest.mark.parametrize("share", [0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("kind", ["walk", "trend", "smooth walk"])
def test_the_share_is_held_where_each_error_is_the_largest_so_far(kind, share):
    for seed in range(4):
        steps = np.random.default_rng(seed).standard_normal(6000)
        walk = {"walk": steps, "trend": 0.2 + steps, "smooth walk": np.cumsum(steps)}[kind]
        scores = np.abs(np.cumsum(walk))
        held = scores <= Coverage(share).append(scores)
        assert abs(held[500:].mean() - share) < 0.005
        windows = np.convolve(held[500:], np.full(1000, 1e-3), "valid")
        assert windows.min() > share - 0.025


def test_scores_that_grow_beyond_all_bounds():
    # Levels reach their lower end, and thresholds stay numbers.
    for share in (0.5, 0.9, 0.9999):
        coverage = Coverage(share)
        thresholds = coverage.append(np.geomspace(1e-300, 1e300, 30_000))
        assert not np.isnan(thresholds).any()
        coverage.append(np.array([np.inf, 1e308, -1e308, -np.inf] * 400))
        coverage._check_loaded()
        np.testing.assert_allclose(coverage.weights.sum(), 1)


def test_a_share_that_is_rarely_missed_keeps_more_scores():
    assert [len(Coverage(share).recent) for share in (0.5, 0.9, 0.999, 1 - 1e-9)] == [
        512, 512, 10_000, 65_536,
    ]  # fmt: skip


# The wrappers.


@pytest.mark.parametrize("name", REGRESSORS)
def test_intervals_are_around_what_was_predicted_before(name, equal):
    X, y = targets()
    model = ConformalRegressor(REGRESSORS[name], coverage=0.8)
    lower, upper = model.partial_fit_interval(X, y)
    twin = clone(REGRESSORS[name])
    predicted = np.zeros(len(y))
    for i in range(len(y)):
        if i > 0:
            predicted[i] = twin.predict(X[i : i + 1])[0]
        twin.partial_fit(X[i : i + 1], y[i : i + 1])
    scores = np.abs(y - predicted)
    scores[0] = np.nan
    expected, _ = thresholds(scores, 1 - model.coverage, 512)
    # A pipeline scales a sample by moments that it is part of.
    known = np.isfinite(expected) & (name not in ("pipeline", "stream"))
    low, high = lower[known], upper[known]
    np.testing.assert_allclose((high - low) / 2, expected[known], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose((high + low) / 2, predicted[known], rtol=1e-9, atol=1e-9)
    covered = ((lower <= y) & (y <= upper))[np.isfinite(upper)]
    assert model.coverage_ == pytest.approx(covered.mean(), abs=2 / len(covered))
    low, high = model.predict_interval(X[:9])
    np.testing.assert_allclose(high - low, 2 * model.threshold_)
    equal(model.predict(X), model.estimator_.predict(X))
    assert model.score(X, y) == model.estimator_.score(X, y)


@pytest.mark.parametrize(("name", "cuts"), thinned(list(REGRESSORS), CUTS, 2))
def test_intervals_do_not_depend_on_the_calls(name, cuts, equal):
    X, y = targets(N)
    whole, cut = (ConformalRegressor(REGRESSORS[name]) for _ in range(2))
    expected = whole.partial_fit_interval(X, y)
    found = told_in_calls(cut, "partial_fit_interval", X, y, cuts)
    for one, other in zip(found, expected, strict=True):
        equal(one, other)
    equal(cut.predict_interval(X), whole.predict_interval(X))


def strange_before(name, X, y):
    """Return how strange each of three labels is to the learner of the samples before."""
    learner, strange = clone(CLASSIFIERS[name]), np.zeros((len(y), 3))
    for i in range(len(y)):
        row = X[i : i + 1]
        if i > 0 and "probabilities" in name:
            strange[i] = 1 - learner.predict_proba(row)
        elif i > 0:
            strange[i] = -learner.decision_function(row)
        learner.partial_fit(row, y[i : i + 1], classes=[0, 1, 2])
    return strange


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_sets_hold_what_was_not_strange_before(name, equal):
    X, y = labels(400)
    model = ConformalClassifier(CLASSIFIERS[name], coverage=0.8)
    sets = model.partial_fit_set(X, y, classes=[0, 1, 2])
    strange = strange_before(name, X, y)
    scores = strange[np.arange(len(y)), y]
    scores[0] = np.nan
    expected, _ = thresholds(scores, 1 - model.coverage, 512)
    if name not in ("pipeline", "stream"):
        # A score that blocks compute may be off in the last bit from that of a row.
        slack = 0.0 if "another" in name else 1e-9
        equal(sets, strange <= expected[:, None] + slack)
    held = sets[np.arange(len(y)), y][np.isfinite(expected)]
    assert model.coverage_ == pytest.approx(held.mean(), abs=0.01)
    assert abs(model.coverage_ - 0.8) < 0.05
    equal(model.predict(X), model.estimator_.predict(X))
    assert model.predict_set(X).shape == (len(y), 3)
    if hasattr(model.estimator_, "predict_proba"):
        equal(model.predict_proba(X), model.estimator_.predict_proba(X))


@cache
def whole_of(name, by_class):
    """Return a classifier that has learnt all samples in one call, and the sets that it told."""
    X, y = labels(N)
    model = ConformalClassifier(CLASSIFIERS[name], by_class=by_class)
    return model, model.partial_fit_set(X, y, classes=[0, 1, 2])


@pytest.mark.parametrize(("name", "cuts"), thinned(list(CLASSIFIERS), CUTS, 2))
def test_sets_do_not_depend_on_the_calls(name, cuts, equal):
    X, y = labels(N)
    (whole, expected), cut = whole_of(name, False), ConformalClassifier(CLASSIFIERS[name])
    found = told_in_calls(cut, "partial_fit_set", X, y, cuts, classes=[0, 1, 2])
    equal(found, expected)
    equal(cut.predict_set(X), whole.predict_set(X))


@pytest.mark.parametrize("cuts", CUTS, ids=range(4))
def test_labels_that_nobody_told_of(cuts, equal):
    X, y = labels(n_classes=4)
    y[:5] = 1  # one label alone at first
    names = np.array(["ant", "bee", "cat", "dog"])[y]
    whole, cut = (ConformalClassifier(CLASSIFIERS["stream"]) for _ in range(2))
    sets = whole.partial_fit_set(X, names)
    for edge in zip([0, *cuts], [*cuts, len(y)], strict=True):
        cut.partial_fit(X[slice(*edge)], names[slice(*edge)])
    equal(cut.predict_set(X), whole.predict_set(X))
    assert cut.coverage_ == whole.coverage_
    first = int(np.flatnonzero(y == 3)[0])
    assert not sets[first, 3], "nobody could have known it"
    assert list(whole.classes_) == ["ant", "bee", "cat", "dog"]
    alone = ConformalClassifier().partial_fit(X[:5], names[:5])
    equal(alone.predict_set(X[:4]), np.ones((4, 1), dtype=bool))
    equal(alone.partial_fit_predict(X[:2], names[:2]), names[:2])


def test_more_classes_in_mid_stream():
    X, y = labels()
    model = ConformalClassifier(KernelPAClassifier(random_state=0))
    model.partial_fit(X[:300], y[:300], classes=[0, 1])
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X[300:], y[300:])
    model.partial_fit(X[300:], y[300:], classes=[0, 1, 2])
    assert model.predict_set(X).shape == (600, 3)


def test_sets_that_are_never_empty(equal):
    X, y = labels()
    plain, full = (
        ConformalClassifier(PAClassifier(random_state=0), coverage=0.5, allow_empty=allowed)
        for allowed in (True, False)
    )
    some = plain.partial_fit_set(X, y, classes=[0, 1, 2])
    sets = full.partial_fit_set(X, y, classes=[0, 1, 2])
    assert not some.any(axis=1).all()
    assert sets.any(axis=1).all()
    assert (sets >= some).all()
    predicted = full.predict(X)
    equal(full.predict_set(X)[np.arange(600), predicted], np.ones(600, dtype=bool))
    assert plain.threshold_ == full.threshold_
    assert full.coverage_ > plain.coverage_ + 0.2


def test_answers_before_are_those_of_the_learner(equal):
    X, y = labels()
    model = ConformalClassifier(KernelPAClassifier(random_state=0))
    expected = KernelPAClassifier(random_state=0).partial_fit_predict(X, y, classes=[0, 1, 2])
    equal(model.partial_fit_predict(X, y, classes=[0, 1, 2]), expected)
    X, y = targets()
    expected = AROWRegressor().partial_fit_predict(X, y)
    equal(ConformalRegressor(AROWRegressor()).partial_fit_predict(X, y), expected)
    result = prequential(ConformalRegressor(AROWRegressor()), [(X, y)])
    assert result.error == prequential(AROWRegressor(), [(X, y)]).error


# A share of each class.


def rare_labels(n=3000, n_classes=2, seed=0):
    """Return samples of classes that overlap, the last of which is rare, and moves half way."""
    rng = np.random.default_rng(seed)
    shares = np.r_[np.ones(n_classes - 1) / (n_classes - 1) * 0.95, 0.05]
    y = rng.choice(n_classes, n, p=shares)
    centers = rng.standard_normal((n_classes, 3))
    X = 0.7 * centers[y] + rng.standard_normal((n, 3))
    X[n // 2 :][y[n // 2 :] == n_classes - 1] -= 1.0
    return X, y


@pytest.mark.parametrize("share", [0.8, 0.9])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_rare_class_is_held_as_often_as_others(share, n_classes):
    X, y = rare_labels(8000, n_classes)
    learner, classes = KernelRLSClassifier(n_components=30, random_state=0), np.arange(n_classes)
    model = ConformalClassifier(learner, share, by_class=True)
    sets = model.partial_fit_set(X, y, classes=classes)
    held = sets[np.arange(len(y)), y]
    of_class = np.array([held[y == k].mean() for k in classes])
    assert np.abs(of_class - share).max() < 0.04
    np.testing.assert_allclose(model.class_coverage_, of_class, atol=0.03)
    assert abs(model.coverage_ - share) < 0.02
    plain = ConformalClassifier(learner, share)
    missed = plain.partial_fit_set(X, y, classes=classes)[np.arange(len(y)), y]
    assert missed[y == n_classes - 1].mean() < share - 0.3
    assert not hasattr(plain, "class_coverage_")


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_thresholds_of_classes_are_those_of_the_twin(name, equal):
    X, y = labels(400)
    model = ConformalClassifier(CLASSIFIERS[name], coverage=0.8, by_class=True)
    sets = model.partial_fit_set(X, y, classes=[0, 1, 2])
    strange = strange_before(name, X, y)
    scores = strange[np.arange(len(y)), y]
    expected, last = thresholds_of_classes(scores, y, 3, 1 - model.coverage, 512)
    slack = 0.0 if "another" in name else 1e-9
    # A pipeline scales a sample by moments that it is part of.
    if name not in ("pipeline", "stream"):
        equal(sets, strange <= expected + slack)
        np.testing.assert_allclose(model.threshold_, last, atol=1e-9)
    held = sets[np.arange(len(y)), y]
    for k in range(3):
        known = (y == k) & np.isfinite(expected[:, k])
        assert model.class_coverage_[k] == pytest.approx(held[known].mean(), abs=1e-9)
    equal(model.predict_set(X), strangeness(model.estimator_, X) <= model.threshold_)


# The same cuts as without classes of their own; "rows" are those of `learn_one`.
@pytest.mark.parametrize(
    ("name", "cuts"),
    [*thinned(list(CLASSIFIERS), CUTS, 4), *((name, "rows") for name in CLASSIFIERS)],
)
def test_sets_by_class_do_not_depend_on_the_calls(name, cuts, equal):
    X, y = labels(N)
    whole, expected = whole_of(name, True)
    model = ConformalClassifier(CLASSIFIERS[name], by_class=True)
    if cuts == "rows":
        model.partial_fit(X[:1], y[:1], classes=[0, 1, 2])
        for x, label in zip(X[1:], y[1:], strict=True):
            model.learn_one(x, label)
    else:
        equal(told_in_calls(model, "partial_fit_set", X, y, cuts, classes=[0, 1, 2]), expected)
    equal(model.predict_set(X), whole.predict_set(X))
    equal(model.threshold_, whole.threshold_)
    equal(model.class_coverage_, whole.class_coverage_)


@pytest.mark.parametrize("rows", [False, True], ids=["calls", "rows"])
def test_a_new_class_before_those_known_leaves_them_theirs(rows, equal):
    X, y = labels()
    late = np.r_[np.flatnonzero(y > 0), np.flatnonzero(y == 0)]
    X, y, n = X[late], y[late], np.count_nonzero(y > 0)
    model = ConformalClassifier(StreamClassifier(random_state=0), by_class=True)
    model.partial_fit(X[:n], y[:n])
    before, shares = model.threshold_, model.class_coverage_
    if rows:
        model.learn_one(X[n], y[n])
    else:
        model.partial_fit(X[n : n + 1], y[n : n + 1])
    assert model.classes_.tolist() == [0, 1, 2]
    equal(model.threshold_[1:], before)
    equal(model.class_coverage_[1:], shares)
    assert len(set(before)) == 2


def test_a_class_is_in_every_set_until_it_is_known(equal):
    X, y = labels(n_classes=4)  # the last one comes half way
    first = int(np.flatnonzero(y == 3)[0])
    tenth = int(np.flatnonzero(y == 3)[9])  # the first one tells nothing, nine are enough
    told = ConformalClassifier(PAClassifier(random_state=0), by_class=True)
    sets = told.partial_fit_set(X, y, classes=[0, 1, 2, 3])
    assert sets[: tenth + 1, 3].all()
    assert not sets[tenth + 1 :, 3].all()
    assert np.isfinite(told.threshold_).all()
    # Nobody has named it.
    names = np.array(["ant", "bee", "cat", "dog"])[y]
    untold = ConformalClassifier(CLASSIFIERS["stream"], by_class=True)
    sets = untold.partial_fit_set(X[:tenth], names[:tenth])
    assert not sets[: first + 1, 3].any()
    assert sets[first + 1 :, 3].all()
    assert np.isinf(untold.threshold_[3])
    assert np.isnan(untold.class_coverage_[3])
    again = pickle.loads(pickle.dumps(untold))
    for model in (untold, again):
        model.partial_fit(X[tenth:], names[tenth:])
    equal(again.predict_set(X), untold.predict_set(X))
    one = ConformalClassifier(StreamClassifier(time_budget=5), by_class=True)
    one.partial_fit(X[:5], ["ant"] * 5)
    equal(one.predict_set(X[:2]), np.ones((2, 1), dtype=bool))
    assert (one.threshold_.tolist(), np.isnan(one.class_coverage_).tolist()) == ([np.inf], [True])


def test_a_saved_state_of_classes_goes_on(tmp_path, equal):
    X, y = labels()
    weight = np.arange(600) % 3 / 2.0
    model = ConformalClassifier(PAClassifier(random_state=0), by_class=True, allow_empty=False)
    model.partial_fit(X[:350], y[:350], [0, 1, 2], weight[:350])
    model.save(tmp_path / "m.okn")
    other = onlinekern.load(tmp_path / "m.okn")
    for one in (model, other):
        one.partial_fit(X[350:], y[350:], sample_weight=weight[350:])
    equal(other.predict_set(X), model.predict_set(X))
    equal(other.class_coverage_, model.class_coverage_)
    heavy = ConformalClassifier(PAClassifier(random_state=0), by_class=True, allow_empty=False)
    heavy.partial_fit(X[weight > 0], y[weight > 0], [0, 1, 2], weight[weight > 0])
    equal(heavy.threshold_, model.threshold_)
    for name, wrong in [
        ("labels", np.array([0, 2, 1])),
        ("labels", np.array([0, 1, 5])),
        ("each", model._coverage.each[:2]),
        ("each", [None] * 3),
        ("share", 0.5),
    ]:
        broken = pickle.loads(pickle.dumps(model))
        setattr(broken._coverage, name, wrong)
        with pytest.raises(ValueError, match="does not fit together"):
            pickle.loads(pickle.dumps(broken))


# Weights, tables, layouts.


@pytest.mark.parametrize("learner", [AROWRegressor(), SGDRegressor(random_state=0)])
def test_samples_without_weight_count_for_nothing(learner, equal):
    X, y = targets()
    weight = np.ones(600)
    weight[::3] = 0
    y[::3] += 100
    some = ConformalRegressor(learner).partial_fit(X, y, sample_weight=weight)
    others = weight > 0
    if isinstance(learner, AROWRegressor):
        rest = ConformalRegressor(learner).partial_fit(X[others], y[others])
        single = ConformalRegressor(learner)
        for x, number, w in zip(X, y, weight, strict=True):
            single.learn_one(x, number, sample_weight=w)
        for model in (rest, single):
            equal(some.predict_interval(X), model.predict_interval(X))
    assert some.threshold_ < 10


def test_frames_and_sparse_rows(equal):
    pandas = pytest.importorskip("pandas")
    X, y = targets()
    frame = pandas.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "up", "down")})
    model = ConformalRegressor(make_stream_pipeline(TableEncoder(), AROWRegressor()))
    model.partial_fit(frame, y)
    twice = clone(model)
    for part in (slice(0, 100), slice(100, 600)):
        twice.partial_fit(frame[part], y[part])
    equal(model.predict_interval(frame), twice.predict_interval(frame))
    assert list(model.feature_names_in_) == ["a", "b"]
    rows = sparse.csr_matrix(X)
    dense, thin = (ConformalRegressor(AROWRegressor()).fit(Z, y) for Z in (X, rows))
    np.testing.assert_allclose(dense.predict_interval(X), thin.predict_interval(rows))
    # Its step along the intercept is another for sparse rows.
    other = ConformalRegressor(SGDRegressor(random_state=0)).fit(rows.tocsc(), y)
    assert (thin.n_features_in_, other.n_features_in_) == (3, 3)


def test_a_step_of_a_pipeline(equal):
    X, y = targets()
    model = make_stream_pipeline(OnlineStandardScaler(), ConformalRegressor(AROWRegressor()))
    model.partial_fit(X, y)
    scaled = model.steps[0][1].transform(X)
    for found in (model.predict_interval(X), model.predict_interval(X, 0.9)):
        equal(found, model.steps[1][1].predict_interval(scaled))
    assert not hasattr(model, "predict_set")
    sets = make_stream_pipeline(OnlineStandardScaler(), ConformalClassifier(PAClassifier()))
    sets.partial_fit(X, y > 0, classes=[False, True])
    equal(sets.predict_set(X), sets.steps[1][1].predict_set(scaled))
    assert (sets.steps[1][1].n_seen_, model.steps[1][1].n_seen_) == (len(y), len(y))


def test_the_command_line_prints_the_intervals(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = targets()
    model = ConformalRegressor(AROWRegressor(), coverage=0.8).fit(X, y)
    model.save("m.okn")
    dump_svmlight_file(X[:4], y[:4], "rows.txt", zero_based=False)
    code, out, err = run(capsys, "predict", "m.okn", "rows.txt", "--what", "intervals")
    assert code == 0, err
    found = np.loadtxt(out.splitlines()[1:], delimiter=",")
    np.testing.assert_allclose(found, np.column_stack(model.predict_interval(X[:4])), rtol=1e-9)
    code, _, err = run(capsys, "predict", "m.okn", "rows.txt", "--what", "intervals",
                       "--coverage", 0.9)  # fmt: skip
    assert (code, "has followed 0.8" in err) == (2, True)


# Saved, and undone.


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_saved_regressor_goes_on(name, tmp_path, equal):
    X, y = targets()
    model = ConformalRegressor(REGRESSORS[name]).partial_fit(X[:350], y[:350])
    others = [pickle.loads(pickle.dumps(model))]
    if name != "foreign":
        model.save(tmp_path / "m.okn")
        others.append(onlinekern.load(tmp_path / "m.okn"))
    expected = model.partial_fit_interval(X[350:], y[350:])
    for other in others:
        equal(other.partial_fit_interval(X[350:], y[350:]), expected)
        equal(other.predict_interval(X), model.predict_interval(X))
        assert other.coverage_ == model.coverage_


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_saved_classifier_goes_on(name, tmp_path, equal):
    X, y = labels()
    model = ConformalClassifier(CLASSIFIERS[name]).partial_fit(X[:350], y[:350], classes=[0, 1, 2])
    others = [pickle.loads(pickle.dumps(model))]
    if "another" not in name:
        model.save(tmp_path / "m.okn")
        others.append(onlinekern.load(tmp_path / "m.okn"))
    expected = model.partial_fit_set(X[350:], y[350:])
    for other in others:
        equal(other.partial_fit_set(X[350:], y[350:]), expected)
        equal(other.predict_set(X), model.predict_set(X))


@pytest.mark.parametrize(
    "field", ["recent", "ordered", "levels", "correction", "seen", "told", "share"]
)
def test_a_damaged_state_is_refused(field):
    X, y = targets(40)
    model = ConformalRegressor(AROWRegressor()).fit(X, y)
    coverage = model._coverage
    value = getattr(coverage, field)
    setattr(coverage, field, value + 1 if field in ("levels", "correction") else -value)
    with pytest.raises(ValueError, match="does not fit together"):
        pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS])
def test_a_call_that_fails_changes_nothing(name, equal):
    X, y = labels(n_classes=4)
    model = ConformalClassifier(CLASSIFIERS[name]).partial_fit(X[:200], y[:200], classes=[0, 1, 2])
    before = model.predict_set(X), model.coverage_, model.threshold_
    bad = X[200:300].copy()
    bad[70, 1] = np.inf
    with pytest.raises(ValueError, match="inf"):
        model.partial_fit(bad, np.minimum(y[200:300], 2))
    if name != "stream":
        with pytest.raises(ValueError, match=r"label|class"):
            model.partial_fit(X[200:], y[200:])
    else:
        bad[90, 2] = np.inf
        with pytest.raises(ValueError, match="inf"):
            model.partial_fit(np.concatenate([X[200:], bad]), np.r_[y[200:], y[200:300]])
    for found, expected in zip(
        (model.predict_set(X), model.coverage_, model.threshold_), before, strict=True
    ):
        equal(np.asarray(found), np.asarray(expected))
    twin = ConformalClassifier(CLASSIFIERS[name]).partial_fit(X[:200], y[:200], classes=[0, 1, 2])
    for one in (model, twin):
        one.partial_fit(X[200:300], np.minimum(y[200:300], 2))
    equal(model.predict_set(X), twin.predict_set(X))


# Several targets.

SEVERAL = {
    "least squares": KernelRLSRegressor(n_components=30, random_state=0),
    "pipeline": make_stream_pipeline(
        OnlineStandardScaler(), KernelRLSRegressor(n_components=30, random_state=0)
    ),
    "renewed": RenewedLearner(KernelRLSRegressor(n_components=30, random_state=0)),
    "another library": MLPRegressor(hidden_layer_sizes=(5,), random_state=0),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_each_target_has_the_intervals_that_its_errors_give(name, equal):
    X, y = targets(300)
    Y = np.column_stack([y, 10 * X[:, 1] + np.random.default_rng(1).standard_normal(300)])
    weight = np.r_[np.ones(299), 0.0] if name != "another library" else None
    model, cut = (ConformalRegressor(SEVERAL[name], coverage=0.8) for _ in range(2))
    lower, upper = model.partial_fit_interval(X, Y, sample_weight=weight)
    assert lower.shape == upper.shape == Y.shape
    twin = clone(SEVERAL[name])
    if name == "another library":
        predicted = np.zeros_like(Y)
        for i in range(300):
            if i > 0:
                predicted[i] = twin.predict(X[i : i + 1])[0]
            twin.partial_fit(X[i : i + 1], Y[i : i + 1])
    else:
        predicted = twin.partial_fit_predict(X, Y, sample_weight=weight)
    scores = np.abs(Y - predicted)
    scores[0] = np.nan
    if weight is not None:
        scores[-1] = np.nan
    found = [thresholds(one, 1 - model.coverage, 512) for one in scores.T]
    expected, following = zip(*found, strict=True)
    known = np.isfinite(np.column_stack(expected))
    half = (upper - lower)[known] / 2
    np.testing.assert_allclose(half, np.column_stack(expected)[known], rtol=1e-6)
    np.testing.assert_allclose(model.threshold_, following, rtol=1e-12)
    held = (lower <= Y) & (upper >= Y)
    counted = known.all(axis=1) & ~np.isnan(scores[:, 0])
    np.testing.assert_allclose(model.coverage_, held[counted].mean(axis=0))
    for first, last in ((0, 1), (1, 2), (2, 130), (130, 300)):
        part = None if weight is None else weight[first:last]
        cut.partial_fit(X[first:last], Y[first:last], sample_weight=part)
    equal(cut.predict_interval(X), model.predict_interval(X))
    again = pickle.loads(pickle.dumps(cut))
    equal(again.learn_one(X[0], Y[0]).threshold_, cut.learn_one(X[0], Y[0]).threshold_)


def test_rows_of_several_targets_have_the_bits_of_calls(tmp_path, equal):
    X, y = targets(80)
    Y = np.column_stack([y, X[:, 1], X[:, 0] * y])
    whole, rows = (ConformalRegressor(SEVERAL["least squares"], coverage=0.8) for _ in range(2))
    whole.partial_fit(X, Y)
    for i in range(80):
        rows.learn_one(X[i], Y[i].tolist())
    equal(rows.predict_interval(X), whole.predict_interval(X))
    whole.save(tmp_path / "m.okn")
    loaded = onlinekern.load(tmp_path / "m.okn")
    equal(loaded.partial_fit(X, Y).threshold_, rows.partial_fit(X, Y).threshold_)
    loaded._coverage.each.pop()
    with pytest.raises(ValueError, match="does not fit together"):
        pickle.loads(pickle.dumps(loaded))


def test_several_targets_that_do_not_fit_change_nothing(equal):
    X, y = targets(80)
    Y = np.column_stack([y, X[:, 1]])
    model = ConformalRegressor(SEVERAL["least squares"]).partial_fit(X, Y)
    before = model.threshold_
    for bad in (y, np.column_stack([Y, Y]), np.where(np.arange(80)[:, None] == 70, np.nan, Y)):
        with pytest.raises(ValueError, match=r"^y must have 2 targets|^y\[70\] is missing"):
            model.partial_fit(X, bad)
    for bad, what in ((1.0, "2 targets"), ([1.0, np.nan], "finite"), ([[1.0, 2.0]], "2 numbers")):
        with pytest.raises(ValueError, match=f"^y must (have|be) {what}"):
            model.learn_one(X[0], bad)
    equal(model.threshold_, before)
    one = ConformalRegressor(AROWRegressor()).partial_fit(X, y)
    with pytest.raises(ValueError, match=r"^y must have 1 target a sample"):
        one.partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"^y must be a number"):
        one.learn_one(X[0], Y[0])


# What is refused.


def test_what_is_refused():
    X, y = targets(60)
    both = np.column_stack([y, y])
    for model in (ConformalRegressor(AROWRegressor()), ConformalRegressor(SGDRegressor())):
        with pytest.raises(ValueError, match=r"one target of each sample|got an array of shape"):
            model.partial_fit(X, both)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            model.partial_fit(X, y[:50])
        with pytest.raises(ValueError, match=r"y\[59\] is missing or NaN"):
            model.partial_fit(X, np.r_[y[:-1], np.nan])
        with pytest.raises(NotFittedError):
            model.predict_interval(X)
    with pytest.raises(TypeError, match="estimator must be a classifier, got KernelRLSRegressor"):
        ConformalClassifier(KernelRLSRegressor()).fit(X, y > 0)
    for kind, conformal in (("classifier", ConformalClassifier), ("regressor", ConformalRegressor)):
        with pytest.raises(TypeError, match=f"estimator must be a {kind}, got SPAOneClass"):
            conformal(SPAOneClass()).fit(X, y > 0)
    with pytest.raises(TypeError, match="estimator must be a regressor, got StreamPipeline"):
        ConformalRegressor(make_stream_pipeline(KernelRLSClassifier())).partial_fit(X, y)
    with pytest.raises(ValueError, match="'estimator' parameter of ConformalClassifier"):
        ConformalClassifier(OLLAClassifier()).fit(X, y > 0)
    with pytest.raises(ValueError, match=r"'coverage' parameter .* \(0, 1\)|range \(0"):
        ConformalRegressor(AROWRegressor(), coverage=1.0).fit(X, y)
    with pytest.raises(ValueError, match="one class only"):
        ConformalClassifier(PAClassifier()).fit(X, np.ones(60))
    model = ConformalRegressor(AROWRegressor()).fit(X, y)
    with pytest.raises(ValueError, match=r"has followed 0\.9 along the stream"):
        model.predict_interval(X, 0.95)
    with pytest.raises(ValueError, match=r"sample_weight: Unweighted\.partial_fit takes none"):
        ConformalRegressor(Unweighted()).fit(X, y, sample_weight=np.ones(60))


class Unweighted(SGDRegressor):
    def partial_fit(self, X, y):
        return super().partial_fit(X, y)


def test_what_is_set_in_mid_stream_waits_and_is_told():
    X, y = labels()
    model = ConformalClassifier(KernelRLSClassifier(n_components=20, random_state=0))
    twin = clone(model).partial_fit(X, y, classes=[0, 1, 2])
    model.partial_fit(X, y, classes=[0, 1, 2]).set_params(coverage=0.5, by_class=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for learn in (lambda: model.learn_one(X[0], y[0]), lambda: model.partial_fit(X, y)):
            with pytest.raises(UserWarning, match=r"^by_class, coverage of ConformalClassifier"):
                learn()
    assert model.n_seen_ == len(X)
    with pytest.warns(UserWarning, match=r"^by_class, coverage of ConformalClassifier"):
        pickle.loads(pickle.dumps(model)).learn_one(X[0], y[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        copy.deepcopy(model).fit(X, y).learn_one(X[0], y[0])
        model.set_params(coverage=0.9, by_class=False, estimator=model.estimator)
        model.learn_one(X[0], y[0])
    assert model.threshold_ == twin.learn_one(X[0], y[0]).threshold_


def test_a_state_of_before_has_no_correction(tmp_path):
    X, y = targets()
    model = ConformalRegressor(AROWRegressor()).partial_fit(X, y)
    del model._coverage.correction
    model.save(tmp_path / "m.okn")
    for other in (onlinekern.load(tmp_path / "m.okn"), pickle.loads(pickle.dumps(model))):
        other._coverage._check_loaded()
        assert other.partial_fit(X, y)._coverage.correction != 0


def test_a_pickle_of_before_has_no_share_of_each_class():
    X, y = labels()
    model = ConformalClassifier(KernelRLSClassifier(n_components=20, random_state=0))
    model.partial_fit(X, y, classes=[0, 1, 2])
    del model.by_class
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.by_class is False
    assert loaded.partial_fit(X, y).threshold_ < np.inf


def test_nothing_to_choose():
    X, y = targets()
    model = ConformalRegressor().fit(X, y)
    assert isinstance(model.estimator_, StreamRegressor)
    assert isinstance(ConformalClassifier().fit(X, y > 0).estimator_, StreamClassifier)
    assert ConformalRegressor().get_params() == {"coverage": 0.9, "estimator": None}
    assert (
        model.set_params(coverage=0.5).fit(X, y).threshold_
        < clone(model).set_params(coverage=0.9).fit(X, y).threshold_
    )


def test_steps_of_another_library():
    X, y = targets()
    model = ConformalRegressor(make_stream_pipeline(StandardScaler(), AROWRegressor())).fit(X, y)
    bad = X.copy()
    bad[5] = np.nan
    before = model.predict_interval(X)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(bad, y)
    np.testing.assert_array_equal(model.predict_interval(X), before)


# A sample of weight 2 is one score, and two samples are two: those of the learner, see
# test_sklearn_contract.py.
NOT_REPEATED = {
    f"check_sample_weight_equivalence_on_{layout}_data": "a weight is no repetition of a sample"
    for layout in ("dense", "sparse")
}


@parametrize_with_checks(
    [
        ConformalRegressor(AROWRegressor()),
        ConformalClassifier(PAClassifier(random_state=0)),
        ConformalClassifier(PAClassifier(random_state=0), by_class=True),
    ],
    expected_failed_checks=lambda estimator: NOT_REPEATED,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


ONE_ROW_REGRESSORS = [
    PARegressor(),
    KernelRLSRegressor(n_components=20, random_state=0),
    StreamRegressor(time_budget=5, random_state=0),
    make_stream_pipeline(OnlineStandardScaler(), PARegressor()),
    SGDRegressor(random_state=0),
]
ONE_ROW_CLASSIFIERS = [
    PAClassifier(random_state=0),
    PAClassifier(class_weight="balanced", random_state=0),
    KernelRLSClassifier(n_components=20, random_state=0),
    StreamClassifier(time_budget=5, random_state=0),
    SGDClassifier(random_state=0),
]


def kind_of(model):
    return type(model).__name__ + ("*" if getattr(model, "class_weight", None) else "")


@pytest.mark.parametrize("wrapped", ONE_ROW_REGRESSORS, ids=kind_of)
def test_a_regressor_learns_row_by_row(wrapped, equal):
    X = np.random.default_rng(0).normal(size=(120, 4))
    y = X[:, 0] - X[:, 1]
    weights = np.arange(120) % 3 / 2.0
    weights[:60] = 1.0
    whole, rows, told = (ConformalRegressor(clone(wrapped), 0.8) for _ in range(3))
    lower, upper = whole.partial_fit_interval(X[:60], y[:60])
    whole.partial_fit(X[60:], y[60:], weights[60:])
    for i in range(120):
        rows.learn_one(X[i], y[i], sample_weight=weights[i])
    for i in range(60):
        ends = told.partial_fit_interval(X[i : i + 1], y[i : i + 1])
        equal(np.array([lower[i], upper[i]]), np.ravel(ends))
    told.partial_fit(X[60:], y[60:], weights[60:])
    for one in (rows, told):
        assert one.threshold_ == whole.threshold_
        assert one.coverage_ == whole.coverage_
        equal(one.predict(X), whole.predict(X))
    again = pickle.loads(pickle.dumps(rows))
    for one in (again, rows):
        one.learn_one(X[0], y[0])
    assert again.threshold_ == rows.threshold_


@pytest.mark.parametrize("allow_empty", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("wrapped", ONE_ROW_CLASSIFIERS, ids=kind_of)
def test_a_classifier_learns_row_by_row(wrapped, n_classes, allow_empty, equal):
    X = np.random.default_rng(0).normal(size=(120, 4))
    y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (n_classes - 2) * (X[:, 1] > 1)]
    weights = np.arange(120) % 3 / 2.0
    weights[:60] = 1.0
    classes = np.unique(y)
    whole, rows, told = (ConformalClassifier(clone(wrapped), 0.8, allow_empty) for _ in range(3))
    with np.errstate(all="ignore"):
        sets = whole.partial_fit_set(X[:60], y[:60], classes)
        whole.partial_fit(X[60:], y[60:], sample_weight=weights[60:])
        for i in range(120):
            more = {} if i else {"classes": classes}
            rows.learn_one(X[i], y[i], sample_weight=weights[i], **more)
        for i in range(60):
            more = {} if i else {"classes": classes}
            equal(told.partial_fit_set(X[i : i + 1], y[i : i + 1], **more)[0], sets[i])
        told.partial_fit(X[60:], y[60:], sample_weight=weights[60:])
    for one in (rows, told):
        assert one.threshold_ == whole.threshold_
        assert one.coverage_ == whole.coverage_
        equal(one.predict(X), whole.predict(X))


def test_rows_that_cannot_be_learnt_change_nothing():
    X = np.random.default_rng(0).normal(size=(60, 4))
    model = ConformalRegressor(PARegressor()).partial_fit(X, X[:, 0])
    before = model.threshold_, model.coverage_, model.predict(X).tolist()
    bad = X[0].copy()
    bad[1] = np.nan
    for x, y, weight in [(bad, 0.0, 1.0), (X[0, :3], 0.0, 1.0), (X[0], np.inf, 1.0)]:
        with pytest.raises(ValueError, match=r"NaN|finite|features"):
            model.learn_one(x, y, sample_weight=weight)
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        model.learn_one(X[0], 0.0, sample_weight=-1.0)
    assert (model.threshold_, model.coverage_, model.predict(X).tolist()) == before
    classifier = ConformalClassifier(PAClassifier(random_state=0))
    classifier.partial_fit(X, X[:, 0] > 0, classes=[False, True])
    with pytest.raises(ValueError, match="maybe"):
        classifier.learn_one(X[0], "maybe")


def test_rows_as_dictionaries_and_a_label_that_comes_later():
    rows = [{"a": float(i % 7), "b": float(i % 3)} for i in range(60)]
    model = ConformalRegressor(PARegressor())
    for row in rows:
        model.learn_one(row, row["a"])
    assert model.coverage_ > 0.5
    assert model.score_one(rows[3]) == pytest.approx(3.0, abs=1.5)
    X = np.random.default_rng(0).normal(size=(60, 2))
    labels = ConformalClassifier(StreamClassifier(time_budget=5, random_state=0))
    for i in range(60):
        labels.learn_one(X[i], "c" if i > 50 else "ab"[i % 2])
    assert labels.classes_.tolist() == ["a", "b", "c"]


def test_river_takes_conformal_learners():
    pytest.importorskip("river")
    from onlinekern.compat.river import Learner

    model = Learner(ConformalRegressor(PARegressor()))
    labels = Learner(ConformalClassifier(PAClassifier(random_state=0)))
    rng = np.random.default_rng(0)
    for a in rng.normal(size=300):
        model.learn_one({"a": float(a)}, float(3 * a))
        labels.learn_one({"a": float(a)}, "high" if a > 0 else "low")
    assert abs(model.predict_one({"a": 1.0}) - 3.0) < 0.2
    assert labels.predict_one({"a": 1.0}) == "high"
    assert 0.8 < model.estimator_.coverage_ <= 1.0
    assert 0.8 < labels.estimator_.coverage_ <= 1.0


@pytest.mark.parametrize("made", [ConformalRegressor(PARegressor()), ConformalClassifier()])
def test_single_samples_name_what_is_wrong(made):
    X = np.random.default_rng(0).standard_normal((40, 3))
    y = X[:, 0] if isinstance(made, ConformalRegressor) else X[:, 0] > 0
    model = clone(made).fit(X, y)
    before = pickle.dumps(model)
    for weight in (None, "heavy"):
        with pytest.raises(TypeError, match="sample_weight must be a number, got"):
            model.learn_one(X[0], y[0], sample_weight=weight)
    with pytest.raises(ValueError, match=r"\by\b"):
        model.learn_one(X[0], None)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("learner", [FOGDRegressor, StreamRegressor, KernelForestRegressor])
def test_one_model_without_a_seed_does_not_depend_on_the_calls(learner, equal):
    """Its seed is drawn with its first sample. Two models draw two, and differ, as any two do."""
    X = np.random.default_rng(0).normal(size=(120, 3))
    y = X[:, 0] + 0.1 * X[:, 1]
    whole = ConformalRegressor(learner()).learn_one(X[0], y[0])
    rows = pickle.loads(pickle.dumps(whole))
    whole.partial_fit(X[1:], y[1:])
    for x, target in zip(X[1:], y[1:], strict=True):
        rows.learn_one(x, target)
    for one, other in zip(whole.predict_interval(X), rows.predict_interval(X), strict=True):
        equal(one, other)
    single = [whole.predict_interval(X[k : k + 1]) for k in range(len(X))]
    equal(np.hstack(single), np.vstack(whole.predict_interval(X)))


@pytest.mark.parametrize("several", [False, True])
def test_intervals_hold_what_is_predicted_exactly(several):
    """No interval is narrower than its middle, and what is told says so."""
    X = np.random.default_rng(0).normal(size=(3000, 3))
    y = np.zeros(3000)
    y = np.column_stack([X[:, 0], y]) if several else y
    learner = KernelForestRegressor(n_trees=3) if several else PARegressor()
    model = ConformalRegressor(learner)
    for k in range(0, 2900, 100):
        model.partial_fit(X[k : k + 100], y[k : k + 100])
    for k in range(2900, 3000):
        model.learn_one(X[k], y[k])
    assert np.atleast_1d(model.coverage_)[-1] == 1
    assert np.atleast_1d(model.threshold_)[-1] == 0
    assert model.n_outputs_ == (2 if several else 1)


def test_one_target_in_a_list_is_one():
    X = np.random.default_rng(0).normal(size=(30, 3))
    lists, numbers = ConformalRegressor(PARegressor()), ConformalRegressor(PARegressor())
    for x in X:
        lists.learn_one(x, [x[0]])
        numbers.learn_one(x, x[0])
    assert lists._coverage.threshold == numbers._coverage.threshold


def test_columns_of_intervals_of_several_targets_are_named(tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = ConformalRegressor(KernelForestRegressor(n_trees=3)).partial_fit(X, X[:, :2])
    model.save(tmp_path / "model.okn")
    dump_svmlight_file(X[:2], np.zeros(2), str(tmp_path / "rows.txt"), zero_based=False)
    asked = "predict", tmp_path / "model.okn", tmp_path / "rows.txt", "--what", "intervals"
    code, told, _ = run(capsys, *asked)
    assert code == 0
    assert told.splitlines()[0] == "lower_0,upper_0,lower_1,upper_1"


def test_classes_told_in_mid_stream_suit_any_learner():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.digitize(X[:, 0], [-0.4, 0.4])
    two = np.flatnonzero(y[:100] < 2)

    def taught(cut):
        # A learner that is asked sample by sample, and takes classes up.
        model = ConformalClassifier(RenewedLearner(KernelRLSClassifier(random_state=0)))
        model.partial_fit(X[two], y[two], classes=[0, 1])
        for first in range(100, 300, cut):
            part = slice(first, first + cut)
            model.partial_fit(X[part], y[part], classes=[2, 0, 1])
        return model

    whole, pieces = taught(200), taught(7)
    np.testing.assert_array_equal(whole.classes_, [0, 1, 2])
    np.testing.assert_array_equal(whole.predict_set(X), pieces.predict_set(X))
    assert whole.coverage_ == pieces.coverage_

    race = ConformalClassifier(StreamClassifier(random_state=0)).partial_fit(X[two], y[two])
    race.partial_fit(X[100:], y[100:] + 2, classes=[0, 1, 5])
    np.testing.assert_array_equal(race.classes_, [0, 1, 2, 3, 4, 5])
