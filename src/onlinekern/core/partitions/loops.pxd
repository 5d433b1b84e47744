# The loops of forests in C, and the choice of the instruction set. May change at minor versions.
from libc.stdint cimport int16_t, int32_t, uint16_t, uint64_t

cdef extern from "onlinekern/forest_loops.h" nogil:
    enum:
        OK_MOST_SCORED
        OK_SOUGHT
        OK_MOST_SORTED
    double OK_FARTHEST

    ctypedef struct ok_cut:
        double gain
        Py_ssize_t feature
        float at

    ctypedef struct ok_gains:
        double gain, rows, cuts

    ctypedef struct ok_cutter:
        const float *rows
        const float *columns
        Py_ssize_t n_rows, width, n_axes, n_drawn_from
        const float *slopes
        const int32_t *slope_of
        const int32_t *side_of
        Py_ssize_t n_candidates
        const float *left
        Py_ssize_t n_numbers
        const float *shares[2]
        ok_gains *gains
        int32_t *order
        float *weights
        uint64_t seed, drawn

    ctypedef struct ok_exact_cut:
        float gain
        int32_t axis, low, high

    ctypedef struct ok_counts:
        pass

    ctypedef struct ok_forest_table:
        const char *name
        ok_cut (*best_cut)(ok_cutter *cutter, Py_ssize_t first, Py_ssize_t last) noexcept nogil
        Py_ssize_t (*divide)(const ok_cutter *cutter, Py_ssize_t first, Py_ssize_t last,
                             Py_ssize_t middle, const ok_cut *cut) noexcept nogil
        void (*add_records)(float *const *values, const int32_t *cells, Py_ssize_t n_trees,
                            Py_ssize_t length, double *sums) noexcept nogil
        void (*step_records)(float *const *values, const int32_t *cells, Py_ssize_t n_trees,
                             Py_ssize_t length, int32_t none, Py_ssize_t n_experts,
                             Py_ssize_t n_outputs, const float *factors,
                             const float *contractions) noexcept nogil
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
        Py_ssize_t (*divide_codes)(const uint16_t *codes, int32_t *order, Py_ssize_t first,
                                   Py_ssize_t last, const ok_exact_cut *cut) noexcept nogil
        void (*scale_row)(const void *x, Py_ssize_t itemsize, const double *center,
                          const double *factor, Py_ssize_t d, float *z) noexcept nogil
        void (*direct_rows)(float *z, Py_ssize_t n, Py_ssize_t width, const float *directions,
                            Py_ssize_t n_axes) noexcept nogil
        double (*kurtosis)(const double *u, Py_ssize_t n, double reach) noexcept nogil

    const ok_forest_table *ok_forest_select(const char *name)


cdef extern from *:
    """
    #define ok_prefetch(address) __builtin_prefetch(address)
    """
    void ok_prefetch(const void *address) noexcept nogil


cdef const ok_forest_table *forest_loops() noexcept nogil
