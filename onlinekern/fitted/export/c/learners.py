"""The writer of each kind of model that learns in C."""

from __future__ import annotations

from onlinekern.fitted.export import states
from onlinekern.fitted.export.c.joint import ConfidentWriter
from onlinekern.fitted.export.c.learn import LearningWriter
from onlinekern.fitted.export.c.linear import LinearWriter, MappedWriter
from onlinekern.fitted.export.c.source import Source
from onlinekern.fitted.export.c.squares import SquaresWriter
from onlinekern.fitted.export.c.support import KernelWriter

LEARNERS: dict[type, type[LearningWriter]] = {
    states.ConfidentState: ConfidentWriter,
    states.KernelState: KernelWriter,
    states.LinearState: LinearWriter,
    states.MappedState: MappedWriter,
    states.SquaresState: SquaresWriter,
}


def write_learner(
    source: Source,
    learning: states.Learning,
    n_features: int,
    capacity: int | None = None,
    tries: bool = False,
) -> None:
    """Write a model that learns rows of so many features; see `LearningWriter`."""
    learner = LEARNERS[type(learning.state)](source, learning, n_features, capacity, tries)
    learner.write()
    source.room = learner.room or learner.size.length
