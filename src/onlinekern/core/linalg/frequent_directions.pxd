# Matrix sketches. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.linalg.symmetric_eigen cimport LeadingEigenvectors
from onlinekern.core.samples.rows cimport Rows


cdef struct Tally:
    Py_ssize_t n             # rows in use; the others may hold anything
    double squared_norm      # of all that was inserted
    double shrinkage         # sum of what the shrinks took off the squared singular values


cdef class FrequentDirections:
    cdef readonly Py_ssize_t size, d
    cdef JournaledMatrix buffer          # 2 size x d
    cdef Tally tally, saved
    cdef LeadingEigenvectors gram    # of BB' or B'B, m x m with m = min(2 size, d)
    cdef Py_ssize_t first        # the first eigenvector that matters
    cdef double *turned          # (m - first) x d: the leading rows in the basis of eigenvectors
    cdef double *image           # 2 size
    cdef readonly Py_ssize_t n_fallbacks

    cdef double *slot(self) noexcept nogil
    cdef Status fill(self) noexcept nogil
    cdef Status insert_row(self, const Rows *rows, Py_ssize_t i, double factor) noexcept nogil
    cdef Status shrink(self) noexcept nogil
    cdef bint by_eigenvectors(self) noexcept nogil
    cdef bint decompose(self) noexcept nogil
    cdef bint vanishes(self, Py_ssize_t i, double largest) noexcept nogil
    cdef void keep(self, double removed, double floor) noexcept nogil
    cdef Status by_scaled_values(self) noexcept nogil
    cdef Status by_singular_values(self, double *removed) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
