"""The algorithms: one naive loop over the stream, and a thin function for each name.

The model is a coefficient for every sample of the stream and every output (0 for samples that
are no support vectors). The averaged model is that of `averages`, in full.
Several epochs are one longer stream: pass X[order], y[order].
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .averages import Average
from .heads import HEADS, Head
from .kernels import kernel_matrix, resolve_gamma
from .losses import LOSSES
from .rules import RULES, Pegasos, Rule
from .stream import tested


class Model:
    """f_t and the average of f_1 ... f_{t-1}: coefficients of shape (K, n_stream)."""

    # This says what to do with a sample when the support set is full; see `run`.
    when_full = "stop"

    def __init__(self, n_outputs, gram):
        n_stream = len(gram)
        self.gram = gram
        self.coefficients = np.zeros((n_outputs, n_stream))
        self.past = Average(True)
        self.n_seen = 0
        self.support = []

    def average(self):
        """Return f-bar_t, the average of f_u over u <= t, at t = n_seen + 1, with f_1 = 0."""
        return self.past.including(self.coefficients)

    def scores(self, coefficients, kernel_column):
        """Return sum_j coefficients_j kappa(x_j, x) over the support vectors, shape (K,)."""
        return coefficients[:, self.support] @ kernel_column[self.support]

    def update(self, i, shrink, step, max_support):
        """Go from f_t to f_{t+1} = shrink f_t + step kappa(x_i, .), step of shape (K,)."""
        self.past.add(self.coefficients)
        self.n_seen += 1
        self.coefficients = shrink * self.coefficients
        full = max_support is not None and len(self.support) >= max_support
        if not np.any(step != 0.0):
            return
        if full and self.when_full == "nearest":
            near, share = self.nearest(i)
            if near is not None:
                self.coefficients[:, near] += share * step
                return
        if full and self.when_full in ("oldest", "nearest"):
            # It leaves all models, those of the average too.
            oldest = self.support.pop(0)
            self.coefficients[:, oldest] = 0.0
            self.past.forget(oldest)
            full = False
        if not full:
            self.support.append(i)
            self.coefficients[:, i] = step

    def nearest(self, i):
        """Return the support vector on which sample i projects best, and its coefficient there.

        None for it if the sample is far: of the squared length its projection has less than 3 %.
        """
        lengths = np.diag(self.gram)
        squares = [
            self.gram[i, s] ** 2 / lengths[s] if lengths[s] > 0 else -1.0 for s in self.support
        ]
        near = self.support[int(np.argmax(squares))]
        if max(squares) < max(0.03 * lengths[i], 0.0):
            return None, 0.0
        return near, self.gram[i, near] / lengths[near]


@dataclass
class Result:
    """Result of a run; rows refer to the stream, K is the number of outputs.

    Attributes
    ----------
    predictions : ndarray of shape (n,)
        Prediction of each sample before it was learnt.
    scores, averaged_scores : ndarray of shape (n, K)
        f_t(x_t) and f-bar_t(x_t).
    losses : ndarray of shape (n,)
        Unweighted loss at f_t, summed over the scalar problems; 0 where the weight is 0.
    cumulative_loss : float
        Weighted sum of `losses`.
    mistakes : int or None
        Number of predictions that differ from y, weight 0 left out; None for regression.
    n_seen, n_uniforms : int
        Samples with a weight above 0; random numbers drawn.
    support : ndarray of shape (n_SV,)
        Stream rows of the support vectors, in the order in which they were added.
    coefficients, averaged_coefficients : ndarray of shape (K, n_SV)
        Of f_{T+1} (the model after T samples) and of f-bar_{T+1}.
    average : bool
        Whether the averaged model predicts.
    """

    scores: np.ndarray
    averaged_scores: np.ndarray
    losses: np.ndarray
    predictions: np.ndarray | None = None
    cumulative_loss: float = 0.0
    mistakes: int | None = 0
    n_seen: int = 0
    n_uniforms: int = 0
    support: np.ndarray | None = None
    coefficients: np.ndarray | None = None
    averaged_coefficients: np.ndarray | None = None
    average: bool = False
    support_vectors: np.ndarray | None = None
    kernel_parameters: tuple = ()

    @classmethod
    def empty(cls, n, n_outputs, average):
        """Return the result before the first sample."""
        scores, averaged_scores = np.zeros((2, n, n_outputs))
        return cls(scores, averaged_scores, np.zeros(n), average=average)

    def finish(self, model, X, kernel_parameters):
        """Copy the final model."""
        self.n_seen = model.n_seen
        self.support = np.asarray(model.support, dtype=np.intp)
        self.coefficients = model.coefficients[:, self.support]
        self.averaged_coefficients = model.average()[:, self.support]
        self.support_vectors = X[self.support]
        self.kernel_parameters = kernel_parameters

    @property
    def dual_coef(self):
        """Coefficients of the model that predicts, shape (K, n_SV)."""
        return self.averaged_coefficients if self.average else self.coefficients

    def decision_function(self, Z):
        """Return the scores of new samples: (m,) for one output, else (m, K)."""
        kernel, gamma, degree, coef0 = self.kernel_parameters
        block = kernel_matrix(kernel, Z, self.support_vectors, gamma, degree, coef0)
        scores = block @ self.dual_coef.T
        return scores[:, 0] if len(self.dual_coef) == 1 else scores


@dataclass
class Parts:
    """Parameters of the loop; see `run`."""

    rule: Rule
    head: Head
    gate: tuple | float | None
    uniforms: Iterator | None
    max_support: int | None


def acceptance_probability(gate, loss, slope):
    """Return rho_t = min(alpha, l_t) / beta [3]_, Algorithm 1; 1 without a gate.

    A gate that is a number G is that of OSKL [7]_: |l'_t| / G, at most 1. Loss and slope are those
    of the sample times its weight.
    """
    if gate is None:
        return 1.0
    if not isinstance(gate, tuple):
        return min(1.0, abs(slope) / gate)
    alpha, beta = gate
    return min(alpha, loss) / beta


def is_within(gate, problem):
    """Return whether the gate ("margin", m), which needs no random number, lets a problem pass."""
    return problem.y * problem.f < gate[1]


def learn(model, i, scores, target, kappa, weight, parts, result):
    """Learn sample i, whose weight is above 0, from its scores f_t(x_i)."""
    t = model.n_seen + 1
    problems = parts.head.problems(scores, target)
    judged = parts.head.judged(scores, target)
    losses = [parts.rule.loss.value(problem.y, problem.f) for problem in judged]
    if isinstance(parts.head, (HEADS["joint"], HEADS["joint_ovr"], HEADS["softmax"])):
        result.losses[i] = losses[0]
    else:
        result.losses[i] = sum(losses)
    result.cumulative_loss += weight * result.losses[i]
    uniform = None
    by_margin = isinstance(parts.gate, tuple) and parts.gate[0] == "margin"
    by_lot = parts.gate is not None and not by_margin
    if by_lot:
        # One number per sample, shared by all its problems.
        uniform = next(parts.uniforms)
        result.n_uniforms += 1
    step = np.zeros(parts.head.n_outputs)
    for problem, seen, loss in zip(problems, judged, losses, strict=True):
        slope = parts.rule.loss.negative_slope(seen.y, seen.f)
        probability = 1.0
        if by_lot:
            probability = acceptance_probability(parts.gate, weight * loss, weight * slope)
        if (by_lot and uniform >= probability) or (by_margin and not is_within(parts.gate, seen)):
            continue
        q = np.dot(problem.direction, problem.direction) * kappa
        coefficient = parts.rule.weighted(problem.f, problem.y, q, t, weight, 1.0 / probability)
        step += coefficient * problem.direction
    model.update(i, parts.rule.shrink(t), step, parts.max_support)


def run(
    X,
    y,
    *,
    rule,
    loss="hinge",
    head="binary",
    n_classes=2,
    kernel="gaussian",
    gamma=1.0,
    degree=3,
    coef0=0.0,
    gate=None,
    uniforms=None,
    average=False,
    sample_weight=None,
    max_support=None,
    when_full="stop",
    make_model=Model,
    **parameters,
):
    """Run one algorithm over a stream, one sample at a time.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Dense samples.
    y : array-like of shape (n,)
        Class indices 0 ... n_classes - 1 (binary: 1 is y = +1), or numbers for regression.
    rule, loss, head, kernel : str
        Names in RULES, LOSSES, HEADS, KERNELS; `rule` may be a ready rule (its loss counts).
    gate : None, (alpha, beta) or G
        Accept a sample with probability rho_t = min(alpha, l_t) / beta, or |l'_t| / G; its
        importance is then weight / rho_t.
    uniforms : iterator of float in [0, 1)
        Randomness of the gate: one number per sample with a loss above 0.
    sample_weight : array-like of shape (n,)
        A sample of weight 0 is predicted and not learnt.
    max_support : int or None
        Largest number of support vectors.
    when_full : {'stop', 'oldest', 'nearest'}
        Then further samples are not added, replace the oldest, or move the nearest.
    make_model : callable
        (number of outputs, Gram matrix of the stream) -> model.
    parameters
        C, eta, schedule, power, reg of the rule; delta, epsilon of the loss.

    Returns
    -------
    Result
    """
    X = np.asarray(X, dtype=np.float64)
    kernel_parameters = (kernel, resolve_gamma(gamma, X), degree, coef0)
    gram = kernel_matrix(kernel, X, X, *kernel_parameters[1:])
    parts = Parts(
        build_rule(rule, loss, **parameters), HEADS[head](n_classes), gate, uniforms, max_support
    )
    model = make_model(parts.head.n_outputs, gram)
    # The result tells an average of the models also where the last one predicts.
    model.past, model.when_full = Average(average or True), when_full
    result = Result.empty(len(X), parts.head.n_outputs, average)

    def predict(i):
        result.scores[i] = model.scores(model.coefficients, gram[:, i])
        result.averaged_scores[i] = model.scores(model.average(), gram[:, i])
        return parts.head.predict((result.averaged_scores if average else result.scores)[i])

    # Losses and steps use f_t, never f-bar_t.
    for i, weight in tested(result, y, sample_weight, predict):
        scores = result.scores[i]
        model.past.compare(parts.head, scores, result.averaged_scores[i], y[i])
        learn(model, i, scores, y[i], gram[i, i], weight, parts, result)
    result.finish(model, X, kernel_parameters)
    return result


def build_rule(rule, loss, *, delta=1.0, epsilon=0.1, **parameters):
    """Return a rule from its name and its loss's name; a ready rule is returned unchanged."""
    if not isinstance(rule, str):
        return rule
    return RULES[rule](LOSSES[loss](delta=delta, epsilon=epsilon), **parameters)


