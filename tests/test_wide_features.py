"""Random Fourier features without a matrix of frequencies: hashed and structured ones."""

import pickle

import numpy as np
import pytest
from interpreters import python
from oracles.dual_sgd import random_features
from oracles.fourier import hadamard, hashed_frequencies
from oracles.kernels import kernel_matrix
from scipy import sparse

import onlinekern as ok
from onlinekern.core import FEATURE_MAPS
from onlinekern.core.base.vector import available_levels
from onlinekern.core.features.structured import signs_shape
from onlinekern.estimators import features, memory
from onlinekern.estimators.memory import Form
from onlinekern.fitted.families.features import map_of

DTYPES = [np.float32, np.float64]
KINDS = ["hashed", "structured"]
WIDE = 5_000_000
LEARNERS = {
    "FOGDClassifier": {"fit_intercept": True, "average": True},
    "FOGDRegressor": {},
    "DualSGDClassifier": {"budget": 20, "merge_size": 5, "reg": 0.01},
    "DualSGDRegressor": {"budget": 20, "merge_size": 5},
    "KernelMeanDetector": {},
}


def wide_rows(n=300, stored=12, dtype=np.float32):
    """Return sparse rows of five million columns, most of them rare, and labels."""
    rng = np.random.default_rng(0)
    columns = np.floor(WIDE ** rng.random((n, stored))).astype(np.int32) - 1
    columns[:, 0] = np.where(rng.random(n) < 0.5, WIDE - 1, WIDE - 2)
    y = (columns[:, 0] == WIDE - 1).astype(int)
    values = rng.uniform(0.1, 0.4, columns.shape).astype(dtype)
    values[:, 0] = 1
    starts = np.arange(0, n * stored + 1, stored)
    X = sparse.csr_matrix((values.ravel(), columns.ravel(), starts), shape=(n, WIDE))
    X.sum_duplicates()
    return X, y


@pytest.mark.parametrize("dtype", DTYPES)
def test_hashed_features_of_wide_rows(dtype):
    X, _ = wide_rows(n=40, dtype=dtype)
    table = np.random.default_rng(1).normal(size=(4096, 64)).astype(dtype)
    features = FEATURE_MAPS["hashed_fourier"](table, 7, 100, WIDE, dtype)
    met = np.unique(X.indices)
    frequencies = hashed_frequencies(table, 7, 100, met)
    np.testing.assert_array_equal(features.frequencies(met), frequencies)
    tolerance = 2e-5 if dtype == np.float32 else 1e-12
    expected = random_features(X[:, met].toarray(), frequencies)
    np.testing.assert_allclose(features.transform(X), expected, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_longer_than_a_piece(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 1200)).astype(dtype) / 30
    X[1, :300] = 0
    X[2, ::2] = 0
    X[3, 256:] = 0
    table = rng.normal(size=(64, 64)).astype(dtype)
    features = FEATURE_MAPS["hashed_fourier"](table, 0, 70, 1200, dtype, True)
    found = features.transform(X)
    tolerance = 2e-5 if dtype == np.float32 else 1e-12
    expected = random_features(X, features.frequencies())
    np.testing.assert_allclose(found, expected, atol=tolerance)
    np.testing.assert_array_equal(features.transform(sparse.csr_matrix(X)), found)
    # Zeros that are stored are zeros too.
    stored = sparse.csr_matrix(np.ones_like(X))
    stored.data = X.ravel()
    np.testing.assert_array_equal(features.transform(stored), found)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [3, 16, 17, 64, 100, 256])
def test_hadamard_transform(d, dtype):
    _, blocks, n = signs_shape(2 * d, d)
    signs = np.ones((3, blocks * n))
    features = FEATURE_MAPS["structured_fourier"](signs, np.full((1, 2 * d), 1.0), d, dtype)
    # H H = n I: three of them are n H, of small integers.
    expected = np.tile(n * hadamard(n), (blocks, 1))[: 2 * d, :d]
    np.testing.assert_array_equal(features.frequencies(), expected)


