"""Exported ONNX graphs predict as the model does, in onnxruntime."""

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from commands import run
from exported import CLASSES, cases, error_of, fitted, numbers_of, scores_of
from interpreters import python_without
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onlinekern import (
    AROWClassifier,
    FourierFeatures,
    KernelMeanDetector,
    KernelPAClassifier,
    KernelPARegressor,
    KRLSRegressor,
    NystroemFeatures,
    OGDClassifier,
    OLLAClassifier,
    OnlineStandardScaler,
    PAClassifier,
    StreamClassifier,
    make_stream_pipeline,
)
from onlinekern.core import KERNELS

onnx = pytest.importorskip("onnx", reason="needs the extra onnx")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

TOLERANCES = {"float64": 1e-6, "float32": 1e-4}


def plain(X):
    return X if isinstance(X, np.ndarray) else X.toarray()


def single(X):
    """Return rows of float32 numbers, which both types hold alike."""
    return X.astype(np.float32).astype(np.float64)


def session(path):
    """Return an onnxruntime session of a file that onnx finds valid."""
    onnx.checker.check_model(onnx.load(path), full_check=True)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def answers(opened, X):
    """Return the outputs of a session for rows, by their names."""
    kind = opened.get_inputs()[0].type
    given = np.asarray(X, np.float32 if kind == "tensor(float)" else np.float64)
    outputs = opened.get_outputs()
    found = opened.run(None, {"X": given})
    for output, values in zip(outputs, found, strict=True):
        assert output.shape[1:] == list(values.shape[1:])
    return dict(zip([output.name for output in outputs], found, strict=True))


def exported(model, X, path, dtype="float32"):
    """Return the outputs of the export of a model for rows."""
    return answers(session(model.export_onnx(path, dtype=dtype).path), X)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onnx"


def chosen():
    """Return the cases whose graphs differ: each learner, with two classes and with three, and
    those whose terms are others."""
    found = {}
    for case in cases():
        terms = {"kernel", "statistic", "n_assign", "linear", "loss"} & case.parameters.keys()
        found.setdefault((case.name, case.task, str(case.parameters) if terms else ""), case)
    return list(found.values())


CASES = chosen()


@pytest.fixture(scope="module")
def models(stream, as_layout):
    """Return (case, model, rows) of every case; some models are of sparse rows."""
    found = []
    for number, case in enumerate(CASES):
        X, y = stream(case.task, n=70)
        rows = as_layout(single(X / 3), "wide" if number % 8 == 3 else "dense")
        found.append((case, fitted(case, rows[:50], y[:50]), rows))
    return found


def tolerance_of(case, dtype):
    """The experts of a race compute in float32 in Python, whatever the graph does."""
    return 1e-4 if case.name.startswith("Stream") else TOLERANCES[dtype]


def sure(scores, tolerance):
    """Return which rows have a winner that rounding errors do not change."""
    ordered = np.sort(scores, axis=1)
    gap = np.abs(ordered[:, 0]) if ordered.shape[1] == 1 else ordered[:, -1] - ordered[:, -2]
    return gap > tolerance * max(1, np.abs(scores).max())


def test_every_learner_is_exported():
    assert {case.name for case in CASES} == CLASSES.keys()


