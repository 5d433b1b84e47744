# The loops of forests in C, and the choice of the instruction set. May change at minor versions.
from libc.stdint cimport int16_t, int32_t, uint16_t

cdef extern from "onlinekern/forest_loops.h" nogil:
    enum:
        OK_CUTS
        OK_SOUGHT
        OK_MOST_SORTED

    ctypedef struct ok_exact_cut:
        float gain
        int32_t axis, low, high

    ctypedef struct ok_counts:
        pass

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
        double (*code_numbers)(const float *numbers, Py_ssize_t n, int bits,
                               int16_t *coded) noexcept nogil
        void (*cut_sorted)(const uint16_t *codes, const int32_t *rows, Py_ssize_t n,
                           const int16_t *numbers, Py_ssize_t width, Py_ssize_t n_axes,
                           ok_exact_cut *best) noexcept nogil
        void (*begin_counts)(ok_counts *counts, Py_ssize_t width) noexcept nogil
        void (*count_rows)(const uint16_t *codes, const int32_t *rows, Py_ssize_t n,
                           const int16_t *numbers, Py_ssize_t width, Py_ssize_t n_axes,
                           ok_counts *counts) noexcept nogil
        void (*near_edges)(ok_counts *counts, Py_ssize_t n, Py_ssize_t width,
                           Py_ssize_t n_axes) noexcept nogil
        void (*cut_counted)(const uint16_t *codes, const int32_t *rows, Py_ssize_t n,
                            Py_ssize_t width, Py_ssize_t n_axes, const ok_counts *counts,
                            ok_exact_cut *best) noexcept nogil

    const ok_forest_table *ok_forest_select(const char *name)


cdef const ok_forest_table *forest_loops() noexcept nogil
