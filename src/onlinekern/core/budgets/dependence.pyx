"""KRLS with approximate linear dependence (Engel, Mannor and Meir 2004).

With K the Gram matrix of the support vectors, a = K^-1 k_t and delta = kappa_tt - k_t'a is the
squared distance of sample t from their span. Where it is above nu, the sample becomes a support
vector, and the function goes through its target. Else the sample counts as the combination a of the
support vectors. The coefficients minimise the squared errors of all samples so represented; P is
the inverse of the sum of w a a' over them.
"""
from libc.math cimport sqrt
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport not_negative
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport aligned_resize, finite, whole_panels
from onlinekern.core.budgets.policy cimport (
    Bounded, Budget, change_arguments, check_single_output, over_weight,
)
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.linalg.cholesky cimport Cholesky, jitter_for


cdef class LinearDependence(Bounded):
    """Add a sample that is far from the span while there is room; else solve with the span.

    K is regularised by a jitter on its diagonal, as in `projectron`.

    Parameters
    ----------
    max_support : int >= 1
    nu : float >= 0
        Squared distance from the span up to which a sample depends on it.
    """

    def __init__(self, Py_ssize_t max_support, double nu):
        super().__init__(max_support)
        self.nu = not_negative("nu", nu)
        self.arguments = (max_support, nu)

    def __dealloc__(self):
        free(self.span)
        free(self.gain)

    cdef int check_support(self, SupportSet support) except -1:
        Bounded.check_support(self, support)
        return check_single_output(self, support)

    cdef bint fills_slots(self) noexcept:
        return True

    cdef int prepare(self) except -1:
        cdef Py_ssize_t ld
        Bounded.prepare(self)
        self.factor = Cholesky(jitter_for(self.support.itemsize))
        ld = whole_panels(self.max_support)
        self.covariance = JournaledMatrix("covariance of the combinations", self.max_support, ld)
        self.span = <double *> aligned_resize(self.span, 0, ld * sizeof(double))
        self.gain = <double *> aligned_resize(self.gain, 0, ld * sizeof(double))
        if self.span == NULL or self.gain == NULL:
            raise MemoryError(f"no memory for {self.max_support} support vectors")
        return 0

    cdef void observe(self, double y, double weight) noexcept nogil:
        self.target = y
        self.weight = weight

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t n = self.support.n
        cdef double kappa = self.support.squared_length(i), distance, error, averaged
        if self.make_room(n + 1) < 0 or self.factor.reserve(n + 1) < 0:
            return NO_MEMORY
        self.support.coefficients.scores(self.support.kernel_values(i), &error, &averaged)
        error = self.target - error
        self.support.as_doubles(self.support.kernel_values(i), self.work)
        distance = kappa - self.factor.solve_lower(self.work)
        if distance > self.nu and not self.is_full():
            return self.add_new(i, kappa, error / distance)
        return self.learn_dependent(error) if n > 0 else OK

    cdef Status add_new(self, Py_ssize_t i, double kappa, double coefficient) noexcept nogil:
        """Make sample i a support vector; the function moves by what is new in it."""
        cdef Py_ssize_t n = self.support.n
        cdef double back = -coefficient
        if not finite(&coefficient, 1):
            return NOT_FINITE
        if n > 0 and self.support.add_along(self.factor.solve_upper(), &back) < 0:
            return NO_MEMORY
        if self.support.add(i, &coefficient) < 0 or self.factor.append(kappa) < 0:
            return NO_MEMORY
        self.covariance.touch(n)[n] = over_weight(1, self.weight)
        return OK

    cdef Status learn_dependent(self, double error) noexcept nogil:
        """A step of recursive least squares with the combination of the last `solve_lower`."""
        cdef Py_ssize_t r, n = self.support.n, length = whole_panels(n)
        cdef double total = over_weight(1, self.weight), root, step
        memset(self.span, 0, length * sizeof(double))
        memset(self.gain, 0, length * sizeof(double))
        memcpy(self.span, self.factor.solve_upper(), n * sizeof(double))
        for r in range(n):
            self.gain[r] = self.factor.ops.dot(self.covariance.row(r), self.span, length)
            total += self.span[r] * self.gain[r]
        # Divided by the root first, the product leaves P symmetric to the bit.
        root = sqrt(total)
        for r in range(n):
            self.gain[r] /= root
        for r in range(n):
            self.factor.ops.add(self.gain, -self.gain[r], self.covariance.touch(r), length)
        step = error / root
        self.factor.solve_lower(self.gain)
        if not finite(&step, 1):
            return NOT_FINITE
        return self.support.add_along(self.factor.solve_upper(), &step)

    cdef void checkpoint(self) noexcept nogil:
        Budget.checkpoint(self)
        self.factor.checkpoint()
        self.covariance.checkpoint()

    cdef void rollback(self) noexcept nogil:
        Budget.rollback(self)
        self.factor.rollback()
        self.covariance.rollback()

    def change(self, *arguments):
        """Go on with other arguments of the constructor; max_support must be the same."""
        change_arguments(self, arguments, 1)

    def get_learnt(self):
        n = self.support.n
        return {"factor": self.factor.to_array(),
                "covariance": np.ascontiguousarray(self.covariance.to_array()[:n, :n])}

    def set_learnt(self, learnt):
        self.fields_learnt(learnt, ("factor", "covariance"))
        n = self.support.n
        self.factor.set_array(learnt["factor"])
        if self.factor.n != n or np.shape(learnt["covariance"]) != (n, n):
            raise ValueError(f"the Cholesky factor and the covariance must have {n} rows, as many "
                             f"as support vectors, got {self.factor.n} and the shape "
                             f"{np.shape(learnt['covariance'])}")
        whole = np.zeros((self.covariance.n_rows, self.covariance.n_columns))
        whole[:n, :n] = learnt["covariance"]
        self.covariance.set_array(whole)


POLICIES = {"linear_dependence": LinearDependence}
