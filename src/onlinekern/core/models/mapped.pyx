"""MappedSpace: linear functions of explicit features, f(x) = w . z(x).

With random Fourier features this is the model of FOGD (Lu, Hoi, Wang, Zhao and Liu 2016, algorithm
2); with Nystroem features it is the second stage of NOGD (see nogd). The weights are `Coefficients`
of features: they shrink by a scale, and their running average costs a second weight vector.
"""
import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport (
    MOST_OUTPUTS, check_kind, fields_of, integer_within,
)
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow
from onlinekern.core.kernels.coefficients cimport Coefficients
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.rows cimport Rows

from onlinekern.core.kernels.coefficient_rows import FIELDS

# Rows of a block. Shorter blocks fit a faster cache, but are not faster (bench_mapped).
cdef Py_ssize_t ROWS = 64


cdef class MappedSpace(Space):
    """A feature map and the weights of its features.

    Parameters
    ----------
    map : FeatureMap
    n_outputs : int, default=1
    averaged : bool, 'uniform', 'decay' or float in (0, 1), default=False
        Whether the model predicts with an average of f_1 ... f_t, and which; see `Coefficients`.
    """

    def __cinit__(self, FeatureMap map not None, Py_ssize_t n_outputs=1, averaged=False, **_):
        self.map = map
        self.n_outputs = n_outputs
        self.weights = Coefficients(n_outputs, averaged, map.itemsize)
        if self.weights.reserve_features(map.length) < 0:
            raise MemoryError(f"no memory for {n_outputs} x {map.length} weights")
        self.window = map.learning_window(1)

    def components(self):
        return (self.map,)

    def __reduce__(self):
        return _restore, (self.map, self.n_outputs, self.weights.averaging,
                          self.weights.get_state())

    cdef tuple sample_form(self):
        return self.map.d, self.map.itemsize

    cdef Py_ssize_t size(self) noexcept nogil:
        return self.map.work()

    cdef bint stored_sparse(self) noexcept nogil:
        return self.map.stored_sparse()

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        if self.window.features.capacity < rows:
            self.window = self.map.learning_window(rows)
        return 0

    cdef Py_ssize_t look_ahead(self, Py_ssize_t wanted, Py_ssize_t left) noexcept nogil:
        return min(wanted if wanted > 0 else ROWS, left)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        return self.window.open(rows, order, first, n)

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        self.weights.scores(self.window.features.row(i), current, averaged)

    cdef void squared_lengths(self, Py_ssize_t i, Update *update) noexcept nogil:
        """||z(x_i)||^2, the same for every output."""
        cdef Py_ssize_t k
        cdef double square = self.map.square(self.window.features.row(i))
        for k in range(self.n_outputs):
            update.lengths[k] = square

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Count the step, shrink, and add the features of sample i. Returns a status."""
        if self.map.consider(self.window, i, update.updates) < 0:
            return NO_MEMORY
        if self.weights.advance(update.lead) < 0 \
                or (update.shrink != 1 and self.weights.shrink(update.shrink) < 0):
            return NO_MEMORY
        if not update.updates:
            return OK
        return self.weights.add_multiples(self.window.features.row(i), update.coefficients)

    cdef void checkpoint(self) noexcept nogil:
        self.map.checkpoint()
        self.weights.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.map.rollback()
        self.weights.rollback()

    cdef object new_window(self, Py_ssize_t rows):
        return self.map.new_window(rows)

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        cdef Py_ssize_t i
        cdef double *scores
        if (<FeatureWindow> window).open(rows, NULL, first, n) < 0:
            return NO_MEMORY
        for i in range(n):
            scores = out + i * self.n_outputs
            self.weights.scores((<FeatureWindow> window).features.row(i), scores, scores)
        return OK

    def effective(self):
        """Weights of the features of the predicting model, (n_outputs, n_features)."""
        return self.weights.effective()[:, self.map.columns()]

    def offsets(self):
        """Weights of the constant feature, ndarray of shape (n_outputs,)."""
        if self.map.constant < 0:
            return np.zeros(self.n_outputs)
        return self.weights.effective()[:, self.map.constant]

    cdef int set_weights(self, object state) except -1:
        """Take over saved weights, whose shape must be (n_outputs, map.length)."""
        shape = self.n_outputs, self.map.length
        fields_of(state, "weights of features", FIELDS)
        if np.shape(state["values"]) != shape:
            raise ValueError(f"weights of features must have shape {shape}, got "
                             f"{np.shape(state['values'])}")
        self.weights.set_state(state)
        return 0


def _restore(map, n_outputs, averaged, state):
    check_kind(map, "map", FeatureMap)
    # Compare n_outputs with the array before memory is allocated.
    fields_of(state, "weights of features", FIELDS)
    if np.shape(state["values"])[:1] != (integer_within("n_outputs", n_outputs, 1, MOST_OUTPUTS),):
        raise ValueError(f"weights of {n_outputs} outputs must have so many rows, got shape "
                         f"{np.shape(state['values'])}")
    cdef MappedSpace space = MappedSpace(map, n_outputs, averaged)
    space.set_weights(state)
    return space
