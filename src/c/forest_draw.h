/* Drawing of random splits from pairs of rows: included by forest_loops.c.
 *
 * The draws of a node are independent and without branches on random numbers, so that the processor
 * executes several at a time. */

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* Doubles of a vector. */
#if defined(__AVX512F__)
#define PART 8
#elif defined(__AVX2__)
#define PART 4
#else
#define PART 2
#endif
typedef float part __attribute__((vector_size(4 * PART)));
typedef double doubles __attribute__((vector_size(8 * PART)));
typedef int64_t longs __attribute__((vector_size(8 * PART)));

/* Candidates that are drawn, and then scored, together. */
#define GROUP 32
/* Random numbers of a split, usually: two rows, a column and a threshold. */
#define NUMBERS_OF_CUT 4
/* Pairs that are drawn until two rows differ. */
#define TRIES 3
/* Fewer splits are drawn one by one; so are those of rows of more than MOST_ABREAST columns, whose
 * weights would not fit into the nearest cache. */
#define LEAST_ABREAST 3
#define MOST_ABREAST 512

/* Kinds of draws: the columns, and their weights. AXES: axes by the difference of the two rows.
 * STEEP_AXES: axes by the difference times the slope. STEEP: directions by the difference times the
 * slope, or axes if there are no directions. */
enum { AXES, STEEP_AXES, STEEP };
/* The kinds of successive draws. */
static const int TURNS[5] = {AXES, STEEP_AXES, AXES, STEEP_AXES, STEEP};

