"""The experts of a race, with their costs (`costs`) and the estimators that they stand for."""

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

# One of the largest experts, and any expert, may take these shares of the time. There are some of
# the largest, but most of the time only one or two are awake. What a metric costs is not counted.
LARGEST = 0.35
# Beside a forest they are smaller.
LARGEST_BESIDE = 0.25
MOST = 0.6
# Samples that metrics are learnt from are kept: of more features, they would take the memory.
MOST_MEASURED = 128
# Sparse rows of more features are those of text or of hashed categories: no kernel has room for
# landmarks there, and weights of single features tell what there is to know. The first of these
# experts come first where memory is short. Labels of clicks are noisy, those of text are not: hence
# steps of two kinds (benchmarks/clicks.py). Scaling bounds a rare feature by `CLIP`, so that its
# square is 25 times that of one that is 1.
WIDE = 2**17
NOISY = 1000.0
# There are no fewer slots than these, for however many classes.
LEAST_SLOTS = 2**10
# A sparse sample is taken to store so many elements.
STORED = 100
# Besides the widths of kernels, more linear features bring nothing, and cost as much as landmarks.
MOST_LINEAR = 32
# Prior precision of least squares: the vote finds who is right, not their priors.
REG = 0.1
FREQUENCIES = 200
BUDGET = 300
# A first-order learner of narrow kernels that drops its oldest support vector follows small
# clusters that move. Of its kernel values some half are needed.
NARROW = 10.0
FOLLOWING = 500
# Small steps of linear weights follow a border or a plane that moves where labels and targets are
# noisy: those of PA-I are as large as the mistake, those of AROW soon vanish. With many features,
# steps of targets are smaller, so that none goes past its own target (docs/race_tried.md).
STEPS = {"classification": 0.05, "regression": 0.03}
# Forests have so many trees for each microsecond of the time budget, between these numbers, and at
# most as many as a share of the memory has room for, which is larger where classes take much of it.
# With fewer there is none.
FEWEST_TREES, MOST_TREES = 10, 200
FOREST_MEMORY = {"classification": 0.85, "regression": 0.7}
# A forest has further trees as long as it takes no more than this share of the time.
CHEAP = 0.37
# A forest keeps fewer samples only where there is no room for this share of its trees: half of the
# trees on twice as many samples err less on covtype.
LEAST_KEPT = 2048
MOST_OF_TREES = {"classification": 0.6, "regression": 2 / 3}
# Rows of more features have forests of light teachers: full ones take the most time, and linear
# experts know what directions know (docs/race.md). Such a forest may take this share of the time,
# and any expert beside it that one: linear least squares of 800 features are worth it. Sparse rows
# so wide are those of text, and have no further forests.
MOST_FULL = 128
MOST_LIGHT = 0.85
MOST_BESIDE_LIGHT = 0.65
# Of classes the largest kernel is so small that it and the forest can be awake at once, where one
# leaves the forest this share of its trees: the vote of both errs less than the better one, and
# trees are worth more than landmarks (docs/race_tried.md). Who sleeps takes one part in `REST` of
# its time, and who takes less than the share `LITTLE` never does (`core.race`).
LEFT_BESIDE = 0.9
REST = 8
LITTLE = 0.02
# Learners that became experts late, the last ones first: races of former versions lack them.
LATER = (
    (),
    (KernelLogisticClassifier,),
    (AROWClassifier,),
    (PARegressor, OGDClassifier, OGDRegressor),
)
# With more classes, one loss for all of them is worth what it costs, and leads when some ten rows
# of a class have come. Where there is no room for a forest either, the last 50 or 500 rows and 300
# support vectors know too little of each class for experts that keep no more.
MANY = 20
ROWS_OF_CLASS = 20
# The patience of an expert that never sleeps.
FOREVER = 1 << 62


