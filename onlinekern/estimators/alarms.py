"""Alarms: when what a learner has learnt began anew beside itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinekern.estimators.types import Indices


def alarms_of(model: Any) -> Indices:
    """Return the numbers of the samples behind which a rival began.

    There are none where a model does not begin anew, as those of older files.
    """
    trials = getattr(model, "trials", None)
    return np.array(() if trials is None else trials.alarms, dtype=np.int64)
