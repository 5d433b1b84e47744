"""Features with heavy tails in kernel forests: which are bent, and what that brings."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from oracles import forest_bends as twin

from onlinekern import KernelForestClassifier, KernelForestRegressor, StreamRegressor, merge
from onlinekern.core.models import forest_look
from onlinekern.core.partitions.bends import BendLearner, all_bent, bends_of
from onlinekern.core.partitions.scale import Scale, scaled_rows
from onlinekern.fitted.save import from_bytes, to_bytes

FEW = {"n_trees": 12, "random_state": 0}


def state(model):
    return model._model.space.get_state()


def money(n=1500, d=5, seed=0, spread=2):
    """Return rows of a lognormal distribution, and a target that multiplies some of them."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d))
    return 1000 * np.exp(spread * Z), Z[:, 0] + np.sin(2 * Z[:, 1]) + 0.1 * rng.normal(size=n)


def bent_features(X, y):
    model = KernelForestRegressor(**FEW).fit(X, y)
    return state(model)["bend_features"].tolist()


def test_the_logarithm_is_exact_at_powers_of_two():
    powers = 2.0 ** np.arange(-3, 60)
    assert_array_equal(all_bent(powers - 1), twin.bent(powers - 1))
    assert_array_equal(all_bent(2.0 ** np.arange(1, 50) - 1), np.arange(1, 50))
    assert_array_equal(all_bent(1 - 2.0 ** np.arange(1, 50)), -np.arange(1.0, 50))
    assert_array_equal(all_bent(np.array([2.0, 0.25, np.nan])), [1.5, 0.25, np.nan])


def test_it_is_monotone_and_near_the_logarithm():
    rng = np.random.default_rng(0)
    u = np.sort(rng.normal(size=5000) * 10.0 ** rng.integers(-9, 290, 5000))
    found = all_bent(u)
    assert (np.diff(found) >= 0).all()
    assert_array_equal(found, twin.bent(u))
    assert np.abs(np.abs(found) - np.log2(1 + np.abs(u))).max() < 0.087
    assert np.isfinite(all_bent(np.array([np.inf, -np.inf]))).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_have_the_bits_of_the_twin(dtype):
    rng = np.random.default_rng(0)
    X = (np.exp(rng.normal(size=(50, 4)) * 3) * (rng.random((50, 4)) < 0.6)).astype(dtype)
    bends = bends_of(np.array([0, 3], np.int32), np.array([0.5, 2.0]), np.array([3.0, 1e-3]), 4)
    scale = Scale(np.array([1.0, 2.0, 0.0, 4.0]), np.array([2.0, 1.0, 0.0, 0.5]), None, None, None,
                  None, bends)  # fmt: skip
    own = X.astype(float)
    for j, center, factor in ((0, 0.5, 3.0), (3, 2.0, 1e-3)):
        own[:, j] = twin.bent((own[:, j] - center) * factor)
    expected = ((own - [1, 2, 0, 4]) * [2, 1, 0, 0.5]).astype(np.float32)
    assert_array_equal(scaled_rows(scale, X), expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_rows_are_bent_as_dense_ones(dtype):
    X, y = money(600)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = 0
    X = X.astype(dtype)
    y = np.log1p(X[:, 0]) + y
    dense = KernelForestRegressor(**FEW).fit(X, y)
    sparse = KernelForestRegressor(**FEW).fit(sp.csr_matrix(X), y)
    assert 0 in state(sparse)["bend_features"]
    assert_array_equal(sparse.predict(X), dense.predict(sp.csr_matrix(X)))


def test_heavy_tails_are_found_where_the_logarithm_tells():
    X, y = money()
    assert 0 in bent_features(X, y)
    assert 0 in bent_features(-X, y)
    # What the raw values tell is told best as they are.
    assert 0 not in bent_features(X, X[:, 0])


@pytest.mark.parametrize("made", ["normal", "uniform", "binary", "few wrong values", "constant"])
def test_other_features_stay(made):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(1500, 4))
    y = Z[:, 0] - Z[:, 1] ** 2
    X = {
        "normal": Z,
        "uniform": np.abs(Z) % 1,
        "binary": (Z > 2.2).astype(float),
        "few wrong values": np.where(rng.random(Z.shape) < 0.002, 1e6, Z),
        "constant": np.full(Z.shape, 7.0),
    }[made]
    assert bent_features(X, y) == []


