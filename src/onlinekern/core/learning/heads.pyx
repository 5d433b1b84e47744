"""Heads: reduce K scores and a label to scalar problems for a rule, and K scores to a prediction.

Only a head knows labels: classes are the numbers 0 ... K-1. A sample is learnt in three steps.
`select_lengths` draws the importances, and sets which squared lengths are needed. The space then
computes these lengths. `solve` computes the coefficient of each output (0: no update) and, for
second-order rules, its contraction. Each output may have its own geometry, and so its own length.
Outputs that the sampler rejects need no length, whose computation may be most of the work.
"""
from libc.math cimport fabs

import numpy as np

from onlinekern.core.base.part cimport Part
from onlinekern.core.base.random cimport Generator
from onlinekern.core.base.state cimport (
    MOST_OUTPUTS, check_width, integer_within, not_negative)
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.learning.sampling cimport Sampler
from onlinekern.core.learning.targets cimport share_of_earlier

cdef Py_ssize_t MOST_PAIRED = 46340  # most classes of OneVsOne: their pairs are <= MOST_OUTPUTS


cdef class Head(Part):
    """Base of the heads, and the head of regression: the prediction is the score."""

    def __cinit__(self, *args, **kwargs):
        self.n_targets = 1

    def __init__(self):
        self.n_outputs = 1

    cdef int check_label(self, double y) except -1:
        """Raise ValueError unless the label is a class number: it is used as an index."""
        if self.n_labels > 0 and not 0 <= y < self.n_labels:
            raise ValueError(f"y must be a class number, 0 ... {self.n_labels - 1}, got {y}")
        return 0

    cdef int check_labels(self, const double[::1] y) except -1:
        """Raise ValueError unless all labels are class numbers."""
        cdef Py_ssize_t i, good = 0
        for i in range(y.shape[0] if self.n_labels > 0 else 0):
            good += (y[i] >= 0) & (y[i] < self.n_labels)
        if self.n_labels > 0 and good < y.shape[0]:
            for i in range(y.shape[0]):
                self.check_label(y[i])
        return 0

    cdef double predict(self, const double *scores) noexcept nogil:
        """Class number, or target, predicted from K scores."""
        return scores[0]

    cdef double target(self, double y) noexcept nogil:
        """The target of the scalar problem of a single output."""
        return y

    cdef bint is_single(self):
        """Whether the loop may inline the scalar problem of the single output."""
        return type(self) in (Head, Standardized, Binary)

    cdef int64_t lead_after(self, int64_t lead, const double *last, const double *averaged,
                            double y) noexcept nogil:
        """The lead of the last model over the averaged one after a sample; `lead` is that before.

        It counts the samples on which the last model is right and the average wrong. It is reset to
        0 by a sample on which the average is right and the last model wrong; other samples do not
        change it. In regression, the last model is right if its error is less than half of the
        other's, and wrong if it is larger.
        """
        cdef double one, other
        if self.n_labels > 0:
            one, other = self.predict(last) != y, self.predict(averaged) != y
        else:
            one, other = fabs(y - last[0]), fabs(y - averaged[0])
        if 2 * one < other:
            return lead + 1
        return 0 if one > other else lead

    cdef double violation(self, const double *scores, double y) noexcept nogil:
        """How wrong the scores of a sample are: the larger, the worse."""
        return fabs(y - scores[0])

    cdef void select_lengths(self, const Sample *sample, Update *update, Rule rule, Sampler sampler,
                             Generator rng) noexcept nogil:
        """Set `needs_length` and `importances` for each output, and the lengths to 0."""
        begin_sample(update)
        update.needs_lengths = select_length(0, sample.scores[0], self.target(sample.y),
                                             sample.weight, update, rule, sampler, rng)

    cdef void solve(self, const Sample *sample, Update *update, Rule rule) noexcept nogil:
        """Compute loss, shrink, coefficients and contractions from the scores and lengths."""
        update.shrink = rule.shrink(sample.t)
        update.loss = solve_noted(0, sample.scores[0], self.target(sample.y), sample, update, rule)
        update.updates = update.coefficients[0] != 0


cdef class Standardized(Head):
    """The head of a regression whose targets the model standardises (`learning.targets`).

    Parameters
    ----------
    forgetting : float in (0, 1], default 1
        Factor of the weights of earlier targets at each sample.
    """

    def __init__(self, forgetting=1.0):
        Head.__init__(self)
        self.target_forgetting = share_of_earlier(forgetting)
        self.arguments = (float(forgetting),)


