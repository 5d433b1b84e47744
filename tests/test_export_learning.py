"""Exported C goes on learning as the model does: after the same samples, the scores agree."""

import copy
import ctypes
from collections import Counter
from typing import get_args

import numpy as np
import pytest
from compiled import Program, check_as_cpp, compiler, load
from exported import CLASSES, DETECTORS, Case, cases, fitted, scores_of, told_by
from sklearn.base import is_classifier, is_outlier_detector

from onlinekern import (
    FourierFeatures,
    KernelPAClassifier,
    KernelRLSRegressor,
    OGDClassifier,
    OGDRegressor,
    OnlineStandardScaler,
    PAClassifier,
    QKLMSRegressor,
    SPAClassifier,
    SPAOneClass,
    StreamClassifier,
    make_stream_pipeline,
)
from onlinekern.estimators.gradient import LabelLossName
from onlinekern.fitted.export.learning import describe_learning

LEARNT, MORE = 60, 100
TOLD = told_by("export.md")
LEARNS = {name for name, how in TOLD.items() if not how.startswith(("no", "with `--learn`"))}
# Their trees are renewed within these samples; C has them as they were (test_export_forest.py).
RENEWED = {"KernelForestClassifier", "KernelForestRegressor"}
# They agree to float32, in which their experts learn (test_device_race.py).
RACES = {"StreamClassifier", "StreamRegressor"}
# Beside the forms of every learner: what only learning depends on.
STEPS = [
    *(("PAClassifier", {"C": np.inf, "average": a}) for a in (20, 80, "decay")),
    *(("PAClassifier", {"loss": "squared_hinge", "multi_class": m}) for m in ("ovr", "margin")),
    *(("KernelPAClassifier", {"variant": v, "multi_class": "margin"}) for v in ("pa", "pa2")),
    *(
        ("KernelPAClassifier", {"average": a, "gamma": g, "max_support": 30, "when_full": how})
        for a, g, how in ((0.99, 0.3, "oldest"), ("decay", 0.3, "nearest"), (False, 3.0, "nearest"))
    ),
    ("KernelPARegressor", {"kernel": "polynomial", "max_support": 30, "when_full": "nearest"}),
    *(("BOGDClassifier", {"removal": "nonuniform", "budget": n}) for n in (1, 2, 15)),
    *(("QKLMSRegressor", {"epsilon": 0.6, "max_support": n}) for n in (None, 15)),
    ("SPAClassifier", {"class_weight": {"yes": 2.0, 15: 0.0, 5: 3.0}}),
    ("PAClassifier", {"class_weight": {"yes": 2.0, 15: 0.5}}),
    *(
        (name, {"class_weight": {"yes": 30.0, 15: 0.5, 5: 30.0}, **parameters})
        for name, parameters in (
            *(("OGDClassifier", {"loss": name}) for name in get_args(LabelLossName)),
            *(
                ("FOGDClassifier", {"loss": name, "fit_intercept": True})
                for name in ("hinge", "logistic")
            ),
            *(("KernelOGDClassifier", {"multi_class": m}) for m in ("ovr", "margin")),
            *((name, {"reg": 0.1}) for name in ("KernelPegasosClassifier", "PegasosClassifier")),
            ("BSGDClassifier", {"reg": 0.1, "budget": 20}),
            ("OSKLClassifier", {}),
        )
    ),
    ("SPARegressor", {"standardize_target": False, "kernel": "cosine"}),
    *(
        ("KernelRLSClassifier", {"gate": gate, "linear": False, "n_components": 90})
        for gate in ("margin", "loss_proportional", "always")
    ),
    *(
        ("KernelRLSRegressor", {"selection": s, "linear": True, "n_components": 80})
        for s in ("first", "ald")
    ),
    ("KernelRLSClassifier", {"multi_class": "margin"}),
    *(
        (name, {"forgetting": f, "linear": f > 0.92, "n_components": 90})
        for name in ("KernelRLSClassifier", "KernelRLSRegressor")
        for f in (0.9, 0.95, 0.5)
    ),
    ("KernelRLSClassifier", {"forgetting": 0.9, "gate": "margin", "selection": "margin"}),
    *(
        (name, {"metric": m, "linear": m == "full", "n_components": 80})
        for name in ("KernelRLSClassifier", "KernelRLSRegressor")
        for m in ("diagonal", "full", "auto")
    ),
    ("KernelRLSClassifier", {"kernel": "cosine", "selection": "margin", "n_components": 80}),
    *(
        ("SCWClassifier", {"variant": v, "multi_class": "margin", "average": v == "scw2"})
        for v in ("scw1", "scw2")
    ),
    ("CWClassifier", {"constraint": "variance", "multi_class": "margin"}),
    ("AROWClassifier", {"multi_class": "margin", "average": True, "fit_intercept": False}),
    ("OGDClassifier", {"average": 0.9, "reg": 0.5}),
    *(
        ("BSGDClassifier", {"maintenance": how, "budget": n, "multi_class": m})
        for how, n in (("merge", 1), ("merge", 12), ("remove", 1), ("remove", 12))
        for m in ("ovr", "margin")
    ),
    ("BSGDClassifier", {"maintenance": "remove", "kernel": "polynomial", "budget": 9}),
    ("BSGDRegressor", {"maintenance": "remove", "kernel": "cosine", "budget": 9}),
    ("BSGDRegressor", {"loss": "epsilon_insensitive", "max_step": None, "budget": 12}),
    *(
        ("DualSGDClassifier", {"budget": 12, "merge_size": n, "average": a, "multi_class": m})
        for n, a in ((1, False), (5, True), (12, "decay"), (3, 0.9))
        for m in ("ovr", "margin")
    ),
    *(
        (
            "KernelAROWClassifier",
            {"covariance": c, "multi_class": m, "average": a, "features": f, "n_components": n},
        )
        for c, m, a in (
            ("diagonal", "ovr", 0.9),
            ("full", "margin", True),
            ("shared", "ovr", False),
        )
        for f, n in (("fourier", 16), ("nystroem", 80))
    ),
    *(
        ("KernelSCWClassifier", {"variant": v, "gate": g, "linear": False, "n_components": n})
        for v, g, n in (("scw1", "margin", 80), ("scw2", "loss_proportional", 10))
    ),
    ("KernelSCWClassifier", {"covariance": "shared", "multi_class": "margin", "kernel": "cosine"}),
    *(
        (name, {"covariance": c, "average": a, "fit_intercept": i})
        for name, c, a, i in (
            *(("AROWClassifier", "full", "decay", False), ("CWClassifier", "shared", True, True)),
            *(("AROWRegressor", "full", False, True), ("SCWClassifier", "shared", 0.9, False)),
        )
    ),
    *(
        (name, {"budget": n, "multi_class": m})
        for name in ("ForgetronClassifier", "AhpatronClassifier", "BOLSSVMClassifier")
        for n in (2, 15)
        for m in ("ovr", "margin")
    ),
    *((name, {"budget": 1}) for name in ("ForgetronClassifier", "AhpatronClassifier")),
    *(("AhpatronClassifier", {"max_norm": r, "kernel": "laplacian", "eta": 0.6}) for r in (0.5, 3)),
    ("ForgetronClassifier", {"kernel": "polynomial", "budget": 9}),
    ("BOLSSVMClassifier", {"removal": "redundant", "budget": 9, "kernel": "cosine"}),
    *(
        ("KAPARegressor", {"variant": v, "order": k, "budget": n, "standardize_target": k > 1})
        for v, k, n in (("kapa1", 1, 1), ("kapa1", 4, 9), ("kapa2", 5, 5), ("kapa2", 3, 200))
    ),
    ("KAPARegressor", {"order": 6, "budget": 12, "kernel": "polynomial"}),
    *(("KRLSRegressor", {"nu": nu, "budget": n}) for nu, n in ((1e-3, 200), (0.1, 9), (0.0, 30))),
    *(
        ("ProjectronClassifier", {"eta": e, "budget": n, "plus_plus": p, "multi_class": m})
        for e, n, p in ((0.3, 200, True), (0.3, 200, False), (0.1, 9, True))
        for m in ("ovr", "margin")
    ),
    *(("SlidingWindowKRLSRegressor", {"budget": n, "reg": 0.1}) for n in (1, 12, 200)),
    *(("FixedBudgetKRLSRegressor", {"budget": n, "eta": e}) for n, e in ((12, 0.0), (9, 0.2))),
    *(
        ("KRLSTRegressor", {"budget": n, "forgetting": f, "mode": how})
        for n, f, how in ((12, 1.0, "b2p"), (9, 0.9, "b2p"), (200, 0.95, "ui"))
    ),
    *(
        ("BSGDClassifier", {"maintenance": "project", "budget": n, "kernel": k})
        for n, k in ((1, "gaussian"), (12, "gaussian"), (9, "polynomial"))
    ),
    *(("KernelMeanDetector", parameters) for parameters in DETECTORS),
    *(("KernelMeanDetector", {**own, "contamination": 0.5}) for own in DETECTORS[::4]),
    ("DualSGDClassifier", {"budget": 9, "merge_size": 9, "fit_intercept": False}),
    ("DualSGDRegressor", {"budget": 9, "merge_size": 2, "kernel": "laplacian", "average": 0.1}),
    ("FOGDRegressor", {"average": 0.1}),  # its weights start anew after 77 samples
]


