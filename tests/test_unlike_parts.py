"""Parts that are unlike: a weight is averaged over the models that have moved it."""

from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp

import onlinekern as ok
from onlinekern import merge

D, SHARED, K, N = 24, 4, 3, 60
# (class, parameters) of learners that average weights of the features themselves.
AVERAGED = [
    (ok.PAClassifier, {"C": 0.5}),
    (ok.PARegressor, {"C": 0.5}),
    (ok.PerceptronClassifier, {"average": False}),
    (ok.OGDClassifier, {"average": False}),
    (ok.OGDRegressor, {"average": False, "standardize_target": False}),
    (ok.PegasosClassifier, {"average": False, "batch_size": 4}),
]


def rows(features, n, rng):
    """Return sparse rows that have some of the features only."""
    X = np.zeros((n, D))
    X[:, features] = rng.normal(size=(n, len(features))) * (rng.random((n, len(features))) < 0.4)
    return X


def words_of(part):
    """Return the features of a part: some that all have, and its own."""
    own = np.arange(SHARED + part, D - 5, K)
    return np.concatenate([np.arange(SHARED), own])


def learn(cls, known, shared=True, seed=0, **parameters):
    """Return a base, models of parts that have features of their own, and their rows."""
    rng = np.random.default_rng(seed)
    number = issubclass(cls, ok.PARegressor | ok.OGDRegressor)
    truth = rng.normal(size=D)

    def targets(X):
        return X @ truth if number else np.where(X @ truth > 0, "yes", "no")

    base = cls(**parameters)
    classes = {} if number else {"classes": ["no", "yes"]}
    if known:
        X = rows(np.arange(D // 2), 40, rng)
        base.partial_fit(X, targets(X), **classes)
        classes = {}
    parts = [rows(words_of(k)[0 if shared else SHARED :], N + 20 * k, rng) for k in range(K)]
    models = [deepcopy(base).partial_fit(sp.csr_matrix(X), targets(X), **classes) for X in parts]
    return base, models, parts, targets


def weights_of(model):
    return np.append(np.ravel(model.coef_), np.ravel(model.intercept_))


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("cls", "parameters"), AVERAGED)
def test_weights_are_those_of_the_twin(cls, parameters, known):
    base, models, _, _ = learn(cls, known, **parameters)
    merged = merge(models, base=base if known else None)
    start = weights_of(base) if known else np.zeros(D + 1)
    counts = [model.n_seen_ - (base.n_seen_ if known else 0) for model in models]
    expected = np.zeros(D + 1)
    for j in range(D + 1):
        own = [(n, weights_of(m)[j]) for n, m in zip(counts, models, strict=True)]
        moved = [(n, w) for n, w in own if w != start[j]] or own
        expected[j] = sum(n * w for n, w in moved) / sum(n for n, _ in moved)
    np.testing.assert_allclose(weights_of(merged), expected, rtol=1e-12, atol=1e-14)
    plain = np.average([weights_of(m) for m in models], axis=0, weights=counts)
    # The last five features occur in no part: they stay. Those of all parts are plain averages.
    untouched, shared = slice(D - 5, D), slice(SHARED)
    np.testing.assert_allclose(weights_of(merged)[untouched], start[untouched], rtol=1e-12)
    np.testing.assert_allclose(weights_of(merged)[shared], plain[shared], rtol=1e-12)
    assert abs(weights_of(merged) - plain).max() > 0.01


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("cls", "parameters"),
    [(ok.PAClassifier, {}), (ok.PARegressor, {}), (ok.PerceptronClassifier, {"average": False})],
)
def test_parts_without_common_features_are_one_stream(cls, parameters, known):
    parameters = {"fit_intercept": False, **parameters}
    base, models, parts, targets = learn(cls, known, shared=False, **parameters)
    merged = merge(models, base=base if known else None)
    stream = deepcopy(base)
    for X in parts:
        classes = {} if cls is ok.PARegressor else {"classes": ["no", "yes"]}
        stream.partial_fit(sp.csr_matrix(X), targets(X), **classes)
    np.testing.assert_allclose(merged.coef_, stream.coef_, rtol=1e-12, atol=1e-14)


