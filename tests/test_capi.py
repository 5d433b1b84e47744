"""The C interface gives, bit for bit, the results of the estimators."""

import gc
import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from consumers.samples import LAYOUTS, TWO, address, bytes_of, samples
from consumers.twins import ESTIMATORS, announce, assert_same_answers, pair, stream_of
from scipy import sparse
from sklearn.base import is_outlier_detector

from onlinekern import (
    KernelPAClassifier,
    KernelPARegressor,
    OnlineStandardScaler,
    PAClassifier,
    SPAClassifier,
    StreamClassifier,
    TableEncoder,
    load,
    make_stream_pipeline,
)
from onlinekern.fitted.save import from_bytes, to_bytes

STREAMS = [name for name, cls in ESTIMATORS.items() if hasattr(cls, "partial_fit")]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_fit_is_the_estimators(verbs, name, layout, stream, as_matrix, equal):
    X, y = stream_of(name, stream, layout)
    model, twin = pair(verbs, name)
    twin.fit(X, y)
    own, targets = X.copy(), None if is_outlier_detector(twin) else y.copy()
    model.fit(as_matrix(own), address(targets))
    forget(own, targets)
    assert_same_answers(model, twin, X, as_matrix, equal)


def forget(X, *arrays):
    """Overwrite the arguments of a call: no model may keep them."""
    for array in (X.data if sparse.issparse(X) else X, *arrays):
        if array is not None:
            array.fill(np.nan)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", STREAMS)
def test_learning_is_the_estimators(verbs, name, layout, stream, as_matrix, equal, same_state):
    X, y = stream_of(name, stream, layout)
    model, twin = pair(verbs, name)
    arguments = announce(model, twin)
    weight, predictions = np.linspace(0, 2, 40), np.full(40, np.nan)
    parts = X[:40].copy(), y[:40].copy(), weight.copy()
    model.learn(as_matrix(parts[0]), address(parts[1]), address(parts[2]), address(predictions))
    forget(*parts)
    expected = twin.partial_fit_predict(X[:40], y[:40], sample_weight=weight, **arguments)
    equal(predictions, expected.astype(float))
    for i in range(40, 60):
        row = X[i : i + 1].copy()
        model.learn_one(as_matrix(row), y[i])
        forget(row)
        twin.learn_one(X[i] if layout != "csr" else X[i : i + 1], y[i])
    model.learn(as_matrix(X[60:]), address(y[60:].copy()))
    twin.partial_fit(X[60:], y[60:])
    assert_same_answers(model, twin, X, as_matrix, equal)
    saved = from_bytes(model.save(), "it")
    vars(saved).pop("_announced_classes", None)
    for estimator in (saved, twin):  # the quantile of outlier detectors; the scores have shown it
        vars(estimator).pop("_recent", None)
    same_state(saved, twin)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", STREAMS)
def test_first_sample_may_come_alone(verbs, name, layout, stream, as_matrix, equal):
    X, y = stream_of(name, stream, layout)
    model, twin = pair(verbs, name)
    arguments = announce(model, twin)
    assert model.counts()[0] == 0
    twin.partial_fit(X[:1], y[:1], **arguments)
    model.learn_one(as_matrix(X[:1]), y[0])
    assert_same_answers(model, twin, X, as_matrix, equal)


@pytest.mark.parametrize("name", sorted(ESTIMATORS.keys() - set(STREAMS)))
def test_batch_learners_are_saved(verbs, name, stream, as_matrix, equal):
    X, y = stream_of(name, stream, "dense")
    model, twin = pair(verbs, name)
    model.fit(as_matrix(X), address(y))
    saved = model.save()
    loaded = verbs.Model.load(address(bytes_of(saved)), len(saved))
    assert_same_answers(loaded, twin.fit(X, y), X, as_matrix, equal)


