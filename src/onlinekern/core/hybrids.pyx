"""HybridSpace: functions of two parts, the kernel at support vectors and weights over features.

Layer 9. f(x) = s (sum_i a_i kappa(x_i, x) + w . z(x) + b), the model of DualSGD, whose scale s is
exactly 1/t after t steps (see `InverseTimeSpace`).
"""
from onlinekern.core.maps cimport FeatureBlock
from onlinekern.core.provisions cimport Provision
from onlinekern.core.rows cimport Rows
from onlinekern.core.spaces cimport InverseTimeSpace, KernelSpace
from onlinekern.core.support cimport SupportSet
from onlinekern.core.windows cimport Window


cdef class HybridWindow:
    """Kernel values and features of samples that are scored."""

    def __init__(self, Window window, FeatureBlock features):
        self.window = window
        self.features = features


cdef class HybridSpace(InverseTimeSpace):
    """A support set, and a provision for the rows that leave it.

    Parameters
    ----------
    support : SupportSet
    provision : Provision
        A new one: it becomes that of the support set.
    """

    def __init__(self, SupportSet support, Provision provision):
        super().__init__(support, provision)
        self.provision = provision

    def __reduce__(self):
        return _restore, (self.support.arguments(), self.support.get_state(),
                          self.provision.arguments, self.provision.get_state())

    cdef Py_ssize_t size(self) noexcept nogil:
        return self.support.n + self.provision.map.length

    cdef int make_room(self, Py_ssize_t rows) except -1:
        self.support.make_room(rows)
        return self.provision.make_room(rows)

    cdef int open(self, const Rows *rows, const Py_ssize_t *order, Py_ssize_t first,
                  Py_ssize_t n) noexcept nogil:
        if self.support.open(rows, order, first, n) < 0:
            return -1
        self.provision.open(self.support.window.chunk)
        return 0

    cdef void scores(self, Py_ssize_t i, double *current, double *averaged) noexcept nogil:
        self.support.coefficients.scores(self.support.window.row(i), current, averaged)
        self.provision.add_scores(self.provision.window.row(i), current, averaged)

    cdef object new_window(self, Py_ssize_t rows):
        return HybridWindow(self.support.new_window(rows),
                            FeatureBlock(self.provision.map, rows))

    cdef int score(self, object window, const Rows *rows, Py_ssize_t first, Py_ssize_t n,
                   double *out) noexcept nogil:
        cdef Py_ssize_t i
        cdef double *scores
        if KernelSpace.score(self, (<HybridWindow> window).window, rows, first, n, out) < 0:
            return -1
        (<HybridWindow> window).features.fill((<HybridWindow> window).window.chunk)
        for i in range(n):
            scores = out + i * self.n_outputs
            self.provision.add_scores((<HybridWindow> window).features.row(i), scores, scores)
        return 0


def _restore(arguments, state, provision_arguments, provided):
    support = SupportSet(*arguments)
    support.set_state(state)
    provision = Provision(*provision_arguments)
    space = HybridSpace(support, provision)
    provision.set_state(support, provided)
    return space
