"""Labels that come late: what is predicted then, by every method, in blocks of any size."""

import json

import numpy as np
import pytest
from commands import run
from grids import thinned
from learners import answer_of
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from onlinekern import (
    ConformalRegressor,
    KernelForestClassifier,
    KernelPAClassifier,
    KernelRLSRegressor,
    OnlineStandardScaler,
    PAClassifier,
    PARegressor,
    StreamClassifier,
    TableEncoder,
    make_stream_pipeline,
)
from onlinekern.estimators.row_blocks import one_after_another
from onlinekern.evaluate import METHODS, LabelQuery, delays_of, prequential
from onlinekern.evaluate.test_then_train import Run
from onlinekern.streams import gaussian_mixture

N = 240


def stream(task, n=N):
    X, y = gaussian_mixture(n, random_state=3)
    return X, y if task == "classification" else X @ np.arange(X.shape[1]) / X.shape[1]


def delayed(model, X, y, delays, classes=None):
    """Return the predictions of a model that learns each sample after so many others came."""
    more = {} if classes is None else {"classes": classes}
    delays = np.broadcast_to(delays, len(y))
    predicted = []
    for i in range(len(y)):
        predicted.append(answer_of(model, X[i : i + 1], classes))
        for k in range(i + 1):
            if k + delays[k] == i:
                model.partial_fit(X[k : k + 1], y[k : k + 1], **more)
    return np.array(predicted)


def told(model, blocks, classes, delay):
    """Return what a run predicts."""
    run, predicted = Run(model, classes, delay=delay), []
    add = run._metrics.add
    run._metrics.add = lambda y, found, *more: predicted.extend(found) or add(y, found, *more)
    for X, y in blocks:
        run.feed(X, y)
    return np.array(predicted), run


def in_pieces(X, y, size):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]


def cases():
    """Return each method that learns streams, of each task that it does."""
    for name, method in METHODS.items():
        for task in ("classification", "regression"):
            if not method.batch and method.estimator_name(task):
                yield pytest.param(name, task, id=f"{name}-{task}")


@pytest.mark.parametrize(("name", "task"), [*cases()])
def test_every_method_predicts_as_one_by_one(name, task, equal):
    X, y = stream(task)
    classes = np.unique(y) if task == "classification" else None
    build = METHODS[name].recipe
    parameters = {"random_state": 0} | ({"time_budget": 5} if name == "stream" else {})
    model = build(task, parameters, "none")
    found, run = told(clone(model), in_pieces(X, y, 100), classes, 17)
    expected = delayed(twin := clone(model), X, y, 17, classes)
    # Before the first label comes, a model that has learnt nothing says what it likes.
    if classes is None:
        off = 1e-6 if name == "stream" else 1e-9  # it learns in float32
        np.testing.assert_allclose(found[18:], expected[18:], rtol=off, atol=off)
        np.testing.assert_allclose(run.estimator.predict(X), twin.predict(X), rtol=off, atol=off)
    else:
        equal(found[18:], expected[18:])
        equal(run.estimator.predict(X), twin.predict(X))
    found, _ = told(clone(model), in_pieces(X, y, 100), classes, np.zeros(N, dtype=int))
    at_once, _ = told(clone(model), in_pieces(X, y, 100), classes, None)
    equal(found, at_once)


CLASSIFIERS = [
    KernelPAClassifier(random_state=0),
    make_stream_pipeline(OnlineStandardScaler(), PAClassifier(random_state=0)),
    make_stream_pipeline(TableEncoder(), PAClassifier(random_state=0)),
    StreamClassifier(time_budget=5, random_state=0),
    SGDClassifier(random_state=0),
    GaussianNB(),
]


def name_of(part):
    return type(part).__name__ if hasattr(part, "fit") else str(part)


@pytest.mark.parametrize(("model", "size"), thinned(CLASSIFIERS, [1, 7, 64, N], 2), ids=name_of)
def test_blocks_do_not_matter(model, size, equal):
    X, y = stream("classification")
    delays = np.random.default_rng(0).integers(0, 40, N) * (np.arange(N) % 3 > 0)
    classes = np.unique(y)
    if not hasattr(model, "partial_fit_predict"):
        # It is refitted, and learns no streams.
        results = [
            prequential(clone(model), in_pieces(X, y, k), classes, delay=delays) for k in (N, size)
        ]
        assert results[0].mistakes == results[1].mistakes
        return
    whole, _ = told(clone(model), [(X, y)], classes, delays)
    cut, _ = told(clone(model), in_pieces(X, y, size), classes, delays)
    equal(cut, whole)
    expected = delayed(clone(model), X, y, delays, classes)
    # Where the label comes at once, moments that scale a sample hold it too.
    one_by_one = delays > 0 if "Stream" in type(model).__name__ else np.arange(N) > 1
    equal(whole[one_by_one], expected[one_by_one])


