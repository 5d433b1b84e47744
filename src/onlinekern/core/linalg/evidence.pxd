# The choice of the prior of least squares. May change at minor versions.
from onlinekern.core.base.part cimport Status
from onlinekern.core.base.undo cimport JournaledMatrix
from onlinekern.core.linalg.information cimport Information
from onlinekern.core.linalg.tiled_factor cimport TiledFactor


cdef class Evidence:
    cdef readonly Information sums
    cdef Py_ssize_t below
    # Sum of a y^2 for each output; number of samples with forgetting; number of all samples.
    cdef JournaledMatrix totals

    cdef void add(self, const double *targets, double weight, double one) noexcept nogil
    cdef void decay(self, double factor) noexcept nogil
    cdef double due(self, Py_ssize_t n) noexcept nogil
    cdef bint is_spread(self, Py_ssize_t n) noexcept nogil
    cdef double surprise(self, const double *lost, double determinant) noexcept nogil
    # The search: index of the best r so far, its value, and the direction of the next step: 1 to
    # larger r, -1 to smaller; 0: the search is over.
    cdef Py_ssize_t best, way
    cdef double least
    cdef TiledFactor factor                  # factor of A with the next r

    cdef void begin(self) noexcept nogil
    cdef bint is_whole(self) noexcept nogil
    cdef bint waits(self, Py_ssize_t n_strips) noexcept nogil
    cdef Status step(self, Py_ssize_t panels) noexcept nogil
    cdef void compare(self, Py_ssize_t place, double found) noexcept nogil
    cdef double measure(self) noexcept nogil
    cdef Status finish(self, Py_ssize_t panels) noexcept nogil
    cdef double found(self) noexcept nogil
    cdef void end(self) noexcept nogil
    cdef Py_ssize_t nearest(self) noexcept nogil
    cdef void checkpoint(self) noexcept nogil
    cdef void rollback(self) noexcept nogil
