"""Classes that come later: what was learnt is kept, and learning goes on with all of them."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from learners import CLASSES, build
from oracles.averages import Average
from oracles.heads import HEADS
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel

import onlinekern
from onlinekern import (
    AROWClassifier,
    KernelOGDClassifier,
    KernelRLSClassifier,
    OGDClassifier,
    PAClassifier,
    StreamClassifier,
    StreamRegressor,
    TableEncoder,
    make_stream_pipeline,
)
from onlinekern.core.models.forest import ForestSpace
from onlinekern.core.samples.coded import coded_rows
from onlinekern.estimators import linear, memory
from onlinekern.learners.race import growing
from onlinekern.learners.race import stream as race_stream
from onlinekern.learners.race.kinds import decoded_rows

NAMES = sorted(
    name for name, cls in CLASSES.items() if is_classifier(cls()) and hasattr(cls, "partial_fit")
)
REFUSING = {"SDROGDClassifier"}
GROWING = [name for name in NAMES if name not in REFUSING]
# Takes up any label that comes; what experts give each class is made to sum to 1 again.
RACE = "StreamClassifier"
# What a new class begins with.
CONSTANT = {
    "AROWClassifier", "CWClassifier", "KernelAROWClassifier", "KernelSCWClassifier",
    "OGDClassifier", "PAClassifier", "PegasosClassifier", "PerceptronClassifier", "SCWClassifier",
    "BOLSSVMClassifier",
}  # fmt: skip
# What two classes had as one score is the difference of two.
OF_SOFTMAX = {"KernelLogisticClassifier"}
LABELS = {2: [10, 20], 3: [10, 20, 30]}


def stream(n_classes, n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    levels = [0.0] if n_classes == 2 else [-0.5, 0.5]
    return X, np.array(LABELS[n_classes])[np.digitize(X[:, 0] + X[:, 1] * X[:, 2], levels)]


def wider(n_classes):
    return np.array([5, *LABELS[n_classes], 99])


def begun(name, n_classes, **parameters):
    X, y = stream(n_classes)
    return build(name, **parameters).partial_fit(X[:90], y[:90], classes=LABELS[n_classes]), X, y


def take_up(model, labels):
    """Return a copy of a model that has taken up classes, and has learnt no sample since."""
    other = copy.deepcopy(model)
    other._take_up(np.unique(labels))
    return other


every_count = pytest.mark.parametrize("n_classes", [2, 3])


@every_count
@pytest.mark.parametrize("name", [name for name in GROWING if name != RACE])
def test_what_was_learnt_is_kept(name, n_classes):
    model, X, _ = begun(name, n_classes)
    labels = wider(n_classes)
    before = model.decision_function(X)
    other = take_up(model, labels)
    scores = other.decision_function(X)
    known = [1, 2] if n_classes == 2 else [1, 2, 3]
    expected = np.column_stack([-before, before]) if n_classes == 2 else before
    if n_classes == 2 and name in OF_SOFTMAX:
        expected /= 2
    np.testing.assert_allclose(scores[:, known], expected, rtol=1e-9, atol=1e-9)
    new = scores[:, [0, len(labels) - 1]]
    if name in CONSTANT:
        np.testing.assert_allclose(new, -1, rtol=1e-9)
    elif name != "KernelRLSClassifier":
        np.testing.assert_array_equal(new, 0)
    assert other.n_seen_ == model.n_seen_
    assert other.n_mistakes_ == model.n_mistakes_


@every_count
@pytest.mark.parametrize("name", GROWING)
def test_the_new_classes_are_learnt(name, n_classes):
    model, X, y = begun(name, n_classes)
    before = copy.deepcopy(model)
    y = np.where(X[:, 3] > 0.8, 5, y)
    model.partial_fit(X[90:], y[90:], classes=wider(n_classes))
    assert model.classes_.tolist() == wider(n_classes).tolist()
    # One by one, with the classes given once, and from a pickle of the first half.
    ones = pickle.loads(pickle.dumps(before))
    ones.learn_one(X[90], y[90], classes=wider(n_classes))
    for i in range(91, 150):
        ones.learn_one(X[i], y[i])
    np.testing.assert_array_equal(ones.decision_function(X), model.decision_function(X))
    scores = model.decision_function(X)
    assert scores[y == 5, 0].mean() > scores[y != 5, 0].mean()


@pytest.mark.parametrize("name", GROWING)
def test_saved_models_go_on_alike(name, tmp_path):
    model, X, y = begun(name, 2)
    model.partial_fit(X[90:95], y[90:95], classes=wider(2))
    model.save(tmp_path / "model.okn")
    loaded = onlinekern.load(tmp_path / "model.okn")
    for other in (model, loaded):
        other.partial_fit(X[95:], y[95:])
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@every_count
@pytest.mark.parametrize("name", [name for name in NAMES if name != RACE])
def test_a_failed_call_leaves_the_classes(name, n_classes, state_of, same_state):
    model, X, y = begun(name, n_classes)
    before = state_of(model)
    wrong = np.where(np.arange(60) == 59, 77, y[90:])
    message = "cannot take up classes" if name in REFUSING else "not among the classes"
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X[90:], wrong, classes=wider(n_classes))
    same_state(model, before)
    assert model.classes_.tolist() == LABELS[n_classes]
    assert model.partial_fit(X[90:], y[90:]).classes_.tolist() == LABELS[n_classes]


def test_the_error_of_a_new_label_says_how_it_is_learnt():
    model, X, y = begun("PAClassifier", 3)
    new = np.where(np.arange(60) == 59, 77, y[90:])
    with pytest.raises(ValueError, match="partial_fit learns those that its argument `classes` na"):
        model.partial_fit(X[90:], new)
    names = [*model.classes_, 77]
    assert model.partial_fit(X[90:], new, classes=names).classes_.tolist() == names


def test_fewer_or_other_classes_are_refused_as_before():
    model, X, y = begun("PAClassifier", 3)
    for classes in ([10, 20], [10, 20, 40], [10, 20, 40, 50], ["a", "b", "c", "d"]):
        with pytest.raises(ValueError, match="not the same as on last call"):
            model.partial_fit(X, y, classes=classes)


@pytest.mark.parametrize("name", NAMES)
def test_a_first_batch_of_one_class(name):
    X, y = stream(3)
    one = y == 20
    model = build(name).partial_fit(X[one][:5], y[one][:5], classes=LABELS[3])
    model.partial_fit(X, y)
    assert set(model.predict(X)) <= {10, 20, 30}


def test_text_labels_and_class_weights():
    X, y = stream(2)
    text = np.where(y == 10, "b", "d")
    model = PAClassifier(class_weight={"a": 2.0, "b": 1.0, "ccc": 3.0, "d": 1.0})
    model.partial_fit(X[:90], text[:90], classes=["b", "d"])
    later = np.where(X[90:, 3] > 1, "ccc", text[90:])
    model.partial_fit(X[90:], later, classes=["a", "b", "d", "ccc"])
    assert model.classes_.tolist() == ["a", "b", "ccc", "d"]
    assert model._model.head.arguments[1] == (2.0, 1.0, 3.0, 1.0)


@pytest.mark.parametrize("name", ["KernelOGDClassifier", "KernelRLSClassifier"])
def test_while_the_width_is_measured(name):
    """The first 200 samples are learnt again whenever the width is: by their new numbers."""
    X, y = stream(2, n=400)
    model = CLASSES[name](random_state=0).partial_fit(X[:60], y[:60], classes=LABELS[2])
    y = np.where(X[:, 3] > 0.8, 5, y)
    model.partial_fit(X[60:], y[60:], classes=wider(2))
    assert np.mean(model.predict(X) == y) > 0.6


def twin_scores(X, targets, gamma, eta, n_before, grow):
    """Return the scores before each sample of NORMA with the hinge, one against the rest.

    `grow` maps the coefficients of each output, (K, n), to those after the growth.
    """
    K = rbf_kernel(X, gamma=gamma)
    coefficients = np.zeros((targets[0].shape[0], 0))
    scores = []
    for t, signs in enumerate(targets):
        if t == n_before:
            coefficients = grow(coefficients)
        f = coefficients @ K[:t, t]
        scores.append(f)
        steps = eta * signs * (signs * f < 1)
        coefficients = np.column_stack([coefficients, steps])
    return scores


@every_count
def test_kernel_gradient_descent_against_a_twin(n_classes):
    X, y = stream(n_classes)
    labels = wider(n_classes)
    later = np.where(X[:, 3] > 0.8, 5, y)
    parameters = {"gamma": 0.4, "eta": 0.3, "schedule": "constant", "reg": 0.0}
    model = KernelOGDClassifier(loss="hinge", **parameters)
    model.partial_fit(X[:90], y[:90], classes=LABELS[n_classes])
    if n_classes == 2:
        early = [np.array([1.0 if label == 20 else -1.0]) for label in y[:90]]
    else:
        early = [np.where(np.array(LABELS[3]) == label, 1.0, -1.0) for label in y[:90]]
    late = [np.where(labels == label, 1.0, -1.0) for label in later[90:]]
    nothing = np.zeros((1, 90))

    def grow(a):
        return np.vstack([nothing, -a, a, nothing] if n_classes == 2 else [nothing, a, nothing])

    expected = twin_scores(X, early + late, 0.4, 0.3, 90, grow)
    for i in range(90, 150):
        if i > 90:
            np.testing.assert_allclose(model.score_one(X[i]), expected[i], rtol=1e-9, atol=1e-11)
        model.learn_one(X[i], later[i], **({"classes": labels} if i == 90 else {}))


@every_count
@pytest.mark.parametrize("forgetting", [1.0, 0.97])
@pytest.mark.parametrize("features", ["fourier", "nystroem"])
@pytest.mark.parametrize("n_before", [3, 90, 140])
def test_least_squares_are_those_of_all_classes_from_the_start(
    n_classes, forgetting, features, n_before
):
    """With a constant: as if the new classes had been there, and had not come."""
    X, y = stream(n_classes, n=300)
    parameters = {
        "gamma": 0.4, "features": features, "n_components": 20, "gate": "always", "reg": 0.5,
        "forgetting": forgetting, "random_state": 0,
    }  # fmt: skip
    late = np.where((X[:, 3] > 0.8) & (np.arange(300) >= n_before), 5, y)
    grown, whole = KernelRLSClassifier(**parameters), KernelRLSClassifier(**parameters)
    grown.partial_fit(X[:n_before], y[:n_before], classes=LABELS[n_classes])
    grown.partial_fit(X[n_before:], late[n_before:], classes=wider(n_classes))
    whole.partial_fit(X, late, classes=wider(n_classes))
    np.testing.assert_allclose(
        grown.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-9
    )


NUMBERS = np.arange(1.0, 152.0)
SHARES = {
    True: NUMBERS**0,
    "decay": None,
    0.5: 0.5**-NUMBERS,
}


def with_its_leads(models, targets):
    """Return the decaying average of models; its lead begins anew when classes come."""
    head, average = HEADS["ovr"](models[0].shape[1]), Average("decay")
    for i, model in enumerate(models[:-1]):
        if i == 90:
            average.lead = 0
        average.compare(head, model[i], average.including(model)[i], targets[i])
        average.add(model)
    return average.including(models[-1])


@pytest.mark.parametrize("average", SHARES)
def test_an_average_is_that_of_all_models(average):
    """The average of a new class before it came is its score -1, under any scale."""
    X, y = stream(3)
    parameters = {"eta": 0.1, "schedule": "constant", "reg": 0.5, "average": average}
    model = OGDClassifier(**parameters)
    last, scores = OGDClassifier(**{**parameters, "average": False}), []
    for i in range(150):
        more = {0: {"classes": LABELS[3]}, 90: {"classes": wider(3)}}.get(i, {})
        for one in (model, last):
            one.learn_one(X[i], y[i], **more)
        row = last.decision_function(X)
        scores.append(row if i >= 90 else np.insert(row, [0, 3], -1.0, axis=1))
    first = np.insert(np.zeros((150, 3)), [0, 3], -1.0, axis=1)
    if average == "decay":
        expected = with_its_leads([first, *scores], np.searchsorted(wider(3), y))
    else:
        expected = np.average([first, *scores], axis=0, weights=SHARES[average])
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-9)


def megabytes_of(learner):
    """Return what the experts of a race take, as `memory_budget` counts it."""
    race = learner._model
    form = growing.form_of(race, race.head.n_outputs)
    return growing.megabytes(learner._ladder(race), form)


def late(n_classes, n=1500):
    """Return a stream in which a new class comes every 50 rows."""
    rng = np.random.default_rng(0)
    y = np.array([rng.integers(0, min(n_classes, i // 50 + 1)) for i in range(n)])
    return 2 * rng.normal(size=(n_classes, 6))[y] + rng.normal(size=(n, 6)), y


def test_late_classes_stay_within_the_memory_budget():
    X, y = late(20)
    whole, parts = (StreamClassifier(memory_budget=8, random_state=0) for _ in range(2))
    predicted = whole.partial_fit_predict(X, y)
    assert megabytes_of(whole) <= 8
    assert np.mean(predicted[-300:] == y[-300:]) > 0.8
    assert whole.n_seen_ == len(y)
    assert whole.n_mistakes_ == np.sum(predicted != y)
    for part in np.split(np.arange(len(y)), [1, 60, 61, 333, 1200]):
        parts.partial_fit(X[part], y[part])
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))


def test_alarms_of_a_race_of_smaller_experts_are_those_of_the_stream():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2600, 6))
    y = (X[:, 0] > 0) ^ (np.arange(2600) >= 1300)
    model = StreamClassifier(memory_budget=8, random_state=0)
    before = model.partial_fit(X, y.astype(int), classes=[0, 1]).alarms_
    assert len(before) > 0
    first = model._model
    model.partial_fit(X[:1], [2])
    assert len(model._model.experts) != len(first.experts) or model._outputs_at_first > 1
    np.testing.assert_array_equal(model.alarms_, before)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.alarms_, before)
    with pytest.raises(ValueError, match="alarm"):
        again._model.resume_alarms([-1])


@pytest.mark.parametrize(("at_first", "later"), [((5, 1), (100, 64)), ((50, 8), (50, 0.1))])
def test_budgets_that_are_set_in_mid_stream_wait_for_fit(at_first, later):
    """Classes that come later are taken up, within the budgets that the race began with."""
    X, y = stream(3, n=300)
    budgets = dict(zip(["time_budget", "memory_budget"], at_first, strict=True))
    model = StreamClassifier(**budgets, random_state=0).partial_fit(X[:200], y[:200] % 20)
    other = copy.deepcopy(model).set_params(time_budget=later[0], memory_budget=later[1])
    with pytest.warns(UserWarning, match="will take effect when it is fitted anew"):
        other.partial_fit(X[200:], y[200:])
    model.partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
    assert str(other.report()) == str(model.report())
    fresh = StreamClassifier(**other.get_params()).fit(X, y)
    np.testing.assert_array_equal(other.fit(X, y).decision_function(X), fresh.decision_function(X))


def rows_of_a_table(n, n_towns=5):
    """Return rows with numbers, some missing, and categories, and classes that come one by one."""
    X, y = late(12, n)
    rows = pytest.importorskip("pandas").DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    rows.loc[::7, "x1"] = np.nan
    return rows.assign(town=[f"town {k % n_towns}" for k in range(n)]), y


@pytest.mark.parametrize("n_towns", [5, 90])  # dense rows, and sparse ones
def test_a_race_of_a_table_begins_again_with_smaller_experts(n_towns):
    rows, y = rows_of_a_table(900, n_towns)
    whole, parts = (StreamClassifier(memory_budget=8, random_state=0) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model, cuts in ((whole, [120]), (parts, [120, 121, 160, 333])):
            for part in np.split(np.arange(900), cuts):
                model.partial_fit(rows.iloc[part], y[part])
    race = whole._model
    assert megabytes_of(whole) <= 8
    assert "kernel forest" in [expert.name for expert in whole.report().experts]
    np.testing.assert_array_equal(parts.decision_function(rows), whole.decision_function(rows))
    kept = next(s for s in (one.space for one in race.experts) if isinstance(s, ForestSpace))
    coded = kept.get_state()["rows"]
    back = coded_rows(decoded_rows(coded, race.layout, race.moments), race.layout)
    np.testing.assert_array_equal(back, coded)


def test_experts_leave_when_classes_come_that_have_no_room(monkeypatch):
    monkeypatch.setattr(race_stream, "KEPT", 2.0)  # as after many rows
    X, y = late(12, 900)
    whole, parts = (StreamClassifier(memory_budget=8, random_state=0) for _ in range(2))
    with pytest.warns(UserWarning, match=r"memory_budget=8 has no room .* left the race.*Raise"):
        predicted = whole.partial_fit_predict(X, y)
    assert megabytes_of(whole) <= 8
    assert np.mean(predicted[-200:] == y[-200:]) > 0.7
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*left the race")
        for part in np.split(np.arange(len(y)), [1, 60, 61, 333, 600]):
            parts.partial_fit(X[part], y[part])
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))
    again = pickle.loads(pickle.dumps(parts))
    names = [expert.name for expert in whole.report().experts]
    assert len(names) == len(whole._model.experts)
    assert [expert.name for expert in again.report().experts] == names
    for model in (again, whole):
        model.partial_fit(X[:200], y[:200])
    np.testing.assert_array_equal(again.decision_function(X), whole.decision_function(X))


def test_merging_a_race_that_experts_have_left_says_what_to_do(monkeypatch):
    """The message tells why; what it advises can be merged."""
    monkeypatch.setattr(race_stream, "KEPT", 2.0)  # as after many rows
    X, y = late(12, 900)

    def part(rows, **classes):
        model = StreamClassifier(memory_budget=8, random_state=0)
        return model.partial_fit(X[rows], y[rows], **classes)

    with pytest.warns(UserWarning, match="left the race"):
        grown = part(slice(450)).partial_fit(X[450:], y[450:])
    known = {"classes": np.unique(y)}
    first, second = (part(rows, **known) for rows in (slice(450), slice(450, 900)))
    with pytest.raises(ValueError, match=r"races of different experts, \d+ and \d+: .*`classes`"):
        onlinekern.merge([grown, second])
    assert onlinekern.merge([first, second]).score(X, y) > 0.7
    other = StreamClassifier(memory_budget=8, random_state=0).fit(X.astype(np.float32), y)
    with pytest.raises(ValueError, match="different types, float64 and float32: give all parts"):
        onlinekern.merge([first, other])


def slotted(n_classes, n=300):
    """Return rows of text without end, and labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    words = rng.integers(0, 10**6, (n, 5))
    rows = [
        {"title": f"of{label} " + " ".join(f"w{word}" for word in line), "size": float(line[0])}
        for label, line in zip(y, words, strict=True)
    ]
    return rows, np.char.add("class ", y.astype(str))


