"""The running standardisation against its twin, scikit-learn's, and any batches."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from oracles import scaling as oracle
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import onlinekern
from onlinekern import OnlineStandardScaler
from onlinekern.core.linalg.running_moments import RunningMoments

UNITS = np.array([1e-12, 1.0, 1e12, 1e3, 1.0, 1e-3])


def rows(n=200, seed=0, empty=0.5):
    """Return samples in wild units: feature 3 is far from 0, feature 4 constant, many are 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * UNITS
    X[:, 0] *= rng.random(n) > empty
    X[:, 3] += 1e6
    X[:, 4] = 0.1
    X[n // 2 :, 1] *= 30
    return X


def state_of(scaler):
    return {key: np.asarray(value).tolist() for key, value in scaler._moments.get_state().items()}


FORMS = {
    "plain": {},
    "forgetting": {"forgetting": 0.97},
    "fast": {"forgetting": 0.01},
    "unclipped": {"clip": None, "forgetting": 0.9},
    "clipped": {"clip": 1.5},
    "means": {"with_std": False},
    "squares": {"with_mean": False},
    "squares, forgetting": {"with_mean": False, "forgetting": 0.6, "clip": 1.2},
    "nothing": {"with_mean": False, "with_std": False},
}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def twin_of(form):
    given = {"clip": 10.0} | {key: value for key, value in form.items() if key != "with_mean"}
    return oracle.Scaler(centred=form.get("with_mean", True), **given)


@every_form
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_twin(form, dtype, weighted, close):
    X = (rows() / np.where(UNITS == 1e12, 1e6, 1.0)).astype(dtype)
    weights = np.random.default_rng(1).integers(0, 4, len(X)).astype(float) if weighted else None
    scaler, twin = OnlineStandardScaler(**form), twin_of(form)
    Z = scaler.learn_transform(X, sample_weight=weights)
    assert Z.dtype == dtype
    expected = twin.learn_transform(X, weights)
    # The rounding of a mean of 1e6, in units of a deviation of 1e3, and that of the result.
    np.testing.assert_allclose(Z, expected, rtol=1e-9 if dtype == np.float64 else 1e-6, atol=1e-9)
    np.testing.assert_allclose(scaler.mean_, twin.mean(), rtol=1e-12, atol=1e-30)
    np.testing.assert_allclose(scaler.var_, twin.variance(), rtol=1e-7, atol=1e-32)
    np.testing.assert_allclose(scaler.scale_, twin.scale(), rtol=1e-7)
    close(scaler.transform(X), np.array([twin.transform(x) for x in X]), np.float32)
    assert scaler.n_samples_seen_ == len(twin.rows)


@pytest.mark.filterwarnings("error")
def test_scaled_rows_of_a_table_have_no_names():
    table = pytest.importorskip("pandas").DataFrame(rows()[:, :2], columns=["a", "b"])
    scaler = OnlineStandardScaler(clip=None).fit(table)
    np.testing.assert_allclose(scaler.inverse_transform(scaler.transform(table)), table)
    named = scaler.set_output(transform="pandas").transform(table)
    np.testing.assert_allclose(scaler.inverse_transform(named), table)
    with pytest.raises(ValueError, match="names should match"):
        scaler.inverse_transform(named[["b", "a"]])


def test_without_forgetting_it_is_the_standard_scaler():
    X = rows()
    ours, theirs = OnlineStandardScaler(clip=None).fit(X), StandardScaler().fit(X)
    np.testing.assert_allclose(ours.mean_, theirs.mean_, rtol=1e-12)
    np.testing.assert_allclose(ours.var_[[0, 1, 2, 3, 5]], theirs.var_[[0, 1, 2, 3, 5]], rtol=1e-9)
    np.testing.assert_allclose(ours.scale_, theirs.scale_, rtol=1e-9)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), X, rtol=1e-9, atol=1e-25)


