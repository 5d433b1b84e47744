"""Recent scores: scores of samples from before they were learnt, with their labels.

Probabilities are calibrated on them (`onlinekern.estimators.calibration`). The score of a sample
that has been learnt would be too good, because the model has been fitted to it. The first 512
samples are all kept. Later every fourth sample replaces the oldest, which costs less and reaches
back 2,048 samples. The choice depends on the number of a sample in the stream only, not on batches.
"""
cimport numpy as cnp
from libc.math cimport log1p

import numpy as np

from onlinekern.core.base.state cimport (
    MOST_OUTPUTS, count_of, doubles_of_shape, integer_within,
)
from onlinekern.core.base.undo cimport JournaledMatrix

cnp.import_array()

# Largest argument of a sigmoid: the sum of two does not overflow.
cdef double MOST_CERTAIN = 1e300


cdef class RecentScores:
    """The scores of the last samples, none at first.

    Parameters
    ----------
    n_outputs : int
        Scores of a sample.
    n_labels : int
        Classes.
    """

    def __cinit__(self, Py_ssize_t n_outputs, Py_ssize_t n_labels):
        self.n_outputs = integer_within("n_outputs", n_outputs, 1, MOST_OUTPUTS)
        self.n_labels = integer_within("n_labels", n_labels, 2, MOST_OUTPUTS)
        self.ring = JournaledMatrix("recent scores", KEPT, n_outputs + 2)

    cdef Py_ssize_t held(self) noexcept nogil:
        """Number of samples kept."""
        return <Py_ssize_t> min(self.noted, <int64_t> KEPT)

    cdef void rollback(self) noexcept nogil:
        self.ring.rollback()
        self.noted = self.saved_noted

    def rows(self):
        """A row for each sample: scores, class number, weight.

        The order is that of the ring, which is the order in which the first 512 came.
        """
        return self.ring.to_array()[:self.held()]

    def replace(self, scores, labels, weights):
        """Replace the samples by others, oldest first; the last 512 are kept."""
        rows = np.column_stack([scores, labels, weights])[-KEPT:]
        self.set_rows(len(rows), np.ascontiguousarray(rows, dtype=np.float64))

    cdef int set_rows(self, object noted, object rows) except -1:
        """Restore the result of `rows`, and the number of samples ever kept."""
        noted = count_of("noted", noted)
        held = min(noted, <Py_ssize_t> KEPT)
        rows = doubles_of_shape("recent scores", rows, (held, self.n_outputs + 2))
        labels, weights = rows[:, self.n_outputs], rows[:, self.n_outputs + 1]
        if not ((labels >= 0) & (labels < self.n_labels) & (labels == np.floor(labels))).all():
            raise ValueError(f"labels of recent scores must be in 0 ... {self.n_labels - 1}")
        if not (weights > 0).all():
            raise ValueError("weights of recent scores must be > 0")
        self.ring.set_array(np.pad(rows, ((0, KEPT - held), (0, 0))))
        self.noted = self.saved_noted = noted
        return 0

    def __reduce__(self):
        return _restore, (self.n_outputs, self.n_labels, self.noted, self.rows())


def _restore(n_outputs, n_labels, noted, rows):
    cdef RecentScores recent = RecentScores(n_outputs, n_labels)
    recent.set_rows(noted, rows)
    return recent


def linked(scores, double below, double above, double offset_below, double offset_above,
           double most):
    """z = above f + offset_above of scores f > 0, below f + offset_below of others.

    Beyond +-most z is compressed: ``most + log(1 + z - most)``. It is clipped at +-1e300.

    Parameters
    ----------
    scores : ndarray of shape (n, n_outputs)

    Returns
    -------
    ndarray of shape (n, max(2, n_outputs))
        Two classes have one score: its z follows -z.
    """
    cdef cnp.ndarray given = np.ascontiguousarray(scores, dtype=np.float64)
    cdef cnp.npy_intp[2] shape
    cdef Py_ssize_t i, n = cnp.PyArray_SIZE(given)
    shape[0], shape[1] = cnp.PyArray_DIM(given, 0), cnp.PyArray_DIM(given, 1)
    cdef bint single = shape[1] == 1
    if single:
        shape[1] = 2
    cdef cnp.ndarray out = cnp.PyArray_EMPTY(2, shape, cnp.NPY_FLOAT64, 0)
    cdef const double *f = <const double *> cnp.PyArray_DATA(given)
    cdef double *found = <double *> cnp.PyArray_DATA(out)
    cdef double z
    for i in range(n):
        z = above * f[i] + offset_above if f[i] > 0 else below * f[i] + offset_below
        if z > most:
            z = most + log1p(z - most)
        elif z < -most:
            z = -most - log1p(-z - most)
        if z > MOST_CERTAIN:
            z = MOST_CERTAIN
        elif z < -MOST_CERTAIN:
            z = -MOST_CERTAIN
        if single:
            found[2 * i] = -z
            found[2 * i + 1] = z
        else:
            found[i] = z
    return out
