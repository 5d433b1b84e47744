"""Kernel forests put one-hot columns together again."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from learners import answers
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from onlinekern import KernelForestClassifier, KernelForestRegressor, merge
from onlinekern.core.models import forest_look
from onlinekern.fitted.save import from_bytes, to_bytes

FEW = {"n_trees": 20, "random_state": 0}


def hot(code, size):
    return (code[:, None] == np.arange(size)).astype(float)


def table(n=600, sizes=(6, 9), seed=0):
    """Return rows of numbers and one-hot columns, and labels.

    The last group is without its last column, as encoders leave one out.
    """
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, size, n) for size in sizes]
    X = rng.normal(size=(n, 3))
    y = (codes[-1] % 3 == 1) ^ (X[:, 0] > 0)
    parts = [hot(code, size) for code, size in zip(codes, sizes, strict=True)]
    return np.hstack([X[:, :2], *parts[:-1], X[:, 2:], parts[-1][:, :-1]]), y


IN_ORDER = [[2, 3, 4, 5, 6, 7], [9, 10, 11, 12, 13, 14, 15, 16]]


def groups_of(model):
    state = model._model.space.get_state()
    members, starts = state["group_members"].tolist(), state["group_starts"].tolist()
    return [members[first:end] for first, end in itertools.pairwise(starts)]


def fitted(X, y, cls=KernelForestClassifier, **parameters):
    return cls(**{**FEW, **parameters}).fit(X, y)


@pytest.mark.parametrize("task", ["classes", "numbers"])
@pytest.mark.parametrize("n_codes", [30, 100])
def test_sets_of_one_hot_columns_are_cut_at_once(task, n_codes):
    """A function of the membership in a set is learnt as it is from a column of categories."""
    rng = np.random.default_rng(1)
    code, numbers = rng.integers(0, n_codes, 3000), rng.normal(size=(3000, 2))
    inside = (rng.random(n_codes) < 0.5)[code]
    y = inside ^ (numbers[:, 0] > 0) if task == "classes" else np.where(inside, *numbers.T)
    cls = KernelForestClassifier if task == "classes" else KernelForestRegressor
    X = np.hstack([hot(code, n_codes), numbers])
    # The sums of two columns have three values: no groups.
    alone = X.copy()
    alone[:, :n_codes] += 0.5 * np.roll(X[:, :n_codes], 1, axis=1)
    own = fitted(X[:2000], y[:2000], cls)
    other = fitted(alone[:2000], y[:2000], cls)
    assert groups_of(own) == [list(range(n_codes))]
    assert groups_of(other) == []
    assert own.score(X[2000:], y[2000:]) > 0.9
    assert 1 - own.score(X[2000:], y[2000:]) < (1 - other.score(alone[2000:], y[2000:])) / 2


def test_groups_are_found_in_any_order():
    X, y = table(1000)
    model = fitted(X, y)
    assert groups_of(model) == IN_ORDER
    order = np.random.default_rng(0).permutation(X.shape[1])
    place = np.argsort(order)
    expected = sorted(sorted(place[group].tolist()) for group in IN_ORDER)
    assert groups_of(fitted(X[:, order], y)) == expected
    # Categories that have not come yet stand between others.
    wide = np.insert(X, [4, 12], 0, axis=1)
    assert groups_of(fitted(wide, y)) == [
        [2, 3, 5, 6, 7, 8], [10, 11, 12, 14, 15, 16, 17, 18]
    ]  # fmt: skip


def test_standardised_columns_are_groups():
    X, y = table(1000)
    X[:, 8] = 1
    # A category that most rows have is on where its value is above 0: it is none of the others.
    often = np.random.default_rng(0).choice(4, 1000, p=[0.7, 0.1, 0.1, 0.1])
    X = np.hstack([X, hot(often, 4)])
    model = fitted(StandardScaler().fit_transform(X), y)
    assert groups_of(model) == [*IN_ORDER, [18, 19, 20]]


def test_sparse_rows_are_as_dense_ones():
    X, y = table(600)
    for dtype in (np.float32, np.float64):
        dense, rows = X.astype(dtype), sp.csr_matrix(X.astype(dtype))
        model = fitted(dense, y)
        assert groups_of(model) == IN_ORDER
        np.testing.assert_array_equal(answers(fitted(rows, y), rows), answers(model, dense))
        several = dense.copy()
        several[:, [2, 3, 10]] = 3
        np.testing.assert_array_equal(
            answers(model, sp.csr_matrix(several)), answers(model, several)
        )


def test_what_is_independent_is_no_group():
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.5
    for share, d in ((0.01, 300), (0.02, 60), (0.003, 400), (0.2, 40), (0.5, 40)):
        X = (rng.random((2000, d)) < share).astype(float)
        assert groups_of(fitted(X, y, n_trees=2)) == [], (share, d)


def test_groups_are_found_among_columns_that_meet():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 20, 2000)
    X = np.hstack([hot(code, 20), rng.random((2000, 500)) < 0.5])
    order = rng.permutation(520)
    model = fitted(X[:, order], code % 2 == 0, n_trees=2)
    assert groups_of(model) == [np.flatnonzero(order < 20).tolist()]


def test_words_of_texts_are_no_groups():
    rng = np.random.default_rng(0)
    frequent = 1 / np.arange(2, 402)
    topics = rng.gamma(0.3, size=(5, 400))
    rates = frequent * topics[rng.integers(0, 5, 1500)]
    X = (rng.random(rates.shape) < rates).astype(float)
    y = X[:, :4].sum(axis=1) > 0
    assert groups_of(fitted(X, y, n_trees=2)) == []


def test_a_search_that_finds_nothing_changes_no_bit(monkeypatch):
    """Beside columns of two values, categories and missing values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10))
    X[:, 1], X[:, 4:8] = rng.integers(0, 9, 400), rng.random((400, 4)) < 0.4
    X[rng.random(400) < 0.2, 8] = np.nan
    y = (X[:, 1] % 3 == 1) ^ (X[:, 0] > 0)
    found = fitted(X, y, categorical_features=[1])

    class Nothing(forest_look.GroupLearner):
        def find_runs(self):
            pass

    monkeypatch.setattr(forest_look, "GroupLearner", Nothing)
    other = fitted(X, y, categorical_features=[1])
    assert groups_of(found) == []
    assert to_bytes(found) == to_bytes(other)


