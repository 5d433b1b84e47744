/* Template: products of rows with a panel, and dot products with double coefficients.
 * Included by vector_kernels.c with REAL, INTEGER and SUFFIX set. */

#define NAME(base) JOIN(base, SUFFIX)
#define LANES ((ptrdiff_t)(OK_BYTES / sizeof(REAL)))
/* A tile of ROWS x VECTORS sums must fit the registers. AVX-512 has 32: 6 x 4 sums, 4 of the panel
 * and 1 broadcast element. AVX2 and SSE have 16: 6 x 2 or 4 x 2 sums, 2 and 1. NEON has 32, and
 * multiplies by an element of a register: 4 x 4 sums, 4 of the panel and 4 of the rows. */
#if OK_BYTES == 64
#define ROWS 6
#define VECTORS 4
#elif OK_BYTES == 32
#define ROWS 6
#define VECTORS 2
#elif defined(__aarch64__)
#define ROWS 4
#define VECTORS 4
#else
#define ROWS 4
#define VECTORS 2
#endif
#define STRIP (VECTORS * LANES)
/* Registers of sums for a single row, or a sparse one: at most half of all. */
#define WIDEST 8
#define SINGLE_VECTORS (OK_PANEL / LANES < WIDEST ? OK_PANEL / LANES : WIDEST)
#define SINGLE_STRIP (SINGLE_VECTORS * LANES)
#define PIECE 128 /* elements of a sparse row whose places are looked up together */
#define VECTOR NAME(vector)
#define BITS NAME(bits)

typedef REAL VECTOR __attribute__((vector_size(OK_BYTES), may_alias));
typedef INTEGER BITS __attribute__((vector_size(OK_BYTES), may_alias));

INLINE VECTOR NAME(load)(const REAL *p)
{
    VECTOR v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void NAME(store)(REAL *p, VECTOR v)
{
    memcpy(p, &v, sizeof v);
}

INLINE VECTOR NAME(magnitude)(VECTOR v)
{
    return (VECTOR)((BITS)v & ~((BITS){0} + (INTEGER)((uint64_t)1 << (8 * sizeof(REAL) - 1))));
}

/* One term of the sum: x is one element of a row, s the same feature of LANES vectors. */
INLINE VECTOR NAME(term)(int accumulate, VECTOR sum, REAL x, VECTOR s)
{
    if (accumulate == OK_DOT)
        return sum + x * s;
    VECTOR difference = x - s;
    if (accumulate == OK_SQUARED)
        return sum + difference * difference;
    return sum + NAME(magnitude)(difference);
}

/* The term of a stored element of a sparse row: features not stored are 0 and must add nothing. */
INLINE VECTOR NAME(sparse_term)(int accumulate, VECTOR sum, REAL x, VECTOR s)
{
    if (accumulate == OK_DOT)
        return sum + x * s;
    REAL size = x < 0 ? -x : x;
    /* Symmetric in x and s to the bit, and exactly 0 where either is 0. */
    return sum + (NAME(magnitude)(x - s) - (size + NAME(magnitude)(s)));
}

/* Products of a tile of rows x vectors. With `onto`, they are added to g. */
INLINE void NAME(dense_tile)(int accumulate, const int onto, const int rows, const int vectors,
                             const REAL *x, ptrdiff_t ldx, ptrdiff_t d, const REAL *panel, REAL *g,
                             ptrdiff_t ld)
{
    VECTOR sum[ROWS][WIDEST];
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[i][v] = onto ? NAME(load)(g + i * ld + v * LANES) : (VECTOR){0};
    }
    for (ptrdiff_t j = 0; j < d; j++) {
        VECTOR s[WIDEST];
        UNROLL
        for (int v = 0; v < vectors; v++)
            s[v] = NAME(load)(panel + j * OK_PANEL + v * LANES);
        UNROLL
        for (int i = 0; i < rows; i++) {
            UNROLL
            for (int v = 0; v < vectors; v++)
                sum[i][v] = NAME(term)(accumulate, sum[i][v], x[i * ldx + j], s[v]);
        }
    }
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int v = 0; v < vectors; v++)
            NAME(store)(g + i * ld + v * LANES, sum[i][v]);
    }
}

