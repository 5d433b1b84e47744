"""The public classes by name, from the one list that `__init__.pyi` is."""

from __future__ import annotations

from functools import cache
from typing import Any

import onlinekern


def is_public(name: str) -> bool:
    """Whether there is a public object of that name; nothing is imported for the answer."""
    return name in onlinekern.__all__


def public(name: str) -> Any:
    """The public object of that name; None if there is none."""
    return getattr(onlinekern, name) if is_public(name) else None


@cache
def public_classes() -> dict[str, type]:
    """Name -> public class: estimators, transformers, pipelines."""
    # Functions and packages begin with a small letter.
    return {name: public(name) for name in onlinekern.__all__ if name[0].isupper()}


def all_estimators(type_filter: str | None = None) -> list[tuple[str, type]]:
    """All estimators of the library; transformers are not among them.

    Parameters
    ----------
    type_filter : {None, 'classifier', 'regressor', 'outlier_detector'}, default=None

    Returns
    -------
    list of (str, type)
        Names and classes, sorted by name.

    Raises
    ------
    ValueError
        If there is no such type.

    Examples
    --------
    >>> from onlinekern import all_estimators
    >>> "SPAClassifier" in dict(all_estimators("classifier"))
    True
    """
    from onlinekern.estimators.classification import Classifier
    from onlinekern.estimators.contract import Learner
    from onlinekern.estimators.outliers import OnlineOutlierDetector
    from onlinekern.estimators.regression import Regressor

    kinds = {
        None: Learner,
        "classifier": Classifier,
        "regressor": Regressor,
        "outlier_detector": OnlineOutlierDetector,
    }
    if type_filter not in kinds:
        raise ValueError(f"type_filter must be one of {list(kinds)}, got {type_filter!r}")
    kind = kinds[type_filter]
    return sorted(item for item in public_classes().items() if issubclass(item[1], kind))