def class_weight_of(parameters, task):
    """Return the parameters, without the labels of another task."""
    weights = parameters.get("class_weight")
    if weights is None:
        return parameters
    kind = str if task == "binary" else int
    return {**parameters, "class_weight": {k: w for k, w in weights.items() if type(k) is kind}}


def chosen():
    """Return settings of the learners that learn, every other one with three classes."""
    found = []
    for name in sorted(LEARNS):
        own = [case for case in cases() if case.name == name]
        found += own[:2] + own[2 :: max(1, len(own) // 2)]
    found += [
        Case(name, class_weight_of(parameters, task), task)
        for name, parameters in STEPS
        for task in (["binary", "ovr"] if is_classifier(CLASSES[name]()) else ["regression"])
    ]
    kept = []
    for number, case in enumerate(found):
        if case.task == "regression" or (number // 2 % 2 == 0) == (case.task == "ovr"):
            kept.append(case)
    return kept


def third(cases, first):
    """Return every third setting of each learner from its first one on, or the others."""
    found, met = [], Counter()
    for case in cases:
        if (met[case.name] % 3 == 0) == first:
            found.append(case)
        met[case.name] += 1
    return found


def target_of(model, y, dtype):
    """Return a target as arguments of C, none for a detector."""
    if is_outlier_detector(model):
        return ()
    if is_classifier(model):
        return (ctypes.c_int32(int(np.searchsorted(model.classes_, y))),)
    return ((ctypes.c_double if dtype == "float64" else ctypes.c_float)(y),)


def teach(program, model, X, y):
    """Let both learn samples one by one, in C by turns dense and sparse."""
    for number, (x, target) in enumerate(zip(X, y, strict=True)):
        model.learn_one(x, target)
        ending, arguments, _alive = program.forms(x)[number % 2]
        given = target_of(model, target, program.dtype)
        assert program.call(f"learn_one{ending}", *arguments, *given) == 0


def export(model, path, dtype="float64"):
    """Export with room for all that comes, where there is no budget."""
    try:
        return model.export_c(path, dtype=dtype, learn=True, capacity=LEARNT + MORE)
    except ValueError:  # it has a budget
        return model.export_c(path, dtype=dtype, learn=True)


def can_learn(model):
    try:
        describe_learning(model)
    except TypeError:
        return False
    return True


def difference(program, model, X):
    expected = scores_of(model, X)
    return np.abs(program.scores(X) - expected).max() / max(1, np.abs(expected).max())


SETTINGS = {
    "float64": third(chosen(), True),
    "float64, others": third(chosen(), False),
    "float32": chosen()[::7],
}


# To compile the settings takes longest.
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.long] * ("others" in kind)) for kind in SETTINGS]
)
def test_the_same_samples_give_the_same_model(kind, stream, tmp_path):
    compiler()
    entries, dtype = [], kind.split(",")[0]
    for number, case in enumerate(SETTINGS[kind]):
        X, y = stream(case.task, n=LEARNT + MORE)
        model = fitted(case, X[:LEARNT], y[:LEARNT])
        if case.name in RENEWED or not can_learn(model):  # in this setting
            continue
        export(model, tmp_path / f"m{number}.c", dtype)
        entries.append((case, model, X, y, f"m{number}"))
    if kind == "float64":
        assert {entry[0].name for entry in entries} == LEARNS
    more = ["-Wdouble-promotion"] if dtype == "float32" else []
    library = load(tmp_path, [tmp_path / f"{entry[-1]}.c" for entry in entries], more=more)
    if dtype == "float64":
        each = {entry[0].name: tmp_path / f"{entry[-1]}.c" for entry in entries}
        check_as_cpp(each.values())
    wrong = []
    for case, model, X, y, prefix in entries:
        program = Program(library, prefix, dtype, scores_of(model, X[:1]).shape[1])
        before = copy.deepcopy(model)
        teach(program, model, X[LEARNT:], y[LEARNT:])
        assert difference(program, before, X) > 0, "nothing was learnt"
        # A step of float32 next to a threshold may be another one.
        if not (error := difference(program, model, X)) <= (1e-6 if dtype == "float64" else 1e-2):
            wrong.append((case, error))
    assert not wrong


