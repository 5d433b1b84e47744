"""Projectron: a Perceptron that projects samples onto the span of its support vectors.

Orabona, Keshet and Caputo (2009). With d* = K^-1 k_t, the projection of sample t has the squared
length k_t'd*. Its distance delta from the sample satisfies delta^2 = kappa_tt - k_t'd*.
"""
from libc.math cimport fabs, log, sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport free

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport aligned_resize
from onlinekern.core.budgets.policy cimport Bounded, Budget, bound_of
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.linalg.cholesky cimport Cholesky, jitter_for

from onlinekern.core.learning.losses import LOSSES


cdef class MarginPerceptron(Rule):
    """The rule of Projectron: y on a mistake; with margins, y l on a margin error.

    With the hinge l, |c| = 1 on a mistake and |c| < 1 on a margin error. The length of the step on
    a margin error depends on the support vectors, so the policy computes it, and applies the weight
    of the sample too.

    Parameters
    ----------
    margins : bool
        Whether to step on margin errors (Projectron++).
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


cdef class Projectron(Bounded):
    """Add a misclassified sample if it is far from the span and there is room, else project it.

    Far is a distance above eta. A margin error (Projectron++) is projected too: its step is
    tau = min(l, 2 (l - delta p)) over the squared length of the projection, at most 1. It is
    skipped if l <= delta p.

    Parameters
    ----------
    eta : float >= 0
        Distance from the span up to which samples are projected.
    max_support : int >= 0
        0: no bound but the one that eta implies.
    price : float > 0
        p: 1/eta, or U with a budget.
    joint : bool
        Whether the K coefficients are one step on the class and one against its rival. Lengths and
        distances are then those of kappa times sqrt(2).
    """

    def __init__(self, double eta, Py_ssize_t max_support, double price, bint joint):
        self.eta = eta
        self.max_support = bound_of("max_support", max_support, 0)
        self.price = price
        self.joint = joint
        self.arguments = (eta, max_support, price, joint)

    def __dealloc__(self):
        free(self.projected)

    cdef int check_support(self, SupportSet support) except -1:
        return Bounded.check_support(self, support) if self.max_support > 0 \
            else Budget.check_support(self, support)

    cdef bint fills_slots(self) noexcept:
        return True

    cdef int prepare(self) except -1:
        cdef Py_ssize_t n_outputs = self.support.n_outputs
        Bounded.prepare(self)
        self.factor = Cholesky(jitter_for(self.support.itemsize))
        self.projected = <double *> aligned_resize(self.projected, 0, n_outputs * sizeof(double))
        if self.projected == NULL:
            raise MemoryError(f"no memory for {n_outputs} steps")
        return 0

    cdef bint is_full(self) noexcept nogil:
        return self.max_support > 0 and Bounded.is_full(self)

    cdef void observe(self, double y, double weight) noexcept nogil:
        self.weight = weight

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t k, n = self.support.n
        cdef double kappa = self.support.squared_length(i)
        cdef bint adds = False, projects = False
        if self.make_room(n + 1) < 0 or self.factor.reserve(n + 1) < 0:
            return NO_MEMORY
        self.support.as_doubles(self.support.kernel_values(i), self.work)
        self.choose(coefficients, self.factor.solve_lower(self.work), kappa)
        for k in range(self.support.n_outputs):
            adds |= self.step[k] != 0
            projects |= self.projected[k] != 0
        if projects and self.support.add_along(self.factor.solve_upper(), self.projected) < 0:
            return NO_MEMORY
        if not adds:
            return OK
        if self.support.add(i, self.step) < 0 or self.factor.append(kappa) < 0:
            return NO_MEMORY
        return OK

    cdef void choose(self, const double *coefficients, double covered,
                     double kappa) noexcept nogil:
        """Divide the K steps into those of the sample and those of its projection.

        `covered` is the squared length of the projection.
        """
        cdef Py_ssize_t k
        cdef double distance = sqrt(max(0.0, kappa - covered)), step
        cdef bint full = self.is_full()
        if self.joint:
            covered *= 2
            distance *= sqrt(2.0)
        for k in range(self.support.n_outputs):
            self.step[k] = self.projected[k] = 0
            step = 1 if coefficients[k] > 0 else -1
            if fabs(coefficients[k]) >= 1:
                (self.projected if full or distance <= self.eta else self.step)[k] = \
                    step * self.weight
            elif coefficients[k] != 0:
                self.projected[k] = \
                    step * self.margin_step(fabs(coefficients[k]), covered, distance)

    cdef double margin_step(self, double loss, double covered, double distance) noexcept nogil:
        """tau of a margin error; 0: skip it."""
        cdef double spare = loss - distance * self.price
        if spare <= 0 or covered <= 0:
            return 0
        return min(self.weight, min(loss, 2 * spare) / covered)

    cdef void checkpoint(self) noexcept nogil:
        Budget.checkpoint(self)
        self.factor.checkpoint()

    cdef void rollback(self) noexcept nogil:
        Budget.rollback(self)
        self.factor.rollback()

    def get_learnt(self):
        return {"factor": self.factor.to_array()}

    def set_learnt(self, learnt):
        self.fields_learnt(learnt, ("factor",))
        self.factor.set_array(learnt["factor"])
        if self.factor.n != self.support.n:
            raise ValueError(f"the Cholesky factor must have {self.support.n} rows, as many as "
                             f"support vectors, got {self.factor.n}")


def budget_price(Py_ssize_t budget):
    """U = sqrt((B + 1) / ln(B + 1)) / 4, the norm up to which B support vectors suffice."""
    return sqrt((budget + 1) / log(budget + 1.0)) / 4


POLICIES = {"projectron": Projectron}
RULES = {"margin_perceptron": MarginPerceptron}
