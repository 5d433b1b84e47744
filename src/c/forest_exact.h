/* Exact splits: the best of all thresholds of a node along several axes. A row has OK_SOUGHT codes,
 * its ranks along the axes.
 *
 * The rows of a small node are sorted, along 8 or 16 axes at a time, one per lane of a vector. Those of
 * a large node are counted (forest_counted.h). Residuals are integers, so sums do not depend on the
 * order of the rows. */

typedef int16_t shorts8 __attribute__((vector_size(2 * LANES)));
typedef uint16_t codes8 __attribute__((vector_size(2 * LANES)));

/* Axes that are sorted at a time. */
#if defined(__AVX512F__)
#define SORTED 16
#else
#define SORTED LANES
#endif
typedef int32_t keys __attribute__((vector_size(4 * SORTED)));
typedef float gains __attribute__((vector_size(4 * SORTED)));
typedef uint16_t key_codes __attribute__((vector_size(2 * SORTED)));

INLINE numbers8 chosen(integers8 mask, numbers8 one, numbers8 other)
{
    return (numbers8)(((integers8)one & mask) | ((integers8)other & ~mask));
}

INLINE integers8 chosen_integers(integers8 mask, integers8 one, integers8 other)
{
    return (one & mask) | (other & ~mask);
}

INLINE integers8 load_integers(const int16_t *p)
{
    shorts8 v;
    memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, integers8);
}

/* The sum of eight lanes; all callers and instruction sets use this order. */
INLINE float sum_of_lanes(numbers8 v)
{
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

static double code_numbers(const float *numbers, ptrdiff_t n, int bits, int16_t *coded)
{
    uint32_t largest = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        uint32_t number;
        memcpy(&number, numbers + i, sizeof number);
        number &= 0x7fffffff;
        largest = number > largest ? number : largest;
    }
    int exponent = (int)(largest >> 23) - 126;
    /* A power of two is exact; the bound keeps its square within the range of float. */
    float unit = ldexpf(1, bits - (exponent > -40 ? exponent : -40));
    for (ptrdiff_t i = 0; i < n; i++) {
        float number = numbers[i] * unit;
        coded[i] = (int16_t)(int32_t)(number + (number < 0 ? -0.5f : 0.5f));
    }
    return unit;
}

INLINE void exchange(keys *one, keys *other)
{
    /* Written lane by lane: compilers turn this into vector minimum and maximum for any length. */
    keys x = *one, y = *other, low, high;
    UNROLL
    for (int k = 0; k < SORTED; k++) {
        low[k] = x[k] < y[k] ? x[k] : y[k];
        high[k] = x[k] < y[k] ? y[k] : x[k];
    }
    *one = low, *other = high;
}

/* Compare-exchange runs of `run` keys with the keys d later, from r on. */
INLINE void exchange_runs(const ptrdiff_t run, keys *sorted, ptrdiff_t n, ptrdiff_t r,
                          ptrdiff_t d)
{
    ptrdiff_t first = r;
    for (; first + run <= n - d; first += 2 * run) {
        UNROLL
        for (ptrdiff_t i = 0; i < run; i++)
            exchange(sorted + first + i, sorted + first + i + d);
    }
    for (; first < n - d; first++)
        exchange(sorted + first, sorted + first + d);
}

/* Sort n keys in each lane: merge exchange (Knuth, The art of computer programming, 5.2.2 M). */
static void sort_lanes(keys *sorted, ptrdiff_t n)
{
    ptrdiff_t top = 1;
    while (2 * top < n)
        top *= 2;
    for (ptrdiff_t run = top; run > 0; run /= 2) {
        ptrdiff_t r = 0, d = run, q = top;
        for (;;) {
            switch (run) {
            case 1: exchange_runs(1, sorted, n, r, d); break;
            case 2: exchange_runs(2, sorted, n, r, d); break;
            case 4: exchange_runs(4, sorted, n, r, d); break;
            default:
                for (ptrdiff_t first = r; first < n - d; first += 2 * run) {
                    ptrdiff_t last = first + run < n - d ? first + run : n - d;
                    for (ptrdiff_t i = first; i < last; i++)
                        exchange(sorted + i, sorted + i + d);
                }
            }
            if (q == run)
                break;
            d = q - run, q /= 2, r = run;
        }
    }
}

