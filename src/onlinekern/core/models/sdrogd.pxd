# Sketched linear space of SDROGD. May change at minor versions.
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Part, Status
from onlinekern.core.base.scaled_average cimport ScaledAverage
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.linalg.scatter cimport Scatter
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.rows cimport Rows


cdef class Discriminant(Part):
    cdef readonly double within_weight, weight, regularisation
    cdef void gradient(self, Scatter scatter, const double *w, Py_ssize_t n, double unit,
                       double *out) noexcept nogil
    cdef void between(self, Scatter scatter, const double *w, Py_ssize_t n, double unit,
                      double *out) noexcept nogil
    cdef double curvature(self, Scatter scatter) noexcept nogil


cdef class StepSize(Part):
    cdef double at(self, int64_t t, double curvature, double mean_square) noexcept nogil


cdef struct Progress:
    int64_t steps            # batches learnt
    int64_t exponent         # true weights are the stored ones times 2^exponent
    Py_ssize_t pending       # samples of the open batch


cdef class SketchedSpace(Space):
    cdef readonly Scatter scatter
    cdef public Discriminant discriminant
    cdef public StepSize step_size
    cdef readonly Py_ssize_t batch_size
    cdef readonly bint intercept, averaged
    cdef object averaging                   # False, True ('decay'), 'uniform', 'decay' or a float
    cdef ScaledAverage shares               # computes the share of a model in the average
    # Each is n_outputs x (d + 1). The last column holds the intercepts.
    cdef JournaledMatrix weights
    cdef JournaledMatrix average            # `weights` itself if not averaged
    cdef JournaledMatrix negative_gradient  # of the loss, summed over the open batch
    cdef Progress progress, saved
    cdef Py_ssize_t label
    cdef double weight

    cdef double unit(self) noexcept nogil
    cdef void score_row(self, const Rows *rows, Py_ssize_t i, double *current,
                        double *averaged) noexcept nogil
    cdef Status step(self) noexcept nogil
    cdef void gradient_step(self, double rate) noexcept nogil
    cdef Status rescale(self) noexcept nogil
