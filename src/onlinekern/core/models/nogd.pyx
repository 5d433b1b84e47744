"""The model of NOGD (Lu, Hoi, Wang, Zhao and Liu 2016, algorithm 3).

It has two stages. The first is a kernel expansion (`KernelSpace`). As soon as it has n_landmarks
support vectors, they become the landmarks of Nystroem features. The second stage is a linear
function of these features (`MappedSpace`). `NystroemSpace` delegates to its present stage.
"""
from libc.limits cimport INT_MAX

from onlinekern.core.base.part cimport NOT_FINITE, NO_MEMORY, OK, RAISED, Status
from onlinekern.core.base.state cimport integer_within, items_of
from onlinekern.core.budgets.policy cimport Budget
from onlinekern.core.features.nystroem cimport Nystroem, NystroemWindow, Spectrum
from onlinekern.core.kernels.coefficients cimport Coefficients
from onlinekern.core.kernels.support_set cimport SupportSet, restored_set
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.mapped cimport MappedSpace
from onlinekern.core.models.space cimport KernelSpace, Space
from onlinekern.core.samples.rows cimport Rows

cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX


cdef class StageWindow:
    """A window for scoring that follows a `NystroemSpace` from stage to stage.

    Parameters
    ----------
    rows : int
    """

    def __init__(self, Py_ssize_t rows):
        self.rows = rows


