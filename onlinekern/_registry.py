"""The list of estimators."""

from onlinekern import bsgd, dual, kernel, local, passive_aggressive, projection, sdrogd, spa
from onlinekern._base import OnlineEstimator
from onlinekern._tasks import OnlineClassifier, OnlineRegressor

MODULES = (bsgd, dual, kernel, local, passive_aggressive, projection, sdrogd, spa)


def all_estimators(type_filter=None):
    """All estimators of the library.

    Parameters
    ----------
    type_filter : {None, 'classifier', 'regressor'}, default=None

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
        None: OnlineEstimator,
        "classifier": OnlineClassifier,
        "regressor": OnlineRegressor,
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
        and issubclass(item, (OnlineClassifier, OnlineRegressor))
    }
    return sorted(found.items())
