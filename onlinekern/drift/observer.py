"""The base of what looks at a stream, and learns nothing: detectors, and queries of labels."""

from typing import Any, Self

from sklearn.utils import check_random_state

from onlinekern.estimators.atomic import all_or_nothing
from onlinekern.estimators.declared import check_attributes
from onlinekern.estimators.savable import Savable, require
from onlinekern.estimators.scikit_learn import BaseEstimator


def seed_of(random_state: Any) -> int:
    """Return a seed that NumPy takes, drawn from a parameter `random_state`."""
    return int(check_random_state(random_state).randint(2**31))


class Observer(Savable, BaseEstimator):
    """Base of estimators that have parameters only before the first sample, and after `reset`."""

    @all_or_nothing
    def reset(self) -> Self:
        """Forget all that has been seen: the parameters alone stay.

        Returns
        -------
        self : object
        """
        self.__dict__ = {name: getattr(self, name) for name in self._get_param_names()}
        return self

    @property
    def n_seen_(self) -> int:
        """Number of samples seen."""
        return int(self.__dict__.get("_n_seen", 0))

    def _check_loaded(self) -> None:
        if self.__sklearn_is_fitted__():
            check_attributes(self)
        else:
            more = vars(self).keys() - set(self._get_param_names())
            require(not more, "it has seen no sample, and knows more than its parameters")
