"""A kernel that is a Python function: the slow way, for kernels that nobody has compiled.

The function is called with the GIL, once for each block of samples, see `Window.ask_function`. What
it raises ends the call of the model, which is taken back.
"""
from threading import get_ident

import numpy as np

from onlinekern.core.base.part cimport RAISED, Status
from onlinekern.core.kernels.kernels cimport Kernel


cdef class PythonKernel(Kernel):
    """kappa(x, z) from a function of two matrices.

    It is no part that a file may hold: a file holds no functions.

    Parameters
    ----------
    function : callable
        ``function(X, Z)`` gets two arrays of rows, of shapes (n, d) and (m, d), copies of the
        samples and the support vectors, and returns an array-like of shape (n, m).
    """

    calls_python = True

    def __init__(self, function):
        if not callable(function) or isinstance(function, type):
            raise TypeError(
                f"kernel must be a function of two matrices, and no class, got {function!r}")
        self.function = function
        self.of_rows = True
        self.failures = {}
        self.arguments = (function,)

    cdef object values_of(self, object X, object Z):
        """The function's values as a C-ordered ndarray of float64, all of them finite."""
        expected = len(X), len(Z)
        if 0 in expected:
            return np.zeros(expected)
        values = np.asarray(self.function(X, Z))
        if values.shape != expected or values.dtype.kind not in "fiub":
            raise ValueError(
                f"kernel: the function must return numbers of shape {expected} for X of shape "
                f"{X.shape} and Z of shape {Z.shape}, got {values.dtype} of shape {values.shape}")
        if not np.isfinite(values).all():
            raise ValueError("kernel: the function returned NaN or infinity for finite rows")
        return np.ascontiguousarray(values, np.float64)

    cdef double diagonal(self, double square) noexcept nogil:
        """kappa(x, x), which stands in the place of ||x||^2."""
        return square

    cdef Status fail(self, object error) noexcept:
        """Keep what the function has raised for the end of the call, which this thread made."""
        self.failures[get_ident()] = error
        return RAISED

    cdef int check_defined(self) except -1:
        """Raise what the function has raised in this call."""
        failure = self.failures.pop(get_ident(), None)
        if failure is not None:
            raise failure
        return 0
