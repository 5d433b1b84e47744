"""The cluster: its client, tasks that are sent to it, and what is said when it is gone."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any

from onlinekern.distributed import futures
from onlinekern.distributed.engines import dumps, require
from onlinekern.distributed.futures import Call, Turn
from onlinekern.distributed.preflight import Preflight, WorkerUnfit
from onlinekern.distributed.record import ClusterLost
from onlinekern.estimators.progress import bar_on_terminal

# Seconds to wait for a worker where there is none, and between two looks at who has come.
FIRST_WORKER = 60
LOOK = 5
# A function that a worker cannot import is an error of its task, which dask itself would wait for.
CALL = "__import__('pickle').loads(function)(*arguments)"


@contextmanager
def cluster_of(client: Any) -> Iterator[Any]:
    """Yield the client, the current one, or that of a cluster of processes on this machine."""
    distributed = require("distributed")
    if client is None:
        with suppress(ValueError):
            client = distributed.default_client()
    if client is None:
        options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as own:
            yield own
        return
    if not isinstance(client, distributed.Client):
        raise TypeError(f"client must be a distributed.Client, got {type(client).__name__}")
    if client.asynchronous:
        raise ValueError("client must not be asynchronous: call from a thread of its own")
    yield client


@contextmanager
def showing_progress(progress: Any) -> Iterator[Any]:
    """Yield a function (done, total, text): the one given, or a bar on a terminal."""
    if progress is None:
        with bar_on_terminal() as show:
            yield show
    else:
        yield progress if callable(progress) else lambda done, total, text: None


class Tasks(futures.Tasks):
    """Tasks with names, for the dashboard, that are no other run's.

    Parameters
    ----------
    client : distributed.Client
        A worker is waited for, and each is asked whether it can do the tasks.

    Raises
    ------
    WorkerUnfit
        If one cannot.
    """

    def __init__(self, client: Any) -> None:
        super().__init__()
        self.client, self._run = client, uuid.uuid4().hex
        self._preflight = Preflight(client)
        try:
            client.wait_for_workers(1, timeout=FIRST_WORKER)
        except TimeoutError:
            raise TimeoutError(f"no worker came to the cluster in {FIRST_WORKER} s") from None
        self._preflight.ask()

    def send(self, name: str, function: Call, *arguments: Any, turn: Turn = None) -> Any:
        """Return the future of a call; arguments may be futures, or delayed."""
        priority = 0 if turn is None else -turn[1]
        task = require("dask").delayed(eval, pure=False)
        names = {"function": dumps(function), "arguments": list(arguments)}
        call = task(CALL, {}, names, dask_key_name=f"{name}-{self._run}")
        with warnings.catch_warnings():
            # A model that is sent is kept by the scheduler: no worker takes it away.
            warnings.filterwarnings("ignore", "Sending large graph")
            future = self.client.compute(call, priority=priority, optimize_graph=False)
        return future

    def check(self, future: Any) -> None:
        """Raise the error of a future that is done, if it has one."""
        result_of(future, fetch=False)

    def give_up(self, futures: list[Any], error: BaseException) -> None:
        """Cancel futures because of an error."""
        with suppress(Exception):
            self.client.cancel(futures)
        self._explain(error)

    def _explain(self, error: BaseException) -> None:
        """Raise WorkerUnfit from an error of a worker that came too late to be asked before."""
        if isinstance(error, WorkerUnfit) or not isinstance(error, Exception):
            return
        try:
            self._preflight.ask()
        except WorkerUnfit as unfit:
            raise unfit from error
        except Exception:
            # The cluster is gone: the error says so.
            return

    def some_of(self, futures: list[Any]) -> list[Any]:
        """Wait until some futures are done; meanwhile, ask the workers that come.

        Raises
        ------
        WorkerUnfit
            If one lacks the library, or has another version.
        ClusterLost
            If there is no worker for a minute.
        """
        wait, empty = require("distributed").wait, 0.0
        while True:
            with suppress(TimeoutError):
                return list(wait(futures, timeout=LOOK, return_when="FIRST_COMPLETED").done)
            empty = 0.0 if self._preflight.ask() else empty + LOOK
            if empty >= FIRST_WORKER:
                raise ClusterLost(f"there was no worker for {FIRST_WORKER} s")

    def value(self, future: Any) -> Any:
        """Return the result of a future that is done, or raise its error."""
        return result_of(future)

    def loss(self, error: Exception) -> str | None:
        """Say what is lost by an error, if the cluster is."""
        if not is_lost(self.client, error):
            return None
        address = getattr(self.client.scheduler, "address", "of the client")
        gone = f"the scheduler {address} is gone"
        what = "the tasks were cancelled" if self.client.status == "running" else gone
        return f"{what} ({type(error).__name__}: {error})"


def result_of(future: Any, fetch: bool = True) -> Any:
    """Return the result of a future, or raise its error."""
    if future.status in ("cancelled", "lost"):
        raise CancelledError(f"{future.key} was cancelled")
    if future.status == "error":
        error = future.exception()
        if type(error).__name__ == "KilledWorker":
            raise ClusterLost(
                f"{future.key.rpartition('-')[0]} ended each of {error.allowed_failures + 1} "
                "workers on which it ran: their memory may be too small for a part of the data"
            ) from error
        raise error.with_traceback(future.traceback())
    return future.result() if fetch else None


def is_lost(client: Any, error: BaseException) -> bool:
    """Return whether an error says that the scheduler is gone."""
    gone = CancelledError, require("distributed.comm").CommClosedError
    cancelled = require("distributed").client.FutureCancelledError
    return isinstance(error, (*gone, cancelled)) or client.status in ("closed", "closing")
