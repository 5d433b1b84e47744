"""Test the parts and the estimator of this package, as onlinekern tests its own."""

import copy
import pickle

import numpy as np
import pytest
from robust_kernels import Cauchy, MostAlikeEviction, Ramp, RobustClassifier
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import onlinekern
from onlinekern import KernelOGDClassifier, OnlineStandardScaler, make_stream_pipeline
from onlinekern.streams import gaussian_mixture

# A sample of weight k is one step, k copies are k steps: so it is of every learner of streams.
STEPS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "k copies are k steps"
    for kind in ("dense", "sparse")
}


def cauchy(X, Z):
    """Return the kernel values, as a slow Python function."""
    return 1 / (1 + 0.3 * cdist(X, Z, "sqeuclidean"))


@pytest.fixture(scope="module")
def stream():
    return gaussian_mixture(600, random_state=0)


def test_scikit_learn():
    check_estimator(RobustClassifier(), expected_failed_checks=STEPS)


def test_ramp():
    assert Ramp(-1.0).evaluate(0.5, 1) == (0.5, 1.0)
    assert Ramp(-1.0).evaluate(-3.0, 1) == (2.0, 0.0)
    with pytest.raises(ValueError, match="floor"):
        Ramp(1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_cauchy(dtype, layout, stream):
    """The compiled kernel makes the values of the function, in every layout."""
    X, y = stream
    compiled = KernelOGDClassifier(kernel=Cauchy(0.3), random_state=0)
    slow = KernelOGDClassifier(kernel=cauchy, random_state=0).fit(X.astype(dtype), y)
    compiled.fit(layout(X.astype(dtype)), y)
    assert compiled.n_support_ == slow.n_support_
    error = 1e-4 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(
        compiled.decision_function(X), slow.decision_function(X), error, error
    )


@pytest.mark.parametrize("window", [1, 7, 64])
def test_windows_take_the_same_decisions(window, stream):
    X, y = stream
    one = RobustClassifier(budget=40, random_state=0, window=window).fit(X, y)
    other = RobustClassifier(budget=40, random_state=0).fit(X, y)
    assert np.array_equal(one.decision_function(X), other.decision_function(X))


def test_most_alike_is_evicted():
    X, y = np.array([[0.0], [10.0], [20.0], [10.5]]), [0, 1, 0, 1]
    model = RobustClassifier(budget=3, gamma=1.0, shuffle=False).fit(X, y)
    assert sorted(model.support_vectors_.ravel()) == [0, 10.5, 20]
    assert repr(MostAlikeEviction(3)) == "MostAlikeEviction(3)"


def test_life_of_a_model(stream, tmp_path):
    """A model can be saved, pickled, cloned, and learn by batches, by rows, in a pipeline."""
    X, y = stream
    model = RobustClassifier(budget=40, gamma=0.4, random_state=0)
    answers = model.partial_fit_predict(X[:300], y[:300], classes=np.unique(y))
    assert len(answers) == 300
    model.save(tmp_path / "model.okn")
    models = [onlinekern.load(tmp_path / "model.okn"), pickle.loads(pickle.dumps(model))]
    models += [copy.deepcopy(model), model]
    for twin in models:
        twin.partial_fit(X[300:599], y[300:599]).learn_one(X[599], y[599])
    for twin in models:
        assert np.array_equal(twin.decision_function(X), model.decision_function(X))
    assert clone(model).get_params() == model.get_params()
    piped = make_stream_pipeline(OnlineStandardScaler(), clone(model))
    piped.partial_fit(X, y, classes=np.unique(y)).save(tmp_path / "piped.okn")
    assert onlinekern.load(tmp_path / "piped.okn").n_support_ == 40


def test_outliers_do_not_disturb(stream):
    """The ramp does what it is for: a wrong label far on the other side changes nothing."""
    X, y = stream
    model = RobustClassifier(floor=-0.5, random_state=0).fit(X, y)
    before = model.decision_function(X)
    outliers = np.flatnonzero(np.abs(before) > 0.6)
    assert len(outliers) > 50
    for i in outliers:
        model.learn_one(X[i], model.classes_[int(before[i] < 0)])
    assert np.array_equal(model.decision_function(X), before)