/* Replace the best split by one along an axis between two codes, or bins, if it gains more. */
INLINE void take(ok_exact_cut *best, float gain, ptrdiff_t axis, int32_t low, int32_t high)
{
    if (gain > best->gain) {
        best->gain = gain, best->axis = (int32_t)axis;
        best->low = low, best->high = high;
    }
}

/* The gain of a split after i of n rows, per row, is this times (sum of the i rows - i mean)^2. */
INLINE float weight_of(ptrdiff_t i, ptrdiff_t n)
{
    return 1 / ((float)i * (float)(n - i));
}

/* Find the best split of n sorted keys with one output; the lower half of a key is the residual. */
INLINE void seek_single(const keys *sorted, ptrdiff_t n, ptrdiff_t first_axis, float mean,
                        ok_exact_cut *best)
{
    keys sum = {0}, place = {0};
    gains most = (gains){0} + best->gain;
    for (ptrdiff_t i = 1; i <= n - OK_LEAST_ROWS; i++) {
        sum += sorted[i - 1] << 16 >> 16;
        if (i < OK_LEAST_ROWS)
            continue;
        gains apart = __builtin_convertvector(sum, gains) - (float)i * mean;
        gains gain = apart * apart * weight_of(i, n);
        keys better = (gain > most) & ((sorted[i - 1] >> 16) != (sorted[i] >> 16));
        most = (gains)(((keys)gain & better) | ((keys)most & ~better));
        place = (((keys){0} + (int32_t)i) & better) | (place & ~better);
    }
    for (int a = 0; a < SORTED; a++)
        if (most[a] > best->gain)
            take(best, most[a], first_axis + a, sorted[place[a] - 1][a] >> 16,
                 sorted[place[a]][a] >> 16);
}

/* Find the best split of n sorted keys with LANES outputs; the lower half of a key is the index of
 * the row's residuals in `numbers`. */
INLINE void seek_several(const keys *sorted, ptrdiff_t n, ptrdiff_t first_axis, numbers8 mean,
                         const int16_t *numbers, ok_exact_cut *best)
{
    for (int a = 0; a < SORTED; a++) {
        integers8 sum = {0};
        for (ptrdiff_t i = 1; i <= n - OK_LEAST_ROWS; i++) {
            int32_t low = sorted[i - 1][a], high = sorted[i][a];
            sum += load_integers(numbers + (low & 0xffff) * LANES);
            if (i < OK_LEAST_ROWS || low >> 16 == high >> 16)
                continue;
            numbers8 apart = __builtin_convertvector(sum, numbers8) - (float)i * mean;
            take(best, sum_of_lanes(apart * apart) * weight_of(i, n), first_axis + a, low >> 16,
                 high >> 16);
        }
    }
}

static void cut_sorted(const uint16_t *codes, const int32_t *rows, ptrdiff_t n,
                       const int16_t *numbers, ptrdiff_t width, ptrdiff_t n_axes,
                       ok_exact_cut *best)
{
    keys sorted[OK_MOST_SORTED];
    integers8 total = {0};
    int16_t held[OK_MOST_SORTED * LANES];
    int32_t single = 0;
    if (n < 2 * OK_LEAST_ROWS)
        return;
    for (ptrdiff_t i = 0; i < n; i++) {
        if (width == 1) {
            held[i] = numbers[rows[i]];
            single += held[i];
        }
        else {
            memcpy(held + i * LANES, numbers + (ptrdiff_t)rows[i] * LANES, sizeof(shorts8));
            total += load_integers(held + i * LANES);
        }
    }
    for (ptrdiff_t first = 0; first < n_axes; first += SORTED) {
        for (ptrdiff_t i = 0; i < n; i++) {
            key_codes code;
            memcpy(&code, codes + (ptrdiff_t)rows[i] * OK_SOUGHT + first, sizeof code);
            int32_t lower = width == 1 ? held[i] & 0xffff : (int32_t)i;
            sorted[i] = (__builtin_convertvector(code, keys) << 16) | lower;
        }
        sort_lanes(sorted, n);
        if (width == 1)
            seek_single(sorted, n, first, (float)single / (float)n, best);
        else
            seek_several(sorted, n, first, __builtin_convertvector(total, numbers8) / (float)n,
                         held, best);
    }
}
