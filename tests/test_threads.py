"""One model in several threads: one learns at a time, any number read between, nothing is lost."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from interpreters import lines_of
from registry import ESTIMATORS
from sklearn.base import is_classifier

import onlinekern
from onlinekern import (
    FrequentDirections,
    KernelPAClassifier,
    OnlineStandardScaler,
    SPAClassifier,
    all_estimators,
)

CLASSES = dict(all_estimators())
ONE_CLASS = dict(all_estimators("outlier_detector"))
ONLINE = sorted(name for name in ESTIMATORS if hasattr(CLASSES[name], "partial_fit"))
N, D = 240, 4


def samples(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    return X, (X[:, 0] * X[:, 1] > 0).astype(float)


def learn(model, X, y):
    if name_of(model) in ONE_CLASS:
        return model.partial_fit(X)
    return model.partial_fit(X, y, **({"classes": [0, 1]} if is_classifier(model) else {}))


def name_of(model):
    return type(model).__name__


def together(*works, limit=60):
    """Run each function in a thread of its own, all at once; raise what one of them raised."""
    start, errors = threading.Barrier(len(works)), []

    def run(work):
        try:
            start.wait()
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    end = time.monotonic() + limit
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


@pytest.mark.parametrize("name", ONLINE)
@pytest.mark.filterwarnings("ignore:the covariance has degenerated")  # of CW, by noisy labels
def test_learning_and_reading_at_once_loses_nothing(name):
    model = CLASSES[name](random_state=0)
    X, y = samples()
    learn(model, X, y)
    own = [attribute for attribute in dir(CLASSES[name]) if attribute.endswith("_")
           and not attribute.startswith("_")]  # fmt: skip

    def teach():
        for _ in range(3):
            learn(model, X, y)

    def teach_rows():
        for x, target in zip(X[:100], y, strict=False):
            model.learn_one(x, target)

    def read():
        for _ in range(4):
            assert np.isfinite(model.predict(X)).all()
            assert np.isfinite(model.score_one(X[0])).all()
            for attribute in own:
                getattr(model, attribute, None)
            twin = pickle.loads(pickle.dumps(model))
            assert np.isfinite(twin.predict(X)).all()

    together(teach, teach, teach_rows, read, read)
    assert model.n_seen_ == N + 6 * N + 100


@pytest.mark.parametrize("name", ["SPAClassifier", "PAClassifier", "FrequentDirections"])
def test_the_first_calls_are_one_after_the_other(name):
    X, y = samples()
    model = getattr(onlinekern, name)()

    def teach():
        if name == "FrequentDirections":
            model.partial_fit(X)
        else:
            learn(model, X, y)

    together(*[teach] * 5)
    if name == "FrequentDirections":
        assert model.squared_norm_ == pytest.approx(5 * np.sum(X**2))
    else:
        assert model.n_seen_ == 5 * N


def test_predictions_are_of_one_state():
    """With a step of learning between two states, each answer is that of one of them."""
    X, y = samples()
    model = KernelPAClassifier(gamma=0.5, n_jobs=2).fit(X, y)
    stop, seen = threading.Event(), []

    def teach():
        rng = np.random.default_rng(1)
        while not stop.is_set():
            model.learn_one(rng.standard_normal(D), int(rng.integers(2)))

    def read():
        try:
            same = np.repeat(X[:1], 600, axis=0)
            for _ in range(60):
                seen.append(np.unique(model.decision_function(same)).size)
        finally:
            stop.set()

    together(teach, read)
    assert set(seen) == {1}


def test_scaled_samples_are_of_one_state():
    """Samples are the mean of the present, or of the next batch: no mixture of the two."""
    scaler = OnlineStandardScaler(with_std=False).fit(np.zeros((1, 400)))
    stop, seen = threading.Event(), []

    def teach():
        for k in range(200):
            scaler.partial_fit(np.full((3, 400), float(k)))
        stop.set()

    def read():
        while not stop.is_set():
            seen.append(np.ptp(scaler.transform(np.zeros((2, 400)))))

    together(teach, read, read)
    assert set(seen) == {0.0}
    assert scaler.n_samples_seen_ == 601


def test_sketches_that_take_in_each_other_do_not_wait_for_ever():
    X, _ = samples()
    one, two = FrequentDirections(3).fit(X), FrequentDirections(3).fit(X)

    def merge(first, second):
        for _ in range(20):
            first.merge(second)
            assert np.isfinite(first.transform(X)).all()

    together(lambda: merge(one, two), lambda: merge(two, one))
    assert np.isfinite([one.squared_norm_, two.squared_norm_]).all()


def test_a_failed_call_takes_back_its_own_samples_only():
    X, y = samples()
    model = SPAClassifier(gamma=0.5, random_state=0).fit(X, y)

    def fail():
        for _ in range(30):
            with pytest.raises(ValueError, match=r"none of|not among"):
                model.partial_fit(X[:5], np.full(5, 7.0))

    def teach():
        for x, target in zip(X, y, strict=True):
            model.learn_one(x, target)

    together(fail, teach, teach)
    assert model.n_seen_ == 3 * N


def test_a_model_is_read_while_it_is_fitted_anew():
    X, y = samples()
    model = SPAClassifier(gamma=0.5, random_state=0).fit(X, y)
    words = np.where(y > 0, "yes", "no")
    expected = SPAClassifier(gamma=0.5, random_state=0).fit(X, words).predict(X)
    done = threading.Event()

    def fit():
        try:
            for _ in range(10):
                model.fit(X, words)
        finally:
            done.set()

    def read():
        while not done.is_set():
            assert model.n_features_in_ == D
            assert np.isfinite(model.decision_function(X)).all()

    together(fit, read)
    np.testing.assert_array_equal(model.predict(X), expected)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")
def test_a_signal_handler_cannot_use_the_model_that_it_interrupted():
    code = """
