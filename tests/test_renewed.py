"""Learners that begin anew at alarms: as sample by sample, whatever the calls."""

import copy
import datetime
import pickle
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from grids import thinned
from oracles.drift import uniform
from sklearn.base import BaseEstimator, RegressorMixin, clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

import onlinekern
from onlinekern import (
    AROWClassifier,
    AROWRegressor,
    KernelRLSClassifier,
    KernelRLSRegressor,
    OnlineStandardScaler,
    PAClassifier,
    PARegressor,
    SPAOneClass,
    StreamClassifier,
    TableEncoder,
    load,
    make_stream_pipeline,
)
from onlinekern.core.learning.trials import answering
from onlinekern.drift import LossDetector, RenewedLearner
from onlinekern.drift.losses import Bounded
from onlinekern.evaluate import StreamImportance, prequential

N = 900


def stream(regression=False):
    """Return samples whose function changes its sign twice."""
    X = np.random.default_rng(0).normal(size=(N, 3))
    sign = np.where((np.arange(N) // 300) % 2 == 0, 1, -1)
    f = sign * X[:, 0]
    return X, f if regression else np.where(f > 0, "yes", "no")


MODELS = {
    "least squares": KernelRLSClassifier(n_components=30, random_state=0),
    "race": StreamClassifier(time_budget=5, random_state=0),
    "pipeline": make_stream_pipeline(
        OnlineStandardScaler(), KernelRLSClassifier(n_components=20, random_state=0)
    ),
    "scikit-learn": SGDClassifier(random_state=0, learning_rate="optimal", alpha=1.0),
    "regression": KernelRLSRegressor(n_components=30, random_state=0),
}
DETECTOR = LossDetector(run_length=2000, random_state=0)


# So many samples two learners learn after an alarm.
TRIALS = {"race": 0, "regression": 120, "scikit-learn": 200}
TRIAL = 60


def renewed(name, detector=DETECTOR, **parameters):
    """Return a learner of `MODELS` that begins anew."""
    own = {"n_recent": 50, "n_trial": TRIALS.get(name, TRIAL), **parameters}
    return RenewedLearner(MODELS[name], detector, **own)


def answer_of(learner, x, label, more):
    """Return what is predicted of a sample, which is learnt then."""
    if hasattr(learner, "partial_fit_predict"):
        return learner.partial_fit_predict(x, [label], **more)[0]
    try:
        told = learner.predict(x)[0]
    except NotFittedError:
        told = more["classes"][0]
    if more.get("sample_weight", [1])[0] > 0:
        learner.partial_fit(x, [label], **more)
    return told


def one_by_one(model, X, y, weights, classes):
    """Return the predictions, after which samples a new learner began, and who answers at last."""
    base, detector = model.estimator, clone(model.detector)
    learners, sums, end, newest = [clone(base)], [0.0, 0.0], 0, None
    longer, pause, rests = [0.0, 0.0], 0, 0
    predicted, alarms, first, scale, seen, largest = [], [], [], None, [], 0.0
    for i in range(len(y)):
        more = {} if classes is None else {"classes": classes}
        if weights is not None:
            more["sample_weight"] = weights[i : i + 1]
        told = [answer_of(learner, X[i : i + 1], y[i], more) for learner in learners]
        predicted.append(told[0])
        if weights is not None and weights[i] == 0:
            continue
        seen.append(i)
        errors = [float(one != y[i]) if classes is not None else abs(one - y[i]) for one in told]
        weight = 1.0 if weights is None else weights[i]
        if len(learners) == 2:
            lost = [weight * error**2 for error in errors]
            sums = [0.99 * old + one for old, one in zip(sums, lost, strict=True)]
            longer = [0.998 * old + one for old, one in zip(longer, lost, strict=True)]
            if sums[1] < sums[0]:
                learners, sums, longer = learners[::-1], sums[::-1], longer[::-1]
        loss = errors[0]
        largest = max(weight, 0.999 * largest)
        is_seen = uniform(2626, len(seen)) * largest <= weight
        if classes is None and is_seen:
            if len(first) < 100:
                first += [loss] if loss > 0 else []
                continue
            scale = scale or np.exp(np.mean(np.log(first)))
            loss = np.sqrt(loss / scale) / (np.sqrt(loss / scale) + 1)
        alarm = is_seen and detector.update(loss).drift_detected
        if len(learners) == 2 and (alarm or len(seen) == end):
            brought = learners[0] is newest and longer[0] < 0.9 * longer[1]
            pause = 0 if brought else 2 * pause or 500
            rests = len(seen) + pause if pause >= 1000 else 0
        if alarm and len(seen) > rests:
            alarms.append(len(seen))
            new, last = clone(base), seen[-model.n_recent :]
            size = 1 if "sklearn" in type(base).__module__ else model.n_recent
            for k in range(0, len(last), size):
                rows = last[k : k + size]
                own = {} if classes is None else {"classes": classes}
                if weights is not None:
                    own["sample_weight"] = weights[rows]
                new.partial_fit(X[rows], y[rows], **own)
            learners, newest = [new, *learners[:1]][: 2 if model.n_trial else 1], new
            sums, longer, end = [0.0, 0.0], [0.0, 0.0], len(seen) + model.n_trial
        elif len(learners) == 2 and (alarm or len(seen) == end):
            learners = learners[:1]
            if learners[0] is not newest:
                detector = clone(model.detector)
    return np.array(predicted), alarms, learners


@cache
def expected_of(name):
    X, y = stream(name == "regression")
    classes = None if name == "regression" else np.unique(y)
    return one_by_one(renewed(name), X, y, None, classes)


@pytest.mark.parametrize(("name", "size"), thinned(list(MODELS), [1, 37, N], 2))
def test_it_learns_as_sample_by_sample(name, size, equal):
    X, y = stream(name == "regression")
    classes = None if name == "regression" else np.unique(y)
    more = {} if classes is None else {"classes": classes}
    expected, alarms, learners = expected_of(name)
    model = renewed(name)
    found = [
        model.partial_fit_predict(X[i : i + size], y[i : i + size], **more)
        for i in range(0, N, size)
    ]
    assert len(alarms) >= 2
    assert model.alarms_.tolist() == alarms
    equal(np.concatenate(found), expected)
    equal(model.predict(X), learners[0].predict(X))
    assert (model.rival_ is not None) == (len(learners) == 2)
    assert model.n_seen_ == N
    assert DETECTOR.n_seen_ == 0


@pytest.mark.parametrize("size", [1, 100, N])
def test_weights(size, equal):
    X, y = stream()
    weights = np.random.default_rng(0).integers(0, 3, N).astype(float)
    model = renewed("least squares")
    expected, alarms, _ = one_by_one(model, X, y, weights, np.unique(y))
    found = [
        model.partial_fit_predict(
            X[i : i + size], y[i : i + size], np.unique(y), weights[i : i + size]
        )
        for i in range(0, N, size)
    ]
    assert model.alarms_.tolist() == alarms
    equal(np.concatenate(found), expected)


def rare(seed, moves=True):
    """Return samples of which 5 % are of another class, which changes sides half way."""
    rng = np.random.default_rng(seed)
    y = rng.random(16_000) < 0.05
    side = np.where(np.arange(len(y)) < 10_000, 1.5, -1.5 if moves else 1.5)
    return rng.standard_normal((len(y), 4)) + (y * side)[:, None], y.astype(int)


@pytest.mark.parametrize("kind", ["balanced", "dictionary", "weights"])
def test_a_change_is_seen_where_classes_are_balanced(kind):
    """Most mistakes are of the frequent class, and none of those that tell of the change."""
    found = []
    for seed in range(3):
        X, y = rare(seed)
        given = {"balanced": "balanced", "dictionary": {0: 1.0, 1: 19.0}, "weights": None}[kind]
        weight = np.where(y, 19.0, 1.0) if kind == "weights" else None
        model = RenewedLearner(AROWClassifier(class_weight=given))
        alarms = model.partial_fit(X, y, [0, 1], weight).alarms_
        assert not (alarms <= 10_000).any()
        found.append(bool(((alarms > 10_000) & (alarms < 11_500)).any()))
    assert all(found)


@pytest.mark.parametrize("size", [1, 100, 16_000])
def test_balanced_classes_in_calls_of_any_size(size, tmp_path, equal):
    X, y = rare(0)
    X, y = X[9500:10_800], y[9500:10_800]
    base = RenewedLearner(AROWClassifier(class_weight="balanced"), clone(DETECTOR))
    whole, cut = clone(base).partial_fit(X, y, [0, 1]), clone(base)
    for i in range(0, len(y), size):
        cut.partial_fit(X[i : i + size], y[i : i + size], [0, 1])
        if i <= 400 < i + size:
            cut.save(tmp_path / "model.okn")
            cut = load(tmp_path / "model.okn")
    equal(cut.alarms_, whole.alarms_)
    equal(cut.predict(X), whole.predict(X))
    assert cut.detector_.n_seen_ == whole.detector_.n_seen_ < len(y) / 2


def test_alarms_pause_behind_trials_that_bring_little(equal):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((12_000, 3))
    noise = rng.standard_t(1.5, 12_000) * np.exp(np.repeat(rng.standard_normal(120), 100))
    y = X @ [1.0, 2.0, 3.0] + noise
    base = RenewedLearner(AROWRegressor(), clone(DETECTOR), n_trial=200)
    model = clone(base).partial_fit(X, y)
    expected, alarms, _ = one_by_one(base, X, y, None, None)
    assert model.alarms_.tolist() == alarms
    assert np.diff(alarms).max() > 1000
    assert len(alarms) < 30
    equal(clone(base).partial_fit_predict(X, y), expected)


def test_a_state_of_before_knows_no_pauses():
    X, y = stream()
    model = renewed("least squares").partial_fit(X[:400], y[:400], np.unique(y))
    for name in ("_attention", "_pause", "_rests_until"):
        del vars(model)[name]
    model._lately = (1.0, 2.0, True)
    pickle.loads(pickle.dumps(model)).partial_fit(X[400:], y[400:])


def test_it_is_explained_like_any_other(equal):
    X, y = stream()
    base = renewed("least squares")
    explained = StreamImportance(clone(base), fading=0.99, random_state=0)
    equal(explained.partial_fit_predict(X, y, np.unique(y)), expected_of("least squares")[0])
    assert explained.estimator.alarms_.tolist() == expected_of("least squares")[1]
    assert explained.feature_importances_.argmax() == 0


def test_it_helps_where_a_learner_never_forgets():
    X, y = stream()
    base = MODELS["least squares"]
    errors = [
        prequential(model, [(X, y)], np.unique(y)).error
        for model in (clone(base), RenewedLearner(base, n_trial=100))
    ]
    assert errors[1] < 0.6 * errors[0]


@pytest.mark.parametrize("kind", ["file", "pickle", "copy"])
@pytest.mark.parametrize("name", ["least squares", "regression"])
def test_it_goes_on_where_it_was(kind, name, tmp_path, equal):
    X, y = stream(name == "regression")
    more = {} if name == "regression" else {"classes": np.unique(y)}
    model = renewed(name, n_recent=40)
    # In the middle of a trial.
    model.partial_fit(X[:350], y[:350], **more)
    assert model.rival_ is not None
    if kind == "file":
        model.save(tmp_path / "m.okn")
        again = onlinekern.load(tmp_path / "m.okn")
    else:
        again = pickle.loads(pickle.dumps(model)) if kind == "pickle" else copy.deepcopy(model)
    found = [one.partial_fit_predict(X[350:], y[350:]) for one in (model, again)]
    equal(*found)
    assert model.alarms_.tolist() == again.alarms_.tolist()
    assert len(model.alarms_) >= 2


@pytest.mark.parametrize("name", ["least squares", "scikit-learn", "pipeline"])
def test_a_call_that_fails_changes_nothing(name, equal):
    X, y = stream()
    bad = X.copy()
    bad[850, 0] = np.nan
    models = [renewed(name) for _ in range(2)]
    begun = 330 if name == "least squares" else 200  # in a trial, and before one
    for model in models:
        model.partial_fit(X[:begun], y[:begun], np.unique(y))
    assert (models[0].rival_ is not None) == (begun == 330)
    with pytest.raises(ValueError, match="NaN"):
        models[0].partial_fit(bad[begun:], y[begun:])
    assert models[0].n_seen_ == begun
    assert models[0].alarms_.tolist() == models[1].alarms_.tolist()
    found = [model.partial_fit_predict(X[begun:], y[begun:]) for model in models]
    equal(*found)


def test_what_the_caller_gave_may_change(equal):
    X, y = stream()
    models = [renewed("least squares") for _ in range(2)]
    rows, labels = np.empty((20, 3)), np.empty(20, dtype=y.dtype)
    for i in range(0, N, 20):
        rows[:], labels[:] = X[i : i + 20], y[i : i + 20]
        models[0].partial_fit(rows, labels, np.unique(y))
        models[1].partial_fit(X[i : i + 20], y[i : i + 20], np.unique(y))
    equal(models[0].decision_function(X), models[1].decision_function(X))


def test_what_is_kept_is_the_callers_no_more(equal):
    X, y = stream()
    rows, given = sp.csr_array(X[:20]), np.ones(20)
    model = RenewedLearner(PAClassifier(random_state=0))
    model.partial_fit(rows, y[:20], np.unique(y), given)
    rows.data[:], given[:] = 0, 5
    ((kept, _, weight),) = model._recent
    equal(kept.toarray(), X[:20])
    assert set(weight) == {1}
    row, lists = {}, X[:3].tolist()
    model = RenewedLearner(StreamClassifier(random_state=0))
    for i in range(3):  # one dictionary for all samples
        row |= {"a": X[i, 0], "b": X[i, 1]}
        model.learn_one(row, y[i], np.unique(y))
    assert [one["a"] for (one,), _, _ in model._recent] == X[:3, 0].tolist()
    model = RenewedLearner(PAClassifier(random_state=0)).partial_fit(lists, y[:3], np.unique(y))
    lists[0][0] = 7.0
    equal(model._recent[0][0], X[:3].tolist())


def test_single_rows_may_be_of_one_class_at_first(equal):
    X, y = stream()
    y = np.where(np.arange(N) < 30, "yes", y)
    base = StreamClassifier(time_budget=5, random_state=0)
    single, many = RenewedLearner(base), RenewedLearner(base).partial_fit(X[:60], y[:60])
    for x, label in zip(X[:60], y[:60].tolist(), strict=True):
        single.learn_one(x, label)
    equal(single.decision_function(X), many.decision_function(X))


@pytest.mark.parametrize("n_trial", [0, 100])
def test_a_class_that_comes_later_is_unknown_before(n_trial, equal):
    X, y = stream()
    y = y.astype("U5")
    y[500:][X[500:, 1] > 0.5] = "maybe"
    base = StreamClassifier(time_budget=5, random_state=0)
    models = [RenewedLearner(base, DETECTOR, 50, n_trial) for _ in range(3)]
    told = []
    for model, k in zip(models, (N, 70, 450), strict=True):
        parts = [slice(i, i + k) for i in range(0, N, k)]
        told.append(np.concatenate([model.partial_fit_predict(X[p], y[p]) for p in parts]))
    assert 300 < models[0].alarms_[0] < 500
    for other, labels in zip(models[1:], told[1:], strict=True):
        assert other.alarms_.tolist() == models[0].alarms_.tolist()
        assert (labels == told[0]).all()
        equal(other.decision_function(X), models[0].decision_function(X))


def test_errors_are_bounded_in_their_order():
    errors = np.random.default_rng(0).exponential(size=500) * 1e9
    whole, cut = Bounded(), Bounded()
    losses, early = whole(errors)
    assert early == 100
    assert (np.argsort(losses) == np.argsort(errors[100:])).all()
    assert losses.max() < 1
    parts = [cut(errors[i : i + 7]) for i in range(0, 500, 7)]
    assert np.concatenate([part for part, _ in parts]).tolist() == losses.tolist()


@pytest.mark.parametrize("name", MODELS)
def test_fit_begins_anew_and_scores(name):
    X, y = stream(regression=name == "regression")
    model = renewed(name).fit(X[:400], y[:400])
    classes = None if name == "regression" else np.unique(y)
    expected = clone(model).partial_fit(X, y, classes)
    with pytest.raises(ValueError, match="0 sample"):
        model.fit(X[:0], y[:0])
    assert model.n_seen_ == 400
    model.fit(X, y)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    assert model.alarms_.tolist() == expected.alarms_.tolist()
    assert model.score(X, y) == model.estimator_.score(X, y)
    scores = cross_val_score(clone(model), X[:200], y[:200], cv=2)
    assert scores.shape == (2,)
    assert np.isfinite(scores).all()


def test_what_is_refused():
    X, y = stream()
    with pytest.raises(TypeError, match="must be a classifier or a regressor"):
        RenewedLearner(SPAOneClass()).partial_fit(X, y)
    for name, value in {"n_recent": 0, "n_trial": -1, "estimator": 3, "detector": "x"}.items():
        model = RenewedLearner(PAClassifier()).set_params(**{name: value})
        with pytest.raises(ValueError, match=f"'{name}'"):
            model.partial_fit(X, y, np.unique(y))
    with pytest.raises(NotFittedError):
        RenewedLearner(PAClassifier()).predict(X)
    assert not hasattr(RenewedLearner(PAClassifier()), "predict_interval")


def test_labels_are_refused_as_by_any_classifier():
    X, y = stream()
    cases = {
        "Unknown label type: continuous": X[:, 0],
        r"y\[2\] is missing or NaN": [*"nm", None, *y[3:]],
        "labels are of one kind": np.where(np.arange(N) % 2, "a", np.array(1, dtype=object)),
        "y holds one class only": y[:1].repeat(N),
        r"y must have one label or target a sample, shape \(\d+,\), got": np.column_stack([y, y]),
    }
    for text, labels in cases.items():
        with pytest.raises(ValueError, match=text):
            RenewedLearner(PAClassifier()).fit(X, labels)
    with pytest.raises(ValueError, match="at least one non-zero"):
        RenewedLearner(PAClassifier()).fit(X, y, sample_weight=np.zeros(N))
    model = RenewedLearner(PAClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="y\\[0\\] is missing"):
        model.learn_one(X[0], None)


def test_targets_may_be_objects(equal):
    X, y = stream(regression=True)
    expected = RenewedLearner(PARegressor(), n_recent=10).fit(X, y).predict(X)
    equal(RenewedLearner(PARegressor(), n_recent=10).fit(X, y.astype(object)).predict(X), expected)
    with pytest.raises(ValueError, match=r"y\[1\] is missing"):
        RenewedLearner(PARegressor()).fit(X, [1.0, None, *y[2:]])


# A sample of weight 2 is not two samples: see test_sklearn_contract.py.
NOT_REPEATED = {
    f"check_sample_weight_equivalence_on_{layout}_data": "a weight is no repetition of a sample"
    for layout in ("dense", "sparse")
}
OF_COLUMNS = {"check_supervised_y_2d": "a column of targets is taken without a warning"}


@parametrize_with_checks(
    [RenewedLearner(PAClassifier(random_state=0)), RenewedLearner(PARegressor(random_state=0))],
    expected_failed_checks=lambda model: (
        NOT_REPEATED if is_classifier(model) else NOT_REPEATED | OF_COLUMNS
    ),
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_features_are_those_of_the_learner():
    X, y = stream()
    model = RenewedLearner(PAClassifier(), n_recent=10)
    assert not hasattr(model, "n_features_in_")
    with pytest.raises(NotFittedError, match="This RenewedLearner"):
        model.predict(X)
    model.fit(X, y)
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")
    model.fit([dict(zip("abc", row, strict=True)) for row in X.tolist()], y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.learn_one({"c": 1.0, "a": 2.0, "b": 3.0}, "no").n_seen_ == N + 1


@pytest.mark.parametrize("name", MODELS)
def test_one_sample_is_learnt_as_in_a_call(name, equal):
    X, y = stream(name == "regression")
    classes = None if name == "regression" else ["no", "yes"]
    many, single = (renewed(name, clone(DETECTOR)) for _ in range(2))
    weights = np.where(np.arange(N) % 7 == 0, 0.0, 1.0) if name != "scikit-learn" else np.ones(N)
    many.partial_fit(X[:500], y[:500], classes, sample_weight=weights[:500])
    for x, label, weight in zip(X[:500], y[:500].tolist(), weights[:500].tolist(), strict=True):
        single.learn_one(x, label, classes, weight)
    equal(single.predict(X), many.predict(X))
    equal(single.alarms_, many.alarms_)
    assert len(many.alarms_) >= 1
    assert single.n_seen_ == many.n_seen_
    if name == "scikit-learn":
        assert not hasattr(single, "score_one")
    else:
        assert single.score_one(X[3]) == single.estimator_.score_one(X[3])
    before = pickle.dumps(single)
    with pytest.raises(ValueError, match=r"features|finite|sample_weight|weight"):
        single.learn_one(X[0], y[0], classes, -1.0)
    with pytest.raises(ValueError, match="features"):
        single.learn_one(X[0][:2], y[0])
    assert pickle.dumps(single) == before


@pytest.mark.parametrize("n_trial", [0, 30, 1000])
@pytest.mark.parametrize("name", ["classification", "regression", "race", "several"])
def test_the_shortest_way_of_a_row_learns_the_same(name, n_trial, equal, monkeypatch):
    X, y = stream(name == "regression")
    y = np.where(y == "yes", (np.arange(N) % 2).astype("U"), y) if name == "several" else y
    learner = {
        "regression": PARegressor(), "race": StreamClassifier(time_budget=5.0, random_state=0)
    }.get(name, MODELS["least squares"])  # fmt: skip
    many, single = (
        RenewedLearner(learner, clone(DETECTOR), n_recent=20, n_trial=n_trial) for _ in range(2)
    )
    first = {} if name == "regression" else {"classes": np.unique(y)}
    many.partial_fit(X[:40], y[:40], **first).partial_fit(X[40:500], y[40:500])
    single.partial_fit(X[:40], y[:40], **first)
    short, shortest = [], RenewedLearner._learn_row

    def noted(model, *row):
        short.append(shortest(model, *row))
        return short[-1]

    monkeypatch.setattr(RenewedLearner, "_learn_row", noted)
    for x, target in zip(X[40:500], y[40:500].tolist(), strict=True):
        single.learn_one(x, target)
    assert sum(short) > 20
    assert len(many.alarms_) >= 1
    equal(single.alarms_, many.alarms_)
    equal(single.predict(X), many.predict(X))
    assert (single.rival_ is None) == (many.rival_ is None)
    assert single.n_seen_ == many.n_seen_
    equal(single.detector_.n_seen_, many.detector_.n_seen_)


def test_a_detector_that_fails_leaves_a_learner_of_rows_as_it_was(monkeypatch):
    X, y = stream()
    model = RenewedLearner(PAClassifier()).partial_fit(X[:100], y[:100], ["no", "yes"])
    model.learn_one(X[100], y[100])
    before = pickle.dumps(model)

    def fails(detector, losses):
        raise KeyboardInterrupt

    monkeypatch.setattr(LossDetector, "update_many", fails)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one(X[101], y[101])
    assert pickle.dumps(model) == before


def test_one_sample_may_be_a_dictionary(equal):
    X, y = stream()
    rows = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    many, single = (RenewedLearner(PAClassifier(random_state=0)) for _ in range(2))
    many.partial_fit(rows[:200], y[:200], ["no", "yes"])
    for x, label in zip(rows[:200], y[:200], strict=True):
        single.learn_one(x, label, ["no", "yes"])
    equal(single.predict(rows), many.predict(rows))
    assert single.score_one(rows[0]) == single.estimator_.score_one(rows[0])


class LastTarget(RegressorMixin, BaseEstimator):
    """Predicts the last target, as a learner of another library would: sample by sample."""

    def partial_fit(self, X, y, sample_weight=None):
        self.last_ = np.array(y[-1])
        return self

    fit = partial_fit

    def predict(self, X):
        check_is_fitted(self)
        return np.repeat(self.last_[np.newaxis], len(X), axis=0)


@pytest.mark.parametrize(
    "base",
    [KernelRLSRegressor(n_components=30, reg=0.1, random_state=0), LastTarget()],
    ids=["own", "another"],
)
def test_several_targets_are_one_error(base):
    X, y = stream(regression=True)
    # What the last target tells of the next one gets worse.
    y = np.where(np.arange(N) < 400, y, 20 * y)
    one, column, two = (RenewedLearner(base, clone(DETECTOR), 50, 100) for _ in range(3))
    told = one.partial_fit_predict(X, y)
    # A target that is always 0 has no error.
    pairs = two.partial_fit_predict(X, np.column_stack([y, 0 * y]))
    np.testing.assert_allclose(pairs, np.column_stack([told, 0 * y]), atol=1e-5)
    np.testing.assert_array_equal(column.partial_fit_predict(X, y[:, np.newaxis]), told)
    assert len(one.alarms_) > 0
    assert one.alarms_.tolist() == two.alarms_.tolist() == column.alarms_.tolist()


def test_what_is_kept_is_a_copy_of_the_last_samples():
    X, y = stream()
    rows, model = X.copy(), RenewedLearner(PAClassifier(random_state=0), n_recent=30)
    for first in (0, 10, 15, 200, 201, 260):
        part = slice(first, {0: 10, 10: 15, 15: 200, 200: 201, 201: 260, 260: 270}[first])
        model.partial_fit(rows[part], y[part], ["no", "yes"])
        kept = np.concatenate([piece for piece, _, _ in model._recent])
        assert len(kept) <= 60
        np.testing.assert_array_equal(kept[-30:], X[max(0, part.stop - 30) : part.stop])
        rows[part] = 0


def garbage():
    """Return samples of one function, and labels of which two hundred tell nothing."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 3))
    y = X[:, 0] * X[:, 1] > 0
    y[1500:1700] = rng.random(200) < 0.5
    return X, y


def test_what_passes_soon_costs_nothing_that_was_learnt():
    X, y = garbage()
    base = KernelRLSClassifier(n_components=60, random_state=0)
    errors = {}
    for n_trial in (0, 400):
        model = RenewedLearner(base, n_trial=n_trial)
        wrong = model.partial_fit_predict(X, y, [False, True]) != y
        assert len(model.alarms_) > 0
        errors[n_trial] = wrong[1700:2200].mean()
    assert errors[400] < 0.7 * errors[0]


@pytest.mark.parametrize("size", [100, 4096, 9000])
def test_long_calls_are_learnt_in_pieces(size, equal):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(9000, 2))
    y = (X[:, 0] > 0) ^ (np.arange(9000) >= 5000)
    models = [RenewedLearner(PAClassifier(random_state=0), n_trial=300) for _ in range(2)]
    for i in range(0, 9000, size):
        models[0].partial_fit(X[i : i + size], y[i : i + size], [False, True])
    models[1].partial_fit(X, y, [False, True])
    equal(models[0].decision_function(X), models[1].decision_function(X))
    assert models[0].alarms_.tolist() == models[1].alarms_.tolist() != []
    bad = X.copy()
    bad[-1, 0] = np.inf
    before = pickle.dumps(models[1])
    with pytest.raises(ValueError, match="infinity"):
        models[1].partial_fit(bad, y)
    assert pickle.dumps(models[1]) == before


def test_a_detector_is_copied_as_it_is():
    random = np.random.RandomState(3)
    detector = LossDetector(random_state=random, run_length=1000).update_many(np.zeros(200))
    other = copy.deepcopy(detector)
    assert vars(other).keys() == vars(detector).keys()
    assert other.random_state is not random
    other.update_many(np.ones(500))
    assert detector.n_seen_ == 200
    assert len(detector.alarms_) == 0 < len(other.alarms_)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_tables_are_kept_behind_an_encoder_or_as_dictionaries(kind, tmp_path):
    pytest.importorskip(kind)
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    columns = {f"c{j}": X[:, j] for j in range(3)} | {"d": np.where(y > 0, "a", "b")}
    module = __import__(kind)
    table = module.table(columns) if kind == "pyarrow" else module.DataFrame(columns)
    model = RenewedLearner(PAClassifier(random_state=0)).partial_fit(table, y, classes=[0, 1])
    with pytest.raises(TypeError, match=r"_recent.* is a table, .*\(TableEncoder\(\), RenewedL"):
        model.save(tmp_path / "model.okn")
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).predict(table), model.predict(table)
    )
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    behind = make_stream_pipeline(TableEncoder(), RenewedLearner(PAClassifier(random_state=0)))
    for learner, rows in ((behind, table), (RenewedLearner(PAClassifier(random_state=0)), records)):
        learner.partial_fit(rows, y, classes=[0, 1]).save(tmp_path / "model.okn")
        np.testing.assert_array_equal(
            load(tmp_path / "model.okn").predict(rows), learner.predict(rows)
        )


def test_equal_losses_raise_no_alarm():
    """Nothing but the draws of their ranks tells them apart, and these are those of all streams."""
    detector = RenewedLearner(PAClassifier())._new_detector()
    assert not detector.update_many(np.zeros(500_000)).alarms_.size


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_labels_that_are_dates_are_saved(tmp_path, unit):
    X = np.random.default_rng(0).normal(size=(300, 3))
    days = np.array(["2020-01-01", "2020-01-02"], dtype=f"datetime64[{unit}]")
    y = days[(X[:, 0] > 0).astype(int)]
    model = RenewedLearner(PAClassifier(class_weight="balanced"))
    model.partial_fit(X[:200], y[:200], classes=np.unique(y))
    model.learn_one(X[200], datetime.date(2020, 1, 1))
    model.save(tmp_path / "model.okn")
    again = load(tmp_path / "model.okn")
    assert again.partial_fit(X[201:], y[201:]).score(X, y.astype("M8[D]").tolist()) > 0.9


def test_who_answers_is_as_sample_by_sample():
    rng = np.random.default_rng(0)
    losses = rng.exponential(size=(2, 400)) * np.where(np.arange(400) // 100 % 2, [[1], [3]], 2)
    losses[0, [30, 250]] = np.inf
    counts = rng.random(400) < 0.9
    lately, longer, place, is_new = np.zeros(2), np.zeros(2), 0, True
    expected = [0]
    for pair, counted in zip(np.minimum(losses.T, 1e300), counts, strict=True):
        if counted:
            lately, longer = 0.99 * lately + pair, 0.998 * longer + pair
        if lately[1 - place] < lately[place]:
            place, is_new = 1 - place, not is_new
        expected.append(place)
    sums = (0.0, 0.0, True, 0.0, 0.0)
    found = []
    for part in (slice(0, 7), slice(7, 130), slice(130, 400)):
        pair = losses[:, part][::-1] if found and found[-1] else losses[:, part]
        others, sums = answering(*np.ascontiguousarray(pair), counts[part], sums)
        others = others ^ (found[-1] if found else False)
        found = [*found[:-1], *others.tolist()]
    assert found == expected
    assert len(np.flatnonzero(np.diff(expected))) > 2
    order = [place, 1 - place]
    np.testing.assert_allclose(sums, [*lately[order], is_new, *longer[order]], rtol=1e-12)
