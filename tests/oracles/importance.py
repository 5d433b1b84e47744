"""Permutation importance along a stream, sample by sample, from the equations."""

import copy

import numpy as np


def loss(y, predicted, counted):
    if counted:
        return float(predicted != y)
    return float(np.mean((np.asarray(predicted) - y) ** 2))


def importances(
    model, X, y, weights, *, n_features, fading, n_kept, seed, counted, learn=True, more=None
):
    """Return the importances of the columns of X, their standard errors, and the predictions.

    X is an array, of objects for a table; `model(rows)` need not know the difference. A sample is
    asked of before it is learnt, from the second on.
    """
    d = X.shape[1]
    most = d if n_features is None else min(n_features, d)
    rng = np.random.default_rng(0)
    rng = np.random.Generator(np.random.PCG64(seed))
    rises = [[] for _ in range(d)]  # (number of the sample, weight, rise)
    kept, predicted, number = [], [], 0
    model = copy.deepcopy(model)
    for x, target, weight in zip(X, y, weights, strict=True):
        if weight == 0:
            continue
        draws = rng.random(d + most + 1)
        chosen = sorted(range(d), key=lambda j: draws[j])[:most]
        if kept:
            before = model.predict(x[None])[0]
            predicted.append(before)
            for j, share in zip(chosen, draws[d : d + most], strict=True):
                other = x.copy()
                other[j] = kept[int(share * len(kept))][j]
                after = model.predict(other[None])[0]
                rise = loss(target, after, counted) - loss(target, before, counted)
                rises[j].append((number, weight, rise))
        if len(kept) < n_kept:
            kept.append(x)
        else:
            kept[int(draws[-1] * n_kept)] = x
        if learn:
            model.partial_fit(x[None], np.array([target]), **(more or {}))
        number += 1
    found, errors = np.zeros(d), np.zeros(d)
    for j, each in enumerate(rises):
        if each:
            w = np.array([weight * fading ** (number - 1 - t) for t, weight, _ in each])
            r = np.array([rise for _, _, rise in each])
            found[j] = w @ r / w.sum()
            errors[j] = np.sqrt(w @ (r - found[j]) ** 2 / w.sum() * (w @ w)) / w.sum()
    return found, errors, predicted
