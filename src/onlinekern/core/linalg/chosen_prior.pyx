"""ChosenPrior: r of least squares, chosen along the stream (`linalg.evidence`), and N with it.

Without forgetting, later choices are made beside the samples of a block, by those before it. When
the block is full, its r is taken: the next block then makes N anew (`RenewedInverse`).
"""
from libc.math cimport pow
from libc.stdlib cimport free, malloc

from onlinekern.core.base.part cimport NO_MEMORY, OK, Status
from onlinekern.core.linalg.block_memory cimport LANES
from onlinekern.core.linalg.renewed_inverse cimport RenewedInverse
from onlinekern.core.linalg.tiled_factor cimport factor_steps

# r is searched for beside a block once its first samples are there, which A then waits for. So
# many r are tried at that pace, most often three or four; the last sample does what is left.
cdef Py_ssize_t BEGINS = LANES // 4
cdef Py_ssize_t USUAL = 5


cdef class ChosenPrior(RenewedInverse):
    """N, the samples of the block, and what is known of the next r."""

    cdef void forget_ahead(self) noexcept nogil:
        """Nothing is made ahead, nor tried."""
        RenewedInverse.forget_ahead(self)
        self.is_choosing = False
        if self.evidence is not None:
            self.evidence.end()

    cdef bint chooses_beside(self) noexcept nogil:
        """Whether r is chosen beside the samples of this block, by those before it."""
        return self.evidence is not None and self.forgetting == 1 \
            and self.evidence.is_spread(self.block_length)

    cdef void prepare(self) noexcept nogil:
        """Do what is due after so many samples of the block, where the copy for undo will be."""
        if self.chooses_beside() and self.coming == 0:
            self.choose_ahead()
        RenewedInverse.prepare(self)

    cdef void choose_ahead(self) noexcept nogil:
        """Make the part of the choice of r that the last samples pay for."""
        cdef Py_ssize_t panels = self.closed_panels()
        cdef Py_ssize_t due = USUAL * factor_steps(panels) * max(0, self.count - BEGINS) \
            // (self.block_length - BEGINS)
        cdef Py_ssize_t n_strips = self.n_strips if self.waiting > self.count else panels
        if not self.is_choosing:
            self.evidence.begin()
            self.is_choosing, self.n_tried = True, 0
        while self.n_tried < due and not self.evidence.is_whole() \
                and not self.evidence.waits(n_strips):
            if self.evidence.step(panels) != OK:
                return  # `take_choice` tells
            self.n_tried += 1

    cdef Status take_choice(self) noexcept nogil:
        """Take r as it was chosen beside the samples of a full block. Returns a status.

        If it is another one, N is made anew beside the next block, as if that ended an epoch; until
        then N answers.
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
        """The r that this block will take when it is full; 0.0 where it takes none.

        What was tried beside its samples is tried again.
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
        """Make N and w anew from the sums, in which the prior is given back. Returns a status."""
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
        """Let an epoch end: forget in the sums, and give the prior back to them."""
        cdef double factor = pow(self.forgetting, <double> self.since)
        if self.forgetting < 1:
            self.sums.decay(self.used, factor)
            if self.evidence is not None:
                self.evidence.decay(factor)
        self.since = 0