@pytest.mark.parametrize("dtype", TOLERANCES)
def test_predictions(dtype, models, path):
    wrong = []
    for case, model, X in models:
        made = model.export_onnx(path, dtype=dtype)
        found = answers(session(path), plain(X))
        assert tuple(found) == made.outputs
        assert made.size == path.stat().st_size
        assert hasattr(model, "predict_proba") == ("probabilities" in found), (case, model, made)
        tolerance, expected = tolerance_of(case, dtype), scores_of(model, X)
        scores = found["variable" if is_regressor(model) else "scores"]
        assert scores.dtype == dtype
        pairs = {"scores": (scores, expected)}
        if "probabilities" in found:
            pairs["probabilities"] = found["probabilities"], model.predict_proba(X)
        if "label" in found:
            known = sure(expected, tolerance)
            labels = getattr(model, "classes_", np.array([-1, 1])).tolist()
            numbers = np.array([labels.index(label) for label in found["label"].ravel().tolist()])
            pairs["label"] = numbers[known], numbers_of(model, X)[known]
            assert known.sum() > 20
        errors = {name: error_of(*pair) for name, pair in pairs.items()}
        wrong += [(case, *item) for item in errors.items() if not item[1] <= tolerance]
    assert not wrong


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_far_from_all_others_have_the_probabilities_of_the_model(n_classes, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    model = PAClassifier(C=0.01).fit(X, np.digitize(X[:, 0], [-0.5, 0.5][: n_classes - 1]))
    path = str(tmp_path / "far.onnx")
    model.export_onnx(path, dtype="float64")
    rows = np.vstack([X, 1e4 * X, 1e9 * X])
    found = answers(session(path), rows)["probabilities"]
    np.testing.assert_allclose(found, model.predict_proba(rows), rtol=1e-6, atol=1e-12)
    logs = model.predict_log_proba(rows)
    assert (logs.max(axis=1) - logs.min(axis=1)).max() > model.calibration_.most


def test_single_precision_tells_huge_scores_apart(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4)).astype(np.float32)
    model = AROWClassifier().partial_fit(X, np.digitize(X[:, 0], [-0.5, 0.5]), classes=range(3))
    path = tmp_path / "model.onnx"
    model.export_onnx(path, dtype="float32")
    rows = np.float32(1e30) * X
    found = answers(session(path), rows)
    np.testing.assert_array_equal(found["probabilities"].argmax(axis=1), found["label"])
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(rows), atol=1e-6)


@pytest.mark.parametrize("probability", [False, True])
@pytest.mark.parametrize(("task", "multi_class"), [("binary", "ovr"), ("ovr", "ovo")])
def test_the_exact_machine_has_probabilities_if_it_was_asked_for_them(
    task, multi_class, probability, stream, path
):
    X, y = stream(task)
    model = OLLAClassifier(solver="smo", multi_class=multi_class, probability=probability)
    model.fit(X, y)
    assert ("probabilities" in model.export_onnx(path, dtype="float64").outputs) == probability
    found = answers(session(path), plain(X))
    np.testing.assert_allclose(found["scores"], scores_of(model, X), atol=1e-9)
    assert found["label"].tolist() == model.predict(X).tolist()
    if probability:
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-9)


def test_names_and_shapes(stream, path):
    X, y = stream("binary")
    for model, outputs in [
        (
            PAClassifier().fit(X, y),
            {"label": [None], "probabilities": [None, 2], "scores": [None, 1]},
        ),
        (KernelPARegressor(gamma=0.3).fit(X, X[:, 0]), {"variable": [None, 1]}),
        (KernelMeanDetector(gamma=0.3).fit(X), {"label": [None, 1], "scores": [None, 1]}),
    ]:
        model.export_onnx(path)
        opened = session(path)
        assert {output.name: output.shape for output in opened.get_outputs()} == outputs
        assert [(given.name, given.shape) for given in opened.get_inputs()] == [("X", [None, 6])]
        for n in (1, 2, 90):
            assert all(len(values) == n for values in answers(opened, X[:n]).values())


def test_the_file_says_what_it_needs(stream, path):
    PAClassifier().fit(*stream("binary")).export_onnx(path)
    model = onnx.load(path)
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 17)]
    assert (model.ir_version, model.producer_name) == (8, "onlinekern")


LABELS = [
    (np.array([3, 7]), [3, 7]),
    (np.array([False, True]), [0, 1]),
    (np.array([-(2**40), 2**40]), [-(2**40), 2**40]),
    (np.array([0, 2**63], np.uint64), ["0", str(2**63)]),
    (np.array([-1.0, 1.0]), [-1, 1]),
    (np.array(['a"\n', "grün"]), ['a"\n', "grün"]),
    (np.array(["no", "yes"], dtype=object), ["no", "yes"]),
    (np.array(["2026-01", "2026-02"], "M8[M]"), ["2026-01", "2026-02"]),
]


