"""MetricStream, GradientMetric: learn a metric M along a stream and transform samples, M^(1/2) x.

After 256, 512, 1,024, ... samples a kernel machine is fitted to the last samples in the present
metric, and M is computed anew from its gradients (recursive feature machine: Radhakrishnan,
Beaglehole, Pandit and Belkin 2024). Any learner can use the transformed samples, also without a
kernel.
"""
from libc.stdint cimport int64_t, uint64_t

import numpy as np

from onlinekern.core.base.random cimport counted
from onlinekern.core.base.state cimport (
    doubles_of_shape, fields_of, flag_of, integer_within, positive_number)
from onlinekern.core.features.metric cimport MetricRoot
from onlinekern.core.features.taught cimport TaughtFeatures
from onlinekern.core.partitions.recent_rows cimport RecentRows
from onlinekern.core.samples.rows cimport Samples

from onlinekern.core.base.lock import Reading
from onlinekern.core.features.gradients import MOST_OUTPUTS
from onlinekern.core.features.looking import (
    bounded, goals_of, machine_of, number_taught, signs_of)
from onlinekern.core.features.metric import MOST_FULL, change_of, root_of

# The metric is first computed after this many samples, then after twice as many each time.
cdef int64_t FIRST_RENEWAL = 256
# The largest number of samples in a state: twice as many must be a number of 64 bits.
cdef object MOST_ENTERED = 1 << 61
# Number of the last samples that are kept for the kernel machine.
KEPT = 2048
# The metric is replaced if it has changed by more than this; after LATE samples, by more than
# LEAST_LATE_CHANGE. The learner has learnt earlier samples in the old metric, so a late change must
# be worth it.
cdef double LEAST_CHANGE = 0.1
cdef double LEAST_LATE_CHANGE = 0.4
LATE = 4096
cdef tuple KINDS = ("auto", "labels", "numbers")

STATE = ("entered", "rows", "targets", "root")


