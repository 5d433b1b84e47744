"""The transformers: random Fourier features of orthogonal frequencies, and Nystroem features."""

import pickle

import numpy as np
import pytest
from oracles.dual_sgd import random_features
from oracles.fourier import hashed_frequencies, structured_frequencies
from oracles.kernels import kernel_matrix
from oracles.mapped import eigenfeatures
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.utils.estimator_checks import parametrize_with_checks

from onlinekern import FourierFeatures, KernelRLSRegressor, NystroemFeatures, load
from onlinekern.core import FEATURE_MAPS, KERNELS
from onlinekern.core.kernels.support_set import SupportSet

DTYPES = [np.float32, np.float64]
LAYOUTS = ["dense", "csr", "wide"]
TOLERANCE = {np.float32: 2e-4, np.float64: 1e-9}


@parametrize_with_checks(
    [
        FourierFeatures(random_state=0, frequencies="orthogonal"),
        FourierFeatures(random_state=0, frequencies="structured"),
        FourierFeatures(random_state=0, frequencies="hashed"),
        NystroemFeatures(random_state=0, n_components=30),
        NystroemFeatures(selection="first", kernel="cosine"),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", [FourierFeatures, NystroemFeatures])
def test_every_parameter_is_constrained(cls):
    assert set(cls().get_params()) == set(cls._parameter_constraints)


def random_fourier(X, rows):
    """Return a map for the rows, and its features of X by NumPy."""
    frequencies = np.random.default_rng(0).normal(size=(21, X.shape[1])).astype(rows.dtype)
    return FEATURE_MAPS["random_fourier"](frequencies, rows.dtype), random_features(X, frequencies)


def nystroem(X, rows):
    """Return a map for the rows, and its features of X by NumPy."""
    new_map = FEATURE_MAPS["nystroem"].of_rows(KERNELS["gaussian"](0.3), rows[:20], 7)
    projection, _ = eigenfeatures(kernel_matrix("gaussian", X[:20], X[:20], 0.3), 7)
    return new_map, kernel_matrix("gaussian", X, X[:20], 0.3) @ projection.T


def nested_nystroem(X, rows):
    """Return a map for the rows, and its features of X by NumPy."""
    sparse = not isinstance(rows, np.ndarray)
    kernel = KERNELS["gaussian"](0.3)
    landmarks = SupportSet(kernel, X.shape[1], rows.dtype, 1, False, sparse)
    made = FEATURE_MAPS["nested_nystroem"](landmarks, 70, "first", 0.1)
    made.add_rows(rows[:40])
    made.add_rows(rows[:66])
    # A row that is there already adds nothing.
    kept = np.sort(np.unique(X[:66], axis=0, return_index=True)[1])
    factor = np.linalg.cholesky(kernel_matrix("gaussian", X[kept], X[kept], 0.3))
    features = np.linalg.solve(factor, kernel_matrix("gaussian", X[kept], X, 0.3)).T
    return made, np.pad(features, [(0, 0), (0, 70 - len(kept))])


def with_linear(X, rows):
    """Return a map for the rows, and its features of X by NumPy."""
    inner, features = random_fourier(X, rows)
    made = FEATURE_MAPS["with_linear"](inner)
    return made, np.hstack([X / np.sqrt(X.shape[1]), features])


def hashed_fourier(X, rows):
    """Return a map for the rows, and its features of X by NumPy."""
    table = np.random.default_rng(0).normal(size=(8, 64)).astype(rows.dtype)
    made = FEATURE_MAPS["hashed_fourier"](table, 2**64 - 3, 150, X.shape[1], rows.dtype)
    frequencies = hashed_frequencies(table, 2**64 - 3, 150, range(X.shape[1]))
    return made, random_features(X, frequencies)


def structured_fourier(X, rows):
    """Return a map for the rows, and its features of X by NumPy."""
    rng = np.random.default_rng(0)
    signs, scales = rng.choice([-1.0, 1.0], (3, 2, 16)), rng.normal(size=21).astype(rows.dtype) / 64
    made = FEATURE_MAPS["structured_fourier"](
        signs.reshape(3, 32), scales[None], X.shape[1], rows.dtype
    )
    return made, random_features(X, structured_frequencies(signs, scales, X.shape[1]))


def in_metric(X, rows):
    """Return a map for the rows, and its features of X by NumPy."""
    root = np.random.default_rng(0).normal(size=(X.shape[1], X.shape[1]))
    root = root + root.T
    inner, features = random_fourier(X @ root, rows)
    return FEATURE_MAPS["in_metric"](inner, root), features


MAPS = {
    "random_fourier": random_fourier,
    "hashed_fourier": hashed_fourier,
    "structured_fourier": structured_fourier,
    "nystroem": nystroem,
    "nested_nystroem": nested_nystroem,
    "with_linear": with_linear,
    "in_metric": in_metric,
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("name", sorted(FEATURE_MAPS))
def test_map(name, layout, dtype, stream, as_layout):
    X, _ = stream("binary", n=150)
    rows = as_layout(X, layout, dtype)
    made, expected = MAPS[name](X, rows)
    assert type(made) is FEATURE_MAPS[name]
    found = made.transform(rows)
    assert found.dtype == dtype
    # Features may change their sign (eigenvectors have two), but not their products.
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=TOLERANCE[dtype])
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=TOLERANCE[dtype])
    np.testing.assert_array_equal(made.transform(rows[70:75]), found[70:75])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(made)).transform(rows), found)


