"""The metrics of a server, for pages too; prometheus_client writes the text format 0.0.4."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from onlinekern.drift.losses import DRAWS, Bounded, LossDetector
from onlinekern.estimators.types import Floats
from onlinekern.evaluate.errors import Errors
from onlinekern.serve.served import ServedModel

# Largest number of marks; when there are more, every second one is dropped.
MOST_MARKS = 256
# Number of the last requests that the page shows.
LAST = 20


class Mark(NamedTuple):
    """The error of a stream at a sample, since the start and lately."""

    sample: int
    error: float
    lately: float


class ErrorMarks:
    """The error along a stream, in a bounded number of marks."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []
        self.stride = 1

    def add(self, n_samples: int, errors: Any) -> None:
        """Take note of errors after so many samples."""
        mark = Mark(n_samples, float(errors.error), float(errors.window_error))
        if self.marks and n_samples < self.marks[-1].sample + self.stride:
            return
        self.marks.append(mark)
        if len(self.marks) > MOST_MARKS:
            self.marks = self.marks[1::2]
            self.stride = max(1, 2 * self.stride, n_samples // MOST_MARKS)


class LastRequests:
    """The last requests to predict and to learn; only the event loop may use it."""

    def __init__(self) -> None:
        self._found: deque[dict[str, Any]] = deque(maxlen=LAST)

    def add(self, path: str, status: int, seconds: float) -> None:
        """Take note of a request."""
        self._found.append(
            {"at": time.time(), "path": path, "status": status, "ms": round(1e3 * seconds, 3)}
        )

    def told(self) -> list[dict[str, Any]]:
        """Return them, the last one first."""
        return list(reversed(self._found))


def importances_of(model: Any, most: int) -> list[tuple[str, float]]:
    """Return the largest importances of a model's features with their names; none without any."""
    from onlinekern.plotting.importances import found_in

    try:
        values, names = found_in(model)
    except (TypeError, ValueError, AttributeError):
        return []
    order = values.argsort(kind="stable")[::-1][:most]
    return [(str(names[k]), float(values[k])) for k in order if values[k] > 0]


# Whoever looks does not ask when a counter began.
disable_created_metrics()  # type: ignore[no-untyped-call]
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# The histogram's bounds are seconds.
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# Samples in the window of errors.
WINDOW = 1000
# Least number of samples between two false alarms, on average.
RUN_LENGTH = 100_000


class Requests:
    """Counts and times of requests by path and status, in the registry of a service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        given: dict[str, Any] = {"namespace": "onlinekern", "registry": self.registry}
        self._counts = Counter("requests", "Requests answered.", ["path", "status"], **given)
        text = "From a request's head to the end of its answer."
        self._seconds = Histogram("request_seconds", text, ["path"], buckets=BUCKETS, **given)
        # To look labels up takes longer than to count.
        self._known: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self.last = LastRequests()
        ProcessCollector(registry=self.registry)

    def add(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        if path in ("/predict", "/learn"):
            self.last.add(path, status, seconds)
        own = self._known.get((path, status))
        if own is None:
            own = self._counts.labels(path, str(status)), self._seconds.labels(path)
            self._known[path, status] = own
        own[0].inc()
        own[1].observe(seconds)


Told: TypeAlias = tuple[str, str, str, float | None]


class Gauges(Collector):
    """Numbers that are asked for when somebody looks.

    Parameters
    ----------
    told : callable
        Yields name, kind, help and value; a number without a value is left out.
    queues : callable
        Yields the path of each queue, and how many wait there.
    """

    def __init__(
        self, told: Callable[[], Iterable[Told]], queues: Callable[[], Iterable[tuple[str, int]]]
    ) -> None:
        self._told, self._queues = told, queues

    def describe(self) -> Iterator[Metric]:
        """Yield nothing: what there is can change."""
        yield from ()

    def collect(self) -> Iterator[Metric]:
        """Yield the numbers."""
        for name, kind, text, value in self._told():
            if value is None:
                continue
            if kind == "counter":
                own = f"onlinekern_{name.removesuffix('_total')}"
                yield CounterMetricFamily(own, text, value=value)
            else:
                yield GaugeMetricFamily(f"onlinekern_{name}", text, value=value)
        text = "Requests that wait for a thread."
        lengths = GaugeMetricFamily("onlinekern_queue_length", text, labels=["path"])
        for path, length in self._queues():
            lengths.add_metric([path], length)
        yield lengths


class Growing:
    """Alarms that the errors of predictions have grown.

    Parameters
    ----------
    counted : bool
        Whether losses are mistakes, 0 or 1; else they are squared errors.
    """

    def __init__(self, counted: bool) -> None:
        self._detector = LossDetector(run_length=RUN_LENGTH, random_state=DRAWS)
        self._bounded = None if counted else Bounded()

    def add(self, losses: Floats) -> None:
        """Take up losses; what is not finite is left out."""
        if self._bounded is not None:
            losses, _ = self._bounded(np.sqrt(losses[np.isfinite(losses)]))
        self._detector.update_many(losses)

    @property
    def count(self) -> int:
        """Alarms so far."""
        return len(self.samples)

    @property
    def samples(self) -> list[int]:
        """The samples, counted from 1, that raised an alarm."""
        return self._detector.alarms_.tolist()


class Learning:
    """Progress of learning since the server's start; the writer adds, any thread reads.

    Parameters
    ----------
    served : ServedModel
    """

    def __init__(self, served: ServedModel) -> None:
        self._lock = threading.Lock()
        self._errors = Errors(served.task == "classification", WINDOW)
        self._growing = Growing(self._errors.counted)
        self._marks = ErrorMarks()
        self.n_samples = 0
        self._note(served)

    def add(self, predictions: Any, y: Any, served: ServedModel) -> None:
        """Take up samples with the predictions that were made before they were learnt."""
        with self._lock:
            self.n_samples += len(predictions)
            if y is not None:
                self._growing.add(self._errors.add(y, predictions))
                self._marks.add(self.n_samples, self._errors)
            self._note(served)

    def _note(self, served: ServedModel) -> None:
        # They are kept here: a reader of the model would wait for its writer.
        self.n_seen, self.n_support = served.count("n_seen_"), served.count("n_support_")

    def told(self) -> dict[str, Any]:
        """Return the error along the stream, and where alarms were raised."""
        with self._lock:
            known = self._errors.n_rows > 0
            finite = [mark for mark in self._marks.marks if np.isfinite(mark).all()]
            return {
                "error": number(self._errors.error) if known else None,
                "lately": number(self._errors.window_error) if known else None,
                "curve": finite,
                "alarms": self._growing.samples if known else [],
            }

    def gauges(self) -> Iterator[tuple[str, str, str, float | None]]:
        """Yield name, kind, help and value."""
        with self._lock:
            yield "samples_learnt_total", "counter", "Samples learnt.", self.n_samples
            what = "Share of mistakes" if self._errors.counted else "Root mean squared error"
            known = self._errors.n_rows > 0
            text = f"{what} of predictions made before learning"
            yield "error", "gauge", f"{text}.", self._errors.error if known else None
            last = self._errors.window_error if known else None
            yield "window_error", "gauge", f"{text}, last {WINDOW} samples.", last
            text = f"Alarms that the errors have grown, at most one in {RUN_LENGTH:,} by chance."
            yield "alarms_total", "counter", text, self._growing.count if known else None
            yield "samples_seen", "gauge", "Samples that the model has learnt.", self.n_seen
            yield "support_vectors", "gauge", "Support vectors of the model.", self.n_support


def number(value: float) -> float | None:
    """Return a number as JSON has it: None where it is not finite."""
    return float(value) if np.isfinite(value) else None
