"""Functions for merging models: kernel values, averages, and steps without a rule.

`onlinekern.fitted.merge` combines the states of several models with them.
"""
import numpy as np

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.scaled_average cimport (
    ScaledAverage, averaging_of, begin_average, resume_average)
from onlinekern.core.base.state cimport check_width, count_of
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.kernels.window cimport Window
from onlinekern.core.learning.heads cimport Update
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.rows cimport Samples, samples_of

# Rows of a block.
cdef Py_ssize_t ROWS = 64


def average_weights(averaging, steps, skipped=0):
    """The weight of the present model in a running average, and the sum of all weights.

    Parameters
    ----------
    averaging : False, True, 'uniform', 'decay' or float in (0, 1)
    steps : int
        Models counted so far.
    skipped : int
        Number of first models that the average leaves out.
    """
    cdef ScaledAverage average
    average.skipped = count_of("skipped", skipped)
    begin_average(&average, averaging_of(averaging))
    resume_average(&average, 1, 0, count_of("steps", steps))
    return average.weight, average.weights


def kernel_values(SupportSet support not None, X):
    """Kernel values of rows with the support vectors, by slot, ndarray of shape (n, n_slots).

    Parameters
    ----------
    support : SupportSet
    X : ndarray or CSR matrix of shape (n, d), validated
    """
    cdef Samples samples = samples_of(X, support.dtype)
    check_width("X", samples.rows.d, support.store.d)
    cdef Py_ssize_t i, first = 0, width, n = samples.rows.n
    out = np.zeros((n, support.n))
    cdef double[:, ::1] view = out
    cdef Window window = support.new_window(min(max(n, 1), ROWS))
    cdef Status status = OK
    with nogil:
        while first < n and support.n > 0 and status == OK:
            width = min(ROWS, n - first)
            status = support.fill_window(window, &samples.rows, NULL, first, width)
            for i in range(width if status == OK else 0):
                support.as_doubles(window.row(i), &view[first + i, 0])
            first += width
    if status != OK:
        raise MemoryError(f"no memory for {n} x {support.n} kernel values")
    return out


def take_in(Space space not None, X, const double[:, ::1] coefficients):
    """Add rows with given coefficients one after the other, as if a rule had computed them.

    The space treats each row as a sample: its budget policy decides which support vectors stay.

    Parameters
    ----------
    space : Space
        A `KernelSpace` or `NystroemSpace`. If this raises, it may not be used any more.
    X : ndarray or CSR matrix of shape (n, d), validated
    coefficients : ndarray of shape (n, n_outputs)

    Notes
    -----
    The policy observes targets of 0, or the label 0, with each row.
    """
    form = space.sample_form()
    cdef Samples samples = samples_of(X, np.float32 if form[1] == 4 else np.float64)
    check_width("X", samples.rows.d, form[0])
    check_width("coefficients", coefficients.shape[1], space.n_outputs)
    cdef Py_ssize_t i, k, first = 0, width, n = samples.rows.n
    cdef double[:, ::1] numbers = np.zeros((5, space.n_outputs))
    cdef bint several = space.n_outputs > 1 and space.observes() \
        and space.takes_targets(space.n_outputs)
    cdef signed char[::1] flags = np.zeros(space.n_outputs, dtype=np.int8)
    cdef Update update
    cdef Status status = OK
    check_width("coefficients'", coefficients.shape[0], n)
    update.loss, update.shrink, update.uniform = 0, 1, -1
    update.updates, update.needs_lengths, update.enters = True, False, False
    update.needs_length = <char *> &flags[0]
    update.lengths, update.importances = &numbers[0, 0], &numbers[1, 0]
    update.coefficients, update.contractions = &numbers[2, 0], &numbers[3, 0]
    space.reserve_block(min(max(n, 1), ROWS))
    with nogil:
        while first < n and status == OK:
            width = min(ROWS, n - first)
            status = space.open(&samples.rows, NULL, first, width)
            # No labels: this tells the policy that its solution for the last block is outdated.
            space.foresee(NULL, NULL, 0)
            for i in range(width):
                if status != OK:
                    break
                for k in range(space.n_outputs):
                    update.coefficients[k] = coefficients[first + i, k]
                if several:
                    space.observe_targets(i, &numbers[4, 0], 1)
                else:
                    space.observe(i, 0, 1)
                status = space.update(i, &update)
            first += width
        if status == OK:
            status = space.settle()
    space.check_defined()
    if status == NO_MEMORY:
        raise MemoryError(f"no memory for {n} support vectors")
    if status != OK:
        raise FloatingPointError("the coefficients of the merged models are not finite")
