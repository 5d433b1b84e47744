"""Votes: the answer of several experts, each with the weight that its success has earned.

The loss of expert j is a discounted mean of the losses of its predictions, each made before its
sample was learnt: L_j <- d L_j + l, N_j <- d N_j + 1, e_j = (L_j + 1) / (N_j + 2) with d = 0.999.
Its share in the answer is exp(-c (sqrt(e_j) - sqrt(min e))). Whether the loss is a mistake, its
standard deviation depends on e; that of the root hardly does, so that one c serves easy streams and
hard ones.

`Vote` is for classes: an expert gives each class a share of 1, from its scores, and the answer is
the weighted mean of these shares. With a single output the answer is the difference of the shares
of class 1 and class 0. `MeanVote` is for targets: the answer is the weighted mean of the
predictions, and roots of mean squared errors are compared relative to the smallest one.
"""
from libc.math cimport INFINITY, exp, isfinite, sqrt

import numpy as np

from onlinekern.core.base.state cimport (
    MOST_OUTPUTS, count_of, doubles_of_shape, fields_of, finite_number, integer_within,
    not_negative, positive_number,
)

# Discount of what the vote itself got wrong lately.
cdef double LATELY = 0.98
# Of a class that an expert rules out: the others may still be outvoted.
cdef double LEAST_SHARE = 1e-6
# How far outside of the targets seen a prediction may be, in units of their range.
cdef double MARGIN = 0.25
cdef tuple STATE = ("losses", "counts", "n_mistakes", "total")


cdef class Vote(Component):
    """The vote of experts on classes.

    Parameters
    ----------
    links : tuple of float >= 0
        One for each expert: 0 if its scores are those of least squares, where (1 + f) / 2 is the
        share of a class; otherwise the slope a of the link 1 / (1 + exp(-a f)).
    n_outputs : int >= 1
        Scores of an expert. 1: two classes.
    decay : float in (0, 1)
        Discount of a loss with each further sample.
    sharpness : float > 0
        c.
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
        self.slopes = np.array([not_negative("a link", link) for link in links])
        self.losses, self.counts = np.zeros(m + 2), np.zeros(m + 2)
        self.work = np.zeros(m + self.n_outputs)

    cdef bint knows_nothing(self) noexcept nogil:
        """Whether no target has been seen that a prediction could be measured by."""
        return False

    cdef double loss_of(self, Py_ssize_t k) noexcept nogil:
        """e of expert k; of the vote itself for k = n_experts, and lately for n_experts + 1."""
        return (self.losses[k] + 1) / (self.counts[k] + 2)

    cdef void weigh(self, const unsigned char *voting, double *shares) noexcept nogil:
        """Compute the shares of the experts that vote; those of the others are 0."""
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

    cdef void answer(self, const double *scores, Py_ssize_t stride, const unsigned char *voting,
                     double *work, double *out) noexcept nogil:
        """The answer to a sample; `stride` numbers lie between the scores of two experts.

        There is room for n_experts + n_outputs numbers in `work`.
        """
        cdef Py_ssize_t k, c
        self.weigh(voting, work)
        for c in range(self.n_outputs):
            out[c] = 0
        for k in range(self.n_experts):
            if voting[k]:
                self.add(self.slopes[k], work[k], scores + k * stride, work + self.n_experts, out)

    cdef void add(self, double slope, double share, const double *scores, double *own,
                  double *out) noexcept nogil:
        """Add what an expert answers to `out`, times its share in the answer."""
        cdef Py_ssize_t c
        cdef double total = 0
        if self.n_outputs == 1:
            # 2 p - 1
            out[0] += share * (max(-1.0, min(1.0, scores[0])) if slope == 0
                               else 2 / (1 + exp(-slope * scores[0])) - 1)
            return
        for c in range(self.n_outputs):
            own[c] = LEAST_SHARE + (max(0.0, (1 + scores[c]) / 2) if slope == 0
                                    else 1 / (1 + exp(-slope * scores[c])))
            total += own[c]
        for c in range(self.n_outputs):
            out[c] += share * own[c] / total

    cdef double loss(self, const double *scores, double y) noexcept nogil:
        """1 for a mistake, else 0."""
        cdef Py_ssize_t c, best = 0
        if self.n_outputs == 1:
            return (scores[0] > 0) != (y > 0)
        for c in range(1, self.n_outputs):
            if scores[c] > scores[best]:
                best = c
        return best != <Py_ssize_t> y

    cdef void note(self, Py_ssize_t k, double loss, double weight, double decay) noexcept nogil:
        """Take up a loss; the weight is the sample's."""
        self.losses[k] = decay * self.losses[k] + weight * loss
        self.counts[k] = decay * self.counts[k] + weight

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
        """Answer samples one after the other, each before the experts' losses at it are known.

        Parameters
        ----------
        scores : ndarray of shape (n_experts, n_samples, n_outputs)
            Of each sample before it was learnt.
        y : ndarray of shape (n_samples,)
            Class numbers, or targets.
        weight : ndarray of shape (n_samples,), or None
            Of the samples, >= 0.
        voting, fed : ndarrays of shape (n_experts,), dtype uint8
            Who votes, and who learnt these samples.
        out : ndarray of shape (n_samples, n_outputs)
            Overwritten with the answers.
        earns : bool, default=True
            Whether the losses change the shares. They should not where the experts have learnt the
            samples before.

        Raises
        ------
        FloatingPointError
            If a loss overflows; the state before must be set again.
        """
        cdef Py_ssize_t i, k, m = self.n_experts, n = y.shape[0]
        cdef const double[::1] weights = weight
        cdef double own, loss
        cdef bint blind
        self.check(scores, n, voting)
        if out.shape[0] != n or out.shape[1] != self.n_outputs or fed.shape[0] != m or (
                weights is not None and weights.shape[0] != n):
            raise ValueError("y, weight, fed and out must fit to the scores")
        with nogil:
            for i in range(n):
                own = 1 if weights is None else weights[i]
                self.answer(&scores[0, i, 0], n * self.n_outputs, &voting[0],
                            &self.work[0], &out[i, 0])
                if own == 0:
                    continue
                blind = self.knows_nothing()
                loss = self.loss(&out[i, 0], y[i])
                self.total += own * loss
                self.n_mistakes += loss != 0 and not self.relative
                if blind or not earns:
                    continue
                self.note(m, loss, own, self.decay)
                self.note(m + 1, loss, own, LATELY)
                for k in range(m):
                    if fed[k]:
                        self.note(k, self.loss(&scores[k, i, 0], y[i]), own, self.decay)
        if not isfinite(self.total):
            raise FloatingPointError(
                "the loss of a sample is not finite: its target is too large to be squared")

    def combine(self, const double[:, :, ::1] scores, const unsigned char[::1] voting,
                double[:, ::1] out):
        """The answers to samples as the experts' weights are now; see `learn`.

        Several threads may call this at once.
        """
        cdef Py_ssize_t i, n = out.shape[0]
        cdef double[::1] work = np.empty(self.n_experts + self.n_outputs)
        self.check(scores, n, voting)
        for i in range(n):
            self.answer(&scores[0, i, 0], n * self.n_outputs, &voting[0], &work[0], &out[i, 0])

    def mean_losses(self):
        """e of the experts, of the vote, and of the vote lately, ndarray (n_experts + 2,)."""
        return np.array([self.loss_of(k) for k in range(self.n_experts + 2)])

    def weights(self, const unsigned char[::1] voting):
        """Shares of the experts in the next answer, ndarray (n_experts,)."""
        self.check(np.empty((self.n_experts, 0, self.n_outputs)), 0, voting)
        shares = np.empty(self.n_experts)
        cdef double[::1] view = shares
        self.weigh(&voting[0], &view[0])
        return shares

    def get_state(self):
        """What was learnt, as a dictionary."""
        return {"losses": np.array(self.losses), "counts": np.array(self.counts),
                "n_mistakes": self.n_mistakes, "total": self.total}

    def set_state(self, state):
        """Return to what `get_state` gave."""
        fields_of(state, "a vote", STATE)
        shape = (self.n_experts + 2,)
        losses = doubles_of_shape("losses", state["losses"], shape)
        counts = doubles_of_shape("counts", state["counts"], shape)
        if not (losses >= 0).all() or not (counts >= 0).all():
            raise ValueError("losses and counts of a vote must be >= 0")
        self.resume_counts(state["n_mistakes"], state["total"])
        self.losses, self.counts = losses.copy(), counts.copy()

    def resume_counts(self, mistakes, loss):
        """Go on from these counts: an integer >= 0, and a number."""
        self.n_mistakes, self.total = count_of("mistakes", mistakes), finite_number("loss", loss)

    def __reduce__(self):
        arguments = (self.links, self.n_outputs, self.decay, self.sharpness)
        return restore, (type(self).__name__, arguments, self.get_state())


