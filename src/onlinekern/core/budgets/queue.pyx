"""Queue: the support vectors of a set in the order of their size, the smallest first."""
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from onlinekern.core.base.state cimport size_of
from onlinekern.core.kernels.support_set cimport SupportSet


cdef inline bint before(const Entry *a, const Entry *b) noexcept nogil:
    return a.size < b.size or (a.size == b.size and a.age < b.age)


cdef class Queue:
    """A binary heap of slots, ordered by size; of equal sizes the older one comes first.

    The size of a support vector is ||alpha|| times a length that the caller gives, without the
    common scale of the coefficients. `put` and `pop` take logarithmic time. Where all sizes are
    equal, as the steps of the hinge are, `put` takes one comparison.

    Parameters
    ----------
    capacity : int
    """

    def __cinit__(self, Py_ssize_t capacity):
        # Not zeroed: the system provides what is used.
        self.heap = <Entry *> malloc(size_of("a queue", capacity, sizeof(Entry)))
        if self.heap == NULL:
            raise MemoryError(f"no memory for a queue of {capacity} support vectors")
        self.capacity = capacity

    def __dealloc__(self):
        free(self.heap)

    cdef void put(self, SupportSet support, Py_ssize_t slot, double length) noexcept nogil:
        """Add an occupied slot; there is room."""
        self.push(support.norm(slot) * length, support.age(slot), slot)

    cdef void push(self, double size, int64_t age, Py_ssize_t slot) noexcept nogil:
        cdef Py_ssize_t j = self.n
        cdef Entry fresh
        fresh.size, fresh.age, fresh.slot = size, age, slot
        self.n += 1
        while j > 0 and before(&fresh, &self.heap[(j - 1) // 2]):
            self.heap[j] = self.heap[(j - 1) // 2]
            j = (j - 1) // 2
        self.heap[j] = fresh

    cdef Py_ssize_t pop(self) noexcept nogil:
        """Take out the slot of the smallest size; the queue is not empty."""
        cdef Py_ssize_t first = self.heap[0].slot, j = 0, child = 1
        cdef Entry last
        self.n -= 1
        last = self.heap[self.n]
        while child < self.n:
            if child + 1 < self.n and before(&self.heap[child + 1], &self.heap[child]):
                child += 1
            if not before(&self.heap[child], &last):
                break
            self.heap[j] = self.heap[child]
            j = child
            child = 2 * j + 1
        self.heap[j] = last
        return first

    cdef void refill(self, SupportSet support, const double *lengths) noexcept nogil:
        """Hold all occupied slots of a set and no others. NULL: all lengths are 1."""
        cdef Py_ssize_t slot
        self.n = 0
        for slot in range(support.n):
            if support.occupied(slot):
                self.put(support, slot, lengths[slot] if lengths != NULL else 1.0)
