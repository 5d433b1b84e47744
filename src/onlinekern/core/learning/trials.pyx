"""Trials: when a new model begins beside the one that predicts, and which of both predicts.

A test watches the losses of the predictions (`rank_bets`). When it raises an alarm, a rival begins.
For `LENGTH` samples both learn. Meanwhile the model predicts whose discounted sum of losses (0.99)
since the alarm is smaller. At the end the model stays whose sum with a longer memory (0.998) is
smaller. So a false alarm, or a change that passes soon, loses nothing that was learnt. An alarm
during a trial begins the next trial when this one ends.

Errors may not be exchangeable, for example after outliers. Alarms would then follow one another. So
after the second trial in a row that brought little, no trial begins for 1,000 samples, after the
next one for 2,000, then 4,000, ...

A sample with a weight is tested with probability weight / (largest weight lately). With balanced
class weights, the plain error rate may rise along the stream while the weighted one falls. The
error e of a regression is mapped to q / (q + 1), with q = sqrt(e / s) and s the geometric mean of
the first hundred errors that are not 0. This keeps the ranks of e and bounds the losses, and the
levels of the test still separate errors a thousand times smaller or larger than the first ones.
"""
import numpy as np

from libc.math cimport exp, log
from libc.stdint cimport uint8_t

from onlinekern.core.base.state cimport (
    check_kind, count_of, finite_number, flag_of, integer_within, items_of, not_negative)

from onlinekern.core.learning.rank_bets cimport uniform

# Lower bound on the mean number of samples between two false alarms.
cdef double RUN_LENGTH = 100_000
# Seed of the random ranks of equal losses; SEED + 1 draws which samples are tested. If nearly all
# losses are equal, as those of a model that seldom errs, these draws alone decide when a false
# alarm comes, at the same sample in every stream. With this seed none comes in a million samples.
cdef int64_t SEED = 2625
# The longest pause between two trials, in samples.
cdef int64_t MOST_PAUSE = 1 << 40
# Samples of a trial.
cdef int64_t LENGTH = 1000
# Discounts of past losses: about the last 100 samples decide who predicts, 500 who stays.
cdef double LATELY = 0.99
cdef double LONGER = 0.998
# Number of errors that the scale s is computed from.
cdef int64_t SCALED = 100
# Decay of the largest weight lately, per sample.
cdef double LASTING = 0.999
# A trial has brought little if the new model has more than this share of the losses of the old one.
cdef double LITTLE = 0.9
# Losses are clipped here, so that their sums do not overflow.
cdef double MOST = 1e300


cdef bint is_seen(int64_t number, double weight, double *largest) noexcept nogil:
    """Whether a sample with this number and weight is tested; updates the largest weight lately."""
    largest[0] = max(weight, LASTING * largest[0])
    return uniform(SEED + 1, number) * largest[0] <= weight


cdef bint errs_more(Trial *now, double own, double rival) noexcept nogil:
    """Add the losses of the predicting model and of its rival. Whether the first sum is larger."""
    own, rival = min(own, MOST), min(rival, MOST)
    now.own_sum = LATELY * now.own_sum + own
    now.rival_sum = LATELY * now.rival_sum + rival
    now.own_longer = LONGER * now.own_longer + own
    now.rival_longer = LONGER * now.rival_longer + rival
    return now.rival_sum < now.own_sum


cdef void exchange(Trial *now) noexcept nogil:
    """Exchange the roles: the rival predicts from now on."""
    now.is_new = not now.is_new
    now.own_sum, now.rival_sum = now.rival_sum, now.own_sum
    now.own_longer, now.rival_longer = now.rival_longer, now.own_longer


cdef int64_t pause_behind(int64_t pause, bint new_stays, double stays,
                          double leaves) noexcept nogil:
    """The next pause, from the losses of the model that stays and of the one that leaves.

    Values below `LENGTH` are no pause yet.
    """
    if new_stays and stays < LITTLE * leaves:
        return 0
    return min(2 * pause, MOST_PAUSE) if pause > 0 else LENGTH // 2


def alarms_of(model):
    """Numbers of the samples after which a rival began, ndarray of int64.

    Empty for a model without trials, such as one of an older file.
    """
    trials = getattr(model, "trials", None)
    return np.array(() if trials is None else trials.alarms, dtype=np.int64)


def seen_of(const double[::1] weights, int64_t offered, double largest):
    """Which samples are tested, for trials in Python.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        All > 0.
    offered : int >= 0
        Number of samples before.
    largest : float >= 0
        The largest weight lately.

    Returns
    -------
    seen : ndarray of shape (n,), dtype bool
    largest : float
    """
    seen = np.empty(weights.shape[0], dtype=bool)
    cdef uint8_t[::1] own = seen.view(np.uint8)
    cdef Py_ssize_t i
    for i in range(weights.shape[0]):
        own[i] = is_seen(offered + i + 1, weights[i], &largest)
    return seen, largest


def answering(const double[::1] own, const double[::1] rival, counts, sums):
    """Which of two models predicts each sample, for trials in Python.

    Parameters
    ----------
    own, rival : ndarray of shape (n,)
        Losses of the model that predicts at first, and of the other one.
    counts : ndarray of shape (n,), dtype bool
        Samples whose losses count.
    sums : tuple
        Discounted losses of both, whether the first model is the new one, and the discounted losses
        with a longer memory.

    Returns
    -------
    others : ndarray of shape (n + 1,), dtype bool
        Whether the other model predicts each sample, and the sample after them.
    sums : tuple
        As the parameter, with the model first that predicts after them.
    """
    cdef Trial now
    cdef Py_ssize_t i, n = own.shape[0]
    cdef const uint8_t[::1] counted = counts.view(np.uint8)
    now.own_sum, now.rival_sum, now.is_new, now.own_longer, now.rival_longer = sums
    others = np.zeros(n + 1, dtype=bool)
    cdef uint8_t[::1] other = others.view(np.uint8)
    for i in range(n):
        other[i + 1] = other[i]
        if counted[i] and errs_more(&now, rival[i] if other[i] else own[i],
                                    own[i] if other[i] else rival[i]):
            other[i + 1] = not other[i]
            exchange(&now)
    return others, (now.own_sum, now.rival_sum, bool(now.is_new), now.own_longer, now.rival_longer)


