"""Extension types of pandas: nullable ones, those of Arrow, categories with holes."""

import numpy as np
import pytest
from learners import answers
from sklearn.base import is_regressor

from onlinekern import (
    KernelForestClassifier,
    KernelRLSClassifier,
    OnlineStandardScaler,
    PAClassifier,
    StreamClassifier,
    StreamRegressor,
    TableEncoder,
    make_stream_pipeline,
)

pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
N = 240
RNG = np.random.default_rng(0)
HOLES = RNG.random((4, N)) < 0.15
HOLES[:, :2] = False
TOWN = np.where(HOLES[0], None, RNG.choice(["Ulm", "Bonn", "Mainz"], N))
SIZE = np.where(HOLES[1], np.nan, RNG.normal(size=N))
COUNT = np.where(HOLES[2], np.nan, RNG.integers(0, 9, N))
NEW = np.where(HOLES[3], None, RNG.random(N) < 0.5)
SIGNAL = np.nan_to_num(SIZE) + 2.0 * (TOWN == "Ulm")


def plain():
    columns = {"town": TOWN, "size": SIZE, "count": COUNT, "new": NEW}
    return pd.DataFrame({**columns, "town": pd.Series(TOWN, dtype=object)})


def typed(**types):
    return plain().astype({"new": "boolean", **types})


FRAMES = {
    "nullable": lambda: typed(town="string", size="Float64", count="Int64"),
    "nullable, narrow": lambda: typed(town="string[python]", count="Int8"),
    "text of Arrow": lambda: typed(town="string[pyarrow]", count="UInt16"),
    "Arrow": lambda: typed(
        town="string[pyarrow]", size="double[pyarrow]", count="int64[pyarrow]"
    ).astype({"new": "bool[pyarrow]"}),
    "Arrow, by convert_dtypes": lambda: plain().convert_dtypes(dtype_backend="pyarrow"),
    "categories with holes": lambda: typed(town="category", count="Int64"),
}
LEARNERS = {
    "race": StreamClassifier,
    "race of targets": StreamRegressor,
    "linear": lambda **given: make_stream_pipeline(
        TableEncoder(), OnlineStandardScaler(), PAClassifier(**given)
    ),
    "least squares": KernelRLSClassifier,
    "forest": KernelForestClassifier,
}


def targets(model):
    return SIGNAL if is_regressor(model) else np.where(SIGNAL > 0.5, "yes", "no")


# Forests number the categories of a type in its order, those of text as they come.
PAIRS = [(a, b) for a in LEARNERS for b in FRAMES if (a, b[:10]) != ("forest", "categories")]


@pytest.mark.parametrize(("learner", "kind"), PAIRS)
def test_types_do_not_matter(learner, kind):
    rows, given = FRAMES[kind](), plain()
    make = LEARNERS[learner]
    y = targets(make(random_state=0))
    fitted, wanted = (make(random_state=0).fit(frame, y) for frame in (rows, given))
    assert (answers(fitted, rows) == answers(wanted, given)).all()
    # Types may change in mid-stream, of rows that are predicted too.
    streams = [make(random_state=0) for _ in range(2)]
    first = {} if is_regressor(streams[0]) else {"classes": ["no", "yes"]}
    streams[0].partial_fit(rows[:100], y[:100], **first).partial_fit(given[100:], y[100:])
    streams[1].partial_fit(given[:100], y[:100], **first).partial_fit(rows[100:], y[100:])
    assert (answers(streams[0], rows) == answers(streams[1], given)).all()
    assert (answers(streams[0], given) == answers(streams[0], rows)).all()


def test_forests_take_categories_with_holes():
    rows = FRAMES["categories with holes"]()
    y = targets(KernelForestClassifier())
    fitted = KernelForestClassifier(random_state=0, shuffle=False).fit(rows, y)
    stream = KernelForestClassifier(random_state=0)
    stream.partial_fit(rows[:100], y[:100], classes=["no", "yes"]).partial_fit(rows[100:], y[100:])
    assert (answers(fitted, rows) == answers(stream, rows)).all()
    assert fitted.score(rows, y) > 0.9


@pytest.mark.parametrize("dtype", ["Float64", "Int64", "double[pyarrow]", "int64[pyarrow]"])
def test_numbers_without_holes_need_no_encoder(dtype):
    rows = pd.DataFrame(RNG.integers(-9, 9, (60, 3)).astype(float), columns=list("abc"))
    y = np.where(rows["a"] > rows["b"], 1, 0)
    model = PAClassifier(random_state=0).fit(rows.astype(dtype), y)
    assert "encoder_" not in vars(model)
    plain_one = PAClassifier(random_state=0).fit(rows, y)
    assert (model.decision_function(rows.astype(dtype)) == plain_one.decision_function(rows)).all()


@pytest.mark.parametrize("dtype", ["Int64", "string", "category", "boolean"])
def test_labels_of_extension_types(dtype):
    rows = plain()[["size"]].fillna(0.0)
    labels = {
        "Int64": [0, 1],
        "string": ["a", "b"],
        "category": ["a", "b"],
        "boolean": [False, True],
    }
    y = np.array(labels[dtype])[(rows["size"] > 0).to_numpy().astype(int)]
    model = PAClassifier(random_state=0).fit(rows, pd.Series(y, dtype=dtype))
    assert model.classes_.tolist() == labels[dtype]
    assert (model.predict(rows) == PAClassifier(random_state=0).fit(rows, y).predict(rows)).all()
