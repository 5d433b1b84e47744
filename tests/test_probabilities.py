"""Probabilities: calibrated on scores from before a sample was learnt, or by the logistic link."""

import copy
import pickle

import numpy as np
import pytest
from learners import CLASSES, build, data, learn, learn_each
from oracles import calibration as oracle
from scipy.special import expit, log_expit, logsumexp
from sklearn.base import is_classifier
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

from onlinekern import (
    DualSGDClassifier,
    FOGDClassifier,
    KernelPAClassifier,
    OGDClassifier,
    OLLAClassifier,
    PAClassifier,
    PegasosClassifier,
    StreamClassifier,
)
from onlinekern.core.stream import restore
from onlinekern.estimators.calibration import Calibration, SoftmaxCalibration, calibrated

CLASSIFIERS = sorted(name for name, cls in CLASSES.items() if is_classifier(cls()))
ONLINE = [name for name in CLASSIFIERS if hasattr(CLASSES[name], "partial_fit")]
every_classifier = pytest.mark.parametrize("name", CLASSIFIERS)


def rows_of(scores, positive, weights):
    """Return the rows of two classes that `calibrated` takes."""
    return np.column_stack([scores, positive, weights])


def beyond(z, most):
    """Return z with the logarithm of what is beyond +-most."""
    size = np.abs(z)
    return np.sign(z) * np.where(size > most, most + np.log1p(np.maximum(size - most, 0)), size)


@pytest.mark.parametrize("most", [3.0, np.inf])
def test_a_calibration_of_scores(most):
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((12, 4))[:, ::2][:, :1]
    scores[:4, 0] = 0.0, -0.0, 1e307, -1e307
    found = Calibration(0.5, 3.0, -0.25, 0.75, most, 12).log_proba(scores)
    z = beyond(np.where(scores > 0, 3.0 * scores + 0.75, 0.5 * scores - 0.25), most)
    z = np.clip(z, -1e300, 1e300)
    np.testing.assert_allclose(found, log_expit(np.column_stack([-z, z])), rtol=1e-13)


@pytest.mark.parametrize("most", [3.0, np.inf])
def test_a_calibration_of_scores_of_several_classes(most):
    scores = np.random.default_rng(0).standard_normal((12, 3))
    scores[:3] = [0.0, 0.0, 0.0], [1e308, -1e308, 0.0], [0.5, -0.0, 0.5]
    others = np.array([0.0, -0.5, -2.0])
    found = SoftmaxCalibration(0.5, 2.0, 0.75, others, most, 12).log_proba(scores)
    wins = np.arange(3) == scores.argmax(axis=1)[:, None]  # the first of equal ones
    bounded = np.clip(scores, -1e306, 1e306)
    z = np.clip(np.where(scores > 0, 2.0, 0.5) * bounded, -1e300, 1e300)
    z = z + np.where(wins, 0.75, others)
    z = np.maximum(beyond(z - z.max(axis=1, keepdims=True), most), -1e300)
    expected = z - logsumexp(z, axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-290)


@pytest.mark.parametrize("n", [5, 40, 512])
@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e12])
def test_the_sigmoids_are_those_of_the_oracle(n, unit):
    rng = np.random.default_rng(n)
    scores = rng.standard_normal(n)
    weights = rng.choice([0.5, 1.0, 3.0], n)
    weights /= weights.mean()
    for shift in (-1.0, 0.0, 1.0):  # another shift, another bound that holds
        positive = rng.random(n) < expit(2 * scores + shift)
        both = calibrated(rows_of(unit * scores, positive, weights))
        for above, slope, offset in (
            (True, both.above, both.offset_above),
            (False, both.below, -both.offset_below),
        ):
            here = (scores > 0) == above
            given = np.abs(scores[here]), positive[here] == above, weights[here], n
            expected = oracle.side(*given)
            np.testing.assert_allclose([slope * unit, offset], expected, rtol=1e-4, atol=1e-4)
        # The unit of weights does not matter.
        other = calibrated(rows_of(unit * scores, positive, 7 * weights))
        np.testing.assert_allclose(other, both, rtol=1e-6)


