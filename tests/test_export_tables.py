"""Models of tables, exported to C and ONNX: rows of values give what predict gives."""

import ctypes

import numpy as np
import pytest
from compiled import load
from described import scores_of_model
from sklearn.base import is_regressor

from onlinekern import (
    KernelForestClassifier,
    KernelForestRegressor,
    KernelRLSRegressor,
    OnlineStandardScaler,
    PAClassifier,
    StreamClassifier,
    StreamRegressor,
    TableEncoder,
    make_stream_pipeline,
)
from onlinekern.fitted.export.describe import describe
from onlinekern.preprocessing.tables.dates import PARTS

pd = pytest.importorskip("pandas")

N = 500
# The experts of a race learn, and score, in float32. Of a thousand features, kernels are so wide
# that weights are large, and lose more digits.
TOLERANCES = {"float64": 3e-6, "float32": 5e-4}
OF_WIDE_RACES = 1e-4
TOWNS = ["Ulm", "Bonn", "K\u00f6ln", "?", 'a "b" \\ c', "\u6771\u4eac", None]


def table(n=N, seed=0, zone=None):
    """Return a table with a column of each kind but words, and targets that follow most."""
    rng = np.random.default_rng(seed)
    town, size = rng.integers(0, len(TOWNS), n), rng.normal(size=n)
    at = pd.date_range("2023-11-03 05:10", periods=n, freq="7h13min", tz=zone).to_series()
    code = rng.integers(0, 150, n)
    X = pd.DataFrame(
        {
            "town": pd.Series([TOWNS[k] for k in town], dtype=object),
            "size": np.where(rng.random(n) < 0.2, np.nan, size),
            "at": at.reset_index(drop=True),
            "whole": rng.integers(0, 9, n).astype(float),
            "code": [f"item {k}" for k in code],
            "open": rng.random(n) < 0.5,
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], n)),
        }
    )
    X.loc[rng.random(n) < 0.1, "at"] = pd.NaT
    y = np.sin(3.0 * town) + (X["open"] * size) + (at.dt.hour.to_numpy() > 12) + 0.1 * (code % 7)
    return X, np.asarray(y, dtype=float)


def later():
    """Return rows with categories that have not come, and holes everywhere."""
    X, _ = table(120, 1)
    X.loc[::5, "town"] = "new"
    X.loc[::7, "grade"] = None
    X.loc[::4, "size"] = np.nan
    X.loc[::6, "whole"] = np.nan
    X.loc[1::9, "code"] = None
    return X


def pipeline(learner, scaled=True, **given):
    steps = [TableEncoder(**given), *([OnlineStandardScaler()] if scaled else []), learner]
    return make_stream_pipeline(*steps)


MODELS = {
    "race of classes": lambda: StreamClassifier(random_state=0),
    "race of targets": lambda: StreamRegressor(random_state=0),
    "forest of classes": lambda: KernelForestClassifier(n_trees=20, random_state=0),
    "forest of targets": lambda: KernelForestRegressor(n_trees=20, random_state=0),
    "least squares": lambda: KernelRLSRegressor(gamma=0.05, n_components=40, random_state=0),
    "linear, scaled": lambda: pipeline(PAClassifier(random_state=0)),
    "sparse": lambda: pipeline(PAClassifier(random_state=0), scaled=False, sparse=True),
    "parts of dates": lambda: pipeline(PAClassifier(random_state=0), dates=tuple(PARTS)),
    "race in a pipeline": lambda: pipeline(StreamRegressor(random_state=0), scaled=False),
    "few categories": lambda: pipeline(PAClassifier(random_state=0), max_categories=4),
}


def fitted(name, X, y):
    model = MODELS[name]()
    if is_regressor(model):
        return model.fit(X, y)
    return model.fit(X, np.where(y > np.median(y), "yes", "no"))


def scores_of(model, X):
    found = model.predict(X) if is_regressor(model) else model.decision_function(X)
    return np.reshape(found, (len(X), -1))


class Value(ctypes.Structure):
    _fields_ = [("number", ctypes.c_double), ("text", ctypes.c_char_p)]


def seconds(value):
    """Return what a clock shows, in seconds since 1970; NaN where it is missing."""
    if pd.isna(value):
        return np.nan
    return (value.tz_localize(None) - pd.Timestamp(0)) / pd.Timedelta(seconds=1)


def rows_in_c(X):
    """Return the rows of a data frame as the header says."""
    found = []
    for row in X.itertuples(index=False):
        values = []
        for value in row:
            if isinstance(value, str):
                values.append(Value(np.nan, value.encode()))
            elif isinstance(value, pd.Timestamp):
                values.append(Value(seconds(value), None))
            else:
                values.append(Value(np.nan if pd.isna(value) else float(value), None))
        found.append((Value * len(values))(*values))
    return found


