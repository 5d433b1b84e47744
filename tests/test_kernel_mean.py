"""KernelMeanDetector: its mean is its twin's, in every layout; scores are mean kernel values."""

import numpy as np
import pytest
from learners import normals_and_outliers
from oracles.kernel_mean import kernel_mean
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel

from onlinekern import KernelMeanDetector


@pytest.fixture
def X(stream):
    return stream("regression", n=240)[0]


TWIN = (
    *("statistic", "reg", "features", "n_components", "kernel", "gamma", "degree", "coef0"),
    "forgetting",
)


def twin_of(model, X, **others):
    """Return what the twin makes of rows, with the parameters of a model."""
    frequencies = model.frequencies_ if model.features == "fourier" else None
    return kernel_mean(X, frequencies, **{key: getattr(model, key) for key in TWIN}, **others)


@pytest.mark.parametrize("window", [1, None])
@pytest.mark.parametrize("layout", ["dense", "csr", "wide"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("forgetting", [1.0, 0.97, 0.2])
@pytest.mark.parametrize("features", ["fourier", "nystroem"])
def test_twin(X, features, forgetting, dtype, layout, window, as_layout, close):
    rows = as_layout(X.astype(dtype), layout)
    model = KernelMeanDetector(
        features=features, gamma=0.4, n_components=30, forgetting=forgetting, window=window,
        random_state=3,
    ).partial_fit(rows)  # fmt: skip
    dense = np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray()).astype(float)
    scores, mean = twin_of(model, dense, dtype=dtype)
    close(model._recent.values[: len(X)], scores, dtype)
    close(model.mean_, mean, dtype)
    assert model.cumulative_loss_ == pytest.approx(np.maximum(0, 1 - scores).sum(), rel=1e-4)


@pytest.mark.parametrize("forgetting", [1.0, 0.9])
def test_weights(X, forgetting):
    weight = np.arange(len(X)) % 3.0
    model = KernelMeanDetector(gamma=0.4, n_components=20, forgetting=forgetting, random_state=0)
    model.partial_fit(X, sample_weight=weight)
    _, mean = twin_of(model, X, sample_weight=weight)
    np.testing.assert_allclose(model.mean_, mean, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("features", ["fourier", "nystroem"])
@pytest.mark.parametrize("statistic", ["mean", "leverage"])
@pytest.mark.parametrize("passes", [{}, {"n_epochs": 3}, {"shuffle": False}])
def test_fit_scores_samples_as_fits_without_them(X, passes, statistic, features):
    rows, weight = X[:30], np.arange(30) % 4.0
    model = KernelMeanDetector(
        statistic=statistic, features=features, gamma=0.4, random_state=0, **passes
    )
    model.fit(rows, sample_weight=weight)
    for place, i in enumerate(np.flatnonzero(weight)):
        others = np.arange(30) != i
        without = clone(model).fit(rows[others], sample_weight=weight[others])
        score = without.score_samples(rows[i : i + 1])[0]
        assert model._recent.values[place] == pytest.approx(score, rel=1e-9)


@pytest.mark.parametrize("features", ["fourier", "nystroem"])
def test_fit_leaves_samples_out_of_a_mean_that_forgets(X, features):
    rows, t = X[:30], np.arange(30)
    model = KernelMeanDetector(
        features=features, gamma=0.4, forgetting=0.9, n_epochs=2, shuffle=False, random_state=0
    )
    model.fit(rows)
    own = 0.9 ** (29 - t) * (1 + 0.9**30)
    values = model._model.space.map.transform(rows) @ model._model.space.map.transform(rows).T
    for i in range(30):
        others = t != i
        mean = own[others] @ values[others, i] / own[others].sum()
        assert model._recent.values[i] == pytest.approx(mean, rel=1e-9)


def test_the_only_sample_of_a_fit_tells_nothing_of_others(X):
    for statistic, score in (("mean", 0.0), ("leverage", 0.5)):
        model = KernelMeanDetector(statistic=statistic, gamma=0.4, random_state=0).fit(X[:1])
        assert model.offset_ == pytest.approx(score)
        assert model.fit_predict(X[:1]) == [1]


def test_a_weight_of_two_is_two_samples(X):
    weight = np.random.default_rng(0).integers(0, 4, len(X))
    settings = {"gamma": 0.4, "n_components": 20, "random_state": 0}
    weighted = KernelMeanDetector(**settings).partial_fit(X, sample_weight=weight)
    repeated = KernelMeanDetector(**settings).partial_fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.mean_, repeated.mean_, rtol=1e-10, atol=1e-14)


def test_forgetting_may_change_in_mid_stream(X):
    model = KernelMeanDetector(gamma=0.4, n_components=20, random_state=0).partial_fit(X[:200])
    before = model.mean_
    model.set_params(forgetting=1e-12).partial_fit(X[200:])
    z = KernelMeanDetector(gamma=0.4, n_components=20, random_state=0).partial_fit(X[-1:]).mean_
    assert not np.allclose(before, z)
    np.testing.assert_allclose(model.mean_, z, atol=1e-10)
    with pytest.raises(ValueError, match="forgetting"):
        model.set_params(forgetting=2.0)


def test_scores_are_mean_kernel_values(X):
    model = KernelMeanDetector(gamma=0.4, n_components=20_000, random_state=0).fit(X)
    expected = rbf_kernel(X, gamma=0.4).mean(axis=1)
    np.testing.assert_allclose(model.score_samples(X), expected, atol=0.02)


def test_the_order_of_the_samples_does_not_matter_without_forgetting(X):
    settings = {"gamma": 0.4, "random_state": 0, "shuffle": False}
    one = KernelMeanDetector(**settings).fit(X)
    two = KernelMeanDetector(**settings).fit(X[::-1])
    np.testing.assert_allclose(one.mean_, two.mean_, rtol=1e-10, atol=1e-14)


def test_a_mean_that_forgets_follows_the_stream():
    rng = np.random.default_rng(0)
    first, then = rng.standard_normal((3000, 2)), 8 + rng.standard_normal((3000, 2))
    keeps, forgets = (
        KernelMeanDetector(gamma=0.5, forgetting=forgetting, random_state=0)
        for forgetting in (1.0, 0.99)
    )
    for model in (keeps, forgets):
        model.partial_fit(first)
        assert model.predict([[8.0, 8.0]]) == [-1]
        model.partial_fit(then)
    assert forgets.score_one([8.0, 8.0]) > 0 > forgets.score_one([0.0, 0.0])
    assert abs(keeps.score_samples([[8.0, 8.0]]) - keeps.score_samples([[0.0, 0.0]])) < 0.1


def test_outliers_have_low_scores():
    X, X_test, inside = normals_and_outliers()
    model = KernelMeanDetector(gamma=0.5, random_state=0).fit(X)
    exact = rbf_kernel(X_test, X, gamma=0.5).mean(axis=1)
    area = roc_auc_score(inside, model.score_samples(X_test))
    assert area > roc_auc_score(inside, exact) - 0.02


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "polynomial", "cosine"])
def test_nystroem_features_of_any_kernel(X, kernel):
    model = KernelMeanDetector(
        features="nystroem", n_components=40, kernel=kernel, gamma=0.4, coef0=1.0
    ).partial_fit(X)
    _, mean = twin_of(model, X)
    np.testing.assert_allclose(model.mean_, mean, rtol=1e-6, atol=1e-8)
    assert not hasattr(model, "frequencies_")


def test_landmarks_are_the_first_samples_that_differ(X):
    model = KernelMeanDetector(features="nystroem", n_components=40, gamma=0.4).partial_fit(X)
    _, first = np.unique(X, axis=0, return_index=True)
    np.testing.assert_array_equal(model.landmarks_, X[np.sort(first)[:40]])


def test_scores_at_landmarks_are_exact(X):
    """As long as every sample is a landmark: the mean kernel values with all of them."""
    model = KernelMeanDetector(features="nystroem", n_components=300, gamma=0.4).partial_fit(X)
    assert len(model.landmarks_) >= len(X) - 1  # a row of zeros may be there twice
    expected = rbf_kernel(X, gamma=0.4).mean(axis=1)
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-7)


def test_fourier_features_need_their_kernel(X):
    with pytest.raises(ValueError, match="features='fourier' needs one of the kernels"):
        KernelMeanDetector(kernel="polynomial").fit(X)
    assert not hasattr(KernelMeanDetector().fit(X), "landmarks_")


@pytest.mark.parametrize("forgetting", [0, 1.1, "auto"])
def test_forgetting(forgetting, X):
    with pytest.raises(ValueError, match="forgetting"):
        KernelMeanDetector(forgetting=forgetting).fit(X)
