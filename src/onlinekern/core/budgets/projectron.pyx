"""Projectron: a Perceptron that projects samples onto the span of its support vectors.

Orabona, Keshet and Caputo (2009). With d* = K^-1 k_t, the projection of a sample has the
squared length k_t'd*, and is at the distance delta, delta^2 = kappa_tt - k_t'd*, of the sample.
"""
from libc.math cimport fabs, log, sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport free

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport aligned_resize, whole_panels
from onlinekern.core.budgets.policy cimport Budget
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.linalg.cholesky cimport Cholesky

from onlinekern.core.learning.losses import LOSSES

# Without it, the pivot of a row that is there already is noise: on cod-rna a bordered inverse then
# makes 42 % mistakes instead of 9 %. float32 kernel values are off by 1e-7, and so need more: with
# 1e-8, eta = 0.001 makes 33 % mistakes there.
cdef double JITTER = 1e-8
cdef double JITTER_OF_FLOAT32 = 1e-5


cdef class MarginPerceptron(Rule):
    """What Projectron asks of its policy: y on a mistake; with margins, y l on a margin error.

    For the hinge l that is |c| = 1 against |c| < 1. How long the step of a margin error is follows
    from the support vectors, which a rule knows nothing of; so the weight of the sample is left to
    the policy too.

    Parameters
    ----------
    margins : bool
    """

    def __init__(self, bint margins):
        self.margins = margins
        self.loss = LOSSES["hinge" if margins else "perceptron"]()
        self.arguments = (margins,)

    cdef double coefficient(self, double f, double y, double q, int64_t t,
                            double importance) noexcept nogil:
        if self.margins:
            return y * min(1.0, self.loss.value(f, y))
        return self.loss.slope(f, y)


cdef class Projectron(Budget):
    """Add a mistaken sample farther than eta from the span, if there is room; project others.

    A margin error (Projectron++) is projected too, by a step tau = min(l, 2 (l - delta p)) over the
    squared length of the projection, 1 at the most; not at all where l <= delta p.

    Parameters
    ----------
    eta : float >= 0
        Distance from the span up to which samples are projected.
    max_support : int >= 0
        0: no bound but the one that eta sets.
    price : float > 0
        p: 1/eta, or U with a budget.
    joint : bool
        Whether the K coefficients are one step on the class and one against its rival, whose
        lengths and distances are then those of kappa times sqrt(2).
    """

    def __init__(self, double eta, Py_ssize_t max_support, double price, bint joint):
        self.eta = eta
        self.max_support = max_support
        self.price = price
        self.joint = joint
        self.arguments = (eta, max_support, price, joint)

    def __dealloc__(self):
        free(self.added)
        free(self.kernel)

    cdef int attach(self, SupportSet support) except -1:
        self.factor = Cholesky(JITTER if support.store.itemsize == 8 else JITTER_OF_FLOAT32)
        self.added = <double *> aligned_resize(
            self.added, 0, 2 * support.coefficients.n_outputs * sizeof(double))
        if self.added == NULL:
            raise MemoryError(f"no memory for {support.coefficients.n_outputs} steps")
        return 0

    cdef Status reserve(self, Py_ssize_t n) noexcept nogil:
        """Make room for n rows. Returns a status."""
        cdef double *fresh
        if n <= self.room:
            return OK
        n = whole_panels(2 * n)
        fresh = <double *> aligned_resize(self.kernel, 0, n * sizeof(double))
        if fresh == NULL:
            return NO_MEMORY
        self.kernel = fresh
        self.room = n
        return OK

    cdef void observe(self, double y, double weight) noexcept nogil:
        self.weight = weight

    cdef Status admit(self, SupportSet support, Py_ssize_t i,
                      const double *coefficients) noexcept nogil:
        cdef Py_ssize_t k, n_outputs = support.coefficients.n_outputs
        cdef double *projected = self.added + n_outputs
        cdef double covered, kappa = support.diagonal(i)
        cdef bint adds = False, projects = False
        if self.reserve(support.n + 1) < 0 or self.factor.reserve(support.n + 1) < 0:
            return NO_MEMORY
        support.as_doubles(support.window.row(i), self.kernel)
        covered = self.factor.halve(self.kernel)
        self.choose(coefficients, n_outputs, covered, kappa, support.n == self.max_support > 0)
        for k in range(n_outputs):
            adds |= self.added[k] != 0
            projects |= projected[k] != 0
        if projects and support.coefficients.add_multiples_double(self.factor.finish(),
                                                                  projected) < 0:
            return NO_MEMORY
        if not adds:
            return OK
        if support.add(i, self.added) < 0 or self.factor.append(kappa) < 0:
            return NO_MEMORY
        return OK

    cdef void choose(self, const double *coefficients, Py_ssize_t n_outputs, double covered,
                     double kappa, bint full) noexcept nogil:
        """Divide the K steps into those of the sample and those of its projection."""
        cdef Py_ssize_t k
        cdef double distance = sqrt(max(0.0, kappa - covered)), step
        cdef double *projected = self.added + n_outputs
        if self.joint:
            covered *= 2
            distance *= sqrt(2.0)
        for k in range(n_outputs):
            self.added[k] = projected[k] = 0
            step = 1 if coefficients[k] > 0 else -1
            if fabs(coefficients[k]) >= 1:
                (projected if full or distance <= self.eta else self.added)[k] = \
                    step * self.weight
            elif coefficients[k] != 0:
                projected[k] = step * self.margin_step(fabs(coefficients[k]), covered, distance)

    cdef double margin_step(self, double loss, double covered, double distance) noexcept nogil:
        cdef double spare = loss - distance * self.price
        if spare <= 0 or covered <= 0:
            return 0
        return min(self.weight, min(loss, 2 * spare) / covered)

    cdef void checkpoint(self, SupportSet support) noexcept nogil:
        self.factor.checkpoint()

    cdef void rollback(self, SupportSet support) noexcept nogil:
        self.factor.rollback()

    def get_state(self):
        return {"factor": self.factor.to_array()}

    def set_state(self, SupportSet support, state):
        self.factor.from_array(state["factor"])


def budget_price(Py_ssize_t budget):
    """U = sqrt((B + 1) / ln(B + 1)) / 4, the norm up to which B support vectors suffice."""
    return sqrt((budget + 1) / log(budget + 1.0)) / 4
