"""The progress of a comparison, in a checkpoint and back."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from onlinekern.evaluate.checkpoint import Checkpoint
from onlinekern.evaluate.test_then_train import PrequentialResult, Run

if TYPE_CHECKING:
    from onlinekern.streams.source import Source


class KeptProgress:
    """The progress of a comparison: trials of the search, results, and models in mid-stream.

    Parameters
    ----------
    checkpoint : Checkpoint or None
        None: nothing is kept.
    """

    def __init__(self, checkpoint: Checkpoint | None) -> None:
        self.checkpoint = checkpoint
        found = None if checkpoint is None else checkpoint.found
        state: Any = {} if found is None else found.state
        self.trials: dict[str, float] = dict(state.get("trials", {}))
        self._finished: dict[str, Any] = dict(state.get("finished", {}))
        self._running: dict[str, Any] = dict(state.get("running", {}))
        self._models = {} if found is None else dict(found.models)
        self._repeat = int(state.get("repeat", -1))
        self._results: Sequence[Any] = ()
        self._runs: Sequence[Run] = ()
        if checkpoint is not None and found is None:
            # A folder where nothing can be written is known now, not after an hour.
            self.save()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: Any) -> None:
        if self.checkpoint is not None:
            self.checkpoint.close()

    @property
    def interval(self) -> int:
        """Samples between two checkpoints; very many if seconds count, or nothing is kept."""
        samples = None if self.checkpoint is None else self.checkpoint.every.samples
        return samples or sys.maxsize

    def restore_results(self, results: Sequence[Any]) -> None:
        """Fill in the results of what is finished."""
        self._results = results
        for result in results:
            kept = self._finished.get(result.name, {"runs": [], "test_scores": []})
            result.runs.extend(_result(fields) for fields in kept["runs"])
            result.test_scores.extend(kept["test_scores"])

    def restore_runs(self, runs: Sequence[Run], repeat: int) -> None:
        """Set the runs of a repeat to where they were, those whose models could be saved."""
        self._runs = runs
        for run, result in zip(runs, self._results, strict=True):
            if repeat == self._repeat and result.name in self._running:
                model = self._models.get(result.name)
                if model is not None:
                    run.restore(self._running[result.name], model, result.name)
        self._repeat = repeat

    def unfinished(self) -> list[tuple[Run, Any]]:
        """Return the runs that have no result of this repeat yet, each with its results."""
        pairs = zip(self._runs, self._results, strict=True)
        return [(run, result) for run, result in pairs if len(result.runs) == self._repeat]

    def count(self, n_samples: int) -> None:
        """Count samples, and write a checkpoint if it is time to."""
        if self.checkpoint is not None and self.checkpoint.due(n_samples):
            self.save()

    def save(self) -> None:
        """Write a checkpoint."""
        if self.checkpoint is None:
            return
        finished = {
            result.name: {
                "runs": [_plain(vars(run)) for run in result.runs],
                "test_scores": [float(score) for score in result.test_scores],
            }
            for result in self._results
        }
        running, models = self._running, self._models
        if self._runs:
            running, models = {}, {}
            for run, result in zip(self._runs, self._results, strict=True):
                running[result.name] = run.state()
                data = run.saved_model()
                if data is not None:
                    models[result.name] = data
        state = {
            "trials": self.trials,
            "finished": finished or self._finished,
            "running": running,
            "repeat": self._repeat,
        }
        self.checkpoint.write(state, models)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value


def _result(fields: dict[str, Any]) -> PrequentialResult:
    values: dict[str, Any] = {
        name: np.array(value) if isinstance(value, list) else value
        for name, value in fields.items()
    }
    values["curves"] = {name: np.array(value) for name, value in fields["curves"].items()}
    values["drifts"] = values["drifts"].astype(np.int64)
    return PrequentialResult(**values)


def digest_of(source: Source) -> str:
    """Return a digest of what a source gives to the learner, the labels included."""
    digest = hashlib.blake2b(digest_size=16)
    layout = source.layout
    X: Any
    digest.update(f"{source.n_samples} {layout.n_features} {layout.dtype} {source.task}".encode())
    for X, y in source.blocks():
        for array in (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,):
            digest.update(np.ascontiguousarray(array).data)
        if y.dtype.kind == "U":
            digest.update("\0".join(y.tolist()).encode())
        else:
            digest.update(np.ascontiguousarray(y).data)
    return digest.hexdigest()