INLINE void NAME(dense)(int accumulate, const int onto, const void *x_, ptrdiff_t ldx, ptrdiff_t n,
                        ptrdiff_t d, const void *panel_, void *g_, ptrdiff_t ld)
{
    const REAL *x = x_, *panel = panel_;
    REAL *g = g_;
    ptrdiff_t even = n - n % 2;
    for (ptrdiff_t strip = 0; strip < OK_PANEL; strip += STRIP) {
        ptrdiff_t i = 0;
        for (; i + ROWS <= even; i += ROWS)
            NAME(dense_tile)(accumulate, onto, ROWS, VECTORS, x + i * ldx, ldx, d, panel + strip,
                             g + i * ld + strip, ld);
        for (; i < even; i += 2)
            NAME(dense_tile)(accumulate, onto, 2, VECTORS, x + i * ldx, ldx, d, panel + strip,
                             g + i * ld + strip, ld);
    }
    /* A single row needs a wider strip: otherwise too few sums are independent to overlap. */
    for (ptrdiff_t strip = 0; even < n && strip < OK_PANEL; strip += SINGLE_STRIP)
        NAME(dense_tile)(accumulate, onto, 1, SINGLE_VECTORS, x + even * ldx, ldx, d,
                         panel + strip, g + even * ld + strip, ld);
}

/* Copies the elements whose column is in the panel, with the feature of each; returns their number.
 * There is no branch, because a misprediction would cost more than the element. */
INLINE ptrdiff_t NAME(present)(const int32_t *columns, const REAL *values, ptrdiff_t count,
                               const int32_t *place, int32_t *features, REAL *kept)
{
    ptrdiff_t n = 0;
    for (ptrdiff_t j = 0; j < count; j++) {
        features[n] = place[columns[j]];
        kept[n] = values[j];
        n += features[n] >= 0;
    }
    return n;
}

INLINE void NAME(sparse_sums)(int accumulate, const int32_t *features, const REAL *values,
                              ptrdiff_t count, const REAL *panel, VECTOR *sum)
{
    for (ptrdiff_t j = 0; j < count; j++) {
        const REAL *s = panel + (ptrdiff_t)features[j] * OK_PANEL;
        UNROLL
        for (int v = 0; v < SINGLE_VECTORS; v++)
            sum[v] = NAME(sparse_term)(accumulate, sum[v], values[j], NAME(load)(s + v * LANES));
    }
}

INLINE void NAME(sparse)(int accumulate, const ok_sparse_row *rows, ptrdiff_t n,
                         const int32_t *place, const void *panel_, void *g_, ptrdiff_t ld)
{
    for (ptrdiff_t strip = 0; strip < OK_PANEL; strip += SINGLE_STRIP) {
        const REAL *panel = (const REAL *)panel_ + strip;
        for (ptrdiff_t i = 0; i < n; i++) {
            const int32_t *columns = rows[i].columns;
            const REAL *values = rows[i].values;
            ptrdiff_t count = rows[i].count;
            VECTOR sum[SINGLE_VECTORS];
            UNROLL
            for (int v = 0; v < SINGLE_VECTORS; v++)
                sum[v] = (VECTOR){0};
            if (!place)
                NAME(sparse_sums)(accumulate, columns, values, count, panel, sum);
            for (ptrdiff_t first = 0; place && first < count; first += PIECE) {
                int32_t features[PIECE];
                REAL kept[PIECE];
                ptrdiff_t length = count - first < PIECE ? count - first : PIECE;
                length = NAME(present)(columns + first, values + first, length, place, features,
                                       kept);
                NAME(sparse_sums)(accumulate, features, kept, length, panel, sum);
            }
            REAL *out = (REAL *)g_ + i * ld + strip;
            UNROLL
            for (int v = 0; v < SINGLE_VECTORS; v++)
                NAME(store)(out + v * LANES, sum[v]);
        }
    }
}

