# Budget maintenance of BSGD by merging. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.budgets.policy cimport Budget
from onlinekern.core.kernels.support_set cimport SupportSet

cdef double merge_point(double A, double C, double D, double kappa) noexcept nogil
cdef double degradation(double A, double C, double D, double kappa, double h) noexcept nogil
cdef double least_degradation(double a, double kappa) noexcept nogil
cdef int make_table() except -1


cdef struct Pair:
    Py_ssize_t slot       # the partner, -1: none
    double h, error
    double A, C, D


cdef class Merging(Budget):
    cdef readonly Py_ssize_t max_support
    cdef double *step            # K coefficients
    cdef double *kernel          # of the smallest row with all
    cdef double *bounds          # lower bounds of the errors, by slot

    cdef Py_ssize_t least(self, SupportSet support) noexcept nogil
    cdef Py_ssize_t bound(self, SupportSet support, Py_ssize_t least) noexcept nogil
    cdef Pair search(self, SupportSet support, Py_ssize_t least, Py_ssize_t slot) noexcept nogil
    cdef Pair partner(self, SupportSet support, Py_ssize_t least) noexcept nogil
    cdef Pair pair(self, SupportSet support, Py_ssize_t least, Py_ssize_t slot) noexcept nogil
    cdef Status merge(self, SupportSet support, Py_ssize_t i, Py_ssize_t least,
                      Pair best) noexcept nogil
