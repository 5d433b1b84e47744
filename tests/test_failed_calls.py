"""A call that fails leaves the model unchanged, wherever it fails."""

import copy
import itertools
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from harness.calls import with_value
from learners import CLASSES, NAMES, width
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from onlinekern import (
    BSGDClassifier,
    ConformalClassifier,
    ConformalRegressor,
    KernelOGDClassifier,
    KernelOGDRegressor,
    KernelPAClassifier,
    KernelPARegressor,
    KernelPerceptronClassifier,
    OnlineStandardScaler,
    PAClassifier,
    PARegressor,
    SPAClassifier,
    SPAOneClass,
    StreamRegressor,
    all_estimators,
    make_stream_pipeline,
)
from onlinekern.core import experts as core_experts
from onlinekern.drift import LossDetector, MMDDetector, RenewedLearner
from onlinekern.estimators import atomic

LAYOUTS = ["dense", "csr", "wide"]
# No label is unknown to it.
TAKES_LABELS_UP = "StreamClassifier"
# The scale falls below 1e-9, at which it is folded, after some twenty samples.
FOLDING = {"eta": 0.4, "reg": 1.5, "average": True}


def begun(learner, stream, n, convert=np.asarray):
    """Return an estimator in mid-stream, and the next rows and targets."""
    model = clone(learner)
    X, y = stream("binary" if is_classifier(model) else "regression", n=n + 60)
    X = convert(X)
    first = {"classes": ["no", "yes"]} if is_classifier(model) else {}
    model.partial_fit(X[:n], y[:n], **first)
    return model, X[n:], y[n:]


def trained(name, stream, as_layout, layout="dense", n=40):
    """Return one of all estimators in mid-stream, and the next rows and targets."""
    learner = CLASSES[name](**width(name), random_state=7)
    return begun(learner, stream, n, lambda X: as_layout(X, layout))


@pytest.mark.parametrize("name", NAMES)
def test_single_samples_name_what_is_wrong(name, stream, as_layout, state_of, same_state):
    model, X, y = trained(name, stream, as_layout)
    before = state_of(model)
    x, target = X[0], y.tolist()[0]
    for weight in (None, "heavy", np.ones(2)):
        with pytest.raises(TypeError, match="sample_weight must be a number, got"):
            model.learn_one(x, target, sample_weight=weight)
    for missing in (None, float("nan"), np.array([1.0, 2.0])):
        with pytest.raises(ValueError, match=r"\by\b"):
            model.learn_one(x, missing)
    for call in (model.score_one, lambda row: model.learn_one(row, target)):
        with pytest.raises(TypeError, match=r"X holds dictionaries, .*encode=True"):
            call({"a": 1.0, "b": 2.0})
        with pytest.raises(TypeError, match="x must be one sample, got a list of dictionaries"):
            call([{"a": 1.0, "b": 2.0}])
    numbers = f"{X.shape[1]} numbers without names: give lists of them in that order"
    for named in ({"a": 1.0, "b": 2.0}, [{"a": 1.0}], {"a": [1.0, 2.0], "b": [3.0, 4.0]}):
        for learn in (model.predict, lambda rows: model.partial_fit(rows, y[: len(rows)])):
            with pytest.raises(TypeError, match=f"X holds dictionaries, .*{numbers}"):
                learn(named)
    with pytest.raises(ValueError, match="sample_weight must hold numbers"):
        model.partial_fit(X[:2], y[:2], sample_weight=["a", "b"])
    same_state(model, before)


def test_what_has_learnt_nothing_is_not_said_to_have_learnt_rows():
    rows = [{"a": 1.0}, {"a": 2.0}]
    words = "X holds dictionaries, {} learns rows of numbers: give lists of them"
    with pytest.raises(TypeError, match=words.format("MMDDetector")):
        MMDDetector().update_many(rows)
    with pytest.raises(TypeError, match=words.format("PAClassifier")):
        PAClassifier(encode=False).partial_fit(rows, [0, 1], classes=[0, 1])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", NAMES)
