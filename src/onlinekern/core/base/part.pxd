# The root of everything that a model is composed of. May change at minor versions.

cdef class Part:
    cdef readonly tuple arguments