#define DENSE(name, accumulate, onto)                                                        \
    static void NAME(name)(const void *x, ptrdiff_t ldx, ptrdiff_t n, ptrdiff_t d,          \
                           const void *panel, void *g, ptrdiff_t ld)                         \
    {                                                                                        \
        NAME(dense)(accumulate, onto, x, ldx, n, d, panel, g, ld);                           \
    }
DENSE(dense_dot, OK_DOT, 0)
DENSE(dense_squared, OK_SQUARED, 0)
DENSE(dense_absolute, OK_ABSOLUTE, 0)
DENSE(dense_onto, OK_DOT, 1)
#undef DENSE

/* Both cases of `place` are compiled, so that the loop over the elements does not test it. */
#define SPARSE(name, accumulate)                                                             \
    static void NAME(name)(const ok_sparse_row *rows, ptrdiff_t n, const int32_t *place,     \
                           const void *panel, void *g, ptrdiff_t ld)                         \
    {                                                                                        \
        if (place)                                                                           \
            NAME(sparse)(accumulate, rows, n, place, panel, g, ld);                          \
        else                                                                                 \
            NAME(sparse)(accumulate, rows, n, NULL, panel, g, ld);                           \
    }
SPARSE(sparse_dot, OK_DOT)
SPARSE(sparse_absolute, OK_ABSOLUTE)
#undef SPARSE

/* Dot products of a block row with double coefficients. */
#define DOT_LANES ((ptrdiff_t)(OK_BYTES / sizeof(double)))
#define DOT_VECTORS 4
#define DOT_STEP (DOT_VECTORS * DOT_LANES)
typedef double NAME(wide) __attribute__((vector_size(OK_BYTES), may_alias));
typedef double NAME(pair) __attribute__((vector_size(2 * sizeof(double)), may_alias));
typedef int64_t NAME(wide_bits) __attribute__((vector_size(OK_BYTES), may_alias));

/* Converts to double, element by element: GCC 12 compiles this to one instruction, but a conversion
 * of vectors to three. */
INLINE NAME(wide) NAME(widen)(const REAL *p)
{
    NAME(wide) v;
    UNROLL
    for (int l = 0; l < DOT_LANES; l++)
        v[l] = (double)p[l];
    return v;
}

