from typing import Any, Literal

from numpy.typing import DTypeLike

from onlinekern.core.features.metric import MetricRoot
from onlinekern.core.features.taught import TaughtFeatures

class MetricStream(TaughtFeatures):
    @property
    def present(self) -> MetricRoot: ...
    @property
    def entered(self) -> int: ...
    def renew(self, whole: bool = False) -> None: ...
    def get_state(self) -> dict[str, Any]: ...
    def set_state(self, state: dict[str, Any]) -> None: ...

class GradientMetric(MetricStream):
    def __init__(
        self,
        d: int,
        dtype: DTypeLike,
        full: bool,
        exponent: float,
        kind: Literal["auto", "labels", "numbers"],
        seed: int,
    ) -> None: ...

KEPT: int
LATE: int
STATE: tuple[str, ...]

def memory_of(d: int, itemsize: int) -> int: ...
