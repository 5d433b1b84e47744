"""Heads: reduce K scores and a label to scalar problems for a rule, and scores to a prediction.

Labels are known here and nowhere below: classes are numbered 0 ... K-1, regression targets
are themselves. `solve` takes a score and a squared length per output (outputs may have geometries
of their own), and writes one coefficient per output (0 where nothing steps). Behind the
`n_outputs` coefficients it writes as many contractions when the rule is of second order; there is
room for both.
"""
from libc.math cimport fabs
from libc.stdint cimport int64_t

import numpy as np

from onlinekern.core.base.part cimport Part
from onlinekern.core.base.random cimport Generator
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.learning.sampling cimport Gate


cdef inline double step(double f, double y, double q, double weight, int64_t t, Rule rule,
                        Gate gate, Generator rng, double *uniform, double *loss,
                        double *contraction) noexcept nogil:
    """Coefficient of one scalar problem, and its contraction; adds its loss to `loss`."""
    cdef double suffered = rule.loss.value(f, y)
    cdef double importance = 1 if gate.open else \
        gate.importance(rule.loss, f, y, suffered, rng, uniform)
    loss[0] += suffered
    if rule.second_order:
        contraction[0] = 0 if importance == 0 else rule.contraction(f, y, q, importance * weight)
    if importance == 0:
        return 0
    return rule.coefficient(f, y, q, t, importance * weight)


cdef inline bint measured(double f, double y, Rule rule) noexcept nogil:
    """Whether the step of a scalar problem looks at the squared length."""
    return not (rule.blind or rule.idle(f, y))


cdef inline Outcome solve_one(double f, double y, double q, double weight, int64_t t, Rule rule,
                              Gate gate, Generator rng, double *coefficients) noexcept nogil:
    """`Head.solve` for a single output, whose target is y."""
    cdef Outcome outcome
    cdef double uniform = -1
    outcome.loss = 0
    outcome.shrink = rule.shrink(t)
    coefficients[0] = step(f, y, q, weight, t, rule, gate, rng, &uniform, &outcome.loss,
                           coefficients + 1)
    outcome.updates = coefficients[0] != 0
    return outcome


cdef class Head(Part):
    """Base of the heads, and the one of regression: the score is the prediction."""

    def __init__(self):
        self.n_outputs = 1

    cdef double predict(self, const double *scores) noexcept nogil:
        return scores[0]

    cdef double target(self, double y) noexcept nogil:
        """The target of the scalar problem for one output."""
        return y

    cdef double violation(self, const double *scores, double y) noexcept nogil:
        """How wrong the scores of a sample are: the larger, the worse."""
        return fabs(y - scores[0])

    cdef void wanted(self, const double *scores, double y, Rule rule,
                     double *lengths) noexcept nogil:
        """Mark with 1 the lengths that `solve` will look at, with 0 the others."""
        lengths[0] = measured(scores[0], self.target(y), rule)

    cdef Outcome solve(self, const double *scores, const double *lengths, double y, double weight,
                       int64_t t, Rule rule, Gate gate, Generator rng,
                       double *coefficients) noexcept nogil:
        return solve_one(scores[0], self.target(y), lengths[0], weight, t, rule, gate, rng,
                         coefficients)


cdef inline double sign_of(double y) noexcept nogil:
    """The target of class 0 or 1, without a branch: no processor foresees labels."""
    return 2.0 * (y > 0) - 1


cdef class Binary(Head):
    """Two classes, one score: class 1 where it is > 0."""

    cdef double predict(self, const double *scores) noexcept nogil:
        return scores[0] > 0

    cdef double target(self, double y) noexcept nogil:
        return sign_of(y)

    # The two below are those of the base without a call for the target.
    cdef void wanted(self, const double *scores, double y, Rule rule,
                     double *lengths) noexcept nogil:
        lengths[0] = measured(scores[0], sign_of(y), rule)

    cdef Outcome solve(self, const double *scores, const double *lengths, double y, double weight,
                       int64_t t, Rule rule, Gate gate, Generator rng,
                       double *coefficients) noexcept nogil:
        return solve_one(scores[0], sign_of(y), lengths[0], weight, t, rule, gate, rng,
                         coefficients)

    cdef double violation(self, const double *scores, double y) noexcept nogil:
        return -scores[0] if y > 0 else scores[0]


