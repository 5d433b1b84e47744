"""Votes: weighted means of the predictions of several experts, with weights by their losses.

Each expert predicts a sample before it learns it, and has the loss l. The mean loss of expert j is
discounted: L_j <- d L_j + l, N_j <- d N_j + 1, e_j = (L_j + 1) / (N_j + 2). At a sample that the
expert does not learn, L_j <- d L_j and N_j <- d N_j: its losses from before it fell asleep are
forgotten as fast as those of the others. d is min(0.999, 1 - 2/3 / max N), which is 1 - 2 / (n + 1)
at sample n up to 2,000. At a sample of weight w it is 1 - 2/3 x with x = w / max N, and 1 / (3 x^2)
if x > 1: no sample removes all earlier ones. The share of expert j is proportional to
exp(-c (sqrt(e_j) - sqrt(min e))). If the loss is 1 for a mistake, the standard deviation of e
depends on e. That of its root hardly does, so one c fits easy and hard streams.

A combination of the experts (`combination`) votes as one more expert. It is better than each of
them if their errors differ.

`Vote` is for classes: an expert's scores become class shares that sum to 1, and the answer is the
weighted mean of these shares. With a single output the answer is the share of class 1 minus that of
class 0. `MeanVote` is for regression: the answer is the weighted mean of the predictions, and root
mean squared errors are compared relative to the smallest one.
"""
from libc.math cimport INFINITY, exp, isfinite, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from onlinekern.core.base.state cimport (
    MOST_OUTPUTS, count_of, doubles_of_shape, fields_of, finite_number, integer_within,
    positive_number,
)
from onlinekern.core.learning.combination cimport add_products, combine, fade, memory_size
from onlinekern.core.learning.odds cimport shares_of

# Discount of the vote's own recent losses.
cdef double LATELY = 0.98
# Predictions are clipped to the range of the targets seen, extended by this share on both sides.
cdef double MARGIN = 0.25
# Factor of the error of a single output, so that its square is the sum of those of two outputs.
cdef double SINGLE = sqrt(0.5)
cdef tuple STATE = ("losses", "counts", "n_mistakes", "total")
# Fields of the combination, which states of older versions do not have.
cdef tuple COMBINATION = ("errors", "met", "combined")


