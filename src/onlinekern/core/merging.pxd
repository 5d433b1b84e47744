# Budget maintenance of BSGD by merging (layer 8). May change at minor versions.
from onlinekern.core.budgets cimport Budget, Verdict
from onlinekern.core.support cimport SupportSet


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
    cdef int merge(self, SupportSet support, Py_ssize_t i, Py_ssize_t least,
                   Pair best) noexcept nogil