cdef class OneVsRest(Head):
    """K binary problems, each class against all others; the largest score wins (first on ties).

    The K problems share one support row, which is added when any of them steps. The loss of a
    sample is the sum of the K losses.

    Parameters
    ----------
    n_classes : int >= 2
    """

    def __init__(self, Py_ssize_t n_classes):
        self.n_outputs = n_classes
        self.arguments = (n_classes,)

    cdef double predict(self, const double *scores) noexcept nogil:
        cdef Py_ssize_t k, best = 0
        for k in range(1, self.n_outputs):
            if scores[k] > scores[best]:
                best = k
        return best

    cdef double violation(self, const double *scores, double y) noexcept nogil:
        """Of the worst of the K problems."""
        cdef Py_ssize_t k
        cdef double worst = -scores[<Py_ssize_t> y]
        for k in range(self.n_outputs):
            if k != <Py_ssize_t> y:
                worst = max(worst, scores[k])
        return worst

    cdef void wanted(self, const double *scores, double y, Rule rule,
                     double *lengths) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_outputs):
            lengths[k] = measured(scores[k], 1 if k == <Py_ssize_t> y else -1, rule)

    cdef Outcome solve(self, const double *scores, const double *lengths, double y, double weight,
                       int64_t t, Rule rule, Gate gate, Generator rng,
                       double *coefficients) noexcept nogil:
        cdef Outcome outcome
        cdef Py_ssize_t k
        cdef double uniform = -1
        outcome.loss = 0
        outcome.updates = False
        outcome.shrink = rule.shrink(t)
        for k in range(self.n_outputs):
            coefficients[k] = step(scores[k], 1 if k == <Py_ssize_t> y else -1, lengths[k], weight,
                                   t, rule, gate, rng, &uniform, &outcome.loss,
                                   coefficients + self.n_outputs + k)
            outcome.updates |= coefficients[k] != 0
        return outcome


cdef class Margin(OneVsRest):
    """The true class against its strongest rival.

    Crammer and Singer (2001); for PA section 8 of Crammer et al. (2006). f = f_y - max f_r, y = +1,
    the sum of both lengths, coefficient +c on the class and -c on the rival.
    """

    cdef Py_ssize_t rival(self, const double *scores, Py_ssize_t label) noexcept nogil:
        """The strongest class but the true one, the first on ties."""
        cdef Py_ssize_t k, rival = 1 if label == 0 else 0
        for k in range(self.n_outputs):
            if k != label and scores[k] > scores[rival]:
                rival = k
        return rival

    cdef double violation(self, const double *scores, double y) noexcept nogil:
        return scores[self.rival(scores, <Py_ssize_t> y)] - scores[<Py_ssize_t> y]

    cdef void wanted(self, const double *scores, double y, Rule rule,
                     double *lengths) noexcept nogil:
        cdef Py_ssize_t k, label = <Py_ssize_t> y, rival = self.rival(scores, label)
        for k in range(self.n_outputs):
            lengths[k] = 0
        lengths[label] = lengths[rival] = measured(scores[label] - scores[rival], 1, rule)

    cdef Outcome solve(self, const double *scores, const double *lengths, double y, double weight,
                       int64_t t, Rule rule, Gate gate, Generator rng,
                       double *coefficients) noexcept nogil:
        cdef Outcome outcome
        cdef Py_ssize_t k, label = <Py_ssize_t> y, rival = self.rival(scores, label)
        cdef double uniform = -1, coefficient, contraction = 0
        for k in range(self.n_outputs):
            coefficients[k] = 0
        outcome.loss = 0
        outcome.shrink = rule.shrink(t)
        coefficient = step(scores[label] - scores[rival], 1, lengths[label] + lengths[rival],
                           weight, t, rule, gate, rng, &uniform, &outcome.loss, &contraction)
        coefficients[label] = coefficient
        coefficients[rival] = -coefficient
        coefficients[self.n_outputs + label] = contraction
        coefficients[self.n_outputs + rival] = contraction
        outcome.updates = coefficient != 0
        return outcome


cdef class Weighted(Head):
    """Another head, whose coefficients are multiplied by a weight for each class.

    The weight is that of the sample's class. One against the rest, it is a weight of the positive
    samples of a problem: the steps of the others are left alone.

    Parameters
    ----------
    inner : Binary, OneVsRest or Margin
    weights : tuple of float >= 0
        One for each class.
    """

    cdef Head inner
    cdef double[::1] weights
    cdef bint positive_only

    def __init__(self, Head inner, weights):
        self.inner = inner
        self.weights = np.array(weights, dtype=np.float64)
        self.positive_only = type(inner) is OneVsRest
        self.n_outputs = inner.n_outputs
        self.arguments = (inner, tuple(weights))

    cdef double predict(self, const double *scores) noexcept nogil:
        return self.inner.predict(scores)

    cdef double target(self, double y) noexcept nogil:
        return self.inner.target(y)

    cdef void wanted(self, const double *scores, double y, Rule rule,
                     double *lengths) noexcept nogil:
        self.inner.wanted(scores, y, rule, lengths)

    cdef Outcome solve(self, const double *scores, const double *lengths, double y, double weight,
                       int64_t t, Rule rule, Gate gate, Generator rng,
                       double *coefficients) noexcept nogil:
        cdef Outcome outcome = self.inner.solve(scores, lengths, y, weight, t, rule, gate, rng,
                                                coefficients)
        cdef Py_ssize_t k, label = <Py_ssize_t> y
        for k in range(self.n_outputs):
            if k == label or not self.positive_only:
                coefficients[k] *= self.weights[label]
        return outcome


HEADS = {"regression": Head, "binary": Binary, "ovr": OneVsRest, "margin": Margin}
