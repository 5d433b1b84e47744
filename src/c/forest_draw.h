/* Cuts that are drawn by pairs of rows: included by forest_loops.c.
 *
 * The draws of a node overlap: none waits for another, and none branches by what has been drawn. */

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* Candidates that are drawn, and then scored, together. */
#define GROUP 32
/* Random numbers of a cut, as a rule: two rows, a column and a place. */
#define NUMBERS_OF_CUT 4
/* Pairs drawn until two rows differ. */
#define TRIES 3

/* What a candidate may cut, and what a difference counts for. Axes, as far as the rows differ; axes,
 * times the slope of the function; directions, times the slope. */
enum { AXES, STEEP_AXES, STEEP };

/* Number n of the random numbers in [0, 1) of a seed, as `base.random` counts them. */
INLINE double random_number(uint64_t seed, uint64_t n)
{
    uint64_t z = seed + (n + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (double)(int64_t)(z >> 11) * (1.0 / 9007199254740992.0);
}

/* Random numbers that are made together, which vectors do, before it is known how many are drawn. */
typedef struct {
    double numbers[NUMBERS_OF_CUT * GROUP];
    ptrdiff_t n, used;
} ahead;

/* Have the next numbers for so many cuts. */
INLINE void look_ahead(const ok_cutter *cutter, ahead *next, ptrdiff_t n_cuts)
{
    next->n = NUMBERS_OF_CUT * (n_cuts < GROUP ? n_cuts : GROUP);
    next->used = 0;
    for (ptrdiff_t i = 0; i < next->n; i++)
        next->numbers[i] = random_number(cutter->seed, cutter->drawn + (uint64_t)i + 1);
}

INLINE double uniform(ok_cutter *cutter, ahead *next)
{
    cutter->drawn++;
    return next->used < next->n ? next->numbers[next->used++]
                                : random_number(cutter->seed, cutter->drawn);
}

/* By how much eight numbers of two rows differ, times the slopes at both. */
INLINE numbers8 weights_of(numbers8 x, numbers8 z, numbers8 a, numbers8 b, int kind)
{
    numbers8 weights = (numbers8)((integers8)(x - z) & 0x7fffffff);
    return kind == AXES ? weights : weights * (a + b);
}

/* The same of n < 8 numbers, and zeros: what lies behind them is not read. */
INLINE numbers8 last_weights_of(const float *x, const float *z, const float *a, const float *b,
                                ptrdiff_t n, int kind)
{
#if defined(__AVX2__)
    static const int32_t inside[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};
    __m256i mask = _mm256_loadu_si256((const __m256i *)(inside + LANES - n));
    return weights_of((numbers8)_mm256_maskload_ps(x, mask), (numbers8)_mm256_maskload_ps(z, mask),
                      (numbers8)_mm256_maskload_ps(a, mask), (numbers8)_mm256_maskload_ps(b, mask),
                      kind);
#else
    float weights[LANES] = {0};
    for (ptrdiff_t k = 0; k < n; k++)
        weights[k] = fabsf(x[k] - z[k]) * (kind == AXES ? 1 : a[k] + b[k]);
    return load8(weights);
#endif
}

/* Set the weights of the columns that a cut between two rows may take, and their sums in each lane:
 * lane k sums up the weights k, k + 8, k + 16, ... Returns the sum of all. */
INLINE double weigh(const ok_cutter *cutter, int32_t one, int32_t other, int kind, ptrdiff_t begin,
                    ptrdiff_t n, double *lanes)
{
    const float *x = cutter->rows + one * cutter->width + begin;
    const float *z = cutter->rows + other * cutter->width + begin;
    const float *a = cutter->slopes + cutter->slope_of[one] * cutter->n_drawn_from + begin;
    const float *b = cutter->slopes + cutter->slope_of[other] * cutter->n_drawn_from + begin;
    numbers8 sum = {0};
    double total = 0;
    for (ptrdiff_t j = 0; j < n; j += LANES) {
        numbers8 weights = n - j < LANES
            ? last_weights_of(x + j, z + j, a + j, b + j, n - j, kind)
            : weights_of(load8(x + j), load8(z + j), load8(a + j), load8(b + j), kind);
        memcpy(cutter->weights + j, &weights, sizeof weights);
        sum += weights;
    }
    UNROLL
    for (int k = 0; k < LANES; k++) {
        lanes[k] = (double)sum[k];
        total += lanes[k];
    }
    return total;
}

/* The one of n columns up to which the weights sum to `left`, lane by lane. What is left falls below
 * 0 behind the column that is sought: so those before it are counted, without a branch. */
INLINE ptrdiff_t column_at(double left, const double *lanes, const float *weights, ptrdiff_t n)
{
    double rest[LANES];
    ptrdiff_t j = 0, more = 0;
    UNROLL
    for (int k = 0; k < LANES - 1; k++) {
        rest[k] = left;
        j += left >= lanes[k];
        left -= lanes[k];
    }
    rest[LANES - 1] = left;
    left = rest[j];
    for (ptrdiff_t first = 0; first + LANES < n; first += LANES) {
        double weight = (double)weights[first + j];
        more += (left >= weight) & (first + LANES + j < n);
        left -= weight;
    }
    j += more * LANES;
    /* Where rounding has led to the end. */
    if (j >= n || weights[j] == 0)
        for (j = n - 1; weights[j] == 0; j--)
            ;
    return j;
}

/* The column that a cut of an axis with gaps takes: guesses, or one of the sides. */
INLINE ptrdiff_t side_of(ok_cutter *cutter, ahead *next, ptrdiff_t j, const float *one, const float *other)
{
    ptrdiff_t turn = (ptrdiff_t)(4 * uniform(cutter, next)), k = cutter->side_of[j] + turn;
    /* What is missing in both rows does not divide them. */
    return turn < 2 && one[k] != other[k] ? k : j;
}

/* Draw a cut of the rows order[first] ... of a node of n. Returns whether there is one. */
INLINE int draw(ok_cutter *cutter, ahead *next, int kind, ptrdiff_t first, ptrdiff_t n, ok_cut *cut)
{
    const int32_t *order = cutter->order + first;
    double lanes[LANES], total = 0;
    int steep = kind == STEEP && cutter->n_drawn_from > cutter->n_axes;
    ptrdiff_t begin = steep ? cutter->n_axes : 0, j;
    ptrdiff_t n_columns = (steep ? cutter->n_drawn_from : cutter->n_axes) - begin;
    int32_t one = order[(ptrdiff_t)((double)n * uniform(cutter, next))], other = one;
    for (int attempt = 0; attempt < TRIES && !(total > 0); attempt++) {
        other = order[(ptrdiff_t)((double)n * uniform(cutter, next))];
        total = weigh(cutter, one, other, kind, begin, n_columns, lanes);
    }
    if (!(total > 0))
        return 0;
    j = begin + column_at(total * uniform(cutter, next), lanes, cutter->weights, n_columns);
    const float *x = cutter->rows + one * cutter->width;
    const float *z = cutter->rows + other * cutter->width;
    if (cutter->side_of && j < cutter->n_axes && cutter->side_of[j] > 0)
        j = side_of(cutter, next, j, x, z);
    float low = x[j] < z[j] ? x[j] : z[j], high = x[j] < z[j] ? z[j] : x[j];
    cut->gain = 0;
    cut->feature = j;
    cut->at = (float)((double)low + ((double)high - (double)low) * uniform(cutter, next));
    /* Rounding must not put both rows on one side. */
    if (cut->at >= high)
        cut->at = low;
    return 1;
}

/* Let the rows come nearer that cuts will be drawn by, a line of 16 numbers at a time. */
INLINE void fetch(const ok_cutter *cutter, const ahead *next, ptrdiff_t first, ptrdiff_t n)
{
    for (ptrdiff_t e = 0; e < next->n; e += NUMBERS_OF_CUT) {
        for (int k = 0; k < 2; k++) {
            int32_t row = cutter->order[first + (ptrdiff_t)((double)n * next->numbers[e + k])];
            const float *x = cutter->rows + row * cutter->width;
            const float *a = cutter->slopes + cutter->slope_of[row] * cutter->n_drawn_from;
            for (ptrdiff_t j = 0; j < cutter->width; j += 16)
                __builtin_prefetch(x + j);
            for (ptrdiff_t j = 0; j < cutter->n_drawn_from; j += 16)
                __builtin_prefetch(a + j);
        }
    }
}
