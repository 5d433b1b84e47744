"""The theorems hold: what learners lose along random streams, and what is promised of them."""

import functools
import math
import pickle
from typing import get_args

import numpy as np
import pytest
from oracles.comparators import best_fixed, factor, hinge, logistic
from oracles.kernels import kernel_matrix
from oracles.losses import LOSSES

from onlinekern import (
    BOGDClassifier,
    DualSGDClassifier,
    FOGDClassifier,
    ForgetronClassifier,
    KernelPerceptronClassifier,
    ProjectronClassifier,
    RBPClassifier,
    SDROGDClassifier,
    SPAClassifier,
    SPARegressor,
)
from onlinekern.core import KERNEL_ALIASES, KERNELS
from onlinekern.estimators.gradient import LabelLossName
from onlinekern.evaluate import methods, regret_bound, sketch_bound
from onlinekern.evaluate.bounds import LIPSCHITZ, NORMALISED

STREAMS = range(100)
N = 150
# A budget of 84 is to be full.
LENGTHS = {"forgetron": 500}
WIDTH = 0.5
FOURIER = {"loss": "hinge", "schedule": "constant", "frequencies": "plain"}
CASES = {
    "spa": (SPAClassifier, {"eta": 0.1}),
    "spa, sparse": (SPAClassifier, {"eta": 0.3, "alpha": 0.5, "beta": 2.0, "average": False}),
    "bogd": (BOGDClassifier, {"eta": 0.1, "reg": 0.25, "budget": 40}),
    "bogd, logistic": (
        BOGDClassifier, {"eta": 0.1, "reg": 0.5, "budget": 30, "cap": None, "loss": "logistic"},
    ),
    "fogd": (FOGDClassifier, {"eta": 0.1, "n_components": 60, **FOURIER}),
    "fogd, logistic": (
        FOGDClassifier, {"eta": 0.5, "n_components": 20, **FOURIER, "loss": "logistic"},
    ),
    "dual sgd": (
        DualSGDClassifier, {"reg": 1.0, "budget": 20, "n_components": 4000, "frequencies": "plain"},
    ),
    "projectron": (ProjectronClassifier, {"eta": 0.05, "budget": None}),
    "projectron++": (ProjectronClassifier, {"eta": 0.05, "budget": None, "plus_plus": True}),
    "rbp": (RBPClassifier, {"budget": 20}),
    "forgetron": (ForgetronClassifier, {"budget": 84}),
}  # fmt: skip
# Of these, 150 samples are too few for a bound that says something.
LONG = {
    "spa, sparse": (SPAClassifier, {"eta": 0.02, "alpha": 0.5, "beta": 2.0}),
    "bogd, logistic": (
        BOGDClassifier, {"eta": 0.02, "reg": 0.05, "budget": 1000, "loss": "logistic"},
    ),
    "dual sgd": (
        DualSGDClassifier, {"reg": 0.1, "n_components": 50_000, "frequencies": "plain"},
    ),
    "rbp": (RBPClassifier, {"budget": 60}),
    "forgetron": (ForgetronClassifier, {"budget": 300}),
}  # fmt: skip
LARGEST_NORMS = {
    "projectron": lambda model: 1 / (2 * model.eta),
    "projectron++": lambda model: 1 / (2 * model.eta),
    "rbp": lambda model: math.sqrt(model.budget),
    "forgetron": lambda model: math.sqrt((model.budget + 1) / math.log(model.budget + 1)) / 4,
}
# What may be lost by rounding: FOGD and Projectron reach their bounds.
ROUNDING = 1 + 1e-9


