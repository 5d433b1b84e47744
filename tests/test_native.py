"""The C library loads files of `save`, scores, learns and saves what Python does."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from exported import CLASSES, Case, cases, fitted, scores_of, told_by
from native_library import Native, Refused, build, numbers_of, write_contents
from sklearn.base import clone

import onlinekern
from onlinekern.fitted.save.model_file import Contents

LEARNT, MORE = 200, 500
# They have renewals, which Python does: see test_native_forests.
FORESTS = {"KernelForestClassifier", "KernelForestRegressor"}
LEARNS = {name for name, how in told_by("native.md").items() if not how.startswith("no")} - FORESTS
# What the others say: of these why they do not learn, of those why they are not opened.
SCORES = {
    "AhpatronClassifier": "policy (Halving)",
    "BSGDClassifier": "step of its kernel model (InverseTimeSpace)",
    "BSGDRegressor": "step of its kernel model (InverseTimeSpace)",
    "FixedBudgetKRLSRegressor": "policy (FixedBudget)",
    "ForgetronClassifier": "policy (ShrinkingEviction)",
    "KAPARegressor": "policy (AffineProjection)",
    "KRLSTRegressor": "policy (Tracker)",
    "PegasosClassifier": "learn in batches",
    "SlidingWindowKRLSRegressor": "policy (SlidingWindow)",
}
REFUSED = {
    "BOLSSVMClassifier": "solves for offsets",
    "DualSGDClassifier": "model (DualSpace)",
    "DualSGDRegressor": "model (DualSpace)",
    "KernelAROWClassifier": "model (MappedSecondOrderSpace)",
    "KernelLogisticClassifier": "model (MappedSecondOrderSpace)",
    "KernelMeanDetector": "detectors",
    "KernelSCWClassifier": "model (MappedSecondOrderSpace)",
    "LOLClassifier": "model (LocalSpace)",
    "NOGDClassifier": "model (NystroemSpace)",
    "NOGDRegressor": "model (NystroemSpace)",
    "OLLAClassifier": "model (OLLASpace)",
    "OLLARegressor": "model (OLLASpace)",
    "SDROGDClassifier": "model (SketchedSpace)",
    "SPAOneClass": "detectors",
    "StreamClassifier": "races",
    "StreamRegressor": "races",
}
# What only learning depends on, beside the forms of every learner.
STEPS = [
    ("PAClassifier", {"C": np.inf, "average": 20}),
    ("PAClassifier", {"average": "decay", "loss": "squared_hinge", "multi_class": "margin"}),
    ("PAClassifier", {"average": 20, "class_weight": "balanced"}),
    ("PAClassifier", {"multi_class": "margin", "class_weight": "balanced"}),
    ("KernelPAClassifier", {"variant": "pa", "multi_class": "margin"}),
    ("KernelPAClassifier", {"average": 0.99, "max_support": 30, "when_full": "oldest"}),
    ("KernelPAClassifier", {"max_support": 30, "when_full": "nearest", "average": False}),
    ("KernelPARegressor", {"kernel": "polynomial", "max_support": 30, "when_full": "nearest"}),
    ("KernelPerceptronClassifier", {"max_support": 30, "when_full": "stop"}),
    ("SPARegressor", {"standardize_target": False, "kernel": "cosine"}),
    ("AROWClassifier", {"multi_class": "margin", "average": True, "fit_intercept": False}),
    ("OGDClassifier", {"average": 0.9, "reg": 0.5}),
    ("FOGDRegressor", {"average": 0.1}),
    ("FOGDClassifier", {"fit_intercept": True, "reg": 0.1}),
    ("ProjectronClassifier", {"multi_class": "margin"}),
    ("ProjectronClassifier", {"plus_plus": True, "budget": None}),
    ("KRLSRegressor", {"nu": 0.3, "budget": 500, "kernel": "cosine"}),
    ("KernelRLSClassifier", {"n_components": 40}),
    ("KernelRLSClassifier", {"n_components": 40, "linear": False, "selection": "margin"}),
    ("KernelRLSClassifier", {"n_components": 30, "selection": "ald", "multi_class": "ovr"}),
    ("KernelRLSClassifier", {"n_components": 40, "features": "fourier", "gate": "always"}),
    ("KernelRLSClassifier", {"features": "fourier", "linear": False, "n_components": 20}),
    ("KernelRLSClassifier", {"n_components": 40, "gate": "loss_proportional", "weighted": True}),
    ("KernelRLSClassifier", {"n_components": 600, "forgetting": 0.99}),
    ("KernelRLSClassifier", {"n_components": 20, "forgetting": 0.5}),
    ("KernelRLSClassifier", {"n_components": 40, "reg": "auto", "gate": "always"}),
    ("KernelRLSRegressor", {"n_components": 40, "standardize_target": False}),
    ("KernelRLSRegressor", {"n_components": 40, "forgetting": 0.97}),
    ("KernelRLSRegressor", {"n_components": 40, "features": "fourier", "reg": 1.0}),
]


def chosen():
    """Return one setting of three of each learner, and all of STEPS."""
    found = []
    for name in sorted(LEARNS):
        own = [case for case in cases() if case.name == name and "metric" not in case.parameters]
        found += own[:2] + own[2::3]
    for name, parameters in STEPS:
        tasks = ["binary", "ovr"] if name.endswith("Classifier") else ["regression"]
        found += [Case(name, parameters, task) for task in tasks]
    return found


def samples(task, n=LEARNT + MORE):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 5)) * (rng.random((n, 5)) < 0.8)
    product = X[:, 0] * X[:, 1] + 0.3 * X[:, 2]
    if task == "regression":
        return X, np.sin(X[:, 0]) * 10 + X[:, 1]
    if task == "binary":
        return X, np.where(product > 0, "yes", "nö")
    return X, np.digitize(product, [-0.3, 0.3]) * 5 + 5


def difference(found, model, X):
    expected = scores_of(model, X)
    return np.abs(found - expected).max() / max(1, np.abs(expected).max())


@pytest.mark.filterwarnings("ignore:max_support")
@pytest.mark.parametrize("case", chosen(), ids=lambda case: f"{case.name} {case.task} {case[1]}")
def test_the_same_samples_give_the_same_model(case, library, tmp_path):
    X, y = samples(case.task)
    model = fitted(case, X[:LEARNT], y[:LEARNT])
    path = tmp_path / "model.okn"
    model.save(path)
    native = Native(library, path)
    assert difference(native.scores(X[LEARNT:]), model, X[LEARNT:]) < 1e-12
    assert difference(native.sparse_scores(X[LEARNT:]), model, X[LEARNT:]) < 1e-12
    half = LEARNT + MORE // 2
    native.learn(X[LEARNT:half], numbers_of(model, y[LEARNT:half]))
    native.save(path)
    loaded = onlinekern.load(path)
    again = Native(library, path)
    again.learn(X[half:], numbers_of(model, y[half:]))
    for x, target in zip(X[LEARNT:half], y[LEARNT:half], strict=True):
        model.learn_one(x, target)
    assert difference(native.scores(X), model, X) < 1e-10
    assert difference(native.scores(X), loaded, X) < 1e-12
    for x, target in zip(X[half:], y[half:], strict=True):
        model.learn_one(x, target)
        loaded.learn_one(x, target)
    assert difference(scores_of(loaded, X), model, X) < 1e-10
    assert difference(again.scores(X), model, X) < 1e-10
    assert loaded._model.n_seen == model._model.n_seen == library.okn_n_seen(again.handle)


def pipelines():
    """Return pipelines of each form of scaler, and the task of their learner."""
    scaled, learner = onlinekern.OnlineStandardScaler, onlinekern.BPAClassifier
    piped = onlinekern.make_stream_pipeline
    regressor = onlinekern.KernelRLSRegressor(n_components=20)
    uncentred = scaled(with_mean=False, clip=None, forgetting=0.9)
    undivided = scaled(with_std=False, forgetting=0.5)
    return [
        (piped(scaled(), onlinekern.PAClassifier()), "ovr"),
        (piped(uncentred, regressor), "regression"),
        (piped(scaled(clip=1.5), "passthrough", undivided, learner(budget=20)), "binary"),
    ]


@pytest.mark.parametrize(("model", "task"), pipelines(), ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scalers_learn_in_front_of_a_learner(model, task, dtype, library, tmp_path):
    X, y = samples(task)
    X = (X * [1, 1e3, 1e-4, 5, 7] + [0, 1e4, 1, 0, 3]).astype(dtype)
    model, path = clone(model), tmp_path / "model.okn"
    classes = {} if task == "regression" else {"classes": np.unique(y)}
    model.partial_fit(X[:LEARNT], y[:LEARNT], **classes).save(path)
    targets, largest = numbers_of(model[-1], y), 1e-10 if dtype == np.float64 else 1e-5
    native = Native(library, path)
    assert difference(native.scores(X), model, X) < largest
    for rows, target in ((np.full((1, 5), 1e300), 0), (X[:1], np.nan)):
        with pytest.raises(Refused, match=r"infinite or NaN|number of a class"):
            native.learn(rows, [target])
    native.learn(X[LEARNT:], targets[LEARNT:])
    for x, target in zip(X[LEARNT:], y[LEARNT:], strict=True):
        model.learn_one(x, target)
    native.save(path)
    loaded = onlinekern.load(path)
    assert difference(native.scores(X), model, X) < largest
    assert difference(native.sparse_scores(X), loaded, X) < largest
    assert loaded[0].n_samples_seen_ == model[0].n_samples_seen_ == len(X)
    np.testing.assert_allclose(loaded[0].var_, model[0].var_, rtol=1e-10)


@pytest.mark.parametrize("name", ["AROWRegressor", "KernelRLSRegressor"])
@pytest.mark.parametrize("cut", [11, 12, 30])
def test_targets_that_stay_far_off_are_learnt_as_in_python(name, cut, library, tmp_path):
    X, y = samples("regression", 60)
    y = np.where(np.arange(60) < 20, 0.01 * y, 100 + y)
    given = {"gamma": 0.3, "random_state": 0} if name == "KernelRLSRegressor" else {}
    model, path = CLASSES[name](**given), tmp_path / "model.okn"
    model.partial_fit(X[:10], y[:10]).partial_fit(X[10:20], y[10:20]).save(path)
    for rows in (slice(20, 10 + cut), slice(10 + cut, 60)):
        native = Native(library, path)
        native.learn(X[rows], y[rows])
        native.save(path)
    model.partial_fit(X[20:], y[20:])
    loaded = onlinekern.load(path)
    assert difference(native.scores(X), model, X) < 1e-10
    assert difference(scores_of(loaded, X), model, X) < 1e-10
    np.testing.assert_allclose(loaded.target_scale_, model.target_scale_)


@pytest.mark.parametrize("name", sorted(SCORES))
def test_others_are_scored_and_say_why_they_do_not_learn(name, library, tmp_path):
    case = next(case for case in cases() if case.name == name)
    X, y = samples(case.task, LEARNT)
    model = fitted(case, X, y)
    model.save(tmp_path / "model.okn")
    native = Native(library, tmp_path / "model.okn")
    assert difference(native.scores(X), model, X) < 1e-10
    with pytest.raises(Refused, match=re.escape(SCORES[name])) as refused:
        native.learn(X, numbers_of(model, y))
    assert refused.value.code == -8
    native.save(tmp_path / "same.okn")
    same = scores_of(onlinekern.load(tmp_path / "same.okn"), X)
    assert np.array_equal(same, scores_of(model, X))


@pytest.mark.parametrize("name", ["KernelPAClassifier", "FOGDClassifier", "PAClassifier"])
def test_models_of_float32_samples(name, library, tmp_path):
    X, y = samples("ovr", 2 * LEARNT)
    model = fitted(Case(name, {}, "ovr"), X[:LEARNT].astype(np.float32), y[:LEARNT])
    path = tmp_path / "model.okn"
    model.save(path)
    native = Native(library, path)
    assert difference(native.scores(X), model, X.astype(np.float32)) < 1e-5
    native.learn(X[LEARNT : LEARNT + 20], numbers_of(model, y[LEARNT : LEARNT + 20]))
    native.save(path)
    loaded = onlinekern.load(path)
    assert loaded._model.dtype == np.float32
    assert difference(native.scores(X), loaded, X.astype(np.float32)) < 1e-5


LABELS = [
    np.array(["a", "ö", "語\U0001f40dy"]), np.array([3, 5, 11]), np.array([1.0, 2.0, 1048576.0]),
    np.array([-3, -1, 4], dtype=np.int8), np.array([-70000, -1, 4], dtype=np.int32),
    np.array([1, 2, 2**63], dtype=np.uint64), np.array([-1.0, 0.0, 2.0], dtype=np.float32),
    np.array([False, True, True]),
]  # fmt: skip


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: str(labels.dtype))
def test_classes_have_their_labels(labels, library, tmp_path):
    X, y = samples("ovr", LEARNT)
    y = labels[np.searchsorted([5, 10, 15], y)]
    model = onlinekern.PAClassifier().fit(X, y)
    model.save(tmp_path / "model.okn")
    native = Native(library, tmp_path / "model.okn")
    assert native.labels == [str(label) for label in np.unique(labels)]
    predicted = [native.labels[number] for number in native.predict(X)]
    assert predicted == [str(label) for label in model.predict(X)]


def test_what_fails_changes_nothing(library, tmp_path):
    X, y = samples("ovr", LEARNT)
    model = onlinekern.KernelPAClassifier(gamma=0.5).fit(X, y)
    model.save(tmp_path / "model.okn")
    native = Native(library, tmp_path / "model.okn")
    before = native.scores(X)
    for rows, target in (
        (np.full((1, 5), np.nan), 0),
        (np.full((1, 5), -np.inf), 0),
        (X[:1], 3),
        (X[:1], -1),
        (X[:1], 0.5),
        (X[:1], np.nan),
    ):
        with pytest.raises(Refused, match=r"infinite or NaN|number of a class"):
            native.learn(rows, [target])
    with pytest.raises(Refused, match="cannot be written"):
        native.save(tmp_path / "no folder" / "model.okn")
    assert np.array_equal(native.scores(X), before)
    assert library.okn_n_seen(native.handle) == LEARNT


def test_metadata_stay_in_the_file(library, tmp_path):
    X, y = samples("binary", LEARNT)
    path, metadata = tmp_path / "model.okn", {"rows": {"ä": 3}, "text": 'a "b"\n'}
    onlinekern.PAClassifier().fit(X, y).save(path, metadata=metadata)
    native = Native(library, path)
    native.learn(X, (y == "yes").astype(float))
    native.save(path)
    assert onlinekern.load(path, return_metadata=True)[1] == metadata
    assert sorted(each.name for each in tmp_path.iterdir()) == ["model.okn"]


def test_every_learner_is_known_or_refused_by_name():
    assert LEARNS | FORESTS | SCORES.keys() | REFUSED.keys() == CLASSES.keys()


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_others_say_why_they_are_refused(name, library, tmp_path):
    case = next(case for case in cases() if case.name == name)
    fitted(case, *samples(case.task, LEARNT)).save(tmp_path / "model.okn")
    with pytest.raises(Refused, match=re.escape(REFUSED[name])) as refused:
        Native(library, tmp_path / "model.okn")
    assert refused.value.code == -7


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (onlinekern.KernelRLSClassifier(gamma=0.5, metric="full"), "MetricLeastSquares"),
        (onlinekern.FOGDClassifier(gamma=0.5, frequencies="structured"), "StructuredFourier"),
        (onlinekern.PAClassifier(), "have learnt"),
        (
            onlinekern.make_stream_pipeline(
                onlinekern.FourierFeatures(gamma=0.5), onlinekern.PAClassifier()
            ),
            "step of its pipeline (FourierFeatures)",
        ),
        (
            onlinekern.make_stream_pipeline(onlinekern.LearntMetric(), onlinekern.PAClassifier()),
            "step of its pipeline (LearntMetric)",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_models_are_refused(model, text, library, tmp_path):
    X, y = samples("ovr", LEARNT)
    if text != "have learnt":
        model.fit(X, y)
    model.save(tmp_path / "model.okn")
    with pytest.raises(Refused, match=re.escape(text)) as refused:
        Native(library, tmp_path / "model.okn")
    assert refused.value.code == -7
    learner = getattr(model, "steps", [(None, model)])[-1][1]
    if learner is model:
        assert str(refused.value).startswith(f"{type(model).__name__}: ")


def test_what_cannot_learn_says_what_to_set(library, tmp_path):
    X, y = samples("binary", 60)
    for setting, what in (({}, "set gamma, or learn more"), ({"gamma": 0.5}, None)):
        onlinekern.KernelOGDClassifier(**setting).fit(X, y).save(tmp_path / "model.okn")
        native = Native(library, tmp_path / "model.okn")
        if what is None:
            assert library.okn_can_learn(native.handle) == 0
            continue
        with pytest.raises(Refused, match=f"^KernelOGDClassifier: .*{what}"):
            native.checked(library.okn_can_learn(native.handle))


@pytest.mark.parametrize("place", ["model.okn", "."], ids=["nothing", "folder"])
def test_no_file_is_said(place, library, tmp_path):
    with pytest.raises(Refused, match="cannot be read") as refused:
        Native(library, tmp_path / place)
    assert refused.value.code == -5


def test_an_array_that_would_be_too_large_is_not_saved(library, tmp_path):
    X, y = samples("ovr", LEARNT)
    model = onlinekern.KernelPAClassifier(gamma=0.5, max_support=8, when_full="oldest").fit(X, y)
    contents = Contents.of(model)
    name = next(name for name in contents.arrays if name.endswith(".terms"))
    # With eight elements along its empty axis it would take 2^64 bytes, that is 0.
    contents.arrays[name] = np.empty((0, 2**58))
    write_contents(tmp_path / "model.okn", contents.class_name, contents.tree, contents.arrays)
    native = Native(library, tmp_path / "model.okn")
    native.learn(X[:1], [(native.predict(X[:1])[0] + 1) % 3])
    with pytest.raises(Refused, match="no memory"):
        native.save(tmp_path / "saved.okn")


STRANGE = [None, True, -1, 0, 1, 2**31, 2**53, 10**30, 0.5, -1e300, 1e308, "x", [0], [9999], [], {}]


def places(tree, path=()):
    """Yield the path of every value in a tree of JSON."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def damaged_tree(text, rng):
    """Return a tree in which another value stands at one place."""
    tree = json.loads(text)
    every = list(places(tree))
    *before, last = every[rng.integers(len(every))]
    inner = tree
    for key in before:
        inner = inner[key]
    inner[last] = STRANGE[rng.integers(len(STRANGE))]
    return json.dumps(tree)


