"""Kernel forests take tables as they are: categories, and values that are missing."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from learners import answers

from onlinekern import KernelForestClassifier, KernelForestRegressor, merge
from onlinekern.fitted.save import from_bytes, to_bytes

FEW = {"n_trees": 20, "random_state": 0}


def table(n=600, n_codes=9, missing=0.15, seed=0):
    """Return rows whose columns 1 and 4 are categories, with missing values, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * [1, 1, 10, 0.1, 1, 1]
    X[:, [1, 4]] = rng.integers(0, n_codes, size=(n, 2))
    y = (X[:, 1] % 3 == 1) ^ (X[:, 0] > 0)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def fitted(X, y, cls=KernelForestClassifier, **parameters):
    return cls(**{**FEW, "categorical_features": [1, 4], **parameters}).fit(X, y)


def test_what_is_missing_tells():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    missing = rng.random(3000) < 0.3
    X[missing, 2] = np.nan
    y = missing ^ (X[:, 0] > 0)
    model = KernelForestClassifier(**FEW).fit(X[:2000], y[:2000])
    assert model.score(X[2000:], y[2000:]) > 0.95
    importances = model.feature_importances_
    assert importances.shape == (4,)
    assert importances.sum() == pytest.approx(1)
    assert importances[[0, 2]].sum() > 0.9
    filled = np.nan_to_num(X)
    other = KernelForestClassifier(**FEW).fit(filled[:2000], y[:2000])
    assert other.score(filled[2000:], y[2000:]) < model.score(X[2000:], y[2000:])


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_sets_of_categories_are_cut_at_once(task):
    """A function of the membership in a set, which neighbours of a category tell nothing of."""
    rng = np.random.default_rng(1)
    n_codes, n = 100, 3000
    X = np.column_stack([rng.integers(0, n_codes, n), rng.normal(size=(n, 2))])
    inside = (rng.random(n_codes) < 0.5)[X[:, 0].astype(int)]
    y = inside ^ (X[:, 1] > 0) if task == "classes" else np.where(inside, X[:, 1], X[:, 2])
    cls = KernelForestClassifier if task == "classes" else KernelForestRegressor
    coded = cls(**FEW, categorical_features=[0]).fit(X[:2000], y[:2000])
    numbers = cls(**FEW).fit(X[:2000], y[:2000])
    own, other = coded.score(X[2000:], y[2000:]), numbers.score(X[2000:], y[2000:])
    assert own > 0.9
    assert 1 - own < (1 - other) / 4
    assert coded.is_categorical_.tolist() == [True, False, False]


def test_codes_that_were_not_learnt_have_one_place():
    X, y = table()
    model = fitted(X, y)
    X[:4, 1] = 9, 10, 700, 65535
    rest = X[:4].copy()
    rest[:] = rest[0]
    rest[:, 1] = X[:4, 1]
    found = answers(model, rest)
    np.testing.assert_array_equal(found, np.repeat(found[0], 4))


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_one_by_one(dtype, layout):
    X, y = table(300)
    X = X.astype(dtype)
    whole = fitted(X[:200], y[:200], shuffle=False)
    whole.partial_fit(layout(X[200:]), y[200:])
    model = fitted(X[:200], y[:200], shuffle=False)
    for x, label in zip(layout(X[200:]), y[200:], strict=True):
        model.learn_one(x, label)
    np.testing.assert_array_equal(answers(model, X), answers(whole, layout(X)))
    assert [model.score_one(x) for x in X[:20]] == answers(whole, X[:20]).tolist()


@pytest.mark.parametrize("memory", [64, 512])
@pytest.mark.parametrize("task", ["binary", "numbers"])
def test_any_cut_is_resumed_to_the_bit(task, memory):
    X, y = table(150)
    cls = KernelForestRegressor if task == "numbers" else KernelForestClassifier
    known = {} if task == "numbers" else {"classes": [False, True]}

    def begun():
        return cls(n_trees=5, random_state=3, memory=memory, categorical_features=[1, 4])

    whole = begun().partial_fit(X, y, **known)
    for cut in (20, 32, 33, 64, 100, 128, 129):
        part = begun().partial_fit(X[:cut], y[:cut], **known)
        again = from_bytes(to_bytes(pickle.loads(pickle.dumps(part))), "a file")
        assert to_bytes(again.partial_fit(X[cut:], y[cut:])) == to_bytes(whole), cut


