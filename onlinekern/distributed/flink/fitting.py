"""Rounds on a Flink cluster, each of which is a bounded job."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Unpack

from onlinekern.distributed import mixing, tasks
from onlinekern.distributed.cluster import showing_progress
from onlinekern.distributed.engines import dumps, loss_of_job, require, value_of
from onlinekern.distributed.mixing import MERGED, Shares
from onlinekern.distributed.parts import Part, listed_parts
from onlinekern.distributed.record import DistributedFit
from onlinekern.distributed.starting import Asked, Options, takes_options
from onlinekern.estimators.validation import wrong_type

# How often a failed job is restarted on this machine's own cluster.
RESTARTS = 3


@takes_options
def fit(
    estimator: Any,
    X: Any,
    y: str | None = None,
    *,
    sample_weight: str | None = None,
    environment: Callable[[], Any] | None = None,
    progress: Callable[[int, int | None, str], None] | bool | None = None,
    **options: Unpack[Options],
) -> DistributedFit:
    """Learn parts of a stream on a Flink cluster.

    The classes, the warm-up, the rounds and the merges are those of `onlinekern.distributed.fit`:
    the same parts and the same number of learners give the same model, bit for bit. A round is one
    bounded job. In it, each learner reads its parts and learns them in order. The workers merge the
    models in a tree, eight at a time. Only the merged model is sent to the client.

    Parameters
    ----------
    estimator, classes, rounds, passes, warm_up, warm_start, checkpoint, resume, on_error, \
