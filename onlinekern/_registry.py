"""The list of estimators."""

from onlinekern import (
    bogd,
    bsgd,
    budgeted,
    dual,
    kernel,
    linear,
    linear_pa,
    local,
    mapped,
    olla,
    oskl,
    passive_aggressive,
    projection,
    sdrogd,
    second_order,
    spa,
)
from onlinekern._base import Learner
from onlinekern._outliers import OnlineOutlierDetector
from onlinekern._tasks import Classifier, Regressor

MODULES = (
    bogd,
    bsgd,
    budgeted,
    dual,
    kernel,
    linear,
    linear_pa,
    local,
    mapped,
    olla,
    oskl,
    passive_aggressive,
    projection,
    sdrogd,
    second_order,
    spa,
)


def all_estimators(type_filter=None):
    """All estimators of the library.

    Parameters
    ----------
    type_filter : {None, 'classifier', 'regressor', 'outlier_detector'}, default=None

    Returns
    -------
    list of (str, type)
        Names and classes, sorted by name.

    Examples
    --------
    >>> from onlinekern import all_estimators
    >>> "SPAClassifier" in dict(all_estimators("classifier"))
    True
    """
    kinds = {
        None: Learner,
        "classifier": Classifier,
        "regressor": Regressor,
        "outlier_detector": OnlineOutlierDetector,
    }
    if type_filter not in kinds:
        raise ValueError(f"type_filter must be one of {list(kinds)}, got {type_filter!r}")
    found = {
        name: item
        for module in MODULES
        for name, item in vars(module).items()
        if isinstance(item, type)
        and item.__module__ == module.__name__
        and issubclass(item, kinds[type_filter])
        and issubclass(item, (Classifier, Regressor, OnlineOutlierDetector))
    }
    return sorted(found.items())
