# A vote of experts, weighted by their discounted losses. May change at minor versions.
from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from onlinekern.core.base.part cimport Component
from onlinekern.core.learning.combination cimport memory_size

# EARLY: discounted count up to which samples are early, about the first sixty. SWAMPED: a loss is
# negligible in a sum of losses that is this many times as large.
cdef enum:
    EARLY = 20
    SWAMPED = 10000000


# Buffers for an answer of the vote.
cdef struct Work:
    double *shares                # n_experts: weights by the experts' losses alone
    double *factors               # n_experts: weights in the answer of the vote
    double *weights               # n_experts: weights in the combination
    double *memory                # memory of `combine`
    double *opinions              # n_experts x n_outputs: answers of the experts
    double *combined              # n_outputs: answer of the combination


cdef class Vote(Component):
    cdef readonly Py_ssize_t n_experts, n_outputs
    cdef readonly double decay, sharpness
    cdef readonly tuple links
    cdef readonly int64_t n_mistakes
    cdef readonly double total    # weighted sum of the vote's own losses
    cdef bint relative            # whether losses are compared by their ratio, not difference
    cdef double[::1] slopes       # of the experts' links; 0: least squares
    # n_experts + 3 discounted sums of weighted losses: of each expert, of the vote, of the vote
    # lately, and of the combination.
    cdef double[::1] losses
    cdef double[::1] counts       # sums of the weights in `losses`
    cdef double[::1] met          # n_experts: sums of the weights in `errors`
    # Discounted sums of products of two experts' errors: lower triangle and diagonal.
    cdef double[:, ::1] errors
    cdef double[::1] work
    cdef double[::1] sums         # losses, counts, met and errors are views of it
    cdef double[::1] saved        # copy of `sums` at the checkpoint
    cdef int64_t saved_mistakes
    cdef double saved_total
    cdef double least, most       # range of the targets seen

    cdef Py_ssize_t work_size(self) noexcept nogil

    cdef inline Work work_of(self, double *memory) noexcept nogil:
        """Divide memory of `work_size` doubles into buffers."""
        cdef Work work
        work.shares = memory
        work.factors = work.shares + self.n_experts
        work.weights = work.factors + self.n_experts
        work.memory = work.weights + self.n_experts
        work.opinions = work.memory + memory_size(self.n_experts)
        work.combined = work.opinions + self.n_experts * self.n_outputs
        return work

    cdef bint knows_nothing(self) noexcept nogil

    cdef inline void see(self, double y) noexcept nogil:
        """Extend the range of the targets seen."""
        self.least, self.most = min(self.least, y), max(self.most, y)

    cdef double loss_of(self, Py_ssize_t k) noexcept nogil
    cdef double weigh(self, const unsigned char *voting, double *shares) noexcept nogil
    cdef void prepare(self, const unsigned char *voting, Work *work) noexcept nogil
    cdef void answer(self, const double *scores, Py_ssize_t stride, const unsigned char *voting,
                     Work *work, double *out) noexcept nogil
    cdef void give(self, double slope, const double *scores, double *own) noexcept nogil
    cdef void bound(self, double *answer) noexcept nogil
    cdef double error(self, const double *answer, Py_ssize_t c, double y) noexcept nogil
    cdef void meet(self, const unsigned char *fed, const Work *work, double y,
                   double weight, double discount) noexcept nogil
    cdef double loss(self, const double *scores, double y) noexcept nogil

    cdef inline double most_counted(self) noexcept nogil:
        """The largest of the experts' counts."""
        cdef Py_ssize_t k
        cdef double most = 0
        for k in range(self.n_experts):
            most = max(most, self.counts[k])
        return most

    cdef inline bint is_swamped(self, const double *scores, Py_ssize_t stride,
                                const unsigned char *fed, double y, double weight) noexcept nogil:
        """Whether the losses of a regression are dominated by one early outlier.

        Then the losses of more than half of the experts at this sample are negligible. The errors
        at the outlier rank experts by chance, and would determine the shares for thousands of
        samples.
        """
        cdef Py_ssize_t k, n = 0, small = 0
        cdef double least = INFINITY
        if not self.relative or self.most_counted() > EARLY * weight:
            return False
        for k in range(self.n_experts):
            if fed[k]:
                least = min(least, self.losses[k])
        for k in range(self.n_experts):
            if fed[k]:
                n += 1
                small += SWAMPED * weight * self.loss(scores + k * stride, y) < least
        return 2 * small > n

    cdef inline double discount(self, double weight) noexcept nogil:
        """Discount d at a sample of this weight: early losses are soon forgotten."""
        cdef double most = self.most_counted()
        if weight > most:
            return min(self.decay, most / weight * most / weight / 3)
        return min(self.decay, 1 - 2.0 / 3 * weight / most)

    cdef inline void note(self, Py_ssize_t k, double loss, double weight,
                          double decay) noexcept nogil:
        """Add a loss to sum k, with the weight of the sample."""
        self.losses[k] = decay * self.losses[k] + weight * loss
        self.counts[k] = decay * self.counts[k] + weight

    cdef void learn_rows(self, const double *scores, Py_ssize_t n, const double *y,
                         const double *weights, const unsigned char *voting,
                         const unsigned char *fed, double *out, bint earns) noexcept nogil
    cdef void combine_rows(self, const double *scores, Py_ssize_t n, const unsigned char *voting,
                           double *memory, double *out) noexcept nogil
    cdef int check_total(self) except -1
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
    cdef int check(self, const double[:, :, ::1] scores, Py_ssize_t n,
                   const unsigned char[::1] voting) except -1


cdef class MeanVote(Vote):
    cdef double saved_least, saved_most
