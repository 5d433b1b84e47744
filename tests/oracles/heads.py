"""Heads: from K scores and a target to scalar problems, and back to K coefficients.

Class labels are class indices 0 ... K - 1 here, 1 being the positive class of a binary problem.
"""

import itertools
from typing import NamedTuple

import numpy as np


class Problem(NamedTuple):
    """One scalar problem.

    Attributes
    ----------
    f, y : float
        Score and target of the problem.
    direction : ndarray of shape (K,)
        A coefficient c of the problem adds c * direction to the K coefficients of the sample.
        Its squared length multiplies kappa_tt: f is linear in the K scores, f = direction . scores.
    """

    f: float
    y: float
    direction: np.ndarray


def _unit(n_outputs, k):
    direction = np.zeros(n_outputs)
    direction[k] = 1.0
    return direction


class Head:
    """Base of the heads: the number of outputs K."""

    def __init__(self, n_classes=None):
        self.n_outputs = 1

    def problems(self, scores, target):
        """Return the scalar problems of one sample from its K scores."""
        raise NotImplementedError

    def predict(self, scores):
        """Return the predicted class index or number."""
        raise NotImplementedError

    def error(self, scores, label):
        """Return how wrong a prediction is: 1 or 0."""
        return float(self.predict(scores) != label)

    def judged(self, scores, label):
        """Return what gate and loss see: by default, each of the scalar problems as it is."""
        return self.problems(scores, label)


class Binary(Head):
    """One output; class index 1 is y = +1, class index 0 is y = -1."""

    def problems(self, scores, label):
        return [Problem(float(scores[0]), 1.0 if label == 1 else -1.0, _unit(1, 0))]

    def predict(self, scores):
        """Return 1 if the score is > 0, else 0 (also at exactly 0)."""
        return 1 if scores[0] > 0.0 else 0


class OneVersusRest(Head):
    """K binary problems: y = +1 for the sample's own class, -1 for every other one."""

    def __init__(self, n_classes):
        self.n_outputs = n_classes

    def problems(self, scores, label):
        return [
            Problem(float(scores[k]), 1.0 if k == label else -1.0, _unit(self.n_outputs, k))
            for k in range(self.n_outputs)
        ]

    def predict(self, scores):
        """Return the class of the largest score, the first one of a tie."""
        return _first_largest(scores, range(self.n_outputs))


class Margin(OneVersusRest):
    """The true class against its strongest rival r [6]_: f = f_y - f_r, y = +1."""

    def problems(self, scores, label):
        rivals = [k for k in range(self.n_outputs) if k != label]
        rival = _first_largest(scores, rivals)
        direction = _unit(self.n_outputs, label) - _unit(self.n_outputs, rival)
        return [Problem(float(scores[label] - scores[rival]), 1.0, direction)]


class Joint(OneVersusRest):
    """The problems of `OneVersusRest`, whose gate and loss see f_y - max f_r against 1."""

    def error(self, scores, label):
        """Return how wrong a prediction is: 1 or 0."""
        return float(self.predict(scores) != label)

    def judged(self, scores, label):
        (problem,) = Margin(self.n_outputs).problems(scores, label)
        return [problem] * self.n_outputs


class JointOneVersusRest(OneVersusRest):
    """The problems of `OneVersusRest`, whose gate and loss see the smallest of their margins."""

    def error(self, scores, label):
        """Return how wrong a prediction is: 1 or 0."""
        return float(self.predict(scores) != label)

    def judged(self, scores, label):
        margin = min(problem.y * problem.f for problem in self.problems(scores, label))
        return [Problem(margin, 1.0, None)] * self.n_outputs


class Softmax(OneVersusRest):
    """One loss for all classes, -log p_y: to class k, the logistic one at log(p_k / (1 - p_k)).

    Its negative slope there is 1[k = y] - p_k.
    """

    def odds(self, scores, k):
        """Return log(p_k / (1 - p_k)) of class k."""
        return float(scores[k] - np.logaddexp.reduce(np.delete(scores, k)))

    def problems(self, scores, label):
        return [
            Problem(self.odds(scores, k), 1.0 if k == label else -1.0, _unit(self.n_outputs, k))
            for k in range(self.n_outputs)
        ]

    def judged(self, scores, label):
        return [Problem(self.odds(scores, label), 1.0, None)] * self.n_outputs


class OneVersusOne(Head):
    """A binary problem for each pair of classes i < j; i is y = +1."""

    def __init__(self, n_classes):
        self.pairs = list(itertools.combinations(range(n_classes), 2))
        self.n_classes = n_classes
        self.n_outputs = len(self.pairs)

    def problems(self, scores, label):
        return [
            Problem(float(scores[k]), 1.0 if label == pair[0] else -1.0, _unit(self.n_outputs, k))
            for k, pair in enumerate(self.pairs)
            if label in pair
        ]

    def strengths(self, scores):
        """Return the votes for each class, and what decides between equal ones."""
        votes, totals = np.zeros(self.n_classes), np.zeros(self.n_classes)
        for score, (first, second) in zip(scores, self.pairs, strict=True):
            votes[first if score > 0 else second] += 1
            totals[first] += score
            totals[second] -= score
        return votes + totals / (3 * (np.abs(totals) + 1))

    def predict(self, scores):
        return _first_largest(self.strengths(scores), range(self.n_classes))


class Regression(Head):
    """One output; the target is the number itself."""

    def problems(self, scores, target):
        return [Problem(float(scores[0]), float(target), _unit(1, 0))]

    def error(self, scores, target):
        return abs(target - scores[0])

    def predict(self, scores):
        return float(scores[0])


class SeveralTargets(Regression):
    """An output for each target; no average of models leads or follows."""

    def __init__(self, n_targets):
        self.n_outputs = n_targets

    def problems(self, scores, target):
        return [
            Problem(float(scores[k]), float(target[k]), _unit(self.n_outputs, k))
            for k in range(self.n_outputs)
        ]

    def predict(self, scores):
        return scores

    def error(self, scores, target):
        return 0.0


def _first_largest(scores, candidates):
    """Return the candidate index with the largest score, the first one of a tie."""
    best = None
    for k in candidates:
        if best is None or scores[k] > scores[best]:
            best = k
    return best


HEADS = {
    "binary": Binary,
    "ovr": OneVersusRest,
    "margin": Margin,
    "ovo": OneVersusOne,
    "joint": Joint,
    "joint_ovr": JointOneVersusRest,
    "softmax": Softmax,
    "regression": Regression,
    "several": SeveralTargets,
}
