"""Follow the papers' protocols: mistakes in one pass, or errors on a test set after it."""

import time

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils import shuffle


def online(build, data, seed):
    """Learn a random order test-then-train; return the mistakes in per cent, time and size."""
    X, y = shuffle(*data, random_state=seed)
    X = X.astype(np.float32)
    model = build(len(y)).set_params(random_state=seed)
    start = time.process_time()
    model.partial_fit(X, y, classes=np.unique(y))
    spent = time.process_time() - start
    return 100 * model.n_mistakes_ / len(y), 1e6 * spent / len(y), size_of(model)


def after_a_pass(build, data, seed, dtype=np.float32):
    """Learn the training rows in a random order; return the test error.

    Models with several epochs, and those that learn only all rows at once, learn by `fit`.
    """
    X, y, X_test, y_test = data
    X, y = shuffle(X.astype(dtype), y, random_state=seed)
    model = build(len(y)).set_params(random_state=seed)
    start = time.process_time()
    if hasattr(model, "partial_fit") and getattr(model, "n_epochs", 1) == 1:
        model.partial_fit(X, y, classes=np.unique(y))
    else:
        model.fit(X, y)
    spent = time.process_time() - start
    error = 100 * np.mean(model.predict(X_test.astype(dtype)) != y_test)
    return error, 1e6 * spent / len(y), size_of(model)


def divided(build, data, seed, scale=True):
    """Split at random 80 to 20, standardise by the larger part, then as `after_a_pass`."""
    X, X_test, y, y_test = train_test_split(*data, test_size=0.2, random_state=seed)
    if scale:
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    return after_a_pass(build, (X, y, X_test, y_test), seed, np.float64)


def divided_unscaled(build, data, seed):
    """Split as `divided`, without scaling."""
    return divided(build, data, seed, scale=False)


def cross_validated(build, data, seed):
    """Learn four of five parts, five times; return the means of error, time and size.

    Features are as they are.
    """
    X, y = data
    parts = StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y)
    runs = [
        after_a_pass(build, (X[learnt], y[learnt], X[others], y[others]), seed)
        for learnt, others in parts
    ]
    return tuple(np.mean(runs, axis=0))


def size_of(model):
    """Return the number of support vectors of all classes; None for models without them."""
    size = getattr(model, "n_support_", None)
    return None if size is None else int(np.sum(size))
