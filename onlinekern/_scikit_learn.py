"""What scikit-learn has not made public, and what does its work where a version lacks it.

Nothing else in the library imports a private name of scikit-learn.
"""

from __future__ import annotations

try:
    from sklearn.base import _fit_context as fit_context
    from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
except ImportError:
    from onlinekern._parameters import (
        Interval,
        RealNotInt,
        StrOptions,
        fit_context,
    )

__all__ = ["Documented", "Interval", "RealNotInt", "StrOptions", "fit_context"]

SITE = "https://onlinekern.github.io/onlinekern"


class Documented:
    """Mixin of estimators whose HTML picture links to their page of this library's site."""

    _doc_link_module = "onlinekern"
    _doc_link_template = SITE + "/generated/onlinekern.{estimator_name}.html"