storage_options, progress
        As for `onlinekern.distributed.fit`.
    X : list, str or path
        Samples, in the order of the stream:

        * a list of functions without arguments. Each returns (X, y) or (X, y, sample_weight) of a
          part, and is called once in each pass, on a worker;
        * files that the workers can read, as `onlinekern.distributed.fit` takes them.
    y, sample_weight : str or None, default=None
        Columns of files. None: the parts return them, or there are none.
    n_learners : int or None, default=None
        Number of learners that run in parallel. None: Flink's default parallelism.
    environment : callable or None, default=None
        A function without arguments that returns the environment of a job, such as
        ``StreamExecutionEnvironment.get_execution_environment`` under ``flink run``. None: each job
        runs on a temporary cluster on this machine's cores, and is restarted up to three times.

    Returns
    -------
    DistributedFit

    Raises
    ------
    ClusterLost
        If Flink gives up a job, because the cluster is gone or because a part has ended its worker
        more often than the restart strategy allows. The error has the merged `model` of the last
        round.
    ValueError, TypeError
        As `onlinekern.distributed.fit`.
    ImportError
        If PyFlink is missing.

    Notes
    -----
    Flink restarts jobs without checkpoints only if ``restart-strategy.type`` of the environment is
    set. A share is then learnt again from its beginning, with the model of the round before. A job
    takes some seconds to start, so use few rounds.

    Flink's tables are not accepted, because their rows have no order and they have no addressable
    partitions. Write them to Parquet, and pass the folder.

    Examples
    --------
    >>> from functools import partial
    >>> from onlinekern import KernelRLSClassifier
    >>> from onlinekern.distributed import flink
    >>> from onlinekern.streams import gaussian_mixture
    >>> parts = [partial(gaussian_mixture, 1000, random_state=k) for k in range(8)]
    >>> learner = KernelRLSClassifier(n_components=50, random_state=0)
    >>> fitted = flink.fit(learner, parts, classes=[0, 1])  # doctest: +SKIP
    """
    asked = Asked.of(estimator, X, y, options)
    jobs = Jobs(environment)
    with showing_progress(progress) as show:
        stream = listed_parts(asked, sample_weight, jobs)
        return asked.start(stream, jobs.parallelism, partial(Run, jobs, show))


class Jobs:
    """Runs calls on workers, as bounded jobs of Flink.

    Parameters
    ----------
    environment : callable or None
        See `fit`.
    """

    def __init__(self, environment: Callable[[], Any] | None) -> None:
        require("pyflink.datastream", "flink")
        if environment is not None and not callable(environment):
            wanted = "be a function without arguments that gives the environment of a job"
            raise wrong_type("environment", wanted, environment)
        self.begin = environment or on_this_machine
        self.parallelism = self.environment().get_parallelism()

    def environment(self) -> Any:
        """Return a new environment for a job."""
        found = self.begin()
        found.set_runtime_mode(require("pyflink.datastream", "flink").RuntimeExecutionMode.BATCH)
        return found

    def result(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a call on a worker."""
        return self.results(name, [partial(function, *arguments)])[0]

    def results(
        self, name: str, calls: Sequence[Callable[[], Any]], base: tasks.State | None = None
    ) -> list[Any]:
        """Return the results of calls, in order.

        Parameters
        ----------
        name : str
        calls : sequence of callable
            They run in parallel.
        base : State or None
            The model from which all calls continue; their results are then merged into one. None:
            results are not merged.
        """
        from onlinekern.distributed.flink import work

        kind = require("pyflink.common", "flink").Types
        # A source with a single task distributes the calls in turn.
        spread = self.environment().from_collection(list(enumerate(map(dumps, calls))))
        spread = spread.rebalance().map(work.called).set_parallelism(self.at_once(len(calls)))
        for number in levels(len(calls)):
            if base is None:
                break
            groups = spread.key_by(work.group_of, key_type=kind.INT())
            spread = groups.process(work.Merging(base, number))
            spread = spread.set_parallelism(self.at_once(-(-number // MERGED)))
        with spread.execute_and_collect(name) as found:
            return values_of(found)

    def loss(self, error: Exception) -> str | None:
        """Return the message for an error after which Flink has given up, else None."""
        return loss_of_job("Flink", error)

    def at_once(self, number: int) -> int:
        """Return the parallelism for a number of calls; Flink would choose it by bytes."""
        return min(number, self.parallelism)


def levels(number: int) -> Iterator[int]:
    """Yield the number of models in each level of the tree of merges, until one is left."""
    while True:
        yield number
        number = -(-number // MERGED)
        if number == 1:
            return


def values_of(found: Iterable[Any]) -> list[Any]:
    """Return the values of outcomes in the order of their places; raise the first error."""
    return [value_of(bytes(outcome)) for _, outcome in sorted(found)]


def on_this_machine() -> Any:
    """Return the environment of a job on this machine's cores."""
    found = require("pyflink.common", "flink").Configuration()
    given = {
        "python.executable": sys.executable, "parallelism.default": os.cpu_count() or 1,
        "restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": RESTARTS,
        "restart-strategy.fixed-delay.delay": "100 ms",
    }  # fmt: skip
    for name, value in given.items():
        found.set_string(name, str(value))
    streams = require("pyflink.datastream", "flink")
    return streams.StreamExecutionEnvironment.get_execution_environment(found)


class Run(mixing.Run):
    """A model that learns a stream, job by job.

    Parameters
    ----------
    engine : Jobs
    show, stream, asked, place
        See `mixing.Run`.
    """

    def once(self, name: str, function: Callable[..., Any], part: Part | None = None) -> Any:
        """Return the result of a function on a part; the worker reads the part itself."""
        return self.engine.result(name, function)

    def labels(self) -> Any:
        """Return all labels, which the workers read."""
        calls = [partial(tasks.labels, self.asked.rows(part)) for part in self.labelled]
        return tasks.union(*self.engine.results("classes", calls))

    def send(self, number: int, learner: tasks.State, shares: Shares) -> Any:
        """Return the calls by which learners learn their shares, without running them."""
        from onlinekern.distributed.flink.work import learn_all

        self._show(f"round {number}", 0)
        calls = [
            partial(learn_all, [self.task(number, shares, index) for index in share], learner)
            for share in shares
        ]
        return learner, calls, sum(map(len, shares))

    def merge(self, number: int, sent: Any, known: tasks.State | None) -> tasks.State:
        """Learn the shares and merge the models in a tree, in one job."""
        base, calls, n_parts = sent
        state: tasks.State = self.engine.results(f"round {number}", calls, base)[0]
        self._show(f"round {number}", n_parts)
        return state
