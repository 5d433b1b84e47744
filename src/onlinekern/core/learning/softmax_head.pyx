"""The head of several classes that share one loss, that of their softmax."""
from onlinekern.core.base.random cimport Generator
from onlinekern.core.learning.heads cimport Joint, Sample, Update, begin_sample, select_length
from onlinekern.core.learning.odds cimport log_odds, log_sum
from onlinekern.core.learning.rules cimport Classes, Rule
from onlinekern.core.learning.sampling cimport Sampler


cdef class Softmax(Joint):
    """One loss for all classes, -log p_y, with p the softmax of the scores.

    It is the logistic loss at the margin log(p_y / (1 - p_y)), which the sampler sees. The rule
    solves for all classes at once.
    """

    cdef double margin(self, const double *scores, Py_ssize_t label) noexcept nogil:
        return log_odds(scores, self.n_outputs, label, log_sum(scores, self.n_outputs))

    cdef double violation(self, const double *scores, double y) noexcept nogil:
        return -self.margin(scores, <Py_ssize_t> y)

    cdef void select_lengths(self, const Sample *sample, Update *update, Rule rule, Sampler sampler,
                             Generator rng) noexcept nogil:
        cdef Py_ssize_t k, label = <Py_ssize_t> sample.y
        begin_sample(update)
        select_length(label, self.margin(sample.scores, label), 1, sample.weight, update, rule,
                      sampler, rng)
        update.needs_lengths = rule.uses_length and update.importances[label] != 0
        for k in range(self.n_outputs):
            # The margin of one class says nothing of the other problems.
            update.needs_length[k] = update.needs_lengths
            update.lengths[k] = 0

    cdef void solve(self, const Sample *sample, Update *update, Rule rule) noexcept nogil:
        cdef Py_ssize_t k, label = <Py_ssize_t> sample.y
        cdef double importance = update.importances[label] * sample.weight
        cdef Classes classes = Classes(sample.scores, update.lengths, self.n_outputs, label)
        update.shrink = rule.shrink(sample.t)
        update.loss = rule.loss.value(self.margin(sample.scores, label), 1)
        update.updates = False
        if importance != 0:
            rule.solve_classes(&classes, sample.t, importance, update.coefficients,
                               update.contractions)
        for k in range(self.n_outputs):
            if importance == 0:
                update.coefficients[k] = update.contractions[k] = 0
            update.updates |= update.coefficients[k] != 0


HEADS = {"softmax": Softmax}
