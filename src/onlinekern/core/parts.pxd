# The root of everything that a model is composed of (layer 0). May change at minor versions.

cdef class Part:
    cdef readonly tuple arguments