@pytest.mark.parametrize(
    ("kind", "kernel"),
    [("hashed", "gaussian"), ("hashed", "laplacian"), ("structured", "gaussian")],
)
def test_the_kernel_is_their_expectation(kind, kernel):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 20)) / np.sqrt(20)
    grams = []
    for seed in range(40):
        model = ok.FourierFeatures(
            n_components=64, gamma=0.5, kernel=kernel, frequencies=kind, random_state=seed
        )
        z = model.fit_transform(X)
        grams.append(z @ z.T)
    expected = kernel_matrix(kernel, X, X, 0.5)
    # One has a deviation of up to 1 / sqrt(128) = 0.09, the mean of forty 0.014.
    assert np.abs(np.mean(grams, axis=0) - expected).max() < 0.056
    deviation = np.sqrt(np.mean((np.array(grams) - expected) ** 2))
    plain = 0.09 if kind == "hashed" else 0.045
    assert 0.2 * plain < deviation < plain


def test_what_auto_is():
    rows = sparse.csr_matrix((3, 20_000), dtype=np.float32)
    few = ok.FourierFeatures(n_components=4, gamma=0.5, random_state=0).fit(rows)
    plain = ok.FourierFeatures(n_components=4, gamma=0.5, random_state=0, frequencies="plain")
    np.testing.assert_array_equal(few.frequencies_, plain.fit(rows).frequencies_)
    wide = ok.FourierFeatures(n_components=2000, gamma=0.5, random_state=0).fit(rows)
    assert type(wide._map) is FEATURE_MAPS["hashed_fourier"]
    # As many frequencies of few features are a matrix as before.
    assert features.fitting("orthogonal", 10**6, 784) == "orthogonal"


def settings(name, **parameters):
    cls = getattr(ok, name)
    return cls(gamma=0.5, random_state=0, n_components=100, **{**LEARNERS[name], **parameters})


def taught(model, X, y, parts=3):
    """Learn in some calls; return the scores of the rows."""
    classes = {"classes": [0, 1]} if hasattr(model, "predict_proba") else {}
    for part in np.array_split(np.arange(X.shape[0]), parts):
        target = () if isinstance(model, ok.KernelMeanDetector) else (y[part],)
        model.partial_fit(X[part], *target, **classes)
    return scores_of(model, X)


def scores_of(model, X):
    return getattr(model, "decision_function", model.predict)(X)


@pytest.mark.parametrize("name", LEARNERS)
def test_defaults_learn_wide_rows(name):
    X, y = wide_rows(n=200)
    model = settings(name)
    # The matrix of frequencies would take 2 GB.
    assert model._n_bytes(Form(WIDE, 1, 4, True)) < 10_000_000
    scores = taught(model, X, y)
    np.testing.assert_array_equal(taught(settings(name, window=7), X, y, 1), scores)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(scores_of(copy, X), scores)
    if name == "FOGDClassifier":
        assert model.n_mistakes_ < 40


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LEARNERS)
def test_models_are_those_of_the_frequencies(name, kind, stream, as_layout, tmp_path):
    X, y = stream("binary", n=120)
    y = (y == "yes").astype(int)
    model = settings(name, frequencies=kind)
    scores = taught(model, X, y)
    for other in (as_layout(X, "csr"), as_layout(X, "csr", np.float32)):
        np.testing.assert_allclose(
            taught(settings(name, frequencies=kind), other, y), scores, atol=2e-4
        )
    model.save(tmp_path / "model.okn")
    np.testing.assert_array_equal(scores_of(ok.load(tmp_path / "model.okn"), X), scores)
    features = model._model.space
    features = getattr(features, "budget", features).map
    np.testing.assert_array_equal(features.frequencies(), model.frequencies_)
    np.testing.assert_allclose(
        features.transform(X), random_features(X, model.frequencies_), atol=1e-12
    )


