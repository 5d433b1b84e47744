"""The writer of each kind of model that learns in C."""

from __future__ import annotations

from onlinekern.fitted.export import states
from onlinekern.fitted.export.c.joint import ConfidentLearner
from onlinekern.fitted.export.c.learn import Learner
from onlinekern.fitted.export.c.linear import LinearLearner, MappedLearner
from onlinekern.fitted.export.c.source import Source
from onlinekern.fitted.export.c.squares import SquaresLearner
from onlinekern.fitted.export.c.support import KernelLearner

LEARNERS: dict[type, type[Learner]] = {
    states.ConfidentState: ConfidentLearner,
    states.KernelState: KernelLearner,
    states.LinearState: LinearLearner,
    states.MappedState: MappedLearner,
    states.SquaresState: SquaresLearner,
}


def write_learner(
    source: Source,
    learning: states.Learning,
    n_features: int,
    capacity: int | None = None,
    tries: bool = False,
) -> None:
    """Write a model that learns rows of so many features; see `Learner`."""
    learner = LEARNERS[type(learning.state)](source, learning, n_features, capacity, tries)
    learner.write()
    source.room = learner.room or learner.size.length
