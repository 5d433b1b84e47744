"""What runs in the Python workers of Flink: a keyed process function whose state is a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyflink.common import Row, Types
from pyflink.datastream import KeyedProcessFunction, OutputTag
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor

from onlinekern.distributed.keyed import PREDICTION, KeyLearner
from onlinekern.fitted.save import from_bytes, to_bytes

# Where the models go when a stream ends.
MODELS = "models"
# Timestamps, in milliseconds: the end of a stream, a time that has passed, and none.
END, AT_ONCE, NEVER = 2**63 - 1, 1, -(2**63)


class Kept:
    """A model in the state of a key: its bytes are made when Flink asks for them.

    Flink does so when a bundle of rows ends, and before a checkpoint; between two rows of a bundle
    the state holds the object itself.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def __reduce__(self) -> tuple[Any, ...]:
        return kept, (to_bytes(self.model),)


def kept(data: bytes) -> Kept:
    """Return the state that these bytes stand for; savepoints name this function."""
    return Kept(from_bytes(data, "state"))


class Models(KeyedProcessFunction):
    """Learns the rows of each key, and gives them with their predictions.

    Rows wait in the state of their key for a timer: of event time if they are learnt in their
    order, otherwise one that fires when the bundle ends. So those of a bundle are learnt in one
    call.

    Parameters
    ----------
    learner : KeyLearner
    names : list of str
        The columns.
    """

    def __init__(self, learner: KeyLearner, names: list[str]) -> None:
        self.learner, self.names = learner, names
        self.place = names.index(learner.y)

    def open(self, runtime_context: Any) -> None:
        """Find the state; Flink calls it."""
        kind, ask = Types.PICKLED_BYTE_ARRAY(), runtime_context
        self.model = ask.get_state(ValueStateDescriptor("model", kind))
        self.waiting = ask.get_list_state(ListStateDescriptor("waiting", kind))

    def process_element(self, value: Any, ctx: Any) -> None:
        """Keep a row until its timer fires."""
        timers, when = ctx.timer_service(), AT_ONCE
        if self.learner.order is None:
            timers.register_processing_time_timer(AT_ONCE)
        else:
            when = ctx.timestamp()
            if when is None or when == NEVER:
                raise ValueError(
                    "order needs rows with timestamps: X.assign_timestamps_and_watermarks(...)"
                )
            timers.register_event_time_timer(when)
        if self.model.value() is None:
            timers.register_event_time_timer(END)
        self.waiting.add((when, tuple(value)))

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        """Learn the rows that have waited; at the end of the stream, give the model."""
        passed = ctx.timer_service().current_watermark()
        yield from self.learn(AT_ONCE if self.learner.order is None else passed)
        if timestamp == END:
            yield OutputTag(MODELS), Row(ctx.get_current_key(), to_bytes(self.model.value().model))

    def learn(self, until: int) -> Iterator[Any]:
        """Learn the rows that have waited for this time; yield them with their predictions."""
        waiting = list(self.waiting.get())
        rows = [row for when, row in waiting if when <= until]
        if not rows:
            return
        self.waiting.update([one for one in waiting if one[0] > until])
        state = self.model.value() or kept(self.learner.begun)
        # The last column says where the answer to a row goes.
        table = pd.DataFrame(rows, columns=self.names)
        table[self.learner.y] = pd.Series([row[self.place] for row in rows], dtype=object)
        table[PREDICTION] = range(len(rows))
        table = self.learner.in_order(table)
        answers = self.learner.learn(state.model, table)
        self.model.update(state)
        for place, answer in zip(table[PREDICTION], answers, strict=True):
            yield Row(*rows[place], answer.item() if hasattr(answer, "item") else answer)
