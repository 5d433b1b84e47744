/* Recursive least squares of features: rows [x / sqrt(d), 1, z(x)], z of landmarks or frequencies.
   The core's `linalg.open_block` has the equations. Symmetric matrices are lower triangles, row
   i from i (i + 1) / 2 on. */
#ifndef OKN_SQUARES_H
#define OKN_SQUARES_H

#include "model.h"

enum { OKN_LANES = 64, OKN_RESIDUALS = 512, OKN_LEVELS = 14 };

/* How far the last predictions were off: the core's `models.residuals`. */
typedef struct {
    int64_t seen;
    real recent[OKN_RESIDUALS], levels[OKN_LEVELS];
} residuals_type;

typedef struct okn_squares {
    /* features: `base` of the row itself in front of those of the map; `most` can be used */
    int has_linear, has_constant, only_entered;
    int64_t base, used, most, n_landmarks, most_landmarks, wide;
    real factor, least, steepest;
    real *whitening;
    /* sums A and b, N = A^-1 and w before the open block; rows of `stride` numbers */
    real *matrix, *vectors, *inverse, *weights;
    real reg, forgetting, coming; /* `coming`: r from the end of the block on, where known; or 0 */
    int64_t block_length, epoch_length, count, since, entered;
    /* the open block: q = N phi and phi of its samples, C row by row, and E */
    real *products, *rows, *factors, *innovations, *targets, *sample_weights;
    real *evidence; /* NULL where r is given */
    residuals_type *residuals;
    /* what calls overwrite */
    real *direction, *solved, *substituted, variance;
    int settled;
} squares;

/* Of squares.c: scores of a row by all samples so far; then q and phi' A^-1 phi, kept for what
   follows; a feature more, of the row and of all others; and the row enters, with steps
   weight (y - f). What fails, with a code of okn.h, has changed nothing. */
void okn_squares_score(okn_t *model, const real *phi, real *scores);
void okn_squares_measure(okn_t *model, const real *phi);
void okn_squares_border(squares *own, real feature);
int okn_squares_enter(okn_t *model, const real *phi, real weight, const real *steps,
                      const real *scores);
/* Let the values of the model be w after all samples so far. */
void okn_squares_settle(okn_t *model);

/* Of triangles.c: where row n begins, which is how many numbers are before it; products. */
int64_t okn_triangle(int64_t n);
real okn_product_of(const real *a, const real *b, int64_t n);
void okn_triangle_multiply(const real *matrix, int64_t n, const real *x, real *out);
/* matrix += sum over the rows of share times its outer product; `stride` apart. */
void okn_triangle_add(real *matrix, int64_t n, const real *rows, int64_t stride, int64_t count,
                      const real *shares);
/* The Cholesky factor in the place of a matrix; 0, or -1: it is not positive. */
int okn_triangle_factor(real *matrix, int64_t n);
/* x = L^-1 x; x = (L L')^-1 x. */
void okn_triangle_solve_lower(const real *factor, int64_t n, real *x);
void okn_triangle_solve(const real *factor, int64_t n, real *x);
/* out = (L L')^-1; the factor is overwritten. */
void okn_triangle_invert(real *factor, int64_t n, real *out);

/* Where a pointer to some rows of numbers is, or to words of as many bits; how many there will be,
   and how many numbers each has and will have. */
typedef struct {
    void *place;
    int64_t rows, fresh_rows, from, to;
    void *fresh;
} wider;
/* Give all of them their memory, or none. 0, or OKN_NO_MEMORY. */
int okn_widen(wider *parts, size_t n);

/* Of squares_step.c: room for another landmark; a sample. */
int okn_squares_make_room(okn_t *model);
int okn_squares_step(okn_t *model, const row *x, real y);

/* Of squares_file.c: where feature f is in a row of a file, how many numbers that has, and where
   element (i, j), i >= j or in the panel of j, of a matrix of n x n is among its panels. */
int64_t okn_squares_place(const okn_t *model, int64_t f);
int64_t okn_squares_width(const okn_t *model);
int64_t okn_panel_place(int64_t n, int64_t panel, int64_t i, int64_t j);
int okn_squares_read(okn_t *model, const json_value *space);
void okn_squares_free(squares *own);
/* Of squares_save.c. */
int okn_squares_set(okn_t *model, const json_value *space);

#endif
