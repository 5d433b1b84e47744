"""The page of a model: what it learns, how well it did, what it looks at, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from os import PathLike, fspath
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.exceptions import NotFittedError

from onlinekern.estimators.contract import Learner
from onlinekern.estimators.validation import wrong_type
from onlinekern.evaluate.test_then_train import WINDOW, PrequentialResult
from onlinekern.fitted.save import to_bytes
from onlinekern.plotting.importances import ImportanceDisplay, found_in
from onlinekern.plotting.learning import PrequentialDisplay
from onlinekern.plotting.metric import matrix_of
from onlinekern.preprocessing.steps import check_learnt, inner, learner_of
from onlinekern.preprocessing.tables.encoder import encoder_of
from onlinekern.reports.drawing import svg
from onlinekern.reports.machine import in_bytes
from onlinekern.reports.page import (
    Html,
    card,
    cards,
    element,
    figure,
    matrix,
    page,
    table,
    tiles,
    write_page,
)
from onlinekern.reports.run import built_with, head
from onlinekern.reports.text import listed, text_of
from onlinekern.reports.training import SIZE, experts, in_units, race_of, weights
from onlinekern.streams.errors import check_count

# Number of features with bars, and of rows of a metric.
MOST_BARS = 15
MOST_OF_METRIC = 10
# Number of columns of a table that are listed.
MOST_COLUMNS = 60
# Rows that are scored to measure the time per row.
ROWS = 512


class ModelPage(str):
    """The HTML of a page; a notebook shows it in a frame."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self)}" style="width: 100%; height: 40rem; border: 0" '
            'sandbox="allow-scripts"></iframe>'
        )


def report_html(
    model: Any,
    path: str | PathLike[str] | None = None,
    *,
    result: PrequentialResult | None = None,
    window: int = WINDOW,
) -> ModelPage:
    """Make a report of a fitted model: one HTML file, which loads nothing.

    It has the parameters, the columns, the errors along the stream with the drifts found, the
    importances of the features, the metric, the experts of a race, and what the model takes in
    memory and time.

    Parameters
    ----------
    model : estimator
        A fitted learner of this library, or a pipeline that ends with one.
    path : str or path-like, optional
        The page is written there, whole or not at all. A file there is replaced.
    result : PrequentialResult, optional
        Of the stream that the model has learnt, as `onlinekern.evaluate.prequential` returns it
        with a window: its errors are drawn, and the drifts found. A model keeps no curve itself.
    window : int, default=1000
        Samples in that window.

    Returns
    -------
    ModelPage
        The text of the page. A notebook shows it.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    NotFittedError
        If the model has learnt nothing.
    TypeError
        If `model` is no estimator, or `result` is none of `prequential`.
    ValueError
        If `result` was found without a window.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> from onlinekern import KernelForestClassifier
    >>> from onlinekern.evaluate import prequential
    >>> from onlinekern.reports import report_html
    >>> from onlinekern.streams import gaussian_mixture
    >>> model = KernelForestClassifier(n_trees=10, random_state=0)
    >>> result = prequential(model, [gaussian_mixture(2000, 0)], classes=[-1, 1], window=500)
    >>> page = report_html(model, result=result, window=500)
    >>> page.startswith("<!DOCTYPE html>"), "Importances" in page
    (True, True)
    """
    check_model(model)
    check_count("window", window)
    if result is not None and not isinstance(result, PrequentialResult):
        raise wrong_type("result", "be a PrequentialResult", result)
    learner = inner(learner_of(model))
    boxes = [
        *curve_of(result, window),
        *leaders_of(learner),
        *importances_of(model, learner),
        *metric_of(model, learner),
        *renewals_of(learner_of(model)),
    ]
    name = type(learner_of(model)).__name__
    parts = [
        head(name, line_about(learner)),
        tiles(figures(model, learner, result)),
        *([cards(*boxes)] if boxes else []),
        *experts_of(learner),
        cards(card("Parameters", parameters_of(model)), built_with()),
        card("Columns", columns_of(model)),
    ]
    text = ModelPage(page(name, *parts))
    if path is not None:
        write_page(fspath(path), text)
    return text


def check_model(model: Any) -> None:
    """Raise TypeError unless this is an estimator, and NotFittedError if it has learnt nothing."""
    if not hasattr(model, "get_params") or isinstance(model, type):
        raise wrong_type("model", "be a fitted estimator", model)
    if hasattr(model, "fit"):
        check_learnt(model)
    elif not model.__sklearn_is_fitted__():
        raise NotFittedError(f"This {type(model).__name__} has learnt nothing: call partial_fit.")


def line_about(learner: Any) -> str:
    """Return what is learnt, in a line."""
    if is_classifier(learner):
        labels = [text_of(label) for label in getattr(learner, "classes_", ())]
        return f"Classification into {len(labels):,} classes: {listed(labels)}"
    return "Outliers of one class" if is_outlier_detector(learner) else "Regression"


def figures(
    model: Any, learner: Any, result: PrequentialResult | None
) -> Iterator[tuple[str, str]]:
    """Yield the figures in large letters."""
    if hasattr(learner, "n_seen_"):
        seen = getattr(learner_of(model), "n_seen_", learner.n_seen_)
        yield "samples learnt", f"{seen:,}"
    if result is not None:
        counted = result.mistakes is not None
        what = "mistakes" if counted else "RMSE"
        yield f"{what}, all samples", in_units(result.error, counted)
        yield f"{what}, latest", in_units(float(result.curves["window_error"][-1]), counted)
    elif getattr(learner, "n_mistakes_", None) is not None and learner.n_seen_:
        yield "mistakes, all samples", f"{learner.n_mistakes_ / learner.n_seen_:.2%}"
    if hasattr(learner, "n_support_"):
        yield "support vectors", f"{learner.n_support_:,}"
    size = size_of(model)
    if size is not None:
        yield "memory, as in its file", in_bytes(size)
    if isinstance(learner, Learner):
        yield "to score a row of numbers", f"{row_cost(learner):.3g} µs"
    if result is not None:
        yield "to predict and learn it", f"{result.microseconds_per_sample:.3g} µs"


