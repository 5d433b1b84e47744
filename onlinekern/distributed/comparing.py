"""`compare` on a cluster: the searches are tasks, and each run of a method is one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from onlinekern.distributed.cluster import ClusterLost, Tasks, is_lost, result_of
from onlinekern.evaluate import search
from onlinekern.evaluate.comparing import (
    Tally,
    baselines_of,
    comparison_of,
    contenders_of,
    problem_of,
    score_on,
)
from onlinekern.evaluate.methods import (
    KERNELS_WITHOUT_GAMMA,
    given_parameters,
    select_methods,
)
from onlinekern.evaluate.results import Comparison
from onlinekern.evaluate.resuming import Progress
from onlinekern.evaluate.test_then_train import Run


@dataclass(frozen=True)
class Race:
    """What is compared.

    Parameters
    ----------
    setting : object
        The options of `compare`.
    repeats : int
    """

    setting: Any
    repeats: int

    def widths(self, source: Any) -> dict[str, float]:
        """The trials in which the width of kernels is chosen, which all methods share."""
        problem = problem_of(source, self.setting, {})
        search._gamma(problem, lambda samples: None)
        return problem.trials

    def entered(self, one: Any, source: Any, trials: Any = None) -> Any:
        """The contender of one method, with its parameters, and the samples of the search."""
        keeper = Progress(None)
        keeper.trials.update(trials or {})
        tally = Tally(None)
        contenders, n_head = contenders_of(one, source, self.setting, self.repeats, tally, keeper)
        return contenders[0], n_head

    def run(self, repeat: int, entered: Any, source: Any, test: Any) -> Any:
        """The result of a contender on a permutation, and its scores on the test stream."""
        (build, _), _ = entered
        setting, unit = self.setting, source.layout.target_deviation
        run = Run(build(setting.seed + repeat), source.classes, unit, window=setting.window)
        with warnings.catch_warnings():
            # The run of the first permutation says it at the client.
            warnings.simplefilter("ignore")
            for X, y in source.blocks([setting.seed, 1 + repeat] if setting.shuffle else None):
                run.feed(X, y)
            outcome = run.result()
        return outcome, [] if test is None else [score_on(run.estimator, test)]


def compared(
    client: Any, methods: Any, source: Any, test: Any, race: Race, progress: Any
) -> Comparison:
    """As `onlinekern.distributed.compare`."""
    tasks = Tasks(client)
    try:
        return _compared(tasks, methods, source, test, race, progress)
    except Exception as error:
        if isinstance(error, ClusterLost) or not is_lost(client, error):
            raise
        raise ClusterLost(f"the cluster is gone ({type(error).__name__}: {error})") from error


def _compared(
    tasks: Tasks, methods: Any, source: Any, test: Any, race: Race, progress: Any
) -> Comparison:
    there = tasks.send("source", partial(itself, source))
    tested = None if test is None else tasks.send("test", partial(itself, test))
    entered = _entered(tasks, methods, source, there, race)
    baselines = baselines_of({name for name, _ in entered}, source.task)
    contenders = [future for _, future in entered]
    contenders += [tasks.send(f"baseline-{k}", partial(itself, (pair, 0)))
                   for k, pair in enumerate(baselines)]  # fmt: skip
    runs = [
        [
            tasks.send(f"run-{k}.{repeat}", partial(race.run, repeat), one, there, tested)
            for repeat in range(race.repeats)
        ]
        for k, one in enumerate(contenders)
    ]
    done = [0]

    def after(future: Any) -> None:
        done[0] += 1
        progress(done[0], len(contenders) * race.repeats, "comparing")

    tasks.each([future for row in runs for future in row], after)
    results, n_head = [], 0
    for one, row in zip(contenders, runs, strict=True):
        (_, result), searched = result_of(one)
        n_head = max(n_head, searched)
        for future in row:
            result.add(*result_of(future))
        results.append(result)
    return comparison_of(source, race.setting, race.repeats, n_head, results)


def _entered(
    tasks: Tasks, methods: Any, source: Any, there: Any, race: Race
) -> list[tuple[str, Any]]:
    """The name of each contender, and its future."""
    if isinstance(methods, Mapping):
        return [
            (label, tasks.send(f"enter-{k}", partial(race.entered, {label: estimator}), there))
            for k, (label, estimator) in enumerate(methods.items())
        ]
    setting = race.setting
    chosen = select_methods(methods, source.task, setting.kernel)
    given = given_parameters(chosen, source.task, setting.settings)
    gamma = None if setting.kernel in KERNELS_WITHOUT_GAMMA else setting.gamma
    trials = None
    if gamma is None and search._needs_gamma(chosen, source.task, given, setting.kernel):
        trials = tasks.send("widths", race.widths, there)
    entered = []
    for k, method in enumerate(chosen):
        own = {f"{method.name}.{name}": value for name, value in given[method.name].items()}
        alone = replace(race, setting=replace(setting, settings=own))
        future = tasks.send(f"search-{k}", partial(alone.entered, [method.name]), there, trials)
        entered.append((method.name, future))
    return entered


def itself(value: Any) -> Any:
    """A value that the scheduler can always make again."""
    return value
