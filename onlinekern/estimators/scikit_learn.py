"""The private names that the library takes of scikit-learn, and types for its bases.

scikit-learn has no type stubs: a base class of its own would be `Any` to a type checker, and every
misspelt name right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator as TheirBase
from sklearn.utils._param_validation import (
    HasMethods,
    InvalidParameterError,
    RealNotInt,
    StrOptions,
)
from sklearn.utils._param_validation import Interval as TheirInterval
from sklearn.utils._set_output import _wrap_method_output

check_parameters: Any = TheirBase._validate_params


def in_container(method: Function) -> Function:
    """Return a method whose results are in the container of `set_output`, as of `transform`."""
    return _wrap_method_output(method, "transform")


class Interval(TheirInterval):
    """Numbers between two bounds. True and False are none, though they are integers of Python."""

    def is_satisfied_by(self, val: Any) -> bool:
        return not isinstance(val, bool) and bool(super().is_satisfied_by(val))

    def __contains__(self, val: Any) -> bool:
        # NumPy, which the base class asks for NaN, knows no numbers of other types.
        known = isinstance(val, (int, float, np.number))
        return bool(super().__contains__(val if known else float(val)))


if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from onlinekern.estimators.types import Array, ArrayLike, Function, Samples, Weights

    def available_if(check: Callable[[Any], bool]) -> Callable[[Function], Function]: ...

    class BaseEstimator:
        n_features_in_: int
        feature_names_in_: Array

        @classmethod
        def _get_param_names(cls) -> list[str]: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def set_fit_request(self, *, sample_weight: bool | str | None = ...) -> Self: ...
        def set_partial_fit_request(
            self, *, classes: bool | str | None = ..., sample_weight: bool | str | None = ...
        ) -> Self: ...
        def set_score_request(self, *, sample_weight: bool | str | None = ...) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...
        def __setstate__(self, state: Any) -> None: ...

    class ClassifierMixin:
        classes_: Array

        def score(self, X: Samples, y: ArrayLike, sample_weight: Weights = None) -> float: ...

    class RegressorMixin:
        def score(self, X: Samples, y: ArrayLike, sample_weight: Weights = None) -> float: ...

    class OutlierMixin:
        def fit_predict(self, X: Samples, y: Any = None, **kwargs: Any) -> Array: ...

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin, RegressorMixin
    from sklearn.utils.metaestimators import available_if

__all__ = [
    "BaseEstimator", "ClassifierMixin", "HasMethods", "Interval", "InvalidParameterError",
    "OutlierMixin", "RealNotInt", "RegressorMixin", "StrOptions", "available_if",
    "check_parameters", "in_container",
]  # fmt: skip
