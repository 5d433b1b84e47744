"""Samples near a support vector add their coefficients to it.

`Quantise` does so from the beginning (Chen et al. 2012), `NearestWhenFull` in a full set.
"""
from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport finite_number
from onlinekern.core.budgets.eviction cimport OldestEviction
from onlinekern.core.budgets.policy cimport Bounded, Budget, bound_of
from onlinekern.core.budgets.slot_numbers cimport SlotNumbers
from onlinekern.core.kernels.support_set cimport SupportSet

# A sample of whose squared length kappa(x, x) the projection has a smaller share than this is far
# from all support vectors. With a share p its score takes about 1 / p repeats of a correction to
# follow. 0.01 and 0.04 make as many mistakes, 0.1 half a point more (benchmarks/defaults.py, full).
LEAST_SHARE = 0.03
cdef double LEAST = LEAST_SHARE

ctypedef fused real:
    float
    double


cdef Py_ssize_t nearest_of(const real *g, const double *lengths, Py_ssize_t n) noexcept nogil:
    """The number r < n of the largest g[r]^2 / lengths[r], the first of equals; -1: none.

    With g[r] = kappa(x, s_r) and lengths[r] = kappa(s_r, s_r) this is the squared length of the
    projection of x on s_r in the space of the kernel. NULL: all lengths are equal.
    """
    cdef Py_ssize_t r, found = -1
    cdef double value, largest = -1
    for r in range(n):
        if lengths == NULL:
            value = g[r]
        else:
            value = <double> g[r] * g[r] / lengths[r] if lengths[r] > 0 else -1
        if value > largest:
            found = r
            largest = value
    return found


cdef Py_ssize_t nearest_slot(SupportSet support, Py_ssize_t i,
                             const double *lengths) noexcept nogil:
    """The slot nearest to sample i of the open window, in a set without free slots; -1: none."""
    cdef const char *g = support.kernel_values(i)
    if support.itemsize == 4:
        return nearest_of(<const float *> g, lengths, support.n)
    return nearest_of(<const double *> g, lengths, support.n)


cdef class Quantise(Bounded):
    """Add a sample that is far from all support vectors while there is room; else move it.

    A sample that is moved adds its coefficients to those of the nearest support vector, the oldest
    of equals. The kernel must fall with the distance of two samples: the support vector of the
    largest kernel value is then the nearest one, and a distance up to epsilon is a kernel value of
    at least some similarity.

    Parameters
    ----------
    similarity : float
        Kernel value with a support vector from which on a sample is near.
    max_support : int >= 0
        0: no bound but the one that the similarity implies.
    """

    def __init__(self, double similarity, Py_ssize_t max_support):
        self.similarity = finite_number("similarity", similarity)
        self.max_support = bound_of("max_support", max_support, 0)
        self.arguments = (similarity, max_support)

    cdef int check_support(self, SupportSet support) except -1:
        if self.max_support > 0:
            return Bounded.check_support(self, support)
        Budget.check_support(self, support)
        if support.slots.n_free > 0:
            raise ValueError(f"{self!r} leaves no slot free, but {support.slots.n_free} are")
        return 0

    cdef bint fills_slots(self) noexcept:
        return True

    cdef bint is_full(self) noexcept nogil:
        return self.max_support > 0 and Bounded.is_full(self)

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        # No slot is ever freed, so slots are in the order of their age.
        cdef Py_ssize_t slot = nearest_slot(self.support, i, NULL)
        if slot < 0 or not (self.is_full()
                            or self.support.kernel_value(i, slot) >= self.similarity):
            return NO_MEMORY if self.support.add(i, coefficients) < 0 else OK
        return self.support.coefficients.add_at(slot, coefficients)


cdef class NearestWhenFull(OldestEviction):
    """Add samples until the set is full; then add their steps to the nearest support vector.

    The coefficients a of a sample are projected onto that support vector s, as
    a kappa(x, s) / kappa(s, s), so the model goes on learning. A sample that is far from all
    support vectors replaces the oldest one.

    Parameters
    ----------
    max_support : int >= 1
    """

    cdef int prepare(self) except -1:
        OldestEviction.prepare(self)
        self.lengths = SlotNumbers()
        return 0

    cdef Status admit(self, Py_ssize_t i, const double *coefficients) noexcept nogil:
        cdef Py_ssize_t k, slot, entered = self.support.n_added()
        cdef double share, length = self.support.squared_length(i)
        if self.lengths.reserve(self.support.capacity) < 0:
            return NO_MEMORY
        slot = nearest_slot(self.support, i, self.lengths.values) if self.is_full() else -1
        if slot >= 0:
            share = self.support.kernel_value(i, slot) / self.lengths.values[slot]
            if share * self.support.kernel_value(i, slot) >= LEAST * length:
                for k in range(self.support.n_outputs):
                    self.step[k] = share * coefficients[k]
                return self.support.coefficients.add_at(slot, self.step)
        if OldestEviction.admit(self, i, coefficients) < 0 \
                or self.lengths.set(entered % self.max_support, length) < 0:
            return NO_MEMORY
        return OK

    cdef void checkpoint(self) noexcept nogil:
        Budget.checkpoint(self)
        self.lengths.checkpoint(self.support.n)

    cdef void rollback(self) noexcept nogil:
        Budget.rollback(self)
        self.lengths.rollback()

    def get_learnt(self):
        return {"lengths": self.lengths.to_array(self.support.n)}

    def set_learnt(self, learnt):
        self.fields_learnt(learnt, ("lengths",))
        self.lengths.from_array("lengths", learnt["lengths"], self.support.n)


POLICIES = {"quantise": Quantise, "nearest": NearestWhenFull}
