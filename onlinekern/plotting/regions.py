"""Decision regions in the plane, with the support vectors that make them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.inspection import DecisionBoundaryDisplay

from onlinekern.estimators.types import Array
from onlinekern.plotting.style import COLOURS, need_matplotlib
from onlinekern.preprocessing.steps import steps_of

# Room around the samples, as a share of the wider side.
MARGIN = 0.05


class DecisionRegionsDisplay(DecisionBoundaryDisplay):
    """Decision regions of a model of two features, its samples and its support vectors.

    A ``sklearn.inspection.DecisionBoundaryDisplay``, with its parameters, attributes and methods.

    Attributes
    ----------
    surface_ : matplotlib QuadContourSet or QuadMesh, or list of them
    support_ : matplotlib PathCollection or None
        Rings at the support vectors; None if the model has none, or they were not wanted.
    samples_ : list of matplotlib PathCollection
        The samples of each class, if `y` was given.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from onlinekern import SPAClassifier
    >>> from onlinekern.plotting import DecisionRegionsDisplay
    >>> from onlinekern.streams import two_spirals
    >>> X, y = two_spirals(1000, noise=0.02, random_state=0)
    >>> model = SPAClassifier(gamma=20.0, random_state=0).partial_fit(X, y, classes=[-1, 1])
    >>> display = DecisionRegionsDisplay.from_estimator(model, X, y)
    >>> len(display.support_.get_offsets()) == model.n_support_
    True
    """

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        support: bool = True,
        grid_resolution: int = 200,
        eps: float | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the regions of a model around samples.

        Parameters
        ----------
        estimator : estimator
            Fitted. The support vectors of a pipeline are put back to the units of `X` by the
            ``inverse_transform`` of its steps.
        X : array-like of shape (n_samples, 2)
            The picture reaches as far as these samples.
        y : array-like of shape (n_samples,), optional
            Classes of the samples, which are drawn then.
        support : bool, default=True
            Draw the support vectors.
        grid_resolution : int, default=200
        eps : float, optional
            Room around the samples; by default a twentieth of the wider side.
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        **kwargs
            Arguments of `sklearn.inspection.DecisionBoundaryDisplay.from_estimator`:
            response_method, plot_method, class_of_interest and others, also of matplotlib's
            ``contourf``.

        Returns
        -------
        DecisionRegionsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If X has not two features, or a step of a pipeline has no ``inverse_transform``.
        """
        need_matplotlib(f"{cls.__name__}.from_estimator")
        vectors = support_of(estimator) if support else None
        if eps is None and getattr(X, "shape", (0, 2))[1] == 2:
            eps = MARGIN * float(np.ptp(np.asarray(X, dtype=np.float64), axis=0).max())
        if len(getattr(estimator, "classes_", ())) <= 2 and not {"cmap", "colors"} & kwargs.keys():
            kwargs["cmap"] = "PuOr"
        kwargs.setdefault("alpha", 0.6)
        display: Self = super().from_estimator(
            estimator, X, grid_resolution=grid_resolution, eps=1.0 if eps is None else eps, ax=ax,
            **kwargs,
        )  # fmt: skip
        display.ax_.locator_params(nbins=6)  # numbers with signs and points are wide
        display._draw_samples(np.asarray(X), y)
        display._draw_support(vectors)
        return display

    def _draw_samples(self, X: Array, y: Any) -> None:
        self.samples_ = []
        if y is None:
            return
        y = np.asarray(y)
        labels = np.unique(y)
        colours = getattr(self, "multiclass_colors_", None)
        if colours is None:
            # The ends of the colours of two classes; else those of the curves.
            colours = ("#b35806", "#542788") if len(labels) == 2 else COLOURS
        for place, label in enumerate(labels):
            colour = colours[place % len(colours)]
            rows = X[y == label]
            style = {"s": 8, "color": [colour], "linewidths": 0, "label": str(label)}
            self.samples_.append(self.ax_.scatter(*rows.T, **style))
        self.ax_.legend(frameon=True, markerscale=2)

    def _draw_support(self, vectors: Any) -> None:
        self.support_ = None
        if vectors is None:
            return
        limits = self.ax_.get_xlim(), self.ax_.get_ylim()
        self.support_ = self.ax_.scatter(
            *vectors.T, s=26, facecolors="none", edgecolors="black", linewidths=0.7
        )
        # Support vectors may lie outside of the samples that are shown.
        self.ax_.set(xlim=limits[0], ylim=limits[1])


def support_of(estimator: Any) -> Any:
    """Return the support vectors of a model in the units of its samples; None if it has none."""
    steps = steps_of(estimator)
    vectors = getattr(steps[-1], "support_vectors_", None)
    if vectors is None:
        return None
    vectors = vectors.toarray() if sparse.issparse(vectors) else vectors
    for step in reversed(steps[:-1]):
        if not hasattr(step, "inverse_transform"):
            raise ValueError(
                f"support must be False: {type(step).__name__} has no inverse_transform, which "
                "the support vectors need"
            )
        vectors = step.inverse_transform(vectors)
    return np.asarray(vectors)
