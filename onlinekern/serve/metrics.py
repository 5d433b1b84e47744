"""The metrics of a server in Prometheus' text format 0.0.4."""

from __future__ import annotations

import os
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from onlinekern.drift.losses import Bounded, LossDetector
from onlinekern.estimators.types import Floats
from onlinekern.evaluate.errors import Errors
from onlinekern.serve.progress import Curve, LastRequests
from onlinekern.serve.served import ServedModel

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# The histogram's bounds are seconds.
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# The errors of the window are those of so many last samples.
WINDOW = 1000
# Between two false alarms lie so many samples, on average, at least.
RUN_LENGTH = 100_000


class Requests:
    """Counts and times of requests by path and status; only the event loop may use it."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, int]] = Counter()
        self.last = LastRequests()
        self.latencies: dict[str, list[int]] = {}
        self.seconds: Counter[str] = Counter()

    def add(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        if path in ("/predict", "/learn"):
            self.last.add(path, status, seconds)
        self.counts[path, status] += 1
        cells = self.latencies.setdefault(path, [0] * (len(BUCKETS) + 1))
        cells[bisect_left(BUCKETS, seconds)] += 1
        self.seconds[path] += seconds  # type: ignore[assignment]

    def lines(self) -> Iterator[str]:
        """Yield the metrics in the text format."""
        yield from head("requests_total", "counter", "Requests answered.")
        for (path, status), number in sorted(self.counts.items()):
            yield f'onlinekern_requests_total{{path="{path}",status="{status}"}} {number}'
        name = "request_seconds"
        yield from head(name, "histogram", "From a request's head to the end of its answer.")
        for path, cells in sorted(self.latencies.items()):
            bounds = [*map(repr, BUCKETS), "+Inf"]
            for bound, number in zip(bounds, accumulate(cells), strict=True):
                yield f'onlinekern_{name}_bucket{{path="{path}",le="{bound}"}} {number}'
            yield f'onlinekern_{name}_sum{{path="{path}"}} {self.seconds[path]!r}'
            yield f'onlinekern_{name}_count{{path="{path}"}} {sum(cells)}'


class Growing:
    """Alarms that the errors of predictions have grown.

    Parameters
    ----------
    counted : bool
        Whether losses are mistakes, 0 or 1; else they are squared errors.
    """

    def __init__(self, counted: bool) -> None:
        self._detector = LossDetector(run_length=RUN_LENGTH, random_state=0)
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
        found: list[int] = self._detector.alarms_.tolist()
        return found


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
        self._curve = Curve()
        self.n_samples = 0
        self._note(served)

    def add(self, predictions: Any, y: Any, served: ServedModel) -> None:
        """Take up samples with the predictions that were made before they were learnt."""
        with self._lock:
            self.n_samples += len(predictions)
            if y is not None:
                self._growing.add(self._errors.add(y, predictions))
                self._curve.add(self.n_samples, self._errors)
            self._note(served)

    def _note(self, served: ServedModel) -> None:
        # They are kept here: a reader of the model would wait for its writer.
        self.n_seen, self.n_support = served.count("n_seen_"), served.count("n_support_")

    def told(self) -> dict[str, Any]:
        """Return the error along the stream, and where alarms were raised."""
        with self._lock:
            known = self._errors.n_rows > 0
            finite = [mark for mark in self._curve.marks if np.isfinite(mark).all()]
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


def head(name: str, kind: str, text: str) -> tuple[str, str]:
    """Return the lines before a metric: its help and its type."""
    return f"# HELP onlinekern_{name} {text}", f"# TYPE onlinekern_{name} {kind}"


def gauge_lines(gauges: Iterable[tuple[str, str, str, float | None]]) -> Iterator[str]:
    """Yield metrics without labels in the text format; those without a value are left out."""
    for name, kind, text, value in gauges:
        if value is not None:
            yield from head(name, kind, text)
            yield f"onlinekern_{name} {value!r}"


def memory_lines() -> Iterator[str]:
    """Yield the memory of this process, under the name that Prometheus' own clients use."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return  # This is not Linux.
    name = "process_resident_memory_bytes"
    yield f"# HELP {name} Resident memory size in bytes."
    yield f"# TYPE {name} gauge"
    yield f"{name} {pages * os.sysconf('SC_PAGE_SIZE')}"
