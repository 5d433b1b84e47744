"""Orders: the sequence in which the rows of the data are learnt.

An order is given beforehand, or chosen row by row from the state of the model. The stream loop
calls `choose` before each block of samples, where the second kind writes the next row.
"""

from onlinekern.core.learning.heads cimport Head

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

    cdef int check_rows(self, Py_ssize_t n) except -1:
        """Raise ValueError unless all rows are among n."""
        cdef Py_ssize_t i
        if self.most < PY_SSIZE_T_MAX and self.n != n:
            raise ValueError(f"order must choose among the {n} rows of X, not among {self.n}")
        for i in range(max(self.n, 0)):
            if not 0 <= self.rows[i] < n:
                raise ValueError(f"order must hold numbers of the {n} rows of X, got "
                                 f"{self.rows[i]}")
        return 0

    cdef void choose(self, Py_ssize_t first) noexcept nogil:
        """Write the numbers of the next rows into `rows`, from `first` on; at most `most`."""


cdef Order AS_THEY_STAND = Order()


cdef Order order_of(object order):
    """An order of what `Model.learn` is given."""
    if order is None:
        return AS_THEY_STAND
    return order if isinstance(order, Order) else Order(order)


cdef int check_count(str name, const double[::1] values, Py_ssize_t n) except -1:
    """Raise ValueError unless there is one number for each row; None is fine."""
    if values is not None and values.shape[0] != n:
        raise ValueError(f"{name} must have {n} elements, as X has rows, got {values.shape[0]}")
    return 0


cdef int check_targets_of(Head head, const double[::1] y, Py_ssize_t n) except -1:
    """Raise ValueError unless there are all targets of each row."""
    if y.shape[0] != n * head.n_targets:
        raise ValueError(f"y must have {head.n_targets} targets for each of the {n} rows of X, "
                         f"got {y.shape[0]} numbers")
    return 0


cdef int check_targets(Head head, Order order, const double[::1] y, const double[::1] weight,
                       Py_ssize_t n) except -1:
    """Raise ValueError unless targets, weights and order are those of n rows, for this head."""
    if head.n_targets > 1:
        check_targets_of(head, y, n)
    else:
        check_count("y", y, n)
        head.check_labels(y)
    check_count("weight", weight, n)
    order.check_rows(n)
    return 0


cdef int check_outputs(Head head, const double[:, ::1] scores, Py_ssize_t n) except -1:
    """Raise ValueError unless there is room for the scores of n rows; None is no room wanted."""
    if scores is not None and (scores.shape[0] != n or scores.shape[1] != head.n_outputs):
        raise ValueError(f"scores must have shape {(n, head.n_outputs)}, got "
                         f"{(scores.shape[0], scores.shape[1])}")
    return 0
