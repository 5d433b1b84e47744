"""The work of ``onlinekern train``: learning a model file from a stream, in one pass."""

from __future__ import annotations

import math
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone

from onlinekern.cli.arguments import check_unused
from onlinekern.cli.rows import (
    PIECE,
    TARGET,
    check_formats,
    count_features,
    reading_of,
    rows_of_files,
)
from onlinekern.estimators.validation import no_name_warnings
from onlinekern.evaluate.checkpoint import Checkpoint, Period
from onlinekern.evaluate.errors import Errors
from onlinekern.evaluate.methods import METHODS, check_task, given_parameters
from onlinekern.fitted.save import from_bytes, to_bytes
from onlinekern.preprocessing.steps import learner_of
from onlinekern.preprocessing.tables.encoder import TableEncoder, encoder_of
from onlinekern.reports.console import PLAIN, open_console, put_json
from onlinekern.reports.text import text_of
from onlinekern.streams.blocks import in_blocks
from onlinekern.streams.errors import StreamError, name_of
from onlinekern.streams.files import AsMatrix, Blocks, as_tables
from onlinekern.streams.statistics import TargetStatistics

if TYPE_CHECKING:
    from onlinekern.cli.train import Request

# Number of rows of a single class that are kept until another class comes, for methods that need
# two.
MOST_ALONE = 100_000


class Stop:
    """Ctrl-C handler: it acts at once while rows are read, and otherwise between two pieces."""

    def __init__(self) -> None:
        self.wanted = self._reading = False
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _interrupted(self, number: int, frame: Any) -> None:
        if self._reading or self.wanted:
            raise KeyboardInterrupt
        self.wanted = True

    def between(self, blocks: Iterator[Any]) -> Iterator[Any]:
        """Yield the pieces until Ctrl-C."""
        while not self.wanted:
            try:
                self._reading = True
                piece = next(blocks, None)
            except KeyboardInterrupt:
                self.wanted = True
                return
            finally:
                self._reading = False
            if piece is None:
                return
            yield piece


