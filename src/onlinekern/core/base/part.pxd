# The root of everything that a model is composed of. May change at minor versions.

# How a method of the core that cannot raise ended. Below 0: the call fails and is taken back.
cdef enum Status:
    OK = 0
    NO_MEMORY = -1
    NOT_FINITE = -2      # a score, a step or a matrix is no longer finite
    RAISED = -3          # an exception is kept for the end of the call
    NOT_GIVEN = -4       # a subclass lacks a method that it must define
    OVERFLOWED = -5      # a number on the way was not finite; whether the model keeps it, is asked


cdef class Component:
    cdef const char *missing    # a method that was called and that the class does not define

    cdef int check_defined(self) except -1


cdef int check_no_arguments(type cls, tuple args, dict kwargs) except -1


cdef class Part(Component):
    cdef readonly tuple arguments
