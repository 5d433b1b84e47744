"""What `fit` does on every engine before the first sample: checks, the plan, and where to begin."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from os import PathLike
from typing import Any, TypedDict, TypeVar

import numpy as np
from sklearn.base import clone

from onlinekern.distributed.arguments import (
    check_checkpoint,
    check_learner,
    check_options,
    check_targets,
    takes_tables,
)
from onlinekern.distributed.mixing import Run
from onlinekern.distributed.parts import Part, Stream
from onlinekern.distributed.record import DistributedFit
from onlinekern.distributed.resuming import Place, check_same_run, load_at, run_of, without_place
from onlinekern.distributed.rows import Rows
from onlinekern.estimators.types import Classes
from onlinekern.preprocessing.steps import is_fitted
from onlinekern.streams.errors import check_count

F = TypeVar("F", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """Arguments of `fit` on every engine; see `onlinekern.distributed.fit`."""

    classes: Classes
    rounds: int
    passes: int
    n_learners: int | None
    warm_up: int | None
    warm_start: bool
    checkpoint: str | PathLike[str] | None
    resume: bool
    on_error: str
    storage_options: Mapping[str, Any] | None


@dataclass(frozen=True)
class Asked:
    """What the caller of `fit` asks for; once it starts, there are `n_learners`.

    Parameters
    ----------
    estimator, X, y, classes, rounds, passes, n_learners, warm_up, warm_start, checkpoint, resume, \
on_error, storage_options, staleness
        See `onlinekern.distributed.fit`.
    """

    estimator: Any
    X: Any
    y: Any
    classes: Any = None
    rounds: int = 1
    passes: int = 1
    n_learners: int | None = None
    warm_up: int | None = None
    warm_start: bool = False
    checkpoint: Any = None
    resume: bool = False
    on_error: str = "raise"
    storage_options: Any = None
    staleness: int = 0

    def check(self) -> None:
        """Raise ValueError, TypeError or OSError if something is invalid."""
        check_learner(self.estimator)
        check_targets(self.estimator, self.X, self.y, self.classes)
        for name in ("rounds", "passes", "n_learners", "warm_up"):
            check_count(name, getattr(self, name), name in ("n_learners", "warm_up"))
        check_count("staleness", self.staleness, least=0)
        if self.on_error not in ("raise", "skip"):
            raise ValueError(f"on_error must be 'raise' or 'skip', got {self.on_error!r}")
        check_options(self.X, self.checkpoint, self.storage_options)
        check_checkpoint(self.estimator, self.checkpoint, self.resume, self.storage_options)

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, options: Options, staleness: int = 0) -> Asked:
        """Return what the caller of a `fit` asks for by ``**options``; TypeError if by others."""
        unknown = sorted(set(options) - set(inspect.get_annotations(Options)))
        if unknown:
            raise TypeError(f"fit() got an unexpected keyword argument {unknown[0]!r}")
        asked = cls(estimator, X, y, staleness=staleness, **options)
        asked.check()
        return asked

    @property
    def as_tables(self) -> bool:
        """Whether the learner begins with an encoder of tables."""
        return takes_tables(self.estimator)

    def rows(self, part: Part) -> Rows:
        """Return the rows of a part, which go to a task."""
        takes_missing = getattr(self.estimator, "_takes_missing", False)
        skips = self.on_error == "skip"
        return Rows(replace(part, data=()), skips, self.as_tables, takes_missing)

    def shares(self, n_parts: int, first: int) -> Iterator[list[list[int]]]:
        """Yield the parts of each learner, for every round; those before the `first` are learnt.

        Learner k of K takes each K-th part: at any time all learn of the same stretch.
        """
        assert self.n_learners is not None
        for number in range(self.passes):
            there = range(first if number == 0 else 0, n_parts)
            for stretch in np.array_split(np.array(there), self.rounds):
                some = [stretch[k :: self.n_learners].tolist() for k in range(self.n_learners)]
                if len(stretch):
                    yield [share for share in some if share]

    def start(
        self, stream: Stream, n_workers: int, run: Callable[[Stream, Asked, Place], Run]
    ) -> DistributedFit:
        """Learn a stream, from its beginning or from the checkpoint on.

        Parameters
        ----------
        stream : Stream
        n_workers : int
            Learners, unless the caller or the checkpoint says how many.
        run : callable
            (stream, asked, place) -> Run of an engine.
        """
        is_begun = self.warm_start and is_fitted(self.estimator)
        kept = load_at(self.checkpoint, self.storage_options) if self.resume else None
        learners = self.n_learners or (n_workers if kept is None else kept[1].run["n_learners"])
        asked = replace(self, n_learners=learners)
        if self.rounds > len(stream.parts):
            raise ValueError(f"rounds is {self.rounds}, but X has {len(stream.parts)} parts")
        begun = without_place(deepcopy(self.estimator)) if is_begun else clone(self.estimator)
        this = run_of(begun, asked, stream)
        if kept is None:
            return run(stream, asked, Place(0, 0, 0, this)).learn(begun, self.classes, is_begun)
        model, place = kept
        check_same_run(self.checkpoint, place, this)
        return run(stream, asked, place).learn(model, self.classes, True)


def takes_options(fit: F) -> F:
    """Show the parameters of `Options`, with the defaults of `Asked`, for ``**options``."""
    found = inspect.signature(fit)
    own = [one for one in found.parameters.values() if one.kind is not one.VAR_KEYWORD]
    types = inspect.get_annotations(Options)
    shared = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default,
            annotation=types[field.name].__forward_arg__,
        )
        for field in fields(Asked)
        if field.name in types
    ]  # fmt: skip
    fit.__signature__ = found.replace(parameters=[*own, *shared])  # type: ignore[attr-defined]
    return fit
