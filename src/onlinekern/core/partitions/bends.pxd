# Features with heavy tails, which trees see bent. May change at minor versions.
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy


cdef class Bends:
    cdef readonly Py_ssize_t n
    cdef const int32_t[::1] features     # ascending
    cdef const double[::1] centers
    cdef const double[::1] factors
    cdef double[::1] center_of           # d, of all features;
    cdef double[::1] factor_of           # d, 0 where a feature is as it is

    cdef inline double bend(self, Py_ssize_t j, double x) noexcept nogil:
        """A value of feature j as trees see it."""
        return bent((x - self.center_of[j]) * self.factor_of[j]) if self.factor_of[j] else x


cdef inline double bent(double x) noexcept nogil:
    """The binary logarithm of 1 + |x|, linear between powers of two, with the sign of x."""
    # It is held where 1 + |x| is finite.
    cdef double size = 1 + min(fabs(x), 1e300)
    cdef int64_t bits
    if x != x:
        return x
    # The bits of a number are its exponent and, behind it, how far it is to the next power.
    memcpy(&bits, &size, sizeof(bits))
    size = (bits - (<int64_t> 1023 << 52)) * 2.220446049250313e-16
    return size if x >= 0 else -size
