from numpy.typing import ArrayLike, DTypeLike

from onlinekern.core.features.map import FeatureMap, FourierMap
from onlinekern.estimators.types import Array

class HashedFourier(FourierMap):
    @property
    def seed(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    def __init__(
        self,
        table: Array,
        seed: int,
        n_components: int,
        d: int,
        dtype: DTypeLike,
        constant: bool = False,
    ) -> None: ...
    def rows_of_table(self) -> Array: ...
    def frequencies(self, columns: ArrayLike | None = None) -> Array: ...

FEATURE_MAPS: dict[str, type[FeatureMap]]
