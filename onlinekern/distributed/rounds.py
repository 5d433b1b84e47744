"""Rounds on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from onlinekern.distributed import mixing, tasks
from onlinekern.distributed.cluster import ClusterLost, Tasks, is_lost
from onlinekern.distributed.mixing import MERGED, Plan, Shares
from onlinekern.distributed.parts import Part, Stream
from onlinekern.distributed.record import DistributedFit
from onlinekern.distributed.resuming import Place

# Tasks of a learner that are with the scheduler: the next part is read while one is learnt.
AHEAD = 2
# Labels that are gathered at once.
GATHERED = 32


class Run(mixing.Run):
    """A model on its way through a stream that is spread over a Dask cluster.

    Parameters
    ----------
    tasks : Tasks
    stream, plan, show, place
        See `mixing.Run`.
    """

    def __init__(self, tasks: Tasks, stream: Stream, plan: Plan, show: Any, place: Place) -> None:
        super().__init__(stream, plan, show, place)
        self.tasks, self.client = tasks, tasks.client

    def learn(self, estimator: Any, classes: Any, is_begun: bool) -> DistributedFit:
        """Learn the stream; ClusterLost, with the model of the last round, if the cluster goes."""
        try:
            return super().learn(estimator, classes, is_begun)
        except Exception as error:
            if not isinstance(error, ClusterLost) and not is_lost(self.client, error):
                raise
            raise ClusterLost(self._explain_loss(error), self.fit.model, self.fit.rounds) from error

    def once(self, name: str, function: Callable[..., Any], part: Part | None = None) -> Any:
        """Return what a function makes of a part, on a worker."""
        return self.tasks.result(name, function, *(part.data if part else ()))

    def labels(self) -> Any:
        """Return all labels, which the workers read."""
        futures = [
            self.tasks.send(
                f"classes-{number}", partial(tasks.labels, self.plan.rows(part)), *part.data
            )
            for number, part in enumerate(self.labelled)
        ]
        return self.tasks.tree("classes-all", tasks.union, [], futures, GATHERED)

    def send(self, number: int, learner: tasks.State, shares: Shares) -> Any:
        """Return the futures of the model of the round, and of those that have learnt."""
        text = f"round {number}"
        base = self.tasks.send(f"model-{number}", partial(tasks.identity, learner))
        left = [iter(enumerate(share)) for share in shares]
        models, owners = [base] * len(shares), dict[str, int]()

        def next_of(k: int) -> Any | None:
            step, index = next(left[k], (0, None))
            if index is None:
                return None
            name, data = f"learn-{number}.{k}.{step}", self.parts[index].data
            function = self.task(number, shares, index)
            models[k] = self.tasks.send(name, function, models[k], *data, priority=-step)
            owners[models[k].key] = k
            return models[k]

        def after(future: Any) -> Any | None:
            self._show(text, 1)
            return next_of(owners.pop(future.key))

        self._show(text, 0)
        begun = [next_of(k) for _ in range(AHEAD) for k in range(len(shares))]
        self.tasks.each([future for future in begun if future is not None], after)
        return base, models

    def merge(self, number: int, sent: Any) -> tasks.State:
        """Merge the models of a round by a tree of tasks."""
        base, models = sent
        state: tasks.State = self.tasks.tree(f"merge-{number}", tasks.merge, [base], models, MERGED)
        return state

    def _explain_loss(self, error: BaseException) -> str:
        """Say what happened, and where the model is."""
        if isinstance(error, ClusterLost):
            what = str(error)
        else:
            address = getattr(self.client.scheduler, "address", "of the client")
            gone = f"the scheduler {address} is gone"
            what = "the tasks were cancelled" if self.client.status == "running" else gone
            what += f" ({type(error).__name__}: {error})"
        if not self.fit.rounds:
            return f"{what}; nothing was merged before"
        last = self.fit.rounds[-1].number
        where = "the attribute model of this error"
        if self.plan.checkpoint is not None:
            where += f" and in {self.plan.checkpoint}"
        return (
            f"{what}; the model after {f'round {last}' if last else 'the warm-up'}, of "
            f"{self.fit.samples:,} samples, is in {where}"
        )
