"""Queries of labels: as the oracle decides, within the budget, whatever the calls."""

import copy
import pickle

import numpy as np
import pytest
from learners import answer_of
from oracles.queries import Query
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import onlinekern
from onlinekern import (
    AROWClassifier,
    AROWRegressor,
    KernelRLSClassifier,
    KernelRLSRegressor,
    OnlineStandardScaler,
    PAClassifier,
    PARegressor,
    SCWClassifier,
    StreamClassifier,
    make_stream_pipeline,
)
from onlinekern.evaluate import LabelQuery, prequential
from onlinekern.evaluate.test_then_train import Run
from onlinekern.streams import gaussian_mixture

STRATEGIES = ("quantile", "variable", "randomized", "fixed", "random")
N = 600


def stream(n=N):
    return gaussian_mixture(n, random_state=0)


def series(n=2000):
    """Return certainties that grow, some of them equal, some unknown."""
    rng = np.random.default_rng(1)
    values = np.abs(rng.normal(size=n)) * np.linspace(0.5, 3, n)
    values[rng.random(n) < 0.1] = 0.25
    values[:3] = np.nan
    return values


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("budget", [0.02, 0.3, 1.0])
def test_it_decides_as_the_oracle(strategy, budget, equal):
    values = series()
    query = LabelQuery(budget=budget, strategy=strategy, step=0.02, threshold=0.7, random_state=0)
    found = query.decide(values)
    twin = Query(query._seed, budget, strategy, 0.7, 0.02)
    expected = [twin.decide(value) for value in values]
    equal(found, np.array(expected))
    assert query.n_seen_ == 2000
    assert query.n_asked_ == sum(expected)
    level = twin.part if strategy == "quantile" else twin.threshold
    assert query.threshold_ == pytest.approx(level)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("size", [1, 7, 300])
def test_calls_do_not_matter(strategy, size, equal):
    values = series()
    whole, cut = (LabelQuery(strategy=strategy, random_state=3) for _ in range(2))
    expected = whole.decide(values)
    found = [cut.decide(values[i : i + size]) for i in range(0, 2000, size)]
    equal(np.concatenate(found), expected)
    assert cut.threshold_ == whole.threshold_


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("budget", [0.05, 0.2])
def test_the_budget_is_kept(strategy, budget):
    values = np.concatenate([series(5000), series(5000) / 50])
    query = LabelQuery(budget=budget, strategy=strategy, random_state=0)
    asked = query.decide(values)
    # By chance a fifth of the samples at least are asked of; a fixed threshold may ask for less.
    low = 0.01 if strategy == "fixed" else budget - 0.015
    assert low < asked.mean() < budget + 0.015
    if strategy == "quantile":
        # The lowest are asked for, but for those decided on by chance.
        known = ~np.isnan(values)
        parts = [values[known & asked], values[known & ~asked]]
        assert np.median(parts[0]) < 0.3 * np.median(parts[1])


def test_equal_certainties_are_asked_for_by_chance():
    query = LabelQuery(budget=0.1, explore=0.0, random_state=0)
    asked = query.decide(np.zeros(5000))
    assert 0.09 < asked.mean() < 0.11


def test_margins():
    X, y = stream()
    two = PAClassifier(random_state=0).partial_fit(X, y, classes=np.unique(y))
    query = LabelQuery()
    np.testing.assert_allclose(query.certainties(two, X), 2 * np.abs(two.decision_function(X)))
    three = PAClassifier(random_state=0).partial_fit(X, np.arange(N) % 3, classes=[0, 1, 2])
    ordered = np.sort(three.decision_function(X), axis=1)
    np.testing.assert_allclose(query.certainties(three, X), ordered[:, 2] - ordered[:, 1])
    other = GaussianNB().fit(X, np.arange(N) % 3)
    ordered = np.sort(other.predict_proba(X), axis=1)
    np.testing.assert_allclose(
        query.certainties(other, X), ordered[:, 2] - ordered[:, 1], atol=1e-12
    )


