"""What ``onlinekern compare`` does, apart from the command line itself."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from onlinekern._config import version
from onlinekern.cli.arguments import parse_value
from onlinekern.estimators.validation import one_of
from onlinekern.evaluate.checkpoint import Interval
from onlinekern.evaluate.comparing import compare
from onlinekern.evaluate.methods import KERNELS, METHODS
from onlinekern.evaluate.results import Comparison
from onlinekern.evaluate.test_then_train import WINDOW
from onlinekern.plotting import SUFFIXES, plot_comparisons
from onlinekern.preprocessing.tables.encoder import TableEncoder
from onlinekern.reports.console import bar_on
from onlinekern.reports.page import check_report
from onlinekern.reports.tables import print_table, write_csv, write_json
from onlinekern.streams.files import open_source
from onlinekern.streams.generators.synthetic import gaussian_mixture
from onlinekern.streams.paths import check_readable, check_writable, writing
from onlinekern.streams.source import Source

__all__ = ["KERNELS", "METHODS", "WINDOW", "Request", "parse_gamma", "parse_settings", "run"]

TASKS = ("auto", "classification", "regression")
SCALES = ("none", "minmax", "standard")
DTYPES = ("float32", "float64")
# Integer targets with more values than this may as well be quantities: say how they were read.
MANY_CLASSES = 20


@dataclass(frozen=True)
class Request:
    """The options of ``onlinekern compare``, as given (see its help)."""

    data: str | None
    test: str | None
    target: str | None
    methods: str
    kernel: str
    gamma: str | None
    settings: list[str]
    repeats: int
    scale: str
    seed: int
    dtype: str
    limit: int | None
    task: str
    shuffle: bool
    window: int
    n_features: int | None
    zero_based: bool
    plot: str | None
    json: str | None
    csv: str | None
    report: str | None
    checkpoint: str | None
    checkpoint_every: str
    resume: bool

    def check(self) -> None:
        """Raise ValueError or OSError for whatever can be seen to be wrong without the data."""
        for name, known in (("task", TASKS), ("scale", SCALES), ("dtype", DTYPES)):
            one_of(f"--{name}", getattr(self, name), known)
        one_of("--kernel", self.kernel, KERNELS)
        for name in self.methods.split(","):
            one_of("--methods", name.strip(), (*METHODS, "all", "usual"))
        least_values = {"repeats": 1, "seed": 0, "limit": 2, "n_features": 1, "window": 1}
        for name, least in least_values.items():
            value = getattr(self, name)
            if value is not None and value < least:
                option = name.replace("_", "-")
                raise ValueError(f"--{option} must be at least {least}, got {value}")
        if self.data is None and (self.test or self.target):
            raise ValueError("--test and --target need DATA")
        if self.data == self.test == "-":
            raise ValueError("DATA and --test cannot both be standard input")
        for path in (self.data, self.test):
            if path not in (None, "-"):
                check_readable(path)
        if self.plot and Path(self.plot).suffix.lower() not in SUFFIXES:
            raise ValueError(f"--plot {self.plot}: the name must end in {', '.join(SUFFIXES)}")
        if self.plot:
            import_module("matplotlib")  # the plot comes last: know now whether it can be drawn
        check_report(self.report)
        for path in (self.plot, self.json, self.csv, self.report):
            if path is not None:
                check_writable(path)
        self._check_checkpoint()

    def _check_checkpoint(self) -> None:
        Interval.of(self.checkpoint_every, "--checkpoint-every")
        if self.resume and self.checkpoint is None:
            raise ValueError("--resume needs --checkpoint PATH")
        if self.checkpoint is None:
            return
        if self.data is None:
            raise ValueError("--checkpoint needs DATA")
        if Path(self.checkpoint).is_dir():
            raise IsADirectoryError(21, "Is a directory", self.checkpoint)
        if not self.resume and Path(self.checkpoint).exists():
            raise ValueError(
                f"--checkpoint {self.checkpoint}: there is such a file; --resume goes on from it, "
                "or delete it to begin anew"
            )


def parse_gamma(text: str) -> Any:
    """Return a positive float, "median", "scale" or "auto"; None (choose it) stays None."""
    if text in (None, "median", "scale", "auto"):
        return text
    try:
        gamma = float(text)
    except ValueError:
        gamma = math.nan
    if not 0 < gamma < math.inf:
        raise ValueError(f"--gamma must be a positive number, median, scale or auto, got {text!r}")
    return gamma


def parse_settings(texts: list[str]) -> Any:
    """Turn ["spa.eta=0.1", ...] into {"spa.eta": 0.1, ...}."""
    settings = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key, value = key.strip(), value.strip()
        if not equals or not key or not value:
            raise ValueError(f"--set {text!r}: expected METHOD.PARAMETER=VALUE")
        if key.rpartition(".")[2] in ("random_state", "kernel"):
            raise ValueError(f"--set {text!r}: use --seed and --kernel")
        settings[key] = parse_value(value)
    return settings


def run(request: Any, console: Any, errors: Any) -> None:
    """Carry out a request: read, compare, print and write.

    Parameters
    ----------
    request : Request
    console, errors : rich.console.Console
        Where the tables go, and where progress and hints go.
    """

    request.check()
    gamma, settings = parse_gamma(request.gamma), parse_settings(request.settings)
    comparisons: list[Comparison] = []
    began = time.perf_counter()
    with ExitStack() as stack:
        for source, test in _sources(request, stack, errors):
            for hint in _hints(request, source, test):
                errors.print(f"onlinekern: hint: {hint}", markup=False, highlight=False,
                             soft_wrap=True)  # fmt: skip
            with bar_on(errors) as progress:
                comparison = compare(
                    request.methods, source, request.repeats, test=test, shuffle=request.shuffle,
                    kernel=request.kernel, gamma=gamma, settings=settings, seed=request.seed,
                    window=request.window, progress=progress, checkpoint=request.checkpoint,
                    checkpoint_every=request.checkpoint_every, resume=request.resume,
                )  # fmt: skip
            if comparisons:
                console.print()
            with writing("standard output"):
                print_table(console, comparison)
                sys.stdout.flush()
            comparisons.append(comparison)
    if request.json:
        with writing(request.json):
            write_json(comparisons, request.json, version())
    if request.csv:
        with writing(request.csv):
            write_csv(comparisons, request.csv)
    if request.plot:
        with writing(request.plot):
            plot_comparisons(comparisons, request.plot)
    if request.report:
        from onlinekern.reports.comparing import write_comparisons

        write_comparisons(comparisons, request, time.perf_counter() - began)


def _sources(request: Any, stack: Any, errors: Any) -> Iterator[Any]:
    """Yield (training source, test source or None) for the data asked for."""
    options = {"dtype": request.dtype, "scale": request.scale, "task": request.task}
    if request.data is None:
        for name, (X, y) in _default_data().items():
            X, y = X[: request.limit], y[: request.limit]
            yield stack.enter_context(Source.from_arrays(X, y, name=name, **options)), None
        return
    options |= {"zero_based": request.zero_based or "auto", "limit": request.limit}
    options |= {"n_features": request.n_features}
    test, encoder = None, TableEncoder()
    with bar_on(errors) as progress:
        progress(0, None, f"reading {request.data}")
        opened = open_source(request.data, request.target, encoder=encoder, **options)
        source = stack.enter_context(opened)
        if request.test:
            progress(0, None, f"reading {request.test}")
            opened = open_source(request.test, request.target, like=source, encoder=encoder)
            test = stack.enter_context(opened)
    yield source, test


def _default_data() -> Any:
    from sklearn.datasets import load_digits

    return {
        "digits": load_digits(return_X_y=True),
        "two gaussians": gaussian_mixture(20_000, random_state=0),
    }


def _hints(request: Any, source: Source, test: Source | None) -> Iterator[Any]:
    if source.hint:
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
