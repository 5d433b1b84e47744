from typing import Any

from onlinekern.estimators.types import Array

Layout = tuple[tuple[int, int], ...]

def layout_of(pairs: Any, d: int) -> Layout: ...
def coded_rows(X: Any, layout: Layout) -> Array: ...
