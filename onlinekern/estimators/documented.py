"""What all estimators have of scikit-learn's conventions, without importing it."""

from __future__ import annotations

SITE = "https://onlinekern.github.io/onlinekern"


class Documented:
    """Mixin of estimators whose parameters are checked as `fit` begins, and whose HTML picture
    links to their page of this library's site."""

    _doc_link_module = "onlinekern"
    _doc_link_template = SITE + "/generated/onlinekern.{estimator_name}.html"

    def _validate_params(self) -> None:
        """Raise InvalidParameterError of the first parameter that cannot be."""
        from onlinekern.estimators.scikit_learn import check_parameters

        check_parameters(self)
