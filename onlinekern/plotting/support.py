"""Support vectors as images."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from onlinekern.estimators.types import Array, Floats
from onlinekern.plotting.regions import support_of
from onlinekern.plotting.style import axes_for
from onlinekern.preprocessing.steps import learner_of
from onlinekern.streams.errors import check_count


class SupportVectorsDisplay:
    """Support vectors as images, those with the largest coefficients first.

    Parameters
    ----------
    images : ndarray of shape (n_images, height, width)
    coefficients : ndarray of shape (n_images,)
        The largest coefficient of each, in size.
    labels : list of str
        The class that it speaks for; "not ..." against which, if there are more than two. Empty
        for a regression.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    images_ : list of matplotlib AxesImage
    texts_ : list of matplotlib Text

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onlinekern import SPAClassifier
    >>> from onlinekern.plotting import SupportVectorsDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SPAClassifier(gamma=0.001, random_state=0).partial_fit(X, y, classes=range(10))
    >>> display = SupportVectorsDisplay.from_estimator(model, shape=(8, 8), n=12)
    >>> display.images.shape, len(display.images_)
    ((12, 8, 8), 12)
    """

    def __init__(self, images: Array, coefficients: Floats, labels: list[str]) -> None:
        self.images, self.coefficients = np.asarray(images), np.asarray(coefficients)
        self.labels = labels

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, shape: tuple[int, int], n: int = 16, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw support vectors of a fitted model.

        Parameters
        ----------
        estimator : estimator
            Has ``support_vectors_`` and ``dual_coef_``. Those of a pipeline are put back to the
            units of its samples by the ``inverse_transform`` of its steps.
        shape : tuple of int
            Height and width of the images; their product is the number of features.
        n : int, default=16
            Largest number of images.
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        **kwargs
            Arguments of matplotlib's ``imshow``.

        Returns
        -------
        SupportVectorsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If the estimator has learnt nothing.
        TypeError
            If it has no support vectors.
        ValueError
            If the shape does not fit the features, or it holds no support vector yet.
        """
        check_count("n", n)
        check_is_fitted(estimator)
        vectors = support_of(estimator)
        learner = learner_of(estimator)
        if vectors is None or not hasattr(learner, "dual_coef_"):
            raise TypeError(
                f"estimator must have support vectors, got {type(learner).__name__}, which has none"
            )
        if len(shape) != 2 or math.prod(shape) != vectors.shape[1]:
            raise ValueError(
                f"shape must be (height, width) of {vectors.shape[1]} features, got {shape}"
            )
        if len(vectors) == 0:
            raise ValueError("estimator must hold at least one support vector, got none")
        rows = learner.dual_coef_
        first = np.argsort(-np.abs(rows).max(axis=0), kind="stable")[:n]
        rows = rows[:, first]
        outputs = np.abs(rows).argmax(axis=0)
        coefficients = rows[outputs, np.arange(len(first))]
        labels = labels_of(learner, outputs, coefficients)
        return cls(vectors[first].reshape(-1, *shape), coefficients, labels).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the images, in rows of about as many as there are rows.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        **kwargs
            Arguments of matplotlib's ``imshow``.

        Returns
        -------
        SupportVectorsDisplay
        """
        count, height, width = self.images.shape
        columns = math.ceil(math.sqrt(count))
        size = (1.0 + 0.95 * columns, 0.6 + 1.15 * math.ceil(count / columns))
        self.ax_ = axes_for(f"{type(self).__name__}.plot", ax, figsize=size)
        self.figure_ = self.ax_.figure
        style = {"cmap": "gray_r", "aspect": "equal", **kwargs}
        # Each image is one wide, with room for a line of text above it.
        tall = height / width
        self.images_, self.texts_ = [], []
        for place, image in enumerate(self.images):
            row, column = divmod(place, columns)
            left, bottom = 1.12 * column, -(tall + 0.32) * (row + 1)
            extent = (left, left + 1, bottom, bottom + tall)
            self.images_.append(self.ax_.imshow(image, extent=extent, **style))
            text = f"{self.coefficients[place]:+.2g}"
            text = f"{self.labels[place]}: {text}" if self.labels else text
            middle = left + 0.5, bottom + tall + 0.04
            shown = self.ax_.text(*middle, text, ha="center", fontsize=7.5, parse_math=False)
            self.texts_.append(shown)
        rows = math.ceil(count / columns)
        self.ax_.set(xlim=(-0.05, 1.12 * columns), ylim=(-(tall + 0.32) * rows - 0.05, 0.05))
        self.ax_.set_axis_off()
        return self


def labels_of(learner: Any, outputs: Array, coefficients: Floats) -> list[str]:
    """Return the class that each coefficient speaks for or against; none for a regression."""
    classes = getattr(learner, "classes_", None)
    if classes is None:
        return []
    if len(classes) == 2:
        # One score, whose sign decides.
        return [str(classes[int(value > 0)]) for value in coefficients]
    pairs = zip(outputs, coefficients, strict=True)
    return [f"not {classes[k]}" if value < 0 else str(classes[k]) for k, value in pairs]