@pytest.mark.parametrize(("labels", "expected"), LABELS)
def test_labels(labels, expected, stream, path):
    X, y = stream("binary", n=60)
    numbers = (y == "yes").astype(int)
    model = KernelPAClassifier(gamma=0.4).fit(X, labels[numbers])
    found = exported(model, X, path)["label"].tolist()
    assert {type(label) for label in found} == {type(label) for label in expected}
    assert found == [expected[number] for number in numbers_of(model, X)]


PIPELINES = [
    [OnlineStandardScaler(clip=1.0), KernelPAClassifier(gamma=0.3)],
    [OnlineStandardScaler(with_mean=False), FourierFeatures(n_components=9), PAClassifier()],
    [NystroemFeatures(n_components=9, gamma=1e-5), "passthrough", OGDClassifier(loss="logistic")],
    [OnlineStandardScaler(with_std=False), StreamClassifier(time_budget=3)],
    # Its forest gets the features as they come, the other experts scaled ones.
    [FourierFeatures(n_components=9, gamma=1e-5), StreamClassifier(time_budget=20)],
]


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("steps", PIPELINES)
def test_pipelines(steps, dtype, stream, path):
    X, y = stream("ovr")
    X = single(X * 100 + 7)
    model = make_stream_pipeline(*steps).partial_fit(X[:60], y[:60], classes=np.unique(y))
    if isinstance(steps[-1], StreamClassifier):
        # All experts count: the forest, if there is one, loses on a few samples.
        vote = model[-1]._model.vote
        equal = np.ones(len(vote.links) + 2)
        vote.set_state({**vote.get_state(), "losses": equal, "counts": 2 * equal})
    found = exported(model, X, path, dtype)
    tolerance = 1e-4 if isinstance(steps[-1], StreamClassifier) else TOLERANCES[dtype]
    assert error_of(found["scores"], model.decision_function(X)) <= tolerance
    assert error_of(found["probabilities"], model.predict_proba(X)) <= tolerance


def test_a_race_of_many_classes(many_classes, path):
    X, y = many_classes()
    model = StreamClassifier(time_budget=20).partial_fit(X, y, classes=np.unique(y))
    vote = model._model.vote
    equal = np.ones(len(vote.links) + 2)
    vote.set_state({**vote.get_state(), "losses": equal, "counts": 2 * equal})
    assert vote.weights(model._model.voting)[np.argmin(vote.links)] > 0.05
    found = exported(model, X, path)
    assert error_of(found["scores"], model.decision_function(X)) <= 1e-4


def test_far_means_keep_their_digits(stream, path):
    X, y = stream("binary")
    X = single(X + 1e5 + 1 / 3)
    model = make_stream_pipeline(OnlineStandardScaler(), KernelPAClassifier(gamma=0.3)).fit(X, y)
    assert error_of(exported(model, X, path)["scores"][:, 0], model.decision_function(X)) < 1e-6


HARD = {
    # Sums of large coefficients of both signs.
    "coefficients": (KRLSRegressor(gamma=0.05), lambda X: X),
    # A feature in other units than the rest: distances are differences of large numbers.
    "units": (KernelPAClassifier(gamma=0.1), lambda X: X * [1e3, 1, 1, 1, 1, 1]),
    "far": (KernelPAClassifier(kernel="polynomial", gamma=0.1, degree=3), lambda X: X + 1000),
    "leverage": (
        KernelMeanDetector(gamma=0.1, statistic="leverage", features="nystroem", reg=1e-4),
        lambda X: X,
    ),
}


