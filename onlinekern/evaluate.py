"""Evaluation: test-then-train runs, repeated over random permutations and put side by side.

``prequential`` runs one estimator over one stream. ``compare`` runs a set of methods over several
permutations of one source: each permutation is streamed once and fed to all methods block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from onlinekern._base import Learner
from onlinekern._comparison.methods import (
    KERNELS,
    KERNELS_WITHOUT_GAMMA,
    METHODS,
    Method,
    given_parameters,
    select_methods,
)
from onlinekern._comparison.prequential import PrequentialResult, Run, prequential
from onlinekern._comparison.search import (
    HEAD_SAMPLES,
    Parameter,
    Problem,
    choose_parameters,
    count_runs,
)
from onlinekern._memory import check_size
from onlinekern._typing import Array, BatchLearner, Floats, StreamLearner

if TYPE_CHECKING:
    from onlinekern._streaming.source import Source

__all__ = [
    "METHODS",
    "Comparison",
    "Method",
    "MethodResult",
    "Parameter",
    "PrequentialResult",
    "compare",
    "prequential",
]


@dataclass
class MethodResult:
    """Results of one method over all permutations.

    Attributes
    ----------
    name, label, estimator : str
        Name on the command line, in tables, and of the estimator class.
    parameters : dict
        Parameter name -> Parameter, given or chosen.
    runs : list of PrequentialResult
        One for each permutation.
    test_scores : list of float
        Accuracy (classification) or root mean squared error on the test stream after each run.
    """

    name: str
    label: str
    estimator: str
    parameters: dict[str, Parameter]
    runs: list[PrequentialResult] = field(default_factory=list)
    test_scores: list[float] = field(default_factory=list)

    @property
    def errors(self) -> list[float]:
        """Mistake rate or root mean squared error of every run."""
        return [run.error for run in self.runs]

    @property
    def supports(self) -> list[int]:
        """Support vectors at the end of every run."""
        return [run.n_support for run in self.runs]

    @property
    def microseconds(self) -> list[float]:
        """Microseconds per sample of every run."""
        return [run.microseconds_per_sample for run in self.runs]

    def mean_curves(self) -> tuple[Array, Floats, Floats]:
        """Return (samples, mean error, mean number of support vectors) over the runs."""
        return (
            self.runs[0].samples,
            np.mean([run.error_curve for run in self.runs], axis=0),
            np.mean([run.support_curve for run in self.runs], axis=0),
        )


@dataclass
class Comparison:
    """Several methods on one source.

    Attributes
    ----------
    data : str
        Name of the source.
    task : "classification" or "regression"
    n_samples, n_features : int
    n_classes : int or None
    kernel : str
    repeats, seed : int
    shuffled : bool
    n_head : int
        Samples on which parameters were chosen.
    majority_share : float or None
        Share of the most frequent class: what a constant guess reaches.
    target_deviation : float
        Standard deviation of the targets: the error of the best constant guess (regression).
    methods : list of MethodResult
    """

    data: str
    task: str
    n_samples: int
    n_features: int
    n_classes: int | None
    kernel: str
    repeats: int
    seed: int
    shuffled: bool
    n_head: int
    majority_share: float | None
    target_deviation: float
    methods: list[MethodResult] = field(default_factory=list)


def mean_and_deviation(values: Any) -> tuple[float, float | None]:
    """Return the mean and the sample standard deviation (None for a single value)."""
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else None


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
    progress: Callable[[int, int | None, str], None] | None = None,
) -> Comparison:
    """Run methods test-then-train over random permutations of a source.

    Parameters
    ----------
    methods : str, iterable of str, or mapping
        Names in ``METHODS`` ("all" for every one that does the task), or a mapping from labels to
        estimators, which are cloned for every run and keep their parameters.
    source : onlinekern.streams.Source
    repeats : int
        Number of permutations, the same for all methods.
    test : onlinekern.streams.Source, optional
        Test stream, on which the finished models are scored.
    shuffle : bool
        False: the order of the file, once.
    kernel : str
    gamma : float, "scale", "auto" or None
        None: chosen on the head of a permutation of its own (5,000 samples, in three orders), as is
        every other parameter with a grid in ``METHODS`` that is not in ``settings``.
    settings : mapping, optional
        ``"method.parameter"`` or ``"parameter"`` -> value.
    seed : int
        Seed of the permutations, the search and the methods' own randomness.
    progress : callable, optional
        Called as ``progress(done, total, text)`` with a number of samples.

    Returns
    -------
    Comparison
    """
    _check(repeats, kernel, gamma)
    repeats = repeats if shuffle else 1
    tally = _Tally(progress)
    contenders, n_head = _contenders(
        methods, source, _Setting(shuffle, kernel, gamma, settings or {}, seed), repeats, tally
    )
    results = [result for _, result in contenders]
    for repeat in range(repeats):
        unit = source.layout.target_deviation
        runs = [Run(build(seed + repeat), source.classes, unit) for build, _ in contenders]
        text = f"permutation {repeat + 1} of {repeats}" if shuffle else "file order"
        for X, y in source.blocks([seed, 1 + repeat] if shuffle else None):
            for run in runs:
                run.feed(X, y)
                tally.add(len(y), text)
        for run, result in zip(runs, results, strict=True):
            result.runs.append(run.result())
            if test is not None:
                result.test_scores.append(_score(run.estimator, test))
    counts = source.class_counts
    return Comparison(
        source.name, source.task, source.n_samples, source.n_features,
        len(counts) or None, kernel, repeats, seed, shuffle, n_head,
        max(counts.values()) / source.n_samples if counts else None,
        source.layout.target_deviation, results,
    )  # fmt: skip


@dataclass(frozen=True)
class _Setting:
    shuffle: bool
    kernel: str
    gamma: object
    settings: Mapping[str, Any]
    seed: int


class _Tally:
    """Counts the samples that were processed, and reports them to `progress`."""

    def __init__(self, progress: Callable[[int, int | None, str], None] | None) -> None:
        self.progress, self.done, self.total = progress, 0, 0

    def add(self, amount: int, text: str) -> None:
        self.done += amount
        if self.progress is not None:
            self.progress(self.done, self.total, text)


def _check(repeats: int, kernel: str, gamma: float | str | None) -> None:
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, got {repeats}")
    if kernel not in KERNELS:
        raise ValueError(f"unknown kernel {kernel!r}; known are {', '.join(KERNELS)}")
    if gamma is not None and not isinstance(gamma, str) and not 0 < gamma < np.inf:
        raise ValueError(f"gamma must be a positive number, got {gamma}")


def _check_features(estimators: Iterable[Any], source: Source) -> None:
    """Raise MemoryError if the models, which all run at a time, have no room together."""
    n_outputs = len(source.class_counts) if len(source.class_counts) > 2 else 1
    layout = source.layout
    form = layout.n_features, n_outputs, layout.dtype.itemsize, not layout.dense
    n_bytes = 0
    for model in estimators:
        if isinstance(model, Learner):
            model._validate_params()
            n_bytes += model._check_form(*form)
    check_size("n_features", source.n_features, n_bytes)


def _contenders(methods: Any, source: Source, setting: Any, repeats: int, tally: Any) -> Any:
    """Return (function from seed to estimator, empty MethodResult) pairs, and the head's size."""
    if isinstance(methods, Mapping):
        _check_features(methods.values(), source)
        tally.total = repeats * source.n_samples * len(methods)
        return [
            (_cloner(estimator), MethodResult(label, label, type(estimator).__name__, {}))
            for label, estimator in methods.items()
        ], 0
    chosen = select_methods(methods, source.task, setting.kernel)
    given = given_parameters(chosen, source.task, setting.settings)
    # Now, not after a long search: the parameters that are searched are no sizes.
    models = [
        method.build(source.task, {"kernel": setting.kernel} | given[method.name])
        for method in chosen
    ]
    _check_features(models, source)
    gamma = None if setting.kernel in KERNELS_WITHOUT_GAMMA else setting.gamma
    X, y = source.head(HEAD_SAMPLES, [setting.seed, 0] if setting.shuffle else None)
    runs = count_runs(chosen, source.task, given, gamma, setting.kernel)
    tally.total = repeats * source.n_samples * len(chosen) + runs * len(y)
    problem = Problem(
        X, y, source.classes, source.n_samples, setting.kernel, setting.seed, setting.shuffle
    )
    parameters = choose_parameters(
        chosen, problem, given, gamma, lambda runs: tally.add(runs * len(y), "choosing parameters")
    )
    return [
        (
            _builder(method, source.task, setting.kernel, parameters[method.name]),
            MethodResult(
                method.name, method.label, method.estimator_name(source.task) or "",
                parameters[method.name],
            ),
        )
        for method in chosen
    ], len(y)  # fmt: skip


def _builder(method: Any, task: str, kernel: Any, parameters: Any) -> Any:
    values = {"kernel": kernel} | {key: item.value for key, item in parameters.items()}
    return lambda seed: method.build(task, values | {"random_state": seed})


def _cloner(estimator: Any) -> Any:
    def build(seed: int) -> Any:
        fresh = clone(estimator)
        if "random_state" in fresh.get_params(deep=False):
            fresh.set_params(random_state=seed)
        return fresh

    return build


def _score(estimator: Any, test: Source) -> float:
    """Return accuracy, or root mean squared error in the units of the file."""
    total = 0.0
    for X, y in test.blocks():
        predicted = estimator.predict(X)
        if test.task == "classification":
            total += np.count_nonzero(predicted == y)
        else:
            total += float(np.sum((predicted - y) ** 2))
    mean = total / test.n_samples
    return mean if test.task == "classification" else test.layout.target_deviation * np.sqrt(mean)
