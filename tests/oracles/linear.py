"""Linear learners: K weight vectors and K constants; every model of the stream is kept.

Scores are w_k . x + b_k. A step of coefficient c adds c x to w and c times `constant` to b; q, the
squared length of a sample, leaves out the constant if it is not `counted`; only what a sample of a
large weight adds to its first step minds all that moves the score. References as in the
package's docstring.
"""

from dataclasses import dataclass, field

import numpy as np

from .heads import HEADS
from .losses import LOSSES
from .rules import RULES, BatchPegasos


@dataclass
class Linear:
    """A learner and its history.

    Attributes
    ----------
    rule, head : rules.Rule, heads.Head
    constant : float
        Step of b relative to that of w; 0: no b.
    counted : bool
        Whether the length of a sample includes its constant.
    average : bool
        Whether the prediction is that of the mean of the models f_{skipped + 1}, f_{skipped + 2},
        ... so far, f_1 being the one before the first sample.
    batch_size : int
        Number of samples scored by one model; their shrinks and steps are taken together.
    radius : float
        Radius of the ball for the projection after a batch; 0: no projection.
    class_weights : ndarray of shape (n_classes,) or None
        The weight of its class multiplies the step of a sample; with one problem for each class,
        only the step of the positive sample.
    models : list of ndarray of shape (K, d + 1)
        Weights and constants of f_1, f_2, ...
    """

    rule: object
    head: object
    n_features: int
    constant: float = 1.0
    counted: bool = False
    average: bool = False
    skipped: int = 0
    batch_size: int = 1
    radius: float = 0.0
    class_weights: np.ndarray | None = None
    models: list = field(default_factory=list)
    predictions: list = field(default_factory=list)
    mistakes: int = 0
    cumulative_loss: float = 0.0

    def __post_init__(self):
        self.models.append(np.zeros((self.head.n_outputs, self.n_features + 1)))
        self.empty_batch()

    def empty_batch(self):
        """Begin a batch."""
        self.n_gathered, self.shrink = 0, 1.0
        self.gathered = np.zeros_like(self.models[-1])

    @property
    def predicting(self):
        """Return weights and constants of the model that predicts."""
        past = self.models[self.skipped :]
        return np.mean(past, axis=0) if self.average and past else self.models[-1]

    def scores(self, model, x):
        """Return the K scores of a sample."""
        return model[:, :-1] @ x + model[:, -1]

    def learn(self, X, y, sample_weight=None):
        """Predict each sample, then learn it."""
        weights = np.ones(len(X)) if sample_weight is None else sample_weight
        for x, target, weight in zip(X, y, weights, strict=True):
            prediction = self.head.predict(self.scores(self.predicting, x))
            self.predictions.append(prediction)
            if weight > 0.0:
                self.mistakes += int(prediction != target)
                self.learn_one(x, target, weight)
        return self

    def learn_one(self, x, target, weight):
        """Go from f_t to f_{t+1}."""
        t = len(self.models)
        lifted = np.append(x, self.constant)
        for problem in self.head.problems(self.scores(self.models[-1], x), target):
            self.cumulative_loss += weight * self.rule.loss.value(problem.y, problem.f)
            turned = np.dot(problem.direction, problem.direction)
            whole = turned * (np.dot(x, x) + self.constant)
            q = whole if self.counted else turned * np.dot(x, x)
            arguments = problem.f, problem.y, q, t, weight
            step = self.rule.weighted(*arguments, whole=whole) * problem.direction
            self.gathered += np.outer(step * self.importance(target), lifted)
        self.shrink *= self.rule.shrink(t)
        self.n_gathered += 1
        self.models.append(self.models[-1])
        if self.n_gathered == self.batch_size:
            self.end_batch()

    def importance(self, target):
        """Return the factor of each output's step."""
        factors = np.ones(self.head.n_outputs)
        if self.class_weights is not None and type(self.head) is HEADS["ovr"]:
            factors[target] = self.class_weights[target]
        elif self.class_weights is not None:
            factors[:] = self.class_weights[target]
        return factors

    def end_batch(self):
        """Take the steps of the batch."""
        model = self.shrink * self.models[-1] + self.gathered
        norm = np.linalg.norm(model)
        self.models[-1] = model * min(1.0, self.radius / norm) if self.radius and norm else model
        self.empty_batch()


def learner(X, rule, *, task="binary", n_classes=2, fit_intercept=True, **settings):
    """Return a learner for samples like X; task is 'regression', 'binary', 'ovr' or 'margin'."""
    settings.setdefault("constant", float(fit_intercept))
    return Linear(rule, HEADS[task](n_classes), np.shape(X)[1], **settings)


def perceptron(X, y, **settings):
    """Perceptron [5]_; its average includes the first model (0)."""
    return learner(X, RULES["perceptron"](), **settings).learn(X, y)


def ogd(X, y, *, rule, **settings):
    """Online gradient descent [2]_ without kernel; the rule is the Gradient of `rules`."""
    return learner(X, rule, **settings).learn(X, y)


def pegasos(X, y, *, reg=1e-4, batch_size=1, projection=False, n_problems=1, **settings):
    """Pegasos [4]_, figure 2: batches, and the ball of squared radius n_problems / reg."""
    rule = BatchPegasos(LOSSES["hinge"](), reg=reg, batch_size=batch_size)
    radius = np.sqrt(n_problems / reg) if projection else 0.0
    return learner(X, rule, batch_size=batch_size, radius=radius, **settings).learn(X, y)


def pa_rule(*, C=1.0, variant="pa1", regression=False, epsilon=0.1):
    """Return the rule of a Passive-Aggressive learner whose weights multiply the step."""
    loss = LOSSES["epsilon_insensitive"](epsilon=epsilon) if regression else LOSSES["hinge"]()
    name, C = ("pa1", np.inf) if variant == "pa" else (variant, C)
    return RULES[f"scaled_{name}"](loss, C=C)


def pa(X, y, *, C=1.0, variant="pa1", epsilon=0.1, average=False, sample_weight=None, **settings):
    """Passive-Aggressive learning [1]_, one pass; `average` n leaves f_1 ... f_n out."""
    regression = settings.get("task") == "regression"
    rule = pa_rule(C=C, variant=variant, regression=regression, epsilon=epsilon)
    settings |= {"average": bool(average), "skipped": int(average), "counted": variant == "pa"}
    return learner(X, rule, **settings).learn(X, y, sample_weight)


def passes(model, X, y, orders, *, max_iter=1000, tol=1e-3, n_iter_no_change=5):
    """Learn until n_iter_no_change passes in a row did not lower the mean loss by tol.

    Returns the number of passes."""
    best, idle = np.inf, 0
    for number, order in enumerate(orders, start=1):
        before = model.cumulative_loss
        model.learn(X[order], y[order])
        loss = (model.cumulative_loss - before) / len(order)
        idle = idle + 1 if tol is not None and loss > best - tol else 0
        best = min(best, loss)
        if idle >= n_iter_no_change or number == max_iter:
            return number
    raise AssertionError("the orders have come to an end")