cdef class MetricStream(TaughtFeatures):
    """A metric over d features; a subclass defines `learnt_root` and `forms_of_root`.

    Parameters
    ----------
    d, dtype
        See `TaughtFeatures`.
    """

    cdef int begin(self, root, kind, seed) except -1:
        """Initialise with M^(1/2), the kind of the targets and a seed, which are checked."""
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {KINDS}, got {kind!r}")
        self.kind, self.seed = kind, integer_within("seed", seed, 0, 1 << 53)
        self.recent = RecentRows(self.d, self.dtype, number_taught(KEPT, self.d))
        self.mover = MetricRoot(root, self.d, self.dtype)
        self.checkpoint()
        return 0

    @property
    def entered(self):
        """Samples learnt."""
        return self.recent.count

    cdef int64_t due(self):
        """Number of samples after which the metric is computed next."""
        cdef int64_t due = FIRST_RENEWAL
        while due <= self.recent.count:
            due *= 2
        return due

    cdef object run(self, Samples samples, const double[::1] y, bint transform):
        """Learn rows; return the metrics before they were learnt, [(end of the rows, metric), ...].
        """
        cdef Py_ssize_t first = 0, last, n = samples.rows.n
        cdef int64_t due
        found = []
        while first < n:
            due = self.due()
            last = <Py_ssize_t> min(<int64_t> n, first + due - self.recent.count)
            found.append((last, self.mover))
            self.keep(&samples.rows, first, last - first, &y[first])
            if self.recent.count == due:
                self.renew()
            first = last
        return found if transform else None

    def renew(self, bint whole=False):
        """Compute the metric from the gradients at the last samples.

        If these are the `whole` of the data, any change is taken: no learner has learnt samples in
        the old metric.
        """
        root = self.learnt_root(not whole)
        least = LEAST_CHANGE if self.recent.count <= LATE else LEAST_LATE_CHANGE
        least = 0 if whole else least
        if root is not None and change_of(self.mover.root, root) > least:
            self.mover = MetricRoot(root, self.d, self.dtype)

    cdef object learnt_root(self, bint chooses):
        """M^(1/2) from the last samples; None if the gradients are 0 or not finite.

        `chooses` says whether the gradients of the last renewal have not seen the last half of the
        samples, so that a subclass may choose a form by errors there.
        """
        raise NotImplementedError(f"{type(self).__name__}.learnt_root")

    cdef tuple forms_of_root(self):
        """Shapes that M^(1/2) may have."""
        raise NotImplementedError(f"{type(self).__name__}.forms_of_root")

    cdef object goals(self, object y):
        """Targets of the outputs, (n, n_outputs), and whether they are class labels, 1 and -1."""
        labels, targets, n_classes = goals_of(y, self.kind)
        if labels is None:
            return targets[:, None], False
        return signs_of(labels, n_classes), True

    cdef object draws(self):
        """The random numbers of a renewal after the present number of samples."""
        return np.random.RandomState(counted(self.seed, <uint64_t> self.recent.count) >> 32)

    cdef object gradients(self, object X, object goals, object draws, bint full):
        """Mean outer product of the gradients of a machine fitted to rows, or its diagonal."""
        root = self.mover.root
        with np.errstate(all="ignore"):
            if not full or self.d == 1:
                machine = machine_of(bounded(X), goals, root.reshape(-1) ** 2, draws, False)
                machine.finish()
                return machine.squares.mean(axis=0).reshape((self.d,) * (2 if full else 1))
            machine = machine_of(bounded(self.mover.moved(X)), goals, np.ones(self.d), draws, True)
            machine.finish()
            product = machine.product / len(X)
            return root @ product @ root if root.ndim == 2 else root[:, None] * product * root

    @property
    def present(self):
        """The present M^(1/2), a `MetricRoot`, which is immutable."""
        with Reading(self.access):
            return self.mover

    cdef void checkpoint(self):
        self.saved_mover = self.mover
        TaughtFeatures.checkpoint(self)

    cdef void rollback(self):
        self.mover = self.saved_mover
        TaughtFeatures.rollback(self)

    def get_state(self):
        """Learnt state, as a dictionary."""
        with Reading(self.access):
            rows, targets, _ = self.recent.arrays()
            return {"entered": self.recent.count, "rows": rows, "targets": targets,
                    "root": self.mover.root.copy(), **self.own_state()}

    def set_state(self, state):
        """Restore the result of `get_state`.

        Raises
        ------
        TypeError, ValueError
            If a field is missing, or is not as `get_state` would give it.
        """
        fields_of(state, "a metric", (*STATE, *self.own_state()))
        entered = integer_within("entered", state["entered"], 0, MOST_ENTERED)
        known = self.forms_of_root()
        given = getattr(state["root"], "shape", None)
        root = doubles_of_shape("root", state["root"], given if given in known else known[0])
        cdef RecentRows recent = RecentRows(self.d, self.dtype, self.recent.capacity)
        n = min(entered, recent.capacity)
        recent.set_arrays(entered, state["rows"], state["targets"], np.ones(n))
        self.set_own_state(state)
        self.recent, self.mover = recent, MetricRoot(root.copy(), self.d, self.dtype)
        self.checkpoint()

    cdef dict own_state(self):
        """Learnt state of a subclass beside M^(1/2)."""
        return {}

    cdef int set_own_state(self, dict state) except -1:
        """Restore the result of `own_state`. It is the last step of `set_state` that may fail."""
        return 0


cdef class GradientMetric(MetricStream):
    """A metric of one form: a power of the gradients' mean outer product, or of its diagonal.

    Parameters
    ----------
    d, dtype
        See `TaughtFeatures`.
    full : bool
        Whether M is a matrix, or diagonal.
    exponent : float > 0
        The power.
    kind : {'auto', 'labels', 'numbers'}
        Kind of the targets; 'auto': labels if they are few different integers.
    seed : int
    """

    def __cinit__(self, Py_ssize_t d, dtype, full, exponent, kind, seed):
        full = flag_of("full", full)
        integer_within("d", d, 1, MOST_FULL if full else (<Py_ssize_t> 1) << 40)
        exponent = positive_number("exponent", exponent)
        self.begin(np.eye(d) if full else np.ones(d), kind, seed)
        self.settings = (full, exponent, kind, self.seed)

    cdef tuple forms_of_root(self):
        return (self.mover.root.shape,)

    cdef object learnt_root(self, bint chooses):
        full, exponent, _, _ = self.settings
        X, y, _ = self.recent.arrays()
        goals, _ = self.goals(y)
        return root_of(self.gradients(X, goals, self.draws(), full), exponent)

    def __reduce__(self):
        return _restore, (self.arguments(), self.get_state())


def memory_of(Py_ssize_t d, Py_ssize_t itemsize):
    """Bytes of the rows that are kept, and of a machine that learns them.

    It has the rows three times, their squared slopes, and the gradients of each output.
    """
    return number_taught(KEPT, d) * d * (itemsize + 8 * (4 + MOST_OUTPUTS))


def _restore(arguments, state):
    cdef GradientMetric metric = GradientMetric(*arguments)
    metric.set_state(state)
    return metric
