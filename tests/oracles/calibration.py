"""Sigmoids as a minimisation in two numbers, and the ring of scores as a list."""

import numpy as np
from scipy.optimize import minimize


def smoothed(positive, weights):
    """Return Platt's smoothed targets."""
    more, less = weights[positive].sum(), weights[~positive].sum()
    return np.where(positive, (more + 1) / (more + 2), 1 / (less + 2))


def side(sizes, right, weights, at_border=10.0):
    """Return slope and offset of one side of the border, beside a sample of 1/2 at the border."""
    features = np.column_stack([np.append(sizes, 0.0), np.ones(len(sizes) + 1)])
    t = np.append(smoothed(right, weights), 0.5)
    return likeliest(features, t, np.append(weights, at_border), [(0, None), (0, None)])


def sigmoid(scores, positive, weights):
    """Return slope and offset of the scores of a class against the rest."""
    features = np.column_stack([scores, np.ones(len(scores))])
    bounds = [(1e-6 / np.abs(scores).max(), None), (None, None)]
    return likeliest(features, smoothed(positive, weights), weights, bounds)


def likeliest(features, t, weights, bounds):
    """Return the two coefficients that maximise the likelihood of targets."""

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
