"""Running moments in C: a scaler that learns along with the model behind it."""

from __future__ import annotations

import numpy as np

from onlinekern.fitted.export.c.source import Source
from onlinekern.fitted.export.states import Scaler


def write_scaler(source: Source, scaler: Scaler) -> str:
    """Write the moments and the function that follows and standardises a row; return its call."""
    n = len(scaler.mean)
    moments = {"weight": scaler.weight, "mean": scaler.mean, "variance": scaler.variance}
    source.structure("moments", moments)
    prefix = source.names["prefix"]
    source.ram += (2 * n + 1) * source.dtype.itemsize + 4
    source.scratch["moments_before"] = f"struct {prefix}_moments moments_before;"
    source.scratch["following"] = "int following;"
    moment = source.filled("centred_moment" if scaler.centred else "plain_moment").rstrip()
    source.fill("follow", features=n, moment=moment, forgetting=source.number(scaler.forgetting))
    centre = "        x[j] -= moments.mean[j];" if scaler.centred else ""
    divide = ""
    if scaler.scaled:
        rounding = 16 * float(np.finfo(source.dtype).eps) ** 2
        divide = source.filled("divide_by_deviation", rounding=source.number(rounding)).rstrip()
    source.fill("standardise", features=n, centre=centre, divide=divide)
    call = "    standardise(x);"
    if np.isfinite(scaler.limit) and scaler.scaled:
        source.fill("clip", id="scaled", features=n, limit=source.number(scaler.limit))
        call += "\n    scaled_clip(x);"
    return call
