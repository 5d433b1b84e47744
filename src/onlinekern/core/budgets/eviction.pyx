"""Eviction from a full set: of the oldest support vector, or of a random one (RBP, BOGD, BOGD++).

The new sample takes the slot of the evicted one, so a full set occupies slots 0 ... B - 1.
"""
from libc.math cimport INFINITY

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.random cimport Generator
from onlinekern.core.base.vector cimport ops_for
from onlinekern.core.budgets.policy cimport Bounded, Budget, bound_of
from onlinekern.core.kernels.support_set cimport SupportSet


cdef class OldestEviction(Bounded):
    """Evict the support vector that was added first.

    It is removed from the average of the models too, see `Coefficients.clear`.

    Parameters
    ----------
    max_support : int >= 1
    """

    cdef bint fills_slots(self) noexcept:
        return True

    cdef int check_support(self, SupportSet support) except -1:
        Bounded.check_support(self, support)
        cdef Py_ssize_t slot
        for slot in range(support.n):
            if support.age(slot) % self.max_support != slot:
                raise ValueError(f"{self!r} puts its support vectors into the slots in turn: slot "
                                 f"{slot} cannot have support vector {support.age(slot)}")
        return 0

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        if not self.is_full():
            return Budget.admit(self, i, coefficients)
        # The slots were filled in turn, and so they are emptied: the next one holds the oldest.
        return NO_MEMORY if self.support.replace(
            self.support.n_added() % self.max_support, i, coefficients) < 0 else OK


cdef class RandomEviction(Bounded):
    """Evict a support vector, each with the same probability.

    RBP (Cavallanti, Cesa-Bianchi and Gentile 2007).

    Parameters
    ----------
    max_support : int >= 1
    rng : Generator
        The model's own; the model sets it back when a call fails.
    """

    def __init__(self, Py_ssize_t max_support, Generator rng not None):
        self.max_support = bound_of("max_support", max_support, 1)
        self.rng = rng
        self.arguments = (max_support, rng)

    cdef bint fills_slots(self) noexcept:
        return True

    cdef Py_ssize_t draw(self) noexcept nogil:
        """The slot to evict from a full set. NO_MEMORY when memory ran out."""
        return <Py_ssize_t> (self.rng.uniform() * self.support.n)

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        if not self.is_full():
            return Budget.admit(self, i, coefficients)
        return NO_MEMORY if self.support.replace(self.draw(), i, coefficients) < 0 else OK


cdef class UniformEviction(RandomEviction):
    """Evict a support vector with the same probability for each, and rescale the others.

    BOGD (Zhao, Wang, Wu, Jin and Hoi 2012). The probability of eviction is p_j = 1 / B. The
    coefficients that stay are divided by 1 - p_j, so the expected model does not change. They are
    then clipped to `max_coefficient`, and the sample is added.

    Parameters
    ----------
    max_support : int >= 1
    rng : Generator
        As in `RandomEviction`.
    max_coefficient : float > 0, default=inf
        Largest absolute value of a coefficient.
    """

    def __init__(self, Py_ssize_t max_support, Generator rng not None,
                 double max_coefficient=INFINITY):
        super().__init__(max_support, rng)
        self.max_coefficient = max_coefficient
        self.arguments = (max_support, rng, max_coefficient)

    cdef Status rescale(self) noexcept nogil:
        """Divide the coefficients by 1 - p_j. Returns a status."""
        return self.support.shrink(self.support.n / (self.support.n - 1.0))

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t slot
        if not self.is_full():
            return Budget.admit(self, i, coefficients)
        slot = self.draw()
        if slot < 0:
            return NO_MEMORY
        # The evicted coefficients are rescaled too: `replace` overwrites them.
        if self.support.n > 1 and self.rescale() < 0:
            return NO_MEMORY
        if self.support.coefficients.clip(self.max_coefficient) < 0 \
                or self.support.replace(slot, i, coefficients) < 0:
            return NO_MEMORY
        return OK


cdef class NonuniformEviction(UniformEviction):
    """Evict support vectors of small coefficients with a larger probability (BOGD++).

    p_j = (1 - |a_j| / sum |a|) / (B - 1), where |a_j| is the Euclidean norm of the K coefficients
    of support vector j. All else is as in `UniformEviction`.
    """

    cdef Py_ssize_t draw(self) noexcept nogil:
        """Propose a slot uniformly and accept it with probability (B - 1) p_j, until one is.

        On the average one proposal in B is rejected.
        """
        cdef Py_ssize_t r, n = self.support.n
        cdef double square
        if self.make_room(n) < 0:
            return NO_MEMORY
        self.support.coefficients.norms(self.work)
        ops_for(sizeof(double)).norms(self.work, n, &square, &self.total)
        while True:
            r = <Py_ssize_t> (self.rng.uniform() * n)
            # `not >=` accepts NaN: the share when all coefficients are 0.
            if n == 1 or not self.rng.uniform() >= 1 - self.work[r] / self.total:
                return r

    cdef Status rescale(self) noexcept nogil:
        cdef Py_ssize_t r, n = self.support.n
        cdef double others = n - 1, unit = 1 / self.total
        cdef double *factors = self.work
        if self.total == 0:
            return OK
        # 1 / (1 - p_j). Of two support vectors, the one whose share is 0 is evicted for certain.
        for r in range(n):
            factors[r] = others / (others - 1 + factors[r] * unit)
        return self.support.coefficients.multiply(factors)


POLICIES = {
    "oldest": OldestEviction,
    "random": RandomEviction,
    "uniform": UniformEviction,
    "nonuniform": NonuniformEviction,
}