@pytest.mark.parametrize(
    "steps",
    [
        [FourierFeatures(n_components=9, gamma=0.3)],
        [OnlineStandardScaler(forgetting=0.98, clip=1.5)],
        [OnlineStandardScaler(with_mean=False, clip=None)],
        ["passthrough", OnlineStandardScaler(with_std=False), FourierFeatures(gamma=1e-4)],
    ],
)
def test_a_pipeline(steps, stream, tmp_path):
    X, y = stream("ovr")
    X = X * 100 + 7
    model = make_stream_pipeline(*steps, KernelPAClassifier(gamma=0.3, max_support=200))
    model.partial_fit(X[:40], y[:40], classes=np.unique(y))
    made = model.export_c(tmp_path / "model.c", learn=True)
    program = Program(load(tmp_path, [made.code]), "model", "float64", 3)
    for label in (-1, 3):
        assert program.call("learn_one", *program.dense(X[0])[0], label) == -3
    assert difference(program, model, X) < 1e-6
    teach(program, model, X[40:], y[40:])
    assert difference(program, model, X) < 1e-6


def test_a_refused_sample_does_not_move_the_scaler(stream, tmp_path):
    X, y = stream("binary")
    model = make_stream_pipeline(OnlineStandardScaler(), KernelPAClassifier(gamma=0.4))
    model.partial_fit(X[:40], y[:40], classes=["no", "yes"])
    count = model.n_support_
    made = model.export_c(tmp_path / "model.c", capacity=count)
    program = Program(load(tmp_path, [made.code]), "model", "float64", 1)
    row, before = X[np.argmax(np.abs(X).sum(axis=1))] * 9, program.scores(X)
    wrong = 1 - program.classes(row[np.newaxis])[0]  # a mistake needs a support vector
    for ending, arguments, _alive in program.forms(row):
        assert program.call(f"learn_one{ending}", *arguments, int(wrong)) == -4
    np.testing.assert_array_equal(program.scores(X), before)


