"""What all detectors share: when they begin, and the alarms that they have raised."""

from collections.abc import Iterator
from copy import deepcopy
from itertools import pairwise
from numbers import Real
from typing import Annotated, Any, ClassVar, Self, TypeAlias

import numpy as np

from onlinekern.drift.observer import Observer, seed_of
from onlinekern.drift.wealth import NOTHING, Wealth, first_alarm, mean
from onlinekern.estimators.declared import Check, each, number, of, whole
from onlinekern.estimators.parameters import estimator
from onlinekern.estimators.scikit_learn import Interval
from onlinekern.estimators.types import Indices

RunLength: TypeAlias = Annotated[float, Interval(Real, 1, None, closed="left")]


@estimator
class Detector(Observer):
    """Base of the detectors.

    A subclass sets the initial state in `_forget`, and bets in its updates. A call works on a twin
    (`all_or_nothing`), so shared attributes must not change in place.
    """

    # In words and in the docstrings of the classes: with R_0 = 0 and payoffs f_t >= -1 whose
    # expectation given the past is at most 0, R_t = (R_(t-1) + 1)(1 + s f_t) has
    # E[R_t - t | past] <= R_(t-1) - (t - 1). So E[R_N] <= E[N] at an alarm N, where R_N is at
    # least the threshold. The mean over stakes keeps that, and so does a restart at any alarm.

    run_length: RunLength = 10_000.0

    _learnt_as = "_wealth"
    _most_kinds: ClassVar[int] = 1

    def _forget(self) -> None:
        """Reset the state of the samples since the last alarm."""
        raise NotImplementedError(f"{type(self).__name__}._forget")

    def _begin(self) -> None:
        """Begin, if no sample has come, or begin anew after an alarm."""
        self._validate_params()
        self._n_seen: int = self.__dict__.get("_n_seen", 0)
        self._found: tuple[int, ...] = self.__dict__.get("_found", ())
        self._alarmed: bool = self.__dict__.get("_alarmed", False)
        self._wealth: Wealth = NOTHING * self._kinds()
        self._threshold = float(self.run_length)
        if "_seed" not in self.__dict__:
            # A detector without the parameter draws nothing.
            self._seed = seed_of(self.random_state) if hasattr(self, "random_state") else 0
        self._forget()

    def _kinds(self) -> int:
        """Return the number of kinds of payoffs."""
        return 1

    def _open(self) -> None:
        """Prepare for the samples of a call."""
        if not self.__sklearn_is_fitted__():
            self._begin()
        self._alarmed = False

    def _bet(self, payoffs: Any) -> int | None:
        """Bet on payoffs; return the number of the one that raised an alarm, from 0."""
        self._wealth, place = first_alarm(self._wealth, payoffs, self._threshold)
        return place

    def _raise_alarm(self, number: int) -> None:
        """Note an alarm at a sample, counted from 1, and begin anew."""
        self._found = (*self._found, number)
        self._begin()
        self._alarmed = True

    @property
    def drift_detected(self) -> bool:
        """Whether the last call raised an alarm."""
        return bool(self.__dict__.get("_alarmed", False))

    @property
    def alarms_(self) -> Indices:
        """Numbers of the samples, counted from 1, that raised an alarm."""
        return np.array(self.__dict__.get("_found", ()), dtype=np.int64)

    @property
    def statistic_(self) -> float:
        """Wealth won since the last alarm; an alarm is raised at `run_length`."""
        return mean(self.__dict__.get("_wealth", NOTHING))

    def __copy__(self) -> Self:
        # Two detectors must not fill one block of rows.
        return deepcopy(self)

    def _attributes(self) -> Iterator[tuple[str, Check]]:
        yield "_n_seen", whole()
        yield "_found", each(whole(1, self._n_seen))
        yield "_found", lambda found: all(one < other for one, other in pairwise(found))
        yield "_wealth", each(number(0), len(NOTHING), self._most_kinds * len(NOTHING))
        yield "_alarmed", of(bool)
        yield "_threshold", of(float)
        yield "_seed", of(int)
