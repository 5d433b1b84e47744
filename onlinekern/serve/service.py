"""The service, which joins the model, its files, its two threads and their reports."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from prometheus_client import generate_latest

from onlinekern._config import version
from onlinekern.evaluate.checkpoint import Period
from onlinekern.fitted.save import load
from onlinekern.serve.inbox import Inbox, Job
from onlinekern.serve.metrics import Gauges, Learning, Requests, Told, importances_of
from onlinekern.serve.refusal import Refusal
from onlinekern.serve.rows import BodyReader
from onlinekern.serve.served import ServedModel
from onlinekern.serve.store import Found, Store
from onlinekern.serve.workers import Predictor, Writer

# Limit of all waiting bodies together, in units of the largest body allowed.
MOST_BODIES = 16
# Number of features with a line on the page.
MOST_IMPORTANCES = 12


def signature(path: str) -> tuple[int, ...]:
    """Return what changes with a file; () if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


@dataclass(frozen=True)
class Settings:
    """Settings of a service."""

    model: str
    snapshot: str | None = None
    every: Period = Period(seconds=60.0)  # noqa: RUF009
    sync: str = "always"
    read_only: bool = False
    queue: int = 1024
    max_bytes: int = 1 << 20
    max_classes: int = 100


class Service:
    """A model that is served.

    Parameters
    ----------
    settings : Settings

    Raises
    ------
    ValueError
        If the model cannot be served.
    OSError
        If a file cannot be read or written.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.requests = Requests()
        self.requests.registry.register(Gauges(self._numbers, self._queues))
        self.stopping = False
        # What is wrong with a file that has taken the place of the model's.
        self.replaced: str | None = None
        self._before: Predictor | None = None
        self.store = None if settings.read_only else self._store()
        try:
            self._open()
        except BaseException:
            if self.store is not None:
                # The model may not have all that the journal has.
                self.store.close(save=False)
            raise

    def _store(self) -> Store:
        asked = self.settings
        return Store(asked.model, asked.snapshot or asked.model, asked.every, asked.sync)

    def _open(self) -> None:
        asked, store = self.settings, self.store
        if store is None:
            self.found = Found(asked.model)
            self._signature = signature(asked.model)
            self.served = ServedModel(load(asked.model), asked.model)
        else:
            self.served = store.served
            self._replay(store)
        self.reader = self._new_reader(asked.max_classes)
        self.learning = Learning(self.served)
        most_bytes = MOST_BODIES * asked.max_bytes
        self.predictor = Predictor(self.served, Inbox(asked.queue, most_bytes))
        self.now = self.served, self.reader, self.predictor
        self.writer: Writer | None = None
        if store is not None:
            inbox = Inbox(asked.queue, most_bytes)
            self.writer = Writer(self.served, store, inbox, self.learning)

    def refresh(self) -> None:
        """Serve what is in the model file now, if it has changed, and nothing is learnt.

        Requests that wait are answered by the model before. A file that cannot be served is a
        problem that `health` tells of, and the model before goes on.
        """
        if self.store is not None or self.stopping:
            return
        self._end_before()
        found = signature(self.settings.model)
        if found in ((), self._signature):
            return
        self._signature, self.replaced = found, None
        try:
            served = ServedModel(load(self.settings.model), self.settings.model)
        except (OSError, ValueError, ImportError) as error:
            self.replaced = f"{self.settings.model} has changed, and cannot be served: {error}"
            return
        reader = BodyReader(served.model, served.task, self.settings.max_classes)
        predictor = Predictor(served, Inbox(self.settings.queue, self.predictor.inbox.most_bytes))
        predictor.start()
        # A request that is being read may still come to the thread before: that ends next time.
        self._before = self.predictor
        self.served, self.reader, self.predictor = self.now = served, reader, predictor
        self.learning = Learning(served)

    def _new_reader(self, most_classes: int) -> BodyReader:
        return BodyReader(self.served.model, self.served.task, most_classes)

    def _replay(self, store: Store) -> None:
        # What was learnt before may be learnt again, whatever the options are now.
        reader = self._new_reader(1 << 62)
        store.replay(lambda body: self.served.learn(reader.to_learn(body)))
        self.found = store.found

    def start(self) -> None:
        """Start the threads."""
        self.predictor.start()
        if self.writer is not None:
            self.writer.start()

    def close(self) -> None:
        """Do what waits, write a last snapshot, and free the files."""
        self.stopping = True
        self.predictor.close()
        self._end_before()
        if self.writer is not None:
            self.writer.close()
        if self.store is not None:
            self.store.close()

    def _end_before(self) -> None:
        before, self._before = self._before, None
        if before is not None:
            before.close()

    async def predict(self, body: bytes, query: Any, new_future: Any) -> dict[str, Any]:
        """Return the answer to a request to /predict, perhaps with a query in its address."""
        # They belong together: the model file may be replaced meanwhile.
        served, reader, predictor = self.now
        samples, asked = reader.to_predict(body, query)
        served.check_asked(asked)
        job = Job(samples, body, asked, new_future())
        predictor.inbox.put(job)
        return await job.future

    async def learn(self, body: bytes, new_future: Any) -> dict[str, Any]:
        """Return the answer to a request to /learn."""
        if self.writer is None:
            raise Refusal(403, "this server is read-only")
        job = Job(self.reader.to_learn(body), body, None, new_future())
        self.writer.inbox.put(job)
        return await job.future

    def description(self) -> dict[str, Any]:
        """Return the answer to a request to /model."""
        found = self.served.description()
        return {**found, "learns": self.writer is not None, "onlinekern": version()}

    def summary(self) -> dict[str, Any]:
        """Return what the page at / shows, but for the requests; it may wait for the writer."""
        return {
            "model": self.description(),
            "health": self.health()[1],
            **self.learning.told(),
            "importances": importances_of(self.served.model, MOST_IMPORTANCES),
        }

    def problems(self) -> list[str]:
        """Return in words what is wrong; predictions still work unless they are named."""
        found = []
        if self.stopping:
            found.append("the server is shutting down")
        if not self.predictor.is_alive:
            found.append("the thread that predicts has ended")
        if self.writer is not None and not self.writer.is_alive:
            found.append("the thread that learns has ended")
        if self.store is not None:
            journal = self.store.journal
            found += filter(None, [self.store.failure, journal.failure or journal.trouble])
        return [*found, self.replaced] if self.replaced is not None else found

    def can_learn(self) -> bool:
        """Return whether a sample that comes now would be learnt."""
        return (
            self.writer is not None
            and self.writer.is_alive
            and not self.stopping
            and self.writer.store.journal.failure is None
        )

    def health(self) -> tuple[bool, dict[str, Any]]:
        """Return whether requests should be sent here, and what there is to say about it."""
        problems = self.problems()
        ready = self.predictor.is_alive and not self.stopping
        ready = ready and (self.writer is None or self.can_learn())
        content: dict[str, Any] = {
            "status": "ok" if not problems else "degraded",
            "ready": ready,
            "learns": self.can_learn(),
            "problems": problems,
        }
        if self.store is not None:
            content["sequence"] = self.store.journal.sequence
            content["snapshot_sequence"] = self.store.snapshot_sequence
        return ready, content

    def metrics(self) -> bytes:
        """Return all metrics in Prometheus' text format 0.0.4."""
        return generate_latest(self.requests.registry)

    def _numbers(self) -> Iterator[Told]:
        yield from self.learning.gauges()
        yield from self._gauges()

    def _queues(self) -> Iterator[tuple[str, int]]:
        for name, worker in (("predict", self.predictor), ("learn", self.writer)):
            if worker is not None:
                yield f"/{name}", len(worker.inbox)

    def _gauges(self) -> Iterator[Told]:
        yield "ready", "gauge", "1 if requests should be sent here.", int(self.health()[0])
        if self.store is None:
            return
        store, journal = self.store, self.store.journal
        yield "sequence", "gauge", "Number of the last request learnt.", journal.sequence
        yield (
            *("snapshot_sequence", "gauge", "Number of the last request in the snapshot."),
            store.snapshot_sequence,
        )
        text = "When the snapshot was written, in seconds since 1970."
        yield "snapshot_timestamp_seconds", "gauge", text, store.snapshot_time
        yield "snapshots_total", "counter", "Snapshots written.", store.snapshots
        text = "Snapshots that could not be written."
        yield "snapshot_failures_total", "counter", text, store.failures
        yield "journal_bytes", "gauge", "Length of the journal.", journal.size
        failed = int((journal.failure or journal.trouble) is not None)
        yield "journal_failed", "gauge", "1 if the last request could not be written.", failed
