"""Chooses the experts of a race: estimators with their costs (`costs`), within a budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onlinekern.estimators.encoded_tables import SLOTS
from onlinekern.learners.budgeted import BPAClassifier, BPARegressor
from onlinekern.learners.fogd_nogd import FOGDClassifier, FOGDRegressor
from onlinekern.learners.kernel_second_order import KernelLogisticClassifier
from onlinekern.learners.least_squares import KernelRLSClassifier, KernelRLSRegressor
from onlinekern.learners.linear import OGDClassifier, OGDRegressor
from onlinekern.learners.linear_passive_aggressive import PAClassifier, PARegressor
from onlinekern.learners.passive_aggressive import KernelPAClassifier
from onlinekern.learners.race.costs import (
    FIXED,
    FOREST_COSTS,
    LIGHT_COST,
    PER_CLASS,
    PER_PRODUCT,
    RENEWED,
    linear_cost,
    squares_cost,
)
from onlinekern.learners.race.kinds import (
    SIZES,
    Expert,
    ForestKind,
    Layout,
    SquaresKind,
    memory_of,
)
from onlinekern.learners.second_order import AROWClassifier, AROWRegressor

# Largest shares of the time budget for one of the largest kernel experts, and for any expert. There
# are several of the largest, but usually only one or two are awake. A metric's cost is not counted.
LARGEST = 0.35
# The former share, if there is a forest.
LARGEST_BESIDE = 0.25
MOST = 0.6
# Metrics are learnt for at most this many features: they keep samples, which take memory.
MOST_MEASURED = 128
# Sparse rows of more features hold text or hashed categories. There is no memory for landmarks of
# such width, and linear weights are as good. If memory is short, the first experts are kept. Labels
# of clicks are noisy, those of text are not: hence two values of AROW's r (benchmarks/clicks.py).
# A rare feature is scaled to at most `CLIP`, so its square is 25 times that of a feature of 1.
WIDE = 2**17
NOISY = 1000.0
# Least number of slots of hashed features, for any number of classes.
LEAST_SLOTS = 2**10
# Assumed number of stored elements in a sparse sample.
STORED = 100
# With more features than this, linear features beside those of a kernel do not help, and cost as
# much as landmarks.
MOST_LINEAR = 32
# Prior precision of least squares. It matters little: the vote chooses among the experts.
REG = 0.1
FREQUENCIES = 200
BUDGET = 300
# A first-order learner with a narrow kernel that drops its oldest support vector follows small
# clusters that move. About half of its kernel values have to be computed.
NARROW = 10.0
FOLLOWING = 500
# Small constant steps of linear weights follow a border or a plane that moves if targets are noisy:
# steps of PA-I are as large as the mistake, those of AROW soon vanish. In regression with many
# features, steps are smaller, so that none overshoots its target (docs/race_tried.md).
STEPS = {"classification": 0.05, "regression": 0.03}
# Range of the number of trees, and largest share of the memory for forests, which is larger for
# classification, where weights of many classes take much. With fewer trees there is no forest.
FEWEST_TREES, MOST_TREES = 10, 200
FOREST_MEMORY = {"classification": 0.85, "regression": 0.7}
# A forest gets further trees up to this share of the time budget.
CHEAP = 0.37
# A forest keeps fewer samples only if there is no memory for this share of its trees: on covtype,
# half of the trees on twice as many samples have smaller errors.
LEAST_KEPT = 2048
MOST_OF_TREES = {"classification": 0.6, "regression": 2 / 3}
# Forests of wider rows have light teachers: full ones take most of the time, and linear experts do
# as well as directions (docs/race.md). Largest shares of the time for such a forest, and for any
# expert beside it: linear least squares of 800 features are worth it. Sparse rows of such width
# hold text, and keep full teachers.
MOST_FULL = 128
MOST_LIGHT = 0.85
MOST_BESIDE_LIGHT = 0.65
# Classification with a light teacher: the largest kernel is chosen so small that it and the forest
# can be awake at once, if the forest keeps this share of its trees. The vote of both has smaller
# errors than each alone, and trees are worth more than landmarks (docs/race_tried.md). A sleeping
# expert takes 1 / `REST` of its time; one below the share `LITTLE` never sleeps (`core.race`).
LEFT_BESIDE = 0.9
REST = 8
LITTLE = 0.02
# Experts added in later versions, the newest first: races of former versions do not have them.
LATER = (
    (),
    (KernelLogisticClassifier,),
    (AROWClassifier,),
    (PARegressor, OGDClassifier, OGDRegressor),
)
# With more classes, a learner with one loss for all of them is worth its cost, and leads after
# about ten rows per class. If there is no forest either, experts that remember only the last 50 or
# 500 rows, or 300 support vectors, are left out: this is too little per class.
MANY = 20
ROWS_OF_CLASS = 20
# The patience of an expert that never sleeps.
FOREVER = 1 << 62


# Without a forest, kernels of several widths race.
WIDTHS: dict[str, tuple[float, ...]] = {
    "classification": (0.3, 1.0, 3.0),
    "regression": (0.1, 0.3, 1.0, 3.0),
}
FOLLOWS = SquaresKind(3.0, 0, 0.98)
ALONE = {
    task: (*map(SquaresKind, widths), SquaresKind(1.0, 0.5, 0.998), FOLLOWS)
    for task, widths in WIDTHS.items()
}
# Beside a forest, one width is as good as all. In regression a metric is better: it finds
# rotations, and features that are noise, sometimes only after thousands of samples. With few
# features, two thirds of the landmarks suffice: trees are worth more (docs/race_tried.md).
BESIDE = (SquaresKind(1.0), FOLLOWS)
MEASURED = (SquaresKind(1.0, 2 / 3, metric="auto", patience=32_768, twin=True), FOLLOWS)

# In classification, a tree grows from 70 % of the rows, but at most from half of the memory. Two
# replays of half of the rows are better than one of 70 %, and ten candidates per split better than
# four. In regression, a tree grows from 70 % of the rows, with leaves of ten; thirty candidates,
# and more trees if there are few features, are better. The forest of the last 512 samples follows a
# stream that changes; its teacher costs more than its trees.
HALVES = {"max_samples": 0.5, "n_replays": 1}
FORESTS: dict[str, tuple[ForestKind, ...]] = {
    "classification": (
        ForestKind(
            "kernel forest", 0.8,
            {"max_samples": 0.7, "n_replays": 2, "memory": 16_384, "n_candidates": 10},
            most=0.5,
        ),
        ForestKind(
            "kernel forest of the last 512", 0.3,
            {**HALVES, "memory": 512, "n_candidates": 5, "when_full": "renew"},
            is_beside=True,
        ),
    ),
    "regression": (
        ForestKind(
            "kernel forest", 0.55,
            {
                "max_samples": 0.7, "max_rows": 16_384, "max_leaf": 10, "n_replays": 2,
                "memory": 16_384, "n_candidates": 30,
            },
            patience=FOREVER, further=2.4, twin=True,
        ),
        ForestKind(
            "kernel forest of the last 512", 0.15,
            {**HALVES, "memory": 512, "max_leaf": 4, "n_candidates": 5, "when_full": "renew",
             "exact": 0.0},
            is_beside=True,
        ),
    ),
}  # fmt: skip
# Slopes of the links of scores by the hinge loss and by the logistic loss.
HINGE = 2.0
LOGISTIC = 1.0
# Link of one loss for all classes: the softmax of the scores.
SOFTMAX = -1.0


def ladder(
    task: str, n_features: int, n_outputs: int, is_sparse: bool, time: float, memory: float,
    layout: Layout = (), n_empty: int = 0,
) -> list[Expert]:  # fmt: skip
    """Return the experts for samples of a form.

    Parameters
    ----------
    task : {"classification", "regression"}
    n_features, n_outputs : int
    is_sparse : bool
    time : float
        Time budget: microseconds that a sample usually may cost.
    memory : float
        Memory budget of the models, in bytes.
    layout : tuple, default=()
        Form in which forests get the features of a table (`core.samples.coded`).
    n_empty : int, default=0
        Features reserved for categories to come: they are 0, and do not change distances.

    Returns
    -------
    list of Expert
        The experts of the largest size within both budgets; at least one.
    """
    if is_sparse and n_features > WIDE:
        return in_room([*wide_linear(task)], (n_features, n_outputs, is_sparse), memory)
    # Terms in the inner product of two samples.
    width = min(n_features, STORED) if is_sparse else n_features
    form = n_features, n_outputs, is_sparse
    most_light = MOST_LIGHT * time
    forests = forests_of(task, *form, time, memory, layout, most_light)
    share = LARGEST_BESIDE if forests else LARGEST
    most = (MOST_BESIDE_LIGHT if light_of(forests) else MOST) * time
    sizes = [size for size in SIZES if squares_cost(task, size, width) <= share * time]
    sizes = sizes or [SIZES[-1]]

    def of_size(size: int, forests: list[Expert]) -> list[Expert]:
        found = members(task, *form, width, size, forests, n_features - n_empty)
        cheapest = min(found, key=lambda expert: expert.cost)
        return [one for one in found if one.is_raw or one.cost <= most or one is cheapest]

    if task == "classification" and light_of(forests):
        for place, size in enumerate(sizes):
            room = min(most_light, room_beside(of_size(size, forests), time))
            fewer = forests_of(task, *form, time, memory, layout, room)
            if n_trees_of(fewer) >= LEFT_BESIDE * n_trees_of(forests):
                sizes, forests, most_light = sizes[place:], fewer, room
                break
    for size in sizes:
        found = of_size(size, forests)
        if sum(one.n_bytes(*form) for one in found) <= memory:
            return found
    if forests:
        # Memory is short: the main forest gets only what the other experts leave.
        left = memory - sum(one.n_bytes(*form) for one in found if not one.is_raw)
        forests = forests_of(task, *form, time, left / FOREST_MEMORY[task], layout, most_light)
        beside = of_size(size, forests)
        if forests and sum(one.n_bytes(*form) for one in beside) <= memory:
            return beside
    # Keep the smallest experts; the linear first-order learner is the smallest, or is put first.
    ascending = sorted(found, key=lambda one: one.n_bytes(*form))
    small = that_fit(ascending, form, memory)
    return [one for one in found if one in small]


def light_of(forests: list[Expert]) -> bool:
    """Whether there are forests with light teachers."""
    return any(one.is_light for one in forests)


def n_trees_of(forests: list[Expert]) -> int:
    """Return the trees of the main forest, 0 if there is none."""
    return forests[0].estimator.n_trees if forests else 0


def room_beside(found: list[Expert], time: float) -> float:
    """Return the largest cost of the main forest with which the largest kernel is awake as well."""
    main = next(one for one in found if one.is_raw)
    others = [one.cost for one in found if one is not main]
    awake = found[0].cost + sum(cost for cost in others if cost <= LITTLE * time)
    return (time - awake - sum(others) / REST) / (1 + 1 / REST)


def wide_linear(task: str) -> Iterator[Expert]:
    """Return linear learners of wide sparse rows, the most important ones first."""
    cost = 0.3 + 10 * PER_PRODUCT * STORED
    if task == "classification":
        yield Expert("linear AROW, noisy", AROWClassifier(r=NOISY, random_state=0), cost, HINGE)
        yield Expert("linear PA-I", PAClassifier(random_state=0), cost, HINGE)
        yield Expert("linear AROW", AROWClassifier(r=NOISY / 30, random_state=0), cost, HINGE)
        return
    yield Expert("linear AROW, noisy", AROWRegressor(r=NOISY, random_state=0), cost)
    yield sparse_linear(cost)
    yield Expert("linear AROW", AROWRegressor(r=NOISY / 30, random_state=0), cost)


def sparse_linear(cost: float) -> Expert:
    """Return linear PA-I for regression on sparse rows.

    It learns changes that AROW no longer learns, whose variances of frequent features soon are
    small. Larger steps follow noise, smaller ones are slow (docs/race_tried.md).
    """
    return Expert("linear PA-I", PARegressor(C=0.03, random_state=0), cost)


def following_linear(task: str, n_active: int, cost: float) -> Expert:
    """Return linear gradient descent with small constant steps."""
    step: dict[str, Any] = {"eta": STEPS[task], "schedule": "constant", "random_state": 0}
    if task == "classification":
        logistic = OGDClassifier(loss="logistic", **step)
        return Expert("linear gradient descent", logistic, cost, LOGISTIC)
    step["eta"] = min(STEPS[task], 1 / n_active)
    # The Huber loss bounds the gradient, so that an outlier does not make the weights jump.
    return Expert("linear gradient descent", OGDRegressor(loss="huber", **step), cost)


def second_linear(cost: float) -> Expert:
    """Return linear AROW for classification.

    Linear least squares of one class against the rest cannot separate a class that lies between
    others, and first-order steps are slow with many classes (docs/race_tried.md).
    """
    return Expert("linear AROW", AROWClassifier(random_state=0), cost, HINGE)


def joint_linear(width: int, n_outputs: int) -> Iterator[Expert]:
    """Return linear logistic regression, if there are many classes.

    It makes Newton steps with a diagonal covariance, a variance for each weight. Its softmax has
    one loss for all classes, so each sample changes the weights of all rivals.
    """
    if n_outputs > MANY:
        estimator = KernelLogisticClassifier(
            kernel="linear", gamma=1.0, n_components=1, covariance="diagonal", random_state=0
        )
        cost = FIXED + n_outputs * (PER_CLASS + PER_PRODUCT * width)
        patience = ROWS_OF_CLASS * n_outputs
        yield Expert("linear logistic regression", estimator, cost, SOFTMAX, patience=patience)


def former_versions(experts: list[Expert]) -> Iterator[list[Expert]]:
    """Yield the experts of this version, then those that races of former versions had."""
    for later in LATER:
        experts = [one for one in experts if not isinstance(one.estimator, later)]
        yield experts


def that_fit(experts: list[Expert], form: tuple[int, int, bool], memory: float) -> list[Expert]:
    """Return the experts that fit into memory together, as `in_room` does.

    For sparse rows of many classes linear PA-I is always one of them: landmarks do not help there.
    """
    n_features, n_outputs, is_sparse = form
    first = [one for one in experts if isinstance(one.estimator, PAClassifier)]
    if not first or not is_sparse or not STORED < n_features <= WIDE or n_outputs <= MANY:
        return in_room(experts, form, memory)
    others = [one for one in experts if one not in first]
    return in_room([*first, *others], form, max(memory, first[0].n_bytes(*form)))


def in_room(experts: list[Expert], form: tuple[int, int, bool], memory: float) -> list[Expert]:
    """Return the experts that fit into memory together, earlier ones preferred.

    If none fits, the smallest is returned.
    """
    found, left = [], memory
    for expert in experts:
        if (size := expert.n_bytes(*form)) <= left:
            found.append(expert)
            left -= size
    return found or [min(experts, key=lambda expert: expert.n_bytes(*form))]


def slots_in_room(task: str, n_outputs: int, memory: float) -> int:
    """Return the number of slots of hashed features for a race of linear learners, a power of two.

    Memory must suffice for the most important expert, and for the smallest with twice the outputs.
    """
    experts = [*wide_linear(task)]

    def fits(slots: int) -> bool:
        smallest = min(expert.n_bytes(slots, 2 * n_outputs, True) for expert in experts)
        return max(smallest, experts[0].n_bytes(slots, n_outputs, True)) <= memory

    slots = SLOTS
    while slots > LEAST_SLOTS and not fits(slots):
        slots //= 2
    return slots


def members(
    task: str, n_features: int, n_outputs: int, is_sparse: bool, width: int, size: int,
    forests: list[Expert], n_active: int,
) -> list[Expert]:  # fmt: skip
    """Return all experts if the largest kernel experts have `size` landmarks.

    The widths of kernels are chosen for `n_active` features. `width` is the number of terms in an
    inner product; rows are sparse if it is less than `n_features`.

    Beside a forest there is only one kernel width, and neither a budgeted learner nor linear least
    squares with forgetting: with them the mean error on 22 data sets and streams is the same.
    """
    first = [*first_order(task, n_active, n_outputs, width, bool(forests))]
    if task == "regression" and width < n_features:
        first.append(sparse_linear(first[0].cost))
    elif forests:
        first.append(following_linear(task, n_active, first[0].cost))
    last = [] if task == "regression" else [second_linear(first[0].cost)]
    if not is_sparse:
        last.extend(joint_linear(width, n_outputs))
    squares = squares_of(task, n_features, n_outputs, width, size, forests, n_active)
    return [*squares, *first, *forests, *last]


def forests_of(
    task: str, n_features: int, n_outputs: int, is_sparse: bool, time: float, memory: float,
    layout: Layout, most_light: float,
) -> list[Expert]:  # fmt: skip
    """Return the forests within the budgets of time and memory, the main one first.

    Each of the others gets its share of the memory at most, and the main one the rest. With many
    features, the main one costs at most `most_light`. Others that cost too much are left out: their
    teacher costs as much as that of the main forest.
    """
    form = n_features, n_outputs, is_sparse
    left = FOREST_MEMORY[task] * memory
    found: list[Expert] = []
    for place, kind in reversed(list(enumerate(FORESTS[task]))):
        others = forest_of(kind, task, *form, time, left / (place + 1), layout, most_light)
        if place > 0 and any(is_dear(one, time) for one in others):
            continue
        left -= sum(one.n_bytes(*form) for one in others)
        found = [*others, *found]
    return found


def is_dear(one: Expert, time: float) -> bool:
    """Whether a forest beside the main one exceeds its share of the time."""
    most = CHEAP if one.is_light else MOST
    return one.cost > most * time


def forest_of(
    kind: ForestKind, task: str, n_features: int, n_outputs: int, is_sparse: bool, time: float,
    room: float, layout: Layout, most_light: float,
) -> list[Expert]:  # fmt: skip
    """Return a list with the largest forest of a kind within `time` and `room`, in bytes.

    The list is empty if too few trees fit. If there is no room for most of its trees, a forest
    keeps fewer samples.
    """
    width = len(layout) or n_features
    twin = kind.twin and is_measured(task, width)
    costs, most, teacher = FOREST_COSTS[task], MOST * time, "full"
    if width > MOST_FULL and (layout or not is_sparse):
        costs, most, teacher = LIGHT_COST, most_light, "light"
    always, each = costs.always(width, n_outputs), costs.each(width, 2 if twin else n_outputs)
    usual = min(kind.trees_of_time * time, (most - always) / each)
    further = min(kind.further * usual, (CHEAP * time - always) / each)
    wanted = max(0, int(min(MOST_TREES, max(usual, further))))

    def of_size(n_trees: int, kept: int) -> Expert:
        estimator, cost = kind.forest(task, n_trees, kept, teacher), always + n_trees * each
        return Expert(kind.name, estimator, cost, layout=layout, patience=kind.patience, twin=twin)

    kept = kind.parameters["memory"]
    while True:
        few, more = (
            of_size(n, kept).n_bytes(n_features, n_outputs, is_sparse)
            for n in (FEWEST_TREES, 2 * FEWEST_TREES)
        )
        found = int(max(0, min(wanted, FEWEST_TREES * (1 + (room - few) / (more - few)))))
        if found >= MOST_OF_TREES[task] * wanted or kept <= LEAST_KEPT:
            break
        kept //= 2
    return [of_size(found, kept)] if found >= FEWEST_TREES else []


def squares_of(
    task: str, n_features: int, n_outputs: int, width: int, size: int, forests: list[Expert],
    n_active: int,
) -> Iterator[Expert]:  # fmt: skip
    """Return kernel least squares of several kinds, and linear ones, some with forgetting."""
    squares = KernelRLSClassifier if task == "classification" else KernelRLSRegressor
    kinds, beside_forest = ALONE[task], bool(forests)
    if beside_forest:
        kinds = MEASURED if is_measured(task, n_features) else BESIDE
    elif n_outputs > MANY:
        kinds = tuple(kind for kind in kinds if kind.forgetting == 1)
    for kind in kinds:
        estimator = squares(
            gamma=kind.scale / n_active, n_components=kind.length(size, n_features),
            forgetting=kind.forgetting, linear=n_features < MOST_LINEAR, reg=REG, random_state=0,
            metric=kind.metric,
        )  # fmt: skip
        cost = squares_cost(task, estimator.n_components, width)
        cost *= 1 if kind.metric == "none" else RENEWED
        yield Expert(kind.name, estimator, cost, patience=kind.patience, twin=kind.twin)
    # Kernel experts with a metric include linear features if these are few.
    alone = (1.0, 0.98) if n_outputs <= MANY else (1.0,)
    beside = () if is_measured(task, n_features) and n_features < MOST_LINEAR else (1.0,)
    for forgetting in beside if beside_forest else alone:
        estimator = squares(
            kernel="linear", gamma=1.0, n_components=1, forgetting=forgetting, linear=True,
            reg=REG, random_state=0,
        )  # fmt: skip
        name = f"linear least squares{memory_of(forgetting)}"
        yield Expert(name, estimator, linear_cost(task, n_features, light_of(forests)))


def is_measured(task: str, n_features: int) -> bool:
    """Whether the kernels beside a forest learn a metric."""
    return task == "regression" and n_features <= MOST_MEASURED


def first_order(
    task: str, n_active: int, n_outputs: int, width: int, beside_forest: bool
) -> Iterator[Expert]:
    """Return first-order learners: they are cheap, and lead if successive labels are equal."""
    wide = PER_PRODUCT * width
    classifies = task == "classification"
    linear = PAClassifier if classifies else AROWRegressor
    name = "linear PA-I" if classifies else "linear AROW"
    yield Expert(name, linear(random_state=0), 0.3 + 10 * wide, HINGE)
    common: dict[str, Any] = {"gamma": 1 / n_active, "random_state": 0}
    # Constant steps follow a stream that changes.
    steps: dict[str, Any] = {"n_components": FREQUENCIES, "schedule": "constant", "average": False}
    fourier = (
        FOGDClassifier(loss="logistic", eta=1.0, **common, **steps)
        if classifies
        else FOGDRegressor(eta=0.5, **common, **steps)
    )
    yield Expert("Fourier features, gradient descent", fourier, 1 + FREQUENCIES * wide, LOGISTIC)
    if beside_forest:
        if classifies:
            narrow = KernelPAClassifier(
                gamma=NARROW / n_active, max_support=FOLLOWING, when_full="oldest",
                average=False, random_state=0,
            )  # fmt: skip
            name = f"narrow kernel PA-I of the last {FOLLOWING}"
            yield Expert(name, narrow, 0.3 + FOLLOWING / 2 * wide, HINGE)
        return
    if n_outputs > MANY:
        return
    budgeted = BPAClassifier if classifies else BPARegressor
    yield Expert(
        "budgeted kernel PA (BPA-S)", budgeted(budget=BUDGET, **common), 1.5 + BUDGET * wide, HINGE
    )
