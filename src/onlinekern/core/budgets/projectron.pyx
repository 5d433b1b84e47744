"""Projectron: a Perceptron that projects samples onto the span of its support vectors.

Orabona, Keshet and Caputo (2009). With d* = K^-1 k_t, the projection of sample t has the squared
length k_t'd*. Its distance delta from the sample satisfies delta^2 = kappa_tt - k_t'd*.

d* is W'W k_t with W the inverse Cholesky factor. The labels of the open block show which coming
samples will probably be learnt; these are solved together (`linalg.solve_ahead`).
"""
from libc.math cimport INFINITY, fabs, log, sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport aligned_resize
from onlinekern.core.budgets.policy cimport Bounded, Budget, bound_of
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.linalg.cholesky cimport Cholesky, jitter_for
from onlinekern.core.linalg.inverse_panels cimport InversePanels
from onlinekern.core.linalg.solve_ahead cimport GROUP, PLACES, SolveAhead

from onlinekern.core.learning.losses import LOSSES

# From this many support vectors on, coming samples are solved ahead. With fewer, choosing them
# costs more than it saves.
cdef Py_ssize_t LEAST_AHEAD = 128
# The inverse factor of a full set is rounded to float if kernel values are float and every support
# vector is at least FAR from the span of the others. The effect of a projection on any score then
# has an error below 5e-6, and the coefficients one of at most about four times that caused by the
# rounding of kernel values. The errors do not accumulate: with the inverse H + E instead of H, the
# coefficients are (H + E) times the sum of all k.
cdef double FAR = 0.03


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
        free(self.guessed)

    cdef int check_support(self, SupportSet support) except -1:
        return Bounded.check_support(self, support) if self.max_support > 0 \
            else Budget.check_support(self, support)

    cdef bint fills_slots(self) noexcept:
        return True

    cdef int prepare(self) except -1:
        cdef Py_ssize_t n_outputs = self.support.n_outputs
        Bounded.prepare(self)
        self.factor = Cholesky(jitter_for(self.support.itemsize))
        self.inverse = InversePanels()
        self.ahead = SolveAhead(self.inverse)
        self.projected = <double *> aligned_resize(self.projected, 0, n_outputs * sizeof(double))
        self.guessed = <double *> aligned_resize(self.guessed, 0, 2 * n_outputs * sizeof(double))
        if self.projected == NULL or self.guessed == NULL:
            raise MemoryError(f"no memory for {n_outputs} steps")
        return 0

    cdef bint is_full(self) noexcept nogil:
        return self.max_support > 0 and Bounded.is_full(self)

    cdef void observe(self, const double *targets, double weight) noexcept nogil:
        self.weight = weight

    cdef void foresee(self, const double *labels, const Py_ssize_t *order,
                      Py_ssize_t n) noexcept nogil:
        self.labels, self.order, self.n_foreseen = labels, order, n
        self.ahead.forget()

    cdef Status follow(self) noexcept nogil:
        """Prepare the inverse factor for one more support vector. Returns a status."""
        cdef Py_ssize_t n = self.factor.n
        cdef bint full = self.is_full()
        if self.inverse.follow(self.factor) < 0 or self.ahead.reserve(n + 1) < 0:
            return NO_MEMORY
        if not full:
            self.judged = False
            return NO_MEMORY if self.factor.reserve(n + 1) < 0 \
                or self.inverse.reserve(n + 1) < 0 else OK
        if self.support.itemsize == 4 and not self.judged:
            self.judged = True
            if self.inverse.least_distance() >= FAR:
                self.ahead.forget()
                return self.inverse.narrow()
        return OK

    cdef double margin(self, Py_ssize_t i) noexcept nogil:
        """The smallest y f of coming sample i by the present model."""
        cdef Py_ssize_t k, n_outputs = self.support.n_outputs
        cdef double label = self.labels[self.order[i] if self.order != NULL else i]
        cdef double own = INFINITY, rival = INFINITY
        self.support.coefficients.scores(self.support.kernel_values(i), self.guessed,
                                         self.guessed + n_outputs)
        if n_outputs == 1:
            return self.guessed[0] if label > 0 else -self.guessed[0]
        for k in range(n_outputs):
            if k == label:
                own = self.guessed[k]
            else:
                rival = min(rival, -self.guessed[k])
        return own + rival if self.joint else min(own, rival)

    cdef void read_kernel_values(self, Py_ssize_t i, Py_ssize_t place) noexcept nogil:
        """Write k of sample i, of the type of the inverse factor."""
        cdef char *k = self.ahead.row(self.ahead.kernel_values, place)
        cdef Py_ssize_t n = self.support.n
        if self.inverse.itemsize == 4:
            memcpy(k, self.support.kernel_values(i), n * sizeof(float))
        else:
            self.support.as_doubles(self.support.kernel_values(i), <double *> k)

    cdef Py_ssize_t guess(self, Py_ssize_t i, Py_ssize_t first, Py_ssize_t count, double below,
                          double limit) noexcept nogil:
        """Put samples after i of margins in (below, limit] into a group that has `count` samples.

        Returns how many it has then.
        """
        cdef Py_ssize_t j
        cdef double margin
        for j in range(i + 1, self.n_foreseen):
            if count == GROUP:
                break
            if self.ahead.find(j) < 0:
                margin = self.margin(j)
                if below < margin <= limit:
                    self.ahead.samples[first + count] = j
                    count += 1
        return count

    cdef Py_ssize_t solve_lower(self, Py_ssize_t i) noexcept nogil:
        """Let h of sample i be known; returns its place."""
        cdef Py_ssize_t j, first, count = 1, place = self.ahead.find(i)
        if place >= 0:
            self.ahead.use(place)
            self.read_kernel_values(i, place)
            self.ahead.extend_lower(place)
            return place
        first = self.ahead.take_group(i)
        self.ahead.samples[first] = i
        if self.support.n >= LEAST_AHEAD and self.ahead.pays(GROUP - 1):
            # Mistakes first: of these, d too will be needed.
            count = self.guess(i, first, count, -INFINITY, 0)
            if self.limit > 0:
                count = self.guess(i, first, count, 0, self.limit)
        if count > 1 and not self.ahead.pays(count - 1):
            self.ahead.leave(first + 1, count - 1)
            count = 1
        for j in range(first, first + count):
            self.ahead.guessed[j] = j > first
            self.read_kernel_values(self.ahead.samples[j], j)
        self.ahead.solve_lower(first, count)
        return first

    cdef void solve_upper(self, Py_ssize_t i, Py_ssize_t place) noexcept nogil:
        """Let d of sample i be known, whose h is."""
        cdef Py_ssize_t other, count = 1
        if self.ahead.n_upper[place] > 0:
            self.ahead.extend_upper(place)
            return
        self.ahead.chosen[0] = place
        for other in range(PLACES):
            if count < GROUP and self.ahead.samples[other] > i and self.ahead.waits(other) \
                    and self.will_move(other):
                self.ahead.chosen[count] = other
                count += 1
        self.ahead.solve_upper(count if self.ahead.pays(count - 1) else 1)

    cdef bint will_move(self, Py_ssize_t place) noexcept nogil:
        """Whether the present model would learn the coming sample of a place, whose h is known."""
        cdef Py_ssize_t i = self.ahead.samples[place]
        cdef double margin = self.margin(i), scale = 2 if self.joint else 1, covered, distance
        if margin <= 0 or margin >= self.limit:
            return margin <= 0
        covered = self.ahead.square(place)
        distance = sqrt(scale * max(0.0, self.support.squared_length(i) - covered))
        return self.margin_step(1 - margin, scale * covered, distance) > 0

    cdef Status append(self, Py_ssize_t place, double kappa) noexcept nogil:
        """Let the factor and its inverse have a row for a solved sample. Returns a status."""
        cdef Py_ssize_t n = self.factor.n
        cdef const double *h = <const double *> self.ahead.row(self.ahead.lower, place)
        if self.factor.append_row(h, kappa) < 0:
            return NO_MEMORY
        self.inverse.append(<const double *> self.ahead.row(self.ahead.upper, place),
                            self.factor.rows[n][n])
        return OK

    cdef Status move(self, Py_ssize_t place) noexcept nogil:
        """Add the projection of a sample with its K steps. Returns a status."""
        cdef const char *d = self.ahead.row(self.ahead.upper, place)
        if self.inverse.itemsize == 4:
            return self.support.coefficients.add_multiples(d, self.projected)
        return self.support.add_along(<const double *> d, self.projected)

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t k, place
        cdef double kappa = self.support.squared_length(i)
        cdef bint adds = False, projects = False
        if self.follow() < 0:
            return NO_MEMORY
        place = self.solve_lower(i)
        self.choose(coefficients, self.ahead.square(place), kappa)
        for k in range(self.support.n_outputs):
            adds |= self.step[k] != 0
            projects |= self.projected[k] != 0
        if not (adds or projects):
            return OK
        self.solve_upper(i, place)
        if projects and self.move(place) < 0:
            return NO_MEMORY
        if not adds:
            return OK
        if self.support.add(i, self.step) < 0:
            return NO_MEMORY
        return self.append(place, kappa)

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
                self.limit = 1
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
        self.inverse.truncate(self.factor.n)
        self.judged = self.inverse.itemsize == sizeof(float)

    def get_learnt(self):
        return {"factor": self.factor.to_array()}

    def set_learnt(self, learnt):
        self.fields_learnt(learnt, ("factor",))
        self.factor.set_array(learnt["factor"])
        self.inverse.release()
        if self.factor.n != self.support.n:
            raise ValueError(f"the Cholesky factor must have {self.support.n} rows, as many as "
                             f"support vectors, got {self.factor.n}")


def budget_price(Py_ssize_t budget):
    """U = sqrt((B + 1) / ln(B + 1)) / 4, the norm up to which B support vectors suffice."""
    return sqrt((budget + 1) / log(budget + 1.0)) / 4


POLICIES = {"projectron": Projectron}
RULES = {"margin_perceptron": MarginPerceptron}
