"""Trials: when a model begins anew beside the one that answers, and which of both answers.

Its losses are watched (`rank_bets`). At an alarm a rival begins, and for `LENGTH` samples both
learn. The answers are those of the one whose discounted sum of losses (0.99) since the alarm is
smaller, and it is the one that stays. What has passed soon, or was a false alarm, so costs nothing
that was learnt. An alarm during a trial begins the next one, when this one ends.

Losses count with the weights of their samples: those of classes that are balanced fall as they are
learnt, where plain mistakes rise. A mistake of weight w becomes w / (w + 1). The error e of a
target, its loss the square of it, becomes q / (q + 1) with q = sqrt(e / s), and s the geometric mean of the
first hundred that are not 0. The ranks are those of the losses, which have a bound then, and levels
tell errors apart that are a thousand times smaller or larger than the first ones.
"""
from libc.math cimport exp, log

from onlinekern.core.base.state cimport (
    check_kind, count_of, finite_number, flag_of, items_of, not_negative)

# Between two false alarms lie so many samples, on average, at least.
cdef double RUN_LENGTH = 100_000
# Of the ranks of equal losses; with 0, the first number drawn would be 0 too.
cdef int64_t SEED = 1
# So many samples both learn.
cdef int64_t LENGTH = 1000
# The losses of about the last hundred samples decide who answers, and of some more who stays.
cdef double LATELY = 0.99
cdef double LONGER = 0.998
# So many errors of targets tell their scale.
cdef int64_t SCALED = 100
# Larger losses count as this one: their sums do not overflow.
cdef double MOST = 1e300


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

    cdef bint see(self, double loss) noexcept nogil:
        """See the loss of an answer, times the weight. Returns whether a trial is to begin."""
        cdef double ratio
        ratio = loss = min(loss, MOST)
        if self.of_targets:
            if self.now.n_errors < SCALED:
                self.now.n_errors += loss > 0
                self.now.errors += log(loss) if loss > 0 else 0
                return False
            # The loss is the square of the error.
            ratio = exp((log(loss) - self.now.errors / SCALED) / 4) if loss > 0 else 0
        if self.bets.see(ratio / (ratio + 1)):
            self.now.due = True
        return self.now.due and self.now.left == 0

    cdef bint goes_to_rival(self, double own, double rival) noexcept nogil:
        """Take up the losses of both. Returns whether the rival answers from now on."""
        cdef Trial *now = &self.now
        cdef bint goes
        own, rival = min(own, MOST), min(rival, MOST)
        now.left -= 1
        now.own_sum = LATELY * now.own_sum + own
        now.rival_sum = LATELY * now.rival_sum + rival
        now.own_longer = LONGER * now.own_longer + own
        now.rival_longer = LONGER * now.rival_longer + rival
        goes = now.rival_longer < now.own_longer if now.left == 0 else now.rival_sum < now.own_sum
        if goes:
            now.own_sum, now.rival_sum = now.rival_sum, now.own_sum
            now.own_longer, now.rival_longer = now.rival_longer, now.own_longer
        return goes

    cdef int begin(self, int64_t number) except -1:
        """Begin a trial behind a sample."""
        self.alarms = (*self.alarms, number)
        self.now.left, self.now.due = LENGTH, False
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
                  own.rival_longer, own.n_errors, own.errors)
        return restore, (self.of_targets, self.bets, self.alarms, course)


def restore(of_targets, bets, alarms, course):
    """Trials that go on from there."""
    cdef Trials trials = Trials(of_targets)
    check_kind(bets, "bets", RankBets)
    if (<RankBets> bets).run_length != RUN_LENGTH:
        raise ValueError(f"the run length of trials must be {RUN_LENGTH:g}")
    left, due, *sums, n_errors, errors = items_of(course, "trials", 8)
    alarms = tuple(count_of("an alarm", number)
                   for number in items_of(alarms, "alarms", len(alarms)))
    if count_of("left", left) > LENGTH or count_of("n_errors", n_errors) > SCALED:
        raise ValueError(f"left must be at most {LENGTH}, n_errors at most {SCALED}")
    trials.bets, trials.alarms = bets, alarms
    own_sum, rival_sum, own_longer, rival_longer = [not_negative("a sum", each) for each in sums]
    trials.now = Trial(left, flag_of("due", due), own_sum, rival_sum, own_longer, rival_longer,
                       n_errors, finite_number("errors", errors))
    trials.checkpoint()
    return trials
