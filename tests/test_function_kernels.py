"""A kernel that is a Python function: as the compiled one, but slow; its errors undo the call."""

import pickle

import numpy as np
import pytest
from learners import SIZES
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone, is_classifier, is_outlier_detector

from onlinekern import (
    KernelOGDRegressor,
    KernelPAClassifier,
    KRLSTRegressor,
    OLLAClassifier,
    all_estimators,
)
from onlinekern.core.kernels.kernels import Gaussian
from onlinekern.core.kernels.python_kernel import PythonKernel

WIDTH = 0.4
TAKERS = {
    name: cls
    for name, cls in all_estimators()
    if callable in cls._parameter_constraints.get("kernel", ())
}


def gaussian(X, Z):
    """The Gaussian kernel; exactly 1 on the diagonal, as the compiled one is."""
    return np.exp(-WIDTH * cdist(X, Z, "sqeuclidean"))


def made(name, kernel, **more):
    """Return a learner of this kernel, with a budget that is soon full."""
    cls = TAKERS[name]
    known = cls().get_params()
    given = {**SIZES.get(name, {}), "budget": 25, "maintenance": "project", "random_state": 0}
    return cls(kernel=kernel, **{k: v for k, v in given.items() if k in known}, **more)


def arguments(model, y):
    return {"classes": np.unique(y)} if is_classifier(model) else {}


@pytest.fixture
def rows():
    random = np.random.default_rng(5)
    X = random.standard_normal((160, 3))
    return X, np.where(X[:, 0] * X[:, 1] > 0, 1, -1)


def test_who_takes_functions():
    some = {"KernelPerceptronClassifier", "KernelPARegressor", "SPAOneClass", "KLMSRegressor"}
    assert some < TAKERS.keys()
    others = {"OLLAClassifier", "KRLSTRegressor", "FOGDClassifier", "QKLMSRegressor"}
    assert not others & TAKERS.keys()


@pytest.mark.parametrize("name", TAKERS)
def test_same_decisions_as_the_compiled_kernel(name, rows):
    X, y = rows
    compiled, slow = made(name, Gaussian(WIDTH)), made(name, gaussian)
    for model in (compiled, slow):
        targets = (y,) if not is_outlier_detector(model) else ()
        model.partial_fit(X[:130], *(t[:130] for t in targets), **arguments(model, y))
        for i in range(130, 160):
            model.learn_one(X[i], *(t[i] for t in targets))
    assert slow.n_support_ == compiled.n_support_ > 3
    np.testing.assert_allclose(slow.predict(X), compiled.predict(X), 1e-6, 1e-8)
    np.testing.assert_allclose(slow.support_vectors_, compiled.support_vectors_)
    assert slow.score_one(X[0]) == pytest.approx(compiled.score_one(X[0]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_windows_and_threads(rows, dtype):
    X, y = rows[0].astype(dtype), rows[1]
    models = [made("KernelPAClassifier", gaussian, window=w).fit(X, y) for w in (1, 3, None)]
    scores = [model.decision_function(X) for model in models]
    for other in scores[1:]:
        np.testing.assert_allclose(other, scores[0], 1e-4 if dtype == np.float32 else 1e-10)
    assert len({model.n_support_ for model in models}) == 1
    np.testing.assert_allclose(models[0].set_params(n_jobs=2).decision_function(X), scores[0])


def test_the_function_gets_copies_of_samples_and_support_vectors(rows):
    X, y = rows
    calls = []

    def greedy(A, B):
        calls.append((A.shape, B.shape, A.dtype))
        values = gaussian(A, B)
        A[:], B[:] = 7, 7
        return values

    before = X.copy()
    model = made("KernelPAClassifier", greedy, window=50, shuffle=False).fit(X[:100], y[:100])
    assert np.array_equal(X, before)
    # One call for a block: its rows, with the support vectors and with one another.
    assert [shape for shape, _, _ in calls] == [(50, 3), (50, 3)]
    assert calls[0][1] == (50, 3)
    assert calls[1][1][0] > 50
    twin = made("KernelPAClassifier", gaussian, window=50, shuffle=False).fit(X[:100], y[:100])
    assert np.array_equal(model.decision_function(X), twin.decision_function(X))


def test_a_kernel_that_is_not_symmetric(rows):
    """The first argument is the sample, the second the support vector, in every window."""

    def skew(A, B):
        return gaussian(A, B) * (1 + 0.3 * np.tanh(A[:, :1]))

    X, y = rows
    one, other = (made("KernelPAClassifier", skew, window=w).fit(X, y) for w in (1, 64))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), 1e-10)


