from typing import Any

from onlinekern.core.learning.order import Order
from onlinekern.core.learning.recent_scores import RecentScores
from onlinekern.core.models.composed import Composed
from onlinekern.estimators.types import Array, ArrayLike, Floats, Indices, Sparse

class Model(Composed):
    @property
    def calls(self) -> int: ...
    def __copy__(self) -> Model: ...
    def learn(
        self,
        X: Array | Sparse,
        y: Floats,
        weight: Floats | None = None,
        order: Order | Indices | None = None,
        window: int = 0,
        scores: Floats | None = None,
        noted: bool = True,
        goes_on: bool = False,
    ) -> Floats: ...
    def learn_one(self, x: ArrayLike, y: float, weight: float = 1.0) -> float: ...
    def undo(self) -> None: ...

def restore(
    arguments: tuple[Any, ...],
    seen: int,
    mistakes: int,
    loss: float,
    recent: RecentScores | None = None,
    targets: tuple[Any, ...] | None = None,
    lead: int = 0,
) -> Model: ...