/* Number n of the random numbers in [0, 1) of a seed, as `base.random` counts them. */
INLINE double random_number(uint64_t seed, uint64_t n)
{
    uint64_t z = seed + (n + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (double)(int64_t)(z >> 11) * (1.0 / 9007199254740992.0);
}

/* The next random numbers, computed ahead in vectors; not all of them may be used. */
typedef struct {
    double numbers[NUMBERS_OF_CUT * GROUP];
    ptrdiff_t n, used;
} ahead;

/* Compute the next random numbers for n_cuts splits. */
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

/* Weights of eight columns: |x - z| times the shares, and, with slopes, times the sum of the slopes at
 * both rows. */
INLINE numbers8 weights_of(numbers8 x, numbers8 z, numbers8 a, numbers8 b, numbers8 shares, int kind)
{
    numbers8 weights = (numbers8)((integers8)(x - z) & 0x7fffffff);
    return (kind == AXES ? weights : weights * (a + b)) * shares;
}

/* The same for n < 8 columns, followed by zeros; no memory after them is read. */
INLINE numbers8 last_weights_of(const float *x, const float *z, const float *a, const float *b,
                                numbers8 shares, ptrdiff_t n, int kind)
{
#if defined(__AVX2__)
    static const int32_t inside[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};
    __m256i mask = _mm256_loadu_si256((const __m256i *)(inside + LANES - n));
    return weights_of((numbers8)_mm256_maskload_ps(x, mask), (numbers8)_mm256_maskload_ps(z, mask),
                      (numbers8)_mm256_maskload_ps(a, mask), (numbers8)_mm256_maskload_ps(b, mask),
                      shares, kind);
#else
    float weights[LANES] = {0};
    for (ptrdiff_t k = 0; k < n; k++)
        weights[k] = fabsf(x[k] - z[k]) * (kind == AXES ? 1 : a[k] + b[k]);
    return load8(weights) * shares;
#endif
}

/* The columns that a draw of some kind may choose. */
typedef struct {
    ptrdiff_t begin, n;
} range;

INLINE range range_of(const ok_cutter *cutter, int kind)
{
    int steep = kind == STEEP && cutter->n_drawn_from > cutter->n_axes;
    ptrdiff_t begin = steep ? cutter->n_axes : 0;
    return (range){begin, (steep ? cutter->n_drawn_from : cutter->n_axes) - begin};
}

/* Compute the weights of the columns for a split between two rows. Returns their sums by lane: lane k
 * sums the weights k, k + 8, k + 16, ... */
INLINE numbers8 weigh(const ok_cutter *cutter, int32_t one, int32_t other, int kind, range columns,
                      float *out)
{
    ptrdiff_t begin = columns.begin, n = columns.n;
    const float *x = cutter->rows + one * cutter->width + begin;
    const float *z = cutter->rows + other * cutter->width + begin;
    const float *a = cutter->slopes + cutter->slope_of[one] * cutter->n_drawn_from + begin;
    const float *b = cutter->slopes + cutter->slope_of[other] * cutter->n_drawn_from + begin;
    const float *shares = cutter->shares[kind != AXES] + begin;
    numbers8 sum = {0};
    for (ptrdiff_t j = 0; j < n; j += LANES) {
        numbers8 weights = n - j < LANES
            ? last_weights_of(x + j, z + j, a + j, b + j, load8(shares + j), n - j, kind)
            : weights_of(load8(x + j), load8(z + j), load8(a + j), load8(b + j),
                         load8(shares + j), kind);
        memcpy(out + j, &weights, sizeof weights);
        sum += weights;
    }
    return sum;
}

/* Convert the sums of all lanes to double, and return their total. */
INLINE double sum_up_lanes(numbers8 sum, double *lanes)
{
    double total = 0;
    UNROLL
    for (int k = 0; k < LANES; k++) {
        lanes[k] = (double)sum[k];
        total += lanes[k];
    }
    return total;
}

/* Within lane j, find the column at which the running sum of the weights exceeds `left`. `left` minus
 * the running sum falls below 0 there: the columns before are counted, without a branch. */
INLINE ptrdiff_t column_in(double left, ptrdiff_t j, const float *weights, ptrdiff_t n)
{
    ptrdiff_t more = 0;
    for (ptrdiff_t first = 0; first + LANES < n; first += LANES) {
        double weight = (double)weights[first + j];
        more += (left >= weight) & (first + LANES + j < n);
        left -= weight;
    }
    j += more * LANES;
    /* Rounding may lead past the end, or to a weight of 0: take the last column with a weight. */
    if (j >= n || weights[j] == 0)
        for (j = n - 1; weights[j] == 0; j--)
            ;
    return j;
}

/* Find the column at which the running sum of the weights, lane after lane, exceeds `left`. */
INLINE ptrdiff_t column_at(double left, const double *lanes, const float *weights, ptrdiff_t n)
{
    double rest[LANES];
    ptrdiff_t j = 0;
    UNROLL
    for (int k = 0; k < LANES - 1; k++) {
        rest[k] = left;
        j += left >= lanes[k];
        left -= lanes[k];
    }
    rest[LANES - 1] = left;
    return column_in(rest[j], j, weights, n);
}

/* Write the split between two values of column j, at the share `where` of their difference. */
INLINE void place(float one, float other, ptrdiff_t j, double where, ok_cut *cut)
{
    float low = one < other ? one : other, high = one < other ? other : one;
    cut->gain = 0;
    cut->feature = j;
    cut->at = (float)((double)low + ((double)high - (double)low) * where);
    /* Rounding must not put both rows on the left side. */
    if (cut->at >= high)
        cut->at = low;
}

/* The column for a split of an axis with gaps: that of imputed values, or one of the two columns that
 * move missing values to a side. */
INLINE ptrdiff_t side_of(ok_cutter *cutter, ahead *next, ptrdiff_t j, const float *one, const float *other)
{
    ptrdiff_t turn = (ptrdiff_t)(4 * uniform(cutter, next)), k = cutter->side_of[j] + turn;
    /* Rows that are equal in that column cannot be divided by it. */
    return turn < 2 && one[k] != other[k] ? k : j;
}

/* Draw a split of the node of n rows from order[first] on. Returns 0 if no two different rows were
 * drawn. */
INLINE int draw(ok_cutter *cutter, ahead *next, int kind, ptrdiff_t first, ptrdiff_t n, ok_cut *cut)
{
    const int32_t *order = cutter->order + first;
    double lanes[LANES], total = 0;
    range columns = range_of(cutter, kind);
    int32_t one = order[(ptrdiff_t)((double)n * uniform(cutter, next))], other = one;
    for (int attempt = 0; attempt < TRIES && !(total > 0); attempt++) {
        other = order[(ptrdiff_t)((double)n * uniform(cutter, next))];
        total = sum_up_lanes(weigh(cutter, one, other, kind, columns, cutter->weights), lanes);
    }
    if (!(total > 0))
        return 0;
    ptrdiff_t j = columns.begin
        + column_at(total * uniform(cutter, next), lanes, cutter->weights, columns.n);
    const float *x = cutter->rows + one * cutter->width;
    const float *z = cutter->rows + other * cutter->width;
    if (cutter->side_of && j < cutter->n_axes && cutter->side_of[j] > 0)
        j = side_of(cutter, next, j, x, z);
    place(x[j], z[j], j, uniform(cutter, next), cut);
    return 1;
}

#if defined(__clang__)
#define MIXED_LANES(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define MIXED_LANES(a, b, ...) __builtin_shuffle(a, b, (integers8){__VA_ARGS__})
#endif

/* Transpose LANES x LANES numbers: interleave the first half of the rows with the second, three times. */
INLINE void transpose8(numbers8 *rows)
{
    numbers8 other[LANES];
    UNROLL
    for (int stage = 1; stage < LANES; stage *= 2) {
        UNROLL
        for (int i = 0; i < LANES / 2; i++) {
            other[2 * i] = MIXED_LANES(rows[i], rows[i + LANES / 2], 0, 8, 1, 9, 2, 10, 3, 11);
            other[2 * i + 1] = MIXED_LANES(rows[i], rows[i + LANES / 2], 4, 12, 5, 13, 6, 14, 7,
                                           15);
        }
        UNROLL
        for (int i = 0; i < LANES; i++)
            rows[i] = other[i];
    }
}

/* For the splits c, c + 1, ... of a vector, whose sums by lane are sums[k][c]: their totals, the lane
 * in which the running sum exceeds shares[c] times the total, and the rest up to there. */
INLINE void find_lanes(const numbers8 *sums, int c, const double *shares, double *totals,
                       double *rests, int64_t *lanes_of)
{
    doubles weights[LANES], total = {0}, left, rest;
    longs lane = {0};
    UNROLL
    for (int k = 0; k < LANES; k++) {
        part sum;
        memcpy(&sum, (const float *)&sums[k] + c, sizeof sum);
        weights[k] = __builtin_convertvector(sum, doubles);
        total += weights[k];
    }
    memcpy(&left, shares + c, sizeof left);
    left *= total;
    rest = left;
    UNROLL
    for (int k = 0; k < LANES - 1; k++) {
        longs beyond = left >= weights[k];
        left -= weights[k];
        lane -= beyond;
        rest = (doubles)(((longs)left & beyond) | ((longs)rest & ~beyond));
    }
    memcpy(totals + c, &total, sizeof total);
    memcpy(rests + c, &rest, sizeof rest);
    memcpy(lanes_of + c, &lane, sizeof lane);
}

/* Draw n_cuts <= LANES splits with the results of `draw`, if no axis has gaps: the pairs of rows one by
 * one, then all columns together in vectors. Returns how many are drawn before the first whose rows do
 * not differ: the caller passes that one to `draw`. */
INLINE ptrdiff_t draw_abreast(ok_cutter *cutter, ahead *next, ptrdiff_t turn, ptrdiff_t n_cuts,
                              ptrdiff_t first, ptrdiff_t n, ok_cut *cuts)
{
    const int32_t *order = cutter->order + first;
    const ptrdiff_t size = cutter->width + 2 * LANES;
    int32_t one[LANES], other[LANES];
    range columns[LANES];
    ptrdiff_t used[LANES];
    uint64_t drawn[LANES];
    double shares[LANES] = {0}, places[LANES], totals[LANES], rests[LANES];
    int64_t lanes_of[LANES];
    numbers8 sums[LANES] = {{0}};
    for (ptrdiff_t c = 0; c < n_cuts; c++) {
        int kind = TURNS[(turn + c) % 5];
        drawn[c] = cutter->drawn, used[c] = next->used;
        one[c] = other[c] = order[(ptrdiff_t)((double)n * uniform(cutter, next))];
        /* A row drawn twice has no difference: draw again, as `draw` does. */
        for (int attempt = 0; attempt < TRIES && one[c] == other[c]; attempt++)
            other[c] = order[(ptrdiff_t)((double)n * uniform(cutter, next))];
        shares[c] = uniform(cutter, next), places[c] = uniform(cutter, next);
        columns[c] = range_of(cutter, kind);
        sums[c] = weigh(cutter, one[c], other[c], kind, columns[c], cutter->weights + c * size);
    }
    transpose8(sums);
    UNROLL
    for (int c = 0; c < LANES; c += PART)
        find_lanes(sums, c, shares, totals, rests, lanes_of);
    for (ptrdiff_t c = 0; c < n_cuts; c++) {
        if (!(totals[c] > 0)) {
            cutter->drawn = drawn[c], next->used = used[c];
            return c;
        }
        ptrdiff_t j = columns[c].begin
            + column_in(rests[c], (ptrdiff_t)lanes_of[c], cutter->weights + c * size, columns[c].n);
        place(cutter->rows[one[c] * cutter->width + j], cutter->rows[other[c] * cutter->width + j],
              j, places[c], cuts + c);
    }
    return n_cuts;
}

/* Prefetch the rows and slopes of the pairs that will be drawn, one cache line of 16 floats at a time. */
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
