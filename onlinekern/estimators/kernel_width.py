"""The width of a kernel, which is a number or a rule that makes one of samples."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinekern.core import KERNEL_ALIASES, KERNELS
from onlinekern.core.samples.distances import pair_distances
from onlinekern.core.samples.rows import rows_at
from onlinekern.estimators.types import Array

# Samples on which the median width is measured; their 19,900 distances take milliseconds.
MOST_MEASURED = 200
# The median width is this over the median of the squared distances. Of 0.5, 1 and 2, 2 makes the
# fewest mistakes for each of four learners, on the mean of 12 sets (benchmarks/defaults.py).
MEDIAN_EXPONENT = 2.0

# `gamma="best"` tries these multiples of it, in this order: of equals the first is taken. Narrow
# kernels serve learners without a regulariser whose classes are many and clean, wide ones those
# whose labels are noisy (benchmarks/defaults.py, widths).
MULTIPLES = (1.0, 0.5, 2.0, 4.0, 8.0)
# Only of these the value falls with the distance.
WITH_DISTANCE = ("gaussian", "laplacian", "exponential")

# Of rows with gamma ||x||^2 up to this, EXPANDED_LIMIT of the core, products are taken; of longer
# ones, in float32, distances. Above it exp(-gamma ||x - z||^2) is 1e-28 or less.
MOST_EXPONENT = 64.0


def own_name(kernel: str) -> str:
    """Return the name of a kernel in `KERNELS`, for one that may be an alias."""
    return KERNEL_ALIASES.get(kernel, kernel)


def has_width(kernel: Any) -> bool:
    """Return whether a kernel has a name and a gamma: so have those that extensions name."""
    if not isinstance(kernel, str):
        return False
    known = KERNELS.get(own_name(kernel))
    return known is None or "gamma" in known.parameters


def measures_width(gamma: Any, kernel: Any) -> bool:
    """Return whether the first samples of a stream give the width."""
    return isinstance(gamma, str) and gamma in ("best", "median") and has_width(kernel)


def tries_widths(gamma: Any, kernel: Any) -> bool:
    """Return whether several widths are tried."""
    return isinstance(gamma, str) and gamma == "best" and falls_with_distance(kernel)


def falls_with_distance(kernel: Any) -> bool:
    """Return whether a kernel is one of the library that falls with the distance of samples."""
    return isinstance(kernel, str) and own_name(kernel) in WITH_DISTANCE


def kernel_width(gamma: Any, X: Any, kernel: Any) -> float:
    """Return the kernel width as a number; 'median', 'scale' and 'auto' are computed from X.

    'best' stands for 'median' here: there is nothing to try it on.

    The median of many samples is that of `spread_rows`.
    """
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma in ("best", "median"):
        return median_width(rows_at(X, spread_rows(X.shape[0])), kernel)
    if gamma != "scale":
        return float(gamma)
    if sp.issparse(X):
        mean = X.mean(dtype=np.float64)
        variance = X.multiply(X).mean(dtype=np.float64) - mean**2
    else:
        variance = X.var(dtype=np.float64)
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def spread_rows(n_samples: int) -> Array:
    """Return the numbers of `MOST_MEASURED` rows at equal intervals, or of all if there are fewer.

    The rows of a batch may be ordered by class.
    """
    count = min(n_samples, MOST_MEASURED)
    return np.arange(count) * n_samples // count


def median_width(X: Any, kernel: Any) -> float:
    """Return ``2 / median of ||x - z||^2`` over all pairs of the rows of X.

    The Laplacian kernel takes ``||x - z||_1``. If the median is 0, the mean of the distances that
    are not takes its place; the width is 1 if there are none, or only one sample.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_features), validated
    kernel : str, Kernel or function
        Name or alias; the width of a kernel that has no name is its own.
    """
    if not has_width(kernel):
        return 1.0
    distances = pair_distances(X, own_name(kernel) != "laplacian")
    typical = np.median(distances) if len(distances) else 0.0
    if typical == 0 and distances.any():
        typical = distances[distances > 0].mean()
    width = MEDIAN_EXPONENT / typical if typical > 0 else 1.0
    if width == 0:
        raise ValueError(
            f"the squared distances of the samples overflow{longest(X)}. Scale the features."
        )
    # The distances of tiny samples make it infinite.
    return float(width) if isfinite(width) else 1.0


def check_representable(gamma: float, X: Any, kernel: Any) -> None:
    """Raise ValueError if samples of the dtype of X cannot have distances that suit a width.

    Products and distances are numbers of that dtype. Where 1 / gamma nears its largest number,
    the distances that make a kernel value differ from 1 overflow, and it would be 0. Wider kernels
    than that are refused at once, so no sample needs to be looked at later: under all others, a
    distance that overflows has the kernel value 0 in exact arithmetic, too.

    Where gamma itself overflows, the kernel value of equal samples would be NaN. The exponential
    kernel takes its root.
    """
    largest = float(np.finfo(X.dtype).max)
    least, most = MOST_EXPONENT / largest, largest / 4
    if own_name(kernel) == "exponential":
        most = np.inf
    if not has_width(kernel) or least <= gamma <= most:
        return
    wider = " Or pass X as float64." if X.dtype == np.float32 else ""
    if gamma < least:
        fault, bound = (
            "small",
            f"at least {least:.2g}: the distances that such a kernel tells apart",
        )
    else:
        fault, bound = "large", f"at most {most:.2g}: products with it"
    raise ValueError(
        f"gamma={gamma:.3g} is too {fault} for samples of {X.dtype}, where it must be {bound} "
        f"overflow{longest(X)}. Scale the features.{wider}"
    )


def longest(X: Any) -> str:
    """Say which sample has the largest feature, and what it is, for messages."""
    sizes = abs(X).max(axis=1)
    sizes = sizes.toarray().ravel() if sp.issparse(sizes) else sizes
    row = int(np.argmax(sizes))
    return f" (sample {row} has a feature of the size {sizes[row]:.3g})"
