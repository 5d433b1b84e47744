"""Evaluation: test-then-train runs, repeated over random permutations and compared.

``prequential`` runs one estimator over one stream. ``compare`` runs a set of methods over several
permutations of one source: each permutation is streamed once and fed to all methods block by block.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from onlinekern._config import version
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.kernel_width import has_width
from onlinekern.estimators.memory import Form, check_size
from onlinekern.estimators.types import BatchLearner, StreamLearner
from onlinekern.estimators.warnings import SCALES_DIFFER
from onlinekern.evaluate.baselines import BASELINES
from onlinekern.evaluate.checkpoint import Checkpoint, Period
from onlinekern.evaluate.delayed import check_number
from onlinekern.evaluate.errors import Errors
from onlinekern.evaluate.methods import KERNELS, given_parameters, select_methods
from onlinekern.evaluate.results import Comparison, MethodResult
from onlinekern.evaluate.resuming import KeptProgress, digest_of
from onlinekern.evaluate.search import HEAD_SAMPLES, Problem, choose_parameters, count_samples
from onlinekern.evaluate.test_then_train import WINDOW, Run
from onlinekern.streams.blocks import in_blocks
from onlinekern.streams.errors import check_count

if TYPE_CHECKING:
    from onlinekern.streams.source import Source


def compare(
    methods: str | Iterable[str] | Mapping[str, StreamLearner | BatchLearner],
    source: Source,
    repeats: int = 5,
    *,
    test: Source | None = None,
    shuffle: bool = True,
    kernel: str = "gaussian",
    gamma: float | str | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    window: int = WINDOW,
    scale: str = "none",
    delay: int | None = None,
    progress: Callable[[int, int | None, str], None] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: int | str = "60s",
    resume: bool = False,
) -> Comparison:
    """Run methods test-then-train over random permutations of a source.

    Parameters
    ----------
    methods : str, iterable of str, or mapping
        Names in ``METHODS`` ("all" for every one that suits the task), or a mapping from labels to
        estimators, which are cloned for every run and keep their parameters. The baselines
        "no-change" and "majority" are added.
    source : onlinekern.streams.Source
    repeats : int
        Number of permutations, the same for all methods.
    test : onlinekern.streams.Source, optional
        Test stream, on which the finished models are scored.
    shuffle : bool
        False: the order of the file, once.
    kernel : str
    gamma : float, "median", "scale", "auto" or None
        None: chosen on the first 5,000 samples of a separate permutation, as is every other
        parameter with a grid in ``METHODS`` that is not in ``settings``. Learners with features
        choose among the common gamma, a quarter and a sixteenth of it. Three or more settings are
        chosen by successive halving: all learn the first part, and the better half goes on. Twelve
        settings cost about as much as two or three would without it.
    settings : mapping, optional
        ``"method.parameter"`` or ``"parameter"`` -> value.
    seed : int
        Seed of the permutations, the search and the methods' own randomness.
    window : int
        Number of the last samples in windowed figures.
    scale : {"none", "running"}
        "running" puts an `OnlineStandardScaler` before each named method that does not scale by
        itself, as `onlinekern train` does. Estimators that you pass are not scaled.
    delay : int or None
        How many samples are predicted before a sample's label comes, as in `prequential`.
        Parameters are chosen without a delay.
    progress : callable, optional
        Called as ``progress(done, total, text)`` with a number of samples.
    checkpoint : str or path, optional
        File in which the run saves its state: trials of the search, results, and models in
        mid-stream. The previous one stays as ``PATH.previous``. The file is not removed at the end.
    checkpoint_every : int or str
        Samples between two checkpoints, or seconds, such as "30s" (then at the end of a block of at
        most 8,192 rows). A run that is killed loses at most that.
    resume : bool
        Go on from the checkpoint, if there is one. The results, but for the times, are those of a
        run that was never stopped, to the bit. A method whose estimator cannot be saved (one of
        another library) begins its present permutation again; its finished ones are kept.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If an argument is invalid, or the checkpoint is damaged or belongs to another run: other
        data, methods or options.
    OSError
        If the checkpoint cannot be written, or is there and `resume` is False.
    MemoryError
        If the models have no room.
    """
    _check_sources(source=source, test=test)
    late = check_number(delay)
    setting = Setting(repeats, shuffle, kernel, gamma, settings or {}, seed, window, scale, late)
    kept = None
    if checkpoint is not None:
        interval = Period.of(checkpoint_every)
        options = _options_of(methods, source, test, setting)
        kept = Checkpoint(checkpoint, interval, options, resume)
    elif resume:
        raise ValueError("resume=True needs a checkpoint to go on from, got checkpoint=None")
    with KeptProgress(kept) as keeper:
        tally = SampleCounter(progress)
        prepared, n_head = prepare_methods(methods, source, setting, tally, keeper)
        baselines = prepare_baselines({one.result.name for one in prepared}, source.task)
        tally.total += setting.n_orders * source.n_samples * len(baselines)
        prepared += baselines
        results = [one.result for one in prepared]
        keeper.restore_results(results)
        for repeat in range(setting.n_orders):
            if any(len(result.runs) <= repeat for result in results):
                runs = [new_run(one, source, setting, repeat) for one in prepared]
                keeper.restore_runs(runs, repeat)
                _run_permutation(repeat, source, test, setting, tally, keeper)
        keeper.save()
    return comparison_of(source, setting, n_head, results)


def _check_sources(**sources: Any) -> None:
    for name, one in sources.items():
        if one is not None and not hasattr(one, "layout"):
            raise TypeError(
                f"{name} must be a Source, got {type(one).__name__}: Source.from_arrays(X, y), or "
                "open_source(path), of onlinekern.streams makes one"
            )


def comparison_of(
    source: Source, setting: Setting, n_head: int, results: list[MethodResult]
) -> Comparison:
    counts = source.class_counts
    return Comparison(
        source.name, source.task, source.n_samples, source.n_features,
        len(counts) or None, setting.kernel, setting.n_orders, setting.seed, setting.shuffle,
        setting.window, n_head,
        max(counts.values()) / source.n_samples if counts else None,
        source.target_deviation, results, setting.delay or 0,
    )  # fmt: skip


class Prepared(NamedTuple):
    """A method before its runs: what makes its estimator of a seed, and its results to come."""

    build: Callable[[int], Any]
    result: MethodResult


def new_run(one: Prepared, source: Source, setting: Setting, repeat: int) -> Run:
    """Return a method at the beginning of a permutation."""
    unit, shown = source.layout.target_deviation, setting.window
    estimator = one.build(setting.seed + repeat)
    told: Any = {"delay": setting.delay, "names": source.feature_names}
    return Run(estimator, source.classes, unit, window=shown, **told)


def _run_permutation(
    repeat: int,
    source: Source,
    test: Source | None,
    setting: Setting,
    tally: SampleCounter,
    keeper: KeptProgress,
) -> None:
    """Feed one permutation to the runs that are not finished with it, and add their results."""
    text = f"permutation {repeat + 1} of {setting.n_orders}" if setting.shuffle else "file order"
    unfinished, position = keeper.unfinished(), 0
    with warnings.catch_warnings():
        if repeat > 0:
            # The learners said so in the first permutation.
            warnings.filterwarnings("ignore", SCALES_DIFFER)
        for X, y in in_blocks(source.blocks(setting.order(1 + repeat)), keeper.interval):
            fed = [run.feed_from(position, X, y) for run, _ in unfinished]
            position += len(y)
            tally.add(len(y) * len(fed), text)
            if any(fed):
                keeper.count(len(y))
        for run, result in unfinished:
            outcome = run.result()
            result.add(outcome, [] if test is None else [score_on(run.estimator, test)])
            keeper.count(0 if test is None else test.n_samples)


@dataclass(frozen=True)
class Setting:
    """The options of `compare`, checked."""

    repeats: int
    shuffle: bool
    kernel: str
    gamma: Any
    settings: Mapping[str, Any]
    seed: int
    window: int
    scale: str = "none"
    delay: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("repeats", 1), ("seed", 0), ("window", 1)):
            check_count(name, getattr(self, name), least=least)
        if self.kernel not in KERNELS:
            raise ValueError(f"unknown kernel {self.kernel!r}; known are {', '.join(KERNELS)}")
        is_width = isinstance(self.gamma, Real) and 0 < float(self.gamma) < np.inf
        if not is_width and self.gamma not in (None, "median", "scale", "auto"):
            raise ValueError(
                "gamma must be a positive number, 'median', 'scale', 'auto' or None, got "
                f"{self.gamma!r}"
            )
        if self.scale not in ("none", "running"):
            raise ValueError(f"scale must be 'none' or 'running', got {self.scale!r}")

    @property
    def n_orders(self) -> int:
        """How many orders of the samples are run: the file has one."""
        return self.repeats if self.shuffle else 1

    def order(self, number: int) -> list[int] | None:
        """Return the seed of an order of the samples, 0 of the search's; None of the file's own."""
        return [self.seed, number] if self.shuffle else None


class SampleCounter:
    """Counts the samples that were processed, and reports them to `progress`."""

    def __init__(self, progress: Callable[[int, int | None, str], None] | None) -> None:
        self.progress, self.done, self.total = progress, 0, 0

    def add(self, amount: int, text: str) -> None:
        self.done += amount
        if self.progress is not None:
            self.progress(self.done, self.total, text)


def _check_features(estimators: Iterable[Any], source: Source) -> None:
    """Raise MemoryError if the models, which all run at a time, have no room together."""
    n_outputs = len(source.class_counts) if len(source.class_counts) > 2 else 1
    layout = source.layout
    form = Form(layout.n_features, n_outputs, layout.dtype.itemsize, not layout.dense)
    n_bytes = 0
    for model in estimators:
        if isinstance(model, Learner):
            model._validate_params()
            n_bytes += model._check_form(form)
    check_size("n_features", source.n_features, n_bytes)


def _options_of(
    methods: Any, source: Source, test: Source | None, setting: Setting
) -> dict[str, Any]:
    """Return what two runs must have in common for one to go on from the other's checkpoint."""
    if isinstance(methods, Mapping):
        named: Any = {label: _described(estimator) for label, estimator in methods.items()}
    else:
        named = [method.name for method in select_methods(methods, source.task, setting.kernel)]
    return {
        "onlinekern": version(),
        "methods": named,
        **vars(setting),
        "repeats": setting.n_orders,
        "settings": dict(setting.settings),
        "data": digest_of(source),
        "test": None if test is None else digest_of(test),
    }


