"""Evictions by lot: when the budget is full, a support row leaves that is drawn.

Exchanges: the budget policy of BPA-S.

Forgetting: the budget policy of the Forgetron.
"""
from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.random cimport Generator
from onlinekern.core.base.vector cimport ops_for
from onlinekern.core.budgets.policy cimport Budget, Eviction
from onlinekern.core.kernels.coefficients cimport Coefficients
from onlinekern.core.kernels.support_set cimport SupportSet

cdef Status multiply(Coefficients coefficients, const double *factors) noexcept nogil:
    """Multiply the coefficients of each row by its own factor. Returns a status.

    This and `clip` leave companions alone: a model whose rows leave it is not averaged.
    """
    cdef Py_ssize_t k, r
    cdef double *values
    if coefficients.preserve() < 0:
        return NO_MEMORY
    for k in range(coefficients.n_outputs):
        values = coefficients.values + k * coefficients.capacity
        for r in range(coefficients.n):
            values[r] *= factors[r]
    return OK


cdef Status clip(Coefficients coefficients, double limit) noexcept nogil:
    """Hold every coefficient within -limit ... limit. Returns a status."""
    cdef Py_ssize_t k
    if limit == INFINITY:
        return OK
    if coefficients.preserve() < 0:
        return NO_MEMORY
    limit /= coefficients.scale
    for k in range(coefficients.n_outputs):
        coefficients.ops.clip(coefficients.values + k * coefficients.capacity, limit,
                              coefficients.n)
    return OK


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
        """The place of the row that leaves a full set. Returns a status."""
        return <Py_ssize_t> (self.rng.uniform() * support.n)

    cdef Status admit(self, SupportSet support, Py_ssize_t i,
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

    cdef Status rescale(self, SupportSet support) noexcept nogil:
        """Divide the coefficients by 1 - p_j. Returns a status."""
        return support.coefficients.shrink(support.n / (support.n - 1.0))

    cdef Status admit(self, SupportSet support, Py_ssize_t i,
                      const double *coefficients) noexcept nogil:
        cdef Py_ssize_t slot
        if not self.full(support):
            return Budget.admit(self, support, i, coefficients)
        slot = self.draw(support)
        if slot < 0:
            return NO_MEMORY
        # What leaves is cleared with the swap, so it may be rescaled with the others.
        if support.n > 1 and self.rescale(support) < 0:
            return NO_MEMORY
        if clip(support.coefficients, self.max_coefficient) < 0:
            return NO_MEMORY
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
            return NO_MEMORY
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

    cdef Status rescale(self, SupportSet support) noexcept nogil:
        cdef Py_ssize_t r, n = support.n
        cdef double others = n - 1, unit = 1 / self.total
        cdef double *factors = self.work
        if self.total == 0:
            return OK
        # 1 / (1 - p_j). Of two rows, one whose share is 0 is the one that leaves.
        for r in range(n):
            factors[r] = others / (others - 1 + factors[r] * unit)
        return multiply(support.coefficients, factors)


EVICTIONS = {
    "random": RandomEviction,
    "uniform": UniformEviction,
    "nonuniform": NonuniformEviction,
}


cdef class CheapestEviction(Eviction):
    """The sample takes the place of the row whose loss it makes good best, and its coefficients.

    BPA-S (Wang and Vucetic 2010): of all f - a_r kappa(x_r, .) + b kappa(x_t, .), the one that
    minimises |f_new - f|^2 / 2 + C l_new. For each r the best b is a_r kappa_rt / kappa_tt, which
    is the projection of what leaves, plus the step of PA-I; so the row that leaves is the one of
    least |a_r|^2 (kappa_rr - kappa_rt^2 / kappa_tt). |a_r| is the Euclidean norm of its K
    coefficients, the sum over the K functions of what each would lose.

    The rule behind it gives coefficients to samples of kappa_tt > 0 only, see `PassiveAggressive`
    in rules.

    Parameters
    ----------
    max_support : int >= 1
    """

    cdef int attach(self, SupportSet support) except -1:
        Eviction.attach(self, support)
        self.lengths = Coefficients(1, False, support.store.itemsize)
        return 0

    cdef Status admit(self, SupportSet support, Py_ssize_t i,
                      const double *coefficients) noexcept nogil:
        cdef Py_ssize_t slot = support.n
        cdef double length = support.kernel.diagonal(support.window.block.squares[i]), share
        cdef const char *g = support.window.row(i)
        cdef Status status
        if self.lengths.reserve(support.capacity) < 0:
            return NO_MEMORY
        if not self.full(support):
            status = Budget.admit(self, support, i, coefficients)
        else:
            slot = support.coefficients.ops.cheapest(
                g, 1 / length, support.coefficients.values, support.coefficients.capacity,
                support.coefficients.n_outputs, self.lengths.values, support.n)
            if support.store.itemsize == 4:
                share = (<const float *> g)[slot] / length
            else:
                share = (<const double *> g)[slot] / length
            status = self.exchange(support, slot, i, share, coefficients)
        if self.lengths.assign(slot, &length) < 0:
            return NO_MEMORY
        return status

    cdef Status exchange(self, SupportSet support, Py_ssize_t slot, Py_ssize_t i, double share,
                         const double *coefficients) noexcept nogil:
        """Put sample i in the place of a row, with its step and a share of what leaves."""
        cdef Py_ssize_t k, capacity = support.coefficients.capacity
        share *= support.coefficients.scale
        for k in range(support.coefficients.n_outputs):
            self.step[k] = coefficients[k] \
                + share * support.coefficients.values[k * capacity + slot]
        return self.swap(support, slot, i, self.step)

    cdef void checkpoint(self, SupportSet support) noexcept nogil:
        self.lengths.checkpoint()

    cdef void rollback(self, SupportSet support) noexcept nogil:
        self.lengths.rollback()

    def get_state(self):
        return self.lengths.get_state()

    def set_state(self, SupportSet support, state):
        if self.lengths.reserve(support.capacity) < 0:
            raise MemoryError(f"no memory for the lengths of {support.n} support vectors")
        self.lengths.set_state(state)


cdef class OldestEviction(Eviction):
    """All shrink, then the oldest row leaves: the Forgetron (Dekel, Shalev-Shwartz, Singer 2008).

    The shrinking phi is the largest that keeps the damage of all removals in bounds (section 5
    there, the self-tuned Forgetron). With K coefficients a row, the damage of removing row r from f
    is |a_r|^2 - 2 <a_r, f(x_r)> + 2 |a_r|: K = 1 gives the formula of the paper.

    When row r is the oldest, f has rows only that came no earlier than r. So f(x_r) is a sum that
    starts when r comes in, takes a term of each row that comes after it, from that row's own kernel
    values, and shrinks with f (`margins`).

    The rule behind it may not shrink, see `Perceptron` in rules.

    Parameters
    ----------
    max_support : int >= 1
    """

    cdef int attach(self, SupportSet support) except -1:
        Eviction.attach(self, support)
        self.margins = Coefficients(support.coefficients.n_outputs, False, support.store.itemsize)
        return 0

    cdef Status admit(self, SupportSet support, Py_ssize_t i,
                      const double *coefficients) noexcept nogil:
        cdef Py_ssize_t k, oldest, slot
        cdef double length = support.kernel.diagonal(support.window.block.squares[i]), factor = 1
        cdef bint full = self.full(support)
        self.n_steps += 1
        if self.margins.reserve(support.capacity) < 0 \
                or self.margins.add_multiples(support.window.row(i), coefficients) < 0:
            return NO_MEMORY
        if full:
            # Rows come to the places in turn.
            oldest = support.slots.n_added % self.max_support
            factor = self.factor(support, oldest)
            if support.drop(oldest) < 0 or self.margins.clear(oldest) < 0:
                return NO_MEMORY
        slot = support.add(i, coefficients)
        for k in range(support.coefficients.n_outputs):
            self.step[k] = coefficients[k] * length
        if slot < 0 or self.margins.assign(slot, self.step) < 0:
            return NO_MEMORY
        if full and (support.coefficients.shrink(factor) < 0 or self.margins.shrink(factor) < 0):
            return NO_MEMORY
        return OK

    cdef double factor(self, SupportSet support, Py_ssize_t oldest) noexcept nogil:
        """phi for the removal of a row; counts the damage."""
        cdef Py_ssize_t k
        cdef double square = 0, product = 0, value, size, phi
        for k in range(support.coefficients.n_outputs):
            value = support.coefficients.values[k * support.coefficients.capacity + oldest]
            square += value * value
            product += value * self.margins.values[k * self.margins.capacity + oldest]
        square *= support.coefficients.scale * support.coefficients.scale
        product *= support.coefficients.scale * self.margins.scale
        size = sqrt(square)
        phi = self.largest_factor(size, product)
        self.damage += phi * (phi * (square - 2 * product) + 2 * size)
        return phi

    cdef double largest_factor(self, double size, double alignment) noexcept nogil:
        """The largest phi in (0, 1] with a phi^2 + b phi <= 15/32 M - Q, M steps, damage Q.

        a = size^2 - 2 alignment and b = 2 size; `alignment` is <a_r, f(x_r)>.
        """
        cdef double a = size * size - 2 * alignment, b = 2 * size
        cdef double spare = 15 * self.n_steps / 32.0 - self.damage
        if a + b <= spare:
            return 1
        return 2 * spare / (b + sqrt(b * b + 4 * a * spare))

    def evaluate(self, double size, double alignment, int64_t n_steps, double damage):
        """phi of one removal (for tests and exploration); the policy must be a new one."""
        self.n_steps, self.damage = n_steps, damage
        return self.largest_factor(size, alignment)

    cdef void checkpoint(self, SupportSet support) noexcept nogil:
        self.saved_steps = self.n_steps
        self.saved_damage = self.damage
        self.margins.checkpoint()

    cdef void rollback(self, SupportSet support) noexcept nogil:
        self.n_steps = self.saved_steps
        self.damage = self.saved_damage
        self.margins.rollback()

    def get_state(self):
        return {**self.margins.get_state(), "n_steps": self.n_steps, "damage": self.damage}

    def set_state(self, SupportSet support, state):
        if self.margins.reserve(support.capacity) < 0:
            raise MemoryError(f"no memory for the margins of {support.n} support vectors")
        self.margins.set_state(state)
        self.n_steps, self.damage = state["n_steps"], state["damage"]
