"""Code for the Python workers of Flink in a round: functions of (place, outcome)."""

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
    """Return the outcome of a call, which arrives as bytes."""
    place, call = one
    return place, outcome_of(loads(call))


def group_of(one: Outcome) -> int:
    """Return the group of models that are merged together."""
    return one[0] // MERGED


def learn_all(functions: list[Callable[..., tasks.State]], state: tasks.State) -> tasks.State:
    """Return a model after it has learnt the parts of a share in order."""
    for function in functions:
        state = function(state)
    return state


class Merging(KeyedProcessFunction):
    """Merges the models of a group when all have arrived.

    Parameters
    ----------
    base : State
        The model from which all have continued.
    number : int
        Number of models in all groups.
    """

    def __init__(self, base: tasks.State, number: int) -> None:
        self.base, self.number = base, number

    def open(self, runtime_context: Any) -> None:
        """Prepare the state; Flink calls this method."""
        kind = Types.PICKLED_BYTE_ARRAY()
        self.models = runtime_context.get_list_state(ListStateDescriptor("models", kind))

    def process_element(self, value: Outcome, ctx: Any) -> Iterator[Outcome]:
        """Store a model; after the last one, yield the merged model."""
        self.models.add(tuple(value))
        group, models = group_of(value), list(self.models.get())
        if len(models) == min(MERGED, self.number - group * MERGED):
            self.models.clear()
            yield group, outcome_of(self.merge, [outcome for _, outcome in sorted(models)])

    def merge(self, outcomes: list[bytes]) -> tasks.State:
        """Return the merged model; an error of one of them is raised."""
        return tasks.merge(self.base, *map(value_of, outcomes))
