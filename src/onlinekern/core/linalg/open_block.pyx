"""OpenBlock: recursive least squares, sample by sample, computed by matrix products over blocks.

The recursion is over rows of features phi with targets y and weights a:

    A_t = r I + sum_s a_s phi_s phi_s',   b_t = sum_s a_s phi_s y_s',   w_t = A_t^-1 b_t.

Samples are collected in blocks. Let N = A^-1 and w be those before the block, q = N phi, and
e = y - f the innovations, with the scores f = w_{t-1}' phi before each sample. Then

    G = diag(1 / a) + Q' Phi = C C'  (C lower triangular),   E = C^-1 e,
    h = C^-1 (phi' Q) of a further sample:  its score is w' phi + h' E,
    its variance phi' A_{t-1}^-1 phi is phi' q - h' h,

where row i of C needs only the samples before i. The expensive parts are matrix products, whose
sums have the same order for any number of rows: a sample gets the same bits in any window. After
the block, N <- N - (C^-1 Q)'(C^-1 Q), in the precision of the samples (`PacedInverse`). From time
to time N and w are recomputed from the sums A and b, which are in double (`RenewedInverse`).

Forgetting: A <- lambda A, b <- lambda b with each sample. When N is recomputed after k samples,
lambda^k >= 1/2, (1 - lambda^k) r I is added to A. Until then sample j has the weight lambda^-j.
"""
from libc.math cimport pow, sqrt
from libc.string cimport memcpy, memmove, memset

import numpy as np

from onlinekern.core.base.part cimport OK, Status
from onlinekern.core.base.state cimport (
    doubles_of_shape, fields_of, integer_within, not_negative, positive_number, shown,
)
from onlinekern.core.base.vector cimport OK_PANEL, ops_for, whole_panels
from onlinekern.core.linalg.block_memory cimport LANES, WAITING
from onlinekern.core.linalg.chosen_prior cimport ChosenPrior
from onlinekern.core.linalg.copies cimport packed, rows_as_doubles, widened, write_rows
from onlinekern.core.linalg.evidence cimport Evidence
from onlinekern.core.linalg.paced_inverse cimport PacedInverse

from onlinekern.core.linalg.copies import unpacked

FIELDS = ("matrix", "vectors", "base", "inverse", "products", "rows", "factor", "innovations",
          "targets", "weights", "used", "count", "waiting", "since")
# Fields that older states lack.
LATER_FIELDS = ("reg", "evidence", "coming")


