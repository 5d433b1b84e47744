"""The Cholesky factor A = U'U and its inverse, some columns or rows at a time.

So the work can be spread over time. A and U are upper triangles in Fortran order.
"""
import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs


def factor_columns(A, U, Py_ssize_t first, Py_ssize_t last):
    """Compute some rows of U, after all rows before them. Returns whether A is definite."""
    own = slice(first, last)
    U[own, first:] = A[own, first:] - U[:first, own].T @ U[:first, first:]
    block, fault = dpotrf(U[own, own])
    U[own, own] = block
    if last < len(U) and fault == 0:
        U[own, last:], _ = dtrtrs(block, U[own, last:], trans=1)
    return fault == 0


def invert_rows(U, inverse, Py_ssize_t first, Py_ssize_t last):
    """Compute some rows of the lower triangle U'^-1, after all before them; `inverse` begins as 0.
    """
    own = slice(first, last)
    block = U[own, own]
    inverse[own, own], _ = dtrtrs(block, np.eye(last - first), trans=1)
    if first > 0:
        inverse[own, :first], _ = dtrtrs(
            block, -(U[:first, own].T @ inverse[:first, :first]), trans=1)
