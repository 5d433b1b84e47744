from collections.abc import Callable, Sequence
from typing import Any

from onlinekern.core.features.map import FeatureMap
from onlinekern.estimators.types import Array, Floats

FORMS: tuple[tuple[bool, float], ...]
FIRST_FORM: int
MOST_TRIED: int
LEAST_GAIN: float
STEPS: tuple[float, ...]

def holds_matrix(d: int) -> bool: ...

class MetricChoice:
    @property
    def d(self) -> int: ...
    @property
    def exponent(self) -> float: ...
    @property
    def form(self) -> int: ...
    @property
    def width(self) -> float: ...
    @property
    def gradients(self) -> Floats: ...
    def __init__(
        self,
        d: int,
        exponent: float,
        form: int = FIRST_FORM,
        width: float = 1.0,
        gradients: Floats | None = None,
    ) -> None: ...
    def forms(self) -> tuple[tuple[bool, float], ...]: ...
    def state(self) -> tuple[int, float, Floats]: ...
    def with_gradients(self, gradients: Floats) -> MetricChoice: ...
    def changed(self, form: int, width: float, gradients: Floats | None = None) -> MetricChoice: ...
    def root(self, gradients: Floats) -> Floats | None: ...
    def looked(
        self,
        map: FeatureMap,
        X: Array,
        targets: Floats,
        regs: Sequence[float],
        classes: bool,
        draws: Any,
        widths: bool = True,
    ) -> MetricChoice: ...

def better(
    choices: Sequence[MetricChoice], present: int, error: Callable[[MetricChoice], float]
) -> MetricChoice: ...
def error_of(
    map: FeatureMap, X: Array, targets: Floats, regs: Sequence[float], classes: bool
) -> float: ...
