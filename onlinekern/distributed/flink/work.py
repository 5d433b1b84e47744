"""What runs in the Python workers of Flink in a round: functions of (place, outcome)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor

from onlinekern.distributed import tasks
from onlinekern.distributed.engines import loads, outcome_of, value_of
from onlinekern.distributed.mixing import MERGED

Outcome = tuple[int, bytes]


def called(one: Outcome) -> Outcome:
    """Return the outcome of a call, which comes as bytes."""
    place, call = one
    return place, outcome_of(loads(call))


def group_of(one: Outcome) -> int:
    """Return the group of models that are merged at once."""
    return one[0] // MERGED


def learn_all(functions: list[Callable[..., tasks.State]], state: tasks.State) -> tasks.State:
    """Return a model that has learnt the parts of a share, one after the other."""
    for function in functions:
        state = function(state)
    return state


class Merging(KeyedProcessFunction):
    """Merges the models of a group when all have come.

    Parameters
    ----------
    base : State
        The model that all of them began with.
    number : int
        Models of all groups.
    """

    def __init__(self, base: tasks.State, number: int) -> None:
        self.base, self.number = base, number

    def open(self, runtime_context: Any) -> None:
        """Find the state; Flink calls it."""
        kind = Types.PICKLED_BYTE_ARRAY()
        self.models = runtime_context.get_list_state(ListStateDescriptor("models", kind))

    def process_element(self, value: Outcome, ctx: Any) -> Iterator[Outcome]:
        """Keep a model; yield the merged one after the last."""
        self.models.add(tuple(value))
        group, models = group_of(value), list(self.models.get())
        if len(models) == min(MERGED, self.number - group * MERGED):
            self.models.clear()
            yield group, outcome_of(self.merge, [outcome for _, outcome in sorted(models)])

    def merge(self, outcomes: list[bytes]) -> tasks.State:
        """Return the merged model; an error of one of them is raised."""
        return tasks.merge(self.base, *map(value_of, outcomes))
