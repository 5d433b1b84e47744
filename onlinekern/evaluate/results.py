"""The results of a comparison: of each method over all runs, and of all methods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onlinekern.estimators.types import Array, Floats
from onlinekern.evaluate.search import Parameter
from onlinekern.evaluate.test_then_train import PrequentialResult


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

    @property
    def figures(self) -> dict[str, list[float]]:
        """The ``figures`` of the runs: name -> value of every run."""
        return {name: [run.figures[name] for run in self.runs] for name in self.runs[0].figures}

    def add(self, run: PrequentialResult, test_scores: list[float]) -> None:
        """Add the result of one run, and its score on the test stream if there is one."""
        self.runs.append(run)
        self.test_scores.extend(test_scores)

    def mean_points(self) -> dict[str, Array]:
        """Return the mean of the ``curves`` of the runs."""
        with np.errstate(invalid="ignore"):  # a kappa may be minus infinity
            return {
                name: np.mean([run.curves[name] for run in self.runs], axis=0)
                for name in self.runs[0].curves
            }

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
    window : int
        Samples in the window of the last ones.
    n_head : int
        Samples on which parameters were chosen.
    majority_share : float or None
        Share of the most frequent class: what a constant guess reaches.
    target_deviation : float
        Standard deviation of the targets: the error of the best constant guess (regression).
    methods : list of MethodResult
        The last two are the baselines "no-change", the last label or target, and "majority", the
        most frequent label so far or the mean target.
    delay : int
        Samples predicted between a sample and the coming of its label.
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
    window: int
    n_head: int
    majority_share: float | None
    target_deviation: float
    methods: list[MethodResult] = field(default_factory=list)
    delay: int = 0

    @property
    def has_window(self) -> bool:
        """Whether the last samples have figures: the stream has an order, and is longer."""
        return not self.shuffled and self.window < self.n_samples


def mean_and_deviation(values: Any) -> tuple[float, float | None]:
    """Return the mean and the sample standard deviation (None for a single value)."""
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else None