@pytest.mark.parametrize("farthest", [100.0, 1000.0])
def test_the_sigmoid_beside_an_outlier_is_that_of_the_oracle(farthest):
    # The logit of the outlier moves by hundreds before the others have theirs.
    rng = np.random.default_rng(0)
    scores = np.append(rng.standard_normal(300), farthest)
    positive = np.append(rng.random(300) < expit(3 * scores[:300]), True)
    found = calibrated(rows_of(scores, positive, np.ones(301)))
    here = scores > 0
    expected = oracle.side(scores[here], positive[here], np.ones(here.sum()), 301)
    np.testing.assert_allclose([found.above, found.offset_above], expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("n", [5, 40, 300])
@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e12])
@pytest.mark.parametrize("kind", ["even", "rare", "misleading"])
def test_the_softmax_is_that_of_the_oracle(n, unit, kind):
    rng = np.random.default_rng(n)
    labels = rng.choice(4, n, p=[0.7, 0.2, 0.07, 0.03] if kind == "rare" else [0.25] * 4)
    scores = rng.standard_normal((n, 4))
    scores[np.arange(n), labels] += -1.0 if kind == "misleading" else 1.0
    weights = rng.choice([0.5, 1.0, 3.0], n)
    weights /= weights.mean()
    found = calibrated(np.column_stack([unit * scores, labels, 7 * weights]))
    *expected, others = oracle.softmax(scores, labels, weights)
    numbers = found.below * unit, found.above * unit, found.winner
    np.testing.assert_allclose(numbers, expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found.others, others, rtol=1e-3, atol=2e-3)
    assert (found.most, found.n_samples) == (np.log1p(4 * n), n)
    logs = found.log_proba(unit * scores)
    np.testing.assert_array_equal(logs.argmax(axis=1), scores.argmax(axis=1))


def test_what_an_early_model_said_counts_less():
    """A model whose scores tell nothing at first, and all later, is as sure as it is right."""
    rng = np.random.default_rng(0)
    labels, told = rng.integers(4, size=(2, 80))
    knows = rng.random(80) < np.linspace(0, 1, 80)
    scores = np.eye(4)[np.where(knows, labels, told)]
    rows = np.column_stack([scores, labels, np.ones(80)])
    along, backwards = (
        np.exp(calibrated(each).log_proba(np.eye(4))).max(axis=1).mean()
        for each in (rows, rows[::-1])
    )
    right = np.mean(scores.argmax(axis=1) == labels)
    assert backwards < right - 0.05 < right + 0.05 < along


