"""The error along a stream: of the last samples and of all samples, with detected drifts."""

from __future__ import annotations

from typing import Any, Self

from onlinekern.estimators.types import Floats
from onlinekern.evaluate.test_then_train import WINDOW, PrequentialResult, prequential
from onlinekern.plotting.blocks import blocks_of, name_of, with_classes
from onlinekern.plotting.live import Live
from onlinekern.plotting.style import COLOURS, GREY, axes_for, dress, name_error


class PrequentialDisplay:
    """Learning curve along a stream: each sample is predicted before it is learnt.

    This differs from scikit-learn's ``LearningCurveDisplay``, which fits models to training sets of
    growing size. Here, one model learns one stream, and its errors are those on unseen samples.

    Parameters
    ----------
    result : PrequentialResult
        A result of `onlinekern.evaluate.prequential` with a window.
    window : int, default=1000
        Samples in that window.
    estimator_name : str, optional
        Name in the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
        Error of the last `window` samples.
    total_line_ : matplotlib Line2D
        Error of all samples so far.
    drift_lines_ : matplotlib LineCollection or None
        A vertical line where the detector found drift; None if it found none.

    Examples
    --------
    >>> from onlinekern import KernelPAClassifier
    >>> from onlinekern.plotting import PrequentialDisplay
    >>> from onlinekern.streams import gaussian_mixture
    >>> X, y = gaussian_mixture(3000, random_state=0)
    >>> display = PrequentialDisplay.from_stream(KernelPAClassifier(gamma=0.4), X, y, window=500)
    >>> display.line_.get_xdata().tolist()
    [500, 1000, 1500, 2000, 2500, 3000]
    """

    def __init__(
        self, result: PrequentialResult, *, window: int = WINDOW, estimator_name: str | None = None
    ) -> None:
        self.result, self.window, self.estimator_name = result, window, estimator_name

    @classmethod
    def from_stream(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        classes: Any = None,
        window: int = WINDOW,
        detector: Any = None,
        on_drift: Any = None,
        name: str | None = None,
        live: bool = False,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Run an estimator test-then-train over a stream, and draw its errors.

        Parameters
        ----------
        estimator : object
            As for `onlinekern.evaluate.prequential`: it is not cloned, and goes on learning.
        X : array-like or CSR matrix of shape (n_samples, n_features), or iterable of (X, y)
        y : array-like of shape (n_samples,), optional
            Must be None with an iterable.
        classes : array-like, optional
            All classes of the stream. They must be given for a classifier that has learnt nothing
            and an iterable, which is read once.
        window : int, default=1000
            Samples that are the last ones. There is a point at each multiple of it.
        detector : object, optional
            Drift detector, as for `prequential`; each drift that it finds is marked.
        on_drift : callable, optional
            Called as for `prequential`.
        name : str, optional
            Name in the legend; by default that of the class.
        live : bool, default=False
            Draw while the stream runs: the picture in a notebook, or the window of a script, grows
            with each point. Where neither is, it is drawn at the end.
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        **kwargs
            Arguments of matplotlib's ``plot``, for the error of the last samples.

        Returns
        -------
        PrequentialDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        TypeError, ValueError
            If `prequential` raises it, or `classes` are needed.
        """
        ax = axes_for(f"{cls.__name__}.from_stream", ax)
        blocks, known = with_classes(estimator, blocks_of(X, y), classes)
        nothing: Any = None
        display = cls(nothing, window=window, estimator_name=name_of(estimator, name))

        def draw(result: PrequentialResult) -> None:
            display._grow(result, ax, **kwargs)

        screen = Live(ax.figure, draw) if live else None
        result = prequential(
            estimator, blocks, known, window=window, detector=detector, on_drift=on_drift,
            watch=screen,
        )  # fmt: skip
        draw(result)
        if screen is not None:
            screen.end()
        return display

    def _grow(self, result: PrequentialResult, ax: Any, **kwargs: Any) -> Self:
        """Draw the first result of a stream, or update the curves by a later one."""
        if hasattr(self, "ax_"):
            return self.update(result)
        self.result = result
        return self.plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        name : str, optional
            Name in the legend instead of `estimator_name`.
        **kwargs
            Arguments of matplotlib's ``plot``, for the error of the last samples.

        Returns
        -------
        PrequentialDisplay
        """
        counted = self.result.mistakes is not None
        x, last, total = curves_of(self.result)
        self.ax_ = axes_for(f"{type(self).__name__}.plot", ax)
        self.figure_ = self.ax_.figure
        name = self.estimator_name if name is None else name
        label = f"last {self.window:,} samples"
        style = {"color": COLOURS[0], "label": f"{name}, {label}" if name else label, **kwargs}
        (self.line_,) = self.ax_.plot(x, last, **style)
        (self.total_line_,) = self.ax_.plot(
            x, total, color=self.line_.get_color(), linestyle="--", linewidth=1.1,
            label="all so far",
        )  # fmt: skip
        self.drift_lines_ = None
        self._mark_drifts()
        name_error(self.ax_, counted)
        dress(self.ax_)
        self.ax_.legend(fontsize="small")
        return self

    def update(self, result: PrequentialResult) -> Self:
        """Update the curves by a later result of the same stream.

        ``prequential(..., watch=display.update)`` calls this while it runs. The caller must redraw
        the canvas of the figure.

        Parameters
        ----------
        result : PrequentialResult
            With the same window.

        Returns
        -------
        PrequentialDisplay
        """
        x, last, total = curves_of(result)
        if not hasattr(self, "ax_"):
            raise ValueError("nothing is drawn yet: call plot before update")
        self.result = result
        self.line_.set_data(x, last)
        self.total_line_.set_data(x, total)
        if self.drift_lines_ is not None:
            self.drift_lines_.remove()
            self.drift_lines_ = None
        self.ax_.relim()
        self.ax_.autoscale()
        self._mark_drifts()
        self.ax_.legend(fontsize="small")
        return self

    def _mark_drifts(self) -> None:
        """Draw a line at each detected drift, and let the error axis begin at 0."""
        if len(self.result.drifts):
            self.drift_lines_ = self.ax_.vlines(
                self.result.drifts, 0, 1, transform=self.ax_.get_xaxis_transform(), color=GREY,
                linestyle=":", linewidth=1.2, label="drift found", zorder=1,
            )  # fmt: skip
        self.ax_.set_ylim(bottom=0)


def curves_of(result: PrequentialResult) -> tuple[Floats, Floats, Floats]:
    """Return numbers of samples, and errors of the last and of all; in % if they are counts."""
    points, unit = result.curves, 1 if result.mistakes is None else 100
    if "window_error" not in points:
        raise ValueError("result must have been found with a window, got window=None")
    return points["samples"], unit * points["window_error"], unit * points["error"]
