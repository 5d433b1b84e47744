"""Who led when in a race of experts: their weights along the stream."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from onlinekern.estimators.validation import wrong_type
from onlinekern.plotting.style import COLOURS, GREY, axes_for, check_suffix, own_figure

if TYPE_CHECKING:
    from onlinekern.learners.race.report import RaceReport

SIZE = (9.5, 4.8)
# Areas of black would outweigh all others.
AREAS = tuple(GREY if colour == "#000000" else colour for colour in COLOURS)


class RaceDisplay:
    """Shares of the experts in the vote of `StreamClassifier` or `StreamRegressor` over time.

    Parameters
    ----------
    report : RaceReport
        The report that ``report()`` of the model gives.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    areas_ : list of matplotlib StepPatch
        One for each expert, the one with the largest mean share at the bottom.
    legend_ : matplotlib Legend
        It names the areas in their order, the uppermost first.

    Examples
    --------
    >>> from onlinekern import StreamClassifier
    >>> from onlinekern.plotting import RaceDisplay
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(1000, random_state=0)
    >>> display = RaceDisplay.from_stream(StreamClassifier(time_budget=10), X, y)
    >>> len(display.areas_) == len(display.report.experts)
    True
    """

    def __init__(self, report: RaceReport) -> None:
        self.report = report

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the race of a model that has learnt.

        Parameters
        ----------
        estimator : StreamClassifier or StreamRegressor
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        RaceDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If the model has learnt nothing.
        TypeError
            If it is no race.
        ValueError
            If nothing has been learnt but samples of weight 0.
        """
        check_race(estimator)
        check_is_fitted(estimator)
        return cls(estimator.report()).plot(ax)

    @classmethod
    def from_stream(
        cls, estimator: Any, X: Any, y: Any = None, *, classes: Any = None, ax: Any = None
    ) -> Self:
        """Learn a stream, and draw its race.

        Parameters
        ----------
        estimator : StreamClassifier or StreamRegressor
            It is not cloned, and goes on learning.
        X : array-like or CSR matrix of shape (n_samples, n_features), or iterable of (X, y)
        y : array-like of shape (n_samples,), optional
            Must be None with an iterable.
        classes : array-like, optional
            All classes of a classification; without them they are taken up as they come.
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        RaceDisplay

        Raises
        ------
        ImportError, TypeError, ValueError
            If `from_estimator` raises it.
        """
        from onlinekern.plotting.blocks import ROWS, blocks_of, cut

        check_race(estimator)
        ax = axes_for(f"{cls.__name__}.from_stream", ax, figsize=SIZE)
        known = {} if classes is None else {"classes": classes}
        for rows, targets in cut(blocks_of(X, y), ROWS):
            estimator.partial_fit(rows, targets, **known)
        return cls.from_estimator(estimator, ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the shares.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        RaceDisplay
        """
        report = self.report
        if len(report.samples) == 0:
            raise ValueError("report holds no weights: nothing has been learnt but weights of 0")
        self.ax_ = axes_for(f"{type(self).__name__}.plot", ax, figsize=SIZE)
        self.figure_ = self.ax_.figure
        edges = [0, *report.samples.tolist()]
        top = np.zeros(len(report.samples))
        self.areas_ = []
        for place, k in enumerate(report.weights.mean(axis=0).argsort()[::-1]):
            bottom, top = top, top + report.weights[:, k]
            hatch = {"hatch": "///"} if place >= len(AREAS) else {}
            self.areas_.append(
                self.ax_.stairs(
                    top, edges, baseline=bottom, fill=True, facecolor=AREAS[place % len(AREAS)],
                    edgecolor="white", linewidth=0, label=report.experts[k].name, **hatch,
                )
            )  # fmt: skip
        self.ax_.set(
            xlim=(0, edges[-1]), ylim=(0, 1), xlabel="samples", ylabel="share in the vote",
            title=f"who led when: {report.n_seen:,} samples",
        )  # fmt: skip
        self.ax_.xaxis.set_major_formatter("{x:,.0f}")
        self.legend_ = self.ax_.legend(
            loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, reverse=True,
            fontsize="small", handlelength=1.2,
        )  # fmt: skip
        return self


def check_race(estimator: Any) -> None:
    """Raise TypeError unless an estimator is a race."""
    if not hasattr(estimator, "report"):
        raise wrong_type("estimator", "be a StreamClassifier or StreamRegressor", estimator)


def plot_race(report: RaceReport, path: str | PathLike[str]) -> None:
    """Draw who had which weight when in a race of experts, and write the picture.

    Parameters
    ----------
    report : RaceReport
        The report that `StreamClassifier.report` or `StreamRegressor.report` gives.
    path : str or path
        File to write; its suffix is the format.

    Raises
    ------
    ValueError
        If the suffix is none of a picture, or nothing has been learnt but samples of weight 0.
    """
    check_suffix(path)
    figure = own_figure("plot_race", *SIZE)
    RaceDisplay(report).plot(figure.subplots())
    figure.savefig(path)
