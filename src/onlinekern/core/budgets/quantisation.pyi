from typing import Any

from onlinekern.core.budgets.eviction import OldestEviction
from onlinekern.core.budgets.policy import Bounded, Budget

LEAST_SHARE: float

class Quantise(Bounded):
    def __init__(self, similarity: float, max_support: int) -> None: ...

class NearestWhenFull(OldestEviction):
    def get_learnt(self) -> dict[str, Any]: ...
    def set_learnt(self, learnt: dict[str, Any]) -> None: ...

POLICIES: dict[str, type[Budget]]