@pytest.mark.parametrize("memory", [64, 1024])
@pytest.mark.parametrize("task", ["binary", "numbers"])
def test_any_cut_is_resumed_to_the_bit(task, memory):
    X, y = table(300)
    cls = KernelForestRegressor if task == "numbers" else KernelForestClassifier
    known = {} if task == "numbers" else {"classes": [False, True]}

    def begun():
        return cls(n_trees=5, random_state=3, memory=memory, when_full="renew")

    whole = begun().partial_fit(X, y, **known)
    assert groups_of(whole) != []
    for cut in (33, 64, 100, 128, 129, 256, 257):
        part = begun().partial_fit(X[:cut], y[:cut], **known)
        again = from_bytes(to_bytes(pickle.loads(pickle.dumps(part))), "a file")
        assert to_bytes(again.partial_fit(X[cut:], y[cut:])) == to_bytes(whole), cut


def test_rows_one_by_one():
    X, y = table(300)
    whole = fitted(X[:200], y[:200], shuffle=False)
    model = fitted(X[:200], y[:200], shuffle=False)
    whole.partial_fit(X[200:], y[200:])
    for x, label in zip(X[200:], y[200:], strict=True):
        model.learn_one(x, label)
    assert groups_of(whole) != []
    np.testing.assert_array_equal(answers(model, X), answers(whole, X))
    assert [model.score_one(x) for x in X[:20]] == answers(whole, X[:20]).tolist()


def test_a_call_that_fails_leaves_the_groups_as_they_were():
    X, y = table(300)
    model = fitted(X[:120], y[:120])
    before, steps = to_bytes(model), model._model.space.get_state()["group_steps"]
    model._model.learn(X[120:], y[120:].astype(float))
    assert not np.array_equal(model._model.space.get_state()["group_steps"], steps)
    model._model.undo()
    assert to_bytes(model) == before


def test_models_are_merged():
    X, y = table(900)
    base = fitted(X[:300], y[:300])
    parts = [
        from_bytes(to_bytes(base), "a file").partial_fit(X[k : k + 20], y[k : k + 20])
        for k in (300, 320)
    ]
    assert groups_of(merge(parts, base=base)) == groups_of(base) != []
    # Columns that are no group in one of them: a forest grows anew.
    other = X[400:].copy()
    other[:, 2:8] += np.random.default_rng(0).random((500, 6))
    common = merge([fitted(X[:400], y[:400]), fitted(other, y[400:])])
    assert groups_of(common) == [IN_ORDER[1]]
    assert common.score(X, y) > 0.8


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_importances_name_the_columns_that_tell(task):
    rng = np.random.default_rng(0)
    code, other = rng.integers(0, 8, (2, 2000))
    X = np.hstack([hot(code, 8), rng.normal(size=(2000, 2)), hot(other, 8)])
    told = np.isin(code, [2, 5])
    cls = KernelForestClassifier if task == "classes" else KernelForestRegressor
    y = told ^ (X[:, 8] > 0) if task == "classes" else told * 2 + 0.1 * X[:, 8]
    model = fitted(X, y, cls)
    assert groups_of(model) == [list(range(8)), list(range(10, 18))]
    importances = model.feature_importances_
    assert importances.shape == (18,)
    assert importances.sum() == pytest.approx(1)
    assert (importances[:8] > 0).all()
    assert importances[[2, 5]].min() > 2 * importances[[0, 1, 3, 4, 6, 7]].max()
    assert importances[[2, 5]].min() > 2 * importances[10:].max()


