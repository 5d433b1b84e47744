# Features of samples in a metric. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.features.map cimport FeatureMap, FeatureWindow
from onlinekern.core.kernels.block cimport Block
from onlinekern.core.kernels.panel_store cimport PanelStore
from onlinekern.core.samples.rows cimport Rows


cdef class MetricRoot:
    cdef readonly object root          # M^(1/2), ndarray of shape (d,) or (d, d)
    cdef readonly Py_ssize_t d, itemsize
    cdef const double[::1] factors     # the diagonal of M^(1/2), if M is diagonal
    cdef PanelStore panels             # the rows of M^(1/2) in panels, if M is full; else None

    cdef void move(self, Block block, char *out, char *wide) noexcept nogil


cdef class InMetric(FeatureMap):
    cdef readonly FeatureMap map
    cdef readonly MetricRoot mover


cdef class MetricWindow(FeatureWindow):
    cdef InMetric map
    cdef FeatureWindow inner
    cdef char *moved                   # M^(1/2) x of the rows of the block
    cdef char *wide                    # the same, padded to whole panels