def test_rows_are_kept_not_lent(equal):
    X, y = stream("classification")
    rows, labels = X.copy(), y.copy()
    model = KernelPAClassifier(gamma=0.5, random_state=0)
    run, twin = (Run(clone(model), np.unique(y), delay=50) for _ in range(2))
    for i in range(0, N, 40):
        run.feed(rows[i : i + 40], labels[i : i + 40])
        rows[i : i + 40], labels[i : i + 40] = 1e6, -1
    twin.feed(sparse.csr_matrix(X), y)
    scores = (one.estimator.decision_function(X) for one in (run, twin))
    np.testing.assert_allclose(*scores)


def test_no_delay_is_none():
    X, y = stream("classification")
    results = [
        prequential(PAClassifier(), in_pieces(X, y, 50), np.unique(y), delay=delay, fading=0.99)
        for delay in (None, 0, np.zeros(N, dtype=int))
    ]
    for result in results[1:]:
        assert result.figures == results[0].figures
        np.testing.assert_array_equal(result.error_curve, results[0].error_curve)


def test_baselines_know_what_has_come():
    X, y = stream("classification", 100)
    result = prequential(PAClassifier(), in_pieces(X, y, 30), np.unique(y), delay=4)
    before = np.r_[np.repeat(np.unique(y)[0], 5), y[:-5]]
    assert result.figures["no_change_error"] == np.mean(before != y)
    X, y = stream("regression", 100)
    result = prequential(PARegressor(), in_pieces(X, y, 30), delay=4)
    before = np.r_[np.zeros(5), y[:-5]]
    assert result.figures["no_change_error"] == pytest.approx(np.sqrt(np.mean((before - y) ** 2)))
    means = [y[: max(0, i - 4)].mean() if i > 4 else 0.0 for i in range(100)]
    assert result.figures["majority_error"] == pytest.approx(np.sqrt(np.mean((means - y) ** 2)))


class Noting:
    """A detector that notes what it is told, and finds drift at one place."""

    def __init__(self, at):
        self.at, self.values = at, []
        self.drift_detected = False

    def update(self, value):
        self.values.append(value)
        self.drift_detected = len(self.values) == self.at


def test_a_detector_is_told_when_labels_come():
    X, y = stream("classification")
    at_once, late = Noting(31), Noting(31)
    prequential(PAClassifier(), [(X, y)], np.unique(y), detector=at_once)
    result = prequential(PAClassifier(), in_pieces(X, y, 77), np.unique(y), detector=late, delay=20)
    assert len(at_once.values) == N
    assert len(late.values) == N - 20
    assert result.drifts.tolist() == [51]
    seen = []

    def on_drift(model, n):
        seen.append((n, float(np.abs(model.coef_).sum())))

    result = prequential(
        PAClassifier(), [(X, y)], np.unique(y), detector=Noting(31), on_drift=on_drift, delay=20
    )
    twin = PAClassifier().partial_fit(X[:31], y[:31], classes=np.unique(y))
    assert seen == [(51, float(np.abs(twin.coef_).sum()))]


def tables(kind, n=90):
    """Return a stream of a table, of categories that come later too, as blocks of the kind."""
    rng = np.random.default_rng(0)
    names = np.array(["red", "green", "blue", "grey"])
    colours = names[np.minimum(rng.integers(0, 3, n) + (np.arange(n) > 50), 3)]
    columns = {"size": rng.normal(size=n), "colour": colours}
    columns["size"][40::9] = np.nan
    y = ((columns["size"] > 0) ^ (colours == "red")).astype(int)
    if kind == "dictionaries":
        whole = [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]
    elif kind == "polars":
        whole = pytest.importorskip("polars").DataFrame(columns)
    elif kind == "arrow":
        whole = pytest.importorskip("pyarrow").table(columns)
    else:
        pandas = pytest.importorskip("pandas")
        whole = pandas.DataFrame(columns, index=np.arange(n)[::-1])
        whole["colour"] = whole["colour"].astype("category") if kind == "categories" else colours
    return whole, y


KINDS = ("pandas", "categories", "polars", "arrow", "dictionaries")


TAKE_TABLES = [
    PAClassifier(random_state=0),
    KernelForestClassifier(n_trees=5, random_state=0),
    make_stream_pipeline(TableEncoder(), KernelPAClassifier(gamma=0.5, random_state=0)),
]


