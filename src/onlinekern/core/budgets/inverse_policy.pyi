from typing import Any

from onlinekern.core.budgets.policy import Bounded
from onlinekern.core.linalg.inverse_gram import InverseGram

class InverseGramPolicy(Bounded):
    @property
    def gram(self) -> InverseGram: ...
    def get_learnt(self) -> dict[str, Any]: ...
    def set_learnt(self, learnt: dict[str, Any]) -> None: ...
