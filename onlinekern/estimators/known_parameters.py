"""Parameters that have not changed need not be looked at again.

To check them, and to make the rule of a model of them, takes longer than to learn a row. The model
holds the values that were looked at last. They are compared by identity: what users set, by
`set_params` or as an attribute, is another object, or the same value.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from operator import is_, itemgetter
from typing import Any, cast

from sklearn import get_config


def check_parameters_of(estimator: Any) -> None:
    """Check the parameters, unless they are those of the last time that the model knows of."""
    model = estimator.__dict__.get("_model")
    given = parameters_of(estimator)
    if model is not None and are_same(model.checked, given):
        return
    if not get_config()["skip_parameter_validation"]:
        estimator._validate_params()
        if model is not None:
            model.checked = given


def parameters_of(estimator: Any) -> tuple[Any, ...] | None:
    """The values of the parameters; None where they are no attributes of the estimator."""
    try:
        kind: Any = type(estimator)
        return cast(tuple[Any, ...], getter_of(kind)(estimator.__dict__))
    except KeyError:
        return None


def parameters_of_rule(estimator: Any) -> tuple[Any, ...] | None:
    """The same, if they alone decide what the rule and the gate are.

    A class of the user's may make its rule of anything.
    """
    of_library = type(estimator).__module__.startswith("onlinekern.")
    return parameters_of(estimator) if of_library else None


@cache
def getter_of(cls: Hashable) -> Any:
    """A function of the attributes that gives the parameters of a class of estimators."""
    return itemgetter(*cast(Any, cls)._get_param_names())


def are_same(known: tuple[Any, ...] | None, given: tuple[Any, ...] | None) -> bool:
    """Whether parameters are the very objects that are known: 1 and True are equal, too."""
    return known is not None and given is not None and all(map(is_, known, given))
