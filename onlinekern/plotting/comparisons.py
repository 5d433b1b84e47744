"""Pictures of comparisons: errors and support vectors against the samples seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinekern.evaluate.baselines import BASELINES
from onlinekern.plotting.labels import End, EndLabels, room_for
from onlinekern.plotting.style import (
    GREY,
    LINES,
    check_suffix,
    dress,
    name_error,
    own_figure,
    style_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from onlinekern.estimators.types import Array
    from onlinekern.evaluate.results import Comparison, MethodResult

# The first points depend more on chance than on the methods.
FIRST_SHOWN = 100
# A logarithmic axis with a smaller ratio of its ends has too few powers of ten to be readable.
SHORT_AXIS = 200
# If the ratio of the largest to the smallest error is above this, the axis is logarithmic.
WIDE_ERRORS = 5


def plot_comparisons(comparisons: Sequence[Comparison], path: str | PathLike[str]) -> None:
    """Draw two panels for each comparison, and a third one for the order of the file.

    Parameters
    ----------
    comparisons : list of onlinekern.evaluate.Comparison
    path : str or path
        File to write; its suffix is the format.

    Raises
    ------
    ValueError
        If there is no comparison, or the suffix is none of a picture.

    Examples
    --------
    >>> import os, tempfile
    >>> from onlinekern.evaluate import compare
    >>> from onlinekern.plotting import plot_comparisons
    >>> from onlinekern.streams import Source, gaussian_mixture
    >>> with Source.from_arrays(*gaussian_mixture(1000, 0)) as source:
    ...     found = compare("perceptron,spa", source, repeats=1, gamma=0.4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plot_comparisons([found], os.path.join(folder, "race.png"))
    ...     os.listdir(folder)
    ['race.png']
    """
    comparisons = list(comparisons) if isinstance(comparisons, Sequence) else [comparisons]
    if not comparisons or not all(hasattr(item, "methods") for item in comparisons):
        raise ValueError(f"comparisons must be a list of one or more Comparison, got {comparisons}")
    check_suffix(path)
    names = max(len(comparison.methods) for comparison in comparisons)
    panels = 2 + any(comparison.has_window for comparison in comparisons)
    height = max(4.3, 1.0 + room_for(names))
    figure = own_figure("plot_comparisons", 5.6 * panels, height * len(comparisons))
    axes = figure.subplots(len(comparisons), panels, squeeze=False)
    for (errors, *windows, supports), comparison in zip(axes, comparisons, strict=True):
        plot_errors(comparison, errors)
        for window in windows:
            plot_window(comparison, window)
        plot_supports(comparison, supports)
    figure.savefig(path, dpi=130, format=Path(path).suffix.lower().lstrip("."))


def plot_errors(comparison: Comparison, axes: Axes) -> None:
    """Draw the error so far (mistake rate in %, or RMSE) against the number of samples."""
    curves = []
    for result, style in _styled(comparison):
        samples, error, _ = result.mean_curves()
        keep = _shown(samples)
        curves.append((result, style, samples[keep], error[keep]))
    axes.set_xscale("log")
    what = "mistakes" if comparison.task == "classification" else "error"
    _draw_errors(axes, comparison, curves, f"{what} so far")


def plot_window(comparison: Comparison, axes: Axes) -> None:
    """Draw the error of the last samples against the number of samples, on a linear axis."""
    if not comparison.has_window:
        axes.set_axis_off()
        return
    curves = []
    for result, style in _styled(comparison):
        points = result.mean_points()
        curves.append((result, style, points["samples"], points["window_error"]))
    _draw_errors(axes, comparison, curves, f"the last {comparison.window:,} samples")


def plot_supports(comparison: Comparison, axes: Axes) -> None:
    """Draw the number of support vectors against the number of samples, on logarithmic axes."""
    ends = []
    axes.set_xscale("log")
    for result, style in _styled(comparison):
        samples, _, support = result.mean_curves()
        keep = _shown(samples) & (support > 0)
        if keep.any():
            axes.plot(samples[keep], support[keep], **style)
            text = f"{result.label}  {support[-1]:,.0f}"
            ends.append(End(samples[keep][-1], support[keep][-1], text, style))
    if ends:
        axes.set_yscale("log")
    else:
        axes.text(0.5, 0.5, "no support vectors", ha="center", transform=axes.transAxes)
    _title(axes, comparison, "support vectors")
    axes.set_ylabel("support vectors")
    EndLabels(axes, ends)
    _finish(axes)


def _styled(comparison: Comparison) -> Iterator[tuple[MethodResult, dict[str, Any]]]:
    """Yield each method with its style; baselines are grey, and all styles are different."""
    place = 0
    greys = iter(LINES[1:])
    for result in comparison.methods:
        if result.name in BASELINES:
            yield result, {"color": GREY, "linestyle": next(greys), "linewidth": 1.2}
            continue
        yield result, style_of(place)
        place += 1


def _draw_errors(axes: Axes, comparison: Comparison, curves: Any, what: str) -> None:
    """Draw error curves with their labels; baselines far above the methods are only named."""
    counted = comparison.task == "classification"
    unit = 100 if counted else 1
    curves = [(result, style, samples, unit * error) for result, style, samples, error in curves]
    methods = [curve[-1] for curve in curves if curve[0].name not in BASELINES]
    values = np.concatenate(methods or [curve[-1] for curve in curves])
    values = values[np.isfinite(values)]
    low, high = (values.min(), values.max()) if len(values) else (0.0, 1.0)
    if low > 0 and high > WIDE_ERRORS * low:
        axes.set_yscale("log")
    most = high + 0.5 * (high - low)
    least = np.nanmin([curve[-1][-1] for curve in curves])
    ends, above = [], []
    for result, style, samples, error in curves:
        text = f"{result.label}  {error[-1]:.2f}" if counted else f"{result.label}  {error[-1]:.4g}"
        if result.name in BASELINES and methods and not error.max() <= most:
            above.append(text)
            continue
        dot = {} if len(error) > 1 else {"marker": "o", "markevery": None}  # a line needs two
        axes.plot(samples, error, **style | dot)
        if np.isfinite(error[-1]):
            ends.append(End(samples[-1], error[-1], text, style, bool(error[-1] <= least)))
    if above:
        note = "above: " + ", ".join(above)
        axes.text(0.99, 0.99, note, color=GREY, fontsize=8, ha="right", va="top",
                  transform=axes.transAxes, parse_math=False)  # fmt: skip
    EndLabels(axes, ends)
    _title(axes, comparison, what)
    name_error(axes, counted)
    _finish(axes)


def _title(axes: Axes, comparison: Comparison, what: str) -> None:
    # The name is that of a file, so a dollar sign in it must not begin a formula.
    axes.set_title(f"{Path(comparison.data).name}: {what}", parse_math=False)


def _shown(samples: Array) -> Array:
    return samples >= min(FIRST_SHOWN, samples[-1])


def _finish(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    plain = FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    if axes.lines:
        axes.set_xlim(right=float(axes.dataLim.x1))
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() != "log":
            continue
        low, high = axis.get_view_interval()
        if high < SHORT_AXIS * low:
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(plain)
        axis.set_minor_formatter(NullFormatter())
    dress(axes)
