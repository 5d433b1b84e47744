"""Ahpatron: half of a full set is evicted at once, and projected onto the other half.

Liao, Li, Liao, Hu and Dang (2024). The support vectors with the smaller coefficients are evicted.
Let K_11 be the Gram matrix of those that stay, and K_12 their kernel values with the evicted ones:

    a_1 <- a_1 + theta,    theta = (K_11 + ridge I)^-1 K_12 a_2.

f is then scaled to the norm that it had before, and the step of the sample is made. Whenever the
norm of f exceeds the radius, f is scaled down to it. With K outputs, norms are those of the K
functions together.

At the support vectors that stay, f(s) = K_11 a_1 + K_12 a_2. So the squared norm of the projection
is (a_1 + theta)'(f(s) - ridge theta), and only the Cholesky factor of K_11 is needed.
"""
from libc.math cimport INFINITY, sqrt
from libc.stdlib cimport free

from onlinekern.core.base.part cimport NO_MEMORY, NOT_FINITE, OK, Status
from onlinekern.core.base.state cimport finite_number, positive_number
from onlinekern.core.base.vector cimport aligned_resize, finite, ops_for, whole_panels
from onlinekern.core.budgets.policy cimport Bounded, Budget, bound_of
from onlinekern.core.linalg.cholesky cimport Cholesky

# The ridge of the authors' program.
cdef double RIDGE = 5e-4


