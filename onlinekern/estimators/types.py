"""Names for the types of the public signatures."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray

# SciPy has no type stubs.
Sparse: TypeAlias = Any
Array: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
Samples: TypeAlias = ArrayLike | Sparse
Sample: TypeAlias = ArrayLike | Mapping[Any, Any]
# All labels of a stream, the targets and the weights of samples, where they need not be given.
Classes: TypeAlias = ArrayLike | None
Targets: TypeAlias = ArrayLike | None
Weights: TypeAlias = ArrayLike | None
Seed: TypeAlias = int | Sequence[int] | np.random.Generator
Function = TypeVar("Function", bound=Callable[..., Any])


class StreamLearner(Protocol):
    """An estimator that predicts samples before it learns them."""

    def partial_fit_predict(self, X: Samples, y: ArrayLike) -> Array: ...


class BatchLearner(Protocol):
    """An estimator that learns all samples at once."""

    def fit(self, X: Samples, y: ArrayLike) -> Any: ...

    def predict(self, X: Samples) -> Array: ...


class DriftDetector(Protocol):
    """Detector that says, from a series of numbers, whether it has changed."""

    @property
    def drift_detected(self) -> bool: ...

    def update(self, value: float) -> Any: ...
