from typing import Any

from onlinekern.estimators.types import Floats

def pair_distances(X: Any, squared: bool) -> Floats: ...
