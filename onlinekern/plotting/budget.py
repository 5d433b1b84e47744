"""Error against budget: one run over the stream for each budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from onlinekern.estimators.types import ArrayLike
from onlinekern.estimators.validation import wrong_type
from onlinekern.evaluate.test_then_train import PrequentialResult, prequential
from onlinekern.plotting.blocks import blocks_of, name_of, with_classes
from onlinekern.plotting.style import COLOURS, axes_for, name_error

# Parameters that bound a model; the first one that a learner has is used.
BOUNDS = ("budget", "max_support", "n_components", "n_prototypes", "sketch_size", "memory_budget")


class BudgetDisplay:
    """Error along a stream against the budget of the model.

    Parameters
    ----------
    budgets : array-like of shape (n_budgets,)
    results : list of PrequentialResult
        One for each budget.
    parameter : str
        Name of the parameter that is the budget.
    estimator_name : str, optional
        Name in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
        Error of all samples, each predicted before it was learnt.
    late_line_ : matplotlib Line2D
        Error of the second half of the stream.

    Examples
    --------
    >>> from onlinekern import BPAClassifier
    >>> from onlinekern.plotting import BudgetDisplay
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> display = BudgetDisplay.from_stream(BPAClassifier(gamma=0.4), X, y, budgets=[10, 100])
    >>> display.parameter, [result.n_support for result in display.results]
    ('budget', [10, 100])
    """

    def __init__(
        self,
        budgets: ArrayLike,
        results: Sequence[PrequentialResult],
        *,
        parameter: str = "budget",
        estimator_name: str | None = None,
    ) -> None:
        self.budgets, self.results = np.asarray(budgets), list(results)
        self.parameter, self.estimator_name = parameter, estimator_name

    @classmethod
    def from_stream(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        budgets: Sequence[Any],
        parameter: str | None = None,
        classes: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Run clones of an estimator test-then-train over a stream, and draw their errors.

        Parameters
        ----------
        estimator : estimator
            It is cloned for each budget, and not changed.
        X : array-like or CSR matrix of shape (n_samples, n_features), or list of (X, y)
        y : array-like of shape (n_samples,), optional
            Must be None with a list of blocks.
        budgets : list of int
            Values of the parameter.
        parameter : str, optional
            The parameter that is the budget, ``step__parameter`` in a pipeline. By default the
            first that the learner has of budget, max_support, n_components, n_prototypes,
            sketch_size and memory_budget.
        classes : array-like, optional
            All classes of the stream, if X and y do not hold them.
        name : str, optional
            Name in the legend; by default that of the class.
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        **kwargs
            Arguments of matplotlib's ``plot``, for the error of all samples.

        Returns
        -------
        BudgetDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        TypeError
            If X is an iterator: it is read once for each budget.
        ValueError
            If there are no budgets, or the estimator has no such parameter.
        """
        ax = axes_for(f"{cls.__name__}.from_stream", ax)
        budgets = list(budgets)
        if not budgets:
            raise ValueError("budgets must hold at least one value, got none")
        parameter = bound_of(estimator, parameter)
        if y is None and not isinstance(X, list | tuple):
            raise wrong_type("X", "be a list of blocks, which is read for each budget", X)
        blocks, known = with_classes(estimator, list(blocks_of(X, y)), classes)
        results = [
            prequential(clone(estimator).set_params(**{parameter: value}), blocks, known)
            for value in budgets
        ]
        name = name_of(estimator, name)
        display = cls(budgets, results, parameter=parameter, estimator_name=name)
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the errors.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        name : str, optional
            Name in the legend instead of `estimator_name`.
        **kwargs
            Arguments of matplotlib's ``plot``, for the error of all samples.

        Returns
        -------
        BudgetDisplay
        """
        from matplotlib.ticker import NullLocator, StrMethodFormatter

        self.ax_ = axes_for(f"{type(self).__name__}.plot", ax)
        self.figure_ = self.ax_.figure
        counted = self.results[0].mistakes is not None
        unit, name = 100 if counted else 1, self.estimator_name if name is None else name
        label = "all samples"
        label = f"{name}, {label}" if name else label
        style = {"color": COLOURS[0], "marker": "o", "label": label, **kwargs}
        order = np.argsort(self.budgets)
        errors = unit * np.array([[one.error, one.late_error] for one in self.results])[order]
        budgets = self.budgets[order]
        (self.line_,) = self.ax_.plot(budgets, errors[:, 0], **style)
        (self.late_line_,) = self.ax_.plot(
            budgets, errors[:, 1], color=self.line_.get_color(), marker=".", linestyle="--",
            linewidth=1.1, label="second half",
        )  # fmt: skip
        self.ax_.set_xscale("log")
        self.ax_.set_xticks(budgets)
        self.ax_.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        self.ax_.xaxis.set_minor_locator(NullLocator())
        self.ax_.set_xlabel(self.parameter.rpartition("__")[2])
        name_error(self.ax_, counted)
        self.ax_.grid(True, alpha=0.3)
        self.ax_.legend(fontsize="small")
        return self


def bound_of(estimator: Any, parameter: str | None) -> str:
    """Return the name of the parameter that bounds a model; raise ValueError if there is none."""
    known = estimator.get_params()
    if parameter is not None:
        if parameter not in known:
            raise ValueError(
                f"parameter must be one of {type(estimator).__name__}'s, got {parameter!r}"
            )
        return parameter
    front = f"{estimator.steps[-1][0]}__" if hasattr(estimator, "steps") else ""
    for bound in BOUNDS:
        if front + bound in known:
            return front + bound
    raise ValueError(
        f"parameter must be given: {type(estimator).__name__} has none of {', '.join(BOUNDS)}"
    )
