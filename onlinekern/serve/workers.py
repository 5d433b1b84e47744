"""The two threads of a server: the writer, which learns, and the predictor.

Both take together what waits for them. A batch gives the same bits as its samples one after
another; a request that is refused is taken out, and the others are tried alone.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from onlinekern.estimators.row_blocks import one_after_another
from onlinekern.serve.inbox import Inbox, Job
from onlinekern.serve.metrics import Learning
from onlinekern.serve.refusal import Refusal
from onlinekern.serve.rows import Samples
from onlinekern.serve.served import ServedModel
from onlinekern.serve.store import Store

logger = logging.getLogger("onlinekern.serve")

# So many rows of several requests are one batch. A larger one would keep readers waiting for
# longer than it saves (benchmarks/serving.py); a single request is never divided.
MOST_ROWS = 256
# Seconds between two tries to write a journal after a failure.
RETRY = 1.0


def joined(jobs: list[Job]) -> Samples:
    """Return the samples of jobs that go together, as one batch."""
    if len(jobs) == 1:
        return jobs[0].samples
    columns = zip(*(job.samples for job in jobs), strict=True)
    return Samples(*map(one_after_another, columns))


def divided(answers: Any, jobs: list[Job]) -> list[Any]:
    """Return the answers of a batch, for each of its jobs."""
    return np.split(answers, np.cumsum([job.n_rows for job in jobs])[:-1])


class Worker:
    """Thread that does jobs, and answers them in the event loop.

    Parameters
    ----------
    name : str
    inbox : Inbox
    most_rows : int
        Rows of several requests that may be one batch.
    """

    def __init__(self, name: str, inbox: Inbox, most_rows: int = MOST_ROWS) -> None:
        self.inbox, self.most_rows = inbox, most_rows
        self.thread = threading.Thread(target=self._run, name=name)

    def start(self) -> None:
        """Begin to work."""
        self.thread.start()

    @property
    def is_alive(self) -> bool:
        return self.thread.is_alive()

    def close(self) -> None:
        """Do what waits, and end."""
        self.inbox.close()
        if self.thread.ident is not None:
            self.thread.join()

    def _run(self) -> None:
        while (jobs := self.inbox.take(self.most_rows, self._seconds_left())) is not None:
            if jobs:
                self._deliver(jobs, self._results(jobs, self._work))
            self._between()

    def _results(self, jobs: list[Job], work: Callable[[list[Job]], list[Any]]) -> list[Any]:
        """Return the result of each of the jobs: an answer or an exception."""
        try:
            return work(jobs)
        except Refusal as error:
            if len(jobs) == 1:
                return [error]
        except Exception as error:  # It is a fault of ours: nobody knows how far it came.
            logger.exception("a request failed")
            return [error] * len(jobs)
        return [result for job in jobs for result in self._results([job], work)]

    def _deliver(self, jobs: list[Job], results: list[Any]) -> None:
        with suppress(RuntimeError):  # The loop is closed: everybody has gone.
            jobs[0].future.get_loop().call_soon_threadsafe(resolve, jobs, results)

    def _work(self, jobs: list[Job]) -> list[Any]:
        raise NotImplementedError

    def _seconds_left(self) -> float | None:
        """Return how long to wait for jobs at most."""
        return None

    def _between(self) -> None:
        """Do what is due after each batch, and after each wait."""


def resolve(jobs: list[Job], results: list[Any]) -> None:
    """Give the jobs' futures what they wait for, in the event loop."""
    for job, result in zip(jobs, results, strict=True):
        if job.future.done():  # Its client has gone.
            continue
        if isinstance(result, BaseException):
            job.future.set_exception(result)
        else:
            job.future.set_result(result)


class Predictor(Worker):
    """Thread that predicts."""

    def __init__(self, served: ServedModel, inbox: Inbox) -> None:
        super().__init__("predictor", inbox)
        self.served = served

    def _work(self, jobs: list[Job]) -> list[Any]:
        asked = jobs[0].asked
        assert asked is not None
        answers, columns = self.served.answer(joined(jobs).X, asked)
        more = {} if columns is None else {"classes": columns}
        return [{"predictions": part.tolist(), **more} for part in divided(answers, jobs)]


class Writer(Worker):
    """Thread that learns requests in the order in which they came, and sees to the disk."""

    def __init__(self, served: ServedModel, store: Store, inbox: Inbox, learning: Learning) -> None:
        super().__init__("writer", inbox, MOST_ROWS if served.batches_freely else 0)
        self.served, self.store, self.learning = served, store, learning
        self._tried = -RETRY

    def _work(self, jobs: list[Job]) -> list[Any]:
        journal = self.store.journal
        self._mend()
        with journal.lock:
            first = journal.sequence + 1
            self._append(jobs)
            try:
                samples = joined(jobs)
                predictions = self.served.learn(samples)
            except BaseException:
                journal.take_back()
                raise
        self.store.count(len(samples.X))
        self.learning.add(predictions, samples.y, self.served)
        results: list[Any] = []
        seen = self.learning.n_seen
        for job, part in zip(jobs[::-1], divided(predictions, jobs)[::-1], strict=True):
            results.append(
                {
                    "learnt": job.n_rows,
                    "n_seen": seen,
                    "sequence": first + len(jobs) - 1 - len(results),
                    "snapshot_sequence": self.store.snapshot_sequence,
                    "predictions": part.tolist(),
                }
            )
            seen = None if seen is None else seen - job.n_rows
        return results[::-1]

    def _append(self, jobs: list[Job]) -> None:
        try:
            self.store.journal.append([job.body for job in jobs])
        except OSError as error:
            raise Refusal(
                503, f"nothing was learnt: the journal cannot be written: {error.strerror}", 10
            ) from error

    def _mend(self) -> None:
        """Begin a new journal behind a new snapshot, if this one has failed."""
        if self.store.journal.failure is None or time.monotonic() < self._tried + RETRY:
            return
        self._tried = time.monotonic()
        self.store.snapshot()

    def _seconds_left(self) -> float | None:
        waits = self.store.seconds_left(), self.store.journal.sync_if_due()
        return min((wait for wait in waits if wait is not None), default=None)

    def _between(self) -> None:
        self.store.begin_snapshot()
