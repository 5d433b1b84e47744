"""What scikit-learn has not made public, and what does its work where a version lacks it.

Nothing else in the library imports a private name of scikit-learn.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

try:
    from sklearn.base import _fit_context as fit_context
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
        fit_context,
    )

__all__ = [
    "Documented", "Interval", "InvalidParameterError", "RealNotInt", "StrOptions", "fit_context",
]  # fmt: skip

SITE = "https://onlinekern.github.io/onlinekern"


class Documented:
    """Mixin of estimators whose parameters are checked as `fit` begins, and whose HTML picture
    links to their page of this library's site."""

    _doc_link_module = "onlinekern"
    _doc_link_template = SITE + "/generated/onlinekern.{estimator_name}.html"

    def _validate_params(self) -> None:
        """Raise InvalidParameterError of the first parameter that cannot be."""
        check_parameters(self)
