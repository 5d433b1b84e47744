from typing import Any, ClassVar

from onlinekern.core.budgets.inverse_policy import InverseGramPolicy
from onlinekern.core.budgets.policy import Budget

class RecursivePolicy(InverseGramPolicy):
    abstract: ClassVar[bool]
    def change(self, *arguments: Any) -> None: ...
    def get_learnt(self) -> dict[str, Any]: ...
    def set_learnt(self, learnt: dict[str, Any]) -> None: ...

class SlidingWindow(RecursivePolicy):
    def __init__(self, max_support: int, reg: float) -> None: ...

class FixedBudget(SlidingWindow):
    def __init__(self, max_support: int, reg: float, eta: float) -> None: ...

POLICIES: dict[str, type[Budget]]
