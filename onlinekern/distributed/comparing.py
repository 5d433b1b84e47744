"""`compare` on a cluster: the searches are tasks, and each run of a method is one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from onlinekern.distributed.cluster import Tasks, is_lost, result_of
from onlinekern.distributed.record import ClusterLost
from onlinekern.distributed.tasks import identity
from onlinekern.estimators.kernel_width import has_width
from onlinekern.evaluate import search
from onlinekern.evaluate.comparing import (
    SampleCounter,
    Setting,
    comparison_of,
    new_run,
    prepare_baselines,
    prepare_methods,
    problem_of,
    score_on,
)
from onlinekern.evaluate.methods import given_parameters, select_methods
from onlinekern.evaluate.results import Comparison
from onlinekern.evaluate.resuming import KeptProgress


@dataclass(frozen=True)
class CompareTasks:
    """The tasks of a comparison, each of which runs on a worker.

    Parameters
    ----------
    setting : Setting
        The options of `compare`.
    """

    setting: Setting

    def choose_gamma(self, source: Any) -> dict[str, float]:
        """Return the trials in which the width of kernels is chosen, which all methods share."""
        problem = problem_of(source, self.setting, {})
        search.choose_gamma(problem, lambda samples: None)
        return problem.trials

    def prepare(self, one: Any, source: Any, trials: Any = None) -> Any:
        """Return one method, prepared with its parameters, and the samples of the search."""
        keeper = KeptProgress(None)
        keeper.trials.update(trials or {})
        tally = SampleCounter(None)
        prepared, n_head = prepare_methods(one, source, self.setting, tally, keeper)
        return prepared[0], n_head

    def run(self, repeat: int, prepared: Any, source: Any, test: Any) -> Any:
        """Return the result of a method on a permutation, and its scores on the test stream."""
        one, _ = prepared
        run = new_run(one, source, self.setting, repeat)
        with warnings.catch_warnings():
            # The run of the first permutation says it at the client.
            warnings.simplefilter("ignore")
            for X, y in source.blocks(self.setting.order(1 + repeat)):
                run.feed(X, y)
            outcome = run.result()
        return outcome, [] if test is None else [score_on(run.estimator, test)]


def run_compare(
    client: Any, methods: Any, source: Any, test: Any, job: CompareTasks, progress: Any
) -> Comparison:
    """Carry out `onlinekern.distributed.compare`."""
    tasks = Tasks(client)
    try:
        return _run_compare(tasks, methods, source, test, job, progress)
    except Exception as error:
        if isinstance(error, ClusterLost) or not is_lost(client, error):
            raise
        raise ClusterLost(f"the cluster is gone ({type(error).__name__}: {error})") from error


def _run_compare(
    tasks: Tasks, methods: Any, source: Any, test: Any, job: CompareTasks, progress: Any
) -> Comparison:
    there = tasks.send("source", partial(identity, source))
    tested = None if test is None else tasks.send("test", partial(identity, test))
    prepared = _prepare_all(tasks, methods, source, there, job)
    baselines = prepare_baselines({name for name, _ in prepared}, source.task)
    futures = [future for _, future in prepared]
    futures += [tasks.send(f"baseline-{k}", partial(identity, (one, 0)))
                   for k, one in enumerate(baselines)]  # fmt: skip
    runs = [
        [
            tasks.send(f"run-{k}.{repeat}", partial(job.run, repeat), future, there, tested)
            for repeat in range(job.setting.n_orders)
        ]
        for k, future in enumerate(futures)
    ]
    done = [0]

    def after(future: Any) -> None:
        done[0] += 1
        progress(done[0], len(futures) * job.setting.n_orders, "comparing")

    tasks.each([future for row in runs for future in row], after)
    results, n_head = [], 0
    for future, row in zip(futures, runs, strict=True):
        one, searched = result_of(future)
        n_head = max(n_head, searched)
        for run in row:
            one.result.add(*result_of(run))
        results.append(one.result)
    return comparison_of(source, job.setting, n_head, results)


def _prepare_all(
    tasks: Tasks, methods: Any, source: Any, there: Any, job: CompareTasks
) -> list[tuple[str, Any]]:
    """Return the name of each method, and the future in which it is prepared."""
    if isinstance(methods, Mapping):
        return [
            (label, tasks.send(f"prepare-{k}", partial(job.prepare, {label: estimator}), there))
            for k, (label, estimator) in enumerate(methods.items())
        ]
    setting = job.setting
    chosen = select_methods(methods, source.task, setting.kernel)
    given = given_parameters(chosen, source.task, setting.settings)
    gamma = setting.gamma if has_width(setting.kernel) else None
    trials = None
    if gamma is None and search.needs_gamma(chosen, source.task, given, setting.kernel):
        trials = tasks.send("gamma", job.choose_gamma, there)
    prepared = []
    for k, method in enumerate(chosen):
        own = {f"{method.name}.{name}": value for name, value in given[method.name].items()}
        alone = replace(job, setting=replace(setting, settings=own))
        future = tasks.send(f"search-{k}", partial(alone.prepare, [method.name]), there, trials)
        prepared.append((method.name, future))
    return prepared