@every_form
@pytest.mark.parametrize("layout", ["dense", "csr", "wide"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_batches_same_bits(form, layout, dtype, as_layout, equal):
    if layout != "dense" and form.get("with_mean", True):
        form = {**form, "with_mean": None}
    X = as_layout((rows() / UNITS).astype(dtype), layout, dtype)
    whole = OnlineStandardScaler(**form)
    Z = dense(whole.learn_transform(X))
    for cuts in ([0, 1, 2, 50, 51, 200], [0, 120, 200]):
        other = OnlineStandardScaler(**form)
        parts = [other.learn_transform(X[a:b]) for a, b in itertools.pairwise(cuts)]
        equal(np.vstack([dense(part) for part in parts]), Z)
        assert state_of(other) == state_of(whole)
    ones = OnlineStandardScaler(**form)
    equal(np.vstack([dense(ones.learn_transform_one(x)) for x in X]), Z)
    assert state_of(ones) == state_of(whole)
    alone = OnlineStandardScaler(**form)
    for x in X:
        alone.learn_one(x)
    assert state_of(alone) == state_of(whole)
    weights = np.random.default_rng(0).integers(0, 3, X.shape[0]).astype(float)
    weighed, single = OnlineStandardScaler(**form), OnlineStandardScaler(**form)
    Z = dense(weighed.learn_transform(X, sample_weight=weights))
    pairs = zip(X, weights.tolist(), strict=True)
    found = [dense(single.learn_transform_one(x, sample_weight=weight)) for x, weight in pairs]
    equal(np.vstack(found), Z)
    assert state_of(single) == state_of(weighed)
    equal(np.vstack([dense(alone.transform_one(x)) for x in X[:9]]), dense(whole.transform(X[:9])))
    fitted = OnlineStandardScaler(**form).fit(X)
    assert state_of(fitted) == state_of(whole.fit(X)) == state_of(other)


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else np.atleast_2d(rows)


@pytest.mark.parametrize("forgetting", [1.0, 0.9])
def test_sparse_rows_are_dense_rows_without_means(forgetting, equal):
    X = rows() * (np.random.default_rng(2).random((200, 6)) < 0.3)
    one = OnlineStandardScaler(with_mean=False, forgetting=forgetting)
    two = OnlineStandardScaler(forgetting=forgetting)
    Z, scaled = one.learn_transform(X), two.learn_transform(sparse.csr_matrix(X))
    assert sparse.issparse(scaled)
    assert scaled.nnz == np.count_nonzero(X)
    equal(scaled.toarray(), Z)
    assert state_of(one) == state_of(two)
    equal(two.transform(X[:5]), two.transform(sparse.csr_matrix(X[:5])).toarray())
    back = two.inverse_transform(two.transform(sparse.csr_matrix(X))).toarray()
    kept = abs(two.transform(X)) < 10
    np.testing.assert_allclose(back[kept], X[kept], rtol=1e-12)


def test_means_and_sparse_samples_do_not_go_together():
    X = rows(20)
    with pytest.raises(ValueError, match="to subtract means would leave no zeros"):
        OnlineStandardScaler(with_mean=True).fit(sparse.csr_matrix(X))
    scaler = OnlineStandardScaler().fit(X)
    for call in (scaler.partial_fit, scaler.transform, scaler.learn_transform):
        with pytest.raises(ValueError, match="the means of dense samples are known"):
            call(sparse.csr_matrix(X))
    with pytest.raises(ValueError, match="means were subtracted"):
        scaler.inverse_transform(sparse.csr_matrix(X))


def test_first_samples_and_constant_features(equal):
    scaler = OnlineStandardScaler()
    equal(scaler.learn_transform([[7.0, 1e12, -3.0]]), np.zeros((1, 3)))
    equal(scaler.scale_, np.ones(3))
    equal(scaler.learn_transform([[8.0, 1e12, -3.0]]), np.array([[1.0, 0.0, 0.0]]))
    # A feature that wakes up is clipped.
    equal(scaler.transform([[7.5, 2e12, -3.0]]), np.array([[0.0, 10.0, 0.0]]))
    forgetful = OnlineStandardScaler(forgetting=0.5)
    forgetful.partial_fit(
        np.r_[np.random.default_rng(0).normal(size=30), np.full(3000, 0.1)][:, None]
    )
    equal(forgetful.scale_, [1.0])
    equal(forgetful.transform([[0.1]]), [[0.0]])
    # Nothing is known before a sample has a weight.
    late = OnlineStandardScaler().learn_transform([[3.0], [1.0], [2.0]], sample_weight=[0, 1, 1])
    equal(late, np.array([[0.0], [0.0], [1.0]]))
    equal(OnlineStandardScaler(with_mean=False).learn_transform([[-3.0, 0.0]]), [[-1.0, 0.0]])


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_a_weight_is_so_many_samples(layout, as_layout):
    X = rows() / UNITS
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    one = OnlineStandardScaler().fit(as_layout(X, layout), sample_weight=weights)
    two = OnlineStandardScaler().fit(as_layout(np.repeat(X, weights, axis=0), layout))
    np.testing.assert_allclose(one.mean_, two.mean_, rtol=1e-12)
    np.testing.assert_allclose(one.var_, two.var_, rtol=1e-9, atol=1e-28)


def test_new_units_are_followed():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(3000, 1)), 100 + 50 * rng.normal(size=(3000, 1))]
    follows, keeps = OnlineStandardScaler(forgetting=0.99), OnlineStandardScaler()
    Z, other = follows.learn_transform(X)[-1000:], keeps.learn_transform(X)[-1000:]
    assert abs(Z.mean()) < 0.2
    assert abs(Z.std() - 1) < 0.2
    assert other.mean() > 0.5