import signal
import numpy as np
from onlinekern import KernelPAClassifier
X = np.random.default_rng(0).standard_normal((6000, 8))
y = np.arange(6000) % 2
model = KernelPAClassifier(gamma=0.5).partial_fit(X[:10], y[:10], classes=[0, 1])
said = []
def handler(*_):
    for use in (lambda: model.predict(X[:1]), lambda: model.learn_one(X[0], 0)):
        try:
            use()
        except RuntimeError as error:
            said.append(str(error))
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
for _ in range(3):
    model.partial_fit(X, y)
    if said:
        break
signal.setitimer(signal.ITIMER_REAL, 0)
assert said and all("this thread is using the model" in text for text in said), said
assert model.predict(X[:1]).shape == (1,)
"""
    lines_of(code)


def test_an_attribute_that_another_thread_sets_stays():
    X, y = samples()
    model = SPAClassifier(gamma=0.5, random_state=0).fit(X, y)

    class Setting(np.ndarray):
        def __array_finalize__(self, _):
            model.note = "kept"

    model.partial_fit(X.view(Setting), y)
    assert model.note == "kept"
    with pytest.raises(ValueError, match="not among"):
        model.partial_fit(X.view(Setting), np.full(N, 9.0))
    assert model.note == "kept"


class Teaching:
    """An attribute that teaches its model while the model is pickled."""

    def __init__(self, model, X, y):
        self.call = lambda: model.partial_fit(X, y)

    def __reduce__(self):
        self.call()
        return dict, ()


@pytest.mark.parametrize("more", [3, 5 * N])
@pytest.mark.parametrize("name", ["KernelPARegressor", "SPAClassifier"])
def test_a_pickle_has_the_attributes_of_one_moment(name, more):
    """The call in the middle of it adds to the kept samples, or ends the warm-up."""
    X, y = samples()
    model = learn(CLASSES[name](random_state=0), X, y)
    expected = model.decision_function(X) if is_classifier(model) else model.predict(X)
    rows = np.arange(more) % N
    model.__dict__ = {"first": Teaching(model, X[rows], y[rows]), **model.__dict__}
    attributes = model.__dict__
    assert "_warm_up" in attributes
    twin = pickle.loads(pickle.dumps(model))
    assert model.n_seen_ == N + more
    assert twin.n_seen_ == N
    answer = twin.decision_function(X) if is_classifier(twin) else twin.predict(X)
    assert np.array_equal(answer, expected)
    # Who has read the attributes before has a whole state too.
    assert attributes["_warm_up"].count == attributes["_model"].n_seen


def test_a_thread_that_reads_cannot_wait_for_itself():
    X, y = samples()
    model = SPAClassifier(gamma=0.5, random_state=0).fit(X, y)
    expected = model.decision_function(X)
    inside, done = threading.Event(), threading.Event()

    def teach():
        inside.wait()
        model.learn_one(X[0], y[0])
        done.set()

    other = threading.Thread(target=teach)
    other.start()
    with model._model.reading():
        inside.set()
        # The other thread waits for this one, which may read on, and must not wait for it.
        assert not done.wait(0.05)
        np.testing.assert_array_equal(model.decision_function(X), expected)
        for learn_again in (lambda: model.learn_one(X[0], y[0]), lambda: model.partial_fit(X, y)):
            with pytest.raises(RuntimeError, match="this thread is using the model"):
                learn_again()
        assert not done.is_set()
    other.join(60)
    assert done.is_set()
    assert model.learn_one(X[0], y[0]).n_seen_ == N + 2


FORK = """
import os, signal, threading
import numpy as np
from onlinekern import KernelPAClassifier
X = np.random.default_rng(0).standard_normal((20000, 8))
y = np.arange(20000) % 2
model = KernelPAClassifier(gamma=0.5).partial_fit(X[:10], y[:10], classes=[0, 1])
def child(work):
    number = os.fork()
    if number == 0:
        signal.alarm(60)
        try:
            print(work(), flush=True)
        except RuntimeError as error:
            print(error, flush=True)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_while_another_thread_learns_gives_an_error_and_no_hang():
    out = lines_of(FORK + """
other = threading.Thread(target=lambda: model.partial_fit(X, y))
calls = model._model.calls
other.start()
while model._model.calls == calls:
    pass
child(lambda: model.predict(X[:1]))
child(lambda: model.learn_one(X[0], 0))
other.join()
child(lambda: model.learn_one(X[0], 0).predict(X[:1]).shape)
print(model.n_seen_)
""")  # fmt: skip
    assert out[0] == out[1]
    assert "its copy in this process is incomplete" in out[0]
    assert out[2:] == ["(1,)", "20010"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_while_another_thread_waits_or_reads_leaves_the_child_free():
    out = lines_of(FORK + """
inside, leave = threading.Event(), threading.Event()
def read():
    with model._model.reading():
        inside.set()
        leave.wait()
def hold():
    with model._model.lock:
        inside.set()
        leave.wait()
for work in (read, hold):
    inside.clear(), leave.clear()
    other = threading.Thread(target=work)
    other.start()
    inside.wait()
    child(lambda: model.learn_one(X[0], 0).partial_fit(X[:3], y[:3]).n_seen_)
    leave.set()
    other.join()
print(model.learn_one(X[0], 0).n_seen_)
""")  # fmt: skip
    assert out == ["14", "14", "11"]


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_what_pickle_reads_stays_what_it_was(name):
    """The state is read when pickling begins; parts that pickle reads later have not changed."""
    X, y = samples()
    model = CLASSES[name](random_state=0)
    model.fit(X) if name in ONE_CLASS else model.fit(X, y)
    before = pickle.dumps(model._model)
    reduced = model._model.__reduce__()
    if not hasattr(model, "partial_fit"):
        pytest.skip("learns no streams")
    learn(model, X[::-1].copy(), y[::-1].copy())
    assert pickle.dumps(model._model) != before
    restored = reduced[0](*pickle.loads(pickle.dumps(reduced[1])))
    assert pickle.dumps(restored) == pickle.dumps(pickle.loads(before))


def test_blas_has_one_thread_in_any_thread_that_learns():
    code = """
import threading
import onlinekern.core.linalg.open_block
from onlinekern.estimators.blas_threads import ONE_THREAD

found = {}

def learn(name):
    with ONE_THREAD():
        found[name] = [library.get_num_threads() for library in ONE_THREAD._libraries]

before = [library.get_num_threads() for library in ONE_THREAD._libraries]
learn("main")  # threadpoolctl 3.8 lets no other thread set the number while this one lives
for name in range(2):
    thread = threading.Thread(target=learn, args=(name,))
    thread.start()
    thread.join()
assert len(found) == 3 and min(map(len, found.values())) > 0
assert all(count == 1 for counts in found.values() for count in counts), found
assert [library.get_num_threads() for library in ONE_THREAD._libraries] == before
"""
    lines_of(code, env={"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"})
