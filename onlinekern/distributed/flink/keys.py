"""Code for the Python workers of Flink: a keyed process function whose state is a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyflink.common import Row, Types
from pyflink.datastream import KeyedProcessFunction, OutputTag
from pyflink.datastream.state import ListStateDescriptor, ValueStateDescriptor

from onlinekern.distributed.keyed import PREDICTION, KeyLearner
from onlinekern.fitted.save import from_bytes, to_bytes

# Side output for the models when a stream ends.
MODELS = "models"
# Timestamps in milliseconds: the end of a stream, a time in the past, and none.
END, AT_ONCE, NEVER = 2**63 - 1, 1, -(2**63)


class Kept:
    """A model as state of a key, serialised only when Flink needs its bytes.

    Flink does so at the end of a bundle of rows, and before a checkpoint. Between two rows of a
    bundle, the state holds the object itself.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def __reduce__(self) -> tuple[Any, ...]:
        return kept, (to_bytes(self.model),)


def kept(data: bytes) -> Kept:
    """Return the state from its bytes; savepoints refer to this function by name."""
    return Kept(from_bytes(data, "state"))


class Models(KeyedProcessFunction):
    """Learns the rows of each key, and yields them with their predictions.

    Rows wait in the state of their key for a timer. If rows are learnt in order, it is an
    event-time timer; otherwise it fires at the end of the bundle. So the rows of a bundle are
    learnt in one call.

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
        """Prepare the state; Flink calls this method."""
        kind, ask = Types.PICKLED_BYTE_ARRAY(), runtime_context
        self.model = ask.get_state(ValueStateDescriptor("model", kind))
        self.waiting = ask.get_list_state(ListStateDescriptor("waiting", kind))

    def process_element(self, value: Any, ctx: Any) -> None:
        """Store a row until its timer fires."""
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
        """Learn the waiting rows; at the end of the stream, emit the model."""
        passed = ctx.timer_service().current_watermark()
        yield from self.learn(AT_ONCE if self.learner.order is None else passed)
        if timestamp == END:
            yield OutputTag(MODELS), Row(ctx.get_current_key(), to_bytes(self.model.value().model))

    def learn(self, until: int) -> Iterator[Any]:
        """Learn the rows that have waited for this time, and yield them with their predictions."""
        waiting = list(self.waiting.get())
        rows = [row for when, row in waiting if when <= until]
        if not rows:
            return
        self.waiting.update([one for one in waiting if one[0] > until])
        state = self.model.value() or kept(self.learner.begun)
        # The last column is the position of the row's prediction.
        table = pd.DataFrame(rows, columns=self.names)
        table[self.learner.y] = pd.Series([row[self.place] for row in rows], dtype=object)
        table[PREDICTION] = range(len(rows))
        table = self.learner.in_order(table)
        answers = self.learner.learn(state.model, table)
        self.model.update(state)
        for place, answer in zip(table[PREDICTION], answers, strict=True):
            yield Row(*rows[place], answer.item() if hasattr(answer, "item") else answer)