INLINE NAME(wide) NAME(coefficients)(const double *p)
{
    NAME(wide) v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Number of lanes for which dot products with a sparse row are summed together, in double. */
#define WIDE_VECTORS (OK_PANEL / DOT_LANES < 8 ? OK_PANEL / DOT_LANES : 8)
#define WIDE_STRIP (WIDE_VECTORS * DOT_LANES)

static void NAME(sparse_squared)(const ok_sparse_row *rows, ptrdiff_t n, const int32_t *place,
                                 const void *panel_, const double *squares, void *g_, ptrdiff_t ld)
{
    for (ptrdiff_t strip = 0; strip < OK_PANEL; strip += WIDE_STRIP) {
        const REAL *panel = (const REAL *)panel_ + strip;
        for (ptrdiff_t i = 0; i < n; i++) {
            const int32_t *columns = rows[i].columns;
            const REAL *values = rows[i].values;
            NAME(wide) sum[WIDE_VECTORS];
            double square = 0;
            UNROLL
            for (int v = 0; v < WIDE_VECTORS; v++)
                sum[v] = (NAME(wide)){0};
            for (ptrdiff_t first = 0; first < rows[i].count; first += PIECE) {
                int32_t features[PIECE];
                REAL kept[PIECE];
                ptrdiff_t length = rows[i].count - first < PIECE ? rows[i].count - first : PIECE;
                for (ptrdiff_t j = first; j < first + length; j++)
                    square += (double)values[j] * (double)values[j];
                if (place)
                    length = NAME(present)(columns + first, values + first, length, place,
                                           features, kept);
                for (ptrdiff_t j = 0; j < length; j++) {
                    const REAL *s = panel
                        + (ptrdiff_t)(place ? features[j] : columns[first + j]) * OK_PANEL;
                    double x = place ? kept[j] : values[first + j];
                    UNROLL
                    for (int v = 0; v < WIDE_VECTORS; v++)
                        sum[v] += x * NAME(widen)(s + v * DOT_LANES);
                }
            }
            REAL *out = (REAL *)g_ + i * ld + strip;
            for (int l = 0; l < WIDE_STRIP; l++)
                out[l] = (REAL)(square + squares[strip + l]
                                - 2 * sum[l / DOT_LANES][l % DOT_LANES]);
        }
    }
}

/* sum[i * count + k] += the products of row i and vector k, in DOT_STEP lanes of DOT_VECTORS
 * registers. Rows are ldg elements apart. */
INLINE void NAME(add_terms)(const int rows, const int count, const void *g_, ptrdiff_t ldg,
                            const double *const *a, ptrdiff_t n, NAME(wide) (*sum)[DOT_VECTORS])
{
    const REAL *g = g_;
    for (ptrdiff_t j = 0; j < n; j += DOT_STEP) {
        UNROLL
        for (int v = 0; v < DOT_VECTORS; v++) {
            UNROLL
            for (int i = 0; i < rows; i++) {
                NAME(wide) x = NAME(widen)(g + i * ldg + j + v * DOT_LANES);
                UNROLL
                for (int k = 0; k < count; k++)
                    sum[i * count + k][v] += x * NAME(coefficients)(a[k] + j + v * DOT_LANES);
            }
        }
    }
}

INLINE double NAME(total)(const NAME(wide) *sum)
{
    NAME(wide) whole = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    double parts[DOT_LANES], total = 0;
    memcpy(parts, &whole, sizeof parts);
    for (int v = 0; v < DOT_LANES; v++)
        total += parts[v];
    return total;
}

INLINE void NAME(dots)(const int count, const void *g, const double *const *a, ptrdiff_t n,
                       double *sums)
{
    NAME(wide) sum[2][DOT_VECTORS];
    UNROLL
    for (int k = 0; k < count; k++) {
        UNROLL
        for (int v = 0; v < DOT_VECTORS; v++)
            sum[k][v] = (NAME(wide)){0};
    }
    NAME(add_terms)(1, count, g, 0, a, n, sum);
    for (int k = 0; k < count; k++)
        sums[k] = NAME(total)(sum[k]);
}

/* `add_dots` for rows x count dot products; the sums of two rows are `apart` numbers apart. */
INLINE void NAME(add_some)(const int rows, const int count, const REAL *g, ptrdiff_t ldg,
                           const double *a, ptrdiff_t lda, ptrdiff_t n, double *sums,
                           ptrdiff_t apart)
{
    const double *vectors[2] = {a, a + (count - 1) * lda};
    NAME(wide) sum[4][DOT_VECTORS];
    UNROLL
    for (int d = 0; d < rows * count; d++)
        memcpy(sum[d], sums + d / count * apart + d % count * OK_SUMS, sizeof sum[d]);
    NAME(add_terms)(rows, count, g, ldg, vectors, n, sum);
    UNROLL
    for (int d = 0; d < rows * count; d++)
        memcpy(sums + d / count * apart + d % count * OK_SUMS, sum[d], sizeof sum[d]);
}

/* With enough registers for four dot products, two rows and two vectors are loaded once for all
 * four. Two vectors stay in the L1 cache for all rows. */
static void NAME(add_dots)(const void *g_, ptrdiff_t ldg, ptrdiff_t rows, const double *a,
                           ptrdiff_t lda, ptrdiff_t count, ptrdiff_t n, double *sums)
{
    const REAL *g = g_;
    const ptrdiff_t apart = count * OK_SUMS, pairs = OK_BYTES == 64 ? rows / 2 * 2 : 0;
    ptrdiff_t i, k;
    for (k = 0; k + 2 <= count; k += 2) {
        for (i = 0; i < pairs; i += 2)
            NAME(add_some)(2, 2, g + i * ldg, ldg, a + k * lda, lda, n,
                           sums + i * apart + k * OK_SUMS, apart);
        for (; i < rows; i++)
            NAME(add_some)(1, 2, g + i * ldg, ldg, a + k * lda, lda, n,
                           sums + i * apart + k * OK_SUMS, apart);
    }
    for (i = 0; k < count && i < rows; i++)
        NAME(add_some)(1, 1, g + i * ldg, ldg, a + k * lda, lda, n,
                       sums + i * apart + k * OK_SUMS, apart);
}

static double NAME(finish_dot)(const double *sums)
{
    NAME(wide) sum[DOT_VECTORS];
    memcpy(sum, sums, sizeof sum);
    return NAME(total)(sum);
}

static double NAME(dot)(const void *g, const double *a, ptrdiff_t n)
{
    double sum;
    NAME(dots)(1, g, &a, n, &sum);
    return sum;
}

/* `dot` with coefficients at `slots` only: the others are 0, and would not change the sum. */
static double NAME(listed_dot)(const void *g_, const int32_t *slots, const double *a, ptrdiff_t n)
{
    const REAL *g = g_;
    double parts[DOT_STEP] = {0};
    NAME(wide) sum[DOT_VECTORS];
    if (n == 0)
        return 0;
    for (ptrdiff_t i = 0; i < n; i++)
        parts[slots[i] % DOT_STEP] += (double)g[slots[i]] * a[i];
    memcpy(sum, parts, sizeof sum);
    return NAME(total)(sum);
}

static void NAME(dot2)(const void *g, const double *a, const double *b, ptrdiff_t n, double *sums)
{
    const double *pair[2] = {a, b};
    NAME(dots)(2, g, pair, n, sums);
}

/* ||x||^2 and ||x||_1 in double. */
static void NAME(norms)(const void *x_, ptrdiff_t n, double *square, double *absolute)
{
    const REAL *x = x_;
    const NAME(wide_bits) sign = (NAME(wide_bits)){0} + INT64_MIN;
    NAME(wide) squares = {0}, sizes = {0};
    ptrdiff_t j = 0;
    for (; j + DOT_LANES <= n; j += DOT_LANES) {
        NAME(wide) v = NAME(widen)(x + j);
        squares += v * v;
        sizes += (NAME(wide))((NAME(wide_bits))v & ~sign);
    }
    /* Both sums are in one register. Otherwise the compiler would use fused multiply-add for the
     * squares of some elements only, which rounds differently. */
    NAME(pair) sums = {0, 0};
    for (; j < n; j++) {
        double v = x[j], size = v < 0 ? -v : v;
        sums += (NAME(pair)){v, size} * (NAME(pair)){v, 1};
    }
    for (int v = 0; v < DOT_LANES; v++)
        sums += (NAME(pair)){squares[v], sizes[v]};
    *square = sums[0];
    *absolute = sums[1];
}

/* A number is not finite if all of its exponent bits are set. The loop has no branch, so that the
 * compiler vectorises it. */
static int NAME(all_finite)(const void *x, ptrdiff_t n)
{
    typedef UNSIGNED __attribute__((may_alias)) bits;
    const bits *numbers = x;
    const REAL infinity = INFINITY;
    bits exponent;
    memcpy(&exponent, &infinity, sizeof exponent);
    UNSIGNED found = 0;
    for (ptrdiff_t j = 0; j < n; j++)
        found |= (numbers[j] & exponent) == exponent;
    return !found;
}

#undef WIDE_VECTORS
#undef WIDE_STRIP
#undef DOT_LANES
#undef DOT_VECTORS
#undef DOT_STEP
#undef ROWS
#undef VECTORS
#undef STRIP
#undef WIDEST
#undef SINGLE_VECTORS
#undef SINGLE_STRIP
#undef PIECE