@pytest.mark.parametrize("name", STREAMS)
def test_saved_goes_on(verbs, name, stream, as_matrix, equal):
    X, y = stream_of(name, stream, "dense")
    model, twin = pair(verbs, name)
    arguments = announce(model, twin)
    fresh = model.save()
    model = verbs.Model.load(address(bytes_of(fresh)), len(fresh))
    model.learn(as_matrix(X[:50]), address(y))
    twin.partial_fit(X[:50], y[:50], **arguments)
    for data_of in (model.save(), to_bytes(twin)):
        other = verbs.Model.load(address(bytes_of(data_of)), len(data_of))
        other.learn(as_matrix(X[50:]), address(y[50:].copy()))
        expected = pickle.loads(pickle.dumps(twin)).partial_fit(X[50:], y[50:])
        assert_same_answers(other, expected, X, as_matrix, equal)


def pipelines():
    """Return pipelines of the library's steps, those of `onlinekern train` among them."""
    scaled = make_stream_pipeline(OnlineStandardScaler(), SPAClassifier(random_state=7))
    rows, regressor = OnlineStandardScaler(with_mean=False), KernelPARegressor(random_state=7)
    return {
        "scaled": (scaled, "dense"),
        "sparse": (make_stream_pipeline(rows, PAClassifier(random_state=7)), "csr"),
        "table": (make_stream_pipeline(TableEncoder(), StreamClassifier(random_state=7)), "dense"),
        "regressor": (make_stream_pipeline(OnlineStandardScaler(), regressor), "dense"),
    }


@pytest.mark.parametrize("case", pipelines())
def test_pipelines_are_loaded(case, verbs, stream, as_matrix, equal):
    """One that has learnt nothing yet, and one in mid-stream: all calls act on all steps."""
    twin, layout = pipelines()[case]
    X, y = stream_of("SPARegressor" if case == "regressor" else "SPAClassifier", stream, layout)
    data_of = to_bytes(twin)
    model = verbs.Model.load(address(bytes_of(data_of)), len(data_of))
    arguments = {} if case == "regressor" else announce(model, twin)
    model.learn(as_matrix(X[:40]), address(y))
    twin.partial_fit(X[:40], y[:40], **arguments)
    saved = model.save()
    model = verbs.Model.load(address(bytes_of(saved)), len(saved))
    for i in range(40, 60):
        model.learn_one(as_matrix(X[i : i + 1]), y[i])
        twin.learn_one(X[i : i + 1] if layout == "csr" else X[i], y[i])
    weight, predictions = np.linspace(0.5, 2, 30), np.empty(30)
    model.learn(as_matrix(X[60:]), address(y[60:].copy()), address(weight), address(predictions))
    equal(predictions, twin.partial_fit_predict(X[60:], y[60:], sample_weight=weight).astype(float))
    decide = twin.predict if case == "regressor" else twin.decision_function
    scores = np.empty(decide(X).size)
    model.scores(as_matrix(X), address(scores), scores.size)
    equal(scores, decide(X).ravel())
    model.scores(as_matrix(X[:1]), address(scores), 3)
    x = X[:1] if layout == "csr" else X[0]
    equal(scores[: decide(X[:1]).size], np.ravel(twin.score_one(x)))
    learner = twin.steps[-1][1]
    assert model.counts()[:2] == (learner.n_seen_, getattr(learner, "n_mistakes_", -1))
    assert model.counts()[3:5] == (X.shape[1], 1 if case == "regressor" else 3)
    model.fit(as_matrix(X), address(y))
    twin.fit(X, y)
    model.predict(as_matrix(X), address(predictions := np.empty(90)))
    equal(predictions, twin.predict(X).astype(float))


def test_files(verbs, as_matrix, equal, same_state, tmp_path):
    """The classes are announced, the first samples learnt, each before the model is saved."""
    X, y = samples(60)
    name = bytes(tmp_path / "model ä.okn")
    model = verbs.Model.new(b"KernelPAClassifier", b"gamma=0.4 random_state=7")
    model.set_classes(address(TWO), 2)
    for part in (slice(0, 30), slice(30, 60)):
        model.save_file(name)
        model = verbs.Model.load_file(name)
        assert model.counts()[-1] == 2
        model.learn(as_matrix(X[part]), address(y[part]))
    twin = KernelPAClassifier(gamma=0.4, random_state=7).partial_fit(X, y, classes=TWO)
    assert_same_answers(model, twin, X, as_matrix, equal, n_classes=2)
    model.save_file(name)
    loaded = load(name)
    vars(loaded).pop("_announced_classes")
    same_state(loaded, twin)
    assert model.save() == (tmp_path / "model ä.okn").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["model ä.okn"]


