from typing import Any

from onlinekern.core.budgets.policy import Bounded, Budget

class AffineProjection(Bounded):
    def __init__(
        self, max_support: int, order: int, eta: float, reg: float, normalised: bool
    ) -> None: ...
    def get_learnt(self) -> dict[str, Any]: ...
    def set_learnt(self, learnt: dict[str, Any]) -> None: ...

POLICIES: dict[str, type[Budget]]
