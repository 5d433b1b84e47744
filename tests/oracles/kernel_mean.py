"""The mean of one class in features of a kernel, or its leverages, one sample at a time.

M. Schneider, W. Ertel, F. Ramos, "Expected similarity estimation for large-scale batch and
streaming anomaly detection", Machine Learning 105, 2016.

The features are a `Fourier` or a `Landmarks` of `kernel_rls`. The latter grow: a sample has 0 in
the coordinates that came after it was learnt.
"""

import numpy as np

from .kernel_rls import Fourier, Landmarks, kernel_rls
from .kernels import kernel_matrix, resolve_gamma


def learnt_samples(X, feature_map, sample_weight):
    """Yield (features of row i, features and weights of the rows learnt before), for each i.

    At the end, the features of the last row as they are then, and those of all rows.
    """
    weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight)
    learnt = weight > 0
    rows = np.zeros((0, len(feature_map.features(X[0]))))
    for i, x in enumerate(X):
        yield feature_map.features(x), rows, weight[:i][learnt[:i]]
        if learnt[i]:
            feature_map.consider(i, x, entered=True)
            z = feature_map.features(x)
            rows = np.vstack([np.pad(rows, [(0, 0), (0, len(z) - rows.shape[1])]), z])
    yield feature_map.features(X[-1]), rows, weight[learnt]


def feature_map_of(X, frequencies, n_components, kernel, gamma, degree, coef0, dtype):
    """Return Fourier features of these frequencies; without any, landmarks, none so far."""
    if frequencies is not None:
        return Fourier(frequencies)
    width, rounding = resolve_gamma(gamma, X), float(np.sqrt(np.finfo(dtype).eps))

    def kernel_values(rows, others):
        return kernel_matrix(kernel, rows, others, width, degree, coef0)

    return Landmarks(kernel_values, n_components, "first", None, rounding)


def mean_scores(X, feature_map, forgetting, sample_weight):
    """Return the scores of each row under the mean of the rows before it, and the last mean.

    The mean after t rows is sum_s forgetting^(t - s) w_s z_s / sum_s forgetting^(t - s) w_s. Rows
    of weight 0 are not counted.
    """
    scores = []
    for z, rows, weights in learnt_samples(X, feature_map, sample_weight):
        faded = weights * forgetting ** np.arange(len(weights))[::-1]
        mean = faded @ rows / faded.sum() if len(rows) else np.zeros(len(z))
        scores.append(z @ mean)
    return np.array(scores[:-1]), mean


def leverage_scores(X, feature_map, run):
    """Return 1 / (1 + v) of each row before it was learnt, and after all of them.

    v is that of the features in a run of least squares over the same rows, and what the row has
    beyond their span, unless that is a rounding error, over the regulariser.
    """
    before, after = run.variances.copy(), np.array([run.answer(x)[1] for x in X])
    for i, x in enumerate(X if isinstance(feature_map, Landmarks) else ()):
        own, z = feature_map.kernel(x[None], x[None])[0, 0], run.map.features(x)
        first = z[: np.searchsorted(run.map.places, i)]
        for beyond, variances in ((own - first @ first, before), (own - z @ z, after)):
            variances[i] += beyond / run.reg if beyond > feature_map.floor * own else 0
    return 1 / (1 + before), 1 / (1 + after)


def kernel_mean(X, frequencies=None, *, statistic="mean", reg=1.0, features="fourier",
                n_components=200, kernel="gaussian", gamma="scale", degree=3, coef0=0.0,
                forgetting=1.0, sample_weight=None, dtype=np.float64, block=1):  # fmt: skip
    """Return the scores of each row before it was learnt, and the last mean or the last scores.

    `frequencies` are those of features "fourier"; `dtype` is that of the samples that the library
    learns, and after each `block` of them it gives back what was forgotten of the regulariser.
    """
    X = np.asarray(X, dtype=np.float64)
    frequencies = frequencies if features == "fourier" else None
    feature_map = feature_map_of(X, frequencies, n_components, kernel, gamma, degree, coef0, dtype)
    if statistic == "mean":
        return mean_scores(X, feature_map, forgetting, sample_weight)
    run = kernel_rls(
        X, np.zeros(len(X)), frequencies, features=features, n_components=n_components,
        linear=False, reg=reg, forgetting=forgetting, block=block, kernel=kernel, gamma=gamma,
        degree=degree, coef0=coef0, task="regression", sample_weight=sample_weight, dtype=dtype,
    )  # fmt: skip
    return leverage_scores(X, feature_map, run)
