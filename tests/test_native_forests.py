"""The C library scores and learns kernel forests of files with the bits of Python."""

import numpy as np
import pytest
from exported import scores_of, where_hardly_any_errs
from native_library import Native, Refused, numbers_of, write_contents

import onlinekern
from onlinekern import KernelForestClassifier, KernelForestRegressor
from onlinekern.fitted.save.model_file import Contents

ROWS = ("d", "missing", "dtype", "n_hot", "is_heavy", "outliers")
RULES = ("least_squares", "scw1", "scw2", "pa1", "pa2", "logistic")
FORESTS = {
    "two classes": {},
    "five classes": {"task": 5},
    "targets": {"task": "targets"},
    "two kinds of trees": {"task": "targets", "exact": 0.4},
    "two kinds of trees, one noise": {"task": "targets", "exact": 0.4, "noise": 1.0},
    "two classes without gaps": {"missing": 0.0},
    "categories": {"n_codes": 9, "task": 5},
    "a table of targets": {"n_codes": 300, "task": "targets"},
    "one-hot columns": {"n_hot": [7, 3, 12], "task": 5},
    "one-hot columns of a table": {"n_hot": [3], "n_codes": 9, "task": "targets"},
    "heavy tails": {"is_heavy": True, "task": 5},
    "heavy tails of targets": {"is_heavy": True, "missing": 0.0, "task": "targets"},
    "leaves alone": {"levels": "leaf", "task": 5},
    "upper cells": {"levels": "upper", "noise": 1.0, "task": "targets"},
    "one expert": {"levels": "leaf", "noise": 1.0},
    "one feature": {"d": 1, "missing": 0.0},
    "grown": {"memory": 64},
    **{rule: {"rule": rule, "task": 5} for rule in RULES},
    "weighted": {"class_weight": {0: 0.3, 3: 2.0}},
    "some of weight 0": {"class_weight": {6: 0, 12: 0.5}, "task": 5},
    "pa1 of targets": {"rule": "pa1", "task": "targets"},
    "pa2 of targets": {"rule": "pa2", "task": "targets"},
    "outliers": {"outliers": 500.0, "missing": 0.0, "task": "targets", "n_trees": 30},
}


