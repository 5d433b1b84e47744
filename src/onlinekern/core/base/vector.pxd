# The vector primitives and the choice of the instruction set. May change at minor versions.
from libc.math cimport isfinite
from libc.stdint cimport int32_t, uint8_t

cdef extern from "onlinekern/vector.h" nogil:
    const Py_ssize_t OK_PANEL
    const Py_ssize_t OK_SUMS
    const double OK_LEAST_BEND
    const int OK_DOT
    const int OK_SQUARED
    const int OK_ABSOLUTE
    const int OK_CSR_STARTS
    const int OK_CSR_COLUMNS
    const int OK_CSR_ORDER

    ctypedef struct ok_sparse_row:
        const int32_t *columns
        const void *values
        Py_ssize_t count

    ctypedef void (*dense_product)(const void *x, Py_ssize_t ldx, Py_ssize_t n, Py_ssize_t d,
                                   const void *panel, void *g, Py_ssize_t ld) noexcept nogil
    ctypedef void (*sparse_product)(const ok_sparse_row *rows, Py_ssize_t n,
                                    const int32_t *place, const void *panel, void *g,
                                    Py_ssize_t ld) noexcept nogil

    ctypedef struct ok_vector_ops:
        size_t itemsize
        dense_product dense[3]
        sparse_product sparse[3]
        void (*exponential)(void *g, Py_ssize_t ld, Py_ssize_t n, Py_ssize_t m, double c,
                            const void *a, const void *b) noexcept nogil
        void (*scale)(void *g, Py_ssize_t ld, Py_ssize_t n, Py_ssize_t m, const void *a,
                      const void *b) noexcept nogil
        void (*power)(void *g, Py_ssize_t ld, Py_ssize_t n, Py_ssize_t m, double c,
                      double offset, long degree) noexcept nogil
        void (*tanh)(void *g, Py_ssize_t ld, Py_ssize_t n, Py_ssize_t m, double c,
                     double offset) noexcept nogil
        double (*dot)(const void *g, const double *a, Py_ssize_t n) noexcept nogil
        void (*dot2)(const void *g, const double *a, const double *b, Py_ssize_t n,
                     double *sums) noexcept nogil
        void (*norms)(const void *x, Py_ssize_t n, double *square, double *absolute) noexcept nogil
        bint (*all_finite)(const void *x, Py_ssize_t n) noexcept nogil
        void (*add)(const void *g, double c, double *a, Py_ssize_t n) noexcept nogil
        void (*cosine_sine)(void *g, Py_ssize_t ld, Py_ssize_t n, Py_ssize_t m, Py_ssize_t sine,
                            double c) noexcept nogil
        void (*clip)(double *a, double limit, Py_ssize_t n) noexcept nogil
        Py_ssize_t (*cheapest)(const void *g, double c, const double *a, Py_ssize_t stride,
                               Py_ssize_t outputs, const double *b, Py_ssize_t n) noexcept nogil
        void (*transpose)(const void *tile, Py_ssize_t n, void *g, Py_ssize_t ld) noexcept nogil
        void (*follow)(const void *x, double share, double reach, double *mean,
                       double *variance, Py_ssize_t n) noexcept nogil
        void (*standardise)(const void *x, const double *mean, const double *variance,
                            double limit, void *out, Py_ssize_t n) noexcept nogil
        void (*hadamard)(void *x, Py_ssize_t n) noexcept nogil
        void (*add_dots)(const void *g, Py_ssize_t ldg, Py_ssize_t rows, const double *a,
                         Py_ssize_t lda, Py_ssize_t count, Py_ssize_t n,
                         double *sums) noexcept nogil
        double (*finish_dot)(const double *sums) noexcept nogil
        double (*pair_step)(const void *g, const void *h, double c, double *a, const double *up,
                            const double *down, Py_ssize_t n, double *tops) noexcept nogil
        void (*pair_gains)(const void *g, double top, double length, const double *lengths,
                           const double *a, const double *down, Py_ssize_t n,
                           double *gains) noexcept nogil
        double (*single_step)(const void *g, double c, const double *lengths, double *a,
                              const double *up, const double *down, Py_ssize_t n,
                              double *gains) noexcept nogil
        void (*dense_onto)(const void *x, Py_ssize_t ldx, Py_ssize_t n, Py_ssize_t d,
                           const void *panel, void *g, Py_ssize_t ld) noexcept nogil
        void (*symmetric)(const void *g, Py_ssize_t ld, Py_ssize_t n, const double *a,
                          double *out) noexcept nogil
        double (*listed_dot)(const void *g, const int32_t *slots, const double *a,
                             Py_ssize_t n) noexcept nogil
        void (*ones_dot)(const ok_sparse_row *rows, Py_ssize_t n, const uint8_t *panel,
                         Py_ssize_t ahead, void *g, Py_ssize_t ld) noexcept nogil
        void (*sparse_squared)(const ok_sparse_row *rows, Py_ssize_t n, const int32_t *place,
                               const void *panel, const double *squares, void *g,
                               Py_ssize_t ld) noexcept nogil

    ctypedef struct ok_vector_table:
        const char *name
        ok_vector_ops float32
        ok_vector_ops float64
        int (*csr_faults)(const int32_t *columns, const int32_t *starts, Py_ssize_t n, int32_t d,
                          int32_t stored) noexcept nogil

    const ok_vector_table *ok_vector_select(const char *name)


cdef inline Py_ssize_t whole_panels(Py_ssize_t n) noexcept nogil:
    """n rounded up to whole panels."""
    return (n + OK_PANEL - 1) // OK_PANEL * OK_PANEL


cdef inline bint finite(const double *numbers, Py_ssize_t n) noexcept nogil:
    """Whether all of n numbers are finite."""
    cdef Py_ssize_t k
    for k in range(n):
        if not isfinite(numbers[k]):
            return False
    return True


cdef const ok_vector_ops *ops_for(Py_ssize_t itemsize) noexcept nogil
cdef int csr_faults(const int32_t *columns, const int32_t *starts, Py_ssize_t n, int32_t d,
                    int32_t stored) noexcept nogil
cdef void *aligned_room(Py_ssize_t bytes) noexcept nogil
cdef void *aligned_resize(void *old, Py_ssize_t old_bytes, Py_ssize_t new_bytes) noexcept nogil
cdef void *resize_array(void *old, Py_ssize_t old_bytes, Py_ssize_t count,
                        Py_ssize_t size) noexcept nogil
cdef int grow(void **memory, Py_ssize_t *held, Py_ssize_t bytes) noexcept nogil