cdef class Vote(Component):
    """The vote of experts on classes.

    Parameters
    ----------
    links : tuple of float
        Converts the scores f of each expert to class shares. 0: least squares, (1 + f) / 2. A slope
        a > 0: 1 / (1 + exp(-a f)). a < 0, with several outputs: the softmax of -a f.
    n_outputs : int >= 1
        Scores of an expert. 1: two classes.
    decay : float in (0, 1)
        Largest discount d of the losses; the discount of the vote's own losses.
    sharpness : float > 0
        The constant c.
    """

    def __cinit__(self, tuple links not None, n_outputs, double decay=0.999,
                  double sharpness=60.0):
        cdef Py_ssize_t m = integer_within("the number of experts", len(links), 1, MOST_OUTPUTS)
        self.n_experts, self.links = m, links
        self.n_outputs = integer_within("n_outputs", n_outputs, 1, MOST_OUTPUTS)
        self.decay = positive_number("decay", decay)
        if decay >= 1:
            raise ValueError(f"decay must be in (0, 1), got {decay}")
        self.sharpness = positive_number("sharpness", sharpness)
        self.slopes = np.array([finite_number("a link", link) for link in links])
        if self.n_outputs == 1 and np.min(self.slopes) < 0:
            raise ValueError("a link below 0, of a softmax, needs an output for each class")
        self.sums, self.saved = np.zeros((2, 2 * (m + 3) + m + m * m))
        # Parts of `sums`.
        places = np.cumsum([m + 3, m + 3, m])
        self.losses, self.counts, self.met, errors = np.split(np.asarray(self.sums), places)
        self.errors = errors.reshape(m, m)
        self.work = np.zeros(self.work_size())

    cdef Py_ssize_t work_size(self) noexcept nogil:
        """Size of the memory for `work_of`, in doubles."""
        cdef Py_ssize_t m = self.n_experts
        return 3 * m + memory_size(m) + (m + 1) * self.n_outputs

    cdef bint knows_nothing(self) noexcept nogil:
        """Whether losses do not count yet: in regression, before the first target."""
        return False

    cdef double loss_of(self, Py_ssize_t k) noexcept nogil:
        """Mean loss e of expert k; of the vote, the vote lately and the combination for
        k = n_experts, n_experts + 1 and n_experts + 2.
        """
        return (self.losses[k] + 1) / (self.counts[k] + 2)

    cdef double weigh(self, const unsigned char *voting, double *shares) noexcept nogil:
        """Compute the shares of the voting experts, with sum 1; those of the others are 0.

        Returns the share of the combination in the same unit.
        """
        cdef Py_ssize_t k
        cdef double least = INFINITY, total = 0, unit = 1
        for k in range(self.n_experts):
            shares[k] = 0
            if voting[k]:
                shares[k] = sqrt(self.loss_of(k))
                least = min(least, shares[k])
        if self.relative:
            unit = least if least > 0 else 1
        for k in range(self.n_experts):
            if voting[k]:
                shares[k] = exp(self.sharpness * (least - shares[k]) / unit)
                total += shares[k]
        for k in range(self.n_experts):
            shares[k] /= total
        if self.counts[self.n_experts + 2] == 0:
            return 0
        return exp(self.sharpness * (least - sqrt(self.loss_of(self.n_experts + 2))) / unit) / total

    cdef void prepare(self, const unsigned char *voting, Work *work) noexcept nogil:
        """Compute `shares`, `weights` (those of the combination) and `factors` in `work`."""
        cdef Py_ssize_t k
        cdef double own = self.weigh(voting, work.shares)
        combine(&self.errors[0, 0], &self.met[0], work.shares, voting, self.n_experts, 0,
                work.memory, work.weights)
        for k in range(self.n_experts):
            work.factors[k] = (work.shares[k] + own * work.weights[k]) / (1 + own)

    cdef void answer(self, const double *scores, Py_ssize_t stride, const unsigned char *voting,
                     Work *work, double *out) noexcept nogil:
        """Write the answer to a sample to `out`; call `prepare` before.

        The scores of the experts are `stride` numbers apart. `work` gets the answers of the voting
        experts, and of the combination.
        """
        cdef Py_ssize_t k, c, K = self.n_outputs
        cdef double *own
        for c in range(K):
            out[c] = work.combined[c] = 0
        for k in range(self.n_experts):
            if voting[k]:
                own = work.opinions + k * K
                self.give(self.slopes[k], scores + k * stride, own)
                for c in range(K):
                    out[c] += work.factors[k] * own[c]
                    work.combined[c] += work.weights[k] * own[c]
        self.bound(out)
        self.bound(work.combined)

    cdef void give(self, double slope, const double *scores, double *own) noexcept nogil:
        """Convert the scores of an expert to its answer: class shares, or their difference."""
        if self.n_outputs > 1:
            shares_of(scores, self.n_outputs, slope, own)
        else:
            # 2 p - 1
            own[0] = max(-1.0, min(1.0, scores[0])) if slope == 0 \
                else 2 / (1 + exp(-slope * scores[0])) - 1

    cdef void bound(self, double *answer) noexcept nogil:
        """Clip an answer to valid values. Class shares need no bound."""

    cdef double error(self, const double *answer, Py_ssize_t c, double y) noexcept nogil:
        """Error of an answer at output c; a single output stands for two (`SINGLE`)."""
        if self.n_outputs == 1:
            return (answer[0] - (1 if y > 0 else -1)) * SINGLE
        return answer[c] - (c == <Py_ssize_t> y)

    cdef void meet(self, const unsigned char *fed, const Work *work, double y,
                   double weight, double discount) noexcept nogil:
        """Add the products of the errors of the experts that learnt a sample."""
        cdef Py_ssize_t k, c, m = self.n_experts
        fade(&self.errors[0, 0], &self.met[0], fed, m, discount, weight)
        for c in range(self.n_outputs):
            for k in range(m):
                if fed[k]:
                    work.memory[k] = self.error(work.opinions + k * self.n_outputs, c, y)
            add_products(&self.errors[0, 0], work.memory, fed, m, weight)

    cdef double loss(self, const double *scores, double y) noexcept nogil:
        """1 for a mistake, else 0."""
        cdef Py_ssize_t c, best = 0
        if self.n_outputs == 1:
            return (scores[0] > 0) != (y > 0)
        for c in range(1, self.n_outputs):
            if scores[c] > scores[best]:
                best = c
        return best != <Py_ssize_t> y

    cdef int check(self, const double[:, :, ::1] scores, Py_ssize_t n,
                   const unsigned char[::1] voting) except -1:
        """Raise ValueError unless the scores are those of n samples, and somebody votes."""
        cdef Py_ssize_t k, voters = 0
        for k in range(voting.shape[0]):
            voters += voting[k] != 0
        if scores.shape[0] != self.n_experts or scores.shape[1] != n \
                or scores.shape[2] != self.n_outputs or voting.shape[0] != self.n_experts \
                or voters == 0:
            raise ValueError(f"scores must have the shape {(self.n_experts, n, self.n_outputs)}, "
                             f"got {np.shape(scores)}, and one of {self.n_experts} experts or more "
                             "must vote")
        return 0

    def learn(self, const double[:, :, ::1] scores, const double[::1] y, weight,
              const unsigned char[::1] voting, const unsigned char[::1] fed,
              double[:, ::1] out, bint earns=True):
        """Predict samples in order, and update the losses after each prediction.

        Parameters
        ----------
        scores : ndarray of shape (n_experts, n_samples, n_outputs)
            Scores of each sample from before the expert learnt it.
        y : ndarray of shape (n_samples,)
            Class numbers, or targets.
        weight : ndarray of shape (n_samples,), or None
            Sample weights >= 0.
        voting, fed : ndarrays of shape (n_experts,), dtype uint8
            Whether each expert votes, and whether it learnt these samples.
        out : ndarray of shape (n_samples, n_outputs)
            Overwritten with the answers.
        earns : bool, default=True
            Whether the losses change the shares. Use False if the experts have learnt the samples
            before.

        Raises
        ------
        FloatingPointError
            If a loss overflows. The caller must then restore the state before the call.
        """
        cdef Py_ssize_t n = y.shape[0]
        cdef const double[::1] weights = weight
        self.check(scores, n, voting)
        if out.shape[0] != n or out.shape[1] != self.n_outputs \
                or fed.shape[0] != self.n_experts or (
                weights is not None and weights.shape[0] != n):
            raise ValueError("y, weight, fed and out must fit to the scores")
        if n == 0:
            return
        with nogil:
            self.learn_rows(&scores[0, 0, 0], n, &y[0], NULL if weights is None else &weights[0],
                            &voting[0], &fed[0], &out[0, 0], earns)
        self.check_total()

    cdef int check_total(self) except -1:
        """Raise FloatingPointError if a loss has overflowed."""
        if not isfinite(self.total):
            raise FloatingPointError(
                "the loss of a sample is not finite: its target is too large to be squared")
        return 0

    cdef void learn_rows(self, const double *scores, Py_ssize_t n, const double *y,
                         const double *weights, const unsigned char *voting,
                         const unsigned char *fed, double *out, bint earns) noexcept nogil:
        """`learn` for checked samples; the caller then calls `check_total`."""
        cdef Py_ssize_t i, k, m = self.n_experts, stride = n * self.n_outputs
        cdef double own, loss, discount
        cdef const double *given
        cdef double *answer
        cdef bint blind
        cdef Work work = self.work_of(&self.work[0])
        for i in range(n):
            own = weights[i] if weights else 1
            given, answer = scores + i * self.n_outputs, out + i * self.n_outputs
            self.prepare(voting, &work)
            self.answer(given, stride, voting, &work, answer)
            if own == 0:
                continue
            for k in range(m):
                if fed[k] and not voting[k]:
                    self.give(self.slopes[k], given + k * stride,
                              work.opinions + k * self.n_outputs)
            blind = self.knows_nothing()
            self.see(y[i])
            loss = self.loss(answer, y[i])
            self.total += own * loss
            self.n_mistakes += loss != 0 and not self.relative
            if blind or not earns:
                continue
            if self.is_swamped(given, stride, fed, y[i], own):
                memset(&self.sums[0], 0, self.sums.shape[0] * sizeof(double))
            self.note(m, loss, own, self.decay)
            self.note(m + 1, loss, own, LATELY)
            discount = self.discount(own)
            self.note(m + 2, self.loss(work.combined, y[i]), own, discount)
            for k in range(m):
                loss = self.loss(given + k * stride, y[i]) if fed[k] else 0
                self.note(k, loss, own if fed[k] else 0, discount)
            self.meet(fed, &work, y[i], own, discount)

    cdef void checkpoint(self) noexcept nogil:
        """Save the state."""
        memcpy(&self.saved[0], &self.sums[0], self.sums.shape[0] * sizeof(double))
        self.saved_mistakes, self.saved_total = self.n_mistakes, self.total

    cdef void rollback(self) noexcept nogil:
        """Restore the state of the last checkpoint."""
        memcpy(&self.sums[0], &self.saved[0], self.sums.shape[0] * sizeof(double))
        self.n_mistakes, self.total = self.saved_mistakes, self.saved_total

    def combine(self, const double[:, :, ::1] scores, const unsigned char[::1] voting,
                double[:, ::1] out):
        """Write the answers to samples with the present weights; arguments as in `learn`.

        Several threads may call this at once.
        """
        cdef Py_ssize_t n = out.shape[0]
        cdef double[::1] memory = np.empty(self.work_size())
        self.check(scores, n, voting)
        if n > 0:
            self.combine_rows(&scores[0, 0, 0], n, &voting[0], &memory[0], &out[0, 0])

    cdef void combine_rows(self, const double *scores, Py_ssize_t n, const unsigned char *voting,
                           double *memory, double *out) noexcept nogil:
        """`combine` for checked samples, with memory of `work_size` doubles."""
        cdef Py_ssize_t i
        cdef Work work = self.work_of(memory)
        self.prepare(voting, &work)
        for i in range(n):
            self.answer(scores + i * self.n_outputs, n * self.n_outputs, voting, &work,
                        out + i * self.n_outputs)

    def mean_losses(self):
        """`loss_of` experts, vote, vote lately and combination, ndarray (n_experts + 3,)."""
        return np.array([self.loss_of(k) for k in range(self.n_experts + 3)])

    def weights(self, const unsigned char[::1] voting):
        """Shares of the experts by their losses, >= 0, without the combination, (n_experts,)."""
        self.check(np.empty((self.n_experts, 0, self.n_outputs)), 0, voting)
        cdef double[::1] shares = np.empty(self.n_experts)
        self.weigh(&voting[0], &shares[0])
        return np.asarray(shares)

    def factors(self, voting):
        """Weights of the experts in the next answer, the combination included, (n_experts,).

        They sum to 1; some may be negative.
        """
        cdef const unsigned char[::1] awake = voting
        self.check(np.empty((self.n_experts, 0, self.n_outputs)), 0, awake)
        cdef double[::1] memory = np.empty(self.work_size())
        cdef Work work = self.work_of(&memory[0])
        self.prepare(&awake[0], &work)
        return np.array([work.factors[k] for k in range(self.n_experts)])

    def get_state(self):
        """State for `set_state`, as a dictionary."""
        cdef Py_ssize_t end = self.n_experts + 2
        losses, counts = np.array(self.losses), np.array(self.counts)
        return {"losses": losses[:end], "counts": counts[:end], "n_mistakes": self.n_mistakes,
                "total": self.total, "errors": np.array(self.errors), "met": np.array(self.met),
                "combined": np.array([losses[end], counts[end]])}

    def set_state(self, state):
        """Restore a result of `get_state`."""
        m = self.n_experts
        if isinstance(state, dict):
            unknown = zip(COMBINATION, (np.zeros((m, m)), np.zeros(m), np.zeros(2)))
            state = {**dict(unknown), **state}
        fields_of(state, "a vote", (*STATE, *COMBINATION))
        if np.ndim(state["met"]) == 2:  # older versions had a sum for each pair of experts
            pairs = doubles_of_shape("met", state["met"], (m, m))
            state = {**state, "met": np.diagonal(pairs)}
        errors = doubles_of_shape("errors", state["errors"], (m, m))
        lengths = {"losses": m + 2, "counts": m + 2, "met": m, "combined": 2}
        losses, counts, met, combined = others = [
            doubles_of_shape(name, state[name], (n,)) for name, n in lengths.items()]
        if not all((numbers >= 0).all() for numbers in others):
            raise ValueError("losses and counts of a vote must be >= 0")
        self.resume_counts(state["n_mistakes"], state["total"])
        np.asarray(self.losses)[:] = np.append(losses, combined[0])
        np.asarray(self.counts)[:] = np.append(counts, combined[1])
        np.asarray(self.errors)[:], np.asarray(self.met)[:] = errors, met

    def resume_counts(self, mistakes, loss):
        """Set `n_mistakes`, an integer >= 0, and `total`, a finite number."""
        self.n_mistakes, self.total = count_of("mistakes", mistakes), finite_number("loss", loss)

    def __reduce__(self):
        arguments = (self.links, self.n_outputs, self.decay, self.sharpness)
        return restore, (type(self).__name__, arguments, self.get_state())


