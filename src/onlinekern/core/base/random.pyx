"""One random generator per model: xoshiro256++ (Blackman and Vigna, 2021), seeded by splitmix64.

NumPy's generators need an object and a lock per draw; this one is 32 bytes of state that
the stream loop advances without the GIL, and that pickles with the model.
"""
from libc.stdint cimport uint32_t

from numbers import Integral
from threading import local

import numpy as np

from onlinekern.core.base.state cimport items_of, shown


# The generator of each thread, which `seeded` seeds.
OWN = local()


def seeded(seed):
    """A NumPy generator with the draws of `RandomState(seed)`, shared within this thread.

    Making one takes a hundred times as long as seeding it again. Use it up before the next call of
    `seeded` in this thread.
    """
    if not hasattr(OWN, "draws"):
        OWN.draws = np.random.RandomState(0)
    OWN.draws.seed(seed)
    return OWN.draws


cdef inline uint64_t rotate(uint64_t x, int k) noexcept nogil:
    return (x << k) | (x >> (64 - k))


cdef class Generator:
    """Uniform random numbers from a seed.

    Parameters
    ----------
    seed : int in [0, 2**64)
    """

    __hash__ = None

    def __cinit__(self, seed=0):
        cdef int i
        for i in range(4):
            self.state[i] = counted(seed, i)

    cdef double uniform(self) noexcept nogil:
        """A number in [0, 1) with 53 random bits."""
        cdef uint64_t *s = self.state
        cdef uint64_t result = rotate(s[0] + s[3], 23) + s[0]
        cdef uint64_t t = s[1] << 17
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
        return (result >> 11) * (1.0 / 9007199254740992.0)

    def random(self, Py_ssize_t n):
        """The next `n` uniform numbers, as an ndarray of float64."""
        out = np.empty(n)
        cdef double[::1] view = out
        cdef Py_ssize_t i
        for i in range(n):
            view[i] = self.uniform()
        return out

    def get_state(self):
        """The state, as a tuple of four integers."""
        return tuple(self.state[i] for i in range(4))

    def set_state(self, state):
        """Continue from what `get_state` gave.

        Raises
        ------
        TypeError, ValueError
            If the state is not four integers in [0, 2**64), one of them not 0: from a state of
            zeros only zeros would follow.
        """
        words = items_of(state, "a generator", 4)
        for word in words:
            if not isinstance(word, Integral) or not 0 <= word < 2**64:
                raise ValueError("the state of a generator must be integers in [0, 2**64), got "
                                 f"{shown(word)}")
        if not any(words):
            raise ValueError("the state of a generator must not be 0, 0, 0, 0")
        for i in range(4):
            self.state[i] = words[i]

    def __reduce__(self):
        return _restore, (self.get_state(),)

    def __eq__(self, other):
        return type(self) is type(other) and self.get_state() == other.get_state()


def shuffled(Py_ssize_t n, uint32_t seed):
    """The random order in which scikit-learn's linear learners visit the rows in a pass.

    Fisher-Yates, downwards, with a 32-bit xorshift (Marsaglia 2003). Learners that replace
    scikit-learn's give the same results so.

    Parameters
    ----------
    n : int
    seed : int in [0, 2**32)

    Returns
    -------
    ndarray of shape (n,), intp
    """
    order = np.arange(n, dtype=np.intp)
    cdef Py_ssize_t[::1] rows = order
    cdef Py_ssize_t i, j
    seed = seed if seed != 0 else 1
    for i in range(n - 1):
        seed ^= seed << 13
        seed ^= seed >> 17
        seed ^= seed << 5
        j = i + (seed & 0x7FFFFFFF) % (n - i)
        rows[i], rows[j] = rows[j], rows[i]
    return order


def _restore(state):
    generator = Generator()
    generator.set_state(state)
    return generator