@pytest.mark.filterwarnings("ignore:the scales of the features differ")
@pytest.mark.parametrize("case", HARD)
def test_float32_keeps_four_digits(case, path, monkeypatch):
    """Without the rule that chooses double, each of these is off."""
    from onlinekern.fitted.export.onnx import terms

    model, change = HARD[case]
    X = np.random.default_rng(0).standard_normal((600, 6))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    X = single(change(X))
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    model.fit(X, y if is_regressor(model) else np.sign(y))
    expected = scores_of(model, X)

    def error():
        name = "variable" if is_regressor(model) else "scores"
        return np.abs(exported(model, X, path)[name] - expected).max() / np.abs(expected).max()

    assert error() < 1e-5
    monkeypatch.setattr(terms, "needs_double", lambda term: False)
    assert error() > 1e-4


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_empty_columns_take_no_room(kernel, stream, as_layout, path):
    X, y = stream("ovr")
    rows = as_layout(single(X / 3), "wide")
    model = KernelPAClassifier(kernel=kernel, gamma=0.4).fit(rows, y)
    more = plain(rows) + 0.0
    more[:, np.flatnonzero(~more.any(axis=0))[:2]] = 0.25  # columns that no vector has
    made = model.export_onnx(path, dtype="float64")
    found = answers(session(path), more)["scores"]
    assert error_of(found, model.decision_function(more)) < TOLERANCES["float64"]
    assert made.size < 8 * model.n_support_ * 3 * X.shape[1] + 10_000


def test_rows_of_nan_have_scores_of_nan(stream, path):
    X, y = stream("binary")
    model = KernelPAClassifier(gamma=0.4).fit(X, y)
    X[0, 1] = np.nan
    scores = exported(model, X, path)["scores"]
    assert np.isnan(scores[0])
    assert np.isfinite(scores[1:]).all()


