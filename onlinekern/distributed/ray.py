"""Streams that are spread over a Ray cluster: `fit`, as that of `onlinekern.distributed` on Dask.

Learners are actors; a run is learnt in the same rounds, and gives the same bits. It needs ray:
``pip install 'onlinekern[ray]'``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple, Unpack

from onlinekern._config import show_config
from onlinekern.distributed import futures
from onlinekern.distributed.cluster import showing_progress
from onlinekern.distributed.engines import dumps, loads, require
from onlinekern.distributed.futures import Call, Run, Turn
from onlinekern.distributed.parts import listed_parts
from onlinekern.distributed.preflight import WorkerUnfit
from onlinekern.distributed.record import ClusterLost, DistributedFit
from onlinekern.distributed.starting import Asked, Options, takes_options

__all__ = ["fit"]

# What messages call the members of X.
NAMES = "functions or of Ray's object references", "an object of Ray"
# How often a call is done again whose actor dies.
RETRIES = 3


@takes_options
def fit(
    estimator: Any,
    X: Any,
    y: str | None = None,
    *,
    sample_weight: str | None = None,
    staleness: int = 0,
    progress: Callable[[int, int | None, str], None] | bool | None = None,
    **options: Unpack[Options],
) -> DistributedFit:
    """Learn a stream that is spread over a Ray cluster.

    The classes, the warm-up, the rounds and the merges are those of `onlinekern.distributed.fit`:
    of the same parts and the same number of learners comes the same model, bit for bit. Each
    learner is an actor. A call of an actor is a function of a model's bytes and of a part; an actor
    that dies is begun anew, and its call is done again.

    Parameters
    ----------
    estimator, classes, rounds, passes, staleness, warm_up, warm_start, checkpoint, resume, \
