# A seeded generator that runs without the GIL. May change at minor versions.
from libc.stdint cimport uint64_t


cdef class Generator:
    cdef uint64_t[4] state
    cdef double uniform(self) noexcept nogil


cdef inline uint64_t mixed(uint64_t z) noexcept nogil:
    """The output function of splitmix64: a permutation whose bits depend on all of z."""
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline uint64_t counted(uint64_t seed, uint64_t n) noexcept nogil:
    """Number n of the random numbers of splitmix64 from a seed, without those before it."""
    return mixed(seed + (n + 1) * <uint64_t> 0x9E3779B97F4A7C15)
