"""Evictions by lot: when the budget is full, a support row leaves that is drawn.

Layer 8.
"""
from libc.math cimport INFINITY, fabs, sqrt

from onlinekern.core.budgets cimport OUT_OF_MEMORY, Budget, Eviction, Verdict
from onlinekern.core.coefficients cimport Coefficients
from onlinekern.core.rng cimport Generator
from onlinekern.core.support cimport SupportSet
from onlinekern.core.vector cimport ops_for


cdef int multiply(Coefficients coefficients, const double *factors) noexcept nogil:
    """Multiply the coefficients of each row by its own factor. -1: no memory.

    This and `clip` leave companions alone: a model whose rows leave it is not averaged.
    """
    cdef Py_ssize_t k, r
    cdef double *values
    if coefficients.preserve() < 0:
        return -1
    for k in range(coefficients.n_outputs):
        values = coefficients.values + k * coefficients.capacity
        for r in range(coefficients.n):
            values[r] *= factors[r]
    return 0


cdef int clip(Coefficients coefficients, double limit) noexcept nogil:
    """Hold every coefficient within -limit ... limit. Returns 0, or -1 when memory ran out."""
    cdef Py_ssize_t k
    if limit == INFINITY:
        return 0
    if coefficients.preserve() < 0:
        return -1
    limit /= coefficients.scale
    for k in range(coefficients.n_outputs):
        coefficients.ops.clip(coefficients.values + k * coefficients.capacity, limit,
                              coefficients.n)
    return 0


cdef class RandomEviction(Eviction):
    """A row leaves that is drawn uniformly (RBP: Cavallanti, Cesa-Bianchi and Gentile 2007).

    Parameters
    ----------
    max_support : int >= 1
    rng : Generator
        That of the model, which sets it back when a call fails.
    """

    def __init__(self, Py_ssize_t max_support, Generator rng):
        self.max_support = max_support
        self.rng = rng
        self.arguments = (max_support, rng)

    cdef Py_ssize_t draw(self, SupportSet support) noexcept nogil:
        """The place of the row that leaves a full set. -1: no memory."""
        return <Py_ssize_t> (self.rng.uniform() * support.n)

    cdef Verdict admit(self, SupportSet support, Py_ssize_t i,
                       const double *coefficients) noexcept nogil:
        if not self.full(support):
            return Budget.admit(self, support, i, coefficients)
        return self.swap(support, self.draw(support), i, coefficients)


cdef class UniformEviction(RandomEviction):
    """A row leaves that is drawn uniformly, and the others grow so that their mean stays the same.

    BOGD (Zhao, Wang, Wu, Jin and Hoi 2012): with probability p_j = 1 / B of leaving, a coefficient
    that stays is divided by 1 - p_j. Then each coefficient is held within `max_coefficient`, and
    the sample comes in.

    Parameters
    ----------
    max_support : int >= 1
    rng : Generator
    max_coefficient : float > 0, default=inf
    """

    def __init__(self, Py_ssize_t max_support, Generator rng, double max_coefficient=INFINITY):
        self.max_support = max_support
        self.rng = rng
        self.max_coefficient = max_coefficient
        self.arguments = (max_support, rng, max_coefficient)

    cdef int rescale(self, SupportSet support) noexcept nogil:
        """Divide the coefficients by 1 - p_j. Returns 0, or -1 when memory ran out."""
        return support.coefficients.shrink(support.n / (support.n - 1.0))

    cdef Verdict admit(self, SupportSet support, Py_ssize_t i,
                       const double *coefficients) noexcept nogil:
        cdef Py_ssize_t slot
        if not self.full(support):
            return Budget.admit(self, support, i, coefficients)
        slot = self.draw(support)
        if slot < 0:
            return OUT_OF_MEMORY
        # What leaves is cleared with the swap, so it may be rescaled with the others.
        if support.n > 1 and self.rescale(support) < 0:
            return OUT_OF_MEMORY
        if clip(support.coefficients, self.max_coefficient) < 0:
            return OUT_OF_MEMORY
        return self.swap(support, slot, i, coefficients)


cdef class NonuniformEviction(UniformEviction):
    """The same with p_j = (1 - |a_j| / sum |a|) / (B - 1), BOGD++: small coefficients rather leave.

    |a_j| is the Euclidean norm of the K coefficients of row j.
    """

    cdef Py_ssize_t draw(self, SupportSet support) noexcept nogil:
        """Propose a row uniformly, accept it with probability (B - 1) p_j: one in B is refused."""
        cdef Py_ssize_t r, n = support.n
        cdef double square
        if self.make_room(n) < 0:
            return -1
        self.row_sizes(support)
        ops_for(sizeof(double)).norms(self.work, n, &square, &self.total)
        while True:
            r = <Py_ssize_t> (self.rng.uniform() * n)
            # So written that a share that is no number (all coefficients are 0) is accepted.
            if n == 1 or not self.rng.uniform() >= 1 - self.work[r] / self.total:
                return r

    cdef void row_sizes(self, SupportSet support) noexcept nogil:
        """work[r] = the size of row r, without the common scale."""
        cdef Py_ssize_t r, n = support.n
        cdef double *sizes = self.work
        cdef const double *values = support.coefficients.values
        if support.coefficients.n_outputs == 1:
            for r in range(n):
                sizes[r] = fabs(values[r])
            return
        self.row_squares(support)
        for r in range(n):
            sizes[r] = sqrt(sizes[r])

    cdef int rescale(self, SupportSet support) noexcept nogil:
        cdef Py_ssize_t r, n = support.n
        cdef double others = n - 1, unit = 1 / self.total
        cdef double *factors = self.work
        if self.total == 0:
            return 0
        # 1 / (1 - p_j). Of two rows, one whose share is 0 is the one that leaves.
        for r in range(n):
            factors[r] = others / (others - 1 + factors[r] * unit)
        return multiply(support.coefficients, factors)


EVICTIONS = {
    "random": RandomEviction,
    "uniform": UniformEviction,
    "nonuniform": NonuniformEviction,
}
