"""The parameters of gradient steps, which learners in several spaces share."""

from typing import Any, Literal, TypeAlias

from onlinekern.core import LOSSES, RULES, SCHEDULES
from onlinekern.core.learning.losses import Loss
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.parameters import NotNegative, Positive, Schedule, estimator

LabelLossName: TypeAlias = Literal[
    "hinge", "squared_hinge", "smooth_hinge", "logistic", "exponential", "squared"
]
LabelLoss: TypeAlias = LabelLossName | Loss
TargetLoss: TypeAlias = Literal["squared", "absolute", "epsilon_insensitive", "huber"] | Loss


def made_for(learner: Any, cls: Any, **given: float) -> Any:
    """Return a part of a class, whose arguments are parameters of the learner or given."""
    names = cls.parameters
    return cls(*(given[name] if name in given else getattr(learner, name) for name in names))


def loss_of(learner: Any) -> Loss:
    """Return the loss that a learner names."""
    return made_for(learner, LOSSES[learner.loss])


@estimator
class GradientStep(Learner):
    """Mixin of learners that step along the negative gradient of a loss of the subclass."""

    loss: str | Loss = "squared"
    eta: Positive = 0.5
    schedule: Schedule = "constant"
    power: NotNegative = 0.5
    reg: NotNegative = 0.0
    delta: Positive = 1.0
    epsilon: NotNegative = 0.1

    def _rule(self) -> Any:
        loss = self.loss if isinstance(self.loss, Loss) else loss_of(self)
        return RULES["gradient"](loss, made_for(self, SCHEDULES[self.schedule]), self.reg)
