/* Template: a symmetric matrix times a vector of doubles; only the lower triangle is read.
 * Included by vector_kernels.c with REAL set, after vector_product.h. */

#define WIDE_LANES ((ptrdiff_t)(OK_BYTES / sizeof(double)))
/* Rows that are read together: they share the loads and stores of both vectors. */
#define SYMMETRIC_ROWS 4

/* Adds the terms of `rows` rows from row `first` on. Columns before `whole` are computed in
 * registers. `whole` depends on the number of the row only, so rows read together or alone give the
 * same bits. */
INLINE void NAME(symmetric_rows)(const int rows, const REAL *g, ptrdiff_t ld, ptrdiff_t first,
                                 const double *a, double *out)
{
    const ptrdiff_t begin = first - first % SYMMETRIC_ROWS, whole = begin - begin % WIDE_LANES;
    NAME(wide) sum[SYMMETRIC_ROWS], own[SYMMETRIC_ROWS];
    UNROLL
    for (int r = 0; r < rows; r++) {
        sum[r] = (NAME(wide)){0};
        own[r] = (NAME(wide)){0} + a[first + r];
    }
    for (ptrdiff_t j = 0; j < whole; j += WIDE_LANES) {
        NAME(wide) others = NAME(coefficients)(a + j), sums = NAME(coefficients)(out + j);
        UNROLL
        for (int r = 0; r < rows; r++) {
            NAME(wide) x = NAME(widen)(g + r * ld + j);
            sum[r] += x * others;
            sums += x * own[r];
        }
        memcpy(out + j, &sums, sizeof sums);
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        const REAL *row = g + r * ld;
        const ptrdiff_t i = first + r;
        double parts[WIDE_LANES], total = 0;
        memcpy(parts, &sum[r], sizeof parts);
        for (int v = 0; v < WIDE_LANES; v++)
            total += parts[v];
        for (ptrdiff_t j = whole; j < i; j++) {
            total += (double)row[j] * a[j];
            out[j] += (double)row[j] * a[i];
        }
        out[i] += total + (double)row[i] * a[i];
    }
}

static void NAME(symmetric)(const void *g_, ptrdiff_t ld, ptrdiff_t n, const double *a,
                            double *restrict out)
{
    const REAL *g = g_;
    ptrdiff_t i = 0;
    for (; i + SYMMETRIC_ROWS <= n; i += SYMMETRIC_ROWS)
        NAME(symmetric_rows)(SYMMETRIC_ROWS, g + i * ld, ld, i, a, out);
    for (; i < n; i++)
        NAME(symmetric_rows)(1, g + i * ld, ld, i, a, out);
}

#undef WIDE_LANES
#undef SYMMETRIC_ROWS
