"""The work of ``onlinekern compare``: reading, comparing, printing and writing."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinekern._config import version
from onlinekern.cli.rows import check_formats, reading_of
from onlinekern.estimators.progress import bar_on_terminal
from onlinekern.evaluate.comparing import compare
from onlinekern.evaluate.results import Comparison
from onlinekern.preprocessing.tables.encoder import TableEncoder
from onlinekern.reports.console import PLAIN, open_console
from onlinekern.reports.tables import print_table, write_csv, write_json
from onlinekern.streams.files import open_source
from onlinekern.streams.paths import writing
from onlinekern.streams.source import Source

if TYPE_CHECKING:
    from onlinekern.cli.compare import Request

# Integer targets with more values than this may be numbers, so print how they were read.
MANY_CLASSES = 20


def run(request: Request) -> None:
    """Read, compare, print and write.

    Parameters
    ----------
    request : Request
        Its options have been checked.
    """
    # If figures go to standard output, the table goes to standard error.
    console, errors = open_console(stderr=request.json == "-"), open_console(stderr=True)
    comparisons: list[Comparison] = []
    began = time.perf_counter()
    with ExitStack() as stack:
        for source, test in _sources(request, stack):
            for hint in _hints(request, source, test):
                errors.print(f"onlinekern: hint: {hint}", **PLAIN)
            with bar_on_terminal() as progress:
                comparison = compare(
                    request.methods, source, request.repeats, test=test,
                    shuffle=not request.in_order, kernel=request.kernel, gamma=request.width(),
                    scale="running" if request.scaling() == "running" else "none",
                    settings=request.set_parameters(), seed=request.seed, window=request.window,
                    delay=request.delay,
                    progress=progress, checkpoint=request.checkpoint,
                    checkpoint_every=request.checkpoint_every, resume=request.resume,
                )  # fmt: skip
            if comparisons:
                console.print()
            with writing("standard output"):
                print_table(console, comparison)
                sys.stdout.flush()
            comparisons.append(comparison)
    _write(comparisons, request, time.perf_counter() - began)


def _write(comparisons: list[Comparison], request: Request, seconds: float) -> None:
    """Write the files named in a request."""
    if request.json:
        with writing(request.json):
            write_json(comparisons, request.json, version())
    if request.csv:
        with writing(request.csv):
            write_csv(comparisons, request.csv)
    if request.plot:
        from onlinekern.plotting import plot_comparisons

        with writing(request.plot):
            plot_comparisons(comparisons, request.plot)
    if request.report:
        from onlinekern.reports.comparing import write_comparisons

        write_comparisons(comparisons, request, seconds)


def _sources(request: Request, stack: ExitStack) -> Iterator[Any]:
    """Yield (training source, test source or None) for the requested data."""
    scale = request.scaling()
    options: Any = {"dtype": request.dtype, "task": request.task}
    options["scale"] = "none" if scale == "running" else scale
    if request.data is None:
        for name, (X, y) in _default_data().items():
            X, y = X[: request.limit], y[: request.limit]
            yield stack.enter_context(Source.from_arrays(X, y, name=name, **options)), None
        return
    reading = reading_of(request)
    files = [one for one in (request.data, request.test) if one is not None]
    check_formats(request, files, reading)
    options |= {"zero_based": request.zero_based or "auto", "limit": request.limit}
    options |= {"n_features": request.n_features}
    test, encoder = None, TableEncoder(when=tuple(request.when) or None)
    with bar_on_terminal() as progress:
        progress(0, None, f"reading {request.data}")
        told: Any = {"encoder": encoder, "reading": reading}
        opened = open_source(request.data, request.target, **told, **options)
        source = stack.enter_context(opened)
        if request.test:
            progress(0, None, f"reading {request.test}")
            opened = open_source(request.test, request.target, like=source, **told)
            test = stack.enter_context(opened)
    yield source, test


def _default_data() -> dict[str, Any]:
    from sklearn.datasets import load_digits

    from onlinekern.streams.generators.synthetic import gaussian_mixture

    return {
        "digits": load_digits(return_X_y=True),
        "two gaussians": gaussian_mixture(20_000, random_state=0),
    }


def _hints(request: Request, source: Source, test: Source | None) -> Iterator[Any]:
    if source.hint and request.scaling() == "none":
        yield source.hint
    if source.classes is None:
        return
    guessed = request.task == "auto" and not source.text_labels
    if guessed and len(source.classes) > MANY_CLASSES:
        yield (
            f"the {len(source.classes)} integer targets are read as classes: "
            "--task regression if they are quantities"
        )
    if test is not None:
        unknown = np.setdiff1d(list(test.class_counts), source.classes)
        if len(unknown):
            yield f"{test.name} has {len(unknown)} classes that {source.name} lacks"
