"""LOLClassifier against its NumPy twin, and the properties claimed in its paper and notes."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from compiled import Program, compiler
from compiled import load as load_program
from described import scores_of_model
from grids import grid
from oracles.lol import lol
from sklearn.base import clone

from onlinekern import LOLClassifier, load, merge
from onlinekern.core import RULES
from onlinekern.core.learning.losses import LOSSES
from onlinekern.fitted.export.describe import describe

# The paper's form, but for `average`.
PAPER = {"n_assign": 1, "center": False, "fit_intercept": False, "step": "pa"}
BETTER = {"n_assign": 3, "center": True, "fit_intercept": True, "step": "arow"}
SETTINGS = {
    "paper": {},
    "pa": {"variant": "pa"},
    "pa2": {"variant": "pa2", "C": 0.3},
    "capped": {"C": 0.02, "sharing": 3.0},
    "independent": {"joint": False},
    "intercept": {"fit_intercept": True, "sharing": 0.5},
    "centred": {"center": True},
    "soft": {"n_assign": 4},
    "arow": {"step": "arow"},
    "arow_number": {"step": "arow", "r": 0.5, "sharing": 2.0},
    "better": BETTER,
    "offset": {**BETTER, "local_features": "offset"},
    "offset_independent": {"joint": False, "n_assign": 2, "local_features": "offset"},
    "all": {**BETTER, "local_features": "offset", "joint": False, "r": 0.1},
}
SETTINGS = {name: {**PAPER, **setting} for name, setting in SETTINGS.items()}
# Prototypes that are given: some get no samples.
GIVEN = np.random.default_rng(6).normal(size=(11, 5)) * 3
FIXED = {
    f"fixed_{name}": {**SETTINGS[name], "prototypes": GIVEN}
    for name in ("paper", "soft", "better", "offset", "all")
}
TOLERANCE = {"float64": 1e-9, "float32": 1e-5}
DTYPES = list(TOLERANCE)


def stream(n=160, n_classes=3, d=5, seed=0):
    """Return noisy classes that no hyperplane separates; about half of the numbers are 0."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(3 * n_classes, d)) * 2
    group = rng.integers(3 * n_classes, size=n)
    X = centers[group] + rng.normal(size=(n, d)) * 0.7
    X[np.abs(X) < 0.9] = 0
    return X, group % n_classes


def run(X, y, layout="dense", sample_weight=None, **parameters):
    model = LOLClassifier(**{"n_prototypes": 7, "average": False, **PAPER, **parameters})
    X = sp.csr_matrix(X) if layout == "csr" else X
    predictions = model.partial_fit_predict(
        X, y, classes=np.arange(y.max() + 1), sample_weight=sample_weight
    )
    return model, predictions


def assert_twins(model, predictions, expected, tolerance):
    np.testing.assert_array_equal(predictions, expected.predictions)
    assert model.n_mistakes_ == expected.mistakes
    assert model.n_seen_ == expected.n_seen
    assert model.cumulative_loss_ == pytest.approx(expected.cumulative_loss, rel=tolerance)
    np.testing.assert_array_equal(model.cluster_counts_, expected.counts)
    close = {"rtol": tolerance, "atol": tolerance * np.abs(expected.weights).max()}
    np.testing.assert_allclose(model.cluster_centers_, expected.centers, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.mean_, expected.mean, rtol=1e-6, atol=1e-6)
    d, k = model.n_features_in_, len(expected.counts)
    np.testing.assert_allclose(model.coef_, expected.weights[0][:, :d], **close)
    np.testing.assert_allclose(model.local_coef_, expected.weights[1 : 1 + k, :, :d], **close)
    if model.fit_intercept:
        np.testing.assert_allclose(model.intercept_, expected.weights[0][:, d], **close)
        np.testing.assert_allclose(
            model.local_intercept_, expected.weights[1 : 1 + k, :, d], **close
        )
    if expected.variances is not None:
        variances = model._model.space.hyperplanes.variances()[..., : expected.variances.shape[2]]
        np.testing.assert_allclose(variances, expected.variances, rtol=tolerance * 10)


