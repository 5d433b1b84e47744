# Logarithms of features with heavy tails. May change at minor versions.
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy


cdef class Bends:
    cdef readonly Py_ssize_t n           # transformed features
    cdef const int32_t[::1] features     # their numbers, ascending
    cdef const double[::1] centers
    cdef const double[::1] factors
    cdef double[::1] center_of           # centers of all features, (d,)
    cdef double[::1] factor_of           # factors of all features, (d,); 0: not transformed

    cdef inline double bend(self, Py_ssize_t j, double x) noexcept nogil:
        """The value of feature j that trees see: transformed if the feature is."""
        return bent((x - self.center_of[j]) * self.factor_of[j]) if self.factor_of[j] else x


cdef inline double bent(double x) noexcept nogil:
    """sign(x) log2(1 + |x|), with the logarithm linear between powers of two; NaN stays NaN."""
    # Clip |x|, so that 1 + |x| is finite.
    cdef double size = 1 + min(fabs(x), 1e300)
    cdef int64_t bits
    if x != x:
        return x
    # The bits of a double, read as an integer, are its exponent and then its mantissa. Minus the
    # bits of 1.0, times 2^-52, they are the logarithm, linear between powers of two.
    memcpy(&bits, &size, sizeof(bits))
    size = (bits - (<int64_t> 1023 << 52)) * 2.220446049250313e-16
    return size if x >= 0 else -size
