"""Schedules, rules, gates and heads of the core: against their twins, and properties."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import algorithms, kernel_logistic, second_order, targets
from oracles import losses as oracle_losses
from oracles import rules as oracle_rules
from oracles.schedules import SCHEDULES as ORACLE_SCHEDULES

from onlinekern import SPAClassifier
from onlinekern.core import HEADS, KERNELS, LOSSES, POLICIES, RULES, SAMPLERS, SCHEDULES
from onlinekern.core.base.random import Generator
from onlinekern.core.kernels.support_set import SupportSet
from onlinekern.core.models.linear import LinearSpace
from onlinekern.core.models.linear_second_order import SecondOrderSpace
from onlinekern.core.models.space import KernelSpace
from onlinekern.core.stream import Model

C, ETA, POWER, REG, CONFIDENCE = 0.6, 0.4, 0.7, 0.3, 0.8
GATE = (1.0, 2.0)
SLOPE_GATE = 1.5
MARGIN_GATE = 0.2
REGRESSION = (
    oracle_losses.Squared,
    oracle_losses.Absolute,
    oracle_losses.EpsilonInsensitive,
    oracle_losses.Huber,
)
PASSIVE_AGGRESSIVE = ["pa", "pa1", "pa2", "scaled_pa1", "scaled_pa2"]


def schedule(name):
    given = {"eta": ETA, "power": POWER}
    return SCHEDULES[name](*(given[one] for one in SCHEDULES[name].parameters))


def rules_with_twins():
    """Yield (name, rule, twin) of every registered rule with every loss that it allows."""
    for name in RULES:
        if name == "perceptron":
            yield name, RULES[name](), oracle_rules.Perceptron()
        elif name == "gradient":
            for loss, step in itertools.product(oracle_losses.LOSSES, SCHEDULES):
                rule = RULES[name](LOSSES[loss](), schedule(step), REG)
                own = {"epsilon": 0.1} if loss == "epsilon_insensitive" else {}
                twin_loss = oracle_losses.LOSSES[loss](**own)
                arguments = {"eta": ETA, "power": POWER, "reg": REG, "schedule": step}
                yield f"{loss}-{step}", rule, oracle_rules.Gradient(twin_loss, **arguments)
        elif name == "least_squares":
            rule = RULES[name](LOSSES["hinge"]())
            yield name, rule, oracle_rules.LeastSquares(oracle_losses.Hinge())
        elif name == "every_sample":
            rule = RULES[name](LOSSES["hinge"]())
            yield name, rule, oracle_rules.EverySample(oracle_losses.Hinge())
        elif name == "pegasos":
            rule = RULES[name](LOSSES["hinge"](), SCHEDULES["inverse"](1 / REG), REG)
            yield name, rule, oracle_rules.Pegasos(oracle_losses.Hinge(), reg=REG)
        elif name == "batch_pegasos":
            for size in (1, 7):
                rule = RULES[name](LOSSES["hinge"](), REG, size)
                twin = oracle_rules.BatchPegasos(oracle_losses.Hinge(), reg=REG, batch_size=size)
                yield f"{name}-{size}", rule, twin
        elif name == "inverse_time":
            for loss, cap in itertools.product(("hinge", "logistic", "absolute"), (math.inf, C)):
                rule = RULES[name](LOSSES[loss](), REG, cap)
                twin_loss = oracle_losses.LOSSES[loss]()
                twin = oracle_rules.InverseTime(twin_loss, reg=REG, max_step=cap)
                yield f"{name}-{loss}-{cap}", rule, twin
        elif name == "margin_perceptron":
            for margins in (False, True):
                yield (
                    f"{name}-{margins}",
                    RULES[name](margins),
                    oracle_rules.MarginPerceptron(margins),
                )
        elif name in second_order.RULES:
            soft = [C] if name.startswith("scw") else []
            rule = RULES[name](LOSSES["hinge"](), CONFIDENCE, *soft)
            twin = second_order.RULES[name](oracle_losses.Hinge(), C=C, confidence=CONFIDENCE)
            yield name, rule, twin
        elif name == "logistic_newton":
            rule = RULES[name](LOSSES["logistic"](), C)
            yield name, rule, kernel_logistic.LogisticNewton(oracle_losses.Logistic(), r=C)
        elif name == "arow":
            rule = RULES[name](LOSSES["hinge"](), C)
            yield name, rule, oracle_rules.RULES[name](oracle_losses.Hinge(), r=C)
        else:
            for loss in ("hinge", "epsilon_insensitive"):
                rule = RULES[name](LOSSES[loss](), *([] if name == "pa" else [C]))
                twin = oracle_rules.RULES[name](oracle_losses.LOSSES[loss](), C=C)
                yield f"{name}-{loss}", rule, twin


CASES = [pytest.param(rule, twin, id=name) for name, rule, twin in rules_with_twins()]
# Rules of second order step if a margin is too small for its variance, even without hinge loss.
NOT_LED_BY_LOSS = {"every_sample", "least_squares", *second_order.RULES}
LED_BY_LOSS = [case for case in CASES if case.id not in NOT_LED_BY_LOSS]


@pytest.mark.parametrize("name", sorted(SCHEDULES))
def test_schedule(name):
    steps = [1, 2, 3, 10, 1000, 10**9]
    values = [schedule(name)(t) for t in steps]
    assert values == pytest.approx([ORACLE_SCHEDULES[name](t, ETA, POWER) for t in steps])
    assert values[0] == ETA
    assert all(a >= b > 0 for a, b in itertools.pairwise(values))
    assert pickle.loads(pickle.dumps(schedule(name))) == schedule(name)


@pytest.mark.parametrize(("rule", "twin"), CASES)
def test_rule(rule, twin):
    for f, y in itertools.product(np.arange(-16, 17) / 8, [-1.0, 1.0]):
        for q, t, importance in [(1.0, 1, 1.0), (2.5, 7, 3.0), (0.0, 2, 1.0), (1e-3, 50, 0.25)]:
            expected = twin.step(f, y, q, t, importance)
            assert rule.evaluate(f, y, q, t, importance) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(("rule", "twin"), CASES)
def test_weights(rule, twin):
    for f, y in itertools.product(np.arange(-16, 17) / 8, [-1.0, 1.0]):
        for q, t, importance in [(1.0, 1, 1.0), (2.5, 7, 3.0), (0.0, 2, 1.0), (0.2, 50, 0.25)]:
            for weight in (0.3, 1.0, 1.7, 40.0, 1e6):
                expected = twin.weighted(f, y, q, t, weight, importance)
                found = rule.evaluate(f, y, q, t, importance, weight)[0]
                assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
                assert found == rule.evaluate_together(f, y, q, t, importance, weight)[0]
            plain = rule.evaluate(f, y, q, t, importance)[0]
            assert rule.evaluate(f, y, q, t, importance, 1.0)[0] == plain
            above = rule.evaluate(f, y, q, t, importance, 1 + 1e-9)[0]
            assert above == pytest.approx(plain, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        *(("gradient", loss) for loss in ("hinge", "absolute", "squared")),
        *((name, loss) for name in ("scaled_pa1", "scaled_pa2") for loss in ("hinge", "absolute")),
    ],
)
@given(f=st.floats(-50, 50), q=st.floats(0.01, 9), weight=st.floats(1, 1e6))
def test_no_weight_passes_the_target(name, loss, f, q, weight):
    rest = (SCHEDULES["constant"](1e-3),) if name == "gradient" else (1e-3,)
    rule, goal = RULES[name](LOSSES[loss](), *rest), 1.0
    once, often = (rule.evaluate(f, goal, q, 1, 1.0, w)[0] for w in (1.0, weight))
    assert abs(often) >= abs(once) * (1 - 1e-9)
    gap = max(0.0, goal - f) if loss == "hinge" else abs(goal - f)
    assert abs(often) * q <= max(gap, abs(once) * q) * (1 + 1e-9)


@pytest.mark.parametrize("weight", [1.5, 1e6])
@pytest.mark.parametrize("q", [5e-324, 1e-310])
def test_a_weight_of_a_row_of_hardly_any_length_is_finite(q, weight):
    """The score stays where it is: each small step is that of the first."""
    rule = RULES["scaled_pa2"](LOSSES["hinge"](), 1.0)
    assert rule.evaluate(-1.0, 1.0, q, 1, 1.0, weight)[0] == pytest.approx(4 * weight, rel=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_a_weight_beyond_all_numbers_goes_as_far_as_the_largest(loss):
    rule = RULES["gradient"](LOSSES[loss](), SCHEDULES["constant"](1.0))
    often = rule.evaluate(-1.0, 1.0, 1e10, 1, 1.0, 1e300)[0]
    assert 0 < often * 1e10 < np.inf
    assert rule.evaluate(-1.0, 1.0, 1.0, 1, 1.0, 1e300)[0] == pytest.approx(
        1 + math.log(1e300), rel=0.01
    )


@pytest.mark.parametrize(("rule", "twin"), CASES)
def test_one_call_gives_the_numbers_of_three(rule, twin):
    for f, y in itertools.product(np.arange(-16, 17) / 8, [-1.0, 1.0]):
        for q, t, importance in [(1.0, 1, 1.0), (2.5, 7, 3.0), (0.0, 2, 1.0), (1e-3, 50, 0.25)]:
            together = rule.evaluate_together(f, y, q, t, importance)
            assert together[0] == rule.evaluate(f, y, q, t, importance)[0]
            if rule.second_order and together[0] != 0:
                assert together[1] == rule.evaluate_contraction(f, y, q, importance)
            assert together[2] == rule.loss.evaluate(f, y)[0]


@pytest.mark.parametrize(("rule", "twin"), LED_BY_LOSS)
@given(f=st.floats(-5, 5), y=st.sampled_from([-1.0, 1.0]), q=st.floats(0.01, 9), t=st.integers(1))
def test_no_step_without_loss(rule, twin, f, y, q, t):
    t = min(t, 2**62)
    coefficient, shrink = rule.evaluate(f, y, q, t)
    assert 0 <= shrink <= 1
    assume(f != 0)  # there the Perceptron steps without a loss
    if rule.loss.evaluate(f, y)[0] == 0:
        assert coefficient == 0
    else:
        assert coefficient * rule.loss.evaluate(f, y)[1] >= 0


@pytest.mark.parametrize("name", PASSIVE_AGGRESSIVE)
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
@given(f=st.floats(-5, 5), y=st.sampled_from([-1.0, 1.0]), q=st.floats(0.01, 9))
def test_passive_aggressive_solves_its_problem(name, loss, f, y, q):
    rule = RULES[name](LOSSES[loss](), *([] if name == "pa" else [C]))
    coefficient, _ = rule.evaluate(f, y, q)
    left = rule.loss.evaluate(f + coefficient * q, y)[0]
    if name == "pa":
        assert left == pytest.approx(0, abs=1e-12)
    elif name.endswith("pa1"):
        assert abs(coefficient) <= C
        assert left == pytest.approx(0, abs=1e-12) or abs(coefficient) == C
    else:  # the slack that minimises tau^2 q / 2 + C slack^2
        assert left == pytest.approx(abs(coefficient) / (2 * C), abs=1e-12)


@pytest.mark.parametrize("name", PASSIVE_AGGRESSIVE[:-1])
def test_passive_aggressive_passes_an_empty_row(name):
    rule = RULES[name](LOSSES["hinge"]())
    assert rule.evaluate(0, 1, 0.0) == (0, 1)
    assert rule.evaluate(0, 1, -2.0) == (0, 1)


def test_a_weight_multiplies_the_scaled_step_and_the_constant_of_the_others():
    one, scaled = (RULES[name](LOSSES["hinge"](), C) for name in ("pa1", "scaled_pa1"))
    assert one.evaluate(0, 1, 0.1, 1, 3.0)[0] == pytest.approx(3 * C)
    assert one.evaluate(0, 1, 4.0, 1, 3.0)[0] == pytest.approx(0.25)
    assert scaled.evaluate(0, 1, 0.1, 1, 3.0)[0] == pytest.approx(3 * C)
    assert scaled.evaluate(0, 1, 4.0, 1, 3.0)[0] == pytest.approx(0.75)
    empty = RULES["scaled_pa2"](LOSSES["hinge"](), C)
    assert empty.evaluate(0, 1, 0.0, 1, 3.0)[0] == pytest.approx(6 * C)


def test_gradient_never_changes_the_sign_of_the_past():
    rule = RULES["gradient"](LOSSES["hinge"](), SCHEDULES["constant"](3.0), 0.5)
    assert rule.evaluate(0, 1)[1] == 0


def test_pegasos_shrinks_to_one_over_t():
    rule = RULES["pegasos"](LOSSES["hinge"](), SCHEDULES["inverse"](1 / REG), REG)
    assert rule.evaluate(0, 1, t=1)[1] == 0
    product = math.prod(rule.evaluate(0, 1, t=t)[1] for t in range(2, 1001))
    assert product == pytest.approx(1e-3, rel=1e-12)


@pytest.mark.parametrize(("rule", "twin"), CASES)
def test_rule_is_a_value(rule, twin):
    other = pickle.loads(pickle.dumps(rule))
    assert other == rule
    assert other.evaluate(0.3, 1, 2.0, 3, 1.5) == rule.evaluate(0.3, 1, 2.0, 3, 1.5)


@given(
    seed=st.integers(0, 2**31 - 1),
    alpha=st.floats(0.1, 2),
    factor=st.floats(1, 5),
    eta=st.floats(0.01, 3),
)
def test_gate(seed, alpha, factor, eta):
    # One sample of loss 1 and kappa(x, x) = 1.
    beta = alpha * factor
    model = SPAClassifier(
        alpha=alpha, beta=beta, eta=eta, average=False, gamma=1, random_state=seed
    )
    model.partial_fit([[1.0]], [1], classes=[0, 1])
    probability = min(alpha, 1) / beta
    draw = np.random.RandomState(seed).randint(np.iinfo(np.int64).max, dtype=np.int64)
    if Generator(draw).random(1)[0] < probability:
        assert model.dual_coef_ == pytest.approx(min(eta / probability, 1))
    else:
        assert model.n_support_ == 0
    assert model.cumulative_loss_ == 1


def test_gate_lets_through_what_it_should():
    gate = dict(alpha=1.0, beta=4.0, random_state=0, average=False, gamma=1e-9, eta=1e-9)
    model = SPAClassifier(**gate).fit(np.zeros((20000, 1)), np.arange(20000) % 2)
    assert model.n_support_ == pytest.approx(5000, abs=5 * math.sqrt(20000 * 3 / 16))


def compose(rule, gate, head, K, X, y):
    """Run a model composed of parts; return it with its predictions."""
    kernel = KERNELS["gaussian"](0.5)
    outputs = HEADS[head](*([K] if head in MULTI_CLASS else []))
    support = SupportSet(kernel, X.shape[1], X.dtype, outputs.n_outputs, True, False)
    gates = {"always": [], "loss_proportional": GATE, "slope_proportional": [SLOPE_GATE],
             "within_margin": [MARGIN_GATE]}  # fmt: skip
    space = KernelSpace(support, POLICIES["grow"]())
    parts = (outputs, rule, SAMPLERS[gate](*gates[gate]), Generator(5))
    model = Model(space, *parts, X.shape[1], X.dtype)
    return model, model.learn(X, y)


OF_TARGETS = ("regression", "standardized", "several", "several_standardized")
SEVERAL = OF_TARGETS[2:]
MULTI_CLASS = (*SEVERAL, "ovr", "margin", "ovo", "joint", "joint_ovr", "softmax")
SOME_RULES = ("hinge-constant", "squared-invsqrt", "pa1-hinge", "arow", "scw1", "least_squares")
# Each rule under each head, and each two of all three; .ci/long has all three in each combination.
COMBINATIONS = [
    pytest.param(
        rule, twin, head, gate, id=f"{name}-{head}-{gate}",
        marks=[pytest.mark.long] * ((i + j + k) % len(SAMPLERS) > 0),
    )
    for i, (name, rule, twin) in enumerate(rules_with_twins())
    for (j, head), (k, gate) in itertools.product(enumerate(HEADS), enumerate(SAMPLERS))
    if head not in OF_TARGETS or isinstance(twin.loss, REGRESSION)
    # One rule of each kind is enough for what the head and the gate alone decide.
    if not (head.startswith("joint") or gate == "within_margin") or name in SOME_RULES
    # It solves for all classes at once: tests/test_kernel_second_order.py.
    if (name, head) != ("logistic_newton", "softmax")
]  # fmt: skip


@pytest.mark.parametrize(("rule", "twin", "head", "gate"), COMBINATIONS)
def test_every_rule_behind_every_gate_under_every_head(rule, twin, head, gate, stream, close):
    X, y = stream("regression", n=30)
    K = 4 if head in MULTI_CLASS else 2
    if head not in OF_TARGETS:
        y = np.arange(len(y)) * 7 % K
    if head in SEVERAL:
        y = np.column_stack([y, 2 - y, y**2, np.sin(y)])
    model, predictions = compose(rule, gate, head, K, X, y.astype(np.float64).reshape(-1))
    gates = {"always": None, "loss_proportional": GATE, "slope_proportional": SLOPE_GATE,
             "within_margin": ("margin", MARGIN_GATE)}  # fmt: skip
    seen, weight = y, np.ones(len(y))
    if head == "standardized":
        seen = targets.learnt(y, weight)
    elif head == "several_standardized":
        seen = np.column_stack([targets.learnt(one, weight) for one in y.T])
    of = {"standardized": "regression", "several_standardized": "several"}.get(head, head)
    expected = algorithms.run(
        X, seen, rule=twin, head=of, n_classes=K,
        gamma=0.5, average=True, gate=gates[gate],
        uniforms=iter(Generator(5).random(len(X))),
    )  # fmt: skip
    found = expected.averaged_scores if head in SEVERAL else expected.predictions
    if head == "standardized":
        found = targets.predictions(found, y, weight)
    elif head == "several_standardized":
        columns = zip(found.T, y.T, strict=True)
        found = np.column_stack([targets.predictions(*pair, weight) for pair in columns])
    close(predictions, found, np.float64)
    close(model.cumulative_loss, expected.cumulative_loss, np.float64)
    assert model.space.support.n == len(expected.support)
    close(model.space.support.coefficients.effective(), expected.dual_coef, np.float64)


def test_rules_that_use_no_length():
    without = set()
    for _, rule, _ in rules_with_twins():
        results = [
            (rule.evaluate(0.3, 1.0, q, 5), rule.evaluate_contraction(0.3, 1.0, q))
            for q in (0.5, 7.0)
        ]
        assert rule.uses_length or results[0] == results[1]
        without |= set() if rule.uses_length else {type(rule).__name__}
    assert without == {
        "Perceptron", "Gradient", "Pegasos", "BatchPegasos", "InverseTime", "EverySample",
        "LeastSquares",
    }  # fmt: skip


def test_only_the_base_gate_lets_every_sample_update():
    assert {name for name in SAMPLERS if SAMPLERS[name]().always} == {"always"}


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@pytest.mark.parametrize("head", [HEADS["binary"](), HEADS["ovr"](3)])
def test_a_rule_without_lengths_with_a_covariance(head, covariance):
    # Without contractions it stays the identity: each step goes along its own sample.
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 5))
    y = random.integers(max(head.n_outputs, 2), size=40).astype(float)
    spaces = [
        LinearSpace(5, X.dtype, head.n_outputs, False),
        SecondOrderSpace(5, X.dtype, head.n_outputs, False, True, covariance),
    ]
    for space in spaces:
        rule = RULES["gradient"](LOSSES["hinge"](), schedule("invsqrt"))
        Model(space, head, rule, SAMPLERS["always"](), Generator(0), 5, X.dtype).learn(X, y)
    np.testing.assert_allclose(spaces[1].latest(), spaces[0].latest(), rtol=1e-12)
    assert np.abs(spaces[0].latest()).min() > 0


def test_a_policy_that_follows_labels_takes_one_target():
    rule = RULES["pa1"](LOSSES["epsilon_insensitive"](0.0), 1.0)
    support = SupportSet(KERNELS["gaussian"](0.5), 2, np.float64, 3, True, False)
    space = KernelSpace(support, POLICIES["bolssvm"](5, 1.0))
    with pytest.raises(ValueError, match="none for samples of 3 targets"):
        Model(space, HEADS["several"](3), rule, SAMPLERS["always"](), Generator(0), 2, np.float64)
    with pytest.raises(ValueError, match=r"y must have 4 targets for each of the 5 rows"):
        compose(rule, "always", "several", 4, np.zeros((5, 2)), np.zeros(5))
