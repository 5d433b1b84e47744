"""Weights of samples and of classes: every learner is moved by them, in any way of learning."""

import copy
import pickle

import numpy as np
import pytest
from learners import CLASSES, NAMES, data, width
from sklearn.base import is_classifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.utils.class_weight import compute_class_weight

import onlinekern
from onlinekern import all_estimators
from onlinekern.estimators.contract import Learner

# Settings in which a step is not bounded by the loss of its own sample.
SMALL_STEPS = {"C": 1e-3, "eta": 1e-3, "r": 100.0, "reg": 0.1}
OWN = {
    "SPARegressor": {"beta": 1.0},
    "SPAClassifier": {"beta": 1.0},
    "OSKLClassifier": {"G": 50.0},
    "KernelRLSClassifier": {"reg": 10.0, "gate": "always"},
    "KernelRLSRegressor": {"reg": 10.0, "gate": "always"},
    "SDROGDClassifier": {"batch_size": 4, "schedule": "sqrt", "reg": 1e-4},
    "PegasosClassifier": {"reg": 10.0},
    "DualSGDClassifier": {"reg": 10.0},
    "DualSGDRegressor": {"reg": 10.0},
    "KernelPegasosClassifier": {"reg": 10.0},
    "BSGDClassifier": {"reg": 10.0},
    "BSGDRegressor": {"reg": 10.0},
    "BOLSSVMClassifier": {"C": 1e-3},
    "KRLSTRegressor": {"noise": 1.0},
    "SlidingWindowKRLSRegressor": {"reg": 10.0},
    "FixedBudgetKRLSRegressor": {"reg": 10.0},
    "KAPARegressor": {"reg": 10.0, "variant": "kapa2"},
    "LOLClassifier": {"C": 1e-3},
}


def build(name, **parameters):
    known = CLASSES[name]().get_params()
    steps = {key: value for key, value in SMALL_STEPS.items() if key in known}
    own = {key: value for key, value in OWN.get(name, {}).items() if key in known}
    average = {"average": False} if "average" in known else {}
    return CLASSES[name](
        **{**width(name), **steps, **own, **average, "random_state": 7, **parameters}
    )


def fed(model, X, y, weight=None):
    first = {"classes": np.unique(y)} if is_classifier(model) else {}
    return model.partial_fit(X, y, sample_weight=weight, **first)


def score_of(model, x, target):
    """Score of a sample, in the direction of its target, less the largest rival."""
    if not is_classifier(model):
        return float(model.predict(x)[0])
    scores = model.decision_function(x)[0]
    place = list(model.classes_).index(target)
    if np.ndim(scores) == 0:
        return scores if place else -scores
    return scores[place] - np.delete(scores, place).max()


@pytest.mark.parametrize("name", NAMES)
def test_a_heavier_sample_moves_the_model_further(name, stream):
    X, y = stream("binary" if is_classifier(CLASSES[name]()) else "regression", n=43)
    # A sample that the model gets wrong, at the end.
    base = fed(build(name), X[:40], y[:40])
    if is_classifier(base):
        x = X[40:41]
        target = base.classes_[0] if base.predict(x)[0] == base.classes_[1] else base.classes_[1]
    else:
        x, target = X[40:41], float(base.predict(X[40:41])[0]) + 5.0
    found = []
    for weight in (0, 1, 3, 30):
        # Where samples enter by lot, over many draws.
        draws = 60 if name in ("SPAClassifier", "SPARegressor", "OSKLClassifier") else 1
        scores = []
        for seed in range(draws):
            model = fed(build(name, random_state=seed), X[:40], y[:40])
            after = copy.deepcopy(model)
            # SDROGD takes a step for a batch of samples.
            for _ in range(4 if name == "SDROGDClassifier" else 1):
                after.learn_one(x[0], target, sample_weight=weight)
            scores.append(score_of(after, x, target) - score_of(model, x, target))
        found.append(np.mean(scores))
    assert found[0] == 0
    assert 0 < found[1] < found[2] < found[3], found


@pytest.mark.parametrize("name", NAMES)
def test_weights_one_by_one(name, stream, same_state):
    X, y = data(name, stream, n=60)
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], len(y))
    weight[0] = 1.0
    whole, single = (CLASSES[name](**width(name), random_state=7) for _ in range(2))
    fed(whole, X, y, weight)
    for x, target, w in zip(X, y.tolist(), weight.tolist(), strict=True):
        first = {"classes": np.unique(y)} if is_classifier(single) else {}
        single.learn_one(x, target, **first, sample_weight=w)
    same_state(single, whole)
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match=r"sample_weight|[Nn]egative|NaN|infinity"):
            single.learn_one(X[0], y.tolist()[0], sample_weight=bad)
    same_state(single, whole)