def test_a_call_that_fails_leaves_a_model_with_tables_as_it_was():
    X, y = table(200)
    model = fitted(X[:120], y[:120])
    before = to_bytes(model)
    model._model.learn(X[120:], y[120:].astype(float))
    assert model._model.space.entered == 200
    model._model.undo()
    assert to_bytes(model) == before
    for wrong in (-1, 2.5, 65536, np.inf):
        bad = X[120:].copy()
        bad[7, 4] = wrong
        message = r"infinity" if np.isinf(wrong) else r"row 7 of column 4, which holds categories"
        with pytest.raises(ValueError, match=message):
            model.partial_fit(bad, y[120:])
        with pytest.raises(ValueError, match=message):
            model.predict(bad)
        message = r"infinity" if np.isinf(wrong) else r"in column 4, which holds categories"
        for call in (lambda x: model.learn_one(x, True), model.score_one):
            with pytest.raises(ValueError, match=message):
                call(bad[7])
    assert to_bytes(model) == before


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ([6], r"categorical_features must be in \[0, 5\], got 6"),
        ([-1], r"categorical_features must be in"),
        ([True, False], "categorical_features is a mask of 2 features, but X has 6"),
        (["a"], "categorical_features must be a mask or numbers"),
        ([[1]], "categorical_features must have one axis"),
        ("dtype", "The 'categorical_features' parameter"),
        ([2], "in row 0 of column 2, which holds categories"),
    ],
)
def test_features_that_are_no_categories_are_refused(chosen, message):
    X, y = table(missing=0.0)
    with pytest.raises(ValueError, match=message):
        fitted(X, y, categorical_features=chosen)


def test_a_mask_and_numbers_say_the_same():
    X, y = table()
    mask = [False, True, False, False, True, False]
    np.testing.assert_array_equal(
        answers(fitted(X, y, categorical_features=mask), X), answers(fitted(X, y), X)
    )


def frames():
    """Return makers of data frames of two libraries: (columns of values, texts) -> frame."""
    pandas = pytest.importorskip("pandas", reason="needs pandas")

    def of_pandas(numbers, texts):
        return pandas.DataFrame({**numbers, "k": pandas.Categorical(texts)})

    return {"pandas": of_pandas, "polars": of_polars}


def of_polars(numbers, texts):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    return polars.DataFrame({**numbers, "k": polars.Series(texts, dtype=polars.Categorical)})


def column_texts(X, j=1):
    return [None if np.isnan(value) else f"v{int(value)}" for value in X[:, j]]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_with_categories(library):
    X, y = table()
    make = frames()[library]
    frame = make({"a": X[:, 0], "b": X[:, 2]}, column_texts(X))
    model = KernelForestClassifier(**FEW, shuffle=False).fit(frame, y)
    assert model.is_categorical_.tolist() == [False, False, True]
    assert model.feature_names_in_.tolist() == ["a", "b", "k"]
    # The same as with the numbers that the values have got.
    ((place, values),) = model._categories
    numbers = {value: number for number, value in enumerate(values)}
    codes = np.array([numbers.get(text, np.nan) for text in column_texts(X)])
    Z = np.column_stack([X[:, 0], X[:, 2], codes])
    other = KernelForestClassifier(**FEW, shuffle=False, categorical_features=[place]).fit(Z, y)
    expected = answers(other, Z)
    np.testing.assert_array_equal(answers(model, frame), expected)
    loaded = from_bytes(to_bytes(model), "a file")
    np.testing.assert_array_equal(answers(loaded, frame), expected)
    # Values in another order, and one that is new.
    rows = frame[::-1][:30] if library == "polars" else frame.iloc[::-1].iloc[:30]
    np.testing.assert_array_equal(answers(model, rows), expected[::-1][:30])
    fresh = make({"a": X[:9, 0], "b": X[:9, 2]}, ["new"] * 9)
    unseen = answers(model, fresh)
    Z[:9, 2] = len(values)
    np.testing.assert_array_equal(unseen, answers(other, Z[:9]))
    model.partial_fit(fresh, y[:9])
    assert model._categories[0][1] == (*values, "new")


def test_frames_of_other_columns_are_refused():
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    X, y = table()
    numbers = {"a": X[:, 0], "b": X[:, 2]}
    frame = pandas.DataFrame({**numbers, "k": pandas.Categorical(column_texts(X))})
    model = KernelForestClassifier(**FEW).fit(frame, y)
    other = frame.assign(b=pandas.Categorical(column_texts(X, 4)))
    with pytest.raises(ValueError, match="categories in the column 'b'"):
        model.predict(other)
    with pytest.raises(ValueError, match="categories in the column 'k'"):
        KernelForestClassifier(**FEW, categorical_features=None).fit(frame, y)
    with pytest.raises(ValueError, match="has 'z', which is no column of X"):
        KernelForestClassifier(**FEW, categorical_features=["z"]).fit(frame, y)
    # Texts are categories where the parameter names them.
    texts = frame.assign(k=column_texts(X))
    named = KernelForestClassifier(**FEW, categorical_features=["k"]).fit(texts, y)
    assert named.is_categorical_.tolist() == [False, False, True]
    assert named.score(texts, y) > 0.8