@pytest.mark.parametrize(("n_classes", "right"), [(100, 0.98), (300, 0.93)])
def test_the_softmax_of_many_classes_is_that_of_the_oracle(n_classes, right):
    # The first step of Newton's method is so long that no curvature is left behind it.
    rng = np.random.default_rng(n_classes)
    labels = rng.integers(n_classes, size=200)
    told = np.where(rng.random(200) < right, labels, rng.integers(n_classes, size=200))
    shares = 0.05 * rng.random((200, n_classes)) / n_classes
    shares[np.arange(200), told] += rng.random(200)
    shares /= shares.sum(axis=1, keepdims=True)
    weights = np.ones(200)
    found = calibrated(np.column_stack([shares, labels, weights]), 0.02)
    scores = oracle.logits(shares, 0.02)
    below, above, winner, others = oracle.softmax(scores, labels, weights)
    expected = SoftmaxCalibration(below, above, winner, others, found.most, 200, 0.02)
    losses = [-each.log_proba(shares)[np.arange(200), labels] for each in (found, expected)]
    np.testing.assert_allclose(*[loss.mean() for loss in losses], rtol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_shares_are_calibrated_by_their_logarithms(n_classes):
    rng = np.random.default_rng(n_classes)
    labels, weights = rng.integers(n_classes, size=300), np.ones(300)
    shares = rng.dirichlet(np.ones(n_classes), 300) + 0.3 * np.eye(n_classes)[labels]
    # A combination of experts may give a class less than nothing.
    shares = (shares - 0.02) / (shares - 0.02).sum(axis=1, keepdims=True)
    scores = shares if n_classes > 2 else shares[:, 1:] - shares[:, :1]
    told = oracle.logits(scores, 0.02)
    found = calibrated(np.column_stack([scores, labels, weights]), 0.02)
    plain = calibrated(np.column_stack([told, labels, weights]))
    assert (found.floor, plain.floor) == (0.02, 0.0)
    np.testing.assert_allclose(found.log_proba(scores), plain.log_proba(told), rtol=1e-6)
    # A share of all, or of nothing, is not certain, and the predicted class stays the likeliest.
    sure = np.eye(n_classes) if n_classes > 2 else np.array([[-1.0], [1.0]])
    logs = found.log_proba(sure)
    assert logs.min() > -20
    np.testing.assert_array_equal(logs.argmax(axis=1), np.arange(n_classes))


def test_differences_of_shares_keep_their_sign():
    scores = np.array([[5e-324], [1e-300], [0.0], [-1e-300]])
    rows = np.column_stack([np.array([-0.5, 0.5]), [0, 1], np.ones(2)])
    logs = calibrated(rows, 0.02).log_proba(scores)
    np.testing.assert_array_equal(logs[:, 1] > logs[:, 0], [True, True, False, False])


def test_the_shares_of_a_race_count_by_their_logarithms():
    X, y = make_classification(3000, 10, n_informative=6, n_classes=3, flip_y=0.2, random_state=0)
    model = StreamClassifier(time_budget=10).partial_fit(X[:2000], y[:2000])
    shares = model.decision_function(X[2000:])
    given = model.predict_log_proba(X[2000:])
    np.testing.assert_array_equal(given, model.calibration_.log_proba(shares))
    plain = calibrated(np.array(model._model.recent.rows())).log_proba(shares)
    assert log_loss(y[2000:], np.exp(given)) < 0.99 * log_loss(y[2000:], np.exp(plain))


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_sum_of_weights_may_be_beyond_the_largest_number(n_outputs, equal):
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((512, n_outputs))
    labels = rng.integers(0, max(2, n_outputs), 512)
    found = [
        calibrated(np.column_stack([scores, labels, np.full(512, weight)]))
        for weight in (2.0**1020, 1.0)
    ]
    for one, other in zip(*found, strict=True):
        equal(np.asarray(one), np.asarray(other))


def test_the_sigmoids_find_the_probabilities():
    rng = np.random.default_rng(0)
    scores, weights = rng.standard_normal(100_000), np.ones(100_000)
    z = np.where(scores > 0, 0.5 * scores + 1, 3.0 * scores)
    found = calibrated(rows_of(scores, rng.random(100_000) < expit(z), weights))
    np.testing.assert_allclose(found[:4], [3.0, 0.5, 0.0, 1.0], atol=0.09)


def test_the_softmax_finds_the_probabilities():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((40_000, 3))
    truth = SoftmaxCalibration(0.8, 1.5, 0.5, np.array([0.0, -0.5, -1.5]), np.inf, 1)
    chances = np.exp(truth.log_proba(scores))
    labels = (rng.random((40_000, 1)) > chances.cumsum(axis=1)[:, :2]).sum(axis=1)
    found = calibrated(np.column_stack([scores, labels, np.ones(40_000)]))
    np.testing.assert_allclose(np.exp(found.log_proba(scores)), chances, atol=0.08)
    assert np.abs(np.exp(found.log_proba(scores)) - chances).mean() < 0.02


def test_separable_scores_stay_finite():
    scores, ones = np.r_[np.full(256, -1.0), np.full(256, 1.0)], np.ones(512)
    found = calibrated(rows_of(scores, scores > 0, ones)).log_proba(np.array([[-1.0], [1.0]]))
    # 257 / 258 is the smoothed target.
    np.testing.assert_allclose(np.exp(found[:, 1]), [1 / 258, 257 / 258])
    labels = np.arange(60) % 3
    found = calibrated(np.column_stack([np.eye(3)[labels], labels, np.ones(60)]))
    of_all = (16 / 76) ** 2
    expected = np.eye(3) * (1 - of_all) + of_all / 3
    # The last class has come last, and counts a little more.
    np.testing.assert_allclose(np.exp(found.log_proba(np.eye(3))), expected, rtol=0.02)


@pytest.mark.parametrize(("n_positive", "n_negative"), [(0, 0), (0, 1), (0, 10), (1, 10), (2, 0)])
def test_few_samples_say_little(n_positive, n_negative):
    positive = np.repeat([True, False], [n_positive, n_negative])
    scores = np.where(positive, 1.0, -1.0)
    found = calibrated(rows_of(scores, positive, np.ones(len(positive))))
    expected = [1 / (n_negative + 2), (n_positive + 1) / (n_positive + 2)]
    probabilities = np.exp(found.log_proba(np.array([[-1.0], [1.0]])))[:, 1]
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)


