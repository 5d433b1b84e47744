/* The vector primitives of onlinekern: products of samples with feature-major panels, and the
 * element-wise kernel functions over a block of them.
 *
 * A panel holds OK_PANEL vectors feature by feature: element (feature j, lane v) is at
 * panel[j * OK_PANEL + v]. Support vectors live in panels, and so do the coming samples of a
 * look-ahead window; the product of one with the other is the same code in both directions.
 *
 * Every lane accumulates its features in ascending order in one accumulator, whatever the number of
 * rows handled together. The product of two rows is therefore the same number, bit for bit, in
 * any block shape, and a zero feature changes nothing: dense and sparse rows agree as well.
 *
 * The same source is compiled once for each instruction set; ok_vector_select() picks one table.
 */
#ifndef OK_VECTOR_H
#define OK_VECTOR_H

#include <stddef.h>
#include <stdint.h>

#define OK_PANEL 64
#define OK_SUMS 32 /* of an unfinished dot */
/* Below it, the curvature of a dual problem counts as this. */
#define OK_LEAST_BEND 1e-12

/* How two rows are accumulated into one number. */
enum ok_accumulate {
    OK_DOT = 0,      /* sum_j x_j s_j                                                        */
    OK_SQUARED = 1,  /* sum_j (x_j - s_j)^2, dense rows only                                 */
    OK_ABSOLUTE = 2  /* dense: sum_j |x_j - s_j|; sparse: the same less ||x||_1 + ||s||_1    */
};

/* The stored elements of one sparse row, columns ascending and unique. */
typedef struct {
    const int32_t *columns;
    const void *values;
    ptrdiff_t count;
} ok_sparse_row;

/* What can be wrong with the indices of a CSR matrix. */
enum ok_csr_faults {
    OK_CSR_STARTS = 1,  /* a row begins before 0, ends beyond what is stored, or ends first     */
    OK_CSR_COLUMNS = 2, /* a column is not one of the matrix                                    */
    OK_CSR_ORDER = 4    /* the columns of a row do not ascend, or one of them is there twice    */
};

/* The primitives for one element type; `void` stands for float or double.
 * Blocks `g` are row-major with leading dimension `ld`, all counts are in elements. */