@pytest.mark.parametrize(
    ("dtype", "layout", "multi_class", "average"),
    grid(DTYPES, ["dense", "csr"], ["binary", "ovr", "margin"], [False, True, "decay", 0.02]),
)
@pytest.mark.parametrize("name", [*SETTINGS, *FIXED])
def test_twin(name, dtype, layout, multi_class, average):
    n_classes = 2 if multi_class == "binary" else 3
    X, y = stream(n_classes=n_classes)
    X = X.astype(dtype)
    weight = np.random.default_rng(1).integers(0, 3, size=len(y)) / 1.5
    head = "ovr" if multi_class == "binary" else multi_class
    arguments = {**(SETTINGS | FIXED)[name], "multi_class": head, "average": average}
    expected = lol(X, y, n_classes=n_classes, n_prototypes=7, sample_weight=weight, **arguments)
    model, predictions = run(X, y, layout, sample_weight=weight, **arguments)
    assert_twins(model, predictions, expected, TOLERANCE[dtype])
    # The comparison means something only if both outcomes occur.
    assert 0 < expected.mistakes < expected.n_seen


@pytest.mark.parametrize("name", ["paper", "soft", "better", "offset"])
def test_more_prototypes_than_a_panel(name):
    X, y = stream(400)
    expected = lol(X, y, n_classes=3, n_prototypes=70, **SETTINGS[name])
    model, predictions = run(X, y, n_prototypes=70, **SETTINGS[name])
    assert_twins(model, predictions, expected, 1e-9)


def test_arow_rule_by_hand():
    rule = RULES["arow"](LOSSES["hinge"](), 0.5)
    # f = 0.5, y = -1: loss 1.5; q = 2; weight 2 makes r 0.25.
    assert rule.evaluate(0.5, -1.0, 2.0, 1, 2.0)[0] == pytest.approx(-1.5 / 2.25)
    assert rule.evaluate_contraction(0.5, -1.0, 2.0, 2.0) == pytest.approx(1 / 2.25)
    assert rule.evaluate_contraction(1.0, 1.0, 2.0) == 0
    assert RULES["pa1"](LOSSES["hinge"]()).evaluate_contraction(0.5, -1.0, 2.0) == 0


def test_plain_step_meets_its_constraint():
    # Plain PA: after the step the margin of the sample is 1 (the nearest prototype was x itself).
    X, _ = stream(1, 2)
    model, _ = run(X, np.ones(1, int), variant="pa", sharing=3.0)
    np.testing.assert_allclose(model.decision_function(X), [1.0])
    # tau = 1 / ((1 + 1/3) ||x||^2); w = tau x / 3, u = tau x.
    tau = 0.75 / np.sum(X**2)
    np.testing.assert_allclose(model.coef_, tau * X / 3)
    np.testing.assert_allclose(model.local_coef_[0], tau * X)


def test_large_sharing_is_independent():
    X, y = stream()
    far, _ = run(X, y, sharing=1e12)
    independent, _ = run(X, y, joint=False)
    np.testing.assert_allclose(far.local_coef_, independent.local_coef_, rtol=1e-9)
    assert not independent.coef_.any()
    assert independent.local_coef_.any()


def test_counts_and_centers_are_means_of_their_samples():
    X, y = stream()
    nearest = lol(X, y, n_classes=3, n_prototypes=7).nearest
    model, _ = run(X, y)
    assert model.cluster_counts_.sum() == len(X)
    for j, center in enumerate(model.cluster_centers_):
        np.testing.assert_allclose(center, X[nearest == j].mean(axis=0))


