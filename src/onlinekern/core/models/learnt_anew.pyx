"""LearntAnew: refits least squares in new features to the samples that are kept.

`learn` adds the samples to the normal equations, a few at a time. The stages then compute the
inverse N and the weights w from these sums.
"""
from libc.math cimport pow, sqrt

import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport OK_PANEL, whole_panels
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow
from onlinekern.core.linalg.open_block cimport OpenBlock
from onlinekern.core.linalg.tiled_factor cimport factor_steps
from onlinekern.core.samples.rows cimport Samples, samples_of

from onlinekern.core.base.plan import UNIT, once

# Rows that one call of `learn` adds at most. More are hardly faster.
ROWS = 8
# The plan has steps for trying this many values of r. Three or four are usual; if there are more,
# the last stage tries the others at once.
USUAL_TRIED = 5
# Time of a step of the inverse, or of the choice of r, in nanoseconds, roughly.
cdef double STEP = 3e4


cdef class LearntAnew:
    """Least squares that have learnt no sample so far.

    Parameters
    ----------
    map : FeatureMap
    block : OpenBlock
        A new one, which is fitted.
    """

    def __cinit__(self, FeatureMap map not None, OpenBlock block not None):
        self.map, self.block = map, block
        self.window = map.learning_window(ROWS)
        self.rows = np.zeros((ROWS, map.length))
        self.scaled = np.zeros((ROWS, block.n_outputs))
        self.totals = np.zeros(block.n_outputs + 2)
        self.status = OK
        block.set_used(map.used())

    def learn(self, X, targets, weights):
        """Add at most `ROWS` rows to the sums; rows of weight 0 are skipped.

        With forgetting, each row multiplies the weights of all rows before it by that factor.
        """
        cdef Samples samples = samples_of(X, X.dtype)
        cdef Status status = OK
        cdef Py_ssize_t n = len(X)
        with nogil:
            if self.window.open(&samples.rows, NULL, 0, n) < 0:
                status = NO_MEMORY
        if status == OK:
            status = self.add(n, targets, weights)
        if status != OK:
            raise MemoryError(f"no memory to learn {n} samples anew")

    cdef Status add(self, Py_ssize_t n, const double[:, ::1] targets,
                    const double[::1] weights) noexcept nogil:
        cdef Py_ssize_t i, k, taken = 0, n_outputs = self.block.n_outputs
        cdef Py_ssize_t n_later = 0
        cdef double one, root, forgetting = self.block.forgetting
        for i in range(n):
            n_later += weights[i] > 0
        one = pow(forgetting, <double> n_later)
        if forgetting < 1 and n_later > 0:
            self.block.sums.decay(self.block.used, one)
            for k in range(n_outputs + 1):
                self.totals[k] *= one
        for i in range(n):
            if not weights[i] > 0:
                continue
            n_later -= 1
            one = pow(forgetting, <double> n_later)
            root = sqrt(one * weights[i])
            write_row(self.window, i, root, &self.rows[taken, 0], self.map.length)
            for k in range(n_outputs):
                self.scaled[taken, k] = root * targets[i, k]
                self.totals[k] += one * weights[i] * targets[i, k] * targets[i, k]
            self.totals[n_outputs] += one
            self.totals[n_outputs + 1] += 1
            taken += 1
        self.block.add_rows(taken, &self.rows[0, 0], &self.scaled[0, 0])
        return OK

    def stages(self):
        """Stages that compute N and w once all samples are added, for a plan (`base.plan`)."""
        cdef Py_ssize_t panels = self.panels()
        cdef Py_ssize_t steps = 3 * factor_steps(panels) + panels * (panels + 1) // 2
        choice = []
        if self.block.evidence is not None:
            choice = [*once(UNIT, self.begin_choice),
                      (self.choose, USUAL_TRIED * factor_steps(panels), STEP),
                      *once(UNIT, self.take_choice)]
        return [*choice, *once(UNIT, self.begin), (self.step, steps, STEP)]

    def begin_choice(self, _):
        """Begin to choose the regularisation r."""
        self.block.evidence.set_state(np.asarray(self.totals))
        self.block.evidence.begin()

    def choose(self, _):
        """Do one step of the choice of r."""
        if self.status == OK:
            self.status = self.block.evidence.step(self.panels())

    def take_choice(self, _):
        """Finish the choice of r, and use it."""
        if self.status == OK:
            self.status = self.block.evidence.finish(self.panels())

    cdef Py_ssize_t panels(self) noexcept nogil:
        """Number of panels of columns in the normal matrix A."""
        return max(1, whole_panels(self.block.used) // OK_PANEL)

    def begin(self, _):
        """Begin to compute N, the inverse of A."""
        if self.status == OK:
            self.status = self.block.begin_whole()

    def step(self, _):
        """Do one step of the computation of N."""
        if self.status == OK:
            self.block.fresh.step(self.block.inverse)

    def finish(self):
        """Finish N and w.

        Raises
        ------
        FloatingPointError
            If the sums are not finite.
        """
        if self.status == OK:
            self.status = self.block.take_whole()
        if self.status == NO_MEMORY:
            raise MemoryError("no memory to begin least squares anew")
        if self.status != OK:
            raise FloatingPointError("the sums of the samples that are kept are not finite")
        self.block.settle()


cdef void write_row(FeatureWindow window, Py_ssize_t i, double factor, double *out,
                    Py_ssize_t length) noexcept nogil:
    """out = factor times the features of sample i of an open window."""
    cdef Py_ssize_t j
    cdef const char *row = window.features.row(i)
    for j in range(length):
        out[j] = factor * ((<const float *> row)[j] if window.block.itemsize == 4
                           else (<const double *> row)[j])


cdef object targets_of(object y, Py_ssize_t n_labels, Py_ssize_t n_outputs):
    """Targets of all outputs, ndarray of shape (n, n_outputs); 1 and -1 for class labels."""
    if n_labels == 0:
        return y.reshape(len(y), n_outputs)
    if n_outputs == 1:
        return np.where(y > 0, 1.0, -1.0)[:, None]
    return np.where(y[:, None] == np.arange(n_outputs), 1.0, -1.0)