def raising(error):
    def function(A, B):
        raise error

    return function


WRONG = {
    "shape": (lambda A, B: gaussian(A, B)[0], ValueError, "numbers of shape"),
    "type": (lambda A, B: np.full((len(A), len(B)), "x"), ValueError, "numbers of shape"),
    "nan": (lambda A, B: gaussian(A, B) * np.nan, ValueError, "NaN or infinity"),
    "error": (raising(KeyError("mine")), KeyError, "mine"),
    "interrupt": (raising(KeyboardInterrupt("stop")), KeyboardInterrupt, "stop"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_function_that_fails_leaves_the_model(case, rows):
    X, y = rows
    wrong, error, message = WRONG[case]
    fails = False

    def function(A, B):
        return (wrong if fails else gaussian)(A, B)

    model = made("KernelPAClassifier", function).partial_fit(X[:60], y[:60], classes=[-1, 1])
    scores, state = model.decision_function(X), model.dual_coef_
    fails = True
    for call in (
        lambda: model.partial_fit(X[60:], y[60:]),
        lambda: model.learn_one(X[60], y[60]),
        lambda: model.predict(X),
        lambda: model.score_one(X[0]),
        lambda: clone(model).fit(X, y),
    ):
        with pytest.raises(error, match=message):
            call()
    fails = False
    assert np.array_equal(model.dual_coef_, state)
    assert np.array_equal(model.decision_function(X), scores)
    assert model.n_seen_ == 60


def test_pickle_and_save(rows, tmp_path):
    X, y = rows
    model = made("KernelPAClassifier", gaussian).fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    with pytest.raises(TypeError, match=r"kernel of this KernelPAClassifier is an object.*pickle"):
        model.save(tmp_path / "model.okn")
    assert list(tmp_path.iterdir()) == []


def test_what_does_not_go_with_a_function(rows):
    X, y = rows
    for name, value in (("gamma", 0.5), ("degree", 2), ("coef0", 1.0)):
        for kernel in (gaussian, Gaussian(WIDTH)):
            with pytest.raises(ValueError, match=f"{name}={value} has no effect"):
                KernelPAClassifier(kernel=kernel, **{name: value}).fit(X, y)
    with pytest.raises(TypeError, match="dense samples"):
        KernelPAClassifier(kernel=gaussian).fit(sparse.csr_matrix(X), y)
    with pytest.raises(TypeError, match="no class"):
        KernelPAClassifier(kernel=Gaussian).fit(X, y)
    for cls in (OLLAClassifier, KRLSTRegressor):
        with pytest.raises(TypeError, match=r"'kernel' parameter.*docs/extending\.md"):
            cls(kernel=gaussian).fit(X, y)
        assert cls(kernel=Gaussian(WIDTH)).fit(X, y).n_support_ > 0
    with pytest.raises(ValueError, match="maintenance='merge' needs kernel='gaussian'"):
        TAKERS["BSGDClassifier"](kernel=gaussian).fit(X, y)
    with pytest.raises(TypeError, match="no class"):
        PythonKernel(dict)


def test_a_dense_model_asks_for_sparse_rows(rows):
    X, y = rows
    model = made("KernelPAClassifier", gaussian).fit(X, y)
    scores = model.decision_function(sparse.csr_matrix(X))
    np.testing.assert_allclose(scores, model.decision_function(X), 1e-10)


def test_looked_up_in_a_matrix(rows):
    """What takes the place of kernel='precomputed': the samples are their numbers."""
    X, _ = rows
    y = np.sin(X[:, 0])
    matrix = gaussian(X, X)

    def looked_up(A, B):
        return matrix[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))]

    numbers = np.arange(len(X))[:, None]
    by_number = KernelOGDRegressor(kernel=looked_up, random_state=0).fit(numbers[:100], y[:100])
    by_row = KernelOGDRegressor(kernel=gaussian, random_state=0).fit(X[:100], y[:100])
    np.testing.assert_allclose(by_number.predict(numbers), by_row.predict(X), 1e-10)
    with pytest.raises(ValueError, match=r"'kernel' parameter.*docs/extending\.md"):
        KernelOGDRegressor(kernel="precomputed").fit(matrix, y)
