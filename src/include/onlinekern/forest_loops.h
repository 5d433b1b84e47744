/* The loops of forests that most of their time goes into, once per instruction set: what cuts of a
 * node gain, the numbers of the cells of a row, and the units that rows are cut in.
 *
 * Sums are taken in the same lanes and the same order at each level, without fused multiply-add:
 * forests are the same, bit for bit, on all processors of one kind. */
#ifndef OK_FOREST_LOOPS_H
#define OK_FOREST_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#define OK_CUT_LANES 8 /* numbers that are summed side by side */
#define OK_CUTS 4      /* cuts that are looked at together */
#define OK_MOST_SCORED 255 /* rows of a node that tell what a cut gains */
#define OK_SOUGHT 16       /* axes along which exact cuts are sought, at most */
#define OK_LEAST_ROWS 3    /* rows on each side of an exact cut, at least */
#define OK_MOST_SORTED 512 /* rows of a node that are sorted, at most */
#define OK_BINS 256        /* larger ones are counted, in so many bins an axis */
/* A scaled value is cut off at so many spreads: products with it stay finite. */
#define OK_FARTHEST 1e6

/* What cuts that were drawn along an axis gained: the sum of what chance would not have given, the rows
 * that told, and how many cuts they were. */
typedef struct {
    double gain, rows, cuts;
} ok_gains;

/* A cut, and what it gains (< 0: there is none): a row goes left where its number is at most `at`. */
typedef struct {
    double gain;
    ptrdiff_t feature;
    float at;
} ok_cut;

/* What nodes are cut by at random. */
typedef struct {
    const float *rows;    /* n_rows x width, scaled, */
    const float *columns; /* and column by column */
    ptrdiff_t n_rows, width;
    ptrdiff_t n_axes, n_drawn_from; /* columns: features, and these and directions */
    const float *slopes;            /* absolute, along the latter, */
    const int32_t *slope_of;        /* and which of them belongs to each row */
    const int32_t *side_of;         /* first side of each axis, 0: without gaps; NULL: all are */
    ptrdiff_t n_candidates;         /* 1: cuts do not look at the targets */
    const float *left;              /* what is left of these, */
    ptrdiff_t n_numbers;            /* 1 or OK_CUT_LANES a row */
    const float *shares[2];         /* factors of differences along axes, and along columns where
                                     * these count times the slope; whole lanes */
    ok_gains *gains;                /* of each axis */
    int32_t *order;                 /* rows, node by node */
    float *weights;                 /* of columns, for OK_CUT_LANES draws: each two vectors more */
    uint64_t seed, drawn;           /* random numbers of the tree, and how many have been drawn */
} ok_cutter;

/* The best exact cut so far: between two codes along an axis. -1: there is none. */
typedef struct {
    float gain;
    int32_t axis, low, high;
} ok_exact_cut;

/* The rows of a node, counted in bins of codes; or, near the best edges of these, in single codes from
 * first[a] on along axis a. */
typedef struct {
    int is_near;
    uint16_t first[OK_SOUGHT];
    /* What all rows sum to, those that have lower codes, and how many these are. */
    int32_t total[OK_CUT_LANES], sums_below[OK_SOUGHT][OK_CUT_LANES], below[OK_SOUGHT];
    /* The sum of the rows in each bin, and how many they are: of single numbers as the upper and
     * the lower half of one. */
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
    const char *name; /* as of ok_vector_table */
    /* The best of the cuts that are drawn for the rows order[first] ... order[last - 1], or the first
     * where the rows are few. */
    ok_cut (*best_cut)(ok_cutter *cutter, ptrdiff_t first, ptrdiff_t last);
    /* Bring those of these rows that go left before the others, of which the first is at `middle`, in
     * front of them; return where it is then. A node is divided at once or in pieces, from its first
     * row on, which is `middle` at first. */
    ptrdiff_t (*divide)(const ok_cutter *cutter, ptrdiff_t first, ptrdiff_t last, ptrdiff_t middle,
                        const ok_cut *cut);
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
    /* The same as `divide`, at once, of the rows of a node that has been cut so. */
    ptrdiff_t (*divide_codes)(const uint16_t *codes, int32_t *order, ptrdiff_t first,
                              ptrdiff_t last, const ok_exact_cut *cut);
    /* z[j] = (x[j] - center[j]) factor[j] of d floats or doubles, cut off at OK_FARTHEST; 0 where x is NaN. */
    void (*scale_row)(const void *x, ptrdiff_t itemsize, const double *center,
                      const double *factor, ptrdiff_t d, float *z);
    /* z[n_axes + k] = sum_j z[j] directions[j * OK_CUT_LANES + k] of n rows z, `width` numbers apart. */
    void (*direct_rows)(float *z, ptrdiff_t n, ptrdiff_t width, const float *directions,
                        ptrdiff_t n_axes);
    /* The excess kurtosis of n numbers without those that are farther from the mean than so many
     * deviations, twice over; 0 if all are the same. */
    double (*kurtosis)(const double *u, ptrdiff_t n, double reach);
} ok_forest_table;

/* The table for an instruction set; NULL if there is none. */
const ok_forest_table *ok_forest_select(const char *name);

#endif
