"""Kernel forests: second-order learners on the cells of trees that split where functions change.

The classes hold the documentation and the parameters, and compose parts of the core.
"""

from itertools import product
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, cast

import numpy as np

from onlinekern.core import LOSSES, RULES, SCHEDULES
from onlinekern.core.base.random import Generator
from onlinekern.core.features.looking import teacher_bytes
from onlinekern.core.learning.trials import alarms_of
from onlinekern.core.models.forest import ForestSpace
from onlinekern.core.partitions.costs import samples_spread_over
from onlinekern.core.partitions.exact_cuts import MOST_SOUGHT
from onlinekern.core.partitions.tables import N_ORDERS
from onlinekern.core.renewed_model import renewed
from onlinekern.core.stream import Model
from onlinekern.estimators.categories import (
    CategoricalFeatures,
    Categories,
    check_numbers,
    first_categories,
    kinds_of_chosen,
    numbered,
)
from onlinekern.estimators.classification import OnlineClassifier
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.encoded_tables import Encoded, encoded, feature_names
from onlinekern.estimators.memory import Form
from onlinekern.estimators.parameters import OF_NEW_MODELS, Count, Positive, estimator
from onlinekern.estimators.regression import OnlineRegressor
from onlinekern.estimators.scikit_learn import Interval
from onlinekern.estimators.several_targets import SEVERAL
from onlinekern.estimators.types import Array, Floats, Indices
from onlinekern.estimators.validation import no_name_warnings_for

# A tree of n samples has less than 2 n nodes, whose numbers have 16 bits.
MOST_KEPT = 1 << 14
NOISES = (0.2, 4.0)
LEVELS = {"leaf": (False,), "upper": (True,), "both": (False, True)}
# Probability of a correct prediction that confidence-weighted rules ask for.
CONFIDENCE = 0.9
NODE_BYTES = 8
# Renewals after at most so many samples are spread over fewer others (`core.partitions.costs`).
EARLY = 512
# In classification, one tree in TREES_OF_EXACT has exact splits if a renewal grows from 8
# EXACT_FROM samples, and half as many from EXACT_FROM on. From fewer samples, exact splits also fit
# noise (docs/kernel_forests_tried.md).
TREES_OF_EXACT = 3
EXACT_FROM = 1 << 11
# With a number in `exact`, and in regression, exact trees begin with fewer samples: that is better
# where they help at all (docs/race_tried.md).
ASKED_FROM = 1 << 8
# In regression, one tree in so many has exact splits, and grows from EXACT_SHARE of the samples.
# Half of the experts do not use these trees, so that smooth functions lose nothing
# (docs/kernel_forests_tried.md).
TREES_OF_EXACT_TARGETS = 10
EXACT_SHARE = 0.5
# Initial variances of the cells of exact trees in classification: the first for half of the
# experts, the second for the others. Other cells have 1. So the first half relies on the random
# trees, and the second on the exact ones, which suit functions that jump along axes
# (docs/kernel_forests_tried.md).
EXACT_VARIANCES = (0.1, 2.0)
# Bytes that exact trees keep of a sample, beside its features.
EXACT_BYTES = 60
# A new forest beside the old one learns so many samples at most (`learning.trials`).
OF_A_TRIAL = 1000

Share: TypeAlias = Annotated[float, Interval(Real, 0, 1, closed="both")]
MemoryShare: TypeAlias = Annotated[float, Interval(Real, 0, 1, closed="right")]
Candidates: TypeAlias = Annotated[int, Interval(Integral, 1, 1000, closed="both")]


def rule_on_cells(name: str, of_targets: bool) -> Any:
    """Return a rule with r or 1 / C of 1; experts divide the weights of samples by their noise.

    With the initial variances, a sample has the squared length 1.
    """
    absolute = LOSSES["epsilon_insensitive"](0.0)
    loss = absolute if of_targets else LOSSES["hinge"]()
    if name == "logistic":
        return RULES["gradient"](LOSSES["logistic"](), SCHEDULES["constant"](1.0), 0.0)
    if name == "least_squares":
        # AROW on the absolute error takes the steps of least squares, at each sample.
        return RULES["arow"](absolute, 1.0)
    if name in ("scw1", "scw2"):
        return RULES[name](loss, CONFIDENCE, 1.0)
    return RULES[name](loss, 1.0)


# Parameters of a forest that are fixed when it begins.
OF_FORESTS = {
    "noise", "rule", "max_rows", "renewal_spread", "categorical_features", "begin_anew",
}  # fmt: skip


