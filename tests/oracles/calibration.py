"""Sigmoids as a minimisation in two numbers, and the ring of scores as a list."""

import numpy as np
from scipy.optimize import minimize


def sigmoid(features, positive, weights, bounds):
    """Return the two coefficients that maximise the likelihood of Platt's smoothed targets."""
    weights = weights / weights.mean()
    more, less = weights[positive].sum(), weights[~positive].sum()
    t = np.where(positive, (more + 1) / (more + 2), 1 / (less + 2))

    def loss(point):
        z = features @ point
        return (weights * (np.logaddexp(0, z) - t * z)).sum()

    def gradient(point):
        return features.T @ (weights * (1 / (1 + np.exp(-features @ point)) - t))

    options = {"gtol": 1e-10, "ftol": 1e-15}
    start = np.array([0.1, 0.1])
    return minimize(loss, start, jac=gradient, bounds=bounds, method="L-BFGS-B", options=options).x


def recent(scores, labels, weights, kept=512, every=4):
    """Return the rows that are kept of samples learnt in this order, the oldest first."""
    rows, n_learnt = [], 0
    for score, label, weight in zip(scores, labels, weights, strict=True):
        if weight == 0:
            continue
        n_learnt += 1
        if len(rows) < kept or n_learnt % every == 0:
            rows.append([*score, label, weight])
            rows = rows[-kept:]
    return np.array(rows)
