"""What `fit` does on every engine before the first sample: checks, the plan, and where to begin."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any, TypedDict, TypeVar

from sklearn.base import clone

from onlinekern.distributed.arguments import (
    check_checkpoint,
    check_learner,
    check_options,
    check_targets,
    takes_tables,
)
from onlinekern.distributed.mixing import Plan, Run
from onlinekern.distributed.parts import Stream
from onlinekern.distributed.record import DistributedFit
from onlinekern.distributed.resuming import Place, check_same_run, load_at, run_of, without_place
from onlinekern.estimators.types import ArrayLike
from onlinekern.preprocessing.steps import is_fitted
from onlinekern.streams.checks import check_count

F = TypeVar("F", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """What `fit` may be told on every engine; see `onlinekern.distributed.fit`."""

    classes: ArrayLike | None
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
    """What the caller of `fit` asks for, checked.

    Parameters
    ----------
    estimator, X, y, classes, rounds, passes, n_learners, warm_up, warm_start, checkpoint, resume, \
on_error, storage_options, staleness
        See `onlinekern.distributed.fit`.

    Raises
    ------
    ValueError, TypeError, OSError
        If one is invalid.
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

    def __post_init__(self) -> None:
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
        return cls(estimator, X, y, staleness=staleness, **options)

    @property
    def as_tables(self) -> bool:
        """Whether the learner begins with an encoder of tables."""
        return takes_tables(self.estimator)

    def plan(self, stream: Stream, n_learners: int) -> Plan:
        """Return how a stream is shared among so many learners."""
        if self.rounds > len(stream.parts):
            raise ValueError(f"rounds is {self.rounds}, but X has {len(stream.parts)} parts")
        return Plan(
            rounds=self.rounds,
            passes=self.passes,
            learners=n_learners,
            least=self.warm_up,
            checkpoint=self.checkpoint,
            skips=self.on_error == "skip",
            as_tables=self.as_tables,
            takes_missing=getattr(self.estimator, "_takes_missing", False),
            storage_options=self.storage_options,
            staleness=self.staleness,
        )

    def start(
        self, stream: Stream, n_workers: int, run: Callable[[Stream, Plan, Place], Run]
    ) -> DistributedFit:
        """Learn a stream, from its beginning or from the checkpoint on.

        Parameters
        ----------
        stream : Stream
        n_workers : int
            Learners, unless the caller or the checkpoint says how many.
        run : callable
            (stream, plan, place) -> Run of an engine.
        """
        is_begun = self.warm_start and is_fitted(self.estimator)
        kept = load_at(self.checkpoint, self.storage_options) if self.resume else None
        learners = self.n_learners or (n_workers if kept is None else kept[1].run["n_learners"])
        plan = self.plan(stream, learners)
        begun = without_place(deepcopy(self.estimator)) if is_begun else clone(self.estimator)
        this = run_of(begun, plan, stream)
        if kept is None:
            return run(stream, plan, Place(0, 0, 0, this)).learn(begun, self.classes, is_begun)
        model, place = kept
        check_same_run(self.checkpoint, place, this)
        return run(stream, plan, place).learn(model, self.classes, True)


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
