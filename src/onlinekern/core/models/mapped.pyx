"""MappedSpace: linear functions of explicit features, f(x) = w . z(x).

With random Fourier features that is the model of FOGD; `NystroemSpace`, which begins as a
kernel expansion and goes on with the features of its own support rows, is that of NOGD (Lu, Hoi,
Wang, Zhao and Liu 2016). The weights are `Coefficients` of features: they shrink by a scale, and
their average over all steps costs a second weight vector.
"""
import numpy as np

from onlinekern.core.base.part cimport NOT_FINITE, NO_MEMORY, OK, RAISED, Status
from onlinekern.core.budgets.policy cimport Budget
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow
from onlinekern.core.features.nystroem cimport Nystroem, NystroemWindow, Spectrum
from onlinekern.core.kernels.coefficients cimport Coefficients
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.kernels.window cimport Window
from onlinekern.core.models.space cimport KernelSpace, Space
from onlinekern.core.samples.rows cimport Rows

# Shorter blocks gain nothing, though they would stay in a nearer cache (bench_mapped).
cdef Py_ssize_t ROWS = 64


cdef class MappedSpace(Space):
    """A map and the weights of its features.

    Parameters
    ----------
    map : FeatureMap
    n_outputs : int
    averaged : bool
        Whether the average of f_1 ... f_t is scored beside f_t.
    """

    def __init__(self, FeatureMap map, Py_ssize_t n_outputs, bint averaged):
        self.map = map
        self.n_outputs = n_outputs
        self.weights = Coefficients(n_outputs, averaged, map.itemsize)
        if self.weights.reserve_features(map.length) < 0:
            raise MemoryError(f"no memory for {n_outputs} x {map.length} weights")
        self.window = map.new_window(1)

    def __reduce__(self):
        return _restore, (self.map, self.n_outputs, self.weights.averaged,
                          self.weights.get_state())

    cdef Py_ssize_t size(self) noexcept nogil:
        return self.map.work()

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        if self.window.features.capacity < rows:
            self.window = self.map.new_window(rows)
        return 0

    cdef Py_ssize_t look_ahead(self, Py_ssize_t wanted, Py_ssize_t left) noexcept nogil:
        return min(wanted if wanted > 0 else ROWS, left)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        return self.window.open(rows, order, first, n)

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        self.weights.scores(self.window.features.row(i), current, averaged)

    cdef void lengths(self, Py_ssize_t i, double *out) noexcept nogil:
        """||z(x_i)||^2, the same for every output."""
        cdef Py_ssize_t k
        cdef double square = self.map.square(self.window.features.row(i))
        for k in range(self.n_outputs):
            out[k] = square

    cdef Status update(self, Py_ssize_t i, double shrink, bint updates,
                       const double *coefficients) noexcept nogil:
        """Count the step, shrink, and add the features of sample i. Returns a status."""
        self.weights.advance()
        if shrink != 1 and self.weights.shrink(shrink) < 0:
            return NO_MEMORY
        if not updates:
            return OK
        return self.weights.add_multiples(self.window.features.row(i), coefficients)

    cdef void checkpoint(self) noexcept nogil:
        self.weights.checkpoint()

    cdef void rollback(self) noexcept nogil:
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
        """Weights of the features of the model that predicts, (n_outputs, n_features)."""
        return self.weights.effective()[:, self.map.columns()]

    def offsets(self):
        """Weights of the constant feature, ndarray of shape (n_outputs,)."""
        if self.map.constant < 0:
            return np.zeros(self.n_outputs)
        return self.weights.effective()[:, self.map.constant]


def _restore(map, n_outputs, averaged, state):
    space = MappedSpace(map, n_outputs, averaged)
    space.weights.set_state(state)
    return space


cdef class NystroemScoring:
    """A window for scoring that serves before and after the move of a `NystroemSpace`."""

    def __init__(self, Window kernel_values):
        self.kernel_values = kernel_values


