"""Scores of rows of many kernel values, strip by strip.

A strip is a range of support vectors, chosen so that their kernel values with a sample and their
coefficients fit into the nearest cache. The products of a strip are converted to kernel values and
multiplied with the coefficients before the next strip. The partial dot products add up to the same
bits as the whole one (see vector.h).

A tile is the strips of several samples. The support vectors are loaded from memory once for several
tiles, and kernel values never leave the level-2 cache.
"""
from libc.string cimport memcpy

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.base.vector cimport OK_PANEL, OK_SUMS, whole_panels
from onlinekern.core.kernels.coefficients cimport Coefficients
from onlinekern.core.kernels.window cimport TILE_GAP, Window


cdef void score_next_row(Window window, Coefficients coefficients, double *current,
                         double *averaged) noexcept nogil:
    """Finish the next row of the window, and score it as `Coefficients.scores` does."""
    cdef Py_ssize_t i = window.finished, first = 0, n
    window.clear_sums(0, 1, coefficients.n_vectors())
    while first < window.columns:
        n = min(window.strip, window.columns - first)
        window.apply_kernel(i, 1, first, n)
        coefficients.add_scores(window.values + (i * window.ld + first) * window.itemsize, first,
                                n, window.sums)
        first += n
    window.finished += 1
    coefficients.finish_scores(window.sums, current, averaged)


cdef void add_tiles(Window window, Coefficients coefficients, Py_ssize_t i,
                    Py_ssize_t end) noexcept nogil:
    """Begin the dots of the rows from row i on: the parts of the slots before `end`."""
    cdef Py_ssize_t first = 0, row, rows, known, n, size = coefficients.n_vectors() * OK_SUMS
    cdef Py_ssize_t ld = window.tile_width + TILE_GAP
    cdef const char *g
    window.clear_sums(i, window.block.n - i, coefficients.n_vectors())
    while first < end:
        n = min(window.tile_width, end - first)
        # A tile may have to begin with a whole panel of the block.
        row = i // window.tile_rows * window.tile_rows
        while row < window.block.n:
            rows = min(window.tile_rows, window.block.n - row)
            g = window.fill_tile(row, rows, first, n)
            known = max(i - row, 0)
            coefficients.add_tile(g + known * ld * window.itemsize, ld, rows - known, first, n,
                                  window.sums + (row + known) * size)
            row += rows
        first += n


cdef Status score_rows(Window window, Coefficients coefficients, const char *norm_terms,
                       double *out) noexcept nogil:
    """Predicting scores of the open block. Returns a status."""
    cdef Py_ssize_t i, size = coefficients.n_vectors() * OK_SUMS
    cdef Py_ssize_t n_outputs = coefficients.n_outputs
    if window.open_tiles(norm_terms, coefficients.n_vectors()) < 0:
        return NO_MEMORY
    add_tiles(window, coefficients, 0, whole_panels(coefficients.n))
    for i in range(window.block.n):
        coefficients.finish_scores(window.sums + i * size, out + i * n_outputs,
                                   out + i * n_outputs)
    return OK


cdef Status open_rows(Window window, Coefficients coefficients, const char *norm_terms,
                      Py_ssize_t n, Py_ssize_t spare, bint begun) noexcept nogil:
    """Fill the window on the open block, with n support vectors. Returns a status.

    Where the rows are `begun`, it adds up their dots with the whole panels that there are, tile by
    tile, and leaves these slots out of the window. While their coefficients stay what they are,
    `score_row` goes on from there.
    """
    cdef Py_ssize_t vectors = coefficients.n_vectors()
    cdef Py_ssize_t first = n // OK_PANEL * OK_PANEL if begun else 0
    if begun:
        if window.open_tiles(norm_terms, vectors) < 0:
            return NO_MEMORY
        add_tiles(window, coefficients, 0, first)
    window.opened = coefficients.least_changed = n
    window.begun_anew = False
    if window.fill(n, norm_terms, spare, first) < 0:
        return NO_MEMORY
    return window.reserve_sums(1, vectors)


cdef bint stay_as_they_are(Window window, Coefficients coefficients) noexcept nogil:
    """Whether the coefficients of the rows of the last block were those at its opening.

    Where they change, what was begun is done again: that does not pay.
    """
    return not window.begun_anew and coefficients.least_changed >= window.opened


cdef void score_row(Window window, Coefficients coefficients, Py_ssize_t i, double *current,
                    double *averaged) noexcept nogil:
    """Scores of row i, as `Coefficients.scores` gives them; a long row strip by strip."""
    if window.first > 0:
        score_begun_row(window, coefficients, i, current, averaged)
    elif i == window.finished and window.columns > window.strip and not coefficients.listed:
        score_next_row(window, coefficients, current, averaged)
    else:
        coefficients.scores(window.row(i), current, averaged)


cdef void score_begun_row(Window window, Coefficients coefficients, Py_ssize_t i, double *current,
                          double *averaged) noexcept nogil:
    """Score row i as `Coefficients.scores` does, from its dot that was begun."""
    cdef Py_ssize_t size = coefficients.n_vectors() * OK_SUMS
    cdef double *sums = window.sums + window.block.n * size
    if coefficients.least_changed < window.first:
        add_tiles(window, coefficients, i, window.first)
        coefficients.least_changed = window.first
        window.begun_anew = True
    memcpy(sums, window.sums + i * size, size * sizeof(double))
    coefficients.add_scores(window.row(i), window.first, window.columns, sums)
    coefficients.finish_scores(sums, current, averaged)