cdef class NystroemSpace(Space):
    """A kernel expansion up to n_landmarks support vectors, then a function of Nystroem features.

    The change of stage preserves the function and the average of all functions so far, except for
    eigenvalues of the kernel matrix that are left out. It happens right after the last landmark is
    added, in the middle of a block. The features of the later samples of the block are computed
    from their kernel values, which are in the window of the first stage.

    Parameters
    ----------
    support : SupportSet
    n_landmarks : int >= 1
    n_components : int >= 1
        Upper bound on the number of features.
    """

    def __cinit__(self, SupportSet support not None, Py_ssize_t n_landmarks,
                  Py_ssize_t n_components):
        self.support = support
        # LAPACK counts in 32 bits.
        self.n_landmarks = integer_within("n_landmarks", n_landmarks, 1, INT_MAX)
        self.n_components = integer_within("n_components", n_components, 1, PY_SSIZE_T_MAX)
        self.expansion = KernelSpace(support, Budget())
        # The second stage computes features from the kernel values in this window.
        support.most_unasked = 0
        self.n_outputs = self.expansion.n_outputs
        self.stage = self.saved_stage = self.expansion

    def __reduce__(self):
        learnt = None
        if self.moved:
            mapped = <MappedSpace> self.stage
            learnt = (<Nystroem> mapped.map).projection(), mapped.weights.get_state()
        return _restore, (self.support.arguments(), self.support.get_state(), self.n_landmarks,
                          self.n_components, learnt)

    @property
    def moved(self):
        """Whether the model is in its second stage."""
        return self.stage is not self.expansion

    cdef Status enter_second_stage(self) noexcept nogil:
        """Change to the second stage; this happens once in the life of a model.

        Returns a status: NOT_FINITE if a kernel value is not finite or LAPACK does not converge,
        RAISED for any other exception (from a signal handler), which is stored in `interruption`.
        """
        with gil:
            return self.build_second_stage()

    cdef Status build_second_stage(self) noexcept:
        """`enter_second_stage` with the GIL."""
        try:
            spectrum = Spectrum(self.support, self.n_components)
            mapped = self.new_mapped(spectrum.projection())
            self.carry_over(spectrum, mapped)
        except MemoryError:
            return NO_MEMORY
        except FloatingPointError:
            return NOT_FINITE
        except BaseException as error:
            self.interruption = error
            return RAISED
        self.stage = mapped
        return OK

    cdef MappedSpace new_mapped(self, projection):
        """Make the second stage from a projection; it uses the window of the first stage."""
        map = Nystroem(self.support, projection)
        mapped = MappedSpace(map, self.n_outputs, self.support.coefficients.averaging)
        mapped.window = NystroemWindow(map, self.support.window)
        return mapped

    cdef int carry_over(self, Spectrum spectrum, MappedSpace mapped) except -1:
        """Compute the weights of the second stage from the coefficients of the first."""
        cdef Py_ssize_t k
        cdef Coefficients old = self.support.coefficients, fresh = mapped.weights
        if old.write_out() < 0:
            raise MemoryError(f"no memory for coefficients of {self.n_outputs} outputs")
        for k in range(self.n_outputs):
            spectrum.expand(old.values + k * old.capacity, fresh.values + k * fresh.capacity)
            if old.averaged:
                spectrum.expand(old.companions + k * old.capacity,
                                fresh.companions + k * fresh.capacity)
        fresh.average = old.average
        return 0

    cdef Status update(self, Py_ssize_t i, const Update *update) noexcept nogil:
        cdef Status status = self.stage.update(i, update)
        if status == OK and self.stage is self.expansion and self.support.n == self.n_landmarks:
            return self.enter_second_stage()
        return status

    def components(self):
        return (self.stage,)

    cdef tuple sample_form(self):
        return self.expansion.sample_form()

    cdef Py_ssize_t size(self) noexcept nogil:
        return self.stage.size()

    cdef bint stored_sparse(self) noexcept nogil:
        return self.expansion.stored_sparse()

    cdef int reserve_block(self, Py_ssize_t rows) except -1:
        return self.stage.reserve_block(rows)

    cdef Py_ssize_t look_ahead(self, Py_ssize_t wanted, Py_ssize_t left) noexcept nogil:
        return self.stage.look_ahead(wanted, left)

    cdef Status open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                     Py_ssize_t n) noexcept nogil:
        return self.stage.open(rows, order, first, n)

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        self.stage.scores(i, current, averaged)

    cdef void squared_lengths(self, Py_ssize_t i, Update *update) noexcept nogil:
        self.stage.squared_lengths(i, update)

    cdef void checkpoint(self) noexcept nogil:
        if self.saved_stage is not self.stage:
            with gil:
                self.saved_stage = self.stage
        self.stage.checkpoint()

    cdef void rollback(self) noexcept nogil:
        """Return to the state of the checkpoint, and to its stage."""
        if self.stage is not self.saved_stage:
            with gil:
                self.stage = self.saved_stage
        self.stage.rollback()

    cdef object new_window(self, Py_ssize_t rows):
        return StageWindow(rows)

    cdef Status fit_window(self, StageWindow window) noexcept nogil:
        """Replace the window if it belongs to the other stage. Returns a status."""
        if window.stage is self.stage:
            return OK
        with gil:
            try:
                window.window = self.stage.new_window(window.rows)
            except MemoryError:
                return NO_MEMORY
            window.stage = self.stage
        return OK

    cdef Status score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                      double *out) noexcept nogil:
        if self.fit_window(<StageWindow> window) < 0:
            return NO_MEMORY
        return self.stage.score((<StageWindow> window).window, rows, first, n, out)

    def effective(self):
        """Coefficients of the support vectors of the predicting model, (n_outputs, n_SV)."""
        if not self.moved:
            return self.support.effective()
        mapped = <MappedSpace> self.stage
        return mapped.effective() @ (<Nystroem> mapped.map).projection()


def _restore(arguments, state, n_landmarks, n_components, learnt):
    cdef NystroemSpace space
    cdef MappedSpace mapped
    support = restored_set(arguments, state)
    space = NystroemSpace(support, n_landmarks, n_components)
    expected = support.n < n_landmarks if learnt is None else support.n == n_landmarks
    if not expected or support.slots.n_free > 0:
        raise ValueError(
            f"a model of {n_landmarks} landmarks in its {'first' if learnt is None else 'second'} "
            f"stage cannot have {support.n} support vectors, {support.slots.n_free} slots of them "
            "free")
    if learnt is not None:
        projection, weights = items_of(learnt, "the second stage", 2)
        mapped = space.new_mapped(projection)
        mapped.set_weights(weights)
        space.stage = space.saved_stage = mapped
    return space
