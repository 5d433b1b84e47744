"""The result of a run on a cluster: its model, and the figures of its rounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Tally(NamedTuple):
    """Samples that were learnt, and how they had been predicted before.

    Attributes
    ----------
    samples : int
    loss : float
        Mistakes, or the sum of squared errors.
    moved : int
        Bytes of models that were sent for it.
    """

    samples: int = 0
    loss: float = 0.0
    moved: int = 0

    def plus(self, other: Tally) -> Tally:
        """Add another tally to this one."""
        return Tally(self.samples + other.samples, self.loss + other.loss, self.moved + other.moved)


class ClusterLost(RuntimeError):
    """The cluster is gone, or a part of the data ends every worker that reads it.

    Attributes
    ----------
    model : estimator or None
        The merged model of the last round that ended; None if none did.
    rounds : list of Round
        The rounds that ended.
    """

    def __init__(self, message: str, model: Any = None, rounds: Any = ()) -> None:
        super().__init__(message)
        self.model, self.rounds = model, list(rounds)

    def __reduce__(self) -> Any:
        return type(self), (str(self), self.model, self.rounds)


@dataclass(frozen=True)
class Round:
    """The figures of what was learnt between two merges.

    Attributes
    ----------
    number : int
        Counts from 1; 0 is the warm-up.
    learners : int
    samples : int
        Samples learnt by all learners together.
    mistakes : int or None
        Samples that their own learner predicted wrongly before it learnt them (classification).
    squared_error : float or None
        Sum of squared errors of such predictions (regression).
    seconds : float
        Time from the first task that was sent to the merged model.
    bytes_moved : int
        Bytes of models sent between processes: to the learners, with a learner that changes its
        worker, to the merges, and to the client. What the client sent counts with the round that it
        began.
    by_learner : list of (int, float)
        Samples, and mistakes or squared error, of each learner.
    """

    number: int
    learners: int
    samples: int
    mistakes: int | None
    squared_error: float | None
    seconds: float
    bytes_moved: int
    by_learner: list[tuple[int, float]] = field(repr=False, default_factory=list)


@dataclass
class DistributedFit:
    """The result of `onlinekern.distributed.fit`.

    Attributes
    ----------
    model : estimator
        The merged model, of the class of the estimator that was given.
    rounds : list of Round
        The warm-up, then one for each merge.
    skipped : dict of str to int
        The parts with bad rows, by name, and how many of them ``on_error="skip"`` left out.
    """

    model: Any
    rounds: list[Round] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)

    @property
    def samples(self) -> int:
        """Samples learnt, each counted as often as it was."""
        return sum(one.samples for one in self.rounds)

    @property
    def mistakes(self) -> int | None:
        """Samples that were predicted wrongly before they were learnt; None of a regression."""
        counts = [one.mistakes for one in self.rounds if one.mistakes is not None]
        return sum(counts) if counts else None

    @property
    def squared_error(self) -> float | None:
        """Sum of the squared errors of such predictions; None of a classification."""
        sums = [one.squared_error for one in self.rounds if one.squared_error is not None]
        return sum(sums) if sums else None

    @property
    def error(self) -> float:
        """Share of mistakes, or root mean squared error; NaN of learners without targets."""
        if self.mistakes is not None:
            return self.mistakes / max(1, self.samples)
        if self.squared_error is not None:
            return float((self.squared_error / max(1, self.samples)) ** 0.5)
        return float("nan")

    @property
    def seconds(self) -> float:
        """Time of all rounds."""
        return sum(one.seconds for one in self.rounds)

    @property
    def bytes_moved(self) -> int:
        """Bytes of models that were sent between processes."""
        return sum(one.bytes_moved for one in self.rounds)
