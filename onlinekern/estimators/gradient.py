"""The parameters of gradient steps, which learners in several spaces share."""

from collections.abc import Hashable
from functools import cache
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from onlinekern.core import LOSSES, RULES, SCHEDULES
from onlinekern.core.learning.losses import Loss
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.parameters import (
    NotNegative,
    Positive,
    Schedule,
    check_parameters_of,
    estimator,
)
from onlinekern.estimators.scikit_learn import StrOptions

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


@cache
def arguments_without_loss(cls: Hashable) -> tuple[tuple[str, float], ...]:
    """Return the arguments of losses that no loss which the class names takes, with defaults."""
    taken = {name for loss in losses_of(cls) for name in LOSSES[loss].parameters}
    known = {name for loss in LOSSES.values() for name in loss.parameters}
    fields = cast(Any, cls).__dataclass_fields__
    return tuple((name, fields[name].default) for name in sorted((known - taken) & fields.keys()))


def losses_of(cls: Any) -> set[str]:
    """Return the names of the losses that a class has; a class that names none may have any."""
    constraints = cls._parameter_constraints.get("loss", ())
    named = {name for one in constraints if isinstance(one, StrOptions) for name in one.options}
    return named or {*LOSSES}


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

    # A model that a former version has saved with such an argument goes on: only those that begin
    # are looked at, and what is set.

    def _first_model(self, X: Any, draws: np.random.RandomState) -> Any:
        self._check_arguments({})
        return super()._first_model(X, draws)

    def _renew_parameters(self, before: dict[str, Any]) -> None:
        check_parameters_of(self)
        self._check_arguments(vars(self) | before)
        super()._renew_parameters(before)

    def _check_arguments(self, before: dict[str, Any]) -> None:
        """Raise ValueError if an argument of losses is given that no loss of the class takes.

        One that another loss takes is not looked at, as scikit-learn takes a degree beside any
        kernel: who searches sets both. One that has its value of `before` may stay.
        """
        kind: Any = type(self)
        for name, default in arguments_without_loss(kind):
            if (value := getattr(self, name)) not in (default, before.get(name, default)):
                raise ValueError(
                    f"{name}={value!r} has no effect on {type(self).__name__}, none of whose "
                    f"losses has it: leave {name} at its default, {default!r}"
                )