def test_least_squares_of_a_long_stream(stream, tmp_path):
    X, y = stream("regression", n=3000)
    model = KernelRLSRegressor(gamma=0.4, n_components=30, reg=0.1).fit(X[:100], y[:100])
    program = Program(
        load(tmp_path, [model.export_c(tmp_path / "model.c").code]), "model", "float64", 1
    )
    teach(program, model, X[100:], y[100:])
    assert difference(program, model, X) < 1e-6


@pytest.mark.parametrize("forgetting", [1.0, 0.99])
@pytest.mark.parametrize("task", ["regression", "binary", "ovr"])
def test_the_prior_follows_a_long_stream(task, forgetting, stream, tmp_path):
    """In C the prior precision is chosen, and the inverse made anew, where Python does that."""
    X, y = stream(task, n=1200)
    name = "KernelRLSRegressor" if task == "regression" else "KernelRLSClassifier"
    given = {"reg": "auto", "n_components": 30, "forgetting": forgetting, "gate": "always"}
    model = fitted(Case(name, given, task), X[:50], y[:50], gamma=1.0)
    before = model._model.space.block.get_state()["reg"]
    made = model.export_c(tmp_path / "model.c")
    program = Program(load(tmp_path, [made.code]), "model", "float64", 3 if task == "ovr" else 1)
    teach(program, model, X[50:], y[50:])
    assert model._model.space.block.get_state()["reg"] != before
    assert difference(program, model, X) < 1e-9


