"""A comparison as a table for the terminal, as JSON and as CSV."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinekern.evaluate.errors import KAPPAS
from onlinekern.evaluate.results import mean_and_deviation
from onlinekern.reports.console import put_json

if TYPE_CHECKING:
    from onlinekern.evaluate.results import Comparison, MethodResult
    from onlinekern.evaluate.search import Parameter


def print_table(console: Any, comparison: Comparison) -> None:
    """Print a comparison on a rich console: a heading, one row per method, a footnote."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    heads, rows, best = cells_of(comparison, not console.encoding.lower().startswith("utf"))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(heads):
        options: Any = {"overflow": "fold"} if place == 1 else {"no_wrap": True}
        table.add_column(name, justify="left" if place < 2 else "right", **options)
    for cells, is_best in zip(rows, best, strict=True):
        table.add_row(*(Text(cell) for cell in cells), style="bold" if is_best else "")
    for line in heading(comparison):
        console.print(Text(line))
    console.print(table)
    for line in footnote(comparison):
        console.print(Text(line))


def cells_of(comparison: Comparison, plain: bool) -> tuple[list[str], list[list[str]], list[bool]]:
    """Return the heads of a table, of which all but two are of numbers, its rows, and the best.

    `plain` is for terminals that know ASCII only.
    """
    shared = _shared_gamma(comparison)
    counted = comparison.task == "classification"
    tested = any(result.test_scores for result in comparison.methods)
    heads = ["method", "parameters", "mistakes %" if counted else "RMSE"]
    heads += _order_heads(comparison)
    heads += [("test acc. %" if counted else "test RMSE")] if tested else []
    heads += ["SVs", "us/sample" if plain else "µs/sample"]
    rows = []
    for result in comparison.methods:
        cells = [result.label, _listed(result.parameters, skip=shared) or "-"]
        cells += [_spread(result.errors, counted, plain)]
        cells += _order_cells(result, comparison)
        cells += [_spread(result.test_scores, counted, plain)] if tested else []
        cells += [_count(result.supports, plain), _figures(np.median(result.microseconds), 3)]
        rows.append(cells)
    means = [float(np.mean(result.errors)) for result in comparison.methods]
    return heads, rows, [mean <= min(means) for mean in means]


def _order_heads(comparison: Comparison) -> list[str]:
    """Return the heads of the columns that only the order of the file gives a meaning."""
    if comparison.shuffled:
        return []
    counted = comparison.task == "classification"
    last = f"last {comparison.window:,}{' %' if counted else ''}"
    return [last] * comparison.has_window + ["kappa-t"] * counted


def _order_cells(result: MethodResult, comparison: Comparison) -> list[str]:
    if comparison.shuffled:
        return []
    counted, (figures,) = comparison.task == "classification", [run.figures for run in result.runs]
    cells = [_spread([figures["window_error"]], counted, True)] * comparison.has_window
    return cells + ([f"{figures['kappa_temporal']:.3f}"] if counted else [])


def heading(comparison: Comparison) -> Iterator[str]:
    """Yield what was compared, and how."""
    shared = _shared_gamma(comparison)
    kind = f"{comparison.n_classes} classes" if comparison.n_classes else "regression"
    yield (
        f"{Path(comparison.data).name}: {comparison.n_samples:,} samples, "
        f"{comparison.n_features:,} features, {kind}"
    )
    order = (
        f"mean over {comparison.repeats} random permutations"
        if comparison.shuffled and comparison.repeats > 1
        else "one random permutation" if comparison.shuffled else "in file order"
    )  # fmt: skip
    gamma = f", gamma {_value(shared)}" if shared else ""
    if shared and any(own != shared for own in _gammas(comparison)):
        gamma += " where a row names no other"
    late = f"; labels come {comparison.delay:,} samples late" if comparison.delay else ""
    yield f"{comparison.kernel} kernel{gamma}; one pass, {order}{late}"


def footnote(comparison: Comparison) -> Iterator[str]:
    """Yield what is below the table."""
    if comparison.majority_share is not None:
        yield f"  always the largest class: {100 * (1 - comparison.majority_share):.2f} % mistakes"
    else:
        yield f"  always the mean target: RMSE {_figures(comparison.target_deviation, 4)}"
    if not comparison.shuffled and comparison.task == "classification":
        yield "  kappa-t: share of the mistakes of no change that is saved"
    if any(
        item.origin == "chosen" for result in comparison.methods
        for item in result.parameters.values()
    ):  # fmt: skip
        where = "of a random permutation" if comparison.shuffled else "of the file"
        yield f"* chosen on the first {comparison.n_head:,} samples {where}"


def _gammas(comparison: Comparison) -> list[Parameter]:
    """Return the gamma of each method that has one."""
    parameters = (result.parameters for result in comparison.methods)
    return [named["gamma"] for named in parameters if "gamma" in named]


