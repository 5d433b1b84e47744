/* The inner loops of forests, compiled once per instruction set: drawing, scoring and applying splits
 * of a node, summing and updating the records of cells, and scaling rows.
 *
 * All instruction sets sum in the same lanes and the same order, without fused multiply-add. So
 * forests are the same, bit for bit, on all processors of one kind. */
#ifndef OK_FOREST_LOOPS_H
#define OK_FOREST_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#define OK_CUT_LANES 8 /* partial sums of a vector */
#define OK_CUTS 4      /* splits that are scored together */
#define OK_MOST_SCORED 255 /* most rows of a node that score its random splits */
#define OK_SOUGHT 16       /* most axes that exact splits are searched along */
#define OK_LEAST_ROWS 3    /* least rows on each side of an exact split */
#define OK_MOST_SORTED 512 /* most rows of a node that are sorted for an exact split; */
#define OK_BINS 256        /* larger nodes are counted in this many bins per axis */
/* Scaled values are clipped here, so that products with them stay finite. */
#define OK_FARTHEST 1e6

/* Gains of the random splits along an axis: the sum of their gains beyond chance, the rows that scored
 * them, and their number. */
typedef struct {
    double gain, rows, cuts;
} ok_gains;

/* A split: a row goes left if its value in column `feature` is at most `at`. gain < 0: no split. */
typedef struct {
    double gain;
    ptrdiff_t feature;
    float at;
} ok_cut;

/* The data that random splits are drawn and scored from. */
typedef struct {
    const float *rows;    /* scaled rows, n_rows x width */
    const float *columns; /* the same, column by column */
    ptrdiff_t n_rows, width;
    ptrdiff_t n_axes, n_drawn_from; /* columns: axes come first, then directions, then gaps */
    const float *slopes;            /* absolute slopes, n_drawn_from in a row */
    const int32_t *slope_of;        /* row of `slopes` for each row */
    const int32_t *side_of;         /* first gap column of each axis, 0: none; NULL: no axis has any */
    ptrdiff_t n_candidates;         /* random splits of a node; 1: they are not scored */
    const float *left;              /* residuals, n_numbers in a row */
    ptrdiff_t n_numbers;            /* 1 or OK_CUT_LANES */
    const float *shares[2];         /* factors of the differences of columns, in draws without and
                                     * with slopes; padded to whole lanes */
    ok_gains *gains;                /* of each axis */
    int32_t *order;                 /* row numbers, node by node */
    float *weights;                 /* buffer: weights of the columns in OK_CUT_LANES draws, each
                                     * two vectors longer than `width` */
    uint64_t seed, drawn;           /* seed of the tree, and how many numbers have been drawn */
} ok_cutter;

/* The best exact split so far: between the codes `low` and `high` along an axis; -1: none. */
typedef struct {
    float gain;
    int32_t axis, low, high;
} ok_exact_cut;

/* Histograms of the rows of a node along each axis. In the first pass a bin is a range of codes. In
 * the second pass (is_near) it is a single code, from first[a] on, near the best edge of the first. */
typedef struct {
    int is_near;
    uint16_t first[OK_SOUGHT];
    /* Sum of all rows; sum and number of the rows with codes below first[a]. */
    int32_t total[OK_CUT_LANES], sums_below[OK_SOUGHT][OK_CUT_LANES], below[OK_SOUGHT];
    /* Sum and number of the rows in each bin. With one output both are halves of one number: the sum
     * is the upper half, the count the lower one. */
    union {
        struct {
            uint64_t pairs[OK_BINS][OK_SOUGHT];
        } of_one;
        struct {
            int32_t sums[OK_SOUGHT][OK_BINS][OK_CUT_LANES];
            int32_t counts[OK_SOUGHT][OK_BINS];
        } of_several;
    } bins;
} ok_counts;

