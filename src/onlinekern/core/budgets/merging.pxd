# Budget maintenance of BSGD by merging. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.budgets.policy cimport Bounded

cdef double merge_point(double A, double C, double D, double kappa) noexcept nogil
cdef double degradation(double A, double C, double D, double kappa, double h) noexcept nogil
cdef double least_degradation(double a, double kappa) noexcept nogil
cdef int make_table() except -1


cdef struct Pair:
    Py_ssize_t slot       # the partner, -1: none
    double h, error
    double A, C, D


cdef class Merging(Bounded):
    cdef double *kernel          # of the smallest support vector with all
    cdef double *squares         # of the coefficients of each slot
    cdef double *products        # of these with those of the smallest; behind the squares
    cdef Py_ssize_t *partners    # that the smallest support vector may be merged with
    cdef Py_ssize_t n_partners

    cdef Py_ssize_t closest(self, Py_ssize_t smallest) noexcept nogil
    cdef double bound(self, Py_ssize_t smallest, Py_ssize_t slot) noexcept nogil
    cdef Py_ssize_t candidates(self, Py_ssize_t smallest) noexcept nogil
    cdef Pair search(self, Py_ssize_t smallest, Py_ssize_t slot) noexcept nogil
    cdef Pair partner(self, Py_ssize_t smallest) noexcept nogil
    cdef Pair pair(self, Py_ssize_t smallest, Py_ssize_t slot) noexcept nogil
    cdef Status merge(self, Py_ssize_t i, Py_ssize_t smallest, Pair best) noexcept nogil
