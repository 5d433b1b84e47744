"""The steps of a pipeline, and restoring them after a failed call."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from onlinekern.estimators.atomic import change_attributes, learnt_by
from onlinekern.estimators.contract import Learner
from onlinekern.estimators.savable import Savable
from onlinekern.preprocessing.kernel_features import FeatureTransformer
from onlinekern.preprocessing.tables.encoder import TableEncoder

OWN = Learner, FeatureTransformer, TableEncoder


def does_something(step: Any) -> bool:
    return step is not None and not isinstance(step, str)


def is_fitted(step: Any) -> bool:
    """Return whether a step, or any estimator, has learnt anything."""
    try:
        check_is_fitted(step)
    except NotFittedError:
        return False
    return True


def steps_of(estimator: Any) -> list[Any]:
    """Return the steps of a pipeline, without 'passthrough', or any other estimator alone."""
    return [step for _, step in getattr(estimator, "steps", [("", estimator)])
            if does_something(step)]  # fmt: skip


def learner_of(model: Any) -> Any:
    """Return the last step of a pipeline, or the model itself."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


def inner(learner: Any) -> Any:
    """Return the fitted learner in a wrapper such as `RenewedLearner`, or the learner itself."""
    while hasattr(found := vars(learner).get("estimator_"), "get_params"):
        learner = found
    return learner


def takes(step: Any, method: str, parameter: str) -> bool:
    """Return whether a method of a step has a parameter."""
    found = getattr(step, method, None)
    return found is not None and parameter in inspect.signature(found).parameters


def check_learnt(model: Any) -> None:
    """Raise NotFittedError unless a model has learnt; the error comes from its learner."""
    learner = learner_of(model)
    if "_waiting" in vars(learner):
        _ = learner._fitted_model
    check_is_fitted(model)


class BeforeCall:
    """State of a step before one call, for models of this library, which can undo one call.

    `is_own` says that the step replaces the values of its attributes and never changes them in
    place, as the steps of this library do.
    """

    def __init__(self, step: Any, is_own: bool = False) -> None:
        self.step = step
        self.learnt = learnt_by(step)
        self.calls = self.learnt.calls if self.learnt is not None else 0
        # The library's own steps undo what they have learnt, or never change it in place. A learner
        # without a model may store rows; these are also replaced, not changed.
        is_own |= self.learnt is not None or isinstance(step, OWN)
        self.attributes = dict(vars(step)) if is_own else copy.deepcopy(vars(step))

    def restore(self) -> None:
        """Restore the state of the step."""
        if self.learnt is not None and self.learnt.calls != self.calls:
            self.learnt.undo()
        change_attributes(self.step, vars(self.step).copy(), self.attributes)

    def has_learnt(self) -> bool:
        """Return whether the step has learnt one call since then."""
        return self.learnt is not None and self.learnt.calls == self.calls + 1


class BeforeCallWithin:
    """State of a learner before one call: the states of its steps and of the learners inside."""

    def __init__(self, learner: Any) -> None:
        self.states: list[Any] = []
        for step in steps_of(learner):
            has_learners = hasattr(type(step), "_states_before")
            if has_learners:
                self.states += step._states_before()
            self.states.append(BeforeCall(step, is_own=has_learners))

    def has_learnt(self) -> bool:
        """Return whether one of them has learnt one call since then."""
        return any(one.has_learnt() for one in self.states)

    def restore(self) -> None:
        """Restore all of them."""
        for one in self.states:
            one.restore()

    def take_back(self) -> None:
        """Restore them if one has learnt the call: a signal may arrive just after its end."""
        if self.has_learnt():
            self.restore()


def states_of(*learners: Any) -> list[BeforeCallWithin]:
    """Return the states of those learners that belong to this library."""
    return [BeforeCallWithin(one) for one in learners if isinstance(one, Savable)]


class BeforeCalls(BeforeCall):
    """State of a step before several calls, as a copy."""

    def __init__(self, step: Any) -> None:
        self.step, self.learnt = step, None
        self.attributes = copy.deepcopy(vars(step))


@contextmanager
def undone_on_failure(estimator: Any, state: type[BeforeCall] = BeforeCall) -> Iterator[None]:
    """Return a context that restores an estimator, or each step of a pipeline, after a failure.

    `state` is the class that stores the state of a step.
    """
    before = [state(step) for step in steps_of(estimator)]
    try:
        yield
    except BaseException:
        for one in before:
            one.restore()
        raise
