/* Every vector primitive of src/c against a plain loop, as a program: it runs where no Python is, in an
 * emulator too. It prints the level and the number of results that were compared, or the first that is
 * wrong.
 *
 * usage: vector_forms [LEVEL] */
#ifndef REAL

#include "onlinekern/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 * OK_PANEL, ROWS = 7, LD = MOST + 3, WIDEST = 600 };
static const ptrdiff_t WIDTHS[] = {1, 2, 3, 5, 8, 15, 16, 17, 31, 63, 64, 65, 127, 200};
enum { N_WIDTHS = sizeof WIDTHS / sizeof *WIDTHS };
static long compared;
static uint64_t state = 20261127;

/* A number of [-1, 1], of which float has all digits. */
static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int32_t)(state >> 40) / (1 << 23) - 1;
}

static void same(const char *what, ptrdiff_t at, double found, double expected, double within)
{
    compared++;
    if (found == expected || fabs(found - expected) <= within * fmax(1, fabs(expected)))
        return;
    printf("%s, %td: %.17g, not %.17g\n", what, at, found, expected);
    exit(1);
}

static double largest(const double *numbers)
{
    double found = numbers[0];
    for (int j = 1; j < OK_PANEL; j++)
        found = fmax(found, numbers[j]);
    return found;
}

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(name) JOIN(name, REAL)

#define REAL float
#define WITHIN 2e-5
#include "vector_forms.c"
#undef REAL
#undef WITHIN

#define REAL double
#define WITHIN 1e-13
#include "vector_forms.c"

static void csr(const ok_vector_table *table)
{
    int32_t starts[] = {0, 0, 40, 700, 700, 701}, columns[701];
    for (int k = 0; k < 701; k++)
        columns[k] = k < 40 ? 3 * k : k < 700 ? k - 40 : 9;
    same("csr", 0, table->csr_faults(columns, starts, 5, 700, 701), 0, 0);
    same("csr, room", 0, table->csr_faults(columns, starts, 5, 700, 700), OK_CSR_STARTS, 0);
    same("csr, columns", 0, table->csr_faults(columns, starts, 5, 659, 701), OK_CSR_COLUMNS, 0);
    columns[300] = columns[299];
    same("csr, twice", 0, table->csr_faults(columns, starts, 5, 700, 701), OK_CSR_ORDER, 0);
    columns[300] = -1;
    same("csr, both", 0, table->csr_faults(columns, starts, 5, 700, 701),
         OK_CSR_COLUMNS | OK_CSR_ORDER, 0);
    starts[2] = 701;
    same("csr, starts", 0, table->csr_faults(columns, starts, 5, 700, 701), OK_CSR_STARTS, 0);
}

int main(int count, char **arguments)
{
    const ok_vector_table *table = ok_vector_select(count > 1 ? arguments[1] : NULL);
    if (!table)
        return 2;
    check_float(&table->float32);
    check_double(&table->float64);
    csr(table);
    printf("%s %ld\n", table->name, compared);
    return 0;
}

#else

static void NAME(draw)(REAL *of, ptrdiff_t n)
{
    for (ptrdiff_t j = 0; j < n; j++)
        of[j] = uniform() < -0.4 ? 0 : (REAL)uniform();
}