@pytest.mark.parametrize(("model", "kind"), thinned(TAKE_TABLES, KINDS, 2), ids=name_of)
def test_tables_are_delayed_too(kind, model, equal):
    X, y = tables(kind)
    cut = X.iloc if hasattr(X, "iloc") else X
    n = len(y)
    delays = np.random.default_rng(1).integers(0, 30, n)
    runs = {}
    for size in (n, 23):
        blocks = [(cut[i : i + size], y[i : i + size]) for i in range(0, n, size)]
        runs[size], _ = told(clone(model), blocks, [0, 1], delays)
    equal(runs[23], runs[n])
    expected = []
    twin = clone(model)
    for i in range(n):
        expected.append(answer_of(twin, cut[i : i + 1]))
        for k in np.flatnonzero(np.arange(n) + delays == i):
            twin.partial_fit(cut[k : k + 1], y[k : k + 1], classes=[0, 1])
    equal(runs[n][delays > 0], np.array(expected)[delays > 0])
    result = prequential(
        clone(model), [(X, y)], [0, 1], delay=20, query=LabelQuery(budget=0.5, random_state=0)
    )
    assert 25 < result.n_asked < 65


def test_blocks_whose_categories_differ():
    pandas = pytest.importorskip("pandas")
    parts = [
        pandas.DataFrame({"a": pandas.Categorical(values), "b": range(2)})
        for values in (["x", "y"], ["z", "y"])
    ]
    found = one_after_another([parts[0], parts[1][:0], parts[1]])
    assert found["a"].dtype.name == "category"
    assert found["a"].tolist() == ["x", "y", "z", "y"]
    assert found["b"].tolist() == [0, 1, 0, 1]


def test_late_labels_cost_accuracy():
    X, y = stream("regression")
    errors = [prequential(PARegressor(), [(X, y)], delay=k).error for k in (0, 10, 100)]
    assert errors[0] < errors[1] < errors[2]


def test_a_wrapper_is_delayed_too(equal):
    X, y = stream("regression")
    for model in (KernelRLSRegressor(n_components=20, random_state=0), PARegressor()):
        found, run = told(ConformalRegressor(clone(model)), in_pieces(X, y, 50), None, 9)
        expected, _ = told(clone(model), in_pieces(X, y, 50), None, 9)
        equal(found, expected)
        assert run.estimator.coverage_ > 0.7


def test_a_comparison_says_that_labels_come_late(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = stream("classification")
    rows = [
        ",".join(f"{value:.6f}" for value in row) + f",{label}"
        for row, label in zip(X, y, strict=True)
    ]
    (tmp_path / "rows.csv").write_text("a,b,sold\n" + "\n".join(rows) + "\n")
    command = ["compare", "rows.csv", "--target", "sold", "--methods", "pa1", "--in-order"]
    command += ["--set", "gamma=0.5", "--set", "C=1.0", "--json", "out.json", "--delay"]
    found = {}
    for delay in (0, 40):
        code, out, err = run(capsys, *command, delay)
        assert code == 0, err
        assert ("in file order; labels come 40 samples late" in out) == (delay == 40)
        found[delay] = json.loads((tmp_path / "out.json").read_text())
    methods = [found[delay]["comparisons"][0]["methods"] for delay in (0, 40)]
    errors = [{one["name"]: one["error"]["mean"] for one in each} for each in methods]
    before = np.r_[np.repeat(np.unique(y)[0], 41), y[:-41]]
    assert errors[1]["no-change"] == np.mean(before != y)
    assert errors[0]["pa1"] != errors[1]["pa1"]
    code, _, err = run(capsys, *command, -1)
    assert (code, "--delay must be" in err) == (2, True)


def test_delays_of_times():
    days = np.arange("2024-01-01", "2024-01-11", dtype="datetime64[D]")
    later = days + np.array([0, 1, 2, 5, 0, 1, 30, 0, 0, 0])
    assert delays_of(days, later).tolist() == [0, 0, 1, 4, 0, 0, 3, 0, 0, 0]
    with pytest.raises(ValueError, match="times must ascend"):
        delays_of([1, 0], [2, 2])
    with pytest.raises(ValueError, match="before its sample"):
        delays_of([0, 1], [0, 0.5])
    with pytest.raises(ValueError, match="shape"):
        delays_of([0, 1], [0])


@pytest.mark.parametrize("delay", [-1, 1.5, True, "7", [], [1, -1], [[1]]])
def test_what_is_no_delay(delay):
    X, y = stream("classification")
    with pytest.raises(ValueError, match="delay must be"):
        prequential(PAClassifier(), [(X, y)], np.unique(y), delay=delay)


def test_too_few_delays():
    X, y = stream("classification")
    with pytest.raises(ValueError, match="it has 100, the stream has more"):
        prequential(PAClassifier(), in_pieces(X, y, 50), np.unique(y), delay=np.full(100, 2))
