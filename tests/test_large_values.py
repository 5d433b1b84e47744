"""Finite input whose score overflows: an error that names the row, never a label or a NaN."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_classifier

from onlinekern import (
    FOGDClassifier,
    KernelPAClassifier,
    NystroemFeatures,
    PAClassifier,
    all_estimators,
)

ESTIMATORS = dict(all_estimators())
METHODS = (
    "predict", "decision_function", "predict_proba", "score_samples", "score_one", "transform",
)  # fmt: skip
LARGE = {
    "one": np.array([1e308, 0.0, 0.0, 0.0]),
    "all": np.full(4, 1e308),
    "signs": np.array([1e308, -1e308, 1e308, -1e308]),
    "square": np.full(4, 1e200),
    "square signs": np.array([-1e200, 1e200, 1e200, -1e200]),
}


def fitted(name, n_classes=2, **parameters):
    X = np.random.default_rng(0).standard_normal((80, 4))
    cls = ESTIMATORS[name]
    sizes = {"n_epochs": 1, "budget": 10, "n_components": 8, "loss": "logistic", "random_state": 0}
    if not is_classifier(cls()) or name == "PAClassifier":
        del sizes["loss"]
    known = cls().get_params()
    if "budget" in known and "n_components" in known:
        sizes["budget"] = 20
    model = cls(**{key: value for key, value in sizes.items() if key in known} | parameters)
    y = np.digitize(X[:, 0], [0.0] if n_classes == 2 else [-0.5, 0.5])
    return model.fit(X, y if is_classifier(model) else X[:, 0]), X


def rows_with(X, large, row):
    rows = X[:6].copy()
    rows[row] = large
    return rows


def results(model, rows):
    """What every method gives for rows: the array, or the error's message."""
    found = {}
    for name in METHODS:
        try:
            method = getattr(model, name)
        except AttributeError:
            continue
        try:
            if name == "score_one":
                found[name] = np.array([method(row) for row in rows])
            else:
                found[name] = method(rows)
        except FloatingPointError as error:
            found[name] = str(error)
        except ValueError as error:
            # score_one does not take a row whose absolute values overflow when added up.
            if name != "score_one" or "or numbers too large to add up" not in str(error):
                raise
    return found


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_results_are_finite_or_refused(name, n_classes):
    if n_classes == 3 and not is_classifier(ESTIMATORS[name]()):
        pytest.skip("no classes")
    model, X = fitted(name, n_classes)
    for large in LARGE.values():
        found = results(model, rows_with(X, large, 3))
        assert found
        for method, result in found.items():
            if isinstance(result, str):
                assert ("row 0" if method == "score_one" else "row 3") in result
            elif result.dtype.kind == "f":
                assert np.isfinite(result).all()
        refused = {isinstance(found[method], str) for method in found if method != "transform"}
        assert len(refused) < 2, f"some methods answer, others do not: {found}"


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_row_that_overflows_is_named(layout, n_jobs):
    model, X = fitted("PAClassifier", n_jobs=n_jobs)
    for row in (0, 2, 5):
        rows = layout(rows_with(X, np.where(model.coef_[0] > 0, 1e308, -1e308) * 1.7, row))
        with pytest.raises(FloatingPointError, match=f"row {row} is not finite"):
            model.predict(rows)


def test_scores_whose_sum_overflows_are_answered():
    model = PAClassifier(fit_intercept=False).fit([[1.0], [-1.0]], [1, 0])
    large = np.array([[1.5e308], [1.5e308]])
    np.testing.assert_array_equal(model.predict(large), [1, 1])
    assert model.score_one(large[0]) > 1e307
    three, X = fitted("KernelPAClassifier", 3, kernel="linear")
    scores = three.decision_function(X[:1] * 1e200)
    np.testing.assert_array_equal(three.score_one(X[0] * 1e200), scores[0])


def test_float32_rows_beyond_float32_are_refused():
    X = np.random.default_rng(0).standard_normal((80, 4)).astype(np.float32)
    model = KernelPAClassifier(kernel="polynomial", gamma=1.0).fit(X, X[:, 0] > 0)
    with pytest.raises(FloatingPointError, match="row 1"):
        model.predict(np.r_[X[:1], np.full((1, 4), 3e38, np.float32)])


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_float32_has_room_for_the_distances_of_a_kernel(layout):
    """Beyond about 1e19 they overflow, and every kernel value would be 0."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = X[:, 0] * X[:, 1] > 0
    far = layout((X * 1e20).astype(np.float32))
    model = KernelPAClassifier().fit(layout(X.astype(np.float32)), y)
    before = model.decision_function(far[:9])
    row = int(np.argmax(abs(X).max(axis=1)))
    with pytest.raises(ValueError, match=r"too small for samples of float32.*sample \d+ has"):
        model.fit(far, y)
    np.testing.assert_array_equal(model.decision_function(far[:9]), before)
    with pytest.raises(ValueError, match=rf"float32.*sample {row} has a feature.*as float64"):
        NystroemFeatures(gamma=1e-40).fit(far)
    # What float32 can hold is right: the same model as that of the samples near 1.
    near = KernelPAClassifier(random_state=0).fit(layout((X * 1e17).astype(np.float32)), y)
    wide = KernelPAClassifier(random_state=0).fit(layout(X * 1e20), y)
    assert near.score(layout((X * 1e17).astype(np.float32)), y) > 0.95
    assert wide.score(layout(X * 1e20), y) > 0.95
    # Fourier features multiply frequencies with samples: they have room.
    assert FOGDClassifier(random_state=0).fit(far, y).score(far, y) > 0.85


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_float32_has_room_for_the_width_of_a_kernel(layout):
    X = np.random.default_rng(0).standard_normal((300, 3))
    y = X[:, 0] * X[:, 1] > 0
    tiny = layout((X * 1e-20).astype(np.float32))
    with pytest.raises(ValueError, match=r"too large for samples of float32.*as float64"):
        KernelPAClassifier().fit(tiny, y)
    with pytest.raises(ValueError, match=r"gamma=1e\+39 is too large.*at most 8\.5e\+37"):
        NystroemFeatures(gamma=1e39, kernel="laplacian").fit(tiny)
    model = KernelPAClassifier(kernel="exponential", random_state=0).fit(tiny, y)
    assert model.score(tiny, y) > 0.9
    for size, form in ((1e-20, np.float64), (1e-17, np.float32)):
        small = layout((X * size).astype(form))
        assert KernelPAClassifier(random_state=0).fit(small, y).score(small, y) > 0.9
