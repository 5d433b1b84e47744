from typing import Any

from onlinekern.core.features.map import FeatureMap
from onlinekern.core.features.nested import NestedNystroem
from onlinekern.estimators.types import Array, Floats, Sparse

def with_landmarks(
    map: FeatureMap,
    rows: Array | Sparse,
    root: Floats | None = None,
    n_components: int | None = None,
) -> FeatureMap: ...
def renewed(
    map: FeatureMap, root: Floats, X: Array, weights: Floats, draws: Any
) -> FeatureMap: ...
def candidates(like: NestedNystroem, X: Array, weights: Floats, draws: Any) -> Array: ...
def landmarks_among(like: NestedNystroem, Z: Array | Sparse) -> NestedNystroem: ...
def cholesky_of(gram: Floats, least: float) -> Floats | None: ...
