/* Symmetric matrices and triangles: the lower one, row i from i (i + 1) / 2 on; and memory that
   grows. */
#include "squares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t okn_triangle(int64_t n)
{
    return n * (n + 1) / 2;
}

/* Sums of four at a time, which do not wait for one another. */
real okn_product_of(const real *a, const real *b, int64_t n)
{
    real sums[4] = {0, 0, 0, 0};
    int64_t j = 0;
    for (; j + 4 <= n; j += 4)
        for (int64_t k = 0; k < 4; k++)
            sums[k] += a[j + k] * b[j + k];
    for (; j < n; j++)
        sums[0] += a[j] * b[j];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static void add_multiple(real *out, real share, const real *x, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        out[j] += share * x[j];
}

void okn_triangle_multiply(const real *matrix, int64_t n, const real *x, real *out)
{
    memset(out, 0, (size_t)n * sizeof *out);
    for (int64_t i = 0; i < n; i++) {
        const real *own = matrix + okn_triangle(i);
        out[i] = okn_product_of(own, x, i + 1);
        add_multiple(out, x[i], own, i);
    }
}

void okn_triangle_add(real *matrix, int64_t n, const real *rows, int64_t stride, int64_t count,
                      const real *shares)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = 0; t < count; t++)
            add_multiple(matrix + okn_triangle(i), shares[t] * rows[t * stride + i],
                         rows + t * stride, i + 1);
}

int okn_triangle_factor(real *matrix, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        real *own = matrix + okn_triangle(i);
        for (int64_t j = 0; j < i; j++) {
            const real *other = matrix + okn_triangle(j);
            own[j] = (own[j] - okn_product_of(own, other, j)) / other[j];
        }
        own[i] -= okn_product_of(own, own, i);
        if (!(own[i] > 0 && own[i] < INFINITY))
            return -1;
        own[i] = sqrt(own[i]);
    }
    return 0;
}

void okn_triangle_solve_lower(const real *factor, int64_t n, real *x)
{
    for (int64_t i = 0; i < n; i++) {
        const real *own = factor + okn_triangle(i);
        x[i] = (x[i] - okn_product_of(own, x, i)) / own[i];
    }
}

void okn_triangle_solve(const real *factor, int64_t n, real *x)
{
    okn_triangle_solve_lower(factor, n, x);
    for (int64_t i = n - 1; i >= 0; i--) {
        const real *own = factor + okn_triangle(i);
        x[i] /= own[i];
        add_multiple(x, -x[i], own, i);
    }
}

void okn_triangle_invert(real *factor, int64_t n, real *out)
{
    /* Row i of L^-1 needs those before it: it takes the place of the factor's. */
    for (int64_t i = 0; i < n; i++) {
        real *own = factor + okn_triangle(i), *fresh = out + okn_triangle(i);
        memset(fresh, 0, (size_t)(i + 1) * sizeof *fresh);
        for (int64_t j = 0; j < i; j++)
            add_multiple(fresh, -own[j] / own[i], factor + okn_triangle(j), j + 1);
        fresh[i] = 1 / own[i];
        memcpy(own, fresh, (size_t)(i + 1) * sizeof *own);
    }
    memset(out, 0, (size_t)okn_triangle(n) * sizeof *out);
    for (int64_t t = 0; t < n; t++) {
        const real *own = factor + okn_triangle(t);
        for (int64_t i = 0; i <= t; i++)
            add_multiple(out + okn_triangle(i), own[i], own, i + 1);
    }
}

int okn_widen(wider *parts, size_t n)
{
    const int64_t size = (int64_t)sizeof(real);
    int status = OKN_OK;
    for (size_t j = 0; !status && j < n; j++) {
        parts[j].fresh = calloc((size_t)(parts[j].fresh_rows * parts[j].to), sizeof(real));
        status = parts[j].fresh ? OKN_OK : OKN_NO_MEMORY;
    }
    for (size_t j = 0; j < n; j++) {
        const wider *part = &parts[j];
        char *before, *fresh = part->fresh;
        memcpy(&before, part->place, sizeof before);
        for (int64_t k = 0; !status && k < part->rows; k++)
            memcpy(fresh + k * part->to * size, before + k * part->from * size,
                   (size_t)(part->from * size));
        free(status ? fresh : before);
        if (!status)
            memcpy(part->place, &fresh, sizeof fresh);
    }
    return status;
}
