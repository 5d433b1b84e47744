"""Lift, LiftedWeights: K hyperplanes over a lifted sample, which is 0 but in a few blocks.

Layer 2. A lifted sample is a list of terms, in block b it is gain * features; it is never made
in full. Block 0 is the shared one. Each block has a prior variance S, the metric in which a
step is the shortest: score sum_b g_b u_b.f_b, squared length sum_b g_b^2 f_b'S_b f_b, step
u_b += c g_b S_b f_b. First-order weights keep S; second-order ones keep its diagonal per output
and contract it: S_b -= beta (g_b S_b f_b)^2 (diagonal AROW).

Averaging. A step c made while the model of step i was scored is in the models i + 1, i + 2, ...:
its companion c i gives the mean of the models 1 ... t + 1 as ((t + 1) value - companion) / (t + 1).
"""
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from onlinekern.core.blocks cimport Blocks
from onlinekern.core.rows cimport Rows, dense_row, is_sparse, row_norms, sparse_row
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
        self.products = <char *> aligned_resize(NULL, 0, OK_PANEL * sizeof(double))
        self.numbers = <double *> aligned_resize(
            NULL, 0, (n_distances + (1 + most_terms * planes) * width) * sizeof(double))
        if self.terms == NULL or self.chosen == NULL or self.gains == NULL \
                or self.unused == NULL or self.products == NULL or self.numbers == NULL:
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
        free(self.products)
        free(self.numbers)

    cdef void own_features(self, Py_ssize_t t) noexcept nogil:
        """Give term t features of its own, to be written."""
        self.terms[t].features = self.planes + t * self.plane
        self.terms[t].squares = self.terms[t].features + self.width

    cdef void load(self, const Rows *rows, Py_ssize_t row) noexcept nogil:
        """Row `row` in double."""
        cdef Py_ssize_t j
        cdef double absolute
        cdef const char *dense
        cdef ok_sparse_row stored
        if is_sparse(rows):
            stored = sparse_row(rows, row)
            row_norms(stored.values, stored.count, rows.itemsize, &self.square, &absolute)
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


