from onlinekern.core.learning.losses import Loss
from onlinekern.core.learning.rules import Rule

class AROW(Rule):
    def __init__(self, loss: Loss, r: float = 1.0) -> None: ...

class ConfidenceWeighted(Rule):
    def __init__(self, loss: Loss, confidence: float = 0.9) -> None: ...

class VarianceConfidenceWeighted(ConfidenceWeighted): ...

class SoftConfidenceWeighted1(ConfidenceWeighted):
    def __init__(self, loss: Loss, confidence: float = 0.9, C: float = 1.0) -> None: ...

class SoftConfidenceWeighted2(SoftConfidenceWeighted1): ...

class LeastSquares(Rule):
    def __init__(self, loss: Loss) -> None: ...

RULES: dict[str, type[Rule]]
