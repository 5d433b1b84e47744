"""The width of a kernel from the first samples of a stream, and the stream learnt with it."""

import numpy as np

COUNTS = (2, 5, 10, 20, 50, 100, 200)
# gamma="best" tries these multiples of the width of 200 samples at these counts.
MULTIPLES = (1.0, 0.5, 2.0, 4.0, 8.0)
TRIED_AT = (200, 500, 1000)


def median_width(X, laplacian=False):
    """Return 2 / the median of ||x - z||^2, or of ||x - z||_1, over all pairs of rows.

    If it is 0, the mean of the other distances takes its place; without any, the width is 1.
    """
    power = 1 if laplacian else 2
    distances = [
        float(np.sum(np.abs(X[i] - X[j]) ** power)) for i in range(len(X)) for j in range(i)
    ]
    typical = np.median(distances) if distances else 0.0
    others = [distance for distance in distances if distance > 0]
    if typical == 0 and others:
        typical = np.mean(others)
    return 2 / typical if typical > 0 else 1.0


def learn(make, learn_one, X, y, weight, width=median_width, error=None):
    """Learn a stream sample by sample; return the model, its width and what it predicted.

    Whenever there are so many samples of weight > 0, `make(width)` returns a new model, which
    learns them all again.

    Parameters
    ----------
    make : callable
        Width -> untrained model; it draws the same random numbers each time.
    learn_one : callable
        Model, row, target, weight -> what the model predicted for the row before it learnt it.
    error : callable, optional
        Prediction, target -> error, for learners that try several widths: that of the least
        weighted sum stays.
    """
    gamma = 1.0
    model, kept, predictions = make(gamma), [], []
    for i in range(len(y)):
        predictions.append(learn_one(model, X[i], y[i], weight[i]))
        if weight[i] > 0:
            kept.append(i)
            if len(kept) in COUNTS or (error and len(kept) in TRIED_AT):
                tried = []
                for multiple in MULTIPLES if error and len(kept) in TRIED_AT else (1.0,):
                    gamma = multiple * width(X[kept[:200]])
                    model, total = make(gamma), 0.0
                    for k in kept:
                        found = learn_one(model, X[k], y[k], weight[k])
                        total += weight[k] * error(found, y[k]) if error else 0.0
                    tried.append((total, len(tried), gamma, model))
                _, _, gamma, model = min(tried)
    return model, gamma, predictions
