"""SDROGD and frequent directions against their NumPy twins, and their properties."""

import itertools
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import threadpoolctl
from oracles import sdrogd as oracle
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from onlinekern import FrequentDirections, SDROGDClassifier
from onlinekern.core import DISCRIMINANTS, STEP_SIZES
from onlinekern.core.linalg.symmetric_eigen import LeadingEigenvectors
from onlinekern.estimators.blas_threads import ONE_THREAD

DTYPES = [np.float32, np.float64]
LAYOUTS = ["dense", "csr"]
TOLERANCE = {np.float32: 2e-4, np.float64: 1e-8}


def stream(n=400, d=9, n_classes=2, seed=0, dtype=np.float64):
    """Return samples around class means, with unequal variances, a fifth of the numbers 0."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, d)) * np.linspace(0.2, 2, d) + rng.normal(size=(n_classes, d))[y]
    X[rng.random(X.shape) < 0.2] = 0
    return X.astype(dtype), y


def laid_out(X, layout):
    return sp.csr_matrix(X) if layout == "csr" else X


def compare(model, expected, predictions, tolerance):
    w = expected.w_average if model.average in (None, True) else expected.w
    b = expected.b_average if model.average in (None, True) else expected.b
    scale = np.abs(w).max()
    np.testing.assert_allclose(model.coef_, w, rtol=tolerance, atol=tolerance * scale)
    np.testing.assert_allclose(model.intercept_, b, rtol=tolerance, atol=tolerance * scale)
    assert predictions.tolist() == expected.predictions
    assert model.n_mistakes_ == expected.mistakes
    assert model.cumulative_loss_ == pytest.approx(sum(expected.losses), rel=tolerance)
    np.testing.assert_allclose(
        model.class_means_, expected.statistics.means, atol=tolerance * 10, rtol=tolerance
    )


# Against the oracle.


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("between", sorted(DISCRIMINANTS))
@pytest.mark.parametrize("sketch", ["centred", "raw"])
def test_every_form_is_the_oracle_s(dtype, layout, n_classes, between, sketch):
    X, y = stream(n_classes=n_classes, dtype=dtype)
    common = {
        "sketch_size": 3, "within_weight": 0.7, "discriminative": 0.4, "reg": 0.3,
        "batch_size": 17, "between": between, "sketch": sketch, "schedule": "safe",
        "average": True,
    }  # fmt: skip
    model = SDROGDClassifier(**common)
    predictions = model.partial_fit_predict(laid_out(X, layout), y, classes=range(n_classes))
    expected = oracle.sdrogd(X, y, n_classes=n_classes, **common)
    compare(model, expected, predictions, TOLERANCE[dtype])
    gram = model.sketch_.T @ model.sketch_
    twin = expected.statistics.sketch.rows
    np.testing.assert_allclose(gram, twin.T @ twin, atol=TOLERANCE[dtype] * np.trace(gram))


@pytest.mark.parametrize("schedule", sorted(STEP_SIZES))
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("eta0", [None, 3.0])
@pytest.mark.parametrize("multi_class", ["margin", "ovr"])
def test_every_step_is_the_oracle_s(schedule, average, fit_intercept, eta0, multi_class):
    n_classes = 2 if multi_class == "margin" and eta0 else 3
    X, y = stream(n_classes=n_classes, seed=1)
    weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], size=len(y))
    common = {
        "sketch_size": 4, "within_weight": 0.5, "discriminative": 0.2, "batch_size": 10,
        "schedule": schedule, "eta0": eta0, "fit_intercept": fit_intercept, "average": average,
        "multi_class": multi_class,
    }  # fmt: skip
    model = SDROGDClassifier(**common)
    predictions = model.partial_fit_predict(X, y, range(n_classes), weight)
    expected = oracle.sdrogd(X, y, n_classes=n_classes, sample_weight=weight, **common)
    compare(model, expected, predictions, 1e-8)


def test_defaults_and_epochs_are_the_oracle_s():
    X, y = stream(n_classes=3)
    model = SDROGDClassifier(n_epochs=3, shuffle=False).fit(X, y)
    many = np.tile(np.arange(len(y)), 3)
    expected = oracle.sdrogd(
        X[many], y[many], n_classes=3, sketch_size=20, within_weight=0.9, eta0=None, flush=True
    )
    np.testing.assert_allclose(model.coef_, expected.w_average, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, expected.b_average, atol=1e-9)
    assert model.n_batches_ == 20
    X, y = stream(n=250)
    model = SDROGDClassifier(shuffle=False).fit(X, y)
    expected = oracle.sdrogd(X, y, sketch_size=20, eta0=None, flush=True)
    np.testing.assert_allclose(model.coef_, expected.w_average, atol=1e-9)
    assert model.n_batches_ == len(expected.trace) == 5


def test_the_published_defaults():
    X, y = stream(n=300)
    model = SDROGDClassifier(
        between="quadratic", sketch="raw", within_weight=0.3, reg=0.0, sketch_size=4
    )
    model.partial_fit(X, y, classes=[0, 1])
    expected = oracle.sdrogd(
        X, y, between="quadratic", sketch="raw", schedule="safe", within_weight=0.3, reg=0.0,
        discriminative=1.0, average=False, sketch_size=4,
    )  # fmt: skip
    np.testing.assert_allclose(model.coef_, expected.w, atol=1e-9 * np.abs(expected.w).max())


def test_published_gradient_without_any_matrix():
    # (16)-(17) as printed: z = eta (C'(Cw)/N - u(u'w)) - V(V'w).
    X, y = stream()
    w = np.random.default_rng(0).normal(size=9)
    statistics = oracle.Statistics(4, 9, 2, centred=False)
    for x, label in zip(X, y, strict=True):
        statistics.add(x, label, 1.0)
    within, between, shares, apart = statistics.scatter()
    C, u = statistics.sketch.rows, shares @ statistics.means
    V = (np.sqrt(shares)[:, np.newaxis] * apart).T
    z = 0.3 * (C.T @ (C @ w) / 400 - u * (u @ w)) - V @ (V.T @ w)
    np.testing.assert_allclose(z, (0.3 * within - 0.7 * between) @ w, atol=1e-12)


# Welford's identity.


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_centred_rows_add_up_to_the_within_class_scatter(layout, weighted):
    # A sketch of all directions never shrinks: C'C = N S_w up to rounding, means far from 0.
    X, y = stream(n_classes=3, d=6)
    X = X + 100 * np.random.default_rng(3).normal(size=6)
    weight = np.random.default_rng(4).uniform(0.1, 3, size=len(y)) if weighted else np.ones(len(y))
    model = SDROGDClassifier(sketch_size=6).partial_fit(laid_out(X, layout), y, range(3), weight)
    scatter = np.zeros((6, 6))
    for c in range(3):
        mean = np.average(X[y == c], axis=0, weights=weight[y == c])
        difference = np.sqrt(weight[y == c])[:, np.newaxis] * (X[y == c] - mean)
        scatter += difference.T @ difference
        np.testing.assert_allclose(model.class_means_[c], mean, rtol=1e-12)
    np.testing.assert_allclose(
        model.sketch_.T @ model.sketch_, scatter, atol=1e-11 * np.trace(scatter)
    )
    np.testing.assert_allclose(model.class_weight_sums_, [weight[y == c].sum() for c in range(3)])


def test_centred_sketch_is_below_the_scatter_and_near_it():
    X, y = stream(n=700, d=30, n_classes=3)
    for size in (1, 4, 11):
        model = SDROGDClassifier(sketch_size=size).partial_fit(X, y, classes=range(3))
        centred = X - model.class_means_[y]
        scatter = centred.T @ centred
        eigenvalues = np.linalg.eigvalsh(scatter - model.sketch_.T @ model.sketch_)
        assert eigenvalues[0] > -1e-10 * np.trace(scatter)
        assert 0 < eigenvalues[-1] <= np.trace(scatter) / (size + 1)


# Frequent directions.


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("size", "d"), [(1, 1), (1, 7), (3, 20), (6, 7), (7, 7), (12, 7)])
def test_bound_at_every_step(layout, dtype, size, d):
    X, _ = stream(n=120, d=d, dtype=dtype)
    X += 3  # A mean that is not 0: the upper half alone fails here.
    sketch, twin = FrequentDirections(size), oracle.Sketch(size, d)
    for i in range(len(X)):
        sketch.partial_fit(laid_out(X[i : i + 1], layout))
        twin.insert(X[i].astype(float))
        seen = X[: i + 1].astype(float)
        total = np.sum(seen**2)
        C = sketch.sketch_
        assert len(C) < 2 * sketch.sketch_size_
        eigenvalues = np.linalg.eigvalsh(seen.T @ seen - C.T @ C)
        slack = 1e-11 * total
        assert eigenvalues[0] >= -slack
        assert eigenvalues[-1] <= sketch.error_bound_ + slack
        assert (min(size, d) + 1) * sketch.error_bound_ <= total - np.sum(C**2) + slack
        np.testing.assert_allclose(C.T @ C, twin.rows.T @ twin.rows, atol=slack)
        assert sketch.squared_norm_ == pytest.approx(total)
        assert sketch.error_bound_ == pytest.approx(twin.shrinkage, abs=slack)


def test_upper_half_alone_would_break_the_bound():
    # The bound above can fail.
    X = np.ones((7, 5)) + 0.01 * np.random.default_rng(0).normal(size=(7, 5))
    sketch = FrequentDirections(4).fit(X)
    half = sketch.sketch_[:3]
    assert np.linalg.norm(X.T @ X - half.T @ half, 2) > np.sum(X**2) / 5
    assert np.linalg.norm(X.T @ X - sketch.sketch_.T @ sketch.sketch_, 2) < 1e-12


@pytest.mark.parametrize("scale", [1e-160, 1e-30, 1.0, 1e30, 1e150])
def test_any_scale(scale):
    X, _ = stream(n=90, d=12)
    one = FrequentDirections(3).fit(X)
    sketch = FrequentDirections(3).fit(X * scale)
    gram = (sketch.sketch_ / scale).T @ (sketch.sketch_ / scale)
    np.testing.assert_allclose(gram, one.sketch_.T @ one.sketch_, atol=1e-11 * np.sum(X**2))


@pytest.mark.parametrize("d", [7, 40])
def test_directions_that_a_gram_matrix_cannot_see(d):
    # One direction is 1e9 times as long as the others: their squares drown in its rounding.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, d))
    X[:, 0] *= 1e9
    sketch = FrequentDirections(5).fit(X)
    twin = oracle.Sketch(5, d)
    for x in X:
        twin.insert(x)
    assert sketch._sketch.n_fallbacks > 0
    # The rest beside the long column, and the part subtracted, each at its own scale.
    np.testing.assert_allclose(sketch.error_bound_, twin.shrinkage, rtol=1e-5)
    ours, theirs = sketch.sketch_[:, 1:], twin.rows[:, 1:]
    np.testing.assert_allclose(np.sum(ours**2), np.sum(theirs**2), rtol=1e-3)
    assert sketch.error_bound_ < np.sum(X[:, 1:] ** 2)


def test_low_rank_needs_no_fallback_and_loses_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 30))
    for size in (3, 5, 12):
        sketch = FrequentDirections(size).fit(X)
        assert sketch._sketch.n_fallbacks == 0
        np.testing.assert_allclose(sketch.sketch_.T @ sketch.sketch_, X.T @ X, atol=1e-10)
        assert sketch.error_bound_ == pytest.approx(0, abs=1e-10)


def test_zero_and_equal_rows():
    X = np.zeros((50, 6))
    sketch = FrequentDirections(2).fit(X)
    assert sketch.sketch_.shape == (0, 6)
    assert not np.any(sketch.components_)
    sketch.partial_fit(np.ones((50, 6)))
    np.testing.assert_allclose(sketch.sketch_.T @ sketch.sketch_, np.full((6, 6), 50))


def test_a_matrix_beyond_the_sizes_of_lapack_is_refused():
    # Its work memory takes n^2 + 4 n + 1 numbers, counted in 32 bits.
    with pytest.raises(MemoryError, match="46339 x 46339"):
        LeadingEigenvectors(46339, 1)


def test_rows_that_overflow_change_nothing():
    sketch = FrequentDirections(1).fit([[1.0, 2.0]])
    before = sketch.sketch_, sketch.squared_norm_, sketch.error_bound_
    model = SDROGDClassifier(batch_size=2).partial_fit([[1.0, 2], [2, 1]], [0, 1], classes=[0, 1])
    state = pickle.dumps(model)
    huge = [[1.5e308, 1], [-1.5e308, 1], [1.5e308, 1], [-1.5e308, 2]]
    with pytest.raises(FloatingPointError, match="finite"):
        model.partial_fit(huge, [1, 1, 1, 1])
    assert pickle.dumps(model) == state
    with pytest.raises(ValueError, match="infinity"):
        sketch.partial_fit([[1.0, 1.0], [np.inf, 0.0]])
    assert np.array_equal(sketch.sketch_, before[0])
    assert (sketch.squared_norm_, sketch.error_bound_) == before[1:]


@pytest.mark.parametrize("scale", [1e154, 1e155, 1e200])
def test_a_sketch_whose_norm_overflows_is_none(scale):
    """It could be pickled, but not be restored."""
    sketch = FrequentDirections(2).fit(np.eye(3))
    before = sketch.sketch_
    with pytest.raises(FloatingPointError, match=r"row 1 .* overflow"):
        sketch.partial_fit([[1.0, 0, 0], [0, 2 * scale, 0]])
    assert np.array_equal(sketch.sketch_, before)
    assert sketch.squared_norm_ == 3
    large, other = (FrequentDirections(2).fit([[1e154, 0, 0]]) for _ in range(2))
    with pytest.raises(FloatingPointError, match="overflow"):
        large.merge(other)
    assert np.array_equal(pickle.loads(pickle.dumps(large)).sketch_, [[1e154, 0, 0]])


@pytest.mark.parametrize("scale", [1e-160, 1e-155, 1e-80])
def test_tiny_samples_give_a_model_that_can_be_restored(scale):
    X, y = stream(n=90, d=4)
    model = SDROGDClassifier().fit(X * scale, y)
    restored = pickle.loads(pickle.dumps(model))
    assert np.array_equal(restored.decision_function(X), model.decision_function(X))


def test_merge_is_a_sketch_of_all_rows():
    X, _ = stream(n=300, d=25)
    one, other = FrequentDirections(6).fit(X[:100]), FrequentDirections(6).fit(X[100:])
    kept = other.sketch_
    assert one.merge(other) is one
    eigenvalues = np.linalg.eigvalsh(X.T @ X - one.sketch_.T @ one.sketch_)
    assert eigenvalues[0] > -1e-10 * np.sum(X**2)
    assert eigenvalues[-1] <= one.error_bound_ <= np.sum(X**2) / 7
    assert one.squared_norm_ == pytest.approx(np.sum(X**2))
    assert np.array_equal(other.sketch_, kept)
    with pytest.raises(ValueError, match="features"):
        one.merge(FrequentDirections(6).fit(X[:, :5]))


def test_transform():
    X, _ = stream(n=300, d=25)
    sketch = FrequentDirections(0.2).fit(X)
    assert sketch.sketch_size_ == 5
    np.testing.assert_allclose(sketch.components_ @ sketch.components_.T, np.eye(5), atol=1e-12)
    C = sketch.sketch_
    np.testing.assert_allclose(
        np.sum((C @ sketch.components_.T) ** 2, axis=0), sketch.singular_values_**2
    )
    np.testing.assert_allclose(sketch.transform(X), X @ sketch.components_.T)
    np.testing.assert_allclose(sketch.transform(sp.csr_matrix(X)), sketch.transform(X))
    assert len(sketch.get_feature_names_out()) == 5


@parametrize_with_checks([FrequentDirections()])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("sketch_size", "expected"), [(1, 1), (4, 4), (100, 20), (0.1, 2), (0.01, 1), (1.0, 20)]
)
def test_sketch_size(sketch_size, expected):
    X, y = stream(d=20)
    assert FrequentDirections(sketch_size).fit(X).sketch_size_ == expected
    assert SDROGDClassifier(sketch_size=sketch_size).fit(X, y).sketch_size_ == expected


@pytest.mark.parametrize("sketch_size", [0, -1, 0.0, 1.5, "half", None])
def test_bad_sketch_size(sketch_size):
    X, y = stream()
    with pytest.raises(ValueError, match="sketch_size"):
        FrequentDirections(sketch_size).fit(X)
    with pytest.raises(ValueError, match="sketch_size"):
        SDROGDClassifier(sketch_size=sketch_size).fit(X, y)


# Divergence of the published step and of the published objective.


def far_apart(n=6000, d=40, seed=0):
    """Return standardised samples with many separating features: S_b outweighs S_w."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, d)) + np.outer(2 * y - 1, np.full(d, 1.0))
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def test_overshoot_of_the_paper_s_step_and_the_safe_one():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=3000)
    X = rng.normal(size=(3000, 30)) * np.r_[20.0, np.ones(29)] + np.outer(y, np.ones(30))
    published = {"between": "quadratic", "sketch": "raw", "within_weight": 0.9, "reg": 0.0}
    common = {**published, "sketch_size": 10, "shuffle": False}
    with pytest.warns(ConvergenceWarning, match="between=.linear"):
        model = SDROGDClassifier(schedule="paper", **common).fit(X, y)
    # The unscaled equations in double give the same: the size is no artefact of the scaling.
    expected = oracle.sdrogd(
        X, y, **published, sketch_size=10, schedule="paper", discriminative=1.0, average=False,
        flush=True,
    )  # fmt: skip
    assert np.linalg.norm(expected.w) > 1e9
    np.testing.assert_allclose(
        model.coef_, expected.w, rtol=1e-6, atol=1e-6 * np.abs(expected.w).max()
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        safe = SDROGDClassifier(schedule="safe", **common).fit(X, y)
    assert np.linalg.norm(safe.coef_) < 100
    assert safe.score(X, y) > 0.75


@pytest.mark.parametrize("schedule", ["paper", "safe"])
def test_negative_curvature_does_not_overflow(schedule):
    X, y = far_apart()
    # exponent of growth 0.2 * ||V||^2 = 8 and more per factor e of t: make it faster by gamma.
    model = SDROGDClassifier(
        between="quadratic", sketch="raw", within_weight=0.1, reg=0.0, discriminative=300.0,
        schedule=schedule, batch_size=5, n_epochs=10, random_state=0,
    )  # fmt: skip
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    assert len(caught) == 1
    if schedule == "paper":
        # Beyond the range of a double.
        assert model._model.space.exponent > 1100
    assert np.all(np.isfinite(model.coef_))
    assert np.all(np.isfinite(model.decision_function(X)))
    assert np.isfinite(model.cumulative_loss_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X[:100], y[:100])  # Warned once.


def test_scaled_weights_are_the_unscaled_ones_bit_for_bit():
    # Where a double still holds them: powers of two round nothing. Judged by sign and order there.
    X, y = far_apart(n=3000)
    common = {
        "between": "quadratic", "sketch": "raw", "within_weight": 0.1, "reg": 0.0,
        "schedule": "paper", "sketch_size": 40, "batch_size": 20,
    }  # fmt: skip
    model = SDROGDClassifier(**common)
    with pytest.warns(ConvergenceWarning):
        predictions = model.partial_fit_predict(X, y, classes=[0, 1])
    expected = oracle.sdrogd(X, y, discriminative=1.0, average=False, **common)
    assert 0 < model._model.space.exponent < 300
    assert predictions.tolist() == expected.predictions
    np.testing.assert_allclose(model.coef_, expected.w, rtol=1e-7)


def test_the_default_neither_overflows_nor_collapses():
    X, y = far_apart()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SDROGDClassifier(n_epochs=10, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.99
    assert np.linalg.norm(model.coef_) < 100


def test_curvature_is_estimated_closely_from_below():
    X, y = stream(n=900, d=30)
    twin = oracle.sdrogd(X, y, sketch_size=5, reg=0.0, discriminative=1.0, within_weight=1.0)
    statistics = oracle.Statistics(5, 30, 2, centred=True)
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        statistics.add(x, label, 1.0)
        if i % 60 == 59:
            exact = np.linalg.norm(statistics.sketch.rows, 2) ** 2 / (i + 1)
            estimate = twin.trace[i // 60]["curvature"]
            assert 0.6 * exact < estimate <= exact * (1 + 1e-12)


# The threads of BLAS.


def test_blas_has_one_thread_within_and_what_it_had_without():
    libraries = threadpoolctl.ThreadpoolController().select(user_api="blas").lib_controllers

    def counts():
        return [library.get_num_threads() for library in libraries]

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = counts()
        with ONE_THREAD():
            assert counts() == [1] * len(libraries)
            with ONE_THREAD():
                pass
            assert counts() == [1] * len(libraries)
        assert counts() == before
        X, y = stream()
        two = SDROGDClassifier(random_state=0).fit(X, y).coef_
        assert counts() == before
        with pytest.raises(ValueError, match="NaN"):
            SDROGDClassifier().fit(X * np.nan, y)
        assert counts() == before
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert np.array_equal(SDROGDClassifier(random_state=0).fit(X, y).coef_, two)


# The stream contract.


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("between", ["linear", "quadratic"])
def test_any_split_gives_the_same_bits(dtype, layout, n_classes, between):
    X, y = stream(n=331, n_classes=n_classes, dtype=dtype)
    X = laid_out(X, layout)
    new = {"sketch_size": 3, "batch_size": 25, "between": between, "window": None}
    whole = SDROGDClassifier(**new).partial_fit(X, y, classes=range(n_classes))
    for cuts in ([1, 2, 3], [24, 25, 26], [60, 200], list(range(1, 331))):
        parts = SDROGDClassifier(**{**new, "window": 7})
        for a, b in itertools.pairwise([0, *cuts, 331]):
            parts.partial_fit(X[a:b], y[a:b], classes=range(n_classes))
        assert np.array_equal(parts.coef_, whole.coef_)
        assert np.array_equal(parts.intercept_, whole.intercept_)
        assert np.array_equal(parts.sketch_, whole.sketch_)
        assert parts.n_mistakes_ == whole.n_mistakes_
        assert parts.cumulative_loss_ == whole.cumulative_loss_


def test_learn_one_and_pickle_in_mid_stream_go_on_alike():
    X, y = stream(n=150, n_classes=3)
    whole = SDROGDClassifier(sketch_size=3, batch_size=20).partial_fit(X, y, classes=range(3))
    one = SDROGDClassifier(sketch_size=3, batch_size=20).partial_fit(X[:1], y[:1], classes=range(3))
    for i in range(1, 150):
        if i % 37 == 0:
            one = pickle.loads(pickle.dumps(one))
        one.learn_one(X[i], y[i])
    assert np.array_equal(one.coef_, whole.coef_)
    assert np.array_equal(one.sketch_, whole.sketch_)
    np.testing.assert_allclose(one.score_one(X[0]), whole.decision_function(X[:1])[0])


@pytest.mark.parametrize("at", [3, 30])
def test_a_failed_call_leaves_everything_as_it_was(at):
    X, y = stream(n=200, n_classes=3)
    model = SDROGDClassifier(sketch_size=2, batch_size=20).partial_fit(X[:100], y[:100], range(3))
    before = pickle.dumps(model)
    bad = X[100:].copy()
    bad[at] = 1e308
    bad[at + 1] = -1e308
    labels = y[100:].copy()
    labels[at : at + 2] = 1
    with pytest.raises(FloatingPointError):
        model.partial_fit(bad, labels)
    assert pickle.dumps(model) == before
    model.partial_fit(X[100:], y[100:])
    whole = SDROGDClassifier(sketch_size=2, batch_size=20).partial_fit(X, y, range(3))
    assert np.array_equal(model.coef_, whole.coef_)


def test_threads_score_alike():
    X, y = stream(n=1000)
    model = SDROGDClassifier().fit(X, y)
    alone = model.decision_function(X)
    assert np.array_equal(model.set_params(n_jobs=3).decision_function(X), alone)


def test_parameters_of_the_step_change_in_mid_stream():
    X, y = stream(n=300)
    model = SDROGDClassifier().partial_fit(X[:150], y[:150], classes=[0, 1])
    same = pickle.loads(pickle.dumps(model)).partial_fit(X[150:], y[150:])
    other = pickle.loads(pickle.dumps(model)).set_params(reg=10.0).partial_fit(X[150:], y[150:])
    assert np.linalg.norm(other.coef_) < 0.5 * np.linalg.norm(same.coef_)
    with pytest.raises(ValueError, match="reg"):
        model.set_params(reg=-1.0).partial_fit(X, y)


def test_fit_ends_the_last_batch_and_partial_fit_does_not():
    X, y = stream(n=70)
    assert SDROGDClassifier().fit(X, y).n_batches_ == 2
    assert SDROGDClassifier().partial_fit(X, y, classes=[0, 1]).n_batches_ == 1
    assert SDROGDClassifier().fit(X[:60], y[:60]).n_batches_ == 1


def test_a_class_that_never_comes_and_zero_rows():
    X, y = stream(n=200, n_classes=2)
    X[::5] = 0
    model = SDROGDClassifier(batch_size=10).partial_fit(X, y, classes=[0, 1, 2])
    assert np.all(np.isfinite(model.coef_))
    assert not np.any(model.class_means_[2])
    empty = SDROGDClassifier(batch_size=10).partial_fit(np.zeros((40, 3)), [0, 1] * 20, [0, 1])
    assert not np.any(empty.coef_)