cdef class Halving(Bounded):
    """Before a sample is added to a full set, project half of it onto the other half.

    Parameters
    ----------
    max_support : int >= 1
        The largest ``max_support // 2`` stay.
    radius : float > 0
        Of the ball that f stays in; with K outputs it is sqrt(K) times as large.
    """

    def __init__(self, Py_ssize_t max_support, double radius):
        self.max_support = bound_of("max_support", max_support, 1)
        self.radius = positive_number("radius", radius)
        self.arguments = (max_support, radius)

    def __dealloc__(self):
        free(self.scores)

    cdef int prepare(self) except -1:
        cdef Py_ssize_t n_outputs = self.support.n_outputs
        Bounded.prepare(self)
        self.factor = Cholesky(RIDGE)
        self.scores = <double *> aligned_resize(self.scores, 0, 2 * n_outputs * sizeof(double))
        if self.scores == NULL:
            raise MemoryError(f"no memory for {n_outputs} scores")
        return self.support.prepare_kernel_rows()

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Status status = OK
        if self.square < 0:
            status = self.measure()
        if status == OK and self.is_full():
            status = self.halve()
        return self.enter(i, coefficients) if status == OK else status

    cdef Status enter(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        """Add sample i, and keep f in the ball. Returns a status."""
        cdef Py_ssize_t k, n_outputs = self.support.n_outputs
        cdef double kappa = self.support.squared_length(i)
        cdef double most = n_outputs * self.radius * self.radius
        self.support.coefficients.scores(self.support.kernel_values(i), self.scores,
                                         self.scores + n_outputs)
        for k in range(n_outputs):
            self.square += coefficients[k] * (2 * self.scores[k] + coefficients[k] * kappa)
        if not finite(&self.square, 1):
            return NOT_FINITE
        self.square = max(self.square, 0.0)
        if self.support.add(i, coefficients) < 0:
            return NO_MEMORY
        return self.scale_to(most) if self.square > most else OK

    cdef Status scale_to(self, double square) noexcept nogil:
        """Give f this squared norm, unless one of the two is 0. Returns a status."""
        if square <= 0 or self.square <= 0:
            return OK
        if self.support.shrink(sqrt(square / self.square)) < 0:
            return NO_MEMORY
        self.square = square
        return OK

    cdef Status measure(self) noexcept nogil:
        """Compute the squared norm of f from the support vectors. Returns a status."""
        cdef Py_ssize_t k, slot
        cdef const char *g
        self.square = 0
        for slot in range(self.support.n):
            if not self.support.occupied(slot):
                continue
            g = self.support.kernel_row(slot)
            if g == NULL:
                return NO_MEMORY
            self.support.coefficients.scores(g, self.scores,
                                             self.scores + self.support.n_outputs)
            self.support.coefficients_of(slot, self.step)
            for k in range(self.support.n_outputs):
                self.square += self.step[k] * self.scores[k]
        self.square = max(self.square, 0.0)
        return OK

    cdef Status halve(self) noexcept nogil:
        """Project the smaller half onto the larger one, and drop it. Returns a status."""
        cdef Py_ssize_t k, slot
        cdef double before = self.square
        if self.choose() < 0:
            return NO_MEMORY
        for slot in range(self.support.n):
            if self.sizes[slot] < INFINITY and self.read(slot) < 0:
                return NO_MEMORY
        self.square = 0
        for k in range(self.support.n_outputs):
            if self.project(k) < 0:
                return NO_MEMORY
        if not finite(&self.square, 1):
            return NOT_FINITE
        for slot in range(self.support.n):
            if self.sizes[slot] == INFINITY and self.support.occupied(slot) \
                    and self.support.drop(slot) < 0:
                return NO_MEMORY
        return self.scale_to(before)

    cdef Status choose(self) noexcept nogil:
        """Mark the evicted support vectors by an infinite size: the smallest, oldest first on ties.
        """
        cdef Py_ssize_t slot, n = self.support.n, length = whole_panels(n)
        cdef Py_ssize_t leaving = self.support.count() - self.max_support // 2
        if self.make_room((3 + 2 * self.support.n_outputs) * length) < 0 \
                or self.factor.reserve(self.max_support // 2) < 0:
            return NO_MEMORY
        self.factor.truncate(0)
        self.sizes, self.row, self.packed = self.work, self.work + length, self.work + 2 * length
        self.values = self.packed + length
        self.goals = self.values + self.support.n_outputs * length
        self.support.coefficients.norms(self.sizes)
        for slot in range(n):
            if not self.support.occupied(slot):
                self.sizes[slot] = INFINITY
        for _ in range(leaving):
            self.sizes[self.support.smallest(self.sizes)] = INFINITY
        return OK

    cdef Status read(self, Py_ssize_t slot) noexcept nogil:
        """Add a support vector that stays to factor, values and goals. Returns a status."""
        cdef Py_ssize_t j, k, m = 0, n = self.support.n, length = whole_panels(n)
        cdef double term, value, goal, scale = self.support.coefficients.average.scale
        cdef const char *g = self.support.kernel_row(slot)
        if g == NULL:
            return NO_MEMORY
        self.support.as_doubles(g, self.row)
        for j in range(slot):
            if self.sizes[j] < INFINITY:
                self.packed[m] = self.row[j]
                m += 1
        self.factor.solve_lower(self.packed)
        for k in range(self.support.n_outputs):
            value = goal = 0
            for j in range(n):
                term = self.support.coefficients.at(k, j) * self.row[j]
                value += term
                if self.sizes[j] == INFINITY:
                    goal += term
            self.values[k * length + slot] = scale * value
            self.goals[k * length + slot] = scale * goal
        return self.factor.append(self.row[slot])

    cdef Status project(self, Py_ssize_t k) noexcept nogil:
        """Add theta to output k, and its share to the squared norm. Returns a status."""
        cdef Py_ssize_t j, m = 0, n = self.support.n, length = whole_panels(n)
        cdef double old, scale = self.support.coefficients.average.scale
        cdef const double *theta
        for j in range(n):
            if self.sizes[j] < INFINITY:
                self.packed[m] = self.goals[k * length + j]
                m += 1
        self.factor.solve_lower(self.packed)
        theta = self.factor.solve_upper()
        m = 0
        for j in range(n):
            self.row[j] = 0
            if self.sizes[j] < INFINITY:
                old = scale * self.support.coefficients.at(k, j)
                self.row[j] = theta[m]
                self.square += (old + theta[m]) * (self.values[k * length + j] - RIDGE * theta[m])
                m += 1
        return self.support.coefficients.add_to_output(ops_for(sizeof(double)), k, self.row, 1)

    cdef void checkpoint(self) noexcept nogil:
        Budget.checkpoint(self)
        self.saved_square = self.square

    cdef void rollback(self) noexcept nogil:
        Budget.rollback(self)
        self.square = self.saved_square

    def get_learnt(self):
        return {"square": self.square}

    def set_learnt(self, learnt):
        self.fields_learnt(learnt, ("square",))
        self.square = finite_number("square", learnt["square"])


POLICIES = {"halve": Halving}
