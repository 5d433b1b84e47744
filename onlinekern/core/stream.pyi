from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from onlinekern._typing import Array, ArrayLike, Floats, Indices, Sparse
from onlinekern.core.base.random import Generator
from onlinekern.core.learning.heads import Head
from onlinekern.core.learning.order import Order
from onlinekern.core.learning.rules import Rule
from onlinekern.core.learning.sampling import Gate
from onlinekern.core.models.space import Space

class Model:
    @property
    def space(self) -> Space: ...
    @property
    def head(self) -> Head: ...
    @property
    def rng(self) -> Generator: ...
    @property
    def d(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def calls(self) -> int: ...
    def __init__(
        self,
        space: Space,
        head: Head,
        rule: Rule,
        gate: Gate,
        rng: Generator,
        d: int,
        dtype: DTypeLike,
    ) -> None: ...
    rule: Rule
    gate: Gate
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def n_seen(self) -> int: ...
    @property
    def n_mistakes(self) -> int: ...
    @property
    def cumulative_loss(self) -> float: ...
    def learn(
        self,
        X: Array | Sparse,
        y: Floats,
        weight: Floats | None = None,
        order: Order | Indices | None = None,
        window: int = 0,
    ) -> Floats: ...
    def learn_one(self, x: ArrayLike, y: float) -> float: ...
    def score_one(self, x: ArrayLike) -> float | Floats: ...
    def scores(self, X: Array | Sparse, out: Floats) -> None: ...
    def undo(self) -> None: ...

def restore(arguments: tuple[Any, ...], seen: int, mistakes: int, loss: float) -> Model: ...
