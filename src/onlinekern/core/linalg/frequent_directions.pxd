# Matrix sketches. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.lock cimport Lock
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.linalg.symmetric_eigen cimport LeadingEigenvectors
from onlinekern.core.samples.rows cimport Rows


cdef struct Tally:
    Py_ssize_t n             # rows in use; the content of the others does not matter
    double squared_norm      # of all inserted rows, ||X||_F^2
    double shrinkage         # sum over the shrinks of what each subtracted from the sigma_i^2


cdef class FrequentDirections:
    cdef readonly Py_ssize_t size, d
    cdef JournaledMatrix buffer          # 2 size x d
    cdef Tally tally, saved
    cdef LeadingEigenvectors gram        # of BB' or B'B, m x m with m = min(2 size, d)
    cdef Py_ssize_t first_leading        # the first of the size + 1 leading eigenvectors
    cdef double *rotated         # (m - first_leading) x d: V'B, V the leading eigenvectors of BB'
    cdef double *projections     # 2 size: Bv for an eigenvector v of B'B
    cdef readonly Py_ssize_t n_fallbacks, calls
    cdef readonly Lock lock

    cdef double *next_row(self) noexcept nogil
    cdef Status commit_row(self) noexcept nogil
    cdef Status insert_row(self, const Rows *rows, Py_ssize_t i, double factor) noexcept nogil
    cdef Status shrink(self) noexcept nogil
    cdef bint shrink_by_eigenvectors(self) noexcept nogil
    cdef bint decompose(self) noexcept nogil
    cdef bint is_negligible(self, Py_ssize_t i, double largest) noexcept nogil
    cdef void write_rows(self, double removed, double floor) noexcept nogil
    cdef Status shrink_scaled(self) noexcept nogil
    cdef Status shrink_by_singular_values(self, double *removed) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