@estimator
class KernelForest(Learner):
    """Mixin of learners on the cells of a forest."""

    n_trees: Count = 100
    noise: Literal["auto"] | Positive = "auto"
    # Subclasses list the rules.
    rule: str = "arow"
    levels: Literal["both", "leaf", "upper"] = "both"
    memory: Annotated[int, Interval(Integral, 64, MOST_KEPT, closed="both")] = MOST_KEPT
    max_samples: MemoryShare = 0.7
    max_rows: Count = 8192
    max_leaf: Count = 4
    n_candidates: Candidates = 10
    n_replays: Annotated[int, Interval(Integral, 1, 100, closed="both")] = 2
    renewal_spread: Share = 0.25
    when_full: Literal["grow", "renew"] = "grow"
    begin_anew: bool = True
    exact: Literal["auto"] | Share = "auto"
    teacher: Literal["full", "light"] = "full"
    categorical_features: CategoricalFeatures = "from_dtype"

    _calls_blas = True
    _size = "n_trees"
    _begins_with = OF_NEW_MODELS | OF_FORESTS
    _takes_missing = True
    _takes_categories = True
    _any_scale = True
    _early = EARLY
    # Weights of the targets, if splits are found for one sum of them.
    _cut_weights = cast("tuple[float, ...]", ())
    # The categories of the categorical columns: `estimators.categories`.
    _categories = cast(Categories, ())

    def _noises(self) -> tuple[float, ...]:
        return NOISES if self.noise == "auto" else (float(self.noise),)

    def _n_bytes(self, form: Form) -> int:
        rivals = self._bytes_of(form, min(self.memory, OF_A_TRIAL)) if self.begin_anew else 0
        return self._kept_bytes(form) + rivals + self._teacher_bytes(form)

    def _kept_bytes(self, form: Form) -> int:
        """Return the bytes of a forest between two renewals."""
        return self._bytes_of(form, self.memory)

    def _teacher_bytes(self, form: Form) -> int:
        """Return the bytes of the teacher, which finds splits in a renewal."""
        n_axes, is_light = self._n_axes(form), self.teacher == "light"
        # A light teacher seeks no directions in classification.
        is_directed = not (is_light and isinstance(self, OnlineClassifier))
        n_told = 1 if self._cut_weights else form.n_outputs
        return int(teacher_bytes(self.memory, n_axes, n_told, is_light, is_directed))

    def _n_axes(self, form: Form) -> int:
        """Return how many numbers of a sample trees use: a category has several orders."""
        return form.n_features + (N_ORDERS - 1) * len(self._categories)

    def _bytes_of(self, form: Form, memory: int) -> int:
        """Return the bytes of a forest that keeps `memory` samples."""
        # The kept samples, with their copies and cells during a renewal, and the cells of trees.
        n_experts = self._n_experts()
        rows = min(self.max_rows, max(64, int(self.max_samples * memory)))
        # Fewer nodes have larger leaves.
        nodes = rows * min(1.0, 4 / self.max_leaf)
        cell = NODE_BYTES + 4 * n_experts * (1 + form.n_outputs)
        n_exact = self._n_exact() if memory >= self._exact_from() else 0
        kept = memory + samples_spread_over(
            max(memory, self._early + 1), self.renewal_spread, self._early, memory, self.n_trees,
            self.max_samples, self.max_rows, self.n_replays, n_exact, form.n_outputs,
        )  # fmt: skip
        n_axes = self._n_axes(form)
        n_targets = 1 if isinstance(self, OnlineClassifier) else form.n_outputs
        sample = (
            2 * (form.itemsize * form.n_features + 8 * n_targets) + 8 * n_axes + 3 * self.n_trees
        )
        if n_exact:
            # Features in ascending order, and codes, keys and two orders.
            sample += 4 * min(n_axes, MOST_SOUGHT) + EXACT_BYTES
        return kept * sample + int(self.n_trees * nodes * cell)

    def _samples(self, X: Any, y: Any, dtype: Any, start: bool) -> Any:
        in_order = no_name_warnings_for(X)
        X = encoded(self, X, start, learn=True)
        if isinstance(X, Encoded):
            known: Categories = tuple((place, None) for place in vars(self)["encoder_"].coded_)
        else:
            known = first_categories(X, self.categorical_features) if start else self._categories
            X, known = numbered(X, known, learn=True)
        with in_order:
            X, y = super()._samples(X, y, dtype, start)
        if known:
            check_numbers(X, known, feature_names(self))
        self._categories = known
        return X, y

    def _rows(self, X: Any, dtype: Any) -> Any:
        in_order = no_name_warnings_for(X)
        X = encoded(self, X, start=False, learn=False)
        X, known = numbered(X, self._categories, learn=False)
        with in_order:
            X = super()._rows(X, dtype)
        if known:
            check_numbers(X, known, feature_names(self))
        return X

    def _encoding(self, X: Any, y: Any) -> dict[str, Any]:
        kinds = kinds_of_chosen(X, self.categorical_features)
        return {"categories": "codes", "missing": "keep", "kinds": kinds}

    def _first_model(self, X: Any, draws: np.random.RandomState) -> Model:
        # Not in `_new_model`, because a race begins anew with all of its experts.
        model = super()._first_model(X, draws)
        return renewed(model) if self.begin_anew else model

    def _space(self, X: Any, n_outputs: int, rng: Generator, features: Any) -> Any:
        n_labels, seed = self._n_labels(), int(rng.random(1)[0] * 2**53)
        form = X.shape[1], X.dtype, n_outputs, n_labels
        rule = rule_on_cells(self.rule, of_targets=n_labels == 0)
        experts = rule, self._noises(), LEVELS[self.levels]
        trees = self.n_trees, self.max_leaf, self.n_candidates
        samples = float(self.max_samples), self.max_rows, self.memory
        anew = self.when_full == "renew"
        renewals = self.n_replays, float(self.renewal_spread), self._early, anew
        coded = tuple(place for place, _ in self._categories)
        cuts = self._n_exact(), self._exact_from(), self.teacher == "light", self._cut_weights
        apart = *self._apart(), self._holds()
        return ForestSpace(*form, *experts, *trees, *samples, *renewals, seed, coded, *cuts, *apart)

    def _holds(self) -> bool:
        """Return whether outliers among targets are clipped (`core.learning.held_targets`)."""
        return False

    def _n_exact(self) -> int:
        """Return how many trees have exact splits, once there are enough samples."""
        if self.exact != "auto":
            return max(round(self.n_trees * self.exact), int(self.exact > 0))
        if self.n_candidates == 1:
            return 0
        if isinstance(self, OnlineClassifier):
            return self.n_trees // TREES_OF_EXACT
        return self.n_trees // TREES_OF_EXACT_TARGETS if self._n_experts() > 1 else 0

    def _exact_from(self) -> int:
        """Return from how many samples on half of these trees have exact splits."""
        of_classes = isinstance(self, OnlineClassifier) and self.exact == "auto"
        return EXACT_FROM if of_classes else ASKED_FROM

    def _n_experts(self) -> int:
        return len(self._noises()) * len(LEVELS[self.levels])

    def _apart(self) -> tuple[float, tuple[int, ...], tuple[float, ...]]:
        """Return how experts treat exact trees among random ones.

        This is the share of the samples that exact trees grow from, how many of the first trees
        each expert uses, and the initial variance of cells of exact trees for each expert. In
        regression half of the experts do not use exact trees. In classification half give their
        cells a small variance, the others a large one. The halves alternate over levels and noises
        like the squares of a chessboard, so each noise and each level occurs in both.
        """
        n_exact = self._n_exact()
        if not 0 < n_exact < self.n_trees or self._n_experts() == 1:
            return 1.0, (), ()
        places = product(range(len(LEVELS[self.levels])), range(len(self._noises())))
        are_odd = [sum(place) % 2 for place in places]
        if isinstance(self, OnlineClassifier):
            return 1.0, (), tuple(EXACT_VARIANCES[is_odd] for is_odd in are_odd)
        # The expert with the smallest noise and the upper cells uses all trees.
        first = self.n_trees - n_exact
        return EXACT_SHARE, tuple(self.n_trees if is_odd else first for is_odd in are_odd), ()

    def _next_calls_blas(self) -> bool:
        model: Any = self._model
        rival = getattr(model, "rival", None)
        return bool(model.space.is_looking() or (rival is not None and rival.space.is_looking()))

    @property
    def alarms_(self) -> Indices:
        """Numbers of the samples after which a new forest began beside the old one."""
        return alarms_of(self._fitted_model)

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the mean square of the gradient, ndarray (n_features,)."""
        return self._read(lambda space: space.importances)

    @property
    def importance_names_(self) -> Array | None:
        """Names of the features of `feature_importances_`; None if they have none."""
        return feature_names(self)

    @property
    def is_categorical_(self) -> Array:
        """Which features hold categories, ndarray of bool (n_features,)."""
        found = self._read(lambda space: np.zeros(space.d, dtype=bool))
        found[[place for place, _ in self._categories]] = True
        return found

    @property
    def n_cells_(self) -> int:
        """Nodes of all trees."""
        return self._read(lambda space: space.now.forest.n_nodes)

    @property
    def expert_weights_(self) -> Floats:
        """Weight of each expert's score, ndarray of shape (n_levels, n_noises)."""
        return self._read(lambda space: space.expert_weights())


