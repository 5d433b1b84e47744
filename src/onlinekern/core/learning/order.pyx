"""Orders: which row of the data is learnt next.

The stream loop asks before it opens a block: an order given beforehand needs no answer,
one that follows the model fills in the next row.
"""

cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX


cdef class Order:
    """Base of the orders, and one that is given.

    Parameters
    ----------
    rows : ndarray of shape (n,) of intp, optional
        Row numbers in the order of learning; default as they stand.
    """

    def __init__(self, rows=None):
        cdef const Py_ssize_t[::1] view
        self.n = -1 if rows is None else len(rows)
        self.most = PY_SSIZE_T_MAX
        if self.n > 0:
            view = rows
            self.owner = view
            self.rows = &view[0]

    cdef void choose(self, Py_ssize_t first) noexcept nogil:
        """Put the next row at place `first`; no more than `most` rows are asked of it."""