cdef class LiftedWeights:
    """Weights for `n_blocks` blocks of `n_features` features each.

    Parameters
    ----------
    n_blocks, n_features, n_outputs : int
    shared_prior : float >= 0
        Prior variance of block 0; that of every other block is 1.
    averaged : bool
        Score the average of the models 1 ... t + 1 as well.
    second_order : bool
        Keep a variance for every weight.
    """

    def __init__(self, Py_ssize_t n_blocks, Py_ssize_t n_features, Py_ssize_t n_outputs,
                 double shared_prior, bint averaged, bint second_order):
        cdef Py_ssize_t b, i, size
        cdef double *variances
        # The dot products want whole panels of numbers; the features beyond are 0.
        self.width = (n_features + OK_PANEL - 1) // OK_PANEL * OK_PANEL
        self.n_outputs = n_outputs
        self.shared_prior = shared_prior
        self.averaged = averaged
        self.second_order = second_order
        self.ops = ops_for(sizeof(double))
        size = n_outputs * self.width
        self.blocks = Blocks(n_blocks, (1 + averaged + second_order) * size)
        for b in range(n_blocks if second_order else 0):
            variances = self.blocks.at(b) + self.variances()
            for i in range(size):
                variances[i] = self.prior(b)

    cdef double prior(self, Py_ssize_t block) noexcept nogil:
        return self.shared_prior if block == 0 else 1

    cdef Py_ssize_t companions(self) noexcept nogil:
        """Where in a block its companions begin."""
        return self.n_outputs * self.width

    cdef Py_ssize_t variances(self) noexcept nogil:
        """Where in a block its variances begin."""
        return (1 + self.averaged) * self.n_outputs * self.width

    cdef void scores(self, const Term *terms, Py_ssize_t n, double *current,
                     double *averaged) noexcept nogil:
        """Scores of the present model, and of the one that predicts; they may share memory."""
        cdef Py_ssize_t k, t
        cdef const double *values
        cdef double sum, companion
        for k in range(self.n_outputs):
            sum = 0
            companion = 0
            for t in range(n):
                values = self.blocks.at(terms[t].block) + k * self.width
                sum += terms[t].gain * self.ops.dot(terms[t].features, values, self.width)
                if self.averaged:
                    companion += terms[t].gain * self.ops.dot(
                        terms[t].features, values + self.companions(), self.width)
            current[k] = sum
            averaged[k] = sum
            if self.averaged:
                averaged[k] = ((self.steps + 1) * sum - companion) / (self.steps + 1)

    cdef void measure(self, Term *terms, Py_ssize_t n) noexcept nogil:
        """Fill in the squares of the terms, for `lengths`; most terms share their features."""
        cdef Py_ssize_t t, i
        for t in range(n):
            if t > 0 and terms[t].features == terms[t - 1].features:
                terms[t].square = terms[t - 1].square
                continue
            terms[t].square = self.ops.dot(terms[t].features, terms[t].features, self.width)
            if self.second_order:
                for i in range(self.width):
                    terms[t].squares[i] = terms[t].features[i] * terms[t].features[i]

    cdef void lengths(self, const Term *terms, Py_ssize_t n, double *out) noexcept nogil:
        """Squared length of the lifted sample for each output where `out` is not 0 on entry."""
        cdef Py_ssize_t k, t
        cdef double gain, length
        for k in range(self.n_outputs):
            if out[k] == 0:
                continue
            out[k] = 0
            for t in range(n):
                gain = terms[t].gain * terms[t].gain
                if self.second_order:
                    length = self.ops.dot(
                        terms[t].squares,
                        self.blocks.at(terms[t].block) + self.variances() + k * self.width,
                        self.width)
                else:
                    length = self.prior(terms[t].block) * terms[t].square
                out[k] += gain * length

    cdef void update(self, const Term *terms, Py_ssize_t n, const double *coefficients,
                     double unit) noexcept nogil:
        """Count the step; with `coefficients` not NULL, take it.

        They are the n_outputs coefficients, then (second order) the n_outputs contractions of the
        rule, whose lengths were in units of `unit`.
        """
        cdef Py_ssize_t k, t
        self.steps += 1
        for k in range(self.n_outputs if coefficients != NULL else 0):
            if coefficients[k] == 0:
                continue
            for t in range(n):
                if self.second_order:
                    self.add_second(&terms[t], k, coefficients[k] / unit,
                                    coefficients[self.n_outputs + k] / unit)
                else:
                    self.add_first(&terms[t], k, coefficients[k] / unit)

    cdef void add_first(self, const Term *term, Py_ssize_t k, double coefficient) noexcept nogil:
        cdef double *values = self.blocks.touch(term.block) + k * self.width
        cdef double *companions = values + self.companions()
        cdef const double *features = term.features
        cdef double scale = coefficient * term.gain * self.prior(term.block)
        cdef double late = scale * self.steps
        cdef Py_ssize_t i
        for i in range(self.width):
            values[i] += scale * features[i]
        if self.averaged:
            for i in range(self.width):
                companions[i] += late * features[i]

    cdef void add_second(self, const Term *term, Py_ssize_t k, double coefficient,
                         double contraction) noexcept nogil:
        cdef double *values = self.blocks.touch(term.block) + k * self.width
        cdef double *companions = values + self.companions()
        cdef double *variances = values + self.variances()
        cdef const double *features = term.features
        cdef double scale = coefficient * term.gain
        cdef double late = scale * self.steps
        cdef double shrink = contraction * term.gain * term.gain
        cdef double direction, left
        cdef Py_ssize_t i
        if self.averaged:
            for i in range(self.width):
                companions[i] += late * variances[i] * features[i]
        for i in range(self.width):
            direction = variances[i] * features[i]
            values[i] += scale * direction
            # g^2 S f^2 is a part of v, so beta g^2 S^2 f^2 <= S v / (v + r) < S but for rounding.
            left = variances[i] - shrink * direction * direction
            variances[i] = left if left > 0 else 0

    cdef void checkpoint(self) noexcept nogil:
        self.saved_steps = self.steps
        self.blocks.checkpoint()

    cdef void rollback(self) noexcept nogil:
        self.steps = self.saved_steps
        self.blocks.rollback()

    def effective(self):
        """Weights of the model that predicts, ndarray of shape (n_blocks, n_outputs, width)."""
        parts = self.blocks.to_array().reshape(self.blocks.n, -1, self.n_outputs, self.width)
        if not self.averaged:
            return parts[:, 0]
        return parts[:, 0] - parts[:, 1] / (self.steps + 1)

    def spread(self):
        """Variances of second-order weights, ndarray of shape (n_blocks, n_outputs, width)."""
        if not self.second_order:
            raise ValueError("first-order weights have no variances")
        parts = self.blocks.to_array().reshape(self.blocks.n, -1, self.n_outputs, self.width)
        return parts[:, -1]

    def get_state(self):
        """All that was learnt."""
        return self.steps, self.blocks.to_array()

    def set_state(self, state):
        """Take over what `get_state` gave."""
        self.steps, blocks = state
        self.blocks.set_array(blocks)
