"""Lift: scratch memory for one sample of a local model and its terms in the lifted space.

Layer 2. Whoever scores has a Lift of his own, so that several threads can score at once.
"""
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from onlinekern.core.rows cimport Rows, dense_row, is_sparse, sparse_row
from onlinekern.core.vector cimport OK_PANEL, aligned_resize, ok_sparse_row, ops_for


cdef class Lift:
    """Scratch memory for one sample in the lifted space.

    Parameters
    ----------
    n_outputs, most_terms, n_distances : int
    width : int
        Numbers of a block's features.
    second_order : bool
        Whether their squares are wanted too.
    """

    def __init__(self, Py_ssize_t n_outputs, Py_ssize_t most_terms, Py_ssize_t n_distances,
                 Py_ssize_t width, bint second_order):
        cdef Py_ssize_t planes = 1 + second_order
        self.terms = <Term *> calloc(most_terms, sizeof(Term))
        self.chosen = <Py_ssize_t *> calloc(most_terms, sizeof(Py_ssize_t))
        self.gains = <double *> calloc(most_terms, sizeof(double))
        self.unused = <double *> calloc(n_outputs, sizeof(double))
        self.places = <int32_t *> calloc(width, sizeof(int32_t))
        self.products = <char *> aligned_resize(NULL, 0, OK_PANEL * sizeof(double))
        self.numbers = <double *> aligned_resize(
            NULL, 0, (n_distances + (1 + most_terms * planes) * width) * sizeof(double))
        if self.terms == NULL or self.chosen == NULL or self.gains == NULL \
                or self.unused == NULL or self.products == NULL or self.numbers == NULL \
                or self.places == NULL:
            raise MemoryError(f"no memory for {most_terms} blocks of a sample")
        self.distances = self.numbers
        self.sample = self.distances + n_distances
        self.planes = self.sample + width
        self.plane = planes * width
        self.width = width

    def __dealloc__(self):
        free(self.terms)
        free(self.chosen)
        free(self.gains)
        free(self.unused)
        free(self.places)
        free(self.products)
        free(self.numbers)

    cdef void own_features(self, Py_ssize_t t) noexcept nogil:
        """Give term t features of its own, to be written."""
        self.terms[t].features = self.planes + t * self.plane
        self.terms[t].squares = self.terms[t].features + self.width
        self.terms[t].places = NULL
        self.terms[t].count = self.width

    cdef void load(self, const Rows *rows, Py_ssize_t row) noexcept nogil:
        """Row `row` in double."""
        cdef Py_ssize_t j
        cdef double absolute
        cdef const char *dense
        cdef ok_sparse_row stored
        if is_sparse(rows):
            stored = sparse_row(rows, row)
            ops_for(rows.itemsize).norms(stored.values, stored.count, &self.square, &absolute)
            memset(self.sample, 0, rows.d * sizeof(double))
            for j in range(stored.count):
                self.sample[stored.columns[j]] = (<const float *> stored.values)[j] \
                    if rows.itemsize == 4 else (<const double *> stored.values)[j]
            return
        dense = dense_row(rows, row)
        if rows.itemsize == 4:
            for j in range(rows.d):
                self.sample[j] = (<const float *> dense)[j]
        else:
            for j in range(rows.d):
                self.sample[j] = (<const double *> dense)[j]

    cdef void load_stored(self, const Rows *rows, Py_ssize_t row) noexcept nogil:
        """The stored elements of sparse row `row` into the features of term 0; ||x||^2."""
        cdef Py_ssize_t j
        cdef double *features = self.planes
        cdef ok_sparse_row stored = sparse_row(rows, row)
        self.own_features(0)
        self.terms[0].places = self.places
        self.terms[0].count = stored.count
        self.square = 0
        for j in range(stored.count):
            self.places[j] = stored.columns[j]
            features[j] = (<const float *> stored.values)[j] if rows.itemsize == 4 \
                else (<const double *> stored.values)[j]
            self.square += features[j] * features[j]