@every_form
def test_a_failed_call_changes_nothing(form):
    X = rows(50)
    scaler = OnlineStandardScaler(**form).fit(X)
    before = state_of(scaler)
    bad = np.vstack([rows(5, seed=1), np.full((1, 6), 1e160), np.full((1, 6), -1e160)])
    for call in (scaler.partial_fit, scaler.learn_transform, scaler.fit):
        with pytest.raises(FloatingPointError, match="too large"):
            call(bad)
        assert state_of(scaler) == before
    with pytest.raises(FloatingPointError, match="too large"):
        [scaler.learn_one(x) for x in bad[-2:]]
    scaler = OnlineStandardScaler(**form).fit(X)
    for call in (scaler.learn_one, scaler.learn_transform_one, scaler.transform_one):
        with pytest.raises(ValueError, match="NaN"):
            call(np.full(6, np.nan))
        with pytest.raises(ValueError, match="5 features"):
            call(np.ones(5))
    with pytest.raises(ValueError, match="features"):
        scaler.partial_fit(X[:, :5])
    assert state_of(scaler) == before


def test_a_scaled_value_that_float32_cannot_hold():
    X = np.random.default_rng(0).normal(size=(9, 2)).astype(np.float32) * np.float32(1e-30)
    scaler = OnlineStandardScaler(clip=None).fit(X)
    before = state_of(scaler)
    with pytest.raises(FloatingPointError, match="scaled value of row 0"):
        scaler.transform(np.full((2, 2), 1e20, dtype=np.float32))
    squares = OnlineStandardScaler(clip=None).fit(sparse.csr_matrix(X))
    with pytest.raises(FloatingPointError, match="scaled value of row 1"):
        squares.transform(sparse.csr_matrix([[1e-30, 0.0], [0.0, 1e20]], dtype=np.float32))
    assert state_of(scaler) == before


def test_copies_go_on_alike(tmp_path, equal):
    X = rows()
    for form in FORMS.values():
        scaler = OnlineStandardScaler(**form).fit(X[:100])
        scaler.save(tmp_path / "scaler.okn")
        others = [pickle.loads(pickle.dumps(scaler)), copy.deepcopy(scaler),
                  onlinekern.load(tmp_path / "scaler.okn")]  # fmt: skip
        Z = scaler.learn_transform(X[100:])
        for other in others:
            equal(other.learn_transform(X[100:]), Z)
            assert state_of(other) == state_of(scaler)


def test_parameters_in_mid_stream():
    X = rows()
    scaler = OnlineStandardScaler().fit(X[:100])
    twin = twin_of({})
    twin.learn_transform(X[:100])
    scaler.set_params(forgetting=0.9, clip=2.0)
    twin.forgetting, twin.clip = 0.9, 2.0
    np.testing.assert_allclose(
        scaler.learn_transform(X[100:]), twin.learn_transform(X[100:]), rtol=1e-8, atol=1e-9
    )
    assert not hasattr(clone(scaler), "_moments")


