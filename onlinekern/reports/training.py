"""The page of ``onlinekern train``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from os.path import basename
from pathlib import Path
from typing import Any

from onlinekern.evaluate.errors import OTHERS, Confusion
from onlinekern.evaluate.methods import METHODS
from onlinekern.plotting.race import RaceDisplay
from onlinekern.plotting.style import COLOURS, dress, name_error
from onlinekern.preprocessing.steps import inner, learner_of
from onlinekern.reports.drawing import svg
from onlinekern.reports.machine import in_bytes, peak_memory
from onlinekern.reports.page import (
    Html,
    card,
    cards,
    element,
    figure,
    matrix,
    page,
    pairs,
    table,
    tiles,
    write_page,
)
from onlinekern.reports.run import about, duration, head
from onlinekern.reports.text import listed, text_of

SIZE = (5.0, 3.1)
# A matrix of more classes is as wide as the page; a label of more letters is broken into lines.
MOST_BESIDE = 8
MOST_LETTERS = 14


def write_training(run: Any, seconds: float, stopped: bool, left_out: list[str]) -> None:
    """Write the page of a run that has learnt something.

    Parameters
    ----------
    run : onlinekern.cli.train.Training
    seconds : float
        Time that it took.
    stopped : bool
        Whether it was stopped by Ctrl-C.
    left_out : list of str
        Faulty lines.
    """
    if run.errors.n_rows == 0:
        return
    request, learner = run.request, inner(learner_of(run.model))
    facts = list(figures(run, seconds))  # the memory before pictures are drawn
    boxes = [card("Errors along the stream", curve(run))]
    report = race_of(learner)
    raced = report is not None and len(report.samples) > 0
    if raced:
        boxes.append(card("The race: who led when", weights(report)))
    others = [card("Model", pairs(model_lines(run)))]
    classes = run.errors.confusion
    if classes.counts:
        place = 0 if len(classes.labels) <= MOST_BESIDE else 1
        others.insert(place, card("Classes", matrix_of(classes)))
    parts = [
        head(f"onlinekern train: {basename(request.output)}", line_about(run)),
        *notes(run, stopped, left_out),
        tiles(facts),
        cards(*boxes),
        *([cards(*others)] if len(classes.labels) <= MOST_BESIDE else others),
        *([card("Experts of the race", experts(report))] if raced else []),
        about("train", asdict(request)),
    ]
    write_page(request.report, page(basename(request.output), *parts))


def line_about(run: Any) -> str:
    """Return a line that says what learnt what."""
    classes = getattr(run.model, "classes_", None)
    kind = "regression" if classes is None else f"{len(classes):,} classes"
    names = ", ".join("standard input" if path == "-" else path for path in run.request.data)
    return f"{METHODS[run.request.method].label} on {names}: {kind}"


def notes(run: Any, stopped: bool, left_out: list[str]) -> Iterator[Html]:
    """Yield what a reader must know of this run."""
    if stopped:
        text = (
            f"Stopped by Ctrl-C after {run.errors.n_rows:,} samples; --resume goes on from there."
        )
        yield element("p", text, class_="warn")
    if run.errors.first:
        text = (
            f"The curve and the classes begin after {run.errors.first:,} samples, at the checkpoint"
            " of a run without --report."
        )
        yield element("p", text, class_="warn")
    if left_out:
        more = "" if len(left_out) == 1 else f", and {len(left_out) - 1:,} more"
        yield element("p", f"Left out: {left_out[0]}{more}.", class_="warn")


def figures(run: Any, seconds: float) -> Iterator[tuple[str, str]]:
    """Yield the figures in large letters."""
    score = run.errors
    what = "mistakes" if score.counted else "RMSE"
    last = min(run.request.window, score.n_rows)
    yield f"{what}, all samples", in_units(score.error, score.counted)
    yield f"{what}, last {last:,}", in_units(score.window_error, score.counted)
    yield "samples", f"{score.n_rows:,}"
    yield "features", f"{run.model.n_features_in_:,}"
    learnt = score.n_rows - run.n_before
    yield "samples per second", f"{learnt / max(seconds, 1e-9):,.0f}"
    yield "time of this run", duration(seconds)
    memory = peak_memory()
    if memory is not None:
        yield "most memory", in_bytes(memory)
    yield "model file", in_bytes(Path(run.request.output).stat().st_size)


def in_units(error: float, counted: bool) -> str:
    """Return a share of mistakes in %, or a root mean squared error."""
    return f"{error:.2%}" if counted else f"{error:.4g}"


def curve(run: Any) -> Html:
    """Draw the errors of all samples and of the last ones."""
    score = run.errors
    points = score.curve.columns(score)
    unit = 100 if score.counted else 1
    rows, total, last = (points[name] for name in ("samples", "error", "window_error"))

    def draw(axes: Any) -> None:
        label = f"last {run.request.window:,}"
        axes.plot(rows, unit * last, color=COLOURS[0], label=label, linewidth=1.6)
        axes.plot(rows, unit * total, color=COLOURS[1], label="all so far", linestyle="--")
        axes.set(xlim=(0, rows[-1]), ylim=(0, None))
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        name_error(axes, score.counted)
        dress(axes)

    what = "Mistakes" if score.counted else "Root mean squared error"
    drawing = svg(draw, "curve", f"{what} against the samples seen", SIZE)
    return figure(drawing, f"{what}; each sample was predicted before it was learnt.")


def race_of(learner: Any) -> Any:
    """Return the report of a race, or None: of other learners, and where it has none any more."""
    try:
        return learner.report() if hasattr(learner, "report") else None
    except ValueError:
        return None


def weights(report: Any) -> Html:
    """Draw the shares of the experts in the vote."""

    def draw(axes: Any) -> None:
        display = RaceDisplay(report).plot(axes)
        axes.set_title("")
        display.legend_.remove()
        axes.figure.legend(
            handles=display.areas_[::-1], loc="outside lower center", ncols=2, fontsize=6.5,
            handlelength=1.2, columnspacing=1.0,
        )  # fmt: skip

    leader = report.leader
    caption = f"{leader.name} leads now, with {leader.weight:.1%} of the vote."
    names = "Shares of the experts in the vote against the samples"
    return figure(svg(draw, "race", names, (SIZE[0], 3.9)), caption)


def experts(report: Any) -> Html:
    """Return a table of the experts of a race, the heaviest first."""
    counted = report.task == "classification"
    lately = "mistakes lately" if counted else "RMSE lately"
    heads = ["expert", "now", "weight", "led", "learnt", lately, "µs/sample"]
    ranked = sorted(report.experts, key=lambda one: -one.weight)
    rows = [
        [one.name, "awake" if one.awake else "asleep", f"{one.weight:.1%}", f"{one.led:.1%}",
         f"{one.learnt:.1%}", in_units(one.loss, counted), f"{one.cost:.1f}"]
        for one in ranked
    ]  # fmt: skip
    best = [one is report.leader for one in ranked]
    led = element(
        "p",
        "; ".join(f"samples {first:,} to {last:,}: {name}" for first, last, name in report.leaders),
        class_="soft",
    )
    return Html(table(heads, rows, numbers=5, best=best, sortable=True) + led)


def matrix_of(confusion: Confusion) -> Html:
    """How often which class was taken for which; shades are shares of the row."""
    labels = ordered(confusion.labels)
    if any(OTHERS in pair for pair in confusion.counts):
        labels.append(OTHERS)
    heads = [named(label, "col") for label in labels]
    rows = []
    for truth in labels:
        row = [confusion.counts[truth, guess] for guess in labels]
        cells = [
            element(
                "td", f"{count:,}", style=f"--part: {count / max(1, sum(row)):.3f}",
                class_=" ".join(["right"] * (guess == truth) + ["none"] * (count == 0)),
            )
            for guess, count in zip(labels, row, strict=True)
        ]  # fmt: skip
        rows.append(element("tr", named(truth, "row"), *cells))
    caption = element("caption", "Rows: what it was. Columns: what was said beforehand.")
    return Html(matrix(heads, rows, caption) + commonest(confusion))


def commonest(confusion: Confusion) -> Html:
    """How good the answers of one class alone would be, if it is known which one."""
    times: Counter[str] = Counter()
    for (truth, _), count in confusion.counts.items():
        times[truth] += count
    ((label, most),) = times.most_common(1)
    if label == OTHERS:
        return Html("")
    least = 1 - most / times.total()
    return element(
        "p", f"Always saying {label}, the commonest class: {least:.2%} mistakes.", class_="soft"
    )


def named(label: str, scope: str) -> Html:
    """Return the head of a row or a column of the matrix."""
    kind = {"class_": "long"} if len(label) > MOST_LETTERS else {}
    return element("th", label, scope=scope, **kind)


def ordered(labels: list[str]) -> list[str]:
    """Sort labels as numbers if all of them are, and else as text."""
    try:
        return sorted(labels, key=float)
    except ValueError:
        return sorted(labels)


def model_lines(run: Any) -> Iterator[tuple[str, Any]]:
    """Yield what the model is."""
    model, learner = run.model, learner_of(run.model)
    yield "file", run.request.output
    yield "estimator", element("code", " ".join(str(model).split()))
    names = getattr(model, "feature_names_in_", None)
    yield "features", f"{model.n_features_in_:,}" if names is None else listed(names)
    if hasattr(learner, "classes_"):
        yield "classes", listed([text_of(label) for label in learner.classes_])
    if hasattr(learner, "n_support_"):
        yield "support vectors", f"{learner.n_support_:,}"
