"""Forgetron: shrink all coefficients, then evict the oldest support vector.

The self-tuned Forgetron (Dekel, Shalev-Shwartz and Singer 2008, section 5). The factor phi is the
largest in (0, 1] that keeps the damage Q of all evictions within 15/32 M after M steps. With K
outputs, evicting support vector r from f does the damage |a_r|^2 - 2 <a_r, f(s_r)> + 2 |a_r|, which
for K = 1 is the formula of the paper.

When r is the oldest, every term of f came in with r or later. So f(s_r) is kept as a running sum:
it starts when r comes in, gains a term with each later sample, and shrinks with f.
"""
from libc.math cimport sqrt

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport chosen, count_of, finite_number
from onlinekern.core.budgets.policy cimport Bounded, Budget
from onlinekern.core.kernels.coefficients cimport Coefficients

from onlinekern.core.kernels.coefficient_rows import FIELDS


cdef double largest_factor(double size, double alignment, double spare) noexcept nogil:
    """The largest phi in (0, 1] with a phi^2 + b phi <= spare.

    a = size^2 - 2 alignment and b = 2 size, where size is |a_r| and alignment <a_r, f(s_r)>; spare
    is the damage that may still be done, 15/32 M - Q.
    """
    cdef double a = size * size - 2 * alignment, b = 2 * size
    if a + b <= spare:
        return 1
    return 2 * spare / (b + sqrt(b * b + 4 * a * spare))


def shrinking(double size, double alignment, double spare):
    """phi of one eviction, for tests and exploration; see `largest_factor`."""
    return largest_factor(size, alignment, spare)


cdef class ShrinkingEviction(Bounded):
    """Shrink all coefficients, then evict the oldest support vector, once the budget is full.

    The rule must not shrink, as `Perceptron` does not.

    Parameters
    ----------
    max_support : int >= 1
    """

    cdef bint fills_slots(self) noexcept:
        return True

    cdef int prepare(self) except -1:
        Bounded.prepare(self)
        self.margins = Coefficients(self.support.n_outputs, False, self.support.itemsize)
        return 0

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t k, oldest, slot
        cdef double length = self.support.squared_length(i), factor = 1
        cdef bint full = self.is_full()
        self.n_steps += 1
        if self.margins.reserve(self.support.capacity) < 0 \
                or self.margins.add_multiples(self.support.kernel_values(i), coefficients) < 0:
            return NO_MEMORY
        if full:
            # A new sample takes the slot of the oldest, so the slots take turns.
            oldest = self.support.n_added() % self.max_support
            factor = self.factor(oldest)
            if self.support.drop(oldest) < 0 or self.margins.clear(oldest) < 0:
                return NO_MEMORY
        slot = self.support.add(i, coefficients)
        for k in range(self.support.n_outputs):
            self.step[k] = coefficients[k] * length
        if slot < 0 or self.margins.assign(slot, self.step) < 0:
            return NO_MEMORY
        if full and (self.support.shrink(factor) < 0 or self.margins.shrink(factor) < 0):
            return NO_MEMORY
        return OK

    cdef double factor(self, Py_ssize_t oldest) noexcept nogil:
        """phi for evicting a slot; adds the damage to the total."""
        cdef Py_ssize_t k
        cdef double square = 0, product = 0, value, size, phi
        cdef double scale = self.support.coefficients.average.scale
        for k in range(self.support.n_outputs):
            value = self.support.coefficients.at(k, oldest)
            square += value * value
            product += value * self.margins.at(k, oldest)
        square *= scale * scale
        product *= scale * self.margins.average.scale
        size = sqrt(square)
        phi = largest_factor(size, product, 15 * self.n_steps / 32.0 - self.damage)
        self.damage += phi * (phi * (square - 2 * product) + 2 * size)
        return phi

    cdef void checkpoint(self) noexcept nogil:
        Budget.checkpoint(self)
        self.saved_steps = self.n_steps
        self.saved_damage = self.damage
        self.margins.checkpoint()

    cdef void rollback(self) noexcept nogil:
        Budget.rollback(self)
        self.n_steps = self.saved_steps
        self.damage = self.saved_damage
        self.margins.rollback()

    def get_learnt(self):
        return {**self.margins.get_state(), "n_steps": self.n_steps, "damage": self.damage}

    def set_learnt(self, learnt):
        cdef Py_ssize_t slot
        self.fields_learnt(learnt, (*FIELDS, "n_steps", "damage"))
        if self.margins.reserve(self.support.capacity) < 0:
            raise MemoryError(f"no memory for the margins of {self.support.n} support vectors")
        self.margins.set_state(chosen(learnt, FIELDS))
        if self.margins.n != self.support.n:
            raise ValueError(f"margins must be those of {self.support.n} support vectors, got "
                             f"{self.margins.n}")
        for slot in range(self.support.n):
            if self.support.age(slot) % self.max_support != slot:
                raise ValueError(f"the support vector in slot {slot} of {self.max_support} cannot "
                                 f"have the age {self.support.age(slot)}: the slots take turns")
        self.n_steps = count_of("n_steps", learnt["n_steps"])
        self.damage = finite_number("damage", learnt["damage"])


POLICIES = {"forgetron": ShrinkingEviction}
