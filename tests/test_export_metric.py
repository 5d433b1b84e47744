"""Pipelines with a learnt metric in exported C and ONNX: what they predict, and what is refused."""

import numpy as np
import pytest
from compiled import Program, load
from described import scores_of_model
from exported import CLASSES, SIZES, error_of, known, numbers_of, scores_of
from sklearn.base import is_classifier, is_regressor

from onlinekern import (
    FOGDClassifier,
    FourierFeatures,
    KernelPAClassifier,
    KernelRLSClassifier,
    LearntMetric,
    OnlineStandardScaler,
    PAClassifier,
    PARegressor,
    make_stream_pipeline,
)
from onlinekern.fitted.export.describe import describe

FORMS = ["diagonal", "full", "auto"]
# A learner of each kind of term, and a race.
KINDS = [
    *("PAClassifier", "SPAClassifier", "SPARegressor", "KernelPAClassifier", "FOGDClassifier"),
    *("NOGDRegressor", "DualSGDClassifier", "KernelRLSClassifier", "KernelForestRegressor"),
    *("LOLClassifier", "StreamClassifier"),
]


def rows(n=600, d=5, seed=0):
    """Return rows in other units, whose labels and targets depend on sums of their features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    f = np.sin(X @ np.resize([1.5, -1.0, 0.0, 0.5], d)) + 0.1 * rng.normal(size=n)
    return X * 7 + 3, f


def learnt(name, form, dtype="float64"):
    """Return a pipeline with a learner that has learnt, and rows it has not."""
    X, f = rows()
    y = np.digitize(f, [-0.3, 0.3]) if is_classifier(CLASSES[name]()) else f
    sizes = {"gamma": 0.3, "budget": 20, "random_state": 7, **SIZES.get(name, {})}
    learner = CLASSES[name](**known(name, sizes))
    model = make_stream_pipeline(
        OnlineStandardScaler(), LearntMetric(metric=form, random_state=0), learner
    )
    return model.fit(X[:560].astype(dtype), y[:560]), X[560:]


def tolerance_of(name, dtype):
    """Experts of a race compute in float32 in Python, whatever an export does."""
    return 1e-4 if dtype == "float32" or name.startswith("Stream") else 1e-6


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("form", FORMS)
def test_c(form, dtype, tmp_path):
    made = {}
    for number, name in enumerate([*KINDS, "KernelMeanDetector", "OLLAClassifier"]):
        model, X = learnt(name, form, dtype)
        made[name] = model, X, model.export_c(tmp_path / f"m{number}.c", dtype=dtype)
        assert not made[name][2].learns
    assert (made["PAClassifier"][0][1].metric_.ndim == 2) == (form != "diagonal")
    library = load(tmp_path, [files.code for _, _, files in made.values()])
    wrong = []
    for number, (name, (model, X, _)) in enumerate(made.items()):
        expected = scores_of(model, X)
        program = Program(library, f"m{number}", dtype, expected.shape[1])
        for sparse_rows in (False, True):
            error = error_of(program.scores(X, sparse_rows), expected)
            if not error <= tolerance_of(name, dtype):
                wrong.append((name, error))
    assert not wrong


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("form", FORMS)
def test_onnx(form, dtype, tmp_path):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    wrong = []
    for name in KINDS:
        model, X = learnt(name, form)
        X = X.astype(np.float32)
        path = model.export_onnx(tmp_path / "model.onnx", dtype=dtype).path
        session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
        kinds = [output.name for output in session.get_outputs()]
        found = dict(zip(kinds, session.run(None, {"X": X.astype(dtype)}), strict=True))
        scores = found["variable" if is_regressor(model) else "scores"]
        error = error_of(scores.reshape(len(X), -1), scores_of(model, X.astype(float)))
        if not error <= tolerance_of(name, dtype):
            wrong.append((name, error))
    assert not wrong


FIXED = [
    ("diagonal", [KernelPAClassifier(gamma=0.1)], 4e-3),
    ("full", [PAClassifier()], 1e-3),
    ("full", [FOGDClassifier(n_components=20, gamma=0.1, random_state=0)], 4e-3),
    ("full", [FourierFeatures(n_components=20, gamma=0.1, random_state=0), PAClassifier()], 4e-3),
]


@pytest.mark.parametrize(("form", "last", "most"), FIXED)
def test_fixed_point(form, last, most, tmp_path):
    from oracles import fixed_point as twin
    from test_export_fixed import Fixed

    X, f = rows()
    metric = LearntMetric(metric=form, random_state=0)
    model = make_stream_pipeline(OnlineStandardScaler(), metric, *last).fit(X, f > 0)
    assert not np.allclose(np.diag(np.ones(5)) if form == "full" else 1, model[1].metric_)
    program = Fixed(model.export_c(tmp_path / "m.c", dtype="int16", rows=X))
    assert twin.features(X, program.table("bits"), program.table("zeros")).dtype == np.int16
    expected = scores_of(model, X)
    assert np.abs(program.scores(X) - expected).max() <= most * np.abs(expected).max()
    clear = np.abs(expected[:, 0]) > 2 * most * np.abs(expected).max()
    np.testing.assert_array_equal(program.predictions(X)[clear], numbers_of(model, X)[clear])


def test_what_has_no_fixed_point_says_why(tmp_path):
    X, f = rows()
    full = LearntMetric(metric="full", random_state=0)
    for steps, message in [
        ([full, KernelPAClassifier()], "a metric that is a matrix has no fixed point"),
        ([full, OnlineStandardScaler(), PAClassifier()], "a scaler behind a metric"),
        ([KernelRLSClassifier(metric="full")], "a metric that is a matrix has no fixed point"),
    ]:
        model = make_stream_pipeline(*steps).fit(X, f > 0)
        with pytest.raises(TypeError, match=message):
            model.export_c(tmp_path / "m.c", dtype="int16", rows=X)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("form", FORMS)
def test_a_metric_does_not_learn_in_c(form, tmp_path):
    X, f = rows()
    metric = LearntMetric(metric=form, random_state=0)
    model = make_stream_pipeline(metric, PARegressor()).fit(X, f)
    assert not model.export_c(tmp_path / "scores.c").learns
    with pytest.raises(TypeError, match="the step 'learntmetric' learns a metric, which has no C"):
        model.export_c(tmp_path / "learns.c", learn=True)


@pytest.mark.parametrize("form", FORMS)
def test_descriptions(form):
    for name in ("SPARegressor", "KernelPAClassifier", "NOGDClassifier"):
        model, X = learnt(name, form)
        np.testing.assert_allclose(
            scores_of_model(describe(model), X), scores_of(model, X), rtol=1e-9
        )