def test_average_is_the_mean_of_all_models():
    X, y = stream(40, 2)
    for name in ("paper", "offset"):
        models = [np.zeros((1, 5))]
        for t in range(1, len(X) + 1):
            models.append(run(X[:t], y[:t], **SETTINGS[name])[0].coef_)
        mean = run(X, y, average=True, **SETTINGS[name])[0].coef_
        np.testing.assert_allclose(mean, np.mean(models, axis=0), atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("name", ["paper", "offset"])
def test_any_split_gives_the_same_bits(name, layout, dtype):
    X, y = stream(300)
    X = X.astype(dtype)
    whole, _ = run(X, y, layout, average=True, **SETTINGS[name])
    X = sp.csr_matrix(X) if layout == "csr" else X
    parameters = {"n_prototypes": 7, "average": True, **SETTINGS[name]}
    for sizes, window in (([1, 6, 93, 200], None), ([300], 1), ([150, 150], 7)):
        model, start = LOLClassifier(window=window, **parameters), 0
        for size in sizes:
            part = slice(start, start + size)
            model.partial_fit(X[part], y[part], classes=[0, 1, 2])
            # Pickling in mid-stream must lose nothing.
            model, start = pickle.loads(pickle.dumps(model)), start + size
        assert_same_bits(model, whole, X)


def assert_same_bits(model, other, X):
    np.testing.assert_array_equal(model.cluster_centers_, other.cluster_centers_)
    np.testing.assert_array_equal(model.local_coef_, other.local_coef_)
    np.testing.assert_array_equal(model.coef_, other.coef_)
    np.testing.assert_array_equal(model.decision_function(X), other.decision_function(X))
    assert (model.n_mistakes_, model.n_seen_) == (other.n_mistakes_, other.n_seen_)


@pytest.mark.parametrize("name", ["paper", "soft", "offset"])
def test_learn_one_is_partial_fit_and_predicts_first(name):
    X, y = stream(120)
    whole, predictions = run(X, y, average=True, **SETTINGS[name])
    model = LOLClassifier(n_prototypes=7, average=True, **SETTINGS[name])
    for i in range(len(X)):
        if i > 0:
            assert model.predict(X[i : i + 1])[0] == predictions[i]
            np.testing.assert_array_equal(
                model.score_one(X[i]), model.decision_function(X[i : i + 1])[0]
            )
        model.learn_one(X[i], y[i], classes=[0, 1, 2])
    assert_same_bits(model, whole, X)


@pytest.mark.parametrize("name", ["paper", "offset"])
def test_failure_leaves_the_model_as_it_was(name):
    X, y = stream(200)
    # Weights are large for small samples: a score of the bad one overflows.
    X = X / 1000
    model, _ = run(X[:100], y[:100], average=True, **SETTINGS[name])
    before = pickle.dumps(model)
    bad = X[100:].copy()
    bad[60] = 1e308
    with pytest.raises(FloatingPointError):
        model.partial_fit(bad, y[100:])
    assert pickle.dumps(model) == before
    model.partial_fit(X[100:], y[100:])
    whole, _ = run(X, y, average=True, **SETTINGS[name])
    assert_same_bits(model, whole, X)


@pytest.mark.parametrize("first", ["dense", "csr"])
@pytest.mark.parametrize("name", ["paper", "soft", "offset"])
def test_layouts_may_change_in_mid_stream(name, first):
    X, y = stream()
    other = "csr" if first == "dense" else "dense"
    expected = lol(X, y, n_classes=3, n_prototypes=7, **SETTINGS[name])
    model, predictions = run(X[:60], y[:60], first, **SETTINGS[name])
    for part, layout in ((slice(60, 100), other), (slice(100, 130), first)):
        rows = sp.csr_matrix(X[part]) if layout == "csr" else X[part]
        predictions = np.append(predictions, model.partial_fit_predict(rows, y[part]))
    for i in range(130, len(X)):
        predictions = np.append(predictions, model.predict(X[i : i + 1]))
        model.learn_one(X[i], y[i])
    assert_twins(model, predictions, expected, 1e-9)
    np.testing.assert_allclose(
        model.decision_function(X), model.decision_function(sp.csr_matrix(X)), rtol=1e-9, atol=1e-9
    )


def test_threads_predict_alike():
    X, y = stream(400)
    model, _ = run(X, y, **SETTINGS["offset"])
    expected = model.decision_function(X)
    before = pickle.dumps(model)
    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(lambda _: model.decision_function(X), range(16)):
            np.testing.assert_array_equal(scores, expected)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("name", SETTINGS)
def test_zero_rows_few_samples_and_duplicates(name, layout):
    X, y = stream(60, 2)
    X[1] = X[2] = X[0]
    X[5] = X[11] = X[12] = 0.0
    y[:3] = [1, 0, 1]
    for n in (1, 3, 6, 13, 60):
        expected = lol(X[:n], y[:n], n_prototypes=9, **SETTINGS[name])
        model = LOLClassifier(n_prototypes=9, average=False, **SETTINGS[name])
        rows = sp.csr_matrix(X[:n]) if layout == "csr" else X[:n]
        predictions = model.partial_fit_predict(rows, y[:n], classes=[0, 1])
        assert_twins(model, predictions, expected, 1e-9)
        assert len(model.cluster_centers_) == min(n, 9)
        assert np.isfinite(model.decision_function(rows)).all()


@pytest.mark.parametrize("name", SETTINGS)
def test_only_zero_rows(name):
    X, y = np.zeros((20, 4)), np.arange(20) % 2
    model, _ = run(X, y, **SETTINGS[name])
    assert np.isfinite(model.decision_function(X)).all()
    if not SETTINGS[name].get("fit_intercept"):
        assert not model.coef_.any()
        assert not model.local_coef_.any()


def test_scale_free():
    X, y = stream()
    parameters = {**BETTER, "fit_intercept": False, "n_assign": 3}
    model, predictions = run(X, y, **parameters)
    scaled, again = run(X * 2.0**20, y, **parameters)
    np.testing.assert_array_equal(predictions, again)
    np.testing.assert_array_equal(scaled.coef_ * 2.0**20, model.coef_)


def test_variances_only_fall():
    X, y = stream()
    model = LOLClassifier(n_prototypes=7, **SETTINGS["offset"])
    last = None
    for part in np.array_split(np.arange(len(X)), 10):
        model.partial_fit(X[part], y[part], classes=[0, 1, 2])
        variances = model._model.space.hyperplanes.variances()
        assert variances.min() >= 0
        assert last is None or np.all(variances <= last)
        last = variances.copy()


def test_local_beats_shared():
    # Four blobs as XOR: one hyperplane is at chance, one for each blob is not.
    rng = np.random.default_rng(0)
    corner = rng.integers(0, 2, size=(2000, 2))
    X = 4.0 * corner - 2 + 0.5 * rng.normal(size=corner.shape)
    y = corner[:, 0] ^ corner[:, 1]
    assert run(X, y, n_prototypes=10)[0].score(X, y) > 0.97
    assert run(X, y, n_prototypes=1)[0].score(X, y) < 0.8


@pytest.mark.parametrize("n_prototypes", [1, 5, 8, 12])
def test_eight_prototypes_share_a_sample_by_default(n_prototypes):
    X, y = stream()
    model, predictions = run(X, y, n_prototypes=n_prototypes, n_assign=None)
    other, expected = run(X, y, n_prototypes=n_prototypes, n_assign=min(8, n_prototypes))
    np.testing.assert_array_equal(predictions, expected)
    assert_same_bits(model, other, X)


def test_n_assign_beyond_n_prototypes():
    X, y = stream(20)
    with pytest.raises(ValueError, match="n_assign must be at most n_prototypes=3, got 4"):
        LOLClassifier(n_prototypes=3, n_assign=4).fit(X, y)


def test_step_parameters_may_change_in_mid_stream():
    X, y = stream()
    model, _ = run(X[:100], y[:100], C=1.0)
    model.C = 1e-3
    model.partial_fit(X[100:], y[100:])
    unchanged, _ = run(X, y, C=1.0)
    assert not np.allclose(model.coef_, unchanged.coef_)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("name", FIXED)
def test_any_split_of_fixed_prototypes_gives_the_same_bits(name, layout, dtype, tmp_path):
    X, y = stream(200)
    X = X.astype(dtype)
    whole, _ = run(X, y, layout, average=True, **FIXED[name])
    np.testing.assert_array_equal(whole.cluster_centers_, GIVEN)
    rows = sp.csr_matrix(X) if layout == "csr" else X
    model = LOLClassifier(average=True, **FIXED[name])
    for part in (slice(0, 1), slice(1, 50), slice(50, 200)):
        model.partial_fit(rows[part], y[part], classes=[0, 1, 2])
        model.save(tmp_path / "m.okn")
        model = load(tmp_path / "m.okn")
    assert_same_bits(model, whole, rows)


@pytest.mark.parametrize("name", FIXED)
def test_a_failure_leaves_fixed_prototypes_and_their_counts(name):
    X, y = stream(200)
    model, _ = run(X[:100] / 1000, y[:100], **FIXED[name])
    before = pickle.dumps(model)
    bad = X[100:].copy()
    bad[60] = 1e308
    with pytest.raises(FloatingPointError):
        model.partial_fit(bad, y[100:])
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_layouts_may_change_under_fixed_prototypes(layout):
    X, y = stream()
    other = X if layout == "csr" else sp.csr_matrix(X)
    model, _ = run(X[:60], y[:60], layout, **FIXED["fixed_soft"])
    model.partial_fit(other[60:], y[60:])
    expected = lol(X, y, n_classes=3, **FIXED["fixed_soft"])
    assert_twins(model, expected.predictions, expected, 1e-9)


def test_fixed_prototypes_are_a_copy():
    X, y = stream()
    given = GIVEN.copy()
    model, _ = run(X, y, prototypes=given)
    given[:] = 0
    np.testing.assert_array_equal(model.cluster_centers_, GIVEN)
    listed, _ = run(X, y, prototypes=GIVEN.tolist())
    assert_same_bits(listed, model, X)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (GIVEN[:, :4], r"n_features=5 and k >= 1, got \(11, 4\)"),
        (GIVEN[:0], r"got \(0, 5\)"),
        (GIVEN[0], r"got \(5,\)"),
        ([[1.0], [1.0, 2.0]], "prototypes must be numbers"),
        ([["a"] * 5], "prototypes must be numbers"),
        (sp.csr_matrix(GIVEN), "must be an array-like or None"),
        (np.where(GIVEN[2, 2] == GIVEN, np.nan, GIVEN), "in row 2"),
        (np.where(GIVEN[3, 1] == GIVEN, 1e200, GIVEN), "squared lengths in float64"),
        (3, "'prototypes' parameter of LOLClassifier must be an array-like or None"),
    ],
)
def test_prototypes_that_do_not_fit(given, message):
    X, y = stream(20)
    with pytest.raises(ValueError, match=message):
        LOLClassifier(prototypes=given).fit(X, y)
    model, _ = run(X, y, prototypes=GIVEN)
    before = pickle.dumps(model._model)
    with pytest.raises(ValueError, match=message):
        model.set_params(prototypes=given).fit(X, y)
    assert pickle.dumps(model._model) == before