cdef class Binary(Head):
    """Two classes, one score: class 1 where it is > 0."""

    def __init__(self):
        Head.__init__(self)
        self.n_labels = 2

    cdef double predict(self, const double *scores) noexcept nogil:
        return scores[0] > 0

    cdef double target(self, double y) noexcept nogil:
        return sign_of(y)

    cdef double violation(self, const double *scores, double y) noexcept nogil:
        return -scores[0] if y > 0 else scores[0]


cdef class OneVsRest(Head):
    """K binary problems, each class against all others; the largest score wins (first on ties).

    The K problems share one support vector, which is added if any of them updates. The loss of a
    sample is the sum of the K losses.

    Parameters
    ----------
    n_classes : int >= 2
    """

    def __init__(self, Py_ssize_t n_classes):
        self.n_outputs = integer_within("n_classes", n_classes, 2, MOST_OUTPUTS)
        self.n_labels = self.n_outputs
        self.arguments = (n_classes,)

    cdef double predict(self, const double *scores) noexcept nogil:
        cdef Py_ssize_t k, best = 0
        for k in range(1, self.n_outputs):
            if scores[k] > scores[best]:
                best = k
        return best

    cdef double violation(self, const double *scores, double y) noexcept nogil:
        """The largest violation of the K problems."""
        cdef Py_ssize_t k
        cdef double worst = -scores[<Py_ssize_t> y]
        for k in range(self.n_outputs):
            if k != <Py_ssize_t> y:
                worst = max(worst, scores[k])
        return worst

    cdef void select_lengths(self, const Sample *sample, Update *update, Rule rule, Sampler sampler,
                             Generator rng) noexcept nogil:
        select_each(self.n_outputs, True, sample, update, rule, sampler, rng)

    cdef void solve(self, const Sample *sample, Update *update, Rule rule) noexcept nogil:
        solve_each(self.n_outputs, True, sample, update, rule)


cdef class SeveralTargets(Head):
    """A regression of several targets at once, each of which is the target of an output.

    The loss of a sample is the sum of the losses of its targets. A prediction is all scores.

    Parameters
    ----------
    n_targets : int >= 2
    """

    def __init__(self, Py_ssize_t n_targets):
        self.n_outputs = integer_within("n_targets", n_targets, 2, MOST_OUTPUTS)
        self.n_targets = self.n_outputs
        self.arguments = (n_targets,)

    cdef int check_label(self, double y) except -1:
        raise ValueError(f"y must be {self.n_targets} targets, as the samples before had, got {y}")

    cdef int64_t lead_after(self, int64_t lead, const double *last, const double *averaged,
                            double y) noexcept nogil:
        """No lead: y is the first target only."""
        return 0

    cdef void select_lengths(self, const Sample *sample, Update *update, Rule rule, Sampler sampler,
                             Generator rng) noexcept nogil:
        select_each(self.n_outputs, False, sample, update, rule, sampler, rng)

    cdef void solve(self, const Sample *sample, Update *update, Rule rule) noexcept nogil:
        solve_each(self.n_outputs, False, sample, update, rule)


cdef class StandardizedTargets(SeveralTargets):
    """Several targets, each of which the model standardises by its own mean and scale.

    Parameters
    ----------
    n_targets : int >= 2
    forgetting : float in (0, 1], default 1
        Factor of the weights of earlier targets at each sample.
    """

    def __init__(self, Py_ssize_t n_targets, forgetting=1.0):
        super().__init__(n_targets)
        self.target_forgetting = share_of_earlier(forgetting)
        self.arguments = (n_targets, float(forgetting))


