"""Buffers of a step: scores and targets of a sample, and its update."""
from libc.stdlib cimport calloc

from onlinekern.core.learning.heads cimport Sample, Update


cdef double *room_for(Py_ssize_t n_outputs, Sample *sample, Update *update) except NULL:
    """Allocate two arrays of scores, one of targets, and the arrays of an update for n_outputs.

    The caller frees the result. The flags `needs_length` follow the numbers.
    """
    cdef double *scores = <double *> calloc(n_outputs, 7 * sizeof(double) + 1)
    if scores == NULL:
        raise MemoryError(f"no memory for the scores of {n_outputs} outputs")
    sample.scores = scores
    update.lengths = scores + 2 * n_outputs
    update.coefficients = scores + 3 * n_outputs
    update.contractions = scores + 4 * n_outputs
    update.importances = scores + 5 * n_outputs
    sample.standardized = scores + 6 * n_outputs
    update.needs_length = <char *> (scores + 7 * n_outputs)
    return scores