/* Blocks of products: dense and sparse rows, and rows of ones, with a panel. */
static void NAME(products)(const ok_vector_ops *ops, ptrdiff_t d)
{
    static REAL x[ROWS * WIDEST], panel[WIDEST * OK_PANEL], shuffled[WIDEST * OK_PANEL];
    static REAL g[ROWS * LD], kept[WIDEST];
    static uint8_t bytes[WIDEST * OK_PANEL];
    int32_t columns[WIDEST], place[WIDEST];
    NAME(draw)(x, ROWS * d);
    NAME(draw)(panel, d * OK_PANEL);
    for (ptrdiff_t j = 0; j < d * OK_PANEL; j++)
        bytes[j] = panel[j] != 0;
    for (ptrdiff_t j = 0; j < d; j++) {
        place[j] = (int32_t)(d - 1 - j);
        memcpy(shuffled + place[j] * OK_PANEL, panel + j * OK_PANEL, OK_PANEL * sizeof(REAL));
    }
    for (int how = 0; how < 3; how++) {
        ops->dense[how](x, d, ROWS, d, panel, g, LD);
        for (ptrdiff_t i = 0; i < ROWS; i++) {
            double norms[2], sum, own = 0;
            ok_sparse_row row = {columns, kept, 0};
            REAL again[OK_PANEL], elsewhere[OK_PANEL], ones[OK_PANEL];
            for (ptrdiff_t j = 0; j < d; j++)
                if (x[i * d + j] != 0) {
                    columns[row.count] = (int32_t)j;
                    kept[row.count++] = x[i * d + j];
                }
            if (how != OK_SQUARED) {
                ops->sparse[how](&row, 1, NULL, panel, again, OK_PANEL);
                ops->sparse[how](&row, 1, place, shuffled, elsewhere, OK_PANEL);
            }
            ops->ones_dot(&row, 1, bytes, 0, ones, OK_PANEL);
            ops->norms(x + i * d, d, norms, norms + 1);
            for (ptrdiff_t j = 0; j < d; j++)
                own += fabs((double)x[i * d + j]);
            same("norms", d, norms[1], own, 1e-13);
            for (int v = 0; v < OK_PANEL; v++) {
                double other = 0, shared = 0;
                sum = 0;
                for (ptrdiff_t j = 0; j < d; j++) {
                    double a = x[i * d + j], b = panel[j * OK_PANEL + v];
                    sum += how == OK_DOT ? a * b : how == OK_SQUARED ? (a - b) * (a - b) : fabs(a - b);
                    other += fabs(b);
                    shared += a != 0 && b != 0;
                }
                same("dense", d, g[i * LD + v], sum, 20 * WITHIN);
                same("ones", d, ones[v], shared, 0);
                if (how == OK_DOT)
                    same("sparse", d, again[v], g[i * LD + v], 0);
                if (how == OK_ABSOLUTE)
                    same("sparse", d, again[v], sum - own - other, 20 * WITHIN);
                if (how != OK_SQUARED)
                    same("sparse, placed", d, elsewhere[v], again[v], 0);
            }
        }
    }
    ops->dense[OK_DOT](x, d, ROWS, d, panel, g, LD);
    for (ptrdiff_t i = 0; i < ROWS; i++) {
        REAL alone[OK_PANEL];
        ops->dense[OK_DOT](x + i * d, d, 1, d, panel, alone, OK_PANEL);
        for (int v = 0; v < OK_PANEL; v++)
            same("dense, alone", d, alone[v], g[i * LD + v], 0);
        ops->dense_onto(x + i * d, d, 1, d, panel, alone, OK_PANEL);
        for (int v = 0; v < OK_PANEL; v++)
            same("dense_onto", d, alone[v], 2 * (double)g[i * LD + v], 20 * WITHIN);
    }
}

/* What is done to each element of a block. */
static void NAME(elements)(const ok_vector_ops *ops, ptrdiff_t m)
{
    static REAL g[ROWS * LD], before[ROWS * LD];
    REAL a[ROWS], b[LD];
    NAME(draw)(before, ROWS * LD);
    NAME(draw)(a, ROWS);
    NAME(draw)(b, LD);
    for (int which = 0; which < 6; which++) {
        memcpy(g, before, sizeof g);
        if (which == 0)
            ops->exponential(g, LD, ROWS, m, 9, a, b);
        else if (which == 1)
            ops->exponential(g, LD, ROWS, m, 9, NULL, NULL);
        else if (which == 2)
            ops->scale(g, LD, ROWS, m, a, b);
        else if (which == 3)
            ops->power(g, LD, ROWS, m, 0.5, 1, 3);
        else if (which == 4)
            ops->tanh(g, LD, ROWS, m, 3, 0.25);
        else
            ops->cosine_sine(g, LD, ROWS, m, MOST / 2, 2);
        for (ptrdiff_t i = 0; i < ROWS; i++)
            for (ptrdiff_t j = 0; j < LD; j++) {
                double t = before[i * LD + j], found = g[i * LD + j], expected = t;
                if (j < m && which < 2)
                    expected = exp(fmin(0, 9 * t - (which ? 0 : (double)a[i] + b[j])));
                else if (j < m && which == 2)
                    expected = t * ((double)a[i] * b[j]);
                else if (j < m && which == 3)
                    expected = pow(0.5 * t + 1, 3);
                else if (j < m && which == 4)
                    expected = tanh(3 * t + 0.25);
                else if (j < m)
                    expected = 2 * cos(t);
                else if (which == 5 && j >= MOST / 2 && j < MOST / 2 + m)
                    expected = 2 * sin(before[i * LD + j - MOST / 2]);
                same("element", which, found, expected, j < m || which == 5 ? WITHIN : 0);
            }
    }
}