cdef class MeanVote(Vote):
    """The vote of experts in regression; `links` are not used, and `n_outputs` is 1.

    The error of the first sample does not count. Predictions are clipped to the range of the
    targets seen, extended by a quarter of its length on both sides.
    """

    def __cinit__(self, *_, **__):
        if self.n_outputs != 1:
            raise ValueError(f"n_outputs must be 1, got {self.n_outputs}")
        self.relative = True
        self.least, self.most = INFINITY, -INFINITY

    cdef bint knows_nothing(self) noexcept nogil:
        """Whether no target was seen: an error of millions at the first would hide later ones."""
        return self.least > self.most

    cdef double loss_of(self, Py_ssize_t k) noexcept nogil:
        return self.losses[k] / self.counts[k] if self.counts[k] > 0 else 0

    cdef void give(self, double slope, const double *scores, double *own) noexcept nogil:
        own[0] = scores[0]
        self.bound(own)

    cdef void bound(self, double *answer) noexcept nogil:
        cdef double reach = MARGIN * (self.most - self.least)
        if self.most >= self.least:
            answer[0] = max(self.least - reach, min(self.most + reach, answer[0]))

    cdef double error(self, const double *answer, Py_ssize_t c, double y) noexcept nogil:
        return answer[0] - y

    cdef double loss(self, const double *scores, double y) noexcept nogil:
        """The squared error."""
        return (scores[0] - y) ** 2

    cdef void checkpoint(self) noexcept nogil:
        Vote.checkpoint(self)
        self.saved_least, self.saved_most = self.least, self.most

    cdef void rollback(self) noexcept nogil:
        Vote.rollback(self)
        self.least, self.most = self.saved_least, self.saved_most

    def get_state(self):
        seen = (self.least, self.most) if self.least <= self.most else ()
        return {**Vote.get_state(self), "range": np.array(seen)}

    def set_state(self, state):
        given = set(COMBINATION) & set(state) if isinstance(state, dict) else ()
        fields_of(state, "a vote", (*STATE, *given, "range"))
        known = doubles_of_shape("range", state["range"], (2 if len(state["range"]) else 0,))
        Vote.set_state(self, {name: state[name] for name in state if name != "range"})
        self.least, self.most = known if len(known) else (INFINITY, -INFINITY)


VOTES = {"Vote": Vote, "MeanVote": MeanVote}


def restore(name, arguments, state):
    """Make a vote of class `name`, and set its state."""
    if name not in VOTES:
        raise ValueError(f"there is no vote {name!r}")
    vote = VOTES[name](*arguments)
    vote.set_state(state)
    return vote