typedef struct {
    size_t itemsize; /* of the element type, in bytes */
    /* g[i, 0:OK_PANEL] = accumulate(x_i, every lane of the panel) for n rows of d features. */
    void (*dense[3])(const void *x, ptrdiff_t ldx, ptrdiff_t n, ptrdiff_t d, const void *panel,
                     void *g, ptrdiff_t ld);
    /* The same for sparse rows. With `place` not NULL, column c of a row is the panel's feature
     * place[c], and columns with place[c] < 0 are not in the panel (all its lanes are 0 there).
     * OK_SQUARED has no sparse form: its entry is NULL. */
    void (*sparse[3])(const ok_sparse_row *rows, ptrdiff_t n, const int32_t *place,
                      const void *panel, void *g, ptrdiff_t ld);
    /* g[i, j] <- exp(min(0, c g[i, j] - (a[i] + b[j]))); a and b may both be NULL (zeros). */
    void (*exponential)(void *g, ptrdiff_t ld, ptrdiff_t n, ptrdiff_t m, double c, const void *a,
                        const void *b);
    /* g[i, j] <- g[i, j] (a[i] b[j]) */
    void (*scale)(void *g, ptrdiff_t ld, ptrdiff_t n, ptrdiff_t m, const void *a, const void *b);
    /* g[i, j] <- (c g[i, j] + offset)^degree, degree >= 1 */
    void (*power)(void *g, ptrdiff_t ld, ptrdiff_t n, ptrdiff_t m, double c, double offset,
                  long degree);
    /* g[i, j] <- tanh(c g[i, j] + offset) */
    void (*tanh)(void *g, ptrdiff_t ld, ptrdiff_t n, ptrdiff_t m, double c, double offset);
    /* sum_j g[j] a[j] in double; n is a multiple of OK_PANEL */
    double (*dot)(const void *g, const double *a, ptrdiff_t n);
    /* the same with two coefficient vectors in one pass over g */
    void (*dot2)(const void *g, const double *a, const double *b, ptrdiff_t n, double *sums);
    /* ||x||^2 and ||x||_1 of n elements, in double */
    void (*norms)(const void *x, ptrdiff_t n, double *square, double *absolute);
    /* Whether all of n elements are finite. */
    int (*all_finite)(const void *x, ptrdiff_t n);
    /* a[j] += c g[j] in double */
    void (*add)(const void *g, double c, double *a, ptrdiff_t n);
    /* t = g[i, j]: g[i, j] <- c cos t, g[i, sine + j] <- c sin t. Of |t| beyond 2^13 in float, 2^26
     * in double, the results are somewhere in [-c, c]; m <= sine. */
    void (*cosine_sine)(void *g, ptrdiff_t ld, ptrdiff_t n, ptrdiff_t m, ptrdiff_t sine, double c);
    /* a[j] <- the nearest number within -limit ... limit, in double */
    void (*clip)(double *a, double limit, ptrdiff_t n);
    /* The first j < n of least (sum_k a[k stride + j]^2) (b[j] - c g[j]^2), in double; all may be
     * read up to whole panels. */
    ptrdiff_t (*cheapest)(const void *g, double c, const double *a, ptrdiff_t stride,
                          ptrdiff_t outputs, const double *b, ptrdiff_t n);
    /* g[i, j] <- tile[j, i] for n <= OK_PANEL rows of g and the OK_PANEL rows of the tile, whose
     * leading dimension is OK_PANEL too; g has room for n rounded up to a multiple of 4 rows. */
    void (*transpose)(const void *tile, ptrdiff_t n, void *g, ptrdiff_t ld);
    /* d = x[j] - mean[j]: variance[j] <- (1 - share) (variance[j] + share d^2), mean[j] += share d,
     * in double; a variance too small to be divided by becomes 0. Where the variance is > 0, d is at
     * most `reach`, which may be infinite, times its root. */
    void (*follow)(const void *x, double share, double reach, double *mean, double *variance,
                   ptrdiff_t n);
    /* out[j] <- (x[j] - mean[j]) / sqrt(variance[j]), computed in double and clipped to
     * -limit ... limit. It is not divided where the variance is 0 to rounding. With NULL for
     * `variance`, x[j] - mean[j]. */
    void (*standardise)(const void *x, const double *mean, const double *variance, double limit,
                        void *out, ptrdiff_t n);
    /* x <- H x for the Hadamard matrix of n rows, H[i, j] = -1 to the number of bits that i and j
     * both have; n is a power of 2 and at least 16. */
    void (*hadamard)(void *x, ptrdiff_t n);
    /* Dots in pieces, which add up to the bits of `dot`: OK_SUMS sums, 0 at first, to which each
     * piece adds its terms in turn; n is a multiple of OK_PANEL. Those of each of some rows, ldg elements
     * apart, with each of `count` vectors, lda apart; sums: rows x count x OK_SUMS. */
    void (*add_dots)(const void *g, ptrdiff_t ldg, ptrdiff_t rows, const double *a, ptrdiff_t lda,
                     ptrdiff_t count, ptrdiff_t n, double *sums);
    double (*finish_dot)(const double *sums);
    /* Of a dual problem with the gradient a: a[j] + up[j] is the slope of variable j upwards,
     * a[j] + down[j] downwards, -inf and inf at its bounds. n is a multiple of OK_PANEL, and each
     * pass writes one number per panel.
     * a[j] -= c (g[j] - h[j]); tops: the largest slope upwards; returns the least downwards. */
    double (*pair_step)(const void *g, const void *h, double c, double *a, const double *up,
                        const double *down, ptrdiff_t n, double *tops);
    /* gains: the largest max(0, top - (a[j] + down[j]))^2 / (length + lengths[j] - 2 g[j]). */
    void (*pair_gains)(const void *g, double top, double length, const double *lengths,
                       const double *a, const double *down, ptrdiff_t n, double *gains);
    /* a[j] -= c g[j]; gains: the largest v^2 / lengths[j], v = max(0, a[j] + up[j],
     * -(a[j] + down[j])); returns the largest v. */
    double (*single_step)(const void *g, double c, const double *lengths, double *a,
                          const double *up, const double *down, ptrdiff_t n, double *gains);
    /* g[i, 0:OK_PANEL] += x_i'(every lane of the panel) for n rows of d features. */
    void (*dense_onto)(const void *x, ptrdiff_t ldx, ptrdiff_t n, ptrdiff_t d, const void *panel,
                       void *g, ptrdiff_t ld);
    /* out += S a in double for the symmetric matrix S of n rows whose lower triangle is in g. Rows and
     * columns of zeros at its end change no bit. */
    void (*symmetric)(const void *g, ptrdiff_t ld, ptrdiff_t n, const double *a, double *out);
    /* sum_i g[slots[i]] a[i] for n ascending slots: the bits of `dot` with the a[i] in their slots, and
     * zeros in all others. */
    double (*listed_dot)(const void *g, const int32_t *slots, const double *a, ptrdiff_t n);
    /* g[i, 0:OK_PANEL] = the number of columns that row i shares with every lane of the panel, for n
     * rows of ones. The panel holds bytes, 0 or 1. The bits are those of `sparse` with OK_DOT. What lies
     * `ahead` bytes behind the panel will probably be asked for soon. */
    void (*ones_dot)(const ok_sparse_row *rows, ptrdiff_t n, const uint8_t *panel, ptrdiff_t ahead,
                     void *g, ptrdiff_t ld);
    /* g[i, 0:OK_PANEL] = (||x_i||^2 + squares[lane]) - 2 x_i'(lane) for n sparse rows, as `sparse` has
     * them. Each sum is one accumulator in double, features ascending: products of float are exact
     * there, so that bits do not depend on which row is in the panel. */
    void (*sparse_squared)(const ok_sparse_row *rows, ptrdiff_t n, const int32_t *place,
                           const void *panel, const double *squares, void *g, ptrdiff_t ld);
} ok_vector_ops;

typedef struct {
    const char *name;        /* "x86-64-v4", "x86-64-v3" or "baseline" */
    ok_vector_ops float32;
    ok_vector_ops float64;
    /* What is wrong with the indices of n rows of a CSR matrix with d columns and room for `stored`
     * elements: 0, or the ok_csr_faults that it has. `starts` has n + 1 elements. */
    int (*csr_faults)(const int32_t *columns, const int32_t *starts, ptrdiff_t n, int32_t d,
                      int32_t stored);
} ok_vector_table;

/* The best table that this processor runs, or, with `name` not NULL, the one so called.
 * NULL when there is none of that name here. */
const ok_vector_table *ok_vector_select(const char *name);

#endif