@pytest.mark.parametrize("name", NAMES)
def test_the_smallest_weights_are_learnt(name, stream):
    X, y = data(name, stream, n=60)
    smallest = np.finfo(np.float64).smallest_subnormal
    # The defaults: their budgets and evidence see such weights too.
    model = fed(CLASSES[name](random_state=7), X, y, np.full(len(y), smallest))
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(fed(model, X, y).predict(X)).all()


STREAMS = [name for name in NAMES if is_classifier(CLASSES[name]())]


def running(y, classes, counted):
    """Return n / (K n_c), both of the samples so far."""
    factors = np.zeros(len(y))
    for i, label in enumerate(y):
        if counted[i]:
            seen = y[: i + 1][counted[: i + 1]]
            factors[i] = len(seen) / (len(classes) * np.sum(seen == label))
    return factors


@pytest.mark.parametrize("name", STREAMS)
def test_balanced_streams(name, stream, same_state):
    X, y = data(name, stream, n=70)
    weight = np.random.default_rng(1).choice([0.0, 1.0, 2.0], len(y))
    weight[0] = 1.0
    classes = np.unique(y)
    by_hand = CLASSES[name](**width(name), random_state=7)
    fed(by_hand, X, y, weight * running(y, classes, weight > 0))
    whole = CLASSES[name](**width(name), random_state=7, class_weight="balanced")
    parts, single = copy.deepcopy(whole), copy.deepcopy(whole)
    fed(whole, X, y, weight)
    scores = whole.decision_function(X)
    np.testing.assert_array_equal(scores, by_hand.decision_function(X))
    for part in np.split(np.arange(len(y)), [1, 20, 21, 22, 33]):
        parts.partial_fit(X[part], y[part], classes=classes, sample_weight=weight[part])
        before = pickle.dumps(parts._class_counts)
        with pytest.raises(ValueError):
            parts.partial_fit(X[:2], ["no such", "label"])
        assert pickle.dumps(parts._class_counts) == before
        parts = pickle.loads(pickle.dumps(parts))
    same_state(parts, whole)
    for x, target, w in zip(X, y.tolist(), weight.tolist(), strict=True):
        single.learn_one(x, target, classes=classes, sample_weight=w)
    same_state(single, whole)


RACES = ["StreamClassifier", "StreamRegressor"]


@pytest.mark.parametrize("name", RACES)
def test_weight_0_is_not_there_in_a_race(name, stream):
    X, y = data(name, stream, n=600)
    weight = np.random.default_rng(1).choice([0.0, 0.5, 2.0], len(y))
    there = weight > 0
    one, other = (CLASSES[name](time_budget=12.0, random_state=0) for _ in range(2))
    fed(one, X, y, weight)
    fed(other, X[there], y[there], weight[there])
    assert one.n_seen_ == other.n_seen_ == there.sum()
    assert one.cumulative_loss_ == other.cumulative_loss_
    np.testing.assert_array_equal(one._scores(X), other._scores(X))


@pytest.mark.parametrize("name", RACES)
def test_two_is_like_twice_in_a_race(name, stream):
    # Not the same: experts of the first order take one long step instead of two.
    X, y = data(name, stream, n=1500)
    weight = 1.0 + (np.random.default_rng(1).random(len(y)) < 1 / 3)
    order = np.repeat(np.arange(len(y)), weight.astype(int))
    once, two, twice = (CLASSES[name](time_budget=12.0, random_state=0) for _ in range(3))
    fed(once, X, y)
    fed(two, X, y, weight)
    fed(twice, X[order], y[order])
    apart = [np.abs(model._scores(X) - twice._scores(X)).mean() for model in (two, once)]
    assert 0 < apart[0] < apart[1]


@pytest.mark.parametrize("make", [onlinekern.OGDClassifier, onlinekern.SPAClassifier])
def test_balanced_counts_follow_new_classes(make, stream):
    X, y = stream("ovr", n=60)
    model = make(class_weight="balanced", random_state=0)
    few = y != 5
    model.partial_fit(X[few][:20], y[few][:20], classes=[15, 25])
    model.partial_fit(X, y, classes=[5, 15, 25])
    seen = np.concatenate([y[few][:20], y])
    np.testing.assert_array_equal(model._class_counts, np.unique(seen, return_counts=True)[1])


def test_samples_of_the_warm_up_are_renumbered(stream):
    X, y = stream("ovr", n=40)
    model = onlinekern.KernelPAClassifier(gamma="median")
    few = y != 5
    model.partial_fit(X[few], y[few], classes=[15, 25])
    model.partial_fit(X[:1], y[:1], classes=[5, 15, 25])
    np.testing.assert_array_equal(
        model.classes_[model._warm_up.samples[1].astype(int)], np.r_[y[few], y[:1]]
    )