def in_c(model, X, folder, dtype="float64"):
    """Return the scores and the predictions of the exported C for rows of a table."""
    model.export_c(folder / "model.c", dtype=dtype, learn=False)
    library = load(folder, [folder / "model.c"])
    n_outputs = scores_of(model, X.iloc[:1]).shape[1]
    scores = np.zeros((len(X), n_outputs), dtype)
    predictions = []
    for out, row in zip(scores, rows_in_c(X), strict=True):
        place = out.ctypes.data_as(ctypes.c_void_p)
        assert library.model_score_row(row, place) == 0
        if is_regressor(model):
            target = np.zeros(1, dtype)
            assert library.model_predict_row(row, target.ctypes.data_as(ctypes.c_void_p)) == 0
            predictions.append(target[0])
        else:
            predictions.append(model.classes_[library.model_predict_row(row)])
    return scores, np.array(predictions)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_c_scores_rows_of_tables(name, dtype, tmp_path):
    if dtype == "float32" and name not in ("race of classes", "forest of targets"):
        pytest.skip("one of each kind says what float32 does")
    X, y = table()
    model = fitted(name, X, y)
    for rows in (X.iloc[:60], later()):
        scores, predictions = in_c(model, rows, tmp_path, dtype)
        tolerance = max(TOLERANCES[dtype], OF_WIDE_RACES * name.startswith("race of"))
        np.testing.assert_allclose(scores, scores_of(model, rows), rtol=0, atol=tolerance)
        if not is_regressor(model):
            assert (predictions == model.predict(rows)).mean() > (
                0.99 if dtype == "float32" else 0.9999
            )
        else:
            np.testing.assert_array_equal(predictions, scores[:, 0])


def test_texts_longer_than_a_literal(tmp_path):
    """C promises literals of 4,095 characters; compilers warn of longer ones."""
    towns = [3000 * "é" + "a", 3000 * "é" + "b'", "c", "'" + 4094 * "d"]
    X = pd.DataFrame({5000 * "n": [towns[k % 4] for k in range(40)], "x": np.arange(40.0)})
    model = MODELS["linear, scaled"]().partial_fit(X, np.arange(40) % 4 > 1, [False, True])
    scores, _ = in_c(model, X, tmp_path)
    np.testing.assert_allclose(scores, scores_of(model, X), rtol=0, atol=1e-12)
    names = (ctypes.c_char_p * 2).in_dll(ctypes.CDLL(tmp_path / "exported.so"), "model_columns")
    assert list(names) == [5000 * b"n", b"x"]


@pytest.mark.parametrize("name", MODELS)
def test_descriptions_score_tables(name):
    X, y = table()
    model = fitted(name, X, y)
    for rows in (X.iloc[:60], later()):
        found = scores_of_model(describe(model), rows)
        tolerance = max(TOLERANCES["float64"], OF_WIDE_RACES * name.startswith("race of"))
        np.testing.assert_allclose(found, scores_of(model, rows), rtol=0, atol=tolerance)


def given_in_onnx(X, session):
    """Return the inputs of a session for a data frame."""
    found = {}
    for one in session.get_inputs():
        column = X[one.name]
        if one.type == "tensor(string)":
            texts = column.astype(object).where(column.notna(), "").to_numpy(dtype=object)
            found[one.name] = texts.reshape(-1, 1)
        elif column.dtype.kind == "M":
            found[one.name] = np.array([[seconds(value)] for value in column])
        else:
            kind = np.float32 if one.type == "tensor(float)" else np.float64
            found[one.name] = column.to_numpy(dtype=kind).reshape(-1, 1)
    return found


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_onnx_scores_columns_of_tables(name, dtype, tmp_path):
    onnx = pytest.importorskip("onnx", reason="needs the extra onnx")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    if dtype == "float32" and name not in ("race of classes", "forest of targets"):
        pytest.skip("one of each kind says what float32 does")
    X, y = table()
    # Encoders of forests number categories of any number; ONNX cannot hash those of others.
    left = [] if "forest" in name else ["code"]
    left += ["town"] if name == "few categories" else []
    keep = [column for column in X if column not in left]
    model = fitted(name, X[keep], y)
    path = tmp_path / "model.onnx"
    model.export_onnx(path, dtype=dtype)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    assert [one.name for one in session.get_inputs()] == keep
    for rows in (X.iloc[:60][keep], later()[keep]):
        outputs = [one.name for one in session.get_outputs()]
        found = dict(zip(outputs, session.run(None, given_in_onnx(rows, session)), strict=True))
        scores = found.get("scores", found.get("variable"))
        tolerance = TOLERANCES[dtype]
        np.testing.assert_allclose(scores, scores_of(model, rows), rtol=0, atol=tolerance)
        if "label" in found:
            assert (found["label"] == model.predict(rows)).mean() > 0.97
            proba = model.predict_proba(rows)
            np.testing.assert_allclose(found["probabilities"], proba, rtol=0, atol=1e-3)