def orthogonal(X, n_components, seed, gamma=0.5):
    model = FourierFeatures(
        n_components=n_components, gamma=gamma, frequencies="orthogonal", random_state=seed
    )
    return model.fit(X)


def test_orthogonal_frequencies_are_orthogonal():
    frequencies = orthogonal(np.zeros((1, 6)), 15, 0).frequencies_
    for block in (frequencies[:6], frequencies[6:12], frequencies[12:]):
        gram = block @ block.T
        np.testing.assert_allclose(gram - np.diag(np.diag(gram)), 0, atol=1e-12)
    assert np.abs(frequencies[:6] @ frequencies[6:12].T).max() > 0.1


@pytest.mark.parametrize("d", [1, 2, 5])
def test_orthogonal_frequencies_are_normal(d):
    # With gamma = 1/2 each is N(0, I): every coordinate, and the squared length. Rows of one block
    # are not independent, so one row of each of many draws.
    rows = np.array([orthogonal(np.zeros((1, d)), d, seed).frequencies_[-1] for seed in range(800)])
    for column in rows.T:
        assert stats.kstest(column, "norm").pvalue > 1e-3
    assert stats.kstest((rows**2).sum(axis=1), stats.chi2(d).cdf).pvalue > 1e-3


def test_orthogonal_features_are_closer_to_the_kernel():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 20)) / np.sqrt(20)
    kernel = kernel_matrix("gaussian", X, X, 0.5)
    errors = {}
    for name in ("plain", "orthogonal"):
        grams = []
        for seed in range(100):
            model = FourierFeatures(n_components=20, gamma=0.5, frequencies=name, random_state=seed)
            z = model.fit_transform(X)
            grams.append(z @ z.T)
        errors[name] = np.mean((np.array(grams) - kernel) ** 2)
        # Unbiased: the mean of a hundred is ten times closer than one.
        assert np.abs(np.mean(grams, axis=0) - kernel).max() < 0.05
    assert errors["orthogonal"] < 0.5 * errors["plain"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_nystroem_against_numpy(kernel, layout, dtype, stream, as_layout):
    X, _ = stream("binary", n=150)
    rows = as_layout(X, layout, dtype)
    own = {"gamma": 0.2, "degree": 2, "coef0": 0.5}
    model = NystroemFeatures(
        n_components=4, n_landmarks=70, selection="first", kernel=kernel, **own
    ).fit(rows)
    found = model.transform(rows)
    assert found.dtype == dtype
    assert found.shape == (150, 4)
    projection, _ = eigenfeatures(kernel_matrix(kernel, X[:70], X[:70], *own.values()), 4)
    expected = kernel_matrix(kernel, X, X[:70], *own.values()) @ projection.T
    # Eigenvectors have two signs.
    close = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype] * np.abs(expected).max()}
    np.testing.assert_allclose(found * np.sign((found * expected).sum(axis=0)), expected, **close)
    np.testing.assert_array_equal(model.transform(rows[70:75]), found[70:75])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(rows), found)
    np.testing.assert_array_equal(model.projection_.shape, (4, 70))


def test_nystroem_is_exact_at_the_landmarks(stream):
    X, _ = stream("binary", n=60)
    model = NystroemFeatures(n_components=40, gamma=0.3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.landmarks_, X[model.landmark_indices_])
    z = model.transform(model.landmarks_)
    kernel = kernel_matrix("gaussian", model.landmarks_, model.landmarks_, 0.3)
    np.testing.assert_allclose(z @ z.T, kernel, atol=1e-9)
    # scikit-learn uses the symmetric root: the products are the same elsewhere too.
    theirs = Nystroem(kernel="rbf", gamma=0.3, n_components=40).fit(model.landmarks_).transform(X)
    np.testing.assert_allclose(model.transform(X) @ model.transform(X).T, theirs @ theirs.T)


