# Heads: from K scores and a label to scalar problems. May change at minor versions.
from libc.math cimport copysign
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Part
from onlinekern.core.base.random cimport Generator
from onlinekern.core.learning.rules cimport Rule, solved, solves_hinge
from onlinekern.core.learning.sampling cimport Sampler


# A sample as a head gets it.
cdef struct Sample:
    const double *scores     # K scores by the model that learns
    double y                 # class number, or target (the first of several)
    const double *targets    # K targets, if each output has its own
    double *standardized     # buffer for the standardised targets
    double weight            # > 0
    int64_t t                # number of the sample, from 1


# The update of a model of K outputs by a sample.
cdef struct Update:
    double loss              # of the sample, before the update
    double shrink            # factor on everything learnt before
    bint updates             # whether any coefficient is not 0
    bint needs_lengths       # whether any flag of `needs_length` is set
    double beside            # squared length of an intercept, which `lengths` leave out
    double uniform           # the random number of the sampler; negative: not drawn yet
    int64_t lead             # lead of the model, if it leads on this sample (`Head.lead_after`)
    Py_ssize_t rival         # with margins: the strongest class other than the sample's
    bint enters              # second-order rules: an output with loss > 0 has passed the sampler
    char *needs_length       # K flags: whether `solve` uses the squared length for this output
    double *lengths          # K squared lengths of the sample; 0 where none is needed
    double *coefficients     # K coefficients of the sample
    double *importances      # K importances from the sampler; 0: the output does not update
    double *contractions     # K contractions, of second-order rules


cdef inline double sign_of(double y) noexcept nogil:
    """The target -1 or 1 of class 0 or 1, without a branch: labels are unpredictable."""
    return copysign(1, y - 1e-300)


cdef inline double class_of(double score) noexcept nogil:
    """The class that a score predicts, 1 if it is > 0 else 0, without a branch."""
    return 0.5 - copysign(0.5, 0 - score)


cdef inline double importance_of(double f, double y, double weight, Update *update, Rule rule,
                                 Sampler sampler, Generator rng) noexcept nogil:
    """The importance that the sampler gives a scalar problem."""
    return 1 if sampler.always else \
        sampler.importance(rule.loss, f, y, rule.loss.value(f, y), weight, rng, &update.uniform)


cdef inline bint is_continued(Rule rule, double weight) noexcept nogil:
    """Whether a rule that usually needs no length needs one at this weight (`Rule.continues`)."""
    return weight > 1 and rule.continues


cdef inline bint note_importance(Py_ssize_t k, double f, double y, double weight,
                                 double importance, Update *update, Rule rule) noexcept nogil:
    """Store the importance of output k. Returns whether its coefficient depends on the length."""
    cdef bint needed = importance != 0 and (
        rule.needs_length(f, y, importance * weight) if rule.uses_length
        else is_continued(rule, weight))
    update.importances[k] = importance
    update.needs_length[k] = needed
    update.lengths[k] = update.beside = 0
    if rule.second_order and needed and rule.loss.value(f, y) > 0:
        update.enters = True
    return needed


cdef inline bint select_length(Py_ssize_t k, double f, double y, double weight, Update *update,
                               Rule rule, Sampler sampler, Generator rng) noexcept nogil:
    """Draw the importance of output k and store it. Returns the result of `note_importance`."""
    cdef double importance = importance_of(f, y, weight, update, rule, sampler, rng)
    return note_importance(k, f, y, weight, importance, update, rule)


cdef inline void begin_sample(Update *update) noexcept nogil:
    """Reset what is common to the outputs of a sample, for the next one."""
    update.uniform = -1
    update.enters = False


cdef inline double solve_output(Py_ssize_t k, double f, double y, double length,
                                double importance, double weight, int64_t t, Update *update,
                                Rule rule, bint hinged) noexcept nogil:
    """Compute coefficient and contraction of output k at score f and target y; returns its loss.

    `hinged` is `solves_hinge(rule)`.
    """
    if importance != 0:
        return solved(rule, hinged, f, y, length, update.beside, t, importance, weight,
                      &update.coefficients[k], &update.contractions[k])
    update.coefficients[k] = update.contractions[k] = 0
    return rule.loss.value(f, y)


cdef inline double solve_noted(Py_ssize_t k, double f, double y, const Sample *sample,
                               Update *update, Rule rule) noexcept nogil:
    """`solve_output` with the length and the importance stored in the update."""
    return solve_output(k, f, y, update.lengths[k], update.importances[k], sample.weight,
                        sample.t, update, rule, solves_hinge(rule))


cdef inline double goal_of(Py_ssize_t k, bint of_classes, const Sample *sample) noexcept nogil:
    """Target of output k, if each output is a scalar problem of its own."""
    if of_classes:
        return 1 if k == <Py_ssize_t> sample.y else -1
    return sample.targets[k]


cdef inline void select_each(Py_ssize_t n, bint of_classes, const Sample *sample, Update *update,
                             Rule rule, Sampler sampler, Generator rng) noexcept nogil:
    """`Head.select_lengths` for n outputs that are separate scalar problems."""
    cdef Py_ssize_t k
    update.needs_lengths = False
    begin_sample(update)
    for k in range(n):
        update.needs_lengths |= select_length(k, sample.scores[k], goal_of(k, of_classes, sample),
                                              sample.weight, update, rule, sampler, rng)


cdef inline void solve_each(Py_ssize_t n, bint of_classes, const Sample *sample, Update *update,
                            Rule rule) noexcept nogil:
    """`Head.solve` for n outputs that are separate scalar problems."""
    cdef Py_ssize_t k
    update.loss = 0
    update.updates = False
    update.shrink = rule.shrink(sample.t)
    for k in range(n):
        update.loss += solve_noted(k, sample.scores[k], goal_of(k, of_classes, sample), sample,
                                   update, rule)
        update.updates |= update.coefficients[k] != 0


cdef class Head(Part):
    cdef readonly Py_ssize_t n_outputs
    cdef readonly Py_ssize_t n_targets    # targets, or labels, of a sample
    cdef readonly Py_ssize_t n_labels     # labels are 0 ... n_labels - 1; 0: regression
    # Factor of the weights of earlier targets, if the model standardises targets; 0: it does not.
    cdef readonly double target_forgetting
    cdef int check_label(self, double y) except -1
    cdef int check_labels(self, const double[::1] y) except -1
    cdef double predict(self, const double *scores) noexcept nogil
    cdef double target(self, double y) noexcept nogil
    cdef bint is_single(self)
    cdef int64_t lead_after(self, int64_t lead, const double *last, const double *averaged,
                            double y) noexcept nogil
    cdef double violation(self, const double *scores, double y) noexcept nogil
    cdef void select_lengths(self, const Sample *sample, Update *update, Rule rule, Sampler sampler,
                             Generator rng) noexcept nogil
    cdef void solve(self, const Sample *sample, Update *update, Rule rule) noexcept nogil


cdef class OneVsRest(Head):
    pass


cdef class Margin(OneVsRest):
    cdef Py_ssize_t rival(self, const double *scores, Py_ssize_t label) noexcept nogil


cdef class Joint(Margin):
    cdef double margin(self, const double *scores, Py_ssize_t label) noexcept nogil
