"""Scores of rows of many kernel values, strip by strip.

A strip is a part of the support vectors whose kernel values with a sample, and the coefficients
beside them, fit into the nearest cache. There its products become kernel values, and these are
multiplied with the coefficients, before the next strip is touched. The pieces of a dot add up to
the bits of the whole (see vector.h).
"""
from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport OK_SUMS, whole_panels
from onlinekern.core.kernels.coefficients cimport Coefficients
from onlinekern.core.kernels.window cimport Window


cdef inline void score_strip(Window window, Coefficients coefficients, Py_ssize_t i,
                             Py_ssize_t column, Py_ssize_t slot, Py_ssize_t n,
                             double *sums) noexcept nogil:
    """Add the part of n support vectors, from `slot` on, to the scores of sample i.

    Its products with them are in the columns from `column` on.
    """
    window.apply_kernel(i, 1, column, slot, n)
    coefficients.add_scores(window.values + (i * window.ld + column) * window.itemsize, slot, n,
                            sums)


cdef void score_next_row(Window window, Coefficients coefficients, double *current,
                         double *averaged) noexcept nogil:
    """Finish the next row of the window, and score it as `Coefficients.scores` does."""
    cdef Py_ssize_t first = 0, n
    window.clear_sums(1, coefficients.n_vectors())
    while first < window.columns:
        n = min(window.strip, window.columns - first)
        score_strip(window, coefficients, window.finished, first, first, n, window.sums)
        first += n
    window.finished += 1
    coefficients.finish_scores(window.sums, current, averaged)


cdef Status score_rows(Window window, Coefficients coefficients, const char *norm_terms,
                       double *out) noexcept nogil:
    """Predicting scores of the open block: a strip with all samples, then the next strip.

    So the window holds kernel values of one strip, and each support vector is read once. Returns a
    status.
    """
    cdef Py_ssize_t i, first = 0, n, size = coefficients.n_vectors() * OK_SUMS
    cdef Py_ssize_t n_outputs = coefficients.n_outputs
    if window.open_strips(norm_terms, coefficients.n_vectors()) < 0:
        return NO_MEMORY
    while first < coefficients.n:
        n = min(window.strip, whole_panels(coefficients.n) - first)
        window.fill_strip(first, n)
        for i in range(window.block.n):
            score_strip(window, coefficients, i, 0, first, n, window.sums + i * size)
        first += n
    for i in range(window.block.n):
        coefficients.finish_scores(window.sums + i * size, out + i * n_outputs,
                                   out + i * n_outputs)
    return OK
