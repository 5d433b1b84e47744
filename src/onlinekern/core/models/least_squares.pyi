from onlinekern.core.base.part import Component
from onlinekern.core.features.map import FeatureMap
from onlinekern.core.linalg.open_block import OpenBlock
from onlinekern.core.models.residuals import Residuals
from onlinekern.core.models.space import Space
from onlinekern.estimators.types import Array, Floats, Sparse

class LeastSquaresSpace(Space):
    @property
    def map(self) -> FeatureMap: ...
    @property
    def block(self) -> OpenBlock: ...
    @property
    def reg(self) -> float: ...
    @property
    def entered(self) -> int: ...
    @property
    def residuals(self) -> Residuals | None: ...
    def __init__(
        self,
        map: FeatureMap,
        n_outputs: int,
        reg: float,
        forgetting: float,
        reach: float = ...,
        residuals: Residuals | None = None,
        wide: bool = False,
        follows: bool = False,
        *_: object,
    ) -> None: ...
    def components(self) -> tuple[Component, ...]: ...
    def variances(self, X: Array | Sparse) -> Floats: ...
    def effective(self) -> Floats: ...
    def offsets(self) -> Floats: ...