def test_the_average_of_a_weight_is_that_of_the_models_that_moved_it():
    base, models, _, _ = learn(ok.PAClassifier, True, average=True)
    merged = merge(models, base=base)
    for part in range(K):
        own = words_of(part)[SHARED:]
        moved = [j for j in own if models[part].coef_[0, j] != base.coef_[0, j]]
        assert moved
        np.testing.assert_allclose(
            merged.coef_[0, moved], models[part].coef_[0, moved], rtol=1e-12, atol=1e-14
        )
    # The latest weights, which go on learning, are merged alike.
    X = np.eye(D)[words_of(0)[SHARED:]]
    again = deepcopy(merged).partial_fit(X, np.repeat("no", len(X)))
    assert np.isfinite(again.coef_).all()


def test_a_weight_that_came_back_has_been_moved():
    base = ok.PerceptronClassifier(fit_intercept=False, average=True)
    base.partial_fit([[1.0, 0.0]], ["yes"], classes=["no", "yes"])
    there, back, wait = np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([[0.0, 1.0]])
    swung = deepcopy(base).partial_fit([there, back], ["no", "yes"])
    other = deepcopy(base).partial_fit([there, *wait], ["no", "no"])
    assert (swung._model.space.latest() == base._model.space.latest()).all()
    merged = merge([swung, other], base=base)
    each = [float(model._model.space.latest()[0, 0]) for model in (swung, other)]
    assert float(merged._model.space.latest()[0, 0]) == pytest.approx(np.mean(each))


def test_weights_in_a_ball_stay_in_it():
    base, models, _, _ = learn(ok.PegasosClassifier, True, projection=True, reg=0.05, average=False)
    merged = merge(models, base=base)
    radius = np.sqrt(1 / 0.05)
    norms = [np.linalg.norm(weights_of(model)) for model in models]
    assert max(norms) <= radius * (1 + 1e-9)
    assert np.linalg.norm(weights_of(merged)) <= max(norms) * (1 + 1e-9)
    counts = [model.n_seen_ - base.n_seen_ for model in models]
    plain = np.average([weights_of(m) for m in models], axis=0, weights=counts)
    np.testing.assert_allclose(weights_of(merged), plain, rtol=1e-9)


def texts(n, rng):
    """Return rows of 12 words, most of them of one of 8 languages, and the language of each."""
    language = rng.integers(8, size=n)
    words = np.where(
        rng.random((n, 12)) < 0.9,
        50 * language[:, None] + rng.integers(50, size=(n, 12)),
        rng.integers(400, size=(n, 12)),
    )
    places = np.repeat(np.arange(n), 12), words.ravel()
    return sp.csr_matrix((np.full(12 * n, 12**-0.5), places), shape=(n, 400)), language


def test_rounds_of_parts_with_words_of_their_own_learn_as_the_stream():
    rng = np.random.default_rng(5)
    truth = rng.normal(size=400)
    X, language = texts(3500, rng)
    y = np.where(X @ truth > 0, 1, -1)
    begun, left = slice(200), slice(200, 1500)
    base = ok.PAClassifier(C=1.0).partial_fit(X[begun], y[begun], classes=[-1, 1])
    stream = deepcopy(base).partial_fit(X[left], y[left])
    for stretch in np.array_split(np.arange(200, 1500), 4):
        own = [stretch[language[stretch] == k] for k in range(8)]
        base = merge([deepcopy(base).partial_fit(X[i], y[i]) for i in own], base=base)
    # Plain averages move a word an eighth as far as its own language says: 75 %.
    assert base.score(X[1500:], y[1500:]) > stream.score(X[1500:], y[1500:]) - 0.03