def test_explicit_learners_hash_wide_rows():
    X, y = wide_rows(n=150)
    wide = {"features": "fourier", "n_components": 100, "gamma": 0.5, "linear": False}
    for cls in (ok.KernelRLSClassifier, ok.KernelAROWClassifier):
        model = cls(random_state=0, **wide).partial_fit(X, y, classes=[0, 1])
        assert type(model._model.space.map) is FEATURE_MAPS["hashed_fourier"]
        assert model.score(X, y) > 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_merging(kind, stream):
    X, y = stream("binary", n=200)
    same = [settings("FOGDClassifier", frequencies=kind) for _ in range(2)]
    for model, part in zip(same, (slice(0, 100), slice(100, 200)), strict=True):
        model.fit(X[part], y[part])
    merged = ok.merge(same)
    mean = np.mean([model.coef_ for model in same], axis=0)
    np.testing.assert_allclose(merged.coef_, mean)
    other = settings("FOGDClassifier", frequencies=kind).set_params(random_state=1).fit(X, y)
    with pytest.raises(ValueError, match="different features"):
        ok.merge([same[0], other])


@pytest.mark.parametrize("kind", KINDS)
def test_exported_features(kind, stream, tmp_path):
    X, y = stream("binary", n=100)
    model = settings("FOGDClassifier", frequencies=kind).fit(X, y)
    model.export_c(tmp_path / "model.c")
    assert "frequencies" in (tmp_path / "model.c").read_text()
    features = model._model.space.map
    np.testing.assert_allclose(map_of(features).features(X), features.transform(X), atol=1e-12)


def test_writing_out_what_is_too_large(monkeypatch, tmp_path):
    X, y = wide_rows(n=100)
    model = settings("FOGDClassifier").partial_fit(X, y, classes=[0, 1])
    monkeypatch.setattr(memory, "available_memory", lambda: 10**9)
    with pytest.raises(MemoryError, match=r"n_components=100 needs at least 4 .* 5000000 feat"):
        _ = model.frequencies_
    with pytest.raises(TypeError, match=r"HashedFourier cannot be exported: .* 100 frequencies"):
        model.export_c(tmp_path / "model.c")
    with pytest.raises(MemoryError, match="n_components=100 needs at least 8 gigabytes"):
        settings("FOGDClassifier", frequencies="plain").partial_fit(X, y, classes=[0, 1])


def test_bad_parameters(stream):
    X, y = stream("binary")
    with pytest.raises(ValueError, match="frequencies='structured' needs kernel='gaussian'"):
        ok.FOGDClassifier(kernel="laplacian", frequencies="structured").fit(X, y)
    hashed, structured = FEATURE_MAPS["hashed_fourier"], FEATURE_MAPS["structured_fourier"]
    for shape in ((3, 64), (4, 63), (1, 64)):
        with pytest.raises(ValueError, match="table must have 64 columns"):
            hashed(np.ones(shape), 0, 5, 3, np.float64)
    with pytest.raises(ValueError, match=r"n_components must be in \[1"):
        hashed(np.ones((4, 64)), 0, 0, 3, np.float64)
    with pytest.raises(ValueError, match=r"columns must be"):
        hashed(np.ones((4, 64)), 0, 5, 3, np.float64).frequencies([3])
    for signs in (np.ones((3, 32)), np.zeros((3, 16)), np.ones((2, 16))):
        with pytest.raises(ValueError, match="signs must be 1 or -1, of shape"):
            structured(signs, np.ones((1, 5)), 3, np.float64)
    with pytest.raises(ValueError, match="scales must have one row"):
        structured(np.ones((3, 16)), np.ones((5, 1)), 3, np.float64)


CODE = """
import numpy as np
from onlinekern.core import FEATURE_MAPS
rng = np.random.default_rng(0)
for dtype in (np.float32, np.float64):
    signs, scales = rng.choice([-1.0, 1.0], (3, 256)), rng.normal(size=(1, 150)) / 1000
    features = FEATURE_MAPS["structured_fourier"](signs, scales, 70, dtype)
    print(features.frequencies().tobytes().hex())
"""


def test_structured_frequencies_on_every_instruction_set():
    found = set()
    for isa in available_levels():
        found.add(python(CODE, env={"ONLINEKERN_ISA": isa}, check=True).stdout)
    # Only sums, differences and one product: nothing is contracted.
    assert len(found) == 1