typedef struct {
    const char *name; /* as in ok_vector_table */
    /* Draw random splits of the rows order[first] ... order[last - 1] and return the best; with few
     * rows the first. */
    ok_cut (*best_cut)(ok_cutter *cutter, ptrdiff_t first, ptrdiff_t last);
    /* Move the rows order[first] ... order[last - 1] that go left to order[middle], ..., where the
     * right side of the node begins so far; return where it begins then. A node is divided in one
     * call or in pieces, from its first row on; `middle` is the first row in the beginning. */
    ptrdiff_t (*divide)(const ok_cutter *cutter, ptrdiff_t first, ptrdiff_t last, ptrdiff_t middle,
                        const ok_cut *cut);
    /* sums[j] = sum_t values[t][cells[t] * length + j], j < length, a multiple of 8. */
    void (*add_records)(float *const *values, const int32_t *cells, ptrdiff_t n_trees,
                        ptrdiff_t length, double *sums);
    /* Update the record of one cell of each tree: w[e, k] += factors[e, k] v[e] and
     * v[e] -= contractions[e] v[e]^2. A record has n_experts x n_outputs weights w, then n_experts
     * variances v. A cell numbered `none` is not changed. */
    void (*step_records)(float *const *values, const int32_t *cells, ptrdiff_t n_trees,
                         ptrdiff_t length, int32_t none, ptrdiff_t n_experts, ptrdiff_t n_outputs,
                         const float *factors, const float *contractions);
    /* Round n numbers times a power of two to integers, so that the largest has `bits` bits. Returns
     * that power. */
    double (*code_numbers)(const float *numbers, ptrdiff_t n, int bits, int16_t *coded);
    /* Replace `best` by the best exact split of n <= OK_MOST_SORTED rows, if it gains more. A row has
     * OK_SOUGHT codes of 15 bits, and `width` integer residuals, 1 or OK_CUT_LANES. */
    void (*cut_sorted)(const uint16_t *codes, const int32_t *rows, ptrdiff_t n,
                       const int16_t *numbers, ptrdiff_t width, ptrdiff_t n_axes,
                       ok_exact_cut *best);
    /* The same for more rows, in five steps: begin_counts; count_rows for all rows; near_edges, which
     * chooses the two bins beside the best edge of each axis; count_rows for all rows again;
     * cut_counted. */
    void (*begin_counts)(ok_counts *counts, ptrdiff_t width);
    void (*count_rows)(const uint16_t *codes, const int32_t *rows, ptrdiff_t n,
                       const int16_t *numbers, ptrdiff_t width, ptrdiff_t n_axes,
                       ok_counts *counts);
    void (*near_edges)(ok_counts *counts, ptrdiff_t n, ptrdiff_t width, ptrdiff_t n_axes);
    void (*cut_counted)(const uint16_t *codes, const int32_t *rows, ptrdiff_t n, ptrdiff_t width,
                        ptrdiff_t n_axes, const ok_counts *counts, ok_exact_cut *best);
    /* As `divide` in one call, by an exact split. */
    ptrdiff_t (*divide_codes)(const uint16_t *codes, int32_t *order, ptrdiff_t first,
                              ptrdiff_t last, const ok_exact_cut *cut);
    /* z[j] = (x[j] - center[j]) factor[j] of d floats or doubles, clipped at OK_FARTHEST; 0 for NaN. */
    void (*scale_row)(const void *x, ptrdiff_t itemsize, const double *center,
                      const double *factor, ptrdiff_t d, float *z);
    /* z[n_axes + k] = sum_j z[j] directions[j * OK_CUT_LANES + k] for n rows z, `width` apart. */
    void (*direct_rows)(float *z, ptrdiff_t n, ptrdiff_t width, const float *directions,
                        ptrdiff_t n_axes);
    /* Excess kurtosis of n numbers, after removing those farther than `reach` deviations from the
     * mean, twice over; 0 if all are equal. */
    double (*kurtosis)(const double *u, ptrdiff_t n, double reach);
} ok_forest_table;

/* The table for an instruction set; NULL if there is none. */
const ok_forest_table *ok_forest_select(const char *name);

#endif
