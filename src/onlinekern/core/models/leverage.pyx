"""LeverageSpace: similarity of a sample to those before it, computed from its leverage.

With A = r I + sum_s a_s phi_s phi_s' (see `linalg.open_block`), the variance of a sample is

    v = phi' A^-1 phi + (kappa(x, x) - phi'phi) / r,

Its leverage in a least squares fit of all samples, including itself, would be v / (1 + v): the
share of its own target in its prediction. The score is f(x) = 1 - leverage = 1 / (1 + v). It is
near 1 where many samples are, and 1 / (1 + kappa(x, x) / r) far from all of them.

The second term of v is the part of x outside the span of the features, to which no sample adds
information. It is 0 for random Fourier features.
"""
from libc.stdlib cimport free

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.state cimport check_kind, flag_of, integer_within
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.linalg.look_ahead cimport LookAhead
from onlinekern.core.models.least_squares cimport LeastSquaresSpace, new_rows
from onlinekern.core.samples.rows cimport Rows


cdef class LeverageSpace(LeastSquaresSpace):
    """A feature map, and the matrix A of its features; coefficients are the sample weights.

    Parameters
    ----------
    map : FeatureMap
    n_outputs : int
        Must be 1.
    reg : float > 0
        r.
    forgetting : float in (0, 1]
        lambda, see `linalg.open_block`.
    wide : bool, default=False
        See `LeastSquaresSpace`.
    """

    def __cinit__(self, FeatureMap map not None, Py_ssize_t n_outputs, double reg,
                  double forgetting, *, bint wide=False):
        integer_within("n_outputs", n_outputs, 1, 1)

    def __reduce__(self):
        return _restore, (self.map, self.reg, self.block.forgetting, self.is_wide(),
                          self.entered, self.block.get_state())

    cdef double share(self, LookAhead ahead, FeatureWindow window, Py_ssize_t i) noexcept nogil:
        """1 / (1 + v) of sample i of a window."""
        cdef double ignored
        ahead.score(i, &ignored)
        return 1 / (1 + ahead.variance(i) + self.map.remainder(window, i) / self.block.sums.reg)

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        self.widen_for(i)
        current[0] = averaged[0] = self.share(self.ahead, self.window, i)

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        """Add the sample to A. Returns a status."""
        cdef double no_step = 0
        if self.failure != OK:
            return self.failure
        return self.take_up(i, update.coefficients[0], &no_step)

    cdef object new_window(self, Py_ssize_t rows):
        return LeverageWindow(self, rows)

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        cdef Py_ssize_t i
        if (<LeverageWindow> window).open(rows, first, n) < 0:
            return NO_MEMORY
        for i in range(n):
            out[i] = self.share((<LeverageWindow> window).ahead,
                                (<LeverageWindow> window).features, i)
        return OK


cdef class LeverageWindow:
    """A window of samples for scoring, without learning.

    Parameters
    ----------
    space : LeverageSpace
    rows : int
        Most samples of the window.
    """

    def __cinit__(self, LeverageSpace space not None, Py_ssize_t rows):
        self.space = space
        self.features = space.map.new_window(rows)
        self.ahead = LookAhead(space.block)
        if space.widened != NULL:
            self.widened = new_rows(space.map.length)

    def __dealloc__(self):
        free(self.widened)

    cdef Status follow(self) noexcept nogil:
        """Use the present block of the space, which may have been replaced. Returns a status."""
        if self.ahead.block is self.space.block:
            return OK
        with gil:
            try:
                self.ahead = LookAhead(self.space.block)
            except MemoryError:
                return NO_MEMORY
        return OK

    cdef Status open(self, const Rows *rows, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        """Prepare n samples. Returns a status."""
        if self.features.open(rows, NULL, first, n) < 0 or self.follow() < 0:
            return NO_MEMORY
        self.ahead.open(self.space.rows_of(self.features, self.widened, 0, n), 0, n)
        return OK


def _restore(map, reg, forgetting, wide, entered, state):
    check_kind(map, "map", FeatureMap)
    cdef LeverageSpace space = LeverageSpace(map, 1, reg, forgetting, wide=flag_of("wide", wide))
    space.set_state(entered, state)
    return space
