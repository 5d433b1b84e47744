"""What scikit-learn has not made public, and what does its work where a version lacks it.

Nothing else in the library imports a private name of scikit-learn.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

try:
    from sklearn.utils._param_validation import (
        Interval,
        InvalidParameterError,
        RealNotInt,
        StrOptions,
    )

    check_parameters: Any = BaseEstimator._validate_params
except (ImportError, AttributeError):
    from onlinekern._parameters import (
        Interval,
        InvalidParameterError,
        RealNotInt,
        StrOptions,
        check_parameters,
    )

__all__ = [
    "Interval", "InvalidParameterError", "RealNotInt", "StrOptions", "check_parameters",
]  # fmt: skip
