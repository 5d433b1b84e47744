from typing import Any

from onlinekern.estimators.types import Floats

ENDS: tuple[str, ...]
WEIGHTS_OF_ENDS: tuple[str, ...]
APART: float
STILL_APART: float
LEAST_COUNT: int
ONE_IN: int
AT_MOST_ONE_IN: int
LEAST_BETWEEN: int
LEAST_VALUES: int
FARTHEST: float
LOWEST: int
HIGHEST: int

def settled(ends: Floats, n: float) -> Floats: ...

class Sentinels:
    @property
    def d(self) -> int: ...
    @property
    def n(self) -> int: ...
    def __init__(self, d: int) -> None: ...
    def to_array(self) -> Floats: ...
    def set_array(self, array: Any) -> None: ...
    def values(self) -> Floats: ...
