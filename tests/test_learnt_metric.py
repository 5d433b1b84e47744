"""Samples in a metric that is learnt along the stream, against its NumPy twin, and its page."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from grids import grid
from oracles.gradient_metric import GradientMetric as Twin
from oracles.metric import root_of
from sklearn.utils.estimator_checks import parametrize_with_checks

from onlinekern import (
    AROWClassifier,
    FOGDRegressor,
    KernelPARegressor,
    LearntMetric,
    OnlineStandardScaler,
    SPAClassifier,
    make_stream_pipeline,
    merge,
)
from onlinekern.core.features.gradient_metric import GradientMetric
from onlinekern.core.models.chosen_metric import ChosenMetric
from onlinekern.fitted.save import from_bytes, to_bytes
from onlinekern.plotting import ImportanceDisplay, MetricDisplay

KINDS = {"binary": 2, "three": 3, "ten": 10, "regression": 0}
FORMS = {
    "default": {},
    "auto": {"metric": "auto"},
    "full": {"metric": "full"},
    "p = 1": {"metric_exponent": 1.0},
    "full, p = 1": {"metric": "full", "metric_exponent": 1.0},
}


def samples(n_classes, n=1100, d=6, seed=0):
    """Return rows, and labels or targets of a function of few of their features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[np.abs(X) < 0.3] = 0
    f = np.sin(2 * X[:, 0]) + X[:, 3] * X[:, 2] + 0.2 * rng.normal(size=n)
    if n_classes == 0:
        return X, 30 + 7 * f
    return X, np.digitize(f, np.quantile(f, np.arange(1, n_classes) / n_classes))


def again(model):
    """Return a model that has been saved and loaded."""
    return from_bytes(to_bytes(model), "a file")


def dense(X):
    return X.toarray() if sp.issparse(X) else X


@pytest.mark.parametrize(
    ("form", "kind", "dtype", "layout"),
    grid(list(FORMS), list(KINDS), ["float64", "float32"], ["dense", "csr"]),
)
def test_twin(form, kind, dtype, layout):
    X, y = samples(KINDS[kind])
    X = X.astype(dtype)
    rows = sp.csr_matrix(X) if layout == "csr" else X
    model = LearntMetric(**FORMS[form], random_state=0)
    found = model.learn_transform(rows, y)
    assert found.dtype == dtype
    assert sp.issparse(found) == (layout == "csr" and model.metric == "diagonal")
    *full, exponent, _, seed = model._metric.settings
    twin = Twin(
        6, full=full[0] if full else None, exponent=exponent, labels=KINDS[kind] > 0, seed=seed
    )
    # The twin solves the machine's equations in another order; their condition is some 10^8.
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype == "float32" else {"rtol": 1e-7, "atol": 1e-7}
    for x, z, target in zip(X, dense(found), y, strict=True):
        np.testing.assert_allclose(z, twin.moved(x), **close)
        twin.learn(x, target)
    M = model.metric_ if model.metric_.ndim == 2 else np.diag(model.metric_)
    np.testing.assert_allclose(M, twin.M, **close)
    np.testing.assert_allclose(dense(model.transform(rows)), X @ root_of(twin.M), **close)


@parametrize_with_checks(
    [LearntMetric(metric=form, random_state=0) for form in ("auto", "diagonal", "full")]
)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
def test_calls_may_be_cut_anywhere(form, layout):
    X, y = samples(3)
    whole = LearntMetric(**FORMS[form], random_state=0).learn_transform(layout(X), y)
    for size in (1, 37, 256, 700):
        model, found = LearntMetric(**FORMS[form], random_state=0), []
        for i in range(0, len(X), size):
            found.append(dense(model.learn_transform(layout(X[i : i + size]), y[i : i + size])))
            if i == 13 * size:
                model = again(model) if size > 1 else pickle.loads(pickle.dumps(model))
        assert np.array_equal(np.vstack(found), dense(whole))


def test_what_matters_is_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    for kind in ("numbers", "labels"):
        targets = y if kind == "numbers" else np.where(y > 0, "high", "low")
        model = LearntMetric(random_state=0).partial_fit(X, targets)
        assert set(np.argsort(-model.feature_importances_)[:3]) == {0, 1, 2}
        assert model.feature_importances_.sum() == pytest.approx(1)
        assert model.metric_.sum() == pytest.approx(20)
    turned = np.sin(0.3 * X @ rng.normal(size=20))
    model = LearntMetric(metric="full", random_state=0).partial_fit(X, turned)
    assert np.linalg.eigvalsh(model.metric_)[-1] > 3 * np.linalg.eigvalsh(model.metric_)[-2]


@pytest.mark.parametrize("learner", [KernelPARegressor, FOGDRegressor])
def test_learners_behind_err_less(learner):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 20))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    plain = learner(random_state=0).partial_fit(X[:2500], y[:2500])
    moved = make_stream_pipeline(LearntMetric(random_state=0), learner(random_state=0))
    moved.partial_fit(X[:2500], y[:2500])
    assert 1 - moved.score(X[2500:], y[2500:]) < 0.7 * (1 - plain.score(X[2500:], y[2500:]))


def test_fit_takes_its_samples_in_an_order_of_its_own():
    X, y = samples(3)
    order = np.argsort(y)
    sorted_, mixed = (
        LearntMetric(random_state=0).fit(X[rows], y[rows]) for rows in (order, slice(None))
    )
    assert np.abs(sorted_.metric_ - mixed.metric_).max() < 0.5
    small = LearntMetric(random_state=0).fit(X[:50], y[:50])
    assert not np.all(small.metric_ == 1)