on_error, storage_options, progress
        As for `onlinekern.distributed.fit`.
    X : list, str or path
        Samples, in the order of the stream:

        * a list of functions without arguments, or of Ray's object references: each gives (X, y) or
          (X, y, sample_weight) of a part. A function is called once a pass, on a worker;
        * files that the workers can read, as `onlinekern.distributed.fit` takes them.
    y, sample_weight : str or None, default=None
        Columns of files. None: the parts give them, or there are none.
    n_learners : int or None, default=None
        Learners that learn side by side. None: as many as the cluster has CPUs. There are no more
        actors than CPUs: further learners share them.

    Returns
    -------
    DistributedFit

    Raises
    ------
    ClusterLost
        If the cluster goes away, or a part ends four actors one after the other. The error has the
        merged `model` of the last round.
    WorkerUnfit
        If a worker has another version of the library.
    ValueError, TypeError
        As `onlinekern.distributed.fit`.
    ImportError
        If ray is missing.

    Notes
    -----
    The cluster is that to which this process is connected (`ray.init`), or that which the
    environment names; if there is none, one on this machine that ends with the call. Each actor
    takes one CPU, and lives as long as the call.

    Examples
    --------
    >>> from functools import partial
    >>> from onlinekern import KernelRLSClassifier
    >>> from onlinekern.distributed import ray
    >>> from onlinekern.streams import gaussian_mixture
    >>> parts = [partial(gaussian_mixture, 1000, random_state=k) for k in range(8)]
    >>> learner = KernelRLSClassifier(n_components=50, random_state=0)
    >>> fitted = ray.fit(learner, parts, classes=[0, 1])  # doctest: +SKIP
    """
    asked = Asked.of(estimator, X, y, options, staleness)
    with (
        showing_progress(progress) as show,
        cluster() as n_cpus,
        actors(min(asked.n_learners or n_cpus, n_cpus)) as tasks,
    ):
        stream = listed_parts(asked, sample_weight, tasks, tasks.ray.ObjectRef, NAMES)
        return asked.start(stream, n_cpus, partial(Run, tasks, show))


@contextmanager
def cluster() -> Iterator[int]:
    """Yield the number of CPUs of the cluster; one that is begun here ends here."""
    ray = require("ray", "ray")
    is_own = not ray.is_initialized()
    if is_own:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="warning")
    try:
        yield max(1, int(ray.cluster_resources().get("CPU", 1)))
    finally:
        if is_own:
            ray.shutdown()


@contextmanager
def actors(number: int) -> Iterator[Tasks]:
    """Yield tasks on so many actors, which end here."""
    tasks = Tasks(number)
    try:
        yield tasks
    finally:
        tasks.close()


class Actor:
    """Calls functions in a process of its own.

    Parameters
    ----------
    version : str
        The version of the library that the client has.
    """

    def __init__(self, version: str) -> None:
        own = version_here()
        self._fault = None if own == version else f"has onlinekern {own}, the client {version}"

    def call(self, function: bytes, *arguments: Any) -> tuple[None, Any]:
        """Return a flag, which costs nothing to fetch, and the result."""
        if self._fault is not None:
            raise WorkerUnfit({require("ray", "ray").util.get_node_ip_address(): self._fault})
        return None, loads(function)(*arguments)


def version_here() -> str:
    """Return the version of the library."""
    config: Any = show_config(mode="dicts")
    return str(config["version"])


class Future(NamedTuple):
    """A call that was sent.

    Attributes
    ----------
    value : ObjectRef
    flag : ObjectRef
        Says that the value is there, or has its error.
    name : str
    """

    value: Any
    flag: Any
    name: str


class Tasks(futures.Tasks):
    """Calls of actors.

    Whatever waits for another call is sent after it, and an actor does what it was sent in that
    order: so none waits for ever.

    Parameters
    ----------
    number : int
        Actors.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.ray = require("ray", "ray")
        options = {"num_cpus": 1, "max_restarts": -1, "max_task_retries": RETRIES}
        begin = self.ray.remote(**options)(Actor).remote
        self._actors = [begin(version_here()) for _ in range(number)]
        self._sent = 0

    def send(self, name: str, function: Call, *arguments: Any, turn: Turn = None) -> Future:
        """Return the future of a call; a learner's go to one actor, others to each in turn."""
        place = self._sent if turn is None else turn[0]
        self._sent += turn is None
        call = self._actors[place % len(self._actors)].call.options(num_returns=2, name=name)
        values = [one.value if isinstance(one, Future) else one for one in arguments]
        flag, value = call.remote(dumps(function), *values)
        return Future(value, flag, name)

    def some_of(self, futures: list[Any]) -> list[Any]:
        """Wait until some futures are done, and return them."""
        flags = {future.flag: future for future in futures}
        return [flags[flag] for flag in self.ray.wait(list(flags))[0]]

    def check(self, future: Any) -> None:
        """Raise the error of a future that is done, if it has one."""
        self._fetch(future.flag, future.name)

    def give_up(self, futures: list[Any], error: BaseException) -> None:
        """Leave them: their actors end with the call."""

    def value(self, future: Future) -> Any:
        """Return the result of a future that is done."""
        return self._fetch(future.value, future.name)

    def loss(self, error: Exception) -> str | None:
        """Say what is lost by an error, if the cluster is."""
        if not isinstance(error, self.ray.exceptions.RayError):
            return None
        return f"the cluster is gone ({type(error).__name__}: {error})"

    def close(self) -> None:
        """End the actors."""
        for actor in self._actors:
            # The cluster may be gone.
            with suppress(Exception):
                self.ray.kill(actor)

    def _fetch(self, value: Any, name: str) -> Any:
        errors = self.ray.exceptions
        try:
            return self.ray.get(value)
        except errors.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, errors.RayError) or not isinstance(cause, Exception):
                raise
            raise cause from error
        except errors.RayActorError as error:
            raise ClusterLost(
                f"{name} ended each of {RETRIES + 1} actors on which it ran: their memory may be "
                "too small for a part of the data"
            ) from error
