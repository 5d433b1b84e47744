"""What scikit-learn has not made public: nothing else in the library imports its private names."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, InvalidParameterError, RealNotInt, StrOptions

check_parameters: Any = BaseEstimator._validate_params

__all__ = [
    "Interval", "InvalidParameterError", "RealNotInt", "StrOptions", "check_parameters",
]  # fmt: skip