def test_scores_that_mislead_tell_nothing():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal(400)
    found = calibrated(rows_of(scores, scores < 0, np.ones(400)))
    assert max(found.below, found.above) < 1e-5
    assert found.offset_below == found.offset_above == 0
    scores = rng.standard_normal((400, 3))
    found = calibrated(np.column_stack([scores, scores.argmin(axis=1), np.ones(400)]))
    assert max(found.below, found.above) < 1e-5
    assert found.winner == 0


def test_scores_that_tell_nothing_of_a_rare_class_leave_its_share():
    rng = np.random.default_rng(0)
    scores, positive = rng.standard_cauchy(512), rng.random(512) < 0.1
    found = calibrated(rows_of(scores, positive, np.ones(512)))
    rare = np.exp(found.log_proba(np.linspace(-3, 0, 5)[:, None]))[:, 1]
    np.testing.assert_allclose(rare, 0.1, atol=0.05)
    often = np.exp(found.log_proba(np.linspace(0.1, 3, 5)[:, None]))[:, 1]
    np.testing.assert_allclose(often, 0.5, atol=1e-3)
    assert (often > 0.5).all()
    # Of several classes: what the first one leaves.
    shares = np.array([0.8, 0.15, 0.04, 0.01])
    labels = rng.choice(4, 5000, p=shares)
    scores = np.column_stack([np.full(5000, 9.0), rng.random((5000, 3))])
    found = calibrated(np.column_stack([scores, labels, np.ones(5000)]))
    mean = np.exp(found.log_proba(scores)).mean(axis=0)
    np.testing.assert_allclose(mean, shares, atol=0.01)
    assert (found.others <= 0).all()


def test_equal_scores_leave_the_shares():
    labels = np.random.default_rng(0).choice(3, 512, p=[0.8, 0.15, 0.05])
    found = calibrated(np.column_stack([np.zeros((512, 3)), labels, np.ones(512)]))
    chances = np.exp(found.log_proba(np.zeros((1, 3))))[0]
    np.testing.assert_allclose(chances, np.bincount(labels) / 512, atol=0.01)


@pytest.mark.parametrize("n", [20, 50])
def test_a_few_rows_of_rare_classes_say_no_more_than_their_shares(n):
    """One line for all classes gave the rare ones too much: 1.6 times this log loss."""
    shares, found = np.array([0.9, 0.05, 0.03, 0.02]), []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.choice(4, n + 2000, p=shares)
        X = rng.standard_normal((n + 2000, 5))
        model = PAClassifier(random_state=0).partial_fit(X[:n], y[:n], classes=range(4))
        known = model.predict_proba(X[n:])[np.arange(2000), y[n:]]
        counts = np.bincount(y[:n], minlength=4) + 1
        found.append(np.log(known).mean() / np.log(counts / counts.sum())[y[n:]].mean())
    assert np.mean(found) < 1.15