class Training:
    """A model that is being trained on a stream.

    Parameters
    ----------
    request : Request
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        every = Period.of(request.checkpoint_every, "--checkpoint-every")
        self.checkpoint = Checkpoint(request.checkpoint, every, request.binding(), request.resume)
        self.model: Any = None
        self.task = request.task
        self.classes: Any = np.empty(0)
        self.errors = self._new_errors()
        self._alone: list[tuple[Any, Any]] = []
        self.n_before = 0
        try:
            self._resume()
        except BaseException:
            self.close()
            raise

    def _resume(self) -> None:
        """Continue from the checkpoint, if there is one."""
        found, request = self.checkpoint.found, self.request
        if found is not None:
            self.task = str(found.state["task"])
            self.errors = self._new_errors()
            self.errors.restore(dict(found.state["errors"]))
            self.model = from_bytes(found.models["model"], request.checkpoint)
            self.classes = getattr(self.model, "classes_", self.classes)
            self.n_before = self.errors.n_rows
            if request.limit is not None and self.n_before > request.limit:
                raise ValueError(
                    f"--limit {request.limit}: {self.n_before} rows have been learnt already"
                )

    def close(self) -> None:
        """Release the checkpoint, so that another run can use it."""
        self.checkpoint.close()

    def _new_errors(self) -> Errors:
        """Return the error counter of the task, with more figures if a page is written."""
        counted, window = self.task == "classification", self.request.window
        if self.request.report is None:
            return Errors(counted, window)
        from onlinekern.reports.record import Record

        return Record(counted, window)

    def learn(self, X: Any, y: Any) -> None:
        """Predict rows, then learn them."""
        if self.model is None:
            self._begin(X, y)
        if self.task == "regression":
            if y.dtype.kind == "U":
                raise StreamError("the targets of a regression cannot be text")
            self._take(X, y)
        elif self.request.method == "stream":
            # A race takes the classes that come; its memory is planned for those of the first rows.
            first = np.unique(y) if self.errors.n_rows == 0 else ()
            self._take(X, y, **({"classes": first} if len(first) > 1 else {}))
        else:
            self._learn_classes(X, y)

    def _begin(self, X: Any, y: Any) -> None:
        if self.task == "auto":
            targets = TargetStatistics()
            if y.dtype.kind != "U":
                targets.update(y)
            self.task = "classification" if y.dtype.kind == "U" else targets.task()
        self.errors = self._new_errors()
        self.model = new_model(self.request, self.task, X, y)

    def _learn_classes(self, X: Any, y: Any) -> None:
        """Learn rows with the classes so far; methods that need two classes wait for the second."""
        self.classes = np.union1d(self.classes, y) if len(self.classes) else np.unique(y)
        if len(self.classes) > 1:
            for rows in (*self._alone, (X, y)):
                self._take(*rows, classes=self.classes)
            self._alone.clear()
            return
        self._alone.append((X, y))
        if sum(len(labels) for _, labels in self._alone) >= MOST_ALONE:
            raise StreamError(
                f"the first {MOST_ALONE:,} rows are all of the class {self.classes[0]}; --method "
                "stream takes up classes as they come"
            )

    def _take(self, X: Any, y: Any, **known: Any) -> None:
        predicted = self.model.partial_fit_predict(X, y, **known)
        self.errors.add(y, predicted)
        if self.checkpoint.due(len(y)):
            self.keep()

    def keep(self) -> None:
        """Write a checkpoint, if anything has been learnt."""
        if self.errors.n_rows > 0:
            state = {"task": self.task, "errors": self.errors.state()}
            self.checkpoint.write(state, {"model": to_bytes(self.model)})

    def save(self) -> None:
        """Write the model file."""
        if self._alone or self.errors.n_rows == 0:
            what = "no rows" if not self._alone else f"one class only ({self.classes[0]})"
            names = ", ".join(map(name_of, self.request.data))
            raise StreamError(f"the data hold {what}: {names}")
        target = self.request.target
        self.model.save(self.request.output, None if target is None else {TARGET: target})


def new_model(request: Request, task: str, X: Any, y: Any) -> Any:
    """Return the learner of a request, after a table encoder; X and y are the first rows."""
    method = METHODS[request.method]
    check_task(request.method, task, "--method")
    given = given_parameters([method], task, request.given())[method.name]
    known = method.build(task, {}).get_params(deep=False)
    # `compare` standardises all targets in advance; here the learner must do it.
    defaults = {
        name: value
        for name, value in {"random_state": request.seed, "standardize_target": True}.items()
        if name in known
    }
    parameters = {**defaults, **given}
    if task == "regression":
        check_unused(request, "is for classes, and the targets are numbers", "by_class")
    more: dict[str, Any] = {"coverage": request.coverage, "by_class": request.by_class}
    if request.target is None:
        return method.recipe(task, parameters, request.scale, **more)
    encoder = new_encoder(request, method.build(task, parameters), y)
    # The encoder scales the numbers beside slots. Slots are not scaled: divided by their
    # deviations, rare ones would be noise.
    scale = "none" if has_slots(encoder, X) else request.scale
    return method.recipe(task, parameters, scale, encoder, **more)


def new_encoder(request: Request, learner: Any, y: Any) -> TableEncoder:
    """Return the encoder of a request, for a learner whose first targets are y."""
    categories = request.categories
    if categories == "auto" and not learner._takes_wide:
        categories = "one-hot"
    slots = request.slots if "slots" in request.named else learner._slots(y)
    return TableEncoder(
        kinds=request.kinds() or None, missing=request.missing, categories=categories,
        slots=slots, when=tuple(request.when) or None,
    )  # fmt: skip


def has_slots(encoder: TableEncoder, X: Any) -> bool:
    """Return whether an encoder fitted to this table shares slots among categories."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(encoder).fit(X).n_slots_ > 0


def blocks_of(request: Request, model: Any, faults: list[str] | None) -> Blocks:
    """Open the data to be read once; after a checkpoint, tables are read as its model requires."""
    encoder = encoder_of(model)
    kinds = request.kinds() if encoder is None else encoder.kinds_
    numeric = request.task == "regression"
    reading = replace(reading_of(request, kinds.items(), faults), numeric_targets=numeric)
    check_formats(request, request.data, reading)
    if request.target is not None:
        return Blocks(request.data, request.target, as_tables, reading=reading)
    n_features = request.n_features
    if n_features is None:
        n_features = count_features(request.data, request.zero_based, reading)
    form = AsMatrix(n_features, request.zero_based)
    return Blocks(request.data, request.target, form, reading=reading)


def train(request: Request) -> None:
    """Read, learn, save, and print a summary.

    Parameters
    ----------
    request : Request
        Its options have been checked.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, when the model and a checkpoint have been written.
    """
    with closing(Training(request)) as run:
        learn(run)


