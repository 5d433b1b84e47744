# The loops of forests in C, and the choice of the instruction set. May change at minor versions.
from libc.stdint cimport int32_t

cdef extern from "onlinekern/forest_loops.h" nogil:
    enum:
        OK_CUTS

    ctypedef struct ok_forest_table:
        const char *name
        void (*cut_sums)(const float *const *columns, const float *at, Py_ssize_t n_cuts,
                         const int32_t *rows, const float *numbers, Py_ssize_t n,
                         Py_ssize_t width, double *sums, Py_ssize_t *counts) noexcept nogil
        void (*add_records)(float *const *values, const int32_t *cells, Py_ssize_t n_trees,
                            Py_ssize_t length, double *sums) noexcept nogil
        void (*step_records)(float *const *values, const int32_t *cells, Py_ssize_t n_trees,
                             Py_ssize_t length, int32_t none, Py_ssize_t n_experts,
                             Py_ssize_t n_outputs, const float *factors,
                             const float *falls) noexcept nogil

    const ok_forest_table *ok_forest_select(const char *name)


cdef const ok_forest_table *forest_loops() noexcept nogil