@functools.cache
def stream(seed, n=N):
    """Two classes: clusters, a curved border or none, and a share of wrong labels."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n)
    X = rng.normal(size=(n, 2))
    if seed % 3 == 0:
        X = 0.4 * X + 1.2 * y[:, None]
    elif seed % 3 == 1:
        y = np.where(X[:, 0] * X[:, 1] + 0.3 * X[:, 0] > 0, 1, -1)
    y[rng.random(n) < (0.0, 0.02, 0.1, 0.3)[seed % 4]] *= -1
    return X, y


def gram(X, Z=None):
    return np.exp(-WIDTH * ((X[:, None] - (X if Z is None else Z)[None]) ** 2).sum(-1))


@functools.cache
def comparators(seed, n):
    """Norm and scores of the best hypotheses of four norms, of 60 samples if there are many."""
    X, y = stream(seed, n)
    rows = factor(gram(X)) if n == N else factor(gram(X[:60]), gram(X, X[:60]))
    return [best_fixed(rows, y, C) for C in (0.003, 0.03, 0.1, 1.0)]


def features(model, X):
    products = X @ model.frequencies_.T
    return np.hstack([np.cos(products), np.sin(products)]) / math.sqrt(model.n_components)


def learnt(case, seed):
    cls, parameters = CASES[case]
    X, y = stream(seed, LENGTHS.get(case, N))
    model = cls(gamma=WIDTH, random_state=seed, **parameters)
    return model.partial_fit(X, y, classes=[-1, 1])


def bounds(case, seed):
    """The bounds against the comparators whose norms the theorem allows."""
    n = LENGTHS.get(case, N)
    model, (X, y) = learnt(case, seed), stream(seed, n)
    others = comparators(seed, n)
    if case.startswith("fogd"):
        Z = features(model, X)
        others = [best_fixed(Z, y, C) for C in (0.01, 0.1, 1.0)]
    return bounds_of(case, model, y, others)


def bounds_of(case, model, y, others):
    """The bounds of a model against norms and scores."""
    loss = logistic if "logistic" in case else hinge
    confidence = 0.9 if case == "dual sgd" else None
    most = LARGEST_NORMS[case](model) if case in LARGEST_NORMS else math.inf
    allowed = [(norm, f) for norm, f in others if norm < most]
    return [
        regret_bound(model, norm, loss(y, f).sum(), confidence=confidence) for norm, f in allowed
    ]


@pytest.mark.parametrize("case", CASES)
def test_the_bound_holds_on_random_streams(case):
    best = []
    for seed in STREAMS:
        found = bounds(case, seed)
        assert found
        # Even where the theorem speaks of an expectation, or a probability, every run obeys it.
        assert all(one.learner <= one.bound * ROUNDING for one in found)
        best.append(min(found, key=lambda one: one.bound))
    # A loss is seldom above that of the prediction 0, and so above a larger bound.
    says_something = sum(not one.is_vacuous for one in best)
    assert says_something >= 10 or case in LONG, says_something


@pytest.mark.parametrize("case", ["spa", "spa, sparse"])
def test_the_expected_number_of_support_vectors(case):
    models = [learnt(case, seed) for seed in STREAMS]
    support = [regret_bound(model, 1.0, 100.0).support for model in models]
    alpha, beta = models[0].alpha, models[0].beta
    assert all(bound <= alpha / beta * N for bound in support)
    # 100 independent streams: four standard deviations of a sum of Bernoulli draws.
    assert sum(m.n_support_ for m in models) <= sum(support) + 4 * math.sqrt(25 * N)


@pytest.mark.parametrize("case", LONG)
def test_bounds_that_say_something_of_long_streams_only(case):
    """Four streams of 3,000 samples, with functions of 60 landmarks as comparators."""
    cls, parameters = LONG[case]
    evictions = 0
    for seed in (6, 9, 30, 33):  # clusters, and 2 or 10 % of wrong labels
        X, y = stream(seed, 3000)
        rows = factor(gram(X[:60]), gram(X, X[:60]))
        model = cls(gamma=WIDTH, random_state=seed, **parameters)
        model.partial_fit(X, y, classes=[-1, 1])
        norms = [best_fixed(rows, y, C) for C in (3e-4, 1e-3, 3e-3, 0.01)]
        found = bounds_of(case, model, y, norms)
        assert all(one.learner <= one.bound for one in found)
        assert any(not one.is_vacuous for one in found), [one.bound for one in found]
        evictions = max(evictions, model.n_mistakes_ - getattr(model, "budget", 0))
    if case in ("rbp", "forgetron"):
        assert evictions > 100


def test_fogd_reaches_its_bound():
    """One sample again and again, so that all gradients are parallel to the comparator."""
    n, eta = 50, 0.01
    model = FOGDClassifier(gamma=WIDTH, eta=eta, random_state=0, **FOURIER)
    model.partial_fit(np.ones((n, 2)), np.ones(n), classes=[-1, 1])
    norm = eta * n
    found = regret_bound(model, norm, n * (1 - norm))
    assert found.guarantee == "always"
    assert found.learner == pytest.approx(found.bound, rel=1e-12)
    assert found.regret == pytest.approx(found.regret_bound, rel=1e-12)


def test_projectron_reaches_its_bound():
    """Samples of which none tells anything of another: each is a mistake."""
    n = 20
    X = 100.0 * np.arange(n)[:, None]
    y = np.resize([1, -1], n)
    model = ProjectronClassifier(gamma=1.0, eta=1e-9, budget=None)
    model.partial_fit(X, y, classes=[-1, 1])
    # With a score of 0 the second class is a mistake; both become support vectors.
    assert model.n_support_ == n
    assert regret_bound(model, math.sqrt(n)).bound == pytest.approx(n, rel=1e-6)


def test_formulas():
    models = {case: learnt(case, 0) for case in CASES}
    U, D = 0.5, 60.0
    spa, sparse, bogd = (regret_bound(models[c], U, D) for c in ("spa", "spa, sparse", "bogd"))
    assert spa.bound == pytest.approx(D + U**2 / 0.2 + N * math.sqrt(0.1 * 8 / 27))
    assert sparse.bound == pytest.approx(D + U**2 / 0.6 + N * 0.3 * 2 / (2 * 0.5))
    assert bogd.bound == pytest.approx(D + U**2 * (5 + 0.125 * N) + 0.1 * N * (2**2 + 1) / 2)
    assert regret_bound(models["fogd"], U, D).bound == pytest.approx(D + U**2 / 0.2 + N * 0.05)
    error = math.sqrt(2 * math.log(N * (N - 1) / 0.1) / 60)
    kernel = regret_bound(models["fogd"], U, D, confidence=0.9)
    expected = D + error * N * U + (1 + error) * U**2 / 0.2 + N * 0.05
    assert kernel.bound == pytest.approx(expected)
    assert (kernel.guarantee, kernel.confidence) == ("probability", 0.9)
    error = math.sqrt(2 * math.log(N * (N - 1) / 0.1) / 4000)
    dual = regret_bound(models["dual sgd"], U, D, confidence=0.9)
    assert dual.bound == pytest.approx(D + N * U**2 / 2 + 2 * (1 + math.log(N)) + (N - 21) * error)
    assert regret_bound(models["projectron"], U, D).bound == pytest.approx(120.25 / 0.95)
    root = math.sqrt(20)
    rbp = regret_bound(models["rbp"], U, D)
    assert rbp.bound == pytest.approx((D + U * root / 4) / (1 - U / root))
    assert rbp.learner == models["rbp"].n_mistakes_
    assert regret_bound(models["forgetron"], 0.25, D).bound == pytest.approx(240.125)
    assert spa.trivial == N
    assert spa.is_vacuous == (spa.bound >= N)
    trivial = regret_bound(models["fogd, logistic"], U, D).trivial
    assert trivial == pytest.approx(N * math.log(2))


def test_kernel_values_are_within_the_error():
    """Hoeffding's bound of all pairs, at a confidence that few draws may miss."""
    missed = 0
    X = stream(2)[0]
    for seed in range(50):
        model = FOGDClassifier(gamma=WIDTH, n_components=300, random_state=seed, **FOURIER)
        model.partial_fit(X, stream(2)[1], classes=[-1, 1])
        Z = features(model, X)
        error = math.sqrt(2 * math.log(N * (N - 1) / 0.5) / 300)
        missed += bool(np.abs(Z @ Z.T - gram(X)).max() > error)
    assert missed <= 25


