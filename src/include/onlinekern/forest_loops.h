/* The loops of forests that most of their time goes into, once per instruction set: what cuts of a
 * node gain, and the numbers of the cells of a row.
 *
 * Sums are taken in the same lanes and the same order at each level, without fused multiply-add:
 * forests are the same, bit for bit, on all processors of one kind. */
#ifndef OK_FOREST_LOOPS_H
#define OK_FOREST_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#define OK_CUT_LANES 8 /* numbers that are summed side by side */
#define OK_CUTS 4      /* cuts that are looked at together */
#define OK_SOUGHT 16       /* axes along which exact cuts are sought, at most */
#define OK_LEAST_ROWS 3    /* rows on each side of an exact cut, at least */
#define OK_MOST_SORTED 512 /* rows of a node that are sorted, at most */
#define OK_BINS 256        /* larger ones are counted, in so many bins an axis */

/* The best exact cut so far: between two codes along an axis. -1: there is none. */
typedef struct {
    float gain;
    int32_t axis, low, high;
} ok_exact_cut;

/* The rows of a node, counted in bins of 2^shift codes from first[a] on along axis a. */
typedef struct {
    int shift;
    uint16_t first[OK_SOUGHT];
    /* What all rows sum to, those that have lower codes, and how many these are. */
    int32_t total[OK_CUT_LANES], sums_below[OK_SOUGHT][OK_CUT_LANES], below[OK_SOUGHT];
    /* The sum of the rows in each bin, and how many they are: of single numbers as the upper and
     * the lower half of one. Behind the bins is one for all other rows. */
    union {
        struct {
            uint64_t pairs[OK_BINS + 1][OK_SOUGHT];
        } of_one;
        struct {
            int32_t sums[OK_SOUGHT][OK_BINS + 1][OK_CUT_LANES];
            int32_t counts[OK_SOUGHT][OK_BINS + 1];
        } of_several;
    } bins;
} ok_counts;

typedef struct {
    const char *name; /* as of ok_vector_table */
    /* For up to OK_CUTS cuts at at[u]: the sums of the numbers of those of n rows that lie left of it,
     * whose columns[u][rows[i]] is at most that, OK_CUT_LANES each, and how many these are. Rows have `width` numbers, 1 or
     * OK_CUT_LANES. A sum of single numbers is first in its lanes, to which rows i, i + 8, ... go.
     * Behind the n rows, up to whole lanes, come copies of the first row with numbers 0. */
    void (*cut_sums)(const float *const *columns, const float *at, ptrdiff_t n_cuts,
                     const int32_t *rows, const float *numbers, ptrdiff_t n, ptrdiff_t width,
                     double *sums, ptrdiff_t *counts);
    /* sums[j] = sum_t values[t][cells[t] * length + j], whole lanes of 8. */
    void (*add_records)(float *const *values, const int32_t *cells, ptrdiff_t n_trees,
                        ptrdiff_t length, double *sums);
    /* In the records of a cell of each tree, w[e, k] += factors[e, k] v[e] and
     * v[e] -= falls[e] v[e]^2: weights come first, then a variance for each expert. A cell that is
     * `none` stays as it is. */
    void (*step_records)(float *const *values, const int32_t *cells, ptrdiff_t n_trees,
                         ptrdiff_t length, int32_t none, ptrdiff_t n_experts, ptrdiff_t n_outputs,
                         const float *factors, const float *falls);
    /* Write n numbers as whole ones, the largest of which has so many bits. Returns their unit. */
    double (*code_numbers)(const float *numbers, ptrdiff_t n, int bits, int16_t *coded);
    /* The best cut of at most OK_MOST_SORTED rows, which have OK_SOUGHT codes each, of 15 bits, and
     * `width` coded numbers, 1 or OK_CUT_LANES: if it gains more than `best`, it takes its place. */
    void (*cut_sorted)(const uint16_t *codes, const int32_t *rows, ptrdiff_t n,
                       const int16_t *numbers, ptrdiff_t width, ptrdiff_t n_axes,
                       ok_exact_cut *best);
    /* Of more rows: begin; count all; turn to the codes of two bins beside the best edge of each
     * axis; count all once more; take the best cut. */
    void (*begin_counts)(ok_counts *counts, ptrdiff_t width);
    void (*count_rows)(const uint16_t *codes, const int32_t *rows, ptrdiff_t n,
                       const int16_t *numbers, ptrdiff_t width, ptrdiff_t n_axes,
                       ok_counts *counts);
    void (*near_edges)(ok_counts *counts, ptrdiff_t n, ptrdiff_t width, ptrdiff_t n_axes);
    void (*cut_counted)(const uint16_t *codes, const int32_t *rows, ptrdiff_t n, ptrdiff_t width,
                        ptrdiff_t n_axes, const ok_counts *counts, ok_exact_cut *best);
} ok_forest_table;

/* The table for an instruction set; NULL if there is none. */
const ok_forest_table *ok_forest_select(const char *name);

#endif
