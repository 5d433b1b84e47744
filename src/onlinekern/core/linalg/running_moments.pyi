from typing import Any

from onlinekern.core.base.lock import Lock
from onlinekern.core.linalg.sentinels import Sentinels
from onlinekern.estimators.types import Array, ArrayLike, Floats, Sparse

class RunningMoments:
    @property
    def d(self) -> int: ...
    @property
    def centred(self) -> bool: ...
    @property
    def calls(self) -> int: ...
    @property
    def sentinels(self) -> Sentinels | None: ...
    @property
    def lock(self) -> Lock: ...
    def __init__(self, d: int, centred: bool, finds_missing: bool = False) -> None: ...
    def learn(
        self,
        X: Array | Sparse,
        weight: Floats | None = None,
        forgetting: float = 1.0,
        out: Array | None = None,
        limit: float | None = None,
        scaled: bool = True,
        reach: float = ...,
        goes_on: bool = False,
        known: Array | None = None,
    ) -> None: ...
    def transform(
        self,
        X: Array | Sparse,
        out: Array,
        limit: float | None = None,
        scaled: bool = True,
        known: Array | None = None,
    ) -> None: ...
    def learn_one(
        self,
        x: ArrayLike,
        forgetting: float = 1.0,
        out: Array | None = None,
        limit: float | None = None,
        scaled: bool = True,
        weight: float = 1.0,
    ) -> None: ...
    def transform_one(
        self, x: ArrayLike, out: Array, limit: float | None = None, scaled: bool = True
    ) -> None: ...
    def share_lock_with(self, lock: Lock) -> None: ...
    def undo(self) -> None: ...
    @property
    def n(self) -> int: ...
    def mean(self) -> Floats: ...
    def variance(self) -> Floats: ...
    def missing_values(self) -> Floats: ...
    def get_state(self) -> dict[str, Any]: ...
