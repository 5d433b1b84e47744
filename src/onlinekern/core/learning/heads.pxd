# Heads: from K scores and a label to scalar problems. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Part
from onlinekern.core.base.random cimport Generator
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.learning.sampling cimport Gate


# What a head knows of a sample.
cdef struct Sample:
    const double *scores     # of the K outputs, by the model that learns
    double y                 # class number, or target
    double weight            # > 0
    int64_t t                # number of the sample, from 1


# What a sample does to a model of K outputs.
cdef struct Update:
    double loss              # of the sample, before the update
    double shrink            # factor on everything learnt before
    bint updates             # whether any coefficient is not 0
    bint needs_lengths       # whether any flag of `needs_length` is set
    double uniform           # the random number of the gate; negative: not drawn yet
    bint enters              # of rules of second order: a loss > 0 has passed the gate
    char *needs_length       # K flags: whether `solve` uses the squared length for this output
    double *lengths          # K squared lengths of the sample; 0 where none is needed
    double *coefficients     # K coefficients of the sample
    double *importances      # K importances that the gate gave; 0: the output does not update
    double *contractions     # K contractions, of rules of second order


cdef class Head(Part):
    cdef readonly Py_ssize_t n_outputs
    cdef readonly Py_ssize_t n_labels     # labels are 0 ... n_labels - 1; 0: they are any numbers
    # By which the weights of earlier targets are multiplied where the model standardises them; 0:
    # it learns targets as they are.
    cdef readonly double target_forgetting
    cdef int check_label(self, double y) except -1
    cdef int check_labels(self, const double[::1] y) except -1
    cdef double predict(self, const double *scores) noexcept nogil
    cdef double target(self, double y) noexcept nogil
    cdef double violation(self, const double *scores, double y) noexcept nogil
    cdef void select_lengths(self, const Sample *sample, Update *update, Rule rule, Gate gate,
                             Generator rng) noexcept nogil
    cdef void solve(self, const Sample *sample, Update *update, Rule rule) noexcept nogil