@pytest.mark.parametrize("covariance", ["diagonal", "full", "shared"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_leverage_of_linear_learners(covariance, fit_intercept, as_rows, n_classes):
    X, _ = stream(60)
    y = np.arange(60) % n_classes
    model = SCWClassifier(covariance=covariance, fit_intercept=fit_intercept, random_state=0)
    model.partial_fit(as_rows(X), y, classes=np.arange(n_classes))
    rows = np.column_stack([X, np.ones(60)]) if fit_intercept else X
    each = []
    for S in model.covariance_:
        S = np.diag(S) if covariance == "diagonal" else S
        each.append([x @ S @ x for x in rows])
    np.testing.assert_allclose(model.leverage(as_rows(X)), np.mean(each, axis=0), rtol=1e-6)


def test_certainty_by_leverage():
    X, y = stream()
    query = LabelQuery(certainty="leverage")
    for learner in (AROWClassifier(random_state=0), KernelRLSClassifier(random_state=0)):
        model = learner.partial_fit(X, y, classes=np.unique(y))
        expected = 2 * np.abs(model.decision_function(X)) / np.sqrt(model.leverage(X))
        np.testing.assert_allclose(query.certainties(model, X), expected)
        piped = make_stream_pipeline(OnlineStandardScaler(), clone(learner))
        piped.partial_fit(X, y, classes=np.unique(y))
        rows = piped[:-1].transform(X)
        expected = 2 * np.abs(piped.decision_function(X)) / np.sqrt(piped[-1].leverage(rows))
        np.testing.assert_allclose(query.certainties(piped, X), expected)
    for learner in (AROWRegressor(), KernelRLSRegressor(random_state=0)):
        learner.partial_fit(X, y)
        np.testing.assert_allclose(query.certainties(learner, X), 1 / np.sqrt(learner.leverage(X)))


def one_by_one(model, query, X, y, classes=None):
    """Return the predictions of a model that learns what a query asks for."""
    more = {} if classes is None else {"classes": classes}
    predicted = []
    for i in range(len(y)):
        predicted.append(answer_of(model, X[i : i + 1], classes))
        if query.ask(model, X[i : i + 1])[0]:
            model.partial_fit(X[i : i + 1], y[i : i + 1], **more)
    return np.array(predicted)


@pytest.mark.parametrize("size", [N, 13])
@pytest.mark.parametrize(
    "model",
    [
        PAClassifier(random_state=0),
        KernelRLSClassifier(n_components=20, random_state=0),
        StreamClassifier(time_budget=5, random_state=0),
        make_stream_pipeline(OnlineStandardScaler(), PAClassifier(random_state=0)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_run_learns_what_is_asked_for(model, size, equal):
    X, y = stream()
    classes = np.unique(y)
    found, query = [], LabelQuery(budget=0.15, random_state=1)
    run = Run(clone(model), classes, query=query)
    add = run._metrics.add
    run._metrics.add = lambda y, told, *more: found.extend(told) or add(y, told, *more)
    for i in range(0, N, size):
        run.feed(X[i : i + size], y[i : i + size])
    twin, other = clone(model), LabelQuery(budget=0.15, random_state=1)
    expected = one_by_one(twin, other, X, y, classes)
    equal(np.array(found), expected)
    equal(run.estimator.predict(X), twin.predict(X))
    result = run.result()
    assert result.n_asked == query.n_asked_ == other.n_asked_
    assert 0.1 * N < result.n_asked < 0.2 * N
    assert result.n_samples == N


def test_a_regression_is_asked_by_leverage():
    X, _ = stream()
    y = X @ np.arange(X.shape[1])
    runs = {}
    for name, more in {"all": None, "some": {"certainty": "leverage"}}.items():
        query = None if more is None else LabelQuery(budget=0.1, random_state=0, **more)
        runs[name] = prequential(KernelRLSRegressor(random_state=0), [(X, y)], query=query)
    assert runs["some"].n_asked < 0.15 * N
    assert runs["all"].n_asked is None
    assert runs["all"].error < runs["some"].error < 0.9 * y.std()


def test_uncertain_labels_tell_more_than_labels_by_chance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2)) * [3, 1]
    y = (X[:, 0] + 0.2 * X[:, 1] > 0).astype(int)
    errors = {}
    for strategy in ("random", "quantile"):
        query = LabelQuery(budget=0.02, strategy=strategy, explore=0.1, random_state=0)
        errors[strategy] = prequential(
            AROWClassifier(random_state=0), [(X, y)], [0, 1], query=query
        ).error
    assert errors["quantile"] < 0.7 * errors["random"]


class Noting:
    drift_detected = False

    def __init__(self):
        self.values = []

    def update(self, value):
        self.values.append(value)


def test_baselines_and_detectors_know_what_was_asked_for():
    X, y = stream()
    detector, query = Noting(), LabelQuery(strategy="random", budget=0.3, random_state=0)
    result = prequential(
        PAClassifier(), [(X[:99], y[:99]), (X[99:], y[99:])], np.unique(y), query=query,
        detector=detector,
    )  # fmt: skip
    assert len(detector.values) == result.n_asked
    asked = LabelQuery(strategy="random", budget=0.3, random_state=0).decide(np.zeros(N))
    last, wrong = np.unique(y)[0], 0
    for label, known in zip(y, asked, strict=True):
        wrong += label != last
        last = label if known else last
    assert result.figures["no_change_error"] == wrong / N


def asked_late(model, X, y, query, delays, classes):
    """Return predictions where labels that are asked for come after so many samples, one by one."""
    predicted, waiting = [], []
    for i in range(len(y)):
        row = X[i : i + 1]
        asked = query.ask(model, row)[0]
        predicted.append(answer_of(model, row, classes))
        if asked:
            waiting.append((i + delays[i], i))
        for _, k in sorted(one for one in waiting if one[0] == i):
            model.partial_fit(X[k : k + 1], y[k : k + 1], classes=classes)
    return np.array(predicted), waiting


@pytest.mark.parametrize("size", [1, 13, 64, N])
@pytest.mark.parametrize("delay", [0, 1, 37, 10**6, "each"])
@pytest.mark.parametrize("strategy", ["quantile", "random"])
def test_labels_asked_for_may_come_late(delay, size, strategy, equal):
    X, y = stream()
    classes = np.unique(y)
    delays = np.random.default_rng(0).integers(0, 60, N)
    if delay == "each":
        delay = delays
    query = LabelQuery(budget=0.2, strategy=strategy, random_state=0)
    twin = clone(query)
    expected, asked = asked_late(
        PAClassifier(random_state=0), X, y, twin, np.broadcast_to(delay, N), classes
    )
    run, found = Run(PAClassifier(random_state=0), classes, query=query, delay=delay), []
    add = run._metrics.add
    run._metrics.add = lambda y, told, *more: found.extend(told) or add(y, told, *more)
    for i in range(0, N, size):
        run.feed(X[i : i + size], y[i : i + size])
    equal(np.array(found), expected)
    result = run.result()
    assert result.n_asked == len(asked) == query.n_asked_
    # The baseline that predicts the last label knows those that have come, in their order.
    known = [[y[k] for due, k in sorted(asked) if due < i] or [classes[0]] for i in range(N)]
    assert result.figures["no_change_error"] == np.mean([one[-1] for one in known] != y)


def test_a_detector_is_told_what_was_asked_for_and_came():
    X, y = stream()
    detector, query = Noting(), LabelQuery(strategy="random", budget=0.3, random_state=0)
    prequential(
        PAClassifier(), [(X[:99], y[:99]), (X[99:], y[99:])], np.unique(y), query=query,
        detector=detector, delay=50,
    )  # fmt: skip
    asked = LabelQuery(strategy="random", budget=0.3, random_state=0).decide(np.zeros(N))
    assert len(detector.values) == asked[:-50].sum()


def test_a_batch_estimator_learns_what_is_asked_for():
    X, y = stream()
    query = LabelQuery(budget=0.3, random_state=0)
    result = prequential(LogisticRegression(), [(X, y)], np.unique(y), query=query)
    assert result.n_asked == query.n_asked_ < 0.4 * N


def test_what_is_unknown_is_asked_for_by_chance():
    X, y = stream()
    model, query = StreamClassifier(time_budget=5, random_state=0), LabelQuery(random_state=0)
    assert query.ask(model, X)[0]
    assert 0.05 < query.n_asked_ / N < 0.15
    model.partial_fit(X[:1], y[:1])  # one label, so far
    assert np.isnan(query.certainties(model, X)).all()


@pytest.mark.parametrize("kind", ["file", "pickle", "copy"])
@pytest.mark.parametrize("strategy", ["quantile", "variable"])
def test_it_goes_on_where_it_was(kind, strategy, tmp_path, equal):
    values = series()
    query = LabelQuery(strategy=strategy, random_state=0)
    query.decide(values[:700])
    if kind == "file":
        query.save(tmp_path / "query.okn")
        again = onlinekern.load(tmp_path / "query.okn")
    else:
        again = pickle.loads(pickle.dumps(query)) if kind == "pickle" else copy.deepcopy(query)
    equal(again.decide(values[700:]), query.decide(values[700:]))
    assert again.threshold_ == query.threshold_
    assert clone(query).n_seen_ == 0
    assert query.reset().n_seen_ == 0


def test_a_state_that_is_none(tmp_path):
    query = LabelQuery(random_state=0)
    query.decide(series())
    for name, value in {"_n_asked": 10**6, "_recent": np.full(3, np.nan), "_level": "a"}.items():
        bad = copy.deepcopy(query)
        bad.__dict__[name] = value
        with pytest.raises(ValueError, match="does not fit together"):
            pickle.loads(pickle.dumps(bad))


def test_the_advice_of_a_refusal_works():
    """What a message says to do instead can be done."""
    X, _ = stream()
    model = PARegressor(random_state=0).partial_fit(X, X[:, 0])
    for certainty in ("margin", "leverage"):
        with pytest.raises(TypeError, match=r"PARegressor is a reg.*: strategy='random'.*KernelR"):
            LabelQuery(certainty=certainty).ask(model, X)
    assert len(LabelQuery(strategy="random").ask(model, X)) == len(X)
    for regressor in (KernelRLSRegressor(random_state=0), AROWRegressor()):
        other = regressor.partial_fit(X, X[:, 0])
        with pytest.raises(TypeError, match="no margin: certainty='leverage' takes"):
            LabelQuery().ask(other, X)
        assert len(LabelQuery(certainty="leverage").ask(other, X)) == len(X)


def test_what_is_refused():
    X, y = stream()
    model = PAClassifier(random_state=0).partial_fit(X, y, classes=np.unique(y))
    for name, value in {"budget": 0.0, "strategy": "all", "certainty": "x", "step": 1}.items():
        query = LabelQuery(**{name: value})
        with pytest.raises(ValueError, match=f"'{name}'"):
            query.decide([1.0])
        assert query.n_seen_ == 0
    with pytest.raises(TypeError, match="leverage"):
        LabelQuery(certainty="leverage").ask(model, X)
    with pytest.raises(TypeError, match="is a regressor, which has no margin"):
        LabelQuery().ask(PARegressor().partial_fit(X, X[:, 0]), X)
    with pytest.raises(ValueError, match="must be of shape"):
        LabelQuery().decide(X)
    with pytest.raises(TypeError, match="query must be a LabelQuery"):
        prequential(PAClassifier(), [(X, y)], np.unique(y), query=0.3)
    query = LabelQuery(random_state=0)
    query.ask(model, X[:100])
    seen = query.n_seen_
    with pytest.raises(ValueError, match="features"):
        query.ask(model, X[:, :1])
    assert query.n_seen_ == seen
