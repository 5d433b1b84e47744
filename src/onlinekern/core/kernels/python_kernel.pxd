# A kernel that is a Python function. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.kernels.kernels cimport Kernel


cdef class PythonKernel(Kernel):
    cdef readonly object function
    cdef dict failures           # what the function raised in each thread, until its call ends

    cdef object values_of(self, object X, object Z)
    cdef Status fail(self, object error) noexcept
