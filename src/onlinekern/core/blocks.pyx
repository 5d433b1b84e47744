"""Blocks: a fixed number of equal blocks of doubles that can be taken back at little cost.

Layer 1. A sample changes few blocks of a local model. `checkpoint` is O(1); a block is copied when
it is touched for the first time after it. Numbers and copies are zero pages that the system hands
out when they are written, so blocks never touched cost nothing.
"""
from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np


cdef class Blocks:
    """`n` blocks of `stride` doubles, zero at first.

    Parameters
    ----------
    n, stride : int
        A stride of whole cache lines (8 numbers) keeps every block aligned.
    """

    def __init__(self, Py_ssize_t n, Py_ssize_t stride):
        size = n * stride * sizeof(double)
        self.n = n
        self.stride = stride
        self.stamp = 1
        self.allocated = <double *> calloc(n * stride + 8, sizeof(double))
        self.saved = <double *> calloc(max(n * stride, 1), sizeof(double))
        self.stamps = <uint64_t *> calloc(max(n, 1), sizeof(uint64_t))
        if self.allocated == NULL or self.saved == NULL or self.stamps == NULL:
            raise MemoryError(
                f"no memory for {n} blocks of {stride} numbers ({2 * size / 1e9:.3g} gigabytes)")
        self.data = <double *> ((<uintptr_t> self.allocated + 63) // 64 * 64)

    def __dealloc__(self):
        free(self.allocated)
        free(self.saved)
        free(self.stamps)

    cdef void checkpoint(self) noexcept nogil:
        """Remember the present numbers for `rollback`."""
        self.stamp += 1
        self.n_touched = 0

    cdef bint touch_all(self) noexcept nogil:
        """Let every block be changed. Returns True."""
        cdef Py_ssize_t b
        for b in range(self.n):
            self.touch(b)
        return True

    cdef void rollback(self) noexcept nogil:
        """Return to the numbers of the checkpoint; which blocks were touched stays known."""
        cdef Py_ssize_t b
        for b in range(self.n):
            if self.touched(b):
                memcpy(self.at(b), self.saved + b * self.stride, self.stride * sizeof(double))

    def to_array(self):
        """A copy of the numbers, ndarray of shape (n, stride)."""
        out = np.empty((self.n, self.stride))
        cdef double[:, ::1] view = out
        if out.size > 0:
            memcpy(&view[0, 0], self.data, out.nbytes)
        return out

    def set_array(self, const double[:, ::1] values):
        """Take over what `to_array` gave."""
        if values.shape[0] != self.n or values.shape[1] != self.stride:
            raise ValueError(f"blocks are of shape ({self.n}, {self.stride}), "
                             f"got ({values.shape[0]}, {values.shape[1]})")
        if self.n * self.stride > 0:
            memcpy(self.data, &values[0, 0], self.n * self.stride * sizeof(double))
