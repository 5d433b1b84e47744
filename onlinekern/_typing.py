"""Names for the types of the public signatures."""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Array", "ArrayLike", "Floats", "Function", "Indices", "Samples", "Sparse"]

# SciPy has no type stubs.
Sparse: TypeAlias = Any
Array: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
Samples: TypeAlias = ArrayLike | Sparse
Function = TypeVar("Function", bound=Callable[..., Any])
