"""Calls that teach an estimator: one at a time, with checked parameters, undone if they fail."""

from __future__ import annotations

import functools
from typing import Any, cast
from weakref import WeakKeyDictionary

from onlinekern.core.base.lock import Lock
from onlinekern.estimators.parameters import check_parameters_of, with_plain_numbers
from onlinekern.estimators.types import Function

# These attributes hold what an estimator has learnt, and the lock of its writers.
LEARNT = ("_model", "_sketch", "_moments", "_partition", "_metric")
# Estimators that have learnt nothing keep their locks here: an attribute would change them.
FIRST_LOCKS: WeakKeyDictionary[Any, Lock] = WeakKeyDictionary()


def learnt_by(estimator: Any) -> Any:
    """Return what an estimator has learnt, an object of the core; None if it has learnt nothing."""
    attributes = estimator.__dict__
    for name in LEARNT:
        if name in attributes:
            return attributes[name]
    return None


def lock_of(estimator: Any) -> Lock:
    """Return the lock of the threads that teach an estimator: its model's, once it has one."""
    learnt = learnt_by(estimator)
    if learnt is not None:
        return learnt.lock
    return FIRST_LOCKS.setdefault(estimator, Lock())


def change_attributes(estimator: Any, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Apply to an estimator what differs between two states, in one step."""
    own = estimator.__dict__
    changed = {name: value for name, value in after.items() if before.get(name, own) is not value}
    if before.keys() <= after.keys():
        own.update(changed)
        return
    gone = before.keys() - after.keys()
    # A thread that copies the attributes must not see new ones beside those that are removed.
    kept = {name: value for name, value in own.copy().items() if name not in gone}
    estimator.__dict__ = {**kept, **changed}


class UndoneOnFailure:
    """Context of one call that changes nothing but a model: if it fails, it is undone.

    A twin of the estimator (`all_or_nothing`) costs more than learning a sample.
    """

    __slots__ = ("calls", "model")

    def __init__(self, model: Any) -> None:
        self.model, self.calls = model, model.calls

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, *_: object) -> None:
        # A signal may come after the model has learnt.
        if kind is not None and self.model.calls != self.calls:
            self.model.undo()


def twin_of(estimator: Any) -> Any:
    """Return an estimator with the same attributes, whose parameters are plain numbers."""
    twin = object.__new__(type(estimator))
    twin.__dict__.update(with_plain_numbers(estimator))
    return twin


def all_or_nothing(method: Function, checked: bool = False) -> Function:
    """Make a method that learns wait for other threads, and undo a call that fails.

    This decorator runs the method on a twin of the estimator, whose parameters are plain numbers.
    When the method has succeeded, all attributes that it has set appear at once. Until then other
    threads predict with the old ones.

    Parameters
    ----------
    method : function
    checked : bool, default=False
        Whether the parameters are checked. The undo encloses the check, because a signal may arrive
        at any time. As in scikit-learn, a `partial_fit` that goes on does not check them, nor do
        `partial_fit_interval` and `partial_fit_set`.
    """
    goes_on = method.__name__ in ("partial_fit", "partial_fit_interval", "partial_fit_set")

    @functools.wraps(method)
    def on_a_twin(self: Any, *args: Any, **kwargs: Any) -> Any:
        with lock_of(self) as lock:
            twin = twin_of(self)
            before = twin.__dict__.copy()
            learnt = learnt_by(self)
            calls = learnt.calls if learnt is not None else 0
            inside = self._states_before() if hasattr(type(self), "_states_before") else ()
            try:
                if checked and not (goes_on and twin.__sklearn_is_fitted__()):
                    check_parameters_of(twin)
                result = method(twin, *args, **kwargs)
                if (found := learnt_by(twin)) is not None:
                    # It had a lock of its own: a fit may teach several models in several threads.
                    found.share_lock_with(lock)
                change_attributes(self, before, twin.__dict__)
                return self if result is twin else result
            except BaseException:
                # A signal or a warning turned into an error may come after the model has learnt.
                if learnt is not None and learnt.calls != calls:
                    learnt.undo()
                for one in inside:
                    one.take_back()
                change_attributes(self, twin.__dict__, before)
                raise

    return cast(Function, on_a_twin)


def fit_method(method: Function) -> Function:
    """Make a fit method check the parameters, and undo the call if it fails."""
    return all_or_nothing(method, checked=True)
