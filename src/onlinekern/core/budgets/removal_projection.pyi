from typing import Any

from onlinekern.core.budgets.inverse_policy import InverseGramPolicy
from onlinekern.core.budgets.policy import Bounded, Budget

class Removal(Bounded):
    def get_learnt(self) -> dict[str, Any]: ...
    def set_learnt(self, learnt: dict[str, Any]) -> None: ...

class Projection(InverseGramPolicy): ...

POLICIES: dict[str, type[Budget]]