/* Sums and passes along rows whose length is a multiple of OK_PANEL. */
static void NAME(passes)(const ok_vector_ops *ops, ptrdiff_t n)
{
    static REAL g[MOST], h[MOST], square[MOST * MOST];
    static double a[MOST], b[MOST], up[MOST], down[MOST], was[MOST], tops[MOST], out[MOST];
    static double listed[MOST], spread[MOST], sums[OK_SUMS];
    double dots[2] = {0, 0}, two[2], least = INFINITY, worst = 0, gain[OK_PANEL], high[OK_PANEL];
    int32_t slots[MOST];
    ptrdiff_t count = 0;
    NAME(draw)(g, n);
    NAME(draw)(h, n);
    for (ptrdiff_t j = 0; j < n; j++) {
        a[j] = uniform(), b[j] = 2 + uniform(), up[j] = uniform(), down[j] = uniform();
        dots[0] += (double)g[j] * a[j], dots[1] += (double)g[j] * b[j];
        if (uniform() > 0) {
            slots[count] = (int32_t)j;
            listed[count++] = spread[j] = a[j];
        } else
            spread[j] = 0;
    }
    ops->dot2(g, a, b, n, two);
    same("dot", n, ops->dot(g, a, n), dots[0], 1e-12);
    same("dot2", n, two[0], ops->dot(g, a, n), 0);
    same("dot2", n, two[1], dots[1], 1e-12);
    same("dot2", n, two[1], ops->dot(g, b, n), 0);
    same("listed", n, ops->listed_dot(g, slots, listed, count), ops->dot(g, spread, n), 0);
    memset(sums, 0, sizeof sums);
    for (ptrdiff_t first = 0; first < n; first += OK_PANEL)
        ops->add_dots(g + first, n, 1, a + first, n, 1, OK_PANEL, sums);
    same("pieces", n, ops->finish_dot(sums), ops->dot(g, a, n), 0);
    memcpy(was, a, sizeof a);
    least = ops->pair_step(g, h, 0.3, a, up, down, n, tops);
    for (ptrdiff_t j = 0; j < n; j++) {
        same("pair_step", j, a[j], was[j] - 0.3 * ((double)g[j] - h[j]), 1e-15);
        high[j % OK_PANEL] = a[j] + up[j];
        worst = j ? fmin(worst, a[j] + down[j]) : a[j] + down[j];
        if (j % OK_PANEL == OK_PANEL - 1)
            same("pair_step, top", j, tops[j / OK_PANEL], largest(high), 1e-15);
    }
    same("pair_step, least", n, least, worst, 1e-15);
    ops->pair_gains(g, 0.7, 1, b, a, down, n, tops);
    for (ptrdiff_t j = 0; j < n; j++) {
        double gap = fmax(0, 0.7 - (a[j] + down[j]));
        gain[j % OK_PANEL] = gap * gap / fmax(1 + b[j] - 2 * (double)g[j], OK_LEAST_BEND);
        if (j % OK_PANEL == OK_PANEL - 1)
            same("pair_gains", j, tops[j / OK_PANEL], largest(gain), 1e-13);
    }
    memcpy(was, a, sizeof a);
    least = ops->single_step(g, 0.3, b, a, up, down, n, tops);
    worst = 0;
    for (ptrdiff_t j = 0; j < n; j++) {
        double gap = fmax(0, fmax(a[j] + up[j], -(a[j] + down[j])));
        same("single_step", j, a[j], was[j] - 0.3 * (double)g[j], 1e-15);
        worst = fmax(worst, gap);
        gain[j % OK_PANEL] = gap * gap / b[j];
        if (j % OK_PANEL == OK_PANEL - 1)
            same("single_step, gain", j, tops[j / OK_PANEL], largest(gain), 1e-13);
    }
    same("single_step, worst", n, least, worst, 1e-15);
    ptrdiff_t order = n - 3;
    NAME(draw)(square, n * n);
    memset(out, 0, sizeof out);
    ops->symmetric(square, n, order, b, out);
    for (ptrdiff_t i = 0; i < order; i++) {
        double sum = 0;
        for (ptrdiff_t j = 0; j < order; j++)
            sum += (double)(j <= i ? square[i * n + j] : square[j * n + i]) * b[j];
        same("symmetric", i, out[i], sum, 1e-12);
    }
    worst = INFINITY, count = -1;
    for (ptrdiff_t j = 0; j < order; j++) {
        double cost = a[j] * a[j] * (b[j] - 0.5 * (double)g[j] * g[j]);
        if (cost < worst)
            worst = cost, count = j;
    }
    same("cheapest", n, (double)ops->cheapest(g, 0.5, a, MOST, 1, b, order), (double)count, 0);
}