def damaged_arrays(arrays, rng):
    """Return arrays of which one has another form, or another number."""
    names = [name for name in arrays if name != "classes_"]
    name = names[rng.integers(len(names))]
    own = arrays[name].copy()
    changes = [
        lambda: own[:-1],
        lambda: np.concatenate([own, own]),
        lambda: own.ravel(),
        lambda: np.ascontiguousarray(own.T),
        lambda: own.astype(np.float32),
        lambda: own[..., None],
        lambda: own[:0],
        lambda: np.empty((0, 2 ** rng.integers(55, 60)), own.dtype),
    ]
    if own.size and rng.random() < 0.5:
        is_wide = own.dtype.itemsize == 8
        whole = [-1, 2**62 if is_wide else 2**30, 0]
        real = [np.nan, np.inf, 1e308 if is_wide else 1e38, -1.0]
        strange = real if own.dtype.kind == "f" else whole
        own.flat[rng.integers(own.size)] = strange[rng.integers(len(strange))]
        return {**arrays, name: own}
    return {**arrays, name: changes[rng.integers(len(changes))]()}


def write_damaged(path, contents, rng):
    """Write contents of which one place is damaged, with a checksum that agrees."""
    tree, arrays = contents.tree, contents.arrays
    if rng.random() < 0.7:
        tree = damaged_tree(tree, rng)
    else:
        arrays = damaged_arrays(arrays, rng)
    write_contents(path, contents.class_name, tree, arrays)


