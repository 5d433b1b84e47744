# The budget policy of Ahpatron. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.budgets.policy cimport Bounded
from onlinekern.core.linalg.cholesky cimport Cholesky


cdef class Halving(Bounded):
    cdef double radius
    cdef double square, saved_square      # squared norm of f; below 0: not known
    cdef Cholesky factor         # of those who stay, during a halving
    cdef double *scores          # room for K scores, and K of an average
    # Parts of `work` during a halving, a number per slot, and K times as many in the last two.
    cdef double *sizes           # norms of coefficients; infinite: the support vector leaves
    cdef double *row
    cdef double *packed          # numbers of those who stay, without gaps
    cdef double *values          # f of those who stay, at their slots
    cdef double *goals           # the part of it that those who leave have in it

    cdef Status measure(self) noexcept nogil
    cdef Status halve(self) noexcept nogil
    cdef Status choose(self) noexcept nogil
    cdef Status read(self, Py_ssize_t slot) noexcept nogil
    cdef Status project(self, Py_ssize_t k) noexcept nogil
    cdef Status enter(self, Py_ssize_t i, const double *coefficients) noexcept nogil
    cdef Status scale_to(self, double square) noexcept nogil