def test_models_in_a_metric_learn_if_that_is_asked_for(stream, tmp_path):
    X, y = stream("regression")
    model = KernelRLSRegressor(gamma=0.4, n_components=30, metric="diagonal").fit(X, y)
    assert not model.export_c(tmp_path / "model.c").learns
    assert model.export_c(tmp_path / "model.c", learn=True).learns


def test_refused_samples_change_nothing(stream, tmp_path):
    X, y = stream("binary")
    model = SPAClassifier(gamma=0.4, random_state=0, beta=2.0).fit(X[:50], y[:50])
    made = model.export_c(tmp_path / "model.c", capacity=model.n_support_ + 2)
    program = Program(load(tmp_path, [made.code]), "model", "float64", 1)
    before = program.scores(X)
    bad = X[0].copy()
    bad[1] = np.nan
    for ending, arguments, _alive in program.forms(bad):
        assert program.call(f"learn_one{ending}", *arguments, 1) == -1
    for label in (-1, 2):
        for ending, arguments, _alive in program.forms(X[0]):
            assert program.call(f"learn_one{ending}", *arguments, label) == -3
    np.testing.assert_array_equal(program.scores(X), before)
    codes = []
    for x, label in zip(X[50:], y[50:], strict=True):
        (arguments, _alive), number = program.dense(x), int(label == "yes")
        codes.append(program.call("learn_one", *arguments, number))
        if codes[-1] == -4:
            break
        model.learn_one(x, label)
    assert codes[-1] == -4
    # The full model has learnt nothing of the sample.
    assert difference(program, model, X) < 1e-6


def test_a_full_dictionary_still_learns_near_samples(stream, tmp_path):
    X, _ = stream("binary")
    y = np.sin(3 * X[:, 0])
    model = QKLMSRegressor(gamma=0.4, epsilon=1.0).fit(X[:30], y[:30])
    made = model.export_c(tmp_path / "model.c", capacity=model.n_support_)
    program = Program(load(tmp_path, [made.code]), "model", "float64", 1)
    codes = []
    for x, target in zip(X[30:200], y[30:200], strict=True):
        distance = np.sqrt(((model.support_vectors_ - x) ** 2).sum(axis=1).min())
        (arguments, _alive) = program.dense(x)
        codes.append(program.call("learn_one", *arguments, ctypes.c_double(target)))
        assert codes[-1] == (0 if distance <= 1.0 else -4)
        if codes[-1] == 0:
            model.learn_one(x, target)
    assert {0, -4} == set(codes)
    assert difference(program, model, X) < 1e-6


@pytest.mark.parametrize("n", [1, 2, 3, 40])
@pytest.mark.parametrize("name", ["AROWRegressor", "KernelRLSRegressor"])
def test_targets_far_off_are_as_near_as_in_python(name, n, stream, tmp_path):
    """Among the first ones, of which one may be forgotten, and later."""
    X, y = stream("regression", n=80)
    y = 50 + 1e-2 * y
    y[[0, 45]], y[-8:] = (1e8, -1e4), y[-8:] + 100
    model = fitted(Case(name, {}, "regression"), X[:n], y[:n])
    made = model.export_c(tmp_path / "model.c", learn=True)
    program = Program(load(tmp_path, [made.code]), "model", "float64", 1)
    teach(program, model, X[n:], y[n:])
    assert difference(program, model, X) < 1e-6
    assert 20 < model.target_scale_ < 40


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_detector_beside_rows_far_away(dtype, stream, tmp_path):
    """Their scores decide neither the trend nor where numbers are rounded."""
    X = stream("regression", n=700)[0]
    X[90::97] *= 1e4
    model = SPAOneClass(kernel="linear", random_state=0).partial_fit(X[:50])
    made = model.export_c(tmp_path / "model.c", dtype=dtype, learn=True, capacity=700)
    program = Program(load(tmp_path, [made.code]), "model", dtype, 1)
    teach(program, model, X[50:], np.zeros(650))
    near, most = X[:90], 1e-6 if dtype == "float64" else 1e-2
    assert np.abs(program.scores(near) - scores_of(model, near)).max() < most
    assert 0 < np.mean(model.predict(near) == -1) < 0.3