CLASSIFIERS = dict(all_estimators("classifier"))


@pytest.mark.parametrize("name", sorted(CLASSIFIERS))
@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({5: 1.0, 7: 2.0}, "class_weight has 7, which is none of the classes"),
        ({5: -1.0}, "class_weight of 5 must be a number >= 0, got -1.0"),
        ({5: np.nan}, "class_weight of 5 must be a number >= 0, got nan"),
        ({5: "x"}, "class_weight of 5 must be a number >= 0, got 'x'"),
    ],
)
def test_wrong_class_weights_are_named(name, weights, words, stream):
    X, y = stream("ovr", n=60)
    with pytest.raises(ValueError, match=words):
        CLASSIFIERS[name](class_weight=weights).fit(X, y)


@pytest.mark.parametrize("name", sorted(set(CLASSIFIERS) - {"PAClassifier"}))
def test_class_weights_of_fit(name, stream):
    X, y = stream("ovr", n=60)
    sizes = {k: v for k, v in {"gamma": 0.4, "budget": 20, "n_components": 10}.items()
             if k in CLASSIFIERS[name]().get_params()}  # fmt: skip
    make = lambda **more: CLASSIFIERS[name](**sizes, random_state=7, **more)  # noqa: E731
    for weights in ("balanced", {5: 3.0, 25: 0.5}):
        dense = compute_class_weight(
            weights if weights == "balanced" else {15: 1.0, **weights}, classes=np.unique(y), y=y
        )
        factors = dense[np.searchsorted(np.unique(y), y)]
        one = make(class_weight=weights).fit(X, y)
        other = make().fit(X, y, sample_weight=factors)
        np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_balanced_helps_the_rare_class():
    rng = np.random.default_rng(0)
    y = (rng.random(6000) < 0.05).astype(int)
    X = rng.standard_normal((6000, 4)) + 0.8 * y[:, None]
    plain, balanced = (
        onlinekern.OGDClassifier(loss="logistic", class_weight=w, random_state=0).fit(
            X[:4000], y[:4000]
        )
        for w in (None, "balanced")
    )
    scores = [balanced_accuracy_score(y[4000:], m.predict(X[4000:])) for m in (plain, balanced)]
    assert scores[1] > scores[0] + 0.1


@pytest.mark.parametrize("name", ["KernelRLSClassifier", "KernelRLSRegressor"])
def test_two_is_twice_in_least_squares(name, stream):
    X, y = data(name, stream, n=60)
    twice = np.arange(len(y)) % 3 == 0
    parameters = {
        "gamma": 0.4,
        "features": "fourier",
        "n_components": 20,
        "gate": "always",
        "random_state": 0,
        "standardize_target": False,
        "reg": 0.1,  # one that follows the stream counts samples, not their weights
    }
    known = CLASSES[name]().get_params()
    make = lambda: CLASSES[name](**{k: v for k, v in parameters.items() if k in known})  # noqa: E731
    one, other = make(), make()
    fed(one, X, y, 1.0 + twice)
    order = np.repeat(np.arange(len(y)), 1 + twice)
    fed(other, X[order], y[order])
    score = (lambda m: m.decision_function(X)) if is_classifier(one) else (lambda m: m.predict(X))
    np.testing.assert_allclose(score(one), score(other), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["OGDRegressor", "KernelOGDRegressor"])
def test_two_is_twice_for_slopes_that_stay(name, stream):
    # The absolute loss has a slope of 1 as long as the sign of the residual stays.
    X, y = stream("regression", n=30)
    one, other = (CLASSES[name](loss="absolute", eta=1e-4, schedule="constant") for _ in range(2))
    fed(one, X, y + 10, np.full(len(y), 2.0))
    order = np.repeat(np.arange(len(y)), 2)
    if name == "KernelOGDRegressor":
        one, other = (m.set_params(gamma=0.4) for m in (one, other))
        one = fed(
            CLASSES[name](loss="absolute", eta=1e-4, gamma=0.4), X, y + 10, np.full(len(y), 2.0)
        )
    fed(other, X[order], y[order] + 10)
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_without_weight_changes_nothing(name, stream, same_state):
    X, y = data(name, stream, n=60)
    model = fed(CLASSES[name](**width(name), random_state=7), X[:30], y[:30])
    before = copy.deepcopy(model)
    model.partial_fit(X[30:], y[30:], sample_weight=np.zeros(30))
    same_state(model, before)
    with pytest.raises(ValueError, match="at least one non-zero"):
        model.fit(X, y, sample_weight=np.zeros(60))
    same_state(model, before)


