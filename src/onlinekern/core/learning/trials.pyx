"""Trials: when a model begins anew beside the one that answers, and which of both answers.

Its losses are watched (`rank_bets`). At an alarm a rival begins, and for `LENGTH` samples both
learn. The answers are those of the one whose discounted sum of losses (0.99) since the alarm is
smaller. At the end the one stays whose sum with a longer memory (0.998) is smaller. So nothing that
was learnt is lost where a change passes soon, or where the alarm was a false one. An alarm during a
trial begins the next one, when this one ends.

Where errors are not exchangeable, as behind outliers, alarms do not end. So behind a second trial
in a row that brought little, no other one begins for 1,000 samples, then for 2,000, 4,000, ...

Of samples with weights, one is looked at with a probability that is its weight over the largest one
lately: where classes are balanced, plain mistakes rise along the stream, and those of what is
looked at fall. The error e of a target becomes q / (q + 1) with q = sqrt(e / s), and s the
geometric mean of the first hundred that are not 0: the ranks are those of e, losses have a bound,
and levels tell errors apart that are a thousand times smaller or larger than the first ones.
"""
import numpy as np

from libc.math cimport exp, log
from libc.stdint cimport uint8_t

from onlinekern.core.base.state cimport (
    check_kind, count_of, finite_number, flag_of, integer_within, items_of, not_negative)

from onlinekern.core.learning.rank_bets cimport uniform

# Between two false alarms lie so many samples, on average, at least.
cdef double RUN_LENGTH = 100_000
# Of the ranks of equal losses, and the next one of who is looked at. Where nearly all losses are
# equal, as of a model that seldom errs, these draws alone decide when a false alarm comes, in every
# stream at the same sample: of this seed, none comes among a million equal losses.
cdef int64_t SEED = 2625
# The longest pause between two trials, in samples.
cdef int64_t MOST_PAUSE = 1 << 40
# So many samples both learn.
cdef int64_t LENGTH = 1000
# The losses of about the last hundred samples decide who answers, and of some more who stays.
cdef double LATELY = 0.99
cdef double LONGER = 0.998
# So many errors of targets tell their scale.
cdef int64_t SCALED = 100
# Of the largest weight lately this share is left at the next sample.
cdef double LASTING = 0.999
# A new race with a larger share of the old one's losses has brought little.
cdef double LITTLE = 0.9
# Larger losses count as this one: their sums do not overflow.
cdef double MOST = 1e300


cdef bint is_seen(int64_t number, double weight, double *largest) noexcept nogil:
    """Whether the sample of a number and a weight is looked at; takes up the largest one lately."""
    largest[0] = max(weight, LASTING * largest[0])
    return uniform(SEED + 1, number) * largest[0] <= weight


cdef bint errs_more(Trial *now, double own, double rival) noexcept nogil:
    """Take up the losses of who answers and of the other one. Whether the first errs more."""
    own, rival = min(own, MOST), min(rival, MOST)
    now.own_sum = LATELY * now.own_sum + own
    now.rival_sum = LATELY * now.rival_sum + rival
    now.own_longer = LONGER * now.own_longer + own
    now.rival_longer = LONGER * now.rival_longer + rival
    return now.rival_sum < now.own_sum


cdef void exchange(Trial *now) noexcept nogil:
    """Let the other one answer."""
    now.is_new = not now.is_new
    now.own_sum, now.rival_sum = now.rival_sum, now.own_sum
    now.own_longer, now.rival_longer = now.rival_longer, now.own_longer


cdef int64_t pause_behind(int64_t pause, bint new_stays, double stays,
                          double leaves) noexcept nogil:
    """The next pause: of losses of who stays and who leaves; below `LENGTH` it is none yet."""
    if new_stays and stays < LITTLE * leaves:
        return 0
    return min(2 * pause, MOST_PAUSE) if pause > 0 else LENGTH // 2


def alarms_of(model):
    """The numbers of the samples behind which a rival began, ndarray of int64.

    There are none where a model does not begin anew, as those of older files.
    """
    trials = getattr(model, "trials", None)
    return np.array(() if trials is None else trials.alarms, dtype=np.int64)


def seen_of(const double[::1] weights, int64_t offered, double largest):
    """Which samples are looked at, for trials in Python.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        All > 0.
    offered : int >= 0
        Samples before.
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
    """Who of two answers, sample by sample, for trials in Python.

    Parameters
    ----------
    own, rival : ndarray of shape (n,)
        The losses of who answers at first, and of the other one.
    counts : ndarray of shape (n,), dtype bool
        The samples whose losses count.
    sums : tuple
        The sums of the losses of both, whether the first is the new one, and the sums of a longer
        time.

    Returns
    -------
    others : ndarray of shape (n + 1,), dtype bool
        Whether the other one answers each sample, and the next one.
    sums : tuple
        Those of who answers then.
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
    """Samples between a trial that ends and the next one, for trials in Python.

    Parameters
    ----------
    pause : int >= 0
        What this gave behind the trial before.
    new_stays : bool
    stays, leaves : float >= 0
        The losses of who stays and who leaves, with a long memory.

    Returns
    -------
    int
        Below 1,000 there is none yet.
    """
    return pause_behind(integer_within("pause", pause, 0, MOST_PAUSE), new_stays, stays, leaves)


cdef class Trials:
    """Trials of a stream of which nothing has been seen.

    Parameters
    ----------
    of_targets : bool
        Whether losses are squared errors of targets; otherwise they are mistakes.
    """

    def __cinit__(self, of_targets):
        self.of_targets = flag_of("of_targets", of_targets)
        self.bets = RankBets(RUN_LENGTH, SEED)
        self.alarms = self.saved_alarms = ()

    @property
    def left(self):
        """Samples that two will still learn; 0 where one is alone."""
        return self.now.left

    cdef bint see(self, double loss, double weight) noexcept nogil:
        """See the loss of an answer. Returns whether a trial is to begin."""
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
            # The loss is the square of the error.
            loss = exp((log(min(loss, MOST)) - now.errors / SCALED) / 4) if loss > 0 else 0
            now.due |= self.bets.see(loss / (loss + 1))
        now.due &= now.resting == 0
        return now.due and now.left == 0

    cdef bint goes_to_rival(self, double own, double rival) noexcept nogil:
        """Take up the losses of both. Returns whether the rival answers from now on."""
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
        """Begin a trial behind a sample."""
        self.alarms = (*self.alarms, number)
        self.now.left, self.now.due, self.now.is_new = LENGTH, False, False
        self.now.own_sum = self.now.rival_sum = 0
        self.now.own_longer = self.now.rival_longer = 0
        return 0

    cdef void end(self) noexcept nogil:
        """End a trial, and begin no other: one is alone."""
        self.now.left, self.now.due = 0, False

    cdef void checkpoint(self) noexcept:
        """Remember the trials as they are."""
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
    """Trials that go on from there."""
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
