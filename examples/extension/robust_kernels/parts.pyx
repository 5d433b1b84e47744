"""Parts in Cython: a loss, a kernel and a budget policy.

The loop calls their methods without the GIL, so they cannot raise. Constructors check what they are
given: they are called with what a user writes, and with what a file or a pickle holds.
"""
from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport finite_number, positive_number
from onlinekern.core.base.vector cimport ok_vector_ops
from onlinekern.core.budgets.policy cimport Bounded, Budget
from onlinekern.core.kernels.kernels cimport Kernel
from onlinekern.core.learning.losses cimport Loss


cdef class Ramp(Loss):
    """The hinge, cut off: min(max(0, 1 - y f), 1 - floor).

    A sample of a margin below the floor is taken for an outlier, and changes nothing.

    Parameters
    ----------
    floor : float < 1
    """

    cdef double floor

    def __init__(self, double floor=-1.0):
        if not finite_number("floor", floor) < 1:
            raise ValueError(f"floor must be less than 1, got {floor}")
        self.floor = floor
        self.arguments = (floor,)

    cdef double value(self, double f, double y) noexcept nogil:
        return min(max(0.0, 1 - y * f), 1 - self.floor)

    cdef double slope(self, double f, double y) noexcept nogil:
        # The negative derivative. Each loss decides its own kinks.
        return y if self.floor <= y * f < 1 else 0


cdef class Cauchy(Kernel):
    """1 / (1 + gamma ||x - z||^2): a sample far away still counts.

    Parameters
    ----------
    gamma : float > 0
    """

    cdef double gamma

    def __init__(self, double gamma):
        self.gamma = positive_number("gamma", gamma)
        self.arguments = (gamma,)

    cdef double norm_term(self, double square, double absolute) noexcept nogil:
        """What `transform` gets of each row, beside the products: ||x||^2."""
        return square

    cdef double diagonal(self, double square) noexcept nogil:
        return 1

    cdef void transform(self, const ok_vector_ops *ops, void *g, Py_ssize_t ld, Py_ssize_t n,
                        Py_ssize_t m, const void *a, const void *b, bint sparse) noexcept nogil:
        """Turn the n x m block g of dot products into kernel values, in place."""
        cdef Py_ssize_t i
        for i in range(n):
            if ops.itemsize == 4:
                cauchy[float](self.gamma, <float *> g + i * ld, m, (<const float *> a)[i],
                              <const float *> b)
            else:
                cauchy[double](self.gamma, <double *> g + i * ld, m, (<const double *> a)[i],
                               <const double *> b)


ctypedef fused number:
    float
    double


cdef inline void cauchy(double gamma, number *g, Py_ssize_t m, double a,
                        const number *b) noexcept nogil:
    """One row of kernel values. The norms of both rows enter alike: see docs/extending.md."""
    cdef Py_ssize_t j
    cdef double distance
    for j in range(m):
        distance = max(0.0, (a + b[j]) - 2.0 * g[j])
        g[j] = <number> (1 / (1 + gamma * distance))


cdef class MostAlikeEviction(Bounded):
    """Put the new sample in the place of the support vector that is most like it.

    Parameters
    ----------
    max_support : int >= 1
    """

    cdef bint fills_slots(self) noexcept:
        return True

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t slot, found = 0
        if not self.is_full():
            return Budget.admit(self, i, coefficients)
        for slot in range(1, self.support.n):
            if self.support.kernel_value(i, slot) > self.support.kernel_value(i, found):
                found = slot
        return NO_MEMORY if self.support.replace(found, i, coefficients) < 0 else OK