def next_pause(pause, new_stays, stays, leaves):
    """Pause after a trial in samples, for trials in Python.

    Parameters
    ----------
    pause : int >= 0
        The result after the previous trial.
    new_stays : bool
        Whether the new model stays.
    stays, leaves : float >= 0
        Losses of the model that stays and of the one that leaves, with a longer memory.

    Returns
    -------
    int
        A value below 1,000 is no pause yet.
    """
    return pause_behind(integer_within("pause", pause, 0, MOST_PAUSE), new_stays, stays, leaves)


cdef class Trials:
    """Trials at the beginning of a stream.

    Parameters
    ----------
    of_targets : bool
        Whether losses are squared errors of a regression; otherwise they are mistakes, 0 or 1.
    """

    def __cinit__(self, of_targets):
        self.of_targets = flag_of("of_targets", of_targets)
        self.bets = RankBets(RUN_LENGTH, SEED)
        self.alarms = self.saved_alarms = ()

    @property
    def left(self):
        """Samples that both models will still learn; 0 if there is no trial."""
        return self.now.left

    cdef bint see(self, double loss, double weight) noexcept nogil:
        """Test the loss of a prediction. Returns whether a trial has to begin."""
        cdef Trial *now = &self.now
        now.offered += 1
        now.resting = max(0, now.resting - 1)
        if not is_seen(now.offered, weight, &now.largest):
            pass
        elif not self.of_targets:
            now.due |= self.bets.see(loss)
        elif now.n_errors < SCALED:
            now.n_errors += loss > 0
            now.errors += log(min(loss, MOST)) if loss > 0 else 0
        else:
            # The loss is e^2: q = (e^2 / s^2)^(1/4).
            loss = exp((log(min(loss, MOST)) - now.errors / SCALED) / 4) if loss > 0 else 0
            now.due |= self.bets.see(loss / (loss + 1))
        now.due &= now.resting == 0
        return now.due and now.left == 0

    cdef bint goes_to_rival(self, double own, double rival) noexcept nogil:
        """Add the losses of both models. Returns whether the rival predicts from now on."""
        cdef Trial *now = &self.now
        cdef bint goes
        cdef double stays, leaves
        now.left -= 1
        goes = errs_more(now, own, rival)
        if now.left == 0:
            goes = now.rival_longer < now.own_longer
            stays, leaves = now.own_longer, now.rival_longer
            if goes:
                stays, leaves = leaves, stays
            now.pause = pause_behind(now.pause, now.is_new != goes, stays, leaves)
            now.resting = now.pause if now.pause >= LENGTH else 0
            now.due &= now.resting == 0
        if goes:
            exchange(now)
        return goes

    cdef int begin(self, int64_t number) except -1:
        """Begin a trial after the sample of this number."""
        self.alarms = (*self.alarms, number)
        self.now.left, self.now.due, self.now.is_new = LENGTH, False, False
        self.now.own_sum = self.now.rival_sum = 0
        self.now.own_longer = self.now.rival_longer = 0
        return 0

    cdef void end(self) noexcept nogil:
        """End the trial without beginning the next one."""
        self.now.left, self.now.due = 0, False

    cdef void checkpoint(self) noexcept:
        """Save the state for `rollback`."""
        self.bets.checkpoint()
        self.saved, self.saved_alarms = self.now, self.alarms

    cdef void rollback(self) noexcept:
        """Return to the last checkpoint."""
        self.bets.rollback()
        self.now, self.alarms = self.saved, self.saved_alarms

    def __reduce__(self):
        own = self.now
        course = (own.left, bool(own.due), own.own_sum, own.rival_sum, own.own_longer,
                  own.rival_longer, own.n_errors, own.errors,
                  own.offered, own.largest, own.pause, own.resting, bool(own.is_new))
        return restore, (self.of_targets, self.bets, self.alarms, course)


def restore(of_targets, bets, alarms, course):
    """Trials with the state of `__reduce__`, checked."""
    cdef Trials trials = Trials(of_targets)
    check_kind(bets, "bets", RankBets)
    if (<RankBets> bets).run_length != RUN_LENGTH:
        raise ValueError(f"the run length of trials must be {RUN_LENGTH:g}")
    left, due, *sums, n_errors, errors, offered, largest, pause, resting, is_new = items_of(
        course, "trials", 13)
    alarms = tuple(count_of("an alarm", number)
                   for number in items_of(alarms, "alarms", len(alarms)))
    if count_of("left", left) > LENGTH or count_of("n_errors", n_errors) > SCALED:
        raise ValueError(f"left must be at most {LENGTH}, n_errors at most {SCALED}")
    trials.bets, trials.alarms = bets, alarms
    own_sum, rival_sum, own_longer, rival_longer = [not_negative("a sum", each) for each in sums]
    trials.now = Trial(left, flag_of("due", due), own_sum, rival_sum, own_longer, rival_longer,
                       n_errors, finite_number("errors", errors), count_of("offered", offered),
                       not_negative("largest", largest),
                       integer_within("pause", pause, 0, MOST_PAUSE),
                       integer_within("resting", resting, 0, MOST_PAUSE), flag_of("is_new", is_new))
    trials.checkpoint()
    return trials
