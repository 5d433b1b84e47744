"""Rounds on an engine that gives futures: Dask, or Ray."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from onlinekern.distributed import mixing, tasks
from onlinekern.distributed.mixing import MERGED, Shares
from onlinekern.distributed.parts import Part

# Tasks of a learner that are with the engine: the next part is read while one is learnt.
AHEAD = 2
# Labels that are gathered at once.
GATHERED = 32


class Run(mixing.Run):
    """A model on its way through a stream that is spread over a cluster.

    Parameters
    ----------
    engine : Tasks
    show, stream, asked, place
        See `mixing.Run`.
    """

    def once(self, name: str, function: Callable[..., Any], part: Part | None = None) -> Any:
        """Return what a function makes of a part, on a worker."""
        return self.engine.result(name, function, *(part.data if part else ()))

    def labels(self) -> Any:
        """Return all labels, which the workers read."""
        futures = [
            self.engine.send(
                f"classes-{number}", partial(tasks.labels, self.asked.rows(part)), *part.data
            )
            for number, part in enumerate(self.labelled)
        ]
        return self.engine.tree("classes-all", tasks.union, [], futures, GATHERED)

    def send(self, number: int, learner: tasks.State, shares: Shares) -> Any:
        """Return the futures of the model of the round, and of those that learn, and what is left.

        The tasks of a round that began earlier come first.
        """
        text, first = f"round {number}", number * len(self.parts)
        base = self.engine.send(f"model-{number}", partial(tasks.identity, learner))
        shared = [iter(enumerate(share)) for share in shares]
        models, owners = [base] * len(shares), dict[Any, int]()

        def next_of(k: int) -> Any | None:
            step, index = next(shared[k], (0, None))
            if index is None:
                return None
            name, data = f"learn-{number}.{k}.{step}", self.parts[index].data
            function = self.task(number, shares, index)
            models[k] = self.engine.send(name, function, models[k], *data, turn=(k, first + step))
            owners[models[k]] = k
            return models[k]

        def after(future: Any) -> Any | None:
            self._show(text, 1)
            return next_of(owners.pop(future))

        self._show(text, 0)
        begun = [next_of(k) for _ in range(AHEAD) for k in range(len(shares))]
        left = self.engine.begin([future for future in begun if future is not None], after)
        return base, models, left

    def merge(self, number: int, sent: Any, known: tasks.State | None) -> tasks.State:
        """Wait for the models of a round, and merge them by a tree of tasks."""
        base, models, left = sent
        self.engine.finish(left)
        if known is not None:
            models = [self.engine.send(f"known-{number}", partial(tasks.identity, known)), *models]
        return self.engine.tree(f"merge-{number}", tasks.merge, [base], models, MERGED)