@estimator
class KernelForestClassifier(OnlineClassifier, KernelForest):
    """Kernel forest: trees that split where the function changes, learnt jointly, in one pass.

    Random trees split space into cells, and a second-order learner learns the weights of all cells
    of all trees together. The splits lie where the function changes: a small kernel machine, the
    teacher, measures how steep it is along each feature. Nothing has to be chosen or scaled. One
    pass comes close to batch forests and boosted trees on tables with many kinds of columns
    (docs/kernel_forests.md).

    Parameters
    ----------
    n_trees : int >= 1, default=100
        Number of trees. Time and memory grow linearly with it; 300 trees lower the error a little.
    noise : 'auto' or float > 0, default='auto'
        Parameter r of AROW: the larger, the smaller the steps. 0.1 suits clean labels, 1 noisy
        ones, 10 very noisy ones. 'auto' learns with 0.2 and 4 at once, and combines their scores
        with weights that follow their errors.
    rule : {'arow', 'least_squares', 'scw1', 'scw2', 'pa1', 'pa2', 'logistic'}, default='arow'
        The rule by which the weights of cells are learnt, with one expert for each noise r: 'arow';
        soft confidence-weighted learning (probability 0.9) and passive-aggressive learning with C =
        1 / r; gradient descent on the logistic loss with step 1 / r. 'least_squares' is 'arow' on
        the squared error of the labels 1 and -1, with a step at each sample. 'pa1', 'pa2' and
        'logistic' are of first order: variances do not change.
    levels : {'both', 'leaf', 'upper'}, default='both'
        Cells of a sample in each tree: 'leaf' is its leaf; 'upper' is also the node at depth 4,
        which adapts faster if there are many leaves. 'both' learns both ways, and combines the
        scores like those of the noises.
    memory : int in [64, 16384], default=16384
        Number of the last samples that are kept, from which new trees grow.
    max_samples : float in (0, 1], default=0.7
        A tree grows from this share of the samples that are kept, drawn without repetition, and
        from 64 at least. The others guard against overfitting: its splits have not seen their
        targets.
    max_rows : int >= 1, default=8192
        A tree grows from at most so many samples, as long as the forest is renewed as a whole.
    max_leaf : int >= 1, default=4
        A node with more samples is split.
    n_candidates : int in [1, 1000], default=10
        Splits drawn for a node, of which the best is taken; at most one for four of its rows. With
        1 trees are totally random.
    n_replays : int in [1, 100], default=2
        How often the samples that are kept are learnt again when the forest is renewed.
    renewal_spread : float in [0, 1], default=0.25
        A renewal of the forest that begins at sample n is spread over the next ``renewal_spread *
        n`` samples. The old forest predicts until the new one is complete. From sample `memory` on,
        the renewal lasts longer if its work per sample would otherwise be more than 7.6 times that
        of learning one. With 0 all is done at sample n, which then takes tenths of a second. Up to
        the 512th sample, a renewal is spread over a sixteenth of this: 2 samples after the 128th,
        and 8 after the 512th. Those at 32 and 64 are done at once, in some 2 milliseconds.
    begin_anew : bool, default=True
        Whether a new forest begins beside this one when a test (`onlinekern.drift.LossDetector`)
        shows that the losses have grown. Both then learn for 1,000 samples, in twice the time and
        with the memory of both. The one with fewer errors is kept. Losses are mistakes, or in
        regression squared errors, summed over several targets. Without an alarm, as in random
        order, results are the same, bit for bit. Later passes of `fit` and exported C raise no
        alarms.
    exact : {'auto'} or float in [0, 1], default='auto'
        Share of the trees, the last ones, whose splits are exact if a renewal grows from 2,048
        samples or more; at least one tree if it is not 0. From 256 samples on half of them, rounded
        down, are exact; with a smaller `memory` none is. Exact splits help if the function jumps,
        and harm if it is smooth. 'auto' is a tenth in regression, where half of the experts use
        only the other trees, so that smooth functions lose nothing. In classification it is a sixth
        from 2,048 samples on, and a third from 16,384. 'auto' is 0 with ``n_candidates=1``, and in
        regression if `noise` and `levels` leave one expert.
    teacher : {'full', 'light'}, default='full'
        The kernel machine that finds where to split. 'light' is for hundreds of features, where
        'full' takes most of the time and fits noise. It has 100 landmarks and no linear part. Its
        directions are approximate in regression; in classification it has none. Linear functions
        need 'full'.
    categorical_features : 'from_dtype', array-like or None, default='from_dtype'
        Categorical features, which splits divide into two sets of categories: a mask, indices of
        features, or names of columns. 'from_dtype' takes the columns of a data frame that have a
        categorical type (pandas, polars), and none of an array. A column of numbers holds category
        codes, 0 to 65535. One-hot columns need not be named: three or more of which at most one is
        on are found, and split like the categories that they stand for.
    when_full : {'grow', 'renew'}, default='grow'
        What happens once the stream is longer than `memory`. 'grow' splits the leaves of the trees
        further whenever the stream has doubled. 'renew' grows new trees from the last `memory`
        samples, after every `memory` samples, so that the trees follow a stream that changes.
    class_weight : dict, 'balanced' or None, default=None
        Factors of the weights of the samples of each class, see `sample_weight`: a dictionary
        from labels to numbers >= 0 (labels that it leaves out have 1), or 'balanced',
        ``n_samples / (n_classes * n_samples_of_class)``. `fit` counts all that it gets;
        `partial_fit` and `learn_one` count the samples so far, each with itself.
    encode : {'auto', True, False}, default='auto'
        Whether the model encodes the columns of tables itself, with an encoder `encoder_`
        (docs/tables.md). 'auto' does if the first samples are a data frame or an Arrow table with
        text or dates, or dictionaries. Text becomes categories, and dates become cyclical features;
        missing values stay as they are. True also encodes arrays. False never encodes.
    n_epochs : int >= 1, default=1
        Passes of `fit` over the data. `partial_fit` always makes one.
    shuffle : bool, default=True
        Whether `fit` draws a new order for each pass. `partial_fit` keeps the given order.
    random_state : int, RandomState instance or None, default=None
        Seed of the trees and of the order.
    window : int >= 1 or None, default=None
        Samples that are read together. It never changes a result.
    n_jobs : int or None, default=None
        Threads used to predict; None means 1 unless in a ``joblib.parallel_backend`` context.
    verbose : int, default=0
        If not 0, `fit` shows its progress: as a bar on a terminal and in a notebook, and as some
        lines in a log, on standard error. Results do not change.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_mistakes_ : int
        Samples whose prediction, made before they were learnt, was wrong.
    cumulative_loss_ : float
        Sum of weight times hinge loss; the loss of a sample is taken before it is learnt.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the mean square of the function's gradient, in units of the spread
        of the features; 0 before the 32nd sample.
    importance_names_ : ndarray of str, or None
        Names of these features, if the samples had names of columns.
    is_categorical_ : ndarray of shape (n_features,)
        Which features hold categories, bool.
    n_cells_ : int
        Nodes of all trees.
    expert_weights_ : ndarray of shape (n_levels, n_noises)
        Weight of each expert's score; they sum to 1, and some may be negative.
    alarms_ : ndarray of shape (n_alarms,), int64
        Numbers of the samples, counted from 1, after which a new forest began beside the old one.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    At samples 32, 64, 128, ... a renewal of the forest begins. A kernel machine of 200 landmarks,
    the teacher, is fitted to the last 2,048 samples, in a metric that the last teacher has learnt.
    The mean square of its gradient along each feature, and the eight leading eigenvectors of the
    gradients' outer product, say where the function changes. To draw a split, a pair of samples of
    the node is drawn. A feature or direction is drawn with a probability proportional to how much
    the pair differs along it, times the slope of the function there. The threshold is uniform
    between both samples. Of `n_candidates` splits, the one that lowers the variance of the
    residuals most is taken [1]_. Trees grow one after another: each takes a twentieth of the means
    of its leaves from the targets, as in boosting, and leaves the residuals to the next. Features
    that these trees find useful, but slopes miss, are drawn more often. Then the samples that are
    kept, and those that have come meanwhile, are learnt again. Once the stream is longer than
    `memory`, trees are no longer replaced, unless `when_full` is 'renew'. Their leaves are split
    further, and new cells begin with the weights and variances of the cell that they are part of.

    Features are in units of their spread. Those with heavy tails, such as sums of money, are
    replaced by a logarithm if it predicts the target better. One-hot columns are combined, and
    split like the categories that they stand for.

    A sample lies in T cells (T trees, or twice as many with the upper ones). Its score is the sum
    of their weights over ``sqrt(T)``, which AROW [2]_ learns for all trees jointly, with a variance
    for each cell: a cell that was seen often takes small steps. This is a linear learner on the
    feature map of a random partition kernel [3]_.

    If a renewal grows from 2,048 samples or more, the last sixth of the trees has exact splits,
    like CART [4]_, and from 16,384 samples on the last third: the best of all splits along the
    sixteen steepest features that leave three samples on each side. They find where a function
    jumps along features, in what the other trees leave.

    A forest depends on its samples only, not on how the stream is divided into calls. A model that
    is saved in the middle of a renewal goes on, bit for bit: its next call repeats the part of the
    renewal that had been done.

    References
    ----------
    .. [1] P. Geurts, D. Ernst, L. Wehenkel (2006). Extremely randomized trees. Machine Learning 63,
       3-42.
    .. [2] K. Crammer, A. Kulesza, M. Dredze (2009). Adaptive regularization of weight vectors.
       Advances in Neural Information Processing Systems 22, 414-422.
    .. [3] E. Scornet (2016). Random forests and kernel methods. IEEE Transactions on Information
       Theory 62, 1485-1500.
    .. [4] L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone (1984). Classification and
       regression trees. Wadsworth.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from onlinekern import KernelForestClassifier
    >>> X, Z, y, v = train_test_split(*load_breast_cancer(return_X_y=True), random_state=0)
    >>> model = KernelForestClassifier(random_state=0).fit(X, y)
    >>> bool(model.score(Z, v) > 0.94)
    True
    """

    rule: Literal["arow", "least_squares", "scw1", "scw2", "pa1", "pa2", "logistic"] = "arow"

    # More than two classes are one problem each.
    multi_class: ClassVar[Any] = "ovr"  # type: ignore[misc]

    def _rule(self) -> Any:
        # The space has its own rule for each expert; this one only counts the losses.
        return RULES["least_squares"](LOSSES["hinge"]())


