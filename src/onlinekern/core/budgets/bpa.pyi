from typing import Any

from onlinekern.core.budgets.policy import Bounded, Budget

class CheapestReplacement(Bounded):
    def get_learnt(self) -> dict[str, Any]: ...
    def set_learnt(self, learnt: dict[str, Any]) -> None: ...

POLICIES: dict[str, type[Budget]]
