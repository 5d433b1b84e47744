from onlinekern.core.learning.losses import Loss
from onlinekern.core.learning.rules import Rule

class LogisticNewton(Rule):
    def __init__(self, loss: Loss, r: float = 1.0) -> None: ...

RULES: dict[str, type[Rule]]
