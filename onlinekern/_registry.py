"""The list of estimators."""

from onlinekern import dual, kernel, local, olla, passive_aggressive, sdrogd, spa
from onlinekern._base import Learner
from onlinekern._tasks import Classifier, Regressor

MODULES = (dual, kernel, local, olla, passive_aggressive, sdrogd, spa)


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
        None: Learner,
        "classifier": Classifier,
        "regressor": Regressor,
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
        and issubclass(item, (Classifier, Regressor))
    }
    return sorted(found.items())
