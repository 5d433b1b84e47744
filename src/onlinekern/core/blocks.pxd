# Equal blocks of numbers with a cheap checkpoint (layer 1). May change at minor versions.
from libc.stdint cimport uint64_t
from libc.string cimport memcpy


cdef class Blocks:
    cdef readonly Py_ssize_t n, stride
    cdef double *allocated
    cdef double *data           # the same, from a cache line on
    cdef double *saved          # block b at the checkpoint, where stamps[b] == stamp
    cdef uint64_t *stamps
    cdef uint64_t stamp
    cdef Py_ssize_t n_touched   # since the checkpoint

    cdef inline double *at(self, Py_ssize_t b) noexcept nogil:
        """Block b, to be read."""
        return self.data + b * self.stride

    cdef inline double *touch(self, Py_ssize_t b) noexcept nogil:
        """Block b, to be changed."""
        if self.stamps[b] != self.stamp:
            memcpy(self.saved + b * self.stride, self.at(b), self.stride * sizeof(double))
            self.stamps[b] = self.stamp
            self.n_touched += 1
        return self.at(b)

    cdef inline bint settled(self) noexcept nogil:
        """Whether all blocks may be changed without touching them.

        Once half of them have been touched, the others are too: that at most doubles what is copied
        after a checkpoint, and spares the samples to come the question.
        """
        return self.n_touched == self.n or (2 * self.n_touched >= self.n and self.touch_all())

    cdef inline bint touched(self, Py_ssize_t b) noexcept nogil:
        """Whether block b was handed out to be changed since the checkpoint."""
        return self.stamps[b] == self.stamp

    cdef bint touch_all(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
