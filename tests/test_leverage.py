"""KernelMeanDetector by leverages: those of its twin, of a fit, and of a Gaussian process."""

import numpy as np
import pytest
from learners import normals_and_outliers
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from test_kernel_mean import twin_of

from onlinekern import FourierFeatures, KernelMeanDetector


@pytest.fixture
def X(stream):
    return stream("regression", n=120)[0]


def detector(**parameters):
    return KernelMeanDetector(
        **{"statistic": "leverage", "gamma": 0.4, "n_components": 30, "random_state": 3}
        | parameters
    )


def block_of(model):
    """Return how many samples there are between two times that the regulariser is given back."""
    return model._model.space.block.epoch_length


@pytest.mark.parametrize("layout", ["dense", "csr", "wide"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("forgetting", [1.0, 0.97, 0.2])
@pytest.mark.parametrize("features", ["fourier", "nystroem"])
def test_leverage_twin(X, features, forgetting, dtype, layout, as_layout, close):
    rows = as_layout(X.astype(dtype), layout)
    model = detector(features=features, forgetting=forgetting, reg=0.5).partial_fit(rows)
    dense = np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray()).astype(float)
    before, after = twin_of(model, dense, dtype=dtype, block=block_of(model))
    close(model._recent.values[: len(X)], before, dtype)
    close(model.score_samples(rows), after, dtype)
    assert model.cumulative_loss_ == pytest.approx((1 - before).sum(), rel=1e-4)


@pytest.mark.parametrize("kernel", ["laplacian", "polynomial", "cosine"])
def test_other_kernels(X, kernel, close):
    model = detector(features="nystroem", n_components=20, kernel=kernel, coef0=1.0)
    before, after = twin_of(model.partial_fit(X), X)
    close(model._recent.values[: len(X)], before, X.dtype)
    close(model.score_samples(X), after, X.dtype)


@pytest.mark.parametrize("forgetting", [1.0, 0.9])
@pytest.mark.parametrize("features", ["fourier", "nystroem"])
def test_weights(X, features, forgetting, close):
    weight = np.arange(len(X)) % 3.0
    model = detector(features=features, forgetting=forgetting)
    model.partial_fit(X, sample_weight=weight)
    before, after = twin_of(model, X, sample_weight=weight, block=block_of(model))
    counted = weight > 0
    close(model._recent.values[: counted.sum()], before[counted], X.dtype)
    close(model.score_samples(X), after, X.dtype)


def test_a_weight_of_two_is_two_samples(X):
    weight = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = detector().partial_fit(X, sample_weight=weight)
    repeated = detector().partial_fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.score_samples(X), repeated.score_samples(X), rtol=1e-10)


def test_it_is_the_leverage_in_a_fit_with_the_sample(stream):
    """After so many samples that the inverse has been made anew."""
    X = stream("regression", n=1200)[0]
    model = detector(reg=0.3).fit(X)
    assert len(X) > 2 * block_of(model)
    features = FourierFeatures(gamma=0.4, n_components=30, random_state=3).fit(X)
    Z, new = features.transform(X), np.random.default_rng(0).standard_normal((5, X.shape[1]))
    for x, score in zip(new, model.score_samples(new), strict=True):
        whole = np.vstack([Z, features.transform(x[None])])
        hat = whole @ np.linalg.solve(0.3 * np.eye(Z.shape[1]) + whole.T @ whole, whole.T)
        assert 1 - score == pytest.approx(hat[-1, -1], rel=1e-9)


def test_it_is_the_variance_of_a_gaussian_process(X):
    """With as many landmarks as samples, also for rows beyond the span of all of them."""
    X = np.unique(X, axis=0)
    model = detector(features="nystroem", n_components=200, reg=0.3).partial_fit(X)
    new = np.vstack([X[:20], np.random.default_rng(0).standard_normal((20, X.shape[1])), X[:1] + 9])
    cross = rbf_kernel(new, X, gamma=0.4)
    inverse = np.linalg.inv(rbf_kernel(X, gamma=0.4) + 0.3 * np.eye(len(X)))
    variance = 1 - np.einsum("ij,jk,ik->i", cross, inverse, cross)
    np.testing.assert_allclose(1 / model.score_samples(new) - 1, variance / 0.3, rtol=1e-6)


def test_forgetting_follows_the_stream():
    rng = np.random.default_rng(0)
    first, then = rng.standard_normal((2000, 2)), 8 + rng.standard_normal((2000, 2))
    keeps, forgets = (
        detector(gamma=0.5, forgetting=forgetting).partial_fit(first) for forgetting in (1.0, 0.99)
    )
    for model in (keeps, forgets):
        assert model.predict([[8.0, 8.0]]) == [-1]
        model.partial_fit(then)
        assert model.predict([[8.0, 8.0]]) == [1]
    assert keeps.score_samples([[0.0, 0.0]]) > 0.9 > forgets.score_samples([[0.0, 0.0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("forgetting", [1.0, 1e-12])
def test_scores_stay_shares(X, dtype, forgetting):
    """Also of rows that come again and again, of large weights, with next to no regulariser."""
    rows = np.repeat(X[:3], 200, axis=0).astype(dtype)
    weight = np.where(np.arange(len(rows)) % 7, 1.0, 1e4)
    for features in ("fourier", "nystroem"):
        model = detector(reg=1e-8, features=features, forgetting=forgetting)
        model.partial_fit(rows, sample_weight=weight)
        scores = model.score_samples(X.astype(dtype))
        assert ((scores >= 0) & (scores <= 1)).all()
        assert (model.score_samples(rows[-3:]) > 0.49).all()


def test_outliers_have_low_scores():
    X, X_test, inside = normals_and_outliers()
    for features in ("fourier", "nystroem"):
        scores = detector(gamma=0.5, features=features).fit(X).score_samples(X_test)
        assert roc_auc_score(inside, scores) > 0.85


def test_the_mean_is_there_with_the_mean_only(X):
    assert not hasattr(detector().fit(X), "mean_")


@pytest.mark.parametrize("value", [{"reg": 0.0}, {"reg": -1}, {"statistic": "median"}])
def test_parameters(value, X):
    with pytest.raises(ValueError, match=next(iter(value))):
        detector(**value).fit(X)


def test_more_features_than_memory(X):
    with pytest.raises(MemoryError, match="n_components=1000000 needs at least"):
        detector(n_components=1_000_000).fit(X)
