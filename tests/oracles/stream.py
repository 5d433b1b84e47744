"""What every twin does with a stream: predict a sample, then learn it.

A twin that runs along a stream says how it predicts sample i, and learns what `tested` yields.
"""

import numpy as np

from .heads import HEADS


def head_of_labels(y, classes=None, multi_class="ovr"):
    """Return the head, the class indices of labels, and the classes; two are a binary problem."""
    classes = np.unique(y) if classes is None else np.unique(classes)
    head = HEADS["binary" if len(classes) == 2 else multi_class](len(classes))
    return head, np.searchsorted(classes, y), classes


def head_of_targets(y):
    """Return the head of one target or several."""
    return HEADS["several"](np.shape(y)[1]) if np.ndim(y) == 2 else HEADS["regression"]()


def tested(run, y, sample_weight, predict):
    """Yield (i, weight) of each sample that is to be learnt, after its prediction.

    Parameters
    ----------
    run : object
        Gets `predictions`, and counts `mistakes` of samples of positive weight.
    y : ndarray of shape (n,) or (n, n_targets)
        Class indices or targets.
    sample_weight : ndarray of shape (n,) or None
        A sample of weight 0 is predicted and not learnt.
    predict : function
        Returns the prediction of sample i, by the model of the samples before it.
    """
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
    run.predictions = np.zeros(np.shape(y))
    for i, weight in enumerate(weights):
        run.predictions[i] = predict(i)
        if weight > 0:
            run.mistakes += int(np.any(run.predictions[i] != y[i]))
            yield i, weight


def step_of(run, rule, problems, length, t, weight):
    """Count the loss of a sample; return the sum of its steps along the problems' directions.

    `length` is its squared length, kappa(x, x).
    """
    step = np.zeros(len(problems[0].direction))
    for problem in problems:
        run.cumulative_loss += weight * rule.loss.value(problem.y, problem.f)
        q = np.dot(problem.direction, problem.direction) * length
        step += rule.weighted(problem.f, problem.y, q, t, weight) * problem.direction
    return step


def step_and_contraction(run, rule, problems, lengths, t, weight):
    """Count the loss; return the steps of second order, and what they take off the covariances.

    `lengths` are x' Sigma_k x of the outputs k.
    """
    steps, contractions = np.zeros((2, len(lengths)))
    for problem in problems:
        run.cumulative_loss += weight * rule.loss.value(problem.y, problem.f)
        arguments = (problem.f, problem.y, np.dot(problem.direction**2, lengths), t, weight)
        steps += rule.coefficient(*arguments) * problem.direction
        contractions += rule.contraction(*arguments) * np.abs(problem.direction)
    return steps, contractions