def test_along_the_stream():
    """It may be asked at any time, and of a model that was stored, with the same answer."""
    X, y = stream(5)
    model = SPAClassifier(gamma=WIDTH, random_state=0)
    whole = SPAClassifier(gamma=WIDTH, random_state=0).partial_fit(X, y, classes=[-1, 1])
    seen = 0
    for part in np.array_split(np.arange(N), 7):
        model.partial_fit(X[part], y[part], classes=[-1, 1])
        model = pickle.loads(pickle.dumps(model))
        seen += len(part)
        assert regret_bound(model, 1.0, 5.0).n_samples == seen
    assert regret_bound(model, 1.0, 5.0) == regret_bound(whole, 1.0, 5.0)


@pytest.mark.parametrize(
    ("case", "changes", "message"),
    [
        ("spa", {"gamma": "median"}, "gamma that is known"),
        ("spa", {"kernel": "polynomial"}, "kappa"),
        ("spa", {"max_support": 3}, "max_support that is not reached"),
        ("spa", {"class_weight": {1: 2.0}}, "class_weight=None"),
        ("bogd", {"reg": 0.0}, r"eta \* reg in"),
        ("bogd", {"reg": 11.0}, r"eta \* reg in"),
        ("bogd", {"removal": "nonuniform"}, "removal='uniform'"),
        ("bogd", {"cap": 0.5}, "cap of at least 1"),
        ("bogd", {"budget": 1, "reg": 10.0}, "budget of at least 2"),
        ("bogd", {"loss": "squared"}, "slopes of at most 1"),
        ("bogd", {"schedule": "invsqrt"}, "schedule='constant'"),
        ("fogd", {"loss": "squared_hinge"}, "slopes of at most 1"),
        ("fogd", {"schedule": "power"}, "schedule='constant'"),
        ("fogd", {"reg": 0.1}, "reg=0"),
        ("fogd", {"fit_intercept": True}, "fit_intercept=False"),
        ("fogd", {"frequencies": "orthogonal"}, "independent frequencies"),
        ("dual sgd", {"max_step": 1.0}, "max_step=None"),
        ("projectron", {"budget": 3}, "budget that is not reached"),
        ("projectron++", {"budget": 500}, "budget=None"),
        ("rbp", {"kernel": "linear"}, "kappa"),
        ("forgetron", {"kernel": "sigmoid"}, "kappa"),
        ("forgetron", {"budget": 83}, "budget of at least 84"),
    ],
)
def test_broken_conditions(case, changes, message):
    cls, parameters = CASES[case]
    X, y = stream(1)
    model = cls(**{"gamma": WIDTH, "random_state": 0, **parameters, **changes})
    model.partial_fit(X, y, classes=[-1, 1])
    with pytest.raises(ValueError, match=message):
        regret_bound(model, 0.1, 1.0, confidence=0.9 if case == "dual sgd" else None)