def _shared_gamma(comparison: Comparison) -> Parameter | None:
    """Return the gamma of most methods that have one, None if there is none of more than half."""
    gammas = _gammas(comparison)
    ranked = Counter(gammas).most_common(1)
    return next((gamma for gamma, count in ranked if 2 * count > len(gammas)), None)


def _value(item: Parameter) -> str:
    value = item.value
    shown = f"{value:.4g}" if isinstance(value, float) else str(value)
    return shown + ("*" if item.origin == "chosen" else "")


def _listed(parameters: dict[str, Parameter], skip: Parameter | None) -> str:
    shown = {name: item for name, item in parameters.items() if name != "gamma" or item != skip}
    return ", ".join(f"{name} {_value(item)}" for name, item in shown.items())


def _figures(value: float, digits: int) -> str:
    """Return a number with so many significant figures, without an exponent if it is short."""
    if not math.isfinite(value) or value == 0 or not 1e-4 <= abs(value) < 1e7:
        return f"{value:.{digits - 1}e}" if math.isfinite(value) and value else f"{value:g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


def _spread(values: list[float], percent: bool, plain: bool) -> str:
    mean, deviation = mean_and_deviation(values)
    sign = "+-" if plain else "±"
    if percent:
        return f"{100 * mean:.2f}" + ("" if deviation is None else f" {sign} {100 * deviation:.2f}")
    shown = _figures(mean, 4)
    return shown if deviation is None else f"{shown} {sign} {_figures(deviation, 2)}"


def _count(values: list[int], plain: bool) -> str:
    """Return a number of support vectors; a dash for a model of another form."""
    if not any(values):
        return "-"
    mean, deviation = mean_and_deviation(values)
    sign = "+-" if plain else "±"
    return f"{mean:,.0f}" + ("" if deviation is None else f" {sign} {deviation:,.0f}")


def as_dict(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain lists, dicts, numbers and strings."""
    fields = {
        name: value for name, value in vars(comparison).items()
        if name not in ("methods", "target_deviation")
    }  # fmt: skip
    return fields | {"methods": [_method_dict(result) for result in comparison.methods]}


def _method_dict(result: MethodResult) -> dict[str, Any]:
    samples, error, support = result.mean_curves()
    return {
        "name": result.name,
        "label": result.label,
        "estimator": result.estimator,
        "parameters": {
            name: {"value": item.value, "origin": item.origin}
            for name, item in result.parameters.items()
        },
        "error": _summary(result.errors),
        "test_score": _summary(result.test_scores) if result.test_scores else None,
        "n_support": _summary(result.supports),
        "microseconds_per_sample": _summary(result.microseconds),
        "figures": {name: _summary(values) for name, values in result.figures.items()},
        "points": {
            name: [_finite(value) for value in values]
            for name, values in result.mean_points().items()
        },
        "curves": {
            "samples": samples.tolist(),
            "error": [_finite(value) for value in error],
            "n_support": [_finite(value) for value in support],
        },
    }


def _summary(values: list[Any]) -> dict[str, Any]:
    mean, deviation = mean_and_deviation(values)
    return {
        "mean": _finite(mean), "std": _finite(deviation), "runs": [_finite(v) for v in values]
    }  # fmt: skip


def _finite(value: float | None) -> float | None:
    """Return a number that JSON knows: it has neither NaN nor infinity."""
    return float(value) if value is not None and math.isfinite(value) else None


def write_json(comparisons: Sequence[Comparison], path: str, version: str) -> None:
    """Write all figures of all runs; ``error`` is the mistake rate as a share, or the RMSE."""
    content = {"onlinekern": version, "comparisons": [as_dict(item) for item in comparisons]}
    put_json(content, path)


def write_csv(comparisons: Sequence[Comparison], path: str) -> None:
    """Write one line for every data set and method."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        rows = [row for comparison in comparisons for row in _csv_rows(comparison)]
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def _csv_rows(comparison: Comparison) -> Iterator[dict[str, Any]]:
    for result in comparison.methods:
        parameters = {name: item.value for name, item in result.parameters.items()}
        row = {
            "data": comparison.data, "task": comparison.task, "n_samples": comparison.n_samples,
            "n_features": comparison.n_features, "repeats": comparison.repeats,
            "method": result.name, "estimator": result.estimator, "kernel": comparison.kernel,
            "parameters": ";".join(f"{name}={value}" for name, value in parameters.items()),
        }  # fmt: skip
        measured = {
            "error": result.errors, "test_score": result.test_scores,
            "n_support": result.supports, "microseconds_per_sample": result.microseconds,
            **{name: result.figures.get(name, []) for name in (*KAPPAS, "window_error")},
        }  # fmt: skip
        for name, values in measured.items():
            mean, deviation = mean_and_deviation(values) if values else (None, None)
            row |= {f"{name}_mean": mean, f"{name}_std": deviation}
        yield row
