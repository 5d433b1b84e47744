from typing import ClassVar

from onlinekern.core.base.part import Component, Part
from onlinekern.core.learning.losses import Loss
from onlinekern.core.learning.schedules import Schedule

class Rule(Part):
    abstract: ClassVar[bool]
    @property
    def loss(self) -> Loss: ...
    @property
    def second_order(self) -> bool: ...
    @property
    def uses_length(self) -> bool: ...
    @property
    def continues(self) -> bool: ...
    def components(self) -> tuple[Component, ...]: ...
    def evaluate_contraction(
        self, f: float, y: float, q: float = 1.0, importance: float = 1.0
    ) -> float: ...
    def evaluate(
        self,
        f: float,
        y: float,
        q: float = 1.0,
        t: int = 1,
        importance: float = 1.0,
        weight: float = 1.0,
    ) -> tuple[float, float]: ...
    def evaluate_together(
        self,
        f: float,
        y: float,
        q: float = 1.0,
        t: int = 1,
        importance: float = 1.0,
        weight: float = 1.0,
    ) -> tuple[float, float, float]: ...

class Perceptron(Rule):
    def __init__(self) -> None: ...

class Gradient(Rule):
    def __init__(self, loss: Loss, schedule: Schedule, regularisation: float = 0.0) -> None: ...

class Pegasos(Gradient): ...

class BatchPegasos(Rule):
    def __init__(self, loss: Loss, regularisation: float, batch_size: int = 1) -> None: ...

class InverseTime(Rule):
    def __init__(self, loss: Loss, regularisation: float, max_step: float = ...) -> None: ...

class EverySample(Rule):
    def __init__(self, loss: Loss) -> None: ...

class PassiveAggressive(Rule):
    def __init__(self, loss: Loss) -> None: ...

class PassiveAggressive1(PassiveAggressive):
    def __init__(self, loss: Loss, C: float = 1.0) -> None: ...

class PassiveAggressive2(PassiveAggressive1): ...
class ScaledPassiveAggressive1(PassiveAggressive1): ...
class ScaledPassiveAggressive2(PassiveAggressive2): ...

RULES: dict[str, type[Rule]]
