"""KRLS with approximate linear dependence (Engel, Mannor and Meir 2004).

With K the Gram matrix of the support vectors, a = K^-1 k_t and delta = kappa_tt - k_t'a is the
squared distance of sample t from their span. Where it is above nu, the sample becomes a support
vector, and the function goes through its target. Else the sample counts as the combination a of the
support vectors. The coefficients minimise the squared errors of all samples so represented; P is
the inverse of the sum of w a a' over them. Several targets share K and P.
"""
from libc.math cimport sqrt
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport not_negative
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.base.vector cimport aligned_resize, finite, whole_panels
from onlinekern.core.budgets.policy cimport Bounded, Budget, change_arguments
from onlinekern.core.linalg.cholesky cimport Cholesky, jitter_for
from onlinekern.core.linalg.inverse_gram cimport over_weight


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
        free(self.errors)

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
        self.errors = <double *> aligned_resize(self.errors, 0,
                                                2 * self.support.n_outputs * sizeof(double))
        if self.span == NULL or self.gain == NULL or self.errors == NULL:
            raise MemoryError(f"no memory for {self.max_support} support vectors")
        return 0

    cdef bint takes_targets(self, Py_ssize_t n):
        return n == self.support.n_outputs

    cdef void observe(self, const double *targets, double weight) noexcept nogil:
        self.note(targets, weight)

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t n = self.support.n
        cdef double kappa = self.support.squared_length(i), distance
        if self.make_room(n + 1) < 0 or self.factor.reserve(n + 1) < 0:
            return NO_MEMORY
        self.find_errors(i)
        self.support.as_doubles(self.support.kernel_values(i), self.work)
        distance = kappa - self.factor.solve_lower(self.work)
        if distance > self.nu and not self.is_full():
            return self.add_new(i, kappa, distance)
        return self.learn_dependent() if n > 0 else OK

    cdef void find_errors(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t k, n_outputs = self.support.n_outputs
        self.support.coefficients.scores(self.support.kernel_values(i), self.errors,
                                         self.errors + n_outputs)
        for k in range(n_outputs):
            self.errors[k] = self.noted[k] - self.errors[k]

    cdef Status add_new(self, Py_ssize_t i, double kappa, double distance) noexcept nogil:
        """Make sample i a support vector; the function moves by what is new in it."""
        cdef Py_ssize_t k, n = self.support.n, n_outputs = self.support.n_outputs
        cdef double *back = self.errors + n_outputs
        for k in range(n_outputs):
            self.step[k] = self.errors[k] / distance
            back[k] = -self.step[k]
        if not finite(self.step, n_outputs):
            return NOT_FINITE
        if n > 0 and self.support.add_along(self.factor.solve_upper(), back) < 0:
            return NO_MEMORY
        if self.support.add(i, self.step) < 0 or self.factor.append(kappa) < 0:
            return NO_MEMORY
        self.covariance.touch(n)[n] = over_weight(1, self.weight)
        return OK

    cdef Status learn_dependent(self) noexcept nogil:
        """A step of recursive least squares with the combination of the last `solve_lower`."""
        cdef Py_ssize_t k, r, n = self.support.n, length = whole_panels(n)
        cdef double total = over_weight(1, self.weight), root
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
        for k in range(self.support.n_outputs):
            self.step[k] = self.errors[k] / root
        self.factor.solve_lower(self.gain)
        if not finite(self.step, self.support.n_outputs):
            return NOT_FINITE
        return self.support.add_along(self.factor.solve_upper(), self.step)

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
