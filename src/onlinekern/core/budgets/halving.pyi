from typing import Any

from onlinekern.core.budgets.policy import Bounded, Budget

class Halving(Bounded):
    def __init__(self, max_support: int, radius: float) -> None: ...
    def get_learnt(self) -> dict[str, Any]: ...
    def set_learnt(self, learnt: dict[str, Any]) -> None: ...

POLICIES: dict[str, type[Budget]]
