"""Plots of comparisons: errors and support vectors against the samples seen (needs matplotlib)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from onlinekern._racing.report import RaceReport
    from onlinekern.evaluate import Comparison

SUFFIXES = (".png", ".pdf", ".svg", ".jpg")
# Okabe and Ito's colours, told apart by the colour-blind. Neighbours have other lines, so that a
# curve on top of the next (SPA and SPA-last keep the same support vectors) hides nothing.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255",
)  # fmt: skip
LINES = ("-", "--", ":", "-.")
# The first marks say more about luck than about the methods.
FIRST_SHOWN = 100
# A logarithmic axis shorter than this ratio has too few powers of ten to be read.
SHORT_AXIS = 50
# Names of methods in one column of the legend.
LEGEND_ROWS = 18


def plot_comparisons(comparisons: Sequence[Comparison], path: str | PathLike[str]) -> None:
    """Draw two panels for every comparison, and a third one for the order of the file.

    Parameters
    ----------
    comparisons : list of onlinekern.evaluate.Comparison
    path : str or path
        File to write; its suffix is the format.
    """
    comparisons = list(comparisons) if isinstance(comparisons, Sequence) else [comparisons]
    if not comparisons or not all(hasattr(item, "methods") for item in comparisons):
        raise ValueError(f"comparisons must be a list of one or more Comparison, got {comparisons}")
    check_suffix(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = len(comparisons)
    columns = max(-(-len(comparison.methods) // LEGEND_ROWS) for comparison in comparisons)
    panels = 2 if all(comparison.shuffled for comparison in comparisons) else 3
    figure = Figure(figsize=(0.5 + 4.5 * panels + 1.8 * columns, 4.3 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, panels, squeeze=False)
    for (errors, *windows, supports), comparison in zip(axes, comparisons, strict=True):
        plot_errors(comparison, errors)
        for window in windows:
            plot_window(comparison, window)
        plot_supports(comparison, supports)
        handles, labels = errors.get_legend_handles_labels()
        supports.legend(
            handles, labels, loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False,
            ncols=-(-len(labels) // LEGEND_ROWS),
        )  # fmt: skip
    figure.savefig(path, dpi=130, format=Path(path).suffix.lower().lstrip("."))


def check_suffix(path: str | PathLike[str]) -> None:
    """Raise ValueError unless the suffix of a path is that of a picture."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ValueError(f"path must end in {', '.join(SUFFIXES)}, got {str(path)!r}")


def plot_errors(comparison: Comparison, axes: Axes) -> None:
    """Draw the error so far (mistake rate in %, or RMSE) against the samples seen."""
    counted = comparison.task == "classification"
    for result, style in _styled(comparison):
        samples, error, _ = result.mean_curves()
        keep = _shown(samples)
        axes.plot(samples[keep], error[keep] * (100 if counted else 1), **style)
    axes.set_title(f"{Path(comparison.data).name}: {'mistakes' if counted else 'error'} so far")
    axes.set_ylabel("mistake rate (%)" if counted else "root mean squared error")
    _finish(axes)


def plot_window(comparison: Comparison, axes: Axes) -> None:
    """Draw the error over the last samples against the samples seen, both axes linear."""
    if comparison.shuffled:
        axes.set_axis_off()
        return
    counted = comparison.task == "classification"
    for result, style in _styled(comparison):
        points = result.mean_points()
        axes.plot(points["samples"], points["window_error"] * (100 if counted else 1), **style)
    axes.set_title(f"{Path(comparison.data).name}: the last {comparison.window:,} samples")
    axes.set_ylabel("mistake rate (%)" if counted else "root mean squared error")
    _dress(axes)


def plot_supports(comparison: Comparison, axes: Axes) -> None:
    """Draw the number of support vectors against the samples seen, both axes logarithmic."""
    any_support = False
    for result, style in _styled(comparison):
        samples, _, support = result.mean_curves()
        keep = _shown(samples) & (support > 0)
        any_support = any_support or bool(keep.any())
        axes.plot(samples[keep], support[keep], **style)
    if any_support:
        axes.set_yscale("log")
    axes.set_title(f"{Path(comparison.data).name}: support vectors")
    axes.set_ylabel("support vectors")
    _finish(axes)


def _styled(comparison: Comparison) -> Iterator[Any]:
    for k, result in enumerate(comparison.methods):
        turn, colour = divmod(k, len(COLOURS))
        yield (
            result,
            {
                "color": COLOURS[colour],
                "linestyle": LINES[(k + turn) % len(LINES)],
                "linewidth": 1.6 if turn < len(LINES) else 0.8,
                "label": result.label,
            },
        )


def _shown(samples: Any) -> Any:
    return samples >= min(FIRST_SHOWN, samples[-1])


def _finish(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_xscale("log")
    plain = FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    logarithmic = [axes.xaxis] + ([axes.yaxis] if axes.get_yscale() == "log" else [])
    for axis in logarithmic:
        low, high = axis.get_view_interval()
        if high < SHORT_AXIS * low:
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(plain)
        axis.set_minor_formatter(NullFormatter())
    _dress(axes)


def _dress(axes: Axes) -> None:
    axes.set_xlabel("samples seen")
    axes.grid(True, which="major", alpha=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def plot_race(report: RaceReport, path: str | PathLike[str]) -> None:
    """Draw who had which weight when in a race of experts, and write the picture.

    Parameters
    ----------
    report : RaceReport
        Of `StreamClassifier.report` or `StreamRegressor.report`.
    path : str or path
        File to write; its suffix is the format.

    Raises
    ------
    ValueError
        If the suffix is none of a picture, or no weights have been noted: before 256 samples.
    """
    check_suffix(path)
    if len(report.samples) == 0:
        raise ValueError("report holds no weights yet: a race notes them every 256 samples")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    order = report.weights.mean(axis=0).argsort()[::-1]
    edges = [0, *report.samples.tolist()]
    bottom = 0 * report.weights[:, 0]
    for place, k in enumerate(order):
        top = bottom + report.weights[:, k]
        hatch = "///" if place >= len(COLOURS) else None
        axes.stairs(
            top, edges, baseline=bottom, fill=True, color=COLOURS[place % len(COLOURS)],
            hatch=hatch, edgecolor="white", label=report.experts[k].name,
        )  # fmt: skip
        bottom = top
    axes.set(
        xlim=(0, edges[-1]), ylim=(0, 1), xlabel="samples", ylabel="share in the vote",
        title=f"who led when: {report.n_seen:,} samples",
    )  # fmt: skip
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    figure.savefig(path)
