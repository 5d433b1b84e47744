/* Short sparse rows against vectors of doubles: done with before a call would have begun, so these
 * stand where they are used.
 *
 * Sums have four parts: the additions of one would wait for each other. Two parts are one register
 * on every processor. Elements behind the last whole group of four belong to the first part.
 */
#ifndef OK_SPARSE_H
#define OK_SPARSE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef double ok_pair __attribute__((vector_size(16)));
typedef double ok_four __attribute__((vector_size(32)));
typedef float ok_four_floats __attribute__((vector_size(16)));

/* Four numbers as doubles, in two registers. */
static inline void ok_load_float32(const float *x, ok_pair *pairs)
{
    ok_four_floats stored;
    ok_four four;
    memcpy(&stored, x, sizeof stored);
    four = __builtin_convertvector(stored, ok_four);
    memcpy(pairs, &four, sizeof four);
}

static inline void ok_load_float64(const double *x, ok_pair *pairs)
{
    memcpy(pairs, x, sizeof *pairs);
    memcpy(pairs + 1, x + 2, sizeof *pairs);
}

static inline ok_pair ok_gathered(const double *a, const int32_t *columns)
{
    ok_pair two = {a[columns[0]], a[columns[1]]};
    return two;
}

/* The numbers at one place of two registers. */
static inline ok_pair ok_paired(ok_pair one, ok_pair two, int place)
{
    ok_pair both = {one[place], two[place]};
    return both;
}

/* `rest` is the first part with what came behind the last group of four. */
static inline double ok_sum_of_parts(double rest, ok_pair first, ok_pair second)
{
    return (rest + first[1]) + (second[0] + second[1]);
}

#define OK_SPARSE(REAL, NAME)                                                                      \
    /* x . a */                                                                                    \
    static inline double ok_sparse_dot_##NAME(const REAL *x, const int32_t *columns, ptrdiff_t count,\
                                          const double *a)                                         \
    {                                                                                              \
        ok_pair first = {0, 0}, second = {0, 0}, pairs[2];                                         \
        double rest;                                                                               \
        ptrdiff_t j = 0, whole = count & ~(ptrdiff_t)3;                                            \
        for (; j < whole; j += 4) {                                                                \
            ok_load_##NAME(x + j, pairs);                                                          \
            first += pairs[0] * ok_gathered(a, columns + j);                                       \
            second += pairs[1] * ok_gathered(a, columns + j + 2);                                  \
        }                                                                                          \
        rest = first[0];                                                                           \
        if (count & 2) {                                                                           \
            pairs[0] = (ok_pair){x[j], x[j + 1]} * ok_gathered(a, columns + j);                    \
            rest = (rest + pairs[0][0]) + pairs[0][1];                                             \
            j += 2;                                                                                \
        }                                                                                          \
        if (count & 1)                                                                             \
            rest += (double)x[j] * a[columns[j]];                                                  \
        return ok_sum_of_parts(rest, first, second);                                               \
    }                                                                                              \
    /* x . x */                                                                                    \
    static inline double ok_sparse_square_##NAME(const REAL *x, ptrdiff_t count)                   \
    {                                                                                              \
        ok_pair first = {0, 0}, second = {0, 0}, pairs[2];                                         \
        double rest;                                                                               \
        ptrdiff_t j = 0;                                                                           \
        for (; j + 4 <= count; j += 4) {                                                           \
            ok_load_##NAME(x + j, pairs);                                                          \
            first += pairs[0] * pairs[0];                                                          \
            second += pairs[1] * pairs[1];                                                         \
        }                                                                                          \
        rest = first[0];                                                                           \
        for (; j < count; j++)                                                                     \
            rest += (double)x[j] * x[j];                                                           \
        return ok_sum_of_parts(rest, first, second);                                               \
    }                                                                                              \
    /* Both, the same numbers, in one walk over the row. Behind the groups a register holds a part   \
     * of each: {x . a, x . x}. */                                                                 \
    static inline double ok_sparse_dot_square_##NAME(const REAL *x, const int32_t *columns,        \
                                                 ptrdiff_t count, const double *a, double *square) \
    {                                                                                              \
        ok_pair first = {0, 0}, second = {0, 0}, third = {0, 0}, fourth = {0, 0}, pairs[2];        \
        ok_pair rest;                                                                              \
        ptrdiff_t j = 0, whole = count & ~(ptrdiff_t)3;                                            \
        for (; j < whole; j += 4) {                                                                \
            ok_load_##NAME(x + j, pairs);                                                          \
            first += pairs[0] * ok_gathered(a, columns + j);                                       \
            second += pairs[1] * ok_gathered(a, columns + j + 2);                                  \
            third += pairs[0] * pairs[0];                                                          \
            fourth += pairs[1] * pairs[1];                                                         \
        }                                                                                          \
        rest = ok_paired(first, third, 0);                                                         \
        if (count & 2) {                                                                           \
            pairs[0] = (ok_pair){x[j], x[j + 1]};                                                  \
            pairs[1] = pairs[0] * ok_gathered(a, columns + j);                                     \
            pairs[0] *= pairs[0];                                                                  \
            rest += ok_paired(pairs[1], pairs[0], 0);                                              \
            rest += ok_paired(pairs[1], pairs[0], 1);                                              \
            j += 2;                                                                                \
        }                                                                                          \
        if (count & 1)                                                                             \
            rest += (double)x[j] * (ok_pair){a[columns[j]], x[j]};                                 \
        rest = (rest + ok_paired(first, third, 1))                                                 \
            + (ok_paired(second, fourth, 0) + ok_paired(second, fourth, 1));                       \
        *square = rest[1];                                                                         \
        return rest[0];                                                                            \
    }                                                                                              \
    /* sums[0] = x . a and sums[1] = x . b, of two parts each, in one walk over the row. */        \
    static inline void ok_sparse_dots_##NAME(const REAL *x, const int32_t *columns, ptrdiff_t count,\
                                         const double *a, const double *b, double *sums)           \
    {                                                                                              \
        ok_pair first = {0, 0}, second = {0, 0}, two = {0, 0};                                     \
        ptrdiff_t j = 0;                                                                           \
        for (; j + 2 <= count; j += 2) {                                                           \
            two[0] = x[j];                                                                         \
            two[1] = x[j + 1];                                                                     \
            first += two * ok_gathered(a, columns + j);                                            \
            second += two * ok_gathered(b, columns + j);                                           \
        }                                                                                          \
        if (j < count) {                                                                           \
            first[0] += (double)x[j] * a[columns[j]];                                              \
            second[0] += (double)x[j] * b[columns[j]];                                             \
        }                                                                                          \
        sums[0] = first[0] + first[1];                                                             \
        sums[1] = second[0] + second[1];                                                           \
    }                                                                                              \
    /* out += factor x; a column that is there twice is added twice */                             \
    static inline void ok_sparse_add_##NAME(const REAL *x, const int32_t *columns, ptrdiff_t count,\
                                        double factor, double *out)                                \
    {                                                                                              \
        ok_pair one, two, pairs[2];                                                                \
        ptrdiff_t j = 0, whole = count & ~(ptrdiff_t)3;                                            \
        for (; j < whole; j += 4) {                                                                \
            ok_load_##NAME(x + j, pairs);                                                          \
            one = factor * pairs[0];                                                               \
            two = factor * pairs[1];                                                               \
            out[columns[j]] += one[0];                                                             \
            out[columns[j + 1]] += one[1];                                                         \
            out[columns[j + 2]] += two[0];                                                         \
            out[columns[j + 3]] += two[1];                                                         \
        }                                                                                          \
        if (count & 2) {                                                                           \
            out[columns[j]] += factor * x[j];                                                      \
            out[columns[j + 1]] += factor * x[j + 1];                                              \
            j += 2;                                                                                \
        }                                                                                          \
        if (count & 1)                                                                             \
            out[columns[j]] += factor * x[j];                                                      \
    }