@pytest.mark.parametrize("task", ["binary", "ovr"])
def test_rows_far_from_all_others_are_in_order_and_not_certain(task, stream):
    X, y = stream(task, n=2000)
    model = PAClassifier(C=0.01).fit(X, y)
    far = np.geomspace(1, 1e9, 20)[:, None] * X[:1]
    found = model.predict_proba(far)
    assert 0 < found.min() < found.max() < 1
    winner = found[-1].argmax()
    ends = model.predict_log_proba(far)[5:]
    others = np.delete(ends, winner, axis=1).min(axis=1)
    assert (np.diff(others) < 0).all()
    assert others[-1] > -60


@pytest.mark.parametrize("cuts", [[], [1], [511], [512, 513], [100, 700, 1900]])
@pytest.mark.parametrize("task", ["binary", "ovr"])
def test_the_kept_scores_are_those_of_the_oracle(task, cuts, stream):
    X, y = stream(task, n=3000)
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.5], 3000, p=[0.1, 0.7, 0.2])
    first = learn(model := PAClassifier(), X[:1], y[:1])
    assert len(first) == 1
    whole = copy.deepcopy(model)._model
    scores = np.zeros((2999, whole.head.n_outputs))
    numbers = model._encode(y, model.classes_)
    whole.learn(X[1:], numbers[1:], weights[1:], scores=scores)
    start = np.zeros((1, scores.shape[1]))  # the first score of a model is 0
    kept = oracle.recent(np.vstack([start, scores]), numbers, np.r_[1.0, weights[1:]])
    for part in np.split(np.arange(1, 3000), cuts):
        model.partial_fit(X[part], y[part], sample_weight=weights[part])
    rows = model._model.recent.rows()
    noted = model._model.recent.noted
    np.testing.assert_array_equal(np.roll(rows, -(noted % 512), axis=0), kept)
    np.testing.assert_array_equal(whole.recent.rows(), rows)


@every_classifier
def test_every_classifier_gives_probabilities(name, stream):
    for task in ("binary", "ovr"):
        X, y = stream(task, n=300)
        model = CLASSES[name](random_state=0).fit(X, y)
        probabilities, classes = model.predict_proba(X), model.classes_
        assert probabilities.shape == (300, len(classes))
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        np.testing.assert_array_equal(np.exp(model.predict_log_proba(X)), probabilities)
        np.testing.assert_array_equal(classes[probabilities.argmax(axis=1)], model.predict(X))
        if task == "binary":
            order = np.argsort(model.decision_function(X), kind="stable")
            assert np.all(np.diff(probabilities[order, 1]) >= 0)
        # Not worse than to know nothing but how many classes there are.
        known = probabilities[np.arange(300), np.searchsorted(classes, y)]
        assert -np.log(known).mean() < np.log(len(classes)) + 1e-3


@pytest.mark.parametrize("name", ONLINE)
def test_any_way_to_learn_gives_the_same_probabilities(name, stream, equal, same_state):
    X, y = data(name, stream)
    whole, parts, each = build(name), build(name), build(name)
    learn(whole, X, y)
    learn(parts, X, y, [20, 21, 70])
    learn_each(each, X, y)
    expected = whole.predict_proba(X)
    before = copy.deepcopy(whole)
    for other in (parts, each, pickle.loads(pickle.dumps(whole)), copy.deepcopy(whole)):
        equal(other.predict_proba(X), expected)
    same_state(whole, before)  # asking changes nothing
    learn(whole, X[:30], y[:30])
    learn(before, X[:30], y[:30])
    equal(whole.predict_proba(X), before.predict_proba(X))
    assert not np.array_equal(whole.predict_proba(X), expected)


def test_a_failed_call_keeps_the_probabilities(stream, equal):
    X, y = stream("binary", n=700)
    model = OGDClassifier(loss="squared").fit(X, y)
    before, kept = model.predict_proba(X), model._model.recent.rows()
    model.set_params(eta=1e3)
    with pytest.raises(FloatingPointError):
        model.partial_fit(X, y)
    equal(model._model.recent.rows(), kept)
    equal(model.predict_proba(X), before)