def test_a_zone_is_named_and_its_clocks_are_meant(tmp_path):
    X, y = table(zone="Europe/Berlin")
    model = StreamRegressor(random_state=0).fit(X, y)
    scores, _ = in_c(model, X.iloc[:60], tmp_path)
    np.testing.assert_allclose(scores[:, 0], model.predict(X.iloc[:60]), rtol=0, atol=OF_WIDE_RACES)
    assert "at: seconds since 1970 (Europe/Berlin)" in (tmp_path / "model.h").read_text()


def test_the_header_tells_the_columns(tmp_path):
    X, y = table()
    made = StreamRegressor(random_state=0).fit(X.rename(columns={"town": "to*/wn"}), y)
    made.export_c(tmp_path / "model.c")
    header = (tmp_path / "model.h").read_text()
    assert "   0. to* /wn: text" in header
    assert "MODEL_N_COLUMNS = 7" in header
    load(tmp_path, [tmp_path / "model.c"])


def test_infinite_numbers_are_refused(tmp_path):
    X, y = table()
    model = StreamRegressor(random_state=0).fit(X, y)
    model.export_c(tmp_path / "model.c")
    library = load(tmp_path, [tmp_path / "model.c"])
    for column in (1, 2, 3):
        row = rows_in_c(X.iloc[:1])[0]
        row[column] = Value(np.inf, None)
        assert library.model_score_row(row, np.zeros(1).ctypes.data_as(ctypes.c_void_p)) == -1


def test_what_has_no_form_is_named(tmp_path):
    X, y = table()
    words = X.assign(note=[f"this is row number {k} of some" for k in range(N)])
    model = StreamRegressor(random_state=0).fit(words, y)
    for export, path in ((model.export_c, "m.c"), (model.export_onnx, "m.onnx")):
        with pytest.raises(TypeError, match="column 'note' is of kind 'text'"):
            export(tmp_path / path)
    pytest.importorskip("onnx", reason="needs the extra onnx")
    model = StreamRegressor(random_state=0).fit(X, y)
    with pytest.raises(TypeError, match=r"column 'code' is of kind 'hashed'.*max_categories"):
        model.export_onnx(tmp_path / "m.onnx")
    renamed = X.drop(columns="code").rename(columns={"size": "scores"})
    model = StreamRegressor(random_state=0).fit(renamed, y)
    with pytest.raises(ValueError, match="the column 'scores' has the name of an output"):
        model.export_onnx(tmp_path / "m.onnx")
    with pytest.raises(TypeError, match="cannot be exported to learn"):
        model.export_c(tmp_path / "m.c", learn=True)


@pytest.mark.parametrize("learner", [KernelForestClassifier, KernelForestRegressor])
def test_forests_of_frames_that_need_no_encoder(learner, tmp_path):
    X, y = table()
    rows = X[["size", "whole", "grade"]].assign(
        kind=pd.Categorical(np.arange(N) % 3 + 7), town=X["town"].astype("category")
    )
    targets = y if learner is KernelForestRegressor else np.where(y > 0.7, "yes", "no")
    model = learner(n_trees=10, random_state=0).fit(rows, targets)
    assert "encoder_" not in vars(model)
    scores, _ = in_c(model, rows.iloc[:50].astype({"kind": str}), tmp_path)
    np.testing.assert_allclose(scores, scores_of(model, rows.iloc[:50]), rtol=0, atol=1e-6)
    found = scores_of_model(describe(model), rows)
    np.testing.assert_allclose(found, scores_of(model, rows), rtol=0, atol=1e-8)


def test_columns_may_be_called_as_operators_are(tmp_path):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("onnx", reason="needs the extra onnx")
    X, y = table()
    names = {"size": "constant_1", "open": "isnan_1", "town": "labelencoder_1"}
    rows = X[[*names]].rename(columns=names)
    model = KernelForestRegressor(n_trees=10, random_state=0).fit(rows, y)
    model.export_onnx(tmp_path / "m.onnx", dtype="float64")
    path = str(tmp_path / "m.onnx")
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    found = session.run(None, given_in_onnx(rows, session))[0][:, 0]
    np.testing.assert_allclose(found, model.predict(rows), rtol=0, atol=1e-6)


def test_skl2onnx_is_told_the_way():
    skl2onnx = pytest.importorskip("skl2onnx", reason="needs the extra onnx")
    from onlinekern.compat.onnx import register

    register()
    X, y = table()
    model = StreamRegressor(random_state=0).fit(X, y)
    kind = [("X", skl2onnx.common.data_types.FloatTensorType([None, 7]))]
    with pytest.raises(TypeError, match="export_onnx"):
        skl2onnx.to_onnx(model, initial_types=kind)