def test_what_is_not_exported(stream, path):
    X, y = stream("binary", n=40)
    with pytest.raises(NotFittedError):
        PAClassifier().export_onnx(path)
    with pytest.raises(TypeError, match="is a Python function"):
        KernelPAClassifier(kernel=lambda A, B: A @ B.T).fit(X, y).export_onnx(path)
    with pytest.raises(TypeError, match="the step 'standardscaler'"):
        make_stream_pipeline(StandardScaler(), PAClassifier()).fit(X, y).export_onnx(path)
    model = KernelPARegressor(gamma=0.4).fit(X, X[:, 0] * 1e60)
    with pytest.raises(ValueError, match="dtype='float32' has no room for"):
        model.export_onnx(path)
    for name, dtype, message in [
        ("model.txt", "float32", "path must end in .onnx"),
        ("model.onnx", "int8", "dtype must be 'float32' or 'float64', got 'int8'"),
        ("model.onnx", None, "dtype must be"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.export_onnx(path.with_name(name), dtype=dtype)
    assert not list(path.parent.iterdir())


def test_a_model_over_two_gib(path):
    rng, shape = np.random.default_rng(0), (200, 4_000_000)
    columns = rng.choice(shape[1], 8_000 * shape[0], replace=False)
    starts = np.arange(0, len(columns) + 1, 8_000)
    X = sparse.csr_matrix((np.ones(len(columns)), columns, starts), shape=shape)
    model = KernelPAClassifier(gamma=1e-4).fit(X, np.arange(200) % 2)
    with pytest.raises(ValueError, match=r"needs [\d.]+ GiB .* takes half of it"):
        model.export_onnx(path, dtype="float64")
    assert not path.exists()


def test_without_onnx_the_message_says_what_to_install(tmp_path):
    code = (
        "from onlinekern import PAClassifier; "
        "PAClassifier().fit([[0], [1]], [0, 1]).export_onnx('m.onnx')"
    )
    process = python_without("onnx", code, cwd=tmp_path)
    assert "ImportError: export_onnx needs onnx: pip install 'onlinekern[onnx]'" in process.stderr


def test_the_command(tmp_path, monkeypatch, capsys, stream):
    pytest.importorskip("typer", reason="needs the extra cli")
    monkeypatch.chdir(tmp_path)
    X, y = stream("binary", n=40)
    model = PAClassifier().fit(X, y)
    model.save("model.okn")
    size = model.export_onnx("other.onnx").size
    line = f"m.onnx: label, probabilities, scores; {size:,} bytes\n"
    for more in ([], ["--to", "onnx"], ["--dtype", "float32"]):
        assert run(capsys, "export", "model.okn", "-o", "m.onnx", *more) == (0, line, "")
    assert session("m.onnx").get_inputs()[0].type == "tensor(float)"
    code, out, err = run(capsys, "export", "model.okn", "-o", "n.onnx", "--prefix", "a")
    assert (code, out) == (2, "")
    assert "--prefix is no option of --to onnx" in err
    assert not Path("n.onnx").exists()


SCIKIT_LEARN = {
    "binary": KernelPAClassifier(gamma=0.3, random_state=0),
    "ovr": PAClassifier(random_state=0),
    "regression": KernelPARegressor(gamma=0.3, random_state=0),
    "detector": KernelMeanDetector(gamma=0.3, random_state=0),
}


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("task", SCIKIT_LEARN)
def test_pipelines_of_scikit_learn(task, dtype, stream):
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    from onlinekern.compat.onnx import register

    register()
    X, y = stream("regression" if task == "detector" else task)
    rows = (X * 10 + 3).astype(dtype)
    model = make_pipeline(StandardScaler(), SCIKIT_LEARN[task]).fit(rows, y)
    classifier = task in ("binary", "ovr")
    expected = {
        False: [("variable", model.predict(rows))]
        if task == "regression"
        else [("label", model.predict(rows)), ("scores", scores_of(model, rows))],
        True: [("label", model.predict(rows)), ("probabilities", model.predict_proba(rows))]
        if classifier
        else [],
    }[classifier]
    options = {"zipmap": False} if classifier else None
    converted = skl2onnx.to_onnx(model, rows[:1], options=options)
    onnx.checker.check_model(converted, full_check=True)
    opened = runtime.InferenceSession(converted.SerializeToString())
    found = answers(opened, rows)
    assert list(found) == [name for name, _ in expected]
    for name, values in expected:
        flat = np.reshape(found[name], np.shape(values))
        if name == "label":
            assert (flat == values).all()
        else:
            assert flat.dtype == dtype
            assert error_of(flat, values) < TOLERANCES[dtype]


def test_options_of_skl2onnx(stream):
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    from onlinekern.compat.onnx import register

    register()
    X, y = stream("binary")
    model = PAClassifier().fit(X, y)
    whole = np.round(X * 4).astype(np.int64)
    options = {"zipmap": False, "raw_scores": True}
    converted = skl2onnx.to_onnx(model, whole[:1], options=options)
    opened = runtime.InferenceSession(converted.SerializeToString())
    scores = opened.run(["probabilities"], {"X": whole})[0]
    f = model.decision_function(whole)
    assert error_of(scores, np.column_stack([-f, f])) < TOLERANCES["float32"]
    converted = skl2onnx.to_onnx(model, X[:1].astype(np.float32))
    opened = runtime.InferenceSession(converted.SerializeToString())
    (maps,) = opened.run(["output_probability"], {"X": X[:3].astype(np.float32)})
    assert [set(one) for one in maps] == [{"no", "yes"}] * 3
    with pytest.raises(ValueError, match="for option 'nocl'"):
        skl2onnx.to_onnx(model, X[:1], options={"nocl": True, "zipmap": False})
    with pytest.raises(ValueError, match="target_opset must be >= 13, got 12"):
        skl2onnx.to_onnx(model, X[:1], target_opset=12)


def test_without_skl2onnx_the_message_says_what_to_install(tmp_path):
    process = python_without("skl2onnx", "import onlinekern.compat.onnx", cwd=tmp_path)
    assert "ImportError: onlinekern.compat.onnx needs skl2onnx: pip install" in process.stderr


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    page = (Path(__file__).parents[1] / "docs" / "onnx.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names = {}
    examples = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    assert examples
    for example in examples:
        if "skl2onnx" not in example or find_spec("skl2onnx"):
            exec(compile(example, "docs/onnx.md", "exec"), names)