def learn(run: Training) -> None:
    """Do the work of `train` with a model that is new or comes from a checkpoint."""
    request = run.request
    # If figures go to standard output, messages go to standard error.
    console, errors = open_console(stderr=request.json == "-"), open_console(stderr=True)
    began = time.perf_counter()
    faults: list[str] | None = [] if request.on_error == "skip" else None
    blocks = blocks_of(request, run.model, faults)
    rows = in_blocks(blocks, PIECE, skip=run.n_before, limit=request.limit, join=True)
    named = rows_of_files(blocks, lambda: run.errors.n_rows)
    with no_name_warnings(), Stop() as stop, shown(errors) as show, named:
        for X, y in stop.between(rows):
            run.learn(X, y)
            show(run, time.perf_counter() - began)
        if stop.wanted:
            run.keep()
    seconds = time.perf_counter() - began
    if faults:  # Printed first, because these errors may explain why there is nothing to save.
        more = "" if len(faults) == 1 else f", and {len(faults) - 1:,} more"
        errors.print(f"onlinekern: left out: {faults[0]}{more}", **PLAIN)
    if not stop.wanted or run.errors.n_rows > 0:
        run.save()
    if request.json and run.errors.n_rows > 0:
        figures = {**summary(run, seconds), "lines_left_out": len(faults or ())}
        put_json(figures, request.json)
    if request.report:
        from onlinekern.reports.training import write_training

        write_training(run, seconds, stop.wanted, faults or [])
    for line in lines_of(run, seconds, stop.wanted):
        console.print(line, **PLAIN)
    if stop.wanted:
        raise KeyboardInterrupt
    run.checkpoint.remove()


def summary(run: Training, seconds: float) -> dict[str, Any]:
    """Return the figures of a run, for `--json`."""
    return {
        "model": run.request.output,
        "method": run.request.method,
        "task": run.task,
        "n_samples": run.errors.n_rows,
        "n_features": int(run.model.n_features_in_),
        "error": run.errors.error,
        "window": run.request.window,
        "window_error": run.errors.window_error,
        "coverage": covered(run),
        "class_coverage": of_classes(run),
        "seconds": seconds,
    }


def lines_of(run: Training, seconds: float, stopped: bool) -> Iterator[str]:
    """Yield the lines printed at the end."""
    request, learnt = run.request, run.errors.n_rows - run.n_before
    if stopped:
        yield f"stopped after {run.errors.n_rows:,} samples; --resume goes on from there"
    if run.errors.n_rows == 0:
        return
    label = METHODS[request.method].label
    classes = getattr(run.model, "classes_", None)
    # A race that has seen a single class has no `classes_` yet.
    n_classes = 1 if classes is None else len(classes)
    kind = "" if run.task != "classification" else f", {counted(n_classes, 'class', 'classes')}"
    yield (
        f"{request.output}: {label}, {counted(run.errors.n_rows, 'sample')}, "
        f"{counted(run.model.n_features_in_, 'feature')}{kind}"
    )
    if n_classes == 1 and run.task == "classification":
        yield "all samples are of one class: the model knows no other to predict"
    yield f"{run.errors} (each sample predicted before it was learnt)"
    if (share := covered(run)) is not None:
        what = "intervals" if classes is None else "sets of labels"
        yield f"{what} held {share:.2%}, asked {request.coverage:.2%} (each told before)"
    if shares := of_classes(run):
        known = {label: share for label, share in shares.items() if share is not None}
        least = min(known, key=lambda label: known[label], default=None)
        if least is not None:
            yield f"of one class {known[least]:.2%} at least, that of {least}"
        if len(known) < len(shares):
            yield f"{len(shares) - len(known)} of {len(shares)} classes are in all sets: too rare"
    yield f"{learnt / max(seconds, 1e-9):,.0f} samples per second, reading included"


def counted(number: int, one: str, more: str | None = None) -> str:
    """Return a number with the noun that it counts: '1 sample', '2,000 samples'."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def covered(run: Training) -> float | None:
    """Return the share of targets inside intervals or sets; None without these, or if unknown."""
    share = getattr(learner_of(run.model), "coverage_", math.nan)
    return None if math.isnan(share) else share


def of_classes(run: Training) -> dict[str, float | None] | None:
    """Return each class's coverage by sets (None if all sets hold it), or None if not followed."""
    learner = learner_of(run.model)
    shares = getattr(learner, "class_coverage_", None)
    if shares is None or not hasattr(learner, "classes_"):  # while only one label has come
        return None
    pairs = zip(learner.classes_, shares.tolist(), strict=True)
    return {text_of(label): None if math.isnan(share) else share for label, share in pairs}


@contextmanager
def shown(console: Any) -> Iterator[Any]:
    """Yield a function (run, seconds) that updates a line on a terminal."""
    if not console.is_terminal:
        yield lambda run, seconds: None
        return
    with console.status("reading") as status:

        def show(run: Training, seconds: float) -> None:
            rate = (run.errors.n_rows - run.n_before) / max(seconds, 1e-9)
            status.update(f"{run.errors.n_rows:,} samples, {rate:,.0f} per second; {run.errors}")

        yield show