def spoilt(data, rng):
    """Return the bytes of a file, cut off or with some bits turned."""
    if rng.random() < 0.4:
        return data[: rng.integers(len(data))]
    changed = bytearray(data)
    for place in rng.integers(min(len(data), 4000), size=rng.integers(1, 4)):
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def fitted_for_damage(name, parameters):
    task = "regression" if name.endswith("Regressor") else "ovr"
    return fitted(Case(name, parameters, task), *samples(task, 60))


def scaled_for_damage():
    scaler = onlinekern.OnlineStandardScaler(forgetting=0.9)
    model = onlinekern.make_stream_pipeline(scaler, onlinekern.PAClassifier(average=True))
    return model.fit(*samples("ovr", 60))


def forests_for_damage():
    """Return forests with tables, groups, bends and guesses, in a renewal that waits."""
    X, y = samples("ovr", 1030)
    X[:, 1] = np.arange(len(X)) % 7
    X[:, 4] = np.exp(3 * X[:, 4])
    X[::5, 2] = np.nan
    X = np.hstack([X, np.eye(5)[np.arange(len(X)) % 5]])
    given = {"n_trees": 3, "max_leaf": 60, "memory": 64, "categorical_features": [1]}
    model = onlinekern.KernelForestClassifier(**given, class_weight={5: 0.5}).fit(X, y)
    targets = onlinekern.KernelForestRegressor(n_trees=3, rule="pa2", levels="upper")
    found = [model, targets.fit(X[:70], X[:70, 0] + np.log(X[:70, 4]))]
    states = [each._model.space.get_state() for each in found]
    assert all(state["group_members"].size == 5 for state in states)
    assert any(state["bend_features"].size for state in states)
    return found


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.long) for k in (1, 2, 3))])
def test_no_damaged_file_is_fatal(seed, tmp_path):
    options = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    here = Path(__file__).parent
    program = build(tmp_path, "damaged", options, [here / "consumers" / "damaged.c"])
    rng, paths = np.random.default_rng(seed), []
    settings = [
        *((name, {}) for name in ("PAClassifier", "AROWRegressor", "FOGDClassifier")),
        *((name, {}) for name in ("SCWClassifier", "ProjectronClassifier", "KRLSRegressor")),
        ("PegasosClassifier", {"batch_size": 4}),
        ("KernelForestClassifier", {"n_trees": 3}),
        ("BSGDClassifier", {}),
        *((name, {}) for name in ("BOGDClassifier", "BPAClassifier", "KernelPAClassifier")),
        ("BOGDClassifier", {"removal": "nonuniform"}),
        ("QKLMSRegressor", {"epsilon": 0.5, "max_support": 9}),
        ("KernelPAClassifier", {"max_support": 9, "when_full": "nearest", "kernel": "polynomial"}),
        ("KernelPerceptronClassifier", {"max_support": 9, "when_full": "oldest", "average": 0.9}),
        ("KernelRLSClassifier", {"n_components": 70, "kernel": "cosine"}),
        ("KernelRLSRegressor", {"n_components": 9, "forgetting": 0.9}),
        ("KernelRLSClassifier", {"features": "fourier", "n_components": 6, "linear": False}),
    ]
    models = [fitted_for_damage(*own) for own in settings] + [scaled_for_damage()]
    for model in models + forests_for_damage() * 2:
        contents = Contents.of(model)
        model.save(tmp_path / f"whole{len(paths)}.okn")
        paths.append(tmp_path / f"whole{len(paths)}.okn")
        data = paths[-1].read_bytes()
        for _ in range(50):
            path = tmp_path / f"{len(paths)}.okn"
            if rng.random() < 0.8:
                write_damaged(path, contents, rng)
            else:
                path.write_bytes(spoilt(data, rng))
            paths.append(path)
    done = subprocess.run(
        [program, tmp_path / "saved.okn"],
        input="\n".join(map(str, paths)),
        capture_output=True,
        text=True,
        env={"ASAN_OPTIONS": "allocator_may_return_null=1:max_allocation_size_mb=2000"},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    # Many damages are of what this library does not read, and some are none.
    assert len(settings) < int(done.stdout) < len(paths)
