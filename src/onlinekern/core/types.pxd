# Plain types shared by the compiled modules (layer 0). May change at minor versions.
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint64_t


cdef struct Outcome:
    double loss      # of the sample, before the update
    double shrink    # factor on everything learnt before
    bint updates     # some coefficient of the sample is not zero


cdef inline bint finite(const double *numbers, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        if not isfinite(numbers[k]):
            return False
    return True