def test_frames_of_one_type_may_be_cut_anywhere():
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    X, y = table(200)
    frame = pandas.DataFrame({"a": X[:, 0], "k": pandas.Categorical(column_texts(X))})
    whole = KernelForestClassifier(**FEW).partial_fit(frame, y, classes=[False, True])
    parts = KernelForestClassifier(**FEW)
    for first, last in ((0, 3), (3, 90), (90, 200)):
        parts.partial_fit(frame[first:last], y[first:last], classes=[False, True])
    assert to_bytes(parts) == to_bytes(whole)


def test_models_of_tables_are_merged():
    X, y = table(400)
    base = fitted(X[:100], y[:100])
    parts = [
        from_bytes(to_bytes(base), "a file").partial_fit(X[k : k + 20], y[k : k + 20])
        for k in (100, 120)
    ]
    common = merge(parts, base=base)
    sources = common._model.space.get_state()["table_sources"]
    np.testing.assert_array_equal(sources, base._model.space.get_state()["table_sources"])
    assert len(sources) > 0
    assert np.isnan(common._model.space.get_state()["rows"]).any()
    # Other trees and tables: a forest grows anew.
    others = [fitted(X[:200], y[:200]), fitted(X[200:] * [1, 1, 1, np.nan, 1, 1], y[200:])]
    merged = merge(others)
    assert merged.score(X, y) > 0.8
    assert merged._model.space.get_state()["metric"].shape == (6 + 4 + 2,)


def test_models_with_other_numbers_for_categories_are_not_merged():
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    X, y = table()
    frame = pandas.DataFrame({"a": X[:, 0], "k": column_texts(X)})

    def model(categories):
        inside = frame["k"].isin(categories)
        own = frame[inside].astype({"k": pandas.CategoricalDtype(categories)})
        return KernelForestClassifier(**FEW).fit(own, y[inside])

    names = [f"v{k}" for k in range(9)]
    one, more, other = model(names[:7]), model(names), model(names[::-1])
    assert len(merge([one, more])._categories[0][1]) == 9
    with pytest.raises(ValueError, match="other numbers for the categories of column 1"):
        merge([one, other])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("table_sources", lambda a: a + 5),
        ("table_columns", lambda a: a + 1),
        ("table_columns", lambda a: a[:-1]),
        ("table_starts", lambda a: a[::-1].copy()),
        ("table_starts", lambda a: a[:-1]),
        ("table_entries", lambda a: a * np.float32(np.nan)),
        ("table_entries", lambda a: a.astype(float)),
        ("table_entries", lambda a: a[:-1]),
        ("gap_sources", lambda a: a[::-1].copy()),
        ("gap_sources", lambda a: a + 5),
        ("gap_sources", lambda a: a[:0]),
        ("gap_givers", lambda a: a.astype(np.int64)),
        ("gap_givers", lambda a: a[:-1]),
        ("gap_guesses", lambda a: a + np.float32(np.inf)),
        ("gap_places", lambda a: a[:, :1]),
        ("gap_weights", lambda a: a[:, :1]),
        ("gap_means", lambda a: a[:1]),
        ("metric", lambda a: a[:-1]),
        ("directions", lambda a: a[:-1]),
        ("rows", lambda a: a + np.inf),
    ],
)
def test_a_damaged_state_is_refused(name, change):
    space = fitted(*table(100))._model.space
    good = space.get_state()
    with pytest.raises((ValueError, TypeError), match=name.split("_")[0]):
        space.set_state({**good, name: change(good[name])})
    space.set_state(good)


@pytest.mark.parametrize("categories", [(1, 1), (4, 1), (-1,), (6,)])
def test_damaged_categories_are_refused(categories):
    space = fitted(*table(40))._model.space
    *arguments, _, n_exact, exact_from, _, _, _, _, _, _ = space.arguments()
    with pytest.raises(ValueError, match="categories must be features"):
        type(space)(*arguments, categories, n_exact, exact_from)


def test_more_columns_miss_values_than_have_guesses():
    X = np.random.default_rng(0).normal(size=(120, 300))
    y = X[:, 0] > 0
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    model = KernelForestClassifier(n_trees=3, random_state=0).fit(X, y)
    assert len(model._model.space.get_state()["gap_sources"]) == 256
    assert model.predict(X).shape == (120,)
