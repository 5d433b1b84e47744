from collections.abc import Callable, Sequence
from typing import Any

from onlinekern.core.experts import Experts
from onlinekern.core.learning.heads import Head
from onlinekern.core.learning.recent_scores import RecentScores
from onlinekern.core.stream import Model
from onlinekern.estimators.types import Array, ArrayLike, Floats, Indices, Sparse

class Race(Experts):
    n_threads: int
    calibration: Any
    checked: tuple[Any, ...] | None
    @property
    def recent(self) -> RecentScores | None: ...
    @property
    def noted(self) -> int: ...
    @property
    def calls(self) -> int: ...
    @property
    def n_seen(self) -> int: ...
    @property
    def began(self) -> int: ...
    @property
    def alarm(self) -> int: ...
    @property
    def stride(self) -> int: ...
    @property
    def learnt(self) -> Array: ...
    @property
    def history(self) -> list[tuple[int, Floats]]: ...
    def resume_counts(self, seen: int, mistakes: int, loss: float) -> None: ...
    def learn(
        self,
        X: Array | Sparse,
        y: Floats,
        weight: Floats | None = None,
        order: Indices | None = None,
        window: int = 0,
        scores: Floats | None = None,
        noted: bool = True,
    ) -> Floats: ...
    def learn_one(self, x: ArrayLike, y: float, weight: float = 1.0) -> float: ...
    def grown(
        self, grow: Callable[[Sequence[Model]], Sequence[Model]], head: Head
    ) -> Race: ...
    def undo(self) -> None: ...

def restore(
    arguments: tuple[Any, ...], progress: tuple[Any, ...], recent: RecentScores | None = None
) -> Race: ...