def _described(estimator: Any) -> str:
    """Return the class and the parameters of an estimator; of foreign objects, the class alone."""
    parameters = sorted(estimator.get_params().items())
    text = json.dumps(parameters, default=lambda value: type(value).__name__)
    return f"{type(estimator).__module__}.{type(estimator).__qualname__} {text}"


def prepare_methods(
    methods: Any, source: Source, setting: Setting, tally: SampleCounter, keeper: KeptProgress
) -> tuple[list[Prepared], int]:
    """Return the methods with their parameters, and how many samples these were chosen on."""
    if not isinstance(methods, Mapping):
        return _prepare_named(methods, source, setting, tally, keeper)
    _check_features(methods.values(), source)
    tally.total = setting.n_orders * source.n_samples * len(methods)
    return [
        Prepared(_cloner(estimator), MethodResult(label, label, type(estimator).__name__, {}))
        for label, estimator in methods.items()
    ], 0


def _prepare_named(
    names: Any, source: Source, setting: Setting, tally: SampleCounter, keeper: KeptProgress
) -> tuple[list[Prepared], int]:
    """Choose what is not given of the parameters of methods that are named."""
    task = source.task
    chosen = select_methods(names, task, setting.kernel)
    given = given_parameters(chosen, task, setting.settings)
    _check_named([one.build(task, {"kernel": setting.kernel} | given[one.name]) for one in chosen],
                 source, setting)  # fmt: skip
    gamma = setting.gamma if has_width(setting.kernel) else None
    problem = problem_of(source, setting, keeper.trials)
    n_head = len(problem.y)
    searched = count_samples(chosen, task, given, gamma, setting.kernel, n_head)
    tally.total = setting.n_orders * source.n_samples * len(chosen) + searched

    def tick(samples: int) -> None:
        tally.add(samples, "choosing parameters")
        keeper.count(samples)

    parameters = choose_parameters(chosen, problem, given, gamma, tick)
    prepared = []
    for method in chosen:
        own, estimator = parameters[method.name], method.estimator_name(task) or ""
        result = MethodResult(method.name, method.label, estimator, own)
        prepared.append(Prepared(_builder(method, task, setting, own), result))
    return prepared, n_head


