"""Memory of a step: the scores of a sample, its targets, and what it does to a model."""
from libc.stdlib cimport calloc

from onlinekern.core.learning.heads cimport Sample, Update


cdef double *room_for(Py_ssize_t n_outputs, Sample *sample, Update *update) except NULL:
    """Memory for scores, twice, for as many targets, and for an update of so many outputs.

    The caller frees it. The flags lie behind the numbers.
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