@pytest.mark.parametrize("make", [onlinekern.OGDClassifier, onlinekern.SPAClassifier])
def test_class_weights_of_single_samples_follow_the_dictionary(make, stream):
    """It may be changed in place, and is checked when it has been."""
    X, y = stream("multi", n=60)
    labels = np.unique(y)
    weights = dict.fromkeys(labels.tolist(), 1.0)
    one, other = (make(random_state=0, class_weight=weights) for _ in range(2))
    for model in (one, other):
        model.partial_fit(X[:20], y[:20], classes=labels)
    for k in range(20, 60):
        weights[labels[k % len(labels)].item()] = k / 10
        one.learn_one(X[k], y[k].item(), sample_weight=1.5)
        other.partial_fit(X[k : k + 1], y[k : k + 1], sample_weight=[1.5])
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    for bad, said in ((-1.0, "a number >= 0"), ([2.0], "a number >= 0"), (np.nan, "a number >= 0")):
        weights[labels[0].item()] = bad
        with pytest.raises(ValueError, match=said):
            one.learn_one(X[0], y[0].item())
    weights[labels[0].item()] = 1.0
    weights["no such"] = 1.0
    with pytest.raises(ValueError, match="none of the classes"):
        one.learn_one(X[0], y[0].item())
    assert one.n_seen_ == 60


@pytest.mark.parametrize("make", [onlinekern.OGDClassifier, onlinekern.PAClassifier])
def test_counts_do_not_change_when_learning_a_sample_fails(make, stream, monkeypatch, state_of):
    X, y = stream("binary", n=40)
    model = make(random_state=0, class_weight="balanced").partial_fit(X, y, classes=np.unique(y))
    before, counts = state_of(model), model._class_counts.tolist()
    with pytest.raises(ValueError, match=r"missing values \(NaN\)"):
        model.learn_one(np.full(X.shape[1], np.nan), y[0].item())

    learn = Learner._learn_number

    def interrupted(*sample):
        learn(*sample)
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(Learner, "_learn_number", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.learn_one(X[0], y[0].item())
    assert model._class_counts.tolist() == counts
    assert pickle.dumps(state_of(model)) == pickle.dumps(before)
    model.learn_one(X[0], y[0].item())
    assert sum(model._class_counts) == sum(counts) + 1


def noisy(n=900):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    return X, np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(n)


COUNTS = np.random.default_rng(1).integers(1, 51, 600).astype(float)
LARGE = {
    "all": np.full(600, 1000.0),
    "few": np.where(np.arange(600) % 97 == 5, 1000.0, 1.0),
    "counts": COUNTS,
    "some": np.where(COUNTS > 25, 1000.0, 0.0),
    "small": np.full(600, 1e-3),
}
# Two pass through heavy targets, noise and all, as weighted least squares does without a ridge. The
# third passes through its targets at any weight.
FAR = {"FixedBudgetKRLSRegressor": 4.0, "KRLSRegressor": 4.0, "PARegressor": 2.5}


@pytest.mark.filterwarnings("ignore:the covariance has degenerated")
@pytest.mark.parametrize("name", [name for name, _ in all_estimators()])
@pytest.mark.parametrize("weights", LARGE)
def test_no_weights_make_a_learner_diverge(name, weights):
    X, y = noisy()
    model = CLASSES[name]() if name in CLASSES else dict(all_estimators())[name]()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    if is_classifier(model):
        labels = np.digitize(y, [0.2, 1.0])
        model.fit(X[:600], labels[:600], sample_weight=LARGE[weights])
        assert np.isfinite(model.decision_function(X)).all()
    elif hasattr(model, "score_samples"):
        model.fit(X[:600], sample_weight=LARGE[weights])
        assert np.isfinite(model.score_samples(X)).all()
    else:
        model.fit(X[:600], y[:600], sample_weight=LARGE[weights])
        error = np.sqrt(np.mean((model.predict(X[600:]) - y[600:]) ** 2)) / y[600:].std()
        assert error < FAR.get(name, 1.3)


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "epsilon_insensitive"])
@pytest.mark.parametrize("name", ["OGDRegressor", "FOGDRegressor", "KernelOGDRegressor"])
def test_a_weight_is_a_row_that_comes_so_often(name, loss):
    X, y = noisy(200)
    counts = COUNTS[:200].astype(int)
    known = {
        "gamma": 0.3,
        "schedule": "constant",
        "loss": loss,
        "eta": 0.002,
        "random_state": 0,
        "average": False,
    }
    names = CLASSES[name](standardize_target=False).get_params()
    known = {key: value for key, value in known.items() if key in names}
    one, other = (CLASSES[name](standardize_target=False, **known) for _ in range(2))
    one.partial_fit(X, y, sample_weight=counts)
    order = np.repeat(np.arange(200), counts)
    other.partial_fit(X[order], y[order])
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=0.03)