def test_gaps_are_guessed_from_one_hot_columns():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 6, 3000)
    hidden = (code % 3) + 0.1 * rng.normal(size=3000)
    X = np.column_stack([hidden, hot(code, 6), rng.normal(size=3000)])
    y = (hidden > 0.5) ^ (X[:, -1] > 0)
    X[rng.random(3000) < 0.4, 0] = np.nan
    model = fitted(X[:2000], y[:2000])
    state = model._model.space.get_state()
    assert groups_of(model) == [[1, 2, 3, 4, 5, 6]]
    assert state["gap_givers"].tolist() == [0, 1, 2, 3, 7]
    assert np.abs(state["gap_guesses"][0, 1:4]).max() > 0.1
    assert model.score(X[2000:], y[2000:]) > 0.95


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("group_members", lambda a: a + 12),
        ("group_members", lambda a: a[::-1].copy()),
        ("group_members", lambda a: a.astype(np.int64)),
        ("group_members", lambda a: np.full_like(a, 3)),
        ("group_members", lambda a: a - 2),
        ("group_starts", lambda a: a[::-1].copy()),
        ("group_starts", lambda a: a[:0]),
        ("group_starts", lambda a: np.append(a, a[-1])),
        ("group_middles", lambda a: -a - 1),
        ("group_middles", lambda a: a[:-1]),
        ("group_bases", lambda a: a * np.float32(np.nan)),
        ("group_bases", lambda a: a[:, :2]),
        ("group_bases", lambda a: a[0]),
        ("group_bases", lambda a: a.tolist()),
        ("group_steps", lambda a: a.astype(float)),
        ("group_steps", lambda a: a[:-1]),
        ("group_rates", lambda a: a + 1),
    ],
)
def test_a_damaged_state_is_refused(name, change):
    space = fitted(*table(600))._model.space
    good = space.get_state()
    with pytest.raises((ValueError, TypeError), match="group_"):
        space.set_state({**good, name: change(good[name])})
    space.set_state(good)


def test_arrays_of_a_state_have_any_order():
    model = fitted(*table(600))
    space, expected = model._model.space, to_bytes(model)
    space.set_state({name: np.asfortranarray(value) if "group" in name else value
                     for name, value in space.get_state().items()})  # fmt: skip
    assert to_bytes(model) == expected


def test_categories_are_no_members():
    X, y = table(600)
    model = fitted(X, y, categorical_features=[2, 3, 4, 9])
    assert groups_of(model) == [[5, 6, 7], list(range(10, 17))]
    again = from_bytes(to_bytes(model), "a file")
    np.testing.assert_array_equal(answers(again, X), answers(model, X))


def test_bent_features_are_no_members():
    """Where the memory is full they stay bent, also if they are one-hot later."""
    rng = np.random.default_rng(0)
    counts = np.exp(2 * rng.normal(size=(128, 6)))
    model = KernelForestRegressor(**FEW, memory=128, when_full="renew")
    model.partial_fit(counts, np.log(counts).sum(axis=1))
    assert model._model.space.get_state()["bend_features"].size > 2
    code = rng.integers(0, 5, 2000)
    X = np.column_stack([hot(code, 5), rng.normal(size=2000)])
    y = code % 2 + X[:, 5]
    model.partial_fit(X, y)
    assert groups_of(model) == []
    assert model.score(X, y) > 0.9


def test_values_beside_one_another_are_told_apart():
    code = np.random.default_rng(0).integers(0, 5, 500)
    off = np.nextafter(1, 2)
    X = np.where(hot(code, 5), np.nextafter(off, 2), off)
    model = fitted(X, code % 2 == 0)
    assert groups_of(model) == [[0, 1, 2, 3, 4]]
    assert model.score(X, code % 2 == 0) == 1


def test_encoders_leave_a_column_out():
    code = np.random.default_rng(0).integers(0, 5, 500)
    y = code % 2 == 0
    encoder = OneHotEncoder(drop="first", sparse_output=False)
    X = encoder.fit_transform(code[:, None])
    model = fitted(X, y)
    assert groups_of(model) == [[0, 1, 2, 3]]
    assert model.score(X, y) == 1
