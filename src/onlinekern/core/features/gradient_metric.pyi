from typing import Any, Literal

from numpy.typing import DTypeLike

from onlinekern.core.features.metric import MetricRoot
from onlinekern.core.features.taught import TaughtFeatures
from onlinekern.estimators.types import Floats

class GradientMetric(TaughtFeatures):
    @property
    def present(self) -> MetricRoot: ...
    @property
    def entered(self) -> int: ...
    def __init__(
        self,
        d: int,
        dtype: DTypeLike,
        full: bool,
        exponent: float,
        kind: Literal["auto", "labels", "numbers"],
        seed: int,
    ) -> None: ...
    def renew(self, whole: bool = False) -> None: ...
    def gradients(self) -> Floats: ...
    def get_state(self) -> dict[str, Any]: ...
    def set_state(self, state: dict[str, Any]) -> None: ...

KEPT: int
STATE: tuple[str, ...]

def memory_of(d: int, itemsize: int) -> int: ...