def test_bad_input(name, layout, stream, as_layout, state_of, same_state):
    model, X, y = trained(name, stream, as_layout, layout)
    before, twin = state_of(model), copy.deepcopy(model)
    strange = np.array(["perhaps"] * len(y)) if is_classifier(model) else np.full(len(y), np.nan)
    bad = [
        ((with_value(X, np.nan), y), "NaN"),
        ((with_value(X, np.inf), y), "infinity"),
        ((X, strange), "not among the classes|NaN"),
        ((X[:, :-1], y), "features"),
        ((X, y[:-1]), "inconsistent"),
        ((X[:0], y[:0]), "minimum"),
    ]
    if name == TAKES_LABELS_UP:
        bad.pop(2)
    if get_tags(model).input_tags.allow_nan:
        bad.pop(0)
    for (rows, targets), message in bad:
        for method in (model.partial_fit, model.partial_fit_predict, model.fit):
            if method == model.fit and message not in ("NaN", "inconsistent"):
                continue
            with pytest.raises(ValueError, match=message):
                method(rows, targets)
            same_state(model, before)
    with pytest.raises(ValueError, match=r"sample_weight|[Nn]egative"):
        model.partial_fit(X, y, sample_weight=-np.ones(len(y)))
    same_state(model, before)
    model.partial_fit(X, y)
    same_state(model, twin.partial_fit(X, y))


@pytest.mark.parametrize("name", NAMES)
def test_bad_single_rows(name, stream, as_layout, state_of, same_state):
    model, X, y = trained(name, stream, as_layout)
    before = state_of(model)
    bad_targets = ["perhaps", None] if is_classifier(model) else [np.nan, np.inf]
    if name == TAKES_LABELS_UP:
        bad_targets.remove("perhaps")
    for target in bad_targets:
        with pytest.raises((ValueError, TypeError)):
            model.learn_one(X[0], target)
    rows = [with_value(X[0], -np.inf), X[0][:-1], X[:2], "row"]
    if not get_tags(model).input_tags.allow_nan:
        rows.append(with_value(X[0], np.nan))
    for row in rows:
        with pytest.raises(ValueError):
            model.learn_one(row, y[0])
        with pytest.raises(ValueError):
            model.score_one(row)
    same_state(model, before)


