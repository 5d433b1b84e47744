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
} ok_forest_table;

/* The table for an instruction set; NULL if there is none. */
const ok_forest_table *ok_forest_select(const char *name);

#endif
