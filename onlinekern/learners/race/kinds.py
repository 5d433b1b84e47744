"""What an expert of a race is before it has learnt anything, and kinds of them."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from onlinekern.core.samples.coded import coded_rows
from onlinekern.estimators.categories import Categories
from onlinekern.estimators.memory import Form
from onlinekern.estimators.savable import operations
from onlinekern.estimators.types import Array
from onlinekern.learners.kernel_forest import KernelForestClassifier, KernelForestRegressor

Layout = tuple[tuple[int, int], ...]

# Scaled features are bounded: an outlier must not become a landmark far from everything. Targets
# may be linear far out, so that dense rows have a wider bound there; a rare feature of sparse ones
# is far from 0 each time, and would take all of a step (docs/race_tried.md).
CLIP, WIDE_CLIP = 5.0, 20.0
# The moments of the features remember about ten thousand samples.
FORGETTING = 0.9999
# The largest experts may have so many landmarks, in descending order.
SIZES = (3200, 2400, 1600, 1200, 800, 600, 400, 300, 200, 100, 50)
# Landmarks of a metric for each feature: with fewer, it does not find which of 32 features matter.
PER_FEATURE = 10
# Memory of samples with the forgetting factor 0.98 is short: more landmarks do not help it.
FEW = 64
# Trees are cut by the mean of a target and its twin: by the twin alone, even targets and those with
# noise that multiplies lose (docs/race_tried.md).
WEIGHTS_OF_TWINS = (0.5, 0.5)

# So many rows are decoded at once: sparse ones need not all be dense at a time.
BLOCK = 1024


@dataclass(frozen=True)
class SquaresKind:
    """Kernel least squares of the race.

    The width in units of 1/d; the landmarks, as a share of those of the largest, or `FEW` if it is
    0; the forgetting factor; the metric, which asks for `PER_FEATURE` landmarks a feature, if there
    are so many; the samples before which it does not sleep; and whether it learns the twin of a
    target too (`core.learning.twin`), which then tells the metric.
    """

    scale: float
    share: float = 1.0
    forgetting: float = 1.0
    metric: Literal["none", "auto"] = "none"
    patience: int = 0
    twin: bool = False

    @property
    def name(self) -> str:
        """Its name in tables."""
        metric = "" if self.metric == "none" else ", learnt metric"
        memory = memory_of(self.forgetting)
        return f"kernel least squares, gamma {self.scale:g}/d{memory}{metric}"

    def length(self, size: int, n_features: int) -> int:
        """Return its landmarks if the largest experts have so many."""
        if self.share == 0:
            return FEW
        asked = 0 if self.metric == "none" else PER_FEATURE * n_features
        return max(SIZES[-1], int(self.share * size), min(size, asked))


@dataclass(frozen=True)
class ForestKind:
    """A forest of the race.

    Its name; the trees for a microsecond of the budget; its parameters; the samples before which it
    does not sleep; how many times as many trees it has where they cost no more than `CHEAP`; how
    much of the samples that it keeps a tree has at most, or 0 for the forest's own limit; whether
    it learns the twin of a target too, which then tells where to cut with the target; and whether
    it is one beside the main forest. Of such a one no renewal is done at once, or in a few samples:
    the main forest answers until the first ones are whole.
    """

    name: str
    trees_of_time: float
    parameters: dict[str, Any]
    patience: int = 0
    further: float = 1.0
    most: float = 0.0
    twin: bool = False
    is_beside: bool = False

    def forest(self, task: str, n_trees: int, kept: int, teacher: str = "full") -> Any:
        """Return a forest of so many trees that keeps so many samples."""
        make = KernelForestClassifier if task == "classification" else KernelForestRegressor
        limit = {"max_rows": int(self.most * kept)} if self.most else {}
        # Behind outliers others lead, and rare events that features tell of are found sooner so.
        held = {} if task == "classification" else {"hold_outliers": False}
        parameters = {**self.parameters, "memory": kept, "teacher": teacher, **limit, **held}
        # The race begins anew as a whole.
        found: Any = make(n_trees=n_trees, begin_anew=False, random_state=0, **parameters)
        if self.is_beside:
            found._early = 0
        return found


def decoded_rows(rows: Array, layout: Layout, moments: Any) -> Any:
    """Return the rows of which a forest keeps these, `coded_rows`, in the form of the samples.

    A number that is missing has the mean so far of `moments`, those of the race.
    """
    blocks, mean = [], moments.mean()
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        block = np.zeros((len(part), len(mean)), dtype=rows.dtype)
        for column, (first, count) in zip(part.T, layout, strict=True):
            if count > 1:
                known = np.flatnonzero(column < count)
                block[known, first + column[known].astype(np.intp)] = 1
                continue
            absent = np.isnan(column) & (count == 0)
            block[:, first] = np.where(absent, mean[first], column)
            if count == 0:
                block[:, first + 1] = absent
        blocks.append(block if moments.centred else sp.csr_matrix(block))
    return np.concatenate(blocks) if moments.centred else sp.csr_matrix(sp.vstack(blocks))


def memory_of(forgetting: float) -> str:
    """Return the name of a forgetting factor."""
    return "" if forgetting == 1 else f", forgetting {forgetting:g}"


@dataclass(frozen=True)
class Expert:
    """An expert before it has learnt anything.

    Attributes
    ----------
    name : str
        Its name in tables.
    estimator : estimator
        The estimator that it is, not fitted.
    cost : float
        Microseconds a sample.
    link : float
        Slope of the link of its scores, see `Vote`; 0 for least squares.
    layout : tuple
        What a forest sees of the features of a table (`core.samples.coded`).
    patience : int
        The samples before which it does not sleep.
    twin : bool
        Whether it learns the twin of a target, as one more output.
    """

    name: str
    estimator: Any
    cost: float
    link: float = 0.0
    layout: Layout = ()
    patience: int = 0
    twin: bool = False

    @property
    def is_raw(self) -> bool:
        """Whether it gets the rows as they come, and not the scaled ones."""
        return isinstance(self.estimator, KernelForestClassifier | KernelForestRegressor)

    @property
    def is_light(self) -> bool:
        """Whether it is a forest of a light teacher."""
        return self.is_raw and self.estimator.teacher == "light"

    def model(self, rows: Any, task: Any, draws: np.random.RandomState) -> Any:
        """Make a model of the core for rows of the form of `rows`, and the labels of `task`."""
        estimator = copy.copy(self.estimator)
        with np.errstate(over="ignore"):  # Of the row, the form alone is looked at.
            like = rows if self.is_raw else rows.astype(np.float32)
        if self.layout:
            like = coded_rows(rows, self.layout)
            estimator._categories = categories_of(self.layout)
        estimator.n_features_in_ = like.shape[1]
        if hasattr(task, "classes_"):
            note_classes(estimator, task.classes_)
        if self.twin:
            estimator._n_targets = 2
            if self.is_raw:
                estimator._cut_weights = WEIGHTS_OF_TWINS
            else:
                estimator._first_taught = 1
        return estimator._new_model(like, draws)

    def grown(self, model: Any, before: Array, labels: Array) -> Any:
        """Make its model, of the classes `before`, anew with more classes."""
        estimator = copy.copy(self.estimator)
        note_classes(estimator, labels)
        return operations().grow_model(model, before, labels, estimator._head())

    def n_bytes(
        self, n_features: int, n_outputs: int, is_sparse: bool, is_taught: bool = False
    ) -> int:
        """Return the memory that its model takes at least; of a forest, while it is taught too."""
        estimator = self.estimator
        if self.layout:
            estimator, n_features = copy.copy(estimator), len(self.layout)
            estimator._categories = categories_of(self.layout)
        if self.twin and self.is_raw:
            # One sum of both tells it where to cut.
            estimator = copy.copy(estimator)
            estimator._cut_weights = WEIGHTS_OF_TWINS
        n_outputs = 2 if self.twin else n_outputs
        form = Form(n_features, n_outputs, 4, is_sparse and not self.layout)
        keeps: int = estimator._kept_bytes(form) if self.is_raw else estimator._n_bytes(form)
        return keeps + (estimator._teacher_bytes(form) if self.is_raw and is_taught else 0)


def categories_of(layout: Layout) -> Categories:
    """Return which features of a layout are numbers of categories."""
    return tuple((place, None) for place, (_, count) in enumerate(layout) if count > 1)


def note_classes(estimator: Any, labels: Array) -> None:
    """Let an estimator that has learnt nothing know its classes."""
    estimator._note_classes(labels)
    if hasattr(estimator, "_weigh_classes"):
        estimator._weigh_classes(None)
