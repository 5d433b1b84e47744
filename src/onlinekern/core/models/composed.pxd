# A model made of components, which scores samples. May change at minor versions.
from libc.stdint cimport int64_t
from libc.string cimport memcmp

from onlinekern.core.base.part cimport Status
from onlinekern.core.base.random cimport Generator
from onlinekern.core.base.lock cimport Access, Lock
from onlinekern.core.learning.heads cimport Head, Update
from onlinekern.core.learning.recent_scores cimport RecentScores
from onlinekern.core.learning.rules cimport Rule
from onlinekern.core.learning.sampling cimport Sampler
from onlinekern.core.learning.targets cimport Targets
from onlinekern.core.models.space cimport Space
from onlinekern.core.samples.rows cimport Rows

# Most rows of a block, unless the user chooses a larger window.
cdef enum:
    MOST_ROWS = 64


cdef struct Counters:
    int64_t seen
    int64_t mistakes
    double loss
    int64_t lead    # of the last model over the average: `Head.lead_after`


cdef inline void note_lead(Counters *counters, Update *update, Head head, const double *last,
                           const double *averaged, double y) noexcept nogil:
    """Update the lead from the scores of a sample by the last and the averaged model."""
    cdef int64_t before = counters.lead
    update.lead = 0
    if memcmp(last, averaged, head.n_outputs * sizeof(double)) != 0:
        counters.lead = head.lead_after(before, last, averaged, y)
        if counters.lead > before:
            update.lead = counters.lead


cdef class Composed:
    cdef readonly Space space
    cdef readonly Head head
    cdef Rule present_rule
    cdef Sampler present_sampler
    cdef readonly Generator rng
    cdef readonly Py_ssize_t d, itemsize
    cdef readonly RecentScores recent   # None in regression
    cdef Targets *targets               # n_targets structs, then memory for a copy of them
    cdef Counters counters
    cdef public object calibration      # fitted to `recent`; reset to None by learning
    # Parameters of its estimator when last checked, and when its rule and sampler were made.
    cdef public object checked, renewed
    cdef object window_of_one     # buffer to score a single row
    cdef readonly Lock lock       # of writers; several models may share it
    cdef Access access            # of readers
    cdef int one_is_scored        # whether `window_of_one` is in use
    cdef tuple watched            # components that may fail; None if there are none
    # Constant properties of the components, so that the loop does not call them for each sample.
    cdef bint single, signs       # `Head.is_single`; whether its targets are signs
    cdef bint shrinks, observes   # `Rule.shrinks_ever`, `Space.observes`
    cdef bint plain               # each sample is one scalar problem, and no sampler rejects it
    cdef bint hinged              # `solves_hinge` of the rule
    cdef object interruption      # exception that a signal handler raised

    cdef int take_recent(self, object recent) except -1
    cdef int check_space(self) except -1
    cdef int watch(self) except -1
    cdef object only_row(self, x, Rows *rows)
    cdef int score_row(self, const Rows *rows, double *out) except -1
    cdef int check_scored(self, Status status, Py_ssize_t n) except -1
    cdef int check_defined(self) except -1
    cdef int check_finite(self) except -1
    cdef bint interrupted(self) noexcept nogil
    cdef void rollback(self)
    cdef int conclude(self, Status status, Py_ssize_t reached) except -1