def test_another_parameter_is_wrong_beside_an_array():
    X, y = stream(20)
    with pytest.raises(ValueError, match="The 'C' parameter of LOLClassifier"):
        LOLClassifier(prototypes=GIVEN, C=-1.0).fit(X, y)


def test_no_memory_for_the_hyperplanes_of_given_prototypes(monkeypatch):
    X, y = stream(20)
    monkeypatch.setattr("onlinekern.estimators.memory.available_memory", lambda: 1000.0)
    monkeypatch.setattr("onlinekern.estimators.memory.SMALL", 0)
    with pytest.raises(MemoryError, match=r"len\(prototypes\)=11 needs at least .* 5 features"):
        LOLClassifier(prototypes=GIVEN).fit(X, y)


def test_long_prototypes_of_float32():
    X, y = stream(20)
    far = GIVEN * 1e20
    LOLClassifier(prototypes=far).fit(X, y)
    with pytest.raises(ValueError, match="squared lengths in float32"):
        LOLClassifier(prototypes=far).fit(X.astype(np.float32), y)


def test_n_assign_beyond_the_fixed_prototypes():
    X, y = stream(20)
    with pytest.raises(ValueError, match="n_assign must be at most the number of prototypes, 11"):
        LOLClassifier(prototypes=GIVEN, n_assign=12).fit(X, y)


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("with_base", [False, True])
def test_merged_models_keep_the_fixed_prototypes(layout, with_base):
    X, y = stream(300)
    rows = sp.csr_matrix(X) if layout == "csr" else X
    first = LOLClassifier(prototypes=GIVEN, center=False)
    first.partial_fit(rows[:100], y[:100], classes=[0, 1, 2])
    parts = [
        (deepcopy(first) if with_base else clone(first)).partial_fit(
            rows[i : i + 100], y[i : i + 100], classes=[0, 1, 2]
        )
        for i in (100, 200)
    ]
    found = merge(parts, base=first if with_base else None)
    np.testing.assert_array_equal(found.cluster_centers_, GIVEN)
    nearest = lol(X, y, n_classes=3, prototypes=GIVEN).nearest[0 if with_base else 100 :]
    np.testing.assert_array_equal(found.cluster_counts_, np.bincount(nearest, minlength=len(GIVEN)))
    assert np.mean(found.predict(rows) == y) > 0.8
    found.partial_fit(rows, y)
    moved = clone(first).set_params(prototypes=GIVEN + 1).fit(rows, y)
    with pytest.raises(ValueError, match="same parameters, got prototypes"):
        merge([parts[0], moved])