cdef class Margin(OneVsRest):
    """The true class against its strongest rival.

    Crammer and Singer (2001); for PA section 8 of Crammer et al. (2006). f = f_y - max f_r, y = +1,
    q is the sum of both lengths; the class gets the coefficient +c, the rival -c.
    """

    cdef Py_ssize_t rival(self, const double *scores, Py_ssize_t label) noexcept nogil:
        """The strongest class other than the true one, the first on ties."""
        cdef Py_ssize_t k, rival = 1 if label == 0 else 0
        for k in range(self.n_outputs):
            if k != label and scores[k] > scores[rival]:
                rival = k
        return rival

    cdef double violation(self, const double *scores, double y) noexcept nogil:
        return scores[self.rival(scores, <Py_ssize_t> y)] - scores[<Py_ssize_t> y]

    cdef void select_lengths(self, const Sample *sample, Update *update, Rule rule, Sampler sampler,
                             Generator rng) noexcept nogil:
        cdef Py_ssize_t k, label = <Py_ssize_t> sample.y
        cdef Py_ssize_t rival = self.rival(sample.scores, label)
        update.rival = rival
        for k in range(self.n_outputs):
            update.needs_length[k] = False
            update.lengths[k] = 0
        begin_sample(update)
        update.needs_lengths = select_length(
            label, sample.scores[label] - sample.scores[rival], 1, sample.weight, update, rule,
            sampler, rng)
        update.needs_length[rival] = update.needs_lengths

    cdef void solve(self, const Sample *sample, Update *update, Rule rule) noexcept nogil:
        cdef Py_ssize_t k, label = <Py_ssize_t> sample.y, rival = update.rival
        for k in range(self.n_outputs):
            update.coefficients[k] = 0
        update.shrink = rule.shrink(sample.t)
        update.lengths[label] += update.lengths[rival]
        update.beside *= 2
        update.loss = solve_noted(label, sample.scores[label] - sample.scores[rival], 1, sample,
                                  update, rule)
        update.coefficients[rival] = -update.coefficients[label]
        update.contractions[rival] = update.contractions[label]
        update.updates = update.coefficients[label] != 0


cdef class Joint(Margin):
    """K problems, each class against all others, which the sampler accepts or rejects together.

    The sampler and the loss use one margin for a sample: the score of its class minus that of the
    strongest rival. The targets of the K outputs are 1 for the class, and -1 for the others.
    """

    cdef double margin(self, const double *scores, Py_ssize_t label) noexcept nogil:
        return scores[label] - scores[self.rival(scores, label)]

    cdef void select_lengths(self, const Sample *sample, Update *update, Rule rule, Sampler sampler,
                             Generator rng) noexcept nogil:
        cdef Py_ssize_t k, label = <Py_ssize_t> sample.y
        cdef double importance
        begin_sample(update)
        importance = importance_of(self.margin(sample.scores, label), 1, sample.weight, update,
                                   rule, sampler, rng)
        update.needs_lengths = False
        for k in range(self.n_outputs):
            update.needs_lengths |= note_importance(
                k, sample.scores[k], 1 if k == label else -1, sample.weight, importance, update,
                rule)

    cdef void solve(self, const Sample *sample, Update *update, Rule rule) noexcept nogil:
        cdef Py_ssize_t k, label = <Py_ssize_t> sample.y
        update.shrink = rule.shrink(sample.t)
        update.loss = rule.loss.value(self.margin(sample.scores, label), 1)
        update.updates = False
        for k in range(self.n_outputs):
            solve_noted(k, sample.scores[k], 1 if k == label else -1, sample, update, rule)
            update.updates |= update.coefficients[k] != 0


cdef class JointOneVsRest(Joint):
    """As `Joint`, but the margin of a sample is the smallest of its K problems."""

    cdef double margin(self, const double *scores, Py_ssize_t label) noexcept nogil:
        return -OneVsRest.violation(self, scores, label)