def test_a_diverging_regression_stops(stream, tmp_path):
    X, y = stream("regression", n=40)
    model = OGDRegressor(eta=1.0, schedule="constant").fit(X, y)
    made = model.export_c(tmp_path / "model.c")
    program = Program(load(tmp_path, [made.code]), "model", "float64", 1)
    before = program.scores(X)
    (arguments, _alive) = program.dense(np.full(X.shape[1], 1e200))
    assert program.call("learn_one", *arguments, ctypes.c_double(1e300)) == -1
    assert program.call("learn_one", *arguments, ctypes.c_double(np.nan)) == -1
    np.testing.assert_array_equal(program.scores(X), before)


def test_none_learns_where_it_can(stream, tmp_path):
    X, y = stream("binary")

    def learns(model, **arguments):
        return model.fit(X, y).export_c(tmp_path / "model.c", **arguments).learns

    assert learns(PAClassifier())
    assert not learns(PAClassifier(), learn=False)
    grown = KernelPAClassifier(gamma=0.4)
    assert not learns(grown)
    assert learns(grown, capacity=100)
    assert learns(KernelPAClassifier(gamma=0.4, max_support=100), learn=True)
    assert not learns(StreamClassifier(time_budget=3.0))
    assert not learns(OGDClassifier(class_weight="balanced"))


@pytest.mark.parametrize(
    ("model", "arguments", "error", "message"),
    [
        (KernelPAClassifier(gamma=0.4), {"learn": True}, ValueError, "capacity must say for how"),
        (KernelPAClassifier(gamma=0.4), {"capacity": 3}, ValueError, "capacity must be at least"),
        (KernelPAClassifier(), {"learn": True, "capacity": 99}, TypeError, "width of its kernel"),
        (PAClassifier(), {"capacity": 9}, ValueError, "capacity=9 has no effect on PAClassifier"),
        (PAClassifier(), {"learn": "yes"}, ValueError, "learn must be True, False or None"),
        (PAClassifier(), {"learn": False, "capacity": 2}, ValueError, "no effect with learn=False"),
        (PAClassifier(), {"capacity": 1.5}, ValueError, "capacity must be an integer >= 1"),
        (
            *(StreamClassifier(), {"learn": True}, TypeError),
            "StreamClassifier cannot be exported to learn: it is a race with forests.*time_budget",
        ),
        (
            *(OGDClassifier(class_weight="balanced"), {"learn": True}, TypeError),
            "class_weight='balanced' follows the stream",
        ),
        (
            *(make_stream_pipeline(FourierFeatures(), OnlineStandardScaler(), PAClassifier()),),
            *({"learn": True}, TypeError, "the step 'onlinestandardscaler' learns too, and is not"),
        ),
    ],
)
def test_what_cannot_learn_says_why(model, arguments, error, message, stream, tmp_path):
    X, y = stream("binary")
    with pytest.raises(error, match=message):
        model.fit(X, y).export_c(tmp_path / "model.c", **arguments)
    assert not list(tmp_path.iterdir())


def test_learners_that_learn_are_known(stream):
    for name in CLASSES:
        # The sizes of the tests are those of a sketched covariance.
        sketched = name in ("KernelAROWClassifier", "KernelSCWClassifier")
        given = {"covariance": "shared"} if sketched else {}
        case = Case(name, given, "binary" if is_classifier(CLASSES[name]()) else "regression")
        X, y = stream(case.task)
        model = fitted(case, X, y)
        assert can_learn(model) == (name in LEARNS | RENEWED | RACES), name
