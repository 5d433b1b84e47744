"""Labels and targets are taken alike by batch and one by one, or refused alike."""

import datetime

import numpy as np
import pytest
from learners import CLASSES

from onlinekern import KernelPAClassifier, KernelPARegressor, all_estimators

X = np.random.default_rng(0).standard_normal((30, 2))
HIGH = X[:, 0] > 0
LABELS = {
    "days": np.array(["2020-01-01", "2021-02-03"], "M8[D]"),
    "seconds": np.array(["2020-01-01T01", "2021-02-03T04"], "M8[s]"),
    "nanoseconds": np.array(["2020-01-01T01", "2021-02-03T04"], "M8[ns]"),
    "durations": np.array([5, 7], "m8[ns]"),
    "text": np.array(["no", "yes"]),
    "numbers": np.array([-1.0, 1.0]),
    "truth": np.array([False, True]),
}
BAD_TARGETS = {
    "none": [None] * 30,
    "nones": np.array([None] * 30),
    "one missing": [*range(29), None],
    "dates": np.arange(30).astype("M8[D]"),
    "text": [str(number) for number in range(30)],
    "complex": np.arange(30) + 1j,
    "nan": [*range(29), np.nan],
}


@pytest.mark.parametrize("kind", LABELS)
def test_one_by_one_and_by_batch_are_the_same(kind, same_state):
    y = LABELS[kind][HIGH.astype(int)]
    batch = KernelPAClassifier(gamma=0.5, random_state=0).partial_fit(X, y, classes=LABELS[kind])
    single = KernelPAClassifier(gamma=0.5, random_state=0)
    for row, label in zip(X, y, strict=True):
        single.learn_one(row, label, classes=LABELS[kind])
    same_state(single, batch)
    assert set(single.predict(X)) == set(LABELS[kind])


def test_dates_of_python_are_labels():
    model = KernelPAClassifier(gamma=0.5).partial_fit(
        X, LABELS["seconds"][HIGH.astype(int)], classes=LABELS["seconds"]
    )
    model.learn_one(X[0], datetime.datetime(2020, 1, 1, 1))
    assert model.n_seen_ == 31


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize(
    "label",
    ["perhaps", 3, None, np.nan, np.datetime64("1999-01-01"), np.datetime64("NaT"), [1.0], b"no"],
    ids=repr,
)
def test_unknown_labels_are_refused_one_by_one(kind, label, state_of, same_state):
    model = KernelPAClassifier(gamma=0.5).fit(X, LABELS[kind][HIGH.astype(int)])
    before = state_of(model)
    with pytest.raises(ValueError, match="none of the classes"):
        model.learn_one(X[0], label)
    same_state(model, before)


def test_a_missing_key_elsewhere_is_not_taken_for_an_unknown_label():
    class Failing(KernelPAClassifier):
        _calls_blas = True

        def _next_calls_blas(self):
            raise KeyError("elsewhere")

    model = Failing(gamma=0.5).fit(X, HIGH)
    with pytest.raises(KeyError, match="elsewhere"):
        model.learn_one(X[0], True)


@pytest.mark.parametrize("kind", BAD_TARGETS)
@pytest.mark.parametrize("name", [name for name, _ in all_estimators("regressor")])
def test_targets_that_are_no_finite_numbers_are_refused(name, kind):
    with pytest.raises((ValueError, TypeError)):
        CLASSES[name]().fit(X, BAD_TARGETS[kind])


@pytest.mark.parametrize("kind", BAD_TARGETS)
def test_a_fitted_model_refuses_them_too(kind, state_of, same_state):
    model = KernelPARegressor(gamma=0.5).fit(X, X[:, 0])
    before = state_of(model)
    with pytest.raises((ValueError, TypeError)):
        model.partial_fit(X, BAD_TARGETS[kind])
    same_state(model, before)


def test_numbers_as_objects_are_targets():
    model = KernelPARegressor(gamma=0.5).fit(X, X[:, 0].astype(object))
    assert model.n_seen_ == 30


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        ({0, 1}, "at least two labels, in a list or an array, got {0, 1}"),
        ("no", "at least two labels, in a list or an array, got 'no'"),
        ([0, 1, np.nan], "classes must be labels of one kind, none of them missing"),
        ([None, 0, 1], "classes must be labels of one kind, none of them missing"),
        ([0, "yes"], "classes must be labels of one kind, none of them missing"),
        (np.array([0, 1], dtype=object), r"got \[0, 1\] of dtype object"),
        # NumPy before 2.3 takes both for one label.
        (["a", "a\0"], "classes (hold text that differs in its last|must hold at least two lab)"),
        (np.arange(99) + 0.5, r"got \[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, ...\]$"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("fitted", [False, True])
def test_wrong_classes_are_named(classes, words, fitted):
    model = KernelPAClassifier(gamma=0.5)
    if fitted:
        model.partial_fit(X, HIGH.astype(int), classes=[0, 1])
    with pytest.raises(ValueError, match=words):
        model.partial_fit(X, HIGH.astype(int), classes=classes)


def test_labels_that_are_objects_are_told_so():
    labels = np.where(HIGH, 1, 0).astype(object)
    with pytest.raises(ValueError, match=r"y holds objects \(int\): .* y.astype\(int\)"):
        KernelPAClassifier(gamma=0.5).fit(X, labels)
    labels[0] = "a"
    with pytest.raises(ValueError, match=r"y holds objects \(int, str\): labels are of one kind"):
        KernelPAClassifier(gamma=0.5).fit(X, labels)
