"""Links from the scores of a fitted classifier to its probabilities."""

from __future__ import annotations

from math import inf
from typing import Any

from onlinekern.estimators.calibration import SoftmaxCalibration
from onlinekern.estimators.classification import Classifier
from onlinekern.estimators.one_vs_one import PairwiseClassifier
from onlinekern.fitted.export.onnx.scoring import Link
from onlinekern.preprocessing.steps import learner_of


def owner_of(cls: type, name: str) -> type | None:
    """Return the class that defines a method of another, or None without such a method."""
    return next((one for one in cls.__mro__ if name in vars(one)), None)


def link_of(estimator: Any) -> Link | None:
    """Return the link of a classifier, or of a pipeline's last step; None if it has none.

    A subclass of another package has none, for it may compute other probabilities.
    """
    learner = learner_of(estimator)
    owners = {owner_of(type(learner), name) for name in ("predict_proba", "predict_log_proba")}
    if not owners <= {Classifier, PairwiseClassifier} or not hasattr(learner, "predict_proba"):
        return None
    found = learner.calibration_
    if found is None:
        return Link(1.0, 1.0, 0.0, 0.0, inf, learner._has_softmax())
    if isinstance(found, SoftmaxCalibration):
        below, above, winner, others, most, _, floor = found
        return Link(below, above, 0.0, 0.0, most, True, winner, others, floor)
    below, above, offset_below, offset_above, most, _, floor = found
    return Link(below, above, offset_below, offset_above, most, False, floor=floor)