@estimator
class KernelForestRegressor(OnlineRegressor, KernelForest):
    """Kernel forest for regression: trees that split where the function changes, learnt jointly.

    See `KernelForestClassifier`. Targets are learnt in units of their standard deviation, which
    each renewal of the forest measures. ``fit(X, Y)`` learns the columns of Y on the same trees:
    the gain of a split is the sum of how much it lowers their variances.

    Parameters
    ----------
    hold_outliers : bool, default=True
        Whether outliers among targets are clipped before they are learnt. False suits rare events
        that the features predict, which are then learnt sooner (docs/kernel_forests.md).
    n_trees : int >= 1, default=130
        Number of trees. Time and memory grow linearly with it; 300 trees lower the error a little.
    noise : 'auto' or float > 0, default='auto'
        Parameter r of AROW: the larger, the smaller the steps. 0.1 suits clean labels, 1 noisy
        ones, 10 very noisy ones. 'auto' learns with 0.2 and 4 at once, and combines their scores
        with weights that follow their errors.
    rule : {'arow', 'pa1', 'pa2'}, default='arow'
        The rule by which the weights of cells are learnt, with one expert for each noise r: 'arow',
        which is recursive least squares with a variance for each cell; passive-aggressive learning
        with C = 1 / r, where variances do not change. The steps of 'pa1' are bounded, so it errs
        least if a few targets are far from all others (docs/kernel_forests.md).
    levels : {'both', 'leaf', 'upper'}, default='both'
        Cells of a sample in each tree: 'leaf' is its leaf; 'upper' is also the node at depth 4,
        which adapts faster if there are many leaves. 'both' learns both ways, and combines the
        scores like those of the noises.
    memory : int in [64, 16384], default=16384
        Number of the last samples that are kept, from which new trees grow.
    max_samples : float in (0, 1], default=1.0
        A tree grows from this share of the samples that are kept, drawn without repetition, and
        from 64 at least. Splits by all samples have fewer errors than those by some, as long as
        leaves are large.
    max_rows : int >= 1, default=16384
        A tree grows from at most so many samples, as long as the forest is renewed as a whole.
    max_leaf : int >= 1, default=16
        A node with more samples is split.

        A tree sees the targets of all samples, so smaller leaves would fit their noise, and take
        more memory and time.
    n_candidates : int in [1, 1000], default=30
        Splits drawn for a node, of which the best is taken; at most one for four of its rows. With
        1 trees are totally random.
    n_replays : int in [1, 100], default=2
        How often the samples that are kept are learnt again when the forest is renewed.
    renewal_spread : float in [0, 1], default=0.25
        A renewal of the forest that begins at sample n is spread over the next ``renewal_spread *
        n`` samples. The old forest predicts until the new one is complete. From sample `memory` on,
        the renewal lasts longer if its work per sample would otherwise be more than 7.6 times that
        of learning one. With 0 all is done at sample n, which then takes tenths of a second. Up to
        the 512th sample, a renewal is spread over a sixteenth of this: 2 samples after the 128th,
        and 8 after the 512th. Those at 32 and 64 are done at once, in some 2 milliseconds.
    begin_anew : bool, default=True
        Whether a new forest begins beside this one when a test (`onlinekern.drift.LossDetector`)
        shows that the losses have grown. Both then learn for 1,000 samples, in twice the time and
        with the memory of both. The one with fewer errors is kept. Losses are mistakes, or in
        regression squared errors, summed over several targets. Without an alarm, as in random
        order, results are the same, bit for bit. Later passes of `fit` and exported C raise no
        alarms.
    exact : {'auto'} or float in [0, 1], default='auto'
        Share of the trees, the last ones, whose splits are exact if a renewal grows from 2,048
        samples or more; at least one tree if it is not 0. From 256 samples on half of them, rounded
        down, are exact; with a smaller `memory` none is. Exact splits help if the function jumps,
        and harm if it is smooth. 'auto' is a tenth in regression, where half of the experts use
        only the other trees, so that smooth functions lose nothing. In classification it is a sixth
        from 2,048 samples on, and a third from 16,384. 'auto' is 0 with ``n_candidates=1``, and in
        regression if `noise` and `levels` leave one expert.
    teacher : {'full', 'light'}, default='full'
        The kernel machine that finds where to split. 'light' is for hundreds of features, where
        'full' takes most of the time and fits noise. It has 100 landmarks and no linear part. Its
        directions are approximate in regression; in classification it has none. Linear functions
        need 'full'.
    categorical_features : 'from_dtype', array-like or None, default='from_dtype'
        Categorical features, which splits divide into two sets of categories: a mask, indices of
        features, or names of columns. 'from_dtype' takes the columns of a data frame that have a
        categorical type (pandas, polars), and none of an array. A column of numbers holds category
        codes, 0 to 65535. One-hot columns need not be named: three or more of which at most one is
        on are found, and split like the categories that they stand for.
    when_full : {'grow', 'renew'}, default='grow'
        What happens once the stream is longer than `memory`. 'grow' splits the leaves of the trees
        further whenever the stream has doubled. 'renew' grows new trees from the last `memory`
        samples, after every `memory` samples, so that the trees follow a stream that changes.
    encode : {'auto', True, False}, default='auto'
        Whether the model encodes the columns of tables itself, with an encoder `encoder_`
        (docs/tables.md). 'auto' does if the first samples are a data frame or an Arrow table with
        text or dates, or dictionaries. Text becomes categories, and dates become cyclical features;
        missing values stay as they are. True also encodes arrays. False never encodes.
    n_epochs : int >= 1, default=1
        Passes of `fit` over the data. `partial_fit` always makes one.
    shuffle : bool, default=True
        Whether `fit` draws a new order for each pass. `partial_fit` keeps the given order.
    random_state : int, RandomState instance or None, default=None
        Seed of the trees and of the order.
    window : int >= 1 or None, default=None
        Samples that are read together. It never changes a result.
    n_jobs : int or None, default=None
        Threads used to predict; None means 1 unless in a ``joblib.parallel_backend`` context.
    verbose : int, default=0
        If not 0, `fit` shows its progress: as a bar on a terminal and in a notebook, and as some
        lines in a log, on standard error. Results do not change.

    Attributes
    ----------
    cumulative_loss_ : float
        Sum of weight times half the squared error, each before its sample was learnt; the errors of
        several targets are added up.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the mean square of the function's gradient, in units of the spread
        of the features; 0 before the 32nd sample.
    importance_names_ : ndarray of str, or None
        Names of these features, if the samples had names of columns.
    is_categorical_ : ndarray of shape (n_features,)
        Which features hold categories, bool.
    n_cells_ : int
        Nodes of all trees.
    expert_weights_ : ndarray of shape (n_levels, n_noises)
        Weight of each expert's score; they sum to 1, and some may be negative.
    alarms_ : ndarray of shape (n_alarms,), int64
        Numbers of the samples, counted from 1, after which a new forest began beside the old one.
    n_outputs_ : int
        Targets of a sample.
    n_seen_ : int
        Samples learnt; those of weight 0 do not count.
    n_features_in_ : int
        Features of a sample.

    Notes
    -----
    At samples 32, 64, 128, ... a renewal of the forest begins. A kernel machine of 200 landmarks,
    the teacher, is fitted to the last 2,048 samples, in a metric that the last teacher has learnt.
    The mean square of its gradient along each feature, and the eight leading eigenvectors of the
    gradients' outer product, say where the function changes. To draw a split, a pair of samples of
    the node is drawn. A feature or direction is drawn with a probability proportional to how much
    the pair differs along it, times the slope of the function there. The threshold is uniform
    between both samples. Of `n_candidates` splits, the one that lowers the variance of the
    residuals most is taken [1]_. Trees grow one after another: each takes a twentieth of the means
    of its leaves from the targets, as in boosting, and leaves the residuals to the next. Features
    that these trees find useful, but slopes miss, are drawn more often. Then the samples that are
    kept, and those that have come meanwhile, are learnt again. Once the stream is longer than
    `memory`, trees are no longer replaced, unless `when_full` is 'renew'. Their leaves are split
    further, and new cells begin with the weights and variances of the cell that they are part of.

    Features are in units of their spread. Those with heavy tails, such as sums of money, are
    replaced by a logarithm if it predicts the target better. One-hot columns are combined, and
    split like the categories that they stand for.

    A sample lies in T cells (T trees, or twice as many with the upper ones). Its score is the sum
    of their weights over ``sqrt(T)``, which AROW [2]_ learns for all trees jointly, with a variance
    for each cell: a cell that was seen often takes small steps. This is a linear learner on the
    feature map of a random partition kernel [3]_.

    With `hold_outliers`, a target that is five deviations from the mean and ten mean absolute
    errors from the prediction is clipped at these ten errors, as in the loss of Huber [4]_. This
    happens if most of the other targets are predicted well, and far ones have not been predicted so
    far. In any case renewals clip a few targets, at most one of 256 and one more, that lie 30
    deviations apart from all others, at the farthest of the others.

    A forest depends on its samples only, not on how the stream is divided into calls. A model that
    is saved in the middle of a renewal goes on, bit for bit: its next call repeats the part of the
    renewal that had been done.

    References
    ----------
    .. [1] P. Geurts, D. Ernst, L. Wehenkel (2006). Extremely randomized trees. Machine Learning 63,
       3-42.
    .. [2] K. Crammer, A. Kulesza, M. Dredze (2009). Adaptive regularization of weight vectors.
       Advances in Neural Information Processing Systems 22, 414-422.
    .. [3] E. Scornet (2016). Random forests and kernel methods. IEEE Transactions on Information
       Theory 62, 1485-1500.
    .. [4] P. J. Huber (1964). Robust estimation of a location parameter. Annals of Mathematical
       Statistics 35, 73-101.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import train_test_split
    >>> from onlinekern import KernelForestRegressor
    >>> X, Z, y, v = train_test_split(*load_diabetes(return_X_y=True), random_state=0)
    >>> model = KernelForestRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(Z, v) > 0.2)
    True
    """

    rule: Literal["arow", "pa1", "pa2"] = "arow"
    n_trees: Count = 130
    max_samples: MemoryShare = 1.0
    max_rows: Count = MOST_KEPT
    max_leaf: Count = 16
    n_candidates: Candidates = 30
    hold_outliers: bool = True

    # The forest standardises it.
    standardize_target: ClassVar[bool] = False  # type: ignore[misc]
    _absent = {}
    _target_checks = SEVERAL

    def _holds(self) -> bool:
        return self.hold_outliers

    def _rule(self) -> Any:
        return RULES["least_squares"](LOSSES["squared"]())
