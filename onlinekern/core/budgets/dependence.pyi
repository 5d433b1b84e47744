from typing import Any

from onlinekern.core.budgets.policy import Bounded, Budget

class LinearDependence(Bounded):
    def __init__(self, max_support: int, nu: float) -> None: ...
    def get_learnt(self) -> dict[str, Any]: ...
    def set_learnt(self, learnt: dict[str, Any]) -> None: ...

POLICIES: dict[str, type[Budget]]