def test_a_kernel_without_width():
    X, y = stream(0)
    model = RBPClassifier(kernel="cosine", random_state=0).partial_fit(X, y, classes=[-1, 1])
    assert regret_bound(model, 0.1, 140.0).learner <= regret_bound(model, 0.1, 140.0).bound
    assert any("merged" in clause for clause in regret_bound(model, 0.1).assumes)


def test_defaults_that_no_theorem_covers():
    X, y = stream(1)
    for cls in (SPAClassifier, BOGDClassifier, FOGDClassifier, RBPClassifier):
        model = cls(random_state=0).partial_fit(X, y, classes=[-1, 1])
        with pytest.raises(ValueError, match=f"the bound of {cls.__name__} needs"):
            regret_bound(model, 0.1)


@pytest.mark.parametrize("case", LARGEST_NORMS)
def test_norms_that_are_too_large(case):
    model = learnt(case, 0)
    largest = LARGEST_NORMS[case](model)
    assert regret_bound(model, 0.999 * largest).bound > 0
    with pytest.raises(ValueError, match="comparator_norm must be below"):
        regret_bound(model, 1.001 * largest)


def test_arguments():
    model = learnt("spa", 0)
    for wrong in (-1.0, math.nan, math.inf, "1", None, True):
        with pytest.raises(ValueError, match="comparator_norm must be >= 0 and finite"):
            regret_bound(model, wrong)
        with pytest.raises(ValueError, match="comparator_loss must be >= 0 and finite"):
            regret_bound(model, 1.0, wrong)
    with pytest.raises(ValueError, match="confidence must be None for SPAClassifier"):
        regret_bound(model, 1.0, confidence=0.9)
    with pytest.raises(ValueError, match="confidence must be given"):
        regret_bound(learnt("dual sgd", 0), 1.0)
    for wrong in (1.0, -0.1, 2, "0.9"):
        with pytest.raises(ValueError, match=r"confidence must be >= 0 and below 1\.0"):
            regret_bound(learnt("fogd", 0), 1.0, confidence=wrong)


