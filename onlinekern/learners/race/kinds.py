"""Descriptions of the experts of a race, before they have learnt anything."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from onlinekern.core.linalg.running_moments import RunningMoments
from onlinekern.core.linalg.sentinels import ENDS
from onlinekern.core.samples.coded import coded_rows
from onlinekern.estimators.categories import Categories
from onlinekern.estimators.memory import Form
from onlinekern.estimators.savable import operations
from onlinekern.estimators.types import Array
from onlinekern.learners.kernel_forest import KernelForestClassifier, KernelForestRegressor

Layout = tuple[tuple[int, int], ...]

# Scaled features are clipped, so that no outlier becomes a landmark far from everything. In
# regression, functions may be linear far out, so dense rows have a wider bound. Rare features of
# sparse rows are always far from 0, and would dominate a step (docs/race_tried.md).
CLIP, WIDE_CLIP = 5.0, 20.0
# The moments of the features remember about ten thousand samples.
FORGETTING = 0.9999
# Numbers that stand for missing values are looked for in dense rows of at most this many features.
# Wider rows usually hold pixels or words, and the search would take long.
MOST_LOOKED_AT = 256
# Possible numbers of landmarks of the largest experts, in descending order.
SIZES = (3200, 2400, 1600, 1200, 800, 600, 400, 300, 200, 100, 50)
# Landmarks per feature for a metric: with fewer, it does not find which of 32 features matter.
PER_FEATURE = 10
# With the forgetting factor 0.98 the memory is short, and more landmarks do not help.
FEW = 64
# Trees are split by the mean of a target and its twin. By the twin alone, errors of evenly spread
# targets, and of those with multiplicative noise, grow (docs/race_tried.md).
WEIGHTS_OF_TWINS = (0.5, 0.5)

# Rows that are decoded at once, so that not all sparse rows become dense together.
BLOCK = 1024


@dataclass(frozen=True)
class SquaresKind:
    """Kernel least squares of the race.

    Attributes
    ----------
    scale : float
        Width of the kernel in units of 1/d.
    share : float
        Landmarks as a share of those of the largest expert; 0 means `FEW`.
    forgetting : float
        The forgetting factor.
    metric : {'none', 'auto'}
        'auto' asks for `PER_FEATURE` landmarks per feature, within the largest expert's number.
    patience : int
        Number of samples before which the expert does not sleep.
    twin : bool
        Whether it also learns the twin of a target (`core.learning.twin`), from which the metric
        is then learnt.
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
        """Return its number of landmarks if the largest experts have `size`."""
        if self.share == 0:
            return FEW
        asked = 0 if self.metric == "none" else PER_FEATURE * n_features
        return max(SIZES[-1], int(self.share * size), min(size, asked))


@dataclass(frozen=True)
class ForestKind:
    """A forest of the race.

    Attributes
    ----------
    name : str
    trees_of_time : float
        Trees per microsecond of the budget.
    parameters : dict
        Parameters of the forest.
    patience : int
        Number of samples before which the expert does not sleep.
    further : float
        Factor of the number of trees if they cost no more than `CHEAP`.
    most : float
        Largest share of the kept samples that a tree grows from; 0 for the forest's own limit.
    twin : bool
        Whether it also learns the twin of a target; target and twin then decide the splits.
    is_beside : bool
        Whether it is a second forest beside the main one. Early renewals of such a forest are
        spread like later ones, because the main forest predicts meanwhile.
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
        """Return a forest of `n_trees` trees that keeps `kept` samples."""
        make = KernelForestClassifier if task == "classification" else KernelForestRegressor
        limit = {"max_rows": int(self.most * kept)} if self.most else {}
        # Outliers are not held back: rare events that features predict are learnt sooner, and after
        # real outliers other experts lead.
        held = {} if task == "classification" else {"hold_outliers": False}
        parameters = {**self.parameters, "memory": kept, "teacher": teacher, **limit, **held}
        # If the stream changes, the whole race begins anew.
        found: Any = make(n_trees=n_trees, begin_anew=False, random_state=0, **parameters)
        if self.is_beside:
            found._early = 0
        return found


def finds_missing(n_features: int, is_sparse: bool) -> bool:
    """Return whether the moments of a race look for numbers that stand for missing values."""
    return not is_sparse and n_features <= MOST_LOOKED_AT


def new_moments(n_features: int, is_sparse: bool) -> RunningMoments:
    """Return the moments of a race that has learnt nothing."""
    return RunningMoments(n_features, not is_sparse, finds_missing(n_features, is_sparse))


def bytes_of_moments(n_features: int, is_sparse: bool) -> int:
    """Return the memory of the moments of a race, with copies for undo."""
    numbers = 2 + (len(ENDS) + 1 if finds_missing(n_features, is_sparse) else 0)
    return 2 * 8 * numbers * n_features


def decoded_rows(rows: Array, layout: Layout, moments: Any) -> Any:
    """Return rows that a forest keeps, `coded_rows`, in the form of the samples.

    Missing numbers get the mean so far, of the race's `moments`.
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
        Its estimator, not fitted.
    cost : float
        Microseconds a sample.
    link : float
        Slope of the link of its scores, see `Vote`; 0 for least squares.
    layout : tuple
        The form in which a forest gets the features of a table (`core.samples.coded`).
    patience : int
        Number of samples before which it does not sleep.
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
        """Whether it gets raw rows, not scaled ones."""
        return isinstance(self.estimator, KernelForestClassifier | KernelForestRegressor)

    @property
    def is_light(self) -> bool:
        """Whether it is a forest of a light teacher."""
        return self.is_raw and self.estimator.teacher == "light"

    def model(self, rows: Any, task: Any, draws: np.random.RandomState) -> Any:
        """Make a model of the core for rows of the form of `rows`, and the labels of `task`."""
        estimator = copy.copy(self.estimator)
        with np.errstate(over="ignore"):  # Only the form of the rows is used.
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
        """Return its model, of the classes `before`, extended to the classes `labels`."""
        estimator = copy.copy(self.estimator)
        note_classes(estimator, labels)
        return operations().grow_model(model, before, labels, estimator._head())

    def n_bytes(
        self, n_features: int, n_outputs: int, is_sparse: bool, is_taught: bool = False
    ) -> int:
        """Return the least memory of its model; `is_taught`: with the teacher of a forest."""
        estimator = self.estimator
        if self.layout:
            estimator, n_features = copy.copy(estimator), len(self.layout)
            estimator._categories = categories_of(self.layout)
        if self.twin and self.is_raw:
            # It finds splits for one sum of target and twin.
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
    """Set the classes of an estimator that has learnt nothing."""
    estimator._note_classes(labels)
    if hasattr(estimator, "_weigh_classes"):
        estimator._weigh_classes(None)