OK_SPARSE(float, float32)
OK_SPARSE(double, float64)

/* products = x a, number by number at the places of x; returns x . products. */
static inline double ok_sparse_products(const double *x, const int32_t *places, ptrdiff_t count,
                                        const double *a, double *products)
{
    ok_pair first = {0, 0}, second = {0, 0}, pairs[2], one, two;
    double rest;
    ptrdiff_t j = 0, whole = count & ~(ptrdiff_t)3;
    for (; j < whole; j += 4) {
        ok_load_float64(x + j, pairs);
        one = pairs[0] * ok_gathered(a, places + j);
        two = pairs[1] * ok_gathered(a, places + j + 2);
        memcpy(products + j, &one, sizeof one);
        memcpy(products + j + 2, &two, sizeof two);
        first += pairs[0] * one;
        second += pairs[1] * two;
    }
    rest = first[0];
    if (count & 2) {
        memcpy(pairs, x + j, sizeof *pairs);
        one = pairs[0] * ok_gathered(a, places + j);
        memcpy(products + j, &one, sizeof one);
        one *= pairs[0];
        rest = (rest + one[0]) + one[1];
        j += 2;
    }
    if (count & 1) {
        products[j] = x[j] * a[places[j]];
        rest += x[j] * products[j];
    }
    return ok_sum_of_parts(rest, first, second);
}

/* a - part, or 0 if that is less. */
static inline double ok_remaining(double a, double part)
{
    double difference = a - part;
    return difference > 0 ? difference : 0;
}

/* a <- max(a - factor x^2, 0), number by number at the places of x. */
static inline void ok_sparse_contract(const double *x, const int32_t *places, ptrdiff_t count,
                                      double factor, double *a)
{
    ok_pair two;
    ptrdiff_t j = 0;
    for (; j + 2 <= count; j += 2) {
        memcpy(&two, x + j, sizeof two);
        two = factor * two * two;
        a[places[j]] = ok_remaining(a[places[j]], two[0]);
        a[places[j + 1]] = ok_remaining(a[places[j + 1]], two[1]);
    }
    if (j < count)
        a[places[j]] = ok_remaining(a[places[j]], factor * x[j] * x[j]);
}

#endif