def test_later_passes_do_not_count(stream, equal):
    X, y = stream("binary", n=200)
    once = KernelPAClassifier(random_state=0).fit(X, y)
    often = KernelPAClassifier(random_state=0, n_epochs=5).fit(X, y)
    assert often._model.recent.noted == 200
    equal(often._model.recent.rows(), once._model.recent.rows())


@pytest.mark.parametrize("shuffle", [False, True])
def test_separate_problems_share_their_samples(shuffle, stream):
    """`fit` of PA with several classes: each problem has its own order."""
    X, y = stream("ovr", n=900)
    weight = np.ones(900)
    weight[50:90] = 0
    model = PAClassifier(random_state=0, shuffle=shuffle, C=0.01)
    model.fit(X, y, sample_weight=weight)
    rows = model._model.recent.rows()
    assert rows.shape == (512, 3 + 2)
    one = PAClassifier(C=0.01).partial_fit(X[:388], y[:388], classes=model.classes_,
                                           sample_weight=weight[:388])  # fmt: skip
    if not shuffle:
        np.testing.assert_array_equal(rows[:, 3], model._encode(y[388:], model.classes_))
        np.testing.assert_allclose(rows[0, :3], one.decision_function(X[388:389])[0])
    known = model.predict_proba(X)[np.arange(900), np.searchsorted(model.classes_, y)]
    assert -np.log(known).mean() < 0.75


def test_scores_of_the_logistic_loss_are_calibrated_along_a_stream(stream):
    X, y = stream("binary", n=300)
    for loss in ("hinge", "logistic"):
        model = FOGDClassifier(loss=loss, random_state=0).fit(X, y)
        below, above, offset_below, offset_above, most, n_samples, _ = model.calibration_
        assert (most, n_samples) == (np.log(1201), 300)
        scores = model.decision_function(X)
        z = np.where(scores > 0, above * scores + offset_above, below * scores + offset_below)
        z = beyond(z, most)
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(z))
    model = OLLAClassifier(loss="logistic", random_state=0).fit(X, y)
    assert model.calibration_ is None
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(model.decision_function(X)))


def test_first_steps_that_are_too_large_do_not_make_certain():
    """By the logistic link the first steps of 1 / (reg t) had 10 times this log loss."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 4))
    y = X[:, 0] + rng.standard_normal(1000) > 0.5
    model = DualSGDClassifier(loss="logistic", random_state=0)
    for n in (20, 50, 100):
        known = model.partial_fit(X[:n], y[:n], classes=[False, True]).predict_proba(X[200:])
        known = known[np.arange(800), y[200:].astype(int)]
        assert -np.log(known).mean() < 0.8


def test_the_worst_violators_are_not_what_is_kept(stream):
    X, y = stream("binary", n=1500)
    model = OLLAClassifier(selection="max_violator", n_epochs=1, random_state=0).fit(X, y)
    rows = model._model.recent.rows()
    assert len(rows) == 512
    np.testing.assert_allclose(rows[:3, 0], model.decision_function(X[[0, 2, 4]]))
    np.testing.assert_array_equal(model.classes_[rows[:, 1].astype(int)], y[:1024:2])


def test_they_are_calibrated_on_a_stream_that_they_have_not_seen():
    """The share of labels in a tenth of the predicted probabilities is what was predicted."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 5))
    truth = expit(1.5 * X[:, 0] - X[:, 1] - 1)
    y = rng.random(20_000) < truth
    for model in (PAClassifier(C=0.001), PegasosClassifier(reg=1e-3)):
        model.partial_fit(X[:10_000], y[:10_000], classes=[False, True])
        found = model.predict_proba(X[10_000:])[:, 1]
        tenths = np.minimum((found * 10).astype(int), 9)
        error = sum(abs((y[10_000:] - found)[tenths == k].sum()) for k in range(10)) / 10_000
        assert error < 0.08
        assert np.corrcoef(found, truth[10_000:])[0, 1] > 0.9


