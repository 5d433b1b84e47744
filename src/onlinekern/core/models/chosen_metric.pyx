"""ChosenMetric: learns a metric along a stream, chooses its form, and transforms samples to it.

Any learner may use the transformed samples, also one without a kernel. The form is chosen as for
kernel least squares (`models.metric_choice`), but not the width: a width chosen for landmarks is
too narrow for a few random features, and learners with support vectors choose their own.
"""
import numpy as np

from onlinekern.core.base.state cimport doubles_of_shape, integer_within, positive_number
from onlinekern.core.features.gradient_metric cimport MetricStream
from onlinekern.core.features.joined cimport WithLinear
from onlinekern.core.features.map cimport FeatureMap
from onlinekern.core.features.metric cimport InMetric
from onlinekern.core.features.nested cimport NestedNystroem
from onlinekern.core.kernels.support_set cimport SupportSet
from onlinekern.core.models.metric_choice cimport MetricChoice

from onlinekern.core.features.gradient_metric import LATE
from onlinekern.core.features.looking import FARTHEST_TAUGHT, WIDTH
from onlinekern.core.kernels.kernels import Gaussian
from onlinekern.core.models.metric_choice import LANDMARKS, holds_matrix

# Prior precisions of the small models; the lowest error counts.
REGS = (0.1, 1.0, 0.01)
# An argument of the map without effect: landmarks are drawn, not selected by novelty.
cdef double NOVELTY = 0.05


cdef class ChosenMetric(MetricStream):
    """A learnt metric whose form has the lowest error; diagonal at first.

    The form is not changed late in the stream: the learner behind would lose what it has learnt.

    Parameters
    ----------
    d, dtype
        See `TaughtFeatures`.
    exponent : float > 0
        The power p of the mean outer product of the gradients.
    kind : {'auto', 'labels', 'numbers'}
        Kind of the targets; 'auto': labels if they are few different integers.
    seed : int
    """

    def __cinit__(self, Py_ssize_t d, dtype, exponent, kind, seed):
        integer_within("d", d, 1, (<Py_ssize_t> 1) << 40)
        exponent = positive_number("exponent", exponent)
        self.choice = MetricChoice(d, exponent)
        self.map = tried_map(d)
        self.begin(np.ones(d), kind, seed)
        self.settings = (exponent, kind, self.seed)

    cdef tuple forms_of_root(self):
        diagonal = (self.d,)
        return (diagonal, diagonal * 2) if holds_matrix(self.d) else (diagonal,)

    cdef object learnt_root(self, bint chooses):
        X, y, _ = self.recent.arrays()
        draws = self.draws()
        goals, classes = self.goals(y)
        gradients = self.gradients(X, goals, draws, holds_matrix(self.d))
        choice = self.choice
        if chooses and self.recent.count <= LATE:
            X = np.clip(X.astype(np.float64), -FARTHEST_TAUGHT, FARTHEST_TAUGHT)
            choice = choice.looked(self.map, X, goals, REGS, classes, draws, False)
        self.choice = choice.with_gradients(np.where(np.isfinite(gradients), gradients, 0.0))
        return self.choice.root(gradients)

    cdef dict own_state(self):
        form, _, gradients = self.choice.state()
        return {"form": form, "gradients": gradients.copy()}

    cdef int set_own_state(self, dict state) except -1:
        gradients = doubles_of_shape("gradients", state["gradients"], self.choice.gradients.shape)
        self.choice = self.choice.changed(state["form"], 1.0, gradients)
        return 0

    cdef void checkpoint(self):
        self.saved_choice = self.choice
        MetricStream.checkpoint(self)

    cdef void rollback(self):
        self.choice = self.saved_choice
        MetricStream.rollback(self)

    def __reduce__(self):
        return _restore, (self.arguments(), self.get_state())


cdef FeatureMap tried_map(Py_ssize_t d):
    """Nystroem features of the teacher's kernel, with linear ones beside them if d is not large.

    They are computed in double: in float32, landmarks may coincide, which changes the choice.
    """
    support = SupportSet(Gaussian(WIDTH / d), d, np.float64, 1, False, False)
    map = InMetric(NestedNystroem(support, LANDMARKS, "first", NOVELTY), np.ones(d))
    return WithLinear(map) if holds_matrix(d) else map


def _restore(arguments, state):
    cdef ChosenMetric metric = ChosenMetric(*arguments)
    metric.set_state(state)
    return metric
