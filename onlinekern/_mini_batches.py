"""Learners that step once per batch of samples."""

from dataclasses import dataclass

from onlinekern._base import OnlineEstimator


@dataclass(kw_only=True, eq=False, repr=False)
class MiniBatchEstimator(OnlineEstimator):
    """Mixin, in front of the task: `fit` ends with a step on the last, shorter batch."""

    def _train(self, model, X, y, weight, draws):
        super()._train(model, X, y, weight, draws)
        model.space.end_batch()