cdef class OneVsOne(Head):
    """A binary problem for each pair of classes, (0, 1), (0, 2), ... (1, 2), ...; votes decide.

    A score > 0 is a vote for the first class of the pair. The sum s of the scores for a class
    breaks ties: it counts as s / (3 (|s| + 1)) of a vote.

    Parameters
    ----------
    n_classes : int >= 2
    """

    def __init__(self, Py_ssize_t n_classes):
        self.n_labels = integer_within("n_classes", n_classes, 2, MOST_PAIRED)
        self.n_outputs = n_classes * (n_classes - 1) // 2
        self.arguments = (n_classes,)

    cdef Py_ssize_t pair(self, Py_ssize_t one, Py_ssize_t other) noexcept nogil:
        cdef Py_ssize_t first = min(one, other)
        return first * (2 * self.n_labels - first - 1) // 2 + max(one, other) - first - 1

    cdef double strength(self, const double *scores, Py_ssize_t label) noexcept nogil:
        """Votes for a class, plus the fraction that breaks ties."""
        cdef Py_ssize_t other
        cdef double votes = 0, total = 0, score
        for other in range(self.n_labels):
            if other != label:
                score = scores[self.pair(label, other)]
                votes += score > 0 if label < other else score <= 0
                total += score if label < other else -score
        return votes + total / (3 * (fabs(total) + 1))

    cdef Py_ssize_t strongest(self, const double *scores, Py_ssize_t besides) noexcept nogil:
        """The strongest class other than `besides`, the first on ties."""
        cdef Py_ssize_t k, best = besides == 0
        for k in range(best + 1, self.n_labels):
            if k != besides and self.strength(scores, k) > self.strength(scores, best):
                best = k
        return best

    cdef double predict(self, const double *scores) noexcept nogil:
        return self.strongest(scores, -1)

    cdef double violation(self, const double *scores, double y) noexcept nogil:
        cdef Py_ssize_t label = <Py_ssize_t> y
        return self.strength(scores, self.strongest(scores, label)) - self.strength(scores, label)

    cdef void select_lengths(self, const Sample *sample, Update *update, Rule rule, Sampler sampler,
                             Generator rng) noexcept nogil:
        cdef Py_ssize_t k, other, label = <Py_ssize_t> sample.y
        update.needs_lengths = False
        begin_sample(update)
        for k in range(self.n_outputs):
            update.needs_length[k] = False
            update.lengths[k] = update.importances[k] = 0
        for other in range(self.n_labels):
            if other != label:
                k = self.pair(label, other)
                update.needs_lengths |= select_length(
                    k, sample.scores[k], 1 if label < other else -1, sample.weight, update, rule,
                    sampler, rng)

    cdef void solve(self, const Sample *sample, Update *update, Rule rule) noexcept nogil:
        cdef Py_ssize_t k, other, label = <Py_ssize_t> sample.y
        update.loss = 0
        update.updates = False
        update.shrink = rule.shrink(sample.t)
        for k in range(self.n_outputs):
            update.coefficients[k] = update.contractions[k] = 0
        for other in range(self.n_labels):
            if other != label:
                k = self.pair(label, other)
                update.loss += solve_noted(k, sample.scores[k], 1 if label < other else -1,
                                           sample, update, rule)
                update.updates |= update.coefficients[k] != 0

    def strengths(self, const double[:, ::1] scores):
        """`strength` of all classes for samples, ndarray of shape (n, n_classes)."""
        check_width("scores", scores.shape[1], self.n_outputs)
        cdef Py_ssize_t i, k
        cdef double[:, ::1] out = np.empty((scores.shape[0], self.n_labels))
        for i in range(scores.shape[0]):
            for k in range(self.n_labels):
                out[i, k] = self.strength(&scores[i, 0], k)
        return np.asarray(out)


cdef class Weighted(Head):
    """Another head whose coefficients are multiplied by a weight for each class.

    The weight is that of the sample's class. With OneVsRest it multiplies only the coefficient of
    the sample's own class.

    Parameters
    ----------
    inner : Binary, OneVsRest or Margin
    weights : tuple of float >= 0
        One for each class.
    """

    cdef Head inner
    cdef double[::1] weights
    cdef bint positive_only

    def __init__(self, Head inner not None, weights):
        self.inner = inner
        weights = tuple(weights)
        n_classes = max(inner.n_outputs, 2)
        if len(weights) != n_classes:
            raise ValueError(f"weights must be {n_classes} numbers, one for each class, got "
                             f"{len(weights)}")
        for weight in weights:
            not_negative("a weight of a class", weight)
        self.weights = np.array(weights, dtype=np.float64)
        self.positive_only = type(inner) is OneVsRest
        self.n_outputs = inner.n_outputs
        self.n_labels = n_classes
        self.arguments = (inner, weights)

    cdef double predict(self, const double *scores) noexcept nogil:
        return self.inner.predict(scores)

    cdef double target(self, double y) noexcept nogil:
        return self.inner.target(y)

    cdef double violation(self, const double *scores, double y) noexcept nogil:
        return self.inner.violation(scores, y)

    cdef void select_lengths(self, const Sample *sample, Update *update, Rule rule, Sampler sampler,
                             Generator rng) noexcept nogil:
        self.inner.select_lengths(sample, update, rule, sampler, rng)

    cdef void solve(self, const Sample *sample, Update *update, Rule rule) noexcept nogil:
        cdef Py_ssize_t k, label = <Py_ssize_t> sample.y
        self.inner.solve(sample, update, rule)
        for k in range(self.n_outputs):
            if k == label or not self.positive_only:
                update.coefficients[k] *= self.weights[label]


HEADS = {"regression": Head, "standardized": Standardized, "several": SeveralTargets,
         "several_standardized": StandardizedTargets, "binary": Binary, "ovr": OneVsRest,
         "margin": Margin, "ovo": OneVsOne, "joint": Joint, "joint_ovr": JointOneVsRest}