def test_failed_first_call_leaves_nothing(stream):
    X, y = stream("binary")
    classifiers = dict(all_estimators("classifier"))
    for name in classifiers.keys() & set(NAMES) - {TAKES_LABELS_UP}:
        cls, model = CLASSES[name], CLASSES[name]()
        for arguments in ({}, {"classes": ["no"]}, {"classes": ["no", "perhaps"]}):
            with pytest.raises(ValueError, match="class"):
                model.partial_fit(X, y, **arguments)
            assert vars(model) == vars(cls()), name
        model.partial_fit(X, y, classes=["no", "yes"])
        assert model.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("settings", [{}, {"average": True}, FOLDING], ids=["", "average", "fold"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("window", [1, 64])
@pytest.mark.parametrize("cls", [KernelOGDClassifier, KernelOGDRegressor])
def test_divergence(cls, window, layout, settings, stream, as_layout, state_of, same_state):
    # 80 good rows, in which support rows are added, the scale folded and the storage widened, and
    # then a row whose kernel values are NaN.
    X, y = stream("binary" if cls is KernelOGDClassifier else "regression", n=130)
    X[-1] = 1e150
    rows = as_layout(X, layout)
    model = cls(kernel="polynomial", degree=3, coef0=1.0, gamma=0.1, window=window)
    model.set_params(**{"eta": 1e-3, **settings})
    first = {"classes": ["no", "yes"]} if is_classifier(model) else {}
    model.partial_fit(rows[:50], y[:50], **first)
    before, twin = state_of(model), copy.deepcopy(model)
    with pytest.raises(FloatingPointError, match="sample 79"):
        model.partial_fit(rows[50:], y[50:])
    same_state(model, before)
    np.testing.assert_array_equal(model.predict(rows[:-1]), twin.predict(rows[:-1]))
    model.partial_fit(rows[50:-1], y[50:-1])
    same_state(model, twin.partial_fit(rows[50:-1], y[50:-1]))
    if layout == "dense":
        before = state_of(model)
        with pytest.raises(FloatingPointError):
            model.learn_one(X[-1], y[-1])
        same_state(model, before)


def test_the_steps_run_away(stream, state_of, same_state):
    X, y = stream("regression", n=200)
    model = KernelOGDRegressor(kernel="linear", eta=1e3).partial_fit(X[:20], y[:20])
    before = state_of(model)
    failure = None
    while failure is None:
        before = state_of(model)
        try:
            model.partial_fit(X[20:], y[20:])
        except FloatingPointError as error:
            failure = error
    assert "smaller step size" in str(failure)
    same_state(model, before)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_row_that_was_undone_has_no_effect(layout, as_layout, equal):
    # The first long row is learnt; its kernel value with the second one is infinite in float32. As
    # if neither had come: infinity times the coefficient 0 of a free slot would be NaN.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, 6))
    rows = as_layout(np.r_[X, np.full((1, 6), 1e8), np.full((1, 6), 1e6)], layout, np.float32)
    model = KernelPerceptronClassifier(kernel="polynomial", gamma=1.0)
    model.partial_fit(rows[:10], np.arange(10) % 2, classes=[0, 1])
    scores = model.decision_function(rows)
    wrong = int(scores[10] <= 0)
    with pytest.raises(FloatingPointError):
        model.partial_fit(rows[10:], [wrong, 1])
    equal(model.decision_function(rows), scores)
    model.partial_fit(rows[11:], [1])


def test_generator_is_set_back(stream, same_state):
    X, y = stream("binary", n=100)
    X[-1] = 1e150
    model = SPAClassifier(kernel="polynomial", gamma=0.1, random_state=0)
    model.partial_fit(X[:40], y[:40], classes=["no", "yes"])
    twin = copy.deepcopy(model)
    with pytest.raises(FloatingPointError):
        model.partial_fit(X[40:], y[40:])
    same_state(model.partial_fit(X[40:-1], y[40:-1]), twin.partial_fit(X[40:-1], y[40:-1]))


def test_failed_fit_keeps_the_fitted_model(stream, state_of, same_state):
    X, y = stream("regression")
    model = KernelOGDRegressor(kernel="polynomial", gamma=0.1, eta=1e-3, random_state=0).fit(X, y)
    before = state_of(model)
    with pytest.raises(FloatingPointError):
        model.fit(X * 1e150, y)
    same_state(model, before)


def test_warning_as_error(stream, same_state):
    # With warnings turned into errors, even the warning of the cap fails a call.
    X, y = stream("binary", n=100)
    model = SPAClassifier(gamma=0.4, max_support=10, beta=1.0, when_full="stop", random_state=0)
    model.partial_fit(X[:10], y[:10], classes=["no", "yes"])
    twin = copy.deepcopy(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        with pytest.raises(ConvergenceWarning):
            model.partial_fit(X[10:], y[10:])
    same_state(model, twin)


class Stop(BaseException):
    """Raised by the signal handler; its own class, so that it does not end the test run."""


@pytest.fixture
def interrupted():
    """Make a call in the main thread, with a signal after some seconds; return whether it hit."""
    if not hasattr(signal, "setitimer"):
        pytest.skip("no interval timer on this platform")
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    armed = False

    def stop(*_):
        # A signal that comes too late must not end the test run.
        if armed:
            raise Stop

    def make(call, seconds):
        nonlocal armed
        finished = False
        try:
            try:
                armed = True
                signal.setitimer(signal.ITIMER_REAL, seconds)
                call()
                finished = True
            finally:
                armed = False
                signal.setitimer(signal.ITIMER_REAL, 0)
        except Stop:
            return not finished
        return False

    old = signal.signal(signal.SIGALRM, stop)
    yield make
    signal.signal(signal.SIGALRM, old)


@pytest.mark.parametrize("method", ["fit", "partial_fit", "partial_fit_predict"])
def test_interruption_after_learning(method, monkeypatch, stream, state_of, same_state):
    """A signal arrives when the model has learnt, and the method ends."""

    def interrupted(_):
        raise Stop

    X, y = stream("binary", n=100)
    model = KernelPerceptronClassifier(gamma=0.5)
    model.partial_fit(X[:50], y[:50], classes=["no", "yes"])
    before = state_of(model)
    monkeypatch.setattr(KernelPerceptronClassifier, "_finish", interrupted)
    with pytest.raises(Stop):
        getattr(model, method)(X[50:], y[50:])
    same_state(model, before)


# Its alarms come early, so that two learn at sample 160.
HASTY = LossDetector(run_length=50, random_state=0)
WRAPPED = {
    "sets": ConformalClassifier(KernelPAClassifier(gamma=0.5, random_state=0)),
    "intervals": ConformalRegressor(KernelPARegressor(gamma=0.5, random_state=0)),
    "renewed": RenewedLearner(PAClassifier(random_state=0), HASTY),
    "renewed regression": RenewedLearner(PARegressor(random_state=0), HASTY),
    "sets of a pipeline": ConformalClassifier(
        make_stream_pipeline(OnlineStandardScaler(), PAClassifier())
    ),
    "renewed pipeline": RenewedLearner(
        make_stream_pipeline(OnlineStandardScaler(), PAClassifier()), HASTY
    ),
    "sets of a renewed one": ConformalClassifier(
        RenewedLearner(PAClassifier(random_state=0), HASTY)
    ),
    "renewed sets": RenewedLearner(ConformalClassifier(PAClassifier(random_state=0)), HASTY),
}


def models_within(learner):
    """Return what learns within a learner: that of each step, of each learner that it has."""
    if hasattr(learner, "steps"):
        return [model for _, step in learner.steps for model in models_within(step)]
    inside = [vars(learner)[name] for name in ("estimator_", "rival_") if vars(learner).get(name)]
    if inside:
        return [model for one in inside for model in models_within(one)]
    return [atomic.learnt_by(learner)]


@pytest.mark.parametrize(
    ("name", "method"),
    [
        *itertools.product(WRAPPED, ["partial_fit", "partial_fit_predict"]),
        ("sets", "partial_fit_set"),
        ("intervals", "partial_fit_interval"),
        ("renewed", "learn_one"),
        ("renewed regression", "learn_one"),
    ],
)
def test_interruption_behind_the_learner_inside(
    name, method, monkeypatch, stream, state_of, same_state
):
    """The learner inside has ended its call, and what is around it has yet to take its own."""
    model, X, y = begun(WRAPPED[name], stream, 160)
    before, change, stopped = state_of(model), atomic.change_attributes, []
    calls = [one.calls for one in models_within(model)]

    def interrupted(estimator, own, now):
        twin = copy.copy(model)
        vars(twin).update(now)
        learnt = [one.calls for one in models_within(twin)]
        if estimator is model and not stopped and learnt != calls:
            stopped.append(learnt)
            raise KeyboardInterrupt
        change(estimator, own, now)

    monkeypatch.setattr(atomic, "change_attributes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        getattr(model, method)(*((X[0], y[0]) if method == "learn_one" else (X, y)))
    assert stopped
    same_state(model, before)


@pytest.mark.parametrize("learner", [ConformalClassifier(PAClassifier()), ConformalRegressor()])
def test_interruption_behind_a_row_of_the_learner_inside(
    learner, monkeypatch, stream, state_of, same_state
):
    model, X, y = begun(learner, stream, 50)
    before, learnt = state_of(model), []

    def interrupted(*_):
        learnt.append(model.estimator_.n_seen_)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(model), "_take_row_up", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one(X[0], y[0])
    assert learnt == [51]
    same_state(model, before)


def test_failure_after_one_sample_was_learnt(monkeypatch, stream, state_of, same_state):
    """What comes after the core has learnt a sample fails: the threshold, the BLAS threads."""
    X, y = stream("binary", n=60)
    detector = SPAOneClass(gamma=0.5).partial_fit(X[:50])
    merging = BSGDClassifier(gamma=0.5, budget=5).partial_fit(X[:50], y[:50], classes=["no", "yes"])

    def stop(*_):
        raise Stop

    for model, rest, place in (
        (detector, [], "onlinekern.estimators.outliers.RecentQuantile.append"),
        (merging, [y[50]], "onlinekern.estimators.blas_threads.Context.__exit__"),
    ):
        before = state_of(model)
        monkeypatch.setattr(place, stop)
        with pytest.raises(Stop):
            model.learn_one(X[50], *rest)
        monkeypatch.undo()
        same_state(model, before)
        assert model.learn_one(X[50], *rest).n_seen_ == 51


# The short stream ends before the loop looks for signals, and must not count as learnt either.
@pytest.mark.parametrize("n", [6000, 60000])
@pytest.mark.parametrize("cls", [KernelPerceptronClassifier, KernelOGDClassifier])
def test_interruption(cls, n, interrupted, state_of, same_state):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, 3)).astype(np.float32), rng.integers(2, size=n)
    fresh = cls(gamma=0.5, **(FOLDING if cls is KernelOGDClassifier else {}))
    fresh.partial_fit(X[:50], y[:50], classes=[0, 1])
    before = state_of(fresh)
    begin = time.perf_counter()
    copy.deepcopy(fresh).partial_fit(X, y)
    seconds = time.perf_counter() - begin
    # The machine may be faster the next time: then the call ends before the signal.
    for _ in range(20):
        seconds *= 0.7
        model = copy.deepcopy(fresh)
        if interrupted(lambda model=model: model.partial_fit(X, y), seconds):
            break
    else:
        pytest.fail("no signal came while the model was learning")
    same_state(model, before)
    model.partial_fit(X[:100], y[:100])
    assert model.n_seen_ == 150


@pytest.mark.parametrize("name", ["KernelForestRegressor", "StreamRegressor"])
def test_targets_that_no_cell_can_hold_are_refused(name, state_of, same_state):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    model = CLASSES[name](random_state=0).fit(X, X[:, 0])
    for x in X[:20]:
        model.learn_one(x, x[0])
    before, expected = state_of(model), model.predict(X[:5])
    for large in (1e40, -1e60):
        with pytest.raises(FloatingPointError):
            model.learn_one(X[20], large)
        with pytest.raises(FloatingPointError):
            model.partial_fit(X[20:25], [0, 1, large, 1, 0])
    same_state(model, before)
    np.testing.assert_array_equal(model.predict(X[:5]), expected)


def test_a_long_call_of_a_race_fails_as_a_whole(state_of, same_state, monkeypatch):
    """It learns its rows in pieces, and each of these in segments."""
    # Values that are far off are learnt as less far ones, and do no harm: here they are not.
    monkeypatch.setattr(core_experts, "REACH", np.inf)
    X = np.random.RandomState(0).standard_normal((4700, 3))
    model = StreamRegressor(time_budget=10).partial_fit(X[:300], X[:300, 0])
    before = state_of(model)
    X[4500] = 1e200
    # The moments of a segment are looked at when it ends, 4864 rows behind the first of all.
    with pytest.raises(FloatingPointError, match="overflow in row 4563 or before"):
        model.partial_fit(X, X[:, 0])
    same_state(model, before)