def test_learners_without_a_theorem():
    X, y = stream(0)
    with pytest.raises(TypeError, match="no theorem for SPARegressor"):
        regret_bound(SPARegressor().partial_fit(X, X[:, 0]), 1.0)
    with pytest.raises(TypeError, match="sketch_bound"):
        regret_bound(SDROGDClassifier().partial_fit(X, y, classes=[-1, 1]), 1.0)
    with pytest.raises(TypeError, match="model must be an SDROGDClassifier"):
        sketch_bound(KernelPerceptronClassifier())
    three = RBPClassifier(gamma=1.0).partial_fit(X, np.arange(N) % 3, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="two classes, got 3"):
        regret_bound(three, 1.0)


def sketched_rows(X, y, sketch):
    """The rows that SDROGD sketches."""
    if sketch == "raw":
        return X
    rows, counts, means = np.zeros_like(X), {}, {}
    for i, (x, c) in enumerate(zip(X, y, strict=True)):
        n, mean = counts.get(c, 0), means.get(c, np.zeros(X.shape[1]))
        rows[i] = math.sqrt(n / (n + 1)) * (x - mean)
        counts[c], means[c] = n + 1, mean + (x - mean) / (n + 1)
    return rows


@pytest.mark.parametrize("sketch", ["raw", "centred"])
def test_the_sketch_is_within_lemma_2(sketch):
    tightest = 0.0
    for seed in STREAMS:
        rng = np.random.default_rng(seed)
        d, n = 12, int(rng.integers(5, 120))
        X = rng.normal(size=(n, d)) * 0.7 ** np.arange(d) ** (seed % 2) + rng.normal(size=d)
        y = rng.integers(0, 2, n)
        model = SDROGDClassifier(sketch=sketch, sketch_size=int(rng.integers(1, 9)))
        model.partial_fit(X, y, classes=[0, 1])
        found, rows = sketch_bound(model), sketched_rows(X, y, sketch)
        lost = np.linalg.eigvalsh(rows.T @ rows - model.sketch_.T @ model.sketch_)
        rounding = 1e-9 * (rows**2).sum()
        assert found.bound == pytest.approx((rows**2).sum() / (model.sketch_size_ + 1))
        assert lost[0] >= -rounding
        assert lost[-1] <= found.removed + rounding <= found.bound + 2 * rounding
        assert found.regulariser == pytest.approx(0.2 * 0.5 * found.bound / n)
        tightest = max(tightest, lost[-1] / found.bound)
    assert tightest > 0.5


def test_the_kernels_and_losses_that_are_named_are_those_that_have_the_property():
    names = [*KERNELS, *KERNEL_ALIASES]
    assert sorted(methods.KERNELS) == sorted(names)
    X = np.random.default_rng(0).normal(size=(20, 3))
    diagonals = {name: np.diagonal(kernel_matrix(name, X, X, 0.5, 3, 1.0)) for name in names}
    ones = {name for name, values in diagonals.items() if np.allclose(values, 1)}
    assert ones == set(NORMALISED)
    slopes = {
        name: max(abs(LOSSES[name]().negative_slope(1, f)) for f in np.linspace(-9, 9, 99))
        for name in get_args(LabelLossName)
    }
    assert {name for name, slope in slopes.items() if slope <= 1} == set(LIPSCHITZ)