@pytest.mark.parametrize(
    ("name", "value"),
    [("with_mean", "no"), ("clip", 0), ("clip", -1.0), ("forgetting", 0), ("forgetting", 1.5)],
)
def test_bad_parameters(name, value):
    with pytest.raises(ValueError, match=name):
        OnlineStandardScaler(**{name: value}).fit(rows())


def test_names_of_features():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows(), columns=list("abcdef"))
    scaler = OnlineStandardScaler().set_output(transform="pandas")
    Z = scaler.fit_transform(frame)
    assert list(Z.columns) == list(scaler.get_feature_names_out()) == list("abcdef")


def test_moments_refuse_what_does_not_fit(equal):
    moments = RunningMoments(3, True)
    X = np.ones((4, 3))
    with pytest.raises(ValueError, match="2 weights do not fit 4 rows"):
        moments.learn(X, np.ones(2))
    for out in (np.empty((3, 3)), np.empty((4, 3), np.float32), np.empty((3, 4)).T, [1.0]):
        with pytest.raises(ValueError, match="out must be"):
            moments.learn(X, out=out)
    with pytest.raises(ValueError, match="forgetting must be"):
        moments.learn(X, forgetting=0)
    with pytest.raises(ValueError, match="limit must be"):
        moments.transform(X, np.empty((4, 3)), limit=0)
    assert moments.n == 0
    moments.learn(X)
    restore, (d, centred, state) = moments.__reduce__()
    equal(restore(d, centred, state).mean(), np.ones(3))
    for name, value, message in [
        ("moments", np.ones((3, 2)), "moments of the features must have shape"),
        ("moments", -np.ones((2, 3)), "mean squares must be >= 0"),
        ("count", 0, "0 rows cannot have"),
        ("unit", 0.0, "unit must be > 0"),
        ("total", -1.0, "total must be >= 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            restore(d, centred, {**state, name: value})


CONTRACT = [
    OnlineStandardScaler(),
    OnlineStandardScaler(with_mean=False),
    OnlineStandardScaler(with_mean=True, forgetting=0.9),
]
# A weight of 2 is no two samples where the first of them is forgotten before the second comes.
FORGETS = "with forgetting, a sample of weight k ages by one step, k copies by k"


# scikit-learn before 1.7 asks it of those that say that they take none, too.
DENSE = "means are subtracted from dense samples only"


def expected_failures(scaler):
    name = "check_sample_weight_equivalence_on"
    dense = {f"{name}_dense_data": FORGETS} if scaler.forgetting < 1 else {}
    return dense | ({f"{name}_sparse_data": DENSE} if scaler.with_mean else {})


@parametrize_with_checks(CONTRACT, expected_failed_checks=expected_failures)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_moments_that_see_outliers_as_less_far_ones(dtype):
    """West's recursion on gaps that are held within so many deviations so far."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype(dtype)
    X[::50, 1], X[:100, 2] = 1e4, 7
    moments = RunningMoments(3, True)
    moments.learn(X, forgetting=0.999, reach=6.0)
    mean, variance, total = np.zeros(3), np.zeros(3), 0.0
    for x in X.astype(float):
        total = 0.999 * total + 1
        gap, most = x - mean, 6 * np.sqrt(variance)
        gap = np.where(variance > 0, np.clip(gap, -most, most), gap)
        variance = (1 - 1 / total) * (variance + gap**2 / total)
        mean = mean + gap / total
    np.testing.assert_allclose(moments.mean(), mean, rtol=1e-9)
    np.testing.assert_allclose(moments.variance(), variance, rtol=1e-9)
    with pytest.raises(ValueError, match="reach"):
        moments.learn(X, reach=0.0)


@pytest.mark.parametrize("reach", [np.inf, 1e6])
def test_moments_of_a_long_reach_are_those_of_all_values(reach):
    X = np.random.default_rng(0).normal(size=(200, 3))
    one, other = RunningMoments(3, True), RunningMoments(3, True)
    one.learn(X)
    other.learn(X, reach=reach)
    np.testing.assert_array_equal(one.variance(), other.variance())
