"""WorstFirst: the order in which the training point that is furthest from its target comes next.

Layer 10. It reads the outputs of all points, so a space that knows only some of them will not do.
"""
from libc.math cimport INFINITY

import numpy as np

from onlinekern.core.heads cimport Head
from onlinekern.core.orders cimport Order
from onlinekern.core.outputs cimport AllOutputs


cdef class WorstFirst(Order):
    """The largest violation (for two classes the smallest y f) is learnt next, the first on ties.

    Parameters
    ----------
    space : AllOutputs
    head : Head
        Says how far scores are from a label.
    y : ndarray of shape (n,)
    weight : ndarray of shape (n,), optional
        Points of weight 0 never come.
    """

    def __init__(self, AllOutputs space, Head head, const double[::1] y,
                 const double[::1] weight=None):
        self.space = space
        self.head = head
        self.y = y
        self.weight = weight
        self.chosen = np.zeros(len(y), dtype=np.intp)
        self.scores = np.zeros(head.n_outputs)
        self.rows = &self.chosen[0]
        self.n = len(y)
        self.most = 1

    cdef void choose(self, Py_ssize_t first) noexcept nogil:
        cdef Py_ssize_t p, k
        cdef double violation, worst = -INFINITY
        for p in range(self.y.shape[0]):
            if self.weight is not None and self.weight[p] == 0:
                continue
            for k in range(self.head.n_outputs):
                self.scores[k] = self.space.output(p, k)
            violation = self.head.violation(&self.scores[0], self.y[p])
            if violation > worst:
                worst = violation
                self.chosen[first] = p