def samples(n, task=2, d=7, missing=0.15, n_codes=0, dtype=np.float64, seed=0, n_hot=(),
            is_heavy=False, outliers=0.0):  # fmt: skip
    """Return rows of features that hang together, far from 0, and what is learnt of them."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d))
    X = Z + 0.7 * Z[:, :1]
    f = X[:, 0] + X[:, -1] * X[:, d // 2]
    if n_codes:
        X[:, 1] = rng.integers(0, n_codes, size=n)
        f = f + 2 * (X[:, 1] % 3 == 1)
    X[:, 2:] = np.exp(2 * X[:, 2:]) if is_heavy else 100 + 9 * X[:, 2:]
    X[rng.random(X.shape) < missing] = np.nan
    for size in n_hot:
        hot = rng.integers(0, size + 1, size=(n, 1)) == np.arange(size)
        X, f = np.hstack([X, hot]), f + 2 * hot[:, 0] - hot[:, 1::2].sum(axis=1)
    if task == "targets":
        f[500::40] += outliers * np.resize([1, -1], len(f[500::40]))
        return X.astype(dtype), 5 + 3 * f
    return X.astype(dtype), np.digitize(f, [0.3] if task == 2 else [-1, -0.3, 0.3, 1]) * 3


def begun(n, task, n_codes=0, **parameters):
    """Return a forest that has learnt n samples, and those that follow."""
    data = {key: parameters.pop(key) for key in ROWS if key in parameters}
    X, y = samples(n + 1500, task, n_codes=n_codes, **data)
    coded = {"categorical_features": [1]} if n_codes else {}
    learner = KernelForestRegressor if task == "targets" else KernelForestClassifier
    model = learner(**{"n_trees": 9, "random_state": 0, **coded, **parameters})
    classes = {} if task == "targets" else {"classes": np.unique(y)}
    model.partial_fit(X[:n], y[:n], **classes)
    return model, X[n:], y[n:]


def taught(model, X, y):
    for x, target in zip(X, y, strict=True):
        model.learn_one(x, target)


def state_of(model):
    return model._model.space.get_state()


def differing(model, other):
    """Return the fields of the states of two forests that differ."""
    one, two = state_of(model), state_of(other)
    # None, where there are no directions, becomes NaN.
    pairs = ((name, np.array(one[name], float), np.array(two[name], float)) for name in one)
    return [name for name, own, other in pairs if not np.array_equal(own, other, equal_nan=True)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", FORESTS)
def test_between_renewals_all_bits_are_those_of_python(name, dtype, library, tmp_path):
    given = {"task": 2, "dtype": dtype, **FORESTS[name]}
    model, X, y = begun(600, **given)
    path = tmp_path / "model.okn"
    model.save(path)
    native, numbers = Native(library, path), numbers_of(model, y)
    assert len(state_of(model)["group_members"]) == sum(given.get("n_hot", []))
    assert (len(state_of(model)["bend_features"]) > 0) == ("is_heavy" in given)
    np.testing.assert_array_equal(native.scores(X), scores_of(model, X))
    known = np.nan_to_num(X[:50])
    np.testing.assert_array_equal(native.sparse_scores(known), scores_of(model, known))
    native.learn(X[:150], numbers[:150])
    native.save(path)
    again = Native(library, path)
    again.learn(X[150:300], numbers[150:300])
    again.save(path)
    taught(model, X[:300], y[:300])
    loaded = onlinekern.load(path)
    assert differing(model, loaded) == []
    if "outliers" in given:
        held = state_of(loaded)["targets"][-300:] != y[:300]
        assert held.sum() >= 3
    assert loaded.n_seen_ == model.n_seen_ == library.okn_n_seen(again.handle)
    np.testing.assert_array_equal(again.scores(X), scores_of(model, X))
    # The next renewals grow from what the library has kept.
    model.partial_fit(X[300:1400], y[300:1400])
    loaded.partial_fit(X[300:1400], y[300:1400])
    assert differing(model, loaded) == []


def test_predictions_and_labels(library, tmp_path):
    model, X, _ = begun(600, 5)
    model.save(tmp_path / "model.okn")
    native = Native(library, tmp_path / "model.okn")
    assert native.labels == ["0", "3", "6", "9", "12"]
    assert [int(native.labels[k]) for k in native.predict(X)] == model.predict(X).tolist()


def test_values_are_missing_that_never_were(library, tmp_path):
    model, X, y = begun(600, 5, missing=0.0)
    model.save(tmp_path / "model.okn")
    native = Native(library, tmp_path / "model.okn")
    X[::3, 2], X[5] = np.nan, np.nan
    np.testing.assert_array_equal(native.scores(X), scores_of(model, X))
    native.learn(X[:200], numbers_of(model, y[:200]))
    taught(model, X[:200], y[:200])
    np.testing.assert_array_equal(native.scores(X), scores_of(model, X))


def test_weights_stay_near_equal_where_hardly_any_errs(library, tmp_path):
    model, X, y = where_hardly_any_errs()
    model.save(tmp_path / "model.okn")
    native = Native(library, tmp_path / "model.okn")
    np.testing.assert_array_equal(native.scores(X), scores_of(model, X))
    native.learn(X, y)
    taught(model, X, y)
    np.testing.assert_allclose(model.expert_weights_, 0.25, atol=0.02)
    np.testing.assert_array_equal(native.scores(X), scores_of(model, X))


def later(library, path, n, more, **parameters):
    """Return a forest that has learnt all samples, and one that the library has taught the last."""
    model, X, y = begun(n, 5, **parameters)
    model.save(path)
    native = Native(library, path)
    native.learn(X[:more], numbers_of(model, y[:more]))
    native.save(path)
    loaded = onlinekern.load(path)
    model.partial_fit(X[:more], y[:more])
    return model, loaded, (X[more : more + 1], y[more : more + 1])


@pytest.mark.parametrize(
    ("n", "more", "parameters"),
    [
        (1000, 100, {}),  # within a renewal that begins after 1,024 samples
        (1100, 100, {}),  # and that has begun before
        (2000, 300, {"memory": 1024, "when_full": "renew"}),
        (690, 10, {"memory": 700, "when_full": "renew"}),  # due with the last sample
    ],
)
def test_a_renewal_that_waits_goes_on_with_the_same_bits(n, more, parameters, library, tmp_path):
    model, loaded, last = later(library, tmp_path / "model.okn", n, more, **parameters)
    for each in (model, loaded):
        each.partial_fit(*last)
    assert differing(model, loaded) == []


@pytest.mark.parametrize(("n", "more"), [(1000, 700), (100, 60), (300, 500)])
def test_a_renewal_that_is_late_has_the_same_cells(n, more, library, tmp_path):
    """Its trees learn all samples that have come; the experts were weighed by the old ones."""
    model, loaded, last = later(library, tmp_path / "model.okn", n, more)
    assert state_of(loaded)["renewed"] < state_of(model)["renewed"]
    for each in (model, loaded):
        each.partial_fit(*last)
    assert set(differing(model, loaded)) <= {"errors"}


def test_cuts_of_leaves_that_wait_are_made(library, tmp_path):
    """The leaves of the one forest have learnt in parts what those of the other learn whole."""
    model, loaded, last = later(library, tmp_path / "model.okn", 1000, 100, memory=128)
    nodes = len(state_of(loaded)["cuts"])
    for each in (model, loaded):
        each.partial_fit(*last)
    assert len(state_of(loaded)["cuts"]) > nodes
    assert state_of(loaded)["renewed"] == state_of(model)["renewed"] == 1024


@pytest.mark.parametrize("when_full", ["grow", "renew"])
def test_a_renewal_whose_samples_are_gone_is_left_out(when_full, library, tmp_path):
    given = {"memory": 128, "when_full": when_full}
    _, loaded, last = later(library, tmp_path / "model.okn", 300, 320, **given)
    state = state_of(loaded)
    assert (state["entered"], state["n_grown"]) == (620, 0)
    assert state["renewed"] == {"grow": 512, "renew": 512}[when_full]
    assert len(state["rows"]) >= 128
    loaded.partial_fit(*last)
    assert state_of(loaded)["entered"] == 621


def test_trees_that_a_renewal_has_cut_are_not_those_of_the_next(library, tmp_path):
    path = tmp_path / "model.okn"
    X, y = samples(2700, 5)
    model = KernelForestClassifier(n_trees=9, random_state=0, memory=512)
    model.partial_fit(X[:1100], y[:1100], classes=np.unique(y))
    n_grown = state_of(model)["n_grown"]
    assert 0 < n_grown < 9
    model.save(path)
    native, numbers = Native(library, path), numbers_of(model, y)
    for first, end, expected in ((1100, 1110, n_grown), (1110, 2060, 0)):
        native.learn(X[first:end], numbers[first:end])
        native.save(path)
        loaded = onlinekern.load(path)
        assert state_of(loaded)["n_grown"] == expected
    loaded.partial_fit(X[2060:], y[2060:])
    assert state_of(loaded)["renewed"] == 2048


def test_a_forest_without_trees_is_scored(library, tmp_path):
    model, X, y = begun(20, "targets", missing=0.0)
    model.save(tmp_path / "model.okn")
    native = Native(library, tmp_path / "model.okn")
    np.testing.assert_array_equal(native.scores(X), scores_of(model, X))
    with pytest.raises(Refused, match="trees have not grown yet") as refused:
        native.learn(X, y)
    assert refused.value.code == -8


def test_a_forest_whose_first_renewal_goes_on_learns_nothing(library, tmp_path):
    """Its experts are weighed once the trees are whole."""
    model, X, y = begun(33, "targets", missing=0.0, renewal_spread=1.0)
    model.save(tmp_path / "model.okn")
    native = Native(library, tmp_path / "model.okn")
    assert state_of(model)["renewed"] == 0
    np.testing.assert_array_equal(native.scores(X), scores_of(model, X))
    with pytest.raises(Refused, match="trees have not grown yet"):
        native.learn(X, y)


def test_what_is_refused_teaches_nothing(library, tmp_path):
    path = tmp_path / "model.okn"
    model, X, _ = begun(600, 5, n_codes=9)
    model.save(path)
    native = Native(library, path)
    before = native.scores(X)
    for column, value, target in ((0, np.inf, 0), (0, 0.0, 5), (0, 0.0, np.nan), (0, -np.inf, 1)):
        x = np.nan_to_num(X[:1])
        x[0, column] = value
        with pytest.raises(Refused, match=r"infinite or NaN|number of a class"):
            native.learn(x, [target])
    for code in (0.5, -1, 65536, 1e300):
        x[0, :2] = 0, code
        for call in (lambda x: native.learn(x, [0]), native.scores, native.sparse_scores):
            with pytest.raises(Refused, match="a category must be a number") as refused:
                call(x)
            assert refused.value.code == -10
    assert library.okn_n_seen(native.handle) == 600
    np.testing.assert_array_equal(native.scores(X), before)


def test_targets_that_are_too_far_teach_nothing(library, tmp_path):
    model, X, _ = begun(600, "targets")
    model.save(tmp_path / "model.okn")
    native = Native(library, tmp_path / "model.okn")
    before = native.scores(X)
    for target in (np.inf, 1e300):
        with pytest.raises(Refused, match="infinite or NaN"):
            native.learn(X[:1], [target])
    np.testing.assert_array_equal(native.scores(X), before)


def test_a_scaler_in_front_takes_no_missing_value(library, tmp_path):
    X, y = samples(900, 5, missing=0.0)
    scaler = onlinekern.OnlineStandardScaler()
    model = onlinekern.make_stream_pipeline(
        scaler, KernelForestClassifier(n_trees=9, random_state=0)
    )
    model.partial_fit(X[:600], y[:600], classes=np.unique(y))
    model.save(tmp_path / "model.okn")
    native = Native(library, tmp_path / "model.okn")
    gap = X[:1].copy()
    gap[0, 1] = np.nan
    with pytest.raises(Refused, match="infinite or NaN"):
        native.learn(gap, [0])
    native.learn(X[600:], numbers_of(model[-1], y[600:]))
    taught(model, X[600:], y[600:])
    np.testing.assert_allclose(native.scores(X), scores_of(model, X), rtol=0, atol=1e-10)
    native.save(tmp_path / "model.okn")
    loaded = onlinekern.load(tmp_path / "model.okn")
    np.testing.assert_array_equal(native.scores(X), scores_of(loaded, X))


@pytest.mark.parametrize("levels", ["leaf", "both"])
def test_cells_of_trees_that_are_not_seen_are_refused(levels, library, tmp_path):
    """As Python refuses them: none of the other arrays says so."""
    path = tmp_path / "model.okn"
    model, _, _ = begun(600, "targets", exact=0.4, levels=levels)
    contents, state = Contents.of(model), state_of(model)
    (name,) = (n for n, own in contents.arrays.items() if np.array_equal(own, state["cells"]))
    last = state["first"][6]  # Some experts see five trees of nine.
    seen = model._model.space.n_seen
    blind, sighted = seen.index(min(seen)), seen.index(9)
    for expert, is_refused in ((blind, True), (sighted, False)):
        cells = state["cells"].copy()
        cells[last:, expert] = 0.5
        write_contents(path, contents.class_name, contents.tree, contents.arrays | {name: cells})
        if is_refused:
            with pytest.raises(ValueError, match="do not see their tree"):
                onlinekern.load(path)
            with pytest.raises(Refused, match="the trees of its forest are none") as refused:
                Native(library, path)
            assert refused.value.code == -6
        else:
            onlinekern.load(path)
            Native(library, path)


KNOWN = [(0, -1.0), (0, 201.0), (1, -1.0), (2, -1.0), (4, -1.0), (1, np.nan), (3, np.inf)]


@pytest.mark.parametrize(("place", "number"), KNOWN)
def test_what_is_known_of_targets_is_refused_as_in_python(place, number, library, tmp_path):
    path = tmp_path / "model.okn"
    model, _, _ = begun(600, "targets")
    contents, state = Contents.of(model), state_of(model)
    (name,) = (n for n, own in contents.arrays.items() if np.array_equal(own, state["held"]))
    for k, value, is_refused in ((place, number, True), (3, -1.0, False)):
        known = state["held"].copy()
        known[0, k] = value
        write_contents(path, contents.class_name, contents.tree, contents.arrays | {name: known})
        if is_refused:
            with pytest.raises(ValueError, match=r"held|known of targets"):
                onlinekern.load(path)
            with pytest.raises(Refused, match="the trees of its forest are none"):
                Native(library, path)
        else:
            onlinekern.load(path)
            Native(library, path)


def test_other_forests_are_refused(library, tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = samples(100)
    frame = pd.DataFrame({"size": X[:, 0], "town": pd.Categorical.from_codes(y // 3, ["a", "b"])})
    several = KernelForestRegressor(n_trees=3).fit(X, np.column_stack([y, -y]))
    named = KernelForestClassifier(n_trees=3).fit(frame, y)
    encoded = KernelForestClassifier(n_trees=3).fit(frame.astype({"town": object}), y)
    for model, text in (
        (several, "several targets"),
        (named, "categories that have names"),
        (encoded, "its encoder"),
    ):
        model.save(tmp_path / "model.okn")
        with pytest.raises(Refused, match=text) as refused:
            Native(library, tmp_path / "model.okn")
        assert refused.value.code == -7


@pytest.mark.parametrize("labels", [["a", "ö"], [1.0, 2.0], np.arange(2), np.array(["a", "b"])])
def test_class_weights_have_labels(labels, library, tmp_path):
    X, y = samples(400)
    y = np.array(labels)[y // 3]
    # Keys and weights of an array are NumPy's.
    weights = {labels[1]: np.full(1, 0.25)[0]}
    model = KernelForestClassifier(n_trees=3, class_weight=weights, random_state=0)
    model.partial_fit(X[:300], y[:300], classes=labels).save(tmp_path / "model.okn")
    native = Native(library, tmp_path / "model.okn")
    native.learn(X[300:], numbers_of(model, y[300:]))
    taught(model, X[300:], y[300:])
    np.testing.assert_array_equal(native.scores(X), scores_of(model, X))


@pytest.mark.parametrize("weights", ["balanced", {True: 3.0}])
def test_other_class_weights_forbid_learning(weights, library, tmp_path):
    X, y = samples(100)
    model = KernelForestClassifier(n_trees=3, class_weight=weights).fit(X, y > 0)
    model.save(tmp_path / "model.okn")
    native = Native(library, tmp_path / "model.okn")
    np.testing.assert_array_equal(native.scores(X), scores_of(model, X))
    with pytest.raises(Refused, match="class_weight"):
        native.learn(X, y // 3)


@pytest.mark.parametrize("task", [2, "targets"])
def test_a_forest_that_begins_anew(task, library, tmp_path):
    """It is only scored as long as two learn; then it goes on from the samples of the new one."""
    X, y = samples(4000, task, missing=0.0)
    X[1500:] = X[1500:, ::-1]
    forest = KernelForestRegressor if task == "targets" else KernelForestClassifier
    model, path = forest(n_trees=9, random_state=0), tmp_path / "model.okn"
    known = {} if task == "targets" else {"classes": np.unique(y)}
    model.partial_fit(X[:1900], y[:1900], **known)
    assert model._model.rival is not None
    model.save(path)
    native = Native(library, path)
    np.testing.assert_array_equal(native.scores(X), scores_of(model, X))
    with pytest.raises(Refused, match="a second model learns beside it"):
        native.learn(X[1900:], numbers_of(model, y[1900:]))
    model.partial_fit(X[1900:3500], y[1900:3500])
    assert model._model.began > 1500
    model.save(path)
    native = Native(library, path)
    assert library.okn_n_seen(native.handle) == 3500
    native.learn(X[3500:3600], numbers_of(model, y[3500:3600]))
    taught(model, X[3500:3600], y[3500:3600])
    np.testing.assert_array_equal(native.scores(X), scores_of(model, X))
    native.save(path)
    loaded = onlinekern.load(path)
    assert library.okn_n_seen(native.handle) == loaded.n_seen_ == 3600
    assert loaded.alarms_.tolist() == model.alarms_.tolist()
