"""ChosenPrior: the prior precision r of least squares, chosen along the stream (`linalg.evidence`).

Without forgetting, the work of later choices is spread over the samples of a block; it uses the
samples before the block. When the block is full, r is set, and the next block recomputes N for it
(`RenewedInverse`).
"""
from libc.math cimport pow
from libc.stdlib cimport free, malloc

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.linalg.block_memory cimport LANES
from onlinekern.core.linalg.renewed_inverse cimport RenewedInverse
from onlinekern.core.linalg.tiled_factor cimport factor_steps

# The search begins after BEGINS samples of a block, during which A is completed. The work of trying
# USUAL values of r is spread over the rest; three or four are usual. The last sample does the rest.
cdef Py_ssize_t BEGINS = LANES // 4
cdef Py_ssize_t USUAL = 5


cdef class ChosenPrior(RenewedInverse):
    """N, the samples of the block, and the search for the next r."""

    cdef void forget_ahead(self) noexcept nogil:
        """Discard all work done ahead, and the search."""
        RenewedInverse.forget_ahead(self)
        self.is_choosing = False
        if self.evidence is not None:
            self.evidence.end()

    cdef bint chooses_beside(self) noexcept nogil:
        """Whether a choice of r is spread over the samples of this block."""
        return self.evidence is not None and self.forgetting == 1 \
            and self.evidence.is_spread(self.block_length)

    cdef void prepare(self) noexcept nogil:
        """Do the work that belongs to the samples so far; N ahead in the memory of the undo copy.
        """
        if self.chooses_beside() and self.coming == 0:
            self.choose_ahead()
        RenewedInverse.prepare(self)

    cdef void choose_ahead(self) noexcept nogil:
        """Do the steps of the search that belong to the samples so far."""
        cdef Py_ssize_t panels = self.closed_panels()
        cdef Py_ssize_t wanted = USUAL * factor_steps(panels) * max(0, self.count - BEGINS) \
            // (self.block_length - BEGINS)
        cdef Py_ssize_t n_strips = self.n_strips if self.waiting > self.count else panels
        if not self.is_choosing:
            self.evidence.begin()
            self.is_choosing, self.n_tried = True, 0
        while self.n_tried < wanted and not self.evidence.is_whole() \
                and not self.evidence.waits(n_strips):
            if self.evidence.step(panels) != OK:
                return  # `take_choice` returns the status
            self.n_tried += 1

    cdef Status take_choice(self) noexcept nogil:
        """Finish the choice of r when the block is full, and set r. Returns a status.

        If r changes, the next block recomputes N, as if it ended an epoch. Until then the old N is
        used.
        """
        cdef double reg = self.sums.reg
        cdef Status status = OK
        if self.coming > 0:
            self.sums.set_reg(self.coming)
        else:
            if not self.is_choosing:
                self.evidence.begin()
            status = self.evidence.finish(self.closed_panels())
        if self.sums.reg != reg:
            self.since = self.epoch_length - self.block_length
        return status

    def coming_reg(self):
        """The r that will be set when this block is full, computed now; 0.0 if there is no choice.

        The search in progress is discarded, and begins again with the next sample.
        """
        cdef Status status = OK
        if not self.chooses_beside():
            return 0.0
        if self.coming > 0:
            return self.coming
        self.evidence.begin()
        while status == OK and not self.evidence.is_whole():
            status = self.evidence.step(self.closed_panels())
        found = self.evidence.found() if status == OK else 0.0
        self.evidence.end()
        self.is_choosing = False
        return found

    cdef Status renew(self) noexcept nogil:
        """Compute N and w from the sums, after an epoch has ended there. Returns a status."""
        cdef Status status
        cdef double *upper = <double *> malloc(self.used * self.used * sizeof(double))
        if upper == NULL:
            return NO_MEMORY
        self.give_back()
        status = self.sums.invert(self.used, upper, self.base.values)
        if status == OK:
            self.write_inverse(upper)
        free(upper)
        return status

    cdef void give_back(self) noexcept nogil:
        """End an epoch: apply the forgetting of its samples to the sums, and restore the prior."""
        cdef double factor = pow(self.forgetting, <double> self.since)
        if self.forgetting < 1:
            self.sums.decay(self.used, factor)
            if self.evidence is not None:
                self.evidence.decay(factor)
        self.since = 0