# Where there is no forest, kernels of several widths race.
WIDTHS: dict[str, tuple[float, ...]] = {
    "classification": (0.3, 1.0, 3.0),
    "regression": (0.1, 0.3, 1.0, 3.0),
}
FOLLOWS = SquaresKind(3.0, 0, 0.98)
ALONE = {
    task: (*map(SquaresKind, widths), SquaresKind(1.0, 0.5, 0.998), FOLLOWS)
    for task, widths in WIDTHS.items()
}
# Beside a forest, one width does what all do. Of targets a metric does more: it finds rotations,
# and features that are noise, but some of them after thousands of samples only. Of few features it
# does with two thirds of the landmarks: trees are worth more (docs/race_tried.md).
BESIDE = (SquaresKind(1.0), FOLLOWS)
MEASURED = (SquaresKind(1.0, 2 / 3, metric="auto", patience=32_768, twin=True), FOLLOWS)

# Trees of classes have 70 % of the rows as long as these are few, and half of those that are kept
# when they are many; those of targets 70 %, with leaves of ten. A second replay of half of the rows
# is worth more than 70 % of them once, and ten cuts a node more than four; targets want thirty, and
# more trees where features are few. The forest of the last 512 samples follows a stream that
# changes; what it costs is its teacher more than its trees.
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
# Scores of the hinge and of the logistic loss are no least squares: their links have these slopes.
HINGE = 2.0
LOGISTIC = 1.0
# Of one loss for all classes the shares are the softmax of the scores.
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
        Microseconds that a sample may cost, most of the time.
    memory : float
        Bytes that the models may take.
    layout : tuple, default=()
        What forests see of the features of a table.
    n_empty : int, default=0
        Features that make no distance: they wait for categories.

    Returns
    -------
    list of Expert
        The experts of the largest size that both have room for; at least one.
    """
    if is_sparse and n_features > WIDE:
        return in_room([*wide_linear(task)], (n_features, n_outputs, is_sparse), memory)
    # A product of two samples costs as much as it has terms.
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
        # What the others lack for, the main forest leaves to them.
        left = memory - sum(one.n_bytes(*form) for one in found if not one.is_raw)
        forests = forests_of(task, *form, time, left / FOREST_MEMORY[task], layout, most_light)
        beside = of_size(size, forests)
        if forests and sum(one.n_bytes(*form) for one in beside) <= memory:
            return beside
    # The small ones come first; the linear first-order learner is the smallest, or asked for first.
    ascending = sorted(found, key=lambda one: one.n_bytes(*form))
    small = who_stays(ascending, form, memory)
    return [one for one in found if one in small]


def light_of(forests: list[Expert]) -> bool:
    """Whether there are forests, of light teachers."""
    return any(one.is_light for one in forests)


def n_trees_of(forests: list[Expert]) -> int:
    """Return the trees of the main forest, 0 if there is none."""
    return forests[0].estimator.n_trees if forests else 0


def room_beside(found: list[Expert], time: float) -> float:
    """Return what the main forest may cost if it and the largest kernel are to be awake at once."""
    main = next(one for one in found if one.is_raw)
    others = [one.cost for one in found if one is not main]
    awake = found[0].cost + sum(cost for cost in others if cost <= LITTLE * time)
    return (time - awake - sum(others) / REST) / (1 + 1 / REST)


def wide_linear(task: str) -> Iterator[Expert]:
    """Return linear learners of rows that are wide and sparse, those first that are missed most."""
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
    """Return linear PA-I of targets of sparse rows.

    It takes up what AROW, whose variances of frequent features soon are small, no longer learns.
    Larger steps follow noise, smaller ones come late (docs/race_tried.md).
    """
    return Expert("linear PA-I", PARegressor(C=0.03, random_state=0), cost)


def following_linear(task: str, n_active: int, cost: float) -> Expert:
    """Return linear gradient descent, whose steps are small and do not decay."""
    step: dict[str, Any] = {"eta": STEPS[task], "schedule": "constant", "random_state": 0}
    if task == "classification":
        logistic = OGDClassifier(loss="logistic", **step)
        return Expert("linear gradient descent", logistic, cost, LOGISTIC)
    step["eta"] = min(STEPS[task], 1 / n_active)
    # The slope of a large error is that of a deviation: an outlier is no jump.
    return Expert("linear gradient descent", OGDRegressor(loss="huber", **step), cost)


def second_linear(cost: float) -> Expert:
    """Return linear AROW of classes, whose largest score answers.

    Least squares of one class against the others know no class that lies between others, and steps
    of first order are slow where classes are many (docs/race_tried.md).
    """
    return Expert("linear AROW", AROWClassifier(random_state=0), cost, HINGE)


def joint_linear(width: int, n_outputs: int) -> Iterator[Expert]:
    """Return linear logistic regression of many classes, by Newton steps of a variance a weight.

    Its softmax has one loss for all classes: each sample moves the weights of all rivals.
    """
    if n_outputs > MANY:
        estimator = KernelLogisticClassifier(
            kernel="linear", gamma=1.0, n_components=1, covariance="diagonal", random_state=0
        )
        cost = FIXED + n_outputs * (PER_CLASS + PER_PRODUCT * width)
        patience = ROWS_OF_CLASS * n_outputs
        yield Expert("linear logistic regression", estimator, cost, SOFTMAX, patience=patience)


def former_versions(experts: list[Expert]) -> Iterator[list[Expert]]:
    """Yield the experts of today, then those that races had which former versions have saved."""
    for later in LATER:
        experts = [one for one in experts if not isinstance(one.estimator, later)]
        yield experts


def who_stays(experts: list[Expert], form: tuple[int, int, bool], memory: float) -> list[Expert]:
    """Return `in_room`, with linear PA-I first on sparse rows of many classes.

    There landmarks tell nothing of words. It stays in any case, even without room.
    """
    n_features, n_outputs, is_sparse = form
    first = [one for one in experts if isinstance(one.estimator, PAClassifier)]
    if not first or not is_sparse or not STORED < n_features <= WIDE or n_outputs <= MANY:
        return in_room(experts, form, memory)
    others = [one for one in experts if one not in first]
    return in_room([*first, *others], form, max(memory, first[0].n_bytes(*form)))


def in_room(experts: list[Expert], form: tuple[int, int, bool], memory: float) -> list[Expert]:
    """Return the experts that memory has room for together, the first ones first.

    There is one at least: if there is room for none, the smallest.
    """
    found, left = [], memory
    for expert in experts:
        if (size := expert.n_bytes(*form)) <= left:
            found.append(expert)
            left -= size
    return found or [min(experts, key=lambda expert: expert.n_bytes(*form))]


def slots_in_room(task: str, n_outputs: int, memory: float) -> int:
    """Return how many slots a race of linear learners has room for, a power of two.

    The expert that is missed most has room, and the smallest with twice as many outputs.
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
    """Return the experts whose largest have so many landmarks.

    The widths of kernels are those of `n_active` features. Rows are sparse if `width`, the terms of
    a product, is less than `n_features`.

    Beside a forest, kernels of one width do what those of all widths do, and neither a budgeted
    learner nor linear least squares that forget are missed: without them the mean error of 22 sets
    and streams is the same.
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
    """Return the forests that time and memory have room for, the main one first.

    The others have their share of the memory, and the main one what they leave of theirs. Of many
    features the main one costs `most_light` at most, and others that are dear are left out: their
    teacher costs what that of the main does.
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
    """Whether a forest beside the main one takes too much of the time."""
    most = CHEAP if one.is_light else MOST
    return one.cost > most * time


def forest_of(
    kind: ForestKind, task: str, n_features: int, n_outputs: int, is_sparse: bool, time: float,
    room: float, layout: Layout, most_light: float,
) -> list[Expert]:  # fmt: skip
    """Return the forest of a kind that the time, and a room of so many bytes, are enough for.

    The list is empty if there is none. Where there is no room for most of its trees, a forest keeps
    fewer samples.
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
    """Return least squares of kernel features of several kinds, and linear ones; some forget."""
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
    # With a metric, linear features are among those of the kernel.
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
    """Return first-order learners: they are cheap, and lead where labels repeat."""
    wide = PER_PRODUCT * width
    classifies = task == "classification"
    linear = PAClassifier if classifies else AROWRegressor
    name = "linear PA-I" if classifies else "linear AROW"
    yield Expert(name, linear(random_state=0), 0.3 + 10 * wide, HINGE)
    common: dict[str, Any] = {"gamma": 1 / n_active, "random_state": 0}
    # A step that does not decay follows a stream that changes.
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
