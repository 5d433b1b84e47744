"""The parameters of gradient steps, which learners in several spaces share."""

from dataclasses import dataclass
from typing import Any

from onlinekern.core import LOSSES, RULES, SCHEDULES
from onlinekern.core.learning.losses import Loss
from onlinekern.estimators.constraints import NOT_NEGATIVE, POSITIVE
from onlinekern.estimators.contract import OnlineEstimator
from onlinekern.estimators.scikit_learn import StrOptions


@dataclass(kw_only=True, eq=False, repr=False)
class GradientStep(OnlineEstimator):
    """Mixin: steps along the negative gradient of a loss."""

    eta: float = 0.5
    schedule: str = "constant"
    power: float = 0.5
    reg: float = 0.0
    delta: float = 1.0
    epsilon: float = 0.1

    _constraints = {
        "eta": POSITIVE,
        "schedule": [StrOptions(set(SCHEDULES))],
        "power": NOT_NEGATIVE,
        "reg": NOT_NEGATIVE,
        "delta": POSITIVE,
        "epsilon": NOT_NEGATIVE,
    }

    def _rule(self) -> Any:
        own = {"smooth_hinge": self.delta, "huber": self.delta, "epsilon_insensitive": self.epsilon}
        loss = self.loss
        if not isinstance(loss, Loss):
            loss = LOSSES[loss](*[own[loss]] if loss in own else [])
        step = [self.eta, self.power] if self.schedule == "power" else [self.eta]
        return RULES["gradient"](loss, SCHEDULES[self.schedule](*step), self.reg)


@dataclass(kw_only=True, eq=False, repr=False)
class LabelGradient(GradientStep):
    """Mixin: the losses of classification."""

    loss: str | Loss = "hinge"

    _constraints = {
        "loss": [
            StrOptions(
                {"hinge", "squared_hinge", "smooth_hinge", "logistic", "exponential", "squared"}
            ),
            Loss,
        ]
    }


@dataclass(kw_only=True, eq=False, repr=False)
class TargetGradient(GradientStep):
    """Mixin: the losses of regression."""

    loss: str | Loss = "squared"

    _constraints = {
        "loss": [StrOptions({"squared", "absolute", "epsilon_insensitive", "huber"}), Loss],
    }
