from typing import Any

from onlinekern._typing import Floats

def pair_distances(X: Any, squared: bool) -> Floats: ...