cdef class MeanVote(Vote):
    """The vote of experts on a target; `links` are not used, and `n_outputs` is 1.

    The error of the first sample does not count. A prediction that is further outside of the
    targets seen than a quarter of their range is drawn to that bound.
    """

    def __cinit__(self, *_, **__):
        if self.n_outputs != 1:
            raise ValueError(f"n_outputs must be 1, got {self.n_outputs}")
        self.relative = True
        self.least, self.most = INFINITY, -INFINITY

    cdef bint knows_nothing(self) noexcept nogil:
        """Before the first target, which may be millions: its error would hide those to come."""
        return self.least > self.most

    cdef double loss_of(self, Py_ssize_t k) noexcept nogil:
        return self.losses[k] / self.counts[k] if self.counts[k] > 0 else 0

    cdef void add(self, double slope, double share, const double *scores, double *own,
                  double *out) noexcept nogil:
        cdef double reach = MARGIN * (self.most - self.least), prediction = scores[0]
        if self.most >= self.least:
            prediction = max(self.least - reach, min(self.most + reach, prediction))
        out[0] += share * prediction

    cdef double loss(self, const double *scores, double y) noexcept nogil:
        """The squared error."""
        self.least, self.most = min(self.least, y), max(self.most, y)
        return (scores[0] - y) ** 2

    def get_state(self):
        seen = (self.least, self.most) if self.least <= self.most else ()
        return {**Vote.get_state(self), "range": np.array(seen)}

    def set_state(self, state):
        fields_of(state, "a vote", (*STATE, "range"))
        known = doubles_of_shape("range", state["range"], (2 if len(state["range"]) else 0,))
        Vote.set_state(self, {name: state[name] for name in STATE})
        self.least, self.most = known if len(known) else (INFINITY, -INFINITY)


VOTES = {"Vote": Vote, "MeanVote": MeanVote}


def restore(name, arguments, state):
    """A vote of these arguments that goes on from a state."""
    if name not in VOTES:
        raise ValueError(f"there is no vote {name!r}")
    vote = VOTES[name](*arguments)
    vote.set_state(state)
    return vote
