from typing import Literal

from numpy.typing import DTypeLike

from onlinekern.core.features.gradient_metric import MetricStream
from onlinekern.core.models.metric_choice import MetricChoice

class ChosenMetric(MetricStream):
    @property
    def choice(self) -> MetricChoice: ...
    def __init__(
        self,
        d: int,
        dtype: DTypeLike,
        exponent: float,
        kind: Literal["auto", "labels", "numbers"],
        seed: int,
    ) -> None: ...

REGS: tuple[float, ...]