def test_slots_are_as_many_as_memory_has_room_for():
    rows, y = slotted(152)
    whole = StreamClassifier(random_state=0, shuffle=False).fit(rows, y)
    assert len(whole.classes_) > 120
    assert whole.encoder_.n_slots_ == 2**13
    assert megabytes_of(whole) <= 64
    rows, y = slotted(40, 600)
    model = StreamClassifier(random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*left the race")
        predicted = model.partial_fit_predict(rows, y)
    assert model.encoder_.n_slots_ == 2**15
    assert len(model.classes_) == 40
    assert megabytes_of(model) <= 64
    assert np.mean(predicted[-200:] == y[-200:]) > 0.2
    two, labels = slotted(2)
    assert StreamClassifier().fit(two, labels).encoder_.n_slots_ == 2**20
    assert StreamClassifier(memory_budget=20).fit(two, labels).encoder_.n_slots_ == 2**19
    assert StreamClassifier().partial_fit(two[:50], labels[:50]).encoder_.n_slots_ == 2**17
    for n_rows in (50, 300):  # Classes that are announced are those that are planned for.
        known = StreamClassifier().partial_fit(two[:n_rows], labels[:n_rows], classes=[*{*labels}])
        assert known.encoder_.n_slots_ == 2**20
    assert StreamRegressor().fit(two, np.arange(300.0)).encoder_.n_slots_ == 2**20


def test_one_expert_stays_and_tells_what_it_takes(monkeypatch):
    rows, y = slotted(6)
    model = make_stream_pipeline(TableEncoder(categories="auto"), StreamClassifier())
    model.partial_fit(rows[:30], ["yes", "no"] * 15)
    with pytest.warns(UserWarning, match="linear AROW, noisy left the race"):
        model.partial_fit(rows[:1], ["perhaps"])
    race = model[-1]
    assert megabytes_of(race) <= 64
    with pytest.warns(UserWarning, match=r"memory_budget=64 .*1,048,577 features and 4 classes"):
        model.partial_fit(rows[:1], ["never"])
    model.partial_fit(rows[:1], ["later"])  # It warns once.
    assert race.classes_.tolist() == ["later", "never", "no", "perhaps", "yes"]
    before = model.decision_function(rows)
    monkeypatch.setattr("onlinekern.estimators.memory.available_memory", lambda: 10**8)
    with pytest.raises(MemoryError, match="n_features=1048577 needs at least"):
        model.partial_fit(rows[:1], ["too late"])
    np.testing.assert_array_equal(model.decision_function(rows), before)
    fresh = make_stream_pipeline(TableEncoder(categories="auto"), StreamClassifier())
    monkeypatch.undo()
    with pytest.warns(UserWarning, match=r"memory_budget=64 .* --slots"):
        fresh.partial_fit(rows, y, classes=np.unique(y))


@pytest.mark.parametrize(
    ("model", "much", "match"),
    [
        (StreamClassifier(memory_budget=0.01), 1e9, "no room for a race: with 500,000"),
        (PAClassifier(), 1e6, "weights of 500,000"),
        (AROWClassifier(), 1e6, "weights of 500,000"),
    ],
)
def test_each_fit_warns_of_memory_anew(model, much, match, monkeypatch):
    monkeypatch.setattr(linear, "MUCH", much)
    y = np.arange(9) % 3
    model = clone(model).fit(np.ones((9, 4)) * y[:, None], y)
    wide = sp.csr_matrix((np.ones(9), (np.arange(9), y)), shape=(9, 500_000))
    for _ in range(2):
        with pytest.warns(UserWarning, match=match):
            model.fit(wide, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(wide, y)


def test_linear_learners_warn_of_weights_that_take_much_memory(monkeypatch):
    monkeypatch.setattr(linear, "MUCH", 1e6)
    rows, y = slotted(6, 60)
    with pytest.warns(UserWarning, match=r"1,048,577 features for each of 6 classes: 0\.11 giga"):
        PAClassifier().fit(rows, y)
    monkeypatch.setattr(memory, "available_memory", lambda: 1e8)
    model = PAClassifier().partial_fit(rows, ["yes", "no"] * 30, classes=["no", "yes"])
    before = model.decision_function(rows)
    with pytest.raises(MemoryError, match="n_features=1048577 needs at least"):
        model.partial_fit(rows, y, classes=["no", "yes", *np.unique(y)])
    np.testing.assert_array_equal(model.decision_function(rows), before)
    assert model.classes_.tolist() == ["no", "yes"]


def test_random_state_counts_where_a_race_begins_again_as_classes_come():
    X, y = load_digits(return_X_y=True)

    def scores(seed):
        return StreamClassifier(random_state=seed).partial_fit(X, y).decision_function(X[:20])

    first = scores(0)
    assert np.array_equal(first, scores(0))
    assert not np.array_equal(first, scores(1))
