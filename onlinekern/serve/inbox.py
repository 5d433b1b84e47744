"""The queue of requests that wait for a thread, in the order in which they came."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from onlinekern.serve.refusal import Refusal
from onlinekern.serve.rows import Asked, Samples


@dataclass
class Job:
    """A request that waits for a thread.

    Attributes
    ----------
    samples : Samples
    body : bytes
        The request as it came, which the journal keeps.
    asked : Asked, optional
        Which answers are wanted of a prediction.
    future : asyncio.Future
        It brings the answer, for which the event loop waits.
    began : float
        When it came, on the clock of `time.monotonic`.
    """

    samples: Samples
    body: bytes
    asked: Asked | None
    future: Any
    began: float = field(default_factory=time.monotonic)

    @property
    def n_rows(self) -> int:
        return len(self.samples.X)


class Inbox:
    """A queue that refuses what it has no room for.

    Parameters
    ----------
    most_jobs, most_bytes : int
        What may wait; a single job may be as large as it likes.
    """

    def __init__(self, most_jobs: int, most_bytes: int) -> None:
        self.most_jobs, self.most_bytes = most_jobs, most_bytes
        self._jobs: deque[Job] = deque()
        self._n_bytes = 0
        self._closed = False
        self._changed = threading.Condition()

    def __len__(self) -> int:
        return len(self._jobs)

    def put(self, job: Job) -> None:
        """Add a job; raise Refusal if there is no room, or the server is about to end."""
        with self._changed:
            if self._closed:
                raise Refusal(503, "the server is shutting down", 5)
            full = self._n_bytes + len(job.body) > self.most_bytes and self._jobs
            if full or len(self._jobs) >= self.most_jobs:
                raise Refusal(503, f"{len(self._jobs)} requests are waiting: the queue is full", 1)
            self._jobs.append(job)
            self._n_bytes += len(job.body)
            self._changed.notify()

    def take(self, most_rows: int, timeout: float | None = None) -> list[Job] | None:
        """Return the next jobs that one call can do: one, or several within a number of rows.

        Parameters
        ----------
        most_rows : int
        timeout : float, optional
            Seconds after which there may be none.

        Returns
        -------
        list of Job, or None
            None if the inbox is closed, and empty.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._closed, timeout)
            if not self._jobs:
                return None if self._closed else []
            group = [self._next()]
            n_rows = group[0].n_rows
            while self._jobs and go_together(group[0], self._jobs[0]):
                n_rows += self._jobs[0].n_rows
                if n_rows > most_rows:
                    break
                group.append(self._next())
            return group

    def close(self) -> None:
        """Take nothing more; what waits is still given out."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _next(self) -> Job:
        job = self._jobs.popleft()
        self._n_bytes -= len(job.body)
        return job


def go_together(one: Job, other: Job) -> bool:
    """Return whether the samples of two jobs can be one batch."""
    return one.asked == other.asked and all(
        (a is None) == (b is None) for a, b in zip(one.samples, other.samples, strict=True)
    )