def classify(X, y, *, classes=None, multi_class="ovr", **arguments):
    """Call `run` on labels of any kind; two classes always make a binary problem."""
    classes = np.unique(y) if classes is None else np.unique(classes)
    indices = np.searchsorted(classes, y)
    head = "binary" if len(classes) == 2 else multi_class
    result = run(X, indices, head=head, n_classes=len(classes), **arguments)
    result.predictions = classes[result.predictions.astype(np.intp)]
    return result


def regress(X, y, **arguments):
    """Call `run` for regression; mistakes are not defined there."""
    result = run(X, np.asarray(y, dtype=np.float64), head="regression", **arguments)
    result.mistakes = None
    return result


# The estimators' names and parameters. Further keyword arguments of each: kernel, gamma, degree,
# coef0, average, max_support, sample_weight and, for classification, classes and multi_class.


def kernel_perceptron(X, y, **common):
    """Kernel Perceptron [5]_."""
    return classify(X, y, rule="perceptron", **{"gamma": "scale", **common})


def kernel_ogd(X, y, *, loss=None, task="classification", **common):
    """Kernel OGD [2]_ (NORMA without offset); also eta, schedule, power, reg, delta, epsilon."""
    arguments = {"gamma": "scale", **common}
    if task == "regression":
        return regress(X, y, rule="gradient", loss=loss or "squared", **arguments)
    return classify(X, y, rule="gradient", loss=loss or "hinge", **arguments)