def test_eigenvalues_that_are_rounding_errors_give_no_feature(stream):
    X, _ = stream("binary", n=60)
    for dtype in DTYPES:
        # Six features: the matrix of the linear kernel has rank 6.
        model = NystroemFeatures(n_components=40, kernel="linear").fit(X.astype(dtype))
        assert model.transform(X.astype(dtype)).shape == (60, 6)
        assert list(model.get_feature_names_out()) == [f"nystroemfeatures{j}" for j in range(6)]
        z = model.transform(X.astype(dtype))
        np.testing.assert_allclose(z @ z.T, X @ X.T, atol=100 * np.finfo(dtype).eps)


def test_selection(stream):
    X, _ = stream("binary", n=60)
    first = NystroemFeatures(n_components=5, selection="first").fit(X)
    np.testing.assert_array_equal(first.landmark_indices_, np.arange(5))
    drawn = [
        NystroemFeatures(n_components=5, random_state=seed).fit(X).landmark_indices_
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    assert len(np.unique(drawn[0])) == 5
    # No more landmarks than samples, no more features than landmarks.
    few = NystroemFeatures(n_components=100, n_landmarks=7, random_state=0).fit(X)
    assert few.landmarks_.shape == (7, 6)
    assert few.transform(X).shape == (60, 7)
    assert NystroemFeatures(gamma=0.5).fit(X[:9]).landmarks_.shape[0] == 9


@pytest.mark.parametrize(
    ("model", "settled"),
    [(FourierFeatures(random_state=0), 200), (FourierFeatures(gamma=0.5, random_state=0), 1),
     (NystroemFeatures(n_components=20, selection="first"), 20)],
)  # fmt: skip
def test_the_first_samples_of_a_stream_make_the_map(model, settled, stream):
    X, _ = stream("binary", n=260)
    whole, parts = clone(model).fit(X[:settled]), clone(model)
    parts.partial_fit(X[: settled // 2 + 1])
    early = parts.transform(X)
    parts.partial_fit(X[settled // 2 + 1 :])
    assert np.array_equal(parts.transform(X), early) == (settled == 1)
    np.testing.assert_array_equal(parts.transform(X), whole.transform(X))
    assert parts.gamma_ == whole.gamma_
    with pytest.raises(ValueError, match="features"):
        parts.partial_fit(X[:, :3])


@pytest.mark.parametrize("cls", [FourierFeatures, NystroemFeatures])
def test_parameters_set_before_a_map_is_settled_act_in_a_new_fit(cls, stream, tmp_path):
    X, _ = stream("binary", n=260)
    whole = cls(n_components=40, random_state=0).partial_fit(X)
    model = cls(n_components=40, random_state=0).partial_fit(X[:30])
    model.set_params(n_components=70, gamma=0.5)
    model.save(tmp_path / "model.okn")
    for other in (load(tmp_path / "model.okn"), model):
        assert other.n_components == 70
        with pytest.warns(UserWarning, match=r"^gamma, n_components of .* will take effect when"):
            other.partial_fit(X[30:])
        np.testing.assert_array_equal(other.transform(X), whole.transform(X))
        assert other.fit(X).transform(X).shape[1] == 70 * (2 if cls is FourierFeatures else 1)


def test_dense_samples_after_wide_sparse_ones(stream, as_layout):
    X, _ = stream("binary", n=60)
    rows = as_layout(X, "wide")
    model = NystroemFeatures(n_components=5, gamma=0.3, random_state=0).fit(rows)
    assert sparse.issparse(model.landmarks_)
    np.testing.assert_array_equal(model.transform(rows.toarray()), model.transform(rows))


def test_orthogonal_frequencies_need_the_gaussian_kernel():
    with pytest.raises(ValueError, match="frequencies='orthogonal' needs kernel='gaussian'"):
        FourierFeatures(kernel="laplacian", frequencies="orthogonal").fit(np.eye(3))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_landmark_that_would_turn_rounding_into_a_coordinate(dtype):
    """Its row of L^-1 has numbers near 10^4: float32 refuses it, doubles hold it."""
    X = np.array([[1, 0], [-1, 0], [0, 3], [0, 1.5], [9, 9]], dtype)
    learner = KernelRLSRegressor(gamma=1.0, n_components=10, linear=False, random_state=0)
    features = learner.partial_fit(X[:3], [0, 1, 2])._model.space.map
    assert len(features.whitening()) == 3
    # The fourth row is as near to the first as to the second: its own coordinates stay small.
    features.set_whitening([[1.0, 0, 0], [0, 1, 0], [1e5, -1e5, 1]] * np.ones((3, 3)))
    features.add_rows(X[3:4])
    assert len(features.whitening()) == (3 if dtype == np.float32 else 4)
    features.set_whitening(np.eye(len(features.whitening())))
    features.add_rows(X[4:])  # others are taken as before
    assert len(features.whitening()) == (4 if dtype == np.float32 else 5)
