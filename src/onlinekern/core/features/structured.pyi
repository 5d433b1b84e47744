from numpy.typing import DTypeLike

from onlinekern.core.features.map import FeatureMap, FourierMap
from onlinekern.estimators.types import Array

def signs_shape(n_components: int, d: int) -> tuple[int, int, int]: ...

class StructuredFourier(FourierMap):
    @property
    def block_length(self) -> int: ...
    def __init__(
        self, signs: Array, scales: Array, d: int, dtype: DTypeLike, constant: bool = False
    ) -> None: ...
    def frequencies(self) -> Array: ...

FEATURE_MAPS: dict[str, type[FeatureMap]]
