"""Follow the papers' protocols: mistakes in one pass, or errors on a test set after it."""

import time
from typing import NamedTuple

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils import shuffle

from onlinekern.evaluate import regret_bound


class Run(NamedTuple):
    """What an order came to.

    Attributes
    ----------
    error : float
        In per cent, or a root mean squared error.
    time : float
        CPU time in the learner, in µs a sample.
    size : int or None
        Support vectors, if the learner has them.
    more : dict
        Further measures by name.
    """

    error: float
    time: float
    size: int | None
    more: dict = {}


def online(build, data, seed):
    """Learn a random order test-then-train; return the mistakes in per cent, time and size."""
    X, y = shuffle(*data, random_state=seed)
    X = X.astype(np.float32)
    model = build(len(y)).set_params(random_state=seed)
    start = time.process_time()
    model.partial_fit(X, y, classes=np.unique(y))
    spent = time.process_time() - start
    return Run(100 * model.n_mistakes_ / len(y), 1e6 * spent / len(y), size_of(model))


def online_by_theory(build, data, seed):
    """Learn as `online`; tell also what theory says of SPA: its support vectors, and its loss.

    The steps of SPA use the loss of the last model, also where an average predicts. So a second
    pass without the average, which draws the same numbers, shows the probabilities min(alpha, loss)
    / beta. alpha n / beta bounds their sum. The bound of the loss, a sample, is against the
    averaged model, as if it had been there from the start.
    """
    found, (X, y) = online(build, data, seed), shuffle(*data, random_state=seed)
    X = X.astype(np.float32)
    model = build(len(y)).set_params(random_state=seed, average=False)
    alpha, beta = model.alpha, model.beta
    rows = X.toarray() if hasattr(X, "toarray") else X
    classes, expected = np.unique(y), alpha / beta  # before the first sample, the score is 0
    signs = np.where(y == classes[1], 1.0, -1.0)
    model.learn_one(rows[0], y[0], classes=classes)
    for x, label, sign in zip(rows[1:], y[1:], signs[1:], strict=True):
        loss = max(0.0, 1 - sign * model.score_one(x))
        expected += min(alpha, loss) / beta
        model.learn_one(x, label)
    if size_of(model) != found.size:
        raise RuntimeError("the second pass has drawn other samples than the first")
    average = build(len(y)).set_params(random_state=seed).partial_fit(X, y, classes=classes)
    f, dual, norm = average.decision_function(X), average.dual_coef_.ravel(), 0.0
    if len(dual):
        norm = np.sqrt(dual @ average.decision_function(average.support_vectors_))
    promise = regret_bound(model, float(norm), float(np.maximum(0, 1 - signs * f).sum()))
    more = {
        "expected": expected, "bound": alpha * len(y) / beta,
        "loss": promise.learner / len(y), "comparator": promise.comparator / len(y),
        "promised": promise.bound / len(y),
    }  # fmt: skip
    return found._replace(more=more)


def online_regression(build, data, seed):
    """Learn a random order test-then-train; return the root mean squared error of the pass.

    The first sample, before which nothing is known, does not count.
    """
    X, y = shuffle(*data, random_state=seed)
    model = build(len(y)).set_params(random_state=seed)
    start = time.process_time()
    predicted = model.partial_fit_predict(X.astype(np.float32), y)
    spent = time.process_time() - start
    return Run(rmse(y[1:], predicted[1:]), 1e6 * spent / len(y), size_of(model))


def rmse(y, predicted):
    """Return the root of the mean squared error."""
    return float(np.sqrt(np.mean((y - predicted) ** 2)))


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
    X_test = X_test.astype(dtype)
    error = 100 * np.mean(model.predict(X_test) != y_test)
    return Run(error, 1e6 * spent / len(y), size_of(model), ranking(model, X_test, y_test))


def ranking(model, X_test, y_test):
    """Return the area under the curve of a model of two classes."""
    if len(np.unique(y_test)) != 2 or not hasattr(model, "decision_function"):
        return {}
    return {"auc": 100 * roc_auc_score(y_test, model.decision_function(X_test))}


def along_a_pass(build, data, seed):
    """Learn as `after_a_pass`, with the test error at ten places of the pass."""
    X, y, X_test, y_test = data
    X, y = shuffle(X.astype(np.float32), y, random_state=seed)
    X_test, classes = X_test.astype(np.float32), np.unique(y)
    model = build(len(y)).set_params(random_state=seed)
    ends = np.unique(np.geomspace(min(100, len(y)), len(y), 10).astype(int))
    curve, spent, done = [], 0.0, 0
    for end in ends:
        start = time.process_time()
        model.partial_fit(X[done:end], y[done:end], classes=classes)
        spent += time.process_time() - start
        curve.append((int(end), 100 * np.mean(model.predict(X_test) != y_test)))
        done = end
    return Run(curve[-1][1], 1e6 * spent / len(y), size_of(model), {"curve": curve})


def after_k_means(build, data, seed):
    """Learn as `after_a_pass` with prototypes that k-means found on all training rows."""
    k = build(len(data[1])).n_prototypes
    means = MiniBatchKMeans(k, random_state=seed, n_init=3, batch_size=2048).fit(data[0])
    return after_a_pass(
        lambda n: build(n).set_params(prototypes=means.cluster_centers_), data, seed
    )


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


def divided_sparse(build, data, seed):
    """Split as `divided`, without scaling and with sparse rows."""
    X, X_test, y, y_test = train_test_split(*data, test_size=0.2, random_state=seed)
    return after_a_pass(build, (X, y, X_test, y_test), seed, np.float64)


def of_the_sketch(build, data, seed):
    """Learn standardised rows; return the error of the sketch in per cent of its bound.

    The raw sketch C is one of the rows X. The centred one is of rows whose squares sum to those of
    the samples around the means of their classes. `of_largest` is the error in per cent of ||X'X||.
    """
    X, y = shuffle(*data, random_state=seed)
    X = StandardScaler().fit_transform(X)
    model = build(len(y)).set_params(random_state=seed)
    start = time.process_time()
    model.partial_fit(X, y, classes=np.unique(y))
    spent = time.process_time() - start
    if model.sketch == "centred":
        for label in np.unique(y):
            X[y == label] -= X[y == label].mean(axis=0)
    exact, C = X.T @ X, model.sketch_
    difference = np.linalg.norm(exact - C.T @ C, 2)
    bound = np.trace(exact) / (model.sketch_size_ + 1)
    more = {"of_largest": 100 * difference / np.linalg.norm(exact, 2)}
    return Run(100 * difference / bound, 1e6 * spent / len(y), None, more)


def cross_validated(build, data, seed):
    """Learn four of five parts, five times; return the means of error, time and size.

    Features are as they are.
    """
    X, y = data
    parts = StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y)
    runs = [
        after_a_pass(build, (X[learnt], y[learnt], X[others], y[others]), seed)[:3]
        for learnt, others in parts
    ]
    return Run(*np.mean(runs, axis=0))


def size_of(model):
    """Return the number of support vectors of all classes; None for models without them."""
    size = getattr(model, "n_support_", None)
    return None if size is None else int(np.sum(size))
