"""How the probabilities of a fitted classifier follow from its scores."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from onlinekern._exporting.onnx.scoring import Link
from onlinekern._probabilities import Probabilities


def link_of(estimator: Any) -> Link | None:
    """The link of a classifier, or of the last step of a pipeline; None if it has none.

    A subclass of another package may compute other probabilities: it has none.
    """
    learner = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    own = type(learner)
    if getattr(own, "predict_log_proba", None) is not Probabilities.predict_log_proba:
        return None
    if own.predict_proba is not Probabilities.predict_proba:
        return None
    found = learner.calibration_
    if found is None:
        return Link(1.0, 1.0, 0.0, learner.multi_class == "margin")
    return Link(found.below, found.above, found.offset, False)