def size_of(model: Any) -> int | None:
    """Return the bytes of a model; None for one that cannot be saved."""
    try:
        return len(to_bytes(model))
    except TypeError:  # a parameter that is a function, or a step of another library
        return None


def row_cost(learner: Learner) -> float:
    """Return the microseconds that the score of a row takes in a block, measured now."""
    model = learner._fitted_model
    rows = np.random.default_rng(0).standard_normal((ROWS, model.d)).astype(model.dtype)
    rows, scores = learner._layout(rows), np.empty((ROWS, model.head.n_outputs))
    took = []
    for _ in range(3):
        began = perf_counter()
        model.scores(rows, scores)
        took.append(perf_counter() - began)
    return 1e6 * min(took) / ROWS


def curve_of(result: PrequentialResult | None, window: int) -> Iterator[Html]:
    """Yield the box of the errors along the stream, and of the drifts found."""
    if result is None:
        return

    def draw(axes: Any) -> None:
        PrequentialDisplay(result, window=window).plot(axes)

    drawing = svg(draw, "curve", "Error against the samples seen", SIZE)
    drifts = result.drifts.tolist()
    found = f"Drift was found at sample {listed([f'{n:,}' for n in drifts])}." if drifts else ""
    caption = f"Each sample was predicted before it was learnt. {found}".strip()
    yield card("Error along the stream", figure(drawing, caption))


def leaders_of(learner: Any) -> Iterator[Html]:
    """Yield the box that draws the weights of the experts of a race."""
    report = race_of(learner)
    if report is not None and len(report.samples):
        yield card("The race: who led when", weights(report))


def experts_of(learner: Any) -> Iterator[Html]:
    """Yield the box with the table of the experts of a race."""
    report = race_of(learner)
    if report is not None:
        yield card("Experts of the race", experts(report))


def importances_of(model: Any, learner: Any) -> Iterator[Html]:
    """Yield the box of the importances, if there are some."""
    try:
        values, names = found_in(model if hasattr(model, "steps") else learner)
    except (TypeError, ValueError, AttributeError):
        return
    display = ImportanceDisplay(values, names, MOST_BARS)
    size = SIZE[0], 0.7 + 0.25 * min(len(values), MOST_BARS + 1)
    drawing = svg(display.plot, "importances", "Importances of the features", size)
    yield card("Importances", figure(drawing, "How much of the answers depends on each feature."))


def metric_of(model: Any, learner: Any) -> Iterator[Html]:
    """Yield the box of a full metric: its rows and columns of the most important features."""
    whole = model if hasattr(model, "steps") else learner
    metric = matrix_of(whole)
    if metric is None:
        return
    values, names = found_in(whole)
    shown = np.sort(np.argsort(-values, kind="stable")[:MOST_OF_METRIC])
    largest = float(np.abs(metric[np.ix_(shown, shown)]).max()) or 1.0

    def cell(value: float) -> Html:
        return element("td", f"{value:.2g}", style=f"--part: {abs(value) / largest:.3f}")

    heads = [element("th", str(names[k]), scope="col") for k in shown]
    rows = [
        element("tr", element("th", str(names[k]), scope="row"), *map(cell, metric[k, shown]))
        for k in shown
    ]
    yield card("Metric", matrix(heads, rows))


def renewals_of(learner: Any) -> Iterator[Html]:
    """Yield the box of a `RenewedLearner`: when it began anew."""
    alarms = getattr(learner, "alarms_", None)
    if alarms is None:
        return
    places = listed([f"{n:,}" for n in alarms.tolist()])
    text = f"A new learner began after sample {places}." if places else "No alarm so far."
    if getattr(learner, "rival_", None) is not None:
        text += " The one before still learns beside it, until it is seen which errs less."
    yield card("Alarms", element("p", text))


def columns_of(model: Any) -> Html:
    """Return a table of the columns and their kinds, or say how many features there are."""
    encoder = encoder_of(model)
    if encoder is not None:
        kinds = [*encoder.kinds_.items()]
        shown = table(["column", "kind"], kinds[:MOST_COLUMNS], numbers=0)
        left = len(kinds) - MOST_COLUMNS
        return Html(shown + element("p", f"... and {left:,} more.")) if left > 0 else shown
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        count = getattr(model, "n_features_in_", None)
        return element("p", "Numbers without names" if count is None else f"{count:,} numbers.")
    return element("p", listed([str(name) for name in names]))


def parameters_of(model: Any) -> Html:
    """Return a table of the parameters of all steps; those that are no defaults are bold."""
    rows, changed = [], []
    for name, step in getattr(model, "steps", [("", model)]):
        defaults = type(step)().get_params(deep=False) if can_be_made(type(step)) else {}
        for parameter, value in step.get_params(deep=False).items():
            shown = " ".join(repr(value).split())
            rows.append([f"{name} {parameter}".strip(), element("code", shown)])
            changed.append(shown != " ".join(repr(defaults.get(parameter)).split()))
    return table(["parameter", "value"], rows, numbers=0, best=changed, sortable=True)


def can_be_made(cls: Any) -> bool:
    """Return whether a class makes an object without arguments."""
    try:
        cls()
    except TypeError:
        return False
    return True