def _check_named(models: list[Any], source: Source, setting: Setting) -> None:
    """Raise MemoryError, or ValueError of an option that acts on none of the models.

    That is known now, not after a long search: the parameters that are searched are no sizes.
    """
    _check_features(models, source)
    for name, value, usual in (
        ("kernel", setting.kernel, KERNELS[0]),
        ("gamma", setting.gamma, None),
    ):
        if value != usual and not any(hasattr(model, name) for model in models):
            raise ValueError(f"{name}={value!r} has no effect: none of the methods has a kernel")


def problem_of(source: Source, setting: Setting, trials: dict[str, float]) -> Problem:
    """Return the head of the stream, on which parameters are chosen."""
    X, y = source.head(HEAD_SAMPLES, setting.order(0))
    return Problem(
        X, y, source.classes, source.n_samples, setting.kernel, setting.seed, setting.shuffle,
        setting.scale, trials,
    )  # fmt: skip


def prepare_baselines(taken: set[str], task: str) -> list[Prepared]:
    """Return the baselines that every table has, under names that are not taken."""
    return [
        Prepared(
            lambda seed, cls=cls: cls(),  # type: ignore[misc]
            MethodResult(name, label if task == "classification" else mean, cls.__name__, {}),
        )
        for name, (label, mean, cls) in BASELINES.items()
        if name not in taken
    ]


def _builder(method: Any, task: str, setting: Any, parameters: Any) -> Any:
    values = {"kernel": setting.kernel} | {key: item.value for key, item in parameters.items()}
    return lambda seed: method.recipe(task, values | {"random_state": seed}, setting.scale)


def _cloner(estimator: Any) -> Any:
    def build(seed: int) -> Any:
        fresh = clone(estimator)
        if "random_state" in fresh.get_params(deep=False):
            fresh.set_params(random_state=seed)
        return fresh

    return build


def score_on(estimator: Any, test: Source) -> float:
    """Return accuracy, or root mean squared error in the units of the file."""
    errors = Errors(test.task == "classification")
    for X, y in test.blocks():
        errors.add(y, estimator.predict(X))
    if errors.counted:
        return (errors.n_rows - float(errors.total.losses[0])) / errors.n_rows
    return test.layout.target_deviation * errors.error