def kernel_pegasos(X, y, *, reg=1e-4, loss="hinge", **common):
    """Kernel Pegasos [4]_, one sample per step, no projection onto the ball."""
    rule = Pegasos(LOSSES[loss](), reg=reg)
    return classify(X, y, rule=rule, **{"gamma": "scale", **common})


def kernel_pa(X, y, *, C=1.0, variant="pa1", epsilon=0.1, task="classification", **common):
    """Kernel PA, PA-I, PA-II [1]_, section 3; regression section 6 (epsilon-insensitive)."""
    arguments = {"gamma": "scale", "C": C, "epsilon": epsilon, **common}
    if task == "regression":
        return regress(X, y, rule=variant, loss="epsilon_insensitive", **arguments)
    return classify(X, y, rule=variant, loss="hinge", **arguments)


def spa(X, y, *, uniforms, eta=1.0, alpha=1.0, beta=5.0, average=True, **common):
    """SPA [3]_, Algorithm 1: tau_t = min(eta / rho_t, l_t / kappa_tt) with probability rho_t.

    That is PA-I with C = eta and importance 1 / rho_t; a weight w makes it eta w / rho_t.
    """
    gate = {"gate": (alpha, beta), "uniforms": uniforms, "average": average}
    return kernel_pa(X, y, C=eta, variant="pa1", **gate, **common)


def spa_one_class(X, *, uniforms, eta=1.0, alpha=1.0, beta=5.0, average=True, **common):
    """SPA [3]_ of one class: the hinge of the label 1 for every sample."""
    rule = {"rule": "pa1", "loss": "hinge", "C": eta, "average": average}
    gate = {"gate": (alpha, beta), "uniforms": uniforms}
    return regress(X, np.ones(len(X)), **rule, **gate, **{"gamma": "scale", **common})


def oskl(X, y, *, uniforms, G=5.0, loss="logistic", average=True, **common):
    """OSKL [7]_: the step -eta G sign(l'_t) with probability |l'_t| / G."""
    gate = {"gate": G, "uniforms": uniforms, "average": average}
    return kernel_ogd(X, y, loss=loss, **gate, **common)