@pytest.mark.parametrize("name", FIXED)
def test_fixed_prototypes_in_c(name, tmp_path):
    compiler()
    X, y = stream()
    model, _ = run(X, y, average=True, **FIXED[name])
    code = model.export_c(tmp_path / "m.c", dtype="float64").code
    program = Program(load_program(tmp_path, [code]), "m", "float64", 3)
    expected = model.decision_function(X)
    np.testing.assert_allclose(program.scores(X), expected, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_allclose(scores_of_model(describe(model), X), expected, rtol=1e-9, atol=1e-9)


def test_fixed_prototypes_take_more_classes():
    X, y = stream(200)
    model = LOLClassifier(prototypes=GIVEN)
    model.partial_fit(X[y < 2], y[y < 2], classes=[0, 1])
    model.partial_fit(X, y, classes=[0, 1, 2])
    assert model.local_coef_.shape == (11, 3, 5)
    np.testing.assert_array_equal(model.cluster_centers_, GIVEN)


def test_a_model_of_an_older_file_has_no_fixed_prototypes():
    X, y = stream(50)
    model, _ = run(X, y)
    restore, (options, *rest) = model._model.space.__reduce__()
    older = restore(options[:14], *rest)
    assert older.options == options
    with pytest.raises(ValueError, match="must have 15 items"):
        restore(options[:13], *rest)
    with pytest.raises(ValueError, match="cannot have given"):
        restore((*options[:14], True), (3, *rest[0][1:]), *rest[1:])