def test_rows_of_a_larger_sparse_matrix(verbs, as_matrix, equal):
    X, y = samples(50)
    X[X < -0.5] = 0
    whole = sparse.csr_matrix(X)
    part = as_matrix(whole, indptr=address(whole.indptr[20:]), n_rows=30)
    model = verbs.Model.new(b"SPAClassifier", b"gamma=0.4 random_state=7")
    model.fit(part, address(y[20:]))
    twin = SPAClassifier(gamma=0.4, random_state=7).fit(whole[20:], y[20:])
    scores = np.empty(30)
    model.scores(part, address(scores), 30)
    equal(scores, twin.decision_function(whole[20:]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_samples_are_not_copied(verbs, as_matrix, dtype):
    X = np.random.default_rng(0).standard_normal((20000, 60)).astype(dtype)
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    model = verbs.Model.new(b"PAClassifier")
    model.set_classes(address(TWO), 2)
    model.learn(as_matrix(X[:1]), address(y))
    tracemalloc.start()
    try:
        model.learn(as_matrix(X), address(y))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes / 3


def test_models_and_calls_leave_nothing_behind(verbs, as_matrix):
    X, y = samples(50)
    x, out = as_matrix(X[:1]), np.empty(50)

    def work():
        model = verbs.Model.new(b"SPAClassifier", b"gamma=0.4 random_state=7")
        model.fit(as_matrix(X), address(y))
        for _ in range(20):
            model.scores(x, address(out), 50)
            model.predict(as_matrix(X), address(out))
            with pytest.raises(verbs.Failure):
                model.learn_one(x, 3)
        return bytes_of(model.save())

    def left_after(rounds):
        for _ in range(rounds):
            work()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    def alive():
        gc.collect()  # other tests may keep models
        return sum(type(item) is SPAClassifier for item in gc.get_objects())

    models = alive()
    tracemalloc.start()
    try:
        before = left_after(10)
        after = left_after(20)
    finally:
        tracemalloc.stop()
    # An array or a message that a call leaves behind takes 100 bytes; a model takes thousands.
    assert after - before < 20 * 20 * 100
    saved = work()
    verbs.Model.load(address(saved), len(saved))
    assert alive() == models


def test_attached_threads(verbs, as_matrix, equal):
    """A thread that is attached, or that Python knows, computes as before; detaching may repeat."""
    X, y = samples(60)
    model = verbs.Model.new(b"SPAClassifier", b"gamma=0.4 random_state=7")
    model.fit(as_matrix(X), address(y))

    def scores():
        out = np.empty(60)
        model.scores(as_matrix(X), address(out), 60)
        return out

    expected = scores()
    with ThreadPoolExecutor(1) as pool:
        answers = [*verbs.attached(scores), *pool.submit(verbs.attached, scores).result()]
    assert len(answers) == 6
    for answer in answers:
        equal(answer, expected)


def test_threads_have_models_and_errors_of_their_own(verbs, as_matrix, equal):
    def work(seed):
        X, y = samples(3000, seed)
        model = verbs.Model.new(b"SPAClassifier", b"gamma=0.4 random_state=7")
        model.set_classes(address(TWO), 2)
        errors = set()
        for part in np.split(np.arange(len(y)), 30):
            model.learn(as_matrix(X[part]), address(y[part]))
            with pytest.raises(verbs.Failure):
                model.learn_one(as_matrix(X[:1]), 100 + seed)
            errors.add(verbs.last_error())
        scores = np.empty(len(y))
        model.scores(as_matrix(X), address(scores), len(y))
        return X, y, scores, errors

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(verbs.last_error).result() == ""
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(4)))
    for seed, (X, y, scores, errors) in enumerate(results):
        twin = SPAClassifier(gamma=0.4, random_state=7).partial_fit(X, y, classes=TWO)
        equal(scores, twin.decision_function(X))
        assert len(errors) == 1
        assert f"y is {100 + seed}.0" in errors.pop()