cdef class NystroemSpace(KernelSpace):
    """A kernel expansion until it has n_landmarks rows; then a linear function of their features.

    The move keeps the function, up to the eigenvalues of the kernel matrix that are left out, and
    the average of all functions so far. It happens as soon as the last landmark is there, in the
    middle of a block: the features of the samples still to come are made of their kernel values,
    which the window has.

    Parameters
    ----------
    support : SupportSet
    n_landmarks : int >= 1
    n_components : int >= 1
        Features at the most.
    """

    def __init__(self, SupportSet support, Py_ssize_t n_landmarks, Py_ssize_t n_components):
        super().__init__(support, Budget())
        self.n_landmarks = n_landmarks
        self.n_components = n_components

    def __reduce__(self):
        learnt = None
        if self.moved:
            learnt = (<Nystroem> self.mapped.map).projection(), self.mapped.weights.get_state()
        return _restore_nystroem, (self.support.arguments(), self.support.get_state(),
                                   self.n_landmarks, self.n_components, learnt)

    cdef Status move(self) noexcept nogil:
        """Go over to features.

        Returns a status: NOT_FINITE for a kernel matrix that is of no use, RAISED for any other
        exception, a signal's say, which is kept in `interruption`.
        """
        cdef Status status
        with gil:
            status = self.build()
        self.moved = status == OK
        return status

    cdef Status build(self) noexcept:
        """Make the mapped space; once in the life of a model. Returns what `move` does."""
        try:
            spectrum = Spectrum(self.support, self.n_components)
            self.mapped = self.new_space(spectrum.projection())
            self.carry_over(spectrum)
        except MemoryError:
            return NO_MEMORY
        except FloatingPointError:
            return NOT_FINITE
        except BaseException as error:
            self.interruption = error
            return RAISED
        return OK

    cdef MappedSpace new_space(self, projection):
        """The space of the features of this projection, with the open window of this one."""
        map = Nystroem(self.support, projection)
        space = MappedSpace(map, self.n_outputs, self.support.coefficients.averaged)
        space.window = NystroemWindow(map, self.support.window)
        return space

    cdef int carry_over(self, Spectrum spectrum) except -1:
        """Give the weights what the coefficients have learnt."""
        cdef Py_ssize_t k
        cdef Coefficients old = self.support.coefficients, fresh = self.mapped.weights
        for k in range(self.n_outputs):
            spectrum.expand(old.values + k * old.capacity, fresh.values + k * fresh.capacity)
            if old.averaged:
                spectrum.expand(old.companions + k * old.capacity,
                                fresh.companions + k * fresh.capacity)
        fresh.scale, fresh.total, fresh.steps = old.scale, old.total, old.steps
        return 0

    cdef Py_ssize_t size(self) noexcept nogil:
        return self.mapped.size() if self.moved else KernelSpace.size(self)

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        if self.moved:
            return self.mapped.reserve_block(rows)
        return KernelSpace.reserve_block(self, rows)

    cdef Py_ssize_t look_ahead(self, Py_ssize_t wanted, Py_ssize_t left) noexcept nogil:
        if self.moved:
            return self.mapped.look_ahead(wanted, left)
        return KernelSpace.look_ahead(self, wanted, left)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        if self.moved:
            return self.mapped.open(rows, order, first, n)
        return KernelSpace.open(self, rows, order, first, n)

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        if self.moved:
            self.mapped.scores(i, current, averaged)
        else:
            KernelSpace.scores(self, i, current, averaged)

    cdef void lengths(self, Py_ssize_t i, double *out) noexcept nogil:
        if self.moved:
            self.mapped.lengths(i, out)
        else:
            KernelSpace.lengths(self, i, out)

    cdef Status update(self, Py_ssize_t i, double shrink, bint updates,
                       const double *coefficients) noexcept nogil:
        cdef Status status
        if self.moved:
            return self.mapped.update(i, shrink, updates, coefficients)
        status = KernelSpace.update(self, i, shrink, updates, coefficients)
        if status == OK and self.support.n == self.n_landmarks:
            return self.move()
        return status

    cdef void checkpoint(self) noexcept nogil:
        self.saved_moved = self.moved
        if self.moved:
            self.mapped.checkpoint()
        else:
            KernelSpace.checkpoint(self)

    cdef void rollback(self) noexcept nogil:
        """Return to the state of the checkpoint, before the move if that was made since."""
        self.moved = self.saved_moved
        if self.moved:
            self.mapped.rollback()
        else:
            KernelSpace.rollback(self)

    cdef object new_window(self, Py_ssize_t rows):
        return NystroemScoring(self.support.new_window(rows))

    cdef Status fit_window(self, NystroemScoring window) noexcept nogil:
        """Let a window made at any time score features of the present map. Returns a status."""
        if window.features is not None and window.features.map is self.mapped.map:
            return OK
        with gil:
            try:
                window.features = NystroemWindow(<Nystroem> self.mapped.map, window.kernel_values)
            except MemoryError:
                return NO_MEMORY
        return OK

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        if not self.moved:
            return KernelSpace.score(self, (<NystroemScoring> window).kernel_values, rows, first,
                                     n, out)
        if self.fit_window(<NystroemScoring> window) < 0:
            return NO_MEMORY
        return self.mapped.score((<NystroemScoring> window).features, rows, first, n, out)

    def effective(self):
        """Coefficients of the support rows of the model that predicts, (n_outputs, n_rows)."""
        if not self.moved:
            return self.support.effective()
        return self.mapped.effective() @ (<Nystroem> self.mapped.map).projection()


def _restore_nystroem(arguments, state, n_landmarks, n_components, learnt):
    cdef NystroemSpace space
    support = SupportSet(*arguments)
    support.set_state(state)
    space = NystroemSpace(support, n_landmarks, n_components)
    if learnt is not None:
        projection, weights = learnt
        space.mapped = space.new_space(projection)
        space.mapped.weights.set_state(weights)
        space.moved = True
    return space
