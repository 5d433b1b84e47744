"""Orders: which row of the data is learnt next.

An order is either given beforehand, or chosen from the state of the model. The stream loop
calls `choose` before each block of samples, so the second kind can fill in the next row.
"""

cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX


cdef class Order:
    """Base of the orders, and the one that is given beforehand.

    Parameters
    ----------
    rows : ndarray of shape (n,) of intp, optional
        Row numbers, in the order of learning; default all rows as they stand.
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
        """Write the numbers of the next rows into `rows`, from `first` on; at most `most`."""