def test_a_failure_changes_nothing():
    X, y = samples(2)
    model = make_stream_pipeline(
        OnlineStandardScaler(), LearntMetric(random_state=0), SPAClassifier(random_state=0)
    ).partial_fit(X[:300], y[:300], classes=[0, 1])
    before = to_bytes(model)
    bad = y[300:600].copy()
    bad[-1] = 7
    with pytest.raises(ValueError, match="7"):
        model.partial_fit(X[300:600], bad)
    wrong = X[300:600].copy()
    wrong[-1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(wrong, y[300:600])
    assert to_bytes(model) == before


def test_labels_may_come_later_and_be_text():
    X, y = samples(3)
    names = np.array(["a", "b", "c"])[y]
    once = LearntMetric(random_state=0).partial_fit(X[:300], np.where(y[:300] == 2, 1, y[:300]))
    once.partial_fit(X[300:], y[300:])
    text = LearntMetric(random_state=0).partial_fit(X[:1], names[:1]).partial_fit(X[1:], names[1:])
    assert not np.all(text.metric_ == 1)
    with pytest.raises(ValueError, match="did not hold such labels"):
        once.partial_fit(X, names)
    with pytest.raises(ValueError, match="did not hold such labels"):
        text.partial_fit(X, y)


def test_values_that_are_none():
    X, y = samples(0)
    for bad in ({"metric": "none"}, {"metric_exponent": 0}, {"target": "text"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            LearntMetric(**bad).fit(X, y)
    with pytest.raises(ValueError, match="metric='full' takes at most 1000 features"):
        LearntMetric(metric="full").partial_fit(np.zeros((2, 1001)), [0, 1])
    with pytest.raises(ValueError, match="y"):
        LearntMetric().partial_fit(X, None)


def test_large_values_do_no_harm():
    X, y = samples(0)
    X[5] *= 1e150
    for target in (y, 1e300 * y):
        model = LearntMetric(random_state=0).partial_fit(X, target)
        assert np.isfinite(model.metric_).all()


def test_wide_sparse_rows_stay_sparse():
    X = sp.random(600, 50_000, 0.001, format="csr", random_state=0)
    y = np.asarray(X[:, :25_000].sum(axis=1) > X[:, 25_000:].sum(axis=1)).ravel()
    model = LearntMetric(random_state=0)
    found = model.learn_transform(X, y)
    assert sp.issparse(found)
    assert found.nnz == X.nnz


def test_merging():
    X, y = samples(2, n=2000)
    base = make_stream_pipeline(LearntMetric(random_state=0), AROWClassifier())
    base.partial_fit(X[:600], y[:600], classes=[0, 1])
    parts = [again(base).partial_fit(X[k : k + 300], y[k : k + 300]) for k in (600, 900)]
    merged = merge(parts, base=base)
    assert np.array_equal(merged[0].metric_, base[0].metric_)
    others = [LearntMetric(random_state=0).partial_fit(X[k : k + 300], y[k : k + 300])
              for k in (0, 300)]  # fmt: skip
    with pytest.raises(ValueError, match="different metrics"):
        merge(others)


@pytest.mark.parametrize("form", ["auto", "diagonal", "full"])
def test_states_that_are_none(form):
    X, y = samples(2)
    part = LearntMetric(metric=form, random_state=0).partial_fit(X, y)._metric
    good = part.get_state()
    wrong = [
        ("entered", -1), ("entered", 20), ("rows", good["rows"][:, 1:]), ("rows", X[:3]),
        ("targets", good["targets"][1:]), ("root", good["root"][1:]), ("root", np.ones(5)),
        ("root", np.full(6, np.nan)), ("root", 7), ("root", np.eye(5)),
    ]  # fmt: skip
    if form == "auto":
        gradients = good["gradients"]
        wrong += [("form", 4), ("form", -1), ("form", "full"), ("gradients", gradients[0]),
                  ("gradients", np.full((6, 6), np.nan)), ("gradients", None)]  # fmt: skip
    else:
        wrong.append(("root", np.eye(6) if form == "diagonal" else np.ones(6)))
    for name, bad in wrong:
        with pytest.raises((ValueError, TypeError)):
            part.set_state({**good, name: bad})
    # The next look, at twice as many samples, has a number.
    with pytest.raises(ValueError, match="entered must be in"):
        part.set_state({**good, "entered": 2**62})
    assert pickle.dumps(part.get_state()) == pickle.dumps(good)
    part.set_state(good)


def test_arguments_that_are_none():
    wrong = [(0, 0.5, "auto", 1), (6, 0.0, "auto", 1), (6, 0.5, "none", 1), (6, 0.5, "auto", -1)]
    for bad in wrong:
        with pytest.raises((ValueError, TypeError)):
            ChosenMetric(bad[0], np.float64, *bad[1:])
    for bad in ((1001, True, 0.5, "auto"), (6, "no", 0.5, "auto"), (6, False, 0.0, "auto"),
                (6, False, 0.5, "none"), (0, False, 0.5, "auto")):  # fmt: skip
        with pytest.raises((ValueError, TypeError)):
            GradientMetric(bad[0], np.float64, *bad[1:], 1)


def test_pictures():
    X, y = samples(2, n=600)
    for form in ("diagonal", "full"):
        model = LearntMetric(metric=form, random_state=0).fit(X, y)
        assert MetricDisplay.from_estimator(model).ax_ is not None
        assert len(ImportanceDisplay.from_estimator(model).bars_) == 6