def test_raw_units_cost_little():
    """The logarithms of the rows are what a forest would be given by who knows them."""
    X, y = money(2500)
    errors = []
    for rows in (X, np.log(X)):
        model = KernelForestRegressor(random_state=0, n_trees=40).fit(rows[:1500], y[:1500])
        errors.append(np.sqrt(np.mean((model.predict(rows[1500:]) - y[1500:]) ** 2)))
    assert errors[0] < 1.15 * errors[1]


@pytest.mark.parametrize("largest", [1e30, 1e300])
def test_values_of_any_size_are_learnt(largest):
    X, y = money(400)
    X[:, 1] *= largest
    X[::50, 2] *= -largest
    model = KernelForestRegressor(**FEW).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_products_beyond_the_largest_number_are_no_warning():
    X, y = money(600)
    X[:, 1] *= 1e-20
    X[5:7, 0], X[7, 1] = [1.7e308, -1.7e308], 1.7e308
    model = KernelForestRegressor(**FEW).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_cuts_of_a_stream_undo_and_files_keep_the_bits(tmp_path):
    X, y = money(700)
    X[::7, 2] = np.nan
    whole = KernelForestRegressor(**FEW).partial_fit(X, y)
    parts = KernelForestRegressor(**FEW)
    for first, last in ((0, 1), (1, 33), (33, 130), (130, 699), (699, 700)):
        parts.partial_fit(X[first:last], y[first:last])
        with pytest.raises(ValueError, match="infinity"):
            parts.partial_fit(np.full((2, 5), np.inf), [0, 0])
        parts = from_bytes(to_bytes(parts), "model")
    assert_array_equal(parts.predict(X), whole.predict(X))
    assert_array_equal(pickle.loads(pickle.dumps(whole)).predict(X), whole.predict(X))
    assert len(state(parts)["bend_features"]) > 0


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("bend_features", np.array([9], np.int32), "bend_features"),
        ("bend_features", np.array([0.0]), "bend_features"),
        ("bend_centers", np.zeros(0), "bend_centers"),
        ("bend_factors", np.array([0.0]), "bend_factors"),
        ("bend_factors", np.array([np.nan]), "bend_factors"),
    ],
)
def test_a_state_is_checked(field, value, message):
    given = {
        "bend_features": np.array([1], np.int32),
        "bend_centers": np.ones(1),
        "bend_factors": np.ones(1),
    }
    with pytest.raises((ValueError, TypeError), match=message):
        bends_of(*{**given, field: value}.values(), 5)


def test_models_are_merged():
    X, y = money(3000)
    base = KernelForestRegressor(**FEW).fit(X[:1000], y[:1000])
    parts = [from_bytes(to_bytes(base), "model") for _ in range(2)]
    for part, rows in zip(parts, (slice(1000, 2000), slice(2000, 3000)), strict=True):
        part.partial_fit(X[rows], y[rows])
    merged = merge(parts, base=base)
    assert merged.score(X, y) > 0.5
    assert len(state(merged)["bend_features"]) > 0


class Unbent(BendLearner):
    """Bends nothing, whatever it is told."""

    def take(self, j):
        pass


def error_of_forest(X, y):
    model = KernelForestRegressor(random_state=0, n_trees=40, exact=0.0).fit(X[:1500], y[:1500])
    return np.sqrt(np.mean((model.predict(X[1500:]) - y[1500:]) ** 2))


def error_of_labels(X, y):
    model = KernelForestClassifier(random_state=0, n_trees=40).fit(X[:1500], y[:1500] > 0)
    return 1 - model.score(X[1500:], y[1500:] > 0)


def error_of_race(X, y):
    answers = StreamRegressor(random_state=0).partial_fit_predict(X[:1500], y[:1500])
    return np.mean((answers[700:] - y[700:1500]) ** 2)


# To exact trees it is the same where a feature is bent.
@pytest.mark.parametrize(
    ("error", "share"), [(error_of_forest, 0.7), (error_of_labels, 0.75), (error_of_race, 0.9)]
)
def test_forests_and_races_gain(error, share, monkeypatch):
    X, y = money(2500, spread=4)
    bent = error(X, y)
    monkeypatch.setattr(forest_look, "BendLearner", Unbent)
    assert bent < share * error(X, y)
