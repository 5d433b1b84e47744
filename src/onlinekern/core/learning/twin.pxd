# A target and its logarithm, combined in one prediction. May change at minor versions.
from onlinekern.core.base.part cimport Component
from onlinekern.core.learning.vote cimport MeanVote


cdef class TwinTarget(Component):
    cdef readonly MeanVote vote          # weights of the predictions by y and by z
    cdef readonly double scale           # s; 1 as long as all targets are 0
    cdef readonly double errors, met     # discounted sums of z's squared errors, and of weights
    cdef double[::1] sizes               # |y| of the first targets that are not 0, sorted
    cdef Py_ssize_t n_sizes
    cdef double[::1] saved_sizes
    cdef Py_ssize_t n_saved
    cdef double saved_scale, saved_errors, saved_met

    cdef void take(self, double y, double weight, double *goals) noexcept nogil
    cdef void rescale(self) noexcept nogil
    cdef double factor(self, double scale) noexcept nogil
    cdef double said(self, double z, double factor) noexcept nogil
    cdef void learn_row(self, const double *scores, const double *goals, double scale,
                        double weight, double *out, bint earns) noexcept nogil
    cdef int check_total(self) except -1
    cdef void answer_rows(self, const double *scores, Py_ssize_t n, double *memory,
                          double *out) noexcept nogil
    cdef Py_ssize_t work_size(self, Py_ssize_t n) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
