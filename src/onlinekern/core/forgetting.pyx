"""Forgetting: the budget policy of the Forgetron.

Layer 8.
"""
from libc.math cimport sqrt
from libc.stdint cimport int64_t

from onlinekern.core.budgets cimport ADDED, OUT_OF_MEMORY, Eviction, Verdict
from onlinekern.core.coefficients cimport Coefficients
from onlinekern.core.support cimport SupportSet


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

    cdef Verdict admit(self, SupportSet support, Py_ssize_t i,
                       const double *coefficients) noexcept nogil:
        cdef Py_ssize_t k, oldest, slot
        cdef double length = support.kernel.diagonal(support.window.chunk.squares[i]), factor = 1
        cdef bint full = self.full(support)
        self.n_steps += 1
        if self.margins.reserve(support.capacity) < 0 \
                or self.margins.blend(support.window.row(i), coefficients) < 0:
            return OUT_OF_MEMORY
        if full:
            # Rows come to the places in turn.
            oldest = support.slots.added % self.max_support
            factor = self.factor(support, oldest)
            if support.drop(oldest) < 0 or self.margins.clear(oldest) < 0:
                return OUT_OF_MEMORY
        slot = support.add(i, coefficients)
        for k in range(support.coefficients.n_outputs):
            self.step[k] = coefficients[k] * length
        if slot < 0 or self.margins.put(slot, self.step) < 0:
            return OUT_OF_MEMORY
        if full and (support.coefficients.shrink(factor) < 0 or self.margins.shrink(factor) < 0):
            return OUT_OF_MEMORY
        return ADDED

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