@pytest.mark.parametrize(
    ("place", "value", "error"),
    [
        (3, np.zeros((29, 3)), "recent scores must have shape"),
        (2, -1, "noted must be"),
        (3, "nan", "recent scores must be finite"),
        (3, "label", "labels of recent scores must be"),
        (3, "weight", "weights of recent scores must be > 0"),
        (0, 2, "recent scores"),
    ],
)
def test_a_damaged_ring_is_refused(place, value, error, stream):
    X, y = stream("binary", n=30)
    recent = PAClassifier().fit(X, y)._model.recent
    make, arguments = recent.__reduce__()
    arguments = list(arguments)
    np.testing.assert_array_equal(make(*arguments).rows(), recent.rows())
    if isinstance(value, str):
        rows, column = arguments[3].copy(), {"nan": 0, "label": 1, "weight": 2}[value]
        rows[4, column] = {"nan": np.nan, "label": 0.5, "weight": 0.0}[value]
        value = rows
    arguments[place] = value
    with pytest.raises(ValueError, match=error):
        make(*arguments)


def test_a_ring_of_another_model_is_refused(stream):
    X, y = stream("ovr", n=30)
    other = PAClassifier().fit(X, y)._model.recent
    model = PAClassifier().fit(X, y > 5)._model
    parts = model.space, model.head, model.rule, model.sampler, model.rng, model.d, model.dtype
    with pytest.raises(ValueError, match="are not those of this model"):
        restore(parts, 30, 0, 0.0, other)
    with pytest.raises(TypeError, match="recent must be a RecentScores"):
        restore(parts, 30, 0, 0.0, model.space)
    assert restore(parts, 30, 0, 0.0).recent.noted == 0  # as an older file has it


@pytest.mark.parametrize("multi_class", ["ovr", "margin"])
@pytest.mark.parametrize("n", [40, 700])
def test_the_kept_scores_grow_with_the_classes(n, multi_class, stream):
    X, y = stream("ovr", n=n)
    level = -1 if multi_class == "ovr" else 0
    two = PAClassifier(multi_class=multi_class).partial_fit(X, 20 + 10 * (y > 5), classes=[20, 30])
    before, noted = two._model.recent.rows(), two._model.recent.noted
    before = np.roll(before, -(noted % len(before)), axis=0)
    two._take_up(np.array([10, 20, 30]))
    after = two._model.recent.rows()
    expected = [np.full(len(before), level), -before[:, 0], before[:, 0], before[:, 1] + 1]
    np.testing.assert_array_equal(after[:, :4], np.column_stack(expected))
    two._take_up(np.array([10, 15, 20, 30]))
    again = two._model.recent.rows()
    np.testing.assert_array_equal(again[:, [0, 2, 3]], after[:, :3])
    np.testing.assert_array_equal(again[:, 1], np.full(len(before), level))
    np.testing.assert_array_equal(again[:, 4], after[:, 3] + (after[:, 3] > 0))
    np.testing.assert_allclose(two.predict_proba(X).sum(axis=1), 1)


def test_a_calibration_stays_until_other_scores_are_kept():
    X = np.random.default_rng(0).normal(size=(700, 3))
    y = (X[:, 0] > 0).astype(int)
    asked, silent = (PAClassifier(random_state=0) for _ in range(2))
    for model in (asked, silent):
        model.partial_fit(X[:600], y[:600], classes=[0, 1])
    found = []
    for k in range(600, 608):
        asked.partial_fit(X[k : k + 1], y[k : k + 1])
        silent.partial_fit(X[k : k + 1], y[k : k + 1])
        found.append(asked.calibration_)
    # Every fourth sample is kept; whether somebody asked before tells nothing.
    assert len({id(one) for one in found}) < 4
    assert asked.calibration_ == silent.calibration_
    # A call that fails takes back what it kept.
    before = asked.calibration_
    with pytest.raises(ValueError):
        asked.partial_fit(np.full((1, 3), np.nan), [1])
    assert asked.calibration_ == before
