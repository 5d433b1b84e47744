"""Learners that step once per batch of samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onlinekern.estimators.contract import OnlineEstimator

if TYPE_CHECKING:
    import numpy as np

    from onlinekern.core.stream import Model


@dataclass(kw_only=True, eq=False, repr=False)
class MiniBatchEstimator(OnlineEstimator):
    """Mixin, in front of the task: `fit` ends with a step on the last, shorter batch."""

    def _train(
        self, model: Model, X: Any, y: Any, weight: Any, draws: np.random.RandomState
    ) -> Model:
        model = super()._train(model, X, y, weight, draws)
        model.space.end_batch()
        return model