cdef class OpenBlock(ChosenPrior):
    """The sums, N = A^-1, and the samples that are not in them yet.

    Parameters
    ----------
    length : int
        Numbers in a row of features, in whole panels.
    n_outputs : int
    itemsize : int
        4 or 8, of the rows.
    reg : float > 0
        r.
    forgetting : float in (0, 1]
        lambda.
    follows : bool, default=False
        Whether r is chosen along the stream, see `linalg.evidence`; `reg` is the first one.
    below : int >= 0, default=0
        See `Evidence`.
    """

    cdef double scale(self) noexcept nogil:
        """Factor lambda^-j of the weight of the next sample, instead of decaying the sums."""
        return 1 if self.forgetting == 1 else pow(self.forgetting, -<double> (self.since + 1))

    cdef void set_used(self, Py_ssize_t used) noexcept nogil:
        """Let coming rows have `used` numbers; the new features are 0 in all rows before.

        A new feature has the prior r, which is r / lambda^since in the units of the epoch.
        """
        cdef Py_ssize_t place
        cdef double prior = self.sums.reg
        self.grown = True
        # Work on A^-1 stays: A does not contain the new features yet.
        PacedInverse.forget_ahead(self)
        if self.forgetting < 1:
            prior *= pow(self.forgetting, -<double> self.since)
        for place in range(self.used, used):
            if self.forgetting < 1:
                self.sums.border(place, prior)
            self.set_diagonal(place, 1 / prior)
            memset(self.contents.products + place * LANES * self.itemsize, 0,
                   LANES * self.itemsize)
        self.used = used

    cdef int set_reg(self, double reg) except -1:
        """Set another r, before any sample."""
        cdef Py_ssize_t i
        self.sums.set_reg(reg)
        for i in range(self.length):
            self.set_diagonal(i, 1 / reg)
        return 0

    cdef void correct(self, const double *h, double *scores) noexcept nogil:
        """Add h' E, the effect of the samples of the block, to scores by w before the block."""
        cdef Py_ssize_t j, k
        cdef const double *innovations = self.contents.innovations
        for j in range(self.count):
            for k in range(self.n_outputs):
                scores[k] += h[j] * innovations[j * self.n_outputs + k]

    cdef void append(self, const char *row, double square, const double *h, double weight,
                     const double *scores, const double *steps) noexcept nogil:
        """Add a sample to the block, without its q; call `close` when the block is full.

        `square` is phi' q, `scores` are f, and `steps` are weight (y - f).
        """
        cdef Py_ssize_t k, lane = self.count
        cdef double scale = self.scale(), root
        if self.kept:
            self.keep_contents()
        root = self.extend_factor(h, square, weight * scale)
        for k in range(self.n_outputs):
            self.contents.innovations[lane * self.n_outputs + k] = steps[k] / weight / root
            self.contents.targets[lane * self.n_outputs + k] = \
                scale * (weight * scores[k] + steps[k])
        self.contents.weights[self.waiting] = weight * scale
        memcpy(self.contents.rows + self.waiting * self.length * self.itemsize, row,
               self.length * self.itemsize)
        self.count += 1
        self.waiting += 1
        self.since += 1
        self.settled = False
        self.add_squares()

    cdef void solve_multipliers(self) noexcept nogil:
        """Compute C'^-1 E, the coefficients with which the q_j of the block are added to w."""
        cdef Py_ssize_t j, k, later
        cdef double *out
        cdef const double *column
        for k in range(self.n_outputs):
            out = self.multipliers + k * LANES
            memset(out, 0, LANES * sizeof(double))
            for j in range(self.count - 1, -1, -1):
                column = self.contents.factor + j * LANES
                out[j] = self.contents.innovations[j * self.n_outputs + k]
                for later in range(j + 1, self.count):
                    out[j] -= column[later] * out[later]
                out[j] /= column[j]

    cdef void add_products(self, double *out) noexcept nogil:
        """w += Q C'^-1 E, n_outputs rows of `length` numbers."""
        cdef Py_ssize_t f, k
        cdef const char *q
        cdef const double *multipliers
        cdef double[2] sums
        self.solve_multipliers()
        for k in range(0, self.n_outputs, 2):
            multipliers = self.multipliers + k * LANES
            for f in range(self.used):
                q = self.contents.products + f * LANES * self.itemsize
                if k + 1 < self.n_outputs:
                    self.ops.dot2(q, multipliers, multipliers + LANES, LANES, sums)
                    out[(k + 1) * self.length + f] += sums[1]
                else:
                    sums[0] = self.ops.dot(q, multipliers, LANES)
                out[k * self.length + f] += sums[0]

    cdef Status close(self) noexcept nogil:
        """End the block: add its samples to the sums, N and w. Returns a status.

        If r is chosen here and does not change, N is updated by these samples only.
        """
        cdef Status status = OK
        cdef double reg = self.sums.reg
        cdef bint anew = self.since >= self.epoch_length
        cdef bint beside = self.chooses_beside()
        cdef bint chooses = not beside and self.evidence is not None \
            and self.evidence.due(self.count) > 0
        self.base.touch_all()
        self.add_products(self.base.values)
        if beside:
            status = self.take_choice()
        self.add_targets()
        if anew or chooses:
            self.add_block()
        if chooses:
            if self.forgetting < 1:
                self.give_back()
                anew = True
            self.evidence.begin()
            status = self.evidence.finish(max(1, whole_panels(self.used) // OK_PANEL))
            anew |= self.sums.reg != reg
        if status == OK and anew:
            self.keep_inverse()
            status = self.renew()
        elif status == OK:
            self.downdate()
        self.count = self.n_strips = 0
        self.coming = 0
        self.closed_used = self.used
        self.is_scaled = self.grown = False
        self.forget_ahead()
        return status

    cdef void note_targets(self) noexcept nogil:
        """Add the targets of the block to the sums of the evidence."""
        cdef Py_ssize_t j, first = self.waiting - self.count
        cdef double age = -<double> (self.since - self.count)
        for j in range(self.count):
            age -= 1
            self.evidence.add(self.contents.targets + j * self.n_outputs,
                              self.contents.weights[first + j], pow(self.forgetting, age))

    cdef void add_targets(self) noexcept nogil:
        """b += sum of a phi y' over the block."""
        cdef Py_ssize_t j, k, first = self.waiting - self.count
        self.sums.vectors.touch_all()
        if self.evidence is not None:
            self.note_targets()
        for k in range(self.n_outputs):
            for j in range(self.count):
                self.ops.add(self.contents.rows + (first + j) * self.length * self.itemsize,
                             self.contents.targets[j * self.n_outputs + k],
                             self.sums.vectors.values + k * self.length, whole_panels(self.used))

    cdef void add_squares(self) noexcept nogil:
        """A += sum of a phi phi' over the samples before the block, for some more rows of A.

        The work is spread over the first half of the block, or over the first quarter if the block
        recomputes N or chooses r. So no call pays for all of A, or for A and N.
        """
        cdef Py_ssize_t wanted, i, n = self.waiting - self.count
        cdef Py_ssize_t total = whole_panels(self.closed_used) // OK_PANEL
        if n == 0:
            return
        wanted = (4 if self.renews() or self.chooses_beside() else 2) * self.count * total \
            // self.block_length
        if not self.is_scaled:
            self.scale_rows(n, self.scaled)
            self.is_scaled = True
        while self.n_strips < min(wanted, total):
            for i in range(self.n_strips * OK_PANEL,
                           min((self.n_strips + 1) * OK_PANEL, self.closed_used)):
                self.sums.matrix.touch(i)
            self.sums.add_strip(self.n_strips, self.closed_used, n, self.scaled,
                                self.sums.matrix.values)
            self.n_strips += 1
        if self.n_strips == total:
            self.leave(n)

    cdef void add_block(self) noexcept nogil:
        """A += sum of a phi phi' over the block at once; earlier samples are in A already."""
        self.scale_rows(self.count, self.scaled)
        self.sums.add(self.used, self.count, self.scaled)
        self.waiting = 0

    cdef void scale_rows(self, Py_ssize_t n, double *out) noexcept nogil:
        """out (n x length) = the first n samples not in A, times the roots of their weights."""
        cdef Py_ssize_t f, j, row_bytes = self.length * self.itemsize
        cdef double root
        cdef const char *row
        for j in range(n):
            row = self.contents.rows + j * row_bytes
            root = sqrt(self.contents.weights[j])
            for f in range(self.used):
                out[j * self.length + f] = root * (
                    (<const float *> row)[f] if self.itemsize == 4 else (<const double *> row)[f])

    cdef void leave(self, Py_ssize_t n) noexcept nogil:
        """Remove the first n of the samples that are not in A."""
        cdef Py_ssize_t row_bytes = self.length * self.itemsize, left = self.waiting - n
        if left > 0:
            self.keep_contents()
            memmove(self.contents.rows, self.contents.rows + n * row_bytes, left * row_bytes)
            memmove(self.contents.weights, self.contents.weights + n, left * sizeof(double))
        self.waiting = left

    cdef void add_rows(self, Py_ssize_t n, double *rows, const double *targets) noexcept nogil:
        """Put n rows into the sums at once: A += Phi'Phi, b += Phi'Y. `renew` makes N and w.

        The block must be empty. Rows are `length` numbers long, in double; they and their targets
        are times the root of their weight.
        """
        cdef Py_ssize_t j, k
        self.sums.vectors.touch_all()
        for j in range(n):
            for k in range(self.n_outputs):
                ops_for(8).add(<const char *> (rows + j * self.length),
                               targets[j * self.n_outputs + k],
                               self.sums.vectors.values + k * self.length, whole_panels(self.used))
        self.sums.add(self.used, n, rows)

    cdef void settle(self) noexcept nogil:
        """Compute `current`, w after all samples so far, which readers use."""
        if self.settled:
            return
        memcpy(self.current, self.base.values, self.n_outputs * self.length * sizeof(double))
        self.add_products(self.current)
        self.settled = True

    cdef void checkpoint(self) noexcept nogil:
        self.sums.checkpoint()
        self.base.checkpoint()
        if self.evidence is not None:
            self.evidence.checkpoint()
        self.kept = self.contents_kept = False
        self.saved_used, self.saved_count = self.used, self.count
        self.saved_waiting, self.saved_since = self.waiting, self.since
        self.saved_strips, self.saved_closed_used = self.n_strips, self.closed_used
        self.saved_coming = self.coming

    cdef void rollback(self) noexcept nogil:
        self.sums.rollback()
        self.base.rollback()
        if self.evidence is not None:
            self.evidence.rollback()
        if self.kept:
            memcpy(self.inverse, self.saved_inverse, self.inverse_bytes)
        if self.contents_kept:
            memcpy(self.contents.products, self.saved_contents, self.contents_bytes)
        self.used, self.count = self.saved_used, self.saved_count
        self.waiting, self.since = self.saved_waiting, self.saved_since
        self.n_strips, self.closed_used = self.saved_strips, self.saved_closed_used
        self.coming = self.saved_coming
        self.is_scaled = False
        self.forget_ahead()
        # `downdate` multiplies whole panels: beyond `used`, which may have shrunk, R must be 0.
        memset(self.solved, 0, LANES * self.length * self.itemsize)
        self.settled = False
        self.settle()

    def weights(self):
        """w' after all samples so far, ndarray of shape (n_outputs, length)."""
        return rows_as_doubles(self.current, self.n_outputs, self.length, self.length, 8)

    cdef double[:, ::1] whole_sums(self):
        """A with all samples before the block, ndarray of shape (length, length): as it will be."""
        cdef Py_ssize_t strip, n = self.waiting - self.count
        whole = self.sums.matrix.to_array()
        cdef double[:, ::1] view = whole
        cdef double[:, ::1] rows = np.zeros((max(n, 1), self.length))
        if n > 0:
            self.scale_rows(n, &rows[0, 0])
            for strip in range(self.n_strips, whole_panels(self.closed_used) // OK_PANEL):
                self.sums.add_strip(strip, self.closed_used, n, &rows[0, 0], &view[0, 0])
        return view

    def block_rows(self):
        """Rows, targets and weights of the samples of the block, of shapes (count, ...)."""
        cdef Py_ssize_t count = self.count, k = self.n_outputs, left = self.waiting - count
        return (rows_as_doubles(self.contents.rows + left * self.length * self.itemsize, count,
                                self.length, self.used, self.itemsize),
                rows_as_doubles(self.contents.targets, count, k, k, 8),
                rows_as_doubles(self.contents.weights + left, count, 1, 1, 8))

    def equations(self):
        """A, whose upper triangle counts, and b of all samples, those of the block too."""
        rows, targets, weights = self.block_rows()
        A = np.asarray(self.whole_sums())[:self.used, :self.used]
        b = self.sums.vectors.to_array()[:, :self.used]
        return A + (weights * rows).T @ rows, b + targets.T @ rows

    def get_state(self):
        """Learnt state, as a dictionary of arrays and numbers.

        Of A and N, which are symmetric, there are panels in one axis: see `linalg.copies`. Features
        and N keep their precision.
        """
        cdef Py_ssize_t p, used = self.used, count = self.count, k = self.n_outputs
        cdef Py_ssize_t size = self.itemsize
        own = np.float32 if size == 4 else np.float64
        matrix, vectors = self.sums.get_state(used, self.whole_sums())
        rows, targets, weights = self.block_rows()
        panels = [rows_as_doubles(self.panel(p), used, OK_PANEL,
                                  min(OK_PANEL, used - p * OK_PANEL), size)
                  for p in range(whole_panels(used) // OK_PANEL)]
        inverse = np.hstack(panels).astype(own, copy=False) if used > 0 else np.zeros((0, 0))
        return {
            "matrix": packed(matrix, 1), "vectors": vectors,
            "base": rows_as_doubles(self.base.values, k, self.length, used, 8),
            "inverse": packed(inverse, OK_PANEL),
            "products": rows_as_doubles(
                self.contents.products, used, LANES, count, size).astype(own, copy=False),
            "rows": rows.astype(own, copy=False),
            "factor": rows_as_doubles(self.contents.factor, count, LANES, count, 8),
            "innovations": rows_as_doubles(self.contents.innovations, count, k, k, 8),
            "targets": targets, "weights": weights,
            "used": used, "count": count, "waiting": count, "since": self.since,
            "reg": self.sums.reg,
            "evidence": np.zeros(0) if self.evidence is None else self.evidence.get_state(),
            "coming": self.coming,
        }

    def set_state(self, state):
        """Restore the result of `get_state`, which is checked, into a new block."""
        state = {**{name: None for name in LATER_FIELDS}, **state}
        fields_of(state, "least squares", (*FIELDS, *LATER_FIELDS))
        reg = self.sums.reg if state["reg"] is None else positive_number("reg", state["reg"])
        coming = 0.0 if state["coming"] is None else not_negative("coming", state["coming"])
        cdef Py_ssize_t p, last
        cdef Py_ssize_t used = integer_within("used", state["used"], 0, self.length)
        cdef Py_ssize_t count = integer_within("count", state["count"], 0, self.block_length - 1)
        cdef Py_ssize_t waiting = integer_within(
            "waiting", state["waiting"], count, WAITING - self.block_length + count)
        cdef Py_ssize_t since = integer_within("since", state["since"], count,
                                               self.epoch_length - 1)
        shapes = {"base": (self.n_outputs, used), "products": (used, count),
                  "rows": (waiting, used), "factor": (count, count),
                  "innovations": (count, self.n_outputs), "targets": (count, self.n_outputs),
                  "weights": (waiting, 1)}
        arrays = {name: doubles_of_shape(name, widened(state[name]), shapes[name])
                  for name in shapes}
        arrays["inverse"] = unpacked("inverse", state["inverse"], used, OK_PANEL)
        for name in ("weights", "factor"):
            if not (np.diagonal(arrays[name]) > 0).all() or not (arrays["weights"] > 0).all():
                raise ValueError(f"{name} of the samples of a block must be > 0, got "
                                 f"{shown(arrays[name])}")
        self.set_reg(reg)
        self.evidence = None
        if state["evidence"] is not None and np.size(state["evidence"]) > 0:
            self.evidence = Evidence(self.sums, self.below)
            self.evidence.set_state(state["evidence"])
        self.sums.set_state(unpacked("sums of squares", state["matrix"], used, 1),
                            state["vectors"], used)
        write_rows(arrays["base"], self.base.values, self.length, 8)
        for p in range(whole_panels(used) // OK_PANEL):
            last = min(used, (p + 1) * OK_PANEL)
            write_rows(np.ascontiguousarray(arrays["inverse"][:, p * OK_PANEL:last]),
                       self.panel(p), OK_PANEL, self.itemsize)
        write_rows(arrays["products"], self.contents.products, LANES, self.itemsize)
        write_rows(arrays["rows"], self.contents.rows, self.length, self.itemsize)
        for name, values, stride in (
                ("factor", <Py_ssize_t> self.contents.factor, LANES),
                ("innovations", <Py_ssize_t> self.contents.innovations, self.n_outputs),
                ("targets", <Py_ssize_t> self.contents.targets, self.n_outputs),
                ("weights", <Py_ssize_t> self.contents.weights, 1)):
            write_rows(arrays[name], <void *> <Py_ssize_t> values, stride, 8)
        self.waiting = waiting
        self.used, self.count, self.since = used, count, since
        self.closed_used, self.coming = used, coming
        self.settled = False
        self.settle()
        self.checkpoint()
