/* The loops of forest_loops.h for one instruction set: compiled once per level, with OK_TABLE and
 * OK_LEVEL set by the build. */
#include "onlinekern/forest_loops.h"

#include <math.h>
#include <string.h>

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define INLINE static inline __attribute__((always_inline))
#define LANES OK_CUT_LANES

typedef float numbers8 __attribute__((vector_size(4 * LANES)));
typedef int32_t integers8 __attribute__((vector_size(4 * LANES)));

INLINE numbers8 load8(const float *p)
{
    numbers8 v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void add_records(float *const *values, const int32_t *cells, ptrdiff_t n_trees,
                        ptrdiff_t length, double *sums)
{
    for (ptrdiff_t first = 0; first < length; first += LANES) {
        double total[LANES] = {0};
        for (ptrdiff_t t = 0; t < n_trees; t++) {
            const float *numbers = values[t] + cells[t] * length + first;
            UNROLL
            for (int j = 0; j < LANES; j++)
                total[j] += (double)numbers[j];
        }
        memcpy(sums + first, total, sizeof total);
    }
}

/* `step_records`; n_experts and n_outputs are constants where it is inlined. */
INLINE void steps_of(const ptrdiff_t n_experts, const ptrdiff_t n_outputs, float *const *values,
                     const int32_t *cells, ptrdiff_t n_trees, ptrdiff_t length, int32_t none,
                     const float *restrict factors, const float *restrict contractions)
{
    for (ptrdiff_t t = 0; t < n_trees; t++) {
        float *restrict weights = values[t] + cells[t] * length;
        float *restrict variances = weights + n_experts * n_outputs;
        if (cells[t] == none)
            continue;
        for (ptrdiff_t e = 0; e < n_experts; e++)
            for (ptrdiff_t k = 0; k < n_outputs; k++)
                weights[e * n_outputs + k] += factors[e * n_outputs + k] * variances[e];
        for (ptrdiff_t e = 0; e < n_experts; e++)
            variances[e] -= contractions[e] * variances[e] * variances[e];
    }
}

/* `step_records` with 2 to LANES outputs; n_experts <= 4 is a constant where it is inlined. */
INLINE void few_steps_of(const ptrdiff_t n_experts, ptrdiff_t n_outputs, float *const *values,
                         const int32_t *cells, ptrdiff_t n_trees, ptrdiff_t length, int32_t none,
                         const float *factors, const float *contractions)
{
    numbers8 factor[4];
    for (ptrdiff_t e = 0; e < n_experts; e++) {
        factor[e] = (numbers8){0};
        memcpy(&factor[e], factors + e * n_outputs, (size_t)n_outputs * sizeof(float));
    }
    for (ptrdiff_t t = 0; t < n_trees; t++) {
        float *weights = values[t] + cells[t] * length;
        float *variances = weights + n_experts * n_outputs, reduced[4];
        numbers8 stepped[4];
        if (cells[t] == none)
            continue;
        /* A vector is longer than the weights of an expert. Behind them its steps are 0, but it
         * overlaps the weights of the next expert, the variances or another record. So all vectors
         * are read before any is written, and they are written in this order. */
        UNROLL
        for (ptrdiff_t e = 0; e < n_experts; e++) {
            stepped[e] = load8(weights + e * n_outputs) + factor[e] * variances[e];
            reduced[e] = variances[e] - contractions[e] * variances[e] * variances[e];
        }
        UNROLL
        for (ptrdiff_t e = 0; e < n_experts; e++)
            memcpy(weights + e * n_outputs, &stepped[e], sizeof stepped[e]);
        UNROLL
        for (ptrdiff_t e = 0; e < n_experts; e++)
            variances[e] = reduced[e];
    }
}

static void step_records(float *const *values, const int32_t *cells, ptrdiff_t n_trees,
                         ptrdiff_t length, int32_t none, ptrdiff_t n_experts, ptrdiff_t n_outputs,
                         const float *factors, const float *contractions)
{
    /* Defaults: four experts for the leaves, two for the upper cells. */
    if (n_outputs == 1 && n_experts == 4)
        steps_of(4, 1, values, cells, n_trees, length, none, factors, contractions);
    else if (n_outputs == 1 && n_experts == 2)
        steps_of(2, 1, values, cells, n_trees, length, none, factors, contractions);
    else if (n_outputs <= LANES && n_experts == 4)
        few_steps_of(4, n_outputs, values, cells, n_trees, length, none, factors, contractions);
    else if (n_outputs <= LANES && n_experts == 2)
        few_steps_of(2, n_outputs, values, cells, n_trees, length, none, factors, contractions);
    else
        steps_of(n_experts, n_outputs, values, cells, n_trees, length, none, factors, contractions);
}

#include "forest_exact.h"
#include "forest_counted.h"
#include "forest_draw.h"
#include "forest_score.h"
#include "forest_random.h"
#include "forest_units.h"

const ok_forest_table OK_TABLE = {
    OK_LEVEL,   best_cut,     divide,     add_records, step_records, code_numbers,
    cut_sorted, begin_counts, count_rows, near_edges,  cut_counted,  divide_codes,
    scale_row,  direct_rows, kurtosis,
};