/* Running means and their use, sums of doubles, transposes, and what is finite. */
static void NAME(others)(const ok_vector_ops *ops, ptrdiff_t m)
{
    REAL x[MOST], out[MOST], whole[16 * 16], sums[16 * 16];
    static REAL tile[OK_PANEL * OK_PANEL], turned[OK_PANEL * OK_PANEL];
    double mean[MOST], variance[MOST], before[MOST], old[MOST];
    NAME(draw)(x, m);
    for (ptrdiff_t j = 0; j < m; j++)
        before[j] = mean[j] = uniform(), old[j] = variance[j] = 1.5 + uniform();
    ops->follow(x, 0.25, INFINITY, mean, variance, m);
    ops->standardise(x, mean, variance, 0.5, out, m);
    for (ptrdiff_t j = 0; j < m; j++) {
        double delta = x[j] - before[j], value;
        same("mean", j, mean[j], before[j] + 0.25 * delta, 1e-15);
        same("variance", j, variance[j], 0.75 * (old[j] + 0.25 * delta * delta), 1e-14);
        value = (x[j] - mean[j]) / sqrt(variance[j]);
        same("standardise", j, out[j], fmax(-0.5, fmin(0.5, value)), WITHIN);
        mean[j] = before[j], variance[j] = old[j];
    }
    ops->follow(x, 0.25, 0.5, mean, variance, m);
    for (ptrdiff_t j = 0; j < m; j++) {
        double most = 0.5 * sqrt(old[j]), delta = fmax(-most, fmin(most, x[j] - before[j]));
        same("mean within reach", j, mean[j], before[j] + 0.25 * delta, 1e-15);
        same("variance within reach", j, variance[j], 0.75 * (old[j] + 0.25 * delta * delta),
             1e-14);
    }
    ops->standardise(x, mean, NULL, 0.5, out, m);
    memcpy(before, mean, sizeof before);
    ops->add(x, 3, mean, m);
    for (ptrdiff_t j = 0; j < m; j++) {
        same("centre", j, out[j], x[j] - before[j], WITHIN);
        same("add", j, mean[j], before[j] + 3 * (double)x[j], 1e-15);
    }
    memcpy(before, mean, sizeof before);
    ops->clip(mean, 0.7, m);
    for (ptrdiff_t j = 0; j < m; j++)
        same("clip", j, mean[j], fmax(-0.7, fmin(0.7, before[j])), 0);
    for (ptrdiff_t j = 0; j < m; j++) {
        REAL kept = x[j];
        same("finite", j, ops->all_finite(x, m), 1, 0);
        x[j] = j % 3 == 0 ? (REAL)NAN : j % 3 == 1 ? (REAL)INFINITY : (REAL)-INFINITY;
        same("not finite", j, ops->all_finite(x, m), 0, 0);
        x[j] = kept;
    }
    NAME(draw)(tile, OK_PANEL * OK_PANEL);
    ptrdiff_t rows = m < OK_PANEL ? m : OK_PANEL;
    ops->transpose(tile, rows, turned, OK_PANEL);
    for (ptrdiff_t i = 0; i < rows; i++)
        for (ptrdiff_t j = 0; j < OK_PANEL; j++)
            same("transpose", i, turned[i * OK_PANEL + j], tile[j * OK_PANEL + i], 0);
    for (ptrdiff_t n = 16; n <= 256; n *= 2) {
        NAME(draw)(whole, n);
        memcpy(sums, whole, sizeof sums);
        ops->hadamard(sums, n);
        for (ptrdiff_t i = 0; i < n; i++) {
            double sum = 0;
            for (ptrdiff_t j = 0; j < n; j++)
                sum += __builtin_popcountll((unsigned long long)(i & j)) % 2 ? -whole[j] : whole[j];
            same("hadamard", i, sums[i], sum, 20 * WITHIN);
        }
    }
}

static void NAME(check)(const ok_vector_ops *ops)
{
    for (int k = 0; k < N_WIDTHS; k++) {
        NAME(products)(ops, WIDTHS[k]);
        NAME(elements)(ops, WIDTHS[k]);
        NAME(others)(ops, WIDTHS[k]);
    }
    NAME(products)(ops, WIDEST); /* more ones than a byte can count */
    for (ptrdiff_t n = OK_PANEL; n <= MOST; n += OK_PANEL)
        NAME(passes)(ops, n);
}

#endif
